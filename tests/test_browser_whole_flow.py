"""The whole flow in Chromium, by four people and through pages only: from the training to gold in a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.domain.labels import Label
from annotation.domain.portal_file import dump_labels
from annotation.questionnaires import get_questionnaire
from tests import factory
from tests.browser import sign_in
from tests.factory import inform, inquire
from tests.keyboard import Annotator

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CMAS = get_questionnaire("cmas")
TRAINING, TEST, WORK = "TRAIN-1", "TEST-1", ("RES-1", "RES-2")
COMPLAINTS = {TRAINING: "cough", TEST: "headache", "RES-1": "dizziness", "RES-2": "nausea"}
DISPUTED = 3  # the utterance of the seed on which the two do not agree
ASKED = 1  # the one about which something is asked
WHY = "The patient says since when: that is the onset."
REASON = "Labelled two hundred dialogues in another project."
QUESTION = "Is “two weeks” an onset or a duration?"
ANSWER = "An onset, as long as it goes on."
GUIDELINE = "What still goes on has an onset, never a duration."


def turns(complaint: str) -> list[tuple[str, str]]:
    return [
        ("doctor", "Good morning, what brings you in today?"),
        ("patient", f"I've had this {complaint} for two weeks."),
        ("doctor", "Any fever?"),
        ("patient", "Not that I know of."),
        ("doctor", "Do you smoke?"),
        ("patient", "Yes, every day."),
    ]


def labels(complaint: str, *, fever: str = "no") -> list[Label]:
    return [
        Label(0, "salutations"),
        inform(1, "symptom", complaint, status="yes", onset="two weeks"),
        inquire(2, "symptom", "fever"),
        inform(3, "symptom", "fever", status=fever),
        inquire(4, "habit", "smoking"),
        inform(5, "habit", "smoking", status="yes"),
    ]


class Person:
    """Somebody with a browser of their own."""

    def __init__(self, chromium: Any, live_server: Any, project: Any, username: str) -> None:
        self.page: Page = sign_in(chromium, live_server, username)
        self.home = live_server.url
        self.base = f"{live_server.url}/projects/{project.slug}"
        self.problems: list[str] = []
        self.page.set_default_timeout(10_000)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("response", lambda answer: answer.status >= 400 and self.problems.append(answer.url))

    def go(self, place: str = "") -> Page:
        self.page.goto(f"{self.base}/{place}" if place else self.home)
        return self.page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def link(self, name: str) -> Locator:
        return self.page.get_by_role("link", name=name, exact=True)

    def sees(self, text: str | re.Pattern[str]) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()

    def at_work(self) -> str:
        """Wait for the workbench; says which dialogue it shows."""
        self.page.wait_for_selector("[data-ready]")
        return self.page.get_by_role("heading", level=1).inner_text()

    def enter(self, wanted: Sequence[Label]) -> None:
        """Label by keyboard alone."""
        speakers = {position: speaker for position, (speaker, _) in enumerate(turns(""))}
        Annotator(self.page, CMAS, speakers).enter(list(wanted))
        expect(self.page.locator(".saved")).to_have_attribute("data-saved", "saved")

    def mark_done(self) -> None:
        self.press("Control+Enter")
        expect(self.page.get_by_role("dialog")).to_contain_text("Every utterance has a label.")
        self.press("Tab", "Enter")
        expect(self.page.locator("[data-status-text]")).to_have_text("done")


@pytest.fixture
def cast(chromium: Any, live_server: Any, project: Any, people: Any) -> Iterator[dict[str, Person]]:
    for name, complaint in COMPLAINTS.items():
        factory.make_dialogue(project, name, turns(complaint))
    found = {name: Person(chromium, live_server, project, name) for name in ("sam", "alice", "bob", "dora")}
    expect.set_options(timeout=10_000)
    yield found
    for person in found.values():
        person.page.context.close()


def test_from_the_training_to_gold_in_a_file(cast: dict[str, Person]) -> None:
    sam, alice, bob, dora = cast.values()
    add_exam(sam, TRAINING, "training")
    add_exam(sam, TEST, "the test")
    sees_that_the_test_is_needed(sam)
    is_refused_work(sam, alice)
    train(alice)
    take_the_test(alice)
    let_through(sam, bob)
    seed = divide(sam)
    (other,) = set(WORK) - {seed}
    label_queue(bob, seed, fever="yes")
    label_queue(alice, seed, before_done=lambda: ask_and_be_answered(alice, sam, seed))
    read_the_guideline(bob)
    follow_a_figure_to_the_disagreement(sam, seed)
    adjudicate(dora, seed)
    gold = export_gold(sam, seed)
    assert [(item["uid"], item.get("value"), item.get("status")) for item in gold] == [
        ("0", None, None),
        ("1", COMPLAINTS[seed], "Yes"),
        ("2", "fever", None),
        ("3", "fever", "No"),
        ("4", "smoking", None),
        ("5", "smoking", "Yes"),
    ]
    kept = sam.page.get_by_role("region", name="Gold")
    expect(kept).to_contain_text(seed)
    expect(kept).not_to_contain_text(other)  # which only one person labelled, and nobody has reviewed
    assert {name: person.problems for name, person in cast.items() if person.problems} == {}


# --- qualification ---


def add_exam(sam: Person, name: str, kind: str) -> None:
    """Choose a dialogue, give it gold from a file, and say why one utterance is labelled as it is."""
    page = sam.go("exams/")
    page.get_by_label("Dialogue", exact=True).select_option(f"{name} (6 utterances)")
    page.get_by_label("For", exact=True).select_option(kind)
    sam.button("Add").click()
    sam.sees("The gold is missing.")
    text = dump_labels(CMAS, labels(COMPLAINTS[name])).encode()
    page.get_by_label("Portal file").set_input_files(
        {"name": "gold.json", "mimeType": "application/json", "buffer": text}
    )
    sam.button("Import as gold").click()
    sam.sees("The gold has 6 labels now.")
    page.get_by_label("Why, utterance 1").fill(WHY)
    sam.button("Save explanations").click()
    sam.sees("1 explanation changed.")


def sees_that_the_test_is_needed(sam: Person) -> None:
    page = sam.go("exams/")
    sam.sees("1 test dialogue has gold, so new work goes only to annotators who have passed the test")
    expect(page.locator(".badge", has_text="waits for the test")).to_have_count(2)


def is_refused_work(sam: Person, alice: Person) -> None:
    sam.go("assign/groups/")
    sam.sees("alice, bob: not passed the test yet.")
    page = sam.go("assign/")
    expect(page.get_by_role("checkbox", name=re.compile("^alice"))).to_be_disabled()
    alice.go()
    alice.sees("Before you get real work")
    alice.sees("comes when you have passed")
    expect(alice.link("Start")).to_have_count(0)


def train(alice: Person) -> None:
    alice.button("Start the training").click()
    assert alice.at_work() == TRAINING
    wanted = labels(COMPLAINTS[TRAINING])
    turn = alice.page.locator("#u1")
    alice.enter([wanted[0], wanted[1].with_answers(onset="")])
    expect(alice.page.locator("#u0 .check-verdict")).to_contain_text("As the gold has it")
    expect(turn.locator(".check-verdict")).to_contain_text("Differs from the gold")
    expect(turn.locator(".gold-check")).to_contain_text("two weeks")
    expect(turn.locator(".check-why")).to_have_text(WHY)
    alice.enter(wanted[2:])
    alice.press("/")  # the last one is not left by itself
    expect(alice.page.locator(".gold-check[data-verdict=right]")).to_have_count(5)
    alice.mark_done()


def take_the_test(alice: Person) -> None:
    page = alice.go()
    alice.sees("1 of 1 dialogue done")
    alice.button("Start the test").click()
    alice.link(TEST).click()
    assert alice.at_work() == TEST
    alice.enter(labels(COMPLAINTS[TEST]))
    expect(page.locator(".gold-check")).to_have_count(0)
    alice.link("test, attempt 1").click()
    alice.button("Hand in").click()
    page.get_by_role("dialog").get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Result passed")).to_be_visible()


def let_through(sam: Person, bob: Person) -> None:
    page = sam.go("exams/")
    page.get_by_role("combobox", name="Annotator").select_option("bob")
    page.get_by_label("Reason").fill(REASON)
    sam.button("Let them work").click()
    row = page.get_by_role("region", name="Annotators").get_by_role("row", name=re.compile("^bob"))
    expect(row).to_contain_text("may have work")
    expect(row).to_contain_text(REASON)
    expect(page.get_by_role("button", name="Revoke: bob works without the test")).to_be_visible()
    bob.go("qualification/")
    bob.sees("your supervisor lets you work without the test")


# --- work ---


def divide(sam: Person) -> str:
    """The dialogues into two groups with one seed; says which it is."""
    page = sam.go("assign/groups/")
    page.get_by_label("Seed dialogues").fill("1")
    page.get_by_label("Random seed").fill("11")
    sam.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Make 3 assignments?")
    for summary in page.locator("td summary").all():
        summary.click()
    seeds = page.locator("li", has=page.locator(".badge", has_text="seed")).all_inner_texts()
    (seed,) = {text.split()[0] for text in seeds}
    assert len(seeds) == 2
    assert seed in WORK
    sam.button("Assign").click()
    sam.sees("3 assignments made.")
    return seed


def label_queue(person: Person, seed: str, *, fever: str = "no", before_done: Callable[[], None] | None = None) -> None:
    """One dialogue after the other by keyboard alone; `fever` is what they hear in the seed."""
    person.go()
    person.link("Start").press("Enter")
    done = []
    while "/work/" in person.page.url:
        name = person.at_work()
        person.enter(labels(COMPLAINTS[name], fever=fever if name == seed else "no"))
        assert "seed" not in person.page.content().lower()
        if name == seed and before_done:
            before_done()
        person.mark_done()
        done.append(name)
        before = person.page.url
        expect(person.link("Open the next one")).to_be_focused()
        person.press("Enter")
        person.page.wait_for_url(lambda url, left=before: url.split("#")[0] != left.split("#")[0])
    person.sees("Nothing is left in your queue: all your dialogues are done.")
    assert seed in done


def ask_and_be_answered(alice: Person, sam: Person, seed: str) -> None:
    """Neither page is loaded anew: the question and its answer come by themselves."""
    sam.go("concerns/")
    sam.sees("No concern is open.")
    alice.press("Home", *["ArrowDown"] * ASKED, "!")
    alice.page.keyboard.type(QUESTION)
    alice.press("Enter")
    turn = alice.page.locator(f"#u{ASKED}")
    expect(turn.locator(".concern.open")).to_contain_text(QUESTION)

    link = sam.link(f"{seed}, utterance {ASKED}")
    expect(link).to_be_visible(timeout=20_000)
    link.click()
    sam.page.get_by_role("textbox", name="Answer").fill(ANSWER)
    sam.button("Answer").click()
    sam.page.get_by_role("textbox", name="Guideline").fill(GUIDELINE)
    sam.button("Publish").click()
    sam.sees("Published: it stands")

    expect(turn.locator(".concern.answered")).to_contain_text(ANSWER, timeout=20_000)


def read_the_guideline(bob: Person) -> None:
    """The other annotator reads what was published, and nothing of who asked what."""
    page = bob.go("guidelines/")
    bob.sees(GUIDELINE)
    assert QUESTION not in page.content()
    assert "alice" not in page.content()


# --- agreement, adjudication, gold ---


def follow_a_figure_to_the_disagreement(sam: Person, seed: str) -> None:
    page = sam.go("agreement/")
    figures = page.locator("dl.figures dd")
    # Every intent and value agrees; of five labels with a slot, one has another status.
    expect(figures.nth(0)).to_contain_text("1.000")
    expect(figures.nth(1)).to_contain_text("1.000")
    expect(figures.nth(3)).to_have_text("6")
    compared = page.get_by_role("row").filter(has_text="slot, value and all other answers")
    expect(compared.get_by_role("cell").last).to_contain_text("0.800")
    expect(page.locator("#trend ~ *").first).to_contain_text("One measurement so far")  # kept when both were done
    compared.get_by_role("link", name="0.800").click()
    place = page.locator("[data-place]")
    expect(place).to_have_count(1)
    expect(place).to_contain_text(f"{seed}, utterance {DISPUTED}")
    expect(place.locator(".sides")).to_contain_text("fever (no)")
    expect(place.locator(".sides")).to_contain_text("fever (yes)")
    page.wait_for_selector("[data-places][data-ready]")
    sam.press("j", "a")
    page.wait_for_url(f"**/adjudication/*/#u{DISPUTED}")
    page.wait_for_selector("[data-ready]")
    expect(page.locator(".turn[aria-current]")).to_have_attribute("data-position", str(DISPUTED))


def adjudicate(dora: Person, seed: str) -> None:
    """A third person decides the one conflict by keyboard, without knowing whose label is whose."""
    page = dora.go("adjudication/")
    page.get_by_role("link", name=f"Decide {seed}").press("Enter")
    page.wait_for_selector("[data-ready]")
    expect(page.locator("[data-progress-text]")).to_have_text("0 of 1 conflict decided")
    for name in ("alice", "bob"):
        assert name not in page.content()
    side = {key: page.get_by_label(f"Side {key.upper()}", exact=True).inner_text() for key in "ab"}
    (right,) = [key for key, text in side.items() if text.endswith("− no")]
    dora.press(right)
    expect(page.locator("[data-progress-text]")).to_have_text("1 of 1 conflict decided")
    expect(page.locator(".saved")).to_have_attribute("data-saved", "saved")
    dora.press("Control+Enter")
    expect(page.locator("[data-status-text]")).to_have_text("done")


def export_gold(sam: Person, seed: str) -> list[dict[str, Any]]:
    page = sam.go("exports/")
    with page.expect_download() as waiting:
        page.get_by_role("link", name=f"Download the gold of {seed}").click()
    return json.loads(Path(waiting.value.path()).read_text())
