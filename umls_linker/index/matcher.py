"""QuickUMLS over a vocabulary index: its way through a text, with the index's databases in place of its own.

QuickUMLS's constructor downloads stop words and asks for a spaCy model, and its `match` takes `best_match` and
`ignore_syntax` without using them. Here the constructor is replaced (nothing is fetched: the stop words are below,
spaCy divides the words by rule unless an installed model is named), and what `match` does inside is called with those
two options.

Importing this module imports QuickUMLS and spaCy, which takes seconds: it is left to the first text.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from umls_linker.domain.vocabulary import Mention, matching_form
from umls_linker.index.native import simstring

simstring()  # before QuickUMLS, which imports it in a way that needs help on newer Pythons

import spacy  # noqa: E402
from quickumls import constants  # noqa: E402
from quickumls.core import QuickUMLS  # noqa: E402

if TYPE_CHECKING:
    from umls_linker.index.reader import VocabularyIndex

WINDOW = 5  # words of the longest span
SHORTEST = 3  # characters of the shortest span
THRESHOLDS = 4  # for which something is remembered
REMEMBERED = 10_000  # groups of words whose similar terms are remembered
LONGEST_TEXT = 100_000  # characters of a text that are read

# Words that no span begins or ends with. Negations are among QuickUMLS's own exceptions.
STOP_WORDS = frozenset(
    """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves what which who whom this that these those am is are
    was were be been being have has had having do does did doing a an the and but if or because as until while
    of at by for with about against between into through during before after above below to from up down in out
    on off over under again further then once here there when where why how all any both each few more most
    other some such no nor not only own same so than too very s t can will just don should now
    """.split()  # noqa: SIM905 - easier to read as text
)


class UnknownLanguageModel(Exception):
    """The spaCy model that the settings name is not installed."""


class _Letters:
    """What QuickUMLS asks of its SimString database. Utterances have the same groups of words again and again."""

    def __init__(self, index: VocabularyIndex, threshold: float) -> None:
        self._index, self._threshold = index, threshold
        self.get = lru_cache(maxsize=REMEMBERED)(self._get)

    def _get(self, ngram: str) -> list[str]:
        return [each for _, found in self._index.shards.alike(matching_form(ngram), self._threshold) for each in found]


class _Meanings:
    """What QuickUMLS asks of its database of concepts."""

    def __init__(self, index: VocabularyIndex) -> None:
        self._index = index

    def get(self, text: str) -> Iterator[tuple[str, set[str], int]]:
        number = self._index.shards.number(text)
        if number is not None:
            for cui, types, preferred in self._index.typed_meanings_of(number):
                yield cui, set(types), int(preferred)


class IndexedQuickUMLS(QuickUMLS):  # type: ignore[misc]  # QuickUMLS has no types
    """QuickUMLS with another constructor; everything that finds and chooses is its own. One thread at a time may use
    it.
    """

    def __init__(self, index: VocabularyIndex, nlp: Any, letters: _Letters, threshold: float) -> None:
        self.verbose = False
        self.overlapping_criteria = "score"
        self.similarity_name = "jaccard"
        self.valid_punct = constants.UNICODE_DASHES
        self.negations = constants.NEGATIONS
        self.window = WINDOW
        self.ngram_length = 3
        self.threshold = threshold
        self.min_match_length = SHORTEST
        self.to_lowercase_flag = True
        self.normalize_unicode_flag = False
        self.keep_uppercase = False
        self.language_flag = "ENG"
        self._stopwords = STOP_WORDS | constants.DOMAIN_SPECIFIC_STOPWORDS
        self._info = None
        self.accepted_semtypes = None  # which types a value should have is for the ranking to say
        self.nlp = nlp
        self.ss_db = letters
        self.cuisem_db = _Meanings(index)

    def match(self, text: str, best_match: bool = True, ignore_syntax: bool = False) -> list[list[dict[str, Any]]]:
        """As in QuickUMLS, with both options at work: groups of candidates, one a span, the best of each first."""
        found = self._match(self.nlp(text), best_match=best_match, ignore_syntax=ignore_syntax)
        return list(found)


class Matcher:
    """QuickUMLS for any threshold, over one index."""

    def __init__(self, index: VocabularyIndex, language_model: str = "") -> None:
        self._index = index
        self._nlp = _language(language_model)
        self._letters = lru_cache(maxsize=THRESHOLDS)(partial(_Letters, index))

    def quickumls(self, threshold: float = 0.7) -> IndexedQuickUMLS:
        return IndexedQuickUMLS(self._index, self._nlp, self._letters(threshold), threshold)

    def mentions(self, text: str, threshold: float = 0.7, *, best_match: bool = True) -> list[Mention]:
        """Spans in the order of the text. With `best_match=False` overlapping ones too."""
        text = text[:LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")
        groups = self.quickumls(threshold).match(text, best_match=best_match)
        return sorted((_mention(text, group) for group in groups), key=lambda mention: (mention.start, -mention.end))


def _mention(text: str, group: list[dict[str, Any]]) -> Mention:
    best = group[0]
    start, end = best["start"], best["end"]
    cuis = tuple(dict.fromkeys(candidate["cui"] for candidate in group))
    return Mention(start, end, text[start:end], best["term"], cuis, float(best["similarity"]))


def _language(model: str) -> Any:
    if not model:
        return spacy.blank("en")
    try:
        return spacy.load(model, disable=["ner"])
    except OSError as error:
        raise UnknownLanguageModel(f"The spaCy model “{model}” is not installed.") from error
