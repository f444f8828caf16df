"""One file of predictions scored against a project's gold, with what is wrong in each utterance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings

from annotation.domain.comparators import Comparator, Exact, Normalised
from annotation.domain.evaluation_gold import (
    GoldDialogue,
    TurnKey,
    dialogues_json,
    doctor_turns,
    known_turns,
    patient_turns,
)
from annotation.domain.metrics_errors import turn_errors
from annotation.domain.metrics_nlg import prepared, score_nlg
from annotation.domain.metrics_nlu import score_nlu
from annotation.domain.metrics_pol import score_pol
from annotation.domain.metrics_tuples import MALFORMED_COLUMN
from annotation.domain.prediction_files import utterance_lines
from annotation.domain.predictions import Predictions, read_predictions, text_prediction
from annotation.domain.unrolling import Malformed, Unrolled, unroll_actions, unroll_nlu
from annotation.models import EvaluatedTurn, EvaluationTask
from annotation.services.chat_comparator import ChatComparator, ChatEndpoint
from annotation.services.errors import Refused
from annotation.services.text_scoring import LibraryScorer

EXACT, NORMALISED, CHAT = "exact", "normalised", "chat"
MOST_TUPLES = 500  # of an utterance; the richest published one has a few dozen
MOST_NAMES = 1_000  # different slots with their attributes in a file, each with intervals of its own
PROBLEMS_KEPT = 500
THERE, NONE, MALFORMED = EvaluatedTurn.Prediction


@dataclass(frozen=True, slots=True)
class TurnFound:
    """One scored turn as `EvaluatedTurn` holds it."""

    key: TurnKey
    prediction: str
    wrong: bool
    slots: str
    found: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Scored:
    results: Mapping[str, Any]
    turns: list[TurnFound]


def comparator_named(name: str, tell: Callable[[], None] = lambda: None) -> Comparator:
    """One of those on offer; `tell` is called while an answer is waited for. Raises Refused for the chat endpoint where
    none is set up."""
    if name == EXACT:
        return Exact()
    if name == NORMALISED:
        return Normalised()
    if name != CHAT or not settings.PORTAL_CHAT_URL:
        raise Refused(f"There is no comparator “{name}” here.", field="comparator")
    folder = Path(settings.PORTAL_EVALUATION_DIR)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    endpoint = ChatEndpoint(settings.PORTAL_CHAT_URL, settings.PORTAL_CHAT_MODEL, settings.PORTAL_CHAT_KEY)
    return ChatComparator(endpoint, folder / "chat-answers.jsonl", tell=tell)


def score(
    *,
    task: EvaluationTask,
    dataset: Mapping[str, Any],
    stream: BinaryIO,
    file: str,
    comparator: Comparator,
    tell: Callable[[], None] = lambda: None,
) -> Scored:
    """Score the predictions in `stream`. Raises WrongFile and Refused; `tell` is called now and then."""
    gold = (patient_turns if task is EvaluationTask.NLU else doctor_turns)(dataset)
    if not any(dialogue.turns for dialogue in gold):
        raise Refused("The gold has no utterance that this task predicts.")
    lines = _told(utterance_lines(stream, file), tell)
    if task is EvaluationTask.NLG:
        texts = read_predictions(lines, task.key, text_prediction, known_turns(gold), file)
        result = score_nlg(gold, texts, LibraryScorer()).as_json()
        return Scored({**result, **_read(texts, gold)}, list(_texts(gold, texts)))
    parse = _nlu if task is EvaluationTask.NLU else _actions
    predictions = read_predictions(lines, task.key, parse, known_turns(gold), file)
    _refuse_inventions(predictions, file)
    told = _Told(comparator, tell)
    scores = (score_nlu if task is EvaluationTask.NLU else score_pol)(gold, predictions, told)
    results = {**scores.as_json(), "comparator": comparator.as_json(), **_read(predictions, gold)}
    return Scored(results, list(_tuples(gold, predictions, told)))


class _Told:
    """A comparator that gives a sign of life with every question."""

    def __init__(self, comparator: Comparator, tell: Callable[[], None]) -> None:
        self._comparator, self._tell = comparator, tell

    @property
    def name(self) -> str:
        return self._comparator.name

    def same(self, one: str, other: str) -> bool:
        self._tell()
        return self._comparator.same(one, other)

    def as_json(self) -> Mapping[str, Any]:
        return self._comparator.as_json()


def _told(lines: Iterator[bytes | None], tell: Callable[[], None]) -> Iterator[bytes | None]:
    for line in lines:
        tell()
        yield line


def _nlu(given: Any) -> frozenset[Unrolled]:
    return _bounded(unroll_nlu(given))


def _actions(given: Any) -> frozenset[Unrolled]:
    return _bounded(unroll_actions(given))


def _bounded(tuples: tuple[Unrolled, ...]) -> frozenset[Unrolled]:
    if len(tuples) > MOST_TUPLES:
        raise Malformed(f"It has {len(tuples):,} tuples; an utterance may have {MOST_TUPLES}.")
    return frozenset(tuples)


def _refuse_inventions(predictions: Predictions[frozenset[Unrolled]], file: str) -> None:
    names = {(one.plain_slot, one.attribute) for tuples in predictions.by_turn.values() for one in tuples or ()}
    if len(names) > MOST_NAMES:
        raise Refused(
            f"{file} names {len(names):,} different slots and attributes; {MOST_NAMES:,} can be scored. "
            "Check that values do not stand where their names should."
        )


def _read(predictions: Predictions[Any], gold: list[GoldDialogue]) -> dict[str, Any]:
    summary = predictions.summary(sum(len(dialogue.turns) for dialogue in gold))
    return {
        "predictions": summary,
        "dialogues": dialogues_json(gold, predictions.by_turn),
        "problems": [one.as_json() for one in predictions.problems[:PROBLEMS_KEPT]],
    }


def _tuples(
    gold: list[GoldDialogue], predictions: Predictions[frozenset[Unrolled]], comparator: Comparator
) -> Iterator[TurnFound]:
    for turn in (turn for dialogue in gold for turn in dialogue.turns if turn.scored):
        errors = turn_errors(turn.tuples, predictions.by_turn.get(turn.key) or (), comparator)
        state = _state(predictions, turn.key)
        marks = [*errors.marks, *([MALFORMED_COLUMN[0]] if state == MALFORMED.value else [])]
        yield TurnFound(turn.key, state, errors.wrong, "".join(f"|{one}|" for one in marks), errors.as_json())


def _texts(gold: list[GoldDialogue], predictions: Predictions[str]) -> Iterator[TurnFound]:
    """A text is wrong where it is not, word for word, what the doctor says; only so two systems can be compared."""
    for turn in (turn for dialogue in gold for turn in dialogue.turns if prepared(turn.text)):
        text = predictions.by_turn.get(turn.key) or ""
        wrong = prepared(text) != prepared(turn.text)
        yield TurnFound(turn.key, _state(predictions, turn.key), wrong, "", {"text": text})


def _state(predictions: Predictions[Any], key: TurnKey) -> str:
    if key not in predictions.by_turn:
        return NONE.value
    return MALFORMED.value if predictions.by_turn[key] is None else THERE.value
