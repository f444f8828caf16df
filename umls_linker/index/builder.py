"""Building an index from strings in any order, in memory that does not grow with their number.

Three passes, each over records sorted outside memory:

1. by concept: strings meet their semantic types; the concept gets its place and its name → `concepts/`;
2. by letters (length, then text): equal strings become one term → `terms/` with SimString's shards;
3. by key and by word: exact look-up and completion (`keys/`), words with the terms that hold them (`words/`).

The records are strings (see `sorting.py`), whose parts have a fixed width or end with `END`. What is done for each
string decides how long a build takes, so that these lines are shorter on ceremony than others.

The order of terms (short before long) is kept in every list of terms, so that a list cut off is cut off at the long
end.
"""

from __future__ import annotations

import gc
import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from umls_linker.domain.vocabulary import Atom, Entry, Fault, Faults, Kind, TypeOf, matching_form
from umls_linker.index.lexicon import LexiconWriter
from umls_linker.index.manifest import Counts
from umls_linker.index.meanings import concept_of, concepts_of, encoded, is_preferred, kind_of
from umls_linker.index.retired import retired_record, write_retired
from umls_linker.index.shard_process import ShardsProcess
from umls_linker.index.shards import TRIGRAMS
from umls_linker.index.sorting import END, RecordSorter, grouped, write_inverted
from umls_linker.index.storage import BYTE, SMALL, ListsWriter, NumbersWriter, TextsWriter

Progress = Callable[[str, int], None]  # (what is done, in words; how many so far)
EVERY = 50_000
DIGESTED = 4096  # pieces that are digested together
NO_TYPE = "a CUI without a type"

# How close a string is to its concept, as one character that sorts: kind, then whether it is marked preferred.
_MARKS = {(kind, preferred): chr(ord("a") + 2 * kind + (not preferred)) for kind in Kind for preferred in (True, False)}
_CODES = {mark: encoded(0, kind, preferred) for (kind, preferred), mark in _MARKS.items()}


def unheard(_stage: str, _done: int) -> None:
    """Progress that nobody follows."""


@dataclass(frozen=True, slots=True)
class Built:
    """What went in. `types`: how many concepts have each semantic type; `sources` in the order of their numbers."""

    counts: Counts
    digest: str
    types: dict[str, int]
    sources: tuple[str, ...]


def build(
    entries: Iterable[Entry],
    folder: Path,
    *,
    faults: Faults,
    wanted_types: frozenset[str] = frozenset(),
    progress: Progress = unheard,
) -> Built:
    """Write the index into `folder`, which must be empty. With `wanted_types`, only concepts that have one of them."""
    scratch = folder / "scratch"
    scratch.mkdir()
    (folder / "terms").mkdir()
    builder = _Builder(folder, scratch, faults, wanted_types, progress)
    with _no_search_for_cycles(), ShardsProcess(folder / "terms" / "shards", TRIGRAMS, scratch) as shards:
        builder.gather(entries)
        builder.write_concepts()
        write_retired(builder.retired, folder / "retired")
        builder.write_terms(shards)
        builder.write_keys()
        builder.write_words()
        progress("Writing the search by letters", builder.terms)
    shutil.rmtree(scratch)
    return builder.built()


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Millions of records are made and none refers back: looking for cycles among them finds nothing and costs much."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Digest:
    """SHA-256 of many short pieces, taken together."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        if len(self._pieces) >= DIGESTED:
            self._take()

    def _take(self) -> None:
        self._hash.update("".join(self._pieces).encode("utf-8", "surrogatepass"))
        self._pieces = []

    def hex(self) -> str:
        self._take()
        return self._hash.hexdigest()


@dataclass(slots=True)
class _Builder:
    folder: Path
    scratch: Path
    faults: Faults
    wanted_types: frozenset[str]
    progress: Progress
    by_concept: RecordSorter = field(init=False)  # CUI, mark, length, text, END, number of the source
    types: RecordSorter = field(init=False)  # CUI, semantic type
    retired: RecordSorter = field(init=False)
    by_letters: RecordSorter = field(init=False)  # trigrams, form, END, code, text if it is not the form
    by_key: RecordSorter = field(init=False)  # key, END, term
    lexicon: LexiconWriter = field(init=False)
    sources: dict[str, int] = field(default_factory=dict)
    type_counts: Counter[str] = field(default_factory=Counter)
    strings: int = 0
    terms: int = 0
    concepts: int = 0
    words: int = 0
    digest: _Digest = field(default_factory=_Digest)

    def __post_init__(self) -> None:
        self.by_concept = RecordSorter(self.scratch, "concepts")
        self.types = RecordSorter(self.scratch, "types")
        self.retired = RecordSorter(self.scratch, "retired")
        self.by_letters = RecordSorter(self.scratch, "letters")
        self.by_key = RecordSorter(self.scratch, "keys")
        self.lexicon = LexiconWriter(self.scratch)

    def gather(self, entries: Iterable[Entry]) -> None:
        add, sources, read = self.by_concept.add, self.sources, 0
        for entry in entries:
            if isinstance(entry, Atom):
                text, cui, preferred, source, kind = entry
                number = sources.setdefault(source, len(sources))
                # In this order the first string of a concept is its name: closest kind, marked preferred, shortest.
                add(f"{cui}{_MARKS[kind, preferred]}{len(text):07}{text}{END}{number}")
                read += 1
                if read % EVERY == 0:
                    self.progress("Reading strings", read)
            elif isinstance(entry, TypeOf):
                self.types.add(entry.cui + entry.semantic_type)
            else:
                self.retired.add(retired_record(*entry))

    def write_concepts(self) -> None:
        folder = self.folder / "concepts"
        folder.mkdir()
        cuis, names = NumbersWriter(folder / "cuis", SMALL), TextsWriter(folder / "names")
        types, sources = ListsWriter(folder / "types", BYTE), ListsWriter(folder / "sources")
        for cui, codes, strings in self._typed():
            if self.wanted_types.isdisjoint(codes) and self.wanted_types:
                continue
            name = strings[0][1]
            cuis.add(int(cui[1:]))
            names.add(name)
            types.add([int(code[1:]) for code in codes])
            sources.add(sorted({int(source) for _, _, source in strings}))
            self.type_counts.update(codes)
            self.digest.add(f"{cui} {name} {codes}\n")
            self._take_strings(strings)
            self.concepts += 1
        for writer in (cuis, names, types, sources):
            writer.close()

    def _typed(self) -> Iterator[tuple[str, list[str], list[_String]]]:
        """Each concept with its types and strings; those without a type are faults."""
        types = iter(self.types)
        following = next(types, "")
        for cui, strings in _by_cui(self.by_concept):
            while following and following[:8] < cui:
                following = next(types, "")
            codes: list[str] = []
            while following[:8] == cui:
                if following[8:] not in codes:
                    codes.append(following[8:])
                following = next(types, "")
            if codes:
                yield cui, codes, strings
                continue
            text, more = strings[0][1][:60], len(strings) - 1
            left_out = f"“{text}” and {more} more" if more else f"“{text}”"
            self.faults.add(NO_TYPE, Fault(cui, 0, f"It has no semantic type; left out: {left_out}."))

    def _take_strings(self, strings: list[_String]) -> None:
        concept = encoded(self.concepts, 0, preferred=False)
        for mark, text, _ in strings:
            form = matching_form(text)
            if form:
                code = concept + _CODES[mark]
                self.by_letters.add(f"{TRIGRAMS.of(form):07}{form}{END}{code:08x}{text if text != form else ''}")
        self.strings += len(strings)

    def write_terms(self, shards: ShardsProcess) -> None:
        folder = self.folder / "terms"
        texts, meanings = TextsWriter(folder / "texts"), ListsWriter(folder / "meanings")
        for head, tails in grouped(self.by_letters):
            form = head[7:]
            text, codes = _merged(form, tails)
            texts.add(text)
            meanings.add(codes)
            shards.add(form)
            self.digest.add(f"{text} {codes}\n")
            self.by_key.add(f"{self.lexicon.add(text)}{END}{self.terms:08x}")
            self.terms += 1
            if self.terms % EVERY == 0:
                self.progress("Writing terms", self.terms)
        shards.flush()
        texts.close()
        meanings.close()
        write_inverted(
            folder / "meanings",
            self.folder / "concepts" / "terms",
            groups=self.concepts,
            group_of=concepts_of,
            scratch=self.scratch,
        )

    def write_keys(self) -> None:
        self.progress("Sorting keys", self.terms)
        folder = self.folder / "keys"
        folder.mkdir()
        keys, terms = TextsWriter(folder / "texts"), NumbersWriter(folder / "terms", SMALL)
        for record in self.by_key:
            keys.add(record[:-9])
            terms.add(int(record[-8:], 16))
        keys.close()
        terms.close()

    def write_words(self) -> None:
        self.progress("Sorting words", self.terms)
        self.words = self.lexicon.write(self.folder / "words")

    def built(self) -> Built:
        counts = Counts(self.strings, self.terms, self.concepts, self.words, self.faults.total)
        return Built(counts, self.digest.hex(), dict(sorted(self.type_counts.items())), tuple(self.sources))


_String = tuple[str, str, str]  # mark, text, number of the source


def _by_cui(records: Iterable[str]) -> Iterator[tuple[str, list[_String]]]:
    """Each concept with its strings, the closest first."""
    last = ""
    strings: list[_String] = []
    for record in records:
        cui = record[:8]
        if cui != last:
            if strings:
                yield last, strings
            last, strings = cui, []
        text, _, source = record[16:].rpartition(END)
        strings.append((record[8], text, source))
    if strings:
        yield last, strings


def _merged(form: str, tails: Sequence[str]) -> tuple[str, list[int]]:
    """Strings alike but for case as one term: the text of the closest kind, and one code for each concept."""
    if len(tails) == 1:
        return tails[0][8:] or form, [int(tails[0][:8], 16)]
    best: dict[int, Kind] = {}
    preferred: set[int] = set()
    shown = []
    for tail in tails:
        code = int(tail[:8], 16)
        concept, kind = concept_of(code), kind_of(code)
        best[concept] = min(kind, best.get(concept, kind))
        if is_preferred(code):
            preferred.add(concept)
        shown.append((kind, not is_preferred(code), tail[8:] or form))
    return min(shown)[2], [encoded(concept, kind, concept in preferred) for concept, kind in best.items()]
