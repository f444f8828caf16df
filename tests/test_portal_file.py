"""Labels to portal files and back: nothing lost, nothing changed that nobody changed."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.joined import join_values, split_values
from annotation.domain.labels import Label
from annotation.domain.portal_file import dump_labels, read_labels, write_labels
from annotation.domain.questionnaire import Questionnaire
from annotation.questionnaires import get_questionnaire


@pytest.fixture(scope="module")
def cmas() -> Questionnaire:
    return get_questionnaire("cmas")


def read_one(questionnaire: Questionnaire, **item: Any) -> Label:
    found = read_labels(questionnaire, [{"uid": "3", **item}], file="x.json")
    assert found.notices == []
    return found.labels[0]


def write_one(questionnaire: Questionnaire, label: Label) -> dict[str, Any]:
    return write_labels(questionnaire, [label])[0]


def plain(value: Any) -> Any:
    """What may differ taken away: the order of keys (a dict has none) and spaces after commas."""
    if isinstance(value, str):
        return re.sub(", +", ",", value)
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    # A JSON true is not a 1, and a 3.0 is no 3.
    return (type(value).__name__, [plain(one) for one in value] if isinstance(value, list) else value)


def assert_round_trip(questionnaire: Questionnaire, item: dict[str, Any]) -> None:
    first = read_labels(questionnaire, [item], file="x.json")
    assert first.notices == []
    written = write_labels(questionnaire, first.labels)
    assert plain(written[0]) == plain(item)
    second = read_labels(questionnaire, json.dumps(written), file="x.json")
    assert [plain_label(label) for label in second.labels] == [plain_label(label) for label in first.labels]


def plain_label(label: Label) -> Label:
    return replace(label, kept=plain(dict(label.kept)))


# --- the released file ---


def test_all_labels_of_the_released_file_round_trip(cmas: Questionnaire, real_data: Path) -> None:
    text = (real_data / "meditod" / "RES0001.labels.json").read_text(encoding="utf-8")
    original = json.loads(text)
    found = read_labels(cmas, text, file="RES0001.labels.json", utterances=113)
    assert (len(found.labels), found.notices, found.unknown) == (115, [], [])
    written = dump_labels(cmas, found.labels)
    assert plain(json.loads(written)) == plain(original)
    again = read_labels(cmas, written, file="RES0001.labels.json")
    assert again.labels == found.labels
    assert dump_labels(cmas, again.labels) == written


def test_the_released_file_needs_almost_nothing_kept(cmas: Questionnaire, real_data: Path) -> None:
    text = (real_data / "meditod" / "RES0001.labels.json").read_text(encoding="utf-8")
    kept = [label for label in read_labels(cmas, text, file="x").labels if label.kept]
    assert kept == []


def test_the_demonstration_files_are_understood_and_round_trip(cmas: Questionnaire) -> None:
    files = sorted((Path(__file__).parent.parent / "annotation" / "demo" / "labels").glob("*.json"))
    assert files
    for file in files:
        found = read_labels(cmas, file.read_text(encoding="utf-8"), file=file.name)
        assert (found.notices, found.unknown) == ([], [])
        assert plain(write_labels(cmas, found.labels)) == plain(json.loads(file.read_text(encoding="utf-8")))


# --- how each kind of answer is spelled ---


@pytest.mark.parametrize(
    ("item", "answers", "checks"),
    [
        ({"value": "chest pain,dyspnea", "status": "Yes"}, {"value": ["chest pain", "dyspnea"], "status": "yes"}, ()),
        ({"value": "cough", "when": "8 days ago, about"}, {"value": ["cough"], "onset": "8 days ago, about"}, ()),
        ({"how": "abruptly"}, {"initiation": "abruptly"}, ()),
        (
            {"severity": "8", "severity criterion": "worst ever"},
            {"severity": "8", "severity.criterion": "worst ever"},
            (),
        ),
        ({"severity": True}, {}, ("severity",)),
        ({"when check": True}, {}, ("onset",)),
        ({"when": "a week", "when check": True}, {"onset": "a week"}, ("onset",)),
        ({"severity": "8", "severity check": True}, {"severity": "8"}, ("severity",)),
        (
            {"characteristics": "sharp,a cramp", "characteristics status": "yes"},
            {"characteristics": [{"value": "sharp", "rating": "yes"}, {"value": "a cramp", "rating": "yes"}]},
            (),
        ),
        (
            {"characteristics": "sharp,dull,heavy", "characteristics status": "yes,,may be"},
            {
                "characteristics": [
                    {"value": "sharp", "rating": "yes"},
                    {"value": "dull", "rating": ""},
                    {"value": "heavy", "rating": "may be"},
                ]
            },
            (),
        ),
        (
            {"ana factors": "night", "ana factors status": "neither allevating nor aggrevating"},
            {"ana_factors": [{"value": "night", "rating": "neither"}]},
            (),
        ),
        (
            {"ana factors": "night", "ana factors status": "no"},
            {"ana_factors": [{"value": "night", "rating": "no"}]},
            (),
        ),
        ({"ana factors": "night"}, {"ana_factors": [{"value": "night", "rating": ""}]}, ()),
    ],
)
def test_an_answer_is_read_and_written_in_the_released_spelling(
    cmas: Questionnaire, item: dict[str, Any], answers: dict[str, Any], checks: tuple[str, ...]
) -> None:
    label = read_one(cmas, intent="inform", slot="symptom", **item)
    assert (dict(label.answers), label.checks, dict(label.kept)) == (answers, checks, {})
    assert write_one(cmas, label) == {"intent": "inform", "slot": "symptom", **item, "uid": "3"}


@pytest.mark.parametrize(
    ("slot", "key", "field"),
    [
        ("habit", "frquency", "frequency"),
        ("habit", "when", "starting"),
        ("medical history", "when", "starting"),
        ("medication", "since when", "start"),
        ("residence", "household size", "household_size"),
        ("travel", "when", "when"),
    ],
)
def test_keys_are_the_released_ones(cmas: Questionnaire, slot: str, key: str, field: str) -> None:
    label = read_one(cmas, intent="inform", slot=slot, **{key: "long ago"})
    assert dict(label.answers) == {field: "long ago"}
    assert write_one(cmas, label)[key] == "long ago"


def test_a_named_intent_has_its_name_under_its_own_key(cmas: Questionnaire) -> None:
    label = read_one(cmas, intent="other", custom_intent_value="reassurance")
    assert (label.intent, label.intent_name, dict(label.kept)) == ("other", "reassurance", {})
    assert write_one(cmas, label) == {"intent": "other", "custom_intent_value": "reassurance", "uid": "3"}


def test_a_value_with_a_comma_is_quoted_and_read_back(cmas: Questionnaire) -> None:
    label = Label(1, "inform", "medication", {"value": ["Tylenol, extra strength", "advil"]})
    written = write_one(cmas, label)
    assert written["value"] == '"Tylenol, extra strength",advil'
    assert read_labels(cmas, [written], file="x").labels[0].answers == label.answers


@pytest.mark.parametrize(
    "values", [["a"], ["a,b", "c"], ['"a'], ['say "hm", twice', "b"], ['6" scar'], ['"'], ['"a"'], ['"a" b']]
)
def test_joined_values_split_into_the_same_values(values: list[str]) -> None:
    assert split_values(join_values(values)) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("tylenol, advil", ["tylenol", "advil"]),
        (",no,", ["", "no", ""]),
        ('"open, b', ['"open', "b"]),
        ('"a" b, c', ['"a" b', "c"]),
        ('"a, b" , c', ["a, b", "c"]),
        ("", [""]),
    ],
)
def test_any_text_can_be_split(text: str, values: list[str]) -> None:
    assert split_values(text) == values


# --- odd spellings ---


@pytest.mark.parametrize(
    ("item", "answers"),
    [
        ({"value": "cough", "status": "YES"}, {"value": ["cough"], "status": "yes"}),
        ({"value": ["cough", "fever"]}, {"value": ["cough", "fever"]}),
        ({"value": "cough,,cough,"}, {"value": ["cough"]}),
        ({"value": " cough"}, {"value": ["cough"]}),
        ({"severity": 8}, {"severity": "8"}),
        ({"when": None, "how": ""}, {}),
        ({"when": True}, {}),
        ({"ana factors": "night", "ana factors status": "aggravating"}, None),
    ],
)
def test_an_odd_spelling_is_understood_kept_and_not_reported(
    cmas: Questionnaire, item: dict[str, Any], answers: dict[str, Any] | None
) -> None:
    whole = {"uid": "3", "intent": "inform", "slot": "symptom", **item}
    found = read_labels(cmas, [whole], file="x")
    assert found.unknown == []
    assert found.labels[0].kept
    if answers is not None:
        assert dict(found.labels[0].answers) == answers
    assert_round_trip(cmas, whole)


@pytest.mark.parametrize(
    ("status", "name"),
    [
        ("The patient still suffers from the condition.", "still suffers"),
        ("patient still suffers from the condition", "still suffers"),
        ("The patient sufferred from the condition in the past.", "suffered in the past"),
        ("The patient did not suffer from the condition in the past", "did not suffer"),
        ("Yes", "yes"),
    ],
)
def test_older_spellings_of_a_status_are_read_and_kept(cmas: Questionnaire, status: str, name: str) -> None:
    item = {"uid": "3", "intent": "inform", "slot": "medical history", "value": "surgery", "status": status}
    assert read_labels(cmas, [item], file="x").labels[0].answers["status"] == name
    assert_round_trip(cmas, item)


def test_names_in_another_case_are_understood_and_written_back(cmas: Questionnaire) -> None:
    item = {"uid": 3, "intent": "Inform", "slot": "Family_History", "value": "cancer"}
    found = read_labels(cmas, [item], file="x")
    assert (found.labels[0].intent, found.labels[0].slot, found.unknown) == ("inform", "family history", [])
    assert_round_trip(cmas, item)


@pytest.mark.parametrize(
    ("item", "keys"),
    [
        ({"slot": "symptom", "value": "cough", "mood": "low"}, ["mood"]),
        ({"slot": "symptom", "value": "cough", "status": "perhaps so"}, ["status"]),
        ({"slot": "symptom", "severity": "8/10"}, ["severity"]),
        ({"slot": "symptom", "severity": {"from": 7}}, ["severity"]),
        ({"slot": "symptom", "value": True}, ["value"]),
        ({"slot": "symptom", "when check": "yes please"}, ["when check"]),
        ({"slot": "symptom", "characteristics status": "yes"}, ["characteristics status"]),
        (
            {"slot": "symptom", "characteristics": "sharp", "characteristics status": "yes,no"},
            ["characteristics status"],
        ),
        ({"slot": "symptom", "characteristics": "a,b", "characteristics status": "yes,hm"}, ["characteristics status"]),
        ({"slot": "symptom", "when": "x" * 2001}, ["when"]),
        ({"slot": "mood", "value": "low"}, ["slot", "value"]),
        ({"slot": 7}, ["slot"]),
        ({"value": "cough"}, ["value"]),
        ({"custom_intent_value": "x"}, ["custom_intent_value"]),
        ({"intent": "other", "custom_intent_value": "a\x00b"}, ["custom_intent_value"]),
        ({"intent": "other", "custom_intent_value": ["a"]}, ["custom_intent_value"]),
        ({"intent": "other", "custom_intent_value": "x" * 201}, ["custom_intent_value"]),
    ],
)
def test_what_is_not_understood_is_kept_and_reported(
    cmas: Questionnaire, item: dict[str, Any], keys: list[str]
) -> None:
    whole = {"uid": "3", "intent": "inform", **item}
    found = read_labels(cmas, [whole], file="x")
    assert [one.key for one in found.unknown] == keys
    for one in found.unknown:
        assert (one.number, one.uid, one.value) == (1, "3", whole[one.key])
        assert "Label 1" in one.as_json()["text"]
    assert_round_trip(cmas, whole)


def test_an_unknown_intent_does_not_lose_the_label(cmas: Questionnaire) -> None:
    item = {"uid": "3", "intent": "reassure", "slot": "symptom", "value": "cough", "custom_intent_value": "z"}
    found = read_labels(cmas, [item], file="x")
    label = found.labels[0]
    assert (label.intent, label.intent_name, label.answers["value"]) == ("other", "reassure", ["cough"])
    assert [one.key for one in found.unknown] == ["intent", "custom_intent_value"]
    assert_round_trip(cmas, item)


# --- edits ---


@pytest.mark.parametrize(
    ("item", "edit", "expected"),
    [
        ({"status": "YES"}, {"status": "no"}, {"status": "No"}),
        ({"status": "YES"}, {"onset": "today"}, {"status": "YES", "when": "today"}),
        ({"status": "hm"}, {"status": "no"}, {"status": "No"}),
        ({"status": "hm"}, {"value": ["fever"]}, {"status": "hm", "value": "fever"}),
        ({"mood": "low"}, {"status": "no"}, {"mood": "low", "status": "No"}),
        ({"severity": 8}, {"severity": "7"}, {"severity": "7"}),
        (
            {"characteristics": "sharp", "characteristics status": "YES"},
            {"characteristics": [{"value": "sharp", "rating": "no"}]},
            {"characteristics": "sharp", "characteristics status": "no"},
        ),
    ],
)
def test_an_edit_replaces_the_kept_spelling_and_only_that(
    cmas: Questionnaire, item: dict[str, Any], edit: dict[str, Any], expected: dict[str, Any]
) -> None:
    label = read_one(cmas, intent="inform", slot="symptom", **item).with_answers(**edit)
    written = write_one(cmas, label)
    assert written == {"intent": "inform", "slot": "symptom", "uid": "3", **expected}


def test_a_tick_added_later_leaves_a_value_nobody_understood_in_place(cmas: Questionnaire) -> None:
    label = read_one(cmas, intent="inquire", slot="symptom", progression="hm")
    written = write_one(cmas, replace(label, checks=("progression",)))
    assert (written["progression"], written["progression check"]) == ("hm", True)


def test_an_intent_chosen_later_replaces_the_unknown_one(cmas: Questionnaire) -> None:
    label = replace(read_one(cmas, intent="reassure"), intent="inform", intent_name="")
    assert write_one(cmas, label) == {"intent": "inform", "uid": "3"}


def test_an_answer_the_questionnaire_no_longer_asks_for_is_still_written(cmas: Questionnaire) -> None:
    label = Label(1, "inform", "symptom", {"value": ["cough"], "side_effect": "drowsy"})
    assert write_one(cmas, label)["side effect"] == "drowsy"


# --- files that are none ---


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ('{"uid": "1"}', "list of labels"),
        ('[{"uid": "1", "intent": "inform"}, 7]', "Label 2 is not an object"),
        ('[{"intent": "inform"}]', "Label 1 has no uid"),
        ('[{"uid": "x", "intent": "inform"}]', "label 1"),
        ('[{"uid": true, "intent": "inform"}]', "label 1"),
        ('[{"uid": "-1", "intent": "inform"}]', "label 1"),
        ('[{"uid": "10", "intent": "inform"}]', "last utterance is 9"),
        ('[{"uid": "1"}]', "Label 1 has no intent"),
        ('[{"uid": "1", "intent": "inform", "uid": "2"}]', "more than once"),
        ('[{"uid": "1", ', "breaks off"),
        ("", "breaks off"),
        ('[{"uid": "1", "intent": "inform", "x": NaN}]', "number"),
        ('[{"uid": "1", "intent": "inform", "x": "\\ud800"}]', "surrogate"),
        ("[" * 100_000, "nested"),
    ],
)
def test_a_file_that_is_none_is_refused_with_one_sentence(cmas: Questionnaire, data: str, words: str) -> None:
    found = read_labels(cmas, data, file="mine.json", utterances=10)
    assert len(found.notices) == 1
    assert words in found.notices[0].message
    assert str(found.notices[0]).startswith("mine.json")


# --- fuzz ---

ODD = [
    None,
    True,
    False,
    0,
    8,
    2.5,
    "",
    " ",
    "Yes",
    "yes",
    "YES",
    "no,",
    ",no",
    "a, b",
    '"a, b",c',
    '"',
    '""',
    "a,,a",
    "8",
]
ODD += [
    "may be,yes",
    "Not sure",
    "hm",
    ["a", "b"],
    ["a", None],
    [],
    {},
    {"a": [1]},
    "é😀",
    "a\tb",
    "a\x00b",
    "x" * 2100,
]


def odd_item(questionnaire: Questionnaire, rng: random.Random) -> dict[str, Any]:
    slot = rng.choice(questionnaire.slots)
    names = [field.portal for field in slot.fields]
    keys = [name + rng.choice(["", "", "", " status", " check", " criterion"]) for name in names]
    keys += ["mood", "custom_intent_value", "Value", "ana factors status"]
    item: dict[str, Any] = {
        "uid": rng.choice(["3", 3, "03", " 3", 3.0]),
        "intent": rng.choice(
            [*(intent.name for intent in questionnaire.intents), "Inform", "nod prompt", "zz", 5, ["a"]]
        ),
    }
    if rng.random() < 0.9:
        item["slot"] = rng.choice([slot.name, slot.name, slot.name, slot.name.upper(), "zz", None, 4])
    for key in rng.sample(keys, min(len(keys), rng.randrange(8))):
        item[key] = rng.choice(ODD)
    pairs = list(item.items())
    rng.shuffle(pairs)
    return dict(pairs)


def test_any_odd_label_round_trips(cmas: Questionnaire) -> None:
    rng = random.Random(20241)
    for _ in range(3000):
        assert_round_trip(cmas, odd_item(cmas, rng))


def test_any_odd_label_survives_an_edit_elsewhere(cmas: Questionnaire) -> None:
    rng = random.Random(7)
    for _ in range(500):
        item = odd_item(cmas, rng) | {"slot": "symptom"}
        item.pop("color", None)
        label = read_labels(cmas, [item], file="x").labels[0]
        if label.answers.get("color") or "color" in label.checks:
            continue
        item.pop("color check", None)
        written = write_one(cmas, label.with_answers(color="green"))
        written.pop("color check", None)
        assert plain(written) == plain({**item, "color": "green"})


def test_damaged_text_never_raises(cmas: Questionnaire) -> None:
    rng = random.Random(3)
    text = dump_labels(cmas, [Label(n, "inform", "symptom", {"value": ["cough"], "status": "yes"}) for n in range(4)])
    damage: list[Callable[[str], str]] = [
        lambda t: t[: rng.randrange(len(t))],
        lambda t: t.replace(rng.choice(t), rng.choice('[]{}",:0'), 3),
    ]
    for _ in range(400):
        found = read_labels(cmas, rng.choice(damage)(text), file="x")
        assert all(notice.message.endswith((".", "”")) for notice in found.notices)
        if not found.notices:
            assert len(write_labels(cmas, found.labels)) == len(found.labels)
