"""A dataset's states recomputed from its `nlu`, and compared with the `dialog_state` it states."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.domain.dataset_writing import DatasetError, DatasetState, mentions_of_nlu
from annotation.domain.mentions import SUBJECT


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a dataset departs from the rule, or from its form. `turn` is the `uttr_id`, None for a whole dialogue."""

    dialogue: str
    turn: int | None
    key: str
    message: str

    def as_json(self) -> dict[str, Any]:
        return {
            "dialogue": self.dialogue,
            "turn": self.turn,
            "key": self.key,
            "message": self.message,
            "text": str(self),
        }

    def __str__(self) -> str:
        turn = "" if self.turn is None else f", turn {self.turn}"
        return f"dialogue {self.dialogue}{turn}: {self.message}"


@dataclass(frozen=True, slots=True)
class TrackReport:
    """`turns` patient turns were recomputed, `equal` of them are as the dataset has them."""

    turns: int
    equal: int
    differences: tuple[Difference, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "turns": self.turns,
            "equal": self.equal,
            "differences": [difference.as_json() for difference in self.differences],
        }


def track_dataset(dialogs: Any) -> TrackReport:
    """Recompute every patient turn's state. The order of entries under a key does not count, that of keys neither.

    Raises DatasetError when the whole is no object of dialogues; anything else that is wrong becomes a difference.
    """
    if not isinstance(dialogs, Mapping):
        raise DatasetError("A dataset is a JSON object with one dialogue under each id; this is something else.")
    turns = equal = 0
    differences: list[Difference] = []
    for name, dialogue in dialogs.items():
        utterances = dialogue.get("utterances") if isinstance(dialogue, Mapping) else None
        if not isinstance(utterances, list):
            differences.append(Difference(name, None, "utterances", "it has no list “utterances”."))
            continue
        try:
            counts, found = _track_dialogue(name, utterances)
        except RecursionError:
            differences.append(Difference(name, None, "utterances", "it is nested too deeply."))
            continue
        turns, equal = turns + counts[0], equal + counts[1]
        differences.extend(found)
    return TrackReport(turns, equal, tuple(differences))


def _track_dialogue(name: str, utterances: list[Any]) -> tuple[tuple[int, int], list[Difference]]:
    turns = equal = 0
    differences: list[Difference] = []
    so_far = DatasetState()
    for position, utterance in enumerate(utterances):
        if not isinstance(utterance, Mapping):
            differences.append(Difference(name, position, "", "it is no object."))
        elif utterance.get("speaker") == SUBJECT or "dialog_state" in utterance:
            turns += 1
            found = _track_turn(name, position, utterance, so_far)
            equal += not found
            differences.extend(found)
    return (turns, equal), differences


def _track_turn(name: str, position: int, utterance: Mapping[str, Any], so_far: DatasetState) -> list[Difference]:
    """Add the turn's mentions to the state before it, and compare."""
    turn = utterance.get("uttr_id")
    turn = turn if isinstance(turn, int) else position
    if "nlu" not in utterance:
        return [Difference(name, turn, "nlu", "it is a patient's turn without “nlu”.")]
    try:
        said = list(mentions_of_nlu(utterance["nlu"], position))
    except DatasetError as error:
        return [Difference(name, turn, "nlu", str(error))]
    so_far.add(said)
    stated = utterance.get("dialog_state")
    if not isinstance(stated, Mapping):
        return [Difference(name, turn, "dialog_state", "it is a patient's turn without an object “dialog_state”.")]
    followed = so_far.written()
    return [
        Difference(name, turn, key, _in_words(key, stated.get(key), followed.get(key)))
        for key in dict.fromkeys([*followed, *stated])
        if _canonical(stated.get(key)) != _canonical(followed.get(key))
    ]


def _canonical(entries: Any) -> Any:
    """Entries as sorted JSON, so that neither their order nor that of their keys counts."""
    if not isinstance(entries, list):
        return json.dumps(entries, sort_keys=True)
    return sorted(json.dumps(entry, sort_keys=True) for entry in entries)


def _in_words(key: str, stated: Any, followed: Any) -> str:
    if stated is None:
        return f"“{key}” is missing; its “nlu” give {_shown(followed)}."
    if followed is None:
        return f"“{key}” is stated as {_shown(stated)}, but no “nlu” so far gives it."
    return f"“{key}” is stated as {_shown(stated)}, but the “nlu” so far give {_shown(followed)}."


def _shown(entries: Any) -> str:
    text = json.dumps(entries, ensure_ascii=False)
    return text if len(text) <= 300 else text[:300] + "…"
