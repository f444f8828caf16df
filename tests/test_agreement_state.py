"""Agreement on the patient's state, against a replay turn by turn."""

from __future__ import annotations

import random
from dataclasses import replace

from annotation.domain.agreement import agreement
from annotation.domain.labels import Label, Reading
from annotation.domain.state_timeline import state_timeline
from tests.agreeing import CMAS, by_labels, inform, inquire, pair, report, turns


def test_a_difference_stays_until_it_is_overridden() -> None:
    a = by_labels(
        inform(1, "symptom", "cough", status="yes"),
        inform(3, "symptom", "fever", status="no"),
        inform(5, "symptom", "cough", status="no"),
    )
    b = by_labels(
        inform(1, "symptom", "cough", status="no"),
        inform(3, "symptom", "fever", status="no"),
        inform(5, "symptom", "cough", status="no"),
    )
    found = report(a, b)
    state = found.as_json()["state"]
    assert (state["equal"], state["different"], state["share"]) == (1, 2, 1 / 3)
    assert (state["both"], state["only_a"], state["only_b"]) == (3, 2, 2)
    assert state["f"] == 6 / 10
    assert found.places("state", "share") == [("X", 1), ("X", 3)]


def test_the_doctors_words_and_questions_do_not_enter_the_state() -> None:
    a = by_labels(inform(0, "symptom", "cough", status="yes"), inquire(1, "symptom", "fever"))
    state = report(a, by_labels()).as_json()["state"]
    assert (state["equal"], state["different"], state["f"]) == (3, 0, None)


def test_spelling_alone_is_no_difference() -> None:
    a = by_labels(inform(1, "symptom", "Cough", status="yes", location=["b", "a"]))
    b = by_labels(inform(1, "symptom", "cough ", status="yes", location=["A", "b"]))
    assert report(a, b).value("state", "share") == 1


def test_two_mentions_in_one_utterance_are_taken_in_their_order() -> None:
    first = inform(1, "symptom", "cough", status="yes")
    second = inform(1, "symptom", "cough", status="no")
    a = by_labels(replace(first, rank=0), replace(second, rank=1))
    b = by_labels(replace(second, rank=0), replace(first, rank=1))
    assert report(a, b).value("state", "share") == 0
    assert report(a, a).value("state", "share") == 1


def test_states_are_replayed_for_each_dialogue_alone() -> None:
    a = by_labels(inform(1, "symptom", "cough", status="yes"), marks="DP", dialogue="A")
    empty = by_labels(marks="DP", dialogue="B")
    found = agreement(CMAS, [pair(a, a), pair(empty, empty)]).as_json()["state"]
    assert (found["both"], found["only_a"], found["only_b"], found["equal"]) == (1, 0, 0, 2)


def told(rng: random.Random, size: int) -> list[Label]:
    return [
        replace(
            inform(
                position,
                rng.choice(["symptom", "habit"]),
                rng.choice(["cough", "Cough", "tea"]),
                status=rng.choice(["yes", "no"]),
                **({"frequency": rng.choice(["daily", "rarely"])} if rng.random() < 0.5 else {}),
            ),
            rank=rank,
        )
        for rank, position in enumerate(sorted(rng.choices(range(size), k=size)))
    ]


def test_the_counts_are_those_of_the_timeline() -> None:
    """Counting skips what both were told alike; the timeline replays everything. Both must come to the same."""
    rng = random.Random(31)
    for _ in range(60):
        size = 14
        a = told(rng, size)
        b = [label if rng.random() < 0.7 else other for label, other in zip(a, told(rng, size), strict=True)]
        readings = [Reading("X", turns("DP" * (size // 2))).with_labels(labels) for labels in (a, b)]
        counts = report(*readings, draws=1).as_json()["state"]
        timeline = state_timeline(CMAS, *readings)
        rows = [row for turn in timeline for row in turn.rows]
        assert counts["equal"] == sum(turn.equal for turn in timeline)
        assert counts["both"] == sum(row.a == row.b for row in rows)
        assert counts["only_a"] == sum(row.a is not None and row.a != row.b for row in rows)
        assert counts["only_b"] == sum(row.b is not None and row.a != row.b for row in rows)
