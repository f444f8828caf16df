"""Agreement on intents: which of them an utterance has, one by one and as a set.

An intent counts once an utterance, however many labels carry it. An intent that annotators name themselves counts
under its name.
"""

from __future__ import annotations

import numpy as np

from annotation.domain.agreement_coding import Coded, Floats, Ints
from annotation.domain.agreement_counts import Counts, Path, Shared, Tally
from annotation.domain.agreement_figures import Alpha, CategoryKappa, Figure, f_figure, table_figures

INTENTS: Path = ("intents",)
SAME: Path = ("intents", "same_set")
DIFFERENT: Path = ("intents", "different_set")
KAPPA: Path = ("intents", "kappa_whole_set")
_SETS_A: Path = ("intents", "sets_a")
_SETS_B: Path = ("intents", "sets_b")
_VALUES: Path = ("intents", "values")
_FULL, _CONTAINED, _OVERLAPPING = 1.0, 2 / 3, 1 / 3


def masi_distance(a: frozenset[str], b: frozenset[str]) -> float:
    """δ = 1 − (|A∩B| / |A∪B|)·M, M = 1 equal, 2/3 contained, 1/3 overlapping; δ(∅,∅) = 0, δ(∅,X) = 1."""
    if a == b:
        return 0.0
    common = len(a & b)
    likeness = _CONTAINED if a <= b or b <= a else _OVERLAPPING
    return 1 - common / len(a | b) * likeness


def count_intents(coded: Coded, counts: Counts) -> list[Figure]:
    """Adds the columns and tallies of the intents; gives their figures."""
    a, b = coded.a.sets, coded.b.sets
    same = a == b
    counts.add(SAME, same)
    counts.add(DIFFERENT, ~same)
    items = np.arange(coded.size)
    counts.tallies[_SETS_A] = Tally(items, a, len(coded.sets))
    counts.tallies[_SETS_B] = Tally(items, b, len(coded.sets))
    has = _membership(coded)
    counts.add_shared((*INTENTS, "micro"), _shared(has[a], has[b]))
    figures = [
        Figure(KAPPA, CategoryKappa((SAME,), (SAME, DIFFERENT), _SETS_A, _SETS_B), (DIFFERENT,), headline=True),
        *_alphas(coded, counts),
        f_figure((*INTENTS, "micro_f"), (*INTENTS, "micro"), headline=True),
    ]
    for number, intent in enumerate(coded.intents):
        path = (*INTENTS, "by_intent", intent)
        counts.add_table(path, has[a, number], has[b, number])
        figures += table_figures(path)
    return figures


def _alphas(coded: Coded, counts: Counts) -> list[Figure]:
    """α with MASI and with sets that are equal or not. With three annotators of a dialogue, over pairable values."""
    masi = _masi(coded)
    nominal = 1.0 - np.eye(len(coded.sets))
    share_a, share_b = _shares(coded)
    items = np.arange(coded.size)
    counts.tallies[_VALUES] = Tally(
        np.concatenate([items, items]),
        np.concatenate([coded.a.sets, coded.b.sets]),
        len(coded.sets),
        np.concatenate([share_a, share_b]),
    )
    figures = []
    for name, distance in (("alpha_masi", masi), ("alpha_whole_set", nominal)):
        between = distance[coded.a.sets, coded.b.sets]
        path = counts.add((*INTENTS, f"{name}_observed"), (share_a + share_b) * between, shown=False)
        figures.append(
            Figure((*INTENTS, name), Alpha(path, (_VALUES,), distance), (DIFFERENT,), headline=name == "alpha_masi")
        )
    return figures


def pair_alpha(figure: Figure, coded: Coded, counts: Counts) -> Figure:
    """The same α between two annotators alone, whoever else read the dialogue."""
    formula = figure.formula
    if not isinstance(formula, Alpha):
        return figure
    path: Path = (*figure.path, "pair")
    if path not in counts.columns:
        counts.add(path, 2 * formula.distance[coded.a.sets, coded.b.sets], shown=False)
    return Figure(figure.path, Alpha(path, (_SETS_A, _SETS_B), formula.distance), figure.behind)


def _shares(coded: Coded) -> tuple[Floats, Floats]:
    """By item, one over the number of partners that A's (B's) value has at this utterance: 1 unless three read it."""
    places = coded.dialogue_of_unit[coded.unit] * (1 + int(coded.position.max(initial=0))) + coded.position
    people = sorted({name for pair in coded.pairs for name in pair})
    side = np.array([[people.index(name) for name in pair] for pair in coded.pairs], dtype=np.int64).reshape(-1, 2)
    who = side[coded.pair_of_unit[coded.unit]]
    values = (places[:, None] * max(1, len(people)) + who).T.ravel()
    _, inverse, partners = np.unique(values, return_inverse=True, return_counts=True)
    share = 1.0 / partners[inverse]
    return share[: coded.size], share[coded.size :]


def _membership(coded: Coded) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """sets × intents: whether the set has the intent."""
    rows = [[bool(mask >> number & 1) for number in range(len(coded.intents))] for mask in coded.sets]
    return np.array(rows, dtype=bool).reshape(len(coded.sets), len(coded.intents))


def _shared(
    a: np.ndarray[tuple[int, int], np.dtype[np.bool_]], b: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
) -> Shared:
    both: Ints = (a & b).sum(axis=1)
    return Shared(both, a.sum(axis=1) - both, b.sum(axis=1) - both)


def _masi(coded: Coded) -> Floats:
    """sets × sets: `masi_distance` of every two sets that occur."""
    names = [frozenset(name for number, name in enumerate(coded.intents) if mask >> number & 1) for mask in coded.sets]
    rows = [[masi_distance(one, other) for other in names] for one in names]
    return np.array(rows, dtype=np.float64).reshape(len(names), len(names))


def whole_set_kappa(a: Ints, b: Ints) -> float | None:
    """Cohen's κ over set codes by scikit-learn; None without items or where all sets are the same one."""
    if len(a) == 0 or ((a[0] == a).all() and (a[0] == b).all()):
        return None
    # Imported here: it takes a second, which every page of the portal would otherwise pay for at its start.
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

    size = 1 + int(max(a.max(), b.max()))
    joint, times = np.unique(a * size + b, return_counts=True)
    return float(cohen_kappa_score(joint // size, joint % size, sample_weight=times))
