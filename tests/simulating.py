"""Annotators with a known error rate, and what their agreement truly is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.domain.labels import Label, Utterance

# An answer is everything that an annotator says of an utterance: (intent, value of a symptom or "" for no slot).
Answer = tuple[str, str]
# What each speaker's turns truly say, with its share over all dialogues.
SHARES: dict[str, dict[Answer, float]] = {
    "patient": {
        ("inform", "cough"): 0.22,
        ("inform", "fever"): 0.16,
        ("inform", "chest pain"): 0.14,
        ("inform", "dyspnea"): 0.10,
        ("inform", "wheezing"): 0.06,
        ("salutations", ""): 0.06,
        ("nod_prompt", ""): 0.16,
        ("chit-chat", ""): 0.10,
    },
    "doctor": {
        ("inquire", "cough"): 0.18,
        ("inquire", "fever"): 0.18,
        ("inquire", "chest pain"): 0.14,
        ("inquire", "dyspnea"): 0.14,
        ("salutations", ""): 0.08,
        ("nod_prompt", ""): 0.12,
        ("chit-chat", ""): 0.16,
    },
}
# How alike the dialogues are: each has shares of its own, from a Dirichlet distribution around those above.
ALIKE = 25.0


@dataclass(frozen=True)
class Truth:
    """What two such annotators' agreement is in the long run."""

    kappa: float
    f: float


def draw(turns: Sequence[Utterance], rng: np.random.Generator, *, error: float) -> tuple[list[Label], list[Label]]:
    """Two annotators' labels of one dialogue, whose truth is drawn too.

    Each of them misses an utterance's true answer with the probability `error`, independently, and then takes any
    other answer that its speaker can get.
    """
    shares = {name: rng.dirichlet(ALIKE * np.array(list(found.values()))) for name, found in SHARES.items()}
    readings: tuple[list[Label], list[Label]] = ([], [])
    for turn in turns:
        answers = list(SHARES[turn.speaker])
        truth = int(rng.choice(len(answers), p=shares[turn.speaker]))
        for labels in readings:
            said = truth
            if rng.random() < error:
                said = (truth + int(rng.integers(1, len(answers)))) % len(answers)
            labels.append(_label(turn, answers[said]))
    return readings


def true_agreement(turns: Sequence[Utterance], *, error: float) -> Truth:
    """κ and F from the joint probabilities of both annotators' answers, exactly.

    The truth being t, both answers are independent, so that the joint probability of two answers is
    Σₜ share(t)·P(a|t)·P(b|t); it is linear in the shares, so that what they are on average over dialogues is enough.
    Speakers count as often as they speak in `turns`. κ follows from the joint probabilities of the intents. F is
    2·E[TP] / (2·E[TP] + E[FP] + E[FN]), and an utterance has one pair at most.
    """
    pairs: dict[tuple[Answer, Answer], float] = {}
    for speaker, shares in SHARES.items():
        weight = sum(turn.speaker == speaker for turn in turns) / len(turns)
        answers, joint = list(shares), weight * _joint(np.array(list(shares.values())), error)
        for i, one in enumerate(answers):
            for j, other in enumerate(answers):
                pairs[one, other] = pairs.get((one, other), 0.0) + float(joint[i, j])
    intents = sorted({answer[0] for shares in SHARES.values() for answer in shares})
    table = np.zeros((len(intents), len(intents)))
    for (one, other), chance in pairs.items():
        table[intents.index(one[0]), intents.index(other[0])] += chance
    expected = float(table.sum(axis=0) @ table.sum(axis=1))
    both = sum(chance for (one, other), chance in pairs.items() if one[1] and one[1] == other[1])
    said = sum(chance * (bool(one[1]) + bool(other[1])) for (one, other), chance in pairs.items())
    return Truth((float(np.trace(table)) - expected) / (1 - expected), 2 * both / said)


def _joint(shares: NDArray[np.float64], error: float) -> NDArray[np.float64]:
    """Answers × answers: the probability that the first annotator says one and the second the other."""
    size = len(shares)
    said = np.full((size, size), error / (size - 1))
    np.fill_diagonal(said, 1 - error)
    joint: NDArray[np.float64] = said.T @ np.diag(shares) @ said
    return joint


def _label(turn: Utterance, answer: Answer) -> Label:
    intent, value = answer
    if not value:
        return Label(turn.position, intent)
    status = {"status": "yes"} if turn.speaker == "patient" else {}
    return Label(turn.position, intent, "symptom", {"value": [value], **status})
