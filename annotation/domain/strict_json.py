"""JSON of files that nobody should have altered: whatever two programs could read in two ways is refused.

Unlike `json_text`, which reads what people bring, it knows no largest number of values: an export may be large.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

MAX_DIGITS = 100  # of a whole number
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")


class BadJson(ValueError):
    """JSON that is not read, in one sentence."""


def read_json(data: bytes) -> Any:
    """The value. Raises BadJson for what is no JSON in UTF-8, for an object that has a key twice, numbers that are none
    or endless, halves of characters, and what is nested too deeply."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise BadJson("It is no text in UTF-8.") from None
    try:
        found = _DECODER.decode(text)
        if _ESCAPED.search(text) and _SURROGATE.search(json.dumps(found, ensure_ascii=False)):
            raise BadJson("It holds half of a character (a lone surrogate), which is no text.")
    except json.JSONDecodeError:
        raise BadJson("It is no JSON; it was cut off or altered.") from None
    except RecursionError:
        raise BadJson("It is nested too deeply.") from None
    return found


def printable(text: str) -> str:
    """The text as any terminal and file takes it: halves of characters and bytes of no text as `\\udc80`."""
    return text.encode("utf-8", "backslashreplace").decode()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise BadJson(f"It has the key “{printable(twice[:80])}” twice in one object.")
    return found


def _whole_number(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise BadJson(f"It has a number of {len(digits):,} digits.")
    return int(digits)


def _decimal_number(digits: str) -> float:
    found = float(digits)
    if found in (float("inf"), float("-inf")):
        raise BadJson(f"It has the number {digits[:20]}, which is too large.")
    return found


def _no_number(name: str) -> NoReturn:
    raise BadJson(f"It has {name}, which is no number of JSON.")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole_number, parse_float=_decimal_number, parse_constant=_no_number
)
