"""Every page of the portal under axe-core, in light and dark, at 100 and 200 % zoom, and the workbench by Tab alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.core.cache import cache
from playwright.sync_api import Page, expect

from annotation.domain.labels import Label
from annotation.models import ImportJob, LabelSet, Status
from annotation.services.completeness import completeness_of, gaps_return
from annotation.services.concerns import concern_answer, concern_raise
from annotation.services.guideline_notes import guideline_note_add
from tests import factory
from tests.browser import SIZE, sign_in
from tests.factory import inform, inquire
from tests.workbench import Workbench, workbench

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ZOOMED = {"width": 683, "height": 768}
# Addresses by who sees them; "{…}" is filled in from the fixture `work`.
PAGES = {
    "alice": [
        "/",
        "/?show=done",
        "/projects/",
        "/projects/chest-clinic/",
        "/projects/chest-clinic/guidelines/",
        "/projects/chest-clinic/exports/",
        "/projects/chest-clinic/work/{work}/labels/import/",
        "/me/keys/",
        "/me/keys/cmas/",
        "/me/tokens/",
        "/me/password/",
        "/people/",  # 403
        "/nowhere/",  # 404
    ],
    "sam": [
        "/projects/new/",
        "/projects/chest-clinic/dialogues/",
        "/projects/chest-clinic/dialogues/{dialogue}/",
        "/projects/chest-clinic/assign/",
        "/projects/chest-clinic/imports/",
        "/projects/chest-clinic/imports/{job}/",
        "/projects/chest-clinic/members/",
        "/projects/chest-clinic/members/{person}/",
        "/projects/chest-clinic/settings/",
        "/projects/chest-clinic/concerns/?show=all",
        "/projects/chest-clinic/concerns/{concern}/",
        "/projects/chest-clinic/completeness/?state=all",
        "/projects/chest-clinic/concepts/",
        "/projects/chest-clinic/concepts/vocabulary/",
        "/projects/chest-clinic/exports/",
        "/projects/chest-clinic/statistics/",
        "/projects/chest-clinic/evaluations/",
        "/projects/chest-clinic/work/{work}/",
    ],
    "root": ["/people/", "/people/new/", "/people/{person}/", "/projects/"],
    "otto": ["/", "/projects/", "/projects/chest-clinic/"],
}


@pytest.fixture(autouse=True)
def no_throttle() -> None:
    cache.clear()


@pytest.fixture
def work(people: Any, project: Any) -> LabelSet:
    """Something of everything: labels of each status, a contradiction, a gap, an odd line."""
    label_set = factory.make_label_set(
        factory.make_dialogue(project, "RES-1", specialty="respiratory"), people.annotator
    )
    factory.make_labels(
        label_set,
        Label(0, "salutations"),
        inform(
            1,
            "symptom",
            "cough",
            status="yes",
            onset="about two weeks",
            characteristics=[{"value": "dry", "rating": "yes"}],
        ),
        inquire(2, "symptom", "fever", "night sweats"),
        inform(3, "symptom", "fever", status="no"),
        inform(5, "symptom", "fever", status="yes"),
        inform(5, "symptom", "chills", status="not sure", location=["chest"]),
        inform(5, "medical history", "asthma"),
        inquire(6, "habit", "smoking", checks=["frequency"]),
    )
    label_set.dialogue.utterances.filter(position=3).update(warning="Line 7: the colon is missing.")
    asked_about(label_set, people)
    return label_set


def asked_about(label_set: LabelSet, people: Any) -> None:
    """An open and an answered concern, the guideline that came of it, and a question that came back."""
    project = label_set.dialogue.project
    for key in ("open", "answered"):
        concern = concern_raise(label_set=label_set, actor=people.annotator, position=5, text="Both?", key=key)
    concern_answer(concern=concern, actor=people.doctor, text="Both.")
    guideline_note_add(project=project, actor=people.doctor, text="Take both.", example="“Both.”", slot="symptom")
    found = completeness_of(project).found
    gaps_return(project=project, actor=people.supervisor, keys=[one.key for one in found], request="return")


@pytest.fixture
def bench(chromium: Any, live_server: Any, work: LabelSet) -> Iterator[Workbench]:
    bench = workbench(chromium, live_server, work)
    yield bench
    bench.page.context.close()
    assert bench.errors == []


def serious_faults(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {node['html']} {node.get('failureSummary', '')}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"][:3]
    ]


def expect_accessible(page: Page, what: str) -> None:
    """No serious fault in light and dark, and no scrolling to the side at 200 %."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert serious_faults(page) == [], f"{what}, {scheme}"
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(ZOOMED)
    assert page.evaluate("document.documentElement.scrollWidth") <= ZOOMED["width"], f"{what} at 200 %"
    page.set_viewport_size(SIZE)


@pytest.mark.parametrize("username", PAGES)
def test_pages_have_no_serious_fault(username, chromium, live_server, people, work, client_for, tmp_path) -> None:
    job = import_job(client_for, people, tmp_path) if username == "sam" else None
    page = sign_in(chromium, live_server, username)
    ids = {"work": work.pk, "dialogue": work.dialogue_id, "person": people.annotator.pk, "job": job and job.pk}
    ids["concern"] = work.concerns.get(key="answered").pk
    for path in PAGES[username]:
        page.goto(live_server.url + path.format(**ids))
        expect_accessible(page, path)
    page.context.close()


def import_job(client_for: Callable[..., Any], people: Any, tmp_path: Any) -> ImportJob:
    """A looked-at import with a good and a bad file."""
    for name, text in (("A1.txt", "D: How are you?\nP: Fine.\n"), ("A2.txt", "D: Hi.\nNurse: Excuse me.\n")):
        (tmp_path / name).write_text(text)
    with (tmp_path / "A1.txt").open("rb") as good, (tmp_path / "A2.txt").open("rb") as bad:
        client_for(people.supervisor).post("/projects/chest-clinic/imports/", {"files": [good, bad]})
    return ImportJob.objects.get()


def test_signing_in_has_no_serious_fault(chromium, live_server, people) -> None:
    page = chromium.new_context(viewport=SIZE).new_page()
    page.goto(f"{live_server.url}/sign-in/")
    expect_accessible(page, "sign-in")
    page.fill("input[name=username]", "alice")
    page.fill("input[name=password]", "wrong")
    page.press("input[name=password]", "Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    expect_accessible(page, "sign-in with an error")
    page.context.close()


def opened(*keys: str) -> Callable[[Workbench], None]:
    return lambda bench: bench.press(*keys)


WORKBENCH = {
    "idle": opened(),
    "form": opened("s"),
    "form with its list open": lambda bench: (bench.press("s"), bench.type("co")),
    "form after a question": opened("ArrowDown", "ArrowDown", "Enter"),
    "form of an inquiry": lambda bench: (
        bench.press("Shift+S"),
        bench.type("cough"),
        bench.press("Tab", *"severity", "Tab"),
    ),
    "form without a slot": opened("Enter"),
    "a label that is edited": opened("ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", ","),
    "keys": opened("?"),
    "guidelines": opened("q"),
    "finish": opened("Control+Enter"),
}


@pytest.mark.parametrize("state", WORKBENCH)
def test_the_workbench_has_no_serious_fault(bench, state) -> None:
    bench.open(5)
    WORKBENCH[state](bench)
    expect_accessible(bench.page, state)


def test_the_history_a_refusal_a_conflict_and_a_lost_connection_have_no_serious_fault(bench, live_server) -> None:
    bench.open(7)
    bench.press("=")
    expect(bench.page.get_by_role("dialog")).to_contain_text("change")
    expect_accessible(bench.page, "history")
    bench.press("Escape", "s")
    bench.type("cough")
    bench.press("Tab", *"severity", "Tab", "x", "Enter")
    expect(bench.page.locator(".field-error:visible")).to_be_visible()
    expect_accessible(bench.page, "refusal")
    bench.page.get_by_role("button", name="Discard").click()
    other = bench.another_tab(live_server, 8)
    other.press("o")
    other.expect_saved()
    bench.press("o")
    expect(bench.page.get_by_role("dialog")).to_contain_text("Changed elsewhere")
    expect_accessible(bench.page, "conflict")
    bench.press("Escape")
    expect(bench.page.locator(".saved")).to_contain_text("not saved")
    expect_accessible(bench.page, "not saved")


@pytest.mark.parametrize("status", [Status.DONE, Status.LOCKED])
def test_a_finished_workbench_has_no_serious_fault(bench, work, status) -> None:
    LabelSet.objects.filter(pk=work.pk).update(status=status)
    bench.open(3)
    expect_accessible(bench.page, status)


def test_long_words_and_long_labels_stay_in_their_columns(bench, work) -> None:
    long = "pneumonoultramicroscopicsilicovolcanoconiosis" * 4
    work.dialogue.utterances.filter(position=7).update(text=long)
    work.refresh_from_db()
    factory.make_labels(
        work, inform(7, "symptom", long, *[f"symptom {at}" for at in range(20)], status="yes", onset=long)
    )
    for size in (SIZE, ZOOMED):
        bench.page.set_viewport_size(size)
        bench.open(7)
        for keys in ((), (",",)):
            bench.press(*keys)
            wide = bench.page.evaluate(
                """() => [document.documentElement, ...document.querySelectorAll('.work-columns > section')]
                  .filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.className || 'page')"""
            )
            assert wide == [], (size, keys)
        bench.press("Escape", "Escape")


def tab_stop(bench: Workbench) -> dict[str, Any]:
    """What has the keyboard, and whether that is to be seen."""
    return bench.page.evaluate(
        """() => {
          const at = document.activeElement;
          const style = getComputedStyle(at);
          const box = at.getBoundingClientRect();
          return {
            name: at.outerHTML.slice(0, 160),
            ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
            seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
            body: at === document.body,
            transparent: !at.checkVisibility({ opacityProperty: true }),
          };
        }"""
    )


@pytest.mark.parametrize("form", [False, True], ids=["idle", "form"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_tab_alone_walks_through_the_workbench_and_focus_is_always_visible(bench, form, scheme) -> None:
    bench.page.emulate_media(color_scheme=scheme)
    bench.open(5)
    if form:
        bench.press(",")
    bench.page.locator("a.skip").focus()
    met = []
    for _ in range(200):
        at = tab_stop(bench)
        if at["body"]:
            break
        assert at["ring"], at
        assert at["seen"], at
        assert not at["transparent"], at
        met.append(at["name"])
        bench.press("Tab")
    else:
        pytest.fail("Tab never leaves the page")
    text = " ".join(met)
    for part in ('data-action="undo"', 'data-action="finish"', 'class="turn', 'data-copy="cough"', "data-goto"):
        assert part in text, part
    assert ('role="combobox"' in text) is form
    assert len(met) == len(set(met)) or len(met) < 150


def test_a_whole_label_is_made_with_tab_enter_and_letters_alone(bench) -> None:
    """Somebody who knows no key but Tab and Enter gets along."""
    bench.open(7)
    bench.page.locator("a.skip").focus()
    for _ in range(60):
        if bench.page.evaluate("document.activeElement.dataset.action === 'slot:habit'"):
            break
        bench.press("Tab")
    bench.press("Enter")
    assert bench.focused_field == "value"
    bench.type("smoking")
    bench.press("Enter")
    assert bench.at(7)[0]["value"] == ["smoking"]
    assert bench.focused_turn == 8
