"""The vocabulary of a project: what it holds, whose it is, and changing to another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.access import ANSWERING, DOCTOR, LINKING, get_project
from annotation.models import Project
from annotation.services.errors import Refused
from annotation.views.requests import person_of
from umls_linker.access import get_decision
from umls_linker.domain.semantic_groups import by_group
from umls_linker.domain.slots import type_name
from umls_linker.models import Vocabulary
from umls_linker.services.migration import (
    Change,
    concepts_of_several_names,
    decisions_kept,
    differences_left,
    migration_accept,
    migration_keep,
    migration_keep_revoke,
    vocabulary_difference,
    vocabulary_switch,
)
from umls_linker.services.project_vocabulary import index_of, vocabularies_register, vocabulary_of
from umls_linker.services.sight import Sight, sight_of

SHOWN = 300  # differences on one page


@require_safe
def vocabulary(request: HttpRequest, slug: str) -> HttpResponse:
    """What the project uses. `?to=` names another vocabulary, and the page shows what that would change."""
    user = person_of(request)
    project = get_project(user, slug, LINKING)
    sight = sight_of(user, project)
    roles = project.roles  # type: ignore[attr-defined]
    used = vocabulary_of(project)
    switches = bool(ANSWERING & roles) and not project.archived_at
    others = [row for row in vocabularies_register() if row != used]
    context: dict[str, Any] = {
        "project": project,
        "vocabulary": used,
        "missing": used is not None and index_of(used) is None,
        "report": _report(used) if used else None,
        "others": others,
        "switches": switches,
        "decides": bool(DOCTOR & roles) and not project.archived_at,
        "left": differences_left(project, sight=sight)[:SHOWN],
        "kept": decisions_kept(project, sight=sight)[:SHOWN],
        "renamed": concepts_of_several_names(project, sight=sight)[:SHOWN],
    }
    if "to" in request.GET:
        context |= _preview(request, project, others, sight)
    return render(request, "umls_linker/vocabulary.html", context)


def _preview(request: HttpRequest, project: Project, others: list[Vocabulary], sight: Sight) -> dict[str, Any]:
    to = next((row for row in others if str(row.pk) == request.GET["to"]), None)
    if to is None:
        raise Http404
    try:
        found = vocabulary_difference(project, to=to, sight=sight)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return {}
    changed = [one for one in found if one.kind is not Change.SAME]
    return {
        "to": to,
        "changed": changed[:SHOWN],
        "changed_count": len(changed),
        "same_count": len(found) - len(changed),
        "kinds": [(kind.value, sum(one.kind is kind for one in found)) for kind in Change],
    }


def _report(used: Vocabulary) -> dict[str, Any]:
    """The build's report for the page: figures, concepts by semantic group, faults, licences."""
    report = used.report
    groups = by_group(report.get("semantic_types", {}))
    return {
        "counts": {name: f"{number:,}" for name, number in report.get("counts", {}).items()},
        "approximate": not report.get("options"),
        "seconds": report.get("seconds"),
        "peak_mb": report.get("peak_mb"),
        "sources": report.get("sources", []),
        "groups": [
            {
                "name": name,
                "number": f"{number:,}",
                "types": [(type_name(code), code, f"{count:,}") for code, count in types],
            }
            for name, number, types in groups
        ],
        "fault_counts": [(kind, f"{number:,}") for kind, number in sorted(report.get("fault_counts", {}).items())],
        "faults": report.get("faults", []),
        "licences": report.get("licences", []),
    }


@require_POST
def switch(request: HttpRequest, slug: str) -> HttpResponse:
    """Use the vocabulary that `to` names from now on."""
    user = person_of(request)
    project = get_project(user, slug, ANSWERING)
    number = request.POST.get("to", "")
    to = next((row for row in vocabularies_register() if str(row.pk) == number), None)
    if to is None:
        messages.error(request, "Choose a vocabulary that is built on this machine.")
        return redirect("concepts-vocabulary", slug)

    def switched() -> str:
        vocabulary_switch(project=project, to=to, actor=user)
        return f"The project uses {to} now. Candidates are found anew; no decision has changed."

    return _done(request, slug, switched)


@require_POST
def accept(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take another concept of the project's vocabulary in the place of a decided one: `cui`. Without one, the review
    is where it can be chosen."""
    user = person_of(request)
    decision = get_decision(user, slug, pk)
    if not request.POST.get("cui"):
        return redirect(f"{reverse('concepts', args=[slug])}#f{decision.surface_form_id}")
    cui = request.POST.get("cui", "")[:20]

    def taken() -> str:
        new = migration_accept(decision=decision, actor=user, cui=cui)
        return f"“{decision.surface_form.text}” means {new.name} ({new.cui}) now."

    return _done(request, slug, taken)


@require_POST
def keep(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Leave a decision as it is, though the project's vocabulary has its concept otherwise."""
    user = person_of(request)
    decision = get_decision(user, slug, pk)

    def kept() -> str:
        migration_keep(decision=decision, actor=user)
        return f"“{decision.surface_form.text}” stays as it was decided: {decision.name}."

    return _done(request, slug, kept)


@require_POST
def look_again(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Put a decision that was kept back among those to be looked at."""
    user = person_of(request)
    decision = get_decision(user, slug, pk)

    def put_back() -> str:
        migration_keep_revoke(decision=decision, actor=user)
        return f"“{decision.surface_form.text}” is among those to be looked at again."

    return _done(request, slug, put_back)


def _done(request: HttpRequest, slug: str, change: Callable[[], str]) -> HttpResponse:
    """Carry out a change that says what it did, or say why it is refused; then the page again."""
    try:
        messages.success(request, change())
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect("concepts-vocabulary", slug)
