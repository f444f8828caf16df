"""A dialogue that two people labelled, for tests of adjudication: agreement, conflicts and silence."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from annotation.domain.adjudication import Resolution
from annotation.models import Dialogue, Label, LabelSet, User
from annotation.services.adjudication import Choice, gold_decide
from annotation.services.adjudication_cases import Case, case_of
from annotation.services.gold import Decided
from annotation.services.labelling import Change
from annotation.services.readings import labels_of
from tests import factory
from tests.editor import Editor
from tests.factory import inform, inquire

# What A (the first) and B say; 3 and 5 differ, 7 is B's alone, 1 and 2 agree, the rest nobody labelled.
LABELS_A = [
    inform(1, "symptom", "cough", status="yes", onset="two weeks"),
    inquire(2, "symptom", "fever"),
    inform(3, "symptom", "fever", status="no"),
    inform(5, "symptom", "cough", status="yes", onset="15 days ago"),
]
LABELS_B = [
    inform(1, "symptom", "Cough", status="yes", onset="two weeks"),
    inquire(2, "symptom", "fever"),
    inform(3, "symptom", "fever", status="yes"),
    inform(5, "symptom", "cough", status="yes"),
    inform(7, "habit", "smoking", status="yes"),
]


def finished(dialogue: Dialogue, annotator: User, labels: Any, **fields: Any) -> LabelSet:
    label_set = factory.make_label_set(dialogue, annotator, **fields)
    if labels:
        factory.make_labels(label_set, *labels)
    label_set.refresh_from_db()
    Editor(label_set).finish()
    label_set.refresh_from_db()
    return label_set


@dataclass
class Pair:
    """The dialogue and both label sets."""

    dialogue: Dialogue
    a: LabelSet
    b: LabelSet

    @property
    def case(self) -> Case:
        found = case_of(Dialogue.objects.select_related("project").get(pk=self.dialogue.pk))
        assert found is not None
        return found

    @property
    def gold(self) -> LabelSet:
        found = self.case.gold
        assert found is not None
        return found

    def key_at(self, position: int, number: int = 0) -> str:
        return self.case.shown(position)[number].pairing.key

    def as_shown(self, position: int, side: Resolution) -> Resolution:
        """The side of the page on which this true side stands."""
        other = {Resolution.A: Resolution.B, Resolution.B: Resolution.A}
        return other.get(side, side) if self.case.exchanged(position) else side

    def decide(self, actor: User, position: int, side: str, number: int = 0, **more: Any) -> Decided:
        """Decide for a true side on one pairing of an utterance."""
        case = self.case
        key = more.pop("pairing", None)
        choice = Choice(
            position,
            self.key_at(position, number) if key is None else key,
            self.as_shown(position, Resolution(side)),
            **more,
        )
        return gold_decide(
            dialogue=case.dialogue, actor=actor, version=case.version, key=str(uuid.uuid4()), choices=[choice]
        )

    def gold_at(self, position: int) -> list[dict[str, Any]]:
        """What the gold says of an utterance, with where it comes from."""
        rows = {str(row.pk): row.provenance for row in Label.objects.filter(label_set=self.gold)}
        labels = [label for label in labels_of(self.gold) if label.position == position]
        return [{"slot": label.slot, **label.answers, "from": rows[label.id]["from"]} for label in labels]

    def change(self, label_set: LabelSet, position: int, label: Any) -> None:
        """An annotator reopens, changes their label of an utterance (None: deletes it), and finishes again."""
        editor = Editor(LabelSet.objects.get(pk=label_set.pk))
        editor.reopen()
        (old,) = [row for row in editor.rows() if row.position == position] or [None]
        editor.change(Change(old.id if old else str(uuid.uuid4()), label))
        editor.finish()


def make_pair(dialogue: Dialogue, first: User, second: User) -> Pair:
    return Pair(dialogue, finished(dialogue, first, LABELS_A), finished(dialogue, second, LABELS_B))
