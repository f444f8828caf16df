"""The first page after signing in: what is mine to do."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.models import LabelSet, Project, Role, Status, User
from annotation.models.labels import LabelSetQuerySet
from annotation.views.for_you import add_marks, for_you
from annotation.views.progress import (
    CLOSED,
    OPEN,
    add_left,
    next_label_set,
    own_label_sets,
    project_counts,
    queue_of,
)
from annotation.views.qualified import steps_to_work
from annotation.views.requests import page_of, person_of

_SHOWN = {"open": OPEN, "done": CLOSED, "all": list(Status)}


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    user = person_of(request)
    mine = own_label_sets(user)
    show = request.GET.get("show", "open")
    show = show if show in _SHOWN else "open"
    query = request.GET.get("q", "").strip()
    page = page_of(request, _matching(mine, show, query).with_progress())
    add_left(page.object_list)
    waiting = for_you(user)
    add_marks(page.object_list, waiting)
    context: dict[str, Any] = {"page": page, "show": show, "q": query}
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "annotation/_my_work.html", context)
    queue = queue_of(mine)
    next_up = _next_up(mine)
    add_marks([next_up] if next_up else [], waiting)
    context |= {
        "queue": queue,
        "total": queue.total,
        "open_count": queue.open,
        "next_up": next_up,
        "for_you": waiting,
        "projects": _other_projects(user),
        "qualifications": steps_to_work(user),
    }
    return render(request, "annotation/home.html", context)


def _matching(mine: LabelSetQuerySet, show: str, query: str) -> LabelSetQuerySet:
    rows = mine.filter(status__in=_SHOWN[show])
    for word in query.split():
        rows = rows.filter(dialogue__external_id__icontains=word) | rows.filter(dialogue__specialty__icontains=word)
    return rows


def _next_up(mine: LabelSetQuerySet) -> LabelSet | None:
    """What to go on with, with its progress."""
    chosen = next_label_set(mine)
    return add_left(mine.filter(pk=chosen.pk).with_progress())[0] if chosen else None


def _other_projects(user: User) -> list[Project]:
    """Open projects in which the person supervises, or is a doctor or curator, with `counts` and `my_roles`."""
    roles: dict[int, list[str]] = {}
    for project_id, role in user.memberships.values_list("project_id", "role"):
        roles.setdefault(project_id, []).append(role)
    wanted = [key for key, held in roles.items() if {Role.SUPERVISOR, Role.DOCTOR, Role.CURATOR} & set(held)]
    projects = list(Project.objects.open().filter(pk__in=wanted))
    counts = project_counts(projects)
    for project in projects:
        shows_work = user.is_superuser or Role.SUPERVISOR in roles[project.pk]
        vars(project).update(counts=counts[project.pk], my_roles=roles[project.pk], shows_work=shows_work)
    return projects
