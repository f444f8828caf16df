"""A published dialogue with its `actions` and `nlu` as a reading with labels; the reverse of `dataset`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from annotation.domain import dataset_names as names
from annotation.domain.dataset_writing import CRITERION_NAME, Entry
from annotation.domain.labels import Label, Reading, Utterance
from annotation.domain.portal_fields import match_choice
from annotation.domain.questionnaire import Field, Kind, Questionnaire, Slot
from annotation.domain.validation import CRITERION


def reading_from_dataset(questionnaire: Questionnaire, external_id: str, dialogue: Any) -> Reading:
    """The dialogue and its labels. What the questionnaire has no place for stays on the label under its own name."""
    items = dialogue.get("utterances") if isinstance(dialogue, Mapping) else None
    utterances: list[Utterance] = []
    labels: list[Label] = []
    for position, item in enumerate(items if isinstance(items, list) else []):
        turn: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
        keywords = turn.get("keywords")
        utterances.append(
            Utterance(
                position,
                str(turn.get("speaker", "")),
                str(turn.get("text", "")),
                tuple(str(word) for word in keywords) if isinstance(keywords, list) else (),
            )
        )
        labels.extend(_labels(questionnaire, position, turn))
    ranked = [
        replace(label, rank=rank, origin="import", questionnaire_version=questionnaire.version)
        for rank, label in enumerate(labels)
    ]
    return Reading(external_id, tuple(utterances), tuple(ranked))


def _labels(questionnaire: Questionnaire, position: int, turn: Mapping[str, Any]) -> Iterator[Label]:
    for key, named in (("actions", "action"), ("nlu", "intent")):
        items = turn.get(key)
        for item in items if isinstance(items, list) else []:
            if not isinstance(item, Mapping):
                continue
            given = str(item.get(named, ""))
            label = Label(position, names.READ_INTENTS.get(given, given), intent_name=str(item.get("name", "")))
            slots = item.get("slots") if key == "nlu" else {k: v for k, v in item.items() if k not in (named, "name")}
            if not isinstance(slots, Mapping) or not slots:
                yield label
                continue
            for name, entries in slots.items():
                yield from _slot_labels(questionnaire, label, name, entries)


def _slot_labels(questionnaire: Questionnaire, label: Label, name: str, entries: Any) -> Iterator[Label]:
    """One label for each run of entries that differ in nothing but their value."""
    prefix, slot_name = names.split_name(name)
    slot = names.find_slot(questionnaire, slot_name)
    if slot is None or not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        yield replace(label, kept={name: entries})
        return
    for _, run in groupby(entries, key=_all_but_value):
        yield _label(questionnaire, label, slot, prefix, list(run))


def _all_but_value(entry: Mapping[str, Any]) -> tuple[bool, str]:
    rest = {key: value for key, value in entry.items() if key != "value"}
    return "value" in entry, json.dumps(rest, sort_keys=True)


def _label(questionnaire: Questionnaire, label: Label, slot: Slot, prefix: str, run: list[Mapping[str, Any]]) -> Label:
    values = [str(entry["value"]) for entry in run if "value" in entry]
    rest = {key: value for key, value in run[0].items() if key != "value"}
    intent = questionnaire.intent(label.intent)
    if intent and intent.asks and values in ([names.NO_HEAD], [names.NO_HEAD_OF.get(names.slot_name(slot))]):
        values = []
    slot = _skin_slot(questionnaire, slot, values, rest)
    answers: dict[str, Any] = {}
    head = slot.head_field
    if head and values:
        answers[head.name] = values if head.kind is Kind.VALUES else values[0]
    checks = _read_checks(slot, rest.pop("checks", []), answers)
    answers.update(_read_status(slot, prefix, rest))
    for field in slot.fields:
        answers.update(_read_attributes(slot, field, rest))
    return replace(label, slot=slot.name, answers=_in_order(slot, answers), checks=checks, kept=rest)


def _skin_slot(questionnaire: Questionnaire, slot: Slot, values: list[str], rest: Entry) -> Slot:
    """The slot whose implied value this is, if it asks for everything the entry says."""
    for other in questionnaire.slots:
        if other.implied_value and names.slot_name(other) == names.slot_name(slot) and values == [other.implied_value]:
            known = {names.attribute_name(other, field) for field in other.fields}
            checks = rest.get("checks")
            types = (
                {str(check.get("type")) for check in checks if isinstance(check, Mapping)}
                if isinstance(checks, list)
                else set()
            )
            if set(rest) - {"checks"} <= known and types <= known:
                return other
    return slot


def _read_checks(slot: Slot, checks: Any, answers: dict[str, Any]) -> tuple[str, ...]:
    """The fields that are asked about; the values that are checked become answers."""
    asked = set()
    for check in checks if isinstance(checks, list) else []:
        kind = check.get("type") if isinstance(check, Mapping) else None
        field = next((field for field in slot.fields if names.attribute_name(slot, field) == kind), None)
        if field is None:
            continue
        asked.add(field.name)
        given = check.get("values")
        texts = [str(value) for value in given] if isinstance(given, list) else []
        if texts and field.kind is Kind.VALUES:
            answers[field.name] = texts
        elif texts and field.kind is Kind.RATED_VALUES:
            answers[field.name] = [{"value": text, "rating": ""} for text in texts]
        elif texts:
            answers[field.name] = ", ".join(texts)
    return tuple(field.name for field in slot.fields if field.name in asked)


def _read_status(slot: Slot, prefix: str, rest: Entry) -> dict[str, str]:
    """The status out of the slot's prefix or the status attribute, which is taken out of `rest`."""
    field, name = slot.status_field, names.slot_name(slot)
    if field is None:
        return {}
    meaning = names.meaning_of_prefix(name, prefix) if prefix else None
    choice = field.choice_meaning(meaning) if meaning else None
    attribute = names.attribute_name(slot, field)
    if choice is None and isinstance(rest.get(attribute), str):
        word = rest[attribute]
        words = names.status_words(name) or {}
        meaning = next((one for one, text in words.items() if text == word), None)
        choice = field.choice_meaning(meaning) if meaning else match_choice(field.choices, word)
        if choice:
            del rest[attribute]
    return {field.name: choice.name} if choice else {}


def _read_attributes(slot: Slot, field: Field, rest: Entry) -> dict[str, Any]:
    """The field's answer and criterion out of the entry's attributes, which are taken out of `rest`."""
    found: dict[str, Any] = {}
    name = names.attribute_name(slot, field)
    if field.criterion and isinstance(rest.get(name + CRITERION_NAME), str):
        found[field.name + CRITERION] = rest.pop(name + CRITERION_NAME)
    if field.name in (slot.head, slot.status):
        return found
    if field.kind is Kind.RATED_VALUES:
        rated = [
            {"value": value, "rating": rating}
            for key in list(rest)
            if (rating := names.rating_of(field, key)) is not None
            for value in _texts(rest.pop(key))
        ]
        return found | ({field.name: rated} if rated else {})
    if name in rest:
        answer = _answer(field, rest[name])
        if answer is not None:
            del rest[name]
            found[field.name] = answer
    return found


def _answer(field: Field, value: Any) -> Any:
    if field.kind is Kind.VALUES:
        return _texts(value) if isinstance(value, list) else _split(str(value))
    if isinstance(value, list | dict | bool) or value is None:
        return None
    if field.kind is Kind.CHOICE:
        choice = match_choice(field.choices, str(value))
        return choice.name if choice else None
    return str(value)


def _texts(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def _split(text: str) -> list[str]:
    """A text of several values, split only where joining gives the same text again."""
    parts = text.split(", ")
    return parts if all(part.strip() == part and part for part in parts) and len(set(parts)) == len(parts) else [text]


def _in_order(slot: Slot, answers: dict[str, Any]) -> dict[str, Any]:
    """The answers in the order of the slot's fields, as they are stored."""
    keys = [key for field in slot.fields for key in (field.name, field.name + CRITERION)]
    return {key: answers[key] for key in keys if key in answers}
