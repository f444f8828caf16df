"""A value of JSON that knows its place, read as what it has to be: text, a whole number, a list, an object.

    manifest = Given(found, "")
    sizes = [one.fields("path", "bytes")["bytes"].whole() for one in manifest.fields("files")["files"].items()]

Whatever is of another type is a Misread with one sentence that names the place, such as “files[3].bytes”.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any


class Misread(ValueError):
    """A value of another type than it has to be, in one sentence."""


@dataclass(frozen=True, slots=True)
class Given:
    """`place` is the path to the value, "" for the whole."""

    value: Any
    place: str = ""

    def text(self, pattern: str = "") -> str:
        """A text, which the whole of `pattern` describes where there is one."""
        if not isinstance(self.value, str):
            raise self.misread("is no text")
        if "\0" in self.value or (pattern and not re.fullmatch(pattern, self.value)):
            raise self.misread(f"is “{self.value[:80]}”, which it cannot be".replace("\0", "\\0"))
        return self.value

    def one_of(self, known: Collection[str]) -> str:
        text = self.text()
        if text not in known:
            raise self.misread(f"is “{text[:80]}”, which is none of {', '.join(known)}")
        return text

    def whole(self, least: int | None = 0) -> int:
        """A whole number, by default not negative."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.misread("is no whole number")
        if least is not None and self.value < least:
            raise self.misread(f"is {self.value}, less than {least}")
        return self.value

    def truth(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.misread("is neither true nor false")
        return self.value

    def items(self) -> list[Given]:
        if not isinstance(self.value, list):
            raise self.misread("is no list")
        return [Given(one, f"{self.place}[{number}]") for number, one in enumerate(self.value)]

    def entries(self) -> dict[str, Given]:
        """What an object of any keys has."""
        if not isinstance(self.value, dict):
            raise self.misread("is no object")
        return {key: Given(one, f"{self.place}.{key}" if self.place else key) for key, one in self.value.items()}

    def fields(self, *names: str, optional: Collection[str] = ()) -> dict[str, Given]:
        """What an object has of exactly these keys, those that can be left out aside."""
        found = self.entries()
        odd = sorted(found.keys() - {*optional} ^ {*names})
        if odd:
            field = f"{self.place}.{odd[0]}" if self.place else odd[0]
            raise Misread(f"Its field “{field[:80]}” is {'missing' if odd[0] in names else 'unknown'}.")
        return found

    def misread(self, what: str) -> Misread:
        return Misread(f"“{self.place}” {what}." if self.place else f"It {what}.")
