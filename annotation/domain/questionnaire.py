"""What is asked of an annotator: intents, slots, fields and choices, as frozen data.

A questionnaire is read from a declarative file by `questionnaire_file`; nothing in the portal knows a slot by name
except the file formats that were published with one (`portal_file`, `dataset`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """How a field is answered (the shapes are listed in `labels.Answers`)."""

    VALUES = "values"
    RATED_VALUES = "rated_values"
    TEXT = "text"
    CHOICE = "choice"
    SCALE = "scale"


class Check(StrEnum):
    """What an inquiry may say of a field: nothing, a tick beside a value that is being checked, or only a tick."""

    NONE = "none"
    WITH_VALUE = "with_value"
    ALONE = "alone"


class Meaning(StrEnum):
    """What a choice says of the thing it is about; colours, signs and answer keys follow from it."""

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer of a closed list. `older` choices are read from files and kept, but no longer offered, and a label
    that uses one counts as incomplete. `portal` is its spelling in a portal file, `spellings` others that are read.
    `bare`: of several with its meaning, this is what a yes or no says that does not tell them apart."""

    name: str
    title: str
    meaning: Meaning | None = None
    portal: str = ""
    spellings: tuple[str, ...] = ()
    older: bool = False
    bare: bool = False


@dataclass(frozen=True, slots=True)
class ListedValue:
    """A value of a controlled list with other words for it."""

    value: str
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """One question of a slot."""

    name: str
    question: str
    kind: Kind
    help: str = ""
    values: str = ""  # the name of the controlled list that is searched while typing; "" for none
    choices: tuple[Choice, ...] = ()  # for `choice`: the answers; for `rated_values`: the ratings of a value
    minimum: int = 0
    maximum: int = 10
    medical: bool = False
    check: Check = Check.WITH_VALUE
    criterion: bool = False
    speakers: tuple[str, ...] = ()  # offered on these speakers' turns only; empty for all
    intents: tuple[str, ...] = ()  # offered with these intents only; empty for all
    default: Mapping[str, str] = field(default_factory=dict)  # by speaker, filled in when an inform label is opened
    needed: bool = False  # an inform label without it is incomplete
    portal: str = ""  # its key in a portal file

    def choice(self, name: str) -> Choice | None:
        return next((choice for choice in self.choices if choice.name == name), None)

    def offered(self, intent: str, speaker: str) -> bool:
        """Whether the question is asked for this intent on this speaker's turn."""
        return (not self.intents or intent in self.intents) and (not self.speakers or speaker in self.speakers)

    def meaning_of(self, answer: str) -> Meaning | None:
        choice = self.choice(answer)
        return choice.meaning if choice else None

    def choice_meaning(self, meaning: Meaning) -> Choice | None:
        """The offered choice with this meaning: the `bare` one, else the first one listed."""
        fitting = [choice for choice in self.choices if choice.meaning == meaning and not choice.older]
        return next((choice for choice in fitting if choice.bare), fitting[0] if fitting else None)


@dataclass(frozen=True, slots=True)
class Slot:
    """A kind of information with its questions. `head` is the field that names the thing, "" where none does."""

    name: str
    title: str
    intents: tuple[str, ...]
    fields: tuple[Field, ...]
    head: str = ""
    status: str = ""  # the field that says whether the thing is so
    implied_value: str = ""  # the value of a slot that has no head field of its own
    key: str = ""
    tracked: bool = False
    help: str = ""
    guideline: str = ""
    _fields: Mapping[str, Field] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_fields", {item.name: item for item in self.fields})

    def field(self, name: str) -> Field | None:
        return self._fields.get(name)

    @property
    def head_field(self) -> Field | None:
        return self.field(self.head) if self.head else None

    @property
    def status_field(self) -> Field | None:
        return self.field(self.status) if self.status else None


@dataclass(frozen=True, slots=True)
class Intent:
    """What an utterance does. `asks`: its labels tick questions rather than answer them.
    `named`: the annotator gives it a name of their own. `key` saves it at once when it needs no slot."""

    name: str
    title: str
    speakers: tuple[str, ...]
    asks: bool = False
    named: bool = False
    slotless: bool = False
    key: str = ""
    help: str = ""
    guideline: str = ""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who can speak: the mark shown beside the turn, and the intents that a slot's key and its Shift variant take."""

    name: str
    title: str
    mark: str
    usual_intent: str
    other_intent: str


@dataclass(frozen=True, slots=True)
class SpecialCase:
    """A documented rule with an example; `slots` and `intents` say where it is shown."""

    title: str
    rule: str
    example: str = ""
    slots: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """A whole questionnaire; (`name`, `version`) identifies it. `about` says what one label is about."""

    name: str
    version: str
    title: str
    about: str
    speakers: tuple[Speaker, ...]
    intents: tuple[Intent, ...]
    slots: tuple[Slot, ...]
    lists: Mapping[str, tuple[ListedValue, ...]]
    special_cases: tuple[SpecialCase, ...] = ()
    guideline: str = ""
    unlabelled_reasons: tuple[str, ...] = ()
    _intents: Mapping[str, Intent] = field(init=False, repr=False, compare=False)
    _slots: Mapping[str, Slot] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Looked up many times for every label of every reading.
        object.__setattr__(self, "_intents", {intent.name: intent for intent in self.intents})
        object.__setattr__(self, "_slots", {slot.name: slot for slot in self.slots})

    def intent(self, name: str) -> Intent | None:
        return self._intents.get(name)

    def slot(self, name: str) -> Slot | None:
        return self._slots.get(name)

    def speaker(self, name: str) -> Speaker | None:
        return next((speaker for speaker in self.speakers if speaker.name == name), None)

    def intents_for(self, speaker: str) -> tuple[Intent, ...]:
        return tuple(intent for intent in self.intents if speaker in intent.speakers)

    def slots_for(self, intent: str) -> tuple[Slot, ...]:
        return tuple(slot for slot in self.slots if intent in slot.intents)

    def medical_fields(self) -> Iterator[tuple[Slot, Field]]:
        """Every (slot, field) whose values are linked to a concept."""
        for slot in self.slots:
            for item in slot.fields:
                if item.medical:
                    yield slot, item

    def as_json(self) -> dict[str, Any]:
        """The questionnaire as plain data for the workbench, the API and the guideline page."""
        return {
            "name": self.name,
            "version": self.version,
            "title": self.title,
            "about": self.about,
            "guideline": self.guideline,
            "speakers": [_plain(speaker) for speaker in self.speakers],
            "intents": [_plain(intent) for intent in self.intents],
            "slots": [{**_plain(slot), "fields": [_plain(item) for item in slot.fields]} for slot in self.slots],
            "lists": {
                name: [[value.value, *value.synonyms] for value in values] for name, values in self.lists.items()
            },
            "special_cases": [_plain(case) for case in self.special_cases],
            "unlabelled_reasons": list(self.unlabelled_reasons),
        }


def _plain(item: Any) -> dict[str, Any]:
    """A slotted dataclass as a dict, one level deep, its choices included."""
    result: dict[str, Any] = {}
    for name in item.__slots__:
        if name.startswith("_"):
            continue
        value = getattr(item, name)
        if name == "choices":
            value = [_plain(choice) for choice in value]
        elif isinstance(value, tuple):
            value = list(value)
        elif isinstance(value, Mapping):
            value = dict(value)
        result[name] = value
    return result
