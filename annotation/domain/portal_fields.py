"""One question of a label in a portal file: under which keys its answer stands, and how it is spelled there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.domain.joined import join_values, split_values
from annotation.domain.questionnaire import Check, Choice, Field, Kind
from annotation.domain.validation import clean_answer, clean_text

STATUS = " status"
CHECK = " check"
CRITERION_KEY = " criterion"

Raw = Mapping[str, Any]
Content = tuple[Any, bool, str]  # the answer (None for none), whether the question is ticked, the criterion


@dataclass(frozen=True, slots=True)
class Found:
    """What the keys of one question say. `problems` maps a key that was not understood to why, in one sentence."""

    answer: Any = None
    checked: bool = False
    criterion: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> Content:
        return (self.answer, self.checked, self.criterion)


def portal_key(item: Field) -> str:
    """The key of the answer itself; the question's other keys begin with it."""
    return item.portal or item.name.replace("_", " ")


def keys_of(item: Field) -> list[str]:
    """All keys of a question, in the order in which they are written."""
    key = portal_key(item)
    keys = [key]
    if item.kind is Kind.RATED_VALUES:
        keys.append(key + STATUS)
    if item.criterion:
        keys.append(key + CRITERION_KEY)
    return [*keys, key + CHECK]


def write_field(item: Field, content: Content) -> dict[str, Any]:
    """The question's keys as this project writes them."""
    answer, checked, criterion = content
    key = portal_key(item)
    written: dict[str, Any] = {}
    if item.kind is Kind.RATED_VALUES and answer:
        written[key] = join_values(rated["value"] for rated in answer)
        ratings = [_spelled(item, rated["rating"]) for rated in answer]
        if any(ratings):
            written[key + STATUS] = join_values(ratings[:1] if len(set(ratings)) == 1 else ratings)
    elif isinstance(answer, list):
        written[key] = join_values(answer)
    elif answer:
        written[key] = _spelled(item, answer) if item.kind is Kind.CHOICE else answer
    if criterion:
        written[key + CRITERION_KEY] = criterion
    if checked:
        written[key if item.check is Check.ALONE and not answer else key + CHECK] = True
    return written


def read_field(item: Field, raw: Raw) -> Found:
    """What the question's keys say; `raw` may hold other keys too."""
    key = portal_key(item)
    problems: dict[str, str] = {}
    value = raw.get(key)
    ticked = value is True and item.check is not Check.NONE
    answer = None if ticked else _answer(item, value, raw, problems)
    tick = raw.get(key + CHECK)
    if tick not in (None, "") and not isinstance(tick, bool):
        problems[key + CHECK] = f"“{key + CHECK}” is true or missing, not {_shown(tick)}."
    criterion = ""
    if item.criterion:
        criterion = _text(raw.get(key + CRITERION_KEY), key + CRITERION_KEY, problems) or ""
    return Found(answer, ticked or tick is True, criterion, problems)


def same(one: Raw, other: Raw) -> bool:
    """Whether two sets of keys say the same, spaces after commas aside."""
    return one.keys() == other.keys() and all(_same_value(value, other[key]) for key, value in one.items())


def match_choice(choices: tuple[Choice, ...], text: str) -> Choice | None:
    """The choice that is spelled so: exactly, or else in another case, with other spaces or without a full stop."""
    for choice in choices:
        if text and text in (choice.portal, choice.name):
            return choice
    for choice in choices:
        if plain(text) in {plain(spelling) for spelling in (choice.portal, choice.name, *choice.spellings)} - {""}:
            return choice
    return None


def plain(text: str) -> str:
    """A name without what people spell differently."""
    return " ".join(text.replace("_", " ").split()).casefold().rstrip(".")


def _answer(item: Field, value: Any, raw: Raw, problems: dict[str, str]) -> Any:
    key = portal_key(item)
    if item.kind is Kind.RATED_VALUES:
        return _rated(item, value, raw.get(key + STATUS), problems)
    if value in (None, "", []) or value is False:
        return None
    if item.kind is Kind.CHOICE:
        return _choice(item, value, problems)
    given = _values(value) if item.kind is Kind.VALUES else _as_text(value)
    return _clean(item, key, given, value, problems)


def _clean(item: Field, key: str, given: Any, value: Any, problems: dict[str, str]) -> Any:
    if given is None:
        problems[key] = f"“{key}” takes a text, not {_shown(value)}."
        return None
    try:
        return clean_answer(item, given) or None
    except ValueError as error:
        problems[key] = f"“{key}” {str(error).rstrip('.')}; here it is {_shown(value)}."
        return None


def _choice(item: Field, value: Any, problems: dict[str, str]) -> str | None:
    key, text = portal_key(item), _as_text(value)
    if text is not None and not text.strip():
        return None
    choice = match_choice(item.choices, text) if text is not None else None
    if choice is None:
        problems[key] = f"“{key}” has no answer {_shown(value)}."
        return None
    return choice.name


def _rated(item: Field, value: Any, status: Any, problems: dict[str, str]) -> list[dict[str, str]] | None:
    """Values with their ratings: one for all of them, or one each, an empty place where there is none."""
    key = portal_key(item)
    values = [] if value in (None, "", []) or value is False else _values(value)
    if values is None:
        problems[key] = f"“{key}” takes values, not {_shown(value)}."
        values = []
    ratings = _ratings(item, status, len(values), problems)
    pairs = [{"value": one, "rating": rating} for one, rating in zip(values, ratings, strict=True)]
    cleaned: list[dict[str, str]] | None = _clean(item, key, pairs, value, problems)
    return cleaned


def _ratings(item: Field, status: Any, count: int, problems: dict[str, str]) -> list[str]:
    key = portal_key(item) + STATUS
    given = [] if status in (None, "", []) or status is False else _values(status)
    if given is None:
        problems[key] = f"“{key}” takes statuses, not {_shown(status)}."
        given = []
    if len(given) == 1:
        given = given * max(count, 1)
    if len(given) > count:
        problems[key] = f"“{key}” is {_shown(status)}, more than there are values to rate ({count})."
    ratings = []
    for text in given[:count]:
        choice = match_choice(item.choices, text) if text else None
        if text and choice is None:
            problems[key] = f"“{key}” has no status {_shown(text)}."
        ratings.append(choice.name if choice else "")
    return ratings + [""] * (count - len(ratings))


def _text(value: Any, key: str, problems: dict[str, str]) -> str | None:
    if value is None or value is False:
        return None
    try:
        return clean_text(_as_text(value)) or None
    except ValueError as error:
        problems[key] = f"“{key}” {str(error).rstrip('.')}; here it is {_shown(value)}."
        return None


def _values(value: Any) -> list[str] | None:
    """Joined text, or a list of texts and numbers, as a list of texts; None for anything else."""
    if isinstance(value, list):
        texts = [_as_text(one) for one in value]
        return [text for text in texts if text is not None] if None not in texts else None
    text = _as_text(value)
    return None if text is None else split_values(text)


def _as_text(value: Any) -> str | None:
    """Text, or a number as text; None for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _spelled(item: Field, name: str) -> str:
    choice = item.choice(name)
    return (choice.portal or choice.name) if choice else name


def _same_value(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return re.sub(", +", ",", one) == re.sub(", +", ",", other)
    return bool(one == other)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return f"“{text[:60]}…”" if len(text) > 60 else f"“{text}”"
