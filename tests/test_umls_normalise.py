"""One spelling for many: folding, American spelling, stems."""

from __future__ import annotations

import random
import sys

import pytest

from umls_linker.domain.normalise import american, fold, keys_of_folded, stem, word_keys

ODD = [
    "",
    " ",
    "\0",
    "🙂🙃",
    "ألم في الرأس",
    "頭痛がする",
    "\ud800",
    "a" * 10_000,
    "e\u0301" * 50,
    "%_*?[",
    "'s",
    "...",
    "İ",
    "ﬁever",
]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Crohn’s  disease", "crohn disease"),
        ("U.T.I.", "uti"),
        ("Ménière", "MENIERE"),
        ("can't", "CANT"),
        ("non-smoker", "non smoker"),
        ("β-blocker", "beta blocker"),
        ("ﬁbrosis", "fibrosis"),
    ],
)
def test_what_differs_only_in_writing_folds_alike(one: str, other: str) -> None:
    assert fold(one) == fold(other) != ""


@pytest.mark.parametrize(
    ("british", "us"),
    [
        ("diarrhoea", "diarrhea"),
        ("dyspnoea", "dyspnea"),
        ("haemoglobin", "hemoglobin"),
        ("anaesthesia", "anesthesia"),
        ("oesophagus", "esophagus"),
        ("leukaemia", "leukemia"),
        ("tumours", "tumors"),
        ("colourless", "colorless"),
        ("paralysed", "paralyzed"),
        ("hospitalisation", "hospitalization"),
        ("catheterised", "catheterized"),
        ("fibre", "fiber"),
        ("sulphate", "sulfate"),
    ],
)
def test_british_spelling_becomes_american(british: str, us: str) -> None:
    assert american(british) == us == american(us)


@pytest.mark.parametrize(
    "word",
    ["exercise", "disease", "raised", "shoes", "aerosol", "bruised", "swelling", "falling", "four", "promised", "hour"],
)
def test_words_that_only_look_british_stay(word: str) -> None:
    assert american(word) == word


@pytest.mark.parametrize(
    "words",
    [
        "ache aches aching achy",
        "dizzy dizziness",
        "itch itching itchy itches itchiness",
        "swell swollen swelling",
        "vomit vomiting vomitting vomited",
        "palpitation palpitations palpitating",
        "loss lose losing lost",
        "foot feet",
        "allergy allergies allergic",
        "run runny running",
        "diabetes diabetic",
        "embolus emboli embolism",
        "spine spinal spines",
        "tired tiredness tiring",
        "shake shaking shaky",
    ],
)
def test_the_forms_of_one_word_have_one_stem(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("spine", "spin"), ("breath", "breathless"), ("fever", "feverfew"), ("cancer", "canker"), ("gas", "gastric")],
)
def test_other_words_have_another_stem(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_keys_are_the_stems_of_the_meaningful_words_in_their_order() -> None:
    assert word_keys("Pain in the ankles") == ("pain", "ankl")
    assert word_keys("ankle pains") == ("ankl", "pain")
    assert word_keys("of the") == ("of", "the")  # nothing else is there
    assert word_keys("no pain") == ("no", "pain")
    assert keys_of_folded(fold("Swollen Feet")) == word_keys("swollen feet")


def test_any_text_can_be_folded_and_folding_again_changes_nothing() -> None:
    source = random.Random(20)
    texts = ODD + [
        "".join(chr(source.randrange(sys.maxunicode)) for _ in range(source.randrange(30))) for _ in range(2_000)
    ]
    for text in texts:
        folded = fold(text)
        assert fold(folded) == folded, text
        assert word_keys(folded) == word_keys(text)
        assert folded == " ".join(folded.split())
