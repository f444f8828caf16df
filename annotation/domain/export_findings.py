"""What differs in an export, and what of it could not be recomputed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from annotation.domain.strict_json import printable

_MOST = 1_000  # a damaged file gives one for every turn


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was exported. `dialogue` and `turn` (its `uttr_id`) where they are known."""

    file: str
    message: str
    dialogue: str = ""
    turn: int | None = None

    def __str__(self) -> str:
        place = [self.file]
        if self.dialogue:
            place.append(f"dialogue {self.dialogue}")
        if self.turn is not None:
            place.append(f"turn {self.turn}")
        return f"{', '.join(place)}: {self.message}"

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "dialogue": self.dialogue,
            "turn": self.turn,
            "message": self.message,
            "text": str(self),
        }


@dataclass(slots=True)
class Verification:
    """What was recomputed, and what differs. `notes` say what could not be recomputed, and why."""

    files: int = 0
    dialogues: int = 0
    states: int = 0
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def say(self, file: str, message: str, dialogue: str = "", turn: int | None = None) -> None:
        """Names come from files, so that they may hold what no terminal takes."""
        if len(self.findings) < _MOST:
            self.findings.append(Finding(printable(file), printable(message), printable(dialogue), turn))

    def as_json(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "dialogues": self.dialogues,
            "states": self.states,
            "findings": [one.as_json() for one in self.findings],
            "notes": self.notes,
        }
