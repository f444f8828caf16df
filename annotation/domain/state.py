"""The patient's state: one rule over everything the patient has said so far.

An entry is identified by its slot (without the status) and its value. Naming it again updates the attributes it names
(a list is replaced, never merged) and moves the entry to the newest status; its other attributes stay, and so does its
status when the mention names none. Entries keep the order in which they were first named. A mention without a value
updates the one entry of its slot that has none.
Source: the published states of MediTOD (arXiv 2410.14204), which this rule reproduces exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Attribute = str | tuple[str, ...]
EntryKey = tuple[str, str | None]  # what identifies an entry: its slot and its value


@dataclass(frozen=True, slots=True)
class Mention:
    """One thing said in one utterance. The rule does not care how statuses and attributes are named."""

    position: int
    slot: str
    value: str | None
    status: str
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and the position of the utterance that set it."""

    position: int
    value: Attribute


@dataclass(frozen=True, slots=True)
class Entry:
    """A thing the patient has or has not, with everything said of it, oldest first.

    `statuses` begins with the first mention, even one without a status; after that only mentions that name one enter.
    """

    slot: str
    value: str | None
    statuses: tuple[Setting, ...]
    attributes: Mapping[str, tuple[Setting, ...]]

    @property
    def first_position(self) -> int:
        return self.statuses[0].position

    @property
    def status(self) -> str:
        """The newest status, "" where the slot knows none."""
        newest = self.statuses[-1].value
        return newest if isinstance(newest, str) else ""

    def current(self) -> dict[str, Attribute]:
        """The attributes as they stand."""
        return {name: settings[-1].value for name, settings in self.attributes.items()}


@dataclass(frozen=True, slots=True)
class State:
    """All entries, in the order in which they were first named."""

    entries: tuple[Entry, ...]

    def at(self, position: int) -> State:
        """The state as it was after the utterance at `position`."""
        kept = [_until(entry, position) for entry in self.entries if entry.first_position <= position]
        return State(tuple(kept))

    def by_slot(self) -> dict[str, list[Entry]]:
        table: dict[str, list[Entry]] = {}
        for entry in self.entries:
            table.setdefault(entry.slot, []).append(entry)
        return table


class Tracker:
    """The rule, mention by mention; they must come in the order of the dialogue."""

    def __init__(self) -> None:
        self._building: dict[EntryKey, tuple[list[Setting], dict[str, list[Setting]]]] = {}

    def add(self, mention: Mention) -> EntryKey:
        """Take the mention up; says of which entry it speaks."""
        key = mention.slot, mention.value
        statuses, attributes = self._building.setdefault(key, ([], {}))
        if mention.status or not statuses:
            statuses.append(Setting(mention.position, mention.status))
        for name, value in mention.attributes.items():
            attributes.setdefault(name, []).append(Setting(mention.position, value))
        return key

    def entry(self, key: EntryKey) -> Entry:
        """The entry as it stands; raises KeyError for one that nothing has spoken of."""
        statuses, attributes = self._building[key]
        return Entry(*key, tuple(statuses), {name: tuple(settings) for name, settings in attributes.items()})

    def state(self) -> State:
        return State(tuple(map(self.entry, self._building)))


def track(mentions: Iterable[Mention]) -> State:
    """The state after all mentions, which must come in the order of the dialogue."""
    tracker = Tracker()
    for mention in mentions:
        tracker.add(mention)
    return tracker.state()


def _until(entry: Entry, position: int) -> Entry:
    """The entry without what was said after `position`."""
    attributes = {
        name: kept
        for name, settings in entry.attributes.items()
        if (kept := tuple(setting for setting in settings if setting.position <= position))
    }
    statuses = tuple(setting for setting in entry.statuses if setting.position <= position)
    return Entry(entry.slot, entry.value, statuses, attributes)
