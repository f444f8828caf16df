"""Agreement between annotators, for supervisors: the report, the utterances behind a figure, and files of both."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_POST, require_safe

from annotation.access import SUPERVISOR, get_project
from annotation.forms.agreement import ScopeForm
from annotation.models import Dialogue, Project, User
from annotation.services.agreement import (
    TREND,
    Measured,
    agreement_csv,
    agreement_json,
    agreement_measured,
    agreement_report,
    agreement_snapshot_keep,
    agreement_trend,
    figures_of,
    usernames,
)
from annotation.services.agreement_scope import Scope
from annotation.services.agreement_sources import compared
from annotation.services.errors import Refused
from annotation.views.agreement_charts import TrendChart, trend_chart
from annotation.views.agreement_places import place_rows
from annotation.views.agreement_tables import HEADLINE, Tables, words_of
from annotation.views.requests import page_of, person_of

_FIELDS = ("of", "pair", "specialty", "since", "until")
_TREND_NAMES = {".".join(path): short for _, short, path in HEADLINE}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would take for the beginning of a formula


@dataclass(frozen=True, slots=True)
class Asked:
    """A project with the scope that the address asks for. `names` are those of everybody who has labelled doubly."""

    project: Project
    form: ScopeForm
    scope: Scope
    query: dict[str, str]
    names: dict[int, str]

    @property
    def suffix(self) -> str:
        return f"?{urlencode(self.query)}" if self.query else ""


def asked(request: HttpRequest, slug: str, sent: QueryDict | None = None) -> Asked:
    """Who may see it and what it is about. Only supervisors: the pages name annotators and show their labels."""
    project = get_project(person_of(request), slug, SUPERVISOR)
    pairs = dict.fromkeys(tuple(sorted(pair.people)) for pair in compared(project, Scope()))
    people = User.objects.filter(pk__in={pk for pair in pairs for pk in pair})
    names = {person.pk: person.display_name for person in people}
    choices = sorted((f"{names[one]} and {names[other]}", (one, other)) for one, other in pairs)
    specialties = project.dialogues.exclude(specialty="").order_by("specialty").values_list("specialty", flat=True)
    given = request.GET if sent is None else sent
    query = {name: value for name in _FIELDS if (value := given.get(name, "").strip())}
    form = ScopeForm(query, pairs=choices, specialties=list(specialties.distinct()))
    return Asked(project, form, form.scope(), query if form.is_valid() else {}, names)


@require_safe
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """The report over a scope, with charts and the trend."""
    page = asked(request, slug)
    context: dict[str, Any] = {"project": page.project, "form": page.form, "suffix": page.suffix, "query": page.query}
    context["assignable"] = page.project.memberships.filter(role="annotator").values("user").distinct().count()
    if page.names:
        context |= _report(page)
    return render(request, "annotation/agreement.html", context, status=200 if page.form.is_valid() else 422)


def _report(page: Asked) -> dict[str, Any]:
    measured = agreement_measured(project=page.project, scope=page.scope)
    figures = measured.figures
    coverage = figures["coverage"]
    slug = page.project.slug
    tables = Tables(figures, slug=slug, query=page.query, questionnaire=page.project.questionnaire)
    classes, bars = tables.classes()
    return {
        "measured": measured,
        "figures": figures,
        "coverage": {**coverage, "n_left": coverage["n_total"] - coverage["n_used"]},
        "compared": tables.href("n"),
        "left_out": tables.href("missing"),
        "scope": page.scope.sentence(page.names),
        "tables": tables,
        "classes": classes,
        "bars": bars,
        "whole_f": tables.cell("decomposition", "f"),
        "matrix": tables.matrix(page.names),
        "dialogues": _dialogues(measured, page),
        **_trend(page),
    }


def _dialogues(measured: Measured, page: Asked) -> list[dict[str, Any]]:
    """What is compared, dialogue by dialogue, with the way to both states side by side."""
    units = measured.places.data["units"]
    ids = dict(Dialogue.objects.filter(pk__in={unit["dialogue"] for unit in units}).values_list("pk", "external_id"))
    rows = []
    for unit in units:
        a, b = unit["people"]
        address = reverse("state-timeline", args=[page.project.slug, unit["dialogue"]])
        rows.append(
            {
                "id": ids.get(unit["dialogue"], "?"),
                "a": page.names.get(a, "?"),
                "b": page.names.get(b, "?"),
                "used": len(unit["items"]),
                "total": len(unit["items"]) + len(unit["missing"]),
                "href": f"{address}?{urlencode({'a': a, 'b': b})}",
            }
        )
    return rows


def _trend(page: Asked) -> dict[str, Any]:
    points = agreement_trend(project=page.project, scope=page.scope)
    chart: TrendChart | None = None
    if len(points) > 1:
        series = [(_TREND_NAMES[name], [point.values[name] for point in points]) for name in TREND]
        chart = trend_chart("Agreement over time", [point.at for point in points], series)
    rows = [{"at": point.at, "used": point.used, "values": [point.values[name] for name in TREND]} for point in points]
    return {"trend": rows[::-1], "trend_chart": chart, "trend_names": [_TREND_NAMES[name] for name in TREND]}


@require_POST
def agreement_keep(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the figures of a scope as they are now as a point of its trend."""
    page = asked(request, slug, request.POST)
    if not page.form.is_valid():
        messages.error(request, "That choice of dialogues cannot be read; choose again.")
        return redirect("agreement", slug)
    try:
        _, new = agreement_snapshot_keep(project=page.project, scope=page.scope)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect(reverse("agreement", args=[slug]) + page.suffix)
    if new:
        messages.success(
            request, "The figures are kept; from now on they are measured along whenever work is finished."
        )
    else:
        messages.info(request, "Nothing has changed since these figures were kept last.")
    return redirect(reverse("agreement", args=[slug]) + page.suffix)


@require_safe
def agreement_places(request: HttpRequest, slug: str) -> HttpResponse:
    """The utterances behind one figure or count (`p`, its names in order), of one speaker or one pair of people."""
    page = asked(request, slug)
    path = tuple(request.GET.getlist("p")) or ("n",)
    speaker = request.GET.get("speaker") or None
    both = _pair(request.GET.get("both", ""))
    places = agreement_measured(project=page.project, scope=page.scope).places
    if path == ("missing",):
        found = places.missing(speaker=speaker, pair=both)
    elif places.knows(path):
        found = places.behind(path, speaker=speaker, pair=both)
    else:
        raise Http404("There is no such figure in this report.")
    listed = page_of(request, found, 25)
    context = {
        "project": page.project,
        "what": "not submitted by both" if path == ("missing",) else words_of(path, page.project.questionnaire),
        "scope": page.scope.sentence(page.names),
        "speaker": speaker,
        "both": [page.names.get(pk, "?") for pk in both] if both else [],
        "suffix": page.suffix,
        "page": listed,
        "rows": place_rows(page.project, listed.object_list, page.names),
    }
    return render(request, "annotation/agreement_places.html", context)


def _pair(text: str) -> tuple[int, int] | None:
    one, _, other = text.partition("-")
    if one.isascii() and other.isascii() and one.isdigit() and other.isdigit():
        return int(one), int(other)
    return None


@require_safe
def agreement_json_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Every figure, the methods paragraph and every disagreement as JSON."""
    page = asked(request, slug)
    report, pairs = agreement_report(project=page.project, scope=page.scope)
    names = usernames([pk for pair in pairs for pk in pair.people])
    result = {
        "project": page.project.name,
        "scope": page.scope.sentence(names),
        "measured_at": timezone.now().isoformat(),
        **agreement_json(figures=figures_of(report), names=names),
        "disagreements": list(_disagreements(report, names)),
    }
    text = json.dumps(result, ensure_ascii=False, indent=1)
    return _file(text, f"{slug}.agreement.json", "application/json; charset=utf-8")


@require_safe
def agreement_csv_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Every figure and count as a row: over what, its name, its value, both ends of its interval."""
    page = asked(request, slug)
    report, pairs = agreement_report(project=page.project, scope=page.scope)
    names = usernames([pk for pair in pairs for pk in pair.people])
    return _file(_csv(agreement_csv(report=report, names=names)), f"{slug}.agreement.csv", "text/csv; charset=utf-8")


@require_safe
def agreement_disagreements_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Every disagreement as a row."""
    page = asked(request, slug)
    report, pairs = agreement_report(project=page.project, scope=page.scope)
    names = usernames([pk for pair in pairs for pk in pair.people])
    header = ("kind", "dialogue", "position", "speaker", "annotator_a", "annotator_b", "a", "b", "words")
    rows = [tuple("" if one[name] is None else one[name] for name in header) for one in _disagreements(report, names)]
    return _file(_csv([header, *rows]), f"{slug}.disagreements.csv", "text/csv; charset=utf-8")


def _disagreements(report: Any, names: Mapping[int, str]) -> Iterable[dict[str, Any]]:
    ids = {str(pk): external for pk, external in _external_ids(report.coded.dialogues)}
    for one in report.disagreements:
        a, b = (names.get(int(pk), pk) for pk in one.annotators)
        yield {**one.as_json(), "dialogue": ids.get(one.dialogue, "?"), "annotator_a": a, "annotator_b": b}


def _external_ids(pks: Iterable[str]) -> Iterable[tuple[int, str]]:
    return Dialogue.objects.filter(pk__in=[int(pk) for pk in pks]).values_list("pk", "external_id")


def _csv(rows: Iterable[tuple[Any, ...]]) -> str:
    """Rows as CSV. A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out)
    for row in rows:
        writer.writerow(f"'{one}" if isinstance(one, str) and one.startswith(_FORMULA) else one for one in row)
    return out.getvalue()


def _file(text: str, name: str, content_type: str) -> HttpResponse:
    response = HttpResponse(text, content_type=content_type)
    response.headers["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or ""
    return response
