"""JSON from people's files: one sentence with the line where it breaks, no key silently lost, nothing unbounded."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from annotation.domain.notices import Notice, Severity, quoted
from annotation.domain.text_decoding import UnreadableFile

# Two signs of text can need a hundred bytes of memory, and a second for a million values.
MAX_CONTAINERS = 1_000_000  # objects and lists in one text
MAX_COMMAS = 3_000_000
_MAX_DIGITS = 18  # of a whole number: what any database holds


class RepeatedKeys(dict[str, Any]):
    """An object that gave a key more than once; it holds the first value of each, `repeated` names the keys."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__()
        repeated: dict[str, None] = {}
        for key, value in pairs:
            if key in self:
                repeated[key] = None
            else:
                self[key] = value
        self.repeated = tuple(repeated)


class _Unfit(ValueError):
    """A number no dialogue holds."""


def parse_json(text: str, file: str, *, first_line: int = 1) -> Any:
    """The value; objects with a repeated key come as `RepeatedKeys`. `first_line` is where the text begins in the file.

    Raises `UnreadableFile` for broken or truncated JSON, nesting that is too deep, and numbers that are too large.
    """
    refuse_too_many_values(text, file)
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            message = "The JSON breaks off here and is incomplete; fetch or save the file again."
        else:
            found = quoted(text[error.pos :].split("\n", 1)[0], 20)
            message = f"The JSON is damaged in column {error.colno}, at {found}; correct it there."
        raise _refusal(file, line, message) from None
    except _Unfit as error:
        line = first_line + text.count("\n", 0, max(text.find(str(error)), 0))
        message = f"The number {quoted(str(error), 20)} is too large or no number; correct it."
        raise _refusal(file, line, message) from None
    except RecursionError:
        message = "The JSON is nested too deeply for a file of dialogues; check that it is the right file."
        raise _refusal(file, first_line, message) from None


def refuse_too_many_values(text: str, file: str) -> None:
    """Raises `UnreadableFile` for a text whose values would need far more memory than the text."""
    if text.count("{") + text.count("[") > MAX_CONTAINERS:
        raise _refusal(file, 0, f"The JSON has more than {MAX_CONTAINERS:,} objects and lists; split the file.")
    if text.count(",") > MAX_COMMAS:
        raise _refusal(file, 0, f"The JSON has more than {MAX_COMMAS:,} values; split the file.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else RepeatedKeys(pairs)


def _whole_number(digits: str) -> int:
    if len(digits.lstrip("-")) > _MAX_DIGITS:
        raise _Unfit(digits)
    return int(digits)


def _decimal_number(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise _Unfit(digits)
    return number


def _no_number(name: str) -> NoReturn:
    raise _Unfit(name)


def _refusal(file: str, line: int, message: str) -> UnreadableFile:
    return UnreadableFile(Notice(Severity.ERROR, file, line, message))


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole_number, parse_float=_decimal_number, parse_constant=_no_number
)
