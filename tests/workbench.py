"""The workbench in Chromium, for tests: opened, typed into, and compared with what is stored."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

from annotation.domain.labels import Label
from annotation.models import LabelSet
from annotation.services.readings import labels_of
from tests.browser import sign_in


class Workbench:
    """One label set's page."""

    def __init__(self, page: Page, live_server: Any, label_set: LabelSet) -> None:
        self.page = page
        self.label_set = label_set
        project = label_set.dialogue.project.slug
        self.url = f"{live_server.url}/projects/{project}/work/{label_set.pk}/"
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.set_default_timeout(10_000)
        expect.set_options(timeout=10_000)

    def open(self, position: int = 0) -> Workbench:
        self.page.goto("about:blank")
        self.page.goto(f"{self.url}#u{position}")
        self.page.wait_for_selector("[data-ready]")
        return self

    def reload(self) -> None:
        self.page.reload()
        self.page.wait_for_selector("[data-ready]")

    def another_tab(self, live_server: Any, position: int = 0) -> Workbench:
        """The same label set in a second tab of the same browser."""
        return Workbench(self.page.context.new_page(), live_server, self.label_set).open(position)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def go_to(self, position: int) -> None:
        while (at := self.current) != position:
            self.press("ArrowDown" if at < position else "ArrowUp")

    @property
    def current(self) -> int:
        return int(self.page.locator(".turn[aria-current]").get_attribute("data-position") or -1)

    @property
    def focused_turn(self) -> int | None:
        """The utterance that has the keyboard, itself or by one of its labels."""
        found = self.page.evaluate("document.activeElement.closest('.turn')?.dataset.position ?? null")
        return None if found is None else int(found)

    @property
    def focused_field(self) -> str:
        return self.page.evaluate("document.activeElement.closest('[data-field]')?.dataset.field || ''")

    @property
    def form(self) -> Locator:
        return self.page.locator("[data-form]")

    @property
    def form_is_open(self) -> bool:
        return self.page.locator("[data-form] .questions").count() > 0

    def field(self, name: str) -> Locator:
        return self.page.locator(f'.questions [data-field="{name}"]')

    def chosen(self, name: str = "value") -> list[str]:
        """The values that stand in a field."""
        return (
            self.field(name).locator(".chosen li").evaluate_all("items => items.map((i) => i.firstChild.textContent)")
        )

    def options(self) -> list[str]:
        """The suggestions in sight."""
        return self.page.locator("[role=listbox]:not([hidden]) .option-value").all_text_contents()

    def turn(self, position: int) -> Locator:
        return self.page.locator(f"#u{position}")

    def labels_shown(self, position: int) -> list[str]:
        return [" ".join(text.split()) for text in self.turn(position).locator(".label").all_inner_texts()]

    def expect_saved(self) -> None:
        expect(self.page.locator(".saved")).to_have_attribute("data-saved", "saved")

    def expect_said(self, text: str) -> None:
        expect(self.page.locator("[data-live]")).to_contain_text(text)

    @property
    def stored(self) -> list[Label]:
        self.expect_saved()
        return list(labels_of(LabelSet.objects.get(pk=self.label_set.pk)))

    def at(self, position: int) -> list[dict[str, Any]]:
        """What is stored for an utterance, without ids and origins."""
        return [plain(label) for label in self.stored if label.position == position]

    @property
    def events(self) -> list[str]:
        """The history, as kinds."""
        return list(self.label_set.events.order_by("sequence").values_list("kind", flat=True))

    def kept_in_browser(self) -> dict[str, str]:
        return self.page.evaluate("({...localStorage})")


def plain(label: Label) -> dict[str, Any]:
    """What a label says."""
    found: dict[str, Any] = {"intent": label.intent}
    if label.slot:
        found |= {"slot": label.slot, **label.answers}
    if label.checks:
        found["checks"] = list(label.checks)
    return found


def workbench(
    chromium: Any, live_server: Any, label_set: LabelSet, username: str = "alice", **context: Any
) -> Workbench:
    """The page of a label set, signed in."""
    return Workbench(sign_in(chromium, live_server, username, **context), live_server, label_set)
