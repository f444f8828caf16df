"""Agreement on the patient's state, as it stands at every patient turn that both annotators submitted.

Both states are built by the one rule of `state` from the utterances both submitted, so that a missing utterance is no
disagreement. Two entries are the same when slot, value, status and all attributes are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.domain.agreement_coding import ASKED, Coded, Entry, Ints, Side
from annotation.domain.agreement_counts import Counts, Path, Shared
from annotation.domain.agreement_figures import Figure, Ratio, f_figure
from annotation.domain.mentions import INFORMING, SUBJECT
from annotation.domain.state import Mention
from annotation.domain.state_changes import Changes, Key, Standing, changes

STATE: Path = ("state",)
_Bools = np.ndarray[tuple[int], np.dtype[np.bool_]]


def count_states(coded: Coded, counts: Counts) -> list[Figure]:
    """Adds the columns of the state; gives the share of turns with equal states, and F over entries."""
    subject = coded.speakers.index(SUBJECT) if SUBJECT in coded.speakers else -1
    turns = coded.speaker == subject
    steps = np.zeros((coded.size, 3), dtype=np.int64)  # entries in both states, only in A's, only in B's
    told_a, told_b = _told(coded, coded.a, turns), _told(coded, coded.b, turns)
    differing, in_both = _differing(told_a, told_b), np.intersect1d(told_a.things, told_b.things)
    _begin(told_a, np.setdiff1d(in_both, differing), steps[:, 0])
    _begin(told_a, np.setdiff1d(told_a.things, in_both), steps[:, 1])
    _begin(told_b, np.setdiff1d(told_b.things, in_both), steps[:, 2])
    differing = np.intersect1d(differing, in_both)
    mentions_a, mentions_b = _mentions(coded, told_a, differing), _mentions(coded, told_b, differing)
    for unit in mentions_a.keys() | mentions_b.keys():
        _replay(changes(mentions_a.get(unit, ())), changes(mentions_b.get(unit, ())), steps)
    table = _summed_up(coded, steps)
    table[~turns] = 0
    equal = turns & (table[:, 1] == 0) & (table[:, 2] == 0)
    same, different = counts.add((*STATE, "equal"), equal), counts.add((*STATE, "different"), turns & ~equal)
    counts.add_shared(STATE, Shared(table[:, 0], table[:, 1], table[:, 2]))
    return [
        Figure(
            (*STATE, "share"),
            Ratio(((1, same),), ((1, same), (1, different))),
            (different,),
            (same, different),
            headline=True,
        ),
        f_figure((*STATE, "f"), STATE, headline=True),
    ]


@dataclass(frozen=True, slots=True)
class _Told:
    """What one annotator's labels tell: at which item, with which code, of which thing (unit × slot × value)."""

    items: Ints
    codes: Ints
    things: Ints


def _told(coded: Coded, side: Side, turns: _Bools) -> _Told:
    informs = np.array([entry.intent == INFORMING and entry.tracked for entry in coded.entries], dtype=bool)
    keys: dict[Key, int] = {}
    key_of = np.array([keys.setdefault((one.slot, one.value), len(keys)) for one in coded.entries], dtype=np.int64)
    chosen = turns[side.items] & informs[side.codes]
    items, codes = side.items[chosen], side.codes[chosen]
    return _Told(items, codes, coded.unit[items] * len(keys) + key_of[codes])


def _differing(a: _Told, b: _Told) -> Ints:
    """The things of which the annotators do not tell the same throughout.

    The rule of the state looks at each thing for itself, so of those that both tell only these need to be replayed.
    Among them are things told twice in one utterance, where the order matters.
    """
    codes = 1 + int(max(a.codes.max(initial=0), b.codes.max(initial=0)))
    ids = np.setxor1d(a.items * codes + a.codes, b.items * codes + b.codes)
    found = [side.things[np.isin(side.items * codes + side.codes, ids)] for side in (a, b)]
    for side in (a, b):
        order = np.lexsort((side.things, side.items))
        again = (np.diff(side.items[order]) == 0) & (np.diff(side.things[order]) == 0)
        found.append(side.things[order][1:][again])
    return np.unique(np.concatenate(found))


def _begin(told: _Told, things: Ints, steps: Ints) -> None:
    """Adds one to the item where each of these things is told first."""
    found, first = np.unique(told.things, return_index=True)
    np.add.at(steps, told.items[first[np.isin(found, things)]], 1)


def _summed_up(coded: Coded, steps: Ints) -> Ints:
    """The steps summed up from the beginning of each dialogue."""
    until = np.concatenate([np.zeros((1, 3), dtype=np.int64), np.cumsum(steps, axis=0)])
    before = until[np.searchsorted(coded.unit, np.arange(len(coded.units)))]
    result: Ints = until[1:] - before[coded.unit]
    return result


def _mentions(coded: Coded, told: _Told, things: Ints) -> dict[int, list[Mention]]:
    """By unit, the mentions of these things. A mention's position is its item, so the order is the dialogue's."""
    result: dict[int, list[Mention]] = {}
    chosen = np.isin(told.things, things)
    items = told.items[chosen]
    for item, code, unit in zip(items.tolist(), told.codes[chosen].tolist(), coded.unit[items].tolist(), strict=True):
        entry = coded.entries[code]
        mention = Mention(item, entry.slot, entry.value or None, entry.status, _attributes(entry))
        result.setdefault(unit, []).append(mention)
    return result


def _attributes(entry: Entry) -> dict[str, str | tuple[str, ...]]:
    return {name: value for name, value in entry.attributes if name != ASKED}


def _replay(a: Changes, b: Changes, steps: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> None:
    """Adds to the row of every item that changes a state by how much the entries in both, only A's, only B's change."""
    state_a: dict[Key, Standing] = {}
    state_b: dict[Key, Standing] = {}
    before = (0, 0, 0)
    both = 0
    for item in sorted(a.keys() | b.keys()):
        set_a, set_b = a.get(item, ()), b.get(item, ())
        touched = {key for key, _ in set_a} | {key for key, _ in set_b}
        both -= _same(touched, state_a, state_b)
        state_a.update(set_a)
        state_b.update(set_b)
        both += _same(touched, state_a, state_b)
        now = (both, len(state_a) - both, len(state_b) - both)
        steps[item] += (now[0] - before[0], now[1] - before[1], now[2] - before[2])
        before = now


def _same(keys: set[Key], a: dict[Key, Standing], b: dict[Key, Standing]) -> int:
    return sum(1 for key in keys if key in a and a[key] == b.get(key))
