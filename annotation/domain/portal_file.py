"""Labels as the released interface writes them: a JSON list with one object a label.

What a file spells differently from this project stays in `Label.kept` under its key and is written back for as long as
it still says what the label says; so a file that is read and written is the same file, up to the order of keys and the
spaces after commas, and an edit in between replaces exactly what it changed.
Source of the form: the released MediTOD interface (arXiv 2410.14204).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from annotation.domain.json_text import RepeatedKeys, parse_json
from annotation.domain.labels import Label
from annotation.domain.notices import Notice, Severity, shortened
from annotation.domain.portal_fields import Content, Raw, keys_of, plain, read_field, same, write_field
from annotation.domain.questionnaire import Field, Intent, Questionnaire, Slot
from annotation.domain.text_decoding import UnreadableFile
from annotation.domain.validation import CRITERION
from annotation.domain.worked_out import WorkedOut

UID, INTENT, SLOT, INTENT_NAME = "uid", "intent", "slot", "custom_intent_value"
INTENT_KEYS = (INTENT, INTENT_NAME)
MAX_LABELS = 20_000
MAX_INTENT_NAME = 200
MAX_INTENT = 60
MAX_POSITION = 999_999


@dataclass(frozen=True, slots=True)
class Unknown:
    """A key or a value that was not understood; it is kept on its label. `number` counts the file's labels from 1."""

    number: int
    uid: str
    key: str
    value: Any
    message: str

    def as_json(self) -> dict[str, Any]:
        return {
            "label": self.number,
            "uid": self.uid,
            "key": self.key,
            "value": self.value,
            "message": self.message,
            "text": f"Label {self.number} (utterance {self.uid}): {self.message} It is kept as it is.",
        }


@dataclass(frozen=True, slots=True)
class ReadLabels:
    """What a file holds. With `notices`, all of them errors, it must not be imported."""

    labels: list[Label]
    notices: list[Notice]
    unknown: list[Unknown]


class _Refusal(ValueError):
    """A label that cannot be placed, in one sentence."""


def read_labels(questionnaire: Questionnaire, data: Any, *, file: str, utterances: int | None = None) -> ReadLabels:
    """The labels of a portal file, given as text or as parsed JSON, in the order of the file.

    With `utterances`, their number in the dialogue, a label of an utterance that is not there is an error.
    """
    try:
        items = parse_json(data.removeprefix("\ufeff"), file) if isinstance(data, str) else data
        _check_list(items)
    except UnreadableFile as error:
        return ReadLabels([], [error.notice], [])
    except _Refusal as error:
        return ReadLabels([], [Notice(Severity.ERROR, file, 0, str(error))], [])
    result = ReadLabels([], [], [])
    for number, item in enumerate(items, start=1):
        try:
            label, unknown = _read_label(questionnaire, number, item, utterances)
        except _Refusal as error:
            result.notices.append(Notice(Severity.ERROR, file, 0, str(error)))
        else:
            result.labels.append(label)
            result.unknown.extend(unknown)
    return result


def write_labels(questionnaire: Questionnaire, labels: Iterable[Label]) -> list[dict[str, Any]]:
    """The labels as plain data in the form of a portal file, in the order given."""
    return [_write_label(questionnaire, label) for label in labels]


def dump_labels(questionnaire: Questionnaire, labels: Iterable[Label]) -> str:
    """The text of a portal file."""
    return json.dumps(write_labels(questionnaire, labels), indent=4, ensure_ascii=False)


def _check_list(items: Any) -> None:
    if not isinstance(items, list):
        raise _Refusal("This is no portal file: it must be a JSON list of labels, beginning with “[”.")
    if len(items) > MAX_LABELS:
        raise _Refusal(f"The file has {len(items):,} labels, more than the {MAX_LABELS:,} that one dialogue may have.")
    try:
        json.dumps(items, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _Refusal("The file holds half of a character (a lone surrogate); write the whole character.") from None
    except (TypeError, ValueError, RecursionError):
        raise _Refusal("The labels are no plain JSON data.") from None


# Keys that belong together, and whether some of them say what the label says.
_Group = tuple[tuple[str, ...], Callable[[Raw], bool]]
_Named = TypeVar("_Named", Intent, Slot)


# --- reading ---


def _read_label(
    questionnaire: Questionnaire, number: int, item: Any, utterances: int | None
) -> tuple[Label, list[Unknown]]:
    if not isinstance(item, dict):
        raise _Refusal(f"Label {number} is not an object “{{…}}” but {json.dumps(item, ensure_ascii=False)[:40]}.")
    if isinstance(item, RepeatedKeys):
        raise _Refusal(f"Label {number} has the key “{shortened(item.repeated[0])}” more than once; keep one.")
    position = _checked_position(item, number, utterances)
    problems: dict[str, str] = {}
    found = _intent(questionnaire, item, problems)
    if found is None:
        raise _Refusal(f"Label {number} has no intent.")
    slot = _slot(questionnaire, item, problems)
    label = Label(position, found[0], slot.name if slot else "", intent_name=found[1], rank=number - 1)
    label = _with_fields(slot, label, item, problems)
    known = {key for keys, _ in _groups(questionnaire, label) for key in keys}
    where = f"the slot “{slot.name}”" if slot else "a label without a known slot"
    problems.update({key: f"“{shortened(key)}” is no question of {where}." for key in item if key not in known})
    kept = _to_keep(questionnaire, label, item)
    label = replace(label, kept=kept, origin="import", questionnaire_version=questionnaire.version)
    return label, [Unknown(number, str(position), key, item[key], problems[key]) for key in item if key in problems]


def _checked_position(item: Raw, number: int, utterances: int | None) -> int:
    uid = item.get(UID)
    if uid is None or uid == "":
        raise _Refusal(f"Label {number} has no uid, which says which utterance it is about.")
    position = _position(uid)
    if position is None:
        shown = json.dumps(uid, ensure_ascii=False)[:40]
        raise _Refusal(f"The uid of label {number} is {shown}; it must be the number of an utterance, like “12”.")
    if utterances is not None and position >= utterances:
        raise _Refusal(
            f"Label {number} is about utterance {position}, but the dialogue's last utterance is {utterances - 1}; "
            "check that the file belongs to this dialogue."
        )
    return position


def _position(uid: Any) -> int | None:
    """0, "0", " 7 " and 3.0 are positions; true, "x", "-1" and 2.5 are not."""
    if isinstance(uid, bool):
        return None
    if isinstance(uid, float) and uid.is_integer():
        uid = int(uid)
    text = str(uid).strip() if isinstance(uid, int | str) else ""
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_POSITION))):
        return None
    return int(text)


def _intent(questionnaire: Questionnaire, raw: Raw, problems: dict[str, str]) -> tuple[str, str] | None:
    """The intent and the name the annotator gave it, None where none is given.

    An intent that is not known becomes the questionnaire's named one, under the name that the file has.
    """
    given, custom = raw.get(INTENT), raw.get(INTENT_NAME)
    if given is None or given == "":
        return None
    intent = _match(questionnaire.intents, given)
    if intent is None:
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        problems[INTENT] = f"There is no intent “{text[:60]}”."
        if INTENT_NAME in raw:
            problems[INTENT_NAME] = "An intent that is not known cannot have a name of its own."
        named = next((one for one in questionnaire.intents if one.named), None)
        return (named.name, " ".join(text.split())[:MAX_INTENT_NAME]) if named else (text[:MAX_INTENT], "")
    name = " ".join(custom.split()) if isinstance(custom, str) else ""
    if custom is None or custom == "":
        return intent.name, ""
    if not intent.named:
        problems[INTENT_NAME] = f"The intent “{intent.name}” cannot have a name of its own."
    elif not name or len(name) > MAX_INTENT_NAME or "\x00" in name:
        problems[INTENT_NAME] = f"The name of an intent is a text of at most {MAX_INTENT_NAME} characters."
    else:
        return intent.name, name
    return intent.name, ""


def _slot(questionnaire: Questionnaire, raw: Raw, problems: dict[str, str]) -> Slot | None:
    given = raw.get(SLOT)
    slot = _match(questionnaire.slots, given)
    if slot is None and given is not None and given != "":
        problems[SLOT] = f"There is no slot “{str(given)[:60]}”."
    return slot


def _match(known: tuple[_Named, ...], name: Any) -> _Named | None:
    """The intent or slot of this name, also in another case or with underscores for spaces."""
    if not isinstance(name, str):
        return None
    exact = next((one for one in known if one.name == name), None)
    return exact or next((one for one in known if plain(one.name) == plain(name)), None)


def _with_fields(slot: Slot | None, label: Label, item: Raw, problems: dict[str, str]) -> Label:
    answers: dict[str, Any] = {}
    checks = []
    for field in slot.fields if slot else ():
        found = read_field(field, item)
        problems.update(found.problems)
        if found.answer:
            answers[field.name] = found.answer
        if found.criterion:
            answers[field.name + CRITERION] = found.criterion
        if found.checked:
            checks.append(field.name)
    return replace(label, answers=answers, checks=tuple(checks))


def _to_keep(questionnaire: Questionnaire, label: Label, item: Raw) -> dict[str, Any]:
    """What writing the label would not give back by itself, by key; keys that belong together are kept together."""
    written = _plain_form(questionnaire, label)
    kept = dict(item)
    for keys, _ in _groups(questionnaire, label):
        raw = {key: item[key] for key in keys if key in item}
        if same(raw, {key: written[key] for key in keys if key in written}):
            for key in raw:
                del kept[key]
    return kept


# --- writing ---


def _write_label(questionnaire: Questionnaire, label: Label) -> dict[str, Any]:
    plain_form = _plain_form(questionnaire, label)
    if not label.kept:
        return plain_form
    kept = dict(label.kept)
    written: dict[str, Any] = {}
    for keys, says in _groups(questionnaire, label):
        usual = {key: plain_form.pop(key) for key in keys if key in plain_form}
        found = {key: kept.pop(key) for key in keys if key in kept}
        written.update(_as_kept(usual, found, says))
    uid = written.pop(UID)
    return {**written, **plain_form, **kept, UID: uid}


def _as_kept(usual: dict[str, Any], kept: dict[str, Any], says: Callable[[Raw], bool]) -> dict[str, Any]:
    """The kept spelling where it still says what the label says; else the usual one and what it leaves room for."""
    if not kept or says(kept):
        return kept or usual
    for key, value in kept.items():
        if key not in usual and says({**usual, key: value}):
            usual = {**usual, key: value}
    return usual


def _asked_fields(questionnaire: Questionnaire) -> dict[str, tuple[tuple[str, str, Field], ...]]:
    """By slot the fields, each after the names that its answer and its criterion have in a label."""
    return {
        slot.name: tuple((field.name, field.name + CRITERION, field) for field in slot.fields)
        for slot in questionnaire.slots
    }


_ASKED = WorkedOut(_asked_fields)


def _plain_form(questionnaire: Questionnaire, label: Label) -> dict[str, Any]:
    """The label as this project spells it, regardless of what was kept."""
    written: dict[str, Any] = {INTENT: label.intent}
    if label.intent_name:
        written[INTENT_NAME] = label.intent_name
    if label.slot:
        written[SLOT] = label.slot
    # Answers that this version of the questionnaire does not ask for go out under their own names.
    loose = dict(label.answers)
    for name, criterion, field in _ASKED(questionnaire).get(label.slot, ()):
        if name in loose or name in label.checks or criterion in loose:
            content = (loose.pop(name, None) or None, name in label.checks, loose.pop(criterion, ""))
            written.update(write_field(field, content))
    for name, answer in loose.items():
        written.setdefault(name.replace("_", " "), answer)
    written[UID] = str(label.position)
    return written


def _groups(questionnaire: Questionnaire, label: Label) -> list[_Group]:
    """The keys a label is written under, in their order, each with the test whether it still means the label."""

    def field_group(field: Field) -> _Group:
        content = _content(field, label)
        return tuple(keys_of(field)), lambda raw: read_field(field, raw).content == content

    def says_slot(raw: Raw) -> bool:
        slot = _slot(questionnaire, raw, {})
        return (slot.name if slot else "") == label.slot

    return [
        (INTENT_KEYS, lambda raw: _intent(questionnaire, raw, {}) == (label.intent, label.intent_name)),
        ((SLOT,), says_slot),
        *(field_group(field) for field in _fields(questionnaire, label)),
        ((UID,), lambda raw: _position(raw.get(UID)) == label.position),
    ]


def _fields(questionnaire: Questionnaire, label: Label) -> tuple[Field, ...]:
    slot = questionnaire.slot(label.slot) if label.slot else None
    return slot.fields if slot else ()


def _content(field: Field, label: Label) -> Content:
    return (
        label.answers.get(field.name) or None,
        field.name in label.checks,
        label.answers.get(field.name + CRITERION, ""),
    )
