"""The figures and disagreements of a scope as files: CSV for tables, JSON for everything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.domain.agreement import AgreementReport
from annotation.models import Dialogue
from annotation.services.agreement import agreement_csv, agreement_json, agreement_report, figures_of, usernames
from annotation.views.agreement_asked import Asked, asked
from annotation.views.downloads import CSV, csv_text, file_response


@require_safe
def agreement_json_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Every figure, the methods paragraph and every disagreement as JSON; of an earlier measurement its figures."""
    page = asked(request, slug)
    if page.snapshot is not None:
        return _earlier_json(page)
    report, names = _report(page)
    result = {
        **_about(page, names),
        "measured_at": timezone.now().isoformat(),
        **agreement_json(figures=figures_of(report), names=names),
        "disagreements": list(_disagreements(report, names)),
    }
    return _json(page, names, result)


def _earlier_json(page: Asked) -> HttpResponse:
    measured = page.measured()
    people = [int(cell[side]) for cell in measured.figures["pairs"] for side in ("a", "b")]
    names = usernames([*people, *(page.scope.pair or ())])
    figures = agreement_json(figures=measured.figures, names=names)
    return _json(page, names, {**_about(page, names), "measured_at": measured.at.isoformat(), **figures})


@require_safe
def agreement_csv_file(request: HttpRequest, slug: str) -> HttpResponse:
    """What was measured, then every figure and count as a row: over what, its name, its value, both ends twice."""
    page = asked(request, slug)
    report, names = _report(page)
    rows = agreement_csv(project=page.project, scope=page.scope, report=report, names=names)
    return file_response(csv_text(rows), _name(page, names, "agreement", "csv"), CSV)


@require_safe
def agreement_disagreements_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Every disagreement as a row."""
    page = asked(request, slug)
    report, names = _report(page)
    header = ("kind", "dialogue", "position", "speaker", "annotator_a", "annotator_b", "a", "b", "words")
    rows = [tuple("" if one[name] is None else one[name] for name in header) for one in _disagreements(report, names)]
    return file_response(csv_text([header, *rows]), _name(page, names, "disagreements", "csv"), CSV)


def _report(page: Asked) -> tuple[AgreementReport, dict[int, str]]:
    """The report as the labels are now, with the user names of all whom it is about."""
    if page.snapshot is not None:
        raise Http404(
            "Of an earlier measurement there is only the JSON file; tables are made of the labels as they are."
        )
    report, pairs = agreement_report(project=page.project, scope=page.scope)
    return report, usernames([*(pk for pair in pairs for pk in pair.people), *(page.scope.pair or ())])


def _about(page: Asked, names: Mapping[int, str]) -> dict[str, Any]:
    """What was measured: in words, and as it was chosen."""
    chosen = page.scope.as_json()
    if page.scope.pair:
        chosen["pair"] = [names.get(pk, str(pk)) for pk in page.scope.pair]
    return {"project": page.project.name, "scope": page.scope.sentence(names), "chosen": chosen}


def _name(page: Asked, names: Mapping[int, str], what: str, ending: str) -> str:
    """A file's name says what was chosen, so that two files do not get mixed up."""
    return ".".join(part for part in (page.project.slug, what, page.scope.file_part(names), ending) if part)


def _json(page: Asked, names: Mapping[int, str], result: Mapping[str, Any]) -> HttpResponse:
    text = json.dumps(result, ensure_ascii=False, indent=1)
    return file_response(text, _name(page, names, "agreement", "json"), "application/json; charset=utf-8")


def _disagreements(report: AgreementReport, names: Mapping[int, str]) -> Iterable[dict[str, Any]]:
    ids = {str(pk): external for pk, external in _external_ids(report.coded.dialogues)}
    for one in report.disagreements:
        a, b = (names.get(int(pk), pk) for pk in one.annotators)
        yield {**one.as_json(), "dialogue": ids.get(one.dialogue, "?"), "annotator_a": a, "annotator_b": b}


def _external_ids(pks: Iterable[str]) -> Iterable[tuple[int, str]]:
    return Dialogue.objects.filter(pk__in=[int(pk) for pk in pks]).values_list("pk", "external_id")
