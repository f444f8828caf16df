"""What a model predicted: JSON lines, one object an utterance, read one by one.

    {"dialogue_id": "115", "uttr_id": 3, "nlu": [{"intent": "inform", "slots": {…}}]}

with `nlu`, `actions` or `text` as the dataset has them. What is wrong with a line is kept with its number and never
ends the reading: models do write such lines, and how many is itself a result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, BinaryIO, Generic, TypeVar

from annotation.domain.evaluation_gold import TurnKey
from annotation.domain.notices import quoted
from annotation.domain.unrolling import Malformed, tidy

T = TypeVar("T")

LONGEST_LINE = 1_000_000  # bytes; no prediction of an utterance comes near it
MOST_LISTED = 10_000  # problems that are kept; all are counted
COMMANDS = {"nlu": "evaluate_nlu", "actions": "evaluate_pol", "text": "evaluate_nlg"}


class WrongFile(ValueError):
    """A file that holds no predictions for this task, in one sentence. `holds` is the key of another task whose
    predictions it has instead, "" for none."""

    def __init__(self, message: str, holds: str = "") -> None:
        super().__init__(message)
        self.holds = holds


class ProblemKind(StrEnum):
    """MALFORMED: not of the form, counts as a wrong prediction. REPEATED: a later prediction of one utterance.
    UNKNOWN: an utterance that the gold does not have. NOT_SCORED: one that this task does not predict, which is
    counted and not listed."""

    MALFORMED = "malformed"
    REPEATED = "repeated"
    UNKNOWN = "unknown"
    NOT_SCORED = "not_scored"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a line, which counts from 1."""

    kind: ProblemKind
    line: int
    message: str

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": str(self.kind),
            "line": self.line,
            "message": self.message,
            "text": f"line {self.line}: {self.message}",
        }


@dataclass(slots=True)
class Predictions(Generic[T]):
    """The first prediction of each turn; None for one that is malformed. A turn that is missing has none.

    `lines` are those that are not blank. Malformed lines that do not say which turn they are about are only counted.
    """

    by_turn: dict[TurnKey, T | None] = field(default_factory=dict)
    lines: int = 0
    counts: dict[ProblemKind, int] = field(default_factory=lambda: dict.fromkeys(ProblemKind, 0))
    problems: list[Problem] = field(default_factory=list)

    def note(self, kind: ProblemKind, line: int, message: str) -> None:
        self.counts[kind] += 1
        if len(self.problems) < MOST_LISTED:
            self.problems.append(Problem(kind, line, message))

    def summary(self, turns: int) -> dict[str, Any]:
        """How many lines there are, how many of `turns` they predict, and what is wrong; the share is None of none."""
        malformed = self.counts[ProblemKind.MALFORMED]
        return {
            "lines": self.lines,
            "turns": turns,
            "predicted": sum(value is not None for value in self.by_turn.values()),
            "missing": turns - len(self.by_turn),
            "malformed": malformed,
            "malformed_share": malformed / self.lines if self.lines else None,
            **{str(kind): n for kind, n in self.counts.items() if kind is not ProblemKind.MALFORMED},
        }


def read_predictions(
    lines: Iterable[bytes | None], key: str, parse: Callable[[Any], T], known: Mapping[TurnKey, bool], file: str
) -> Predictions[T]:
    """The predictions under `key` ("nlu", "actions", "text").

    `lines` come from `bounded_lines`, `known` from `evaluation_gold.known_turns`. `parse` raises Malformed. Raises
    WrongFile where no line has the key, or none names an utterance that this task predicts.
    """
    found: Predictions[T] = Predictions()
    others: set[str] = set()
    with_key = 0
    for number, raw in enumerate(lines, start=1):
        if raw is not None and not raw.strip():
            continue
        found.lines += 1
        try:
            entry = _entry(raw)
            others.update(name for name in COMMANDS if name in entry)
            with_key += key in entry
            if turn := _new_turn(found, entry, known, number):
                found.by_turn[turn] = None  # what is malformed stays so
                found.by_turn[turn] = _parsed(entry, key, parse)
        except Malformed as error:
            found.note(ProblemKind.MALFORMED, number, str(error))
    if not with_key:
        raise _wrong_kind(file, key, found.lines, sorted(others))
    if not found.by_turn:
        raise WrongFile(f"{file}: none of its {found.lines:,} lines predicts an utterance of the gold file.")
    return found


def require_key(lines: Iterable[bytes | None], key: str, file: str) -> None:
    """Raise WrongFile where no line has the key, which is found out without a gold; reads up to the first that has."""
    others: set[str] = set()
    read = 0
    for raw in lines:
        if raw is not None and not raw.strip():
            continue
        read += 1
        try:
            entry = _entry(raw)
        except Malformed:
            continue
        if key in entry:
            return
        others.update(name for name in COMMANDS if name in entry)
    raise _wrong_kind(file, key, read, sorted(others))


def bounded_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a file; None for one that is longer than LONGEST_LINE, which is never held whole."""
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(LONGEST_LINE)
        yield None


def text_prediction(given: Any) -> str:
    """What the doctor says next. Raises Malformed."""
    if not isinstance(given, str):
        raise Malformed("“text” is no text.")
    return tidy(given)


def _entry(raw: bytes | None) -> dict[str, Any]:
    if raw is None:
        raise Malformed(f"It is longer than {LONGEST_LINE:,} bytes.")
    try:
        text = raw.decode("utf-8-sig").strip()
        entry = json.loads(text)
        if "\\u" in text:
            json.dumps(entry, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Malformed("It holds half of a character (a lone surrogate).") from None
    except UnicodeDecodeError:
        raise Malformed("It is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise Malformed(f"It is no JSON (column {error.colno}).") from None
    except (RecursionError, ValueError):  # ValueError: a number of thousands of digits
        raise Malformed("It is nested too deeply, or holds a number that is too large.") from None
    if not isinstance(entry, dict):
        raise Malformed("It is no JSON object.")
    return entry


def _new_turn(
    found: Predictions[T], entry: Mapping[str, Any], known: Mapping[TurnKey, bool], line: int
) -> TurnKey | None:
    """The turn of the entry if it counts: one that is to be predicted, and was not before."""
    turn = _turn_of(entry)
    place = f"utterance {turn[1]} of dialogue {quoted(turn[0])}"
    if turn not in known:
        found.note(ProblemKind.UNKNOWN, line, f"The gold has no {place}.")
    elif not known[turn]:
        found.counts[ProblemKind.NOT_SCORED] += 1
    elif turn in found.by_turn:
        found.note(ProblemKind.REPEATED, line, f"A second prediction of {place}; the first one counts.")
    else:
        return turn
    return None


def _parsed(entry: Mapping[str, Any], key: str, parse: Callable[[Any], T]) -> T:
    if key not in entry:
        raise Malformed(f"It has no “{key}”.")
    try:
        return parse(entry[key])
    except RecursionError:
        raise Malformed("It is nested too deeply.") from None


def _turn_of(entry: Mapping[str, Any]) -> TurnKey:
    dialogue, number = entry.get("dialogue_id"), entry.get("uttr_id")
    if isinstance(dialogue, int) and not isinstance(dialogue, bool):
        dialogue = str(dialogue)
    if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 10:
        number = int(number)
    if not isinstance(dialogue, str) or not isinstance(number, int) or isinstance(number, bool):
        raise Malformed("It does not say “dialogue_id” and “uttr_id”.")
    return dialogue, number


def _wrong_kind(file: str, key: str, lines: int, others: list[str]) -> WrongFile:
    if not lines:
        return WrongFile(f"{file} is empty; it should hold one JSON object a line.")
    if others:
        message = f"{file} holds “{others[0]}”, not “{key}”; score it with {COMMANDS[others[0]]}."
        return WrongFile(message, others[0])
    return WrongFile(
        f"{file} is no file of predictions: it should hold one JSON object a line with “dialogue_id”, “uttr_id” "
        f"and “{key}”."
    )
