"""What commands that draw splits have in common: the words of a shell as seeds, lists and text."""

from __future__ import annotations

import re

from django.core.management.base import CommandError

from annotation.domain.strict_json import printable
from annotation.services.export_readings import MAX_SEED


def seed_of(text: str | int) -> int:
    """A random seed as the pages take it. Raises CommandError."""
    given = str(text)
    if not re.fullmatch(r"[0-9]{1,10}", given) or int(given) > MAX_SEED:
        raise CommandError(f"“{printable(given[:40])}” is no random seed; it is a whole number from 0 to {MAX_SEED}.")
    return int(given)


def listed(text: str) -> list[str]:
    """The parts of `a,b`, without empty ones."""
    return [part.strip() for part in text.split(",") if part.strip()]
