"""Raw transcripts: who speaks, what is joined, what is warned of, and that no word is lost."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path

import pytest

from annotation.domain.dialogues import ParsedDialogue
from annotation.domain.notices import Notice, Severity
from annotation.domain.text_decoding import decode
from annotation.domain.transcripts import SpeakerMarks, read_transcript, specialty_of

REAL = os.environ.get("PORTAL_REAL_DATA", "")
needs_real_data = pytest.mark.skipif(not REAL, reason="PORTAL_REAL_DATA is unset")

ODD_LINES = {
    "CAR0001": [221],
    "MSK0006": [59],
    "MSK0018": [115],
    "RES0036": [205],
    "RES0047": [9],
    "RES0052": [47],
    "RES0053": [49],
    "RES0058": [139],
    "RES0060": [159],
}


def read(text: str, **options: SpeakerMarks) -> tuple[ParsedDialogue | None, list[Notice]]:
    return read_transcript(text, file="RES9.txt", external_id="RES9", **options)


def turns(text: str, **options: SpeakerMarks) -> list[tuple[str, str]]:
    dialogue, notices = read(text, **options)
    assert dialogue is not None, notices
    return [(turn.speaker[0], turn.text) for turn in dialogue.utterances]


def warnings(text: str) -> list[Notice]:
    return [notice for notice in read(text)[1] if notice.severity is Severity.WARNING]


def the_error(text: str, **options: SpeakerMarks) -> Notice:
    dialogue, notices = read(text, **options)
    assert dialogue is None
    assert [notice.severity for notice in notices] == [Severity.ERROR]
    return notices[0]


def test_marks_begin_turns_and_blank_lines_are_nothing() -> None:
    text = "\n\nD: What brings you in?\n\n\nP:  My   knee. \n   d o c t o r\nDoctor: Since when?\nPATIENT: Monday\n"
    assert turns(text) == [
        ("d", "What brings you in?"),
        ("p", "My   knee. d o c t o r"),
        ("d", "Since when?"),
        ("p", "Monday"),
    ]
    assert warnings(text) == []


def test_wrapped_lines_are_joined_by_one_space_and_counted() -> None:
    dialogue, notices = read("D: one\n  two  \n\nthree\nP: yes:\nat 10:30 it began\nand so on: again\n")
    assert dialogue is not None
    assert [turn.text for turn in dialogue.utterances] == ["one two three", "yes: at 10:30 it began and so on: again"]
    assert [(item.severity, item.line) for item in notices] == [(Severity.NOTE, 0)]
    assert notices[0].message.startswith("4 lines were joined")


def test_text_under_its_mark_belongs_to_it() -> None:
    assert turns("D:\nHello there\nP:\n\nHi\n") == [("d", "Hello there"), ("p", "Hi")]
    assert warnings("D:\nHello there\nP:\n\nHi\n") == []


@pytest.mark.parametrize(
    ("line", "words", "shown"),
    [
        ("P; No, never.", "No, never.", '"P;"'),
        ("p: Lower", "Lower", '"p:"'),
        ("P:: Twice", "Twice", '"P::"'),
        ("P :spaced", "spaced", '"P :"'),
        ('P" OK', "OK", '"P""'),
        ("P No.", "No.", '"P"'),
        ("P. No.", "No.", '"P."'),
        ("P, yes", "yes", '"P,"'),
        ("P 52.", "52.", '"P"'),
        ('P "No" she said', '"No" she said', '"P"'),
    ],
)
def test_an_odd_mark_is_a_turn_with_one_warning(line: str, words: str, shown: str) -> None:
    text = f"D: Any pain?\n\n{line}\n\nD: Fine.\n"
    assert turns(text) == [("d", "Any pain?"), ("p", words), ("d", "Fine.")]
    (warning,) = warnings(text)
    assert warning.line == 3
    assert shown in warning.message
    dialogue, _ = read(text)
    assert dialogue is not None
    assert [turn.warning for turn in dialogue.utterances] == ["", warning.message, ""]


def test_quotation_marks_after_a_colon_are_words() -> None:
    assert turns('D: "Hello" to you\nP:"Hi"') == [("d", '"Hello" to you'), ("p", '"Hi"')]


@pytest.mark.parametrize(
    "line",
    [
        "D Dimer was high",  # a term
        "D-dimer was high",
        "D and C, both",
        "D. C. was a friend",  # initials
        "P wave was absent",
        "d'accord then",
        "doctor; he was kind",
        "Doctor said: take this",
    ],
)
def test_words_that_resemble_a_mark_stay_words(line: str) -> None:
    text = f"D: Why?\nP: They said it.\n{line}\nD: Right.\n"
    assert turns(text)[1] == ("p", f"They said it. {line}")


def test_a_bare_letter_within_a_sentence_or_without_change_of_speaker_stays_a_word_and_is_warned_of() -> None:
    text = "D: You take vitamin\nD And what else?\nP: I take vitamin\nD I think.\n"
    assert turns(text) == [("d", "You take vitamin D And what else?"), ("p", "I take vitamin D I think.")]
    assert [warning.line for warning in warnings(text)] == [2, 4]


def test_a_bare_letter_of_the_one_who_speaks_already_stays_a_word_even_after_an_empty_line() -> None:
    assert turns("D: It is back.\n\nD Ratio was high.\nP: ok")[0] == ("d", "It is back. D Ratio was high.")


def test_a_bare_letter_in_lower_case_counts_after_an_empty_line_only() -> None:
    assert turns("D: Pain?\nP: It hurt.\nd Next\nD: ok")[1] == ("p", "It hurt. d Next")
    assert turns("D: Pain?\nP: It hurt.\n\nd Next\nD: ok")[2] == ("d", "Next")


def test_a_lower_case_role_with_a_colon_is_joined_and_warned_of() -> None:
    text = "D: Who said so?\nP: I asked the\nnurse: she knew\n"
    assert turns(text)[1] == ("p", "I asked the nurse: she knew")
    assert [warning.line for warning in warnings(text)] == [3]


@pytest.mark.parametrize(
    "label", ["Nurse", "N", "NURSE", "Dr. Smith", "Speaker 1", "Patient's mother", "Nurse (on the phone)", "医生", "I"]
)
def test_an_unknown_speaker_is_an_error_that_names_line_and_known_speakers(label: str) -> None:
    error = the_error(f"D: hello\n{label}: hello\nP: hi\n{label}: again\n")
    assert error.file == "RES9.txt"
    assert error.line == 2
    assert f'"{label}"' in error.message
    assert "1 more line" in error.message
    assert '"D", "P", "Doctor", "Patient"' in error.message


@pytest.mark.parametrize(
    "line",
    [
        "10:30 was the time",
        "At 10: 30 it began",
        "At 8: I woke",
        "about one thing: my knee",
        "So: it began",
        "Yes: it did",
        "The first thing is this: pain",
        "https://example.org was open",
        "N:10 is what it showed",
        "I say: no",
    ],
)
def test_a_colon_later_in_a_line_makes_no_speaker(line: str) -> None:
    assert turns(f"D: Tell me.\nP: Well,\n{line}\n") == [("d", "Tell me."), ("p", f"Well, {line}")]


def test_words_before_the_first_turn_are_an_error_with_their_line() -> None:
    error = the_error("\nAn interview in May\nD: hello\nP: hi\n")
    assert error.line == 2
    assert "An interview in May" in error.message


def test_a_text_without_any_turn_is_an_error() -> None:
    error = the_error("\nonce upon a time\n")
    assert error.line == 2
    assert "No line begins with a speaker" in error.message


def test_an_empty_turn_is_kept_with_a_warning() -> None:
    assert turns("D: hello\nP:\nD: well?\nP: hi") == [("d", "hello"), ("p", ""), ("d", "well?"), ("p", "hi")]
    (warning,) = warnings("D: hello\nP:\nD: well?\nP: hi")
    assert warning.line == 2


@pytest.mark.parametrize(("text", "words"), [("D: a\nD: b", "Only the doctor"), ("P: hi\nD:", "Only the patient")])
def test_one_speaker_alone_is_warned_of(text: str, words: str) -> None:
    assert words in warnings(text)[-1].message


def test_a_dialogue_in_which_nobody_says_a_word_is_warned_of() -> None:
    assert "Nobody says a word" in warnings("D:\nP:\n")[-1].message


def test_a_pair_of_speakers_is_read_beside_the_usual_marks() -> None:
    pair = SpeakerMarks(doctor="Clinician", patient="Client")
    assert turns("Clinician: a\nclient: b\nD: c\nPatient: d", speakers=pair) == [
        ("d", "a"),
        ("p", "b"),
        ("d", "c"),
        ("p", "d"),
    ]
    assert '"Clinician", "Client"' in the_error("D: a\nP: b\nNurse: c", speakers=pair).message


def test_a_pair_that_uses_a_usual_mark_takes_it_over() -> None:
    pair = SpeakerMarks(doctor="P", patient="C")  # physician and client
    assert turns("P: a\nC: b\nc; c", speakers=pair) == [("d", "a"), ("p", "b"), ("p", "c")]


def test_a_pair_in_another_script_and_a_full_width_colon_are_read() -> None:
    pair = SpeakerMarks(doctor="医生", patient="患者")
    assert turns("医生：你好\n患者: 我头疼\n医生说得对", speakers=pair) == [("d", "你好"), ("p", "我头疼 医生说得对")]


@pytest.mark.parametrize("pair", [("", "B"), ("A", "a"), ("A:", "B"), ("A", " B"), ("A" * 41, "B"), ("1", "B")])
def test_a_pair_that_cannot_be_told_apart_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="speaker"):
        SpeakerMarks(*pair)


def test_a_letter_that_only_looks_like_one_of_a_mark_is_an_unknown_speaker() -> None:
    assert "Pat\u0131ent" in the_error("D: hello\nPat\u0131ent: hi\n").message


def test_separators_without_a_line_number_end_a_line_but_do_not_count() -> None:
    text = "D: one\u2028P: two\x0bthree\nD; four"
    assert turns(text) == [("d", "one"), ("p", "two three"), ("d", "four")]
    assert [warning.line for warning in warnings(text)] == [2]


def test_texts_survive_as_they_are() -> None:
    odd = "e\u0301 \U0001f469\u200d\u2695\ufe0f  שלום\u200f ﬁ 你好"
    assert turns(f"D: {odd}\nP: ok") == [("d", odd), ("p", "ok")]


def test_limits_are_errors_with_a_line() -> None:
    assert the_error("D: a\nP: " + "x" * 20_001).line == 2
    assert turns("D: a\nP: " + "x" * 20_000)[1][1] == "x" * 20_000
    assert the_error("D: a\nP: b\n" * 2_500 + "D: c\n").line == 5_001
    assert len(turns("D: a\nP: b\n" * 2_500)) == 5_000


def test_more_lines_than_any_transcript_has_are_refused() -> None:
    assert the_error("D: a\n" + "\n" * 200_000 + "P: b").line == 200_001


def test_the_specialty_follows_from_the_code_in_the_id() -> None:
    codes = {"RES": "respiratory", "MSK": "musculoskeletal", "CAR": "cardiac", "DER": "dermatology"}
    for code, specialty in {**codes, "GAS": "gastrointestinal"}.items():
        assert specialty_of(f"{code}0001") == specialty
    assert specialty_of("DEMO-MSK-02") == "musculoskeletal"
    assert [specialty_of(name) for name in ("RESULTS", "my-car", "115", "")] == ["", "", "", ""]
    dialogue, _ = read("D: a\nP: b")
    assert dialogue is not None
    assert dialogue.specialty == "respiratory"


def test_no_word_is_lost_from_texts_made_at_random() -> None:
    source = random.Random(3)
    words = [
        "pain",
        "D",
        "P",
        "No.",
        "d",
        "p:",
        "10:30",
        "knee:",
        '"so"',
        "Dimer",
        "—",
        "e\u0301",
        ";",
        "Nurse:",
        "D::",
    ]
    breaks = ["\nand", "\n\n  and", "\u2028and", "\x0cand", "  ", "\u3000"]
    marks = ["D:", "P:", "Doctor:", "patient:", "D;", "p:", "P ::", "\ufeffD:"]
    for _ in range(300):
        expected: list[str] = []
        lines: list[str] = []
        for _ in range(source.randint(2, 12)):
            said = " ".join(["so", *source.choices(words + breaks, k=source.randint(0, 9))])
            lines.append(f"{source.choice(marks)} {said}")
            expected += said.split()
        dialogue, notices = read("\n".join(lines))
        assert dialogue is not None, notices
        assert len(dialogue.utterances) == len(lines)
        assert [word for turn in dialogue.utterances for word in turn.text.split()] == expected


def test_truncated_and_corrupted_transcripts_are_read_or_refused() -> None:
    source = random.Random(7)
    text = "D: Any pain?\n\nP: It's, uh, a 7.\nvery sharp\n\nD; OK. And fever?\n\nP No.\n\nD:: Fine\u2028 then.\n" * 3
    signs = ":;\"DPdp \n\t\u2028\ufeff.,-I(N'\x00\u0131"
    for _ in range(600):
        damaged = list(text[: source.randint(0, len(text))])
        for _ in range(source.randint(0, 6) if damaged else 0):
            damaged[source.randrange(len(damaged))] = source.choice(signs)
        dialogue, notices = read("".join(damaged))
        assert (dialogue is None) == any(notice.severity is Severity.ERROR for notice in notices)
        assert all(str(notice) for notice in notices)


def real_transcripts() -> list[Path]:
    return sorted((Path(REAL) / "transcripts").glob("*.txt"))


def words_of(data: bytes, odd: list[int]) -> list[str]:
    """The words of a published transcript without its marks, counted by other means than the reader's."""
    text = data.decode("utf-16" if data[:2] == b"\xff\xfe" else "utf-8")
    result: list[str] = []
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        if number in odd:
            assert line[0] in "DP"
            rest = line[1:].lstrip(':;"')
        else:
            rest = line[2:] if line[:2] in ("D:", "P:") else line
        result += rest.split()
    return result


@needs_real_data
def test_every_word_of_the_published_transcripts_is_in_a_turn() -> None:
    total = 0
    for path in real_transcripts():
        data = path.read_bytes()
        text, _ = decode(data, path.name)
        dialogue, notices = read_transcript(text, file=path.name, external_id=path.stem)
        assert dialogue is not None, notices
        odd = ODD_LINES.get(path.stem, [])
        assert [item.line for item in notices if item.severity is Severity.WARNING] == odd
        assert sum(bool(turn.warning) for turn in dialogue.utterances) == len(odd)
        found = [word for turn in dialogue.utterances for word in turn.text.split()]
        assert found == words_of(data, odd), path.name
        total += len(dialogue.utterances)
    assert len(real_transcripts()) == 62
    assert total == 6_581


@needs_real_data
def test_the_turns_of_one_transcript_are_those_of_the_released_dialogue() -> None:
    text, _ = decode((Path(REAL) / "transcripts/RES0001.txt").read_bytes(), "RES0001.txt")
    dialogue, _ = read_transcript(text, file="RES0001.txt", external_id="RES0001")
    released = json.loads((Path(REAL) / "meditod/RES0001.dialogue.json").read_text(encoding="utf-8"))["utterances"]
    assert dialogue is not None
    assert len(dialogue.utterances) == len(released) == 112
    # The released dialogue has its control turn in the place of the patient's last words.
    assert released[-1]["speaker"] == "control"
    assert [(turn.speaker, turn.text) for turn in dialogue.utterances[:-1]] == [
        (turn["speaker"], turn["text"]) for turn in released[:-1]
    ]
    assert (dialogue.utterances[-1].speaker, dialogue.utterances[-1].text) == ("patient", "Yeah, thanks.")
