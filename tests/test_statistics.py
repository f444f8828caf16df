"""A corpus in figures, against counts made another way."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.concepts import Canon, CanonicalConcept
from annotation.domain.dataset import reading_from_dataset
from annotation.domain.labels import Label, Reading, Utterance
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.statistics import Grown, growth, statistics
from annotation.questionnaires import get_questionnaire
from tests.factory import inform, inquire


@pytest.fixture(scope="module")
def cmas() -> Questionnaire:
    return get_questionnaire("cmas")


def reading(*labels: Label, name: str = "X", speakers: str = "DPDP", text: str = "two words") -> Reading:
    names = {"D": "doctor", "P": "patient", "C": "control"}
    turns = tuple(Utterance(place, names[mark], text) for place, mark in enumerate(speakers))
    return Reading(name, turns).with_labels(labels)


# --- size ---


def test_words_are_what_white_space_separates(cmas: Questionnaire) -> None:
    found = statistics(cmas, [reading(text=" Uh-huh,  it's\u00a0bad \n"), reading(name="Y", speakers="D", text="")])
    size = found.sizes["all"]
    assert (size.dialogues, size.utterances, size.words) == (2, 5, 12)
    assert size.utterances_per_dialogue == 2.5
    assert size.words_per_utterance == 12 / 5


def test_nothing_has_no_means(cmas: Questionnaire) -> None:
    assert statistics(cmas, []).sizes["all"].as_json() == {
        "dialogues": 0,
        "utterances": 0,
        "utterances_per_dialogue": None,
        "words": 0,
        "words_per_utterance": None,
        "labelled_utterances": 0,
        "labels": 0,
        "entries": 0,
    }


def test_the_control_turn_is_no_utterance_and_its_label_not_counted(cmas: Questionnaire) -> None:
    found = statistics(cmas, [reading(Label(2, "differential"), speakers="DPC")])
    assert found.sizes["all"].utterances == 2
    assert found.sizes["all"].labels == 0
    assert dict(found.utterances_by_speaker) == {"doctor": 1, "patient": 1}


def test_splits_add_up_to_the_whole_and_the_rest_has_a_row_of_its_own(cmas: Questionnaire) -> None:
    three = [reading(name=name) for name in "XYZ"]
    found = statistics(cmas, three, {"X": "train", "Y": "test", "gone": "test"})
    assert {name: size.dialogues for name, size in found.sizes.items()} == {"all": 3, "train": 1, "test": 1, "none": 1}
    assert list(statistics(cmas, three).sizes) == ["all"]


def test_a_label_with_two_values_is_two_entries_as_in_a_dataset(cmas: Questionnaire) -> None:
    found = statistics(cmas, [reading(inform(1, "symptom", "cough", "fever", status="yes", onset="today"))])
    assert (found.sizes["all"].labelled, found.sizes["all"].labels, found.sizes["all"].entries) == (1, 1, 2)
    assert found.slots["symptom"].entries == 2
    assert found.slots["symptom"].attributes == {"onset": 2}


# --- intents, slots, segments ---


def test_an_utterance_counts_once_for_each_of_its_intents_and_slots(cmas: Questionnaire) -> None:
    labels = [
        inform(1, "symptom", "cough", status="yes"),
        inform(1, "symptom", "fever", status="no"),
        inform(1, "habit", "tea", status="yes"),
        Label(1, "chit-chat"),
        inquire(2, "symptom", "cough"),
    ]
    found = statistics(cmas, [reading(*labels)]).as_json()
    assert found["speakers"] == {
        "doctor": {"utterances": 2, "unlabelled": 1, "intents": {"inquire": 1}},
        "patient": {"utterances": 2, "unlabelled": 1, "intents": {"inform": 1, "chit-chat": 1}},
    }
    assert {name: one["utterances"] for name, one in found["slots"].items()} == {"symptom": 2, "habit": 1}


@pytest.mark.parametrize(
    ("turns", "position", "segment"),
    [(10, 0, 0), (10, 9, 9), (100, 9, 0), (100, 10, 1), (4, 1, 2), (4, 3, 7), (1, 0, 0), (25, 24, 9), (11, 10, 9)],
)
def test_a_dialogue_has_ten_equal_segments_however_long_it_is(
    cmas: Questionnaire, turns: int, position: int, segment: int
) -> None:
    found = statistics(cmas, [reading(inform(position, "habit", "tea"), speakers="P" * turns)])
    assert found.slots["habit"].segments == [int(place == segment) for place in range(10)]
    assert sum(found.segment_utterances) == turns


def test_the_control_turn_does_not_lengthen_a_dialogue(cmas: Questionnaire) -> None:
    found = statistics(cmas, [reading(inform(9, "habit", "tea"), speakers="P" * 10 + "C")])
    assert found.slots["habit"].segments[9] == 1


# --- attributes and concepts ---


def test_attributes_are_what_is_answered_or_asked_but_for_value_and_status(cmas: Questionnaire) -> None:
    labels = [
        inform(1, "symptom", "cough", status="yes", onset="today", duration=""),
        inquire(2, "symptom", "cough", checks=["onset", "location"], location=["chest"]),
        inform(3, "symptom", status="yes", onset="now"),
    ]
    figures = statistics(cmas, [reading(*labels)]).slots["symptom"]
    assert figures.attributes == {"onset": 3, "location": 1}
    assert figures.attributes_per_entry == 4 / 3


def test_concepts_are_values_of_medical_questions_whatever_their_case(cmas: Questionnaire) -> None:
    labels = [
        inform(1, "symptom", "Cough", "pain", status="yes", location=["chest"], onset="today"),
        inform(3, "symptom", "cough ", status="yes"),
        inform(3, "medication", "aspirin", status="yes", response_to=["COUGH"]),
        inform(3, "occupation", "nurse", status="yes"),
    ]
    more = reading(inform(1, "symptom", "cough", status="no"), name="Y")
    found = statistics(cmas, [reading(*labels), more]).as_json()["concepts"]
    assert found == [
        {"concept": "cough", "cui": "", "mentions": 4, "dialogues": 2, "slots": {"symptom": 3, "medication": 1}},
        {"concept": "chest", "cui": "", "mentions": 2, "dialogues": 1, "slots": {"symptom": 2}},
        {"concept": "aspirin", "cui": "", "mentions": 1, "dialogues": 1, "slots": {"medication": 1}},
        {"concept": "pain", "cui": "", "mentions": 1, "dialogues": 1, "slots": {"symptom": 1}},
    ]


def test_wordings_that_were_decided_to_mean_one_concept_count_as_it(cmas: Questionnaire) -> None:
    labels = [
        inform(1, "symptom", "SOB", "winded", status="yes"),
        inform(3, "symptom", "sob", status="yes"),
        inform(3, "medication", "oxygen", status="yes", response_to=["sob"]),
    ]
    dyspnea = CanonicalConcept("C0013404", "Dyspnea")
    canon = Canon({("symptom", "value", text): dyspnea for text in ("sob", "winded")})
    found = statistics(cmas, [reading(*labels)], canon=canon).as_json()["concepts"]
    assert [(one["concept"], one["cui"], one["mentions"]) for one in found] == [
        ("Dyspnea", "C0013404", 3),
        ("oxygen", "", 1),
        ("sob", "", 1),
    ], "the answer to another question was not decided"


def test_a_slot_that_implies_its_value_names_it(cmas: Questionnaire) -> None:
    found = statistics(cmas, [reading(Label(1, "inform", "symptom (dermatology)", {"status": "yes"}))])
    assert [one.spelling for one in found.concepts_by_frequency()] == ["dermatologic problem"]


def test_a_slot_of_another_questionnaire_counts_as_an_utterance_about_it(cmas: Questionnaire) -> None:
    found = statistics(cmas, [reading(Label(1, "inform", "hobbies"))])
    assert found.slots["hobbies"].utterances == 1
    assert found.slots["hobbies"].entries == 0


# --- growth ---


def test_labels_grow_day_by_day_in_any_order_of_events() -> None:
    one, two, three = (date(2024, 5, day) for day in (1, 2, 9))
    assert growth([(three, -2), (one, 3), (two, 1), (one, 1)]) == [
        Grown(one, 4, 4),
        Grown(two, 1, 5),
        Grown(three, -2, 3),
    ]
    assert growth([]) == []


# --- the released dialogues, counted from the raw JSON ---

SKIN = "dermatologic problem"
SLOTS = {
    "medical_history": "medical history",
    "family_history": "family history",
    "medical_test": "medical test",
    "basic_information": "basic information",
}
MEDICAL = {
    "symptom": {"value", "location"},
    "medication": {"value", "respone_to"},
    **{
        slot: {"value"}
        for slot in ("medical_history", "family_history", "habit", "exposure", "medical_test", "disease")
    },
}


class Raw:
    """The same figures from the file itself, without any module of the portal."""

    def __init__(self, dialogs: dict[str, Any]) -> None:
        self.words = self.utterances = self.entries = 0
        self.intents: dict[str, Counter[str]] = defaultdict(Counter)
        self.slots: Counter[str] = Counter()
        self.segments: dict[str, list[int]] = defaultdict(lambda: [0] * 10)
        self.attributes: dict[str, Counter[str]] = defaultdict(Counter)
        self.concepts: Counter[str] = Counter()
        for dialogue in dialogs.values():
            for place, turn in enumerate(dialogue["utterances"]):
                self.turn(turn, int(10 * place / len(dialogue["utterances"])))

    def turn(self, turn: dict[str, Any], segment: int) -> None:
        self.utterances += 1
        self.words += len(turn["text"].split())
        items = [(one["intent"], one.get("slots", {})) for one in turn.get("nlu", [])]
        items += [(one["action"], {k: v for k, v in one.items() if k != "action"}) for one in turn.get("actions", [])]
        for intent in {intent.replace("nod_prompt_salutations", "nod_prompt") for intent, _ in items}:
            self.intents[turn["speaker"]][intent] += 1
        named = set()
        for intent, slots in items:
            self.entries += not slots
            for name, entries in slots.items():
                bare = name.split("_", 1)[1] if name.split("_")[0] in PREFIXES else name
                for entry in entries:
                    named.add(self.entry(intent, bare, entry))
        for slot in named:
            self.slots[slot] += 1
            self.segments[slot][segment] += 1

    def entry(self, intent: str, bare: str, entry: dict[str, Any]) -> str:
        slot = "symptom (dermatology)" if entry.get("value") == SKIN else SLOTS.get(bare, bare)
        self.entries += 1
        asked = {check["type"]: check.get("values", []) for check in entry.get("checks", [])}
        given = {k: v if isinstance(v, list) else [v] for k, v in entry.items() if k not in ("checks", "status")}
        if intent == "inquire" and given.get("value") in (["other"], ["none"]):
            del given["value"]
        for name in {GROUPS.get(name, name) for name in {**asked, **given}} - {"value"}:
            self.attributes[slot][name] += 1
        for name, values in [*asked.items(), *given.items()]:
            if name in MEDICAL.get(bare, ()):
                self.concepts.update(value.lower() for value in values)
        return slot


PREFIXES = ("positive", "negative", "unknown", "avail", "unavail")
GROUPS = {
    **{f"{prefix}_characteristics": "characteristics" for prefix in PREFIXES},
    **dict.fromkeys(("alleviating_factor", "not_alleviating_factor"), "ana_factors"),
    **dict.fromkeys(("aggravating_factor", "not_aggravating_factor"), "ana_factors"),
    **dict.fromkeys(("not_alleviating_aggravating_factor", "unknown_factor"), "ana_factors"),
    "respone_to": "response_to",
    "gender": "sex",
    "date": "when",
}


def test_the_released_dialogues_have_the_figures_counted_from_the_file(real_data: Path, cmas: Questionnaire) -> None:
    dialogs = json.loads((real_data / "meditod" / "dialogs.json").read_text(encoding="utf-8"))
    raw = Raw(dialogs)
    found = statistics(cmas, [reading_from_dataset(cmas, name, dialogue) for name, dialogue in dialogs.items()])
    size = found.sizes["all"]
    assert (size.dialogues, size.utterances, size.words) == (2, raw.utterances, raw.words)
    assert size.entries == raw.entries
    assert found.intents == raw.intents
    assert {name: one.utterances for name, one in found.slots.items()} == raw.slots
    assert {name: one.segments for name, one in found.slots.items()} == raw.segments
    attributes = {name: dict(one.attributes) for name, one in found.slots.items() if one.attributes}
    assert attributes == {name: dict(one) for name, one in raw.attributes.items()}
    assert {one.spelling.lower(): one.mentions for one in found.concepts.values()} == raw.concepts
