"""Which concept a medical value was decided to mean, and a reading with the values in their canonical wording."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

from annotation.domain.label_content import plain
from annotation.domain.label_differences import SameConcept
from annotation.domain.labels import Label, Reading
from annotation.domain.questionnaire import Field, Questionnaire, Slot

Place = tuple[str, str, str]  # slot, field, surface key


@lru_cache(maxsize=4096)
def surface_key(value: str) -> str:
    """The wording as it is compared. A corpus says the same things again and again."""
    return plain(value)


@dataclass(frozen=True, slots=True)
class CanonicalConcept:
    """A concept as a decision wrote it down. `cui` identifies it; one that the project proposed has "NEW…" there."""

    cui: str
    name: str


@dataclass(frozen=True, slots=True)
class Canon:
    """What was decided in a project.

    `forms` holds decisions about every occurrence of a value, `labels` those about one label (by its id): None there
    says that the decision about the form does not apply to this label.
    """

    forms: Mapping[Place, CanonicalConcept] = field(default_factory=dict)
    labels: Mapping[tuple[str, Place], CanonicalConcept | None] = field(default_factory=dict)

    def concept(self, slot: str, name: str, value: str, label_id: str = "") -> CanonicalConcept | None:
        """The concept of a value of the field `name`, None where none is decided."""
        place = (slot, name, surface_key(value))
        if (label_id, place) in self.labels:
            return self.labels[label_id, place]
        return self.forms.get(place)

    @property
    def fingerprint(self) -> str:
        """SHA-256 in hex over everything that is decided, "" where nothing is."""
        if not self.forms and not self.labels:
            return ""
        parts = [sorted((place, one.cui, one.name) for place, one in self.forms.items())]
        of_labels = sorted((key, one.cui if one else "", one.name if one else "") for key, one in self.labels.items())
        return hashlib.sha256(repr([parts, of_labels]).encode()).hexdigest()


NOTHING_DECIDED = Canon()


class Outcome(StrEnum):
    """What was decided of a value."""

    CONCEPT = "concept"  # a concept of a vocabulary
    PROPOSED = "proposed"  # one that the project proposed, since no vocabulary has it
    NIL = "nil"  # that it means none
    OPEN = "open"  # nothing yet


@dataclass(frozen=True, slots=True)
class DecidedConcept:
    """What a decision says a value means, in full: `vocabulary` and `version` are those under which it was taken, ""
    for a proposed concept. `cui` and `name` are empty where it means none, and everything where nothing is decided.
    The name is that of the newest decision about the concept (`last_names`), which may be another decision."""

    outcome: Outcome = Outcome.OPEN
    cui: str = ""
    name: str = ""
    semantic_types: tuple[str, ...] = ()
    vocabulary: str = ""
    version: str = ""


UNDECIDED = DecidedConcept()


def last_names(decisions: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The one name that each concept has in a project, by its CUI: that of the newest decision about it.

    Vocabularies rename concepts, and a decision may take another of a concept's names than the preferred one.
    `decisions` are (CUI, name) of those that stand, the newest last.
    """
    return {cui: name for cui, name in decisions if cui}


@dataclass(frozen=True, slots=True)
class DecidedConcepts:
    """The decisions that a `Canon` is made of, which also tells “no concept” from “not decided”. A concept has one name
    in all of them.

    `attributions` holds what has to be said wherever concepts of a vocabulary are shown, by its name and version.
    """

    forms: Mapping[Place, DecidedConcept] = field(default_factory=dict)
    labels: Mapping[tuple[str, Place], DecidedConcept | None] = field(default_factory=dict)
    attributions: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def about(self, slot: str, name: str, value: str, label_id: str = "") -> DecidedConcept:
        """What was decided of a value of the field `name`."""
        place = (slot, name, surface_key(value))
        if (label_id, place) in self.labels:
            return self.labels[label_id, place] or UNDECIDED
        return self.forms.get(place, UNDECIDED)

    def canon(self) -> Canon:
        return Canon(
            {place: concept for place, one in self.forms.items() if (concept := _canonical(one))},
            {key: _canonical(one) for key, one in self.labels.items()},
        )


def _canonical(decided: DecidedConcept | None) -> CanonicalConcept | None:
    return CanonicalConcept(decided.cui, decided.name) if decided and decided.cui else None


@dataclass(frozen=True, slots=True)
class MedicalValue:
    """One medical value of a label, as it is written there."""

    slot: str
    field: str
    value: str


def medical_values(questionnaire: Questionnaire, label: Label) -> Iterator[MedicalValue]:
    """The label's values that are to be linked, in the order of the questionnaire's fields; empty ones left out."""
    slot = questionnaire.slot(label.slot)
    for item in slot.fields if slot else ():
        if item.medical:
            for value in label.values(item.name):
                if surface_key(value):
                    yield MedicalValue(label.slot, item.name, value)


def canonical_reading(questionnaire: Questionnaire, reading: Reading, canon: Canon) -> Reading:
    """The reading with every decided value in its canonical wording. Two values of one field that mean the same concept
    become one."""
    if not canon.forms and not canon.labels:
        return reading
    return reading.with_labels(_canonical_label(questionnaire, label, canon) for label in reading.labels)


def same_concept(questionnaire: Questionnaire, canon: Canon) -> SameConcept | None:
    """Whether two values of a head field were decided to mean one concept; None where nothing is decided."""
    if not canon.forms and not canon.labels:
        return None

    def same(a: Label, value: str, b: Label, other: str) -> bool:
        slot = questionnaire.slot(a.slot)
        if slot is None or not slot.head:
            return False
        one, two = (canon.concept(slot.name, slot.head, text, of.id) for of, text in ((a, value), (b, other)))
        return one is not None and two is not None and one.cui == two.cui

    return same


def _canonical_label(questionnaire: Questionnaire, label: Label, canon: Canon) -> Label:
    slot = questionnaire.slot(label.slot)
    changed = {
        item.name: answer
        for item in (slot.fields if slot else ())
        if slot
        and item.medical
        and label.answers.get(item.name)
        and (answer := _canonical_answer(slot, item, label, canon)) != label.answers[item.name]
    }
    return replace(label, answers={**label.answers, **changed}) if changed else label


def _canonical_answer(slot: Slot, item: Field, label: Label, canon: Canon) -> Any:
    answer = label.answers[item.name]
    if isinstance(answer, str):
        return _canonical_value(slot, item, answer, label, canon)[0]
    written: list[Any] = []
    meant: list[tuple[str, Mapping[str, Any]]] = []  # concepts with what is rated of them: one may have two names
    for one in answer:
        rated = isinstance(one, Mapping)
        name, cui = _canonical_value(slot, item, one["value"] if rated else str(one), label, canon)
        new = {**one, "value": name} if rated else name
        meaning = (cui, {**one, "value": ""} if rated else {})
        if new not in written and not (cui and meaning in meant):
            written.append(new)
            meant.append(meaning)
    return written


def _canonical_value(slot: Slot, item: Field, value: str, label: Label, canon: Canon) -> tuple[str, str]:
    """The value in its canonical wording, and its concept ("" where none is decided)."""
    concept = canon.concept(slot.name, item.name, value, label.id)
    return (concept.name, concept.cui) if concept else (value, "")
