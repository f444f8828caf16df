"""Files are recognised by what is in them; bad dialogues are refused in one sentence each, good ones are kept."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.dialogue_files import MAX_NOTICES, read_dialogue_file
from annotation.domain.dialogues import ParsedFile
from annotation.domain.notices import Notice, Severity
from annotation.domain.transcripts import SpeakerMarks

REAL = os.environ.get("PORTAL_REAL_DATA", "")
needs_real_data = pytest.mark.skipif(not REAL, reason="PORTAL_REAL_DATA is unset")

ODD_TEXT = "e\u0301 \U0001f469\u200d\u2695\ufe0f\u200f שלום 你好\n\t ﬁ "


def utterance(number: int = 0, **changes: Any) -> dict[str, Any]:
    speaker = ("doctor", "patient")[number % 2]
    return {"speaker": speaker, "uttr_id": number, "text": f"words {number}", "keywords": []} | changes


def dialogue_json(**changes: Any) -> dict[str, Any]:
    return {"dlg_id": "RES9", "utterances": [utterance(0), utterance(1)]} | changes


def read(content: Any, name: str = "upload") -> ParsedFile:
    text = content if isinstance(content, str) else json.dumps(content)
    return read_dialogue_file(text.encode("utf-8"), name)


def ids(parsed: ParsedFile) -> list[str]:
    return [dialogue.external_id for dialogue in parsed.dialogues]


def the_error(parsed: ParsedFile) -> Notice:
    assert len(parsed.errors) == 1, parsed.errors
    (error,) = parsed.errors
    assert error.file == parsed.name
    assert error.message.endswith(".")
    return error


def jsonl(*rows: Any) -> str:
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)


def row(dialogue: Any, speaker: Any = "D", text: Any = "hello", **more: Any) -> dict[str, Any]:
    return {"id": dialogue, "speaker": speaker, "text": text, **more}


GOOD = {
    "transcript": "D: hello\nP: hi\n",
    "portal dialogue": json.dumps(dialogue_json(dlg_id="upload")),
    "dataset": json.dumps({"upload": {"utterances": [utterance(0), utterance(1)]}}, indent=1),
    "jsonl": jsonl(row("upload"), "", row("upload", "P", "hi")),
    "csv": 'ID;Text;Speaker\nupload;"hello; again";D\nupload;hi;Patient\n',
}


@pytest.mark.parametrize("form", GOOD)
@pytest.mark.parametrize("suffix", ["", ".txt", ".json", ".csv"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_format_is_recognised_by_content(form: str, suffix: str, codec: str) -> None:
    parsed = read_dialogue_file(GOOD[form].encode(codec), f"some folder/upload{suffix}")
    assert parsed.format == form
    assert parsed.encoding == {"utf-8": "utf-8", "utf-8-sig": "utf-8 with BOM", "utf-16": "utf-16"}[codec]
    assert parsed.errors == ()
    assert ids(parsed) == ["upload"]
    assert [turn.speaker for turn in parsed.dialogues[0].utterances] == ["doctor", "patient"]
    assert [turn.position for turn in parsed.dialogues[0].utterances] == [0, 1]


def test_a_portal_dialogue_keeps_its_control_turn_and_keywords() -> None:
    turns = [utterance(0, keywords=["chest", "x ray"]), utterance(1), utterance(2, speaker="control")]
    (dialogue,) = read(dialogue_json(utterances=turns)).dialogues
    assert [turn.speaker for turn in dialogue.utterances] == ["doctor", "patient", "control"]
    assert dialogue.utterances[0].keywords == ("chest", "x ray")
    assert dialogue.specialty == "respiratory"


def test_labels_of_a_dataset_are_left_with_a_note() -> None:
    turns = [utterance(0, actions=[]), utterance(1, nlu=[], dialog_state={})]
    parsed = read({"115": {"utterances": turns}, "116": {"utterances": [utterance(0), utterance(1)]}})
    assert ids(parsed) == ["115", "116"]
    assert [(notice.severity, notice.dialogue) for notice in parsed.notices] == [(Severity.NOTE, "115")]


def test_json_lines_hold_several_dialogues_with_optional_keys() -> None:
    parsed = read(
        jsonl(
            row("a", "doctor", "one", uttr_id=0, specialty="nephrology", keywords=["x"]),
            row("a", "patient", "two", uttr_id=1, mood="good"),
            row(115, "d", "three"),
            row(115, "CONTROL", "four"),
        )
    )
    assert ids(parsed) == ["a", "115"]
    assert parsed.dialogues[0].specialty == "nephrology"
    assert parsed.dialogues[0].utterances[0].keywords == ("x",)
    assert [notice.message for notice in parsed.notices if notice.severity is Severity.NOTE] == [
        'Not read, because a dialogue has no place for it: "mood".'
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_cells_may_hold_delimiters_quotes_and_line_ends(delimiter: str) -> None:
    cells = [
        ["Speaker", " TEXT", "id", "Keywords"],
        ["D", f'"a{delimiter} ""b""\nc"', "x", '"k;l"'],
        ["P", "d ", "x", ""],
    ]
    text = "\r\n".join(delimiter.join(line) for line in cells)
    parsed = read(text)
    assert parsed.errors == ()
    assert [turn.text for turn in parsed.dialogues[0].utterances] == [f'a{delimiter} "b"\nc', "d "]
    assert parsed.dialogues[0].utterances[0].keywords == ("k", "l")


def test_csv_lines_are_counted_through_line_ends_in_cells() -> None:
    parsed = read('\nid,speaker,text\nx,D,"one\ntwo"\n\nx,Nurse,three\n')
    assert the_error(parsed).line == 6


@pytest.mark.parametrize("form", ["portal dialogue", "dataset", "jsonl", "csv"])
def test_unicode_survives_every_structured_format(form: str) -> None:
    turns = [utterance(0, text=ODD_TEXT), utterance(1)]
    rows = [row("a", "D", ODD_TEXT), row("a", "P")]
    content = {
        "portal dialogue": json.dumps(dialogue_json(utterances=turns), ensure_ascii=False),
        "dataset": json.dumps({"a": {"utterances": turns}}),
        "jsonl": jsonl(*(json.dumps(item, ensure_ascii=False) for item in rows)),
        "csv": f'id,speaker,text\na,D,"{ODD_TEXT}"\na,P,x\n',
    }[form]
    parsed = read(content)
    assert parsed.format == form
    assert parsed.dialogues[0].utterances[0].text == ODD_TEXT


@pytest.mark.parametrize("mark", ["D", "d", "Doctor", "DOCTOR", " doctor "])
def test_speakers_are_known_in_any_case(mark: str) -> None:
    parsed = read(dialogue_json(utterances=[utterance(0, speaker=mark), utterance(1)]))
    assert parsed.dialogues[0].utterances[0].speaker == "doctor"


def test_a_named_pair_of_speakers_is_read_in_every_format() -> None:
    pair = SpeakerMarks("Clinician", "Client")
    for text in ("Clinician: a\nClient: b", jsonl(row("upload", "clinician"), row("upload", "Client"))):
        (dialogue,) = read_dialogue_file(text.encode(), "upload", speakers=pair).dialogues
        assert [turn.speaker for turn in dialogue.utterances] == ["doctor", "patient"]
    assert "Clinician" in the_error(read_dialogue_file(jsonl(row("a", "Nurse")).encode(), "x", speakers=pair)).message


@pytest.mark.parametrize(
    ("turn", "key", "words"),
    [
        ({"speaker": "doctor", "uttr_id": 1}, "utterances[1].text", 'has no "text"'),
        ({"uttr_id": 1, "text": "x"}, "utterances[1].speaker", 'has no "speaker"'),
        ({"speaker": "doctor", "text": "x"}, "utterances[1].uttr_id", 'has no "uttr_id"'),
        (utterance(1, text=5), "utterances[1].text", "the number 5"),
        (utterance(1, text=None), "utterances[1].text", "null"),
        (utterance(1, speaker=["D"]), "utterances[1].speaker", "a list"),
        (utterance(1, speaker="nurse"), "utterances[1].speaker", 'unknown speaker "nurse"'),
        (utterance(1, uttr_id=2), "utterances[1].uttr_id", "must be 0, 1, 2"),
        (utterance(1, uttr_id=True), "utterances[1].uttr_id", "must be the number 1"),
        (utterance(1, uttr_id="1"), "utterances[1].uttr_id", "must be the number 1"),
        (utterance(1, uttr_id=1.0), "utterances[1].uttr_id", "must be the number 1"),
        (utterance(1, keywords="chest"), "utterances[1].keywords", "list of words"),
        (utterance(1, keywords=[1]), "utterances[1].keywords", "list of words"),
        (utterance(1, keywords=["\0"]), "utterances[1].keywords", "NUL"),
        (utterance(1, text="x" * 20_001), "utterances[1].text", "20,001 characters"),
        (utterance(1, text="a\0b"), "utterances[1].text", "NUL"),
        (utterance(1, text="a\ud83d"), "utterances[1].text", "surrogate"),
        ("words", "utterances[1]", "not an object"),
        ([], "utterances[1]", "not an object"),
    ],
)
def test_a_bad_utterance_is_named_by_its_key(turn: Any, key: str, words: str) -> None:
    parsed = read(dialogue_json(utterances=[utterance(0), turn]))
    error = the_error(parsed)
    assert error.key == key
    assert words in error.message
    assert parsed.dialogues == ()
    error = the_error(read({"a": {"utterances": [utterance(0), turn]}}))
    assert error.key == f"a.{key}"


@pytest.mark.parametrize("bad", ["", "  ", ".", "..", "x" * 101, "a\nb", "a\0b", "a/b", "a\u2028b", "a\ud800"])
def test_an_unfit_id_is_refused_in_every_format(bad: str) -> None:
    contents = [dialogue_json(dlg_id=bad), {bad: {"utterances": [utterance(0)]}}, jsonl(row(bad), row("x"), row(bad))]
    for content in contents:
        parsed = read(content)
        assert bad not in ids(parsed)
        assert all(error.dialogue in ("", "x") for error in parsed.errors)
        assert parsed.errors
        assert all(str(error).encode() and json.dumps(error.as_json()).isascii() for error in parsed.errors)


def test_an_id_may_be_as_long_as_allowed_and_of_any_script() -> None:
    for fit in ("x" * 100, "对话 1", "a.b-c_d"):
        assert ids(read(dialogue_json(dlg_id=fit))) == [fit]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "another shape"),
        ({}, "another shape"),
        ({"a": 1}, "another shape"),
        ([dialogue_json()], "another shape"),
        ([{"intent": "inform", "uid": "1"}], "labels"),
        ({"utterances": []}, "dlg_id"),
        ({"dlg_id": "a"}, "utterances"),
        ({"dlg_id": "a", "utterances": 5}, "utterances"),
        ({"utterances": "x"}, "dlg_id"),
        ({"dlg_id": None, "utterances": [utterance()]}, "null"),
        ({"dlg_id": "a", "utterances": []}, "no utterances"),
        ({"dlg_id": "a", "utterances": [utterance()], "specialty": 5}, "specialty"),
        ('{"dlg_id": "a", "dlg_id": "b", "utterances": []}', "twice"),
        ('{"a": {"utterances": [{"speaker": "D", "text": "a", "text": "b", "uttr_id": 0}]}}', "twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"dlg_id": "a", "utterances": ' + "[" * 50_000 + "]" * 50_000 + "}", "nested too deeply"),
        ('{"dlg_id": "a", "utterances": [' + "9" * 5_000 + "]}", "too large"),
        ('{"dlg_id": "a", "utterances": [\n1e999]}', "too large"),
        ('{"dlg_id": "a", "utterances": [NaN]}', "no number"),
        ("[" + "[]," * 1_000_001 + "]", "objects and lists"),
        ("[" + "1," * 3_000_001 + "1]", "3,000,000 values"),
        (jsonl(*["{}"] * 1_000_001), "objects and lists"),
        ("id,speaker,text\n" + "a,D,x\n" * 200_001, "200,000 rows"),
    ],
)
def test_json_of_another_shape_is_refused_in_a_sentence(content: Any, words: str) -> None:
    parsed = read(content)
    assert words in the_error(parsed).message
    assert parsed.dialogues == ()
    assert parsed.format in ("", "portal dialogue", "dataset", "csv")


@pytest.mark.parametrize("cut", [1, 40, 120, 200])
def test_truncated_json_is_refused_at_the_line_of_the_break(cut: int) -> None:
    text = json.dumps(dialogue_json(), indent=1)[:-cut]
    error = the_error(read(text))
    assert "breaks off" in error.message
    assert abs(error.line - (text.count("\n") + 1)) <= 1


def test_damaged_json_is_refused_at_its_line_and_column() -> None:
    error = the_error(read('{\n "dlg_id": "a",\r\n "utterances": [}\n}'))
    assert error.line == 3
    assert "column" in error.message


@pytest.mark.parametrize("name", ["talk.json", "talk.jsonl", "talk.csv", "talk.tsv"])
def test_a_name_that_promises_another_format_is_answered_in_its_terms(name: str) -> None:
    assert ("JSON" if "json" in name else "columns") in the_error(read("once upon a time", name)).message


def test_a_dialogue_that_is_twice_in_a_file_is_left_out_and_the_others_are_kept() -> None:
    one = json.dumps({"utterances": [utterance(0), utterance(1)]})
    contents = [
        f'{{"a": {one}, "b": {one}, "a": {one}}}',
        f'{{"a": {one}, "b": {one}, "a ": {one}}}',
        jsonl(row("a"), row("b"), row("b", "P"), row("a")),
        "id,speaker,text\na,D,x\nb,D,x\nb,P,x\na,P,x\n",
    ]
    for content in contents:
        parsed = read(content)
        assert ids(parsed) == ["b"]
        assert "twice" in the_error(parsed).message


@pytest.mark.parametrize("bad", [row("b", "Nurse"), row("b", "P", 5), row("b", uttr_id=7), {"id": "b", "speaker": "D"}])
def test_a_bad_dialogue_is_left_out_of_json_lines_and_the_others_are_kept(bad: dict[str, Any]) -> None:
    parsed = read(jsonl(row("a"), row("a", "P"), row("b", "P"), bad, row("c"), row("c", "P")))
    assert ids(parsed) == ["a", "c"]
    assert (the_error(parsed).line, the_error(parsed).dialogue) == (4, "b")


def test_a_bad_dialogue_is_left_out_of_a_dataset_and_the_others_are_kept() -> None:
    good = {"utterances": [utterance(0), utterance(1)]}
    parsed = read({"a": good, "b": {"utterances": [utterance(1)]}, "c": 5, "d": {"turns": []}, "e": good})
    assert ids(parsed) == ["a", "e"]
    assert [error.key for error in parsed.errors] == ["b.utterances[0].uttr_id", "c.utterances", "d.utterances"]


def test_a_broken_line_that_names_its_dialogue_costs_only_that_one() -> None:
    broken = '{"id": "b", "speaker": "P", "te'
    parsed = read(jsonl(row("a"), row("a", "P"), row("b"), broken))
    assert ids(parsed) == ["a"]
    assert the_error(parsed).line == 4


@pytest.mark.parametrize(
    "broken", ['{"speaker": "D", "te', "[1]", "5", '{"speaker": "D", "text": "x"}', '{"id": null}']
)
def test_a_line_without_a_dialogue_costs_the_dialogues_beside_it(broken: str) -> None:
    parsed = read(jsonl(row("a"), row("a", "P"), row("b"), broken, row("c"), row("d"), row("d", "P")))
    assert ids(parsed) == ["a", "d"]
    assert [(error.line, error.dialogue) for error in parsed.errors] == [(4, ""), (3, "b"), (5, "c")]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("id,speaker\na,D\n", 1, 'lacks the column "text"'),
        ("id,text,speaker,text\n", 1, "twice"),
        ("id,speaker,text\n", 1, "no rows"),
        ("id,speaker,text\na,D,one, two\n", 2, "4 cells"),
        ("id,speaker,text\na,D\n", 2, "2 cells"),
        ("id,speaker,text,uttr_id\na,D,x,0\na,P,x,zero\n", 3, "must be the number 1"),
    ],
)
def test_a_bad_table_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    error = the_error(read(text))
    assert error.line == line
    assert words in error.message


def test_a_quotation_mark_that_is_never_closed_costs_what_follows_it() -> None:
    parsed = read('id,speaker,text\na,D,x\na,P,x\nb,D,x\nb,P,"x\nc,D,x\n')
    assert ids(parsed) == ["a"]
    assert parsed.errors[0].line == 5


def test_rows_that_disagree_on_the_specialty_are_refused() -> None:
    parsed = read(jsonl(row("a", specialty="x"), row("a", "P", specialty="y")))
    assert the_error(parsed).line == 2


def test_more_utterances_than_allowed_are_refused() -> None:
    assert read(dialogue_json(utterances=[utterance(number) for number in range(5_000)])).errors == ()
    parsed = read(dialogue_json(utterances=[utterance(number) for number in range(5_001)]))
    assert "5,000" in the_error(parsed).message


def test_an_utterance_without_words_is_kept_with_a_warning() -> None:
    parsed = read(dialogue_json(utterances=[utterance(0, text=" "), utterance(1), utterance(2)]))
    (warning,) = parsed.warnings
    assert warning.key == "utterances[0]"
    assert parsed.dialogues[0].utterances[0].warning == warning.message
    assert parsed.dialogues[0].utterances[0].text == " "


def test_a_control_turn_is_nobody_who_speaks() -> None:
    parsed = read(dialogue_json(utterances=[utterance(0), utterance(1, speaker="control")]))
    assert [warning.message[:22] for warning in parsed.warnings] == ["Only the doctor speaks"]


def test_a_file_over_the_limit_is_refused_unread() -> None:
    data = GOOD["transcript"].encode()
    assert read_dialogue_file(data, "x", max_bytes=len(data)).errors == ()
    parsed = read_dialogue_file(data, "x", max_bytes=len(data) - 1)
    assert the_error(parsed).message == f"The file has {len(data)} bytes; at most {len(data) - 1} bytes are read."
    assert parsed.format == ""


@pytest.mark.parametrize(("data", "words"), [(b"", "empty"), (b"\x89PNG\r\n\x1a\n", "PNG"), (b"\0" * 99, "not text")])
def test_what_is_no_text_is_refused(data: bytes, words: str) -> None:
    assert words in the_error(read_dialogue_file(data, "x")).message


def test_a_guessed_encoding_is_shown() -> None:
    parsed = read_dialogue_file("D: hi\nP: café\n".encode("cp1252"), "x.txt")
    assert parsed.encoding == "windows-1252"
    assert [warning.line for warning in parsed.warnings] == [2]


def test_errors_of_one_dialogue_and_notices_of_one_file_are_limited_and_counted() -> None:
    parsed = read(dialogue_json(utterances=[{}] * 50))
    assert len(parsed.errors) == 6
    assert "45 more" in parsed.errors[-1].message
    parsed = read("".join(f"D: a\np: {number}\n" for number in range(2_000)), "many.txt")
    assert len(parsed.notices) == MAX_NOTICES
    assert "1,001 more" in parsed.notices[-1].message
    assert sum(bool(turn.warning) for turn in parsed.dialogues[0].utterances) == 2_000


@pytest.mark.parametrize("form", GOOD)
def test_truncated_and_corrupted_files_give_dialogues_and_notices_only(form: str) -> None:
    source = random.Random(f"{form} 1")
    data = GOOD[form].encode()
    signs = b'{}[]",:;\n\t \\u0\xff\x00DPe9-'
    for number in range(700):
        damaged = bytearray(data[: source.randint(0, len(data))] if number % 2 else data)
        for _ in range(source.randint(0, 5) if damaged else 0):
            place = source.randrange(len(damaged))
            if source.random() < 0.5:
                damaged[place] = source.choice(signs)
            else:
                damaged[place:place] = bytes([source.choice(signs)])
        parsed = read_dialogue_file(bytes(damaged), "upload")
        assert isinstance(parsed, ParsedFile)
        assert parsed.dialogues or parsed.errors
        for notice in parsed.notices:
            assert str(notice).encode()
            assert 0 <= notice.line <= damaged.count(b"\n") + damaged.count(b"\r") + 1
        for dialogue in parsed.dialogues:
            assert dialogue.fingerprint
            assert [turn.position for turn in dialogue.utterances] == list(range(len(dialogue.utterances)))


@needs_real_data
def test_the_released_files_are_read_whole() -> None:
    folder = Path(REAL) / "meditod"
    parsed = read_dialogue_file((folder / "RES0001.dialogue.json").read_bytes(), "RES0001.dialogue.json")
    assert (parsed.format, parsed.notices, ids(parsed)) == ("portal dialogue", (), ["RES0001"])
    assert len(parsed.dialogues[0].utterances) == 112
    parsed = read_dialogue_file((folder / "dialogs.json").read_bytes(), "dialogs.json")
    assert (parsed.format, ids(parsed)) == ("dataset", ["115", "317"])
    assert [len(dialogue.utterances) for dialogue in parsed.dialogues] == [103, 107]
    assert {notice.severity for notice in parsed.notices} == {Severity.NOTE}
    parsed = read_dialogue_file((folder / "RES0001.labels.json").read_bytes(), "RES0001.labels.json")
    assert "labels" in the_error(parsed).message


@pytest.mark.parametrize("sign", ["\u202e", "\u200b", "\ufeff", "\u00ad", "\u2066"])
def test_an_id_with_a_character_that_cannot_be_seen_is_refused(sign: str):
    parsed = read(dialogue_json(dlg_id=f"RES{sign}9"))
    assert not parsed.dialogues
    (error,) = parsed.errors
    assert "cannot be seen" in error.message
    assert sign not in error.message


def test_an_id_may_be_written_in_any_script():
    names = ["RES–9", "رئة-1", "肺 1", "e\u0301", "नी", "\U0001f469\u200d\u2695\ufe0f"]
    assert ids(read({name: {"utterances": [utterance(0), utterance(1)]} for name in names})) == names


def test_a_cell_that_is_too_long_is_said_to_be_that():
    parsed = read("id,speaker,text\nA,doctor," + "x" * 200_000, "rows.csv")
    (error,) = parsed.errors
    assert error.line == 2
    assert "more than 131,072 characters" in error.message
