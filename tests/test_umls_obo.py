"""Reading the Human Phenotype Ontology: what is taken from the file, and what is inferred."""

from __future__ import annotations

from umls_linker.domain.obo import concepts_of, read_obo
from umls_linker.domain.vocabulary import Atom, Faults, Kind, TypeOf
from umls_linker.index.sources import Embedded

FILE = """format-version: 1.2
data-version: hp/releases/2030-02-03
synonymtypedef: layperson "layperson term"

[Term]
id: HP:0002793
name: Abnormal pattern of respiration

[Term]
id: HP:0002094
name: Dyspnea
synonym: "Trouble \\"breathing\\"" EXACT layperson []
synonym: "Panting" RELATED layperson []
synonym: "SOB" EXACT abbreviation []
synonym: "Gone" EXACT obsolete_synonym []
synonym: "Dyspnoea" EXACT uk_spelling [orcid:1]
xref: SNOMEDCT_US:267036007
xref: UMLS:C0013404
is_a: HP:0002793 ! Abnormal pattern of respiration

[Term]
id: HP:0002098
name: Respiratory distress
synonym: "Breathing difficulties" EXACT layperson []
xref: UMLS:C0013404
xref: UMLS:C0476273
is_a: HP:0002094 ! Dyspnea

[Term]
id: HP:0000001
name: All
xref: UMLS:C0444868

[Term]
id: HP:0000009
name: obsolete Something
xref: UMLS:C0000009
is_obsolete: true

[Term]
id: HP:0000010
name: No concept

[Typedef]
id: part_of
name: part of
xref: UMLS:C0000010
"""


def read() -> tuple[list[Atom], dict[str, str]]:
    items = list(concepts_of(read_obo(FILE.splitlines(keepends=True))))
    atoms = [item for item in items if isinstance(item, Atom)]
    return atoms, {item.cui: item.semantic_type for item in items if isinstance(item, TypeOf)}


def test_the_release_is_read() -> None:
    assert read_obo(FILE.splitlines()).release == "2030-02-03"


def test_names_and_synonyms_with_their_kinds() -> None:
    atoms, _ = read()
    own = {atom.text: atom.kind for atom in atoms if atom.cui == "C0013404"}
    assert own == {
        "Dyspnea": Kind.NAME,
        'Trouble "breathing"': Kind.LAYPERSON,
        "Panting": Kind.RELATED,
        "SOB": Kind.ABBREVIATION,
        "Dyspnoea": Kind.SYNONYM,
        "Respiratory distress": Kind.SYNONYM,
        "Breathing difficulties": Kind.LAYPERSON,
    }


def test_a_concept_of_several_terms_is_named_by_the_term_that_claims_it_alone() -> None:
    atoms, _ = read()
    names = {atom.cui: atom.text for atom in atoms if atom.kind is Kind.NAME}
    assert names == {"C0013404": "Dyspnea", "C0476273": "Respiratory distress", "C0444868": "All"}
    assert {(atom.text, atom.cui) for atom in atoms if atom.preferred} >= {("Respiratory distress", "C0476273")}


def test_obsolete_terms_terms_without_a_concept_and_other_stanzas_are_left_out() -> None:
    atoms, _ = read()
    assert {atom.cui for atom in atoms} == {"C0013404", "C0476273", "C0444868"}


def test_types_come_from_the_nearest_branch_above() -> None:
    _, types = read()
    assert types == {"C0013404": "T184", "C0476273": "T184", "C0444868": "T033"}


def test_a_circle_of_parents_ends() -> None:
    circle = "[Term]\nid: HP:1\nname: a\nxref: UMLS:C0000001\nis_a: HP:2\n\n[Term]\nid: HP:2\nname: b\nis_a: HP:1\n"
    assert TypeOf("C0000001", "T033") in list(concepts_of(read_obo(circle.splitlines())))


def test_the_embedded_sources_are_whole() -> None:
    source, faults = Embedded.find(), Faults()
    items = list(source.atoms(faults))
    atoms = [item for item in items if isinstance(item, Atom)]
    concepts = {atom.cui for atom in atoms}
    assert faults.total == 0
    assert len(concepts) > 13_000
    assert concepts == {item.cui for item in items if isinstance(item, TypeOf)}
    meanings = {(atom.text.lower(), atom.cui) for atom in atoms}
    assert {("shortness of breath", "C0013404"), ("coughing up blood", "C0019079"), ("advil", "C0020740")} <= meanings
    assert source.ontology.release in source.licences[0].text
