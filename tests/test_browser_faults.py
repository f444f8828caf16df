"""Faults that annotation tools of this kind have had: each must be impossible here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.domain.labels import Label
from annotation.models import EventKind, LabelSet
from annotation.models import Label as LabelRow
from annotation.services.labelling import Change, label_set_change
from annotation.services.readings import labels_of
from tests import factory
from tests.factory import inform, inquire
from tests.workbench import Workbench, plain, workbench

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

EVIL = '"><img src=x onerror="window.hit=1"><script>window.hit=2</script>{{7*7}}'


@pytest.fixture
def bench(chromium: Any, live_server: Any, label_set: LabelSet) -> Iterator[Workbench]:
    bench = workbench(chromium, live_server, label_set)
    yield bench
    bench.page.context.close()
    assert bench.errors == []


def inside(bench: Workbench, selector: str) -> bool:
    """Whether an element lies wholly within the window and is what a click in its middle would meet."""
    return bench.page.evaluate(
        """(selector) => {
          const element = document.querySelector(selector);
          const box = element.getBoundingClientRect();
          const met = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
          return box.top >= 0 && box.bottom <= innerHeight && (element === met || element.contains(met));
        }""",
        selector,
    )


def test_opening_another_label_while_a_form_is_open_deletes_neither(bench, label_set) -> None:
    factory.make_labels(
        label_set, inform(1, "symptom", "cough", status="yes"), inform(1, "symptom", "fever", status="no")
    )
    bench.open(1)
    bench.press(",")
    bench.type("chills")
    bench.turn(1).locator(".label").first.dblclick()
    assert bench.chosen() == ["cough"]
    bench.press("Enter")
    assert [label["value"] for label in bench.at(1)] == [["cough"], ["fever"]]
    bench.press(",")
    assert bench.chosen() == ["fever", "chills"]
    bench.press("Enter")
    assert [label["value"] for label in bench.at(1)] == [["cough"], ["fever", "chills"]]


def test_opening_a_new_label_while_a_form_is_open_keeps_what_was_typed(bench) -> None:
    bench.open(1)
    bench.press("s")
    bench.type("chills")
    bench.turn(3).click()
    bench.press("s")
    assert bench.chosen() == []
    bench.type("cough")
    bench.press("Enter")
    bench.go_to(1)
    bench.press("Enter")
    assert bench.chosen() == ["chills"]
    bench.press("Enter")
    assert [label["value"] for label in bench.at(1) + bench.at(3)] == [["chills"], ["cough"]]


def test_two_forms_begun_on_one_utterance_do_not_overwrite_each_other(bench) -> None:
    bench.open(1)
    bench.press("s")
    bench.type("chills")
    bench.press("Escape", "Escape", "Escape", "h")
    bench.type("smoking")
    bench.press("Escape", "Escape", "Enter")
    assert bench.chosen() == ["smoking"]
    bench.press("Enter", "ArrowUp", "Enter")
    assert bench.chosen() == ["chills"]


def test_an_edit_that_is_refused_has_not_deleted_the_label(bench, label_set) -> None:
    factory.make_labels(label_set, inform(1, "symptom", "cough", status="yes"))
    bench.open(1)
    bench.press(",", "Tab")
    bench.type("severity")
    bench.press("Tab")
    bench.type("99")
    bench.press("Enter")
    expect(bench.field("severity").locator(".field-error")).to_contain_text("whole number from 0 to 10")
    assert bench.field("severity").locator("input").first.input_value() == "99"
    assert bench.labels_shown(1) == ["inform symptom cough + yes"]
    assert [plain(label) for label in bench.stored] == [
        {"intent": "inform", "slot": "symptom", "value": ["cough"], "status": "yes"}
    ]
    bench.press("Backspace", "Backspace", "8", "Enter")
    assert bench.at(1)[0]["severity"] == "8"


def test_a_new_label_that_is_refused_comes_back_as_it_was_typed(bench) -> None:
    bench.open(1)
    bench.press("s")
    bench.type("cough")
    bench.press("Tab")
    bench.type("severity")
    bench.press("Tab")
    bench.type("bad")
    bench.press("Enter")
    expect(bench.field("severity").locator(".field-error")).to_be_visible()
    assert bench.chosen() == ["cough"]
    assert bench.stored == []


def test_a_refusal_does_not_take_the_keyboard_from_a_form_that_is_being_filled(bench) -> None:
    bench.open(1)
    bench.page.route("**/changes/", lambda route: (bench.page.wait_for_timeout(400), route.continue_()), times=1)
    bench.press("s")
    bench.type("cough")
    bench.press("Tab")
    bench.type("severity")
    bench.press("Tab", "x", "Enter", "ArrowDown", "s")
    bench.type("chi")
    bench.expect_said("u1: Severity takes a whole number")
    bench.type("lls")
    bench.press("Enter")
    assert [label["value"] for label in bench.at(3)] == [["chills"]]
    bench.go_to(1)
    bench.press("Enter")
    assert bench.field("severity").locator("input").first.input_value() == "x"


def odd_label(label_set: LabelSet, label: Label) -> None:
    """A label as an import stores it: with what no form could have made."""
    label_set_change(
        label_set=label_set,
        actor=label_set.annotator,
        version=label_set.version,
        key="odd",
        kind=EventKind.IMPORT,
        changes=[Change("6f1c0a52-0d6c-4a38-9d0d-6d2c8f0f6b11", label)],
    )


@pytest.mark.parametrize(
    "label",
    [
        inform(1, "symptom", "cough", status="yes", ana_factors=[{"value": "cold air", "rating": "yes"}]),
        Label(
            1,
            "inform",
            "symptom",
            {"value": ["cough"], "severity": "8", "severity.criterion": "worst ever"},
            kept={"odd key": [1, 2]},
        ),
        inquire(2, "symptom", "pain", severity="8", checks=["severity", "onset"]),
        Label(
            2,
            "inquire",
            "habit",
            {"value": ["alcohol"], "status": "yes", "status.criterion": "CAGE"},
            ("frequency",),
            {"x": "y"},
        ),
        Label(1, "inform", "symptom", {"value": ["cough"]}, ("onset",)),
        inform(1, "symptom", "a, b", "c", status="not sure", onset="  two   days"),
    ],
    ids=[
        "older rating",
        "criterion and kept",
        "answer of a bare tick",
        "status the form does not ask",
        "tick on an inform",
        "comma in a value",
    ],
)
def test_saving_a_label_unchanged_loses_nothing_and_neither_does_changing_one_answer(bench, label_set, label) -> None:
    odd_label(label_set, label)
    [before] = labels_in(label_set)
    bench.open(label.position)
    bench.press(",", "Enter")
    bench.expect_said("Nothing was changed")
    assert labels_in(label_set) == [before]
    assert bench.events == ["import"]
    bench.press(",")
    bench.field("value").locator("input").first.focus()
    bench.type("chills")
    bench.press("Enter")
    [after] = bench.stored
    assert after.answers == {**before.answers, "value": [*before.answers["value"], "chills"]}
    assert (after.checks, after.kept) == (before.checks, before.kept)


def labels_in(label_set: LabelSet) -> list[Label]:
    return list(labels_of(LabelSet.objects.get(pk=label_set.pk)))


def test_an_answer_of_an_older_form_can_also_be_taken_away(bench, label_set) -> None:
    odd_label(
        label_set, inform(1, "symptom", "cough", status="yes", ana_factors=[{"value": "cold air", "rating": "yes"}])
    )
    bench.open(1)
    bench.press(",")
    rating = bench.field("ana_factors").locator(".rating")
    expect(rating.locator("input:checked + kbd + *, label:has(input:checked)")).to_contain_text(
        "does not say better or worse"
    )
    rating.locator("input").first.check()
    bench.press("Enter")
    assert bench.at(1)[0]["ana_factors"] == [{"value": "cold air", "rating": ""}]


def test_a_label_for_an_utterance_that_does_not_exist_cannot_block_saving(
    bench, live_server, tmp_path, label_set
) -> None:
    file = tmp_path / "bad.labels.json"
    file.write_text(json.dumps([{"uid": "999", "intent": "salutations"}]))
    bench.page.goto(f"{bench.url}labels/import/")
    bench.page.get_by_label("Portal file").set_input_files(file)
    bench.page.get_by_role("button", name="Import", exact=True).click()
    expect(bench.page.get_by_role("alert")).to_contain_text("999")
    assert not LabelRow.objects.exists()
    bench.open(0)
    # Even one that is waiting in the browser is refused once, told, and out of the way.
    bench.page.evaluate(
        """({ user, set }) => localStorage.setItem(`anamnesis:${user}:${set}:queue`, JSON.stringify([{ key: "stray",
          path: "changes", before: {}, body: { seconds: 0, changes: [{ id: "6f1c0a52-0d6c-4a38-9d0d-6d2c8f0f6b11",
          label: { position: 999, intent: "salutations", slot: "", answers: {}, checks: [] } }] } }]))""",
        {"user": label_set.annotator_id, "set": label_set.pk},
    )
    bench.reload()
    bench.expect_said("no utterance 999")
    bench.press("g")
    assert [label.position for label in bench.stored] == [0]


def test_a_reload_loses_nothing(bench) -> None:
    bench.open(0)
    bench.press("g", "s")
    bench.type("cough")
    bench.press("Tab")
    bench.type("onset")
    bench.press("Tab")
    bench.type("about tw")
    bench.page.wait_for_timeout(300)
    bench.reload()
    assert bench.labels_shown(0) == ["greeting"]
    assert bench.chosen() == ["cough"]
    assert bench.field("onset").locator("input").first.input_value() == "about tw"
    assert bench.page.locator("[data-form-title]").inner_text().lower() == "new label · utterance 1 · patient"


def test_loading_a_label_file_twice_does_not_double_its_labels(bench, label_set, tmp_path) -> None:
    factory.make_labels(label_set, Label(0, "salutations"), inform(1, "symptom", "cough", status="yes"))
    bench.open(0)
    file = tmp_path / "copy.json"
    with bench.page.expect_download() as download:
        bench.page.get_by_role("link", name="Save a copy").click()
    download.value.save_as(file)
    gone = [Change(label.id, None) for label in bench.stored]
    label_set.refresh_from_db()
    label_set_change(
        label_set=label_set, actor=label_set.annotator, version=label_set.version, key="gone", changes=gone
    )
    for said in ("2 added", "were there already"):
        bench.page.goto(f"{bench.url}labels/import/")
        bench.page.get_by_label("Portal file").set_input_files(file)
        bench.page.get_by_role("button", name="Import", exact=True).click()
        expect(bench.page.get_by_role("status")).to_contain_text(said)
        assert LabelRow.objects.count() == 2
    bench.open(0)
    assert [bench.labels_shown(at) for at in (0, 1)] == [["greeting"], ["inform symptom cough + yes"]]


def test_escape_closes_the_list_and_nothing_else(bench) -> None:
    bench.open(1)
    bench.press("s")
    bench.type("cou")
    assert "cough" in bench.options()
    bench.press("Escape")
    assert bench.options() == []
    assert bench.form_is_open
    assert bench.field("value").locator("input").first.input_value() == "cou"
    bench.press("Escape")
    assert not bench.form_is_open
    assert bench.focused_turn == 1
    bench.press("Enter")
    assert bench.chosen() == ["cou"]


def test_changing_the_intent_keeps_the_answers(bench) -> None:
    bench.open(1)
    bench.press("s")
    bench.type("cough")
    bench.press("Tab")
    bench.type("onset")
    bench.press("Tab")
    bench.type("two weeks ago")
    intent = bench.page.get_by_label("Intent")
    intent.select_option("inquire")
    assert bench.chosen() == ["cough"]
    assert bench.field("onset").locator("input").first.input_value() == "two weeks ago"
    intent.select_option("salutations")
    assert not bench.field("value").count()
    intent.select_option("inform")
    bench.page.get_by_role("combobox", name="Slot").fill("symptom")
    bench.press("Enter")
    assert bench.chosen() == ["cough"]
    bench.press("Enter")
    assert bench.at(1) == [
        {"intent": "inform", "slot": "symptom", "value": ["cough"], "status": "yes", "onset": "two weeks ago"}
    ]


@pytest.mark.parametrize("leave", ["Enter", "Tab", ",", "click"])
def test_a_half_typed_prefix_is_not_stored_as_a_value(bench, leave) -> None:
    bench.open(1)
    bench.press("s")
    bench.type("runny no")
    if leave == "click":
        bench.page.get_by_label("Intent").click()
        bench.press("Escape")
    else:
        bench.press(leave)
    if leave != "Enter":
        assert bench.chosen() == ["runny nose"]
        bench.page.locator(".form-actions .button").first.click()
    assert bench.at(1)[0]["value"] == ["runny nose"]


def test_what_no_list_has_is_kept_as_typed(bench) -> None:
    bench.open(1)
    bench.press("s")
    bench.type("a lump that moves")
    bench.press("Enter")
    assert bench.at(1)[0]["value"] == ["a lump that moves"]


def test_markup_in_values_is_shown_as_text_and_never_executed(bench, label_set, people, live_server, chromium) -> None:
    label_set.dialogue.utterances.filter(position=3).update(text=EVIL, warning=EVIL)
    bench.open(1)
    bench.press("s")
    bench.type(f'"{EVIL.replace(chr(34), chr(34) * 2)}"')
    bench.press("Tab")
    bench.type("onset")
    bench.press("Tab")
    bench.type(EVIL)
    bench.press("Enter")
    assert bench.at(1)[0] == {"intent": "inform", "slot": "symptom", "value": [EVIL], "status": "yes", "onset": EVIL}
    expect(bench.turn(1).locator(".label")).to_contain_text(EVIL)
    expect(bench.page.locator("[data-state]")).to_contain_text(EVIL)
    expect(bench.page.locator("[data-label-list]")).to_contain_text(EVIL)
    expect(bench.turn(3)).to_contain_text(EVIL)
    bench.go_to(3)
    bench.press("s", "ArrowDown")
    assert EVIL in bench.options()
    bench.press("Tab", *"onset", "Tab", "ArrowDown")
    assert EVIL in bench.options()
    bench.press("Escape", "Escape", "=")
    expect(bench.page.get_by_role("dialog")).to_contain_text(EVIL)
    bench.press("Escape", "ArrowUp", "ArrowUp", "Delete")
    bench.expect_said(EVIL)
    bench.press("z")
    bench.expect_saved()
    for path in ("", f"/projects/{label_set.dialogue.project.slug}/exports/"):
        bench.page.goto(live_server.url + path)
    bench.open(1)
    assert bench.page.evaluate("window.hit ?? null") is None
    assert bench.page.locator("img").count() == 0
    assert bench.page.locator("script:not([src])").evaluate_all("scripts => scripts.map((s) => s.type)") == [
        "application/json"
    ]


def test_markup_in_a_conflict_is_shown_as_text(bench, live_server) -> None:
    bench.open(1)
    other = bench.another_tab(live_server, 1)
    other.press("s")
    other.type(EVIL.replace('"', "'").replace(",", ""))
    other.press("Enter")
    other.expect_saved()
    bench.press("o")
    expect(bench.page.get_by_role("dialog")).to_contain_text("<script>window.hit=2</script>")
    assert bench.page.evaluate("window.hit ?? null") is None


def test_an_entry_typed_in_full_stays_in_the_list(bench) -> None:
    bench.open(3)
    bench.press("s")
    for typed in ("runny nos", "runny nose", "runny nose "):
        bench.field("value").locator("input").first.fill(typed)
        assert bench.options()[0] == "runny nose"


def test_a_further_word_narrows_the_search(bench) -> None:
    bench.open(3)
    bench.press("s")
    bench.type("pain")
    one = bench.options()
    bench.type(" ")
    assert bench.options() == one
    bench.type("xyz")
    assert bench.options() == []
    value = bench.field("value").locator("input").first
    value.fill("weight")
    wide = bench.options()
    value.fill("weight g")
    assert set(bench.options()) < set(wide)
    assert bench.options() == ["weight gain"]


@pytest.mark.parametrize("typed", [":", "~", "\\", "(", "[", "*", "?", ".*", "<", "&", "%", "'"])
def test_signs_are_harmless(bench, typed) -> None:
    bench.open(3)
    bench.press("s")
    bench.type(typed)
    assert bench.options() == []
    bench.type("x")
    bench.press("Enter")
    assert bench.at(3)[0]["value"] == [f"{typed}x"]


@pytest.mark.parametrize("typed", ["headache", "head ache", "head-ache", "HEADACHE", "heada"])
def test_head_ache_is_found_by_headache_and_the_other_way_round(bench, typed) -> None:
    bench.open(3)
    bench.press("s")
    bench.type(typed)
    assert bench.options()[0] in ("head ache", "headache")
    bench.press("Enter")
    assert bench.at(3)[0]["value"][0] in ("head ache", "headache")


def test_a_comma_can_be_part_of_a_value(bench) -> None:
    bench.open(3)
    bench.press("s")
    bench.type('"pain, sharp and cold, at night",cough,')
    assert bench.chosen() == ["pain, sharp and cold, at night", "cough"]
    bench.press("Enter")
    assert bench.at(3)[0]["value"] == ["pain, sharp and cold, at night", "cough"]
    bench.press(",", "Enter")
    assert bench.at(3)[0]["value"] == ["pain, sharp and cold, at night", "cough"]


def at_once(bench: Workbench, keys: str) -> None:
    """Press keys with no pause at all, through the browser's own input."""
    client = bench.page.context.new_cdp_session(bench.page)
    for key in keys:
        client.send(
            "Input.dispatchKeyEvent",
            {
                "type": "keyDown",
                "key": key,
                "text": key,
                "code": f"Key{key.upper()}" if key.isalpha() else "",
                "windowsVirtualKeyCode": ord(key.upper()),
            },
        )
        client.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": key})


def test_keys_typed_immediately_after_opening_land_in_the_form(bench) -> None:
    bench.open(3)
    at_once(bench, "scough")
    assert bench.field("value").locator("input").first.input_value() == "cough"
    bench.press("Escape", "Escape")
    bench.page.evaluate(
        """() => {
          // One task: nothing of the page can run between the keys.
          const event = new KeyboardEvent("keydown", { key: "h", bubbles: true, cancelable: true });
          document.activeElement.dispatchEvent(event);
          window.landed = document.activeElement.closest("[data-field]")?.dataset.field;
        }"""
    )
    assert bench.page.evaluate("window.landed") == "value"


def test_down_past_the_end_of_a_list_stays_on_its_last_entry(bench) -> None:
    bench.open(3)
    bench.press("s")
    bench.type("co")
    count = len(bench.options())
    bench.press(*["ArrowDown"] * (count + 5))
    active = bench.page.locator("[role=option][aria-selected=true]")
    expect(active).to_have_count(1)
    last = bench.options()[-1]
    expect(active.locator(".option-value")).to_have_text(last)
    bench.press("Tab")
    assert bench.chosen() == [last]
    bench.press("Shift+Tab", *["ArrowUp"] * 3)
    bench.type("co")
    bench.press(*["ArrowUp"] * 5)
    expect(active).to_have_count(0)


def test_a_list_does_not_cover_the_next_field_nor_take_its_click(bench) -> None:
    bench.open(3)
    bench.press("s")
    bench.type("co")
    assert len(bench.options()) >= 5
    boxes = bench.page.evaluate(
        """() => ['[role=listbox]:not([hidden])', '.jump input'].map((selector) => {
          const { top, bottom } = document.querySelector(selector).getBoundingClientRect();
          return { top, bottom };
        })"""
    )
    assert boxes[0]["bottom"] <= boxes[1]["top"]
    assert inside(bench, ".jump input")
    bench.page.locator(".jump input").click()
    assert bench.page.evaluate("Boolean(document.activeElement.closest('.jump'))")


def test_a_click_meets_what_it_was_aimed_at_although_a_list_closes_above_it(bench) -> None:
    bench.open(3)
    bench.press("s")
    bench.type("co")
    assert len(bench.options()) >= 5
    bench.page.locator('[data-field="status"] input[value="no"]').click()
    assert bench.page.locator('[data-field="status"] input[value="no"]').is_checked()
    expect(bench.page.locator('[data-field="value"] .chosen li')).to_have_count(1)
    expect(bench.page.locator("[role=listbox]:not([hidden])")).to_have_count(0)


def test_save_is_visible_without_scrolling_for_the_longest_form(bench, label_set) -> None:
    everything = inform(
        1,
        "symptom",
        "cough",
        status="yes",
        location=["chest"],
        onset="a",
        initiation="b",
        duration="c",
        severity="8",
        characteristics=[{"value": value, "rating": "yes"} for value in ("dry", "sharp", "dull")],
        ana_factors=[{"value": "cold air", "rating": "yes aggravating"}],
        progression="fluctuating",
        volume="d",
        color="e",
        frequency="f",
        other="g",
    )
    factory.make_labels(label_set, everything)
    bench.open(1)
    bench.press(",")
    for name in ("value", "characteristics", "other"):
        bench.field(name).locator("input").first.focus()
        assert inside(bench, ".form-actions .button")
    # What has the keyboard is not hidden behind the buttons.
    for _ in range(60):
        bench.press("Tab")
        if bench.page.evaluate("document.activeElement.closest('.form-actions') !== null"):
            break
        hidden = bench.page.evaluate(
            """() => {
              const box = document.activeElement.getBoundingClientRect();
              const bar = document.querySelector('.form-actions').getBoundingClientRect();
              return box.bottom > bar.top + 1 || box.top < 0 ? document.activeElement.outerHTML : '';
            }"""
        )
        assert hidden == ""
    bench.press("Enter")
    bench.expect_said("Nothing was changed")


def test_the_status_list_shows_the_new_label(bench, people, project, chromium, live_server) -> None:
    turns = [("doctor" if at % 2 == 0 else "patient", f"This is turn number {at}.") for at in range(150)]
    long = factory.make_label_set(factory.make_dialogue(project, "LONG-1", turns), people.annotator)
    factory.make_labels(long, *[Label(at, "nod_prompt") for at in range(150) if at not in (70, 149)])
    bench.label_set = long
    bench.url = bench.url.replace(f"/{LabelSet.objects.exclude(pk=long.pk).get().pk}/", f"/{long.pk}/")
    for position in (70, 149):
        bench.open(position)
        assert inside(bench, ".work-head h1"), "the page itself must not scroll"
        bench.press("g")
        bench.expect_saved()
        item = bench.page.locator(f'[data-label-list] [data-at="{position}"]')
        expect(item).to_contain_text("greeting")
        assert inside(bench, f'[data-label-list] [data-at="{position}"]')


def test_a_saved_file_says_which_dialogue_it_belongs_to(bench, label_set) -> None:
    factory.make_labels(label_set, Label(0, "salutations"))
    bench.open(0)
    with bench.page.expect_download() as download:
        bench.page.get_by_role("link", name="Save a copy").click()
    assert download.value.suggested_filename == "RES-TEST.alice.labels.json"
