"""What the three panels of the workbench show, as plain data that the page's module draws.

They are redrawn after every save, ten times a minute: data is an order of magnitude cheaper to make than markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotation.domain.completeness import Gap, gaps, gaps_of_label
from annotation.domain.consistency import Contradiction, contradictions
from annotation.domain.labels import Label, Reading
from annotation.domain.mentions import RATING, mentions
from annotation.domain.questionnaire import Field, Questionnaire, Slot
from annotation.domain.state import Attribute, Entry, Setting, State, track
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


def panels(questionnaire: Questionnaire, reading: Reading, excused: set[int]) -> Panels:
    """The state with its history, and what is contradictory or incomplete, newest concern first."""
    state = track(mentions(questionnaire, reading))
    labelled = {label.position for label in reading.labels}
    return Panels(
        labelled=len(labelled),
        total=len(reading.utterances),
        state=state_groups(questionnaire, state),
        problems=problem_rows(questionnaire, reading, state, excused),
    )


def label_rows(questionnaire: Questionnaire, labels: list[Label]) -> list[dict[str, Any]]:
    """The labels under an utterance: the label itself (`data`), its words (`label_parts`), and what it lacks."""
    return [
        {
            "data": label_as_json(label),
            "gaps": [gap.message for gap in gaps_of_label(questionnaire, label)],
            **label_parts(questionnaire, label),
        }
        for label in labels
    ]


def problem_rows(
    questionnaire: Questionnaire, reading: Reading, state: State, excused: set[int]
) -> list[dict[str, Any]]:
    """Contradictions and incomplete labels in the order of the dialogue; unlabelled turns are the progress bar's."""
    rows: list[tuple[int, Gap | Contradiction]] = [
        (item.position, item) for item in contradictions(questionnaire, state)
    ]
    rows += [(gap.position, gap) for gap in gaps(questionnaire, reading, excused=excused) if gap.label]
    rows.sort(key=lambda row: row[0])
    return [
        {
            "position": position,
            "message": item.message,
            "kind": "contradiction" if isinstance(item, Contradiction) else "incomplete",
            "label": "" if isinstance(item, Contradiction) else item.label,
        }
        for position, item in rows
    ]


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
        "field": slot.head,
        "since": entry.first_position,
        "statuses": [_status(slot, *period) for period in _periods(entry.statuses)],
        "attributes": [
            {"name": name, "settings": [_setting(*period) for period in _periods(settings)], "field": field}
            for name, field, settings in _named(slot, entry)
        ],
    }


def _named(slot: Slot, entry: Entry) -> list[tuple[str, str, tuple[Setting, ...]]]:
    """Attributes with the name shown and the field they belong to."""
    result = []
    for attribute, settings in entry.attributes.items():
        name, _, rating = attribute.partition(RATING)
        field = slot.field(name.removesuffix(CRITERION))
        shown = field_name(field) if field else name
        if rating and field:
            choice = field.choice(rating)
            shown = f"{shown} ({choice.title if choice else rating})"
        result.append((shown, field.name if field else "", settings))
    return result


def _periods(settings: tuple[Setting, ...]) -> list[tuple[Setting, int, Setting | None]]:
    """Each setting with the last position at which it stood and the one it replaced; repetitions are not shown."""
    kept: list[Setting] = []
    for setting in settings:
        if kept and kept[-1].position == setting.position:
            kept[-1] = setting
        elif not kept or kept[-1].value != setting.value:
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
