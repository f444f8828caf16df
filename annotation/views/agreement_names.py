"""What the figures and counts of a report are called, as the heading of the utterances behind them."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.domain.agreement import Kind
from annotation.domain.questionnaire import Questionnaire
from annotation.views.agreement_tables import CLASSES, HEADLINE, RUNGS, Path


def words_of(path: Path, questionnaire: Questionnaire) -> str:
    """What a figure or count is called, as the heading of the utterances behind it."""
    known = {one[2]: one[1] for one in HEADLINE} | _SPECIAL
    return known.get(path) or ": ".join(_part_words(path, questionnaire))


_SPECIAL: dict[Path, str] = {
    ("missing",): "not submitted by both",
    ("total",): "all utterances, compared or not",
    ("baseline",): "κ of intents, reading only the speaker",
    ("state", "equal"): "patient turns with equal states",
    ("state", "different"): "patient turns with different states",
}
_PARTS = {
    "n": "compared",
    "a": "both have it",
    "b": "only A has it",
    "c": "only B has it",
    "d": "neither has it",
    "both": "both have it",
    "only_a": "only A has it",
    "only_b": "only B has it",
    "kappa": "κ",
    "f": "F",
    "f_without": "F without them",
    "same": "the same answer",
    "blank": "both left it blank",
    "different": "different answers",
    "same_set": "the same intents",
    "different_set": "different intents",
    "slot_values": "slot-value pairs",
    "presence": "used at all",
    "equal": "equal states",
    "micro": "one by one",
    "po": "Po",
    "pe": "Pe",
    "positive": "positive agreement",
    "negative": "negative agreement",
    "decomposition": "whole labels",
}
_SILENT = {"by_intent", "by_slot", "ladder", "closed_lists", "classes"}


def _part_words(path: Path, questionnaire: Questionnaire) -> Iterator[str]:
    titles = {intent.name: intent.title for intent in questionnaire.intents}
    titles |= {slot.name: slot.title for slot in questionnaire.slots}
    titles |= {kind.value: CLASSES[kind][0] for kind in Kind} if "classes" in path else {}
    titles |= dict(RUNGS) if "ladder" in path else {}
    for place, name in enumerate(path):
        if name in _SILENT or (name == "n" and len(path) > 1):
            continue
        named = place > 0 and path[place - 1] in _SILENT
        yield titles.get(name, name) if named else _PARTS.get(name, name.replace("_", " "))
