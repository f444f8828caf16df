"""Training with feedback and a test handed in, in Chromium."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import LabelSet, TestAttempt
from annotation.services.exams import explanations_write
from annotation.services.qualification import attempt_hand_in, attempt_label_sets, attempt_start, training_start
from tests.browser import sign_in
from tests.qualifying import GOLD, fill, finish, make_test, make_training
from tests.test_browser_accessibility import expect_accessible
from tests.workbench import Workbench

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PICTURES = os.environ.get("PORTAL_PICTURES", "")


def picture(page: Any, name: str) -> None:
    """Keep what is seen, for somebody who wants to look at it."""
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png")


@pytest.fixture
def training(project, people) -> LabelSet:
    exam = make_training(project, people.supervisor)
    explanations_write(dialogue=exam.dialogue, texts={1: "The patient says since when: <b>onset</b>."})
    (label_set,) = training_start(project=project, annotator=people.annotator)
    return label_set


def test_training_says_what_matches_what_differs_and_why_once_an_utterance_is_left(
    chromium, live_server, training
) -> None:
    bench = Workbench(sign_in(chromium, live_server, "alice"), live_server, training)
    asked: list[str] = []
    bench.page.on("request", lambda request: asked.append(request.url) if "/check/" in request.url else None)
    bench.open()
    check = bench.page.locator(".gold-check")

    # Before it is labelled, nothing is asked for and nothing is shown.
    bench.press("/")
    bench.expect_said("Label an utterance first")
    assert asked == []

    # A greeting, right: said as soon as the next utterance is reached.
    bench.press("g")
    expect(bench.turn(0).locator(".check-verdict")).to_contain_text("As the gold has it")
    expect(bench.page.locator("[data-live]")).to_contain_text("u0:")
    assert bench.focused_turn == 1

    # A symptom without its onset: what differs, the gold and why; the explanation's markup is text.
    bench.press("s")
    bench.type("cough")
    bench.press("Shift+Enter")
    bench.expect_saved()
    assert check.count() == 1  # still on it: it could get another label
    bench.press("ArrowDown")
    expect(bench.turn(1).locator(".check-verdict")).to_contain_text("Differs from the gold")
    expect(bench.turn(1).locator(".gold-check")).to_contain_text("two weeks")
    expect(bench.turn(1).locator(".check-why")).to_have_text("The patient says since when: <b>onset</b>.")
    picture(bench.page, "training")

    # Undone, the utterance has no label any more, and what was said of it goes.
    bench.press("z")
    expect(bench.turn(1).locator(".gold-check")).to_have_count(0)
    assert bench.current == 1

    # What another tab corrected meanwhile is compared by the key, at once.
    fill(LabelSet.objects.get(pk=training.pk), GOLD[:2])
    bench.open(1)
    bench.press("/")
    expect(bench.turn(1).locator(".check-verdict")).to_contain_text("As the gold has it")
    assert {int(url.split("position=")[1]) for url in asked} == {0, 1}

    # The last utterance is never left: it is compared when it is saved.
    bench.go_to(9)
    bench.press("g")
    expect(bench.turn(9).locator(".check-verdict")).to_contain_text("As the gold has it")

    # An utterance that was left without a label for a reason is compared once the dialogue is done.
    bench.expect_saved()
    finish(LabelSet.objects.get(pk=training.pk))
    bench.open(8)
    bench.press("/")
    expect(bench.turn(8).locator(".gold-check")).to_contain_text("only the gold has “nod”")
    assert bench.errors == []
    bench.page.context.close()


def test_a_test_is_taken_handed_in_and_read_with_feedback(chromium, live_server, project, people) -> None:
    make_test(project, people.supervisor)
    page = sign_in(chromium, live_server, "alice")
    expect(page.get_by_role("heading", name="Before you get real work: Chest clinic")).to_be_visible()
    page.get_by_role("button", name="Start the test").click()
    page.get_by_role("link", name="TEST-1").click()
    page.wait_for_selector("[data-ready]")
    expect(page.get_by_role("link", name="test, attempt 1")).to_be_visible()
    assert page.get_by_role("button", name="Check").count() == 0
    page.keyboard.press("g")
    expect(page.locator(".saved")).to_have_attribute("data-saved", "saved")
    page.keyboard.press("/")
    expect(page.locator("[data-live]")).to_contain_text("in training only")
    attempt = attempt_start(project=project, annotator=people.annotator)
    (label_set,) = attempt_label_sets(attempt)
    fill(label_set, GOLD[:9])

    page.get_by_role("link", name="test, attempt 1").click()
    expect(page.locator(".step", has_text="Test")).to_contain_text("1 utterance has no label")
    picture(page, "steps")
    # Marking the dialogue as done leads to handing in.
    page.get_by_role("link", name="TEST-1").click()
    page.wait_for_selector("[data-ready]")
    page.keyboard.press("Control+Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("handed in as a whole")
    expect(dialog).not_to_contain_text("until your supervisor locks it")
    dialog.get_by_label("Reason for utterance 9").select_option(index=1)
    dialog.get_by_role("button", name="Mark as done, then hand in").click()
    expect(page.get_by_role("button", name="Hand in")).to_be_visible()
    page.get_by_role("button", name="Hand in").click()
    page.get_by_role("dialog").get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Result passed")).to_be_visible()
    assert TestAttempt.objects.get().passed is True
    picture(page, "result")

    sam = sign_in(chromium, live_server, "sam")
    sam.goto(live_server.url + reverse("exams", args=[project.slug]))
    picture(sam, "exams")
    sam.get_by_role("link", name="Attempt 1").click()
    sam.get_by_label("Feedback on utterance 9 of TEST-1").fill("Thanks are a greeting too.")
    picture(sam, "review")
    sam.get_by_role("button", name="Save feedback on TEST-1").click()
    expect(sam.get_by_text("Feedback on 1 utterance of TEST-1 saved.")).to_be_visible()

    page.reload()
    expect(page.get_by_text("Thanks are a greeting too.")).to_be_visible()
    picture(page, "feedback")
    sam.context.close()
    page.context.close()


def test_the_pages_have_no_serious_fault(chromium, live_server, project, people, training) -> None:
    exam = make_test(project, people.supervisor)
    LabelSet.objects.filter(pk=training.pk).update(status="done")
    attempt = attempt_start(project=project, annotator=people.annotator)
    fill(attempt_label_sets(attempt)[0], GOLD[:4])
    page = sign_in(chromium, live_server, "alice")
    expect_accessible(page, "home with a test under way")
    attempt_hand_in(attempt=attempt)
    attempt_start(project=project, annotator=people.annotator)
    results = reverse("attempt", args=[project.slug, attempt.pk])
    for path in ("/", reverse("qualification", args=[project.slug]), f"{results}?show=all"):
        page.goto(live_server.url + path)
        expect_accessible(page, path)
    page.context.close()
    page = sign_in(chromium, live_server, "sam")
    exam_page = reverse("exam", args=[project.slug, exam.pk])
    for path in (reverse("exams", args=[project.slug]), exam_page, results):
        page.goto(live_server.url + path)
        expect_accessible(page, path)
    page.context.close()


def test_training_in_the_workbench_has_no_serious_fault(chromium, live_server, training) -> None:
    bench = Workbench(sign_in(chromium, live_server, "alice"), live_server, training).open()
    bench.press("g", "s")
    bench.type("fever")
    bench.press("Enter")
    expect(bench.page.locator(".gold-check")).to_have_count(2)
    expect_accessible(bench.page, "training")
    bench.page.context.close()


@pytest.mark.parametrize("purpose", ["training", "test"])
def test_the_head_of_the_workbench_stands_in_one_row(chromium, live_server, project, people, training, purpose) -> None:
    label_set = training
    if purpose == "test":
        finish(training)
        make_test(project, people.supervisor)
        (label_set,) = attempt_label_sets(attempt_start(project=project, annotator=people.annotator))
    type(label_set.dialogue).objects.filter(pk=label_set.dialogue_id).update(external_id="DEMO-TRAINING")
    page = sign_in(chromium, live_server, "alice", viewport={"width": 1366, "height": 768})
    Workbench(page, live_server, label_set).open().press("g")
    expect(page.locator("[data-status-text]")).to_have_text("in progress")
    expect(page.locator(".saved")).to_have_text(re.compile(r"saved \d\d:\d\d"))
    picture(page, f"head-{purpose}")
    assert page.locator(".work-head").bounding_box()["height"] < 48
    page.context.close()
