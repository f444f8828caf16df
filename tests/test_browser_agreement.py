"""The agreement pages in a real browser; `PORTAL_SCREENSHOTS=1` makes the picture in the documentation anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.urls import reverse

from annotation.domain.labels import Label
from annotation.services.agreement import agreement_snapshot_keep
from annotation.services.agreement_scope import Scope
from tests import factory
from tests.browser import sign_in
from tests.doubly import doubly_labelled, finish, third_annotator
from tests.test_browser_accessibility import expect_accessible

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "agreement.png"

pytestmark = pytest.mark.browser


def reopened(label_set) -> None:
    from annotation.services.label_sets import label_set_reopen

    label_set.refresh_from_db()
    label_set_reopen(label_set=label_set, actor=label_set.annotator, version=label_set.version, key=f"r{label_set.pk}")


@pytest.fixture
def seeds(live_server, project, people):
    made = doubly_labelled(project, [people.annotator, people.second, third_annotator(project)], dialogues=12)
    agreement_snapshot_keep(project=project, scope=Scope())
    reopened(made[1])
    factory.make_labels(made[1], Label(9, "nod_prompt"))
    finish(made[1])
    agreement_snapshot_keep(project=project, scope=Scope())
    return made


@pytest.mark.django_db(transaction=True)
def test_from_a_figure_to_its_utterances_and_to_adjudicating_one(live_server, chromium, project, seeds) -> None:
    page = sign_in(chromium, live_server, "sam", permissions=["clipboard-read", "clipboard-write"])
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(live_server.url + reverse("agreement", args=[project.slug]))
    assert page.locator("svg[role=img]").count() == 5
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    if os.environ.get("PORTAL_SCREENSHOTS") == "1":
        page.screenshot(path=PICTURE, animations="disabled")

    page.click("[data-copies=methods-text]")
    page.wait_for_selector("text=Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.inner_text("#methods-text")

    page.locator("dl.figures a").first.click()
    page.wait_for_selector("[data-places][data-ready]")
    page.keyboard.press("j")
    page.keyboard.press("j")
    chosen = page.locator("[data-place]:focus")
    assert page.locator("[data-place]").nth(1).inner_text() == chosen.inner_text()
    assert problems == []
    wanted = chosen.locator("[data-adjudicate]").get_attribute("href")
    page.keyboard.press("a")
    page.wait_for_url(f"**{wanted}")
    page.context.close()


@pytest.mark.django_db(transaction=True)
def test_both_states_side_by_side(live_server, chromium, project, seeds) -> None:
    page = sign_in(chromium, live_server, "sam")
    page.goto(live_server.url + reverse("agreement", args=[project.slug]))
    page.locator("details.fold summary", has_text="The dialogues").click()
    page.locator("a", has_text="State timeline").nth(1).click()
    page.wait_for_selector("h1:has-text('Both states')")
    assert page.locator("tr.cause").count() == page.locator(".causes li").count()
    page.context.close()


@pytest.mark.django_db(transaction=True)
def test_the_pages_of_agreement_and_assignment_are_accessible(live_server, chromium, project, seeds) -> None:
    page = sign_in(chromium, live_server, "sam")
    page.goto(live_server.url + reverse("agreement", args=[project.slug]))
    addresses = [
        reverse("agreement", args=[project.slug]),
        page.locator("dl.figures a").first.get_attribute("href"),
        reverse("state-timeline", args=[project.slug, seeds[0].dialogue.pk]),
        reverse("assign-groups", args=[project.slug]),
        reverse("assign-changes", args=[project.slug]),
    ]
    for address in addresses:
        answer = page.goto(live_server.url + address)
        assert answer.status == 200, address
        expect_accessible(page, address)
