"""The report as a whole: the golden fixture, the traps, pairs, coverage, and the utterances behind a figure."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from annotation.domain.agreement import (
    PairedReading,
    SubmittedReading,
    agreement,
    csv_rows,
    methods_paragraph,
    paired,
    reads_only_the_speaker,
)
from annotation.domain.agreement_report import cells_of
from annotation.domain.dataset import reading_from_dataset
from annotation.domain.labels import Label, Reading
from tests.agreeing import CMAS, by_intents, by_labels, inform, inquire, pair, read_by, report, turns

GOLDEN_A = ["inform", "inform greet", "inquire", "", "inform", "diagnosis salutation", "inform", "inquire"]
GOLDEN_B = ["inform", "inform", "inquire", "", "inform inquire", "diagnosis", "chit_chat", "inquire"]
KAPPA = ("intents", "kappa_whole_set")


def words(sets: list[str], dialogue: str = "X") -> Reading:
    return by_intents([one.split() for one in sets], dialogue)


# --- the golden fixture ---


def test_the_golden_fixture_to_six_digits() -> None:
    found = report(words(GOLDEN_A), words(GOLDEN_B)).as_json()["intents"]
    assert round(found["alpha_masi"], 6) == 0.540295
    assert round(found["alpha_whole_set"], 6) == 0.417476
    assert [round(found["by_intent"][name]["kappa"], 6) for name in ("inform", "inquire", "greet")] == [
        0.75,
        0.714286,
        0.0,
    ]
    assert found["micro_f"] == pytest.approx(12 / 17, abs=1e-12)
    assert found["micro"] == {"both": 6, "only_a": 3, "only_b": 2}


def test_the_golden_fixture_is_the_same_split_over_dialogues() -> None:
    """Counts are pooled; a mean over dialogues would give other figures, and NaN for some of them."""
    pairs = [
        pair(words(GOLDEN_A[at : at + 2], f"D{at}"), words(GOLDEN_B[at : at + 2], f"D{at}")) for at in range(0, 8, 2)
    ]
    whole, split = report(words(GOLDEN_A), words(GOLDEN_B)), agreement(CMAS, pairs)
    for name in ("alpha_masi", "alpha_whole_set", "kappa_whole_set", "micro_f"):
        assert split.value("intents", name) == pytest.approx(whole.value("intents", name), abs=1e-12)


def test_every_part_of_a_table_is_published() -> None:
    table = report(words(GOLDEN_A), words(GOLDEN_B)).as_json()["intents"]["by_intent"]["inform"]
    assert [table[cell] for cell in "abcd"] == [3, 1, 0, 4]
    assert table["po"] == 7 / 8
    assert table["pe"] == (4 * 3 + 4 * 5) / 64
    assert table["positive"] == 6 / 7
    assert table["negative"] == 8 / 9
    assert (table["prevalence"], table["bias"]) == (-1 / 8, 1 / 8)


# --- traps ---


def test_annotators_who_differ_everywhere_score_at_most_zero() -> None:
    a = by_intents([{"inform"}, {"inquire"}] * 6)
    b = by_intents([{"inquire"}, {"inform"}] * 6)
    found = report(a, b).as_json()["intents"]
    assert found["kappa_whole_set"] == -1
    assert found["alpha_masi"] < 0
    assert found["micro_f"] == 0
    assert found["by_intent"]["inform"]["kappa"] == -1


def test_an_empty_answer_against_an_intent_is_a_disagreement() -> None:
    found = report(by_intents([{"inform"}, {"inform"}]), by_intents([set(), {"inform"}]))
    assert found.places(*KAPPA) == [("X", 0)]
    assert found.value("intents", "alpha_masi") == pytest.approx(0.0)
    assert found.as_json()["intents"]["by_intent"]["inform"]["b"] == 1


def test_an_unsubmitted_utterance_is_missing_and_not_empty() -> None:
    a, b = by_intents([{"inform"}, {"inform"}, {"inquire"}]), by_intents([set(), {"inform"}, {"inquire"}])
    found = agreement(CMAS, [pair(a, b, missing=[0])])
    assert found.value(*KAPPA) == 1
    coverage = found.as_json()["coverage"]
    assert (coverage["n_used"], coverage["n_total"]) == (2, 3)
    assert found.missing() == [("X", 0)]
    assert agreement(CMAS, [pair(a, b)]).value(*KAPPA) < 1


def test_labels_of_a_missing_utterance_count_in_no_figure() -> None:
    a = by_labels(inform(1, "symptom", "cough", status="yes"), inform(3, "symptom", "fever", status="yes"))
    b = by_labels(inform(3, "symptom", "fever", status="yes"))
    found = agreement(CMAS, [pair(a, b, missing=[1])]).as_json()
    assert found["slot_values"]["f"] == 1
    assert found["slot_values"]["decisions"] == {"a": 1, "b": 0, "c": 0, "d": 4}
    assert found["state"]["share"] == 1
    assert found["decomposition"]["f"] == 1


def test_one_category_is_undefined() -> None:
    found = report(by_intents([{"inform"}] * 4), by_intents([{"inform"}] * 4)).as_json()
    for name in ("kappa_whole_set", "alpha_masi", "alpha_whole_set"):
        assert found["intents"][name] is None
    assert found["intents"]["by_intent"]["inform"]["kappa"] is None
    assert found["intents"]["by_intent"]["inform"]["negative"] is None
    assert found["intents"]["by_intent"]["inform"]["positive"] == 1
    assert found["slot_values"]["f"] is None
    assert found["slot_values"]["kappa"] is None


def test_only_empty_answers_are_undefined() -> None:
    found = report(by_intents([set()] * 3), by_intents([set()] * 3))
    assert [found.value("intents", name) for name in ("kappa_whole_set", "alpha_masi", "micro_f")] == [None] * 3


def test_nothing_at_all_is_undefined_throughout() -> None:
    for pairs in ([], [pair(by_intents([{"inform"}]), by_intents([{"inform"}]), missing=[0])]):
        found = agreement(CMAS, pairs)
        assert set(found.whole.figures.values()) == {None}
        assert not any(found.whole.counts.values())
        assert json.loads(json.dumps(found.as_json()))["coverage"]["n_used"] == 0
        assert "no agreement to report" in methods_paragraph(found)


def test_no_figure_is_ever_not_a_number() -> None:
    found = report(words(GOLDEN_A), words(GOLDEN_B))
    assert "NaN" not in json.dumps(found.as_json())


# --- pairs ---


def test_a_dialogue_with_three_annotators_makes_three_pairs() -> None:
    readings = {name: by_intents([{"inform"}, {"inquire"}, set()]) for name in "abc"}
    assert [one.annotators for one in read_by(readings)] == [("a", "b"), ("a", "c"), ("b", "c")]
    found = agreement(CMAS, read_by(readings))
    assert [cell.annotators for cell in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [cell.group.items for cell in found.pairs] == [3, 3, 3]


def test_annotators_of_different_dialogues_are_not_paired() -> None:
    one = SubmittedReading.whole("a", by_intents([{"inform"}], "X"))
    other = SubmittedReading.whole("b", by_intents([{"inform"}], "Y"))
    assert paired([one, other]) == []


def test_the_headline_is_the_mean_over_pairs_and_each_cell_has_its_n() -> None:
    first = by_intents([{"inform"}, {"inquire"}, {"inform"}, {"inquire"}])
    other = by_intents([{"inform"}, {"inquire"}, {"inquire"}, {"inquire"}])
    pairs = read_by({"a": first, "b": other, "c": first})
    found = agreement(CMAS, pairs).as_json()
    assert [(cell["a"], cell["b"], cell["n_used"]) for cell in found["pairs"]] == [
        ("a", "b", 4),
        ("a", "c", 4),
        ("b", "c", 4),
    ]
    kappas = [cell["intents"]["kappa_whole_set"] for cell in found["pairs"]]
    assert kappas == pytest.approx([0.5, 1.0, 0.5])
    assert found["headline"]["intents.kappa_whole_set"] == {
        "mean": pytest.approx(2 / 3),
        "pairs": 3,
        "undefined": 0,
    }


def test_an_undefined_pair_is_left_out_of_the_mean_and_counted() -> None:
    same = by_intents([{"inform"}] * 3, "X")
    a, b = by_intents([{"inform"}, {"inquire"}], "Y"), by_intents([{"inform"}, {"inquire"}], "Y")
    found = agreement(CMAS, [pair(same, same, names=("1", "2")), pair(a, b, names=("1", "3"))])
    mean = found.headline[KAPPA]
    assert (mean.value, mean.pairs, mean.undefined) == (1.0, 2, 1)


def test_other_names_change_no_figure() -> None:
    """Ids stand for people; a renamed or deleted user keeps the id, and no figure depends on what it is."""
    readings = [words(GOLDEN_A), words(GOLDEN_B), words(GOLDEN_A[::-1])]
    one, other = (agreement(CMAS, read_by(dict(zip(names, readings, strict=True)))) for names in ("abc", "xyz"))
    assert one.whole == other.whole
    assert one.intervals == other.intervals
    assert one.headline == other.headline


def test_a_pair_is_one_cell_whichever_way_round_it_comes() -> None:
    first = pair(by_intents([{"inform"}, set()], "X"), by_intents([{"inform"}, {"inform"}], "X"))
    second = pair(by_intents([set(), set()], "Y"), by_intents([{"inform"}, set()], "Y"), names=("2", "1"))
    found = agreement(CMAS, [first, second])
    assert len(found.pairs) == 1
    table = found.as_json()["intents"]["by_intent"]["inform"]
    assert [table[cell] for cell in "abcd"] == [1, 1, 1, 1]


def test_a_pair_given_twice_is_refused() -> None:
    a = by_intents([{"inform"}])
    with pytest.raises(ValueError, match="paired twice"):
        agreement(CMAS, [pair(a, a), pair(a, a, names=("2", "1"))])


def test_readings_that_do_not_belong_together_are_refused() -> None:
    a = by_intents([{"inform"}] * 2)
    with pytest.raises(ValueError, match="same utterances"):
        pair(a, by_intents([{"inform"}] * 3))
    with pytest.raises(ValueError, match="same utterances"):
        pair(a, by_intents([{"inform"}] * 2, dialogue="Y"))
    with pytest.raises(ValueError, match="itself"):
        pair(a, a, names=("1", "1"))


# --- by speaker ---


def test_within_a_speaker_only_that_speakers_turns_count() -> None:
    a = by_intents([{"inquire"}, {"inform"}, {"inquire"}, {"inform"}, {"inquire"}, set()])
    b = by_intents([{"inquire"}, {"inform"}, set(), {"inform"}, {"inquire"}, set()])
    found = report(a, b).as_json()["by_speaker"]
    assert list(found) == ["doctor", "patient"]
    assert [found[speaker]["n"] for speaker in found] == [3, 3]
    assert found["patient"]["intents"]["kappa_whole_set"] == 1
    assert found["doctor"]["intents"]["kappa_whole_set"] == 0
    assert found["doctor"]["intents"]["by_intent"]["inquire"]["b"] == 1


def test_counts_of_the_speakers_add_up_to_the_whole() -> None:
    found = report(*random_readings(random.Random(3)))
    for path, count in found.whole.counts.items():
        assert sum(group.counts[path] for group in found.by_speaker.values()) == count, path


def test_the_released_dialogues_against_an_annotator_who_reads_only_the_speaker(real_data: Path) -> None:
    dialogs = json.loads((real_data / "meditod" / "dialogs.json").read_text(encoding="utf-8"))
    published = [reading_from_dataset(CMAS, name, dialogs[name]) for name in ("115", "317")]
    pairs = [pair(one, other) for one, other in zip(published, reads_only_the_speaker(CMAS, published), strict=True)]
    found = agreement(CMAS, pairs)
    assert found.n_used == 210
    assert round(found.value(*KAPPA) or 0, 6) == 0.866672
    assert [group.figures[KAPPA] for group in found.by_speaker.values()] == [0.0, 0.0]
    assert found.baseline.by_speaker == {"doctor": 0.0, "patient": 0.0}


def test_the_baseline_is_reported_for_the_annotators_themselves() -> None:
    sets = [{"inquire"}, {"inform"}, {"inquire"}, {"inform"}, {"salutations"}, {"inform"}]
    found = report(by_intents(sets), by_intents(sets)).as_json()["baseline"]
    assert found["usual_sets"] == {"doctor": ["inquire"], "patient": ["inform"]}
    assert 0 < found["kappa_whole_set"] < 1
    assert found["by_speaker"] == {"doctor": 0.0, "patient": None}


# --- the utterances behind a figure ---


def random_readings(rng: random.Random, size: int = 40, dialogue: str = "X") -> tuple[Reading, Reading]:
    """Two readings with every kind of disagreement."""
    marks = ("DP" * size)[:size]

    def labels(seed: int) -> list[Label]:
        shared, own = random.Random(seed), rng
        found = []
        for position in range(size):
            for _ in range(shared.randrange(3)):
                source = shared if own.random() < 0.7 else own
                value = source.choice(["cough", "Cough", "fever", "pain"])
                status = source.choice(["yes", "no", "not sure"])
                slot = source.choice(["symptom", "habit", "disease"])
                make = inform if position % 2 else inquire
                extra = {"onset": source.choice(["today", "long ago"])} if slot == "symptom" else {}
                found.append(make(position, slot, value, status=status, **extra))
            if shared.random() < 0.2:
                found.append(Label(position, own.choice(["salutations", "nod_prompt"])))
        return found

    seed = rng.randrange(10**6)
    return tuple(Reading(dialogue, turns(marks)).with_labels(labels(seed)) for _ in range(2))  # type: ignore[return-value]


def test_every_count_can_name_the_utterances_behind_it() -> None:
    found = report(*random_readings(random.Random(5)))
    for path in found.counts.shown:
        places = found.places(*path)
        assert bool(places) == bool(found.whole.counts[path]), path
        assert len(places) <= found.whole.counts[path]


def test_every_name_that_is_listed_can_be_asked_for() -> None:
    found = report(*random_readings(random.Random(6)))
    names = list(cells_of(found))
    assert ("intents", "by_intent", "inform", "a") in names
    assert ("slot_values", "by_slot", "symptom", "presence", "kappa") in names
    for path in names:
        for dialogue, position in found.places(*path):
            assert (dialogue, 0 <= position < 40) == ("X", True)
    with pytest.raises(KeyError):
        found.places("no", "such", "figure")


def test_the_places_of_a_figure_are_its_disagreements() -> None:
    found = report(words(GOLDEN_A), words(GOLDEN_B))
    assert found.places(*KAPPA) == [("X", 1), ("X", 4), ("X", 5), ("X", 6)]
    assert found.places("intents", "by_intent", "inform", "kappa") == [("X", 6)]
    assert found.places("intents", "by_intent", "inform", "a") == [("X", 0), ("X", 1), ("X", 4)]
    assert found.places(*KAPPA, speaker="patient") == [("X", 1), ("X", 5)]


def test_places_can_be_narrowed_to_a_pair() -> None:
    readings = {"a": words(GOLDEN_A), "b": words(GOLDEN_A), "c": words(GOLDEN_B)}
    found = agreement(CMAS, read_by(readings))
    assert found.places(*KAPPA, pair=("a", "b")) == []
    assert len(found.places(*KAPPA, pair=("a", "c"))) == 4


# --- what it is given out as ---


def test_the_keys_that_others_rely_on() -> None:
    found = report(*random_readings(random.Random(1))).as_json()
    assert {"definition", "coverage", "intents", "slot_values", "state", "by_speaker", "intervals"} <= set(found)
    assert {"kappa_whole_set", "alpha_masi", "by_intent"} <= set(found["intents"])
    assert {"f", "kappa", "ladder", "by_slot"} <= set(found["slot_values"])
    assert set(found["coverage"]) >= {"n_used", "n_total"}
    assert json.loads(json.dumps(found)) == found


def test_the_same_input_gives_the_same_report() -> None:
    pairs = [pair(*random_readings(random.Random(at), dialogue=f"D{at}")) for at in range(12)]
    assert agreement(CMAS, pairs).as_json() == agreement(CMAS, pairs).as_json()
    other = agreement(CMAS, pairs, seed=1)
    assert other.whole == agreement(CMAS, pairs).whole
    assert other.intervals != agreement(CMAS, pairs).intervals


def test_the_order_of_dialogues_and_of_labels_changes_no_figure() -> None:
    pairs = [pair(*random_readings(random.Random(at), dialogue=f"D{at}")) for at in range(4)]
    one, other = agreement(CMAS, pairs).whole, agreement(CMAS, pairs[::-1]).whole
    assert one.counts == {path: other.counts[path] for path in one.counts}
    for path, value in one.figures.items():
        assert other.figures[path] == (value if value is None else pytest.approx(value, abs=1e-12)), path


def test_an_intent_with_a_name_of_its_own_counts_under_the_name() -> None:
    a = by_labels(Label(0, "other", intent_name="Asks for  a form"), Label(1, "inform"))
    b = by_labels(Label(0, "other", intent_name="asks for a form"), Label(1, "inform"))
    found = report(a, b).as_json()["intents"]
    assert found["by_intent"]["asks for a form"]["a"] == 1
    assert found["by_intent"]["other"]["a"] == 0
    assert found["kappa_whole_set"] == 1


def test_rows_name_every_figure_and_say_undefined() -> None:
    rows = csv_rows(report(*random_readings(random.Random(2))))
    assert rows[0] == ("scope", "figure", "value", "low", "high", "interval_low", "interval_high")
    assert {len(row) for row in rows} == {7}
    scopes = {row[0] for row in rows[1:]}
    assert scopes == {"all", "doctor", "patient", "1 – 2", "mean over pairs", "reads only the speaker"}
    assert not any(row[2] is None for row in rows)
    assert any(row[2] == "undefined" for row in rows)
    assert len({row[:2] for row in rows}) == len(rows)


def test_the_methods_paragraph_states_material_figures_and_definition() -> None:
    pairs = [pair(*random_readings(random.Random(at), dialogue=f"D{at}")) for at in range(12)]
    text = methods_paragraph(agreement(CMAS, pairs))
    for part in ("12 dialogues", "480 of 480", "Cohen's κ", "MASI", "95 % interval", "2,000", "version 3"):
        assert part in text
    assert "None" not in text
    assert "nan" not in text


def test_few_dialogues_are_said_in_words() -> None:
    found = report(words(GOLDEN_A), words(GOLDEN_B))
    assert "fewer than two dialogues" in methods_paragraph(found)
    assert found.intervals["intents.kappa_whole_set"].low is None


def test_utterances_may_be_submitted_by_neither() -> None:
    a = by_intents([{"inform"}, {"inquire"}])
    one = PairedReading(a, a, "1", "2", frozenset([0]), frozenset([0]))
    assert agreement(CMAS, [one]).n_used == 1
