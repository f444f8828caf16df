"""Text that people give on its way in: from a form, whose line ends are CR LF, a program, or a shell."""

from __future__ import annotations


class BrokenText(ValueError):
    """Half of a character, or bytes that are no UTF-8, in one sentence."""


def plain_lines(text: str, what: str) -> str:
    """The text with LF as its only line end. Raises BrokenText, which begins with `what` it is."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BrokenText(f"{what} is no text in UTF-8; write it anew.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
