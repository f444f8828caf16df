"""The pages in a real Chromium: accessible in both colour schemes, no wider than the window, every control alive."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.core.cache import cache
from playwright.sync_api import Page, expect

from annotation.models import Dialogue, LabelSet, Project, Role, User
from annotation.services.accounts import person_reset_password
from tests import factory
from tests.conftest import People

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PAGES = {
    "annotator": ["/", "/?show=done", "/projects/", "{project}", "{project}guidelines/", "/me/keys/", "/me/tokens/"],
    "doctor": ["/", "{project}", "{project}dialogues/", "{dialogue}"],
    "supervisor": [
        "/",
        "/projects/new/",
        "{project}",
        "{project}dialogues/",
        "{dialogue}",
        "{project}assign/",
        "{project}members/",
        "{project}members/{member}/",
        "{project}settings/",
    ],
    "superuser": ["/", "/people/", "/people/new/", "/people/{member}/", "/me/password/"],
    "outsider": ["/", "/projects/", "/people/", "{project}"],
}


@pytest.fixture
def work(people: People, project: Project) -> LabelSet:
    """Something to see on every page: labels, a warning, an unassigned dialogue."""
    label_set = factory.make_label_set(
        factory.make_dialogue(project, "RES-1", specialty="respiratory"), people.annotator
    )
    factory.make_labels(label_set, factory.inform(1, "symptom", "cough", status="yes"))
    label_set.dialogue.utterances.filter(position=3).update(warning="Line 7: the colon is missing.")
    factory.make_dialogue(project, "CAR-1", specialty="cardiac")
    factory.make_label_set(factory.make_dialogue(project, "MSK-1"), people.annotator)
    return label_set


@pytest.fixture
def page(chromium, live_server) -> Iterator[Page]:
    """A page at 1366×768 that fails the test when the console has an error."""
    cache.clear()
    context = chromium.new_context(viewport={"width": 1366, "height": 768}, base_url=live_server.url)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    # A refused page is an error to the console; that is what some tests ask for.
    assert [text for text in errors if "status of 40" not in text] == []


def sign_in(page: Page, user: User, password: str = factory.PASSWORD) -> None:
    page.goto("/sign-in/")
    page.get_by_label("User name").fill(user.username)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_load_state()


@pytest.mark.parametrize("who", PAGES)
def test_pages_have_no_serious_fault_and_fit_at_200_percent(page, people, work, who):
    sign_in(page, getattr(people, who))
    names = {
        "project": "/projects/chest-clinic/",
        "dialogue": f"/projects/chest-clinic/dialogues/{work.dialogue_id}/",
        "member": people.annotator.pk,
    }
    for path in PAGES[who]:
        page.goto(path.format(**names))
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert serious_faults(page) == [], f"{path} in {scheme}"
        page.set_viewport_size({"width": 683, "height": 384})
        assert page.evaluate("document.documentElement.scrollWidth") <= 683, path
        page.set_viewport_size({"width": 1366, "height": 768})


def test_signing_in_has_no_serious_fault_even_with_an_error(page, people):
    page.goto("/sign-in/")
    assert serious_faults(page) == []
    sign_in(page, people.annotator, "wrong")
    expect(page.get_by_role("alert")).to_contain_text("do not match")
    assert serious_faults(page) == []


def serious_faults(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {fault['nodes'][0]['html']}" for fault in found if fault["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("width", [1366, 683])
def test_the_longest_names_fit_into_every_page(page, people, project, width):
    """A name without a place to break, of every thing that has one."""
    person = people.supervisor
    User.objects.filter(pk=person.pk).update(first_name="V" * 150, last_name="W" * 150)
    Project.objects.filter(pk=project.pk).update(name="P" * 100)
    dialogue = factory.make_dialogue(project, "D" * 100, specialty="S" * 60, source_name="F" * 255)
    label_set = factory.make_label_set(dialogue, factory.make_member(project, person, Role.ANNOTATOR))
    page.set_viewport_size({"width": width, "height": 768})
    sign_in(page, person)
    home = f"/projects/{project.slug}/"
    pages = ["", "dialogues/", f"dialogues/{dialogue.pk}/", "assign/", "members/", f"members/{person.pk}/", "exports/"]
    pages += ["settings/", "guidelines/", "imports/", f"work/{label_set.pk}/", f"work/{label_set.pk}/labels/import/"]
    faults = {}
    for path in ["/", "/projects/", "/me/keys/", *(home + path for path in pages)]:
        page.goto(path)
        faults[path] = page.evaluate(TOO_WIDE)
    assert not {path: parts for path, parts in faults.items() if parts}


# What can be read or pressed only after scrolling sideways; in a narrow window a table may be scrolled.
TOO_WIDE = """[document.documentElement, ...document.querySelectorAll('.table-wrap, .topbar, .work-head, .card')]
    .filter((part) => innerWidth > 1000 || !part.matches('.table-wrap'))
    .filter((part) => part.scrollWidth > part.clientWidth + 1)
    .map((part) => `${part.tagName} ${part.className}: ${part.scrollWidth} > ${part.clientWidth}`)"""


def test_everything_is_reached_by_keyboard_with_visible_focus(page, people, work):
    sign_in(page, people.annotator)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    for _ in range(20):
        width = page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth)")
        assert width >= 2, page.evaluate("document.activeElement.outerHTML")
        if "Account of" in page.evaluate("document.activeElement.textContent"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    page.keyboard.press("Enter")
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sign-in/")
    expect(page.get_by_role("status")).to_contain_text("You are signed out")


def test_the_supervisors_pages_of_a_project_stand_on_one_line(page, people, project):
    project.name = "An interview study of first consultations in general practice"
    project.save()
    sign_in(page, people.supervisor)
    page.goto("/projects/chest-clinic/")
    bar = page.locator(".project-bar")
    tops = bar.locator("nav > *").evaluate_all("(links) => links.map((link) => link.getBoundingClientRect().top)")
    assert len(tops) == 11
    assert max(tops) - min(tops) < 8
    quality = bar.locator("summary", has_text="Quality")
    items = bar.locator("details[open] .menu-items")
    quality.focus()
    page.keyboard.press("Enter")
    expect(items.locator("a")).to_have_text(["Concerns", "Completeness", "Agreement", "Adjudication"])
    page.keyboard.press("Escape")
    expect(items).to_have_count(0)
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/completeness/$"))
    expect(quality).to_have_attribute("aria-current", "true")
    bar.locator("summary", has_text="Export").click()
    expect(items.locator("a")).to_have_text(["Files", "Statistics", "Evaluation"])


def test_the_first_visit_with_a_one_time_password(page, people):
    sign_in(page, people.annotator, person_reset_password(person=people.annotator))
    expect(page.get_by_role("heading", name="Choose your own password")).to_be_visible()
    page.get_by_label("New password", exact=True).fill("four words are easy")
    page.get_by_label("New password again").fill("four words are easy")
    page.get_by_role("button", name="Save password").click()
    expect(page.get_by_role("heading", name="My work")).to_be_visible()


def test_the_list_of_dialogues_is_filtered_while_typing(page, people, work):
    sign_in(page, people.supervisor)
    page.goto("/projects/chest-clinic/dialogues/")
    page.get_by_label("Find by id").press_sequentially("car-")
    expect(page.get_by_role("link", name="RES-1")).to_have_count(0)
    expect(page.get_by_role("link", name="CAR-1")).to_be_visible()
    page.wait_for_url("**q=car-**")
    page.get_by_label("Find by id").fill("")
    page.get_by_label("Show").select_option("with warnings")
    expect(page.get_by_role("link", name="CAR-1")).to_have_count(0)
    expect(page.get_by_role("link", name="RES-1")).to_be_visible()


def test_ticked_dialogues_are_archived_after_a_question(page, people, work):
    sign_in(page, people.supervisor)
    page.goto("/projects/chest-clinic/dialogues/")
    page.get_by_label("Tick all on this page").check()
    expect(page.get_by_text("3 ticked")).to_be_visible()
    page.get_by_label("Tick RES-1").uncheck()
    expect(page.get_by_text("2 ticked")).to_be_visible()
    page.get_by_role("button", name="Archive…").click()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    assert Dialogue.objects.open().count() == 3
    page.get_by_role("button", name="Archive…").click()
    page.get_by_role("dialog").get_by_role("button", name="Archive", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("2 dialogues are archived")
    assert [row.external_id for row in Dialogue.objects.open()] == ["RES-1"]


def test_dialogues_are_assigned_by_filter_and_tick(page, people, work):
    sign_in(page, people.supervisor)
    page.goto("/projects/chest-clinic/assign/")
    page.get_by_label("Filter the list").fill("nobody")
    expect(page.get_by_label("RES-1")).to_be_hidden()
    page.get_by_label("Tick all that are shown").check()
    expect(page.get_by_text("1 ticked of 3")).to_be_visible()
    page.get_by_label("Filter the list").fill("zzz")
    expect(page.get_by_text("No dialogue matches the filter.")).to_be_visible()
    page.get_by_label("bob").check()
    page.get_by_role("button", name="Look before assigning").click()
    expect(page.get_by_role("heading", name="Make 1 assignment?")).to_be_visible()
    page.get_by_role("button", name="Change the choice").click()
    expect(page.get_by_label("CAR-1")).to_be_checked()
    page.get_by_role("button", name="Look before assigning").click()
    page.get_by_role("button", name="Assign", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("1 assignment made")
    assert LabelSet.objects.get(annotator=people.second).dialogue.external_id == "CAR-1"


def test_keys_are_taken_by_pressing_them_and_clashes_are_named_at_once(page, people):
    sign_in(page, people.annotator)
    page.goto("/me/keys/cmas/")
    field = page.get_by_label("Your key for: Repeat the last label here")
    field.focus()
    page.keyboard.press("j")
    expect(field).to_have_value("j")
    expect(page.get_by_text("j is also “Next utterance”.")).to_be_visible()
    expect(page.get_by_text("j is also “Repeat the last label here”.")).to_be_visible()
    page.keyboard.press("Backspace")
    expect(field).to_have_value("")
    expect(page.get_by_text("is also “Next utterance”")).to_have_count(0)
    page.keyboard.press("Control+F4")
    expect(field).to_have_value("Ctrl+F4")
    page.get_by_role("button", name="Save my keys").click()
    expect(page.get_by_role("status")).to_contain_text("Your keys are saved")
    assert User.objects.get(username="alice").keymap == {"repeat": "Ctrl+F4"}
    page.get_by_role("button", name="Back to the usual keys").click()
    page.get_by_role("dialog").get_by_role("button", name="Back to the usual keys").click()
    expect(page.get_by_role("status")).to_contain_text("The usual keys are back")
    assert User.objects.get(username="alice").keymap == {}


def test_guidelines_are_searched(page, people):
    sign_in(page, people.annotator)
    page.goto("/projects/chest-clinic/guidelines/")
    everything = page.locator("article:visible").count()
    page.get_by_label("Find in the guidelines").fill("household")
    assert 0 < page.locator("article:visible").count() < everything
    page.get_by_label("Find in the guidelines").fill("zzzz")
    expect(page.get_by_text("No guideline has all of these words.")).to_be_visible()


def test_a_token_is_created_and_revoked(page, people):
    sign_in(page, people.annotator)
    page.goto("/me/tokens/")
    page.get_by_role("button", name="Create a token").click()
    expect(page.get_by_role("heading", name="Your new token")).to_be_visible()
    page.get_by_role("button", name="Revoke the token").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("heading", name="No tokens yet")).to_be_visible()
