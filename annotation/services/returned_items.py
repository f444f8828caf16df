"""Labels that went back to their annotator with a question: which are open, and which have been answered."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone

from annotation.domain.completeness import gaps, place, questions
from annotation.models import LabelSet, ReturnedItem
from annotation.services.readings import reading_of


def open_items(label_set: LabelSet) -> QuerySet[ReturnedItem]:
    return ReturnedItem.objects.filter(label_set=label_set, resolved_at=None)


def returned_items_resolve(*, label_set: LabelSet) -> int:
    """Mark the questions whose gap is closed as answered; gives their number.

    Every change of a label set ends here, so it costs nothing where nothing was returned: `has_returned`, which
    `access.get_own_label_set` asks with the row itself, says so.
    """
    if not getattr(label_set, "has_returned", True):
        return 0
    rows = list(open_items(label_set).values_list("pk", "rule", "utterance__position", "label_id"))
    if not rows:
        return 0
    excused = map(int, label_set.unlabelled_reasons)
    found = gaps(label_set.dialogue.project.questionnaire, reading_of(label_set), excused=excused)
    still = {question.place for question in questions(found)}
    answered = [pk for pk, rule, position, label in rows if place(rule, position, label) not in still]
    return ReturnedItem.objects.filter(pk__in=answered, resolved_at=None).update(resolved_at=timezone.now())
