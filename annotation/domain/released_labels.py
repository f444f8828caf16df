"""The labels of a released dialogue, as far as nothing of them is lost.

The released form knows less than a label, and may hold what the questionnaire has no place for. So each utterance is
tried: its `actions` or `nlu` are read as labels, stored as labels are, and written again. Where the same comes out,
they are the utterance's labels; where not, the utterance is left without any, and it is said why.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.domain.dataset_reading import reading_from_dataset
from annotation.domain.dataset_tracking import track_dataset
from annotation.domain.dataset_writing import actions_of, nlu_of
from annotation.domain.labels import Label
from annotation.domain.mentions import SUBJECT
from annotation.domain.notices import shortened
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.unusual import checked_import
from annotation.domain.validation import InvalidLabel

_KNOWN = {"speaker", "uttr_id", "text", "keywords", "actions", "nlu", "dialog_state"}
_MAX_NAME = 200
# What is said of a dialogue in which patient's turns state nothing. Nothing of it is lost.
NO_STATES = "It has turns without “dialog_state”; the states follow from the labels."


@dataclass(frozen=True, slots=True)
class Lost:
    """What of an utterance does not come back, and why. `turn` is its `uttr_id`."""

    turn: int | None
    message: str


def labels_of_released(
    questionnaire: Questionnaire, name: str, turns: Sequence[Mapping[str, Any]]
) -> tuple[tuple[Label, ...], list[Lost]]:
    """The labels in their order, ranked from 0, and what was lost. `turns` are the dialogue's utterances, which count
    from 0 in the order in which they stand."""
    reading = reading_from_dataset(questionnaire, name, {"utterances": list(turns)})
    by_position = reading.by_position()
    found: list[Label] = []
    lost: list[Lost] = []
    for position, turn in enumerate(turns):
        try:
            found += _labels_of_turn(questionnaire, turn, by_position[position])
        except _NotTheSame as error:
            lost.append(Lost(position, str(error)))
        lost += [Lost(position, f"“{shortened(key)}” has no place in the portal.") for key in turn if key not in _KNOWN]
    lost += _states(name, turns)
    lost.sort(key=lambda one: -1 if one.turn is None else one.turn)
    return tuple(replace(label, rank=rank) for rank, label in enumerate(found)), lost


class _NotTheSame(ValueError):
    """Labels that do not say what the file says, in one sentence."""


def _labels_of_turn(questionnaire: Questionnaire, turn: Mapping[str, Any], labels: Sequence[Label]) -> list[Label]:
    """The labels in their stored form. Raises _NotTheSame."""
    speaker = str(turn.get("speaker", ""))
    key, other = ("nlu", "actions") if speaker == SUBJECT else ("actions", "nlu")
    if turn.get(other):
        raise _NotTheSame(f"A turn of the {shortened(speaker)} has “{other}”; it stays without labels.")
    stored = [_stored(questionnaire, label, speaker) for label in labels]
    written = (nlu_of if key == "nlu" else actions_of)(questionnaire, stored)
    given = turn.get(key, [])
    if _plain(written) != _plain(given):
        raise _NotTheSame(
            f"Its “{key}” cannot be said in labels without a change ({_difference(given, written)}); it stays without."
        )
    return stored


def _stored(questionnaire: Questionnaire, label: Label, speaker: str) -> Label:
    if questionnaire.intent(label.intent) is None:
        raise _NotTheSame(f"There is no intent “{shortened(label.intent)}”; it stays without labels.")
    if len(label.intent_name) > _MAX_NAME:
        raise _NotTheSame(f"The name of its intent has more than {_MAX_NAME} characters; it stays without labels.")
    try:
        return checked_import(questionnaire, label, speaker)[0]
    except InvalidLabel as error:
        raise _NotTheSame(f"{shortened(str(error), 200)} It stays without labels.") from None


def _difference(given: Any, written: Sequence[Mapping[str, Any]]) -> str:
    """The first entry of the file that the labels do not say."""
    if not isinstance(given, list):
        return "it is no list"
    for one, own in zip(given, written, strict=False):
        if _plain(one) != _plain(own):
            return shortened(f"{_shown(one)} would become {_shown(own)}", 400)
    return f"its {len(given)} entries would become {len(written)}"


def _states(name: str, turns: Sequence[Mapping[str, Any]]) -> Iterator[Lost]:
    """States that do not follow from the `nlu` so far: an export states those that do. That some are not stated is
    said once: they follow from the labels, so that nothing is lost."""
    bare = {_turn(turn, at) for at, turn in enumerate(turns) if "nlu" in turn and "dialog_state" not in turn}
    if bare:
        yield Lost(None, NO_STATES)
    for one in track_dataset({name: {"utterances": list(turns)}}).differences:
        if one.key != "nlu" and not (one.key == "dialog_state" and one.turn in bare):
            yield Lost(one.turn, f"Its “dialog_state” is another than follows from what was said: {one.message}")


def _turn(turn: Mapping[str, Any], position: int) -> int:
    """The turn's number as the states are compared under it."""
    number = turn.get("uttr_id")
    return number if isinstance(number, int) else position


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _shown(value: Any) -> str:
    return shortened(json.dumps(value, ensure_ascii=False), 160)
