"""What a built vocabulary says of itself: `manifest.json` in its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FORMAT = 2  # raised whenever what lies on disk changes its shape
FILE = "manifest.json"


class UnusableVocabulary(Exception):
    """Why an index cannot be opened, in one sentence."""


@dataclass(frozen=True, slots=True)
class Licence:
    """Under what a part of the vocabulary may be used, and how it wants to be named. `text` is shown beside the
    concepts.
    """

    part: str
    text: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """`strings` were read and selected, `terms` are distinct whatever their case, `words` distinct word keys."""

    strings: int = 0
    terms: int = 0
    concepts: int = 0
    words: int = 0
    faults: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """`digest` is of the terms and concepts in order: two builds of the same source have the same. `built_at`: ISO
    8601, UTC.
    """

    name: str
    version: str
    source: str
    licences: tuple[Licence, ...] = ()
    built_at: str = ""
    digest: str = ""
    counts: Counts = field(default_factory=Counts)
    seconds: float = 0.0
    peak_mb: float = 0.0
    fault_counts: Mapping[str, int] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    semantic_types: Mapping[str, int] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT
    keys_version: int = 0

    @property
    def attribution(self) -> str:
        """What has to be said wherever concepts of this vocabulary are shown or exported."""
        return " ".join(licence.text for licence in self.licences)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    (folder / FILE).write_text(json.dumps(manifest.as_json(), ensure_ascii=False, indent=1), encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Raises UnusableVocabulary when there is none, or when it is of another format."""
    try:
        values = json.loads((folder / FILE).read_text(encoding="utf-8"))
        if values.get("format") != FORMAT:
            raise UnusableVocabulary("The vocabulary was built by another release of the portal; build it anew.")
        values["licences"] = tuple(Licence(**licence) for licence in values["licences"])
        values["counts"] = Counts(**values["counts"])
        values["faults"], values["sources"] = tuple(values["faults"]), tuple(values["sources"])
        return Manifest(**values)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UnusableVocabulary(f"The vocabulary in {folder} cannot be read; build it anew.") from error
