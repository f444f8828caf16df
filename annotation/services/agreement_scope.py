"""Over what agreement is measured: all doubly labelled dialogues of a project, or a chosen part of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.text import slugify


@dataclass(frozen=True, slots=True)
class Scope:
    """`seeds`: only what was given to both annotators as a seed. `since` and `until` (both included): by the day on
    which the later of two readings was labelled last (or finished, if it has no label). `pair`: row numbers of two
    people, the smaller one first.
    """

    seeds: bool = False
    since: date | None = None
    until: date | None = None
    pair: tuple[int, int] | None = None
    specialty: str = ""

    @property
    def whole(self) -> bool:
        return self == Scope()

    def as_json(self) -> dict[str, Any]:
        """What is chosen, and nothing else."""
        chosen: dict[str, Any] = {}
        if self.seeds:
            chosen["seeds"] = True
        if self.since:
            chosen["since"] = self.since.isoformat()
        if self.until:
            chosen["until"] = self.until.isoformat()
        if self.pair:
            chosen["pair"] = list(self.pair)
        if self.specialty:
            chosen["specialty"] = self.specialty
        return chosen

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Scope:
        """The reverse of `as_json`; the data comes from a snapshot of our own."""
        since, until = (date.fromisoformat(data[name]) if name in data else None for name in ("since", "until"))
        pair = (int(data["pair"][0]), int(data["pair"][1])) if "pair" in data else None
        return cls(bool(data.get("seeds")), since, until, pair, data.get("specialty", ""))

    @property
    def key(self) -> str:
        """The same for the same scope, whoever asks."""
        text = json.dumps(self.as_json(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def query(self) -> dict[str, str]:
        """The scope as the fields of a page's address."""
        fields = {
            "of": "seeds" if self.seeds else "",
            "pair": "-".join(map(str, self.pair)) if self.pair else "",
            "specialty": self.specialty,
            "since": self.since.isoformat() if self.since else "",
            "until": self.until.isoformat() if self.until else "",
        }
        return {name: value for name, value in fields.items() if value}

    def file_part(self, names: Mapping[int, str]) -> str:
        """The scope as a part of a file's name, like "seeds.alice-bob.from-2024-05-01"; empty for the whole."""
        parts = ["seeds" if self.seeds else "", slugify(self.specialty, allow_unicode=True)]
        if self.pair:
            parts.append("-".join(slugify(names.get(pk, str(pk)), allow_unicode=True) for pk in self.pair))
        parts += [f"from-{self.since.isoformat()}"] if self.since else []
        parts += [f"until-{self.until.isoformat()}"] if self.until else []
        return ".".join(part for part in parts if part)

    def sentence(self, names: Mapping[int, str]) -> str:
        """The scope in words; `names` by the row numbers of people."""
        parts = ["seed dialogues" if self.seeds else "all doubly labelled dialogues"]
        if self.specialty:
            parts.append(f"of specialty {self.specialty}")
        if self.pair:
            one, other = (names.get(pk, "somebody") for pk in self.pair)
            parts.append(f"of {one} and {other}")
        if self.since:
            parts.append(f"from {self.since.isoformat()}")
        if self.until:
            parts.append(f"until {self.until.isoformat()}")
        return " ".join(parts)
