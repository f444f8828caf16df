"""Different words for one thing: reads a phrase or a term as parts that carry meanings.

"belly ache", "abdominal pain" and "pain in the stomach area" have no word in common, but the same meanings. This module
takes a text apart into `Part`s (a word, or words that belong together) and gives each the meanings it may have, with
how well it says them. What it knows stands in tables of general wordings (`umls_linker/data/*.txt`): words for one
notion, Greek and Latin forms, composed words, abbreviations, and words that colour a complaint without choosing a
concept. The tables hold kinds of wordings, never whole answers.

A text may have several readings: words that belong together ("short of breath") or one by one, composed words
("cephalalgia") as one word or taken apart (head, pain), an abbreviation written out. Pure and deterministic; no text
makes it raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from umls_linker.domain.normalise import STOP_WORDS, fold, stem

DATA = Path(__file__).resolve().parent.parent / "data"
APART = 0.95  # How well the parts of a composed word say what it says.
SURE = 0.9  # From which a reading says a meaning for certain.
SHARED = 0.7  # The weight of each of these parts beside that of a whole word.
LOOSE = 0.7  # How well a word marked "~" says the meaning.
MOST_LETTERS = 2000  # A phrase is read up to here, …
MOST_WORDS = 24  # … and up to so many words: what follows the first words of a long text would only blur it.
_LONGEST_GROUP = 5
DENIALS = frozenset(stem(word) for word in ("no", "not", "non", "never", "without", "none", "nor", "denies"))
DEGREES = frozenset({"increased", "decreased", "fast", "slow", "abnormal", "enlarged", "small"})
_LINKS = ("", "o", "i", "a", "e")


@dataclass(frozen=True, slots=True)
class Part:
    """A word of a text, or words that belong together.

    `meanings` maps a meaning to how well this part says it (0 to 1); a meaning that begins with "=" is the stem itself.
    `weight` is how much the part tells apart (fillers little). `key` is the stem (stems, if several words).
    """

    surface: str
    key: str
    meanings: Mapping[str, float]
    weight: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A text as parts. `certain`: what it says for sure; `denies`: it says "no" or the like; `said_at`: the places of
    the parts with a meaning, each with how well it says it.
    """

    parts: tuple[Part, ...]
    certain: frozenset[str]
    denies: bool
    said_at: Mapping[str, Sequence[tuple[int, float]]]

    @classmethod
    def of(cls, parts: Iterable[Part]) -> Reading:
        parts = tuple(parts)
        said_at: dict[str, list[tuple[int, float]]] = {}
        certain: set[str] = set()
        for place, part in enumerate(parts):
            for meaning, fidelity in part.meanings.items():
                said_at.setdefault(meaning, []).append((place, fidelity))
                if fidelity >= SURE:
                    certain.add(meaning)
        return cls(parts, frozenset(certain), any(part.key in DENIALS for part in parts), said_at)


_ByLetters = dict[str, dict[str, float]]
_ByStems = dict[tuple[str, ...], dict[str, float]]


@dataclass(frozen=True)
class Wordings:
    """The tables, ready for look-ups. Keys are stems, groups are tuples of stems.

    `own`, `own_composed` and `own_fillers` hold words by their letters: those whose stem is that of another word, which
    they would lend what they say ("hairy" its "increased" to "hair").
    """

    groups: Mapping[tuple[str, ...], Mapping[str, float]]
    members: Mapping[str, tuple[tuple[tuple[str, ...], float], ...]]
    own: Mapping[str, Mapping[str, float]]
    composed: Mapping[str, tuple[str, ...]]
    own_composed: Mapping[str, tuple[str, ...]]
    starts: Mapping[str, tuple[str, ...]]
    ends: Mapping[str, tuple[str, ...]]
    abbreviations: Mapping[tuple[str, ...], tuple[str, ...]]  # and brand names
    capitals: frozenset[str]
    fillers: Mapping[str, float]
    own_fillers: Mapping[str, float]
    common: frozenset[str]
    group_beginnings: frozenset[str]


def _lines(name: str) -> Iterable[tuple[str, str]]:
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            left, _, right = line.partition(":")
            yield left.strip(), right.strip()


def _list(name: str) -> Iterable[str]:
    """The words of a table that has nothing but words, divided by commas."""
    return (word.strip() for line, _ in _lines(name) for word in line.split(","))


def tokens(text: str) -> list[tuple[str, str]]:
    """The meaningful words of `text` with their stems; all words where every one is a stop word."""
    return _tokens(fold(text[:MOST_LETTERS]))


def _tokens(folded: str) -> list[tuple[str, str]]:
    words = folded.split()
    kept = [word for word in words if word not in STOP_WORDS] or words
    return [(word, stem(word)) for word in kept[:MOST_WORDS]]


@lru_cache(maxsize=1 << 14)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(key for _, key in tokens(text))


def _everyday_words() -> tuple[_ByStems, _ByLetters, dict[str, dict[tuple[str, ...], float]]]:
    """What groups of stems mean, what words by their letters mean, and the groups of each meaning."""
    groups: _ByStems = {}
    own: _ByLetters = {}
    members: dict[str, dict[tuple[str, ...], float]] = {}
    lines = [(meaning, [word.strip() for word in said.split(",")]) for meaning, said in _lines("everyday_words.txt")]
    owners: dict[tuple[str, ...], frozenset[str]] = {}  # Of lines named by words of one stem the shortest name has it.
    for meaning, said in sorted(lines, key=lambda line: len(line[0])):
        owners.setdefault(_stems(meaning), frozenset(fold(word.lstrip("~")) for word in said))
    for meaning, said in lines:
        for word in said:
            group, letters = _stems(word.lstrip("~")), fold(word.lstrip("~"))
            fidelity = LOOSE if word.startswith("~") else 1.0
            lent = len(group) == 1 and letters not in owners.get(group, {letters})
            told = own.setdefault(letters, {}) if lent else groups.setdefault(group, {})
            told[meaning] = max(told.get(meaning, 0.0), fidelity)
            row = members.setdefault(meaning, {})
            row[group] = max(row.get(group, 0.0), fidelity)
    for group in [group for group in groups if len(group) == 2]:
        groups.setdefault((group[1], group[0]), groups[group])  # "pounding heart", "heart pounding"
    return groups, own, members


def _fillers(groups: _ByStems) -> tuple[dict[str, float], dict[str, float]]:
    """Weights of fillers by their stems, and by their letters where the stem is that of a word with a meaning: "nos" is
    no "nose".
    """
    meaningful = {
        fold(word.strip().lstrip("~")) for _, said in _lines("everyday_words.txt") for word in said.split(",")
    }
    fillers: dict[str, float] = {}
    own: dict[str, float] = {}
    for weight, words in _lines("filler_words.txt"):
        for word in words.split(","):
            group, letters = _stems(word), fold(word)
            lent = len(group) == 1 and group in groups and letters not in meaningful
            if group:
                (own if lent else fillers)[letters if lent else " ".join(group)] = float(weight)
    return fillers, own


@lru_cache(maxsize=1)
def wordings() -> Wordings:
    """The tables of `umls_linker/data`, read once."""
    groups, own, members = _everyday_words()
    composed: dict[str, tuple[str, ...]] = {}
    own_composed: dict[str, tuple[str, ...]] = {}
    for word, said in _lines("composed_words.txt"):
        key, meanings = " ".join(_stems(word)), _meanings(said)
        if key in {" ".join(_stems(meaning)) for meaning in meanings}:
            own_composed[fold(word)] = meanings
        else:
            composed[key] = meanings
    starts: dict[str, tuple[str, ...]] = {}
    ends: dict[str, tuple[str, ...]] = {}
    for left, said in _lines("combining_forms.txt"):
        form, _, position = left.partition(" ")
        (ends if position == "end" else starts)[form] = _meanings(said)
    fillers, own_fillers = _fillers(groups)
    abbreviations = {
        tuple(fold(short).split()): tuple(_split(said, "|")) for short, said in _lines("abbreviations.txt")
    }
    capitals = frozenset(fold(short) for short, _ in _lines("abbreviations.txt") if short.isupper())
    brands = {
        tuple(fold(brand).split()): (name,) for name, said in _lines("brand_names.txt") for brand in said.split(",")
    }
    return Wordings(
        groups=groups,
        own=own,
        members={
            meaning: tuple(sorted(row.items(), key=lambda item: (-item[1], item[0])))
            for meaning, row in members.items()
        },
        composed=composed,
        own_composed=own_composed,
        starts=starts,
        ends=ends,
        abbreviations={**brands, **abbreviations},
        capitals=capitals,
        fillers=fillers,
        own_fillers=own_fillers,
        common=frozenset(fillers) | {stem(fold(word)) for word in _list("common_words.txt")},
        group_beginnings=frozenset(group[0] for group in groups if len(group) > 1),
    )


def _split(text: str, sign: str) -> list[str]:
    return [piece.strip() for piece in text.split(sign) if piece.strip()]


def _meanings(text: str) -> tuple[str, ...]:
    return tuple(_split(text, "+"))


@lru_cache(maxsize=1 << 16)
def taken_apart(word: str) -> tuple[str, ...]:
    """The meanings of a Greek or Latin word by its forms: "cephalodynia" → head, pain. Empty if forms do not make up
    all of it.
    """
    if not 6 <= len(word) <= 40 or not word.isascii():
        return ()
    table = wordings()
    for size in range(min(len(word) - 2, 12), 2, -1):
        end = table.ends.get(word[-size:])
        if end:
            beginning = _beginning(word[:-size])
            if beginning:
                return beginning + end
    return _prefixed(word)


def _prefixed(word: str) -> tuple[str, ...]:
    """A known word with a form before it that says how much of it there is: "hyperpyrexia" → increased, fever."""
    table = wordings()
    for size in (5, 4, 3):
        before, rest = table.starts.get(word[:size], ()), word[size:]
        if before and len(rest) > 4 and set(before) <= DEGREES:
            known = said_by(rest, stem(rest))
            after = (
                table.own_composed.get(rest)
                or table.composed.get(stem(rest))
                or tuple(meaning for meaning, share in known.items() if share == 1.0)[:1]
            )
            if after:
                return before + after
    return ()


def _beginning(word: str, depth: int = 0) -> tuple[str, ...]:
    starts = wordings().starts
    for size in range(min(len(word), 12), 1, -1):
        meaning = starts.get(word[:size])
        if meaning is None:
            continue
        for link in _LINKS:
            rest = word[size:]
            if rest == link:
                return meaning
            if depth < 3 and rest.startswith(link) and len(rest) > len(link):
                further = _beginning(rest[len(link) :], depth + 1)
                if further:
                    return meaning + further
    return ()


def _part(surface: str, key: str, meanings: Mapping[str, float]) -> Part:
    table = wordings()
    weight = table.fillers.get(key, table.own_fillers.get(surface, 1.0))
    return Part(surface, key, {f"={key}": 1.0, **meanings}, weight)


@lru_cache(maxsize=1 << 14)
def _word(surface: str, key: str) -> Part:
    """One word as a part."""
    return _part(surface, key, said_by(surface, key))


def said_by(word: str, key: str) -> Mapping[str, float]:
    """What a folded word, whose stem is `key`, means by the tables, with how well it says it."""
    table = wordings()
    by_stem, by_letters = table.groups.get((key,), {}), table.own.get(word)
    return {**by_stem, **by_letters} if by_letters else by_stem


def _group_at(words: list[tuple[str, str]], start: int) -> int:
    """How many words from `start` on belong together by the tables; 0 if none."""
    table = wordings()
    if words[start][1] not in table.group_beginnings:
        return 0
    for size in range(min(_LONGEST_GROUP, len(words) - start), 1, -1):
        if tuple(key for _, key in words[start : start + size]) in table.groups:
            return size
    return 0


def _together(words: list[tuple[str, str]]) -> tuple[Part, ...]:
    """Words that belong together as one part, every other word as one."""
    table, parts, at = wordings(), list[Part](), 0
    while at < len(words):
        size = _group_at(words, at)
        if size:
            surface, key = (" ".join(pair[side] for pair in words[at : at + size]) for side in (0, 1))
            parts.append(_part(surface, key, table.groups[tuple(key.split())]))
            at += size
        else:
            surface, key = words[at]
            parts.append(_word(surface, key))
            at += 1
    return tuple(parts)


def _apart(reading: Iterable[Part]) -> tuple[Part, ...]:
    """The reading with composed words taken apart into what they say. The parts of one word share its weight and its
    stem.
    """
    table, parts = wordings(), list[Part]()
    for part in reading:
        said = table.own_composed.get(part.surface) or table.composed.get(part.key) or ()
        for meaning, fidelity in part.meanings.items():
            if not said and fidelity == 1.0:
                name = meaning.lstrip("=")
                said = table.own_composed.get(name) or table.composed.get(" ".join(_stems(name))) or ()
        if not said and " " not in part.surface:
            said = taken_apart(part.surface)
        if len(said) > 1:
            parts.extend(
                Part(part.surface, part.key, {f"={part.key}": 1.0, meaning: APART, **_also(meaning)}, SHARED)
                for meaning in said
            )
        else:
            parts.append(part)
    return tuple(parts)


@lru_cache(maxsize=4096)
def _also(meaning: str) -> Mapping[str, float]:
    """What else the central word of a meaning says: "difficulty" is loosely "absent" too."""
    key = _stems(meaning)
    said = {**wordings().groups.get(key, {}), **wordings().own.get(meaning, {}), f"={' '.join(key)}": 1.0}
    return {each: APART * share for each, share in said.items()}


def readings(text: str) -> tuple[Reading, ...]:
    """The readings of a term or phrase, one to three, without repetition: together, taken apart, word by word."""
    return readings_of_folded(fold(text[:MOST_LETTERS]))


@lru_cache(maxsize=1 << 12)
def readings_of_folded(folded: str) -> tuple[Reading, ...]:
    """`readings` of a text that is folded already."""
    words = _tokens(folded)
    if not words:
        return ()
    together = _together(words)
    single = tuple(_word(surface, key) for surface, key in words)
    found = [together, _apart(together)]
    if single != together:
        found.append(_apart(single))
    return tuple(Reading.of(parts) for parts in {_signature(parts): parts for parts in found}.values())


def _signature(parts: Iterable[Part]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((part.key, tuple(part.meanings)) for part in parts)


@dataclass(frozen=True, slots=True)
class Written:
    """A phrase as it may be meant, with its abbreviation written out where there is one."""

    text: str
    short: str = ""
    long: str = ""


def written_out(phrase: str, most: int = 4) -> list[Written]:
    """The phrase itself, then with one abbreviation written out, or with the substance for one brand name."""
    found, words = [Written(phrase)], fold(phrase[:MOST_LETTERS]).split()[:MOST_WORDS]
    table, capitals = wordings().abbreviations, wordings().capitals
    for start in range(len(words)):
        for size in (3, 2, 1):
            short = tuple(words[start : start + size])
            if len(short) == size and short in table and not (short[0] in capitals and short[0].upper() not in phrase):
                for long in table[short]:
                    found.append(
                        Written(" ".join([*words[:start], long, *words[start + size :]]), " ".join(short), long)
                    )
    return found[:most]


@lru_cache(maxsize=4096)
def composed_of(meanings: frozenset[str]) -> tuple[str, ...]:
    """Stems of the composed words that say nothing but `meanings` and at least two of them: {head, pain} → headache,
    cephalgia.
    """
    table = wordings()
    found = {word: None for word, said in table.composed.items() if len(said) > 1 and meanings.issuperset(said)}
    found |= {stem(word): None for word, said in table.own_composed.items() if meanings.issuperset(said)}
    starts = [form for form, said in table.starts.items() if meanings.issuperset(said)]
    ends = [form for form, said in table.ends.items() if meanings.issuperset(said)]
    for start in starts[:12]:
        for end in ends[:6]:
            for link in ("o", ""):
                found[stem(start + link + end)] = None
    return tuple(found)
