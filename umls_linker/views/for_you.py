"""What of concept linking waits for somebody, for the pages that say what is to be done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.access import LINKING, SHORTLISTING, labels_dialogue
from annotation.models import Membership, Project, User
from umls_linker.models import ConceptQuestion, Decision, Occurrence, SurfaceForm
from umls_linker.services.sight import sight_of

ANSWERS_DAYS = 7  # for which an answer is told
ANSWERS = 10


def concepts_for_you(user: User, projects: Iterable[Project]) -> dict[str, list[Any]]:
    """`questions` that wait for the person, `answers` to their own of the last days, newest first, and `values` that
    wait in those of the projects (with `my_roles`) in which they decide or shortlist. `questions` and `values` have an
    entry {slug, project, number} for each project; the wordings of `answers` are as the person may see them."""
    waiting = Q(asked_of=user) | Q(asked_of=None) & ~Q(asked_by=user)
    recent = Q(asked_by=user, answered_at__gte=timezone.now() - timedelta(days=ANSWERS_DAYS)) & ~Q(answered_by=user)
    rows = list(_in_sight(user).filter(waiting & Q(answered_at=None) | recent).select_related("surface_form__project"))
    asked = Counter(row.surface_form.project for row in rows if row.answered_at is None)
    answers = sorted((row for row in rows if row.answered_at), key=lambda row: str(row.answered_at), reverse=True)
    _set_wordings(user, [row.surface_form for row in answers[:ANSWERS]])
    mine = [one for one in projects if SHORTLISTING & set(one.my_roles)]  # type: ignore[attr-defined]
    return {
        "questions": _by_name(asked.items()),
        "answers": answers[:ANSWERS],
        "values": _by_name((project, open_values(project, user)[0]) for project in mine),
    }


def _by_name(numbers: Iterable[tuple[Project, int]]) -> list[dict[str, Any]]:
    found = [{"slug": project.slug, "project": project.name, "number": number} for project, number in numbers if number]
    return sorted(found, key=lambda entry: str(entry["project"]))


def _set_wordings(user: User, forms: Sequence[SurfaceForm]) -> None:
    for project in {form.project for form in forms}:
        sight_of(user, project).set_wordings(form for form in forms if form.project_id == project.pk)


def _in_sight(user: User) -> QuerySet[ConceptQuestion]:
    """Questions in projects that the person reviews, about values that stand in dialogues which they do not label."""
    reviews = Membership.objects.filter(user=user, role__in=LINKING, project__archived_at=None).values("project")
    seen = Occurrence.objects.filter(surface_form=OuterRef("surface_form"), label_set__dialogue__archived_at=None)
    seen = seen.exclude(label_set__dialogue__in=labels_dialogue(user).values("dialogue"))
    return ConceptQuestion.objects.filter(Exists(seen), surface_form__project__in=reviews)


def open_values(project: Project, user: User) -> tuple[int, int]:
    """(values in use about which nothing is decided, values in use), of those that the person may see."""
    decided = Decision.objects.filter(surface_form=OuterRef("pk")).standing().of_forms().order_by()
    rows = sight_of(user, project).forms_in_use().order_by()
    found = rows.aggregate(total=Count("pk"), open=Count("pk", filter=~Q(Exists(decided))))
    return found["open"], found["total"]
