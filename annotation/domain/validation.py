"""Whether a label is one that its questionnaire allows, and the one form in which it is stored."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotation.domain.labels import Label
from annotation.domain.notices import shortened
from annotation.domain.questionnaire import Field, Kind, Questionnaire, Slot

CRITERION = ".criterion"
HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # no encoding can write one
MAX_TEXT = 2000
MAX_VALUES = 50
MAX_NAME = 200
MAX_KEPT = 20_000  # characters of JSON: what a file says beyond the questionnaire is sent with every save beside it
KEPT_LEVELS = 20  # lists and objects in each other; what is nested deeper no database need take
MAX_PROBLEMS = 20  # said of one label; the first ones are enough to see what is wrong


class UnusableAnswer(ValueError):
    """One answer that cannot be stored: the end of a sentence that begins with its question."""


class InvalidLabel(ValueError):
    """A label that cannot be stored; `problems` are sentences, each naming the question it is about."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems[:MAX_PROBLEMS]
        super().__init__(" ".join(problem.message for problem in self.problems))


@dataclass(frozen=True, slots=True)
class Problem:
    """`field` is the question the sentence is about, or "intent", "slot", "checks"."""

    field: str
    message: str


def checked_label(questionnaire: Questionnaire, label: Label, speaker: str) -> Label:
    """The label in its stored form: trimmed, empty answers left out, values once each, answers in field order.

    Raises InvalidLabel with everything that is wrong with it.
    """
    problems = [*_about_intent(questionnaire, label, speaker), *kept_problems(label)]
    if problems:
        raise InvalidLabel(problems)
    slot = questionnaire.slot(label.slot) if label.slot else None
    answers, problems = _answers(slot, label)
    checks, more = _checks(slot, label)
    if problems + more:
        raise InvalidLabel(problems + more)
    return replace(
        label,
        answers=answers,
        checks=checks,
        intent_name=clean_text(label.intent_name),
        questionnaire_version=questionnaire.version,
    )


def kept_problems(label: Label) -> list[Problem]:
    """What is wrong with the input that has no place in the questionnaire: that it is nested too deep, or too much."""
    if not label.kept:
        return []
    if _deeper(label.kept, KEPT_LEVELS):
        message = f"What the questionnaire has no place for is nested more than {KEPT_LEVELS} levels deep."
        return [Problem("kept", message)]
    size = len(json.dumps(label.kept, ensure_ascii=False))
    if size <= MAX_KEPT:
        return []
    message = f"What the questionnaire has no place for is {size:,} characters long; at most {MAX_KEPT:,} are kept."
    return [Problem("kept", message)]


def _deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects stand in each other more than `levels` deep."""
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else None
    return inner is not None and (levels == 0 or any(_deeper(item, levels - 1) for item in inner))


def _about_intent(questionnaire: Questionnaire, label: Label, speaker: str) -> list[Problem]:
    intent = questionnaire.intent(label.intent)
    if intent is None:
        return [Problem("intent", f"This questionnaire has no intent “{shortened(label.intent)}”.")]
    problems = []
    if speaker not in intent.speakers:
        problems.append(Problem("intent", f"“{intent.title}” is not an intent of the {speaker}'s turns."))
    if label.intent_name and not intent.named:
        problems.append(Problem("intent", f"“{intent.title}” cannot be given a name of its own."))
    try:
        clean_text(label.intent_name, limit=MAX_NAME)
    except UnusableAnswer as error:
        problems.append(Problem("intent", f"The intent's name {error}"))
    if label.slot:
        slot = questionnaire.slot(label.slot)
        if slot is None:
            problems.append(Problem("slot", f"This questionnaire has no slot “{shortened(label.slot)}”."))
        elif label.intent not in slot.intents:
            problems.append(Problem("slot", f"“{slot.title}” cannot be used with “{intent.title}”."))
    elif label.answers or label.checks:
        problems.append(Problem("slot", "Answers need a slot; choose one, or clear the answers."))
    return problems


def _answers(slot: Slot | None, label: Label) -> tuple[dict[str, Any], list[Problem]]:
    given = dict(label.answers)
    result: dict[str, Any] = {}
    problems: list[Problem] = []
    for field in slot.fields if slot else ():
        name = field.name.replace("_", " ").capitalize()
        try:
            clean = clean_answer(field, given.pop(field.name, None))
            if clean:
                result[field.name] = clean
        except UnusableAnswer as error:
            problems.append(Problem(field.name, f"{name} {error}"))
        if field.criterion:
            try:
                criterion = clean_text(given.pop(field.name + CRITERION, None) or "")
                if criterion:
                    result[field.name + CRITERION] = criterion
            except UnusableAnswer as error:
                problems.append(Problem(field.name, f"The criterion of {name.lower()} {error}"))
    for name in given:
        problems.append(Problem(shortened(name), f"This slot has no question “{shortened(name)}”."))
    return result, problems


def _checks(slot: Slot | None, label: Label) -> tuple[tuple[str, ...], list[Problem]]:
    known = [field.name for field in slot.fields] if slot else []
    problems = [
        Problem("checks", f"This slot has no question “{shortened(name)}” that could be asked about.")
        for name in label.checks
        if name not in known
    ]
    return tuple(name for name in known if name in label.checks), problems


def clean_answer(field: Field, answer: Any) -> Any:
    """An answer in its stored shape, empty when there is none. Raises UnusableAnswer."""
    if answer is None or answer in ("", []):
        return None
    if field.kind is Kind.VALUES:
        return _clean_values(answer)
    if field.kind is Kind.RATED_VALUES:
        return _clean_rated(field, answer)
    if not isinstance(answer, str | int) or isinstance(answer, bool):
        raise UnusableAnswer("takes one text, not a list.")
    text = clean_text(str(answer))
    if field.kind is Kind.CHOICE and text and field.choice(text) is None:
        raise UnusableAnswer(f"has no answer “{shortened(text)}”.")
    if field.kind is Kind.SCALE and text:
        return _clean_scale(field, text)
    return text


def clean_text(text: Any, *, limit: int = MAX_TEXT) -> str:
    """White space collapsed and trimmed; raises UnusableAnswer where it is no text, too long, or cannot be stored."""
    if not isinstance(text, str):
        raise UnusableAnswer("takes a text.")
    if len(text) > limit:
        raise UnusableAnswer(f"takes at most {limit:,} characters, not {len(text):,}.")
    if "\x00" in text:
        raise UnusableAnswer("takes a text without NUL characters.")
    if HALF_CHARACTER.search(text):
        raise UnusableAnswer("takes a text without halves of characters (lone surrogates).")
    return " ".join(text.split())


def _clean_values(answer: Any) -> list[str]:
    if isinstance(answer, str):
        answer = [answer]
    if not isinstance(answer, list):
        raise UnusableAnswer("takes a list of values.")
    if len(answer) > MAX_VALUES:
        raise UnusableAnswer(f"takes at most {MAX_VALUES} values.")
    values = [clean_text(value) for value in answer]
    return list(dict.fromkeys(value for value in values if value))


def _clean_rated(field: Field, answer: Any) -> list[dict[str, str]]:
    if not isinstance(answer, list):
        raise UnusableAnswer("takes a list of values with their ratings.")
    rated: dict[str, str] = {}
    for item in answer:
        if not isinstance(item, Mapping) or set(item) - {"value", "rating"}:
            raise UnusableAnswer("takes values of the form {value, rating}.")
        value, rating = clean_text(item.get("value", "")), clean_text(item.get("rating") or "")
        if rating and field.choice(rating) is None:
            raise UnusableAnswer(f"has no rating “{shortened(rating)}” for “{shortened(value)}”.")
        if value:
            rated[value] = rating
    if len(rated) > MAX_VALUES:
        raise UnusableAnswer(f"takes at most {MAX_VALUES} values.")
    return [{"value": value, "rating": rating} for value, rating in rated.items()]


def _clean_scale(field: Field, text: str) -> str:
    if not (text.isascii() and text.isdigit() and field.minimum <= int(text) <= field.maximum):
        raise UnusableAnswer(f"takes a whole number from {field.minimum} to {field.maximum}, not “{shortened(text)}”.")
    return str(int(text))
