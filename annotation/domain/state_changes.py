"""How each entry of a patient's state stands after every utterance that changed it, in a form that can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.domain.state import Attribute, Entry, Mention, Setting, track

Key = tuple[str, str]  # (slot, value), "" for an entry without value


@dataclass(frozen=True, slots=True)
class Standing:
    """What a state says of one thing: its status and attributes as they stand."""

    status: str
    attributes: tuple[tuple[str, Attribute], ...]


Changes = dict[int, list[tuple[Key, Standing]]]


def changes(mentions: Iterable[Mention]) -> Changes:
    """By position, the entries that the utterance set and how they stand after it. Mentions in the dialogue's order."""
    result: Changes = {}
    for entry in track(mentions).entries:
        key = (entry.slot, entry.value or "")
        for position in sorted({setting.position for setting in entry.statuses}):
            result.setdefault(position, []).append((key, _standing(entry, position)))
    return result


def _standing(entry: Entry, position: int) -> Standing:
    """The entry after the utterance at `position`; every mention sets the status, so nothing changes in between."""
    found = ((name, _newest(settings, position)) for name, settings in entry.attributes.items())
    status = _newest(entry.statuses, position)
    return Standing(
        status if isinstance(status, str) else "",
        tuple(sorted((name, value) for name, value in found if value is not None)),
    )


def _newest(settings: tuple[Setting, ...], position: int) -> Attribute | None:
    return next((setting.value for setting in reversed(settings) if setting.position <= position), None)
