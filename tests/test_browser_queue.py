"""In Chromium: a supervisor divides the dialogues, an annotator goes through the queue without the mouse."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotation.models import LabelSet, Status
from tests import factory
from tests.browser import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_from_the_plan_to_the_next_dialogue_by_keyboard(live_server, chromium, project, people):
    for number in range(8):
        factory.make_dialogue(project, f"RES-{number}", factory.TURNS[: 2 + number % 3])
    page = sign_in(chromium, live_server, "sam")
    page.goto(f"{live_server.url}/projects/chest-clinic/assign/groups/")
    page.get_by_label("Seed dialogues").fill("2")
    page.get_by_label("Random seed").fill("11")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Make 10 assignments?")
    assert not LabelSet.objects.exists()
    page.get_by_role("button", name="Assign", exact=True).press("Enter")
    expect(page.get_by_text("10 assignments made.")).to_be_visible()
    first, second = people.annotator.label_sets.select_related("dialogue").order_by("queue_order")[:2]

    page = sign_in(chromium, live_server, "alice")
    page.get_by_role("link", name="Start").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(first.dialogue.external_id)
    onward = page.get_by_role("link", name="Open the next one")
    expect(onward).to_be_hidden()
    page.wait_for_selector("[data-ready]")
    page.get_by_role("button", name="Mark as done").press("Enter")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("The same reason for all").select_option("nothing to label")
    dialog.get_by_role("button", name="Mark as done").press("Enter")
    expect(onward).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(second.dialogue.external_id)
    first.refresh_from_db()
    assert first.status == Status.DONE
    assert "seed" not in page.content().lower()
