"""A person's own keys for the workbench, and for adjudication where they decide."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.access import ANSWERING
from annotation.domain.keymap import Binding, bindings_of, check_overrides, default_bindings
from annotation.domain.questionnaire import Questionnaire
from annotation.models import Membership, Project, User
from annotation.questionnaires import get_questionnaire
from annotation.services.accounts import keymap_save
from annotation.services.errors import Refused
from annotation.views.requests import person_of


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    """The questionnaires whose keys the person can set; straight to the only one."""
    names = _questionnaires(person_of(request))
    if len(names) == 1:
        return redirect("questionnaire-keys", names[0])
    found = [get_questionnaire(name) for name in names]
    return render(request, "annotation/keys.html", {"questionnaires": found})


def _questionnaires(user: User) -> list[str]:
    rows = Project.objects.open().visible_to(user).order_by("questionnaire_name")
    return list(dict.fromkeys(rows.values_list("questionnaire_name", flat=True)))


@require_http_methods(["GET", "HEAD", "POST"])
def questionnaire_keys(request: HttpRequest, name: str) -> HttpResponse:
    user = person_of(request)
    if name not in _questionnaires(user):
        raise Http404
    questionnaire = get_questionnaire(name)
    bindings = _bindings(user, questionnaire)
    wanted = _usable(bindings, user.keymap)
    problems: list[str] = []
    if request.method == "POST":
        wanted = {} if "reset" in request.POST else _given(request, bindings)
        problems = check_overrides(questionnaire, wanted)
        try:
            keymap_save(person=user, questionnaire=questionnaire, overrides=wanted)
        except Refused as refusal:
            problems = problems or [refusal.message]
        else:
            messages.success(request, "The usual keys are back." if "reset" in request.POST else "Your keys are saved.")
            return redirect("questionnaire-keys", name)
    context = {
        "questionnaire": questionnaire,
        "groups": _groups(bindings, wanted, problems),
        "problems": problems,
        "own": bool(wanted),
        "adjudicates": any(binding.page == "adjudication" for binding in bindings),
    }
    return render(request, "annotation/questionnaire_keys.html", context)


def _bindings(user: User, questionnaire: Questionnaire) -> list[Binding]:
    """The actions that the person meets: those of adjudication only where they decide in a project."""
    projects = Project.objects.open().visible_to(user).filter(questionnaire_name=questionnaire.name)
    mine = Membership.objects.filter(user=user, project__in=projects, role__in=ANSWERING)
    every = default_bindings(questionnaire)
    return every if user.is_superuser or mine.exists() else bindings_of("workbench", every)


def _usable(bindings: list[Binding], keymap: dict[str, Any]) -> dict[str, str]:
    actions = {binding.action for binding in bindings}
    return {action: key for action, key in keymap.items() if action in actions and isinstance(key, str)}


def _given(request: HttpRequest, bindings: list[Binding]) -> dict[str, str]:
    """The keys typed into the form that differ from the usual ones."""
    found: dict[str, str] = {}
    for binding in bindings:
        key = request.POST.get(f"key:{binding.action}", "").strip()[:40]
        if key and not binding.fixed and (key,) != binding.keys:
            found[binding.action] = key
    return found


def _groups(bindings: list[Binding], wanted: dict[str, str], problems: list[str]) -> list[dict[str, Any]]:
    """The table of actions by group, each with the person's key and what is wrong with it."""
    rows = [
        {
            "binding": binding,
            "own": wanted.get(binding.action, ""),
            "problems": [text for text in problems if f"“{binding.title}”" in text],
        }
        for binding in bindings
    ]
    return [
        {"title": title, "rows": list(found)}
        for title, found in groupby(rows, key=lambda row: row["binding"].group)  # type: ignore[attr-defined]
    ]
