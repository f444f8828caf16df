"""The workbench as the README shows it. `PORTAL_SCREENSHOTS=1` makes the picture anew; the page is checked always."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from annotation.models import LabelSet
from annotation.services.demo import demo_load
from annotation.services.labelling import Change, label_set_change
from annotation.services.readings import labels_of
from tests import factory
from tests.browser import sign_in

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "workbench.png"
DIALOGUE = "DEMO-RES-01"
HERE = 27

pytestmark = pytest.mark.browser


def half_labelled() -> LabelSet:
    """The demonstration's first dialogue, labelled up to the utterance before HERE."""
    demo_load(password=factory.PASSWORD)
    label_set = LabelSet.objects.select_related("dialogue__project", "annotator").get(dialogue__external_id=DIALOGUE)
    assert label_set.annotator is not None
    label_set_change(
        label_set=label_set,
        actor=label_set.annotator,
        version=label_set.version,
        key=str(uuid.uuid4()),
        changes=[Change(label.id, None) for label in labels_of(label_set) if label.position >= HERE],
    )
    return label_set


def open_form(page: Page) -> None:
    """Go to the first utterance without a label and begin to enter a symptom."""
    while page.locator(".turn[aria-current]").get_attribute("data-position") != str(HERE):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("s")
    page.wait_for_selector("[data-form] [data-field]")
    page.keyboard.type("runn")
    page.locator("[data-form] [role=option]").first.wait_for(timeout=5000)


@pytest.mark.django_db(transaction=True)
def test_the_workbench_of_a_half_labelled_dialogue_shows_text_form_and_state(live_server, chromium) -> None:
    label_set = half_labelled()
    page = sign_in(chromium, live_server, "annotator")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(live_server.url + reverse("workbench", args=[label_set.dialogue.project.slug, label_set.pk]))
    page.wait_for_selector("[data-ready]")
    open_form(page)

    assert page.locator(".turn").count() == label_set.dialogue.utterance_count
    assert page.locator("[data-form]").is_visible()
    assert page.evaluate("window.scrollY") == 0  # the columns scroll, the page stays
    assert "cough" in page.locator("main").inner_text()
    assert errors == []
    if os.environ.get("PORTAL_SCREENSHOTS") == "1":
        page.screenshot(path=PICTURE, animations="disabled")
    page.context.close()
