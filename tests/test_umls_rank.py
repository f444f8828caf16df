"""The order of candidates and the reasons for it, on terms whose answers can be seen by eye."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from umls_linker.domain.matching import Weights
from umls_linker.domain.normalise import fold
from umls_linker.domain.rank import DECIDED, Candidate, Earlier, Question, for_phrase, rank
from umls_linker.domain.vocabulary import Concept, Kind, Meaning, Term
from umls_linker.domain.wordings import Written, readings


def concept(cui: str, name: str, types: Sequence[str] = ("T184",), synonyms: Sequence[str] = ()) -> Concept:
    return Concept(cui, name, tuple(types), tuple(synonyms), ("SRC",))


def term(text: str, *cuis: str, kind: Kind = Kind.SYNONYM) -> Term:
    return Term(text, fold(text), tuple(Meaning(cui, kind, kind is Kind.NAME) for cui in cuis))


CONCEPTS = {
    each.cui: each
    for each in (
        concept("C0000001", "Dyspnea", synonyms=["Shortness of breath", "Trouble breathing"]),
        concept("C0000002", "Headache"),
        concept("C0000003", "Hyperkalemia", ["T047"]),
        concept("C0000004", "Hypokalemia", ["T047"]),
        concept("C0000005", "Cold temperature", ["T070"]),
        concept("C0000006", "Common cold", ["T047"], ["Cold"]),
        concept("C0000007", "Knee pain"),
        concept("C0000008", "Pain"),
    )
}
TERMS = [
    term("Shortness of breath", "C0000001"),
    term("Headache", "C0000002", kind=Kind.NAME),
    term("Hyperkalemia", "C0000003", kind=Kind.NAME),
    term("Hypokalemia", "C0000004", kind=Kind.NAME),
    term("Cold", "C0000005", "C0000006"),
    term("Knee pain", "C0000007", kind=Kind.NAME),
    term("Pain", "C0000008", kind=Kind.NAME),
]


def ranked(
    question: Question, terms: Sequence[Term], concepts: Mapping[str, Concept], limit: int = 10
) -> list[Candidate]:
    return rank(question, map(question.weights.read, terms), concepts.get, limit)


def asked(phrase: str, **known: object) -> list[Candidate]:
    question = Question(phrase, ((Written(phrase), readings(phrase)),), Weights(lambda word: 5.0))
    return ranked(replace(question, **known), TERMS, CONCEPTS)  # type: ignore[arg-type]


def sentences(candidate: Candidate) -> list[str]:
    return [reason.sentence for reason in candidate.reasons]


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("short of breath", "Dyspnea"),
        ("my head hurts", "Headache"),
        ("raised potassium", "Hyperkalemia"),
        ("low blood potassium", "Hypokalemia"),
        ("pain in the knees", "Knee pain"),
        ("pain", "Pain"),
    ],
)
def test_the_term_that_says_it_in_other_words_comes_first(phrase: str, name: str) -> None:
    assert asked(phrase)[0].name == name


def test_the_score_is_the_sum_of_the_reasons_and_each_is_told() -> None:
    for candidate in asked("trouble with my breath", slot="symptom", context="it is worse on the stairs, no headache"):
        assert candidate.score == pytest.approx(sum(reason.points for reason in candidate.reasons), abs=0.35)
        assert all(reason.sentence and reason.kind for reason in candidate.reasons)
    [first, *_] = asked("my belly aches", slot="symptom")
    assert "Sign or Symptom fits symptom" in sentences(first)


def test_words_that_are_read_as_others_are_named() -> None:
    told = sentences(asked("knee ache")[0])
    assert "“ache” taken as “pain”" in told
    assert "says all of it" in told
    assert "nothing else" in told
    assert "without “knee”" in sentences(next(each for each in asked("knee ache") if each.name == "Pain"))


def test_the_opposite_is_told_and_comes_later() -> None:
    first, *rest = asked("high potassium in the blood")
    opposite = next(each for each in rest if each.name == "Hypokalemia")
    assert first.name == "Hyperkalemia"
    assert "says the opposite" in sentences(opposite)


def test_a_type_that_fits_the_slot_decides_between_equals() -> None:
    assert [each.name for each in asked("cold", slot="disease")[:2]] == ["Common cold", "Cold temperature"]
    disease, exposure = (
        next(each.score for each in asked("cold", slot=slot) if each.name == "Common cold") for slot in ("disease", "")
    )
    assert disease > exposure


def test_the_words_around_speak_for_a_concept() -> None:
    plain, around = (asked("cold", context=context)[0:2] for context in ("", "the temperature outside was freezing"))
    gained = next(each for each in around if each.name == "Cold temperature")
    assert gained.score > next(each.score for each in plain if each.name == "Cold temperature")
    assert any("temperature" in sentence and "nearby" in sentence for sentence in sentences(gained))


def test_a_decision_for_the_same_words_wins_and_names_who_took_it() -> None:
    decisions = for_phrase([Earlier("Cold", "C0000005", "Dr Ito", "symptom"), Earlier("pain", "C0000005")], "colds")
    assert [each.phrase for each in decisions] == ["Cold"]
    first = asked("colds", slot="symptom", decisions=decisions)[0]
    assert first.name == "Cold temperature"
    assert "Dr Ito chose this for “Cold”" in sentences(first)
    assert max(reason.points for reason in first.reasons if reason.kind == "decision") < DECIDED


def test_another_concept_of_the_same_name_makes_room_for_other_answers() -> None:
    twins = {cui: concept(cui, "Knee pain") for cui in ("C0000011", "C0000012")}
    terms = [term("Knee pain", *twins, kind=Kind.NAME), term("Pain of the knee joint", "C0000013")]
    question = Question("knee pain", ((Written("knee pain"), readings("knee pain")),), Weights(lambda word: 5.0))
    found = ranked(question, terms, {**twins, "C0000013": concept("C0000013", "Knee joint pain")})
    assert [each.cui for each in found][:1] == ["C0000011"]
    assert "another concept has this name too" in sentences(next(each for each in found if each.cui == "C0000012"))


def test_equal_candidates_come_in_the_order_of_their_cuis_whatever_the_order_of_terms() -> None:
    question = Question("cold", ((Written("cold"), readings("cold")),), Weights(lambda word: None))
    assert ranked(question, TERMS, CONCEPTS) == ranked(question, TERMS[::-1], CONCEPTS)
    assert ranked(question, [], CONCEPTS) == ranked(question, TERMS, {}) == []
    assert len(ranked(question, TERMS, CONCEPTS, limit=1)) == 1


def test_the_phrase_itself_needs_no_other_reason_of_the_term() -> None:
    first = asked("Knee pain")[0]
    kinds = [reason.kind for reason in first.reasons]
    assert kinds[0] == "exact"
    assert not {"coverage", "besides", "letters"} & set(kinds)
    assert "exactly these words" in sentences(first)
    assert first.score == pytest.approx(sum(reason.points for reason in first.reasons), abs=0.35)


def answer(phrase: str, text: str, **known: object) -> Candidate:
    question = Question(phrase, ((Written(phrase), readings(phrase)),), Weights(lambda word: 5.0))
    [found] = ranked(
        replace(question, **known),  # type: ignore[arg-type]
        [term(text, "C0000021")],
        {"C0000021": concept("C0000021", text, ["T023"])},
    )
    return found


@pytest.mark.parametrize(
    ("phrase", "text", "weak"),
    [
        ("knee and jaw cartilage", "Knee", True),
        ("speech", "Echoing another speech with delays and grimaces", True),
        ("saddle anesthesia", "Saddle nose", True),
        ("numb feet", "Numbness", False),
        ("knee ache", "Knee pain", False),
        ("pain", "Pain", False),
    ],
)
def test_what_shares_little_with_the_phrase_is_weak_and_says_so_first(phrase: str, text: str, weak: bool) -> None:
    found = answer(phrase, text)
    assert found.weak is weak
    assert (found.reasons[0].kind == "weak") is weak
    if weak:
        assert found.reasons[0].sentence.endswith("perhaps there is no concept")


def test_neither_a_decision_nor_the_wider_place_of_a_location_is_weak() -> None:
    phrase = "knee and jaw cartilage"
    assert not answer(phrase, "Knee", decisions=(Earlier(phrase, "C0000021", "Dr Ito"),)).weak
    assert not answer(phrase, "Knee", slot="symptom", field="location").weak


def test_a_place_comes_before_what_is_wrong_there_where_a_location_is_asked_for() -> None:
    terms = [term("Abnormality of the knee", "C0000031", kind=Kind.NAME), term("Joint of the knee", "C0000032")]
    concepts = {
        "C0000031": concept("C0000031", "Abnormality of the knee", ["T190"]),
        "C0000032": concept("C0000032", "Knee joint", ["T030"]),
    }
    question = Question("knee", ((Written("knee"), readings("knee")),), Weights(lambda word: 5.0), "symptom")
    assert ranked(question, terms, concepts)[0].cui == "C0000031"
    assert ranked(replace(question, field="location"), terms, concepts)[0].cui == "C0000032"
