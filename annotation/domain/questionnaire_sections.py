"""Reading the keys of one part of a questionnaire file, with a notice for each thing that is wrong.

A reader never stops at a fault: it reports it and goes on with a harmless value, so that an author sees all faults of a
file at once.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from annotation.domain.notices import Notice, Severity
from annotation.domain.yaml_tree import Node

AnyEnum = TypeVar("AnyEnum", bound=StrEnum)


@dataclass(slots=True)
class Report:
    """The faults found so far in one file."""

    file: str
    notices: list[Notice] = field(default_factory=list)

    def add(self, line: int, key: str, message: str) -> None:
        self.notices.append(Notice(Severity.ERROR, self.file, line, message, key=key))


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping of the file at a key path such as `slots.symptom.fields.severity`."""

    report: Report
    path: str
    line: int
    nodes: dict[str, Node]

    @classmethod
    def of(cls, node: Node, path: str, report: Report) -> Section:
        """The mapping at a node; an empty one, reported, where something else stands there."""
        if isinstance(node.value, dict):
            return cls(report, path, node.line, node.value)
        report.add(node.line, path, f"Here keys with values are expected, but there is {described(node)}.")
        return cls(report, path, node.line, {})

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        return key in self.nodes

    def fault(self, key: str, message: str) -> None:
        """Report a fault of one key, or of the whole section for the key ""."""
        node = self.nodes.get(key)
        self.report.add(node.line if node else self.line, self.at(key) if key else self.path, message)

    def only(self, *known: str) -> None:
        """Report every key that means nothing here."""
        for key in self.nodes:
            if key not in known:
                self.fault(key, f"The key `{key}` is not known here{suggestion(key, known) or '.'}")

    def require(self, *keys: str) -> None:
        for key in keys:
            if key not in self.nodes:
                self.report.add(self.line, self.at(key), f"The key `{key}` is missing; add it.")

    def text(self, key: str, default: str = "", *, filled: bool = False) -> str:
        """A text. `filled`: where the key is written, something must stand there."""
        node = self.nodes.get(key)
        if node is None:
            return default
        if node.value is None and not filled:
            return default
        if not isinstance(node.value, str):
            self.fault(key, f"`{key}` must be text, but it is {described(node)}{quoting(node)}.")
            return default
        value = node.value.strip()
        if filled and not value:
            self.fault(key, f"`{key}` is empty; write something or remove the key.")
            return default
        return value

    def flag(self, key: str) -> bool:
        node = self.nodes.get(key)
        if node is None:
            return False
        if isinstance(node.value, bool):
            return node.value
        self.fault(key, f"`{key}` must be true or false, but it is {described(node)}.")
        return False

    def whole(self, key: str, default: int) -> int:
        node = self.nodes.get(key)
        if node is None:
            return default
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            return node.value
        self.fault(key, f"`{key}` must be a whole number, but it is {described(node)}.")
        return default

    def one_of(self, key: str, kinds: type[AnyEnum], default: AnyEnum) -> AnyEnum:
        node = self.nodes.get(key)
        if node is None:
            return default
        names = [str(member) for member in kinds]
        if node.value in names:
            return kinds(node.value)
        hint = suggestion(str(node.value), names) or f"; use one of {listed(names)}."
        self.fault(key, f"`{key}` can't be {described(node)}{hint}")
        return default

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, each written once; a single text counts as a list of one."""
        node = self.nodes.get(key)
        if node is None:
            return ()
        items = node.value if isinstance(node.value, list) else [node]
        found: list[str] = []
        for item in items:
            if not isinstance(item.value, str) or not item.value.strip():
                message = f"`{key}` must be a list of texts, but one item is {described(item)}{quoting(item)}."
                self.report.add(item.line, self.at(key), message)
            elif item.value.strip() in found:
                self.report.add(item.line, self.at(key), f"“{item.value.strip()}” is listed twice under `{key}`.")
            else:
                found.append(item.value.strip())
        return tuple(found)

    def references(self, key: str, known: Collection[str], what: str) -> tuple[str, ...]:
        """A list of names, each of which must be known."""
        found = self.texts(key)
        for name in found:
            self.check_known(key, name, known, what)
        return tuple(name for name in found if name in known)

    def reference(self, key: str, known: Collection[str], what: str) -> str:
        """One name that must be known, or "" where the key is missing."""
        name = self.text(key, filled=True)
        return name if name and self.check_known(key, name, known, what) else ""

    def check_known(self, key: str, name: str, known: Collection[str], what: str) -> bool:
        """Whether the name under a key is one of the known; reported where it is not."""
        if name in known:
            return True
        hint = suggestion(name, known) or (f"; known are {listed(known)}." if known else "; none is defined.")
        self.fault(key, f"There is no {what} “{name}”{hint}")
        return False

    def items(self, key: str) -> list[Node]:
        """The items of a list; what is not a list is reported."""
        node = self.nodes.get(key)
        if node is None or node.value is None:
            return []
        if isinstance(node.value, list):
            return node.value
        self.fault(key, f"`{key}` must be a list, but it is {described(node)}.")
        return []

    def inside(self, key: str) -> Section:
        """The mapping under a key, empty where the key is missing."""
        node = self.nodes.get(key)
        if node is None:
            return Section(self.report, self.at(key), self.line, {})
        return Section.of(node, self.at(key), self.report)

    def children(self) -> Iterator[tuple[str, Section]]:
        """Every (key, mapping) below, in the order of the file."""
        for key, node in self.nodes.items():
            yield key, Section.of(node, self.at(key), self.report)


def described(node: Node) -> str:
    """What stands at a place of the file, for a sentence."""
    value = node.value
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {value}"
    return f"the text “{value[:40]}{'…' if len(value) > 40 else ''}”"


def quoting(node: Node) -> str:
    """The advice that helps where a text was taken for a number or a truth value."""
    return "; put it in quotes" if isinstance(node.value, bool | int | float) else ""


def suggestion(name: str, known: Collection[str]) -> str:
    """The end of a sentence that offers the nearest known name, or nothing where none is near."""
    near = difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.6)
    return f"; did you mean `{near[0]}`?" if near else ""


def listed(names: Collection[str], most: int = 12) -> str:
    """At most `most` names in a row."""
    shown = [f"`{name}`" for name in list(names)[:most]]
    return ", ".join(shown) + (", …" if len(names) > most else "")
