"""Agreement on slot-value pairs: a ladder of F, the decisions that can be compared by κ, slots, and closed lists.

The intent of a label plays no part here. A label with a slot and no value counts as the pair (slot, "").
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

import numpy as np

from annotation.domain.agreement_classes import Alignment
from annotation.domain.agreement_coding import Coded, Entry, Ints, Side
from annotation.domain.agreement_counts import Counts, Path, Tally, shared
from annotation.domain.agreement_figures import CategoryKappa, Figure, f_figure, table_figures, table_kappa
from annotation.domain.mentions import RATING
from annotation.domain.questionnaire import Field, Kind, Questionnaire, Slot

VALUES: Path = ("slot_values",)
RUNGS: dict[str, Callable[[Entry], Hashable]] = {
    "slot": lambda entry: entry.slot,
    "slot_value": lambda entry: (entry.slot, entry.value),
    "slot_cui": lambda entry: (entry.slot, entry.concept),
    "slot_value_attributes": lambda entry: (entry.slot, entry.value, entry.status, entry.attributes),
}
MAIN_RUNG = "slot_value"
NONE = ""  # the category of a closed question that was left open
_Bools = np.ndarray[tuple[int], np.dtype[np.bool_]]
_Keyed = tuple[Ints, Ints]  # (items, keys)
Rows = np.ndarray[tuple[int, int], np.dtype[np.int64]]  # one column for each thing that both annotators said


def count_values(questionnaire: Questionnaire, coded: Coded, alignment: Alignment, counts: Counts) -> list[Figure]:
    """Adds all columns and tallies of slot-value pairs; gives their figures."""
    slotted = np.array([bool(entry.slot) for entry in coded.entries], dtype=bool)
    figures = [f_figure((*VALUES, "f"), (*VALUES, "ladder", MAIN_RUNG), headline=True)]
    for rung, key in RUNGS.items():
        keys = _numbered(coded.entries, key)
        path = (*VALUES, "ladder", rung)
        counts.add_shared(path, shared(coded.size, _keyed(coded.a, keys, slotted), _keyed(coded.b, keys, slotted)))
        figures.append(f_figure((*path, "f"), path))
    pair_keys = _numbered(coded.entries, RUNGS[MAIN_RUNG])
    figures.append(_decisions(coded, counts, _keyed(coded.a, pair_keys, slotted), _keyed(coded.b, pair_keys, slotted)))
    figures += _by_slot(coded, counts, pair_keys)
    return figures + _closed_lists(questionnaire, coded, alignment, counts)


def _numbered(entries: list[Entry], key: Callable[[Entry], Hashable]) -> Ints:
    """By code of an entry, the number of its key."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key(entry), len(numbers)) for entry in entries], dtype=np.int64)


def _keyed(side: Side, keys: Ints, wanted: _Bools) -> _Keyed:
    """One side's items and keys, of the wanted codes only."""
    chosen = wanted[side.codes]
    return side.items[chosen], keys[side.codes[chosen]]


def _decisions(coded: Coded, counts: Counts, a: _Keyed, b: _Keyed) -> Figure:
    """κ over utterance × pair, where the pairs are those that either annotator used anywhere in that dialogue.

    Any bound on what could have been said would do for κ, and the figure depends on it; this one is stated so that it
    can be compared. F, which needs no such bound, is the primary figure.
    """
    found = shared(coded.size, a, b, once=True)
    span = 1 + max((int(keys.max()) for _, keys in (a, b) if len(keys)), default=0)
    used = np.unique(np.concatenate([coded.unit[items] * span + keys for items, keys in (a, b)]))
    pairs_of_unit = np.bincount(used // span, minlength=len(coded.units))
    neither = pairs_of_unit[coded.unit] - found.both - found.only_a - found.only_b
    path = (*VALUES, "decisions")
    for name, column in (("a", found.both), ("b", found.only_a), ("c", found.only_b), ("d", neither)):
        counts.add((*path, name), column)
    used_by = tuple((*path, name) for name in "abc")
    return Figure((*VALUES, "kappa"), table_kappa(path), used_by[1:], used_by, headline=True)


def _by_slot(coded: Coded, counts: Counts, pair_keys: Ints) -> list[Figure]:
    """For each slot that was used: whether the utterance has it (a 2×2 table), and F over its values."""
    figures = []
    slots = np.array([entry.slot for entry in coded.entries], dtype=object)
    for slot in sorted({entry.slot for entry in coded.entries} - {""}):
        chosen = np.asarray(slots == slot, dtype=bool)
        a, b = _keyed(coded.a, pair_keys, chosen), _keyed(coded.b, pair_keys, chosen)
        path = (*VALUES, "by_slot", slot)
        counts.add_table((*path, "presence"), _present(a, coded.size), _present(b, coded.size))
        counts.add_shared(path, shared(coded.size, a, b))
        figures += [*table_figures((*path, "presence")), f_figure((*path, "f"), path)]
    return figures


def _present(side: _Keyed, size: int) -> _Bools:
    present = np.zeros(size, dtype=bool)
    present[side[0]] = True
    return present


# --- closed lists, on entries with the same slot and value ---


def _closed_lists(questionnaire: Questionnaire, coded: Coded, alignment: Alignment, counts: Counts) -> list[Figure]:
    """κ of the status and of every other closed question, where both annotators gave information on the same thing.

    A question left open counts as a category of its own; where both left it open they gave no answer that could be the
    same, and these are counted apart (`blank`). Not counted: where it is not asked of this speaker, and
    inquiries, which ask instead of answering. A list of rated values counts each value that both annotators listed.
    """
    figures = []
    matched = _informing(questionnaire, coded, alignment)
    slot_of = np.array([entry.slot for entry in coded.entries], dtype=object)
    for slot in questionnaire.slots:
        here = matched[:, np.asarray(slot_of[matched[1]] == slot.name, dtype=bool)]
        for question in slot.fields if here.size else ():
            found = here[:, :0]
            if question.kind is Kind.CHOICE:
                found = _answers(coded, slot, question, here)
            elif question.kind is Kind.RATED_VALUES:
                found = _ratings(coded, question, here)
            if found.size:
                path = (*VALUES, "closed_lists", f"{slot.name}.{question.name}")
                figures.append(_category_figure(path, found, counts))
    return figures


def _informing(questionnaire: Questionnaire, coded: Coded, alignment: Alignment) -> Rows:
    """Matched entries of which neither asks: rows of items, A's codes, B's codes."""
    rows = np.stack(
        [
            coded.a.items[alignment.matched_a],
            coded.a.codes[alignment.matched_a],
            coded.b.codes[alignment.matched_b],
        ]
    )
    asking = {intent.name for intent in questionnaire.intents if intent.asks}
    informs = np.array([entry.intent not in asking for entry in coded.entries], dtype=bool)
    return rows[:, informs[rows[1]] & informs[rows[2]]]


def _answers(coded: Coded, slot: Slot, question: Field, rows: Rows) -> Rows:
    """Rows of items and of what both chose there, as numbers of answers; only where the speaker is asked it."""
    if question.speakers:
        offered = np.array([speaker in question.speakers for speaker in coded.speakers], dtype=bool)
        rows = rows[:, offered[coded.speaker[rows[0]]]]
    numbers: dict[str, int] = {NONE: 0}
    answer_of = np.zeros(len(coded.entries), dtype=np.int64)
    for code in np.unique(rows[1:]).tolist():
        entry = coded.entries[code]
        answer = entry.status if question.name == slot.status else dict(entry.attributes).get(question.name, NONE)
        answer_of[code] = numbers.setdefault(str(answer), len(numbers))
    return np.stack([rows[0], answer_of[rows[1]], answer_of[rows[2]]])


def _ratings(coded: Coded, question: Field, rows: Rows) -> Rows:
    """Rows of items and of both ratings, for each value that both listed."""
    numbers: dict[str, int] = {NONE: 0}
    rated = {code: _rated(coded.entries[code], question) for code in np.unique(rows[1:]).tolist()}
    found = []
    for item, code_a, code_b in rows.T.tolist():
        a, b = rated[code_a], rated[code_b]
        for value in a.keys() & b.keys():
            found.append((item, numbers.setdefault(a[value], len(numbers)), numbers.setdefault(b[value], len(numbers))))
    return np.array(found, dtype=np.int64).reshape(-1, 3).T


def _rated(entry: Entry, question: Field) -> dict[str, str]:
    """Value → rating, out of attributes like `characteristics:yes`."""
    return dict(_rated_pairs(entry, question.name + RATING))


def _rated_pairs(entry: Entry, prefix: str) -> Iterator[tuple[str, str]]:
    for name, values in entry.attributes:
        if name.startswith(prefix):
            for value in values:
                yield value, name[len(prefix) :]


def _category_figure(path: Path, found: Rows, counts: Counts) -> Figure:
    items, a, b = found
    size = 1 + int(max(a.max(), b.max()))
    blank = (a == 0) & (b == 0)  # the number of NONE
    chosen = {"same": (a == b) & ~blank, "blank": blank, "different": a != b}
    same, silent, different = (
        counts.add((*path, name), np.bincount(items[which], minlength=counts.size)) for name, which in chosen.items()
    )
    columns = same, silent, different
    tallies = (*path, "a"), (*path, "b")
    counts.tallies[tallies[0]] = Tally(items, a, size)
    counts.tallies[tallies[1]] = Tally(items, b, size)
    return Figure((*path, "kappa"), CategoryKappa((same, silent), columns, *tallies), (different,), columns)
