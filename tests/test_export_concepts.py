"""Decided concepts in exports: names in the data files, the labels' words beside them, counts, and what is checked."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.concepts import CanonicalConcept, Outcome
from annotation.domain.export_concepts import (
    VALUES_HEADER,
    BadValues,
    ConceptCounts,
    read_values,
    stated_canon,
    stated_vocabularies,
)
from annotation.domain.export_utterances import csv_text
from annotation.domain.export_verification import sha256_of, verify_export
from annotation.domain.exported import ValueRow
from annotation.models import Project
from annotation.questionnaires import get_questionnaire
from tests import factory
from tests.conftest import People
from tests.exporting import contents, make_gold, write
from tests.factory import inform, inquire
from tests.reviewing import CONCEPTS, Small, form_of, make_vocabulary
from tests.test_export_schemas import faults
from umls_linker.models import Occurrence
from umls_linker.services.decisions import (
    decision_for_label,
    decision_nil,
    decision_propose,
    decision_take,
)
from umls_linker.services.linking import label_sets_collect

DYSPNEA, COUGH = "C0013404", "C0010200"
SAID = [
    inform(1, "symptom", "SOB", status="yes", location=["upstairs"]),
    inquire(2, "symptom", "short of breath", checks=["onset"]),
    inform(3, "symptom", "short of breath", "cough", status="no"),
    inform(5, "symptom", "whatsit", "cough", status="yes"),
    inform(7, "habit", "smoking", status="yes"),
]


# --- the tables ---


def row(position: int, value: str, outcome: str = "open", cui: str = "", version: str = "1") -> ValueRow:
    stated = ("concept" if cui and outcome == "open" else outcome, cui, cui and f"Name {cui}", "T184")
    return ValueRow(position, "symptom", "value", value, *stated, *(("V", version) if cui else ("", "")))


def test_concepts_are_counted_by_values_and_occurrences() -> None:
    counts = ConceptCounts()
    counts.add([row(1, "SOB", cui="C1"), row(3, "sob ", cui="C1"), row(3, "winded", cui="C1"), row(4, "x", "nil")])
    counts.add([row(1, "cough", cui="C2", version="2"), row(1, "y"), row(2, "z"), row(5, "z")])
    counts.add([row(1, "own", "proposed", "NEW0001")])
    table = list(csv.DictReader(io.StringIO(counts.piece().text)))
    assert [(one["cui"], one["outcome"], one["values"], one["occurrences"]) for one in table] == [
        ("C1", "concept", "2", "3"),
        ("C2", "concept", "1", "1"),
        ("NEW0001", "proposed", "1", "1"),
        ("", "nil", "1", "1"),
        ("", "open", "2", "3"),
    ]
    assert counts.as_json() == {
        "concepts": 2,
        "proposed": 1,
        "values": {"concept": 3, "proposed": 1, "nil": 1, "open": 2},
        "occurrences": {"concept": 4, "proposed": 1, "nil": 1, "open": 3},
    }
    assert stated_vocabularies([counts], {("V", "1"): "Say so."}) == [
        {"name": "V", "version": "1", "attribution": "Say so."},
        {"name": "V", "version": "2", "attribution": ""},
    ]
    assert stated_vocabularies([ConceptCounts()], {}) is None


def test_the_values_come_back_from_their_table() -> None:
    rows = [row(1, 'a, "b"\nc', cui="C1"), row(3, "d", "nil"), row(3, "سعال")]
    text = csv_text([VALUES_HEADER, *(("A", *one) for one in rows), ("B", *rows[0])])
    assert read_values(text) == {"A": rows, "B": rows[:1]}
    canon = stated_canon(rows)
    assert canon.concept("symptom", "value", 'A, "b" c', "1") == CanonicalConcept("C1", "Name C1")
    assert canon.concept("symptom", "value", 'a, "b" c', "3") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "first line"),
        (csv_text([VALUES_HEADER, ("A", 1)]), "none of its form"),
        (csv_text([VALUES_HEADER, ("A", "x", *row(1, "a")[1:])]), "none of its form"),
        (csv_text([VALUES_HEADER, ("A", *row(1, "a", "perhaps"))]), "none of its form"),
        (csv_text([VALUES_HEADER, ("A", *row(1, "a", "nil", "C1"))]), "says “nil” with the concept “C1”"),
        (csv_text([VALUES_HEADER, ("A", *row(1, "a", "concept"))]), "says “concept” with the concept “”"),
    ],
)
def test_a_table_of_another_form_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadValues, match=said):
        read_values(text)


# --- a project with decisions ---


@pytest.fixture
def decided(project: Project, people: People) -> Project:
    """Two dialogues that say the same; a concept, one for a single utterance, a proposed one, none, and two open."""
    make_vocabulary()
    for name in ("ONE", "TWO"):
        dialogue = factory.make_dialogue(project, name)
        make_gold(dialogue, people.annotator, people.second, people.supervisor, SAID)
    label_sets_collect(project=project)
    doctor = people.doctor
    for words in ("sob", "short of breath"):
        decision_take(form=form_of(project, words), actor=doctor, cui=DYSPNEA, expected=None)
    cough = form_of(project, "cough")
    decision_nil(form=cough, actor=doctor, expected=None)
    place = {"utterance__dialogue__external_id": "ONE", "utterance__position": 5}
    here = Occurrence.objects.filter(surface_form=cough, **place).first()
    assert here is not None
    decision_for_label(form=cough, label_id=here.label_id, actor=doctor, cui=COUGH)
    decision_propose(form=form_of(project, "whatsit"), actor=doctor, name="Whatsit syndrome", expected=None)
    return project


def read(folder: Path, path: str) -> Any:
    return json.loads((folder / path).read_text(encoding="utf-8"))


def table(folder: Path, path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / path).read_bytes().decode(), newline="")))


def findings(folder: Path) -> list[str]:
    return [str(one) for one in verify_export(folder, questionnaire=get_questionnaire("cmas")).findings]


@pytest.mark.django_db
def test_data_files_have_canonical_names_and_portal_files_the_words_of_the_labels(
    decided: Project, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    write(decided, out)
    one, two = (read(out, "dialogs.json")[name]["utterances"] for name in ("ONE", "TWO"))
    assert [entry["value"] for entry in one[1]["dialog_state"]["positive_symptom"]] == ["Dyspnea"]
    assert [entry["value"] for entry in one[3]["dialog_state"]["negative_symptom"]] == ["Dyspnea", "cough"]
    assert one[3]["dialog_state"]["negative_symptom"][0]["location"] == ["upstairs"], "one entry, whatever the wording"
    assert [entry["value"] for entry in one[5]["nlu"][0]["slots"]["positive_symptom"]] == ["Whatsit syndrome", "Cough"]
    assert [entry["value"] for entry in two[5]["nlu"][0]["slots"]["positive_symptom"]] == ["Whatsit syndrome", "cough"]
    assert one[2]["actions"][0]["symptom"][0]["value"] == "Dyspnea"
    files = contents(out)
    for path in ("utterances.jsonl", "utterances.csv", "tuples.csv", "huggingface/train.jsonl", "dialogs.json"):
        assert (b"SOB" in files[path], b"Dyspnea" in files[path]) == (False, True), path
    labels = files["portal/ONE.labels.json"]
    assert (b"SOB" in labels, b"whatsit" in labels, b"Dyspnea" in labels) == (True, True, False)
    assert findings(out) == []


@pytest.mark.django_db
def test_a_concept_has_one_name_in_all_files_that_of_its_newest_decision(
    decided: Project, people: People, tmp_path: Path
) -> None:
    make_vocabulary(Small({**CONCEPTS, DYSPNEA: ("T184", "Breathing difficulty", "dyspnea")}, version="2027-01"))
    form = form_of(decided, "short of breath")
    decision_take(form=form, actor=people.doctor, cui=DYSPNEA, expected=form.decisions.standing().get().pk)
    out = tmp_path / "out"
    write(decided, out)
    rows = [one for one in table(out, "medical_values.csv") if one["cui"] == DYSPNEA]
    assert {one["name"] for one in rows} == {"Breathing difficulty"}
    assert {one["value"]: one["vocabulary_version"] for one in rows} == {"SOB": "2026-01", "short of breath": "2027-01"}
    concepts = [one for one in table(out, "concepts.csv") if one["cui"] == DYSPNEA]
    assert [one["name"] for one in concepts] == ["Breathing difficulty"] * 2  # a row for each version
    for path, content in contents(out).items():
        assert b"Dyspnea" not in content, path
    assert findings(out) == []


@pytest.mark.django_db
def test_every_value_is_listed_with_what_was_decided_and_summed_up(decided: Project, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(decided, out)
    rows = [one for one in table(out, "medical_values.csv") if one["dialogue_id"] == "ONE"]
    assert [(one["uttr_id"], one["field"], one["value"], one["outcome"], one["cui"]) for one in rows] == [
        ("1", "value", "SOB", "concept", DYSPNEA),
        ("1", "location", "upstairs", "open", ""),
        ("2", "value", "short of breath", "concept", DYSPNEA),
        ("3", "value", "short of breath", "concept", DYSPNEA),
        ("3", "value", "cough", "nil", ""),
        ("5", "value", "whatsit", "proposed", "NEW0001"),
        ("5", "value", "cough", "concept", COUGH),
        ("7", "value", "smoking", "open", ""),
    ]
    first = table(out, "concepts.csv")[0]
    assert first == {
        "outcome": "concept",
        "cui": DYSPNEA,
        "name": "Dyspnea",
        "semantic_types": "T184",
        "vocabulary": "embedded",
        "vocabulary_version": "2026-01",
        "values": "2",
        "occurrences": "6",
    }
    manifest = read(out, "manifest.json")
    assert manifest["values"] == "canonical"
    assert manifest["parts"][0]["concepts"]["occurrences"] == {"concept": 7, "proposed": 2, "nil": 3, "open": 4}
    assert manifest["vocabulary"] == [{"name": "embedded", "version": "2026-01", "attribution": "Made for tests."}]
    card = (out / "huggingface/README.md").read_text(encoding="utf-8")
    assert "9 of 16 are linked to 3 concepts, of which this project proposed 1" in card
    assert "- embedded 2026-01: Made for tests." in card


@pytest.mark.django_db
def test_values_as_written_on_demand(decided: Project, tmp_path: Path) -> None:
    write(decided, tmp_path / "canonical")
    write(decided, tmp_path / "written", surface_forms=True)
    files, canonical = contents(tmp_path / "written"), contents(tmp_path / "canonical")
    assert (b"SOB" in files["dialogs.json"], b"Dyspnea" in files["dialogs.json"]) == (True, False)
    same = ("medical_values.csv", "concepts.csv", "portal/ONE.labels.json", "portal/ONE.dialogue.json")
    assert [path for path in same if files[path] != canonical[path]] == []
    assert read(tmp_path / "written", "manifest.json")["values"] == "written"
    assert findings(tmp_path / "written") == []


@pytest.mark.django_db
def test_what_was_decided_stays_under_a_newer_vocabulary(decided: Project, people: People, tmp_path: Path) -> None:
    write(decided, tmp_path / "before")
    concepts = {**CONCEPTS, DYSPNEA: ("T184", "Breathing difficulty", "dyspnea")}
    make_vocabulary(Small(concepts, version="2027-01"))
    write(decided, tmp_path / "after")
    assert contents(tmp_path / "before") == contents(tmp_path / "after")
    smoking = form_of(decided, "smoking")
    decision_take(form=smoking, actor=people.doctor, cui="C0037369", expected=None)
    write(decided, tmp_path / "both")
    stated = read(tmp_path / "both", "manifest.json")["vocabulary"]
    assert [one["version"] for one in stated] == ["2026-01", "2027-01"]
    assert "Breathing difficulty" not in (tmp_path / "both/dialogs.json").read_text()
    assert findings(tmp_path / "both") == []


@pytest.mark.django_db
def test_without_decisions_nothing_is_linked(project: Project, people: People, tmp_path: Path) -> None:
    make_gold(factory.make_dialogue(project, "ONE"), people.annotator, people.second, people.supervisor, SAID)
    write(project, tmp_path / "out")
    assert read(tmp_path / "out", "manifest.json")["vocabulary"] is None
    (only,) = table(tmp_path / "out", "concepts.csv")
    assert (only["outcome"], only["occurrences"]) == (Outcome.OPEN, "8")
    assert "## Concepts" not in (tmp_path / "out/huggingface/README.md").read_text()


@pytest.mark.django_db
def test_each_annotators_part_has_its_own_tables(decided: Project, tmp_path: Path) -> None:
    write(decided, tmp_path / "all", source="all")
    found = [path for path in contents(tmp_path / "all") if path.endswith(("/concepts.csv", "/medical_values.csv"))]
    assert len(found) == 4
    assert findings(tmp_path / "all") == []


# --- what is checked ---


def forged(folder: Path, path: str, change: Callable[[str], str]) -> list[str]:
    """What is found after a change to one file whose sum the manifest was made to state."""
    before = (folder / path).read_bytes().decode()
    assert change(before) != before
    (folder / path).write_bytes(change(before).encode())
    manifest = read(folder, "manifest.json")
    for one in manifest["files"]:
        if one["path"] == path:
            one["bytes"], one["sha256"] = sha256_of(folder / path)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return findings(folder)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        ("concepts.csv", ",6\n", ",7\n", "concepts.csv: It does not follow from medical_values.csv."),
        ("medical_values.csv", ",SOB,", ",Sob!,", "medical_values.csv, dialogue ONE, turn 1: The labels have “SOB”"),
        (
            "medical_values.csv",
            f"concept,{COUGH},Cough",
            "nil,,",
            "portal/ONE.labels.json, dialogue ONE, turn 5: It do",
        ),
        ("medical_values.csv", "ONE,7,", "TEN,7,", "medical_values.csv, dialogue TEN: It is not in dialogs.json."),
        ("medical_values.csv", "outcome", "result", "medical_values.csv: Its first line does not name its columns."),
        ("medical_values.csv", ",open,", ",opened,", "medical_values.csv: It has a row that is none of its form"),
        (
            "manifest.json",
            '"version": "2026-01"',
            '"version": "1999"',
            "not name the vocabulary embedded 2026-01",
        ),
        ("manifest.json", '"proposed": 1,', '"proposed": 2,', "counts of concepts do not follow"),
        (
            "manifest.json",
            '"values": "canonical"',
            '"values": "written"',
            "portal/ONE.labels.json, dialogue ONE, turn 1",
        ),
    ],
)
def test_what_is_altered_is_named(decided: Project, tmp_path: Path, path: str, old: str, new: str, said: str) -> None:
    write(decided, tmp_path / "out")
    found = forged(tmp_path / "out", path, lambda text: text.replace(old, new, 1))
    assert any(said in one for one in found), found


@pytest.mark.django_db
def test_the_schemas_hold_for_decided_concepts_too(decided: Project, tmp_path: Path) -> None:
    write(decided, tmp_path / "out")
    for name, items in (
        ("medical-values", table(tmp_path / "out", "medical_values.csv")),
        ("concepts", table(tmp_path / "out", "concepts.csv")),
        ("manifest", [read(tmp_path / "out", "manifest.json")]),
    ):
        assert [fault for item in items for fault in faults(name, item)] == []
    linked = table(tmp_path / "out", "medical_values.csv")[0]
    assert faults("medical-values", {**linked, "cui": ""})
    assert faults("medical-values", {**linked, "outcome": "open"})
