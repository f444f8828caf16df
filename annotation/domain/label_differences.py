"""What two labels of one utterance say differently, question by question and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from annotation.domain.label_content import items_of, plain
from annotation.domain.labels import Label
from annotation.domain.questionnaire import Field, Questionnaire, Slot
from annotation.domain.validation import CRITERION
from annotation.domain.wording import field_name

# (a label, a value of it, another label, a value of that) → whether both are wordings of one concept. Asked of labels
# on one slot and the values of its head field only.
SameConcept = Callable[[Label, str, Label, str], bool]


class DifferenceKind(StrEnum):
    """The classes into which disagreements are counted, see the decomposition of the agreement report."""

    INTENT = "intent"
    OMISSION = "omission"  # one of the two has no label here at all
    SLOT = "wrong slot"
    STATUS = "status"
    WORDING = "wording"  # another wording of the same concept
    VALUE = "value"
    ATTRIBUTE = "attribute"


@dataclass(frozen=True, slots=True)
class Voice:
    """How somebody is spoken of: "A says …", "you say …"."""

    name: str
    says: str = "says"
    has: str = "has"


A, B = Voice("A"), Voice("B")


@dataclass(frozen=True, slots=True)
class Difference:
    """One question that is answered differently. `a` and `b` are the two answers in words, "" where there is none."""

    kind: DifferenceKind
    field: str  # the question's name; "intent", "slot" for those
    subject: str  # what is different, in words: "onset", "status"
    a: str
    b: str

    def swapped(self) -> Difference:
        return replace(self, a=self.b, b=self.a)

    def words(self, a: Voice = A, b: Voice = B) -> str:
        """`other status: A says yes, B says no` or `missing onset (only A has “8 days ago”)`."""
        if self.a and self.b:
            return f"other {self.subject}: {a.name} {a.says} {self.a}, {b.name} {b.says} {self.b}"
        who, what = (a, self.a) if self.a else (b, self.b)
        return f"missing {self.subject} (only {who.name} {who.has} {what})"


def differences(
    questionnaire: Questionnaire, a: Label, b: Label, same_concept: SameConcept | None = None
) -> list[Difference]:
    """Everything that differs, in the order of the form; empty exactly where the two say the same."""
    return list(_differences(questionnaire, a, b, same_concept))


def _differences(questionnaire: Questionnaire, a: Label, b: Label, concept: SameConcept | None) -> Iterator[Difference]:
    kinds = DifferenceKind
    if a.intent != b.intent:
        titles = intent_title(questionnaire, a.intent), intent_title(questionnaire, b.intent)
        yield Difference(kinds.INTENT, "intent", "intent", *titles)
    if plain(a.intent_name) != plain(b.intent_name):
        yield Difference(kinds.INTENT, "intent", "name of the intent", _quote(a.intent_name), _quote(b.intent_name))
    slot = questionnaire.slot(a.slot)
    if a.slot != b.slot:
        titles = slot_title(questionnaire, a.slot), slot_title(questionnaire, b.slot)
        yield Difference(kinds.SLOT, "slot", "slot", *titles)
        yield from _of_heads(questionnaire, a, b)
        return
    yield from _of_answers(slot, a, b, concept)


def _of_heads(questionnaire: Questionnaire, a: Label, b: Label) -> Iterator[Difference]:
    """Labels on different slots answer different questions; only what they are about can be compared."""
    one, other = _Answer(None, _about(questionnaire, a)), _Answer(None, _about(questionnaire, b))
    if one.spelled.keys() != other.spelled.keys():
        shown = one.text(list(one.spelled.values())), other.text(list(other.spelled.values()))
        yield Difference(DifferenceKind.VALUE, "value", "value", *shown)


def _of_answers(slot: Slot | None, a: Label, b: Label, concept: SameConcept | None) -> Iterator[Difference]:
    fields = slot.fields if slot else ()
    names = [name for field in fields for name in (field.name, field.name + CRITERION)]
    names += sorted((a.answers.keys() | b.answers.keys()) - set(names))
    for name in names:
        if name in a.answers or name in b.answers:
            yield from _of_question(slot, name, a, b, concept)
    order = {field.name: place for place, field in enumerate(fields)}
    for name in sorted(set(a.checks) ^ set(b.checks), key=lambda name: (order.get(name, len(order)), name)):
        ticks = ("it", "") if name in a.checks else ("", "it")
        yield Difference(DifferenceKind.ATTRIBUTE, name, f"question about {name.replace('_', ' ')}", *ticks)


def _of_question(slot: Slot | None, name: str, a: Label, b: Label, concept: SameConcept | None) -> Iterator[Difference]:
    field = slot.field(name) if slot else None
    subject = field_name(field) if field else name.replace(CRITERION, " criterion").replace("_", " ")
    one, other = _Answer(field, a.answers.get(name)), _Answer(field, b.answers.get(name))
    for value in one.ratings:
        if value in other.ratings and one.ratings[value] != other.ratings[value]:
            about = f"answer for {subject} {_quote(max(one.spelled[value], other.spelled[value]))}"
            yield Difference(DifferenceKind.ATTRIBUTE, name, about, one.rating(value), other.rating(value))
    kind = DifferenceKind.ATTRIBUTE
    if slot and name == slot.head:
        kind = DifferenceKind.VALUE
    elif slot and name == slot.status:
        kind = DifferenceKind.STATUS
    left, right = one.beside(other), other.beside(one)
    if kind is DifferenceKind.VALUE and slot and concept:
        for value, match in _same_concepts(a, b, left, right, concept):
            words = "wording of the same concept"
            yield Difference(DifferenceKind.WORDING, name, words, _quote(value), _quote(match))
    if left or right:
        yield Difference(kind, name, subject, one.text(left), other.text(right))


class _Answer:
    """One side's answer to one question, by the plain form of its values."""

    def __init__(self, field: Field | None, answer: object) -> None:
        self.field = field
        self.spelled: dict[str, str] = {}
        self.ratings: dict[str, str] = {}
        for value, rating in items_of(answer):
            self.spelled.setdefault(plain(value), value)
            self.ratings.setdefault(plain(value), plain(rating))

    def beside(self, other: _Answer) -> list[str]:
        """The values, as spelled, that the other side does not have."""
        return [spelled for value, spelled in self.spelled.items() if value not in other.spelled]

    def text(self, spelled: list[str]) -> str:
        return ", ".join(self._one(value) for value in spelled)

    def rating(self, value: str) -> str:
        """The rating in words; one that was not given is "nothing"."""
        choice = self.field.choice(self.ratings[value]) if self.field else None
        return choice.title if choice else self.ratings[value] or "nothing"

    def _one(self, spelled: str) -> str:
        rating = self.ratings[plain(spelled)]
        choice = self.field.choice(spelled) if self.field else None
        if choice:
            return choice.title
        return f"{_quote(spelled)} ({self.rating(plain(spelled))})" if rating else _quote(spelled)


def _same_concepts(
    a: Label, b: Label, left: list[str], right: list[str], concept: SameConcept
) -> list[tuple[str, str]]:
    """Values that mean the same, taken out of both lists; each is used once."""
    found = []
    for value in list(left):
        match = next((other for other in right if concept(a, value, b, other)), None)
        if match is not None:
            found.append((value, match))
            left.remove(value)
            right.remove(match)
    return found


def head_values(questionnaire: Questionnaire, label: Label) -> list[str]:
    """What the label is about; the implied value of a slot that has no head, and [] where nothing is named."""
    slot = questionnaire.slot(label.slot)
    if slot is None:
        return []
    values = label.values(slot.head) if slot.head else [slot.implied_value]
    return [value for value in values if plain(value)]


def _about(questionnaire: Questionnaire, label: Label) -> list[str]:
    """As `head_values`, in words for people: nobody typed an implied value, so the slot stands for it by its title."""
    slot = questionnaire.slot(label.slot)
    values = head_values(questionnaire, label)
    return [slot.title.lower()] if slot and not slot.head and values else values


def intent_title(questionnaire: Questionnaire, name: str) -> str:
    intent = questionnaire.intent(name)
    return intent.title if intent else name


def slot_title(questionnaire: Questionnaire, name: str) -> str:
    slot = questionnaire.slot(name)
    return slot.title.lower() if slot else name


def _quote(text: str) -> str:
    return f"“{text}”" if text else ""
