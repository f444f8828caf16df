"""An attempt against gold: the ladder worked out by hand, pass marks, and feedback in words."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from annotation.domain.labels import Label, Reading, Utterance
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.scoring import Attempt, Counts, Rung, ScoringError, score_attempt, utterance_feedback
from annotation.questionnaires import get_questionnaire
from tests.factory import inform, inquire
from tests.test_alignment import drawn_labels


@pytest.fixture(scope="module")
def cmas() -> Questionnaire:
    return get_questionnaire("cmas")


def reading(*labels: Label, turns: int = 4, dialogue: str = "X") -> Reading:
    utterances = tuple(Utterance(place, "doctor" if place % 2 == 0 else "patient", "…") for place in range(turns))
    return Reading(dialogue, utterances).with_labels(labels)


GOLD = reading(
    Label(0, "salutations"),
    inquire(0, "symptom", "cough", checks=["onset"]),
    inform(1, "symptom", "cough", "fever", status="yes"),
    inquire(2, "medication"),
    inform(3, "medication", "aspirin", status="no"),
)
# Utterance 0: the greeting is missing, the question is right. 1: "fever" is missing, "pain" is too much. 2: right, and
# a nod too much. 3: the same drug, another status.
TRY = reading(
    inquire(0, "symptom", "Cough", checks=["onset"]),
    inform(1, "symptom", "cough", "pain", status="yes"),
    inquire(2, "medication"),
    Label(2, "nod_prompt"),
    inform(3, "medication", "aspirin", status="took in the past"),
)


def test_the_ladder_is_as_worked_out_by_hand(cmas: Questionnaire) -> None:
    """Intents: hits 0 inquire, 1 inform, 2 inquire, 3 inform; extra 2 nod; missed 0 salutations.
    Slots: symptom ×1, symptom ×2, medication, medication. Values: fever missed, pain extra.
    Attributes: aspirin's status differs on top."""
    score = score_attempt(cmas, [Attempt(GOLD, TRY)])
    assert score.rungs == {
        Rung.INTENTS: Counts(4, 1, 1),
        Rung.SLOT: Counts(5, 0, 0),
        Rung.SLOT_VALUE: Counts(4, 1, 1),
        Rung.SLOT_VALUE_ATTRIBUTES: Counts(3, 2, 2),
    }
    assert [score.rungs[rung].f for rung in Rung] == [0.8, 1.0, 0.8, 0.6]
    assert (score.answered, score.total, score.passed, score.shortfalls) == (4, 4, None, ())


def test_precision_recall_and_f_are_undefined_where_nothing_is_there() -> None:
    counts = Counts(3, 1, 2)
    assert (counts.precision, counts.recall, counts.f) == (3 / 4, 3 / 5, 6 / 9)
    assert (Counts().precision, Counts().recall, Counts().f) == (None, None, None)
    assert (Counts(0, 2, 0).precision, Counts(0, 2, 0).recall, Counts(0, 2, 0).f) == (0.0, None, 0.0)
    assert Counts(1, 2, 3) + Counts(10, 20, 30) == Counts(11, 22, 33)


def test_feedback_says_what_matched_and_what_differs(cmas: Questionnaire) -> None:
    attempt = Attempt(GOLD, TRY, explanations={3: "“Not any more” is a no."})
    feedback = score_attempt(cmas, [attempt]).feedback
    assert [item.matched for item in feedback] == [
        ("inquire symptom: Cough, onset?",),
        (),
        ("inquire medication",),
        (),
    ]
    assert [item.differs for item in feedback] == [
        ("only the gold has “greeting”",),
        ("same symptom, other value: the gold says “fever”, you say “pain”",),
        ("only you have “nod”",),
        ("same medication, other status: the gold says does not take it, you say took it in the past",),
    ]
    assert feedback[3].explanation == "“Not any more” is a no."
    assert not any(item.right for item in feedback)


def test_gold_against_itself_is_right_everywhere(cmas: Questionnaire) -> None:
    score = score_attempt(cmas, [Attempt(GOLD, GOLD)], pass_marks=dict.fromkeys(Rung, 1.0))
    assert {counts.f for counts in score.rungs.values()} == {1.0}
    assert score.passed is True
    assert all(item.right for item in score.feedback)


def test_an_unanswered_utterance_counts_as_missed_and_its_labels_are_not_looked_at(cmas: Questionnaire) -> None:
    score = score_attempt(cmas, [Attempt(GOLD, GOLD, answered={0, 1})])
    assert (score.answered, score.total) == (2, 4)
    assert score.rungs[Rung.SLOT_VALUE] == Counts(3, 0, 2)
    assert score.rungs[Rung.INTENTS] == Counts(3, 0, 2)
    assert score.feedback[2].differs == ("only the gold has “inquire medication”",)
    assert not score.feedback[2].answered


def test_an_empty_utterance_in_both_is_right_and_counts_nothing(cmas: Questionnaire) -> None:
    feedback = utterance_feedback(cmas, [], [])
    assert feedback.right
    assert set(feedback.counts.values()) == {Counts()}
    assert not utterance_feedback(cmas, [], [], answered=False).right


def test_values_in_one_label_or_in_several_count_the_same(cmas: Questionnaire) -> None:
    apart = reading(
        *(label for label in GOLD.labels if label.position != 1),
        inform(1, "symptom", "cough", status="yes"),
        inform(1, "symptom", "fever", status="yes"),
    )
    score = score_attempt(cmas, [Attempt(GOLD, apart)])
    assert {counts.f for counts in score.rungs.values()} == {1.0}
    assert all(item.right for item in score.feedback)


def test_the_intent_has_its_own_rung_and_does_not_enter_the_others(cmas: Questionnaire) -> None:
    feedback = utterance_feedback(cmas, [inform(1, "symptom", "cough")], [inquire(1, "symptom", "cough")])
    assert feedback.counts[Rung.INTENTS] == Counts(0, 1, 1)
    assert feedback.counts[Rung.SLOT_VALUE_ATTRIBUTES] == Counts(1, 0, 0)
    assert feedback.differs == ("same symptom, other intent: the gold says inform, you say inquire",)


def test_an_intent_that_annotators_name_counts_by_its_name(cmas: Questionnaire) -> None:
    one, other = Label(1, "other", intent_name="asks to repeat"), Label(1, "other", intent_name="Asks  to repeat")
    assert utterance_feedback(cmas, [one], [other]).counts[Rung.INTENTS] == Counts(1, 0, 0)
    third = Label(1, "other", intent_name="complains")
    assert utterance_feedback(cmas, [one], [third]).counts[Rung.INTENTS] == Counts(0, 1, 1)


def test_intents_are_sets_and_entries_are_multisets(cmas: Questionnaire) -> None:
    one = inform(1, "symptom", "cough")
    feedback = utterance_feedback(cmas, [one, one], [one])
    assert feedback.counts[Rung.INTENTS] == Counts(1, 0, 0)
    assert feedback.counts[Rung.SLOT_VALUE] == Counts(1, 0, 1)


def test_a_slot_without_value_counts_and_a_label_without_slot_does_not(cmas: Questionnaire) -> None:
    feedback = utterance_feedback(
        cmas, [inquire(1, "medication"), Label(1, "nod_prompt")], [inquire(1, "medication", "aspirin")]
    )
    assert feedback.counts[Rung.SLOT] == Counts(1, 0, 0)
    assert feedback.counts[Rung.SLOT_VALUE] == Counts(0, 1, 1)


def test_pass_marks_must_all_be_reached_and_a_mark_that_is_just_reached_is_enough(cmas: Questionnaire) -> None:
    passed = score_attempt(cmas, [Attempt(GOLD, TRY)], pass_marks={Rung.INTENTS: 0.8, Rung.SLOT_VALUE: 0.8})
    assert (passed.passed, passed.shortfalls) == (True, ())
    failed = score_attempt(cmas, [Attempt(GOLD, TRY)], pass_marks={Rung.INTENTS: 0.8, Rung.SLOT_VALUE_ATTRIBUTES: 0.7})
    assert failed.passed is False
    assert failed.shortfalls == ("F for slot + value + attributes is 0.600, below the pass mark of 0.7.",)


def test_an_undefined_figure_is_not_held_against_anybody(cmas: Questionnaire) -> None:
    nods = reading(Label(0, "nod_prompt"))
    score = score_attempt(cmas, [Attempt(nods, nods)], pass_marks={Rung.INTENTS: 1.0, Rung.SLOT_VALUE: 1.0})
    assert score.rungs[Rung.SLOT_VALUE].f is None
    assert score.passed is True


def test_several_dialogues_are_pooled_and_not_averaged(cmas: Questionnaire) -> None:
    small = reading(Label(0, "nod_prompt"), dialogue="Y", turns=1)
    wrong = reading(dialogue="Y", turns=1)
    score = score_attempt(cmas, [Attempt(GOLD, GOLD), Attempt(small, wrong)])
    assert score.rungs[Rung.INTENTS] == Counts(5, 0, 1)
    assert score.rungs[Rung.INTENTS].f == 10 / 11
    assert [(item.dialogue, item.position) for item in score.feedback][-1] == ("Y", 0)


@pytest.mark.parametrize("seed", range(100))
def test_counts_are_bounded_and_feedback_is_right_exactly_where_the_strictest_counts_are(
    cmas: Questionnaire, seed: int
) -> None:
    draw = random.Random(seed)
    gold, given = drawn_labels(draw, draw.randint(1, 4)), drawn_labels(draw, draw.randint(0, 4))
    feedback = utterance_feedback(cmas, gold, given)
    mirrored = utterance_feedback(cmas, given, gold)
    hits = [feedback.counts[rung].hits for rung in (Rung.SLOT, Rung.SLOT_VALUE, Rung.SLOT_VALUE_ATTRIBUTES)]
    assert hits == sorted(hits, reverse=True)
    for rung in Rung:
        counts, turned = feedback.counts[rung], mirrored.counts[rung]
        assert (counts.hits, counts.extra, counts.missed) == (turned.hits, turned.missed, turned.extra)
    if feedback.right:
        assert all(not counts.extra and not counts.missed for counts in feedback.counts.values())


def test_everything_can_be_written_as_json(cmas: Questionnaire) -> None:
    answer = score_attempt(cmas, [Attempt(GOLD, TRY)], pass_marks={Rung.SLOT: 0.5}).as_json()
    assert answer["rungs"]["slot_value"] == {
        "hits": 4,
        "extra": 1,
        "missed": 1,
        "precision": 0.8,
        "recall": 0.8,
        "f": 0.8,
    }
    assert answer["feedback"][2]["differs"] == ["only you have “nod”"]
    assert answer["passed"] is True


@pytest.mark.parametrize(
    ("attempts", "sentence"),
    [
        ([Attempt(GOLD, replace(TRY, dialogue="Z"))], "The gold is of X, the attempt of Z; score like with like."),
        ([Attempt(GOLD, reading(turns=3))], "Gold and attempt of X do not have the same utterances."),
        ([Attempt(GOLD, reading(Label(9, "inform")))], "X has no utterance 9, but a label or an answer is about it."),
        ([Attempt(GOLD, TRY, answered={7})], "X has no utterance 7, but a label or an answer is about it."),
        (
            [Attempt(GOLD, TRY), Attempt(GOLD, TRY)],
            "The dialogue X is scored twice in one attempt; name it once.",
        ),
        ([], "The gold has no labels to score against; choose a dialogue that has gold."),
        (
            [Attempt(reading(), TRY)],
            "The gold has no labels to score against; choose a dialogue that has gold.",
        ),
    ],
)
def test_an_attempt_that_cannot_be_scored_is_refused(
    cmas: Questionnaire, attempts: list[Attempt], sentence: str
) -> None:
    with pytest.raises(ScoringError) as caught:
        score_attempt(cmas, attempts)
    assert str(caught.value) == sentence


def test_a_pass_mark_outside_0_to_1_is_refused(cmas: Questionnaire) -> None:
    with pytest.raises(ScoringError, match="The pass mark for slot must lie between 0 and 1, but it is 80"):
        score_attempt(cmas, [Attempt(GOLD, TRY)], pass_marks={Rung.SLOT: 80})
