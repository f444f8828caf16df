"""How long the whole agreement report takes against the least that anybody would have to do for it.

    python -m benchmarks.agreement [--utterances 22500] [--rounds 5] [--json]

The least is one pass over the labels (each utterance's set of intents and its slot-value pairs) and a bare NumPy
bootstrap over the counts by dialogue that the report's figures are made of (over all turns and within each speaker's):
2,000 draws, summed by a matrix product, and their percentiles. Times are of the processor, the fastest of some runs.
The report does all of its work: figures over all turns and within each speaker's, by pair, states replayed,
disagreements classified, intervals. The exit status is 1 when it takes more than 3 times the least, or 500 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

# One thread, or the time of the processor would count every thread that waits.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from annotation.domain.agreement import AgreementReport, PairedReading, agreement
from annotation.domain.agreement_coding import folded
from annotation.domain.agreement_counts import summed
from annotation.domain.labels import Label, Reading, Utterance
from annotation.domain.questionnaire import Kind, Questionnaire, Slot
from annotation.questionnaires import get_questionnaire

DRAWS = 2_000
TURNS = 100  # of one dialogue
WORDINGS = 60  # of the values
ERRORS = 0.2  # the share of labels that the second annotator gives otherwise
MOST_RATIO, MOST_MEGABYTES = 3.0, 500


def dialogue_labels(questionnaire: Questionnaire, rng: random.Random) -> list[Label]:
    """One annotator's labels of one dialogue: the doctor asks, the patient answers, about 1.25 labels a turn."""
    slots = [slot for slot in questionnaire.slots if slot.tracked]
    labels: list[Label] = []
    for position in range(TURNS):
        for _ in range(1 + (rng.random() < 0.25)):
            kind = rng.random()
            if kind < 0.1:
                labels.append(Label(position, rng.choice(["salutations", "nod_prompt"]), rank=len(labels)))
            else:
                labels.append(_filled(rng.choice(slots), position, rng, len(labels)))
    return labels


def _filled(slot: Slot, position: int, rng: random.Random, rank: int) -> Label:
    answers: dict[str, object] = {}
    head = slot.head_field
    if head:
        values = [f"thing {number}" for number in rng.sample(range(WORDINGS), 1 + (rng.random() < 0.2))]
        answers[head.name] = values if head.kind is Kind.VALUES else values[0]
    if position % 2 == 0:
        names = [field.name for field in slot.fields if field.name not in (slot.head, slot.status)]
        return Label(position, "inquire", slot.name, answers, tuple(names[:1]), rank=rank)
    if slot.status_field:
        answers[slot.status] = rng.choice(slot.status_field.choices).name
    for field in slot.fields:
        if field.kind is Kind.TEXT and rng.random() < 0.15:
            answers[field.name] = f"{rng.randrange(30)} days"
    return Label(position, "inform", slot.name, answers, rank=rank)


def other_labels(questionnaire: Questionnaire, labels: Sequence[Label], rng: random.Random) -> list[Label]:
    """The second annotator's: mostly the same content in objects of its own."""
    result = []
    for label in labels:
        if rng.random() > ERRORS:
            result.append(replace(label, answers=dict(label.answers)))
        elif rng.random() < 0.7:
            slot = questionnaire.slot(label.slot)
            result.append(
                _filled(slot, label.position, rng, label.rank) if slot else replace(label, intent="chit-chat")
            )
    return result


def make_pairs(questionnaire: Questionnaire, utterances: int) -> list[PairedReading]:
    rng = random.Random(1)
    pairs = []
    for number in range(max(1, utterances // TURNS)):
        turns = tuple(Utterance(place, "patient" if place % 2 else "doctor", "") for place in range(TURNS))
        a = dialogue_labels(questionnaire, rng)
        b = other_labels(questionnaire, a, rng)
        whole = frozenset(range(TURNS))
        dialogue = Reading(f"D{number}", turns)
        pairs.append(PairedReading(dialogue.with_labels(a), dialogue.with_labels(b), "1", "2", whole, whole))
    return pairs


def one_pass(questionnaire: Questionnaire, pairs: Sequence[PairedReading]) -> int:
    """Intents as sets and slot-value pairs as multisets by utterance, and what both annotators have in common."""
    heads = {slot.name: slot.head for slot in questionnaire.slots}
    common = 0
    for one in pairs:
        a, b = _by_utterance(heads, one.a), _by_utterance(heads, one.b)
        for position, (intents, values) in a.items():
            others = b.get(position, (set(), []))
            common += len(intents & others[0])
            common += sum((Counter(values) & Counter(others[1])).values())
    return common


Said = dict[int, tuple[set[str], list[tuple[str, str]]]]


def _by_utterance(heads: dict[str, str], reading: Reading) -> Said:
    said: Said = {}
    for label in reading.labels:
        intents, values = said.setdefault(label.position, (set(), []))
        intents.add(label.intent)
        if label.slot:
            values += [(label.slot, folded(value)) for value in label.values(heads[label.slot]) or [""]]
    return said


def bare_bootstrap(counts: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float:
    """2,000 resampled sums of the counts by dialogue (dialogues × counts), and percentiles of every one of them."""
    rng = np.random.default_rng(1)
    size = len(counts)
    chosen = rng.integers(size, size=(DRAWS, size)) + np.arange(DRAWS)[:, None] * size
    weights = np.bincount(chosen.ravel(), minlength=DRAWS * size).reshape(DRAWS, size).astype(np.float64)
    ends = np.percentile(weights @ counts, [2.5, 97.5], axis=0)
    return float(np.sum(ends))


def timed(work: Callable[[], object], repeat: int) -> float:
    """The fastest of some runs, in seconds of the processor, so that other work on the machine counts little."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def megabytes() -> float:
    """The most memory this process has held so far (counted by the system in KiB, by macOS in bytes)."""
    peak = float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def main() -> int:
    parser = argparse.ArgumentParser(description="Times the agreement report.")
    parser.add_argument("--utterances", type=int, default=22_500)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of which the fastest counts (default: 5)")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    options = parser.parse_args()
    questionnaire = get_questionnaire("cmas")
    pairs = make_pairs(questionnaire, options.utterances)
    before = megabytes()
    agreement(questionnaire, pairs[:2], draws=10)  # imports scikit-learn, which is paid once a process
    imported = megabytes()
    reports: list[AgreementReport] = []

    def whole() -> None:
        reports[:] = [agreement(questionnaire, pairs, draws=DRAWS)]

    report_time = timed(whole, options.rounds)
    report = reports[0]
    grouped = summed(report.coded, report.counts)
    speakers = [grouped.by_dialogue(speaker=number) for number in range(len(report.coded.speakers))]
    sums = np.hstack([grouped.by_dialogue(), *speakers])
    pass_time = timed(lambda: one_pass(questionnaire, pairs), options.rounds)
    bootstrap_time = timed(lambda: bare_bootstrap(sums), options.rounds)
    least = pass_time + bootstrap_time
    figures = {
        "utterances": report.n_used,
        "labels": sum(len(reading.labels) for one in pairs for reading in (one.a, one.b)),
        "dialogues": len(pairs),
        "counts": int(sums.shape[1]),
        "intervals": len(report.intervals),
        "disagreements": len(report.alignment.differences),
        "pass_seconds": round(pass_time, 3),
        "bootstrap_seconds": round(bootstrap_time, 3),
        "report_seconds": round(report_time, 3),
        "ratio": round(report_time / least, 2),
        "megabytes": round(megabytes()),
        "megabytes_of_labels": round(before),
        "megabytes_imported": round(imported),
    }
    met = figures["ratio"] <= MOST_RATIO and figures["megabytes"] <= MOST_MEGABYTES
    print(json.dumps({**figures, "met": met}) if options.json else "\n".join(lines(figures)))
    return 0 if met else 1


def lines(figures: dict[str, float]) -> list[str]:
    """The figures for people."""
    return [
        f"utterances {figures['utterances']:,} x 2, labels {figures['labels']:,}, dialogues {figures['dialogues']}, "
        f"counts {figures['counts']:,}",
        f"intervals {figures['intervals']:,}, disagreements {figures['disagreements']:,}",
        f"one pass over the labels  {figures['pass_seconds']:.3f} s",
        f"bare bootstrap            {figures['bootstrap_seconds']:.3f} s",
        f"whole report              {figures['report_seconds']:.3f} s",
        f"ratio                     {figures['ratio']:.2f} (at most {MOST_RATIO})",
        f"memory                    {figures['megabytes']} MB (at most {MOST_MEGABYTES}; "
        f"{figures['megabytes_of_labels']} MB with the labels alone, {figures['megabytes_imported']} MB once "
        "scikit-learn is loaded)",
    ]


if __name__ == "__main__":
    sys.exit(main())
