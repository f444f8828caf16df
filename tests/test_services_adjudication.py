"""Gold through its services: decisions, provenance, undoing, reopening, blindness, reviews."""

from __future__ import annotations

import itertools
import uuid
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from annotation.domain.adjudication import Resolution
from annotation.domain.validation import InvalidLabel
from annotation.models import GuidelineNote, Label, LabelSet, Status
from annotation.services.adjudication import (
    Choice,
    agreed_accept,
    gold_begin_review,
    gold_decide,
    gold_finish,
    gold_reopen,
    gold_reveal,
    gold_undo,
    guideline_note_from_decision,
)
from annotation.services.adjudication_cases import NOT_SAMPLED, case_of
from annotation.services.errors import Conflict, NotEditable, Refused
from tests import factory
from tests.adjudicating import LABELS_A, Pair, finished, make_pair
from tests.editor import Editor
from tests.factory import inform


@pytest.fixture
def pair(dialogue: Any, people: Any) -> Pair:
    return make_pair(dialogue, people.annotator, people.second)


def request(pair: Pair, key: str = "") -> dict[str, Any]:
    case = pair.case
    return {"dialogue": case.dialogue, "version": case.version, "key": key or str(uuid.uuid4())}


def decide_all(pair: Pair, actor: Any) -> None:
    pair.decide(actor, 3, "A")
    pair.decide(actor, 5, "B")
    pair.decide(actor, 7, "none")


def test_a_dialogue_is_a_case_once_both_annotators_have_finished_it(dialogue: Any, people: Any) -> None:
    finished(dialogue, people.annotator, LABELS_A)
    other = factory.make_label_set(dialogue, people.second)
    assert case_of(dialogue) is None
    Editor(other).finish()
    case = case_of(dialogue)
    assert case is not None
    assert not case.is_review


def test_what_needs_a_decision_is_counted(pair: Pair) -> None:
    assert (pair.case.agreed, pair.case.conflicts, pair.case.left) == (2, 3, 3)
    assert pair.case.open == {3: 1, 5: 1, 7: 1}


def test_looking_at_a_case_writes_nothing(pair: Pair) -> None:
    assert pair.case.pairings
    assert not LabelSet.objects.filter(owner="gold").exists()


def test_the_first_decision_also_accepts_what_both_agree_on(pair: Pair, people: Any) -> None:
    pair.decide(people.supervisor, 3, "B")
    assert pair.gold_at(1) == [
        {"slot": "symptom", "value": ["cough"], "status": "yes", "onset": "two weeks", "from": "agreed"}
    ]
    assert pair.gold_at(3) == [{"slot": "symptom", "value": ["fever"], "status": "yes", "from": "B"}]
    assert pair.gold_at(5) == []
    assert (pair.case.left, pair.gold.status, pair.gold.version) == (2, Status.IN_PROGRESS, 1)


def test_a_gold_label_says_from_which_labels_by_whom_when_and_why(pair: Pair, people: Any) -> None:
    pair.decide(people.supervisor, 3, "A", reason="he denies it", error_type="status")
    said = Label.objects.get(label_set=pair.gold, utterance__position=3).provenance
    source = pair.a.labels.get(utterance__position=3)
    assert said["sources"] == [str(source.pk)]
    assert (said["from"], said["by"], said["blind"]) == ("A", people.supervisor.pk, True)
    assert (said["reason"], said["error_type"]) == ("he denies it", "status")
    assert said["at"] == pair.case.row(3, pair.key_at(3)).decided_at.isoformat()
    agreed = Label.objects.get(label_set=pair.gold, utterance__position=1).provenance
    both = {str(label_set.labels.get(utterance__position=1).pk) for label_set in (pair.a, pair.b)}
    assert (agreed["from"], set(agreed["sources"])) == ("agreed", both)


def test_the_history_of_the_gold_keeps_the_provenance(pair: Pair, people: Any) -> None:
    pair.decide(people.supervisor, 3, "A")
    event = pair.gold.events.get()
    assert {change["provenance"]["from"] for change in event.changes} == {"agreed", "A"}
    assert event.actor == people.supervisor


def test_both_are_taken_edited_written_anew_or_none(pair: Pair, people: Any) -> None:
    who = people.supervisor
    pair.decide(who, 3, "both")
    assert [row["from"] for row in pair.gold_at(3)] == ["A", "B"]
    pair.decide(who, 3, "edited", labels=(inform(3, "symptom", "fever", status="not sure"),))
    assert pair.gold_at(3) == [{"slot": "symptom", "value": ["fever"], "status": "not sure", "from": "edited"}]
    pair.decide(who, 3, "new", labels=(inform(3, "symptom", "night sweats", status="no"),))
    assert [(row["value"], row["from"]) for row in pair.gold_at(3)] == [(["night sweats"], "new")]
    pair.decide(who, 3, "none")
    assert pair.gold_at(3) == []
    assert pair.case.left == 2


def test_what_both_agree_on_can_be_revoked_and_accepted_again(pair: Pair, people: Any) -> None:
    pair.decide(people.supervisor, 1, "none")
    assert pair.gold_at(1) == []
    assert pair.case.left == 3
    pair.decide(people.supervisor, 1, "agreed")
    assert [row["from"] for row in pair.gold_at(1)] == ["agreed"]


def test_a_label_can_be_written_beside_all_others_and_taken_out_again(pair: Pair, people: Any) -> None:
    label = inform(9, "symptom", "headache", status="no")
    pair.decide(people.supervisor, 9, "new", pairing="", labels=(label,))
    assert [row["value"] for row in pair.gold_at(9)] == [["headache"]]
    (row,) = pair.case.added(9)
    pair.decide(people.supervisor, 9, "none", pairing=f"added-{row.pk}")
    assert pair.gold_at(9) == []
    assert pair.case.added(9) == []


def test_the_last_decisions_are_undone_one_after_the_other(pair: Pair, people: Any) -> None:
    who = people.supervisor
    pair.decide(who, 3, "A")
    pair.decide(who, 3, "B")
    pair.decide(who, 7, "B")
    gold_undo(actor=who, **request(pair))
    assert (pair.gold_at(7), pair.case.left) == ([], 2)
    gold_undo(actor=who, **request(pair))
    assert [row["from"] for row in pair.gold_at(3)] == ["A"]
    gold_undo(actor=who, **request(pair))
    assert (pair.gold_at(3), pair.case.left) == ([], 3)
    with pytest.raises(Refused, match="no decision"):
        gold_undo(actor=who, **request(pair))
    assert [row["from"] for row in pair.gold_at(1)] == ["agreed"]


def test_the_same_request_twice_decides_once(pair: Pair, people: Any) -> None:
    case = pair.case
    choice = Choice(3, pair.key_at(3), Resolution.BOTH)
    sent = {"dialogue": case.dialogue, "actor": people.supervisor, "version": 0, "key": "k", "choices": [choice]}
    first, second = gold_decide(**sent), gold_decide(**sent)
    assert (first.replayed, second.replayed, second.version) == (False, True, 1)
    assert len(pair.gold_at(3)) == 2


def test_a_decision_against_an_old_version_changes_nothing(pair: Pair, people: Any) -> None:
    old = request(pair)
    pair.decide(people.doctor, 3, "A")
    choice = Choice(5, pair.key_at(5), Resolution.BOTH)
    with pytest.raises(Conflict) as refused:
        gold_decide(actor=people.supervisor, choices=[choice], **old)
    assert refused.value.version == 1
    assert pair.case.left == 2


@pytest.mark.parametrize(
    ("position", "resolution", "labels"),
    [
        (3, Resolution.AGREED, ()),
        (3, Resolution.EDITED, ()),
        (3, Resolution.A, (inform(3, "symptom", "x", status="yes"),)),
        (3, Resolution.NEW, (inform(5, "symptom", "x", status="yes"),)),
        (1, Resolution.BOTH, ()),
    ],
)
def test_a_decision_that_does_not_fit_is_refused_and_nothing_is_written(
    pair: Pair, people: Any, position: int, resolution: Resolution, labels: Any
) -> None:
    choice = Choice(position, pair.key_at(position), resolution, labels)
    with pytest.raises(Refused):
        gold_decide(actor=people.supervisor, choices=[choice], **request(pair))
    assert not LabelSet.objects.filter(owner="gold").exists()


def test_a_side_without_a_label_cannot_be_taken(pair: Pair, people: Any) -> None:
    with pytest.raises(Refused, match="cannot be chosen"):
        pair.decide(people.supervisor, 7, "A")


def test_what_is_written_must_be_a_label_that_somebody_could_make(pair: Pair, people: Any) -> None:
    with pytest.raises(InvalidLabel):
        pair.decide(people.supervisor, 3, "edited", labels=(inform(3, "symptom", "fever", status="perhaps"),))


def test_a_label_that_changed_since_reopens_its_utterance_alone_and_says_so(pair: Pair, people: Any) -> None:
    decide_all(pair, people.supervisor)
    pair.change(pair.b, 3, inform(3, "symptom", "fever", status="not sure"))
    assert (pair.case.open, pair.case.stale) == ({3: 1}, [3])
    pair.decide(people.supervisor, 3, "A")
    assert (pair.case.left, pair.case.stale) == (0, [])
    assert [row["from"] for row in pair.gold_at(3)] == ["A"]


def test_a_changed_utterance_says_so_until_it_is_decided_whatever_else_is(pair: Pair, people: Any) -> None:
    pair.decide(people.supervisor, 3, "A")
    pair.change(pair.b, 3, inform(3, "symptom", "chills", status="yes"))
    pair.decide(people.supervisor, 5, "A")
    assert pair.case.stale == [3]
    assert pair.gold_at(3) == []  # the old decision no longer stands


def test_a_new_disagreement_where_both_agreed_reopens_that_utterance(pair: Pair, people: Any) -> None:
    decide_all(pair, people.supervisor)
    pair.change(pair.a, 1, inform(1, "symptom", "cough", status="no", onset="two weeks"))
    assert (pair.case.open, pair.case.stale) == ({1: 1}, [1])


def test_a_new_label_where_nobody_had_one_reopens_that_utterance(pair: Pair, people: Any) -> None:
    decide_all(pair, people.supervisor)
    pair.change(pair.a, 9, inform(9, "symptom", "headache", status="yes"))
    assert (pair.case.open, pair.case.stale) == ({9: 1}, [9])


def test_gold_is_finished_once_everything_is_decided(pair: Pair, people: Any) -> None:
    pair.decide(people.supervisor, 3, "A")
    with pytest.raises(Refused, match="2 conflicts wait for a decision, the first at utterance 5"):
        gold_finish(actor=people.supervisor, **request(pair))
    pair.decide(people.supervisor, 5, "A")
    pair.decide(people.supervisor, 7, "B")
    gold_finish(actor=people.supervisor, **request(pair))
    assert pair.gold.status == Status.DONE
    with pytest.raises(NotEditable):
        pair.decide(people.supervisor, 3, "B")
    gold_reopen(actor=people.supervisor, **request(pair))
    pair.decide(people.supervisor, 3, "B")
    assert [row["from"] for row in pair.gold_at(3)] == ["B"]


def test_a_dialogue_without_conflicts_can_be_finished_at_once(dialogue: Any, people: Any) -> None:
    pair = Pair(dialogue, finished(dialogue, people.annotator, LABELS_A), finished(dialogue, people.second, LABELS_A))
    gold_finish(actor=people.supervisor, **request(pair))
    assert (pair.gold.status, pair.gold.labels.count()) == (Status.DONE, len(LABELS_A))


def test_gold_waits_for_an_annotator_who_reopened_their_labels(pair: Pair, people: Any) -> None:
    decide_all(pair, people.supervisor)
    Editor(LabelSet.objects.get(pk=pair.b.pk)).reopen()
    with pytest.raises(Refused, match="reopened"):
        gold_finish(actor=people.supervisor, **request(pair))


def test_finished_gold_comes_back_when_a_changed_label_is_finished_again(
    pair: Pair, people: Any, django_capture_on_commit_callbacks: Any
) -> None:
    decide_all(pair, people.supervisor)
    gold_finish(actor=people.supervisor, **request(pair))
    with django_capture_on_commit_callbacks(execute=True):
        pair.change(pair.b, 3, inform(3, "symptom", "fever", status="not sure"))
    assert pair.gold.status == Status.RETURNED
    assert pair.case.open == {3: 1}


def test_finished_gold_follows_a_change_that_leaves_nothing_to_decide(
    pair: Pair, people: Any, django_capture_on_commit_callbacks: Any
) -> None:
    decide_all(pair, people.supervisor)
    gold_finish(actor=people.supervisor, **request(pair))
    with django_capture_on_commit_callbacks(execute=True):
        pair.change(pair.b, 3, inform(3, "symptom", "fever", status="no"))
    assert (pair.gold.status, pair.case.stale) == (Status.DONE, [])
    assert [row["from"] for row in pair.gold_at(3)] == ["agreed"]


def test_who_is_a_differs_from_utterance_to_utterance_and_from_project_to_project(people: Any) -> None:
    drawn = set()
    for number in range(12):
        project = factory.make_project(f"Drawn {number}")
        first, second = factory.make_user(f"one{number}"), factory.make_user(f"two{number}")
        pair = make_pair(factory.make_dialogue(project), first, second)
        drawn.add(tuple(pair.case.exchanged(position) for position in (3, 5, 7)))
    assert len(drawn) > 3
    assert len({part for sides in drawn for part in sides}) == 2


def test_a_decision_on_what_is_shown_goes_to_the_true_side(pair: Pair, people: Any) -> None:
    for position, shown in itertools.product((3, 5), (Resolution.A, Resolution.B)):
        case = pair.case
        (item,) = case.shown(position)
        choice = Choice(position, item.pairing.key, shown)
        gold_decide(
            dialogue=case.dialogue, actor=people.doctor, version=case.version, key=str(uuid.uuid4()), choices=[choice]
        )
        (wanted,) = item.pairing.a if shown is Resolution.A else item.pairing.b
        (row,) = Label.objects.filter(label_set=pair.gold, utterance__position=position)
        assert row.answers == wanted.answers


def test_whoever_has_seen_the_names_decides_no_longer_blindly(pair: Pair, people: Any) -> None:
    pair.decide(people.supervisor, 3, "A")
    names = gold_reveal(dialogue=pair.case.dialogue, actor=people.supervisor)
    assert {frozenset(both) for both in names.values()} == {frozenset({"alice", "bob"})}
    shown = names[3].index("alice" if not pair.case.exchanged(3) else "bob")
    assert shown == 0
    pair.decide(people.supervisor, 5, "A")
    blind = {
        row.utterance.position: row.provenance["blind"] for row in pair.gold.labels.all() if row.provenance["decided"]
    }
    assert blind == {3: True, 5: False}


def test_of_three_annotators_the_first_two_are_compared(dialogue: Any, people: Any) -> None:
    third = factory.make_user("carol")
    pair = make_pair(dialogue, people.annotator, people.second)
    finished(dialogue, third, LABELS_A)
    assert pair.case.sides == (pair.a, pair.b)


def test_training_and_tests_are_no_work_to_adjudicate(dialogue: Any, people: Any) -> None:
    finished(dialogue, people.annotator, LABELS_A, purpose="test")
    finished(dialogue, people.second, LABELS_A, purpose="training")
    assert case_of(dialogue) is None


def test_one_annotators_labels_become_gold_by_a_review(dialogue: Any, people: Any) -> None:
    pair = Pair(dialogue, finished(dialogue, people.annotator, LABELS_A), None)  # type: ignore[arg-type]
    gold_begin_review(dialogue=pair.case.dialogue, actor=people.supervisor, share=1)
    assert (pair.case.is_review, pair.case.left, pair.gold.labels.count()) == (True, 4, 0)
    for position in (1, 2, 3):
        pair.decide(people.supervisor, position, "A")
    pair.decide(people.supervisor, 5, "none")
    gold_finish(actor=people.supervisor, **request(pair))
    assert pair.gold.labels.count() == 3


def test_a_review_of_a_sample_takes_the_rest_as_it_is_and_says_so(project: Any, people: Any) -> None:
    turns = [("patient", f"turn {number}") for number in range(200)]
    dialogue = factory.make_dialogue(project, turns=turns)
    label_set = factory.make_label_set(dialogue, people.annotator)
    factory.make_labels(label_set, *(inform(number, "symptom", "cough", status="yes") for number in range(200)))
    LabelSet.objects.filter(pk=label_set.pk).update(status=Status.DONE)
    pair = Pair(dialogue, label_set, None)  # type: ignore[arg-type]
    gold_begin_review(dialogue=pair.case.dialogue, actor=people.supervisor, share=0.2)
    assert 20 < pair.case.left < 60
    assert pair.gold.labels.count() == 200 - pair.case.left
    assert {row.provenance["reason"] for row in pair.gold.labels.all()} == {NOT_SAMPLED}
    assert pair.case.open == pair.case.open
    assert gold_begin_review(dialogue=pair.case.dialogue, actor=people.supervisor, share=1) == pair.gold


def test_a_review_needs_a_share_and_one_annotator(pair: Pair, people: Any) -> None:
    with pytest.raises(Refused, match="two people"):
        gold_begin_review(dialogue=pair.case.dialogue, actor=people.supervisor, share=1)
    with pytest.raises(Refused, match="share"):
        gold_begin_review(dialogue=pair.case.dialogue, actor=people.supervisor, share=0)


def test_accepting_what_agrees_in_a_whole_project_can_be_repeated(pair: Pair, project: Any, people: Any) -> None:
    single = factory.make_dialogue(project)
    finished(single, people.annotator, LABELS_A)
    assert agreed_accept(project=project) == {"dialogues": 1, "agreed": 2, "conflicts": 3}
    events = pair.gold.events.count()
    assert agreed_accept(project=project) == {"dialogues": 1, "agreed": 2, "conflicts": 3}
    assert pair.gold.events.count() == events == 1
    assert pair.gold.labels.count() == 2


def test_a_label_that_no_form_would_make_can_still_be_taken(dialogue: Any, people: Any) -> None:
    odd = replace(inform(1, "disease", "asthma"), intent="diagnosis")
    label_set = factory.make_label_set(dialogue, people.annotator)
    utterance = dialogue.utterances.get(position=1)
    Label.objects.create(
        label_set=label_set,
        utterance=utterance,
        rank=0,
        intent=odd.intent,
        slot=odd.slot,
        answers=odd.answers,
        questionnaire_version=dialogue.project.questionnaire_version,
    )
    LabelSet.objects.filter(pk=label_set.pk).update(status=Status.DONE)
    pair = Pair(dialogue, label_set, finished(dialogue, people.second, []))
    pair.decide(people.supervisor, 1, "A")
    assert [row["value"] for row in pair.gold_at(1)] == [["asthma"]]


def test_a_decision_becomes_one_example_in_the_guidelines(pair: Pair, people: Any) -> None:
    dialogue = pair.case.dialogue
    said = {"intent": "", "slot": "symptom", "text": "A denied symptom is a no.", "example": "“No.” → fever (no)"}
    one = guideline_note_from_decision(dialogue=dialogue, author=people.supervisor, **said)
    assert guideline_note_from_decision(dialogue=dialogue, author=people.doctor, **said) == one
    assert (one.slot, one.text, one.example) == ("symptom", said["text"], said["example"])
    with pytest.raises(Refused):
        guideline_note_from_decision(dialogue=dialogue, author=people.supervisor, **{**said, "text": " "})


def test_nothing_is_decided_in_an_archived_project(pair: Pair, people: Any) -> None:
    project = pair.dialogue.project
    project.archived_at = project.created_at
    project.save()
    with pytest.raises(NotEditable):
        pair.decide(people.supervisor, 3, "both")
    with pytest.raises(NotEditable):
        gold_reveal(dialogue=pair.case.dialogue, actor=people.supervisor)
    with pytest.raises(Refused, match="archived"):
        agreed_accept(project=project)
    assert not LabelSet.objects.filter(owner="gold").exists()


def test_renaming_an_annotator_changes_nothing_of_the_gold(pair: Pair, people: Any) -> None:
    decide_all(pair, people.supervisor)
    before = list(pair.gold.labels.order_by("pk").values_list("provenance", flat=True))
    people.annotator.username = "zoe"
    people.annotator.save()
    assert pair.case.left == 0
    assert list(pair.gold.labels.order_by("pk").values_list("provenance", flat=True)) == before


def test_locked_gold_stays_as_it_is(pair: Pair, people: Any, django_capture_on_commit_callbacks: Any) -> None:
    decide_all(pair, people.supervisor)
    LabelSet.objects.filter(pk=pair.gold.pk).update(status=Status.LOCKED)
    with django_capture_on_commit_callbacks(execute=True):
        pair.change(pair.b, 3, inform(3, "symptom", "chills", status="yes"))
    assert (pair.gold.status, [row["from"] for row in pair.gold_at(3)]) == (Status.LOCKED, ["A"])
    assert pair.case.stale == [3]


def test_a_guideline_example_repeats_nothing_of_the_dialogue(pair: Pair, people: Any) -> None:
    example = "this cough for about two weeks"
    said = {"intent": "", "slot": "symptom", "text": "Two weeks is an onset.", "example": example}
    with pytest.raises(Refused, match="what was said in the dialogue") as refusal:
        guideline_note_from_decision(dialogue=pair.case.dialogue, author=people.supervisor, **said)
    assert refusal.value.field == "example"
    assert not GuidelineNote.objects.exists()


@pytest.mark.parametrize("act", ["decide anew", "decide first", "undo"])
def test_of_two_adjudicators_at_the_same_moment_only_the_first_gets_through(
    pair: Pair, people: Any, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    """The second has read the dialogue before the first one's decision is stored, and writes after it."""
    pair.decide(people.supervisor, 3, "A")
    pair.decide(people.supervisor, 5, "A")
    asked = request(pair, "second")
    place = 7 if act == "decide first" else 3
    mine, theirs = (
        [Choice(place, pair.key_at(place), pair.as_shown(place, side))] for side in (Resolution.NONE, Resolution.B)
    )

    def quicker(dialogue: Any) -> Any:
        found = case_of(dialogue)
        monkeypatch.undo()
        if act == "undo":
            gold_undo(**{**asked, "key": "first"}, actor=people.doctor)
        else:
            gold_decide(**{**asked, "key": "first"}, actor=people.doctor, choices=theirs)
        return found

    monkeypatch.setattr("annotation.services.adjudication.case_of", quicker)
    slower = gold_undo if act == "undo" else partial(gold_decide, choices=mine)
    with pytest.raises(Conflict):
        slower(**asked, actor=people.supervisor)
    rows = {row.utterance.position: row.decided_by for row in pair.case.rows}
    after_undo = {3: people.supervisor}
    assert rows == (after_undo if act == "undo" else {3: people.supervisor, 5: people.supervisor, place: people.doctor})


def test_one_request_decides_on_the_same_labels_only_once(pair: Pair, people: Any) -> None:
    choices = [Choice(3, pair.key_at(3), resolution) for resolution in (Resolution.A, Resolution.B)]
    with pytest.raises(Refused, match="only once"):
        gold_decide(**request(pair), actor=people.supervisor, choices=choices)
    assert pair.case.gold is None
