"""Gold when its labels are deleted or come back, and the review of a sample that is widened."""

from __future__ import annotations

from typing import Any

import pytest

from annotation.models import Dialogue, LabelSet
from annotation.services.adjudication import gold_begin_review, gold_review_all
from annotation.services.errors import Refused
from annotation.services.labelling import Change
from tests.adjudicating import LABELS_A, Pair, finished, make_pair
from tests.editor import Editor


@pytest.fixture
def pair(dialogue: Any, people: Any) -> Pair:
    return make_pair(dialogue, people.annotator, people.second)


def test_a_decision_whose_label_was_deleted_is_still_told(pair: Pair, people: Any) -> None:
    pair.decide(people.supervisor, 7, "B")
    pair.change(pair.b, 7, None)
    case = pair.case
    assert case.stale == [7]
    assert case.open.get(7) is None
    assert [row.resolution for row in case.outlived(7)] == ["B"]
    pair.decide(people.supervisor, 3, "A")
    assert pair.gold_at(7) == []
    assert [row.resolution for row in pair.case.outlived(7)] == ["B"]


def test_an_annotator_who_undoes_their_change_gets_the_decision_back(pair: Pair, people: Any) -> None:
    pair.decide(people.supervisor, 5, "A")
    editor = Editor(LabelSet.objects.get(pk=pair.a.pk))
    editor.reopen()
    (label,) = [row for row in editor.rows() if row.position == 5]
    editor.change(Change(label.id, None))
    assert 5 in pair.case.open
    editor.undo()
    assert 5 not in pair.case.open
    assert [row["from"] for row in pair.gold_at(5)] == ["A"]


def test_a_sampled_review_says_what_nobody_looked_at_and_can_be_widened(dialogue: Dialogue, people: Any) -> None:
    pair = Pair(dialogue, finished(dialogue, people.annotator, LABELS_A), None)  # type: ignore[arg-type]
    gold_begin_review(dialogue=pair.case.dialogue, actor=people.supervisor, share=0.01)
    case = pair.case
    assert (case.conflicts, case.left, case.unseen) == (1, 1, 3)  # one utterance at least is looked at
    (seen,) = case.open
    pair.decide(people.supervisor, seen, "none")
    case = pair.case
    assert (case.left, case.not_accepted, case.unseen) == (0, 1, 3)
    assert LabelSet.objects.get(owner="gold").labels.count() == 3
    done = gold_review_all(dialogue=case.dialogue, actor=people.supervisor, version=case.version, key="all")
    assert set(done.positions) == {1, 2, 3, 5} - {seen}
    case = pair.case
    assert (case.conflicts, case.left, case.not_accepted, case.unseen) == (4, 3, 1, 0)
    assert LabelSet.objects.get(owner="gold").labels.count() == 0  # nothing is gold that waits to be looked at
    again = gold_review_all(dialogue=case.dialogue, actor=people.supervisor, version=1, key="all")
    assert again.replayed
    with pytest.raises(Refused, match="already"):
        gold_review_all(dialogue=case.dialogue, actor=people.supervisor, version=case.version, key="more")


def test_a_label_that_nobody_looked_at_may_be_decided_all_the_same(dialogue: Dialogue, people: Any) -> None:
    pair = Pair(dialogue, finished(dialogue, people.annotator, LABELS_A), None)  # type: ignore[arg-type]
    gold_begin_review(dialogue=pair.case.dialogue, actor=people.supervisor, share=0.01)
    unseen = min(pair.case.left_out)
    pair.decide(people.supervisor, unseen, "A")
    assert pair.case.unseen == 2
