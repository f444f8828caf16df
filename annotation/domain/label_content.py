"""What a label says, in forms that can be compared.

Two labels say the same when they have the same intent, slot, answers and ticks; letters' case, white space, the form of
Unicode characters and the order inside a list do not count, nor who made the label, when, or how a file spelled it.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from annotation.domain.labels import Label

Said = tuple[tuple[str, str], ...]  # (value, rating) in order; the rating is "" where the question has none
Content = tuple[str, str, str, tuple[tuple[str, Said], ...], tuple[str, ...]]


def plain(text: object) -> str:
    """The spelling that is compared: NFC, case-folded, white space collapsed."""
    folded = unicodedata.normalize("NFC", str(text)).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def items_of(answer: Any) -> list[tuple[str, str]]:
    """An answer of any kind as a list of (value, rating), as it is spelled, empty values left out."""
    if answer is None:
        return []
    if isinstance(answer, Mapping) or not isinstance(answer, Iterable) or isinstance(answer, str):
        answer = [answer]
    pairs = [
        (str(item.get("value", "")), str(item.get("rating") or "")) if isinstance(item, Mapping) else (str(item), "")
        for item in answer
    ]
    return [(value, rating) for value, rating in pairs if plain(value)]


def said(answer: Any) -> Said:
    """An answer as it is compared: plain, each value once, in order."""
    return tuple(sorted({(plain(value), plain(rating)) for value, rating in items_of(answer)}))


def content(label: Label, *, without: str = "") -> Content:
    """Everything that the label says, hashable and sortable. `without` leaves the answer to one question out."""
    answers = {name: said(answer) for name, answer in label.answers.items() if name != without}
    kept = tuple(sorted((name, answer) for name, answer in answers.items() if answer))
    return label.intent, plain(label.intent_name), label.slot, kept, tuple(sorted(set(label.checks)))


def exact_content(label: Label) -> str:
    """Everything that the label says to the letter, as JSON; who made it and when is left out."""
    parts = [label.intent, label.intent_name, label.slot, label.answers, sorted(label.checks), label.kept]
    return json.dumps(parts, sort_keys=True, default=dict)
