"""Labels in the published dataset's form, the way back, and the states recomputed."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.dataset import (
    DatasetError,
    DatasetState,
    actions_of,
    dialogue_to_dataset,
    mentions_of_nlu,
    nlu_of,
    reading_from_dataset,
    state_to_dataset,
    track_dataset,
)
from annotation.domain.labels import Label, Reading, Utterance
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.state import Mention, track
from annotation.domain.validation import checked_label
from annotation.questionnaires import get_questionnaire
from tests.factory import inform, inquire


@pytest.fixture(scope="module")
def cmas() -> Questionnaire:
    return get_questionnaire("cmas")


@pytest.fixture(scope="module")
def dialogs(real_data: Path) -> dict[str, Any]:
    published: dict[str, Any] = json.loads((real_data / "meditod" / "dialogs.json").read_text(encoding="utf-8"))
    return published


def reading(*labels: Label, speakers: str = "DPDPDP") -> Reading:
    names = {"D": "doctor", "P": "patient", "C": "control"}
    turns = tuple(Utterance(place, names[mark], f"turn {place}") for place, mark in enumerate(speakers))
    return Reading("X", turns).with_labels(labels)


def nlu_slots(questionnaire: Questionnaire, *labels: Label) -> dict[str, Any]:
    (entry,) = nlu_of(questionnaire, labels)
    slots: dict[str, Any] = entry["slots"]
    return slots


# --- the published dialogues ---


def test_all_published_states_are_recomputed(dialogs: dict[str, Any]) -> None:
    report = track_dataset(dialogs)
    assert (report.turns, report.equal, report.differences) == (104, 104, ())


def states_as_they_grow(turns: list[list[Mention]]) -> list[dict[str, Any]]:
    """The state after each turn; every one is looked at again after the last, so that none may have changed since."""
    growing = DatasetState()
    seen, texts = [], []
    for said in turns:
        growing.add(said)
        seen.append(growing.written())
        texts.append(json.dumps(seen[-1]))
    assert [json.dumps(one) for one in seen] == texts
    return seen


def states_anew(turns: list[list[Mention]]) -> list[dict[str, Any]]:
    return [
        state_to_dataset(track(mention for said in turns[: number + 1] for mention in said))
        for number in range(len(turns))
    ]


@pytest.mark.parametrize("seed", range(60))
def test_a_state_that_grows_is_the_state_of_all_that_was_said(seed: int) -> None:
    draw = random.Random(seed)

    def mention(position: int) -> Mention:
        named: dict[str, Any] = {
            name: draw.choice(["today", ("a", "b"), ("c",), ""]) for name in draw.sample(["onset", "location", "x"], 2)
        }
        value = draw.choice([None, "cough", "Cough", "pain"])
        slot = draw.choice(["symptom", "habit", "hobby"])
        return Mention(position, slot, value, draw.choice(["positive", "negative", ""]), named)

    turns = [[mention(position) for _ in range(draw.randint(0, 3))] for position in range(14)]
    grown, anew = states_as_they_grow(turns), states_anew(turns)
    assert [json.dumps(one) for one in grown] == [json.dumps(one) for one in anew], "keys and entries in one order"


def test_what_nothing_is_said_of_stands_in_the_next_state_as_it_was() -> None:
    growing = DatasetState()
    growing.add([Mention(0, "symptom", "cough", "positive", {}), Mention(0, "habit", "smoking", "positive", {})])
    before = growing.written()
    growing.add([Mention(1, "symptom", "cough", "negative", {})])
    after = growing.written()
    assert after["positive_habit"] is before["positive_habit"]
    assert list(after) == ["negative_symptom", "positive_habit"]


def test_the_published_states_grow_as_they_follow_anew(dialogs: dict[str, Any]) -> None:
    for dialogue in dialogs.values():
        patient = [turn for turn in dialogue["utterances"] if "nlu" in turn]
        turns = [list(mentions_of_nlu(turn["nlu"], turn["uttr_id"])) for turn in patient]
        assert states_as_they_grow(turns) == states_anew(turns) == [turn["dialog_state"] for turn in patient]


def test_the_published_dialogues_become_labels_and_come_back_the_same(
    cmas: Questionnaire, dialogs: dict[str, Any]
) -> None:
    """Nothing of the two dialogues is lost: actions, nlu and states are equal, the order of all lists included."""
    for name, dialogue in dialogs.items():
        found = reading_from_dataset(cmas, name, dialogue)
        written = dialogue_to_dataset(cmas, found)
        assert written == dialogue
        assert [list(turn.get("dialog_state", ())) for turn in written["utterances"]] == [
            list(turn.get("dialog_state", ())) for turn in dialogue["utterances"]
        ]


def test_the_published_labels_are_ones_the_questionnaire_allows(cmas: Questionnaire, dialogs: dict[str, Any]) -> None:
    for name, dialogue in dialogs.items():
        found = reading_from_dataset(cmas, name, dialogue)
        assert len(found.labels) > 100
        for label in found.labels:
            assert not label.kept
            checked = checked_label(cmas, label, found.utterances[label.position].speaker)
            assert checked.answers == label.answers


# --- one label at a time ---


@pytest.mark.parametrize(
    ("label", "slots"),
    [
        (
            inform(1, "symptom", "cough", "fever", status="no"),
            {"negative_symptom": [{"value": "cough"}, {"value": "fever"}]},
        ),
        (inform(1, "symptom", "cough", status="not sure"), {"unknown_symptom": [{"value": "cough"}]}),
        (inform(1, "symptom", "cough"), {"symptom": [{"value": "cough"}]}),
        (
            inform(1, "medical history", "asthma", status="still suffers"),
            {"positive_medical_history": [{"value": "asthma"}]},
        ),
        (inform(1, "medication", "advil", status="took in the past"), {"positive_medication": [{"value": "advil"}]}),
        (
            inform(1, "medication", "advil", status="currently taking", response_to=["pain", "fever"], impact="maybe"),
            {"positive_medication": [{"value": "advil", "respone_to": "pain, fever", "impact": "maybe"}]},
        ),
        (inform(1, "medical test", "x-ray", status="yes"), {"avail_medical_test": [{"value": "x-ray"}]}),
        (inform(1, "medical test", "x-ray", status="no"), {"unavail_medical_test": [{"value": "x-ray"}]}),
        (
            Label(1, "inform", "residence", {"value": "flat", "status": "no", "household_size": "4"}),
            {"residence": [{"value": "flat", "status": "not_living", "household_size": "4"}]},
        ),
        (
            Label(1, "inform", "occupation", {"value": "nurse", "status": "yes"}),
            {"occupation": [{"value": "nurse", "status": "true"}]},
        ),
        (
            inform(1, "travel", status="yes", destination="Europe", when="in May"),
            {"travel": [{"status": "traveled", "destination": "Europe", "date": "in May"}]},
        ),
        (inform(1, "basic information", sex="female"), {"basic_information": [{"gender": "female"}]}),
        (
            inform(1, "symptom (dermatology)", status="yes", itching="4", location=["face"]),
            {"positive_symptom": [{"value": "dermatologic problem", "itching": "4", "location": ["face"]}]},
        ),
        (
            inform(1, "habit", "alcoholism", status="maybe", **{"status.criterion": "CAGE"}),
            {"unknown_habit": [{"value": "alcoholism", "status_criterion": "CAGE"}]},
        ),
    ],
)
def test_what_a_patient_informs_is_named_as_published(cmas: Questionnaire, label: Label, slots: dict[str, Any]) -> None:
    assert nlu_slots(cmas, label) == slots


def test_ratings_split_characteristics_and_factors(cmas: Questionnaire) -> None:
    def rated(*pairs: tuple[str, str]) -> list[dict[str, str]]:
        return [{"value": value, "rating": rating} for value, rating in pairs]

    label = inform(
        1,
        "symptom",
        "cough",
        status="yes",
        characteristics=rated(("dry", "yes"), ("sharp", "no"), ("heavy", "may be"), ("odd", "")),
        ana_factors=rated(
            ("rest", "yes alleviating"),
            ("tea", "no alleviating"),
            ("night", "yes aggravating"),
            ("cold", "no aggravating"),
            ("food", "neither"),
            ("dust", "may be"),
            ("lying down", "no"),
        ),
    )
    (entry,) = nlu_slots(cmas, label)["positive_symptom"]
    assert entry == {
        "value": "cough",
        "positive_characteristics": ["dry"],
        "negative_characteristics": ["sharp"],
        "unknown_characteristics": ["heavy"],
        "characteristics": ["odd"],
        "alleviating_factor": ["rest"],
        "not_alleviating_factor": ["tea"],
        "aggravating_factor": ["night"],
        "not_aggravating_factor": ["cold"],
        "not_alleviating_aggravating_factor": ["food"],
        "unknown_factor": ["dust"],
        "negative_ana_factors": ["lying down"],
    }


@pytest.mark.parametrize(
    ("label", "action"),
    [
        (
            inquire(0, "symptom", "cough", checks=("onset", "location"), location=["chest"]),
            {
                "action": "inquire",
                "symptom": [
                    {"value": "cough", "checks": [{"type": "location", "values": ["chest"]}, {"type": "onset"}]}
                ],
            },
        ),
        (
            inquire(0, "symptom", "cough", ana_factors=[{"value": "night", "rating": ""}]),
            {
                "action": "inquire",
                "symptom": [{"value": "cough", "checks": [{"type": "ana_factors", "values": ["night"]}]}],
            },
        ),
        (
            inquire(0, "medication", checks=("response_to",)),
            {"action": "inquire", "medication": [{"value": "other", "checks": [{"type": "respone_to"}]}]},
        ),
        (
            inquire(0, "residence", checks=("value",)),
            {"action": "inquire", "residence": [{"value": "other", "checks": [{"type": "value"}]}]},
        ),
        (inquire(0, "travel"), {"action": "inquire", "travel": [{"value": "other"}]}),
        (inquire(0, "basic information"), {"action": "inquire", "basic_information": [{"value": "none"}]}),
        (
            inquire(0, "symptom (dermatology)"),
            {"action": "inquire", "symptom": [{"value": "dermatologic problem"}]},
        ),
        (
            inquire(0, "medical test", "ct", "mri"),
            {"action": "inquire", "medical_test": [{"value": "ct"}, {"value": "mri"}]},
        ),
        (
            Label(0, "diagnosis", "disease", {"value": ["copd"], "status": "maybe"}),
            {"action": "diagnosis", "disease": [{"value": "copd"}]},
        ),
        (Label(0, "salutations"), {"action": "nod_prompt_salutations"}),
        (Label(0, "nod_prompt"), {"action": "nod_prompt_salutations"}),
        (Label(0, "chit-chat", "medical discussion", {"topic": "smoking"}), {"action": "chit-chat"}),
        (Label(0, "other", intent_name="reassurance"), {"action": "other", "name": "reassurance"}),
    ],
)
def test_a_doctors_label_is_one_action(cmas: Questionnaire, label: Label, action: dict[str, Any]) -> None:
    assert actions_of(cmas, [label]) == [action]


def test_two_labels_of_a_doctor_are_two_actions_in_their_order(cmas: Questionnaire) -> None:
    labels = [inquire(0, "symptom", "fever"), inquire(0, "symptom", "cough")]
    assert [action["symptom"][0]["value"] for action in actions_of(cmas, labels)] == ["fever", "cough"]


def test_labels_of_one_intent_in_a_patients_turn_are_one_entry(cmas: Questionnaire) -> None:
    labels = [
        inform(1, "symptom", "cough", status="yes"),
        Label(1, "nod_prompt"),
        inform(1, "symptom", "fever", status="yes"),
        inform(1, "habit", "smoking", status="no"),
    ]
    assert nlu_of(cmas, labels) == [
        {
            "intent": "inform",
            "slots": {
                "positive_symptom": [{"value": "cough"}, {"value": "fever"}],
                "negative_habit": [{"value": "smoking"}],
            },
        },
        {"intent": "nod_prompt_salutations"},
    ]


def test_a_turn_without_labels_carries_the_state_over_and_the_closing_turn_is_left_out(cmas: Questionnaire) -> None:
    found = dialogue_to_dataset(cmas, reading(inform(1, "symptom", "cough", status="yes"), speakers="DPDPC"))[
        "utterances"
    ]
    assert [turn["speaker"] for turn in found] == ["doctor", "patient", "doctor", "patient"]
    assert found[0]["actions"] == []
    assert found[3]["nlu"] == []
    assert found[3]["dialog_state"] == found[1]["dialog_state"] == {"positive_symptom": [{"value": "cough"}]}


def test_a_greeting_and_a_nod_of_one_turn_are_one_entry(cmas: Questionnaire) -> None:
    """The dataset has one name for both; said twice in a turn it would be counted twice."""
    both = [Label(0, "salutations"), Label(0, "nod_prompt"), Label(1, "nod_prompt"), Label(1, "salutations")]
    found = dialogue_to_dataset(cmas, reading(*both, inquire(0, "symptom", "cough")))["utterances"]
    assert [action["action"] for action in found[0]["actions"]] == ["nod_prompt_salutations", "inquire"]
    assert found[1]["nlu"] == [{"intent": "nod_prompt_salutations"}]


def test_the_state_moves_an_entry_and_replaces_its_lists(cmas: Questionnaire) -> None:
    found = dialogue_to_dataset(
        cmas,
        reading(
            inform(1, "symptom", "cough", status="no", onset="today", location=["chest"]),
            inform(3, "symptom", "cough", status="yes", location=["throat"]),
            inquire(5, "symptom", "fever"),
        ),
    )["utterances"]
    assert found[5]["dialog_state"] == {
        "positive_symptom": [{"value": "cough", "onset": "today", "location": ["throat"]}]
    }


# --- the way back, from any labels ---


def test_exported_labels_come_back_as_the_same_dataset(cmas: Questionnaire) -> None:
    labels = [
        inform(1, "symptom", "cough", "fever", status="yes", onset="today", severity="7"),
        inform(1, "symptom (dermatology)", status="no", itching="2"),
        inform(1, "travel", status="yes", when="May", destination="Asia"),
        inform(1, "disease", "copd", status="maybe"),
        inform(1, "habit", "smoking", status="yes", **{"status.criterion": "pack years"}),
        inform(3, "medication", "advil", status="no", response_to=["pain", "fever"]),
        inquire(3, "symptom", checks=("severity",)),
        Label(3, "other", intent_name="thanks for care"),
        inquire(0, "symptom", "cough", checks=("characteristics",), characteristics=[{"value": "dry", "rating": ""}]),
    ]
    written = dialogue_to_dataset(cmas, reading(*labels))
    assert dialogue_to_dataset(cmas, reading_from_dataset(cmas, "X", written)) == written


def test_what_the_questionnaire_has_no_place_for_stays_on_the_label(cmas: Questionnaire) -> None:
    nlu = [
        {"intent": "inform", "slots": {"positive_symptom": [{"value": "cough", "mood": "low"}], "positive_aura": [1]}}
    ]
    found = reading_from_dataset(cmas, "X", {"utterances": [{"speaker": "patient", "nlu": nlu}]})
    assert [dict(label.kept) for label in found.labels] == [{"mood": "low"}, {"positive_aura": [1]}]


def test_a_questionnaire_with_another_slot_goes_out_under_its_own_names(cmas: Questionnaire) -> None:
    from dataclasses import replace

    habit = cmas.slot("habit")
    assert habit
    other = replace(cmas, slots=(*cmas.slots, replace(habit, name="coping style")))
    assert nlu_slots(other, inform(1, "coping style", "humour", status="no")) == {
        "negative_coping_style": [{"value": "humour"}]
    }


# --- datasets that are none ---


def small() -> dict[str, Any]:
    nlu = [{"intent": "inform", "slots": {"positive_symptom": [{"value": "cough", "onset": "today"}]}}]
    state = {"positive_symptom": [{"value": "cough", "onset": "today"}]}
    return {
        "7": {
            "utterances": [
                {"speaker": "doctor"},
                {"speaker": "patient", "uttr_id": 1, "nlu": nlu, "dialog_state": state},
            ]
        }
    }


def test_a_wrong_state_is_reported_with_its_dialogue_turn_and_key() -> None:
    dialogs = small()
    dialogs["7"]["utterances"][1]["dialog_state"] = {"positive_symptom": [{"value": "cough"}], "habit": []}
    report = track_dataset(dialogs)
    assert (report.turns, report.equal) == (1, 0)
    assert [(one.dialogue, one.turn, one.key) for one in report.differences] == [
        ("7", 1, "positive_symptom"),
        ("7", 1, "habit"),
    ]
    assert str(report.differences[0]).startswith("dialogue 7, turn 1:")


def test_the_order_of_entries_and_keys_makes_no_difference_but_that_inside_a_list_does() -> None:
    dialogs = small()
    turn = dialogs["7"]["utterances"][1]
    turn["nlu"][0]["slots"]["positive_symptom"].append({"value": "pain", "location": ["a", "b"]})
    turn["dialog_state"]["positive_symptom"].insert(0, {"location": ["a", "b"], "value": "pain"})
    assert track_dataset(dialogs).equal == 1
    turn["dialog_state"]["positive_symptom"][0]["location"].reverse()
    assert track_dataset(dialogs).equal == 0


@pytest.mark.parametrize("dialogs", [[], "x", None, 3])
def test_a_whole_that_is_no_dataset_is_refused(dialogs: Any) -> None:
    with pytest.raises(DatasetError, match="JSON object"):
        track_dataset(dialogs)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("7",), [], "utterances"),
        (("7", "utterances", 0), "hello", "no object"),
        (("7", "utterances", 1, "nlu"), {}, "no list"),
        (("7", "utterances", 1, "nlu", 0), 4, "no object"),
        (("7", "utterances", 1, "nlu", 0, "slots"), [], "no object"),
        (("7", "utterances", 1, "nlu", 0, "slots", "positive_symptom"), "cough", "no list"),
        (("7", "utterances", 1, "nlu", 0, "slots", "positive_symptom", 0), "cough", "no object"),
        (("7", "utterances", 1, "nlu", 0, "slots", "positive_symptom", 0, "value"), ["cough"], "no text"),
        (("7", "utterances", 1, "dialog_state"), None, "dialog_state"),
    ],
)
def test_a_malformed_place_becomes_a_difference_in_words(path: tuple[Any, ...], value: Any, words: str) -> None:
    dialogs = small()
    place: Any = dialogs
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    report = track_dataset(dialogs)
    assert any(words in str(one) and "dialogue 7" in str(one) for one in report.differences)


def test_nesting_without_end_becomes_a_difference() -> None:
    dialogs = small()
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    dialogs["7"]["utterances"][1]["dialog_state"]["habit"] = deep
    (difference,) = track_dataset(dialogs).differences
    assert "nested too deeply" in str(difference)


def test_malformed_mentions_raise_the_datasets_own_error() -> None:
    with pytest.raises(DatasetError):
        list(mentions_of_nlu([{"intent": "inform", "slots": {"positive_symptom": [1]}}], 0))


def test_any_damage_is_reported_and_never_raised(cmas: Questionnaire) -> None:
    rng = random.Random(11)
    for _ in range(1500):
        dialogs = copy.deepcopy(small())
        place: Any = dialogs
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            step = rng.choice(keys)
            if not isinstance(place[step], dict | list) or not place[step] or rng.random() < 0.2:
                place[step] = rng.choice([None, 1, True, "x", [], {}, [[]], [{}], {"value": []}, [None], {"type": [1]}])
                break
            place = place[step]
        report = track_dataset(dialogs)
        assert report.equal <= report.turns <= 2
        assert isinstance(reading_from_dataset(cmas, "7", dialogs.get("7")), Reading)
