"""In Chromium: a concern from the key to the guideline, and a question that comes back and is answered."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Concern, ConcernStatus, LabelSet, Project, ReturnedItem, Status
from annotation.services.concerns import concern_answer, concern_raise
from tests import factory
from tests.browser import sign_in
from tests.conftest import People
from tests.factory import inform, inquire
from tests.workbench import Workbench

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "Does a cold count as the onset?"
ANSWER = "Only when the patient says it began then."
GUIDELINE = "An illness before it is no onset."


@pytest.fixture
def work(chromium: Any, live_server: Any, people: People, label_set: LabelSet) -> Workbench:
    factory.make_labels(
        label_set,
        inquire(2, "symptom", "fever"),
        inform(3, "symptom", "fever"),
        inform(5, "symptom", "cough", status="yes"),
    )
    return Workbench(sign_in(chromium, live_server, "alice"), live_server, label_set).open(5)


@pytest.fixture
def supervisor(chromium: Any, live_server: Any, people: People) -> Page:
    page = sign_in(chromium, live_server, "sam")
    page.set_default_timeout(10_000)
    return page


def picture(page: Page, name: str) -> None:
    """Kept where somebody wants to look at them."""
    folder = os.environ.get("PORTAL_SCREENSHOTS", "")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def test_from_the_key_to_the_guideline(
    work: Workbench, supervisor: Page, live_server: Any, project: Project, chromium: Any
):
    base = f"{live_server.url}/projects/{project.slug}"
    supervisor.goto(f"{base}/concerns/")
    expect(supervisor.get_by_text("No concern is open")).to_be_visible()

    work.press("ArrowRight", "!")  # on the label
    expect(work.page.locator("dialog")).to_contain_text("the label “inform symptom")
    work.press("Enter")
    expect(work.page.locator("dialog[open] .field-error")).to_have_text("Write what you would like to know.")
    work.type(QUESTION)
    work.press("Shift+Enter")
    work.type("I think not.")
    picture(work.page, "concern-dialog")
    work.press("Enter")
    expect(work.page.locator("dialog")).to_have_count(0)
    expect(work.turn(5).locator(".concern.open")).to_contain_text(QUESTION)
    concern = Concern.objects.get()
    assert concern.text == f"{QUESTION}\nI think not."
    assert concern.label_id == str(work.label_set.labels.get(utterance__position=5).pk)

    # The supervisor's page was not touched.
    link = supervisor.get_by_role("link", name="RES-TEST, utterance 5")
    expect(link).to_be_visible()
    expect(supervisor.locator("#concerns-said")).to_contain_text("1 open")
    picture(supervisor, "concerns")
    link.click()
    supervisor.get_by_role("textbox", name="Answer").fill(ANSWER)
    supervisor.get_by_role("button", name="Answer").click()
    supervisor.get_by_role("textbox", name="Guideline").fill(GUIDELINE)
    picture(supervisor, "concern")
    supervisor.get_by_role("button", name="Publish").click()
    expect(supervisor.get_by_text("Published: it stands")).to_be_visible()

    # Nor was the annotator's: the page asks every few seconds.
    expect(work.turn(5).locator(".concern.answered")).to_contain_text(ANSWER, timeout=20_000)
    work.press("q")
    expect(work.page.locator("dialog")).to_contain_text(GUIDELINE, timeout=20_000)
    work.press("Escape")
    picture(work.page, "concern-answered")
    work.page.get_by_role("button", name="Understood").press("Enter")
    expect(work.turn(5).locator(".concern.closed")).to_contain_text(ANSWER)
    assert work.focused_turn == 5
    assert Concern.objects.get().status == ConcernStatus.CLOSED
    assert work.errors == []

    other = sign_in(chromium, live_server, "bob")
    other.goto(f"{base}/guidelines/#slot-symptom")
    expect(other.locator("#slot-symptom")).to_contain_text(GUIDELINE)
    assert QUESTION not in other.content()


def test_what_was_written_survives_escape_and_a_lost_connection(work: Workbench):
    work.press("!")
    work.type(QUESTION)
    work.press("Escape", "!")
    expect(work.page.locator("dialog[open] textarea")).to_have_value(QUESTION)
    work.page.route("**/concerns/", lambda route: route.abort())
    work.press("Enter")
    expect(work.page.locator("dialog[open] .field-error")).to_contain_text("could not be sent")
    work.page.unroute("**/concerns/")
    work.press("Enter")
    expect(work.turn(5).locator(".concern.open")).to_contain_text(QUESTION)
    assert Concern.objects.count() == 1


def test_a_question_comes_back_is_answered_and_the_dialogue_is_done_again(
    work: Workbench, supervisor: Page, live_server: Any, project: Project
):
    LabelSet.objects.update(
        status=Status.DONE, unlabelled_reasons={str(n): "nothing to label" for n in (0, 1, 4, 6, 7, 8, 9)}
    )
    work.reload()
    supervisor.goto(f"{live_server.url}/projects/{project.slug}/completeness/")
    expect(supervisor.get_by_text("10.00 %").first).to_be_visible()
    supervisor.get_by_label("Tick all on this page").check()
    supervisor.get_by_label("Add a sentence").fill("Ask yourself.")
    picture(supervisor, "completeness")
    supervisor.get_by_role("button", name="Return the ticked ones (1)").click()
    expect(supervisor.get_by_text("1 question returned")).to_be_visible()

    # The annotator's page was done and read only; it opens by itself.
    question = work.page.locator("[data-returned]")
    expect(question).to_contain_text(
        "u3: Symptom “fever” has no status. Which one applies? Ask yourself.", timeout=20_000
    )
    expect(work.page.locator("[data-status-text]")).to_have_text("returned · 1 question left")
    picture(work.page, "returned")
    question.get_by_role("link").click()
    work.press("Enter")
    picture(work.page, "returned-form")
    assert work.focused_field == "status"  # the digit answers what is missing
    work.press("2", "Enter")
    expect(question).to_be_hidden()
    assert work.at(3) == [{"intent": "inform", "slot": "symptom", "value": ["fever"], "status": "no"}]
    work.expect_said("All questions that came back to you are answered.")
    assert ReturnedItem.objects.get().resolved_at
    expect(work.page.locator("[data-status-text]")).to_have_text("in progress")
    work.press("Control+Enter")
    work.page.locator("dialog").get_by_role("button", name="Mark as done").click()
    expect(work.page.locator("[data-status-text]")).to_have_text("done")

    supervisor.reload()
    expect(supervisor.get_by_text("0.00 %", exact=True)).to_be_visible()
    expect(supervisor.get_by_text("Nothing is incomplete")).to_be_visible()
    assert work.errors == []


def test_the_annotator_replies_and_both_pages_update_by_themselves(
    work: Workbench, supervisor: Page, live_server: Any, project: Project, people: People
):
    concern = concern_raise(label_set=work.label_set, actor=people.annotator, position=5, text=QUESTION, key="k")
    concern_answer(concern=concern, actor=people.doctor, text=ANSWER)
    supervisor.goto(f"{live_server.url}/projects/{project.slug}/concerns/{concern.pk}/")
    supervisor.get_by_role("textbox", name="Answer").fill("half an ans")
    work.reload()
    expect(work.turn(5).locator(".concern.answered")).to_contain_text(ANSWER)
    work.press(";")
    expect(work.page.locator("dialog")).to_contain_text(ANSWER)
    work.type("That is not what I meant.")
    picture(work.page, "concern-reply")
    work.press("Enter")
    expect(work.turn(5).locator(".concern.open")).to_contain_text("You: That is not what I meant.")

    expect(supervisor.locator("#thread .reply")).to_contain_text("That is not what I meant.")
    expect(supervisor.locator("#concern-status")).to_have_text("open")
    answer = supervisor.get_by_role("textbox", name="Answer")
    expect(answer).to_have_value("half an ans")  # what is being typed stays
    picture(supervisor, "concern-thread")
    answer.fill("Then it is one.")
    supervisor.get_by_role("button", name="Answer").click()
    expect(work.turn(5).locator(".concern.answered")).to_contain_text("Then it is one.", timeout=20_000)
    work.page.get_by_role("button", name="Understood").press("Enter")
    expect(supervisor.locator("#concern-status")).to_have_text("closed")
    work.page.get_by_role("button", name="Raise it again").press("Enter")
    work.type("One more thing.")
    work.press("Enter")
    expect(work.turn(5).locator(".concern.open")).to_contain_text("One more thing.")
    expect(supervisor.locator("#concern-status")).to_have_text("open")
    assert work.errors == []


def test_a_returned_question_and_its_gap_are_one_entry(work: Workbench, people: People):
    label = work.label_set.labels.get(utterance__position=3)
    gap = work.page.locator("[data-problems] .incomplete")
    expect(gap).to_contain_text("fever")
    ReturnedItem.objects.create(
        label_set=work.label_set,
        utterance=label.utterance,
        label_id=str(label.pk),
        rule="status",
        question="Symptom “fever” has no status. Which one applies?",
        returned_by=people.supervisor,
    )
    work.reload()
    question = work.page.locator("[data-returned] li")
    expect(question).to_have_text("↩ returned: u3: Symptom “fever” has no status. Which one applies?")
    expect(gap).to_have_count(0)
    expect(work.page.get_by_text("Nothing contradictory")).to_have_count(0)
    picture(work.page, "to-look-at")
    question.get_by_role("link").click()
    work.press("Enter")
    work.page.locator('.questions [data-field="value"] .chosen button').first.click()
    work.type("chills,")
    work.press("Enter")
    expect(question).to_contain_text("Now: symptom “chills” has no status.")
    expect(gap).to_have_count(0)
    assert work.errors == []


def test_enter_on_a_returned_utterance_opens_the_label_that_is_asked_about(work: Workbench, people: People):
    """The doctor's question before it, which nobody answered here, does not come in between."""
    factory.make_labels(work.label_set, inquire(2, "medical history", "asthma"), inform(7, "symptom", "chills"))
    for position in (3, 7):
        label = work.label_set.labels.get(utterance__position=position)
        ReturnedItem.objects.create(
            label_set=work.label_set,
            utterance=label.utterance,
            label_id=str(label.pk),
            rule="status",
            question="It has no status. Which one applies?",
            returned_by=people.supervisor,
        )
    work.page.goto("about:blank")
    work.open(0)
    expect(work.turn(3).locator(".turn-returned")).to_contain_text("A question waits: It has no status.")
    expect(work.page.locator("[data-look]")).to_have_text("2 to look at")
    work.press("-")
    assert work.current == 3
    expect(work.turn(3).locator("[data-hint]")).to_have_text("Asked: asthma · y yes · n no · u not sure")
    work.press("ArrowLeft", "Enter")  # on the utterance itself
    expect(work.page.locator("[data-form-title]")).to_contain_text("Edit a label")
    assert (work.chosen(), work.focused_field) == (["fever"], "status")
    picture(work.page, "returned-inline")
    work.press("1", "Enter")
    expect(work.turn(3).locator(".turn-returned")).to_have_count(0)
    expect(work.page.locator("[data-status-text]")).to_contain_text("1 question left")
    work.press("-")
    assert work.current == 7
    work.press("-")  # after the last, the first: here the same one
    assert work.current == 7
    assert work.errors == []


def test_a_digit_is_never_taken_for_a_symptom_by_accident(work: Workbench):
    work.press("ArrowRight", "Enter")  # a label that has everything: the cursor is in its value
    assert work.focused_field == "value"
    work.press("2", "Enter")
    expect(work.field("value").locator(".field-error")).to_have_text(
        "“2” is only a digit; Tab goes to the answers, Enter once more takes it as a value."
    )
    work.press("Tab")
    expect(work.field("value").locator(".field-error")).to_have_text("“2” is only a digit and was left out.")
    work.press("Shift+Tab")
    work.press("Enter")
    assert work.at(5)[0]["value"] == ["cough"]
    work.go_to(5)
    work.press("ArrowRight", "Enter", "2", "Enter", "Enter")
    assert work.at(5)[0]["value"] == ["cough", "2"]
    assert work.errors == []


def test_what_is_left_is_counted_when_a_dialogue_is_finished(work: Workbench):
    factory.make_labels(work.label_set, inform(7, "symptom", "cough", status="no"))
    work.reload()
    work.press("Control+Enter")
    expect(work.page.locator("dialog .notice")).to_have_text(
        "Still there: 1 contradiction, 1 missing answer in labels; see “To look at”."
    )
    expect(work.page.locator("dialog")).to_contain_text("until your supervisor locks it")
