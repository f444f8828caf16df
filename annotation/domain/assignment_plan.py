"""What an assignment is made of: sizes in, shares with their queues out, and the numbers for the preview."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TOLERANCE = 0.05  # how far a share may be from the mean, as a part of the mean, before a notice says so


class AssignmentError(ValueError):
    """What was asked for cannot be planned; one sentence says why, `field` which input it is about, if one is."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class DialogueSize:
    """A dialogue as the planning sees it; `utterances` is at least 1."""

    id: str
    utterances: int
    specialty: str = ""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One dialogue in one annotator's hands, "" for a group that waits for somebody.

    `seed` means that a second annotator labels it too. `kept` means that it was so before this plan was made.
    """

    dialogue: str
    annotator: str
    seed: bool = False
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    """One group of dialogues: one person's work, in the order in which they get it. `left`: they work no longer."""

    group: int
    annotator: str
    queue: tuple[Assignment, ...] = ()
    left: bool = False

    @property
    def active(self) -> bool:
        return bool(self.annotator) and not self.left


@dataclass(frozen=True, slots=True)
class ShareNumbers:
    """One line of the preview. `partners` says how many seeds are shared with whom, by name."""

    group: int
    annotator: str
    dialogues: int
    utterances: int
    seeds: int
    partners: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "annotator": self.annotator,
            "dialogues": self.dialogues,
            "utterances": self.utterances,
            "seeds": self.seeds,
            "partners": dict(self.partners),
        }


@dataclass(frozen=True, slots=True)
class AssignmentPlan:
    """Who gets what, in which order. `revision` counts the changes made since the first plan."""

    sizes: Mapping[str, DialogueSize]
    shares: tuple[Share, ...]
    random_seed: int
    revision: int = 0
    notices: tuple[str, ...] = ()

    @property
    def assignments(self) -> tuple[Assignment, ...]:
        return tuple(item for share in self.shares for item in share.queue)

    @property
    def annotators(self) -> tuple[str, ...]:
        """Those who work now, by name."""
        return tuple(sorted(share.annotator for share in self.shares if share.active))

    @property
    def holders(self) -> dict[str, tuple[str, ...]]:
        """The annotators of every dialogue that somebody has, by name."""
        table: dict[str, list[str]] = {}
        for item in self.assignments:
            if item.annotator:
                table.setdefault(item.dialogue, []).append(item.annotator)
        return {dialogue: tuple(sorted(names)) for dialogue, names in sorted(table.items())}

    @property
    def seeds(self) -> tuple[str, ...]:
        return tuple(sorted({item.dialogue for item in self.assignments if item.seed}))

    @property
    def pair_counts(self) -> dict[tuple[str, str], int]:
        """How many seeds each two annotators share; pairs of people at work are listed with 0 as well."""
        names = self.annotators
        counts = Counter({(one, other): 0 for place, one in enumerate(names) for other in names[place + 1 :]})
        holders = self.holders
        for dialogue in self.seeds:
            who = holders.get(dialogue, ())
            counts.update((one, other) for place, one in enumerate(who) for other in who[place + 1 :])
        return dict(counts)

    @property
    def imbalance(self) -> float:
        """How far the largest or smallest group is from the mean, as a part of the mean. Leavers do not count."""
        return imbalance([self._utterances(share) for share in self.shares if not share.left])

    def numbers(self) -> tuple[ShareNumbers, ...]:
        """The preview, one line for every group."""
        pairs = self.pair_counts
        return tuple(self._numbers(share, pairs) for share in self.shares)

    def as_json(self) -> dict[str, Any]:
        """The preview with the queues, for commands and pages."""
        return {
            "random_seed": self.random_seed,
            "revision": self.revision,
            "imbalance": round(self.imbalance, 6),
            "notices": list(self.notices),
            "groups": [
                {**numbers.as_json(), "left": share.left, "queue": [item.dialogue for item in share.queue]}
                for share, numbers in zip(self.shares, self.numbers(), strict=True)
            ],
        }

    def _utterances(self, share: Share) -> int:
        return sum(self.sizes[item.dialogue].utterances for item in share.queue)

    def _numbers(self, share: Share, pairs: Mapping[tuple[str, str], int]) -> ShareNumbers:
        me = share.annotator
        partners = {
            (other if one == me else one): count
            for (one, other), count in sorted(pairs.items())
            if count and me in (one, other)
        }
        seeds = sum(item.seed for item in share.queue)
        return ShareNumbers(
            share.group, me, len(share.queue), self._utterances(share), seeds, dict(sorted(partners.items()))
        )


def imbalance(loads: list[int]) -> float:
    """max |load − mean| / mean; 0 where there is nothing to carry."""
    total = sum(loads)
    if not total:
        return 0.0
    mean = total / len(loads)
    return max(abs(load - mean) for load in loads) / mean
