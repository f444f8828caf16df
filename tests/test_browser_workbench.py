"""A day at the workbench in Chromium: labels by keys alone, reload, undo, a conflict, a lost connection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.domain.labels import Label
from annotation.models import LabelEvent, LabelSet
from annotation.questionnaires import get_questionnaire
from tests import factory
from tests.browser import sign_in
from tests.factory import inform, inquire
from tests.keyboard import Annotator
from tests.workbench import Workbench, plain, workbench

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Written for this test.
TALK = [
    ("doctor", "Hello, I'm one of the doctors here. What is the matter?"),
    ("patient", "My right knee hurts, since I fell off a ladder on Sunday."),
    ("doctor", "I see."),
    ("patient", "And it is swollen."),
    ("doctor", "Is the pain sharp or dull?"),
    ("patient", "Rather dull, not sharp."),
    ("doctor", "On a scale from 0 to 10?"),
    ("patient", "I'd say a 7 when I walk."),
    ("doctor", "Any fever?"),
    ("patient", "No."),
    ("doctor", "Any weight loss or night sweats?"),
    ("patient", "Not that I know of."),
    ("doctor", "Okay."),
    ("patient", "I had gout some years ago."),
    ("doctor", "Do you take any medication?"),
    ("patient", "Only paracetamol, since Sunday."),
    ("doctor", "Does it help?"),
    ("patient", "A little."),
    ("doctor", "Do you smoke?"),
    ("patient", "Yes."),
    ("doctor", "How much?"),
    ("patient", "Ten cigarettes a day."),
    ("doctor", "Does arthritis run in your family?"),
    ("patient", "My mother had it."),
    ("doctor", "Thank you, that helps."),
    ("patient", "Thanks."),
]
LABELS = [
    Label(0, "salutations"),
    inform(1, "symptom", "pain", status="yes", location=["knee(R)"], onset="since I fell off a ladder on Sunday"),
    Label(2, "nod_prompt"),
    inform(3, "symptom", "swelling", status="yes"),
    inquire(4, "symptom", "pain", checks=["characteristics"]),
    inform(
        5,
        "symptom",
        "pain",
        status="yes",
        characteristics=[{"value": "dull", "rating": "yes"}, {"value": "sharp", "rating": "no"}],
    ),
    inquire(6, "symptom", "pain", checks=["severity"]),
    inform(7, "symptom", "pain", status="yes", severity="7"),
    inquire(8, "symptom", "fever"),
    inform(9, "symptom", "fever", status="no"),
    inquire(10, "symptom", "weight loss", "night sweats"),
    inform(11, "symptom", "weight loss", "night sweats", status="not sure"),
    Label(12, "nod_prompt"),
    inform(13, "medical history", "gout", status="suffered in the past", starting="some years ago"),
    inquire(14, "medication"),
    inform(15, "medication", "paracetamol", status="currently taking", start="since Sunday"),
    inquire(16, "medication", "paracetamol", checks=["impact"]),
    inform(17, "medication", "paracetamol", status="currently taking", impact="maybe"),
    inquire(18, "habit", "smoking"),
    inform(19, "habit", "smoking", status="yes"),
    inquire(20, "habit", "smoking", checks=["frequency"]),
    inform(21, "habit", "smoking", status="yes", frequency="Ten cigarettes a day"),
    inquire(22, "family history", "arthritis"),
    inform(23, "family history", "arthritis", status="yes", relation="mother"),
    Label(24, "salutations"),
]


@pytest.fixture
def knee(people: Any, project: Any) -> LabelSet:
    return factory.make_label_set(factory.make_dialogue(project, "KNEE-1", TALK), people.annotator)


@pytest.fixture
def bench(chromium: Any, live_server: Any, knee: LabelSet) -> Iterator[Workbench]:
    bench = workbench(chromium, live_server, knee)
    yield bench
    bench.page.context.close()
    assert bench.errors == []


def no_doubles(label_set: LabelSet) -> None:
    """No label is there twice, no request was carried out twice, and versions have no gap."""
    label_set.refresh_from_db()
    keys = Counter(LabelEvent.objects.filter(label_set=label_set).values_list("key", flat=True))
    assert [key for key, count in keys.items() if count > 1] == []
    assert list(label_set.events.order_by("sequence").values_list("sequence", flat=True)) == list(
        range(1, label_set.version + 1)
    )


def test_a_dialogue_labelled_by_keys_alone_survives_reload_undo_conflict_and_a_lost_connection(
    bench: Workbench, live_server, knee
) -> None:
    # 25 utterances, by keys.
    bench.open()
    annotator = Annotator(bench.page, get_questionnaire("cmas"), dict(enumerate(speaker for speaker, _ in TALK)))
    annotator.enter(LABELS)
    assert [(label.position, plain(label)) for label in bench.stored] == [
        (label.position, plain(label)) for label in LABELS
    ]
    expect(bench.page.locator("[data-progress-text]")).to_have_text("25 of 26 labelled")

    # A reload shows the same; undo and redo work after it.
    bench.reload()
    assert len(bench.page.locator(".turn .label").all()) == 25
    bench.press("z", "z")
    assert [label.position for label in bench.stored] == list(range(23))
    assert bench.current == 23
    bench.press("Shift+Z")
    assert [plain(label) for label in bench.stored] == [plain(label) for label in LABELS[:24]]
    assert bench.events[-3:] == ["undo", "undo", "redo"]

    # A second tab labels meanwhile; both versions are shown, and both can be kept.
    other = bench.another_tab(live_server, 24)
    other.press("g")
    other.expect_saved()
    bench.go_to(25)
    bench.press("g")
    dialog = bench.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Changed elsewhere")
    expect(dialog.locator("section", has_text="Your change")).to_contain_text("u25: + greeting")
    expect(dialog.locator("section", has_text="Changed meanwhile")).to_contain_text("u24: + greeting")
    dialog.get_by_role("button", name="Save mine as well").press("Enter")
    assert (bench.at(24), bench.at(25)) == ([{"intent": "salutations"}], [{"intent": "salutations"}])
    assert bench.labels_shown(24) == ["greeting"]

    # The other way: this time theirs is kept.
    other.press("o")
    expect(other.page.get_by_role("dialog")).to_contain_text("u25: + greeting")
    other.page.get_by_role("button", name="Keep theirs, drop mine").press("Enter")
    assert bench.at(25) == [{"intent": "salutations"}]
    assert other.labels_shown(25) == ["greeting"]
    other.page.close()

    # The connection is lost during a save, and comes back.
    bench.go_to(24)
    bench.page.context.set_offline(True)
    bench.press("o")
    expect(bench.page.locator(".saved")).to_contain_text("not saved, will retry (1 waiting)")
    assert bench.labels_shown(24) == ["greeting", "nod saving…"]
    assert len(knee.events.all()) == len(bench.events)
    before = len(bench.events)
    bench.page.context.set_offline(False)
    bench.expect_saved()
    assert bench.at(24) == [{"intent": "salutations"}, {"intent": "nod_prompt"}]
    assert len(bench.events) == before + 1

    # The portal stores a save, but its answer is lost on the way.
    lose_one_answer(bench)
    bench.go_to(25)
    bench.press("o")
    expect(bench.page.locator(".saved")).to_contain_text("not saved, will retry")
    bench.expect_saved()
    assert bench.at(25) == [{"intent": "salutations"}, {"intent": "nod_prompt"}]
    assert len(bench.events) == before + 2

    assert [plain(label) for label in bench.stored if label.position < 24] == [plain(label) for label in LABELS[:24]]
    no_doubles(knee)
    assert bench.kept_in_browser() == {}


def lose_one_answer(bench: Workbench) -> None:
    """The next save reaches the portal, and nothing comes back."""

    def lose(route: Any) -> None:
        route.fetch()
        route.abort()

    bench.page.route("**/changes/", lose, times=1)


def test_a_conflict_that_is_left_undecided_keeps_both_sides_until_it_is_decided(bench, live_server) -> None:
    bench.open()
    other = bench.another_tab(live_server)
    other.press("g")
    other.expect_saved()
    bench.page.context.set_offline(True)
    bench.press("o", "o")
    expect(bench.page.locator(".saved")).to_contain_text("2 waiting")
    bench.page.context.set_offline(False)
    expect(bench.page.get_by_role("dialog")).to_contain_text("Changed elsewhere")
    # Keys pressed on, in ignorance of the dialog, decide nothing.
    bench.press("Enter", "g")
    expect(bench.page.get_by_role("dialog")).to_be_visible()
    bench.press("Escape")
    bench.expect_said("decide which version")
    expect(bench.page.locator(".saved")).to_contain_text("not saved (2 waiting)")
    bench.page.get_by_role("button", name="try again").click()
    bench.page.get_by_role("button", name="Save mine as well").click()
    assert [label.intent for label in bench.stored] == ["salutations", "nod_prompt", "nod_prompt"]


def test_an_answer_that_was_lost_while_another_browser_saved_does_not_hide_what_that_one_saved(
    bench, live_server, knee, chromium
) -> None:
    bench.open()
    # Another browser: a tab of the same one would send what waits here itself, sooner or later than this one.
    other = Workbench(sign_in(chromium, live_server, "alice"), live_server, bench.label_set).open(2)

    def lose(route: Any) -> None:
        route.fetch()
        other.reload()
        other.go_to(2)
        other.press("o")
        other.expect_saved()
        route.abort()

    bench.page.route("**/changes/", lose, times=1)
    bench.press("g")
    expect(bench.turn(2).locator(".label")).to_have_text("nod")
    assert [label.position for label in bench.stored] == [0, 2]
    bench.press("ArrowUp", "o")
    assert len(bench.stored) == 3
    no_doubles(knee)


def test_two_tabs_that_send_the_same_waiting_labels_store_them_once(bench, live_server, knee) -> None:
    bench.open()
    bench.page.context.set_offline(True)
    bench.press("g")
    bench.press("ArrowDown", "o")
    expect(bench.page.locator(".saved")).to_contain_text("2 waiting")
    bench.page.context.set_offline(False)
    other = bench.another_tab(live_server)
    other.expect_saved()
    bench.expect_saved()
    assert [label.intent for label in bench.stored] == ["salutations", "nod_prompt"]
    assert len(bench.events) == 2
    no_doubles(knee)
    assert bench.kept_in_browser() == {}


def test_labels_that_wait_survive_a_reload(bench, knee) -> None:
    bench.open()
    bench.page.route("**/changes/", lambda route: route.abort())
    bench.press("g")
    expect(bench.page.locator(".saved")).to_contain_text("will retry")
    bench.page.once("dialog", lambda dialog: dialog.accept())
    bench.reload()
    assert bench.labels_shown(0) == ["greeting saving…"]
    bench.page.unroute("**/changes/")
    bench.page.get_by_role("button", name="try again").click()
    assert [label.intent for label in bench.stored] == ["salutations"]
    assert len(bench.events) == 1


def test_leaving_is_only_questioned_while_something_is_unsaved(bench) -> None:
    bench.open()
    questions: list[str] = []
    bench.page.on("dialog", lambda dialog: (questions.append(dialog.type), dialog.accept()))
    bench.press("g")
    bench.expect_saved()
    bench.press("s")
    bench.type("pain")
    bench.reload()
    assert questions == []
    bench.page.route("**/changes/", lambda route: route.abort())
    bench.press("Enter")
    expect(bench.page.locator(".saved")).to_contain_text("will retry")
    bench.reload()
    assert questions == ["beforeunload"]


def test_somebody_signed_out_meanwhile_keeps_their_labels_and_is_told(bench, live_server, people) -> None:
    bench.open()
    cookies = bench.page.context.cookies()
    bench.page.context.clear_cookies()
    bench.press("g", "o")
    bench.expect_said("You are signed out")
    expect(bench.page.locator(".saved")).to_contain_text("not saved (2 waiting)")
    # Signing in in another tab brings a new token, which the old page must take up.
    tab = bench.page.context.new_page()
    tab.goto(f"{live_server.url}/sign-in/")
    tab.fill("input[name=username]", "alice")
    tab.fill("input[name=password]", factory.PASSWORD)
    tab.press("input[name=password]", "Enter")
    tab.wait_for_url(lambda url: "/sign-in/" not in url)
    assert {cookie["name"] for cookie in cookies} == {cookie["name"] for cookie in bench.page.context.cookies()}
    bench.page.get_by_role("button", name="try again").click()
    assert [label.intent for label in bench.stored] == ["salutations", "nod_prompt"]


@pytest.mark.parametrize("storage", ["full", "blocked"])
def test_the_page_works_without_a_storage(bench, storage) -> None:
    bench.page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
        if storage == "full"
        else "Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked'); } });"
    )
    bench.open()
    bench.press("g", "s")
    bench.type("pain")
    bench.press("Escape", "Escape")
    bench.press("Enter")
    assert bench.chosen() == ["pain"]
    bench.press("Enter")
    assert [label.slot for label in bench.stored] == ["", "symptom"]


def test_a_save_that_waits_and_that_no_storage_keeps_says_so(bench) -> None:
    bench.page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
    )
    bench.open()
    bench.page.context.set_offline(True)
    bench.press("g")
    bench.expect_said("not saved, will retry (1 waiting; keep this page open)")
    bench.page.context.set_offline(False)
    assert [label.intent for label in bench.stored] == ["salutations"]


def test_a_form_that_no_storage_keeps_is_asked_about_before_it_is_lost(bench) -> None:
    bench.page.add_init_script(
        "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
    )
    bench.open()
    questions: list[str] = []
    bench.page.on("dialog", lambda dialog: (questions.append(dialog.type), dialog.accept()))
    bench.press("s")
    bench.type("pain")
    bench.reload()
    assert questions == ["beforeunload"]


def test_signing_out_leaves_no_draft_behind(bench) -> None:
    bench.open()
    bench.press("s")
    bench.type("pain")
    bench.page.wait_for_timeout(300)
    assert "pain" in str(bench.kept_in_browser())
    sign_out(bench)
    bench.page.wait_for_url("**/sign-in/")
    assert bench.kept_in_browser() == {}


@pytest.mark.parametrize(("button", "kept"), [("Sign out, keep them here", 1), ("Sign out and delete them", 0)])
def test_unsaved_labels_are_asked_about_before_signing_out(bench, button, kept) -> None:
    bench.open()
    bench.page.route("**/changes/", lambda route: route.abort())
    bench.press("g")
    expect(bench.page.locator(".saved")).to_contain_text("will retry")
    sign_out(bench)
    dialog = bench.page.get_by_role("dialog")
    expect(dialog).to_contain_text("One change is not saved yet")
    dialog.get_by_role("button", name="Stay signed in").click()
    expect(dialog).to_have_count(0)
    sign_out(bench)
    dialog.get_by_role("button", name=button).click()
    bench.page.wait_for_url("**/sign-in/")
    assert len(bench.kept_in_browser()) == kept


def sign_out(bench: Workbench) -> None:
    if not bench.page.get_by_role("button", name="Sign out", exact=True).is_visible():
        bench.page.locator("details[data-menu] summary").click()
    bench.page.get_by_role("button", name="Sign out", exact=True).click()


def test_a_draft_of_a_label_that_was_changed_elsewhere_says_so_before_it_replaces_it(
    bench, live_server, chromium, knee
) -> None:
    bench.open(3)
    bench.press("s")
    bench.type("swelling")
    bench.press("Enter")
    bench.expect_saved()
    bench.press("ArrowUp", ",")
    bench.type("fever")
    bench.press("Escape", "Escape")
    # Another browser: the drafts of this one are not known there.
    other = workbench(chromium, live_server, knee).open(3)
    other.press(",", "Backspace")
    other.type("cough")
    other.press("Enter")
    other.expect_saved()
    other.page.context.close()
    bench.reload()
    bench.press(",")
    expect(bench.page.locator(".form-note")).to_contain_text(
        "Changed elsewhere meanwhile; it is now: inform symptom · cough"
    )
    assert bench.chosen() == ["swelling", "fever"]


def test_a_dialogue_locked_meanwhile_keeps_what_was_typed(bench, knee) -> None:
    bench.open()
    LabelSet.objects.filter(pk=knee.pk).update(status="locked")
    bench.press("s")
    bench.type("pain")
    bench.press("Enter")
    bench.expect_said("locked by a supervisor")
    expect(bench.page.locator("[data-status-text]")).to_have_text("locked")
    assert bench.labels_shown(0) == []
    assert "pain" in str(bench.kept_in_browser())
    LabelSet.objects.filter(pk=knee.pk).update(status="in_progress")
    bench.reload()
    bench.press("Enter")
    assert bench.chosen() == ["pain"]
