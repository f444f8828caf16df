"""Readings that this process has just read or written, so that a save need not read two hundred labels again.

A reading is kept under the label set's version and the time of its last change: another process's changes give another
version, and with it no match. What a transaction reads or writes is only kept once that is committed. After a rollback
its version number comes back with other labels under it, and whoever carried on from there would lose them.
"""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime
from threading import Lock

from django.db import transaction

from annotation.domain.labels import Reading
from annotation.models import LabelSet

Stamp = tuple[int, datetime]
KEPT = 64

_recent: OrderedDict[int, tuple[Stamp, Reading]] = OrderedDict()
_lock = Lock()


def stamp_of(label_set: LabelSet) -> Stamp:
    """What identifies the present version of a label set."""
    return label_set.version, label_set.changed_at


def recall(label_set_id: int, stamp: Stamp) -> Reading | None:
    """The reading of exactly this version, if this process knows it."""
    known = _recent.get(label_set_id)
    return known[1] if known and known[0] == stamp else None


def recall_older(label_set_id: int, version: int) -> tuple[int, Reading] | None:
    """An older version that this process knows, and its number."""
    known = _recent.get(label_set_id)
    return (known[0][0], known[1]) if known and known[0][0] < version else None


def forget() -> None:
    """Know nothing, as a process that has just started."""
    _recent.clear()


def remember(label_set_id: int, stamp: Stamp, reading: Reading) -> None:
    """Keep a reading as soon as what it was read from is committed; the ones that were used longest ago make room."""
    transaction.on_commit(lambda: _keep(label_set_id, stamp, reading))


def _keep(label_set_id: int, stamp: Stamp, reading: Reading) -> None:
    with _lock:
        _recent[label_set_id] = (stamp, reading)
        _recent.move_to_end(label_set_id)
        while len(_recent) > KEPT:
            _recent.popitem(last=False)
