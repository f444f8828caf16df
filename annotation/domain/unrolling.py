"""Labels of a dataset unrolled into flat tuples: what metrics count, and what an export of tuples lists.

    {"intent": "inform", "slots": {"positive_symptom": [{"value": "fever", "onset": "last two days"}]}}

gives (inform, positive_symptom, fever, –, –) and (inform, positive_symptom, fever, onset, last two days). The same
rule reads `nlu` and `actions`: a check of an action is an attribute without a value, each value checked one with it.

Which tuples are medical follows the published metric of MediTOD (arXiv 2410.14204); docs/evaluation.md states every
definition with an example, and where this project had to choose.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from annotation.domain.dataset_names import split_name
from annotation.domain.notices import quoted

# Slots whose value is a medical concept. All their attributes hang on that value.
HEADED = frozenset(
    {
        "symptom",
        "medical_history",
        "family_history",
        "habit",
        "exposure",
        "medication",
        "medical_test",
        "disease",
    }
)
# Attributes that are compared exactly, by slot; both spellings of response_to are read.
MEDICAL_ATTRIBUTES: Mapping[str, frozenset[str]] = {
    "symptom": frozenset(
        {"location", "progression", "severity", "lesion_size", "rash_swollen", "itching", "lesions_peel_off"}
    ),
    "medication": frozenset({"respone_to", "response_to", "impact"}),
    "occupation": frozenset({"status"}),
    "residence": frozenset({"status"}),
    "travel": frozenset({"status"}),
}
ALL_MEDICAL = "basic_information"
_VALUE, _CHECKS, _NAME = "value", "checks", "name"

FLAT_HEADER = ("dialogue_id", "uttr_id", "speaker", "intent", "slot", "value", "attribute", "attribute_value")


class Malformed(ValueError):
    """Labels that are not of the dataset's form, in one sentence that names the place."""


class Unrolled(NamedTuple):
    """One thing that an utterance says or asks; what does not apply is "".

    An intent alone has no slot, a slot's value no attribute, an attribute that is only asked about no value of its own.
    A slot whose value is no medical concept has `value` among its attributes, so that those do not depend on it.
    """

    intent: str
    slot: str = ""
    value: str = ""
    attribute: str = ""
    attribute_value: str = ""

    @property
    def plain_slot(self) -> str:
        """The slot without the prefix for its status."""
        return split_name(self.slot)[1]

    @property
    def medical(self) -> bool:
        """Whether the published metric compares it exactly."""
        slot, attribute = self.plain_slot, self.attribute
        if not slot:
            return not attribute
        if slot == ALL_MEDICAL:
            return True
        if not attribute:
            return slot in HEADED
        if not self.attribute_value and (slot in HEADED or slot in MEDICAL_ATTRIBUTES):
            return True  # which attribute is asked about
        return attribute in MEDICAL_ATTRIBUTES.get(slot, frozenset())


def unroll_nlu(items: Any) -> tuple[Unrolled, ...]:
    """The tuples of an utterance's `nlu`, in its order, each once. Raises Malformed."""
    found: dict[Unrolled, None] = {}
    for place, item in enumerate(_list(items, "nlu")):
        entry = _object(item, f"nlu[{place}]")
        intent = _required(entry, "intent", f"nlu[{place}]")
        strange = [key for key in entry if key not in ("intent", "slots", _NAME)]
        if strange:
            raise Malformed(f"nlu[{place}] has {quoted(strange[0])} beside “intent” and “slots”.")
        slots = _object(entry.get("slots", {}), f"nlu[{place}].slots")
        found.update(dict.fromkeys(_labels(intent, entry.get(_NAME), slots)))
    return tuple(found)


def unroll_actions(items: Any) -> tuple[Unrolled, ...]:
    """The tuples of an utterance's `actions`, in its order, each once. Raises Malformed."""
    found: dict[Unrolled, None] = {}
    for place, item in enumerate(_list(items, "actions")):
        entry = _object(item, f"actions[{place}]")
        intent = _required(entry, "action", f"actions[{place}]")
        slots = {key: value for key, value in entry.items() if key not in ("action", _NAME)}
        found.update(dict.fromkeys(_labels(intent, entry.get(_NAME), slots)))
    return tuple(found)


def unroll_turn(turn: Mapping[str, Any]) -> tuple[Unrolled, ...]:
    """The tuples of a turn of the dataset, whoever speaks. Raises Malformed."""
    nlu, actions = unroll_nlu(turn.get("nlu", [])), unroll_actions(turn.get("actions", []))
    return tuple(dict.fromkeys((*nlu, *actions)))


def flattened(dialogue_id: str, turns: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str | int, ...]]:
    """The tuples of a dialogue of the dataset as rows under FLAT_HEADER. Raises Malformed."""
    for position, turn in enumerate(turns):
        place = (dialogue_id, turn.get("uttr_id", position), str(turn.get("speaker", "")))
        for one in unroll_turn(turn):
            yield (*place, *one)


@lru_cache(maxsize=1 << 12)
def tidy(text: str) -> str:
    """The text in Unicode's composed form (NFC), white space made single blanks; case and signs stay.

    To compose takes time that grows with the square of a run of marks: what a stranger wrote is bounded before.
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


def _labels(intent: str, name: Any, slots: Mapping[str, Any]) -> Iterator[Unrolled]:
    if not slots:
        yield Unrolled(intent)
    if name is not None and (own := _text(name, _NAME)):
        yield Unrolled(intent, attribute=_NAME, attribute_value=own)
    for slot, entries in slots.items():
        for place, entry in enumerate(_list(entries, slot)):
            if not isinstance(entry, Mapping):
                raise Malformed(f"Entry {place} of {quoted(slot)} is no object.")
            yield from _entry(intent, tidy(slot), entry)


def _entry(intent: str, slot: str, entry: Mapping[str, Any]) -> Iterator[Unrolled]:
    headed = split_name(slot)[1] in HEADED
    head = _text(entry.get(_VALUE, ""), _VALUE) if headed else ""
    found = [Unrolled(intent, slot, head)] if head else []
    for key, given in entry.items():
        if key == _CHECKS:
            found += _checks(intent, slot, head, given)
        elif key != _VALUE or not headed:
            found += [Unrolled(intent, slot, head, tidy(key), text) for text in _texts(given, key)]
    yield from found or [Unrolled(intent, slot)]


def _checks(intent: str, slot: str, head: str, checks: Any) -> Iterator[Unrolled]:
    for place, item in enumerate(_list(checks, _CHECKS)):
        check = _object(item, f"{_CHECKS}[{place}]")
        kind = _required(check, "type", f"{_CHECKS}[{place}]")
        yield Unrolled(intent, slot, head, kind)
        for text in _texts(check.get("values", []), "values"):
            yield Unrolled(intent, slot, head, kind, text)


def _texts(given: Any, name: str) -> list[str]:
    """The texts of an attribute, whether it holds one or a list; blank ones say nothing and are left out."""
    items = given if isinstance(given, list) else [given]
    return [text for item in items if (text := _text(item, name))]


def _text(given: Any, name: str) -> str:
    """A text, or a number as text. Raises Malformed for anything else."""
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise Malformed(f"{quoted(name)} holds something that is no text.")
    return tidy(str(given))


def _required(entry: Mapping[str, Any], key: str, place: str) -> str:
    given = entry.get(key)
    if not isinstance(given, str) or not (text := tidy(given)):
        raise Malformed(f"{place} has no text “{key}”.")
    return text


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise Malformed(f"{quoted(name)} is no list.")
    return value


def _object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Malformed(f"{place} is no object.")
    return value
