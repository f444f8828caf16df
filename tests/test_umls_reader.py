"""Look-ups in an index, on one of a dozen strings whose answers can be seen by eye."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from time import perf_counter

import pytest

from tests.rrf import make_index, small_atoms, texts_of
from umls_linker.domain.normalise import word_keys
from umls_linker.domain.spelling import likeness
from umls_linker.domain.vocabulary import Atom, Concept, Entry, Kind, Retired, TypeOf
from umls_linker.index.manifest import UnusableVocabulary
from umls_linker.index.reader import VocabularyIndex

ODD = ["", " ", "\0", "a", "ab", "💊💊💊", "ألم في الرأس", "\ud800", "x" * 10_000, "C" * 600, "%_*?[", "\n\n", "é" * 50]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> VocabularyIndex:
    return make_index(tmp_path_factory.mktemp("index") / "small")


def test_strings_alike_are_found_best_first_whatever_their_case(index: VocabularyIndex) -> None:
    assert texts_of(index, index.alike("SHORTNESS OF BREATHS"))[:1] == ["Shortness of breath"]
    assert texts_of(index, index.alike("knee pains", 0.2))[:2] == ["Knee pain", "Pain in knee"]
    assert index.alike("knee pains", 0.3, limit=1) == index.alike("knee pains", 0.3)[:1]
    assert index.alike("nothing of the kind") == []


def test_an_exact_key_finds_every_spelling_that_folds_alike(index: VocabularyIndex) -> None:
    assert texts_of(index, index.exact("dyspnea")) == ["Dyspnea"]
    assert texts_of(index, index.exact("meniere disease")) == ["Ménière disease"]
    assert index.exact("dyspne") == []
    assert index.exact("") == []


def test_strings_alike_but_for_case_are_one_term_with_both_meanings(index: VocabularyIndex) -> None:
    [number] = index.exact("cold")
    term = index.term(number)
    assert term.text == "COLD"  # a synonym is closer than everyday words
    assert {(meaning.cui, meaning.kind) for meaning in term.concepts} == {
        ("C0009443", Kind.LAYPERSON),
        ("C0009264", Kind.SYNONYM),
    }


def test_terms_that_share_the_rarest_words_come_first(index: VocabularyIndex) -> None:
    assert texts_of(index, index.with_words(word_keys("pain in my knees"), 10))[:2] == ["Knee pain", "Pain in knee"]
    assert set(texts_of(index, index.with_words(["pain"], 10))) == {
        "Head pain",
        "Knee pain",
        "Joint pain",
        "Pain in knee",
    }
    assert len(index.with_words(["pain"], 2)) == 2
    assert index.with_words(["unheard"], 10) == index.with_words([], 10) == index.with_words(["pain"], 0) == []


def test_rarity_falls_with_every_term_that_has_the_word(index: VocabularyIndex) -> None:
    rare, common = index.word_rarity("joint"), index.word_rarity("pain")
    assert rare is not None
    assert common is not None
    assert rare > common >= 1
    assert index.word_rarity("unheard") is None
    assert index.word_rarity("") is None


@pytest.mark.parametrize("misspelt", ["hedache", "headahce", "headachee", "haedache", "hradache"])
def test_a_word_with_one_mistake_is_found(index: VocabularyIndex, misspelt: str) -> None:
    [expected] = word_keys("headache")
    assert [word for word, _ in index.words_like(misspelt)][:1] == [expected]


def test_likeness_counts_a_swap_as_one_edit() -> None:
    assert likeness("headache", "haedache") == pytest.approx(1 - 1 / 8)
    assert likeness("cough", "cuogh") == pytest.approx(0.8)
    assert likeness("", "") == 1
    assert likeness("abc", "xyz", 0.5) == 0


def test_completion_offers_common_words_and_short_terms_first(index: VocabularyIndex) -> None:
    assert index.words_starting("pa", 5) == ["pain"]
    assert texts_of(index, index.terms_starting("Short", 5)) == ["Shortness of breath"]
    assert texts_of(index, index.terms_starting("cold", 5)) == ["COLD", "Cold temperature"]
    assert texts_of(index, index.terms_starting("cold ", 5)) == ["Cold temperature"]
    assert index.terms_starting("", 5) == []


def test_a_concept_is_told_with_its_strings_closest_kind_first(index: VocabularyIndex) -> None:
    assert index.concept("C0018681") == Concept("C0018681", "Headache", ("T184",), ("Cephalgia", "Head pain"), ("SRC",))
    assert index.name("C0018681") == "Headache"
    assert index.semantic_types("C0018681") == ("T184",)
    assert set(texts_of(index, index.terms_of("C0018681"))) == {"Headache", "Head pain", "Cephalgia"}
    for unknown in ("C9999999", "C0000000", "", "C00186811", "C001868x", "C٠٠١٨٦٨١"):
        assert index.concept(unknown) is None
        assert index.name(unknown) is None
        assert index.semantic_types(unknown) == ()


@pytest.mark.parametrize("text", ODD)
def test_no_text_makes_a_look_up_fail(index: VocabularyIndex, text: str) -> None:
    for found in (
        index.alike(text, 0.3),
        index.exact(text),
        index.with_words([text], 5),
        index.terms_starting(text, 5),
    ):
        assert isinstance(found, list)
    index.words_like(text)
    index.words_starting(text, 5)
    index.word_rarity(text)
    assert isinstance(index.mentions(text), list)


def test_mentions_are_placed_in_the_text(index: VocabularyIndex) -> None:
    text = "I have shortness of breath and my HEADACHE is back"
    mentions = index.mentions(text)
    assert [(mention.text, mention.cuis) for mention in mentions] == [
        ("shortness of breath", ("C0013404",)),
        ("HEADACHE", ("C0018681",)),
    ]
    assert all(text[mention.start : mention.end] == mention.text for mention in mentions)
    assert mentions[0].similarity == 1


def test_threads_share_an_index(index: VocabularyIndex) -> None:
    wanted = {threshold: index.alike("knee pain", threshold) for threshold in (0.2, 0.9)}
    assert wanted[0.2] != wanted[0.9]
    wrong: list[float] = []

    def ask(threshold: float) -> None:
        for _ in range(300):
            if index.alike("knee pain", threshold) != wanted[threshold]:
                wrong.append(threshold)

    threads = [threading.Thread(target=ask, args=(threshold,)) for threshold in (0.2, 0.9) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_word_in_very_many_terms_costs_little(tmp_path: Path) -> None:
    atoms: list[Entry] = []
    for number in range(60_000):
        cui = f"C{number:07}"
        atoms += [Atom(f"pain w{number}", cui, True, "SRC", Kind.NAME), TypeOf(cui, "T184")]
    index = make_index(tmp_path / "many", atoms)
    index.with_words(["pain"], 10)
    begun = perf_counter()
    found = index.with_words(["pain", *word_keys("w59999")], 10)
    assert perf_counter() - begun < 0.5
    assert texts_of(index, found)[0] == "pain w59999"


def test_a_folder_that_is_no_index_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(UnusableVocabulary, match="build it anew"):
        VocabularyIndex.open(tmp_path)


def test_an_index_that_has_lost_a_file_is_said_to_be_not_whole(tmp_path: Path) -> None:
    index = make_index(tmp_path / "small")
    (index.folder / "words" / "terms.values").unlink()
    with pytest.raises(UnusableVocabulary, match="not whole"):
        VocabularyIndex.open(index.folder)


@pytest.mark.parametrize("name", ["terms/texts.text", "terms/meanings.values", "keys/texts.starts", "words/texts.text"])
def test_an_index_whose_copy_was_cut_off_is_said_to_be_not_whole(tmp_path: Path, name: str) -> None:
    path = make_index(tmp_path / "small").folder / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 16 * 8])
    with pytest.raises(UnusableVocabulary, match="not whole"):
        VocabularyIndex.open(tmp_path / "small")


def test_an_index_without_a_part_of_a_shard_is_said_to_be_not_whole(tmp_path: Path) -> None:
    (make_index(tmp_path / "small").folder / "terms" / "shards" / "0000" / "strings").unlink()
    with pytest.raises(UnusableVocabulary, match="not whole"):
        VocabularyIndex.open(tmp_path / "small")


def test_what_goes_while_the_index_is_open_is_said_to_be_missing(tmp_path: Path) -> None:
    index = make_index(tmp_path / "small")
    shutil.rmtree(index.folder / "terms" / "shards")
    with pytest.raises(UnusableVocabulary, match="missing"):
        index.alike("dyspnea")


def test_a_string_of_which_a_small_shard_knows_nothing_has_no_number(index: VocabularyIndex) -> None:
    assert [index.shards.number(f"a string {number}") for number in range(50)] == [None] * 50


def test_of_several_heirs_of_a_retired_concept_the_closest_that_is_there_is_told(tmp_path: Path) -> None:
    retired = [
        Retired("C0000009", "RO", "C0009443"),
        Retired("C0000009", "RB", "C0013404"),
        Retired("C0000009", "SY", "C7777777"),  # of a type or source that was not taken
        Retired("C0000002", "SY", "C0018681"),
        Retired("C0000002", "SY", "C0018681"),
        Retired("C0000003", "RN", "C7777777"),
    ]
    index = make_index(tmp_path / "retired", [*retired, *small_atoms()])
    assert index.replacement("C0000009") == ("C0013404", "RB")
    assert index.replacement("C0000002") == ("C0018681", "SY")
    for cui in ("C0000003", "C0000001", "C0013404", "", "C٠٠٠٠٠٠٢", "\ud800"):
        assert index.replacement(cui) is None


def test_a_vocabulary_without_a_list_of_retired_concepts_names_no_heir(index: VocabularyIndex) -> None:
    assert index.replacement("C0000002") is None
