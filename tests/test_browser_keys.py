"""The keys of the workbench: every layout, every person's own, and what each of them does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.domain.keymap import bindings_of, default_bindings
from annotation.domain.labels import Label
from annotation.models import LabelSet, Status
from annotation.questionnaires import get_questionnaire
from tests import factory
from tests.factory import inform, inquire
from tests.workbench import Workbench, workbench

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def bench(chromium: Any, live_server: Any, label_set: LabelSet) -> Iterator[Workbench]:
    bench = workbench(chromium, live_server, label_set)
    yield bench
    bench.page.context.close()
    assert bench.errors == []


def dispatch(bench: Workbench, key: str, code: str, **modifiers: bool) -> None:
    """A key of another layout: what it writes, and where it lies."""
    bench.page.evaluate(
        "(init) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', init))",
        {"key": key, "code": code, "bubbles": True, "cancelable": True, **modifiers},
    )


def test_letters_of_another_script_work_by_their_place(bench) -> None:
    bench.open(1)
    dispatch(bench, "ы", "KeyS")
    expect(bench.page.get_by_role("combobox", name="Slot")).to_have_value("symptom")
    expect(bench.page.get_by_label("Intent")).to_have_value("inform")
    bench.press("Escape", "Escape")
    dispatch(bench, "Ы", "KeyS", shiftKey=True)
    expect(bench.page.get_by_label("Intent")).to_have_value("inquire")
    bench.press("Escape", "Escape")
    dispatch(bench, "щ", "KeyO")
    assert bench.at(1) == [{"intent": "nod_prompt"}]
    dispatch(bench, "я", "KeyZ", ctrlKey=True)
    bench.expect_said("Undone")
    assert bench.stored == []
    dispatch(bench, "ъ", "BracketRight")
    assert bench.current == 2


def test_letters_of_another_script_are_text_in_a_field(bench) -> None:
    bench.open(1)
    bench.press("s")
    bench.page.keyboard.insert_text("кашель")
    dispatch(bench, "ы", "KeyS")
    bench.press("Enter")
    assert bench.at(1)[0]["value"] == ["кашель"]


def test_a_persons_own_keys_work_are_shown_and_replace_the_usual_ones(bench, people) -> None:
    people.annotator.keymap = {"slot:symptom": "x", "slot:medical test": "s", "next": "F4", "undo": "Ctrl+Shift+u"}
    people.annotator.save()
    bench.open(0)
    bench.press("j")
    assert bench.current == 0
    bench.press("F4")
    assert bench.current == 1
    expect(bench.page.locator('[data-action="slot:symptom"] kbd')).to_have_text("x")
    expect(bench.page.locator('[data-action="slot:medical test"] kbd')).to_have_text("s")
    expect(bench.page.locator('[data-action="undo"]')).to_have_attribute("title", "Undo (Ctrl+Shift+u)")
    bench.press("x")
    expect(bench.page.get_by_role("combobox", name="Slot")).to_have_value("symptom")
    bench.press("Escape", "Escape", "s")
    expect(bench.page.get_by_role("combobox", name="Slot")).to_have_value("medical test")


def test_keys_typed_in_text_fields_are_text(bench) -> None:
    bench.open(1)
    bench.press("s")
    bench.type("jkz?.u=q[]")
    assert bench.field("value").locator("input").first.input_value() == "jkz?.u=q[]"
    assert bench.current == 1
    assert bench.page.get_by_role("dialog").count() == 0
    bench.press("Escape", "Escape")
    assert bench.events == []


def test_the_help_lists_exactly_the_table(bench, people) -> None:
    people.annotator.keymap = {"repeat": "F8"}
    people.annotator.save()
    bench.open()
    bench.press("?")
    dialog = bench.page.get_by_role("dialog")
    bindings = bindings_of("workbench", default_bindings(get_questionnaire("cmas")))
    assert dialog.locator("dd").all_inner_texts() == [
        binding.title for group in in_order(bindings) for binding in group
    ]
    expect(dialog.locator("dt", has_text="F8")).to_have_count(1)
    shown = [text.replace("\n", "") for text in dialog.locator("dt").all_inner_texts()]
    arrows = {"ArrowDown": "↓", "ArrowUp": "↑", "ArrowLeft": "←", "ArrowRight": "→"}
    for binding in (binding for binding in bindings if binding.action != "repeat"):
        assert " or ".join(arrows.get(key, key) for key in binding.keys) in shown, binding
    bench.press("Escape")
    expect(dialog).to_have_count(0)
    assert bench.focused_turn == 0


def in_order(bindings: list[Any]) -> list[list[Any]]:
    groups: dict[str, list[Any]] = {}
    for binding in bindings:
        groups.setdefault(binding.group, []).append(binding)
    return list(groups.values())


@pytest.mark.parametrize(
    ("key", "title"), [("?", "Keys"), ("q", "Guidelines"), ("=", "History"), ("Control+Enter", "Mark as done")]
)
def test_a_dialog_is_read_by_keyboard_and_gives_the_keyboard_back(bench, key, title) -> None:
    bench.open(3)
    bench.press(key)
    expect(bench.page.get_by_role("dialog", name=title)).to_be_visible()
    assert bench.page.evaluate("document.activeElement.closest('dialog') !== null")
    # Keys of the page are asleep.
    bench.press("j", "g")
    assert bench.current == 3
    bench.press("Escape")
    expect(bench.page.get_by_role("dialog")).to_have_count(0)
    assert bench.focused_turn == 3
    assert bench.events == []


def test_the_guidelines_of_a_form_give_the_keyboard_back_to_its_field(bench) -> None:
    bench.open(1)
    bench.press("s")
    bench.type("cough")
    bench.press("F1")
    expect(bench.page.get_by_role("dialog", name="Guidelines")).to_contain_text("symptom")
    bench.press("Escape")
    assert bench.focused_field == "value"
    bench.press("Enter")
    assert bench.at(1)[0]["value"] == ["cough"]


def test_moving_through_utterances_and_labels(bench, label_set) -> None:
    factory.make_labels(
        label_set,
        inform(1, "symptom", "cough", status="yes"),
        inform(1, "symptom", "fever", status="no"),
        Label(2, "nod_prompt"),
    )
    bench.open(0)
    for key, at in [
        ("j", 1),
        ("ArrowDown", 2),
        ("k", 1),
        ("ArrowUp", 0),
        ("ArrowUp", 0),
        ("End", 9),
        ("ArrowDown", 9),
        ("Home", 0),
        ("]", 3),
        ("[", 0),
    ]:
        bench.press(key)
        assert (bench.current, bench.focused_turn) == (at, at), key
    bench.press("[")
    bench.expect_said("No utterance without a label before this one")
    bench.press("j", "ArrowRight", "ArrowRight", "ArrowRight")
    assert bench.page.evaluate("document.activeElement.innerText").startswith("inform symptom fever")
    bench.press("ArrowLeft", "Enter")
    assert bench.chosen() == ["cough"]


def test_delete_takes_the_label_the_arrows_stand_on_or_the_last_one(bench, label_set) -> None:
    factory.make_labels(label_set, *[inform(1, "symptom", name, status="yes") for name in ("cough", "fever", "chills")])
    bench.open(1)
    bench.press("ArrowRight", "Delete")
    assert [label["value"] for label in bench.at(1)] == [["fever"], ["chills"]]
    bench.go_to(1)
    bench.press("Backspace")
    bench.expect_said("Deleted: inform symptom · chills")
    assert [label["value"] for label in bench.at(1)] == [["fever"]]
    bench.press("z", "z")
    assert sorted(label["value"][0] for label in bench.at(1)) == ["chills", "cough", "fever"]
    bench.press("Home", "Delete")
    bench.expect_said("no label to delete")


def test_repeat_puts_the_last_label_here_but_not_twice(bench) -> None:
    bench.open(0)
    bench.press(".")
    bench.expect_said("no label to repeat")
    bench.press("ArrowDown", "s")
    bench.type("cough")
    bench.press("Enter", "ArrowDown", ".")
    expected = {"intent": "inform", "slot": "symptom", "value": ["cough"], "status": "yes"}
    assert (bench.at(1), bench.at(3)) == ([expected], [expected])
    bench.go_to(3)
    bench.press(".")
    bench.expect_said("has that label already")
    assert bench.at(3) == [expected]
    bench.reload()
    bench.go_to(5)
    bench.press(".")
    assert bench.at(5) == [expected]


def test_repeat_says_why_it_cannot(bench, label_set) -> None:
    factory.make_labels(label_set, Label(0, "diagnosis", "disease", {"value": ["asthma"]}))
    bench.open(1)
    bench.press(".")
    bench.expect_said("“diagnosis” cannot be used on the patient's turns")
    assert len(bench.stored) == 1


def test_one_key_answers_several_inquiries(bench, label_set) -> None:
    factory.make_labels(
        label_set,
        inquire(2, "symptom", "fever", "night sweats"),
        inquire(2, "symptom", "pain", location=["chest"]),
        inquire(2, "habit", "smoking", checks=["frequency"]),
        inquire(2, "medication"),
    )
    bench.open(3)
    expect(bench.turn(3).locator("[data-hint]")).to_have_text(
        "Asked: fever, night sweats, pain, smoking · y yes · n no · u not sure · Enter in full"
    )
    bench.press("n")
    bench.expect_said("1 more asked, to be answered in full")
    assert bench.at(3) == [
        {"intent": "inform", "slot": "symptom", "value": ["fever", "night sweats"], "status": "no"},
        {"intent": "inform", "slot": "symptom", "value": ["pain"], "status": "no", "location": ["chest"]},
        {"intent": "inform", "slot": "habit", "value": ["smoking"], "status": "no"},
    ]
    assert bench.events == ["change", "change"]
    # They are ordinary labels: one is edited, and one undo takes the whole answer back.
    bench.press("ArrowUp", "ArrowRight", "Enter", "Tab", "Tab", "3", "Enter")
    assert bench.at(3)[0]["status"] == "not sure"
    bench.press("z", "z")
    assert bench.at(3) == []


def test_answer_keys_say_why_they_do_nothing(bench, label_set) -> None:
    factory.make_labels(label_set, inquire(4, "symptom", checks=["onset"]))
    bench.open(1)
    bench.press("y")
    bench.expect_said("No labelled question stands before this utterance")
    bench.go_to(5)
    bench.press("y")
    bench.expect_said("cannot be answered with one key; press Enter")
    assert len(bench.stored) == 1


def test_chips_are_taken_by_their_digit(bench) -> None:
    bench.open(1)
    assert bench.turn(1).locator(".chip").all_inner_texts() == ["1 cough"]
    bench.press("1")
    assert bench.chosen() == ["cough"]
    bench.press("Enter")
    assert bench.at(1) == [{"intent": "inform", "slot": "symptom", "value": ["cough"], "status": "yes"}]
    bench.go_to(1)
    bench.press("7")
    bench.expect_said("No value 7 was found")


def test_a_chip_goes_into_a_form_of_its_slot_and_shows_no_digit_there(bench) -> None:
    bench.open(1)
    chip = bench.turn(1).locator(".chip")
    bench.press("s")
    expect(chip.locator("kbd")).to_be_hidden()
    bench.type("1")
    expect(bench.field("value").locator("input")).to_have_value("1")
    bench.press("Backspace")
    chip.click()
    assert bench.chosen() == ["cough"]
    assert bench.focused_field == "value"
    bench.press("Escape", "Escape", "h")
    chip.click()
    expect(bench.page.get_by_role("combobox", name="Slot")).to_have_value("symptom")


def test_a_value_of_the_patient_so_far_is_copied_by_click_and_by_key(bench, label_set) -> None:
    factory.make_labels(
        label_set, inform(1, "symptom", "coughing fits", status="yes", onset="two weeks", location=["chest", "throat"])
    )
    bench.open(3)
    value = bench.page.locator("[data-state]").get_by_role("button", name="coughing fits")
    onset = bench.page.locator("[data-state]").get_by_role("button", name="two weeks")
    # By click, into the field last used.
    bench.press("s")
    value.click()
    assert (bench.chosen(), bench.focused_field) == (["coughing fits"], "value")
    bench.press("Tab", *"onset", "Tab")
    onset.click()
    assert bench.field("onset").locator("input").first.input_value() == "two weeks"
    bench.press("Tab", "Tab")
    bench.press("Enter")
    assert bench.at(3)[0] == {
        "intent": "inform",
        "slot": "symptom",
        "value": ["coughing fits"],
        "status": "yes",
        "onset": "two weeks",
    }
    # By key: Tab goes from the form into the panel, Enter copies and goes back.
    bench.go_to(5)
    bench.press("s")
    for _ in range(40):
        bench.press("Tab")
        if bench.page.evaluate("document.activeElement.dataset.copy === 'coughing fits'"):
            break
    bench.press("Escape")
    assert bench.focused_field == "value"
    value.focus()
    bench.press("Enter")
    assert bench.chosen("value") == ["coughing fits"]
    bench.press("Enter")
    assert bench.at(5)[0]["value"] == ["coughing fits"]
    # And as a suggestion, without leaving the field.
    bench.go_to(7)
    bench.press("s", "ArrowDown", "Enter")
    assert bench.at(7)[0]["value"] == ["coughing fits"]


def test_a_value_copied_without_a_form_opens_one(bench, label_set) -> None:
    factory.make_labels(label_set, inform(1, "symptom", "cough", status="yes", location=["chest", "throat"]))
    bench.open(3)
    bench.page.locator("[data-state]").get_by_role("button", name="chest, throat").click()
    assert bench.chosen("location") == ["chest", "throat"]
    bench.press("Escape", "Escape")
    bench.page.locator("[data-state]").get_by_role("button", name="cough", exact=True).click()
    assert bench.chosen() == ["cough"]


def test_choosing_a_slot_by_typing_puts_the_next_keys_into_its_first_question(bench) -> None:
    bench.open(1)
    bench.press("Enter")
    bench.type("sym")
    bench.press("Tab")
    assert bench.focused_field == "value"
    bench.type("cough")
    bench.press("Enter")
    assert bench.at(1)[0]["value"] == ["cough"]
    bench.press("ArrowDown", "Enter")
    bench.type("nonsense")
    bench.press("Enter")
    expect(bench.page.locator(".form-note")).to_contain_text("There is no slot “nonsense”")


def test_a_form_can_be_turned_into_an_intent_without_a_slot(bench) -> None:
    bench.open(1)
    bench.press("s")
    bench.page.get_by_label("Intent").select_option("salutations")
    bench.press("Enter")
    assert bench.at(1) == [{"intent": "salutations"}]
    bench.press("s")
    bench.page.get_by_label("Intent").select_option("other")
    bench.page.get_by_label("What would you call this intent?").fill("asks to repeat")
    bench.press("Enter")
    assert [(label.intent, label.intent_name) for label in bench.stored][-1] == ("other", "asks to repeat")


def test_an_earlier_utterance_shows_the_state_as_of_then(bench, label_set) -> None:
    factory.make_labels(
        label_set,
        inform(1, "symptom", "cough", status="yes", onset="two weeks"),
        inform(3, "symptom", "fever", status="no"),
        inform(5, "symptom", "fever", status="yes"),
        inform(5, "symptom", "cough", status="yes", onset="15 days ago"),
    )
    state = bench.page.locator("[data-state]")
    bench.open(0)
    expect(state).to_have_text("Nothing is known of the patient at this point.", use_inner_text=True)
    bench.go_to(1)
    expect(state).to_contain_text("two weeks", use_inner_text=True)
    expect(state).not_to_contain_text("fever", use_inner_text=True)
    bench.go_to(3)
    expect(state.locator(".sign:visible").nth(1)).to_have_class("sign no")
    bench.go_to(5)
    expect(state).to_contain_text("15 days ago u5 was two weeks, u1", use_inner_text=True)
    expect(state.locator(".sign.no:visible")).to_have_count(0)
    expect(bench.page.locator("[data-state-at]")).to_have_text(" · up to u5")
    # Each value leads to the utterance that set it, and back in time.
    state.locator(".was a:visible", has_text="u3").click()
    assert (bench.current, bench.focused_turn) == (3, 3)
    expect(state.locator(".sign:visible").nth(1)).to_have_class("sign no")


def test_an_entry_without_a_value_says_its_status_in_words_or_nothing(bench, label_set) -> None:
    factory.make_labels(
        label_set,
        Label(1, "inform", "travel", {"status": "yes", "destination": "Lisbon"}),
        Label(3, "inform", "basic information", {"age": "61"}),
    )
    bench.open(3)
    groups = bench.page.locator(".state-group")
    expect(groups.filter(has_text="travel")).to_contain_text("+ yes yes u1", use_inner_text=True)
    expect(groups.filter(has_text="basic information").locator(".sign")).to_have_count(0)


def test_a_finished_dialogue_offers_no_values_to_take(bench, label_set) -> None:
    factory.make_labels(label_set, *[Label(at, "nod_prompt") for at in range(10)])
    bench.open(1)
    chips = bench.turn(1).locator(".chip")
    expect(chips).to_have_count(1)
    bench.press("Control+Enter")
    bench.page.get_by_role("dialog").get_by_role("button", name="Mark as done").click()
    bench.expect_said("Marked as done")
    expect(chips).to_have_count(0)


def test_after_every_save_the_panel_shows_what_a_fresh_page_shows(bench) -> None:
    """A save's answer holds only what it may have moved; the page puts that among what it has."""
    panel = bench.page.locator(".work-state")

    def as_after_a_reload(*expected: str) -> None:
        bench.expect_saved()
        for words in expected:
            expect(panel).to_contain_text(words, use_inner_text=True)
        seen = panel.inner_text()
        bench.reload()
        expect(panel).to_have_text(seen, use_inner_text=True)

    bench.open(1)
    bench.press("1", "Enter", "h")
    bench.type("smoking")
    bench.press("Tab", "Enter")
    bench.go_to(3)
    bench.press("s")
    bench.type("fever")
    bench.press("Tab", "Tab", "2", "Enter")
    as_after_a_reload("cough u1", "fever u3")
    bench.go_to(5)
    bench.press("s")
    bench.type("cough")
    bench.press("Tab", "Tab", "2", "Enter")
    as_after_a_reload("cough u5", "fever u3", "u5:")
    bench.press("z")
    bench.expect_said("Undone")
    as_after_a_reload("cough u1", "fever u3", "Nothing contradictory")
    bench.go_to(3)
    bench.press("Delete")
    bench.expect_said("Deleted")
    as_after_a_reload("cough u1")
    expect(panel).not_to_contain_text("fever", use_inner_text=True)


def test_contradictions_and_gaps_appear_as_they_arise_and_go_with_their_cause(bench) -> None:
    problems = bench.page.locator("[data-problems]")
    bench.open(1)
    expect(problems).to_contain_text("Nothing contradictory, nothing incomplete")
    bench.press("1", "Enter")
    bench.expect_saved()
    expect(problems).to_contain_text("Nothing contradictory")
    bench.press("ArrowDown", "s")
    bench.type("cough")
    bench.press("Tab", "Tab", "2", "Enter")
    bench.expect_saved()
    expect(problems.locator(".contradiction")).to_contain_text("cough")
    bench.press("ArrowDown", "h")
    bench.type("smoking")
    bench.press("Enter")
    bench.expect_saved()
    expect(problems.locator(".incomplete")).to_contain_text("u5")
    problems.locator(".incomplete a").click()
    assert bench.current == 5
    bench.press("z")
    expect(problems.locator(".incomplete")).to_have_count(0)


def test_finishing_asks_a_reason_for_what_has_no_label_and_reopening_is_possible(bench, label_set) -> None:
    factory.make_labels(label_set, *[Label(at, "nod_prompt") for at in range(8)])
    bench.open(0)
    bench.press("Control+Enter")
    dialog = bench.page.get_by_role("dialog", name="Mark as done")
    expect(dialog).to_contain_text("2 utterances have no label")
    dialog.get_by_role("button", name="Mark as done").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Utterance 8 has no label and no reason yet")
    dialog.get_by_label("The same reason for all").select_option(index=1)
    dialog.get_by_role("button", name="Mark as done").click()
    bench.expect_said("Marked as done")
    bench.expect_saved()
    assert LabelSet.objects.get(pk=label_set.pk).status == Status.DONE
    bench.press("g")
    bench.expect_said("reopen it to change a label")
    bench.page.get_by_role("button", name="Reopen").click()
    bench.expect_said("Reopened")
    assert bench.focused_turn == 0  # the button that was pressed is gone
    bench.press("g")
    assert bench.at(0)[-1] == {"intent": "salutations"}


def test_a_supervisor_reads_and_locks_but_changes_nothing(bench, label_set, chromium, live_server) -> None:
    factory.make_labels(label_set, *[Label(at, "nod_prompt") for at in range(10)])
    bench.open(0)
    sam = workbench(chromium, live_server, label_set, "sam").open(0)
    expect(sam.page.get_by_text("alice's labels, read only")).to_be_visible()
    sam.press("g", "s", "Delete", "1", "y", ".", "z", "Enter")
    sam.expect_said("can be read but not changed")
    assert not sam.form_is_open
    assert sam.page.get_by_role("button", name="Lock", exact=True).count() == 0
    bench.press("Control+Enter")
    bench.page.get_by_role("dialog").get_by_role("button", name="Mark as done").click()
    bench.expect_said("Marked as done")
    sam.reload()
    sam.page.get_by_role("button", name="Lock", exact=True).click()
    sam.expect_said("Locked")
    bench.reload()
    assert bench.page.get_by_role("button", name="Reopen").count() == 0
    sam.page.get_by_role("button", name="Unlock", exact=True).click()
    sam.expect_said("Unlocked")
    sam.page.context.close()
    bench.reload()
    bench.page.get_by_role("button", name="Reopen").click()
    bench.expect_said("Reopened")
    assert [label.intent for label in bench.stored] == ["nod_prompt"] * 10


def test_a_dialogue_without_utterances_says_so(bench, people, project) -> None:
    empty = factory.make_label_set(factory.make_dialogue(project, "EMPTY-1", []), people.annotator)
    bench.url = bench.url.replace(f"/{bench.label_set.pk}/", f"/{empty.pk}/")
    bench.open(0)
    expect(bench.page.get_by_label("Dialogue", exact=True)).to_contain_text("no utterances")
    bench.press("g", "s", "Enter", "j", "End", "y", ".", "1", "ArrowRight", "Delete", ",")
    assert empty.events.count() == 0


def test_what_is_typed_after_a_refused_key_is_not_taken_as_keys(bench) -> None:
    """Whoever types a diagnosis where its key does not apply would otherwise save labels with its letters."""
    bench.open(2)
    bench.press("a")
    bench.expect_said("“differential diagnosis” cannot be used on the doctor's turns. For “diagnosis” press Shift+d.")
    bench.type("bronchitis")
    bench.press("Enter")
    assert bench.form_is_open is False
    assert (bench.current, bench.stored) == (2, [])
    bench.press("ArrowDown", "ArrowUp", "Shift+D")  # moving on is meant
    expect(bench.page.get_by_label("Intent")).to_have_value("diagnosis")


def test_the_keys_that_do_not_apply_to_the_speaker_are_grey_and_a_diagnosis_has_its_own(bench) -> None:
    bench.open(0)
    key = bench.page.locator(".slot-key")
    expect(key.filter(has_text="differential diagnosis")).to_be_disabled()
    diagnosis = bench.page.get_by_role("button", name="Shift+d diagnosis")
    expect(diagnosis).to_be_enabled()
    bench.press("ArrowDown")
    expect(diagnosis).to_be_disabled()
    expect(diagnosis).to_have_attribute("title", "Not on the patient's turns.")
    expect(key.filter(has_text="symptom")).to_be_enabled()
    bench.press("ArrowUp")
    diagnosis.click()
    expect(bench.page.get_by_label("Intent")).to_have_value("diagnosis")


def test_words_typed_where_no_value_is_asked_for_choose_nothing(bench) -> None:
    bench.open(2)
    bench.press("r")
    bench.type("rash")
    bench.press("Enter")
    expect(bench.page.locator(".form-note")).to_contain_text("“rash” is not needed: “skin finding” takes no value.")
    bench.press("Enter")
    assert bench.at(2) == [{"intent": "inquire", "slot": "symptom (dermatology)"}]
    # The whole name of a question means the question.
    bench.go_to(4)
    bench.press("r")
    bench.type("itching")
    bench.press("Enter")
    assert bench.at(4) == [{"intent": "inquire", "slot": "symptom (dermatology)", "checks": ["itching"]}]


def test_a_word_in_front_of_answers_chooses_none_of_them(bench) -> None:
    bench.open(3)
    bench.press("d")
    bench.type("pneumonia")
    bench.press("Tab")
    assert bench.focused_field == "status"
    bench.type("nodules")
    expect(bench.field("status").locator(".field-error")).to_have_text("“nodules” is no answer to this question.")
    expect(bench.field("status").get_by_role("radio", name="not said")).to_be_checked()
    bench.press("1")
    expect(bench.field("status").locator(".field-error")).to_be_hidden()
    bench.press("Enter")
    assert bench.at(3)[0]["status"] == "yes"


def test_a_no_to_medical_history_says_what_the_questionnaire_means_by_it(bench, label_set) -> None:
    factory.make_labels(label_set, inquire(2, "medical history", "asthma"))
    bench.open(3)
    bench.press("n")
    assert bench.at(3)[0]["status"] == "did not suffer"
    bench.press("z")
    bench.expect_said("Undone")
    bench.press("y")
    assert bench.at(3)[0]["status"] == "yes"
