"""Different words for one thing: the tables, and how a text is read with them."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from umls_linker.domain.normalise import fold
from umls_linker.domain.wordings import DATA, composed_of, readings, taken_apart, wordings, written_out

TABLES = ["everyday_words", "composed_words", "combining_forms", "abbreviations", "brand_names", "filler_words"]


def said(text: str) -> list[set[str]]:
    """For each reading, the meanings that it says for certain."""
    return [{meaning for meaning in reading.certain if not meaning.startswith("=")} for reading in readings(text)]


@pytest.mark.parametrize(
    ("one", "other", "meaning"),
    [
        ("my tummy", "abdominal", "abdomen"),
        ("puking", "emesis", "vomit"),
        ("womb", "uterine", "uterus"),
        ("renal", "kidneys", "kidney"),
        ("short of breath", "breathlessness", "out of breath"),
        ("pass out", "syncope", "faint"),
    ],
)
def test_everyday_and_clinical_words_share_a_meaning(one: str, other: str, meaning: str) -> None:
    assert any(meaning in each for each in said(one))
    assert any(meaning in each for each in said(other))


@pytest.mark.parametrize(
    ("word", "meanings"),
    [
        ("cephalodynia", ("head", "pain")),
        ("gastroenteritis", ("stomach", "bowel", "inflamed")),
        ("nephrolithiasis", ("kidney", "stone")),
        ("tenosynovitis", ("tendon", "joint lining", "inflamed")),
        ("hyperpyrexia", ("increased", "fever")),
        ("osteomalacia", ("bone", "soft")),
        ("table", ()),
        ("itis", ()),
        ("x" * 300, ()),
    ],
)
def test_greek_and_latin_words_are_taken_apart(word: str, meanings: tuple[str, ...]) -> None:
    assert taken_apart(word) == meanings


def test_meanings_are_put_together_to_composed_words() -> None:
    assert {"headach", "cephalg"} <= set(composed_of(frozenset({"head", "pain"})))
    assert composed_of(frozenset({"head"})) == ()


def test_a_text_is_read_together_and_taken_apart() -> None:
    assert {"cough up", "blood"} in [each & {"cough up", "blood"} for each in said("hemoptysis")]
    assert any({"cough up", "blood"} <= each for each in said("coughing up blood"))
    assert readings("") == readings("🙂") == ()


def test_abbreviations_and_brands_are_written_out_within_the_phrase() -> None:
    assert [each.text for each in written_out("sob on stairs")] == ["sob on stairs", "shortness of breath on stairs"]
    assert "acetaminophen" in [each.text for each in written_out("panadol")]
    assert len(written_out("the all over pain")) == 1  # "all" is a word
    assert "acute lymphoblastic leukemia" in [each.text for each in written_out("ALL")]


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_sorted_out(name: str) -> None:
    """Every line has two sides, and a side is said once."""
    lines = [
        line for line in (DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines() if line and line[0] != "#"
    ]
    sides = [line.partition(":")[0].strip() for line in lines]
    assert all(":" in line and line.partition(":")[2].strip() for line in lines)
    assert len(sides) == len(set(sides)), [side for side in sides if sides.count(side) > 1]


def test_what_composed_words_say_are_meanings() -> None:
    table = wordings()
    for word, meanings in {**table.composed, **table.starts, **table.ends}.items():
        assert meanings, word
    assert max(table.fillers.values()) < 1


@pytest.mark.skipif("PORTAL_REAL_DATA" not in os.environ, reason="PORTAL_REAL_DATA is not set")
def test_our_own_phrases_are_others_than_those_of_the_real_data(real_data: Path) -> None:
    with (real_data / "vocabulary" / "lay_phrases_dev.csv").open(encoding="utf-8") as file:
        theirs = {fold(row["phrase"]) for row in csv.DictReader(file)}
    with (Path(__file__).parent / "data" / "lay_phrases.csv").open(encoding="utf-8") as file:
        ours = [fold(row["phrase"]) for row in csv.DictReader(file)]
    assert not theirs & set(ours)
    assert len(ours) == len(set(ours))
