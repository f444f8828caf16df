"""What stands beside an export and says what it holds, how it was made, and what every file's bytes add up to.

Nothing in it depends on when or where the export was made: the same data and options give the same bytes. Its one time
is that of the newest label.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from annotation.domain.exported import Exported

PATH = "manifest.json"
FORM = "anamnesis-export-1"
KINDS = ("gold", "annotator", "all")


class BadManifest(ValueError):
    """A manifest that cannot be read, in one sentence."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of the export: its path with slashes, its size, and the SHA-256 of its bytes in hex."""

    path: str
    bytes: int
    sha256: str


@dataclass(slots=True)
class Counts:
    """What a part of an export holds. `labels` counts actions of the doctor and, of the patient, intents."""

    dialogues: int = 0
    utterances: int = 0
    labelled_utterances: int = 0
    labels: int = 0
    tuples: int = 0
    dialogues_by_split: Counter[str] = field(default_factory=Counter)
    utterances_by_split: Counter[str] = field(default_factory=Counter)

    def add(self, item: Exported) -> None:
        """Raises Malformed for labels that are not of the dataset's form."""
        labels = [len(turn.get("nlu", turn.get("actions", ()))) for turn in item.turns]
        tuples = sum(map(len, item.unrolled))
        self.dialogues += 1
        self.utterances += len(item.turns)
        self.labelled_utterances += sum(map(bool, labels))
        self.labels += sum(labels)
        self.tuples += tuples
        self.dialogues_by_split[str(item.split)] += 1
        self.utterances_by_split[str(item.split)] += len(item.turns)

    def as_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: dict(sorted(own.items())) if isinstance(own, Counter) else own for name, own in plain.items()}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A dialogue that could not be written, in which part of the export, and why. `split`: where it would have been."""

    dialogue: str
    folder: str
    split: str
    reason: str


@dataclass(frozen=True, slots=True)
class Contributor:
    """Somebody whose labels are in the export, or from whose labels its gold was made, by a pseudonym."""

    pseudonym: str
    dialogues: int


@dataclass(frozen=True, slots=True)
class Part:
    """One reading of the dialogues. `folder` is "" where the export has one; with all annotators, each has a folder.
    `concepts` says how much of it is linked to concepts."""

    folder: str
    counts: Mapping[str, Any]
    concepts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Manifest:
    """See docs/exports.md, which says what each field means, and docs/schemas/manifest.schema.json. It is read back by
    `manifest_reading`."""

    title: str
    licence: str
    citation: str
    source: str
    only_finished: bool
    formats: Sequence[str]
    software: Mapping[str, str]
    questionnaire: Mapping[str, str]
    values: str
    vocabulary: Sequence[Mapping[str, str]] | None
    newest_label: str | None
    splits: Mapping[str, Any]
    parts: Sequence[Part]
    annotators: Sequence[Contributor]
    agreement: Mapping[str, Any] | None
    left_out: Sequence[LeftOut]
    files: Sequence[FileEntry]

    def text(self) -> str:
        """The text of the file. Keys are sorted; lists have the order they were given in."""
        found = {"form": FORM, **asdict(self)}
        return json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
