"""What the three panels of the workbench show, as plain data that the page's module draws.

They are redrawn after every save, ten times a minute: data is an order of magnitude cheaper to make than markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.domain.completeness import gaps_of_label
from annotation.domain.consistency import contradictions
from annotation.domain.labels import Label, Reading
from annotation.domain.mentions import RATING, entry_keys, mentions
from annotation.domain.questionnaire import Field, Questionnaire, Slot
from annotation.domain.state import Attribute, Entry, EntryKey, Setting, State, track
from annotation.domain.validation import CRITERION
from annotation.domain.wording import SIGNS, field_name, label_parts
from annotation.services.readings import label_as_json

FOREVER = 10**9


@dataclass(frozen=True, slots=True)
class Panels:
    """Everything that follows from one reading."""

    labelled: int
    total: int
    state: list[dict[str, Any]]
    problems: list[dict[str, Any]]


def panels(questionnaire: Questionnaire, reading: Reading, touched: Touched | None = None) -> Panels:
    """The state with its history, and what is contradictory or incomplete in the order of the dialogue.

    With `touched`, only the entries and the labels that a change may have moved: the page puts them in their places.
    """
    state = track(mentions(questionnaire, reading, touched.entries if touched else None))
    labels = [label for label in reading.labels if touched is None or label.position in touched.positions]
    speakers = {turn.position: turn.speaker for turn in reading.utterances}
    return Panels(
        labelled=len({label.position for label in reading.labels}),
        total=len(reading.utterances),
        state=state_groups(questionnaire, state),
        problems=problem_rows(questionnaire, state, labels, speakers),
    )


@dataclass(frozen=True, slots=True)
class Touched:
    """What a change may have moved: entries of the state, and the positions of labels."""

    entries: frozenset[EntryKey]
    positions: frozenset[int]

    @classmethod
    def by(cls, questionnaire: Questionnaire, labels: Iterable[Label]) -> Touched:
        """What these labels speak of; they are both sides of every change."""
        known = list(labels)
        keys = {key for label in known for key in entry_keys(questionnaire, label)}
        return cls(frozenset(keys), frozenset(label.position for label in known))

    def as_json(self) -> dict[str, Any]:
        return {"entries": [[slot, value or ""] for slot, value in self.entries], "positions": list(self.positions)}


def label_rows(questionnaire: Questionnaire, labels: list[Label], speaker: str) -> list[dict[str, Any]]:
    """The labels under an utterance: the label itself (`data`), its words (`label_parts`), and what it lacks."""
    return [
        {
            "data": label_as_json(label),
            "gaps": [gap.message for gap in gaps_of_label(questionnaire, label, speaker)],
            **label_parts(questionnaire, label),
        }
        for label in labels
    ]


def problem_rows(
    questionnaire: Questionnaire, state: State, labels: list[Label], speakers: Mapping[int, str]
) -> list[dict[str, Any]]:
    """Contradictions and incomplete labels in the order of the dialogue; unlabelled turns are the progress bar's."""
    rows = [
        {
            "kind": "contradiction",
            "position": item.position,
            "message": item.message,
            "label": "",
            "rule": "",
            "entry": [item.slot, item.value],
        }
        for item in contradictions(questionnaire, state)
    ]
    rows += [
        {
            "kind": "incomplete",
            "position": gap.position,
            "message": gap.message,
            "label": gap.label,
            "rule": gap.rule.value,
            "entry": None,
        }
        for label in labels
        for gap in gaps_of_label(questionnaire, label, speakers.get(label.position, ""))
    ]
    return sorted(rows, key=lambda row: row["position"])


def state_groups(questionnaire: Questionnaire, state: State) -> list[dict[str, Any]]:
    """The state by slot in the order of the questionnaire. Every value carries from and until which utterance it
    stood, so that the page can go back in time without asking again."""
    by_slot = state.by_slot()
    groups = []
    for slot in questionnaire.slots:
        if slot.name in by_slot:
            rows = [_entry(slot, entry) for entry in by_slot[slot.name]]
            groups.append({"slot": slot.name, "title": slot.title, "tracked": slot.tracked, "entries": rows})
    return groups


def _entry(slot: Slot, entry: Entry) -> dict[str, Any]:
    return {
        "value": entry.value or "",
        "implied": bool(slot.implied_value) and entry.value == slot.implied_value,
        "field": slot.head,
        "since": entry.first_position,
        "statuses": [_status(slot, *period) for period in _periods(entry.statuses)],
        "attributes": [
            {"name": name, "settings": [_setting(*period) for period in _periods(settings)], "field": field}
            for name, field, settings in _named(slot, entry)
        ],
    }


def _named(slot: Slot, entry: Entry) -> list[tuple[str, str, tuple[Setting, ...]]]:
    """Attributes with the name shown and the field they can be copied into, which a criterion has none of."""
    result = []
    for attribute, settings in entry.attributes.items():
        name, _, rating = attribute.partition(RATING)
        field = slot.field(name.removesuffix(CRITERION))
        shown = field_name(field) if field else name
        if rating and field:
            choice = field.choice(rating)
            shown = f"{shown} ({choice.title if choice else rating})"
        if name.endswith(CRITERION):
            result.append((f"{shown} criterion", "", settings))
        else:
            result.append((shown, field.name if field else "", settings))
    return result


def _periods(settings: tuple[Setting, ...]) -> list[tuple[Setting, int, Setting | None]]:
    """Each setting with the last position at which it stood and the one it replaced; repetitions are not shown."""
    kept: list[Setting] = []
    for setting in {setting.position: setting for setting in settings}.values():  # what an utterance ended with
        if not kept or kept[-1].value != setting.value:
            kept.append(setting)
    result = []
    for index, setting in enumerate(kept):
        until = kept[index + 1].position - 1 if index + 1 < len(kept) else FOREVER
        result.append((setting, until, kept[index - 1] if index else None))
    return result


def _status(slot: Slot, setting: Setting, until: int, before: Setting | None) -> dict[str, Any]:
    field: Field | None = slot.status_field
    choice = field.choice(str(setting.value)) if field else None
    meaning = choice.meaning if choice else None
    old = field.choice(str(before.value)) if field and before else None
    return {
        "position": setting.position,
        "until": until,
        "title": choice.title if choice else str(setting.value),
        "meaning": meaning.value if meaning else "",
        "sign": SIGNS.get(meaning, "·") if meaning else "·",
        "before": (old.title if old else "no status") if before else "",
        "before_position": before.position if before else "",
    }


def _setting(setting: Setting, until: int, before: Setting | None) -> dict[str, Any]:
    return {
        "position": setting.position,
        "until": until,
        "text": _words(setting.value),
        "before": _words(before.value) if before else "",
        "before_position": before.position if before else "",
    }


def _words(value: Attribute) -> str:
    return value if isinstance(value, str) else ", ".join(value)
