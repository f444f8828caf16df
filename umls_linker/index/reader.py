"""Looking things up in a built vocabulary.

An index is opened in no time: its files are mapped and read where a question leads. Processes and threads may share a
folder, threads an index. Terms go by number, short ones first. Texts may be anything; nothing here raises because of
what was asked.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from umls_linker.domain.normalise import fold
from umls_linker.domain.spelling import alike
from umls_linker.domain.vocabulary import Concept, Meaning, Mention, Term, matching_form, similarity
from umls_linker.index.manifest import Manifest, UnusableVocabulary, read_manifest
from umls_linker.index.meanings import concept_of, is_preferred, kind_of
from umls_linker.index.retired import Retirements, number_of
from umls_linker.index.shards import MARKED_PAIRS, TRIGRAMS, Shards
from umls_linker.index.storage import BYTE, SMALL, Lists, Texts, numbers

if TYPE_CHECKING:
    from umls_linker.index.matcher import Matcher

LONGEST_PHRASE = 500  # characters of a phrase that are looked at
LONGEST_WORD = 60  # letters of a word that are looked at
SHARED_PAIRS = 0.33
TYPE_CODES = tuple(f"T{code:03}" for code in range(256))  # semantic types by their numbers
MOST_POSTINGS = 20_000  # terms of one word that are gathered; of a commoner word the shortest terms count
MOST_COMPLETIONS = 2_000  # strings with a prefix among which the shortest are sought


@dataclass(slots=True)
class VocabularyIndex:
    """One build. See `open`."""

    folder: Path
    manifest: Manifest
    _texts: Texts
    _meanings: Lists
    _shards: Shards
    _keys: Texts
    _key_terms: memoryview[int]
    _words: Texts
    _word_terms: Lists
    _word_shards: Shards
    _cuis: memoryview[int]
    _names: Texts
    _types: Lists
    _sources: Lists
    _concept_terms: Lists
    _retired: Retirements | None
    _matchers: dict[str, Matcher] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def open(cls, folder: Path) -> VocabularyIndex:
        """The index in this folder. Raises UnusableVocabulary when it is not whole or of another format."""
        manifest = read_manifest(folder)
        try:
            return cls(
                folder=folder,
                manifest=manifest,
                _texts=Texts(folder / "terms" / "texts"),
                _meanings=Lists(folder / "terms" / "meanings"),
                _shards=Shards(folder / "terms" / "shards", TRIGRAMS),
                _keys=Texts(folder / "keys" / "texts"),
                _key_terms=numbers(folder / "keys" / "terms", SMALL),
                _words=Texts(folder / "words" / "texts"),
                _word_terms=Lists(folder / "words" / "terms"),
                _word_shards=Shards(folder / "words" / "shards", MARKED_PAIRS),
                _cuis=numbers(folder / "concepts" / "cuis", SMALL),
                _names=Texts(folder / "concepts" / "names"),
                _types=Lists(folder / "concepts" / "types", BYTE),
                _sources=Lists(folder / "concepts" / "sources"),
                _concept_terms=Lists(folder / "concepts" / "terms"),
                _retired=Retirements(folder / "retired") if (folder / "retired").is_dir() else None,
            )
        except (OSError, ValueError, TypeError) as error:
            raise UnusableVocabulary(f"The vocabulary in {folder} is not whole; build it anew.") from error

    def __len__(self) -> int:
        """How many terms there are."""
        return len(self._texts)

    # --- by letters -------------------------------------------------------------------------------------------------

    def alike(self, text: str, threshold: float = 0.7, limit: int | None = None) -> list[int]:
        """Terms whose trigrams are at least this similar (Jaccard, as SimString counts it), the most similar first.

        Every string that QuickUMLS finds for `text` as a whole is among them. `threshold` above 0, up to 1.
        """
        form = matching_form(text[:LONGEST_PHRASE])
        found = (
            (similarity(form, other), shard.number(other))
            for shard, others in self._shards.alike(form, threshold)
            for other in others
        )
        ranked = sorted((-score, number) for score, number in found if number is not None)
        return [number for _, number in ranked[:limit]]

    def exact(self, key: str) -> list[int]:
        """Terms with this folded key (`normalise.fold`), short ones first."""
        if not key:
            return []
        place, found = self._keys.first_not_below(key), []
        data = key.encode("utf-8", "surrogatepass")
        while place < len(self._keys) and self._keys.data(place) == data:
            found.append(self._key_terms[place])
            place += 1
        return found

    # --- by words ---------------------------------------------------------------------------------------------------

    def with_words(self, words: Sequence[str], limit: int) -> list[int]:
        """Terms that hold some of these word keys: those first whose shared words are rarest in sum, then the shorter.

        The work does not grow with how common a word is: of a word in very many terms only the shortest are gathered,
        and the other terms are asked whether they hold it.
        """
        lists = [self._word_terms[place] for place in self._places(words)]
        lists.sort(key=len)
        if not lists or limit <= 0:
            return []
        gathered = [np.asarray(terms[:MOST_POSTINGS], dtype=np.uint32) for terms in lists]
        candidates = np.unique(np.concatenate(_within(gathered, MOST_POSTINGS)))
        scores = np.zeros(len(candidates))
        for terms in lists:
            scores += self._rarity(len(terms)) * _held(candidates, np.asarray(terms, dtype=np.uint32))
        # Candidates are in order of length, which a stable sort keeps among equals.
        order = np.argsort(-scores, kind="stable")[:limit]
        return [int(number) for number in candidates[order]]

    def word_rarity(self, word: str) -> float | None:
        """ln(terms ÷ terms with the word) + 1: at least 1, the rarer the higher. None for a word no term has."""
        place = self._place(word)
        return None if place is None else self._rarity(self._word_terms.size(place))

    def holders(self, word: str) -> NDArray[np.uint32]:
        """All terms with this word key, short ones first, mapped and not copied; none for a word no term has."""
        place = self._place(word)
        return np.asarray(() if place is None else self._word_terms[place], dtype=np.uint32)

    def words_like(self, word: str, threshold: float = 0.6) -> list[tuple[str, float]]:
        """Word keys that are spelt much alike, each with its likeness, the closest first, then the commonest.

        Compared by `spelling.likeness`: 1 − edits ÷ letters of the longer. Looked for among the words that share a
        third of their pairs of letters, which a word with one wrong, missing, added or swapped letter does from five
        letters on.
        """
        form = matching_form(word[:LONGEST_WORD])
        found = []
        for shard, others in self._word_shards.alike(form, SHARED_PAIRS):
            for at, score in alike(form, others, threshold):
                if (place := shard.number(others[at])) is not None:
                    found.append((-score, -self._word_terms.size(place), others[at]))
        return [(other, -score) for score, _, other in sorted(found)]

    def words_starting(self, prefix: str, limit: int) -> list[str]:
        """Word keys that begin so, the commonest first."""
        places = self._words.range_of(prefix)[:MOST_COMPLETIONS]
        ranked = sorted(places, key=lambda place: (-self._word_terms.size(place), place))
        return [self._words[place] for place in ranked[:limit]]

    def terms_starting(self, prefix: str, limit: int) -> list[int]:
        """Terms whose folded key begins with the folded `prefix`, short ones first."""
        key = fold(prefix)
        if not key:
            return []
        if prefix[-1].isspace():
            key += " "
        places = self._keys.range_of(key)[:MOST_COMPLETIONS]
        return sorted({self._key_terms[place] for place in places})[:limit]

    def _places(self, words: Sequence[str]) -> Iterator[int]:
        for word in dict.fromkeys(words):
            if (place := self._place(word)) is not None:
                yield place

    def _place(self, word: str) -> int | None:
        place = self._words.first_not_below(word)
        return place if word and place < len(self._words) and self._words[place] == word else None

    def _rarity(self, holders: int) -> float:
        return math.log(len(self) / holders) + 1

    # --- what was found ---------------------------------------------------------------------------------------------

    def term(self, term_id: int) -> Term:
        """The term of this number. Raises IndexError for a number that none of the look-ups gave."""
        text = self._texts[term_id]
        return Term(text, fold(text), self.meanings_of(term_id))

    def meanings_of(self, term_id: int) -> tuple[Meaning, ...]:
        """The term's concepts alone, which cost less than `term`."""
        return tuple(self._meaning(code) for code in self._meanings[term_id])

    def typed_meanings_of(self, term_id: int) -> Iterator[tuple[str, tuple[str, ...], bool]]:
        """The term's concepts with their semantic types, and whether the term is marked preferred."""
        for code in self._meanings[term_id]:
            place = concept_of(code)
            yield f"C{self._cuis[place]:07}", self._types_at(place), is_preferred(code)

    def _types_at(self, place: int) -> tuple[str, ...]:
        return tuple([TYPE_CODES[code] for code in self._types[place]])

    def _meaning(self, code: int) -> Meaning:
        return Meaning(f"C{self._cuis[concept_of(code)]:07}", kind_of(code), is_preferred(code))

    def concept(self, cui: str) -> Concept | None:
        """The concept with this CUI, None if the vocabulary has none."""
        place = self._concept_place(cui)
        if place is None:
            return None
        name = self._names[place]
        return Concept(
            cui=cui,
            name=name,
            semantic_types=self._types_at(place),
            synonyms=tuple(text for text in self._strings_of(place) if text.lower() != name.lower()),
            sources=tuple(self.manifest.sources[number] for number in self._sources[place]),
        )

    def name(self, cui: str) -> str | None:
        """The concept's name alone, which costs less than `concept`."""
        place = self._concept_place(cui)
        return None if place is None else self._names[place]

    def semantic_types(self, cui: str) -> tuple[str, ...]:
        """The concept's types alone; none for a concept that the vocabulary does not have."""
        place = self._concept_place(cui)
        return () if place is None else self._types_at(place)

    def terms_of(self, cui: str) -> list[int]:
        """All terms of the concept, short ones first."""
        place = self._concept_place(cui)
        return [] if place is None else list(self._concept_terms[place])

    def replacement(self, cui: str) -> tuple[str, str] | None:
        """The concept that has the place of a retired one, and their relation as in `Retired`; of several the closest.

        None for a concept that is not retired, whose heirs this vocabulary does not have, or where the source has no
        list of retired concepts.
        """
        found = self._retired.of(cui) if self._retired else ()
        return next(((heir, relation) for heir, relation in found if self._concept_place(heir) is not None), None)

    def _concept_place(self, cui: str) -> int | None:
        number = number_of(cui)
        if number is None:
            return None
        place = bisect_left(self._cuis, number)
        return place if place < len(self._cuis) and self._cuis[place] == number else None

    def _strings_of(self, place: int) -> list[str]:
        rows = []
        for term in self._concept_terms[place]:
            kind = next(kind_of(code) for code in self._meanings[term] if concept_of(code) == place)
            rows.append((kind, term, self._texts[term]))
        return [text for _, _, text in sorted(rows)]

    # --- in longer texts --------------------------------------------------------------------------------------------

    def mentions(self, text: str, threshold: float = 0.7, language_model: str = "") -> list[Mention]:
        """Spans of a text that resemble terms, found and chosen among overlapping ones as QuickUMLS does.

        `language_model`: an installed spaCy model that divides the text into words and knows their parts of speech;
        by default words are divided by rule.
        """
        return self.matcher(language_model).mentions(text, threshold)

    def matcher(self, language_model: str = "") -> Matcher:
        """QuickUMLS over this index; made once."""
        with self._lock:
            if language_model not in self._matchers:
                from umls_linker.index.matcher import Matcher

                self._matchers[language_model] = Matcher(self, language_model)
            return self._matchers[language_model]

    @property
    def shards(self) -> Shards:
        """The SimString databases of the terms, for who compares by letters itself."""
        return self._shards


def _within(lists: list[NDArray[np.uint32]], budget: int) -> list[NDArray[np.uint32]]:
    """The lists, rarest word first, until so many terms are gathered; the last is cut."""
    taken, total = [], 0
    for terms in lists:
        taken.append(terms[: max(0, budget - total)])
        total += len(taken[-1])
    return taken


def _held(candidates: NDArray[np.uint32], terms: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which candidates are among the terms; both ascending."""
    places = np.searchsorted(terms, candidates)
    return np.asarray(terms[np.minimum(places, len(terms) - 1)] == candidates)
