"""Two people's labels of one utterance side by side, with every difference in words."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from annotation.domain.alignment import Outcome, Pairing, align, align_readings
from annotation.domain.label_content import content, plain, said
from annotation.domain.label_differences import DifferenceKind, Voice, differences
from annotation.domain.labels import Label, Reading, Utterance
from annotation.domain.questionnaire import Questionnaire
from annotation.questionnaires import get_questionnaire
from tests.factory import inform, inquire


@pytest.fixture(scope="module")
def cmas() -> Questionnaire:
    return get_questionnaire("cmas")


def nod(position: int = 1) -> Label:
    return Label(position, "nod_prompt")


def symptom(*values: str, **answers: Any) -> Label:
    return inform(1, "symptom", *values, **answers)


def words(cmas: Questionnaire, a: list[Label], b: list[Label], concept: Any = None) -> list[str]:
    return [pairing.words() for pairing in align(cmas, a, b, concept)]


def drawn_labels(draw: random.Random, count: int) -> list[Label]:
    """Labels that resemble each other, so that every kind of pairing comes up."""
    labels = []
    for rank in range(count):
        kind = draw.random()
        if kind < 0.15:
            label = Label(1, draw.choice(["nod_prompt", "salutations", "inform"]))
        elif kind < 0.35:
            values = draw.sample(["cough", "fever"], draw.randint(0, 2))
            label = inquire(
                1, "symptom", *values, checks=draw.sample(["onset", "location", "severity"], draw.randint(0, 2))
            )
        else:
            slot = draw.choice(["symptom", "symptom", "medical history", "medication"])
            answers: dict[str, Any] = {}
            if draw.random() < 0.7:
                answers["status"] = draw.choice(["yes", "no"])
            if slot == "symptom" and draw.random() < 0.4:
                answers["onset"] = draw.choice(["8 days ago", "a week"])
            if slot == "symptom" and draw.random() < 0.4:
                answers["characteristics"] = [{"value": "sharp", "rating": draw.choice(["yes", "no", ""])}]
            values = draw.sample(["cough", "Cough", "fever", "pain"], draw.randint(0, 2))
            label = inform(1, slot, *values, **answers)
        labels.append(replace(label, id=f"{draw.random()}", rank=rank))
    return labels


# --- what counts as the same ---


def test_case_space_unicode_form_and_order_do_not_count() -> None:
    assert plain("  Caf\u0065\u0301  AU  lait ") == plain("caf\u00e9 au\tLAIT") == "caf\u00e9 au lait"
    one = symptom("Cough", "fever", status="yes", onset="8  days ago", severity="")
    other = symptom("fever", "cough", onset="8 Days ago", status="yes")
    assert content(one) == content(replace(other, id="x", rank=5, origin="imported", kept={"k": 1}))
    assert content(one) != content(symptom("fever", "cough", onset="9 days ago", status="yes"))
    assert said([{"value": "Sharp", "rating": "yes"}, {"value": "dull"}]) == (("dull", ""), ("sharp", "yes"))


def test_what_both_say_is_agreed_whoever_and_whenever(cmas: Questionnaire) -> None:
    a = [replace(nod(), id="1"), replace(symptom("cough", status="yes"), id="2", rank=1)]
    b = [replace(symptom("Cough", status="yes"), id="3", origin="copied"), replace(nod(), id="4", rank=1)]
    pairings = align(cmas, a, b)
    assert [(item.outcome, item.a[0].id, item.b[0].id) for item in pairings] == [
        ("agreed", "1", "4"),
        ("agreed", "2", "3"),
    ]
    assert [item.words() for item in pairings] == ["both agree", "both agree"]


def test_one_label_with_two_values_agrees_with_two_labels(cmas: Questionnaire) -> None:
    a = [symptom("cough", "fever", status="yes")]
    b = [symptom("fever", status="yes"), symptom("pain", status="yes"), symptom("cough", status="yes")]
    first, second = align(cmas, a, b)
    assert (first.outcome, first.a, first.b) == (Outcome.AGREED, (a[0],), (b[0], b[2]))
    assert first.words() == "both agree, in a different number of labels"
    assert (second.outcome, second.b) == (Outcome.ONLY_B, (b[1],))


def test_labels_that_divide_values_but_differ_in_an_answer_do_not_agree(cmas: Questionnaire) -> None:
    a = [symptom("cough", "fever", status="yes")]
    b = [symptom("fever", status="yes"), symptom("cough", status="no")]
    assert [pairing.outcome for pairing in align(cmas, a, b)] == ["differs", "only B"]


def test_the_same_label_twice_against_once_leaves_one_alone(cmas: Questionnaire) -> None:
    assert words(cmas, [nod(), nod()], [nod()]) == ["both agree", "only A has “nod”"]


# --- words ---


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (
            symptom("cough", status="yes"),
            symptom("cough", status="no"),
            "same symptom, other status: A says yes, B says no",
        ),
        (
            symptom("cough", status="yes", onset="8 days ago"),
            symptom("cough", status="yes"),
            "same symptom, missing onset (only A has “8 days ago”)",
        ),
        (
            symptom("cough", status="no", onset="8 days ago"),
            symptom("cough", status="yes", onset="a week", color="green"),
            "same symptom, other status: A says no, B says yes; other onset: A says “8 days ago”, B says “a week”; "
            "missing color (only B has “green”)",
        ),
        (
            symptom("cough", status="yes"),
            symptom("fever", status="yes"),
            "same slot (symptom), other value: A says “cough”, B says “fever”",
        ),
        (
            symptom("cough", "fever", status="yes"),
            symptom("cough", status="yes"),
            "same symptom, missing value (only A has “fever”)",
        ),
        (
            symptom("asthma", status="yes"),
            inform(1, "medical history", "asthma", status="yes"),
            "same intent (inform), other slot: A says symptom, B says medical history",
        ),
        (
            inform(1, "medication", "aspirin"),
            Label(1, "inform"),
            "same intent (inform), missing slot (only A has medication); missing value (only A has “aspirin”)",
        ),
        (
            symptom("cough"),
            inquire(1, "symptom", "cough"),
            "same symptom, other intent: A says inform, B says inquire",
        ),
        (
            inquire(1, "symptom", "cough", checks=["onset", "location"]),
            inquire(1, "symptom", "cough", checks=["location", "severity"]),
            "same symptom, missing question about onset (only A has it); "
            "missing question about severity (only B has it)",
        ),
        (
            symptom("pain", characteristics=[{"value": "sharp", "rating": "yes"}, {"value": "dull", "rating": "no"}]),
            symptom("pain", characteristics=[{"value": "Sharp", "rating": "no"}]),
            "same symptom, other answer for characteristics “sharp”: A says yes, B says no; "
            "missing characteristics (only A has “dull” (no))",
        ),
        (
            symptom("pain", characteristics=[{"value": "sharp", "rating": ""}]),
            symptom("pain", characteristics=[{"value": "sharp", "rating": "may be"}]),
            "same symptom, other answer for characteristics “sharp”: A says nothing, B says maybe",
        ),
        (
            symptom("pain", location=["chest", "arm"]),
            symptom("pain", location=["back", "arm"]),
            "same symptom, other location: A says “chest”, B says “back”",
        ),
        (
            symptom("pain", **{"severity": "8", "severity.criterion": "worst ever"}),
            symptom("pain", severity="7"),
            "same symptom, other severity: A says “8”, B says “7”; "
            "missing severity criterion (only A has “worst ever”)",
        ),
        (
            inform(1, "symptom (dermatology)", status="yes"),
            inform(1, "symptom (dermatology)", status="no"),
            "same skin finding, other status: A says yes, B says no",
        ),
        (
            Label(1, "other", intent_name="asks to repeat"),
            Label(1, "other", intent_name="repeats"),
            "same intent (other intent), other name of the intent: A says “asks to repeat”, B says “repeats”",
        ),
        (
            inform(1, "symptom", "cough", strange="x"),
            inform(1, "symptom", "cough"),
            "same symptom, missing strange (only A has “x”)",
        ),
        (
            inform(1, "no such slot", "a"),
            inform(1, "no such slot", "b"),
            "same no such slot, other value: A says “a”, B says “b”",
        ),
    ],
)
def test_a_difference_is_said_in_words(cmas: Questionnaire, a: Label, b: Label, sentence: str) -> None:
    (pairing,) = align(cmas, [a], [b])
    assert pairing.words() == sentence
    (mirrored,) = align(cmas, [b], [a])
    assert mirrored.swapped() == pairing


def test_a_label_that_stands_alone_is_said_with_its_content(cmas: Questionnaire) -> None:
    assert words(cmas, [symptom("cough", status="yes")], [nod()]) == [
        "only A has “inform symptom: cough (yes)”",
        "only B has “nod”",
    ]
    assert words(cmas, [], []) == []


def test_others_can_be_spoken_of(cmas: Questionnaire) -> None:
    gold, you = Voice("the gold"), Voice("you", "say", "have")
    a, b = symptom("cough", status="yes", onset="a week"), symptom("cough", status="no")
    (pairing,) = align(cmas, [a], [b])
    assert pairing.words(gold, you) == (
        "same symptom, other status: the gold says yes, you say no; missing onset (only the gold has “a week”)"
    )
    (alone,) = align(cmas, [], [nod()])
    assert alone.words(gold, you) == "only you have “nod”"


def test_wordings_of_one_concept_are_told_from_other_values(cmas: Questionnaire) -> None:
    def concept(a: Label, value: str, b: Label, other: str) -> bool:
        return a.slot == b.slot == "symptom" and {value, other} == {"head ache", "headache"}

    a, b = [symptom("head ache", "cough")], [symptom("fever", "headache")]
    assert words(cmas, a, b, concept) == [
        "same symptom, other wording of the same concept: A says “head ache”, B says “headache”; "
        "other value: A says “cough”, B says “fever”"
    ]
    assert words(cmas, a, b) == [
        "same slot (symptom), other value: A says “head ache”, “cough”, B says “fever”, “headache”"
    ]
    (pairing,) = align(cmas, a, b, concept)
    assert pairing.kinds == (DifferenceKind.WORDING, DifferenceKind.VALUE)
    assert not pairing.reworded


def test_labels_that_differ_in_the_wording_of_one_concept_alone_agree(cmas: Questionnaire) -> None:
    def concept(a: Label, value: str, b: Label, other: str) -> bool:
        return {value, other} == {"head ache", "headache"}

    (pairing,) = align(cmas, [symptom("head ache", "cough")], [symptom("Cough", "headache")], concept)
    assert (pairing.outcome, pairing.reworded) == (Outcome.AGREED, True)
    assert pairing.words() == "both agree, other wording of the same concept: A says “head ache”, B says “headache”"
    (pairing,) = align(cmas, [symptom("head ache")], [symptom("headache", status="no")], concept)
    assert (pairing.outcome, pairing.reworded) == (Outcome.DIFFERS, False)


# --- matching ---


def test_the_same_thing_is_matched_before_the_same_slot(cmas: Questionnaire) -> None:
    """Label by label in their order would give two wrong pairs."""
    a = [symptom("cough", status="yes"), symptom("fever", status="yes")]
    b = [symptom("fever", status="no"), symptom("cough", status="no", onset="a week", color="green")]
    assert [(item.a[0], item.b[0]) for item in align(cmas, a, b)] == [(a[0], b[1]), (a[1], b[0])]


def test_the_same_slot_is_matched_before_the_same_intent(cmas: Questionnaire) -> None:
    a = [inform(1, "medication", "aspirin"), symptom("cough", status="yes")]
    b = [symptom("fever", status="yes"), inform(1, "habit", "smoking")]
    assert [(item.a[0].slot, item.b[0].slot) for item in align(cmas, a, b)] == [
        ("medication", "habit"),
        ("symptom", "symptom"),
    ]


def test_fewest_differences_decide_within_one_closeness(cmas: Questionnaire) -> None:
    a = [symptom("cough", status="yes", onset="a week"), symptom("cough", status="no")]
    b = [symptom("cough", status="no", color="green"), symptom("cough", status="yes")]
    pairings = align(cmas, a, b)
    assert [len(pairing.differences) for pairing in pairings] == [1, 1]
    assert pairings[0].b[0] is b[1]


def test_the_nearer_spelling_decides_among_equal_differences(cmas: Questionnaire) -> None:
    a = [symptom("chest pain"), symptom("cough")]
    b = [symptom("dry cough"), symptom("pain in chest")]
    assert [item.b[0].answers["value"] for item in align(cmas, a, b)] == [["pain in chest"], ["dry cough"]]


def test_a_tie_is_decided_by_what_the_labels_say_and_not_by_their_order(cmas: Questionnaire) -> None:
    a, b = [symptom("ab"), symptom("cd"), symptom("ef")], [symptom("xy")]
    (matched,) = (item for item in align(cmas, a, b) if item.outcome is Outcome.DIFFERS)
    for _ in range(2):
        a.append(a.pop(0))
        (again,) = (item for item in align(cmas, a, b) if item.outcome is Outcome.DIFFERS)
        assert again == matched


def test_two_intents_without_a_slot_are_one_conflict(cmas: Questionnaire) -> None:
    """“Greeting” and “nod” are two readings of one utterance: taking both would put both into the gold."""
    (pairing,) = align(cmas, [Label(1, "salutations")], [nod()])
    assert pairing.outcome is Outcome.DIFFERS
    assert pairing.kinds == (DifferenceKind.INTENT,)
    assert pairing.words() == "other intent: A says greeting, B says nod"
    (mirrored,) = align(cmas, [nod()], [Label(1, "salutations")])
    assert mirrored.swapped() == pairing


def test_intents_without_a_slot_pair_up_only_when_nothing_closer_is_left(cmas: Questionnaire) -> None:
    a, b = [Label(1, "salutations"), Label(1, "chit-chat")], [Label(1, "chit-chat"), nod(), nod()]
    pairings = align(cmas, a, b)
    assert sorted(item.outcome for item in pairings) == ["agreed", "differs", "only B"]
    assert [item.words() for item in pairings if item.outcome is Outcome.DIFFERS] == [
        "other intent: A says greeting, B says nod"
    ]


def test_a_label_with_a_slot_and_one_of_another_intent_without_stay_alone(cmas: Questionnaire) -> None:
    pairings = align(cmas, [symptom("cough")], [nod()])
    assert [item.outcome for item in pairings] == [Outcome.ONLY_A, Outcome.ONLY_B]
    assert [item.kinds for item in pairings] == [(DifferenceKind.OMISSION,)] * 2


@pytest.mark.parametrize("seed", range(300))
def test_every_label_is_in_exactly_one_pairing(cmas: Questionnaire, seed: int) -> None:
    draw = random.Random(seed)
    a, b = drawn_labels(draw, draw.randint(0, 6)), drawn_labels(draw, draw.randint(0, 6))
    pairings = align(cmas, a, b)
    assert sorted(label.id for item in pairings for label in item.a) == sorted(label.id for label in a)
    assert sorted(label.id for item in pairings for label in item.b) == sorted(label.id for label in b)
    assert len({item.key for item in pairings}) == len(pairings)
    for item in pairings:
        assert (item.outcome is Outcome.DIFFERS) == bool(item.differences)
        assert item.outcome is not Outcome.AGREED or (item.a and item.b)
        assert item.words()


@pytest.mark.parametrize("seed", range(200))
def test_the_order_of_labels_does_not_change_what_is_matched(cmas: Questionnaire, seed: int) -> None:
    draw = random.Random(seed)
    a, b = drawn_labels(draw, 5), drawn_labels(draw, 5)

    def said_by(pairings: list[Pairing]) -> Counter[tuple[object, ...]]:
        """The key says what is paired; of labels that say the same in other spellings either may be taken."""
        return Counter((item.key, item.outcome, item.kinds) for item in pairings)

    before = said_by(align(cmas, a, b))
    draw.shuffle(a)
    draw.shuffle(b)
    assert said_by(align(cmas, a, b)) == before


@pytest.mark.parametrize("seed", range(200))
def test_two_labels_say_the_same_exactly_where_no_difference_is_found(cmas: Questionnaire, seed: int) -> None:
    draw = random.Random(seed)
    labels = drawn_labels(draw, 12)
    for one in labels:
        for other in labels:
            assert (content(one) == content(other)) == (not differences(cmas, one, other))


def test_who_agrees_with_themselves_agrees_on_everything(cmas: Questionnaire) -> None:
    for seed in range(50):
        labels = drawn_labels(random.Random(seed), 6)
        assert {item.outcome for item in align(cmas, labels, labels)} == {Outcome.AGREED}


def test_keys_tell_pairings_apart_and_do_not_tell_the_sides(cmas: Questionnaire) -> None:
    a, b = [nod(), nod(), symptom("cough", status="yes")], [symptom("cough", status="no")]
    keys = [item.key for item in align(cmas, a, b)]
    assert keys[1] == f"{keys[0]}.2"
    assert sorted(item.key for item in align(cmas, b, a)) == sorted(keys)


def test_labels_of_several_utterances_are_refused(cmas: Questionnaire) -> None:
    with pytest.raises(ValueError, match=r"not of the utterances \[1, 2\]"):
        align(cmas, [nod(1)], [nod(2)])


def test_readings_are_aligned_utterance_by_utterance(cmas: Questionnaire) -> None:
    turns = tuple(Utterance(place, "patient", "…") for place in range(3))
    a = Reading("X", turns).with_labels([nod(1)])
    b = Reading("X", turns).with_labels([nod(1), nod(2)])
    table = align_readings(cmas, a, b)
    assert {place: [item.outcome for item in pairings] for place, pairings in table.items()} == {
        0: [],
        1: [Outcome.AGREED],
        2: [Outcome.ONLY_B],
    }


def test_a_skin_finding_is_named_by_its_slot_not_by_a_value_that_nobody_typed(cmas: Questionnaire) -> None:
    skin = Label(1, "inform", "symptom (dermatology)", {"status": "yes"})
    rash = Label(1, "inform", "symptom", {"value": ["rash"], "status": "yes"})
    found = " ".join(item.words() for item in differences(cmas, skin, rash))
    assert "other value: A says “skin finding”, B says “rash”" in found
    assert "dermatologic" not in found
