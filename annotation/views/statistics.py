"""A project in figures, for researchers: tables, their charts as pictures, and their files."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_safe

from annotation.access import get_researched
from annotation.forms.statistics import StatisticsForm
from annotation.models import Project
from annotation.services.charts import Theme, chart_svg
from annotation.services.statistics_report import StatisticsChoice, statistics_report
from annotation.views.downloads import CSV, csv_text, file_response
from annotation.views.requests import person_of
from annotation.views.statistics_tables import Table, tables_of

# A chart's colours are style attributes, which the pages' own policy forbids; it loads nothing and runs nothing.
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


@require_GET
def statistics(request: HttpRequest, slug: str) -> HttpResponse:
    """The page. What cannot be chosen is said at its field, and the figures are those of the usual choice."""
    project = get_researched(person_of(request), slug)
    form = StatisticsForm.asked(request.GET.dict())
    status = 200 if form.is_valid() else 422
    counted = form if form.is_valid() else StatisticsForm.asked({})
    counted.full_clean()
    found = statistics_report(project=project, choice=counted.choice())
    tables = tables_of(found)
    context = {
        "project": project,
        "form": form,
        "query": counted.query(),
        "gold_only": counted.choice().gold,
        "readings": found.readings,
        "damaged": found.damaged,
        "fixed": found.fixed,
        "dialogues": sum(found.readings.values()),
        "tables": list(tables.values()),
    }
    return render(request, "annotation/statistics.html", context, status=status)


@require_safe
def chart(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """The chart of a table; `?theme=dark` for a dark page."""
    project = get_researched(person_of(request), slug)
    table = _table(request, project, name)
    if table.chart is None:
        raise Http404("There is nothing to draw.")
    theme = Theme.DARK if request.GET.get("theme") == Theme.DARK else Theme.LIGHT
    response = HttpResponse(chart_svg(table.chart, theme), content_type="image/svg+xml")
    response.headers["Content-Security-Policy"] = SVG_POLICY
    return response


@require_safe
def csv_file(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """A table with all of its rows."""
    project = get_researched(person_of(request), slug)
    table = _table(request, project, name)
    return file_response(csv_text([table.head, *table.rows]), f"{project.slug}.statistics.{name}.csv", CSV)


def _table(request: HttpRequest, project: Project, name: str) -> Table:
    form = StatisticsForm.asked(request.GET.dict())
    if not form.is_valid():
        raise Http404("There are no such statistics; choose them on their page.")
    choice: StatisticsChoice = form.choice()
    found = tables_of(statistics_report(project=project, choice=choice)).get(name)
    if found is None:
        raise Http404(f"The statistics have no table “{name}”.")
    return found
