"""Labels in the published form: the doctor's `actions`, the patient's `nlu` and `dialog_state` (see `dataset`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from annotation.domain import dataset_names as names
from annotation.domain.labels import Label, Reading
from annotation.domain.mentions import INFORMING, SUBJECT
from annotation.domain.questionnaire import Field, Kind, Questionnaire, Slot
from annotation.domain.state import Attribute, EntryKey, Mention, State, Tracker
from annotation.domain.state import Entry as StateEntry
from annotation.domain.validation import CRITERION
from annotation.domain.worked_out import WorkedOut

CONTROL = "control"
CRITERION_NAME = "_criterion"

Entry = dict[str, Any]


class DatasetError(ValueError):
    """A dataset that is not of the form, in one sentence."""


def dialogue_to_dataset(questionnaire: Questionnaire, reading: Reading) -> dict[str, list[Entry]]:
    """One dialogue in the published form. A patient's turn without labels has an empty `nlu` and the state so far."""
    labels = reading.by_position()
    followed = DatasetState()
    turns: list[Entry] = []
    for utterance in reading.utterances:
        if utterance.speaker == CONTROL:
            continue
        turn: Entry = {
            "speaker": utterance.speaker,
            "uttr_id": utterance.position,
            "text": utterance.text,
            "keywords": list(utterance.keywords),
        }
        here = labels[utterance.position]
        if utterance.speaker == SUBJECT:
            nlu = nlu_of(questionnaire, here)
            followed.add(mentions_of_nlu(nlu, utterance.position))
            turn |= {"dialog_state": followed.written(), "nlu": nlu}
        else:
            turn["actions"] = actions_of(questionnaire, here)
        turns.append(turn)
    return {"utterances": turns}


def actions_of(questionnaire: Questionnaire, labels: Iterable[Label]) -> list[Entry]:
    """One action for each label, in their order; two intents that have one name in the dataset become one action."""
    actions: list[Entry] = []
    intent_of: dict[str, str] = {}
    for label in labels:
        name = names.INTENTS.get(label.intent, label.intent)
        if intent_of.setdefault(name, label.intent) == label.intent:
            actions.append({"action": name, **_own_name(label), **_slots(questionnaire, label)})
    return actions


def nlu_of(questionnaire: Questionnaire, labels: Iterable[Label]) -> list[Entry]:
    """One entry for each intent, with all slots of its labels."""
    table: dict[tuple[str, str], dict[str, list[Entry]]] = {}
    for label in labels:
        slots = table.setdefault((names.INTENTS.get(label.intent, label.intent), label.intent_name), {})
        for name, entries in _slots(questionnaire, label).items():
            slots.setdefault(name, []).extend(entries)
    return [
        {"intent": intent, **({"name": name} if name else {}), **({"slots": slots} if slots else {})}
        for (intent, name), slots in table.items()
    ]


def mentions_of_nlu(nlu: Any, position: int) -> Iterator[Mention]:
    """What a patient's turn informs about, as the state rule takes it. Raises DatasetError for another shape."""
    for place, item in enumerate(_list(nlu, "nlu")):
        if not isinstance(item, Mapping):
            raise DatasetError(f"nlu[{place}] is no object.")
        if item.get("intent") != INFORMING:
            continue
        slots = item.get("slots", {})
        if not isinstance(slots, Mapping):
            raise DatasetError(f"nlu[{place}].slots is no object.")
        for name, entries in slots.items():
            for entry in _list(entries, name):
                mention = _mention(name, entry, position)
                if mention.value is not None or mention.attributes or mention.status:
                    yield mention


class DatasetState:
    """The `dialog_state` as it grows from turn to turn; a turn costs what it says, not all that was said before.

    What `written` gave for one turn is never changed afterwards, but parts of it stand in later ones too: the list
    under a name is the same object until something is said of it.
    """

    def __init__(self) -> None:
        self._tracker = Tracker()
        self._entries: dict[EntryKey, tuple[str, Entry]] = {}
        self._written: dict[str, list[Entry]] = {}
        self._changed: set[str] = set()  # the names whose lists in `_written` no longer hold

    def add(self, mentions: Iterable[Mention]) -> None:
        """What is said next, in the order of the dialogue."""
        for key in {self._tracker.add(mention): None for mention in mentions}:
            if key in self._entries:
                self._changed.add(self._entries[key][0])
            self._entries[key] = _written_entry(self._tracker.entry(key))
            self._changed.add(self._entries[key][0])

    def written(self) -> dict[str, list[Entry]]:
        """The state so far, its keys in the published order."""
        if self._changed:
            anew, before = _by_name(self._entries.values()), self._written
            self._written = {name: anew[name] if name in self._changed else before[name] for name in anew}
            self._changed = set()
        return self._written


def state_to_dataset(state: State) -> dict[str, list[Entry]]:
    """A state as `dialog_state`, its keys in the published order."""
    return _by_name(map(_written_entry, state.entries))


def _written_entry(entry: StateEntry) -> tuple[str, Entry]:
    """Under which key it stands, and what stands there."""
    written: Entry = {} if entry.value is None else {"value": entry.value}
    for attribute, value in entry.current().items():
        written[attribute] = list(value) if isinstance(value, tuple) else value
    return f"{entry.status}_{entry.slot}" if entry.status else entry.slot, written


def _by_name(entries: Iterable[tuple[str, Entry]]) -> dict[str, list[Entry]]:
    table: dict[str, list[Entry]] = {}
    for name, written in entries:
        table.setdefault(name, []).append(written)
    return {name: table[name] for name in sorted(table, key=names.slot_sort_key)}


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise DatasetError(f"“{name}” is no list.")
    return value


def _mention(name: str, entry: Any, position: int) -> Mention:
    if not isinstance(entry, Mapping):
        raise DatasetError(f"“{name}” lists something that is no object.")
    value = entry.get("value")
    if value is not None and not isinstance(value, str):
        raise DatasetError(f"“{name}” has a value that is no text.")
    prefix, slot = names.split_name(name)
    # Whatever an attribute holds in the file is carried along: the rule only puts one in the place of another.
    attributes = {
        key: cast(Attribute, tuple(one) if isinstance(one, list) else one)
        for key, one in entry.items()
        if key != "value"
    }
    return Mention(position, slot, value, prefix, attributes)


@dataclass(frozen=True, slots=True)
class _NamedField:
    """A field, and the attributes that hold its answer and its criterion. `criterion` is the criterion's name in a
    label's answers, `special` says that the field is the head or the status of its slot."""

    field: Field
    name: str
    attribute: str
    criterion: str
    criterion_attribute: str
    special: bool


@dataclass(frozen=True, slots=True)
class _NamedSlot:
    """A slot with its name in the dataset, and its fields in their order."""

    slot: Slot
    name: str
    fields: tuple[_NamedField, ...]


def _named_slots(questionnaire: Questionnaire) -> dict[str, _NamedSlot]:
    return {
        slot.name: _NamedSlot(slot, names.slot_name(slot), tuple(_named_field(slot, field) for field in slot.fields))
        for slot in questionnaire.slots
    }


def _named_field(slot: Slot, field: Field) -> _NamedField:
    attribute, special = names.attribute_name(slot, field), field.name in (slot.head, slot.status)
    return _NamedField(
        field, field.name, attribute, field.name + CRITERION, attribute + CRITERION_NAME, special=special
    )


# The slots by the names that labels have; every label looks up its own.
_slots_of = WorkedOut(_named_slots)


def _own_name(label: Label) -> dict[str, str]:
    return {"name": label.intent_name} if label.intent_name else {}


def _slots(questionnaire: Questionnaire, label: Label) -> dict[str, list[Entry]]:
    """The label's slot under its name in the dataset, with one entry for each value; nothing for an intent alone."""
    named = _slots_of(questionnaire).get(label.slot) if label.slot else None
    intent = questionnaire.intent(label.intent)
    if named is None or label.intent in names.BARE_INTENTS:
        return {}
    slot, name = named.slot, named.name
    values = label.values(slot.head) if slot.head else []
    if not values and slot.implied_value:
        values = [slot.implied_value]
    if intent and intent.asks:
        checks = _checks(named, label)
        rest: Entry = {"checks": checks} if checks else {}
        return {name: [{"value": value, **rest} for value in values or [names.NO_HEAD_OF.get(name, names.NO_HEAD)]]}
    if label.intent in names.VALUE_ONLY_INTENTS:
        return {name: [{"value": value} for value in values or [names.NO_HEAD]]}
    prefix, rest = _status(named, label)
    for field in named.fields:
        if field.name in label.answers or field.criterion in label.answers:
            rest.update(_attributes(field, label))
    return {f"{prefix}_{name}" if prefix else name: [{"value": value, **rest} for value in values] or [rest]}


def _checks(named: _NamedSlot, label: Label) -> list[Entry]:
    """What is asked about: a field that is ticked, or whose value is being checked."""
    checks: list[Entry] = []
    for one in named.fields:
        answer = label.answers.get(one.name) if one.name != named.slot.head else None
        if answer or one.name in label.checks:
            values = {"values": _value_list(one.field, answer)} if answer else {}
            checks.append({"type": one.attribute, **values})
    return checks


def _value_list(field: Field, answer: Any) -> list[str]:
    if field.kind is Kind.RATED_VALUES:
        return [item["value"] for item in answer]
    return list(answer) if isinstance(answer, list) else [str(answer)]


def _status(named: _NamedSlot, label: Label) -> tuple[str, Entry]:
    """The prefix of the slot, or the status as an attribute where the slot has no prefix."""
    field = named.slot.status_field
    answer = label.answers.get(field.name) if field else None
    if field is None or not answer:
        return "", {}
    words, meaning = names.status_words(named.name), field.meaning_of(answer)
    attribute = names.attribute_name(named.slot, field)
    if words is not None:
        return "", {attribute: words.get(meaning, answer) if meaning else answer}
    return (names.prefix_of(named.name, meaning), {}) if meaning else ("", {attribute: answer})


def _attributes(one: _NamedField, label: Label) -> Entry:
    """What the field adds to an entry, by attribute."""
    answer, criterion = label.answers.get(one.name), label.answers.get(one.criterion)
    written: Entry = {}
    if answer and one.field.kind is Kind.RATED_VALUES:
        for item in answer:
            written.setdefault(names.rated_name(one.field, item.get("rating", "")), []).append(item["value"])
    elif answer and not one.special:
        written[one.attribute] = _plain_answer(one.field, answer)
    if criterion:
        written[one.criterion_attribute] = criterion
    return written


def _plain_answer(field: Field, answer: Any) -> Any:
    if not isinstance(answer, list):
        return str(answer)
    return list(answer) if names.is_list(field) else ", ".join(answer)
