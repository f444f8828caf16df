"""The candidates of a value as numbered cards: what each concept is, and why it may be meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from umls_linker.domain.normalise import fold
from umls_linker.domain.slots import type_name
from umls_linker.models import Candidate, Decision, SurfaceForm, Verdict, Vocabulary
from umls_linker.services.project_vocabulary import index_of

KEYS = 9
SYNONYMS = 5  # that are shown at once, with the one by which the concept was found
WEAK = "weak"  # the kind of reason that says a candidate hardly resembles the value
# Kinds of reasons that help a doctor to decide, the most telling first; whatever else gives points is told on demand.
TELLING = (
    WEAK,
    "decision",
    "opposite",
    "exact",
    "abbreviation",
    "wording",
    "coverage",
    "besides",
    "related",
    "context",
)

Types = tuple[tuple[str, str], ...]  # (name, code)


@dataclass(frozen=True, slots=True)
class Card:
    """A concept that may be meant. `key` is the digit that takes it, 0 for none; `met` is the synonym by which it was
    found, "" for its name; `reasons` are those that help to decide, the most telling first; `twins` are the identifiers
    of other candidates of the same name; `weak`: it resembles the value, but hardly."""

    key: int
    cui: str
    name: str
    types: Types
    met: str
    synonyms: tuple[str, ...]
    more_synonyms: tuple[str, ...]
    reasons: tuple[str, ...]
    more_reasons: tuple[str, ...]
    verdict: str
    verdict_by: str
    taken: bool
    twins: tuple[str, ...]
    weak: bool


def cards_of(form: SurfaceForm, standing: Decision | None, vocabulary: Vocabulary | None) -> Iterator[Card]:
    """The candidates, kept ones first and dropped ones last, and kept concepts that are no candidates."""
    marks = {row.cui: row for row in form.shortlistings.select_related("by")}
    found = [_of_candidate(row) for row in form.candidates.all()]
    known = {entry["cui"] for entry in found}
    index = index_of(vocabulary) if vocabulary and marks.keys() - known else None
    for cui in marks.keys() - known:
        concept = index.concept(cui) if index else None
        types, synonyms = (types_of(concept.semantic_types), concept.synonyms) if concept else ((), ())
        given = {"name": marks[cui].name, "types": types, "synonyms": synonyms, "met": "", "weak": False}
        found.append({"cui": cui, **given, "reasons": (), "more_reasons": ()})
    order = {Verdict.KEEP: 0, None: 1, Verdict.DROP: 2}
    found.sort(key=lambda entry: order[Verdict(marks[entry["cui"]].verdict) if entry["cui"] in marks else None])
    names: dict[str, list[str]] = {}
    for entry in found:
        names.setdefault(fold(entry["name"]), []).append(entry["cui"])
    for number, entry in enumerate(found, start=1):
        mark = marks.get(entry["cui"])
        synonyms, at_once = entry.pop("synonyms"), SYNONYMS - bool(entry["met"])
        yield Card(
            key=number if number <= KEYS else 0,
            synonyms=synonyms[:at_once],
            more_synonyms=synonyms[at_once:],
            verdict=mark.verdict if mark else "",
            verdict_by=mark.by.display_name if mark else "",
            taken=standing is not None and standing.cui == entry["cui"],
            twins=tuple(cui for cui in names[fold(entry["name"])] if cui != entry["cui"]),
            **entry,
        )


def _of_candidate(row: Candidate) -> dict[str, Any]:
    met = "" if fold(row.matched) == fold(row.name) else row.matched
    telling, further = told(row.reasons)
    return {
        "cui": row.cui,
        "name": row.name,
        "types": types_of(row.semantic_types),
        "met": met,
        "synonyms": tuple(one for one in row.synonyms if not met or fold(one) != fold(met)),
        "reasons": telling,
        "more_reasons": further,
        "weak": any(reason["kind"] == WEAK for reason in row.reasons),
    }


def told(reasons: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sentences of a candidate's reasons: those that help to decide, the most telling first, and the others."""
    kinds = [("related" if one["kind"] == "kind" and one["points"] < 0 else one["kind"], one) for one in reasons]
    telling = sorted((TELLING.index(kind), place) for place, (kind, _) in enumerate(kinds) if kind in TELLING)
    further = (one["sentence"] for kind, one in kinds if kind not in TELLING)
    return tuple(kinds[place][1]["sentence"] for _, place in telling), tuple(further)


def types_of(codes: Iterable[str]) -> Types:
    """Semantic types in words with their codes."""
    return tuple((type_name(code), code if type_name(code) != code else "") for code in codes)
