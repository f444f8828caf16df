"""What waits for an annotator beside labelling: answers to their concerns, and questions that came back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from annotation.models import Concern, ConcernStatus, LabelSet, Project, ReturnedItem, User


def for_you(user: User) -> dict[str, Any]:
    """`answers`: answered concerns that were not closed, newest first; `returned`: entries with a label set, the
    `number` of its open questions, and the `position` of the first. Two queries."""
    mine = LabelSet.objects.open().filter(annotator=user, dialogue__project__in=Project.objects.visible_to(user))
    answers = (
        Concern.objects.filter(label_set__in=mine, status=ConcernStatus.ANSWERED)
        .select_related("label_set__dialogue__project", "utterance")
        .order_by("-changed_at")
    )
    items = (
        ReturnedItem.objects.filter(label_set__in=mine, resolved_at=None)
        .select_related("label_set__dialogue__project", "utterance")
        .order_by("label_set__dialogue__external_id", "label_set", "utterance__position")
    )
    returned: dict[int, dict[str, Any]] = {}
    for item in items:
        entry = returned.setdefault(
            item.label_set_id, {"label_set": item.label_set, "number": 0, "position": item.utterance.position}
        )
        entry["number"] += 1
    return {"answers": list(answers), "returned": list(returned.values())}


def add_marks(label_sets: Iterable[LabelSet], waiting: dict[str, Any]) -> None:
    """Give each label set its open `questions` and its unread `answers`, as numbers, and the position of the first of
    these questions, from what `for_you` found."""
    questions = {entry["label_set"].pk: entry for entry in waiting["returned"]}
    answers = Counter(concern.label_set_id for concern in waiting["answers"])
    for row in label_sets:
        entry = questions.get(row.pk, {"number": 0, "position": None})
        vars(row).update(questions=entry["number"], first_question=entry["position"], answers=answers[row.pk])
