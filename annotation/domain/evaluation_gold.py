"""The dialogues that models are scored on: a dataset reduced to what is predicted, turn by turn."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NoReturn

from annotation.domain.dataset_writing import DatasetError
from annotation.domain.json_text import parse_json
from annotation.domain.notices import quoted
from annotation.domain.unrolling import Malformed, Unrolled, unroll_actions, unroll_nlu

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
PATIENT, DOCTOR = "patient", "doctor"
_JSON_LINES = (
    "These are JSON lines, such as utterances.jsonl; a dataset is one JSON object with a dialogue under each id, such "
    "as dialogs.json."
)
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
    if _is_json_lines(text):
        raise DatasetError(_JSON_LINES)
    try:
        found = json.loads(text, object_pairs_hook=_without_state, parse_constant=_unfit, parse_float=_finite)
    except DatasetError:
        raise
    except (ValueError, RecursionError):  # ValueError: no JSON, or a number that Python does not read or JSON has not
        found = parse_json(text, file)  # says what is wrong, and where
    if not isinstance(found, Mapping) or not found:
        raise DatasetError("A dataset is a JSON object with one dialogue under each id; this is something else.")
    if "uttr_id" in found:
        raise DatasetError(_JSON_LINES)
    return found


def refuse_half_characters(dataset: Mapping[str, Any], text: str) -> None:
    """Raise DatasetError where `text`, which `dataset` was read from, escapes half of a character, which could not be
    written with any figure."""
    if _SURROGATE.search(text):
        try:
            json.dumps(dataset, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise DatasetError("It holds half of a character (a lone surrogate, such as \\ud800).") from None


def only_dialogues(gold: Iterable[GoldDialogue], chosen: Collection[str]) -> list[GoldDialogue]:
    """The gold with the turns of the chosen dialogues only. Those of the others are known still, and not predicted."""
    return [
        one if one.id in chosen else GoldDialogue(one.id, (), one.other_turns | {turn.key for turn in one.turns})
        for one in gold
    ]


def dialogues_json(gold: Iterable[GoldDialogue], predicted: Collection[TurnKey]) -> dict[str, int]:
    """How many dialogues have turns to predict, and of how many of them none is predicted."""
    scored = [one for one in gold if one.turns]
    missing = sum(not any(turn.key in predicted for turn in one.turns) for one in scored)
    return {"scored": len(scored), "without_prediction": missing}


def first_repeated(names: Iterable[str]) -> str:
    """The first name that was there before; "" where none was."""
    seen: set[str] = set()
    return next((name for name in names if name in seen or seen.add(name)), "")  # type: ignore[func-returns-value]


def read_ids(text: str, file: str) -> list[str]:
    """The ids of a file such as test_ids.json: a list of texts (numbers are taken as texts). Raises `UnreadableFile`
    and DatasetError."""
    found = parse_json(text, file)
    if found == []:
        raise DatasetError("It is an empty list of ids, so that nothing is left to score.")
    names = [str(one) if isinstance(one, int) and not isinstance(one, bool) else one for one in _items(found)]
    if not names or not all(isinstance(one, str) for one in names):
        raise DatasetError("It is no list of ids of dialogues, such as test_ids.json.")
    return names


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


def _items(found: Any) -> list[Any]:
    return found if isinstance(found, list) else []


def _is_json_lines(text: str) -> bool:
    """Whether the first line is an object for itself, and another begins after it."""
    first, _, rest = text.lstrip("\ufeff \t\r\n").partition("\n")
    if not (first.startswith("{") and first.rstrip().endswith("}") and rest.lstrip().startswith("{")):
        return False
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _unfit(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(digits)
    return number


def _without_state(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) < len(pairs):
        twice = first_repeated(name for name, _ in pairs)
        raise DatasetError(f"It gives {quoted(twice)} twice in one object; remove one.")
    plain.pop("dialog_state", None)
    return plain
