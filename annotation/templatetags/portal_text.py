"""Filters for numbers, and for texts that were written in a file with lines of some width."""

from __future__ import annotations

from django import template

register = template.Library()


@register.filter
def paragraphs(text: str) -> list[str]:
    """The paragraphs, parted by empty lines; line ends inside them are only where the file's lines were full."""
    parts = (" ".join(part.split()) for part in text.split("\n\n"))
    return [part for part in parts if part]


@register.filter
def thousands(number: object) -> str:
    """1475 as `1,475`; what is no whole number as it is."""
    return f"{number:,}" if isinstance(number, int) else str(number)
