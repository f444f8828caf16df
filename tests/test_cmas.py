"""The CMAS questionnaire: complete against the published fields, and usable as it is shown to annotators."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from annotation.domain.questionnaire import Check, Field, Kind, Meaning, Questionnaire
from annotation.domain.questionnaire_file import QuestionnaireError, load_questionnaire
from annotation.questionnaires import available, get_questionnaire

DOCS = Path(__file__).parent.parent / "docs" / "add-a-question.md"


@pytest.fixture(scope="module")
def cmas() -> Questionnaire:
    return get_questionnaire("cmas")


@pytest.fixture(scope="module")
def published(real_data: Path) -> dict:
    return json.loads((real_data / "meditod" / "cmas_fields.json").read_text(encoding="utf-8"))


# ------------------------------------------------------------------------------------- against the published fields


def test_every_published_slot_has_its_intents_and_all_its_fields(cmas: Questionnaire, published: dict):
    assert {slot.name for slot in cmas.slots} == set(published["slots"])
    for name, slot in published["slots"].items():
        ours = cmas.slot(name)
        assert set(ours.intents) == set(slot["intents"]), name
        assert {field.portal for field in ours.fields} == {field["name"] for field in slot["fields"]}, name


def answers_of(field: Field, cmas: Questionnaire) -> set[str]:
    """What a field offers, in the spelling of a portal file."""
    if field.kind == Kind.SCALE:
        return {str(number) for number in range(field.minimum, field.maximum + 1)}
    if field.kind == Kind.CHOICE:
        return {choice.portal for choice in field.choices if not choice.older}
    return {value.value for value in cmas.lists.get(field.values, ())}


def test_every_published_value_and_code_is_offered_and_no_other(cmas: Questionnaire, published: dict):
    compared = 0
    for name, slot in published["slots"].items():
        for theirs in slot["fields"]:
            ours = next(field for field in cmas.slot(name).fields if field.portal == theirs["name"])
            if "values" in theirs:
                assert answers_of(ours, cmas) == set(theirs["values"]), (name, ours.name)
                compared += len(theirs["values"])
            if "aux" in theirs:
                ratings = [choice.portal for choice in ours.choices if not choice.older]
                assert ratings == theirs["aux"], (name, ours.name)
            assert ours.criterion == ("aux_text" in theirs), (name, ours.name)
    assert compared > 1_000


def test_the_intents_their_speakers_and_the_tracked_slots_are_the_published_ones(cmas: Questionnaire, published: dict):
    assert {intent.name: set(intent.speakers) for intent in cmas.intents} == {
        intent["name"]: set(intent["speakers"]) for intent in published["intents"]
    }
    assert {slot.name for slot in cmas.slots if slot.tracked} == set(published["tracking"])


def test_fields_that_are_ticked_without_a_value_are_the_published_ones(cmas: Questionnaire, published: dict):
    theirs = {
        (name, field["name"])
        for name, slot in published["slots"].items()
        for field in slot["fields"]
        if "inquire" in field.get("chkbox_on", ())
    }
    ours = {(slot.name, field.portal) for slot in cmas.slots for field in slot.fields if field.check == Check.ALONE}
    assert ours == theirs


# -------------------------------------------------------------------------------------------------- its structure


def test_slots_are_in_the_order_of_the_form_and_begin_with_their_head(cmas: Questionnaire):
    assert [slot.name for slot in cmas.slots] == [
        "symptom", "symptom (dermatology)", "disease", "exposure", "habit", "medical history", "family history",
        "medication", "medical test", "occupation", "residence", "travel", "basic information", "medical discussion",
        "non-medical discussion", "other", "diseases/conditions",
    ]  # fmt: skip
    for slot in cmas.slots:
        if slot.head:
            assert slot.fields[0].name == slot.head == "value"
    assert [slot.name for slot in cmas.slots if not slot.head] == [
        "symptom (dermatology)", "travel", "basic information", "medical discussion", "non-medical discussion", "other",
        "diseases/conditions",
    ]  # fmt: skip


def test_fields_are_named_as_the_code_names_them(cmas: Questionnaire):
    assert [(field.name, field.portal) for field in cmas.slot("symptom").fields if field.name != field.portal] == [
        ("onset", "when"), ("initiation", "how"), ("ana_factors", "ana factors"),
    ]  # fmt: skip
    assert cmas.slot("habit").field("frequency").portal == "frquency"
    assert cmas.slot("habit").field("starting").portal == "when"
    assert cmas.slot("medical history").field("starting").portal == "when"
    assert cmas.slot("medication").field("start").portal == "since when"
    assert cmas.slot("medical test").head_field.portal == "name"
    assert cmas.slot("residence").field("household_size").portal == "household size"
    assert cmas.slot("symptom (dermatology)").implied_value == "dermatologic problem"


def test_medical_fields_are_those_that_are_linked_to_concepts(cmas: Questionnaire):
    by_slot: dict[str, list[str]] = {}
    for slot, field in cmas.medical_fields():
        by_slot.setdefault(slot.name, []).append(field.name)
    assert by_slot == {
        "symptom": ["value", "location"],
        "symptom (dermatology)": ["location"],
        "disease": ["value"],
        "exposure": ["value"],
        "habit": ["value"],
        "medical history": ["value"],
        "family history": ["value"],
        "medication": ["value", "response_to"],
        "medical test": ["value"],
        "diseases/conditions": ["ddx_1", "ddx_2", "ddx_3", "ddx_4", "ddx_5"],
    }


def test_status_is_needed_and_its_answers_have_a_meaning(cmas: Questionnaire):
    with_status = [slot for slot in cmas.slots if slot.status]
    assert len(with_status) == 12
    for slot in with_status:
        assert slot.status_field.needed, slot.name
        assert all(choice.meaning for choice in slot.status_field.choices), slot.name
        assert slot.status_field.choice_meaning(Meaning.YES), slot.name
        assert slot.status_field.choice_meaning(Meaning.NO), slot.name
    history = cmas.slot("medical history").status_field
    assert [(choice.name, str(choice.meaning)) for choice in history.choices] == [
        ("still suffers", "yes"), ("suffered in the past", "yes"), ("did not suffer", "no"), ("not sure", "unsure"),
        ("yes", "yes"), ("no", "no"),
    ]  # fmt: skip
    # A bare yes does not tell whether it is over; a bare no does.
    bare = [history.choice_meaning(meaning) for meaning in (Meaning.YES, Meaning.NO, Meaning.UNSURE)]
    assert [choice.name for choice in bare if choice] == ["yes", "did not suffer", "not sure"]


def test_the_status_of_symptoms_and_habits_is_not_offered_to_the_doctor(cmas: Questionnaire):
    hidden = {slot.name for slot in cmas.slots if slot.status and not slot.status_field.offered("inform", "doctor")}
    assert hidden == {"symptom", "habit"}
    assert cmas.slot("symptom").status_field.offered("inform", "patient")


def test_a_patient_who_informs_a_symptom_has_it_unless_they_say_otherwise(cmas: Questionnaire):
    defaults = {
        (slot.name, field.name): dict(field.default) for slot in cmas.slots for field in slot.fields if field.default
    }
    assert defaults == {
        ("symptom", "status"): {"patient": "yes"},
        ("symptom (dermatology)", "status"): {"patient": "yes"},
    }


def test_an_inquiry_ticks_everything_but_heads(cmas: Questionnaire):
    unticked = {(slot.name, field.name) for slot in cmas.slots for field in slot.fields if field.check == Check.NONE}
    assert unticked == {(slot.name, slot.head) for slot in cmas.slots if slot.head} - {("residence", "value")}


def test_bare_ratings_of_older_files_are_read_but_not_offered(cmas: Questionnaire):
    ratings = cmas.slot("symptom").field("ana_factors").choices
    assert [choice.name for choice in ratings if choice.older] == ["yes", "no"]
    assert cmas.slot("symptom").field("ana_factors").choice("neither").portal == "neither allevating nor aggrevating"


def test_history_statuses_are_read_in_the_spelling_of_older_files(cmas: Questionnaire):
    choice = cmas.slot("medical history").status_field.choice("suffered in the past")
    assert choice.portal == "The patient sufferred from the condition in the past."
    assert "patient sufferred from the condition in the past" in choice.spellings


def test_each_slot_and_slotless_intent_has_a_key_that_saves_it(cmas: Questionnaire):
    keys = {slot.name: slot.key for slot in cmas.slots} | {
        intent.name: intent.key for intent in cmas.intents if intent.slotless
    }
    assert "".join(sorted(keys.values())) == "abcdefghilmoprstvwx"
    assert (keys["symptom"], keys["medication"], keys["nod_prompt"], keys["salutations"]) == ("s", "p", "o", "g")


def test_speakers_take_their_usual_intent(cmas: Questionnaire):
    assert {speaker.name: (speaker.mark, speaker.usual_intent, speaker.other_intent) for speaker in cmas.speakers} == {
        "doctor": ("D", "inquire", "inform"),
        "patient": ("P", "inform", "inquire"),
        "control": ("·", "differential", "differential"),
    }


# -------------------------------------------------------------------------------------------------- words for values

LOOKUPS = [
    ("symptoms", "night sweats", "sleep hydrosis"),
    ("symptoms", "headache", "head ache"),
    ("symptoms", "shortness of breath", "dyspnea"),
    ("symptoms", "sob", "dyspnea"),
    ("symptoms", "trouble breathing", "dyspnea"),
    ("symptoms", "coughing up blood", "hemoptysis"),
    ("symptoms", "phlegm", "colored/excess sputum"),
    ("symptoms", "stuffy nose", "nasal congestion"),
    ("symptoms", "heart racing", "palpitation"),
    ("symptoms", "weight loss", "unexplained weight loss"),
    ("symptoms", "vomiting", "vomitting"),
    ("symptoms", "wheezing", "wheez"),
    ("symptoms", "dizziness", "dizzyness"),
    ("symptoms", "lightheaded", "stunning"),
    ("symptoms", "heartburn", "pyrosis"),
    ("symptoms", "loss of smell", "smell loss"),
    ("symptoms", "passed out", "fainting"),
    ("habits", "drink alcohol", "alcoholism"),
    ("habits", "cannabis", "marijuana"),
    ("exposures", "sick contacts", "person"),
    ("exposures", "anybody sick", "person"),
    ("diseases", "heart attack", "possible nstemi / stemi"),
    ("diseases", "lung cancer", "pulmonary neoplasm"),
    ("medical history", "immunizations", "vaccinations"),
    ("medical history", "up to date with shots", "vaccinations"),
    ("medical history", "high blood pressure", "high bp"),
    ("medical history", "had this before", "past experience"),
    ("medical history", "night sweats", "sleep hydrosis"),
    ("family history", "heart problems", "heart disease"),
    ("medications", "blood thinners", "noacs"),
    ("body sites", "left leg", "leg(L)"),
    ("body sites", "throat", "pharynx"),
    ("body sites", "lower back", "lumbar spine"),
    ("body sites", "right calf", "calf(R)"),
]


@pytest.mark.parametrize(("name", "word", "value"), LOOKUPS)
def test_an_everyday_word_leads_to_its_value(cmas: Questionnaire, name: str, word: str, value: str):
    assert value in [item.value for item in cmas.lists[name] if word in item.synonyms]


@pytest.mark.parametrize(
    "name", ["symptoms", "diseases", "exposures", "habits", "medical history", "family history", "medications"]
)
def test_every_controlled_value_has_other_words(cmas: Questionnaire, name: str):
    assert [item.value for item in cmas.lists[name] if len(item.synonyms) < 3] == []


def test_synonyms_are_lower_case_and_never_another_value_of_the_same_list(cmas: Questionnaire):
    composed = {"conditions", "medical history"}  # these hold values of several lists, where an exact value wins
    for name, items in cmas.lists.items():
        values = {item.value for item in items}
        for item in items:
            assert all(synonym == synonym.lower() for synonym in item.synonyms), (name, item.value)
            assert name in composed or not values.intersection(item.synonyms), (name, item.value)


def test_no_symptom_is_named_by_a_word_of_another_symptom(cmas: Questionnaire):
    owner: dict[str, str] = {}
    for item in cmas.lists["symptoms"]:
        for word in item.synonyms:
            assert owner.setdefault(word, item.value) == item.value, word


# ---------------------------------------------------------------------------------------------------------- its texts


def test_every_intent_and_slot_has_a_guideline_with_an_example(cmas: Questionnaire):
    for part in (*cmas.intents, *cmas.slots):
        assert part.help, part.name
        assert "Example – " in part.guideline, part.name
    assert cmas.guideline


def test_every_question_is_asked_in_words_of_its_own_within_its_slot(cmas: Questionnaire):
    for slot in cmas.slots:
        questions = [field.question for field in slot.fields]
        assert len(questions) == len(set(questions)), slot.name
        assert all(3 <= len(question) <= 60 for question in questions), slot.name


@pytest.mark.parametrize(
    ("words", "slot"),
    [
        ("household size", "residence"),
        ("past experience", "medical history"),
        ("secondhand cigarette", "habit"),
        ("guardian", "symptom"),
        ("criterion", "habit"),
        ("“all”", "symptom"),
    ],
)
def test_the_special_cases_are_rules_with_an_example(cmas: Questionnaire, words: str, slot: str):
    found = [case for case in cmas.special_cases if words in (case.title + case.rule + case.example).lower()]
    assert any(slot in case.slots and case.example for case in found)


def test_special_cases_name_values_that_the_lists_have(cmas: Questionnaire):
    values = {item.value for items in cmas.lists.values() for item in items}
    named = {"past experience", "secondhand cigarette", "all", "allergy medication"}
    rules = " ".join(case.rule for case in cmas.special_cases)
    assert named <= values
    assert all(f"“{value}”" in rules for value in named)


def test_the_questionnaire_can_be_sent_to_the_browser(cmas: Questionnaire):
    plain = json.loads(json.dumps(cmas.as_json()))
    assert plain["slots"][0]["fields"][1]["choices"][0]["portal"] == "Yes"
    assert plain["guideline"] == cmas.guideline
    assert ["head ache", "headache"] in [item[:2] for item in plain["lists"]["symptoms"]]


# -------------------------------------------------------------------------------------- the worked example of the docs


def blocks_of_the_docs(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_worked_example_of_the_docs_works_on_a_copy():
    text = available()["cmas"].read_text(encoding="utf-8")
    new_field = next(block for block in blocks_of_the_docs("yaml") if "night_waking:" in block)
    before = "      other:\n"
    changed = text.replace('version: "1.0"', 'version: "1.1"').replace(before, new_field + before, 1)
    copy = load_questionnaire(changed, file="cmas.yaml")
    field = copy.slot("symptom").field("night_waking")
    assert copy.version == "1.1"
    assert (field.kind, field.portal, field.check) == (Kind.CHOICE, "night waking", Check.WITH_VALUE)
    assert [choice.name for choice in field.choices] == ["yes", "no"]
    assert len(copy.slot("symptom").fields) == len(get_questionnaire("cmas").slot("symptom").fields) + 1


def test_the_error_in_the_docs_is_what_the_loader_says():
    text = available()["cmas"].read_text(encoding="utf-8")
    faulty = text.replace("        maximum: 10\n", "        maximun: 10\n", 1).replace(
        "values: durations", "values: duration"
    )
    with pytest.raises(QuestionnaireError) as caught:
        load_questionnaire(faulty, file="cmas.yaml")
    shown = next(block for block in blocks_of_the_docs("text") if "maximun" in block)
    # Line numbers move with every edit of the file; the rest must be as shown.
    assert re.sub(r"line \d+", "line N", str(caught.value)) == re.sub(r"line \d+", "line N", shown.strip())
