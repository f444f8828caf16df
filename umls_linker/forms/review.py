"""Bodies of the requests that the review page makes."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.services.errors import Refused
from umls_linker.models import DecisionKind, Verdict

LONGEST_NAME = 64 * 1024  # of a concept of a vocabulary; a new one's is checked where it is proposed
LONGEST_TEXT = 4000


@dataclass(frozen=True, slots=True)
class Choice:
    """What a doctor chose for a value. `label_id` names the one label that it is about, None says all but `excluded`;
    `expected` is the decision that the page showed."""

    kind: DecisionKind
    cui: str
    name: str
    semantic_type: str
    definition: str
    note: str
    excluded: tuple[uuid.UUID, ...]
    label_id: uuid.UUID | None
    expected: int | None


def choice_from_json(data: Any) -> Choice:
    """Raises Refused with the field that is wrong."""
    given: Mapping[str, Any] = data if isinstance(data, dict) else {}
    kind = given.get("kind")
    if kind not in DecisionKind.values:
        raise Refused("Say what was decided: a concept, none, or a proposed one.", field="kind")
    excluded = given.get("excluded", [])
    if not isinstance(excluded, list):
        raise Refused("“excluded” must be a list of labels.", field="excluded")
    label = text_of(given, "label")
    choice = Choice(
        kind=DecisionKind(kind),
        cui=text_of(given, "cui", 20),
        name=text_of(given, "name", LONGEST_NAME),
        semantic_type=text_of(given, "semantic_type", 10),
        definition=text_of(given, "definition"),
        note=text_of(given, "note"),
        excluded=tuple(label_id_from(one, "excluded") for one in excluded),
        label_id=label_id_from(label, "label") if label else None,
        expected=number_of(given, "expected"),
    )
    if choice.kind == DecisionKind.CONCEPT and not choice.cui:
        raise Refused("Name the concept by its identifier.", field="cui")
    if choice.kind == DecisionKind.PROPOSED and not choice.name:
        raise Refused("Give the new concept a name.", field="name")
    return choice


def verdict_from_json(data: Any) -> tuple[str, Verdict | None]:
    """The concept's identifier and what the curator thinks of it, None for no opinion any more."""
    given: Mapping[str, Any] = data if isinstance(data, dict) else {}
    cui, verdict = text_of(given, "cui", 20), text_of(given, "verdict")
    if not cui:
        raise Refused("Name the concept by its identifier.", field="cui")
    if verdict and verdict not in Verdict.values:
        raise Refused("A candidate can be kept, dropped, or neither.", field="verdict")
    return cui, Verdict(verdict) if verdict else None


def text_of(given: Mapping[str, Any], name: str, longest: int = LONGEST_TEXT) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise Refused(f"“{name}” must be a text.", field=name)
    if len(value) > longest:
        raise Refused(f"“{name}” is longer than {longest} characters.", field=name)
    return value.strip()


def number_of(given: Mapping[str, Any], name: str) -> int | None:
    value = given.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise Refused(f"“{name}” must be a whole number.", field=name)
    return value


def label_id_from(value: Any, name: str) -> uuid.UUID:
    try:
        return uuid.UUID(value)
    except (ValueError, TypeError, AttributeError):
        raise Refused(f"“{name}” must name labels.", field=name) from None
