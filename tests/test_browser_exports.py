"""An export for researchers in Chromium: what is missing, mended from its link, made, downloaded, verified."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.domain.export_verification import verify_export
from annotation.models import Project
from annotation.questionnaires import get_questionnaire
from annotation.services.adjudication import agreed_accept
from tests import factory
from tests.adjudicating import finished
from tests.browser import sign_in
from tests.conftest import People
from tests.exporting import make_gold_project
from tests.qualifying import GOLD
from tests.test_browser_accessibility import expect_accessible

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def unfinished(project: Project, people: People, settings: Any, tmp_path: Path) -> Project:
    """Eight dialogues with gold, and one whose gold waits to be finished."""
    settings.PORTAL_EXPORT_DIR = tmp_path / "exports"
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    last = factory.make_dialogue(project, "RES-LAST", specialty="respiratory")
    for person in (people.annotator, people.second):
        finished(last, person, GOLD)
    agreed_accept(project=project, actor=people.supervisor)
    return project


def test_what_is_missing_is_mended_from_its_link_and_the_export_verifies(
    chromium: Any, live_server: Any, unfinished: Project, tmp_path: Path
) -> None:
    page = sign_in(chromium, live_server, "sam")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(live_server.url + reverse("exports", args=[unfinished.slug]))
    page.get_by_role("link", name="Prepare an export").click()
    expect(page.get_by_text("dialogue has no finished gold")).to_be_visible()
    expect_accessible(page, "preparing an export")
    page.get_by_role("link", name="RES-LAST").click()
    page.wait_for_selector("[data-ready]")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-status-text]")).to_have_text("done")

    page.goto(live_server.url + reverse("export-new", args=[unfinished.slug]))
    expect(page.get_by_text("7 values without a concept")).to_be_visible()
    expect(page.get_by_text("no finished gold")).to_have_count(0)
    page.get_by_role("link", name="night sweats", exact=True).click()
    expect(page.get_by_role("searchbox").or_(page.locator("input[name=q]")).first).to_have_value("night sweats")
    page.go_back()
    expect_accessible(page, "values without a concept")
    page.get_by_label("Random seed").fill("5")
    page.get_by_role("button", name="Make the export").click()
    expect(page.get_by_role("heading", name="9 dialogues exported")).to_be_visible()
    expect_accessible(page, "an export")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download").click()
    waiting.value.save_as(tmp_path / "gold.zip")
    with zipfile.ZipFile(tmp_path / "gold.zip") as packed:
        packed.extractall(tmp_path)
    found = verify_export(tmp_path / "chest-clinic-gold", questionnaire=get_questionnaire("cmas"))
    assert (found.findings, found.dialogues) == ([], 9)

    page.get_by_role("link", name="All exports").click()
    expect(page.get_by_role("region", name="Exports so far")).to_contain_text("done")
    expect_accessible(page, "exports")
    page.get_by_role("region", name="Exports so far").get_by_role("link", name="Gold").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status").get_by_text("The export was deleted.")).to_be_visible()
    expect_accessible(page, "a message")
    assert errors == []
    page.context.close()
