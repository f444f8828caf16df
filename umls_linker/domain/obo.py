"""The Human Phenotype Ontology's file `hp.obo` as concepts of the UMLS.

Read are the terms that name at least one UMLS concept (`xref: UMLS:C…`) and are not obsolete, with their names and
synonyms. Three things the file does not say are inferred here:

- **Semantic types.** The file has none. Each term gets the type of the nearest branch above it in `BRANCH_TYPES`; a
  finding (T033) otherwise. Types of a vocabulary built from it are therefore approximate.
- **The term's own concept.** Where a term names several concepts, its own is the lowest-numbered one that no other
  term claims alone; its name is a preferred name of that one only, and a synonym of the others.
- **A concept's name.** Where several terms name one concept, it is called as the term that claims it alone (lowest
  number first), else as the term that names the fewest concepts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from umls_linker.domain.vocabulary import Atom, Kind, TypeOf

SOURCE = "HPO"
FINDING = "T033"

# Branch of the ontology → semantic type. The nearest branch upwards counts.
BRANCH_TYPES = {
    "HP:0000005": "T169",  # mode of inheritance: functional concept
    "HP:0012823": "T080",  # clinical modifier: qualitative concept
    "HP:0040279": "T079",  # frequency: temporal concept
    "HP:0025142": "T184",  # constitutional symptom: sign or symptom
    "HP:0012531": "T184",  # pain
    "HP:0011458": "T184",  # abdominal symptom
    "HP:0011134": "T184",  # low-grade fever
    "HP:0001945": "T184",  # fever
    "HP:0012735": "T184",  # cough
    "HP:0002094": "T184",  # dyspnea
    "HP:0002793": "T184",  # abnormal pattern of respiration
    "HP:0030828": "T184",  # wheezing
    "HP:0002315": "T184",  # headache
    "HP:0002321": "T184",  # vertigo
    "HP:0001962": "T184",  # palpitations
    "HP:0002017": "T184",  # nausea and vomiting
    "HP:0002014": "T184",  # diarrhea
    "HP:0002019": "T184",  # constipation
    "HP:0000989": "T184",  # pruritus
    "HP:0001744": "T033",  # splenomegaly
    "HP:0003401": "T184",  # paresthesia
    "HP:0031417": "T184",  # rhinorrhea
    "HP:0100806": "T047",  # sepsis
    "HP:0002664": "T191",  # neoplasm: neoplastic process
    "HP:0000708": "T048",  # atypical behaviour: mental or behavioural dysfunction
    "HP:0001250": "T047",  # seizure
    "HP:0002099": "T047",  # asthma
    "HP:0002090": "T047",  # pneumonia
    "HP:0000819": "T047",  # diabetes mellitus
    "HP:0000822": "T047",  # hypertension
    "HP:0001297": "T047",  # stroke
    "HP:0001658": "T047",  # myocardial infarction
    "HP:0001635": "T047",  # congestive heart failure
    "HP:0001626": "T047",  # cardiovascular system
    "HP:0002715": "T047",  # immune system
    "HP:0010978": "T047",  # immune system physiology
    "HP:0002719": "T047",  # recurrent infections
    "HP:0032101": "T047",  # unusual infection
    "HP:0011893": "T034",  # abnormal leukocyte count: laboratory result
    "HP:0011389": "T047",  # inner ear
    "HP:0011025": "T047",  # cardiovascular physiology
    "HP:0001939": "T034",  # metabolism and homeostasis: laboratory or test result
    "HP:0030680": "T190",  # cardiovascular morphology: anatomical abnormality
    "HP:0002088": "T047",  # lung morphology
    "HP:0000924": "T190",  # skeletal system
    "HP:0000152": "T190",  # head and neck
    "HP:0040064": "T190",  # limbs
}

_SYNONYM = re.compile(r'"((?:[^"\\]|\\.)*)"\s+(EXACT|BROAD|NARROW|RELATED)(?:\s+([A-Za-z_:0-9]+))?\s*\[')
_UMLS = re.compile(r"UMLS:(C\d{7})\b")


@dataclass(slots=True)
class OboTerm:
    """One stanza of the file. `synonyms`: (text, scope, type) with the file's own words for both."""

    id: str = ""
    name: str = ""
    synonyms: list[tuple[str, str, str]] = field(default_factory=list)
    cuis: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    obsolete: bool = False


@dataclass(frozen=True, slots=True)
class Ontology:
    """The file's release (`2025-01-16`) and all its terms by identifier."""

    release: str
    terms: dict[str, OboTerm]


def read_obo(lines: Iterable[str]) -> Ontology:
    """The ontology in these lines. Lines of kinds that are not needed are passed over."""
    release, terms = "", {}
    term: OboTerm | None = None
    for line in map(str.rstrip, lines):
        if line.startswith("["):
            term = OboTerm() if line == "[Term]" else None
            continue
        key, _, value = line.partition(": ")
        if term is None:
            if key == "data-version":
                release = value.rpartition("/")[2].strip()
            continue
        if key == "id":
            term.id = value.strip()
            terms[term.id] = term
        else:
            _take(term, key, value)
    return Ontology(release, terms)


def _take(term: OboTerm, key: str, value: str) -> None:
    if key == "name":
        term.name = value.strip()
    elif key == "synonym" and (match := _SYNONYM.match(value)):
        term.synonyms.append((re.sub(r"\\(.)", r"\1", match[1]).strip(), match[2], match[3] or ""))
    elif key == "xref" and (match := _UMLS.match(value)):
        if match[1] not in term.cuis:
            term.cuis.append(match[1])
    elif key == "is_a":
        term.parents.append(value.split(" ", 1)[0])
    elif key == "is_obsolete":
        term.obsolete = value.strip() == "true"


def concepts_of(ontology: Ontology) -> Iterator[Atom | TypeOf]:
    """Every string of every concept that the ontology names, and each concept's inferred semantic types."""
    linked = [term for term in ontology.terms.values() if term.cuis and term.name and not term.obsolete]
    alone = {term.cuis[0] for term in linked if len(term.cuis) == 1}
    namer = _namers(linked)
    types: dict[str, str] = {}
    for term in linked:
        own = _own(term, alone)
        for cui in term.cuis:
            is_name = namer[cui] is term
            first = cui == own and is_name
            kind = Kind.NAME if is_name else Kind.SYNONYM
            yield Atom(term.name, cui, first, SOURCE, kind)
            for text, scope, sort in term.synonyms:
                if text and sort != "obsolete_synonym":
                    yield Atom(text, cui, False, SOURCE, _kind(scope, sort))
            if is_name:
                yield TypeOf(cui, _type_of(term.id, ontology.terms, types))


def _own(term: OboTerm, alone: set[str]) -> str:
    """The concept that the term itself is, see the module's text."""
    return min(term.cuis) if len(term.cuis) == 1 else min([cui for cui in term.cuis if cui not in alone] or term.cuis)


def _namers(linked: Iterable[OboTerm]) -> dict[str, OboTerm]:
    claims: dict[str, list[OboTerm]] = defaultdict(list)
    for term in linked:
        for cui in term.cuis:
            claims[cui].append(term)
    return {cui: min(terms, key=lambda term: (len(term.cuis), term.id)) for cui, terms in claims.items()}


def _kind(scope: str, sort: str) -> Kind:
    if sort == "abbreviation":
        return Kind.ABBREVIATION
    if scope != "EXACT":
        return Kind.RELATED
    return Kind.LAYPERSON if sort == "layperson" else Kind.SYNONYM


def _type_of(identifier: str, terms: dict[str, OboTerm], known: dict[str, str]) -> str:
    """The type of the nearest branch upwards, breadth first, so that a close branch wins over a far one."""
    if identifier in known:
        return known[identifier]
    level, seen, found = [identifier], {identifier}, ""
    while level and not found:
        found = next((BRANCH_TYPES[each] for each in level if each in BRANCH_TYPES), "")
        parents = (parent for each in level if each in terms for parent in terms[each].parents)
        level = [parent for parent in dict.fromkeys(parents) if parent not in seen]
        seen.update(level)
    return known.setdefault(identifier, found or FINDING)
