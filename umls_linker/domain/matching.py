"""How well a term of the vocabulary says a phrase: how much of it, what besides, and in which letters.

Phrase and term are compared reading by reading (`wordings.py`): for each part of the one, how well the other says it,
by the same word, by another word with the same meaning, or by one that only looks alike. Pure and deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul

from umls_linker.domain.normalise import fold, keys_of_folded
from umls_linker.domain.vocabulary import Term
from umls_linker.domain.wordings import MOST_LETTERS, Part, Reading, Written, readings_of_folded, wordings

# Points. A term that is the phrase in the same letters has about 105, one that says the same in other words about 80.
COVERED = 50.0
NOTHING_ELSE = 30.0
LETTERS = 10.0
EXACT = 14.0
SAME_WORDS = 8.0
OPPOSITE = -18.0
WRITTEN_OUT = -1.0  # where an abbreviation was written out: it may mean something else


SURELY = 0.6  # From this share on a reason says that a word is read as another, below only that it may mean it.
OTHER_WORD = 0.97  # How much another word with the same meaning says, beside the word itself.
BY_LETTERS = 0.62  # A word that only looks like another one says at most so much of it …
LIKE = 0.5  # … and nothing below this likeness.
LEAST_WEIGHT = 0.35  # of a word that is in every term
RAREST = 10.0  # Rarity from which a word counts fully.
UNKNOWN = 0.75  # Weight of a word that the vocabulary lacks.
LITTLE_COVERED = 0.5  # Share of the phrase below which a term is doubtful, …
MUCH_COVERED = 0.65
COLOURS = 0.2  # Weight up to which a word only colours a phrase.
SAID = 0.3  # Share from which a word of the phrase is said at all.
LITTLE_SHARED = 0.34  # … and share of the phrase times share of the term.
MOST_WEIGHTS = 50_000  # Words whose weights are kept; then all are forgotten.
BY_LETTERS_ALONE = COVERED * BY_LETTERS + NOTHING_ELSE * BY_LETTERS**2  # the most points where no meaning is shared
BESIDES = 0.3  # Least weight of a word of the term: one that colours a phrase may make another concept of a term.

_OPPOSITES = (
    ("increased", "decreased"),
    ("increased", "absent"),
    ("enlarged", "small"),
    ("widened", "narrowed"),
    ("fast", "slow"),
    ("hot", "cold"),
    ("upper", "lower"),
    ("=left", "=right"),
    ("=acut", "=chron"),
)
_MISSING = frozenset({"absent", "decreased", "difficulty"})
_WITH_OPPOSITE = frozenset(meaning for pair in _OPPOSITES for meaning in pair)


Spelling = tuple[Written, tuple[Reading, ...]]  # the phrase as it may be meant, with its readings


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a candidate has some of its points, in a few words for the person who decides; they stand beside the term by
    which it was found.
    """

    kind: str
    points: float
    sentence: str


@dataclass(frozen=True, slots=True)
class Weighed:
    """A reading with the weights of its parts, and their sum."""

    reading: Reading
    weights: tuple[float, ...]
    total: float

    @classmethod
    def of(cls, reading: Reading, weights: Iterable[float]) -> Weighed:
        weights = tuple(weights)
        return cls(reading, weights, sum(weights))


@dataclass(frozen=True, slots=True)
class ReadTerm:
    """A term laid out to be compared with any question: its readings, its stems in order and its trigrams."""

    term: Term
    readings: tuple[Weighed, ...]
    bag: tuple[str, ...]
    grams: frozenset[str]


class Weights:
    """How much the words of one vocabulary tell apart. Kept once worked out: the same words come again and again."""

    def __init__(self, rarity: Callable[[str], float | None]) -> None:
        """`rarity` of a stem is ln(terms ÷ terms with it) + 1, None for one that no term has."""
        self._rarity = rarity
        self._known: dict[str, float] = {}

    def of(self, part: Part) -> float:
        known = self._known.get(part.key)
        if known is None:
            if len(self._known) >= MOST_WEIGHTS:
                self._known.clear()
            rarities = [rarity for key in part.key.split() if (rarity := self._rarity(key)) is not None]
            known = self._known[part.key] = weight_of(max(rarities)) if rarities else UNKNOWN
        return known * part.weight

    def asked(self, reading: Reading) -> Weighed:
        """A reading of the phrase."""
        return Weighed.of(reading, map(self.of, reading.parts))

    def read(self, term: Term) -> ReadTerm:
        """The term with its readings."""
        found = (
            Weighed.of(reading, (max(self.of(part), BESIDES) for part in reading.parts))
            for reading in readings_of_folded(term.key)
        )
        return ReadTerm(term, tuple(found), _bag(term.key), _grams(term.key.replace(" ", "")))


@dataclass(frozen=True, slots=True)
class Match:
    """How one term answers the phrase: by which spelling and which readings, and the points for it.

    `own` and `back` say for each part of the phrase how well the term says it, and the other way round.
    """

    term: Term
    place: int
    asked: Reading
    other: Reading
    own: list[float]
    back: list[float]
    covered: float
    besides: float
    letters: float
    same: float
    opposed: bool
    points: float


class Matcher:
    """Compares terms with one question."""

    def __init__(self, spellings: Sequence[Spelling], weights: Weights) -> None:
        self._written = [written for written, _ in spellings]
        self._asked = [[weights.asked(reading) for reading in found] for _, found in spellings]
        self._folded = [fold(written.text) for written in self._written]
        self._bags = [_bag(folded) for folded in self._folded]
        self._grams = [_grams(folded.replace(" ", "")) for folded in self._folded]

    def match(self, read: ReadTerm) -> Match | None:
        """The best of all pairs of a reading of the phrase with a reading of the term."""
        best: Match | None = None
        for place, found in enumerate(self._asked):
            letters = _dice(self._grams[place], read.grams)
            same = (
                EXACT if self._folded[place] == read.term.key else SAME_WORDS if self._bags[place] == read.bag else 0.0
            )
            fixed = LETTERS * letters + same + (WRITTEN_OUT if self._written[place].short else 0.0)
            for asked in found:
                for other in read.readings:
                    if (
                        best is not None
                        and fixed + BY_LETTERS_ALONE < best.points
                        and asked.reading.said_at.keys().isdisjoint(other.reading.said_at)
                    ):
                        continue  # it cannot be the best
                    own, back = _said(asked.reading, other.reading)
                    covered = sum(map(mul, asked.weights, own)) / asked.total
                    besides = sum(map(mul, other.weights, back)) / other.total
                    opposed = _opposed(asked.reading, other.reading)
                    points = (
                        fixed + COVERED * covered + NOTHING_ELSE * besides * covered + (OPPOSITE if opposed else 0.0)
                    )
                    if best is None or points > best.points:
                        best = Match(
                            read.term,
                            place,
                            asked.reading,
                            other.reading,
                            own,
                            back,
                            covered,
                            besides,
                            letters,
                            same,
                            opposed,
                            points,
                        )
        return best

    def doubt(self, match: Match) -> str:
        """Why the term is probably no answer, as a sentence; "" if nothing speaks against it."""
        if match.same:
            return ""
        if match.covered < LITTLE_COVERED:
            return "says little of it; perhaps there is no concept"
        if match.covered * match.besides < LITTLE_SHARED or self._by_the_way(match):
            return "has little in common with it; perhaps there is no concept"
        return ""

    def _by_the_way(self, match: Match) -> bool:
        """Whether they share only what describes: the last word, which mostly says what it is about, is said by neither
        of the other ("saddle anesthesia", "saddle nose").
        """
        if match.covered >= MUCH_COVERED:
            return False
        return match.own[_last(match.asked.parts)] < SAID and match.back[_last(match.other.parts)] < SAID

    def told(self, match: Match) -> list[Reason]:
        """The points of a match as reasons."""
        reasons, written = [], self._written[match.place]
        if match.same == EXACT and not written.short and not match.opposed:  # More need not be said.
            return [Reason("exact", match.points, "exactly these words")]
        if match.same:
            reasons.append(
                Reason("exact", match.same, "exactly these words" if match.same == EXACT else "the same words")
            )
        if written.short:
            reasons.append(Reason("abbreviation", WRITTEN_OUT, f"“{written.short}” taken as “{written.long}”"))
        missing = [part.surface for part, share in zip(match.asked.parts, match.own, strict=True) if share < SAID]
        extra = [part.surface for part, share in zip(match.other.parts, match.back, strict=True) if share < 0.5]
        said = f"without {_quoted(missing)}" if missing else "says all of it"
        reasons.append(Reason("coverage", COVERED * match.covered, said))
        said = f"adds {_quoted(extra)}" if extra else "nothing else"
        reasons.append(Reason("besides", NOTHING_ELSE * match.besides * match.covered, said))
        reasons.append(Reason("letters", LETTERS * match.letters, f"spelt {round(100 * match.letters)}% alike"))
        if match.opposed:
            reasons.append(Reason("opposite", OPPOSITE, "says the opposite"))
        return reasons + [Reason("wording", 0.0, sentence) for sentence in _read_as(match.asked, match.other)]


def _said(asked: Reading, other: Reading) -> tuple[list[float], list[float]]:
    """For each part of the phrase how well the term says it, and for each part of the term how well the phrase does (0
    to 1).

    The same word says all, a shared meaning nearly all, and a word that only looks alike something.
    """
    own, back = [0.0] * len(asked.parts), [0.0] * len(other.parts)
    ours, theirs = asked.said_at, other.said_at
    for meaning in ours.keys() & theirs.keys():
        worth = 1.0 if meaning[0] == "=" else OTHER_WORD
        for row, share in ours[meaning]:
            for column, fidelity in theirs[meaning]:
                _raise(own, back, row, column, worth * share * fidelity)
    if 0.0 in own:
        columns = [column for column, value in enumerate(back) if value < BY_LETTERS]
        for row, part in enumerate(asked.parts):
            if own[row] < BY_LETTERS:
                for column in columns:
                    _raise(own, back, row, column, resemblance(part.key, other.parts[column].key))
    return own, back


def _raise(own: list[float], back: list[float], row: int, column: int, value: float) -> None:
    # Not by `max`: a call costs more than all the rest, and there are some hundred for every term.
    if value > own[row]:  # noqa: PLR1730
        own[row] = value
    if value > back[column]:  # noqa: PLR1730
        back[column] = value


def _last(parts: Sequence[Part]) -> int:
    """The place of the last part that does more than colour; the last of all if none does."""
    return max((place for place, part in enumerate(parts) if part.weight > COLOURS), default=len(parts) - 1)


def _read_as(asked: Reading, other: Reading) -> list[str]:
    """Sentences for the words of the phrase that the term says in other words."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for part in asked.parts:
        shares = [
            (sum(each.meanings[meaning] * part.meanings[meaning] for meaning in _shared(part, each)), each)
            for each in other.parts
        ]
        share, best = max(shares, key=lambda pair: pair[0])
        if share and part.key != best.key and best.surface != part.surface:
            verb = "taken as" if share >= SURELY else "loosely taken as"
            found.setdefault((part.surface, verb), {})[best.surface] = None
    return [f"“{surface}” {verb} “{' '.join(words)}”" for (surface, verb), words in found.items()]


def _shared(part: Part, other: Part) -> list[str]:
    """The meanings of both, in the order of the second: sums must not depend on the order of a set."""
    return [] if part.meanings.keys().isdisjoint(other.meanings) else [m for m in other.meanings if m in part.meanings]


def weight_of(rarity: float) -> float:
    """How much a word tells apart (0 to 1) by its rarity, ln(terms ÷ terms with it) + 1."""
    return LEAST_WEIGHT + (1 - LEAST_WEIGHT) * min(1.0, rarity / RAREST)


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(f"“{word}”" for word in dict.fromkeys(words))


def _opposed(reading: Reading, other: Reading) -> bool:
    """Whether one says the opposite of the other ("increased", "decreased"), or says "no" where nothing is missing in
    the other.
    """
    if reading.denies == other.denies and (
        _WITH_OPPOSITE.isdisjoint(reading.certain) or _WITH_OPPOSITE.isdisjoint(other.certain)
    ):
        return False
    for one, against in ((reading, other), (other, reading)):
        if one.denies and not against.denies and not _MISSING & against.certain:
            return True
        for high, low in _OPPOSITES:
            if (
                high in one.certain
                and low in against.certain
                and high not in against.certain
                and low not in one.certain
            ):
                return True
    return False


@lru_cache(maxsize=1 << 14)
def _grams(text: str) -> frozenset[str]:
    padded = f"^{text[:200]}$"
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2)) or frozenset(padded)


@lru_cache(maxsize=1 << 14)
def bag_of(phrase: str) -> tuple[str, ...]:
    """The stems of the words of any text, in the order of the alphabet."""
    return _bag(fold(phrase[:MOST_LETTERS]))


@lru_cache(maxsize=1 << 12)
def _bag(key: str) -> tuple[str, ...]:
    return tuple(sorted(keys_of_folded(key)))


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


@lru_cache(maxsize=1 << 16)
def resemblance(word: str, other: str) -> float:
    """How much two stems look alike, at most `BY_LETTERS`: a shared beginning ("pharyng…") or shared letters; 0 for
    short ones and for words of any conversation, which mean themselves.
    """
    shorter = min(len(word), len(other))
    if shorter < 5 or not wordings().common.isdisjoint((word, other)):
        return 0.0
    same = next((place for place, pair in enumerate(zip(word, other, strict=False)) if pair[0] != pair[1]), shorter)
    beginning = same / max(len(word), len(other)) if same >= 5 else 0.0
    alike = max(beginning, _dice(_grams(word), _grams(other)))
    return BY_LETTERS * alike if alike >= LIKE else 0.0
