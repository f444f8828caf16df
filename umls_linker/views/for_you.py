"""What of concept linking waits for somebody, for the pages that say what is to be done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q

from annotation.access import LINKING, SHORTLISTING, labels_dialogue
from annotation.models import Membership, Project, User
from umls_linker.models import ConceptQuestion, Decision, Occurrence, SurfaceForm
from umls_linker.models.decisions import ConceptQuestionQuerySet
from umls_linker.services.sight import sight_of

ANSWERS = 10  # that are listed; the others are counted


def concepts_for_you(user: User, projects: Iterable[Project]) -> dict[str, list[Any]]:
    """`questions` that wait for the person, `answers` to their own that they have not seen, newest first, the
    `more_answers` by project, and `values` that wait in those of the projects (with `my_roles`) in which they decide or
    shortlist. All but `answers` have an entry {slug, project, number} for each project; `answers` are worded as the
    person may see them."""
    waiting = Q(asked_of=user) | Q(asked_of=None) & ~Q(asked_by=user)
    questions = _in_sight(user).select_related("surface_form__project")
    asked = Counter(row.surface_form.project for row in questions.open().filter(waiting))
    answers = list(questions.unseen_by(user).order_by("-answered_at", "-pk"))
    _set_wordings(user, [row.surface_form for row in answers[:ANSWERS]])
    mine = [one for one in projects if SHORTLISTING & set(one.my_roles)]  # type: ignore[attr-defined]
    return {
        "questions": _by_name(asked.items()),
        "answers": answers[:ANSWERS],
        "more_answers": _by_name(Counter(row.surface_form.project for row in answers[ANSWERS:]).items()),
        "values": _by_name((project, open_values(project, user)[0]) for project in mine),
    }


def _by_name(numbers: Iterable[tuple[Project, int]]) -> list[dict[str, Any]]:
    found = [{"slug": project.slug, "project": project.name, "number": number} for project, number in numbers if number]
    return sorted(found, key=lambda entry: str(entry["project"]))


def _set_wordings(user: User, forms: Sequence[SurfaceForm]) -> None:
    for project in {form.project for form in forms}:
        sight_of(user, project).set_wordings(form for form in forms if form.project_id == project.pk)


def _in_sight(user: User) -> ConceptQuestionQuerySet:
    """Questions in projects that the person reviews, about values that stand in dialogues which they do not label."""
    reviews = Membership.objects.filter(user=user, role__in=LINKING, project__archived_at=None).values("project")
    seen = Occurrence.objects.filter(surface_form=OuterRef("surface_form"), label_set__dialogue__archived_at=None)
    seen = seen.exclude(label_set__dialogue__in=labels_dialogue(user).values("dialogue"))
    found: ConceptQuestionQuerySet = ConceptQuestion.objects.filter(Exists(seen), surface_form__project__in=reviews)
    return found


def open_values(project: Project, user: User) -> tuple[int, int]:
    """(values in use about which nothing is decided, values in use), of those that the person may see."""
    decided = Decision.objects.filter(surface_form=OuterRef("pk")).standing().of_forms().order_by()
    rows = sight_of(user, project).forms_in_use().order_by()
    found = rows.aggregate(total=Count("pk"), open=Count("pk", filter=~Q(Exists(decided))))
    return found["open"], found["total"]
