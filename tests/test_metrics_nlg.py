"""Generation: which texts are compared, how they are split, and what the kept libraries make of them."""

from __future__ import annotations

import math

import pytest

from annotation.domain.evaluation_gold import doctor_turns
from annotation.domain.metrics_nlg import FIGURES, NlgResult, TextPair, prepared, score_nlg, text_pairs
from annotation.domain.predictions import Predictions
from annotation.services.text_scoring import LibraryScorer
from tests.evaluating import dataset, doctor, own_predictions, patient


def scored(*texts: tuple[str, str | None]) -> NlgResult:
    """Figures for (what the doctor said, what was predicted)."""
    turns = [patient(0, "Hello."), *(doctor(n, said) for n, (said, _) in enumerate(texts, start=1))]
    given = {("7", n): guess for n, (_, guess) in enumerate(texts, start=1)}
    return score_nlg(doctor_turns({"7": {"utterances": turns}}), Predictions(given), LibraryScorer())


def test_texts_are_lower_cased_and_punctuation_stands_apart() -> None:
    assert prepared("OK,  what's THE\tpain like?") == "ok , what ' s the pain like ?"


def test_what_is_missing_or_malformed_is_an_empty_text_and_the_opening_is_left_out() -> None:
    given: Predictions[str] = Predictions({("7", 2): "Any cough?", ("7", 4): None})
    assert text_pairs(doctor_turns(dataset()), given) == [
        TextPair("any cough ? dry or wet ?", "any cough ?"),
        TextPair("does your chest hurt ?", ""),
        TextPair("it is a cold . mind the steps .", ""),
    ]


def test_gold_against_itself_scores_1_short_sentences_included() -> None:
    lines = own_predictions(dataset(), "doctor", "text")
    given = Predictions({(one["dialogue_id"], one["uttr_id"]): str(one["text"]) for one in lines})
    found = score_nlg(doctor_turns(dataset()), given, LibraryScorer())
    assert [found.figures[name] for name in FIGURES] == pytest.approx([1, 1, 1, 1])
    short = scored(("Okay.", "Okay."), ("And how long have you had it?", "And how long have you had it?"))
    assert [short.figures[name] for name in FIGURES] == pytest.approx([1, 1, 1, 1])


def test_one_sentence_scores_what_was_worked_out_by_hand() -> None:
    """Of the 6 predicted tokens 5 are in the gold of 7, as are 3 of 5 pairs; they are one token short."""
    found = scored(("do you have a dry cough now", "do you have the dry cough")).figures
    brevity = math.exp(1 - 7 / 6)
    assert found["bleu_2"] == pytest.approx(brevity * math.sqrt(5 / 6 * 3 / 5))
    assert found["bleu_4"] == 0  # no four words in a row
    assert found["rouge_1"] == pytest.approx(2 * 5 / (6 + 7))
    assert found["rouge_l"] == pytest.approx(2 * 5 / (6 + 7))


def test_rouge_l_heeds_the_order_and_rouge_1_does_not() -> None:
    found = scored(("chest pain now", "now chest pain")).figures
    assert found["rouge_1"] == pytest.approx(1)
    assert found["rouge_l"] == pytest.approx(2 / 3)


def test_bleu_is_over_the_corpus_and_rouge_a_mean_over_utterances() -> None:
    found = scored(("a b c d", "a b c d"), ("x y", None)).figures
    assert found["rouge_1"] == pytest.approx(1 / 2)
    assert found["bleu_2"] == pytest.approx(math.exp(1 - 6 / 4))


def test_a_text_without_anything_rouge_takes_for_a_word_is_left_out_of_it() -> None:
    assert scored(("…", "…"), ("yes", "yes")).figures["rouge_1"] == 1
    assert scored(("咳嗽？", "咳嗽？")).figures["rouge_1"] is None


def test_turns_without_text_are_left_out_and_nothing_at_all_is_undefined() -> None:
    found = scored(("", "Hello?"))
    assert (found.scored, found.left_out) == (0, 1)
    assert [found.figures[name] for name in FIGURES] == [None] * 4


def test_the_result_says_how_texts_were_split_and_why_bert_score_is_left_out() -> None:
    found = scored(("a", "a")).as_json()
    assert set(found["tokenisation"]) == {"bleu", "rouge"}
    assert found["bert_score"] == {"left_out": "no local model was given"}
