"""Dialogues as they come out of a file, before anything is written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.domain.labels import Utterance
from annotation.domain.notices import Notice, Severity


@dataclass(frozen=True, slots=True)
class ParsedDialogue:
    """One dialogue of a file: its external id, its turns, and what else the file said about it."""

    external_id: str
    utterances: tuple[Utterance, ...]
    specialty: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """SHA-256 over speakers and texts, in hex: two dialogues with the same one say the same."""
        digest = hashlib.sha256()
        for turn in self.utterances:
            digest.update(f"{turn.speaker}\x1f{turn.text}\x1e".encode())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """What a file holds: the dialogues that can be imported, and notices. One with an error is not among them."""

    name: str
    format: str  # "transcript", "portal dialogue", "dataset", "jsonl", "csv"; "" when not recognised
    encoding: str  # "utf-8", "utf-8 with BOM", "utf-16", "windows-1252"
    dialogues: tuple[ParsedDialogue, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def errors(self) -> tuple[Notice, ...]:
        return tuple(notice for notice in self.notices if notice.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Notice, ...]:
        return tuple(notice for notice in self.notices if notice.severity is Severity.WARNING)
