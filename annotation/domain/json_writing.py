"""JSON in the forms that an export has: compact, and with its outermost levels one item a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

# As `json.dumps(…, ensure_ascii=False)`, which makes an encoder anew for every call.
compact = json.JSONEncoder(ensure_ascii=False).encode


_key = lru_cache(maxsize=256)(compact)


def one_a_line(items: Iterable[str], opening: str, closing: str, indent: int = 0) -> str:
    """A list or an object of items that are JSON already, each on a line of its own that begins with `indent` + 1
    blanks."""
    blanks = "\n" + " " * indent
    lines = ("," + blanks + " ").join(items)
    return f"{opening}{blanks} {lines}{blanks}{closing}" if lines else opening + closing


def object_text(values: Iterable[tuple[str, str]]) -> str:
    """The compact text of an object whose values are JSON already."""
    return "{" + ", ".join(f"{_key(key)}: {value}" for key, value in values) + "}"


def indented(value: Any) -> str:
    """JSON for people, one blank a level: only for what is short, since the standard module is slow at it."""
    return json.dumps(value, indent=1, ensure_ascii=False)
