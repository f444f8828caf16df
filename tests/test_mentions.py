"""What the patient says about themselves, taken out of labels."""

from __future__ import annotations

from annotation.domain.labels import Label, Reading, Utterance
from annotation.domain.mentions import attributes_of, entry_keys, mentions, mentions_of_label
from annotation.domain.state import Mention
from annotation.questionnaires import get_questionnaire
from tests.factory import TURNS, inform, inquire

CMAS = get_questionnaire("cmas")
UTTERANCES = tuple(Utterance(position, speaker, text) for position, (speaker, text) in enumerate(TURNS))


def read(*labels: Label) -> Reading:
    return Reading("D", UTTERANCES).with_labels(labels)


def of(label: Label) -> list[Mention]:
    return list(mentions_of_label(CMAS, label))


def test_only_what_the_patients_turns_inform_about_enters_the_state():
    reading = read(
        inform(0, "symptom", "fever", status="yes"),  # the doctor's turn
        inquire(2, "symptom", "fever", "night sweats"),
        inform(3, "symptom", "fever", status="no"),
        inquire(5, "symptom", "cough"),  # the patient asks
        Label(7, "other", "habit", {"value": ["smoking"]}, intent_name="jokes"),
        Label(9, "salutations"),
    )
    assert [(item.position, item.value, item.status) for item in mentions(CMAS, reading)] == [(3, "fever", "no")]


def test_mentions_come_in_the_order_of_the_dialogue_and_of_the_labels():
    later = Label(5, "inform", "symptom", {"value": ["b"]}, rank=0)
    first = Label(1, "inform", "symptom", {"value": ["c"]}, rank=2)
    second = Label(1, "inform", "symptom", {"value": ["a"]}, rank=1)
    assert [item.value for item in mentions(CMAS, read(later, first, second))] == ["a", "c", "b"]


def test_every_value_of_a_label_carries_all_its_attributes():
    label = inform(1, "symptom", "cough", "fever", status="yes", onset="a week", location=["chest", "neck"])
    attributes = {"onset": "a week", "location": ("chest", "neck")}
    assert of(label) == [
        Mention(1, "symptom", "cough", "yes", attributes),
        Mention(1, "symptom", "fever", "yes", attributes),
    ]


def test_rated_values_are_split_by_their_rating():
    rated = [{"value": "dry", "rating": "yes"}, {"value": "wet", "rating": "no"}, {"value": "loud", "rating": "yes"}]
    rated.append({"value": "odd", "rating": ""})
    (mention,) = of(inform(1, "symptom", "cough", characteristics=rated))
    assert mention.attributes == {
        "characteristics:yes": ("dry", "loud"),
        "characteristics:no": ("wet",),
        "characteristics:": ("odd",),
    }


def test_a_criterion_is_an_attribute_of_its_own_and_head_and_status_are_none():
    label = Label(7, "inform", "habit", {"value": ["alcohol"], "status": "yes", "status.criterion": "CAGE"})
    (mention,) = of(label)
    assert (mention.status, mention.attributes) == ("yes", {"status.criterion": "CAGE"})


def test_a_slot_without_a_head_speaks_of_its_implied_value_or_of_nothing_named():
    (skin,) = of(Label(1, "inform", "symptom (dermatology)", {"status": "yes", "rash_swollen": "no"}))
    assert (skin.value, skin.status, skin.attributes) == ("dermatologic problem", "yes", {"rash_swollen": "no"})
    (trip,) = of(Label(1, "inform", "travel", {"status": "yes", "destination": "Peru"}))
    assert (trip.value, trip.status, trip.attributes) == (None, "yes", {"destination": "Peru"})
    (person,) = of(Label(1, "inform", "basic information", {"age": "50"}))
    assert (person.value, person.status) == (None, "")


def test_a_head_that_is_a_single_text_gives_one_mention():
    (mention,) = of(Label(1, "inform", "occupation", {"value": "welder", "status": "yes"}))
    assert (mention.value, mention.status) == ("welder", "yes")


def test_a_label_that_says_nothing_is_no_mention():
    assert of(Label(1, "inform", "symptom")) == []
    assert of(Label(1, "inform")) == []
    assert of(Label(1, "inform", "no such slot", {"value": ["x"]})) == []


def test_an_answer_without_its_head_still_enters_the_state():
    (mention,) = of(Label(1, "inform", "symptom", {"status": "no"}))
    assert (mention.value, mention.status) == (None, "no")


def test_mentions_of_chosen_entries_are_those_among_all():
    reading = read(
        inform(1, "symptom", "cough", "fever", status="yes"),
        inform(3, "disease", "cough", status="yes"),
        inform(5, "symptom", "cough", onset="15 days"),
        Label(7, "inform", "travel", {"status": "no"}),
    )
    everything = list(mentions(CMAS, reading))
    for only in [{("symptom", "cough")}, {("travel", None)}, {("disease", "cough"), ("symptom", "fever")}, set()]:
        chosen = list(mentions(CMAS, reading, only))
        assert chosen == [item for item in everything if (item.slot, item.value) in only]


def test_a_label_names_the_entries_it_would_speak_of():
    assert entry_keys(CMAS, inform(1, "symptom", "a", "b")) == [("symptom", "a"), ("symptom", "b")]
    assert entry_keys(CMAS, Label(1, "inform", "travel")) == [("travel", None)]
    assert entry_keys(CMAS, Label(1, "inform")) == []


def test_attributes_leave_out_what_was_not_answered():
    slot = CMAS.slot("symptom")
    assert slot
    assert attributes_of(slot, inform(1, "symptom", "cough", onset="", location=[])) == {}
