"""What a vocabulary is made of: strings that name concepts, the concepts, and what was wrong with a source.

A source (Metathesaurus folder, ontology file, table) is read into `SourceConcept`s in any order; the index groups
them. Concept identifiers (CUI) are those of the UMLS: "C" and seven digits. Semantic types are the UMLS's own codes
("T184", Sign or Symptom).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

CUI = re.compile(r"C[0-9]{7}")
SEMANTIC_TYPE = re.compile(r"T[0-9]{3}")
LISTED_FAULTS = 100


class Kind(IntEnum):
    """What a string is to its concept; the lower, the closer. The numbers are stored in the index."""

    NAME = 0  # the source's preferred name
    SYNONYM = 1
    LAYPERSON = 2
    ABBREVIATION = 3
    RELATED = 4  # broader, narrower or merely related, says the source

    @property
    def words(self) -> str:
        return _KINDS[self]


_KINDS = {
    Kind.NAME: "preferred name",
    Kind.SYNONYM: "synonym",
    Kind.LAYPERSON: "everyday words",
    Kind.ABBREVIATION: "abbreviation",
    Kind.RELATED: "related term",
}


class Atom(NamedTuple):
    """One string of one source for one concept. `preferred`: the source marks the string as the preferred one."""

    text: str
    cui: str
    preferred: bool
    source: str
    kind: Kind


class TypeOf(NamedTuple):
    """One semantic type of one concept; sources say this apart from the strings."""

    cui: str
    semantic_type: str


class Retired(NamedTuple):
    """A CUI that is in use no more, and one that has its place; several may. `relation` is MRCUI's word: the same (SY),
    broader (RB), narrower (RN) or otherwise related (RO).
    """

    cui: str
    relation: str
    heir: str


Entry = Atom | TypeOf | Retired
RELATIONS = ("SY", "RB", "RN", "RO")  # the closest first; their places are stored in the index


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept as it is looked up. `synonyms` are all its strings but the name, closest kind first, each once."""

    cui: str
    name: str
    semantic_types: tuple[str, ...]
    synonyms: tuple[str, ...]
    sources: tuple[str, ...]


class Meaning(NamedTuple):
    """One concept that a term stands for. `preferred` as in `Atom`."""

    cui: str
    kind: Kind
    preferred: bool


@dataclass(frozen=True, slots=True)
class Term:
    """A string of the vocabulary, whatever its case: `text` as the closest source writes it, `key` folded."""

    text: str
    key: str
    concepts: tuple[Meaning, ...]


@dataclass(frozen=True, slots=True)
class Mention:
    """Characters `start` to `end` of a text (end excluded) that resemble `term`; `similarity` from 0 to 1."""

    start: int
    end: int
    text: str
    term: str
    cuis: tuple[str, ...]
    similarity: float


@dataclass(frozen=True, slots=True)
class Fault:
    """Something in a source that was left out, in one sentence. `line` counts from 1; 0 where no line can be named."""

    file: str
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.sentence}" if self.line else f"{self.file}: {self.sentence}"


@dataclass(slots=True)
class Faults:
    """All faults of a reading, counted by kind; of each kind the first hundred are kept to be shown."""

    counts: Counter[str] = field(default_factory=Counter)
    listed: list[Fault] = field(default_factory=list)

    def add(self, kind: str, fault: Fault) -> None:
        self.counts[kind] += 1
        if self.counts[kind] <= LISTED_FAULTS:
            self.listed.append(fault)

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def matching_form(text: str) -> str:
    """The form in which strings are compared by their letters: lower case, accents apart from their letters (NFKD).

    It is what QuickUMLS stores of a string when told to lower it; characters that no file can hold are dropped.
    """
    if text.isascii():
        return text.strip().lower().replace("\0", "")
    text = text.strip().encode("utf-8", "ignore").decode().lower().replace("\0", "")
    return unicodedata.normalize("NFKD", text)


def letter_trigrams(text: str) -> Iterable[str]:
    """All runs of three characters; a text of one or two characters is its own run."""
    return (text[start : start + 3] for start in range(len(text) - 2)) if len(text) > 2 else (text,)


def similarity(one: str, other: str) -> float:
    """Jaccard similarity of the sets of trigrams: shared ÷ all. 0 for an empty string. Both in `matching_form`."""
    if not one or not other:
        return 0.0
    left, right = set(letter_trigrams(one)), set(letter_trigrams(other))
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared)
