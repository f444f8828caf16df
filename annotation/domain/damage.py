"""Labels that no page writes: what a database holds that was damaged, or altered by hand.

Who reads many dialogues asks before, names the one that is damaged, and goes on with the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from annotation.domain.labels import Label


def damage(labels: Iterable[Label]) -> str:
    """What is damaged in the labels of one reading, in one sentence; "" where nothing is."""
    for label in labels:
        what = _damaged(label)
        if what:
            about = f"{label.slot}, {label.intent}" if isinstance(label.slot, str) and label.slot else label.intent
            return f"A label of utterance {label.position} ({about}) is damaged in the database: {what}."
    return ""


def _damaged(label: Label) -> str:
    if not isinstance(label.answers, Mapping):
        return "its answers are not stored by question"
    if not isinstance(label.kept, Mapping):
        return "what was kept of its file is not stored by name"
    if not all(isinstance(one, str) for one in label.checks):
        return "what it asks about is no list of names"
    for name, answer in label.answers.items():
        if not _is_answer(answer):
            return f"its answer to “{_printable(name)}” is neither text nor a list of values"
    texts = (label.intent_name, *label.checks, *_texts(label.answers), *_texts(label.kept))
    if not all(map(_is_text, texts)):
        return "it holds half of a character, which no file can hold"
    return ""


def _is_answer(answer: Any) -> bool:
    """None, text, or a list of values: each text, or a mapping with the text under `value` and a rating."""
    if isinstance(answer, list):
        return all(isinstance(one, str) or _is_rated(one) for one in answer)
    return answer is None or isinstance(answer, str)


def _is_rated(item: Any) -> bool:
    return (
        isinstance(item, Mapping) and isinstance(item.get("value"), str) and isinstance(item.get("rating"), str | None)
    )


def _texts(found: Any) -> Iterable[str]:
    """Every text in plain data, keys included."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, Mapping):
        for name, value in found.items():
            yield name
            yield from _texts(value)
    elif isinstance(found, list):
        for item in found:
            yield from _texts(item)


def _is_text(text: str) -> bool:
    """Whether it is Unicode throughout, without lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printable(text: str) -> str:
    return text[:60].encode(errors="replace").decode()
