"""What an adjudicator has before them: one dialogue with the labels of two annotators (or one), and what is decided.

Nothing here writes. `Case` is read by the pages and by `services.adjudication`, which decides.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from annotation.domain.adjudication import Decision, Pairing, Resolution, Shown, align, fingerprint, shuffled, undecided
from annotation.domain.concepts import NOTHING_DECIDED, Canon, same_concept
from annotation.domain.labels import Label as LabelData
from annotation.domain.questionnaire import Questionnaire
from annotation.models import AdjudicationDecision, Dialogue, Label, LabelSet, Owner, Purpose, Status
from annotation.services.blindness import seed_of, shown_at
from annotation.services.concept_linking import linker
from annotation.services.readings import label_from_json, labels_of

WORK = [Purpose.WORK.value, Purpose.SEED.value]
FINISHED = [Status.DONE.value, Status.LOCKED.value]
NOT_SAMPLED = "not in the sample that was reviewed"


@dataclass(frozen=True)
class Case:
    """One dialogue to decide on. `sides` are the label sets of A and B in their true order; in a review there is no B.

    `labels` are those of each side by utterance, `rows` the decisions that were ever made. `share` is that of the
    utterances that a review looks at. `named` says by person since when they have the annotators' names, `canon` which
    wordings mean one concept.
    """

    dialogue: Dialogue
    sides: tuple[LabelSet, ...]
    gold: LabelSet | None
    labels: tuple[Mapping[int, Sequence[LabelData]], ...]
    rows: tuple[AdjudicationDecision, ...]
    positions: Mapping[int, int]
    share: float = 1.0
    named: Mapping[int, datetime] = field(default_factory=dict)
    canon: Canon = NOTHING_DECIDED

    @property
    def questionnaire(self) -> Questionnaire:
        return self.dialogue.project.questionnaire

    @property
    def is_review(self) -> bool:
        return len(self.sides) == 1

    @property
    def version(self) -> int:
        return self.gold.version if self.gold else 0

    @cached_property
    def prints(self) -> dict[int, str]:
        """The fingerprint of every utterance that somebody labelled, as it is now."""
        one, other = self._both
        return {position: self.print_of(position) for position in sorted(one.keys() | other.keys())}

    def print_of(self, position: int) -> str:
        one, other = self._both
        return fingerprint(one.get(position, ()), other.get(position, ()))

    @cached_property
    def pairings(self) -> dict[int, list[Pairing]]:
        """What is to be decided, by utterance; utterances that nobody labelled are left out."""
        one, other = self._both
        concept = same_concept(self.questionnaire, self.canon)
        return {
            position: align(self.questionnaire, one.get(position, ()), other.get(position, ()), concept)
            for position in self.prints
        }

    def gold_print(self, position: int) -> str:
        """What the gold of an utterance follows from: what is said there, and what is agreed by concept alone.

        A decision on the utterance rests on the first only, so that it outlives one about a concept.
        """
        reworded = [pairing.key for pairing in self.pairings.get(position, []) if pairing.reworded]
        return " ".join([self.prints[position], *reworded])

    def shown(self, position: int) -> list[Shown]:
        """The pairings of an utterance as its adjudicator sees them: who is A is drawn for each utterance."""
        found = self.pairings.get(position, [])
        if self.is_review:
            return [Shown(number, pairing, False) for number, pairing in enumerate(found)]
        return shuffled(found, seed_of(self.dialogue))

    def exchanged(self, position: int) -> bool:
        """Whether A and B are exchanged for who decides on this utterance. Must not reach a page."""
        return any(item.exchanged for item in self.shown(position))

    def decisions(self, position: int) -> dict[str, Decision]:
        """The decisions on an utterance that count, by pairing. Those about labels that have changed do not."""
        known = {pairing.key: pairing for pairing in self.pairings.get(position, [])}
        found = {key: Decision(Resolution.A, reason=NOT_SAMPLED) for key in known} if position in self.left_out else {}
        for row in self._rows_at.get(position, []):
            if row.pairing in known and row.source == self.prints[position]:
                found[row.pairing] = decision_of(row)
        return found

    def added(self, position: int) -> list[AdjudicationDecision]:
        """What the adjudicator wrote beside all pairings of an utterance, as long as it was not taken out again."""
        rows = self._rows_at.get(position, [])
        return [row for row in rows if not row.pairing and row.resolution != Resolution.NONE]

    def row(self, position: int, pairing: str) -> AdjudicationDecision | None:
        """The decision on a pairing, whether it still counts or not."""
        return next((row for row in self._rows_at.get(position, []) if pairing and row.pairing == pairing), None)

    def outlived(self, position: int) -> list[AdjudicationDecision]:
        """Decisions on labels that are not there any more, as long as nothing was decided in their place."""
        known = {pairing.key for pairing in self.pairings.get(position, [])}
        rows = self._rows_at.get(position, [])
        gone = [row for row in rows if row.pairing and row.pairing not in known]
        newest = max((row.version for row in rows if row not in gone), default=0)
        return [row for row in gone if position in self.open or row.version > newest]

    def is_blind(self, person: int | None, at: datetime) -> bool:
        """Whether what this person decided then was decided without knowing whose labels they are."""
        since = self.named.get(person) if person is not None else None
        return since is None or since > at

    def undecided(self, position: int) -> list[Pairing]:
        return undecided(self.pairings.get(position, []), self.decisions(position))

    @cached_property
    def open(self) -> dict[int, int]:
        """How many conflicts of each utterance wait for a decision; utterances without one are left out."""
        counts = {position: len(self.undecided(position)) for position in self.pairings}
        return {position: count for position, count in counts.items() if count}

    @property
    def left(self) -> int:
        return sum(self.open.values())

    @property
    def conflicts(self) -> int:
        """All that needs a decision, made or not."""
        return sum(len(undecided(found, {})) for p, found in self.pairings.items() if p not in self.left_out)

    @property
    def agreed(self) -> int:
        return sum(len(found) for found in self.pairings.values()) - sum(
            len(undecided(found, {})) for found in self.pairings.values()
        )

    @cached_property
    def left_out(self) -> frozenset[int]:
        """Labelled utterances that the review of a sample takes as they are. The draw is the same whenever it is made;
        one utterance at least is looked at."""
        if not self.is_review or self.share >= 1:
            return frozenset()
        seed = f"{seed_of(self.dialogue)}/review"
        draws = {position: random.Random(f"{seed}/{position}").random() for position in self.prints}  # noqa: S311
        first = min(draws, key=lambda position: draws[position], default=-1)
        return frozenset(position for position, draw in draws.items() if draw >= self.share and position != first)

    @property
    def unseen(self) -> int:
        """Labels that are gold although nobody looked at them."""
        return sum(
            pairing.key not in own
            for position in self.left_out
            for own in [{row.pairing for row in self._rows_at.get(position, []) if row.source == self.prints[position]}]
            for pairing in self.pairings[position]
        )

    @property
    def not_accepted(self) -> int:
        """Labels that were looked at and are not gold as they are: edited, replaced or taken out."""
        kept = (Resolution.A, Resolution.B, Resolution.BOTH, Resolution.AGREED)
        made = [decision for position in self.pairings for decision in self.decisions(position).values()]
        return sum(decision.resolution not in kept for decision in made)

    @property
    def stale(self) -> list[int]:
        """Utterances whose labels have changed since the gold took them up, in order."""
        if not self.gold:
            return []
        known = self.gold.sources.get("prints", {})
        present = {str(position): self.gold_print(position) for position in self.prints}
        changed = {place for place in known.keys() | present.keys() if known.get(place) != present.get(place)}
        return sorted(int(place) for place in changed)

    @property
    def unfinished(self) -> bool:
        """Whether one of the annotators has reopened their labels since."""
        return any(side.status not in FINISHED for side in self.sides)

    @cached_property
    def _both(self) -> tuple[Mapping[int, Sequence[LabelData]], Mapping[int, Sequence[LabelData]]]:
        return self.labels[0], self.labels[1] if len(self.labels) > 1 else {}

    @cached_property
    def _rows_at(self) -> dict[int, list[AdjudicationDecision]]:
        by_position: dict[int, list[AdjudicationDecision]] = {}
        for row in self.rows:
            by_position.setdefault(self.positions[row.utterance_id], []).append(row)
        return by_position


def decision_of(row: AdjudicationDecision) -> Decision:
    labels = tuple(label_from_json(item) for item in row.labels)
    return Decision(Resolution(row.resolution), labels, row.reason, row.error_type)


def case_of(dialogue: Dialogue) -> Case | None:
    """The case of a dialogue, None while nobody has finished it (or only one of two has)."""
    return next(iter(cases_of([dialogue])), None)


def cases_of(dialogues: Iterable[Dialogue]) -> list[Case]:
    """The cases of several dialogues in their order, with as many queries for all as for one."""
    wanted = {dialogue.pk: dialogue for dialogue in dialogues}
    sets: dict[int, list[LabelSet]] = {pk: [] for pk in wanted}
    gold: dict[int, LabelSet] = {}
    found = LabelSet.objects.filter(dialogue__in=wanted, owner=Owner.ANNOTATOR, purpose__in=WORK)
    for label_set in found.select_related("annotator").order_by("pk"):
        label_set.dialogue = wanted[label_set.dialogue_id]
        sets[label_set.dialogue_id].append(label_set)
    for label_set in LabelSet.objects.filter(dialogue__in=wanted, owner=Owner.GOLD, purpose=Purpose.WORK):
        label_set.dialogue = wanted[label_set.dialogue_id]
        gold[label_set.dialogue_id] = label_set
    chosen = {pk: sides_of(sets[pk], gold.get(pk)) for pk in wanted}
    labels = _labels_of([side for sides in chosen.values() for side in sides])
    rows: dict[int, list[AdjudicationDecision]] = {}
    for row in _decided(gold.values()):
        rows.setdefault(row.gold_id, []).append(row)
    named = shown_at(wanted)
    canons = {pk: linker().canon(pk) for pk in {wanted[pk].project_id for pk, sides in chosen.items() if sides}}
    return [
        _case(
            wanted[pk],
            sides,
            gold.get(pk),
            labels,
            rows.get(gold[pk].pk, []) if pk in gold else [],
            named=named.get(pk, {}),
            canon=canons[wanted[pk].project_id],
        )
        for pk, sides in chosen.items()
        if sides
    ]


def case_again(case: Case) -> Case:
    """The case with what is decided by now. What the annotators say is not read a second time, nor compared again."""
    gold = LabelSet.objects.filter(dialogue=case.dialogue, owner=Owner.GOLD, purpose=Purpose.WORK).first()
    rows: list[AdjudicationDecision] = []
    if gold is not None:
        gold.dialogue = case.dialogue
        rows = list(_decided([gold]))
    labels = {side.pk: labels for side, labels in zip(case.sides, case.labels, strict=True)}
    found = _case(case.dialogue, case.sides, gold, labels, rows, named=case.named, canon=case.canon)
    vars(found).update({name: value for name, value in vars(case).items() if name in ("prints", "pairings")})
    return found


def _decided(gold: Iterable[LabelSet]) -> QuerySet[AdjudicationDecision]:
    found = AdjudicationDecision.objects.filter(gold__in=gold)
    return found.select_related("utterance", "decided_by").order_by("pk")


def _case(
    dialogue: Dialogue,
    sides: tuple[LabelSet, ...],
    gold: LabelSet | None,
    labels: Mapping[int, Mapping[int, Sequence[LabelData]]],
    rows: Sequence[AdjudicationDecision],
    *,
    named: Mapping[int, datetime],
    canon: Canon,
) -> Case:
    share = float(gold.sources.get("share", 1)) if gold else 1.0
    positions = {row.utterance_id: row.utterance.position for row in rows}
    of_sides = tuple(labels[side.pk] for side in sides)
    return Case(dialogue, sides, gold, of_sides, tuple(rows), positions, share, named, canon)


def sides_of(label_sets: Sequence[LabelSet], gold: LabelSet | None) -> tuple[LabelSet, ...]:
    """The label sets that gold is made from. Begun gold keeps its own; else the first two finished, or the only one.

    One finished of several that were given out is no case yet: its partner is still at work.
    """
    if gold and gold.sources.get("label_sets"):
        by_key = {row.pk: row for row in label_sets}
        return tuple(by_key[pk] for pk in gold.sources["label_sets"] if pk in by_key)
    finished = [row for row in label_sets if row.status in FINISHED]
    if len(finished) >= 2:
        return tuple(finished[:2])
    return tuple(finished) if len(label_sets) == 1 else ()


def _labels_of(label_sets: Sequence[LabelSet]) -> dict[int, dict[int, list[LabelData]]]:
    """Label set → utterance → labels, in one query."""
    found: dict[int, dict[int, list[LabelData]]] = {row.pk: {} for row in label_sets}
    rows = Label.objects.filter(label_set__in=found).select_related("utterance").order_by("utterance__position", "rank")
    for row in rows:
        assert row.utterance is not None
        position = row.utterance.position
        found[row.label_set_id].setdefault(position, []).append(row.as_data(position))
    return found


def gold_labels(case: Case) -> dict[int, list[tuple[LabelData, dict[str, Any]]]]:
    """The labels of the gold with their provenance, by utterance."""
    if case.gold is None:
        return {}
    origins = {str(pk): provenance for pk, provenance in case.gold.labels.values_list("pk", "provenance")}
    found: dict[int, list[tuple[LabelData, dict[str, Any]]]] = {}
    for label in labels_of(case.gold):
        found.setdefault(label.position, []).append((label, origins[label.id]))
    return found
