"""Dividing dialogues among annotators, and people who join or leave: ask, look, confirm."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import SUPERVISOR, get_project
from annotation.domain.assignment import TOLERANCE, AssignmentPlan
from annotation.domain.numbers import counted
from annotation.forms.assignment import ChangesForm, GroupsForm
from annotation.models import Project, User
from annotation.services.errors import Refused
from annotation.services.group_assignment import (
    Outdated,
    annotators_and_others,
    annotators_at_work,
    assignment_plan,
    assignment_write,
    dialogue_sizes,
    fingerprint,
    held_work,
    last_run,
)
from annotation.services.group_changes import changes_fingerprint, changes_plan, changes_write, staff
from annotation.views.requests import person_of, posted


@require_http_methods(["GET", "HEAD", "POST"])
def groups(request: HttpRequest, slug: str) -> HttpResponse:
    """Divide all dialogues of the project: the form, the plan to look at, and writing it."""
    user = person_of(request)
    project = get_project(user, slug, SUPERVISOR)
    able, barred = annotators_and_others(project)
    form = GroupsForm(posted(request), people=able, initial=_first_groups(project))
    action = request.POST.get("action")
    if request.method == "POST" and action != "back" and form.is_valid():
        asked = {**form.cleaned_data, "annotators": _chosen(able, form.cleaned_data["annotators"])}
        try:
            if action == "assign":
                expected = request.POST.get("expected", "")
                written = assignment_write(project=project, actor=user, expected=expected or "none", **asked)
                return _written(request, project, written.created)
            return _preview_groups(request, project, form, assignment_plan(project=project, **asked))
        except Outdated as refusal:
            messages.warning(request, refusal.message)
            return _preview_groups(request, project, form, assignment_plan(project=project, **asked))
        except Refused as refusal:
            form.refuse(refusal)
    sizes = dialogue_sizes(project)
    held = len({row.dialogue_id for row in held_work(project)})
    context = {
        "project": project,
        "form": form,
        "able": able,
        "barred": barred,
        "sizes": sizes,
        "held": held,
        "free": len(sizes) - held,
        "run": last_run(project),
    }
    return render(request, "annotation/assign_groups.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def changes(request: HttpRequest, slug: str) -> HttpResponse:
    """Hand untouched work over from those who leave and to those who join."""
    user = person_of(request)
    project = get_project(user, slug, SUPERVISOR)
    people = staff(project)
    leavers = (*people.leavers, *people.gone)
    first = {"leavers": [person.pk for person in people.gone], "random_seed": _number()}
    form = ChangesForm(posted(request), arrivals=people.arrivals, leavers=leavers, initial=first)
    action = request.POST.get("action")
    if request.method == "POST" and action != "back" and form.is_valid():
        asked = {
            "arrivals": _chosen(people.arrivals, form.cleaned_data["arrivals"]),
            "leavers": _chosen(leavers, form.cleaned_data["leavers"]),
            "random_seed": form.cleaned_data["random_seed"],
        }
        try:
            if action == "assign":
                expected = request.POST.get("expected", "")
                written = changes_write(project=project, actor=user, expected=expected or "none", **asked)
                moved = written.created
                dialogues = "No dialogue" if not moved else "1 dialogue" if moved == 1 else f"{moved} dialogues"
                messages.success(request, f"{dialogues} changed hands; who joined and who left is noted.")
                return redirect("project", slug)
            return _preview_changes(request, project, form, asked)
        except Outdated as refusal:
            messages.warning(request, refusal.message)
            return _preview_changes(request, project, form, asked)
        except Refused as refusal:
            form.refuse(refusal)
    context = {"project": project, "form": form, "people": people, "leavers": leavers, "run": last_run(project)}
    return render(request, "annotation/assign_changes.html", context)


def _preview_groups(request: HttpRequest, project: Project, form: GroupsForm, plan: AssignmentPlan) -> HttpResponse:
    new = [item for item in plan.assignments if item.annotator and not item.kept]
    context = {
        **_plan_context(request, project, plan),
        "form": form,
        "new": len(new),
        "kept": sum(item.kept for item in plan.assignments),
        "expected": fingerprint(plan),
        "address": "assign-groups",
    }
    return render(request, "annotation/assign_preview.html", context)


def _preview_changes(request: HttpRequest, project: Project, form: ChangesForm, asked: dict[str, Any]) -> HttpResponse:
    found = changes_plan(project=project, **asked)
    context = {
        **_plan_context(request, project, found.plan),
        "form": form,
        "changes": True,
        "new": len(found.given),
        "taken": len(found.taken),
        "joining": asked["arrivals"],
        "leaving": asked["leavers"],
        "expected": changes_fingerprint(found),
        "address": "assign-changes",
    }
    return render(request, "annotation/assign_preview.html", context)


def _plan_context(request: HttpRequest, project: Project, plan: AssignmentPlan) -> dict[str, Any]:
    """What a preview shows: one row a group, and who is who."""
    names = [share.annotator for share in plan.shares if share.annotator]
    people = {person.username: person.display_name for person in User.objects.filter(username__in=names)}
    rows = [
        {
            "numbers": numbers,
            "name": people.get(share.annotator, share.annotator),
            "left": share.left,
            "queue": share.queue,
            "partners": [(people.get(name, name), count) for name, count in numbers.partners.items()],
        }
        for share, numbers in zip(plan.shares, plan.numbers(), strict=True)
    ]
    return {
        "project": project,
        "plan": plan,
        "rows": rows,
        "even": plan.imbalance <= TOLERANCE,
        "percent": round(100 * plan.imbalance, 1),
        "own": person_of(request).username in plan.annotators,
    }


def _written(request: HttpRequest, project: Project, created: int) -> HttpResponse:
    if created:
        messages.success(request, f"{counted(created, 'assignment')} made.")
    else:
        messages.info(request, "Nothing changed: everything in this plan is assigned already.")
    return redirect("project", project.slug)


def _first_groups(project: Project) -> dict[str, Any]:
    people = annotators_at_work(project)
    return {
        "annotators": [person.pk for person in people],
        "groups": max(len(people), 1),
        "seeds": "10 %" if len(people) > 1 else "0",
        "random_seed": _number(),
    }


def _number() -> int:
    """A random seed to begin with, short enough to be read out."""
    return secrets.randbelow(9_000) + 1_000


def _chosen(people: Iterable[User], keys: list[int]) -> list[User]:
    return [person for person in people if person.pk in keys]
