"""From a phrase to ranked concepts: what to look up, and nothing of how it is judged (`domain/rank.py` does that).

Terms are brought up by several channels, because each finds what the others miss: the phrase itself (`exact`), shared
letters as QuickUMLS finds them (`alike`), and shared words (`words`), where a word also stands for the words that mean
the same (`meanings`), for composed words that say it together with others (`composed`) and, if the vocabulary lacks it,
for those that look like it (`typos`). Work is bounded whatever the vocabulary's size: no channel brings more than some
dozen terms, and of a very common word only the shortest terms are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from umls_linker.domain.matching import UNKNOWN, Spelling, weight_of
from umls_linker.domain.normalise import IRREGULAR_FORMS, fold, stem
from umls_linker.domain.rank import Candidate, Earlier, Question, for_phrase, rank
from umls_linker.domain.sides import sides_written_out
from umls_linker.domain.spelling import alike
from umls_linker.domain.wordings import (
    MOST_LETTERS,
    Part,
    Reading,
    Written,
    composed_of,
    readings,
    said_by,
    tokens,
    wordings,
    written_out,
)
from umls_linker.index.reader import VocabularyIndex
from umls_linker.index.remembered import Ids, Remembered, remembered

CLOSE = 0.7  # Trigram similarity from which a term is looked at; QuickUMLS's default …
ALIKE = 0.5  # … and where no term is that close or shares a word: in a million terms it takes four times as long.
ALIKE_MOST = 15
POOL = 20  # Terms that shared words may bring up for one reading; what costs most is to judge them …
POOL_OF_ONE = 40  # … and for one of a single part, which very many terms may say equally well.
COMMON_WORD = 500  # Of the terms with a word, so many of the shortest are looked at …
RARE_WORD = 5_000  # … and so many for the rarest word of a reading.
WAYS = 32  # Other words and groups of words that one word may stand for; those of the most terms.
OWN_STEM = 0.6  # What one stem of a part of several words is worth.
CORRECTIONS = 4
MISSPELT = 0.7  # Likeness from which a word that the vocabulary lacks may be a misspelling of another …
CLEARLY_MISSPELT = 0.8  # … or of an irregular form, whose stem is another ("swolen", swollen) …
CORRECTED = 0.95  # … and what even the closest is worth.
SHORTEST, SHORT = 4, 6  # Letters of a word that is corrected only if …
COMPOSED = 0.95  # What a composed word is worth beside the words that it is made of.
SPELLINGS = 6

Group = tuple[str, ...]  # stems of words that belong together

CHANNELS = frozenset({"exact", "alike", "words", "meanings", "composed", "typos", "joins", "abbreviations"})


def search(
    index: VocabularyIndex,
    phrase: str,
    *,
    slot: str = "",
    field: str = "",
    context: str = "",
    decisions: Iterable[Earlier] = (),
    limit: int = 10,
    channels: frozenset[str] = CHANNELS,
) -> list[Candidate]:
    """The concepts that `phrase` may mean, best first, at most `limit`; none for a phrase without words.

    `slot` and `field` are names of the questionnaire, `context` the utterance's words, `decisions` what doctors chose
    before. `channels` leaves ways of finding out, to measure what each is worth. Any text may be asked for.
    """
    words, sided = remembered(index), phrase
    if slot != "medication":  # where "(R)" is a trade mark
        sided = sides_written_out(phrase[:MOST_LETTERS], place=field == "location")
    spellings = tuple((written, _read(words, written.text, channels)) for written in _spellings(words, sided, channels))
    spellings = tuple((written, found) for written, found in spellings if found)
    earlier = for_phrase(decisions, phrase)
    numbers: dict[int, None] = {}
    for place, (written, found) in enumerate(spellings):
        # A word more or less joined leaves nearly the same letters: such a spelling is looked for by its words alone.
        ways = channels if place == 0 or written.short else channels - {"alike"}
        numbers.update(dict.fromkeys(_found(index, words, written.text, found, ways)))
    if field == "location" and "exact" in channels:
        numbers.update(dict.fromkeys(_wider_places(index, spellings)))
    for decision in earlier:
        numbers.update(dict.fromkeys(index.terms_of(decision.cui)[:1]))
    if not spellings:
        return []
    question = Question(phrase, spellings, words.weights, slot, field, context, earlier)
    return rank(question, map(words.term, numbers), words.concept, limit)


def _spellings(words: Remembered, phrase: str, channels: frozenset[str]) -> list[Written]:
    """The phrase, with an abbreviation written out, with two words joined ("heart burn") or one divided
    ("stomachpain").
    """
    phrase = phrase[:MOST_LETTERS]
    found = written_out(phrase) if "abbreviations" in channels else [Written(phrase)]
    if "joins" in channels:
        said = fold(phrase).split()[:12]
        for at, word in enumerate(said):
            if (
                at + 1 < len(said)
                and len(word + said[at + 1]) > 5
                and words.rarity(stem(word + said[at + 1])) is not None
            ):
                found.append(Written(" ".join([*said[:at], word + said[at + 1], *said[at + 2 :]])))
            elif len(word) > 6 and words.rarity(stem(word)) is None:
                found += [Written(" ".join([*said[:at], *halves, *said[at + 1 :]])) for halves in _halves(words, word)]
    return list(dict.fromkeys(found))[:SPELLINGS]


def _halves(words: Remembered, word: str) -> list[tuple[str, str]]:
    """The word divided into two known ones, in the first way that works; the vocabulary lacks it as it is."""
    halves = ((word[:at], word[at:]) for at in range(3, min(len(word) - 2, 30)))
    known = (pair for pair in halves if all(words.rarity(stem(half)) is not None for half in pair))
    return [pair for pair, _ in zip(known, range(1), strict=False)]


def _read(words: Remembered, text: str, channels: frozenset[str]) -> tuple[Reading, ...]:
    found = readings(text)
    if "meanings" not in channels:
        found = (Reading.of(Part(surface, key, {f"={key}": 1.0}) for surface, key in tokens(text)),) if found else ()
    if "typos" in channels:
        found = tuple(_corrected(words, reading) for reading in found)
    return found


def _corrected(words: Remembered, reading: Reading) -> Reading:
    """The reading with the words that others may be misspellings of, where neither the vocabulary nor the tables know
    them.
    """
    parts = [_corrected_part(words, part) if _unknown(words, part) else part for part in reading.parts]
    return (
        reading if all(part is other for part, other in zip(parts, reading.parts, strict=True)) else Reading.of(parts)
    )


def _unknown(words: Remembered, part: Part) -> bool:
    return (
        len(part.meanings) == 1
        and " " not in part.key
        and len(part.key) > 3
        and part.key not in wordings().common
        and words.rarity(part.key) is None
    )


def _corrected_part(words: Remembered, part: Part) -> Part:
    meanings = dict(part.meanings)
    forms = ((stem(IRREGULAR_FORMS[at]), like) for at, like in alike(part.surface, IRREGULAR_FORMS, CLEARLY_MISSPELT))
    keys = ((word, like) for word, like in words.like(part.key, MISSPELT) if _likely_meant(part.key, word))
    for word, like in islice(chain(forms, keys), CORRECTIONS):
        share = CORRECTED * like
        for meaning, fidelity in {f"={word}": 1.0, **said_by(word, word)}.items():
            meanings[meaning] = max(meanings.get(meaning, 0.0), fidelity * share)
    return Part(part.surface, part.key, meanings, part.weight)


def _likely_meant(written: str, word: str) -> bool:
    """Whether a word may be meant by one that is nearly spelt so. Short words have many neighbours: they keep their
    first letter, and the shortest all their letters, in another order.
    """
    if len(written) <= SHORTEST:
        return sorted(written) == sorted(word)
    return len(written) > SHORT or written[0] == word[0]


def _found(
    index: VocabularyIndex,
    words: Remembered,
    text: str,
    found: tuple[Reading, ...],
    channels: frozenset[str],
) -> Iterator[int]:
    if "exact" in channels:
        yield from index.exact(fold(text))[:ALIKE_MOST]
    close = index.alike(text, CLOSE, ALIKE_MOST) if "alike" in channels else []
    sharing = (
        [number for reading in found for number in _sharing_words(words, reading, channels)]
        if "words" in channels
        else []
    )
    yield from close
    yield from sharing
    if "alike" in channels and not close and not sharing:
        yield from index.alike(text, ALIKE, ALIKE_MOST)


def _wider_places(index: VocabularyIndex, spellings: tuple[Spelling, ...]) -> Iterator[int]:
    """The terms that are one part of the phrase: among the many terms with its words the place itself may be cut off
    ("big toe left" → toe).
    """
    surfaces = {part.surface: None for _, found in spellings for reading in found for part in reading.parts}
    for surface in surfaces:
        yield from index.exact(surface)[:ALIKE_MOST]


@dataclass(frozen=True, slots=True)
class _Place:
    """One part of a reading: the lists of terms that say it, with how well (best first), and its weight."""

    lists: tuple[tuple[Ids, float], ...]
    weight: float

    @property
    def size(self) -> int:
        return sum(len(ids) for ids, _ in self.lists)


def _sharing_words(words: Remembered, reading: Reading, channels: frozenset[str]) -> list[int]:
    """The terms that say the most of the reading by their words, the shortest first among equals."""
    places = [place for place in (_place(words, part) for part in reading.parts) if place.lists]
    together = _composed(words, reading) if "composed" in channels else []
    if not places and not together:
        return []
    rarest = min(places, key=lambda place: place.size, default=None)
    pool = [ids[:COMMON_WORD] for ids in together]
    for place in places:
        pool += [ids[: RARE_WORD if place is rarest else COMMON_WORD] for ids, _ in place.lists]
    ids = _distinct(np.concatenate(pool))
    scores = sum((place.weight * _how_well(place, ids) for place in places), np.zeros(len(ids)))
    whole = COMPOSED * max(1.0, sum(place.weight for place in places))
    for each in together:
        held = _held(each, ids)
        scores[held] = np.maximum(scores[held], whole)
    # Terms are numbered by their length, so that among equals the shortest come first.
    most = POOL if len(reading.parts) > 1 else POOL_OF_ONE
    return [int(number) for number in ids[np.argsort(-scores, kind="stable")[:most]]]


def _place(words: Remembered, part: Part) -> _Place:
    """The terms that say this part: with its own stem, or a stem or group of words that means the same."""
    ways: dict[Group, float] = {(key,): OWN_STEM for key in part.key.split()}
    for meaning, fidelity in part.meanings.items():
        for group, share in _ways_to_say(meaning):
            ways[group] = max(ways.get(group, 0.0), fidelity * share)
    found = [(ids, share, group) for group, share in ways.items() if len(ids := words.holders_of_all(group))]
    found.sort(key=lambda way: (-way[1], -len(way[0]), way[2]))
    held = sum(len(ids) for ids, _, _ in found)
    weight = part.weight * (weight_of(words.rarity_of(held)) if held else UNKNOWN)
    return _Place(tuple((ids, share) for ids, share, _ in found[:WAYS]), weight)


def _ways_to_say(meaning: str) -> Iterable[tuple[Group, float]]:
    if meaning.startswith("="):
        return ((tuple(meaning[1:].split()), 1.0),)
    return wordings().members.get(meaning, ())


def _composed(words: Remembered, reading: Reading) -> list[Ids]:
    """The terms with a word that says by itself what two or more parts say."""
    own = {part.key for part in reading.parts}
    stems = composed_of(reading.certain)
    return [ids for word in stems if word not in own and len(ids := words.holders(word))]


def _how_well(place: _Place, ids: Ids) -> NDArray[np.float64]:
    said = np.zeros(len(ids))
    for holders, share in place.lists:
        held = _held(holders, ids)
        said[held] = np.maximum(said[held], share)
    return said


def _distinct(ids: Ids) -> Ids:
    """Each number once, ascending. (`np.unique` takes several times as long for so few.)"""
    ids.sort()
    first = np.ones(len(ids), dtype=bool)
    np.not_equal(ids[1:], ids[:-1], out=first[1:])
    return ids[first]


def _held(holders: Ids, ids: Ids) -> NDArray[np.intp]:
    """The places of those of `ids` that `holders` has; both ascending, each number once. The shorter is looked up."""
    if len(holders) < len(ids):
        places = np.minimum(np.searchsorted(ids, holders), len(ids) - 1)
        return np.asarray(places[ids[places] == holders])
    places = np.minimum(np.searchsorted(holders, ids), len(holders) - 1)
    return np.flatnonzero(holders[places] == ids)
