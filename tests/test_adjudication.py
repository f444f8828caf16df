"""From two readings to gold: decisions, provenance, blinding, and what reopens an utterance."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from annotation.domain.adjudication import (
    AdjudicationError,
    Decision,
    Outcome,
    Pairing,
    Provenance,
    Resolution,
    align,
    changed_positions,
    fingerprint,
    resolve,
    shuffled,
    unblinded,
    undecided,
)
from annotation.domain.label_content import content
from annotation.domain.labels import Label
from annotation.domain.questionnaire import Questionnaire
from annotation.questionnaires import get_questionnaire
from tests.factory import inform
from tests.test_alignment import drawn_labels


@pytest.fixture(scope="module")
def cmas() -> Questionnaire:
    return get_questionnaire("cmas")


NOD_A, NOD_B = Label(3, "nod_prompt", id="a0"), Label(3, "nod_prompt", id="b0")
YES = replace(inform(3, "symptom", "cough", status="yes"), id="a1", rank=1)
NO = replace(inform(3, "symptom", "cough", status="no"), id="b1", rank=1)
GREETING = Label(3, "salutations", id="b2", rank=2)


@pytest.fixture
def pairings(cmas: Questionnaire) -> list[Pairing]:
    """Agreed: a nod. Different: cough yes, cough no. B alone: a greeting."""
    found = align(cmas, [NOD_A, YES], [NOD_B, NO, GREETING])
    assert [item.outcome for item in found] == [Outcome.AGREED, Outcome.DIFFERS, Outcome.ONLY_B]
    return found


def made(pairings: list[Pairing], number: int, decision: Decision) -> list[tuple[str, str, tuple[str, ...]]]:
    """(status or intent, provenance, sources) of the gold labels beside the agreed nod."""
    gold = resolve(pairings, {pairings[number].key: decision})
    rest = [item for item in gold if item.label.intent != "nod_prompt" or number == 0]
    return [(item.label.answers.get("status", item.label.intent), item.provenance.value, item.sources) for item in rest]


def test_without_decisions_only_what_both_agree_on_is_gold(pairings: list[Pairing]) -> None:
    (gold,) = resolve(pairings, {})
    assert (gold.label, gold.provenance, gold.sources) == (replace(NOD_A, id=""), Provenance.AGREED, ("a0", "b0"))
    assert undecided(pairings, {}) == pairings[1:]
    assert undecided(pairings, {pairings[1].key: Decision(Resolution.NONE)}) == pairings[2:]


def test_each_resolution_makes_its_labels_with_their_provenance(pairings: list[Pairing]) -> None:
    written = inform(3, "symptom", "cough", status="not sure")
    assert made(pairings, 1, Decision(Resolution.A)) == [("yes", "A", ("a1",))]
    assert made(pairings, 1, Decision(Resolution.B)) == [("no", "B", ("b1",))]
    assert made(pairings, 1, Decision(Resolution.BOTH)) == [("yes", "A", ("a1",)), ("no", "B", ("b1",))]
    assert made(pairings, 1, Decision(Resolution.EDITED, (written,))) == [("not sure", "edited", ("a1", "b1"))]
    assert made(pairings, 1, Decision(Resolution.NEW, (written, written))) == [("not sure", "new", ())] * 2
    assert made(pairings, 1, Decision(Resolution.NONE)) == []
    assert made(pairings, 2, Decision(Resolution.B)) == [("salutations", "B", ("b2",))]


def test_what_both_agree_on_can_be_revoked_or_changed(pairings: list[Pairing]) -> None:
    assert made(pairings, 0, Decision(Resolution.NONE)) == []
    assert made(pairings, 0, Decision(Resolution.AGREED)) == [("nod_prompt", "agreed", ("a0", "b0"))]
    edited = Decision(Resolution.EDITED, (Label(3, "chit-chat"),))
    assert made(pairings, 0, edited) == [("chit-chat", "edited", ("a0", "b0"))]


def test_reason_and_error_type_go_with_the_gold_and_ranks_count_anew(pairings: list[Pairing]) -> None:
    decisions = {
        pairings[1].key: Decision(Resolution.BOTH, reason="both are said", error_type="status"),
        pairings[2].key: Decision(Resolution.B),
    }
    gold = resolve(pairings, decisions, added=[Label(3, "inform", id="x", rank=9), Label(4, "inform")])
    assert [(item.label.position, item.label.rank, item.label.id) for item in gold] == [
        (3, 0, ""),
        (3, 1, ""),
        (3, 2, ""),
        (3, 3, ""),
        (3, 4, ""),
        (4, 0, ""),
    ]
    assert [item.reason for item in gold] == ["", "both are said", "both are said", "", "", ""]
    assert gold[1].error_type == "status"
    assert [item.provenance for item in gold[-2:]] == [Provenance.NEW, Provenance.NEW]


@pytest.mark.parametrize(
    ("number", "decision", "sentence"),
    [
        (
            1,
            Decision(Resolution.AGREED),
            "Utterance 3: the two do not agree here; choose one of them, both, or write a label.",
        ),
        (2, Decision(Resolution.A), "Utterance 3: A has no label here that could be taken."),
        (
            2,
            Decision(Resolution.BOTH),
            "Utterance 3: there are no two different labels here that could both be taken.",
        ),
        (
            0,
            Decision(Resolution.BOTH),
            "Utterance 3: there are no two different labels here that could both be taken.",
        ),
        (1, Decision(Resolution.EDITED), "Utterance 3: the edited label is missing; write it, or choose none."),
        (1, Decision(Resolution.NEW), "Utterance 3: the new label is missing; write it, or choose none."),
        (
            1,
            Decision(Resolution.A, (YES,)),
            "Utterance 3: labels can only be written with “edited” or “new”, not with “A”.",
        ),
        (
            1,
            Decision(Resolution.NEW, (replace(YES, position=4),)),
            "Utterance 3: a label written here is about another utterance.",
        ),
    ],
)
def test_a_decision_that_does_not_fit_is_refused(
    pairings: list[Pairing], number: int, decision: Decision, sentence: str
) -> None:
    with pytest.raises(AdjudicationError) as caught:
        resolve(pairings, {pairings[number].key: decision})
    assert str(caught.value) == sentence


def test_a_decision_about_labels_that_changed_is_refused(cmas: Questionnaire, pairings: list[Pairing]) -> None:
    decisions = {pairings[1].key: Decision(Resolution.A)}
    changed = align(cmas, [NOD_A, replace(YES, answers={**YES.answers, "onset": "a week"})], [NOD_B, NO, GREETING])
    with pytest.raises(AdjudicationError, match="is about labels that have changed since; decide again"):
        resolve(changed, decisions)


@pytest.mark.parametrize("seed", range(100))
def test_gold_of_agreed_labels_is_what_both_said(cmas: Questionnaire, seed: int) -> None:
    draw = random.Random(seed)
    labels = drawn_labels(draw, draw.randint(0, 6))
    theirs = [replace(label, id=f"b{label.id}") for label in labels]
    draw.shuffle(theirs)
    gold = resolve(align(cmas, labels, theirs), {})
    assert [content(item.label) for item in gold] == [content(label) for label in labels]
    assert {item.provenance for item in gold} <= {Provenance.AGREED}


@pytest.mark.parametrize("seed", range(100))
def test_taking_one_side_everywhere_gives_that_side(cmas: Questionnaire, seed: int) -> None:
    draw = random.Random(seed)
    a, b = drawn_labels(draw, 5), drawn_labels(draw, 4)
    pairings = align(cmas, a, b)
    other = {Outcome.ONLY_B: Resolution.NONE}
    decisions = {
        item.key: Decision(other.get(item.outcome, Resolution.A))
        for item in pairings
        if item.outcome is not Outcome.AGREED
    }
    gold = resolve(pairings, decisions)
    assert undecided(pairings, decisions) == []
    assert Counter(content(item.label) for item in gold) == Counter(content(label) for label in a)


# --- blinding ---


def test_shuffling_hides_who_is_who_and_keeps_everything(cmas: Questionnaire, pairings: list[Pairing]) -> None:
    orders, sides = set(), set()
    for seed in range(200):
        shown = shuffled(pairings, seed)
        assert sorted(item.number for item in shown) == [0, 1, 2]
        assert len({item.exchanged for item in shown}) == 1  # one utterance: the sides stay together
        orders.add(tuple(item.number for item in shown))
        sides.add(shown[0].exchanged)
        for item in shown:
            original = pairings[item.number]
            turned = original.swapped() if item.exchanged else original
            assert item.pairing.words() == turned.words()
            assert item.pairing.key == original.key
            for label in (*item.pairing.a, *item.pairing.b):
                assert (label.id, label.rank, label.origin, label.kept) == ("", 0, "typed", {})
    assert len(orders) == 6
    assert sides == {True, False}


def test_shuffling_depends_on_seed_and_utterance_alone(cmas: Questionnaire) -> None:
    many = [
        item
        for position in range(64)
        for item in align(cmas, [Label(position, "nod_prompt")], [inform(position, "symptom", "cough")])
    ]
    shown = shuffled(many, "secret")
    assert shown == shuffled(many, "secret")
    assert shown[:2] == shuffled(many[:2], "secret")
    assert [item.pairing.position for item in shown] == sorted(item.pairing.position for item in shown)
    exchanged = [item.exchanged for item in shown]
    assert 32 < sum(exchanged) < 96
    assert exchanged != [item.exchanged for item in shuffled(many, "other")]
    # Which of the two comes first must say nothing about A either.
    first_is_a = [shown[place].number % 2 == 0 for place in range(0, 128, 2)]
    assert 16 < sum(first_is_a) < 48


def test_the_words_of_an_exchanged_pairing_name_the_sides_as_they_are_shown(pairings: list[Pairing]) -> None:
    assert pairings[1].swapped().words() == "same symptom, other status: A says no, B says yes"
    assert pairings[2].swapped().words() == "only A has “greeting”"
    assert pairings[2].swapped().swapped() == pairings[2]


def test_a_choice_made_blind_is_turned_back(pairings: list[Pairing]) -> None:
    for seed in range(20):
        for shown in shuffled(pairings, seed):
            if shown.number != 1:
                continue
            blind = Decision(Resolution.A, reason="as said")
            back = unblinded(shown, blind)
            gold = resolve(pairings, {shown.pairing.key: back})
            assert gold[1].label.answers == shown.pairing.a[0].answers
            assert gold[1].reason == "as said"
            assert unblinded(shown, Decision(Resolution.NONE)) == Decision(Resolution.NONE)


# --- reopening ---


def test_a_fingerprint_changes_with_any_change_and_with_nothing_else() -> None:
    a, b = [NOD_A, YES], [NOD_B, NO]
    before = fingerprint(a, b)
    assert fingerprint(a[::-1], b) == before
    assert fingerprint([replace(NOD_A, id="made again", rank=7), YES], b) == before
    assert fingerprint(b, a) != before
    assert fingerprint([YES], b) != before
    assert fingerprint([NOD_A, NOD_A, YES], b) != before
    for changed in (
        replace(YES, answers={**YES.answers, "onset": "a week"}),
        replace(YES, answers={**YES.answers, "value": ["Cough"]}),
        replace(YES, checks=("onset",)),
        replace(YES, intent="inquire"),
        replace(YES, intent_name="x"),
        replace(YES, slot="disease"),
    ):
        assert fingerprint([NOD_A, changed], b) != before
    assert fingerprint([NOD_A], [YES]) != fingerprint([NOD_A, YES], [])


def test_only_the_utterance_whose_labels_changed_is_reopened() -> None:
    decided = {place: fingerprint([replace(YES, position=place)], []) for place in range(4)}
    now = {**decided, 2: fingerprint([replace(NO, position=2)], []), 9: "new"}
    assert changed_positions(decided, decided) == []
    assert changed_positions(decided, now) == [2]
    del now[0]
    assert changed_positions(decided, now) == [0, 2]
