"""Semantic types of the UMLS: their names, and which of them a slot of the questionnaire usually means.

What a slot means is a preference, never a filter: patients call diseases symptoms and symptoms diseases, and the doctor
decides. Names and codes are those of the UMLS Semantic Network.
"""

from __future__ import annotations

import re

_TYPE_NAMES = """
T001 Organism|T002 Plant|T004 Fungus|T005 Virus|T007 Bacterium|T008 Animal|T010 Vertebrate|T011 Amphibian|T012 Bird|T013
Fish T014 Reptile|T015 Mammal|T016 Human|T017 Anatomical Structure|T018 Embryonic Structure|T019 Congenital Abnormality
T020 Acquired Abnormality|T021 Fully Formed Anatomical Structure|T022 Body System|T023 Body Part, Organ, or Organ
Component T024 Tissue|T025 Cell|T026 Cell Component|T028 Gene or Genome|T029 Body Location or Region|T030 Body Space or
Junction T031 Body Substance|T032 Organism Attribute|T033 Finding|T034 Laboratory or Test Result|T037 Injury or
Poisoning T038 Biologic Function|T039 Physiologic Function|T040 Organism Function|T041 Mental Process|T042 Organ or
Tissue Function T043 Cell Function|T044 Molecular Function|T045 Genetic Function|T046 Pathologic Function|T047 Disease
or Syndrome T048 Mental or Behavioral Dysfunction|T049 Cell or Molecular Dysfunction|T050 Experimental Model of
Disease|T051 Event|T052 Activity T053 Behavior|T054 Social Behavior|T055 Individual Behavior|T056 Daily or Recreational
Activity|T057 Occupational Activity T058 Health Care Activity|T059 Laboratory Procedure|T060 Diagnostic Procedure|T061
Therapeutic or Preventive Procedure T062 Research Activity|T063 Molecular Biology Research Technique|T064 Governmental
or Regulatory Activity|T065 Educational Activity T066 Machine Activity|T067 Phenomenon or Process|T068 Human-caused
Phenomenon or Process|T069 Environmental Effect of Humans T070 Natural Phenomenon or Process|T071 Entity|T072 Physical
Object|T073 Manufactured Object|T074 Medical Device|T075 Research Device T077 Conceptual Entity|T078 Idea or
Concept|T079 Temporal Concept|T080 Qualitative Concept|T081 Quantitative Concept T082 Spatial Concept|T083 Geographic
Area|T085 Molecular Sequence|T086 Nucleotide Sequence|T087 Amino Acid Sequence T088 Carbohydrate Sequence|T089
Regulation or Law|T090 Occupation or Discipline|T091 Biomedical Occupation or Discipline T092 Organization|T093 Health
Care Related Organization|T094 Professional Society|T095 Self-help or Relief Organization|T096 Group T097 Professional
or Occupational Group|T098 Population Group|T099 Family Group|T100 Age Group|T101 Patient or Disabled Group T102 Group
Attribute|T103 Chemical|T104 Chemical Viewed Structurally|T109 Organic Chemical|T114 Nucleic Acid, Nucleoside, or
Nucleotide T116 Amino Acid, Peptide, or Protein|T120 Chemical Viewed Functionally|T121 Pharmacologic Substance T122
Biomedical or Dental Material|T123 Biologically Active Substance|T125 Hormone|T126 Enzyme|T127 Vitamin|T129 Immunologic
Factor T130 Indicator, Reagent, or Diagnostic Aid|T131 Hazardous or Poisonous Substance|T167 Substance|T168 Food|T169
Functional Concept T170 Intellectual Product|T171 Language|T184 Sign or Symptom|T185 Classification|T190 Anatomical
Abnormality T191 Neoplastic Process|T192 Receptor|T194 Archaeon|T195 Antibiotic|T196 Element, Ion, or Isotope|T197
Inorganic Chemical T200 Clinical Drug|T201 Clinical Attribute|T203 Drug Delivery Device|T204 Eukaryote
"""
# A line may end between two types or within a name.
TYPE_NAMES: dict[str, str] = dict(re.findall(r"(T\d{3}) ([^|]+?)[ |]*(?=T\d{3} |$)", " ".join(_TYPE_NAMES.split())))

_SIGNS = ("T184", "T033")
_DISEASES = ("T047", "T191", "T048", "T046", "T037", "T019", "T190", "T020", "T049")
_BODY = ("T023", "T029", "T030", "T022", "T024", "T082", "T017", "T018")
_DRUGS = (
    "T121",
    "T200",
    "T195",
    "T109",
    "T116",
    "T127",
    "T125",
    "T129",
    "T122",
    "T123",
    "T203",
    "T197",
    "T168",
    "T103",
)
_TESTS = ("T060", "T059", "T034", "T201", "T058", "T130")
_TREATMENTS = ("T061", "T058", "T074")
_BEHAVIOUR = ("T055", "T053", "T054", "T056", "T052", "T168", "T131", "T048", "T040")
_CAUSES = (
    "T131",
    "T129",
    "T167",
    "T168",
    "T008",
    "T002",
    "T204",
    "T005",
    "T007",
    "T004",
    "T109",
    "T103",
    "T073",
    "T051",
    "T070",
    "T121",
)

# Slot → the types that fit well, and those that fit less well but often. Most expected first.
FITTING: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "symptom": (("T184", "T033", "T048", "T046"), (*_DISEASES, "T034", "T040", "T039", "T041", "T042")),
    "symptom (dermatology)": (("T184", "T033", "T047", "T046"), _DISEASES),
    "disease": (_DISEASES, _SIGNS),
    "diseases/conditions": (_DISEASES, _SIGNS),
    "exposure": (_CAUSES, ("T033", *_DISEASES, "T057", "T058", "T061")),
    "habit": (_BEHAVIOUR, ("T033", "T121", "T109", "T002", "T131")),
    "medical history": ((*_DISEASES, *_TREATMENTS), (*_SIGNS, *_TESTS)),
    "family history": (_DISEASES, _SIGNS),
    "medication": (_DRUGS, ("T061", "T074")),
    "medical test": (_TESTS, ("T061", "T033")),
}
# Fields that mean something else than their slot's head does.
FITTING_FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "location": (_BODY, ()),
    "response_to": ((*_SIGNS, *_DISEASES), _DRUGS),
}
# The slot that a concept found in free text most likely belongs to, by its type.
_SLOT_OF = {
    **dict.fromkeys(_CAUSES, "exposure"),
    **dict.fromkeys(_DRUGS, "medication"),
    **dict.fromkeys(_BODY, "location"),
    **dict.fromkeys(_TREATMENTS, "medical history"),
    **dict.fromkeys(_TESTS, "medical test"),
    **dict.fromkeys(("T055", "T053", "T054", "T056"), "habit"),
    **dict.fromkeys(_DISEASES, "disease"),
    **dict.fromkeys(("T131", "T129", "T167"), "exposure"),
    **dict.fromkeys((*_SIGNS, "T048"), "symptom"),
}


def type_name(code: str) -> str:
    """The name of a semantic type ("T184" → "Sign or Symptom"); a code that is not known comes back as it is."""
    return TYPE_NAMES.get(code, code)


def fit(types: tuple[str, ...], slot: str, field: str = "") -> tuple[float, str]:
    """How well a concept of these types fits a slot or its field, and the code of the type that does ("" if none).

    1 for a type that the slot means, 0.5 for one that it often means too, 0 otherwise.
    """
    well, less = _fitting(slot, field)
    for fitting, value in ((well, 1.0), (less, 0.5)):
        for code in types:
            if code in fitting:
                return value, code
    return 0.0, ""


def types_that_fit(slot: str, field: str = "") -> tuple[str, ...]:
    """The codes of the types that a slot or its field means, the most expected first; () where nothing is known."""
    well, less = _fitting(slot, field)
    return tuple(dict.fromkeys((*well, *less)))


def _fitting(slot: str, field: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return FITTING_FIELDS.get(field) or FITTING.get(slot, ((), ()))


def slot_of(types: tuple[str, ...]) -> str:
    """The slot, or "location", that a concept of these types most likely belongs to; "" where none does."""
    return next((_SLOT_OF[code] for code in types if code in _SLOT_OF), "")
