"""What of a project's values a person may see.

Whoever labels dialogues of the project too sees nothing of those dialogues here, finished or not, and what they see is
the same whatever others do there: no value that occurs only there, no count, no wording, no decision about it. Archived
dialogues are out of everybody's sight.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.access import labels_dialogue
from annotation.models import LabelSet, Project, User
from umls_linker.models import DecisionException, Occurrence, SurfaceForm
from umls_linker.models.decisions import Decision, DecisionQuerySet
from umls_linker.services.surface_forms import commonest_text, label_sets_waiting


@dataclass(frozen=True, slots=True)
class Sight:
    """`hidden` are the dialogues (row numbers) that the person labels."""

    project: Project
    hidden: frozenset[int] = frozenset()

    def occurrences(self) -> QuerySet[Occurrence]:
        rows = Occurrence.objects.filter(surface_form__project=self.project, label_set__dialogue__archived_at=None)
        return rows.exclude(label_set__dialogue__in=self.hidden) if self.hidden else rows

    def forms(self) -> QuerySet[Any, Any]:
        """With `seen` and `seen_labels`, the utterances and labels that count for the person."""
        rows = SurfaceForm.objects.filter(project=self.project)
        if not self.hidden:
            return rows.annotate(seen=F("utterances"), seen_labels=F("labels"))
        mine = self.occurrences().filter(surface_form=OuterRef("pk")).order_by().values("surface_form")
        return rows.annotate(
            seen=Coalesce(Subquery(mine.annotate(n=Count("utterance", distinct=True)).values("n")), 0),
            seen_labels=Coalesce(Subquery(mine.annotate(n=Count("pk")).values("n")), 0),
        ).filter(seen_labels__gt=0)

    def forms_in_use(self) -> QuerySet[Any, Any]:
        return self.forms().filter(seen_labels__gt=0)

    def decisions(self) -> DecisionQuerySet:
        """Standing or not, those about values and utterances in sight."""
        rows: DecisionQuerySet = Decision.objects.filter(surface_form__project=self.project)
        if self.hidden:
            rows = rows.filter(surface_form__in=self.occurrences().values("surface_form"))
            rows = rows.filter(Q(utterance=None) | ~Q(utterance__dialogue__in=self.hidden))
        return rows

    def exceptions(self, decision: Decision) -> QuerySet[DecisionException]:
        """Those of its exceptions that can be seen, because the value still stands there."""
        return decision.exceptions.filter(utterance__in=self._utterances(decision.surface_form_id))

    def unseen_exceptions(self, decision: Decision) -> QuerySet[DecisionException]:
        """The others: in dialogues out of sight, and at labels that say something else for now."""
        return decision.exceptions.exclude(utterance__in=self._utterances(decision.surface_form_id))

    def label_sets_waiting(self) -> QuerySet[LabelSet]:
        return label_sets_waiting(self.project).exclude(dialogue__in=self.hidden)

    def set_wordings(self, forms: Iterable[SurfaceForm]) -> None:
        """Have each form's `text` be the wording that is commonest among what is in sight; not to be saved."""
        if not self.hidden:
            return
        by_pk = {form.pk: form for form in forms}
        texts = Subquery(commonest_text(self.occurrences()))
        rows = SurfaceForm.objects.filter(pk__in=by_pk).order_by().annotate(wording=texts)
        for pk, wording in rows.values_list("pk", "wording"):
            by_pk[pk].text = wording or by_pk[pk].text

    def _utterances(self, form_id: int) -> QuerySet[Occurrence, int]:
        return self.occurrences().filter(surface_form=form_id).order_by().values_list("utterance", flat=True)


def sight_of(user: User, project: Project) -> Sight:
    rows = labels_dialogue(user).filter(dialogue__project=project)
    return Sight(project, frozenset(rows.values_list("dialogue_id", flat=True)))
