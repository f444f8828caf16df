"""The controlled lists of a questionnaire file.

An item is a text, `{value: head ache, synonyms: [headache]}`, or `{include: [symptoms, diseases]}`, which puts the
values of other lists in its place.
"""

from __future__ import annotations

from annotation.domain.questionnaire import ListedValue
from annotation.domain.questionnaire_sections import Section, described, quoting
from annotation.domain.yaml_tree import Node

Entry = ListedValue | str  # a value, or the name of a list that is put in its place
MAX_VALUE = 200


def read_lists(section: Section) -> dict[str, tuple[ListedValue, ...]]:
    """Every list with its values, those of included lists among them."""
    own = {name: _entries(section, name) for name in section.nodes}
    circular = {name for name in own if _reaches(name, name, own, set())}
    for name in sorted(circular):
        section.fault(name, f"The list `{name}` includes itself, directly or through another list.")
    return {name: () if name in circular else _expanded(name, own, circular) for name in own}


def _entries(section: Section, name: str) -> list[Entry]:
    entries: list[Entry] = []
    seen: set[str] = set()
    for number, node in enumerate(section.items(name), start=1):
        path = f"{section.at(name)}[{number}]"
        if isinstance(node.value, dict) and "include" in node.value:
            item = Section.of(node, path, section.report)
            item.only("include")
            entries.extend(item.references("include", tuple(section.nodes), "list"))
            continue
        value = _value(node, path, section)
        if value is None:
            continue
        if value.value.casefold() in seen:
            section.report.add(node.line, path, f"“{value.value}” is already in the list `{name}`.")
        seen.add(value.value.casefold())
        entries.append(value)
    return entries


def _value(node: Node, path: str, section: Section) -> ListedValue | None:
    synonyms: tuple[str, ...] = ()
    if isinstance(node.value, str) and node.value.strip():
        value = node.value.strip()
    elif isinstance(node.value, dict):
        item = Section.of(node, path, section.report)
        item.only("value", "synonyms")
        item.require("value")
        value, synonyms = item.text("value", filled=True), item.texts("synonyms")
        if value.casefold() in (synonym.casefold() for synonym in synonyms):
            item.fault("synonyms", f"“{value}” is a synonym of itself; remove it.")
    else:
        section.report.add(node.line, path, f"A value must be text, but it is {described(node)}{quoting(node)}.")
        return None
    if len(value) > MAX_VALUE:
        section.report.add(node.line, path, f"A value may have {MAX_VALUE} characters at most, this has {len(value)}.")
    return ListedValue(value, synonyms) if value else None


def _reaches(name: str, goal: str, own: dict[str, list[Entry]], visited: set[str]) -> bool:
    for entry in own[name]:
        if isinstance(entry, str) and (entry == goal or entry not in visited):
            visited.add(entry)
            if entry == goal or _reaches(entry, goal, own, visited):
                return True
    return False


def _expanded(name: str, own: dict[str, list[Entry]], circular: set[str]) -> tuple[ListedValue, ...]:
    """Values in order, each once; a value that several lists have keeps the synonyms of all of them."""
    merged: dict[str, ListedValue] = {}
    for entry in own[name]:
        for value in _values_of(entry, own, circular):
            before = merged.get(value.value)
            synonyms = (*before.synonyms, *value.synonyms) if before else value.synonyms
            merged[value.value] = ListedValue(value.value, tuple(dict.fromkeys(synonyms)))
    return tuple(merged.values())


def _values_of(entry: Entry, own: dict[str, list[Entry]], circular: set[str]) -> tuple[ListedValue, ...]:
    if isinstance(entry, ListedValue):
        return (entry,)
    return () if entry in circular else _expanded(entry, own, circular)
