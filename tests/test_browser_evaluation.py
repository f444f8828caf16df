"""Statistics and evaluation in Chromium: charts that can be seen, two prediction files uploaded and compared.

`PORTAL_SCREENSHOTS=1` makes the pictures of the documents anew; the pages are checked always.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Evaluation, JobStatus, Project
from annotation.services.demo import demo_load
from tests import factory
from tests.browser import sign_in
from tests.conftest import People
from tests.evaluating import jsonl, project_predictions
from tests.exporting import make_gold_project
from tests.test_browser_accessibility import expect_accessible

DOCS = Path(__file__).resolve().parent.parent / "docs"

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def picture(page: Page, name: str) -> None:
    if os.environ.get("PORTAL_SCREENSHOTS") == "1":
        page.screenshot(path=DOCS / name, animations="disabled")


def watched(page: Page) -> list[str]:
    """Errors of the page and refusals by its policy, as they come."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    return errors


@pytest.fixture
def gold(project: Project, people: People, settings: Any, tmp_path: Path) -> Project:
    settings.PORTAL_EVALUATION_DIR = tmp_path / "evaluations"
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    return project


def test_the_statistics_of_the_demonstration(live_server: Any, chromium: Any) -> None:
    demo_load(password=factory.PASSWORD)
    project = Project.objects.get(name="Demo")
    page = sign_in(chromium, live_server, "doctor")
    errors = watched(page)
    page.goto(live_server.url + reverse("project", args=[project.slug]))
    page.locator(".project-bar summary", has_text="Export").click()
    page.get_by_role("link", name="Statistics").click()
    expect(page.get_by_role("heading", name="Statistics")).to_be_visible()
    charts = page.locator("img.drawn")
    expect(charts).to_have_count(6)
    for chart in charts.all():
        expect(chart).to_have_js_property("complete", True)
        assert chart.evaluate("(image) => image.naturalWidth") > 300
        assert "Its numbers stand in the table below." in (chart.get_attribute("alt") or "")
    expect_accessible(page, "statistics")
    page.emulate_media(color_scheme="dark")
    dark = page.locator("picture source").first.get_attribute("srcset") or ""
    assert "theme=dark" in dark
    expect(charts.first).to_have_js_property("currentSrc", live_server.url + dark)
    page.emulate_media(color_scheme="light")
    page.locator("summary", has_text="The numbers").first.click()
    expect(page.get_by_role("table", name="Intents by speaker")).to_be_visible()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download Slots (CSV)").click()
    assert Path(waiting.value.path()).read_text(encoding="utf-8").startswith("Slot,In files,Utterances,Entries")
    page.goto(live_server.url + reverse("statistics", args=[project.slug]) + "#segments")
    for chart in charts.all():
        expect(chart).to_have_js_property("complete", True)
    picture(page, "statistics.png")
    assert errors == []
    page.context.close()


def test_two_prediction_files_are_uploaded_and_compared(
    live_server: Any, chromium: Any, gold: Project, tmp_path: Path
) -> None:
    careful = project_predictions(gold, "nlu", but=3)
    hasty = [
        *project_predictions(gold, "nlu", extra="dyspnea")[:-8],
        '{"dialogue_id": "RES-6", "uttr_id": 9, "nlu": "no"}',
    ]
    page = sign_in(chromium, live_server, "dora")
    errors = watched(page)
    page.goto(live_server.url + reverse("evaluations", args=[gold.slug]))
    expect_accessible(page, "the first visit to evaluation")
    page.get_by_label("Name of the system").fill("Wrong file")
    page.get_by_label("Predictions").set_input_files({"name": "x.jsonl", "mimeType": "text/plain", "buffer": b"1"})
    page.get_by_role("button", name="Score the predictions").click()
    expect(page.locator(".error-summary")).to_be_focused()
    expect(page.locator(".error-summary")).to_be_in_viewport()
    expect_accessible(page, "a refused upload")
    page.locator(".error-summary").get_by_role("link", name="Predictions").click()
    expect(page.get_by_label("Predictions")).to_be_in_viewport()
    expect(page.get_by_label("Name of the system")).to_have_value("Wrong file")
    assert errors.pop().endswith("422 (Unprocessable Entity)")
    for name, lines in (("Careful model", careful), ("Hasty model", hasty)):
        path = tmp_path / f"{name.split()[0].lower()}.jsonl"
        path.write_bytes(jsonl(lines))
        page.get_by_label("Name of the system").fill(name)
        page.get_by_label("Predictions").set_input_files(path)
        page.get_by_role("button", name="Score the predictions").click()
        expect(page.get_by_role("heading", name=name)).to_be_visible()
        expect_accessible(page, "an evaluation")
        page.get_by_role("link", name="All systems").click()
    heights = page.locator(".scored.fields").first.evaluate(
        "(row) => [...row.querySelectorAll('label, input, select')].map((one) => one.getBoundingClientRect().top)"
    )
    assert heights[0::2] == [heights[0]] * 3, "labels stand at one height"
    assert max(heights[1::2]) - min(heights[1::2]) < 1, "inputs too"
    side = page.get_by_role("table", name="Scores of the systems")
    expect(side.locator("tbody th")).to_have_text(["Careful model", "Hasty model"])
    expect(side.get_by_role("row", name="Careful model").locator("strong")).to_have_count(9)
    # What is malformed costs precision, of all kinds of tuples.
    expect(side.get_by_role("row", name="Hasty model").locator("strong")).to_have_count(0)
    assert side.evaluate("(table) => table.scrollWidth <= table.parentElement.clientWidth")
    expect_accessible(page, "systems side by side")
    page.evaluate("window.scrollTo(0, 0)")
    picture(page, "evaluation.png")

    page.get_by_role("link", name="Where does Careful model err, and where Hasty model?").click()
    expect(page.get_by_role("heading", name="Careful model and Hasty model")).to_be_visible()
    expect(page.get_by_role("link", name="only Hasty model")).to_have_attribute("aria-current", "true")
    expect(page.locator(".places > li")).to_have_count(6)
    expect(page.locator(".places .badge.error").first).to_have_text("errs")
    expect(page.get_by_text("inform · positive_symptom = dyspnea")).to_be_visible()
    expect_accessible(page, "two systems compared")

    page.get_by_role("link", name="All systems").click()
    page.get_by_role("link", name="Hasty model").last.click()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    hasty_one = Evaluation.objects.filter(system="Hasty model")
    hasty_one.update(status=JobStatus.RUNNING, results={}, changed_at=timezone.now())
    page.reload()
    expect_accessible(page, "an evaluation under way")
    page.get_by_role("button", name="Cancel").press("Enter")
    expect(page.get_by_text("Stopping.")).to_be_visible()
    assert hasty_one.get().cancel_requested
    hasty_one.update(status=JobStatus.CANCELLED, cancel_requested=False)  # which the worker does
    expect(page.get_by_role("heading", name="Cancelled")).to_be_visible()
    expect_accessible(page, "a cancelled evaluation")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("were deleted")).to_be_visible()
    assert [one.system for one in Evaluation.objects.all()] == ["Careful model"]
    assert errors == []
    page.context.close()
