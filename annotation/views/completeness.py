"""The queue of incomplete labels: what is missing, by whom and by which rule, and its way back to the annotator."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from annotation.access import SUPERVISOR, get_project, get_returned_item
from annotation.domain.completeness import RULES
from annotation.domain.numbers import counted, per_cent
from annotation.models import Project, Status, Utterance
from annotation.services.completeness import (
    Completeness,
    Incomplete,
    Returned,
    completeness_of,
    gaps_return,
    returned_item_take_back,
)
from annotation.services.errors import Refused
from annotation.views.requests import page_of, person_of, whole_numbers

_STATES = {"new": "not returned yet", "returned": "returned, not answered yet", "all": "all"}


@require_safe
def completeness(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project(person_of(request), slug, SUPERVISOR)
    return _page(request, project)


def _page(request: HttpRequest, project: Project, *, note: str = "", error: str = "") -> HttpResponse:
    given = request.POST if request.method == "POST" else request.GET
    report = completeness_of(project)
    chosen = {name: given.get(name, "") for name in ("annotator", "rule", "state")}
    page = page_of(request, _matching(report, **chosen))
    page.query = urlencode({name: value for name, value in chosen.items() if value})  # type: ignore[attr-defined]
    context = {
        "project": project,
        "report": report,
        "page": page,
        "rows": _with_texts(list(page.object_list)),
        "rules": [(rule.value, text, report.asked[rule]) for rule, text in RULES.items()],
        "states": _STATES.items(),
        "annotators": _annotators(report),
        "chosen": {**chosen, "state": chosen["state"] or "new"},
        "filtered": bool(chosen["annotator"] or chosen["rule"] or chosen["state"] not in ("", "new")),
        "selectable": any(_selectable(one) for one in page.object_list) and not project.archived_at,
        "shares": [_percent(report.share_before), _percent(report.share_now)],
        "request_key": uuid4().hex,
        "note": note,
        "error": error,
    }
    return render(request, "annotation/completeness.html", context, status=422 if error else 200)


def _percent(share: float | None) -> str:
    return "–" if share is None else per_cent(share, 2)


def _matching(report: Completeness, *, annotator: str, rule: str, state: str) -> list[Incomplete]:
    people = whole_numbers([annotator])
    returned = {"returned": True, "all": None}.get(state, False)
    return [
        one
        for one in report.found
        if (not people or one.label_set.annotator_id in people)
        and (rule not in RULES or one.question.rule == rule)
        and (returned is None or returned is (one.item is not None))
    ]


def _annotators(report: Completeness) -> list[tuple[int, str, int]]:
    """(key, name, questions) of everybody whose labels have gaps, by name."""
    found: dict[tuple[int, str], int] = {}
    for one in report.found:
        person = one.label_set.annotator
        if person:
            key = (person.pk, person.display_name)
            found[key] = found.get(key, 0) + 1
    return [(pk, name, number) for (pk, name), number in sorted(found.items(), key=lambda item: item[0][1].lower())]


def _with_texts(rows: list[Incomplete]) -> list[dict[str, Any]]:
    """The rows of one page with what was said, in one query."""
    wanted = {(one.label_set.dialogue_id, one.question.position) for one in rows}
    spoken = Utterance.objects.filter(
        dialogue__in={dialogue for dialogue, _ in wanted}, position__in={position for _, position in wanted}
    )
    texts = {
        (dialogue, position): text for dialogue, position, text in spoken.values_list("dialogue", "position", "text")
    }
    return [
        {
            "one": one,
            "text": texts.get((one.label_set.dialogue_id, one.question.position), ""),
            "selectable": _selectable(one),
        }
        for one in rows
    ]


def _selectable(one: Incomplete) -> bool:
    return one.item is None and one.label_set.status != Status.LOCKED


@require_POST
def gaps_return_view(request: HttpRequest, slug: str) -> HttpResponse:
    user = person_of(request)
    project = get_project(user, slug, SUPERVISOR)
    note = request.POST.get("note", "")
    try:
        returned = gaps_return(
            project=project,
            actor=user,
            keys=request.POST.getlist("gap"),
            request=request.POST.get("request", "")[:64],
            note=note,
        )
    except Refused as refusal:
        return _page(request, project, note=note, error=refusal.message)
    _say(request, returned)
    query = urlencode({name: request.POST[name] for name in ("annotator", "rule", "state") if request.POST.get(name)})
    address = reverse("completeness", args=[slug])
    return redirect(f"{address}?{query}" if query else address)


def _say(request: HttpRequest, returned: Returned) -> None:
    if returned.questions:
        asked = f"{counted(returned.questions, 'question')} returned"
        moved = returned.label_sets
        dialogues = f"; {moved} finished dialogue{'s are' if moved > 1 else ' is'} open again" if moved else ""
        messages.success(request, f"{asked}{dialogues}.")
    else:
        messages.info(request, "Nothing was returned: these questions were returned or answered before.")
    if returned.locked:
        stand = "stands" if returned.locked == 1 else "stand"
        messages.warning(request, f"{returned.locked} {stand} in locked dialogues; unlock these to return them.")


@require_POST
def take_back_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    item = get_returned_item(person_of(request), slug, pk)
    try:
        returned_item_take_back(item=item, actor=person_of(request), request=f"take back {item.pk}")
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, "The question is taken back.")
    return redirect(f"{reverse('completeness', args=[slug])}?state=returned")
