"""The demonstration's dialogues and labels: enough of them, well-formed, complete, and true to what the tour shows."""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.questionnaire import Check, Field, Kind, Questionnaire, Slot
from annotation.domain.transcripts import read_transcript
from annotation.questionnaires import get_questionnaire

DEMO = Path(__file__).parent.parent / "annotation" / "demo"
DIALOGUES = sorted((DEMO / "dialogues").glob("*.txt"))
FURTHER = sorted((DEMO / "further").glob("*.txt"))
LABELLED = ("DEMO-MSK-01", "DEMO-RES-01")
EXAMS = (("training", "DEMO-TRAINING"), ("test", "DEMO-TEST"))
SPEAKERS = {"D": "doctor", "P": "patient"}
NAME = re.compile(r"DEMO-(RES|MSK|GAS|CAR)-\d\d")
Turn = tuple[str, str]
PortalLabel = dict[str, Any]

# What a history asks about, as words of the doctor.
TOPICS = {
    "severity": r"\bten\b",
    "course": r"worse|changed|stayed|stop",
    "past history": r"before\b|ever (been|had)",
    "medication": r"medicines?|\btak(e|ing)\b",
    "allergies": r"allerg",
    "family": r"family",
    "smoking": r"smok",
    "alcohol": r"alcohol|drink",
    "occupation": r"\bwork\b|\bjob\b|living\b|retired|bakery",
    "home": r"at home|live with|lives with",
    "travel": r"travel|abroad|away",
}


def turns_of(text: str) -> list[Turn]:
    """Speaker and text of every line that is not blank; a line without a mark fails."""
    turns = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            mark, colon, said = line.partition(": ")
            assert colon, f"line {number} has no speaker mark"
            assert mark in SPEAKERS, f"line {number} is spoken by “{mark}”"
            turns.append((SPEAKERS[mark], said))
    return turns


@cache
def dialogue(name: str) -> list[Turn]:
    return turns_of((DEMO / "dialogues" / f"{name}.txt").read_text(encoding="utf-8"))


@cache
def labels(name: str) -> list[PortalLabel]:
    read: list[PortalLabel] = json.loads((DEMO / "labels" / f"{name}.labels.json").read_text(encoding="utf-8"))
    return read


@cache
def cmas() -> Questionnaire:
    return get_questionnaire("cmas")


def values(label: PortalLabel, key: str) -> list[str]:
    return [value for value in str(label.get(key, "")).split(",") if value]


def faults_of(label: PortalLabel, speaker: str) -> list[str]:
    """Why CMAS does not allow the label on a turn of this speaker; empty when it does."""
    intent = cmas().intent(label["intent"])
    if intent is None or speaker not in intent.speakers:
        return [f"the {speaker} has no intent “{label['intent']}”"]
    content = {key: value for key, value in label.items() if key not in ("uid", "intent", "slot")}
    if "slot" not in label:
        return [f"“{key}” stands without a slot" for key in content]
    slot = cmas().slot(label["slot"])
    if slot is None or label["intent"] not in slot.intents:
        return [f"“{label['intent']}” has no slot “{label['slot']}”"]
    keys = legal_keys(slot, speaker, asks=intent.asks, intent=intent.name)
    return [f"{key}: {value!r}" for key, value in content.items() if not is_legal(keys.get(key), value)]


def legal_keys(slot: Slot, speaker: str, *, asks: bool, intent: str) -> dict[str, frozenset[str] | type]:
    """What each key of a portal file may hold: `str` for any text, `bool` for a tick, or a closed set of answers."""
    keys: dict[str, frozenset[str] | type] = {}
    for field in slot.fields:
        if not field.offered(intent, speaker):
            continue
        ticked_only = asks and field.check is Check.ALONE
        keys[field.portal] = bool if ticked_only else answers_of(field)
        if asks and field.check is Check.WITH_VALUE:
            keys[f"{field.portal} check"] = bool
        if not asks and field.kind is Kind.RATED_VALUES:
            keys[f"{field.portal} status"] = spellings_of(field)
        if not asks and field.criterion:
            keys[f"{field.portal} criterion"] = str
    return keys


def answers_of(field: Field) -> frozenset[str] | type:
    if field.kind is Kind.CHOICE:
        return spellings_of(field)
    if field.kind is Kind.SCALE:
        return frozenset(str(number) for number in range(field.minimum, field.maximum + 1))
    return str


def spellings_of(field: Field) -> frozenset[str]:
    return frozenset(choice.portal or choice.name for choice in field.choices if not choice.older)


def is_legal(allowed: frozenset[str] | type | None, value: object) -> bool:
    if allowed is bool:
        return value is True
    if allowed is str:
        return isinstance(value, str) and bool(value.strip()) and value == value.strip()
    return isinstance(allowed, frozenset) and value in allowed


def said_of_symptoms(name: str, key: str) -> dict[str, list[str]]:
    """What the patient answered under `key`, by symptom, in the order of the dialogue."""
    answers: dict[str, list[str]] = defaultdict(list)
    for label in labels(name):
        if label["intent"] == "inform" and label.get("slot") == "symptom" and key in label:
            for symptom in values(label, "value"):
                answers[symptom].append(label[key])
    return answers


def changed(answers: dict[str, list[str]]) -> set[str]:
    return {symptom for symptom, said in answers.items() if len(set(said)) > 1}


def test_the_demo_holds_seven_dialogues_of_four_specialties() -> None:
    names = [path.stem for path in DIALOGUES]
    kinds = Counter(match[1] for name in names if (match := NAME.fullmatch(name)))
    assert kinds == {"RES": 3, "MSK": 2, "GAS": 1, "CAR": 1}
    assert len(names) == 7


@pytest.mark.parametrize("name", [path.stem for path in DIALOGUES])
def test_a_dialogue_has_44_to_70_turns_of_two_speakers(name: str) -> None:
    turns = dialogue(name)
    assert 44 <= len(turns) <= 70
    assert turns[0][0] == "doctor"
    assert all(said == said.strip() and said for _, said in turns)
    repeats = sum(before[0] == after[0] for before, after in pairwise(turns))
    assert repeats <= 3, "the speakers mostly alternate"


@pytest.mark.parametrize("name", [path.stem for path in DIALOGUES])
def test_turns_are_separated_by_one_blank_line(name: str) -> None:
    text = (DEMO / "dialogues" / f"{name}.txt").read_text(encoding="utf-8")
    assert text == "\n\n".join(line for line in text.splitlines() if line) + "\n"


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("name", [path.stem for path in DIALOGUES])
def test_the_doctor_asks_about_every_part_of_a_history(name: str, topic: str) -> None:
    asked = " ".join(said for speaker, said in dialogue(name) if speaker == "doctor")
    assert re.search(TOPICS[topic], asked, re.IGNORECASE), f"{name} never asks about {topic}"


def test_no_two_dialogues_share_a_long_turn() -> None:
    long_turns = [said for path in DIALOGUES for _, said in dialogue(path.stem) if len(said.split()) > 8]
    assert [said for said, count in Counter(long_turns).items() if count > 1] == []


@pytest.mark.parametrize("name", [path.stem for path in DIALOGUES])
def test_the_portal_reads_the_same_turns_and_has_nothing_to_remark(name: str) -> None:
    transcripts = pytest.importorskip("annotation.domain.transcripts")
    text = (DEMO / "dialogues" / f"{name}.txt").read_text(encoding="utf-8")
    parsed, notices = transcripts.read_transcript(text, file=f"{name}.txt", external_id=name)
    assert [str(notice) for notice in notices] == []
    assert [(turn.speaker, turn.text) for turn in parsed.utterances] == dialogue(name)


@pytest.mark.parametrize(("kind", "name"), EXAMS)
def test_training_and_test_are_short_and_their_gold_says_something_of_every_utterance(kind: str, name: str) -> None:
    turns = exam(kind, name)
    assert 10 <= len(turns) <= 16
    gold = json.loads((DEMO / kind / f"{name}.gold.json").read_text(encoding="utf-8"))
    assert {label["uid"] for label in gold} == {str(position) for position in range(len(turns))}
    faults = {label["uid"]: faults_of(label, turns[int(label["uid"])][0]) for label in gold}
    assert {uid: found for uid, found in faults.items() if found} == {}


@pytest.mark.parametrize(("kind", "name"), EXAMS)
def test_explanations_are_about_utterances_that_there_are_and_in_training_about_each(kind: str, name: str) -> None:
    why = json.loads((DEMO / kind / f"{name}.why.json").read_text(encoding="utf-8"))
    positions = {str(position) for position in range(len(exam(kind, name)))}
    assert set(why) == positions if kind == "training" else set(why) < positions
    assert len(set(why.values())) == len(why)
    assert all(len(text) > 20 for text in why.values())


def exam(kind: str, name: str) -> list[Turn]:
    return turns_of((DEMO / kind / f"{name}.txt").read_text(encoding="utf-8"))


def test_exactly_the_two_named_dialogues_are_labelled() -> None:
    files = sorted(path.name for path in (DEMO / "labels").iterdir())
    assert files == [f"{name}.labels.json" for name in LABELLED]


@pytest.mark.parametrize("name", LABELLED)
def test_every_utterance_has_a_label_and_every_label_an_utterance(name: str) -> None:
    labelled = {label["uid"] for label in labels(name)}
    assert labelled == {str(position) for position in range(len(dialogue(name)))}


@pytest.mark.parametrize("name", LABELLED)
def test_the_labels_stand_in_the_order_of_the_dialogue_and_none_twice(name: str) -> None:
    positions = [int(label["uid"]) for label in labels(name)]
    assert positions == sorted(positions)
    written = [json.dumps(label, sort_keys=True) for label in labels(name)]
    assert len(written) == len(set(written))


@pytest.mark.parametrize("name", LABELLED)
def test_every_label_is_one_that_cmas_allows(name: str) -> None:
    turns = dialogue(name)
    faults = {label["uid"]: faults_of(label, turns[int(label["uid"])][0]) for label in labels(name)}
    assert {uid: found for uid, found in faults.items() if found} == {}


@pytest.mark.parametrize(
    ("label", "speaker"),
    [
        ({"intent": "diagnosis", "slot": "disease", "value": "gerd", "status": "Yes"}, "patient"),
        ({"intent": "inform", "slot": "symptoms", "value": "cough", "status": "Yes"}, "patient"),
        ({"intent": "salutations", "value": "cough"}, "doctor"),
        ({"intent": "inform", "slot": "symptom", "value": "cough", "status": "yes"}, "patient"),
        ({"intent": "inquire", "slot": "symptom", "value": "cough", "status": "Yes"}, "doctor"),
        ({"intent": "inquire", "slot": "symptom", "value": "cough", "onset check": True}, "doctor"),
        ({"intent": "inquire", "slot": "symptom", "value": "pain", "severity": "4"}, "doctor"),
        ({"intent": "inform", "slot": "symptom", "value": "pain", "status": "Yes", "severity": "11"}, "patient"),
    ],
)
def test_a_label_that_cmas_does_not_allow_would_be_noticed(label: PortalLabel, speaker: str) -> None:
    assert faults_of(label, speaker) != []


@pytest.mark.parametrize("name", LABELLED)
def test_every_inform_has_its_status_and_names_what_it_is_about(name: str) -> None:
    for label in labels(name):
        slot = cmas().slot(label.get("slot", ""))
        if slot is None or label["intent"] not in ("inform", "diagnosis"):
            continue
        if slot.status_field:
            assert slot.status_field.portal in label, f"utterance {label['uid']} has no status"
        if slot.head_field:
            assert values(label, slot.head_field.portal), f"utterance {label['uid']} says nothing of what it is about"


@pytest.mark.parametrize("name", LABELLED)
@pytest.mark.parametrize("key", ["characteristics", "ana factors"])
def test_every_characteristic_and_factor_of_an_inform_has_its_status(name: str, key: str) -> None:
    listed = [label for label in labels(name) if label["intent"] == "inform" and key in label]
    assert listed
    assert all(label.get(f"{key} status") for label in listed)


@pytest.mark.parametrize("name", LABELLED)
def test_a_place_a_quality_or_a_factor_in_a_question_is_ticked_as_asked(name: str) -> None:
    inquiries = [label for label in labels(name) if label["intent"] == "inquire"]
    for key in ("location", "characteristics", "ana factors"):
        assert all(label.get(f"{key} check") for label in inquiries if key in label), key


@pytest.mark.parametrize(
    ("name", "denied_then_affirmed"), [("DEMO-RES-01", {"fever"}), ("DEMO-MSK-01", {"paresthesia"})]
)
def test_a_symptom_is_first_denied_and_later_affirmed(name: str, denied_then_affirmed: set[str]) -> None:
    statuses = said_of_symptoms(name, "status")
    assert {symptom for symptom, said in statuses.items() if said == ["No", "Yes"]} == denied_then_affirmed


@pytest.mark.parametrize(("name", "complaint"), [("DEMO-RES-01", "cough"), ("DEMO-MSK-01", "pain")])
def test_the_onset_of_the_main_complaint_is_corrected(name: str, complaint: str) -> None:
    assert complaint in changed(said_of_symptoms(name, "when"))


@pytest.mark.parametrize(
    ("name", "key", "symptom"),
    [
        ("DEMO-RES-01", "color", "colored/excess sputum"),
        ("DEMO-MSK-01", "severity", "pain"),
        ("DEMO-MSK-01", "location", "pain"),
    ],
)
def test_an_answer_changes_in_the_course_of_the_dialogue(name: str, key: str, symptom: str) -> None:
    assert symptom in changed(said_of_symptoms(name, key))


@pytest.mark.parametrize("name", LABELLED)
def test_names_and_ages_in_the_labels_are_those_of_the_patient(name: str) -> None:
    told = [label for label in labels(name) if label["intent"] == "inform" and "age" in label]
    assert len(told) == 1
    assert told[0]["name"] in dialogue(name)[int(told[0]["uid"])][1]
    assert told[0]["age"].isdigit()


@pytest.mark.parametrize("path", FURTHER, ids=lambda path: path.stem)
def test_the_further_dialogues_are_short_and_read_without_a_remark(path: Path) -> None:
    turns = turns_of(path.read_text(encoding="utf-8"))
    assert 10 <= len(turns) <= 20
    assert NAME.fullmatch(path.stem)
    parsed, notices = read_transcript(path.read_text(encoding="utf-8"), file=path.name, external_id=path.stem)
    assert [str(notice) for notice in notices] == []
    assert [(turn.speaker, turn.text) for turn in parsed.utterances] == turns


def test_there_are_three_further_dialogues_under_names_of_their_own() -> None:
    assert len(FURTHER) == 3
    assert not {path.stem for path in FURTHER} & {path.stem for path in DIALOGUES}


def test_the_readme_says_that_the_dialogues_are_invented() -> None:
    assert "invented" in (DEMO / "README.md").read_text(encoding="utf-8")


def words_in_runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9']+", text.lower())
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}


@pytest.mark.skipif("PORTAL_REAL_DATA" not in os.environ, reason="PORTAL_REAL_DATA is not set")
def test_no_turn_shares_ten_words_in_a_row_with_a_published_transcript() -> None:
    published: set[tuple[str, ...]] = set()
    files = sorted((Path(os.environ["PORTAL_REAL_DATA"]) / "transcripts").glob("*.txt"))
    assert files
    for path in files:
        data = path.read_bytes()
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
        published |= words_in_runs(data.decode(encoding, errors="replace"), 10)
    shared = {
        " ".join(run)
        for path in (*DIALOGUES, *FURTHER)
        for _, said in turns_of(path.read_text(encoding="utf-8"))
        for run in words_in_runs(said, 10) & published
    }
    assert shared == set()
