"""The review page: the queue of medical values, and the value that is looked at with its occurrences and candidates."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_safe

from annotation.access import DOCTOR, LINKING, SHORTLISTING, get_project
from annotation.models import Membership, Project, Role, User
from annotation.views.requests import person_of
from umls_linker.access import get_surface_form
from umls_linker.domain.semantic_groups import all_types
from umls_linker.domain.slots import types_that_fit
from umls_linker.models import SurfaceForm
from umls_linker.services.project_vocabulary import vocabulary_of
from umls_linker.services.queue import progress, queue
from umls_linker.services.sight import sight_of
from umls_linker.views.shown import FILTERS, occurrences_of, queue_rows, shown

PAGE = 100
MORE = 20


@require_safe
@gzip_page
def review(request: HttpRequest, slug: str) -> HttpResponse:
    """The page. Its address ends in `#f` and the number of the value that is shown; else the first open one is."""
    user = person_of(request)
    project = get_project(user, slug, LINKING)
    context = {
        **_queue_context(request, project, user),
        "project": project,
        "vocabulary": vocabulary_of(project),
        "slots": _slots(project),
        "doctors": [] if _decides(project) else _doctors(project),
        "data": {
            "user": user.pk,
            "project": project.pk,
            "decides": _decides(project),
            "shortlists": bool(SHORTLISTING & project.roles) and not project.archived_at,  # type: ignore[attr-defined]
            "progress": progress_as_json(project, user),
            "colleagues": _colleagues(project, user),
            "types": [{"name": group, "types": types} for group, types in all_types()],
        },
    }
    return render(request, "umls_linker/review.html", context)


@require_GET
@gzip_page
def queue_part(request: HttpRequest, slug: str) -> HttpResponse:
    """The queue alone, as the filters and `?shown=` (how many rows) ask for it."""
    user = person_of(request)
    project = get_project(user, slug, LINKING)
    return render(request, "umls_linker/_queue.html", {**_queue_context(request, project, user), "project": project})


@require_GET
def progress_json(request: HttpRequest, slug: str) -> HttpResponse:
    user = person_of(request)
    return JsonResponse(progress_as_json(get_project(user, slug, LINKING), user))


@require_safe
@gzip_page
def form_part(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One value with everything that a decision needs, as the part of the page that shows it."""
    user = person_of(request)
    form = get_surface_form(user, slug, pk)
    found = shown(form, user)
    return render(request, "umls_linker/_form.html", {**_form_context(form, user), "shown": found})


@require_GET
@gzip_page
def occurrences(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """More occurrences from `?offset=`, or with `?around=` the first ones with more turns about them."""
    user = person_of(request)
    form = get_surface_form(user, slug, pk)
    offset, around = _number(request, "offset", 0, 10**6), _number(request, "around", 2, 12)
    found = occurrences_of(form, sight_of(user, form.project), offset=offset, limit=MORE, around=around)
    return render(request, "umls_linker/_occurrences.html", {**_form_context(form, user), "occurrences": found})


def _form_context(form: SurfaceForm, user: User) -> dict[str, Any]:
    project = form.project
    roles = project.roles  # type: ignore[attr-defined]
    open_now = not project.archived_at
    return {
        "form": form,
        "project": project,
        "decides": _decides(project),
        "shortlists": bool(SHORTLISTING & roles) and open_now,
        "reads_dialogues": bool({Role.SUPERVISOR, Role.DOCTOR} & roles),
        "vocabulary": vocabulary_of(project),
        "fitting": " ".join(types_that_fit(form.slot, form.field)),
        "user": user,
    }


def _decides(project: Project) -> bool:
    return bool(DOCTOR & project.roles) and not project.archived_at  # type: ignore[attr-defined]


def _doctors(project: Project) -> list[str]:
    """Who decides here, by name."""
    rows = Membership.objects.filter(project=project, role=Role.DOCTOR, user__is_active=True).select_related("user")
    return [row.user.display_name for row in rows]


def _queue_context(request: HttpRequest, project: Project, user: User) -> dict[str, Any]:
    filters = {
        "slot": request.GET.get("slot", "")[:60],
        "status": request.GET.get("status", ""),
        "q": request.GET.get("q", "").strip()[:200],
    }
    if filters["status"] not in FILTERS:
        filters["status"] = ""
    rows = queue(project, user=user, **filters)
    number = _number(request, "shown", PAGE, 5000)
    forms = list(rows[:number])
    sight_of(user, project).set_wordings(forms)
    return {
        "filters": filters,
        "states": FILTERS,
        "rows": queue_rows(project, forms),
        "total": rows.count(),
        "next_shown": number + PAGE,
        "any": bool(filters["slot"] or filters["status"] or filters["q"]),
    }


def _slots(project: Project) -> list[tuple[str, str]]:
    """The slots that have something to link: (name, title)."""
    found = {slot.name: slot.title for slot, _ in project.questionnaire.medical_fields()}
    return list(found.items())


def _colleagues(project: Project, user: User) -> list[dict[str, Any]]:
    """Whom a question can be put to: everybody who reviews concepts here, but oneself."""
    rows = Membership.objects.filter(project=project, role__in=LINKING, user__is_active=True).exclude(user=user)
    people: dict[int, dict[str, Any]] = {}
    for row in rows.select_related("user").order_by("user__username"):
        entry = people.setdefault(row.user_id, {"id": row.user_id, "name": row.user.display_name, "roles": []})
        entry["roles"].append(Role(row.role).label)
    return list(people.values())


def progress_as_json(project: Project, user: User) -> dict[str, Any]:
    found = progress(project, user=user)
    return {
        "answers": found.answered,
        "forms": found.forms,
        "linked": found.linked,
        "waiting": found.label_sets_waiting,
        "decided": found.decided,
        "nil": found.nil,
        "proposed": found.proposed,
        "open": found.open,
    }


def _number(request: HttpRequest, name: str, otherwise: int, most: int) -> int:
    text = request.GET.get(name, "")
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 10 else otherwise
