"""Several values in one text, joined by commas; a value that holds a comma stands in quotes, as in CSV (RFC 4180)."""

from __future__ import annotations

from collections.abc import Iterable


def join_values(values: Iterable[str]) -> str:
    """`["cough", "Tylenol, extra strength"]` becomes `cough,"Tylenol, extra strength"`."""
    return ",".join(_quoted(value) for value in values)


def split_values(text: str) -> list[str]:
    """The values of a joined text, trimmed; empty ones stay, as a place in a list of statuses may be empty.

    Quotes that do not enclose a whole value are ordinary characters, so that any text can be split.
    """
    values: list[str] = []
    rest: str | None = text
    while rest is not None:
        value, rest = _first(rest)
        values.append(value)
    return values


def _quoted(value: str) -> str:
    if "," in value or value.startswith('"'):
        return '"' + value.replace('"', '""') + '"'
    return value


def _first(text: str) -> tuple[str, str | None]:
    """The first value and what follows its comma, None where nothing does."""
    start = text.lstrip()
    if start.startswith('"'):
        found = _first_quoted(start)
        if found:
            return found
    value, comma, rest = text.partition(",")
    return value.strip(), rest if comma else None


def _first_quoted(text: str) -> tuple[str, str | None] | None:
    """The value in quotes at the start of `text`, None when they do not close before a comma or the end."""
    end = 1
    while (end := text.find('"', end)) >= 0 and text[end : end + 2] == '""':
        end += 2
    if end < 0:
        return None
    value, rest = text[1:end].replace('""', '"'), text[end + 1 :].lstrip()
    if rest and not rest.startswith(","):
        return None
    return value, rest[1:] if rest else None
