"""Two readings become gold: what both agree on is accepted, a third person decides the rest.

The way of one utterance: `align` puts the labels of A and B side by side, `shuffled` hides who is who while they are
looked at, `unblinded` turns a choice back, `resolve` makes the gold labels, and `fingerprint` tells later whether the
labels it was made from are still the same.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from annotation.domain.alignment import Closeness, Outcome, Pairing, align, align_readings
from annotation.domain.label_content import exact_content
from annotation.domain.label_differences import Difference, DifferenceKind, SameConcept, Voice
from annotation.domain.labels import Label

__all__ = [
    "AdjudicationError",
    "Closeness",
    "Decision",
    "Difference",
    "DifferenceKind",
    "GoldLabel",
    "Outcome",
    "Pairing",
    "Provenance",
    "Resolution",
    "SameConcept",
    "Shown",
    "Voice",
    "align",
    "align_readings",
    "changed_positions",
    "fingerprint",
    "is_exchanged",
    "resolve",
    "shuffled",
    "unblinded",
    "undecided",
]


class AdjudicationError(ValueError):
    """A decision that does not fit what it decides; one sentence says why."""


class Resolution(StrEnum):
    """What becomes of a pairing."""

    AGREED = "agreed"
    A = "A"
    B = "B"
    BOTH = "both"
    EDITED = "edited"
    NEW = "new"
    NONE = "none"


class Provenance(StrEnum):
    """Where a gold label comes from."""

    AGREED = "agreed"
    A = "A"
    B = "B"
    EDITED = "edited"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class Decision:
    """`labels` are what was edited or newly written, and nothing with any other resolution."""

    resolution: Resolution
    labels: tuple[Label, ...] = ()
    reason: str = ""
    error_type: str = ""


@dataclass(frozen=True, slots=True)
class GoldLabel:
    """One label of the gold. `sources` are the ids of the labels it was decided from, where they have one."""

    label: Label
    provenance: Provenance
    sources: tuple[str, ...] = ()
    reason: str = ""
    error_type: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A pairing as the adjudicator sees it: A and B may be exchanged, and nothing on the labels tells whose they are.

    `number` is the place of the pairing in what was shuffled. `exchanged` must not reach the page.
    """

    number: int
    pairing: Pairing
    exchanged: bool


def resolve(
    pairings: Sequence[Pairing], decisions: Mapping[str, Decision], added: Iterable[Label] = ()
) -> list[GoldLabel]:
    """The gold labels of what is decided so far, in the order of the pairings, `added` ones at the end.

    `decisions` go by `Pairing.key`. What both agree on needs none and is taken in A's spelling; another pairing without
    a decision gives nothing yet (see `undecided`). Gold labels have no id, and a rank that counts within their
    utterance. Raises AdjudicationError for a decision that does not fit its pairing, or belongs to none.
    """
    known = {pairing.key for pairing in pairings}
    strange = sorted(set(decisions) - known)
    if strange:
        raise AdjudicationError(f"The decision {strange[0]} is about labels that have changed since; decide again.")
    gold: list[GoldLabel] = []
    for pairing in pairings:
        decision = decisions.get(pairing.key)
        if decision is None and pairing.outcome is Outcome.AGREED:
            decision = Decision(Resolution.AGREED)
        if decision is not None:
            _check(pairing, decision)
            gold.extend(_decided(pairing, decision))
    gold.extend(GoldLabel(label, Provenance.NEW) for label in added)
    return _numbered(gold)


def undecided(pairings: Sequence[Pairing], decisions: Mapping[str, Decision]) -> list[Pairing]:
    """The conflicts that still wait for a decision."""
    return [pairing for pairing in pairings if pairing.outcome is not Outcome.AGREED and pairing.key not in decisions]


def shuffled(pairings: Sequence[Pairing], seed: int | str) -> list[Shown]:
    """The pairings of one or several utterances with the two sides exchanged or not, by lot for each utterance.

    Within an utterance the sides stay together, so that both readings can be seen as a whole; its pairings come in
    drawn order, since labels that stand alone would otherwise give A away by standing first. The same `seed` shows the
    same; it should hold something that nobody outside knows.
    """
    by_position: dict[int, list[tuple[int, Pairing]]] = {}
    for number, pairing in enumerate(pairings):
        by_position.setdefault(pairing.position, []).append((number, pairing))
    shown: list[Shown] = []
    for position, group in by_position.items():
        draw = _drawn(seed, position)
        exchanged = draw.random() < 0.5
        draw.shuffle(group)
        shown += [Shown(number, _anonymous(pairing, exchanged), exchanged) for number, pairing in group]
    return shown


def is_exchanged(seed: int | str, position: int | str) -> bool:
    """Whether `shuffled` exchanges A and B at this utterance (or at another thing that is shown as a whole)."""
    return _drawn(seed, position).random() < 0.5


def _drawn(seed: int | str, position: int | str) -> random.Random:
    # A text as the seed gives the same draw on every machine, whatever Python's hashes are.
    return random.Random(f"{seed}/{position}")  # noqa: S311


def unblinded(shown: Shown, decision: Decision) -> Decision:
    """A decision that was made on what was shown, as one on the pairing itself."""
    if not shown.exchanged:
        return decision
    other = {Resolution.A: Resolution.B, Resolution.B: Resolution.A}
    return replace(decision, resolution=other.get(decision.resolution, decision.resolution))


def fingerprint(labels_a: Iterable[Label], labels_b: Iterable[Label]) -> str:
    """SHA-256 in hex over what the two sides say of one utterance, to the letter.

    It changes with any change to a label, with a label more or less, and when the sides are exchanged; not with the
    order of the labels, nor when a label is deleted and made again.
    """
    sides = [sorted(exact_content(label) for label in side) for side in (labels_a, labels_b)]
    return hashlib.sha256(json.dumps(sides).encode()).hexdigest()


def changed_positions(decided: Mapping[int, str], now: Mapping[int, str]) -> list[int]:
    """The utterances to reopen: those decided under a fingerprint that is not theirs any more."""
    return sorted(position for position, print_ in decided.items() if now.get(position) != print_)


def _check(pairing: Pairing, decision: Decision) -> None:
    resolution, outcome = decision.resolution, pairing.outcome
    where = f"Utterance {pairing.position}"
    if resolution is Resolution.AGREED and outcome is not Outcome.AGREED:
        raise AdjudicationError(f"{where}: the two do not agree here; choose one of them, both, or write a label.")
    if resolution is Resolution.BOTH and outcome is not Outcome.DIFFERS and not pairing.reworded:
        raise AdjudicationError(f"{where}: there are no two different labels here that could both be taken.")
    for side, labels in ((Resolution.A, pairing.a), (Resolution.B, pairing.b)):
        if resolution is side and not labels:
            raise AdjudicationError(f"{where}: {side} has no label here that could be taken.")
    writes = resolution in (Resolution.EDITED, Resolution.NEW)
    if writes and not decision.labels:
        raise AdjudicationError(f"{where}: the {resolution} label is missing; write it, or choose none.")
    if decision.labels and not writes:
        raise AdjudicationError(f"{where}: labels can only be written with “edited” or “new”, not with “{resolution}”.")
    if any(label.position != pairing.position for label in decision.labels):
        raise AdjudicationError(f"{where}: a label written here is about another utterance.")


def _decided(pairing: Pairing, decision: Decision) -> list[GoldLabel]:
    """The gold labels that one decision makes."""
    all_sources = _ids((*pairing.a, *pairing.b))
    of_a = [(label, Provenance.A, _ids((label,))) for label in pairing.a]
    of_b = [(label, Provenance.B, _ids((label,))) for label in pairing.b]
    agreed = [(label, Provenance.AGREED, all_sources) for label in pairing.a]
    made: dict[Resolution, list[tuple[Label, Provenance, tuple[str, ...]]]] = {
        Resolution.AGREED: agreed,
        Resolution.A: of_a,
        Resolution.B: of_b,
        Resolution.BOTH: of_a + of_b,
        Resolution.EDITED: [(label, Provenance.EDITED, all_sources) for label in decision.labels],
        Resolution.NEW: [(label, Provenance.NEW, ()) for label in decision.labels],
        Resolution.NONE: [],
    }
    return [
        GoldLabel(label, provenance, sources, decision.reason, decision.error_type)
        for label, provenance, sources in made[decision.resolution]
    ]


def _numbered(gold: list[GoldLabel]) -> list[GoldLabel]:
    """Without ids, and with a rank that counts from 0 within each utterance."""
    counts: dict[int, int] = {}
    numbered = []
    for item in gold:
        rank = counts.get(item.label.position, 0)
        counts[item.label.position] = rank + 1
        numbered.append(replace(item, label=replace(item.label, id="", rank=rank)))
    return numbered


def _anonymous(pairing: Pairing, exchanged: bool) -> Pairing:
    turned = pairing.swapped() if exchanged else pairing
    return replace(turned, a=_bare(turned.a), b=_bare(turned.b))


def _bare(labels: tuple[Label, ...]) -> tuple[Label, ...]:
    """What the labels say, without what tells who made them, when and how."""
    return tuple(
        Label(
            position=label.position,
            intent=label.intent,
            slot=label.slot,
            answers=label.answers,
            checks=label.checks,
            intent_name=label.intent_name,
        )
        for label in labels
    )


def _ids(labels: Iterable[Label]) -> tuple[str, ...]:
    return tuple(label.id for label in labels if label.id)
