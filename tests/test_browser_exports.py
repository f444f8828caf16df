"""An export for researchers in Chromium: what is missing, mended from its link, made, downloaded, verified."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from PIL import Image
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
    page.get_by_role("button", name="Delete the files").press("Enter")
    page.keyboard.press("Enter")  # on “Cancel”, where the focus is: a hasty key deletes nothing
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("link", name="Download")).to_be_visible()
    page.get_by_role("button", name="Delete the files").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the files").click()
    expect(page.get_by_role("status").get_by_text("The files of this export were deleted.")).to_be_visible()
    digest = hashlib.sha256((tmp_path / "gold.zip").read_bytes()).hexdigest()
    expect(page.get_by_text(f"SHA-256 of the zip: {digest}")).to_be_visible()
    expect(page.get_by_text("Its files were deleted by")).to_be_visible()
    expect(page.get_by_role("link", name="Download")).to_have_count(0)
    expect_accessible(page, "an export without its files")
    page.get_by_role("link", name="All exports").click()
    expect(page.get_by_role("region", name="Exports so far")).to_contain_text("deleted")
    assert errors == []
    page.context.close()


def test_the_splits_follow_the_options_and_a_refusal_is_led_to(
    chromium: Any, live_server: Any, unfinished: Project
) -> None:
    page = sign_in(chromium, live_server, "sam")
    page.goto(live_server.url + reverse("export-new", args=[unfinished.slug]))
    shown = page.locator("#splits dd")
    expect(shown).to_have_text(["5", "1", "1", "1"])
    page.get_by_label("Shares of train, valid, test").fill("0.5,0.5,0")
    expect(shown).to_have_text(["3", "3", "1", "1"])
    expect(page.locator("#drawn")).to_have_text("These draw 3 train, 3 valid, 1 test, 1 ood_test.")
    page.get_by_label("cardiac").check()
    expect(shown).to_have_text(["4", "3", "1", "0"])
    page.get_by_label("Shares of train, valid, test").fill("1,1,1")
    expect(page.locator("#drawn")).to_contain_text("must add up to 1")
    expect(shown).to_have_count(0)
    expect_accessible(page, "options that are refused while they are chosen")

    page.get_by_role("button", name="Make the export").click()
    summary = page.get_by_role("alert").filter(has_text="This was not accepted")
    expect(summary).to_be_focused()
    expect(summary).to_be_in_viewport()
    expect_accessible(page, "an export that is refused")
    summary.get_by_role("link", name="Shares of train, valid, test").click()
    expect(page.get_by_label("Shares of train, valid, test")).to_be_focused()


def test_from_what_is_missing_there_is_a_way_back(chromium: Any, live_server: Any, unfinished: Project) -> None:
    page = sign_in(chromium, live_server, "sam")
    page.goto(live_server.url + reverse("export-new", args=[unfinished.slug]) + "?source=gold&unfinished=on")
    page.get_by_role("link", name="night sweats", exact=True).click()
    page.wait_for_selector("[data-ready]")
    expect(page.get_by_text("Only doctors decide on concepts.")).to_be_visible()
    expect_accessible(page, "concepts for who may not decide")
    page.get_by_role("link", name="Back to the export").click()
    expect(page.get_by_role("heading", name="Prepare an export")).to_be_visible()
    expect(page.get_by_label("Also dialogues that are not done")).to_be_checked()


@pytest.mark.parametrize("width", [683, 1366])
def test_a_table_that_is_cut_has_a_shadow_at_its_edge(
    chromium: Any, live_server: Any, unfinished: Project, width: int
) -> None:
    page = sign_in(chromium, live_server, "sam")
    page.set_viewport_size({"width": width, "height": 768})
    page.goto(live_server.url + reverse("statistics", args=[unfinished.slug]))
    wrap = page.locator(".table-wrap").first
    wrap.scroll_into_view_if_needed()
    cut = wrap.evaluate("one => one.scrollWidth > one.clientWidth")
    assert cut == (width == 683)
    box = wrap.bounding_box()
    # The last pixels of a row's own empty ground: darker than the card where the table goes on.
    shot = wrap.screenshot()
    picture = Image.open(io.BytesIO(shot)).convert("L")
    edge = picture.getpixel((picture.width - 2, picture.height - 4))
    assert (edge < 230) == cut, (edge, box)
