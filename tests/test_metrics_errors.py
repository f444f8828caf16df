"""What is wrong in one turn, and that it is exactly what precision and recall are counted from."""

from __future__ import annotations

import random

from annotation.domain.comparators import Exact, Normalised
from annotation.domain.metrics_errors import turn_errors
from annotation.domain.metrics_tuples import Counts
from annotation.domain.unrolling import Unrolled, unroll_nlu
from tests.evaluating import dataset, edited_nlu


def test_the_paper_s_example() -> None:
    gold = unroll_nlu(dataset()["7"]["utterances"][1]["nlu"])
    found = turn_errors(gold, unroll_nlu(edited_nlu()[0]["nlu"]), Normalised())
    assert [one[3:] for one in found.missing] == [("onset", "last two days")]
    assert [one.value for one in found.superfluous] == ["dyspnea"]
    onset = next(pair for pair in found.matched if pair[0].attribute == "onset")
    assert [one.attribute_value for one in onset] == ["past four days", "the last 4 days"]
    assert found.wrong
    assert found.slots == ["symptom"]
    assert not turn_errors(gold, gold, Exact()).wrong
    assert turn_errors([Unrolled("chit-chat")], [], Exact()).slots == ["intent"]


def test_it_is_what_is_counted() -> None:
    draw = random.Random(3)
    values = ["two days", "2 days", "a week", "1 week", "cough", "fever"]

    def some() -> list[Unrolled]:
        kinds = [("symptom", "cough", "onset"), ("symptom", "fever", "location"), ("travel", "", "value")]
        return [
            Unrolled("inform", slot, value, attribute, draw.choice(values))
            for slot, value, attribute in draw.choices(kinds, k=draw.randrange(9))
        ]

    for _ in range(400):
        gold, predicted = some(), some()
        counts = Counts()
        counts.compare(gold, predicted, Normalised())
        total = [sum(cell[place] for cell in counts.cells.values()) for place in range(3)]
        found = turn_errors(gold, predicted, Normalised())
        assert total == [len(found.matched), len(found.missing), len(found.superfluous)]
        assert {pair[0] for pair in found.matched} | set(found.missing) == set(gold)
        assert {pair[1] for pair in found.matched} | set(found.superfluous) == set(predicted)
