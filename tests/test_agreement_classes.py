"""Each disagreement falls into one class, and what that class costs."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from annotation.domain.agreement import Kind
from annotation.domain.agreement_classes import WORDS
from annotation.domain.labels import Label, Reading
from tests.agreeing import by_labels, inform, inquire, report
from tests.test_agreement import random_readings

CONCEPTS = {("symptom", "dyspnea"): "C0013404", ("symptom", "short of breath"): "C0013404"}


def kinds(a: Reading, b: Reading, **options: Any) -> list[str]:
    return [one.kind.value for one in report(a, b, **options).disagreements]


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        (Kind.INTENT, inquire(1, "symptom", "cough"), inform(1, "symptom", "cough")),
        (Kind.INTENT, Label(1, "nod_prompt"), inform(1, "symptom", "cough", status="yes")),
        (Kind.INTENT, Label(1, "nod_prompt"), Label(1, "salutations")),
        (Kind.OMISSION, Label(1, "inform"), inform(1, "symptom", "cough")),
        (Kind.SLOT, inform(1, "symptom", "asthma"), inform(1, "disease", "asthma")),
        (Kind.STATUS, inform(1, "symptom", "cough", status="yes"), inform(1, "symptom", "cough", status="no")),
        (Kind.STATUS, inform(1, "symptom", "cough", status="yes"), inform(1, "symptom", "cough")),
        (Kind.WORDING, inform(1, "symptom", "dyspnea"), inform(1, "symptom", "short of breath")),
        (Kind.VALUE, inform(1, "symptom", "cough", status="yes"), inform(1, "symptom", "fever", status="no")),
        (Kind.ATTRIBUTE, inform(1, "symptom", "cough", onset="now"), inform(1, "symptom", "cough", onset="then")),
        (Kind.ATTRIBUTE, inquire(0, "symptom", "cough", checks=("onset",)), inquire(0, "symptom", "cough")),
    ],
)
def test_each_difference_has_its_class(kind: Kind, one: Label, other: Label) -> None:
    for first, second in ((one, other), (other, one)):
        found = report(by_labels(first), by_labels(second), concepts=CONCEPTS)
        (difference,) = found.disagreements
        assert difference.kind is kind
        assert (difference.dialogue, difference.position) == ("X", one.position)
        assert (difference.label_a, difference.label_b) == (first, second)
        assert WORDS[kind] in difference.words
        classes = found.as_json()["decomposition"]["classes"]
        assert {name: entry["n"] for name, entry in classes.items() if entry["n"]} == {kind.value: 1}
        assert classes[kind.value]["f_without"] == 1
        assert found.places("decomposition", "classes", kind.value, "n") == [("X", one.position)]


def test_a_label_of_one_annotator_alone_is_an_omission() -> None:
    found = report(by_labels(inform(1, "symptom", "cough", status="yes")), by_labels())
    (difference,) = found.disagreements
    assert (difference.kind, difference.label_b) == (Kind.OMISSION, None)
    assert "no such label" in difference.words
    assert found.as_json()["decomposition"]["f"] == 0
    assert found.as_json()["decomposition"]["classes"]["omission"]["f_without"] == 1


def test_what_is_most_alike_stands_together() -> None:
    a = by_labels(inform(1, "symptom", "sharp pain"), inform(1, "symptom", "cough", status="yes"))
    b = by_labels(
        inform(1, "symptom", "cough", status="no"), inform(1, "symptom", "fever"), inform(1, "symptom", "pain")
    )
    found = {
        (one.label_a and one.label_a.values("value")[0], one.label_b and one.label_b.values("value")[0]): one.kind
        for one in report(a, b).disagreements
    }
    assert found == {
        ("cough", "cough"): Kind.STATUS,
        ("sharp pain", "pain"): Kind.VALUE,
        (None, "fever"): Kind.OMISSION,
    }


def test_what_both_say_is_set_aside_first() -> None:
    both = inform(1, "symptom", "cough", status="yes")
    a = by_labels(both, replace(both, answers={**both.answers, "onset": "now"}))
    assert kinds(a, by_labels(both)) == ["omission"]


def test_the_classes_explain_every_miss_and_no_hit() -> None:
    for seed in range(8):
        a, b = random_readings(random.Random(seed))
        found = report(a, b, draws=1)
        whole = found.as_json()["decomposition"]
        aligned = sum(1 for one in found.disagreements if one.label_a and one.label_b)
        alone = len(found.disagreements) - aligned
        assert whole["only_a"] + whole["only_b"] == 2 * aligned + alone
        assert sum(entry["n"] for entry in whole["classes"].values()) == len(found.disagreements)
        for entry in whole["classes"].values():
            assert entry["f_without"] >= whole["f"]
            assert (entry["f_without"] > whole["f"]) == (entry["n"] > 0)


def test_a_vanished_class_is_what_f_would_be_had_they_agreed_there() -> None:
    a = by_labels(inform(1, "symptom", "cough", status="yes"), inform(3, "symptom", "fever"), inform(5, "habit", "tea"))
    b = by_labels(inform(1, "symptom", "cough", status="no"), inform(3, "symptom", "fever"))
    classes = report(a, b).as_json()["decomposition"]
    assert classes["f"] == 2 / 5
    assert classes["classes"]["status"]["f_without"] == 4 / 5
    assert classes["classes"]["omission"]["f_without"] == 4 / 6


def test_a_disagreement_is_plain_data_too() -> None:
    found = report(by_labels(inform(1, "symptom", "cough", status="yes")), by_labels()).disagreements[0].as_json()
    assert found["a"] == "inform symptom: cough (yes)"
    assert (found["kind"], found["position"], found["speaker"], found["b"]) == ("omission", 1, "patient", None)
