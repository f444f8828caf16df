"""A skilled annotator at the keyboard: looks at the page as a person does, and presses the fewest keys they can see.

Nothing is called in the page; every label is made by key presses alone, and every press is counted, a Shift or Ctrl
held with another key as one press more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Locator, Page

from annotation.domain.labels import Label
from annotation.domain.questionnaire import Field, Kind, Questionnaire, Slot


@dataclass
class Annotator:
    page: Page
    questionnaire: Questionnaire
    speakers: Mapping[int, str]
    presses: int = 0
    per_label: list[int] = field(default_factory=list)
    made: list[Label] = field(default_factory=list)

    # --- keys -------------------------------------------------------------------------------------------------------

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.presses += 1 + key.count("+") if len(key) > 1 else 1

    def focused(self) -> dict[str, Any]:
        """What has the keyboard: the field it belongs to, and the state of its list of suggestions."""
        return self.page.evaluate(
            """() => {
              const at = document.activeElement;
              const box = at.closest('.combobox');
              const options = box ? [...box.querySelectorAll('[role=option]')] : [];
              const list = box && box.querySelector('[role=listbox]');
              return {
                field: at.closest('[data-form] [data-field]')?.dataset.field || '',
                jump: Boolean(at.closest('.jump')),
                slot: Boolean(at.closest('.form-slot')),
                radio: at.type === 'radio', checkbox: at.type === 'checkbox',
                rating: at.closest('.rating')?.firstChild?.textContent || '',
                value: at.value || '',
                options: list && !list.hidden ? options.map((o) => o.querySelector('.option-value').textContent) : [],
                active: options.findIndex((o) => o.getAttribute('aria-selected') === 'true'),
                chosen: box ? [...box.querySelectorAll('.chosen li')].map((o) => o.firstChild.textContent) : [],
              };
            }"""
        )

    def current(self) -> int:
        return int(self.page.locator(".turn[aria-current]").get_attribute("data-position") or -1)

    def go_to(self, position: int) -> None:
        while (at := self.current()) != position:
            self.press("ArrowDown" if at < position else "ArrowUp")

    # --- labels -----------------------------------------------------------------------------------------------------

    def enter(self, labels: list[Label]) -> None:
        """Enter labels in the order given, which is that of the dialogue."""
        for index, label in enumerate(labels):
            before = self.presses
            more = index + 1 < len(labels) and labels[index + 1].position == label.position
            self.enter_one(label, stay=more)
            self.per_label.append(self.presses - before)
            self.made.append(label)

    def enter_one(self, label: Label, *, stay: bool) -> None:
        self.go_to(label.position)
        intent = self.questionnaire.intent(label.intent)
        assert intent is not None
        if not label.slot and intent.key and not stay:
            return self.press(intent.key)
        if (answer := self.answer_key(label)) and not stay:
            return self.press(answer)
        if self.made and same(self.made[-1], label) and not stay:
            return self.press(".")
        self.open_form(label)
        self.fill(label)
        return self.press("Shift+Enter" if stay else "Enter")

    def answer_key(self, label: Label) -> str:
        """The answer key that makes exactly this label, "" for none."""
        asked = self.asked(label.position)
        slot = self.questionnaire.slot(label.slot)
        if len(asked) != 1 or slot is None or slot.status_field is None or asked[0].slot != label.slot:
            return ""
        inquiry = asked[0]
        expected = {
            item.name: inquiry.answers[item.name]
            for item in slot.fields
            if item.kind is Kind.VALUES and item.name in inquiry.answers
        }
        if slot.head and not expected.get(slot.head):
            return ""
        for meaning, key in (("yes", "y"), ("no", "n"), ("unsure", "u")):
            choice = next((c for c in slot.status_field.choices if c.meaning == meaning and not c.older), None)
            if choice and {**expected, slot.status: choice.name} == dict(label.answers) and not label.checks:
                return key
        return ""

    def asked(self, position: int) -> list[Label]:
        """The inquiries of the nearest earlier turn of the other speaker, as one sees them above the utterance."""
        for at in range(position - 1, max(-1, position - 5), -1):
            if self.speakers[at] == self.speakers[position]:
                continue
            found = [label for label in self.made if label.position == at and label.intent == "inquire" and label.slot]
            if found:
                return found
        return []

    def open_form(self, label: Label) -> None:
        slot = self.questionnaire.slot(label.slot)
        assert slot is not None
        speaker = self.questionnaire.speaker(self.speakers[label.position])
        assert speaker is not None
        asked = self.asked(label.position)
        head = label.values(slot.head) if slot.head else []
        answered = [made for made in self.made if made.position == label.position]
        if asked and speaker.name == "patient" and label.intent == "inform" and not answered:
            inquiry = asked[0]
            if inquiry.slot == label.slot and (not slot.head or inquiry.values(slot.head) == head):
                return self.press("Enter")
        if head and label.intent == speaker.usual_intent and (digit := self.chip(slot, head[0])):
            return self.press(digit)
        usual = speaker.usual_intent if speaker.usual_intent in slot.intents else ""
        shifted = bool(usual) and label.intent != usual
        return self.press(f"Shift+{slot.key}" if shifted else slot.key)

    def chip(self, slot: Slot, value: str) -> str:
        chips = self.page.locator(".turn[aria-current] [data-chip]")
        for index, title in enumerate(chips.evaluate_all("chips => chips.map((chip) => chip.title)")):
            if title == f"{slot.title}: {value}":
                return str(index + 1)
        return ""

    # --- the form ---------------------------------------------------------------------------------------------------

    def fill(self, label: Label) -> None:
        slot = self.questionnaire.slot(label.slot)
        assert slot is not None
        for item in slot.fields:
            wanted = label.answers.get(item.name)
            if not wanted and item.name not in label.checks:
                continue
            if self.has_answer(item, wanted, checked=item.name in label.checks):
                continue
            if not self.reach(item, label, wanted):
                continue
            if wanted:
                self.answer(item, wanted)
            self.tick(item, item.name in label.checks)

    def has_answer(self, item: Field, wanted: Any, *, checked: bool) -> bool:
        row = self.page.locator(f'.questions [data-field="{item.name}"]')
        if not row.count():
            return False
        if checked and row.locator('.tick input[type="checkbox"]:checked').count() == 0:
            return False
        if not wanted:
            return True
        if item.kind is Kind.CHOICE:
            checked_radio = row.locator("input[type=radio]:checked")
            return bool(checked_radio.count()) and checked_radio.first.input_value() == wanted
        if item.kind is Kind.VALUES:
            return texts(row.locator(".chosen li")) == list(wanted)
        return False

    def reach(self, item: Field, label: Label, wanted: Any) -> bool:
        """Bring the keyboard into a question. False when naming it was all there was to do (an inquiry's bare tick)."""
        if self.page.locator(f'.questions [data-field="{item.name}"]').count():
            key = "Shift+Tab" if self.behind(f'.questions [data-field="{item.name}"]') else "Tab"
            for _ in range(20):
                if self.focused()["field"] == item.name:
                    return True
                self.press(key)
            raise AssertionError(f"{item.name} cannot be reached with Tab")
        key = "Shift+Tab" if self.behind(".jump") else "Tab"
        for _ in range(20):
            if self.focused()["jump"]:
                break
            self.press(key)
        name = item.name.replace("_", " ")
        for letter in name:
            self.press(letter)
            at = self.focused()
            if at["options"] and at["options"][max(0, at["active"])] == name:
                break
        last = list(label.checks)[-1:] == [item.name] and not wanted
        if last and not self.more_after(item, label):
            return False
        self.press("Tab")
        return True

    def behind(self, selector: str) -> bool:
        """Whether a part of the form stands before the keyboard."""
        return self.page.evaluate(
            """(selector) => {
              const [part, at] = [document.querySelector(selector), document.activeElement];
              return Boolean(at.compareDocumentPosition(part) & Node.DOCUMENT_POSITION_PRECEDING) && !part.contains(at);
            }""",
            selector,
        )

    def more_after(self, item: Field, label: Label) -> bool:
        slot = self.questionnaire.slot(label.slot)
        assert slot is not None
        names = [field.name for field in slot.fields]
        after = names[names.index(item.name) + 1 :]
        return any(name in label.checks or label.answers.get(name) for name in after)

    def answer(self, item: Field, wanted: Any) -> None:
        if item.kind is Kind.CHOICE:
            return self.choose(str(wanted))
        if item.kind is Kind.VALUES:
            return self.values([str(value) for value in wanted])
        if item.kind is Kind.RATED_VALUES:
            return self.rated(wanted)
        return self.text(str(wanted))

    def choose(self, name: str) -> None:
        """A closed list: the number beside the answer. Coming from behind, its criterion is met first."""
        while not self.focused()["radio"]:
            self.press("Shift+Tab")
        row = self.page.locator("[role=radiogroup]:focus-within input[type=radio]")
        names = row.evaluate_all("radios => radios.map((radio) => radio.value)")
        self.press(str(names.index(name)))

    def values(self, wanted: list[str]) -> None:
        present = self.focused()["chosen"]
        if not self.focused()["field"] or present[: len(wanted)] == wanted:
            return
        while present and present != wanted[: len(present)]:
            self.press("Backspace")
            present = self.focused()["chosen"]
        for index, value in enumerate(wanted[len(present) :]):
            if index:
                self.press(",")
            self.type_value(value, strong=True)

    def rated(self, wanted: list[dict[str, str]]) -> None:
        for index, item in enumerate(wanted):
            if index:
                self.press(",")
            self.type_value(item["value"], strong=True)
        for item in wanted:
            if item["rating"]:
                self.press("Tab")
                self.choose(item["rating"])

    def text(self, wanted: str) -> None:
        if self.focused()["value"] != wanted:
            self.type_value(wanted, strong=False)

    def type_value(self, value: str, *, strong: bool) -> None:
        """Type until the value can be had with fewer keys from the list than by typing on."""
        if self.pick(value, len(value) + 1):
            return None
        if "," in value and strong:
            return self.press('"', *value, '"')
        for index, letter in enumerate(value):
            self.press("Space" if letter == " " else letter)
            at = self.focused()
            left = len(value) - index - 1
            if at["active"] >= 0 and fold(at["options"][at["active"]]) == fold(value):
                return None
            if left and self.pick(value, left, listed=at):
                return None
        at = self.focused()
        if at["active"] >= 0 and fold(at["options"][at["active"]]) != fold(value):
            # Something else is highlighted: what was typed is meant.
            self.press(*["ArrowUp"] * (at["active"] + 1))
        return None

    def pick(self, value: str, worth: int, listed: dict[str, Any] | None = None) -> bool:
        """Choose a value that stands in the list with ↓ if that takes fewer presses than `worth`."""
        at = listed or self.focused()
        if value not in at["options"]:
            return False
        steps = at["options"].index(value) - at["active"]
        if not 0 < steps < worth:
            return False
        self.press(*["ArrowDown"] * steps)
        return True

    def tick(self, item: Field, wanted: bool) -> None:
        box = self.page.locator(f'.questions [data-field="{item.name}"] .tick input')
        if not box.count() or box.is_checked() == wanted:
            return
        for _ in range(20):
            at = self.focused()
            if at["checkbox"] and at["field"] == item.name:
                break
            self.press("Tab")
        self.press("Space")


def same(one: Label, other: Label) -> bool:
    return (one.intent, one.slot, one.answers, one.checks) == (other.intent, other.slot, other.answers, other.checks)


def fold(text: str) -> str:
    return " ".join(text.split())


def texts(items: Locator) -> list[str]:
    return items.evaluate_all("items => items.map((item) => item.firstChild.textContent)")
