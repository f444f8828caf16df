"""The first page after signing in: what is mine to do."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.models import LabelSet, Project, Role, Status, User
from annotation.models.labels import LabelSetQuerySet
from annotation.views.progress import CLOSED, OPEN, add_left, own_label_sets, project_counts
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
    context: dict[str, Any] = {"page": page, "show": show, "q": query}
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "annotation/_my_work.html", context)
    statuses = list(mine.order_by().values_list("status", flat=True))
    context |= {
        "total": len(statuses),
        "open_count": sum(status in OPEN for status in statuses),
        "next_up": _next_up(mine),
        "projects": _other_projects(user),
    }
    return render(request, "annotation/home.html", context)


def _matching(mine: LabelSetQuerySet, show: str, query: str) -> LabelSetQuerySet:
    rows = mine.filter(status__in=_SHOWN[show])
    for word in query.split():
        rows = rows.filter(dialogue__external_id__icontains=word) | rows.filter(dialogue__specialty__icontains=word)
    return rows


def _next_up(mine: LabelSetQuerySet) -> LabelSet | None:
    """What to go on with: what came back, else what was worked on last, else the first that waits."""
    for status, order in ((Status.RETURNED, "changed_at"), (Status.IN_PROGRESS, "-changed_at"), (Status.TODO, "pk")):
        chosen = mine.filter(status=status).order_by(order).first()
        if chosen:
            return add_left(mine.filter(pk=chosen.pk).with_progress())[0]
    return None


def _other_projects(user: User) -> list[Project]:
    """Open projects in which the person supervises or is a doctor, with `counts` and `my_roles`."""
    roles: dict[int, list[str]] = {}
    for project_id, role in user.memberships.values_list("project_id", "role"):
        roles.setdefault(project_id, []).append(role)
    wanted = [key for key, held in roles.items() if {Role.SUPERVISOR, Role.DOCTOR} & set(held)]
    projects = list(Project.objects.open().filter(pk__in=wanted))
    counts = project_counts(projects)
    for project in projects:
        vars(project).update(counts=counts[project.pk], my_roles=roles[project.pk])
    return projects
