"""The fifteen semantic groups into which the UMLS gathers its semantic types (McCray, Burgun and Bodenreider 2001)."""

from __future__ import annotations

from collections.abc import Mapping

from umls_linker.domain.slots import TYPE_NAMES

OTHER = "Other"
_GROUPS = {
    "Disorders": "T019 T020 T033 T037 T046 T047 T048 T049 T050 T184 T190 T191",
    "Chemicals and drugs": (
        "T103 T104 T109 T114 T116 T120 T121 T122 T123 T125 T126 T127 T129 T130 T131 T192 T195 T196 T197 T200"
    ),
    "Procedures": "T058 T059 T060 T061 T062 T063 T065",
    "Anatomy": "T017 T018 T021 T022 T023 T024 T025 T026 T029 T030 T031",
    "Physiology": "T032 T039 T040 T041 T042 T043 T044 T045 T201",
    "Phenomena": "T034 T038 T067 T068 T069 T070",
    "Activities and behaviours": "T051 T052 T053 T054 T055 T056 T057 T064 T066",
    "Devices": "T074 T075 T203",
    "Objects": "T071 T072 T073 T167 T168",
    "Living beings": (
        "T001 T002 T004 T005 T007 T008 T010 T011 T012 T013 T014 T015 T016 T096 T097 T098 T099 T100 T101 T194 T204"
    ),
    "Concepts and ideas": "T077 T078 T079 T080 T081 T082 T089 T102 T169 T170 T171 T185",
    "Genes and molecular sequences": "T028 T085 T086 T087 T088",
    "Occupations": "T090 T091",
    "Organizations": "T092 T093 T094 T095",
    "Geographic areas": "T083",
}
GROUP_OF = {code: group for group, codes in _GROUPS.items() for code in codes.split()}


def all_types() -> list[tuple[str, list[tuple[str, str]]]]:
    """Every semantic type as (group, [(code, name), …]): groups in their usual order, names in the alphabet's; types of
    no group come last, under OTHER."""
    groups: dict[str, list[tuple[str, str]]] = {group: [] for group in (*_GROUPS, OTHER)}
    for code, name in sorted(TYPE_NAMES.items(), key=lambda entry: entry[1]):
        groups[GROUP_OF.get(code, OTHER)].append((code, name))
    return [(group, types) for group, types in groups.items() if types]


def by_group(counts: Mapping[str, int]) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """Counts by type as (group, sum, [(type, count), …]), the largest first in both. A concept of several types is
    counted with each of them."""
    groups: dict[str, list[tuple[str, int]]] = {}
    for code, number in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])):
        groups.setdefault(GROUP_OF.get(code, OTHER), []).append((code, number))
    found = [(group, sum(number for _, number in types), types) for group, types in groups.items()]
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))
