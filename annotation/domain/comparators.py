"""When two texts of a non-medical attribute say the same: exactly, or after normalising numbers and times."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Protocol

from annotation.domain.unrolling import tidy


class Comparator(Protocol):
    """`same` must not depend on the order of its texts."""

    @property
    def name(self) -> str: ...

    def same(self, one: str, other: str) -> bool: ...

    def as_json(self) -> Mapping[str, Any]:
        """Its name, and what it counted."""


class Exact:
    """Equal in Unicode's composed form, white space made single blanks."""

    name = "exact"

    def same(self, one: str, other: str) -> bool:
        return tidy(one) == tidy(other)

    def as_json(self) -> Mapping[str, Any]:
        return {"name": self.name}


class Normalised:
    """Equal after `normalised`; texts of which it leaves no letter or digit are compared exactly."""

    name = "normalised"

    def same(self, one: str, other: str) -> bool:
        if one == other:
            return True
        plain, facing = normalised(one), normalised(other)
        if _WORDLESS.fullmatch(plain) or _WORDLESS.fullmatch(facing):
            return tidy(one) == tidy(other)
        return plain == facing

    def as_json(self) -> Mapping[str, Any]:
        return {"name": self.name}


# fmt: off
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
# fmt: on
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, start=2)}
_UNITS = {
    "second": ("seconds", "sec", "secs"),
    "minute": ("minutes", "min", "mins"),
    "hour": ("hours", "hr", "hrs"),
    "day": ("days",),
    "night": ("nights",),
    "week": ("weeks", "wk", "wks"),
    "fortnight": ("fortnights",),
    "month": ("months", "mo", "mos", "mth", "mths"),
    "year": ("years", "yr", "yrs"),
    "time": ("times",),
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in (unit, *words)}
_UNIT = f"(?:{'|'.join(_UNITS)})"
_AMOUNT = r"(?:\d+(?:\.\d+)?(?: to \d+(?:\.\d+)?)?|few|several)"
_WORDLESS = re.compile(r"[\W_]*")
# Put in the place of one another in this order, on text in lower case with single blanks.
_RULES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\b(?:about|around|approximately|approx|roughly) (?=\d|few\b|several\b|(?:an?|half|couple) )", " "),
        (r"(?:^| )~ ?(?=\d)", " "),
        (r"\b(?:a )?couple(?: of)?\b", "2"),
        (r"\bhalf an? (?=dozen\b)", "0.5 "),
        (r"\b0\.5 dozen\b", "6"),
        (r"\b(?:a )?dozen\b", "12"),
        (r"\bhalf an? (?=" + _UNIT + r"\b)", "0.5 "),
        (r"\ba few\b", "few"),
        (r"\bonce\b", "1 time"),
        (r"\btwice\b", "2 time"),
        (r"\bthrice\b", "3 time"),
        (r"\bdaily\b", "every day"),
        (r"\bweekly\b", "every week"),
        (r"\bmonthly\b", "every month"),
        (r"\byearly\b", "every year"),
        (r"\byesterday\b", "1 day ago"),
        (r"\b(?:each|per)\b", "every"),
        (r"\btime (?:in )?an? (?=" + _UNIT + r"\b)", "time every "),
        (r"\ban? (?=" + _UNIT + r"\b)", "1 "),
        (r"\b(?:the|a|an)\b", " "),
        (r"(?<![\w.])(\d+(?:\.\d+)?) ?- ?(?=\d)", r"\1 to "),
        (r"\bprevious\b|\bpast\b", "last"),
        (r"\b(?:for|in|over|during|within|since|throughout)\b(?: these)? +last\b", "last"),
        (r"\bthese last\b", "last"),
        (rf"\b({_AMOUNT} {_UNIT}) (?:before|earlier|back|prior)\b(?: now\b)?", r"\1 ago"),
        (rf"\b(?:since|from) ({_AMOUNT} {_UNIT} ago)\b", r"\1"),
    )
]


@lru_cache(maxsize=4096)
def normalised(text: str) -> str:
    """The text with what does not change its meaning taken out.

    Compatibility form and lower case; number words as digits; units of time in one spelling; "before", "earlier" and
    "back" after an amount of time as "ago", "past" and "previous" as "last"; "twice daily" as "2 time every day";
    articles, punctuation, and hedges before an amount ("about 2 days") left out. "A few" stays what it is, and a span
    ("last 2 days") is not the same as a point ("2 days ago"). Vowel signs and other marks stay with their letters, and
    symbols ("> 3 days", "👍") stay too.
    """
    plain = unicodedata.normalize("NFKC", tidy(text)).lower().replace("–", "-").replace("—", "-")
    plain = re.sub(r"(?<=\d)(?=[a-z])", " ", plain)  # "2days"
    plain = re.sub(r"(?<=[a-z])-(?=[a-z])", " ", plain)  # "twenty-one"
    plain = re.sub(r"(?<!\d)[.,](?!\d)|[.,](?!\d)|[^\w\s.,/+%°-]", _without_punctuation, plain)
    words = " ".join(_UNIT_OF.get(word, word) for word in _with_digits(plain.split()))
    for pattern, replacement in _RULES:
        words = " ".join(pattern.sub(replacement, words).split())
    return re.sub(r"(?<![\w.])(\d+)\.0+(?!\d)", r"\1", words)


def _without_punctuation(found: re.Match[str]) -> str:
    """A mark (M) or a symbol (S) is part of what is said; punctuation and what cannot be seen are a blank."""
    sign = found[0]
    return sign if unicodedata.category(sign)[0] in "MS" else " "


def _with_digits(words: Iterable[str]) -> Iterable[str]:
    """Number words below a thousand as digits: "twenty one" is 21, "two hundred and five" 205.

    "One" stays a number only by its place in a phrase, which a reader knows and this does not: it always becomes 1.
    """
    waiting = list(words)
    place = 0
    while place < len(waiting):
        value, used = _number_at(waiting, place)
        yield str(value) if used else waiting[place]
        place += used or 1


def _number_at(words: list[str], place: int) -> tuple[int, int]:
    """The number that begins at this word, and how many words it takes; 0 words for none."""
    value, used = _below_hundred(words, place)
    if not used and words[place] == "a" and words[place + 1 : place + 2] == ["hundred"]:
        value, used = 1, 1
    if not used or words[place + used : place + used + 1] != ["hundred"] or not 0 < value < 10:
        return value, used
    value, used = 100 * value, used + 1
    joined = words[place + used : place + used + 1] == ["and"]
    rest, more = _below_hundred(words, place + used + joined)
    return (value + rest, used + joined + more) if more else (value, used)


def _below_hundred(words: list[str], place: int) -> tuple[int, int]:
    if place >= len(words) or words[place] not in _NUMBERS:
        return 0, 0
    value = _NUMBERS[words[place]]
    if value >= 20 and place + 1 < len(words) and 0 < _NUMBERS.get(words[place + 1], 0) < 10:
        return value + _NUMBERS[words[place + 1]], 2
    return value, 1
