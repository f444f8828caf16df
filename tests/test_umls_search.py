"""Finding concepts for phrases in the embedded vocabulary, as `make demo` builds it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from umls_linker.domain.rank import Candidate, Earlier
from umls_linker.domain.recall import read_phrases, recall
from umls_linker.index.reader import VocabularyIndex
from umls_linker.index.search import search
from umls_linker.index.sources import Embedded
from umls_linker.services.vocabularies import vocabulary_build, vocabulary_open

OWN = Path(__file__).parent / "data" / "lay_phrases.csv"
ODD = [
    "",
    " ",
    "\0",
    "a",
    "🙂 headache 🙃",
    "ألم في الرأس",
    "\ud800",
    "x" * 10_000,
    "pain " * 2_000,
    "%_*?[",
    "no",
    "all",
    "the",
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> VocabularyIndex:
    root = tmp_path_factory.mktemp("vocabularies")
    vocabulary_build(source=Embedded.find(), name="embedded", root=root)
    return vocabulary_open("embedded", root=root)


def first(index: VocabularyIndex, phrase: str, most: int = 1) -> list[str]:
    return [candidate.name.lower() for candidate in search(index, phrase, limit=most)]


@pytest.mark.parametrize(
    ("phrase", "cui"),
    [
        ("trouble breathing", "C0013404"),
        ("shortness of breath", "C0013404"),
        ("cant catch my breath", "C0013404"),
        ("coughing up blood", "C0019079"),
        ("runny nose", "C1260880"),
        ("head ache", "C0018681"),
        ("advil", "C0020740"),
    ],
)
def test_everyday_phrases_bring_their_concept_first(index: VocabularyIndex, phrase: str, cui: str) -> None:
    assert search(index, phrase)[0].cui == cui


@pytest.mark.parametrize(
    ("kind", "phrase", "name"),
    [
        ("word order", "fracture of the hip", "hip fracture"),
        ("word order", "tremor, hand", "hand tremor"),
        ("word order", "hernia umbilical", "umbilical hernia"),
        ("inflection", "hallucinate", "hallucinations"),
        ("inflection", "cyanotic", "cyanosis"),
        ("inflection", "snores", "snoring"),
        ("British spelling", "anaemia", "anemia"),
        ("British spelling", "haematuria", "hematuria"),
        ("British spelling", "oesophageal varices", "esophageal varix"),
        ("everyday words", "tummy pain", "abdominal pain"),
        ("everyday words", "throwing up", "vomiting"),
        ("everyday words", "sugar in my pee", "glycosuria"),
        ("everyday words", "swollen glands", "lymphadenopathy"),
        ("everyday words", "hearing voices", "auditory hallucination"),
        ("medical roots", "cephalodynia", "headache"),
        ("medical roots", "inflammation of the pancreas", "pancreatitis"),
        ("medical roots", "low sodium in the blood", "hyponatremia"),
        ("medical roots", "kidney stones", "nephrolithiasis"),
        ("abbreviations", "SOB", "dyspnea"),
        ("abbreviations", "UTI", "urinary tract infection"),
        ("abbreviations", "hx of CHF", "congestive heart failure"),
        ("abbreviations", "DVT", "deep venous thrombosis"),
        ("typos", "diarhea", "diarrhea"),
        ("typos", "hedache", "headache"),
        ("typos", "paracetemol", "acetaminophen"),
        ("typos", "epilepsey", "seizure"),
        ("two words or one", "heart burn", "gastroesophageal reflux"),
        ("two words or one", "backpain", "back pain"),
        ("two words or one", "nose bleed", "epistaxis"),
        ("brand names", "xanax or ativan", "lorazepam"),
        ("brand names", "norco", "hydrocodone"),
        ("brand names", "lasix 40 mg", "furosemide"),
    ],
)
def test_every_kind_of_wording_is_found(index: VocabularyIndex, kind: str, phrase: str, name: str) -> None:
    assert name in first(index, phrase, 3), kind


def test_phrases_of_our_own_are_found_as_often_as_the_documentation_says(index: VocabularyIndex) -> None:
    reached = _recall(index, OWN)
    assert reached["1"] >= 0.85, reached
    assert reached["5"] >= 0.95, reached


def test_phrases_of_the_real_data_are_found(index: VocabularyIndex, real_data: Path) -> None:
    reached = _recall(index, real_data / "vocabulary" / "lay_phrases_dev.csv")
    assert reached["1"] >= 0.75, reached
    assert reached["5"] >= 0.88, reached


def _recall(index: VocabularyIndex, file: Path) -> dict[str, float]:
    phrases = read_phrases(file.read_text(encoding="utf-8"))
    return recall([(phrase.cui, [each.cui for each in search(index, phrase.text)]) for phrase in phrases])


def test_the_slot_decides_between_what_is_said_alike(index: VocabularyIndex) -> None:
    assert search(index, "cold", slot="disease")[0].name == "common cold"
    assert search(index, "throat", slot="symptom", field="location")[0].name == "pharynx"


def test_a_decision_brings_up_what_no_word_would(index: VocabularyIndex) -> None:
    decision = Earlier("the usual trouble", "C0020740", "Dr Ito", "symptom")
    found = search(index, "the usual troubles", slot="symptom", decisions=[decision])
    assert found[0].cui == "C0020740"
    assert "C0020740" not in [each.cui for each in search(index, "the usual troubles", slot="symptom", limit=50)]


@pytest.mark.parametrize("text", ODD)
def test_any_text_may_be_asked_for(index: VocabularyIndex, text: str) -> None:
    for candidate in search(index, text, slot="symptom", field="location", context=text):
        assert index.concept(candidate.cui) is not None


def test_random_texts_get_the_same_answers_twice(index: VocabularyIndex) -> None:
    source = random.Random(7)
    for _ in range(60):
        letters = "".join(source.choice("abcdefghi éß漢🙂-'. \n") for _ in range(source.randrange(1, 60)))
        once: list[Candidate] = search(index, letters)
        assert search(index, letters) == once
        assert [(-each.score, each.cui) for each in once] == sorted((-each.score, each.cui) for each in once)


def test_no_more_than_asked_for(index: VocabularyIndex) -> None:
    assert len(search(index, "pain", limit=3)) == 3
    assert len({each.cui for each in search(index, "pain", limit=50)}) == len(search(index, "pain", limit=50))


@pytest.mark.parametrize(
    ("phrase", "wrong"),
    [
        ("past experience", "Upper limb spasticity"),
        ("whirlpool bath", "Bilateral microphthalmos"),
        ("similar symptoms", "Total anomalous pulmonary venous return"),
    ],
)
def test_an_everyday_word_is_not_read_as_a_clinical_one_that_is_spelt_like_it(
    index: VocabularyIndex, phrase: str, wrong: str
) -> None:
    assert wrong not in [candidate.name for candidate in search(index, phrase, slot="symptom", limit=50)]


@pytest.mark.parametrize(
    "phrase", ["colored/excess sputum", "person", "saddle anesthesia", "past experience", "similar symptoms"]
)
def test_where_nothing_fits_not_even_the_first_looks_sure(index: VocabularyIndex, phrase: str) -> None:
    assert all(candidate.weak for candidate in search(index, phrase, slot="symptom")[:1])


def test_hair_does_not_mean_hairy(index: VocabularyIndex) -> None:
    assert "fair hair" not in [each.name.lower() for each in search(index, "excess sputum", limit=50)]
    assert set(first(index, "hairy", 2)) == {"hypertrichosis", "hirsutism"}


def test_sweating_in_sleep_is_night_sweats(index: VocabularyIndex) -> None:
    assert first(index, "sleep hydrosis") == ["night sweats"]


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("lumbar spine", "lumbar region"),
        ("big toe(L)", "toe"),
        ("dorsal aspect of the foot(L)", "left foot"),
        ("knee (R)", "right knee"),
        ("L knee", "left knee"),
        ("rt. shoulder", "right shoulder"),
        ("back of the head", "head"),
    ],
)
def test_a_location_is_a_place_with_its_side(index: VocabularyIndex, phrase: str, name: str) -> None:
    found = search(index, phrase, slot="symptom", field="location")[0]
    assert found.name.lower() == name
    assert not found.weak


def test_a_trade_mark_is_no_side(index: VocabularyIndex) -> None:
    reasons = [reason.sentence for reason in search(index, "Tylenol (R)", slot="medication")[0].reasons]
    assert not any("right" in reason for reason in reasons)
