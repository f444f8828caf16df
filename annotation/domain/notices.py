"""What is said about a file that is read: one clear sentence with its place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Notice:
    """`line` counts from 1, 0 stands for the whole file; `key` names the place inside a structured file."""

    severity: Severity
    file: str
    line: int
    message: str
    dialogue: str = ""
    key: str = ""

    def __str__(self) -> str:
        place = self.file + (f", line {self.line}" if self.line else "") + (f", {self.key}" if self.key else "")
        return f"{place}: {self.message}" if place else self.message

    def as_json(self) -> dict[str, str | int]:
        return {
            "severity": str(self.severity),
            "file": self.file,
            "line": self.line,
            "key": self.key,
            "dialogue": self.dialogue,
            "message": self.message,
            "text": str(self),
        }


def shortened(text: str, limit: int = 60) -> str:
    """The text as a sentence repeats it: cut after `limit` characters, so that nobody gets a megabyte back."""
    return text[:limit].rstrip() + "…" if len(text) > limit else text


def quoted(text: str, limit: int = 60) -> str:
    """The text as a message shows it: in quotation marks, on one line, printable, cut after `limit` characters."""
    cut = shortened(text, limit)
    # Control characters, lone surrogates and marks that turn the writing direction would damage the message itself.
    clean = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in cut)
    return f'"{clean}"'
