"""The labels of the gold follow from its decisions: worked out, compared with what is there, written as one event."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from annotation.domain.adjudication import GoldLabel, resolve
from annotation.domain.label_content import exact_content
from annotation.domain.labels import Label as LabelData
from annotation.models import AdjudicationDecision, User
from annotation.services.adjudication_cases import Case, case_again, decision_of, gold_labels
from annotation.services.labelling import Change, label_set_change

Wanted = tuple[LabelData, dict[str, Any]]  # a label of the gold with its provenance


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a request: the version of the gold, the utterances that it touched, and the case as it is now."""

    version: int
    positions: tuple[int, ...] = ()
    replayed: bool = False
    case: Case | None = None


def gold_brought_up(case: Case, actor: User | None, key: str, touched: Iterable[int], *, seconds: int = 0) -> Decided:
    """Bring the gold's labels to what is decided now, as one event: of the `touched` utterances, of all when the gold
    is new, and of those whose labels have changed since. Raises Conflict and NotEditable as a change does."""
    case = case_again(case)
    gold = case.gold
    assert gold is not None
    new = not gold.sources.get("prints")
    positions = {*touched, *case.stale, *(case.pairings if new else ())}
    present = gold_labels(case)
    changes: list[Change] = []
    for position in sorted(positions):
        changes += _changes(present.get(position, []), _wanted(case, position, actor))
    saved = label_set_change(
        label_set=gold, actor=actor, version=gold.version, key=key, changes=changes, seconds=seconds, deciding=True
    )
    prints = gold.sources.setdefault("prints", {})
    for position in positions:
        if position not in case.prints:
            prints.pop(str(position), None)
        elif new or position not in case.open:
            # What has changed and waits for a decision stays known as changed.
            prints[str(position)] = case.gold_print(position)
    gold.sources["label_sets"] = [side.pk for side in case.sides]
    gold.save(update_fields=["sources"])
    return Decided(saved.version, tuple(sorted(positions)), case=case)


def _wanted(case: Case, position: int, actor: User | None) -> list[Wanted]:
    """The gold labels of one utterance with their provenance."""
    decisions = case.decisions(position)
    found: list[Wanted] = []
    for pairing in case.pairings.get(position, []):
        own = {pairing.key: decisions[pairing.key]} if pairing.key in decisions else {}
        row = case.row(position, pairing.key) if own else None
        found += [(item.label, _provenance(case, item, row, actor)) for item in resolve([pairing], own)]
    for row in case.added(position):
        items = resolve([], {}, decision_of(row).labels)
        found += [(item.label, _provenance(case, item, row, actor)) for item in items]
    return found


def _provenance(case: Case, item: GoldLabel, row: AdjudicationDecision | None, actor: User | None) -> dict[str, Any]:
    """Where a gold label comes from, by whom and when; people and labels by their ids, which no renaming changes."""
    decided_at = row.decided_at if row else timezone.now()
    by = row.decided_by_id if row else actor.pk if actor else None
    return {
        "from": item.provenance.value,
        "sources": list(item.sources),
        "by": by,
        "at": decided_at.isoformat(),
        "decided": row is not None,
        "blind": case.is_blind(by, decided_at),
        "reason": row.reason if row else item.reason,
        "error_type": row.error_type if row else item.error_type,
    }


def _changes(present: Sequence[Wanted], wanted: Sequence[Wanted]) -> list[Change]:
    """What has to change so that the labels of an utterance are the wanted ones; those that are there already stay."""
    rest = list(present)
    changes: list[Change] = []
    for label, provenance in wanted:
        same = next((item for item in rest if _same(item, (label, provenance))), None)
        if same is not None:
            rest.remove(same)
        else:
            changes.append(Change(str(uuid.uuid4()), label, provenance))
    return [*(Change(label.id, None) for label, _ in rest), *changes]


def _same(one: Wanted, other: Wanted) -> bool:
    """Whether two gold labels say the same from the same source. When something agreed was accepted does not count."""
    names = ["from", "sources", "reason", "error_type", *(["by", "at"] if other[1]["decided"] else [])]
    return exact_content(one[0]) == exact_content(other[0]) and all(
        one[1].get(name) == other[1].get(name) for name in names
    )
