"""The dialogues that models are scored on: a dataset reduced to what is predicted, turn by turn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.domain.dataset_writing import DatasetError
from annotation.domain.json_text import parse_json
from annotation.domain.notices import quoted
from annotation.domain.unrolling import Malformed, Unrolled, unroll_actions, unroll_nlu

PATIENT, DOCTOR = "patient", "doctor"
_NOTHING = {PATIENT: Unrolled("inform"), DOCTOR: Unrolled("inquire")}
TurnKey = tuple[str, int]  # dialogue id, uttr_id


@dataclass(frozen=True, slots=True)
class GoldTurn:
    """A turn that is predicted: its text, and the tuples of its `nlu` (patient) or `actions` (doctor).

    Its tuples are not scored where nobody labelled it, or only as a patient who informs about nothing or a doctor who
    inquires about nothing; so does the published metric.
    """

    key: TurnKey
    text: str
    tuples: frozenset[Unrolled]
    scored: bool


@dataclass(frozen=True, slots=True)
class GoldDialogue:
    """Turns in their order. `other_turns` are known but not predicted: the other speaker's, the doctor's opening."""

    id: str
    turns: tuple[GoldTurn, ...]
    other_turns: frozenset[TurnKey]


def parse_dataset(text: str, file: str) -> Mapping[str, Any]:
    """A dataset without its states, which are most of it and which no metric needs.

    Raises `UnreadableFile` for broken JSON and DatasetError for something that is no dataset or names a dialogue twice.
    """
    try:
        found = json.loads(text, object_pairs_hook=_without_state)
    except (json.JSONDecodeError, RecursionError):
        found = parse_json(text, file)  # says what is wrong, and where
    if not isinstance(found, Mapping) or not found:
        raise DatasetError("A dataset is a JSON object with one dialogue under each id; this is something else.")
    return found


def patient_turns(dataset: Mapping[str, Any]) -> list[GoldDialogue]:
    """What is predicted by understanding: every turn of the patient with the tuples of its `nlu`."""
    return [_dialogue(name, dialogue, PATIENT, "nlu", unroll_nlu) for name, dialogue in dataset.items()]


def doctor_turns(dataset: Mapping[str, Any]) -> list[GoldDialogue]:
    """What is predicted by policy and generation: every turn of the doctor but one that opens the dialogue, before
    which there is nothing to go by."""
    return [_dialogue(name, dialogue, DOCTOR, "actions", unroll_actions) for name, dialogue in dataset.items()]


def known_turns(gold: Iterable[GoldDialogue]) -> dict[TurnKey, bool]:
    """Every turn of the dialogues, and whether it is predicted."""
    known: dict[TurnKey, bool] = {}
    for dialogue in gold:
        known.update(dict.fromkeys(dialogue.other_turns, False))
        known.update({turn.key: True for turn in dialogue.turns})
    return known


def _dialogue(
    name: str, dialogue: Any, speaker: str, key: str, unroll: Callable[[Any], tuple[Unrolled, ...]]
) -> GoldDialogue:
    turns: list[GoldTurn] = []
    others: set[TurnKey] = set()
    for position, (number, turn) in enumerate(_numbered(name, dialogue)):
        if turn.get("speaker") != speaker or (speaker == DOCTOR and position == 0):
            others.add((name, number))
            continue
        try:
            tuples = frozenset(unroll(turn.get(key, [])))
        except Malformed as error:
            raise DatasetError(f"dialogue {quoted(name)}, turn {number}: {error}") from None
        scored = bool(tuples - {_NOTHING[speaker]})
        turns.append(GoldTurn((name, number), str(turn.get("text", "")), tuples, scored))
    return GoldDialogue(name, tuple(turns), frozenset(others))


def _numbered(name: str, dialogue: Any) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The turns with their `uttr_id`, which is their place where the file gives none."""
    turns = dialogue.get("utterances") if isinstance(dialogue, Mapping) else None
    if not isinstance(turns, list):
        raise DatasetError(f"dialogue {quoted(name)} has no list “utterances”.")
    seen: set[int] = set()
    for position, turn in enumerate(turns):
        number = turn.get("uttr_id", position) if isinstance(turn, Mapping) else None
        if not isinstance(number, int) or isinstance(number, bool):
            raise DatasetError(f"dialogue {quoted(name)}, turn {position}: it is no object with a whole “uttr_id”.")
        if number in seen:
            raise DatasetError(f"dialogue {quoted(name)} has the uttr_id {number} twice.")
        seen.add(number)
        yield number, turn


def _without_state(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DatasetError(f"It gives {quoted(twice)} twice in one object; remove one.")
    plain.pop("dialog_state", None)
    return plain
