"""Which of the terms that were found means the phrase, and why.

Given the readings of a phrase and the terms that retrieval brought up, each term gets points for how much of the phrase
it covers, how little it says besides, and how alike the letters are; its concept gets points for a type that fits the
slot, for what a doctor decided before, for the words around, and for being a common concept. Every point stands in a
`Reason` with a sentence, and the score is their sum. Nothing here looks anything up: the rarity of words and the facts
about concepts come from the caller. Pure and deterministic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from umls_linker.domain.matching import Match, Matcher, ReadTerm, Reason, Spelling, Weights, bag_of
from umls_linker.domain.normalise import fold, word_keys
from umls_linker.domain.slots import fit, type_name
from umls_linker.domain.vocabulary import Concept, Kind

# Raised whenever the order of candidates may change: stored candidates tell by it that they are out of date.
VERSION = 3

LEAST_COVERED = 0.25  # Share of the phrase below which a term is no answer.
MOSTLY = 0.65  # Share of a term from which the phrase says most of it.
TYPE_FITS = 6.0
PLACE_FITS = 35.0  # instead, where a place of the body is asked for: what is wrong there is another answer
DECIDED = 80.0
CONTEXT = 4.0
COMMON = 5.0
PREFERRED = 2.5
TWIN = -6.0  # for each concept before of the same name by the same term
RELATED = -6.0
_WANTED = {"location": "a place of the body", "response_to": "what is responded to"}  # of fields that are no heads
SAME_LETTERS, OTHER_LETTERS, OTHER_SLOT = 1.0, 0.8, 0.7  # shares of DECIDED


@dataclass(frozen=True, slots=True)
class Candidate:
    """A concept that the phrase may mean. `matched_text` is the term by which it was found; `score` is the sum of the
    reasons.
    """

    cui: str
    name: str
    semantic_types: tuple[str, ...]
    matched_text: str
    score: float
    reasons: tuple[Reason, ...]

    @property
    def weak(self) -> bool:
        """Whether a reason says that this is probably not meant."""
        return any(reason.kind == "weak" for reason in self.reasons)


@dataclass(frozen=True, slots=True)
class Earlier:
    """A decision taken before: this phrase (in this slot, "" for any) means this concept, said `by`."""

    phrase: str
    cui: str
    by: str = ""
    slot: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What is ranked for: the phrase in its spellings with their readings, and what is known around it."""

    phrase: str
    spellings: tuple[Spelling, ...]
    weights: Weights
    slot: str = ""
    field: str = ""
    context: str = ""
    decisions: tuple[Earlier, ...] = ()


@dataclass(frozen=True, slots=True)
class _Best:
    """The best match of a concept, and what the term is to it."""

    match: Match
    kind: Kind
    preferred: bool
    points: float


def rank(
    question: Question, terms: Iterable[ReadTerm], concept_of: Callable[[str], Concept | None], limit: int = 10
) -> list[Candidate]:
    """The best concepts for the question, at most `limit`, best first; equal ones in the order of their CUIs.

    `terms` are what retrieval found, `concept_of` gives the facts about their concepts: one without any is left out.
    """
    matcher = Matcher(question.spellings, question.weights)
    decided = {decision.cui for decision in question.decisions}
    best: dict[str, _Best] = {}
    for read in terms:
        match = matcher.match(read)
        if match is None:
            continue
        for meaning in read.term.concepts:
            if match.covered < LEAST_COVERED and meaning.cui not in decided:
                continue
            points = match.points + _kind_points(meaning.kind, meaning.preferred)
            if meaning.cui not in best or points > best[meaning.cui].points:
                best[meaning.cui] = _Best(match, meaning.kind, meaning.preferred, points)
    around = (
        frozenset(word_keys(question.context)) - frozenset(word_keys(question.phrase))
        if question.context
        else frozenset()
    )
    found = [
        _placed(question, concept, each, around)
        for cui, each in _near(best, question, limit)
        if (concept := concept_of(cui)) is not None
    ]
    first = sorted(_twins_apart(sorted(found, key=_Placed.place)), key=_Placed.place)[:limit]
    return [_candidate(matcher, placed) for placed in first]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A concept with its points and the reasons that lie in the concept."""

    points: float
    concept: Concept
    best: _Best
    facts: list[Reason]

    def place(self) -> tuple[float, str]:
        return -round(self.points, 1), self.concept.cui


def _placed(question: Question, concept: Concept, best: _Best, around: frozenset[str]) -> _Placed:
    facts = _facts(question, concept, around)
    return _Placed(best.points + sum(reason.points for reason in facts), concept, best, facts)


def _twins_apart(found: Iterable[_Placed]) -> Iterable[_Placed]:
    """The same, with points off for what has name and term of one before: another answer is worth more than the same
    one again, but that may still be what is wanted."""
    seen: Counter[tuple[str, str]] = Counter()
    for placed in found:
        name = (placed.concept.name, placed.best.match.term.text)
        off = TWIN * seen[name]
        seen[name] += 1
        reason = Reason("twin", off, "another concept has this name too")
        yield _Placed(placed.points + off, placed.concept, placed.best, [*placed.facts, reason]) if off else placed


def _near(best: dict[str, _Best], question: Question, limit: int) -> Iterable[tuple[str, _Best]]:
    """Concepts whose term is good enough for the facts about them to bring them among the first."""
    points = sorted((each.points for each in best.values()), reverse=True)
    gain = (
        COMMON
        + (_type_most(question) if question.slot or question.field else 0.0)
        + (CONTEXT if question.context else 0.0)
    )
    least = points[min(limit, len(points)) - 1] - gain if points else 0.0
    decided = {decision.cui for decision in question.decisions}
    return ((cui, each) for cui, each in best.items() if each.points >= least or cui in decided)


def _type_most(question: Question) -> float:
    return PLACE_FITS if question.field == "location" else TYPE_FITS


def _kind_points(kind: Kind, preferred: bool) -> float:
    return (RELATED if kind == Kind.RELATED else 0.0) + (PREFERRED if preferred or kind == Kind.NAME else 0.0)


def _facts(question: Question, concept: Concept, around: frozenset[str]) -> list[Reason]:
    """The reasons that lie in the concept and not in the term."""
    reasons = [reason for reason in (_type_reason(question, concept), _common_reason(concept)) if reason]
    reasons += _decision_reasons(question, concept)
    return reasons + (_context_reasons(concept, around) if around else [])


def _candidate(matcher: Matcher, placed: _Placed) -> Candidate:
    concept, best = placed.concept, placed.best
    reasons, text = matcher.told(best.match), best.match.term.text
    doubt = "" if _is_spoken_for(placed) else matcher.doubt(best.match)
    if doubt:
        reasons.insert(0, Reason("weak", 0.0, doubt))
    if best.kind == Kind.RELATED:
        reasons.append(Reason("related", RELATED, "only a broader, narrower or related term"))
    elif best.preferred or best.kind == Kind.NAME:
        reasons.append(Reason("kind", PREFERRED, "preferred name"))
    reasons = [Reason(each.kind, round(each.points, 1), each.sentence) for each in reasons + placed.facts]
    reasons = [each for each in reasons if each.points or each.kind in {"wording", "weak"}]
    return Candidate(concept.cui, concept.name, concept.semantic_types, text, round(placed.points, 1), tuple(reasons))


def _is_spoken_for(placed: _Placed) -> bool:
    """Whether a doctor chose it before, or it is a wider place of the body where a place is asked for."""
    place = any(reason.kind == "type" and reason.points >= PLACE_FITS for reason in placed.facts)
    decided = any(reason.kind == "decision" for reason in placed.facts)
    return decided or (place and placed.best.match.besides >= MOSTLY)


def _type_reason(question: Question, concept: Concept) -> Reason | None:
    value, code = fit(concept.semantic_types, question.slot, question.field)
    if not value:
        return None
    wanted = _WANTED.get(question.field) or question.slot.replace("_", " ")
    return Reason("type", _type_most(question) * value, f"{type_name(code)} fits {wanted}")


def _common_reason(concept: Concept) -> Reason:
    """A concept that many strings name is a common one; what is common is meant more often."""
    names = len(concept.synonyms) + 1
    return Reason("common", COMMON * min(1.0, names / 12) ** 0.5, f"{names} names" if names > 1 else "one name")


def for_phrase(decisions: Iterable[Earlier], phrase: str) -> tuple[Earlier, ...]:
    """Those of the decisions that are about the same words, in whatever order and spelling; others say nothing about
    the phrase.
    """
    bag = bag_of(phrase)
    return tuple(decision for decision in decisions if bag and bag_of(decision.phrase) == bag)


def _decision_reasons(question: Question, concept: Concept) -> list[Reason]:
    """The decision that speaks most for the concept: of the same letters rather than the same words, of the same slot
    rather than another.
    """
    folded = fold(question.phrase)
    shares = [
        (SAME_LETTERS if fold(decision.phrase) == folded else OTHER_LETTERS)
        * (1.0 if decision.slot in ("", question.slot) else OTHER_SLOT)
        for decision in question.decisions
        if decision.cui == concept.cui
    ]
    if not shares:
        return []
    decision = [each for each in question.decisions if each.cui == concept.cui][shares.index(max(shares))]
    return [
        Reason("decision", DECIDED * max(shares), f"{decision.by or 'A doctor'} chose this for “{decision.phrase}”")
    ]


def _context_reasons(concept: Concept, around: frozenset[str]) -> list[Reason]:
    """Words of the utterance that the concept's names have too, beside the phrase itself."""
    said: dict[str, str] = {}
    for text in (concept.name, *concept.synonyms[:30]):
        for word in fold(text).split():
            key = word_keys(word)
            if len(word) > 3 and key and key[0] in around:
                said.setdefault(key[0], word)
    if not said:
        return []
    shown = ", ".join(f"“{word}”" for word in list(said.values())[:3])
    return [Reason("context", CONTEXT * min(1.0, len(said) / 2), f"said nearby: {shown}")]
