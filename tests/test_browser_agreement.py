"""The agreement pages in a real browser; `PORTAL_SCREENSHOTS=1` makes the picture in the documentation anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.domain.labels import Label
from annotation.services.agreement import agreement_snapshot_keep
from annotation.services.agreement_scope import Scope
from tests import factory
from tests.browser import sign_in
from tests.doubly import TURNS, doubly_labelled, finish, third_annotator
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
def test_choosing_what_is_compared_by_keyboard_and_downloading_it(live_server, chromium, project, people, seeds):
    for number, specialty in enumerate(("msk", "respiratory")):
        dialogue = factory.make_dialogue(project, f"WORK-{number}", turns=TURNS, specialty=specialty)
        for person in (people.annotator, people.second):
            finish(factory.make_label_set(dialogue, person))
    page = sign_in(chromium, live_server, "sam")
    page.goto(live_server.url + reverse("agreement", args=[project.slug]))

    def choose(expected: int, **fields: str) -> None:
        """Type into the named fields and press Enter; then so many dialogues are compared, or none."""
        for name, text in fields.items():
            page.focus(f"[name={name}]")
            page.keyboard.type(text)
        page.focus("[name=until]")
        with page.expect_navigation():
            page.keyboard.press("Enter")
        if expected:
            rows = page.locator("section[aria-labelledby=state] tbody tr")
            assert rows.count() == expected, fields
        else:
            page.wait_for_selector("h2:has-text('Nothing to compare in this choice')")

    def again() -> None:
        page.goto(live_server.url + reverse("agreement", args=[project.slug]))

    today = timezone.localdate()
    for expected, fields in (
        (14, {}),
        (12, {"of": "seed"}),
        (6, {"pair": "alice and bob"}),
        (1, {"specialty": "msk"}),
        (14, {"since": today.strftime("%m%d%Y")}),
        (0, {"until": "01012001"}),
        (0, {"of": "seed", "specialty": "msk"}),
        (4, {"of": "seed", "pair": "alice and bob", "specialty": "resp", "since": today.strftime("%m%d%Y")}),
    ):
        again()
        choose(expected, **fields)
    for label, name in (("All figures (CSV)", "agreement"), ("All disagreements (CSV)", "disagreements")):
        page.locator("summary", has_text="Download").click()
        with page.expect_download() as download:
            page.click(f"text={label}")
        file = f"{project.slug}.{name}.seeds.respiratory.alice-bob.from-{today.isoformat()}.csv"
        assert download.value.suggested_filename == file
        page.reload()
    page.context.close()


@pytest.mark.django_db(transaction=True)
def test_an_old_point_of_the_trend_is_opened_by_keyboard(live_server, chromium, project, seeds):
    page = sign_in(chromium, live_server, "sam")
    page.goto(live_server.url + reverse("agreement", args=[project.slug]))
    page.locator("summary", has_text="The measurements").focus()
    page.keyboard.press("Enter")
    points = page.locator("section[aria-labelledby=trend] tbody th a")
    points.last.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=These are the figures as they were measured")
    assert page.locator("section[aria-labelledby=trend] tbody th a[aria-current=page]").count() == 1
    page.locator("dl.figures a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-places][data-ready]")
    assert "Figures and labels as they were" in page.inner_text("main")
    page.locator("a", has_text="‹ Agreement").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=The figures as they are now")
    page.context.close()


@pytest.mark.django_db(transaction=True)
def test_no_table_or_chart_is_cut_off_in_print(live_server, chromium, project, seeds):
    page = sign_in(chromium, live_server, "sam", color_scheme="light")
    page.goto(live_server.url + reverse("agreement", args=[project.slug]))
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 upright between margins of a centimetre
    page.emulate_media(media="print")
    beyond = page.locator("main table, main svg.chart").evaluate_all(
        "all => all.filter(one => one.getBoundingClientRect().right > window.innerWidth + 1).length"
    )
    assert beyond == 0
    ink = page.locator(".chart [class^=series-] polyline").evaluate_all(
        "all => all.map(one => [getComputedStyle(one).stroke, getComputedStyle(one).strokeDasharray])"
    )
    assert {stroke for stroke, _ in ink} == {"rgb(0, 0, 0)"}
    assert len({dash for _, dash in ink}) == len(ink) == 3
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
