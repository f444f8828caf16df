"""A dialogue's id as part of a file name, on any system.

Windows and macOS take `A` and `a` for one name, macOS also an é of one character and one of two, and Windows keeps
names such as `con` for itself. An id alone says what it is called; only ids of one export that such a system would take
for one another get a sum of their own each, whatever order they come in.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

MAX_NAME_BYTES = 150
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|%]|^\.|[. ]$')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)", re.IGNORECASE)


def file_stem(dialogue_id: str) -> str:
    """What the id is called. A sign that no name can have stands in it as `%` and its bytes, and so does the first of a
    reserved name; a very long id is cut. Two ids never give the same stem to the letter."""
    name = _UNSAFE.sub(lambda found: _in_bytes(found[0]), dialogue_id)
    if _RESERVED.match(name):
        name = _in_bytes(name[0]) + name[1:]
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    return f"{name[:40]}%{_sum(dialogue_id)}"


def file_stems(dialogue_ids: Iterable[str]) -> dict[str, str]:
    """The stem of every id. No two are one on a system that knows neither case nor forms of characters."""
    stems = {one: file_stem(one) for one in dialogue_ids}
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for one, stem in stems.items():
        alike[_folded(stem)].append(one)
    # After the sign of an escape only digits follow otherwise, so that no other id gives such a stem.
    return stems | {one: f"{stems[one]}%-{_sum(one)}" for some in alike.values() if len(some) > 1 for one in some}


def _folded(stem: str) -> str:
    """The same for names that some system takes for one: rather for too many than for too few."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", stem).upper().casefold())


def _in_bytes(sign: str) -> str:
    return "".join(f"%{byte:02X}" for byte in sign.encode())


def _sum(dialogue_id: str) -> str:
    return hashlib.sha256(dialogue_id.encode()).hexdigest()[:32]
