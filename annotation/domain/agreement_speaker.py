"""What an annotator who hears nothing but who is speaking would reach: the part of κ that the dialogue's form gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.domain.agreement_coding import Coded, Ints
from annotation.domain.agreement_intents import whole_set_kappa


@dataclass(frozen=True, slots=True)
class Baseline:
    """κ over whole intent sets between both annotators' answers (2n) and each speaker's most frequent set."""

    kappa_whole_set: float | None
    by_speaker: Mapping[str, float | None]
    usual: Mapping[str, tuple[str, ...]]  # by speaker, the set that is always answered

    def as_json(self) -> dict[str, Any]:
        return {
            "kappa_whole_set": self.kappa_whole_set,
            "by_speaker": dict(self.by_speaker),
            "usual_sets": {speaker: list(intents) for speaker, intents in self.usual.items()},
        }


def speaker_baseline(coded: Coded) -> Baseline:
    """The baseline of the items, both annotators' answers pooled."""
    answers = np.concatenate([coded.a.sets, coded.b.sets])
    speakers = np.concatenate([coded.speaker, coded.speaker])
    most = [_most_frequent(answers[speakers == number]) for number in range(len(coded.speakers))]
    guesses = np.array(most, dtype=np.int64)[speakers] if len(speakers) else answers
    return Baseline(
        whole_set_kappa(answers, guesses),
        {
            speaker: whole_set_kappa(answers[speakers == number], guesses[speakers == number])
            for number, speaker in enumerate(coded.speakers)
            if speaker
        },
        {
            speaker: tuple(name for place, name in enumerate(coded.intents) if coded.sets[most[number]] >> place & 1)
            for number, speaker in enumerate(coded.speakers)
            if speaker and most
        },
    )


def _most_frequent(codes: Ints) -> int:
    """The most frequent code, the smallest one of several."""
    return int(np.bincount(codes).argmax()) if len(codes) else 0
