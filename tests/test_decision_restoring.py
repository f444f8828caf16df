"""`import_export` brings decisions about concepts back: exported again, every data file is the same."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.urls import reverse

from annotation.domain import export_source
from annotation.domain.concepts import DecidedConcept, Outcome, surface_key
from annotation.domain.export_concepts import CONCEPTS_PATH, VALUES_HEADER, VALUES_PATH, ConceptCounts, read_values
from annotation.domain.export_utterances import csv_text
from annotation.models import Label, Project, Role
from annotation.services import concept_linking
from annotation.services.concept_linking import StatedDecision, StatedDecisions
from annotation.services.errors import Refused
from tests import factory
from tests.conftest import People
from tests.exporting import contents
from tests.restoring import export, forge, make_whole_project, manifest, refused, restore, run_json
from tests.reviewing import CONCEPTS, Small, form_of, make_vocabulary
from umls_linker.index.manifest import Licence
from umls_linker.models import Decision, DecisionException, Occurrence, ProposedConcept, StatedAttribution, Vocabulary
from umls_linker.services import canonical, project_vocabulary
from umls_linker.services.decisions import (
    NOTHING_TO_UNDO,
    decision_for_label,
    decision_nil,
    decision_propose,
    decision_revert,
    decision_take,
    decision_undo,
)
from umls_linker.services.linking import label_sets_collect
from umls_linker.services.restoring import decisions_restore
from umls_linker.services.vocabularies import vocabularies_root

OTHERWISE = {"annotators", "agreement", "newest_label", "splits"}
COUGH, FEVER, SMOKING, NIGHTS = "C0010200", "C0015967", "C0037369", "C0028081"


@pytest.fixture
def decided(project: Project, people: People) -> Project:
    """Two wordings of one concept, one of them with another decision at one utterance; none, but not at one utterance;
    a concept at one utterance alone; a proposed one; one of a later vocabulary; and some values left open."""
    make_whole_project(project, people.annotator, people.second, people.supervisor)
    make_vocabulary()
    label_sets_collect(project=project)
    doctor = people.doctor
    for words in ("cough", "咳嗽, سعال"):
        decision_take(form=form_of(project, words), actor=doctor, cui=COUGH, expected=None)
    decision_for_label(
        form=form_of(project, "cough"), label_id=label_at(project, "cough", "RES-2", 5), actor=doctor, cui=FEVER
    )
    fever = form_of(project, "fever")
    decision_nil(form=fever, actor=doctor, except_labels=[label_at(project, "fever", "RES-3", 3)], expected=None)
    here = label_at(project, "smoking", "RES-5", 7)
    decision_for_label(form=form_of(project, "smoking"), label_id=here, actor=doctor, cui=SMOKING)
    decision_propose(
        form=form_of(project, "début 😷"),
        actor=doctor,
        name="Début, “masked”",
        semantic_type="T184",
        definition="Of a cough.",
        expected=None,
    )
    later = Small(
        {**CONCEPTS, NIGHTS: ("T184", 'Sweats, "by night"', "night sweats")},
        version="2027-01",
        licences=(Licence("Some of it", "© the makers, später."),),
    )
    make_vocabulary(later)
    decision_take(form=form_of(project, "night sweats"), actor=doctor, cui=NIGHTS, expected=None)
    return project


def label_at(project: Project, words: str, dialogue: str, position: int) -> Any:
    form = form_of(project, words)
    rows = Occurrence.objects.filter(surface_form=form, utterance__dialogue__external_id=dialogue)
    found = rows.filter(utterance__position=position).first()
    assert found is not None
    return found.label_id


def vocabularies_gone() -> None:
    """As on a portal that never had them."""
    Vocabulary.objects.update(name="another", attribution="Of another.")
    shutil.rmtree(vocabularies_root(), ignore_errors=True)
    project_vocabulary.forget()
    canonical.forget()


def outcomes(folder: Path) -> dict[str, int]:
    found: dict[str, int] = manifest(folder)["parts"][0]["concepts"]["occurrences"]
    return found


# --- there and back ---


@pytest.mark.parametrize("options", [[], ["--surface-forms"]])
def test_decided_values_come_back_to_the_byte(decided: Project, tmp_path: Path, options: list[str]) -> None:
    export("Chest clinic", tmp_path / "first", "--title", "T", *options)
    assert min(outcomes(tmp_path / "first").values()) > 0, "all kinds are there"
    vocabularies_gone()
    done = restore(tmp_path / "first", "Again", "--new")
    assert done["not_read"] == []
    assert done["notes"] == [
        "1 proposed concept (first NEW0001) came without a definition: no file of an export has any, so that the data "
        "files are the same without."
    ]
    export("Again", tmp_path / "second", "--title", "T", *options)
    one, other = contents(tmp_path / "first"), contents(tmp_path / "second")
    assert one.keys() == other.keys()
    assert [path for path in one if one[path] != other[path]] == ["manifest.json"]
    before, after = manifest(tmp_path / "first"), manifest(tmp_path / "second")
    assert {name for name in before if before[name] != after[name]} <= OTHERWISE
    assert [item["version"] for item in after["vocabulary"]] == ["2026-01", "2027-01"]
    assert "© the makers, später." in after["vocabulary"][1]["attribution"]
    assert "© the makers, später." in (tmp_path / "second/huggingface/README.md").read_text(encoding="utf-8")
    assert run_json("verify_export", str(tmp_path / "second"))["findings"] == []
    restore(tmp_path / "second", "Third", "--new")
    export("Third", tmp_path / "third", "--title", "T", *options)
    third = contents(tmp_path / "third")
    assert [path for path in other if other[path] != third[path]] in ([], ["manifest.json"])


def test_what_most_utterances_have_is_decided_of_the_wording(decided: Project, people: People, tmp_path: Path) -> None:
    export("Chest clinic", tmp_path / "first", "--title", "T")
    vocabularies_gone()
    again = Project.objects.get(slug=restore(tmp_path / "first", "Again", "--new")["slug"])
    rows = Decision.objects.filter(surface_form__project=again).standing()
    found = sorted(rows.values_list("surface_form__key", "kind", "cui", "utterance__dialogue__external_id"))
    assert [one[:3] for one in found if one[3] is None] == [
        ("cough", "concept", COUGH),
        ("début 😷", "proposed", "NEW0001"),
        ("fever", "nil", ""),
        ("night sweats", "concept", NIGHTS),
        ("咳嗽, سعال", "concept", COUGH),
    ]
    assert [one for one in found if one[3]] == [
        ("cough", "concept", FEVER, "RES-2"),
        ("smoking", "concept", SMOKING, "RES-5"),
    ]
    (excepted,) = DecisionException.objects.filter(decision__surface_form__project=again)
    assert (excepted.utterance.dialogue.external_id, excepted.utterance.position) == ("RES-3", 3)
    assert Label.objects.get(pk=excepted.label_id).utterance == excepted.utterance
    own = ProposedConcept.objects.get(project=again)
    assert (own.identifier, own.name, own.semantic_type) == ("NEW0001", "Début, “masked”", "T184")
    nights = rows.get(surface_form__key="night sweats")
    assert (nights.vocabulary, nights.vocabulary_name, nights.vocabulary_version) == (None, "embedded", "2027-01")
    assert (nights.name, nights.semantic_types) == ('Sweats, "by night"', ["T184"])


def test_a_decision_says_that_it_was_imported_and_can_be_taken_back(
    decided: Project, people: People, client_for: Callable[..., Any], tmp_path: Path
) -> None:
    export("Chest clinic", tmp_path / "first", "--title", "T")
    again = Project.objects.get(slug=restore(tmp_path / "first", "Again", "--new")["slug"])
    rows = Decision.objects.filter(surface_form__project=again)
    assert set(rows.values_list("origin", "decided_by__username")) == {("imported", "sam")}
    (note,) = set(rows.values_list("note", flat=True))
    assert note.startswith('Imported with the export "T", SHA-256 ')
    factory.make_member(again, people.supervisor, Role.DOCTOR)
    form = form_of(again, "cough")
    label_sets_collect(project=again)
    text = client_for(people.supervisor).get(reverse("concept", args=[again.slug, form.pk])).content.decode()
    assert "Imported by" in text
    for route in ("concepts", "concepts-vocabulary", "statistics", "export-new"):
        assert client_for(people.supervisor).get(reverse(route, args=[again.slug])).status_code == 200, route
    with pytest.raises(Refused, match=NOTHING_TO_UNDO):
        decision_undo(project=again, actor=people.supervisor)
    standing = form.decisions.standing().get(utterance=None)
    assert decision_revert(decision=standing, actor=people.supervisor) is None
    assert not form.decisions.standing().filter(utterance=None).exists()


def test_without_portal_files_they_do_not_come_back_and_it_is_said(decided: Project, tmp_path: Path) -> None:
    export("Chest clinic", tmp_path / "first", "--formats", "jsonl", "--title", "T")
    number = sum(count for outcome, count in outcomes(tmp_path / "first").items() if outcome != "open")
    done = restore(tmp_path / "first", "Again", "--new")
    assert done["notes"][0].startswith(f"{number} medical values had a decision about a concept; without portal files")
    assert not Decision.objects.filter(surface_form__project__slug=done["slug"]).exists()


def test_where_nothing_is_linked_they_stay_open_and_it_is_said(
    decided: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export("Chest clinic", tmp_path / "first", "--title", "T")
    monkeypatch.setattr(concept_linking, "_linker", concept_linking._Nobody())
    done = restore(tmp_path / "first", "Again", "--new")
    assert "nothing is linked here, so they are open" in done["notes"][0]
    assert not Decision.objects.filter(surface_form__project__slug=done["slug"]).exists()


# --- what no export says ---


def altered(folder: Path, alter: Callable[[list[str]], list[str]], **fields: Any) -> None:
    """Alter rows of the medical values, with everything that follows from them, so that the export verifies."""
    header, *rows = csv.reader(io.StringIO((folder / VALUES_PATH).read_bytes().decode(), newline=""))
    assert tuple(header) == VALUES_HEADER
    text = csv_text([header, *(alter(list(row)) for row in rows)])
    counts = ConceptCounts()
    for found in read_values(text).values():
        counts.add(found)
    stated = manifest(folder)
    named = {(one["name"], one["version"]): one["attribution"] for one in stated["vocabulary"]}
    stated["vocabulary"] = [
        {"name": name, "version": version, "attribution": named.get((name, version), "")}
        for name, version in sorted(counts.vocabularies())
    ]
    stated["parts"][0]["concepts"] = counts.as_json()
    (folder / "manifest.json").write_text(json.dumps(stated | fields), encoding="utf-8")
    forge(folder, VALUES_PATH, text.encode())
    forge(folder, CONCEPTS_PATH, counts.piece().text.encode())


def changed(value: str, column: str, new: str, *, first: bool = False) -> Callable[[list[str]], list[str]]:
    """Have the rows of this value, or only the first one, say `new` in the column."""
    at = VALUES_HEADER.index(column)
    done: list[str] = []

    def alter(row: list[str]) -> list[str]:
        if surface_key(row[4]) == value and row[5] != "open" and not (first and done):
            done.append(value)
            row[at] = new
        return row

    return alter


def proposed_too(identifier: str, name: str) -> Callable[[list[str]], list[str]]:
    """Have night sweats mean another proposed concept, without a semantic type."""

    def alter(row: list[str]) -> list[str]:
        return [*row[:5], "proposed", identifier, name, "", "", ""] if row[4] == "night sweats" else row

    return alter


@pytest.mark.parametrize(
    ("alter", "said"),
    [
        (changed("night sweats", "cui", "X1; DROP"), "identifies no concept"),
        (changed("night sweats", "cui", "NEW0001"), "identifies no concept"),
        (changed("night sweats", "cui", "C００２８０８１"), "identifies no concept"),
        (changed("début 😷", "cui", COUGH), "identifies no proposed concept"),
        (changed("night sweats", "name", " "), "empty, too long, or no plain text"),
        (changed("night sweats", "name", "x" * 10_001), "empty, too long, or no plain text"),
        (changed("night sweats", "name", "a\x1b[2Jb"), "empty, too long, or no plain text"),
        (changed("début 😷", "name", "x" * 301), "empty, too long, or no plain text"),
        (changed("début 😷", "name", "\u200b"), "empty, too long, or no plain text"),
        (changed("night sweats", "name", "Other", first=True), "one name in an export"),
        (changed("night sweats", "semantic_types", "T184|"), "semantic types"),
        (changed("night sweats", "semantic_types", "<b>"), "semantic types"),
        (changed("night sweats", "vocabulary", "v" * 61), "a vocabulary"),
        (changed("night sweats", "vocabulary_version", "v" * 121), "a vocabulary"),
        (changed("début 😷", "vocabulary", "embedded"), "names a vocabulary"),
        (changed("fever", "name", "None at all"), "says “nil”, and more of a concept"),
        (proposed_too("NEW0002", "début, “MASKED”"), "said in two ways, or as another one is"),
        (proposed_too("NEW0001", "Début, “masked”"), "said in two ways, or as another one is"),
    ],
)
def test_a_forged_row_is_refused(
    decided: Project, tmp_path: Path, alter: Callable[[list[str]], list[str]], said: str
) -> None:
    export("Chest clinic", tmp_path / "first", "--title", "T", "--surface-forms", "--formats", "portal")
    before = (tmp_path / "first" / VALUES_PATH).read_bytes()
    altered(tmp_path / "first", alter)
    assert (tmp_path / "first" / VALUES_PATH).read_bytes() != before
    assert run_json("verify_export", str(tmp_path / "first"))["findings"] == [], "only what is decided is wrong"
    counts = [model.objects.count() for model in (Decision, ProposedConcept, StatedAttribution)]
    assert said in refused(tmp_path / "first")
    assert [model.objects.count() for model in (Decision, ProposedConcept, StatedAttribution)] == counts


def test_a_table_that_is_too_large_is_not_read(
    decided: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export("Chest clinic", tmp_path / "first", "--title", "T", "--formats", "portal")
    most = (tmp_path / "first/dialogs.json").stat().st_size
    monkeypatch.setattr(export_source, "MAX_DATASET_BYTES", most)
    (tmp_path / "first" / VALUES_PATH).write_bytes(b"x" * (most + 1))
    assert '"medical_values.csv" has more than' in refused(tmp_path / "first")


def test_values_other_than_the_labels_are_refused(decided: Project, tmp_path: Path) -> None:
    export("Chest clinic", tmp_path / "first", "--title", "T", "--surface-forms", "--formats", "portal")
    altered(tmp_path / "first", changed("night sweats", "value", "sweats", first=True))
    assert "where it lists another" in refused(tmp_path / "first")


def test_two_decisions_about_one_value_at_one_utterance_are_refused(decided: Project, tmp_path: Path) -> None:
    """Both of an utterance's labels would have to be told apart, which a decision does not."""
    gold = Label.objects.filter(label_set__dialogue__external_id="RES-4", label_set__owner="gold")
    label = gold.get(utterance__position=5)
    label.pk, label.rank = None, label.rank + 100
    label.save(force_insert=True)
    export("Chest clinic", tmp_path / "first", "--title", "T", "--surface-forms", "--formats", "portal")

    def alter(row: list[str]) -> list[str]:
        if (row[0], row[1], row[4]) == ("RES-4", "5", "cough") and not seen:
            seen.append(row)
            return [*row[:5], "nil", "", "", "", "", ""]
        return row

    seen: list[list[str]] = []
    altered(tmp_path / "first", alter)
    assert seen
    assert 'dialogue "RES-4", turn 5: it says two things of "cough"' in refused(tmp_path / "first")


def test_a_vocabulary_named_twice_is_refused(decided: Project, tmp_path: Path) -> None:
    export("Chest clinic", tmp_path / "first", "--title", "T", "--formats", "portal")
    stated = manifest(tmp_path / "first")
    stated["vocabulary"].append({**stated["vocabulary"][0], "attribution": "Another."})
    (tmp_path / "first/manifest.json").write_text(json.dumps(stated), encoding="utf-8")
    assert "twice" in refused(tmp_path / "first")


def test_a_project_with_decisions_takes_none_up_and_only_supervisors_bring_some(
    decided: Project, people: People
) -> None:
    label = Label.objects.filter(label_set__dialogue__project=decided).first()
    assert label is not None
    said = StatedDecision("A", 1, label.utterance_id, str(label.pk), ("a", "b", "c"), "c", DecidedConcept(Outcome.NIL))
    decisions = StatedDecisions([said], {}, "")
    with pytest.raises(Refused, match="has decisions about concepts"):
        decisions_restore(project_id=decided.pk, decisions=decisions, actor=people.supervisor)
    with pytest.raises(PermissionDenied, match=r"Supervisor|supervisor"):
        decisions_restore(project_id=decided.pk, decisions=decisions, actor=people.doctor)
