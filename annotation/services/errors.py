"""What a service refuses, in words that a page, the API and a command can show as they are."""

from __future__ import annotations

from typing import Any


class Refused(Exception):
    """A request that cannot be carried out. `message` is one sentence; `field` the input it is about, if one is."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class HasWork(Refused):
    """Something with labels cannot be deleted; archiving it is offered instead."""


class Conflict(Refused):
    """The label set was changed elsewhere. `version` is the newest, `events` what happened since the version named."""

    def __init__(self, version: int, events: list[dict[str, Any]]) -> None:
        super().__init__("This dialogue was changed elsewhere since you opened it.")
        self.version = version
        self.events = events


class NotEditable(Refused):
    """The label set is finished or locked, or its dialogue or project is archived."""
