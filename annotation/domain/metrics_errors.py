"""What a prediction got wrong in one turn: missing and superfluous tuples, beside those that match.

The matching is the one that precision and recall are counted from (`metrics_tuples`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.domain.comparators import Comparator
from annotation.domain.metrics_tuples import column_of, grouped, matched_texts
from annotation.domain.unrolling import Unrolled

ATTRIBUTE, INTENT, KIND = "attribute=", "intent=", "kind="


@dataclass(frozen=True, slots=True)
class TurnErrors:
    """`matched` pairs are (gold, predicted); they differ where the comparator takes two texts for the same."""

    matched: Sequence[tuple[Unrolled, Unrolled]]
    missing: Sequence[Unrolled]
    superfluous: Sequence[Unrolled]

    @property
    def wrong(self) -> bool:
        return bool(self.missing or self.superfluous)

    @property
    def slots(self) -> list[str]:
        """The slots, without prefixes, that something is missing or superfluous in; "intent" for intents alone."""
        return sorted({column_of(one, one.medical)[0] for one in (*self.missing, *self.superfluous)})

    @property
    def marks(self) -> list[str]:
        """What an error can be looked up by: its slot as it is; its attribute, intent and kind after their sign."""
        found: dict[str, None] = dict.fromkeys(self.slots)
        for one in (*self.missing, *self.superfluous):
            slot, attribute, medical = column_of(one, one.medical)
            found[f"{ATTRIBUTE}{slot} · {attribute}"] = None
            found[f"{INTENT}{one.intent}"] = None
            found[f"{KIND}{'medical' if medical else 'other'}"] = None
        return list(found)

    def as_json(self) -> dict[str, Any]:
        """Each tuple as a list of five texts."""
        return {
            "matched": [[list(one), list(other)] for one, other in self.matched],
            "missing": [list(one) for one in self.missing],
            "superfluous": [list(one) for one in self.superfluous],
        }


def turn_errors(gold: Iterable[Unrolled], predicted: Iterable[Unrolled], comparator: Comparator) -> TurnErrors:
    """Compare one turn. Tuples stand in their alphabetic order."""
    matched: list[tuple[Unrolled, Unrolled]] = []
    missing: list[Unrolled] = []
    superfluous: list[Unrolled] = []
    for (group, medical), (said, guessed) in grouped(gold, predicted).items():
        pairs = matched_texts(said, guessed, None if medical else comparator)
        matched += [(_with(group, text), _with(group, guess)) for guess, text in pairs.items()]
        missing += [_with(group, text) for text in said - set(pairs.values())]
        superfluous += [_with(group, guess) for guess in guessed - pairs.keys()]
    return TurnErrors(sorted(matched), sorted(missing), sorted(superfluous))


def _with(group: Unrolled, text: str) -> Unrolled:
    return group._replace(attribute_value=text)
