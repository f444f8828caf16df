"""What a model predicted: JSON lines, one object an utterance, read one by one.

    {"dialogue_id": "115", "uttr_id": 3, "nlu": [{"intent": "inform", "slots": {…}}]}

with `nlu`, `actions` or `text` as the dataset has them. The dialogue may stand under `id`, as in the portal's own
`utterances.jsonl`, and the labels as text under `annotation`, as in the rows of its folder `huggingface`;
`prediction_files` makes such lines of a whole dataset. What is wrong with a line is kept with its
number and never ends the reading: models do write such lines, and how many is itself a result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any, BinaryIO, Generic, NoReturn, TypeVar

from annotation.domain.evaluation_gold import TurnKey, first_repeated
from annotation.domain.notices import quoted, shortened
from annotation.domain.unrolling import Malformed, tidy

T = TypeVar("T")

LONGEST_LINE = 1_000_000  # bytes; no prediction of an utterance comes near it
LONGEST_VALUE = 2_000  # characters of a name or value
LONGEST_TEXT = 20_000  # characters of what the doctor says
LOOKED_AT = 500  # lines that are not blank, among which one must have the key of the task
MOST_LISTED = 10_000  # problems that are kept; all are counted
_LONGEST_NUMBER = 18  # digits of a whole number
# The ids at the beginning of a line that says nothing else.
_IDS = re.compile(
    r'\ufeff?\s*\{\s*"(?:dialogue_id|id)"\s*:\s*(?P<id>"(?:[^"\\]|\\.){1,500}"|\d{1,18})\s*,'
    r'\s*"uttr_id"\s*:\s*(?P<number>\d{1,9}|"\d{1,9}")\s*(?:,|$)'
)
_LABELS_OF = {"patient": "nlu", "doctor": "actions"}
COMMANDS = {"nlu": "evaluate_nlu", "actions": "evaluate_pol", "text": "evaluate_nlg"}


class WrongFile(ValueError):
    """A file that holds no predictions for this task, in one sentence. `holds` is the key of another task whose
    predictions it has instead, "" for none."""

    def __init__(self, message: str, holds: str = "") -> None:
        super().__init__(message)
        self.holds = holds


class ProblemKind(StrEnum):
    """MALFORMED: not of the form; counts as a wrong prediction of the utterance that it names. REPEATED: a later
    prediction of one utterance. UNKNOWN: an utterance that the gold does not have. NOT_SCORED: one that this task does
    not predict, which is counted and not listed."""

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

    `lines` are those that are not blank. Malformed lines that do not say which turn they are about are only counted;
    one that breaks off after its ids still says it.
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

    `lines` come from `prediction_files.utterance_lines`, `known` from `evaluation_gold.known_turns`. `parse` raises
    Malformed. Raises WrongFile where no line has the key, or none names an utterance that this task predicts.
    """
    found: Predictions[T] = Predictions()
    others: set[str] = set()
    with_key = 0
    for number, raw in enumerate(lines, start=1):
        if raw is not None and not raw.strip():
            continue
        found.lines += 1
        try:
            entry = _entry(raw, key)
            others.update(name for name in COMMANDS if name in entry)
            with_key += key in entry
            if turn := _new_turn(found, entry, known, number):
                found.by_turn[turn] = None  # what is malformed stays so
                found.by_turn[turn] = _parsed(entry, key, parse)
        except _Unreadable as error:
            if error.turn and known.get(error.turn):
                found.by_turn.setdefault(error.turn, None)
            found.note(ProblemKind.MALFORMED, number, str(error))
        except Malformed as error:
            found.note(ProblemKind.MALFORMED, number, str(error))
    if not with_key:
        raise _wrong_kind(file, key, found.lines, sorted(others))
    if not found.by_turn:
        raise WrongFile(f"{file}: none of its {found.lines:,} lines predicts an utterance of the gold file.")
    return found


def require_key(lines: Iterable[bytes | None], key: str, file: str) -> None:
    """Raise WrongFile where none of the first LOOKED_AT lines has the key, which is found out without a gold; reads up
    to the first that has."""
    others: set[str] = set()
    read = 0
    for number, raw in enumerate(lines, start=1):
        if read >= LOOKED_AT or number > 100 * LOOKED_AT:
            break
        if raw is not None and not raw.strip():
            continue
        read += 1
        try:
            entry = _entry(raw, key)
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
    if len(given) > LONGEST_TEXT:
        raise Malformed(f"“text” has more than {LONGEST_TEXT:,} characters.")
    return tidy(given)


class _Unreadable(Malformed):
    """A line that cannot be read as a whole; `turn` is what its beginning says that it is about."""

    def __init__(self, message: str, turn: TurnKey | None = None) -> None:
        super().__init__(message)
        self.turn = turn


def _entry(raw: bytes | None, key: str) -> dict[str, Any]:
    if raw is None:
        raise Malformed(f"It is longer than {LONGEST_LINE:,} bytes.")
    try:
        text = raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise _Unreadable("It is not UTF-8.", _turn_at_the_beginning(raw)) from None
    try:
        entry = _with_labels(_STRICT.decode(text), key)
        if "\\u" in text:
            json.dumps(entry, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        message = "It holds half of a character (a lone surrogate)."
    except json.JSONDecodeError as error:
        message = f"It is no JSON (column {error.colno})."
    except RecursionError:
        message = "It is nested too deeply."
    except _Unfit as error:
        message = str(error)
    else:
        if isinstance(entry, dict):
            return entry
        raise Malformed("It is no JSON object.")
    raise _Unreadable(message, _turn_at_the_beginning(raw)) from None


def _with_labels(entry: Any, key: str) -> Any:
    """A row of `huggingface` with its labels under the name that a dataset has for them; anything else as it is.

    Raises what the decoder raises for labels that cannot be read.
    """
    if key == "text" or not isinstance(entry, dict) or "nlu" in entry or "actions" in entry:
        return entry
    name = _LABELS_OF.get(str(entry.get("speaker")))
    labels = entry.get("annotation")
    if name is None or not isinstance(labels, str):
        return entry
    return {**entry, name: _STRICT.decode(labels)}


class _Unfit(ValueError):
    """What JSON's grammar allows, or Python's reader, and no prediction may hold; in one sentence."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Unfit(f"It gives {quoted(first_repeated(name for name, _ in pairs), 40)} twice in one object.")
    return found


def _whole_number(digits: str) -> int:
    if len(digits.lstrip("-")) > _LONGEST_NUMBER:
        raise _Unfit(f"It holds a number that is too large ({shortened(digits, 20)}).")
    return int(digits)


def _decimal_number(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise _Unfit(f"It holds a number that is too large ({shortened(digits, 20)}).")
    return number


def _no_number(name: str) -> NoReturn:
    raise _Unfit(f"It holds {name}, which is no JSON.")


_STRICT = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole_number, parse_float=_decimal_number, parse_constant=_no_number
)


def _turn_at_the_beginning(raw: bytes) -> TurnKey | None:
    """What a line that cannot be read is about, where it begins with its two ids."""
    found = _IDS.match(raw[:2_000].decode("utf-8", "replace"))
    if not found:
        return None
    try:
        return str(json.loads(found["id"])), int(found["number"].strip('"'))
    except ValueError:
        return None


def _refuse_long(given: Any, key: str) -> None:
    """Raise Malformed where a name or value below `given` is longer than LONGEST_VALUE; nothing is normalised yet."""
    waiting = [given]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.keys()
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, str) and len(one) > LONGEST_VALUE:
            raise Malformed(f"“{key}” holds a text of more than {LONGEST_VALUE:,} characters.")


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
    if key != "text":
        _refuse_long(entry[key], key)
    try:
        return parse(entry[key])
    except RecursionError:
        raise Malformed("It is nested too deeply.") from None


def _turn_of(entry: Mapping[str, Any]) -> TurnKey:
    dialogue, number = entry.get("dialogue_id", entry.get("id")), entry.get("uttr_id")
    if isinstance(dialogue, int) and not isinstance(dialogue, bool):
        dialogue = str(dialogue)
    if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 10:
        number = int(number)
    if not isinstance(dialogue, str) or not isinstance(number, int) or isinstance(number, bool):
        raise Malformed("It does not say “dialogue_id” (or “id”) and “uttr_id”.")
    return dialogue, number


def _wrong_kind(file: str, key: str, lines: int, others: list[str]) -> WrongFile:
    if not lines:
        return WrongFile(f"{file} is empty; it should hold one JSON object a line.")
    if others:
        message = f"{file} holds “{others[0]}”, not “{key}”; score it with {COMMANDS[others[0]]}."
        return WrongFile(message, others[0])
    if lines >= LOOKED_AT:
        return WrongFile(f"{file} is no file of predictions: none of its first {lines:,} lines has “{key}”.")
    return WrongFile(
        f"{file} is no file of predictions: it should hold one JSON object a line with “dialogue_id”, “uttr_id” "
        f"and “{key}”, or be a dataset like dialogs.json."
    )
