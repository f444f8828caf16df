"""Agreement between annotators, for supervisors: the report over a scope, now or as measured at an earlier time."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.models import Dialogue
from annotation.services.agreement import TREND, Measured, agreement_snapshot_keep, agreement_trend
from annotation.services.errors import Refused
from annotation.views.agreement_asked import Asked, asked
from annotation.views.agreement_charts import TrendChart, trend_chart
from annotation.views.agreement_tables import HEADLINE, Cell, Tables, places_address

_TREND_NAMES = {".".join(path): short for _, short, path in HEADLINE}


@require_safe
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """The report over a scope, with charts and the trend."""
    page = asked(request, slug)
    context: dict[str, Any] = {
        "project": page.project,
        "form": page.form,
        "suffix": page.suffix,
        "now": page.now,
        "earlier": page.snapshot,
        "query": page.query,
        "assignable": page.project.memberships.filter(role="annotator").values("user").distinct().count(),
    }
    if page.names:
        context |= _report(page)
    return render(request, "annotation/agreement.html", context, status=200 if page.form.is_valid() else 422)


def _report(page: Asked) -> dict[str, Any]:
    measured = page.measured()
    figures = measured.figures
    coverage = figures["coverage"]
    tables = Tables(figures, slug=page.project.slug, query=page.query, questionnaire=page.project.questionnaire)
    classes, bars = tables.classes()
    return {
        "measured": measured,
        "figures": figures,
        "coverage": {**coverage, "n_left": coverage["n_total"] - coverage["n_used"]},
        "compared": tables.href("n"),
        "every": tables.href("total"),
        "left_out": tables.href("missing"),
        "scope": page.scope.sentence(page.names),
        "tables": tables,
        "classes": classes,
        "bars": bars,
        "whole_f": tables.cell("decomposition", "f"),
        "matrix": tables.matrix(page.names),
        "dialogues": _dialogues(measured, page, tables),
        **_trend(page),
    }


def _dialogues(measured: Measured, page: Asked, tables: Tables) -> list[dict[str, Any]]:
    """What is compared, dialogue by dialogue, with the way to both states side by side."""
    units = measured.places.units
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
                "used": Cell(len(unit["items"]), tables.href("n", pair=(a, b), dialogue=unit["dialogue"])),
                "total": len(unit["items"]) + len(unit["missing"]),
                "href": f"{address}?{urlencode({'a': a, 'b': b})}",
            }
        )
    return rows


def _trend(page: Asked) -> dict[str, Any]:
    """The snapshots of the scope as a chart and as rows, the newest first; each opens its own figures."""
    points = agreement_trend(project=page.project, scope=page.scope)
    chart: TrendChart | None = None
    if len(points) > 1:
        series = [(_TREND_NAMES[name], [point.values[name] for point in points]) for name in TREND]
        chart = trend_chart("Agreement over time", [point.at for point in points], series)
    address = reverse("agreement", args=[page.project.slug])
    rows = [
        {
            "at": point.at,
            "href": f"{address}?at={point.snapshot}",
            "shown": page.snapshot is not None and page.snapshot.pk == point.snapshot,
            "cells": [Cell(point.used, _behind(page, point.snapshot, "n"))]
            + [Cell(point.values[name], _behind(page, point.snapshot, *name.split("."), mean=True)) for name in TREND],
        }
        for point in reversed(points)
    ]
    return {"trend": rows, "trend_chart": chart, "trend_names": [_TREND_NAMES[name] for name in TREND]}


def _behind(page: Asked, snapshot: int, *path: str, mean: bool = False) -> str:
    return places_address(page.project.slug, {"at": str(snapshot)}, path, mean=mean)


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
