"""Adjudication from the keyboard in Chromium: deciding, editing, writing, undoing, reloading, finishing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.domain.adjudication import Resolution
from annotation.models import GuidelineNote, LabelSet, Status
from annotation.services.adjudication import gold_begin_review
from tests.adjudicating import LABELS_A, Pair, finished, make_pair
from tests.browser import sign_in
from tests.factory import inform
from tests.test_browser_accessibility import expect_accessible

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


class Screen:
    """One dialogue's adjudication page."""

    def __init__(self, page: Page, live_server: Any, pair: Pair) -> None:
        self.page, self.pair = page, pair
        self.url = live_server.url + reverse("adjudicate", args=[pair.dialogue.project.slug, pair.dialogue.pk])
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.set_default_timeout(10_000)

    def open(self, place: str = "") -> Screen:
        self.page.goto("about:blank")
        self.page.goto(self.url + place)
        self.page.wait_for_selector("[data-ready]")
        return self

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def at(self) -> int:
        return int(self.page.locator(".turn[aria-current]").get_attribute("data-position") or -1)

    def saved(self) -> None:
        expect(self.page.locator(".saved")).to_have_attribute("data-saved", "saved")

    def progress(self, text: str) -> None:
        expect(self.page.locator("[data-progress-text]")).to_have_text(text)

    def key_for(self, position: int, side: str) -> str:
        """The key that takes this true side, as it is shown on this utterance."""
        other = {"a": "b", "b": "a"}
        return other[side] if self.pair.case.exchanged(position) else side


@pytest.fixture
def pair(dialogue: Any, people: Any) -> Pair:
    return make_pair(dialogue, people.annotator, people.second)


@pytest.fixture
def screen(chromium: Any, live_server: Any, pair: Pair) -> Iterator[Screen]:
    found = Screen(sign_in(chromium, live_server, "sam"), live_server, pair).open()
    yield found
    assert found.errors == []
    found.page.context.close()


def test_a_dialogue_is_decided_by_keys_alone_and_finished(screen: Screen, pair: Pair) -> None:
    assert screen.at == 3
    screen.progress("0 of 3 conflicts decided")
    screen.press("r")
    screen.page.keyboard.type("he denies it")
    screen.press("Enter", screen.key_for(3, "a"))
    assert screen.at == 5
    screen.press("e")
    screen.page.wait_for_selector(".questions")
    screen.press("Enter")
    assert screen.at == 7
    screen.progress("2 of 3 conflicts decided")
    screen.press("z")
    screen.progress("1 of 3 conflicts decided")
    assert screen.at == 5
    screen.press("t", "x")
    screen.progress("3 of 3 conflicts decided")
    screen.saved()
    assert [(row["status"], row["from"]) for row in pair.gold_at(3)] == [("no", "A")]
    assert [row["from"] for row in pair.gold_at(5)] == ["A", "B"]
    assert pair.gold_at(7) == []
    assert pair.case.row(3, pair.key_at(3)).reason == "he denies it"  # type: ignore[union-attr]
    screen.press("Control+Enter")
    expect(screen.page.locator("[data-status-text]")).to_have_text("done")
    assert pair.gold.status == Status.DONE


def test_what_is_decided_is_there_after_a_reload_and_can_be_changed(screen: Screen, pair: Pair) -> None:
    screen.press(screen.key_for(3, "b"))
    screen.saved()
    screen.open("#u3")
    expect(screen.page.locator(".chosen-side")).to_contain_text("taken")
    screen.press(screen.key_for(3, "a"))
    screen.saved()
    assert [row["from"] for row in pair.gold_at(3)] == ["A"]


def test_a_label_is_edited_and_another_written_with_the_form_of_the_workbench(screen: Screen, pair: Pair) -> None:
    screen.press("e")
    expect(screen.page.locator("[data-editing]")).to_have_text("Editing a copy of A’s label.")
    sides = screen.page.locator("[data-decide-panel] .side")
    assert [side.is_visible() for side in sides.all()] == [True, True]
    field = screen.page.locator('.questions [data-field="status"]')
    field.get_by_label("not sure").check()
    screen.press("Enter")
    screen.saved()
    assert [(row["status"], row["from"]) for row in pair.gold_at(3)] == [("not sure", "edited")]
    screen.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown")
    assert screen.at == 9
    screen.press("n")
    screen.page.locator(".form-slot input").fill("symptom")
    screen.press("Enter")
    screen.page.keyboard.type("gnashing,")
    screen.page.locator('.questions [data-field="status"]').locator('input[value="no"]').check()
    screen.press("Enter")
    expect(screen.page.locator("#u9 .label")).to_contain_text("gnashing")
    screen.saved()
    assert [(row["value"], row["status"], row["from"]) for row in pair.gold_at(9)] == [(["gnashing"], "no", "new")]


def test_what_both_agree_on_is_shown_and_can_be_revoked(screen: Screen, pair: Pair) -> None:
    screen.open("#u1")
    expect(screen.page.locator(".item.agreed")).to_contain_text("Both agree")
    screen.press("x")
    screen.saved()
    assert pair.gold_at(1) == []
    screen.press("a")
    screen.saved()
    assert [row["from"] for row in pair.gold_at(1)] == ["agreed"]


def test_a_changed_label_reopens_its_utterance_and_the_page_says_so(screen: Screen, pair: Pair) -> None:
    screen.press("t")
    screen.saved()
    pair.change(pair.b, 3, inform(3, "symptom", "fever", status="not sure"))
    screen.open("#u3")
    expect(screen.page.locator("[data-changed]")).to_contain_text("u3")
    expect(screen.page.locator(".turn[aria-current] .turn-state")).to_contain_text("open again")
    expect(screen.page.locator(".earlier")).to_contain_text("Before the labels changed: took both by you")


def test_names_are_hidden_until_a_supervisor_asks(screen: Screen, pair: Pair) -> None:
    assert "alice" not in screen.page.content()
    assert "bob" not in screen.page.content()
    screen.page.get_by_role("button", name="Show who A and B are").click()
    names = ["bob", "alice"] if pair.case.exchanged(3) else ["alice", "bob"]
    for name, side in zip(names, screen.page.locator(".item[aria-current] h4").all(), strict=True):
        expect(side).to_contain_text(name)


def test_two_adjudicators_do_not_overwrite_each_other(screen: Screen, pair: Pair, people: Any) -> None:
    pair.decide(people.doctor, 3, "A")
    screen.press("x")
    expect(screen.page.locator("[data-live]")).to_contain_text(
        f"Utterance 3: dora took {pair.as_shown(3, Resolution.A)} meanwhile. Yours (took none) was not saved."
    )
    screen.saved()
    assert [row["from"] for row in pair.gold_at(3)] == ["A"]
    screen.press("]", "x")
    screen.saved()
    assert pair.case.left == 1


def test_of_two_tabs_only_what_both_decided_is_lost_and_what_was_written_comes_back(
    screen: Screen, pair: Pair, people: Any
) -> None:
    pair.decide(people.doctor, 7, "none")
    screen.press("t")  # on 3, of which the doctor knows nothing
    screen.saved()
    expect(screen.page.locator("[data-live]")).to_contain_text("Your decision is saved beside it")
    assert len(pair.gold_at(3)) == 2
    pair.decide(people.doctor, 5, "A")
    assert screen.at == 5
    screen.press("e")
    unsure = screen.page.locator('.questions [data-field="status"]').get_by_label("not sure")
    unsure.check()
    screen.press("Enter")
    expect(screen.page.locator("[data-live]")).to_contain_text("Yours (edited) was not saved")
    expect(unsure).to_be_checked()
    assert [row["from"] for row in pair.gold_at(5)] == ["A"]
    unsure.focus()
    screen.press("Enter")
    screen.saved()
    assert [(row["status"], row["from"]) for row in pair.gold_at(5)] == [("not sure", "edited")]


def test_a_deleted_label_takes_its_decision_along_and_the_page_says_so(screen: Screen, pair: Pair, people: Any) -> None:
    pair.decide(people.doctor, 7, "B")
    pair.change(pair.b, 7, None)
    screen.open("#u7")
    expect(screen.page.locator("[data-changed]")).to_contain_text("leave nothing to decide: u7")
    expect(screen.page.locator(".earlier")).to_contain_text("Before the labels changed: took")
    expect(screen.page.locator("#u7 .turn-state")).to_have_text("changed since it was decided")
    screen.press("]", "t")
    screen.saved()
    screen.open("#u7")
    expect(screen.page.locator(".earlier")).to_contain_text("by dora")
    assert pair.gold_at(7) == []


def test_ones_own_keys_hold_and_are_shown(screen: Screen, pair: Pair) -> None:
    page = screen.page
    page.goto(screen.url.split("/projects/")[0] + "/me/keys/cmas/")
    page.get_by_label("Your key for: Take both").press("F4")
    page.get_by_role("button", name="Save my keys").click()
    screen.open()
    expect(page.locator('[data-choice="both"] kbd')).to_have_text("F4")
    screen.press("t")
    screen.progress("0 of 3 conflicts decided")
    screen.press("?")
    expect(page.locator("dialog")).to_contain_text("F4")
    expect(page.locator("dialog").get_by_role("link", name="Choose your own keys")).to_be_visible()
    screen.press("Escape", "F4")
    screen.saved()
    assert len(pair.gold_at(3)) == 2


def test_a_sample_that_fails_is_said_and_everything_is_looked_at(
    chromium: Any, live_server: Any, dialogue: Any, people: Any
) -> None:
    pair = Pair(dialogue, finished(dialogue, people.annotator, LABELS_A), None)  # type: ignore[arg-type]
    page = sign_in(chromium, live_server, "sam")
    queue = f"{live_server.url}{reverse('adjudication', args=[dialogue.project.slug])}?kind=single"
    page.goto(queue)
    page.get_by_label("Share of the utterances").fill("1")
    page.get_by_role("button", name="Begin the review").click()
    screen = Screen(page, live_server, pair).open()
    screen.progress("0 of 1 label reviewed")
    expect(page.locator("[data-conflicts] li")).to_have_count(1)
    expect(page.locator(".label .from", has_text="not looked at")).to_have_count(3)
    screen.press("x")
    screen.saved()
    expect(page.locator("[data-sample]")).to_contain_text(
        "3 labels outside the sample are gold without having been looked at. Of 1 looked at, 1 was not accepted"
    )
    page.goto(queue)
    expect(page.locator("tbody")).to_contain_text("Sample of 1 %: 1 not accepted as it is. 3 labels not looked at.")
    screen.open()
    page.get_by_role("button", name="Look at all of them").click()
    screen.progress("1 of 4 labels reviewed")
    expect(page.locator("[data-sample]")).to_be_hidden()
    assert LabelSet.objects.get(owner="gold").labels.count() == 0
    screen.press("]", "a", "a", "a")
    screen.progress("4 of 4 labels reviewed")
    screen.press("Control+Enter")
    expect(page.locator("[data-status-text]")).to_have_text("done")
    expect(page.get_by_role("link", name="Next dialogue")).to_be_focused()
    screen.press("Enter")
    expect(page.get_by_role("heading", name="All decided")).to_be_visible()
    assert screen.errors == []
    page.context.close()


def test_a_decision_survives_a_lost_connection(screen: Screen, pair: Pair) -> None:
    screen.page.context.set_offline(True)
    screen.press("t")
    expect(screen.page.locator(".saved")).to_contain_text("not saved, will retry")
    screen.page.context.set_offline(False)
    screen.saved()
    assert len(pair.gold_at(3)) == 2


def test_a_decision_becomes_a_guideline_example(screen: Screen) -> None:
    screen.press("t")
    screen.saved()
    screen.press(",", "g")
    screen.page.get_by_label("Rule").fill("Say whether it is still there.")
    screen.page.get_by_role("button", name="Put it into the guidelines").click()
    expect(screen.page.locator("[data-live]")).to_contain_text("guidelines")
    note = GuidelineNote.objects.get()
    assert (note.slot, note.text) == ("symptom", "Say whether it is still there.")
    assert note.example.startswith("“…” → inform symptom: fever")


def test_an_example_that_repeats_the_dialogue_is_not_published(screen: Screen) -> None:
    screen.press("t")
    screen.saved()
    screen.press(",", "g")
    screen.page.get_by_label("Rule").fill("Say whether it is still there.")
    example = screen.page.get_by_role("textbox", name="Example")
    example.fill("“I've had this cough for about two weeks” → onset")
    screen.page.get_by_role("button", name="Put it into the guidelines").click()
    expect(screen.page.locator("dialog .field-error")).to_contain_text("put it in other words")
    expect(example).to_be_focused()
    assert not GuidelineNote.objects.exists()


def test_a_review_shows_one_side_and_accepts_it(chromium: Any, live_server: Any, dialogue: Any, people: Any) -> None:
    pair = Pair(dialogue, finished(dialogue, people.annotator, LABELS_A), None)  # type: ignore[arg-type]
    gold_begin_review(dialogue=pair.case.dialogue, actor=people.supervisor, share=1)
    screen = Screen(sign_in(chromium, live_server, "sam"), live_server, pair).open()
    screen.progress("0 of 4 labels reviewed")
    screen.press("a", "a", "a", "x")
    screen.progress("4 of 4 labels reviewed")
    screen.press("Control+Enter")
    expect(screen.page.locator("[data-status-text]")).to_have_text("done")
    assert LabelSet.objects.get(owner="gold").labels.count() == 3
    assert screen.errors == []
    screen.page.context.close()


def test_the_pages_have_no_serious_fault_in_light_dark_and_at_200_percent(screen: Screen, live_server: Any) -> None:
    page, slug = screen.page, screen.pair.dialogue.project.slug
    expect_accessible(page, "adjudicating")
    screen.press("t")
    screen.saved()
    screen.press("e")
    expect_accessible(page, "editing")
    screen.press("Escape", "g")
    expect_accessible(page, "a guideline example")
    for query in ("", "?kind=single", "?show=done"):
        page.goto(f"{live_server.url}{reverse('adjudication', args=[slug])}{query}")
        expect_accessible(page, f"the queue {query}")
    page.goto(f"{live_server.url}{reverse('exports', args=[slug])}")
    expect_accessible(page, "exports with gold")


def test_a_form_with_something_typed_is_not_left_by_a_click_or_one_escape(screen: Screen) -> None:
    screen.press("n")
    screen.page.locator(".form-slot input").fill("habit")
    screen.press("Enter")
    screen.page.keyboard.type("snoring,")
    screen.page.locator("#u7").click()
    expect(screen.page.locator("[data-live]")).to_contain_text("before you go elsewhere")
    assert screen.at == 3
    screen.page.locator(".questions input").first.focus()
    screen.press("Escape")
    if screen.page.locator("[role=listbox]:not([hidden])").count():
        screen.press("Escape")
    expect(screen.page.locator(".form-note")).to_contain_text("Esc once more")
    screen.press("Escape")
    expect(screen.page.locator(".questions")).to_have_count(0)
    screen.page.locator("#u7").click()
    assert screen.at == 7
