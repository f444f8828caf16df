"""What is offered while somebody types a medical value: the last word may be half a word, and any of them misspelt.

First come the vocabulary's strings that begin as the text does. Then the text is looked up as a phrase is, with its
last word as it stands and completed to words of the vocabulary, those first that occur together with the other words;
of what that finds only good answers are offered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from umls_linker.domain.normalise import fold, stem
from umls_linker.domain.rank import Candidate
from umls_linker.domain.slots import fit
from umls_linker.domain.spelling import likeness
from umls_linker.index.reader import VocabularyIndex
from umls_linker.index.search import search

SUGGESTED = 8
STRINGS = 60  # with the text as their beginning, among which those that fit the slot are preferred
COMPLETIONS = 200  # words that begin as the last one does, the commonest …
COMPLETED = 5  # … and how many of them are looked up
SHORTEST = 2  # letters of a word that is completed
GOOD = 62.0  # score of a phrase's answer from which it is offered; one that says all of it has about 80 …
WORSE = 30.0  # … and how much below the best one the others may be
MISSPELT = 0.75  # likeness from which a word that the vocabulary lacks is taken for a misspelling of one that it has
SAME_LETTERS = 3  # with which both of them begin
HOLDERS = 5_000  # terms of one word that are compared with those of others
NEIGHBOURS = 300  # words or strings with such a beginning that are compared
MOST_WORDS = 6

Terms = NDArray[np.uint32]  # term numbers, ascending


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A string of the vocabulary for what is typed, and the name of its concept."""

    cui: str
    string: str
    name: str


def suggestions(index: VocabularyIndex, text: str, *, slot: str, field: str) -> list[Suggestion]:
    """The best ones, at most SUGGESTED: each concept and each string once."""
    found: dict[str, Suggestion] = {}
    strings: set[str] = set()
    for one in _all(index, text, slot, field):
        if one.cui not in found and fold(one.string) not in strings:
            found[one.cui] = one
            strings.add(fold(one.string))
            if len(found) == SUGGESTED:
                break
    return list(found.values())


def _all(index: VocabularyIndex, text: str, slot: str, field: str) -> Iterator[Suggestion]:
    yield from _beginning_so(index, text, slot, field)
    best: dict[str, Candidate] = {}
    for phrase in (text, *_completed(index, text)):
        for one in search(index, phrase, slot=slot, field=field, limit=SUGGESTED):
            if one.cui not in best or one.score > best[one.cui].score:
                best[one.cui] = one
    ranked = sorted(best.values(), key=lambda one: -one.score)
    for one in ranked:
        if not one.weak and one.score >= max(GOOD, ranked[0].score - WORSE):
            yield Suggestion(one.cui, one.matched_text, one.name)


def _beginning_so(index: VocabularyIndex, text: str, slot: str, field: str) -> Iterator[Suggestion]:
    """The strings that begin as the text does, those whose type fits the slot first, then the shorter."""
    joined = "".join(text.split())  # "head ac" may become "headache"
    numbers = index.terms_starting(text, STRINGS) + (index.terms_starting(joined, STRINGS) if joined != text else [])
    found = []
    for place, number in enumerate(dict.fromkeys(numbers)):
        term = index.term(number)
        concept = index.concept(term.concepts[0].cui) if term.concepts else None
        if concept:
            found.append((-fit(concept.semantic_types, slot, field)[0], place, term.text, concept))
    for _, _, string, concept in sorted(found, key=lambda entry: entry[:2]):
        yield Suggestion(concept.cui, string, concept.name)


def _completed(index: VocabularyIndex, text: str) -> list[str]:
    """The text with its last word completed, and its other words corrected where the vocabulary lacks them: to words
    that occur beside the others, or where there are none or nothing occurs beside them, to the commonest."""
    *others, last = fold(text).split()[-MOST_WORDS:] or [""]
    if len(last) < SHORTEST or text[-1:].isspace():
        return []
    others = [_corrected(index, word) for word in others]
    completions = [word for word in _words_beginning(index, last) if word != stem(last)]
    around = [ids for ids in (index.holders(stem(word)) for word in others) if len(ids)]
    beside = {word: _meeting(index.holders(word), around) for word in completions} if around else {}
    if any(beside.values()):
        completions = [word for word in completions if beside[word]]
        completions.sort(key=lambda word: -beside[word])  # which leaves the commonest first among equals
    whole = _corrected(index, last)
    last_words = completions[:COMPLETED] if whole == last else [whole, *completions[:COMPLETED]]
    return [" ".join([*others, word]) for word in last_words]


def _words_beginning(index: VocabularyIndex, part: str) -> list[str]:
    """The word keys that begin so; where there are none, those that would but for a slip."""
    found = index.words_starting(part, COMPLETIONS)
    if found or len(part) <= SAME_LETTERS or index.word_rarity(stem(part)) is not None:
        return found
    near = index.words_starting(part[:SAME_LETTERS], NEIGHBOURS)
    return [word for word in near if likeness(part, word[: len(part)], MISSPELT)]


def _corrected(index: VocabularyIndex, word: str) -> str:
    """The word, or the one that it is a misspelling of, as the vocabulary's strings have it at their beginning."""
    if len(word) <= SAME_LETTERS or index.word_rarity(stem(word)) is not None:
        return word
    strings = index.terms_starting(word[:SAME_LETTERS], NEIGHBOURS)
    near = {index.term(number).key.split()[0]: None for number in strings}
    best = max(near, key=lambda other: likeness(word, other, MISSPELT), default=word)
    return best if likeness(word, best, MISSPELT) else word


def _meeting(some: Terms, around: Sequence[Terms]) -> int:
    """How many of the lists `around` share a term with this one, of which the shortest terms are looked at."""
    some = some[:HOLDERS]
    places = (np.minimum(np.searchsorted(each, some), len(each) - 1) for each in around)
    return sum(bool((each[at] == some).any()) for each, at in zip(around, places, strict=True))
