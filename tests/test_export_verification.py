"""An export is recomputed from its files: whatever is altered afterwards is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.export_verification import Verification, sha256_of, stated_questionnaire, verify_export
from annotation.models import Project
from annotation.questionnaires import get_questionnaire
from tests.conftest import People
from tests.exporting import contents, make_gold_project, write

OTHERS = {"train": 0.2, "valid": 0.8, "test": 0}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the export lies that all tests copy, once the first of them has made it."""
    return tmp_path_factory.mktemp("made") / "out"


@pytest.fixture
def export(made: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    if not made.exists():
        project: Project = request.getfixturevalue("project")
        people: People = request.getfixturevalue("people")
        make_gold_project(project, people.annotator, people.second, people.supervisor)
        write(project, made)
    return Path(shutil.copytree(made, tmp_path / "out"))


def verified(folder: Path) -> Verification:
    return verify_export(folder, questionnaire=get_questionnaire("cmas"))


def said(folder: Path) -> list[str]:
    return [str(one) for one in verified(folder).findings]


def altered(export: Path, path: str, change: Callable[[str], str], *, resummed: bool = False) -> Path:
    """A copy of the export with one file changed; `resummed` says so in the manifest, as a forger would."""
    copy = export.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(export, copy)
    before = (copy / path).read_bytes().decode()
    after = change(before)
    assert after != before, f"the change does nothing to {path}"
    (copy / path).write_bytes(after.encode())
    if resummed:
        place = copy / "manifest.json"
        manifest = json.loads(place.read_text())
        size, digest = sha256_of(copy / path)
        for one in manifest["files"]:
            if one["path"] == path:
                one.update(bytes=size, sha256=digest)
        place.write_text(json.dumps(manifest))
    return copy


def of_json(change: Callable[[Any], Any]) -> Callable[[str], str]:
    def changed(text: str) -> str:
        data = json.loads(text)
        change(data)
        return json.dumps(data, indent=1, ensure_ascii=False)

    return changed


def swapped(one: str, other: str) -> Callable[[str], str]:
    return lambda text: text.replace(one, other, 1)


def test_one_changed_byte_of_any_file_names_the_file(export: Path) -> None:
    assert said(export) == []
    assert stated_questionnaire(export)[0] == "cmas"
    for path, data in contents(export).items():
        if path == "manifest.json":
            continue
        copy = export.parent / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(export, copy)
        place = len(data) // 2
        (copy / path).write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        first = verified(copy).findings[0]
        assert (first.file, "SHA-256" in first.message) == (path, True)


def test_an_altered_state_is_named_by_dialogue_and_turn(export: Path) -> None:
    def change(dialogs: Any) -> None:
        dialogs["RES-4"]["utterances"][5]["dialog_state"]["positive_symptom"][0]["onset"] = "yesterday"

    copy = altered(export, "dialogs.json", of_json(change), resummed=True)
    state = verified(copy).findings[0]
    assert (state.file, state.dialogue, state.turn) == ("dialogs.json", "RES-4", 5)
    assert "yesterday" in state.message
    assert {one.dialogue for one in verified(copy).findings} == {"RES-4"}


@pytest.mark.parametrize(
    ("path", "change", "expected"),
    [
        ("utterances.jsonl", swapped("night sweats", "day sweats"), "utterances.jsonl, dialogue CAR-1: It does not"),
        ("utterances.csv", swapped("half a pack", "a pack"), "utterances.csv, dialogue CAR-1: It does not follow"),
        ("tuples.csv", swapped("smoking", "smoking?"), "tuples.csv, dialogue CAR-1: It does not follow"),
        ("tuples.csv", lambda text: text + "more\n", "tuples.csv: It has more than follows"),
        ("huggingface/test.jsonl", swapped("fever", "Fever"), "huggingface/test.jsonl, dialogue RES-1: It does not"),
        ("huggingface/README.md", swapped("dialogue", "talk"), "huggingface/README.md: It does not say what the mani"),
        ("portal/RES-2.labels.json", swapped('"cough"', '"cold"'), "portal/RES-2.labels.json, dialogue RES-2, turn 1"),
        ("portal/RES-2.dialogue.json", swapped("Do you smoke", "Why smoke"), "dialogue RES-2, turn 6: It does not say"),
        ("portal/RES-2.labels.json", lambda text: text[:-3], "portal/RES-2.labels.json, dialogue RES-2: "),
        ("test_ids.json", swapped("RES-1", "RES-9"), "dialogs.json, dialogue RES-1: It is in none of the lists of ids"),
        ("train_ids.json", swapped("[", '["CAR-1",'), "dialogue CAR-1: It is also in train_ids.json"),
        ("train_ids.json", lambda text: "{", "train_ids.json: It is no JSON"),
        ("dialogs.json", swapped('"RES-1"', '"RES-10"'), "dialogs.json, dialogue RES-10: It is in none of the lists"),
        ("dialogs.json", lambda text: "[]", "dialogs.json: A dataset is a JSON object"),
        ("dialogs.json", swapped('"intent": "inform"', '"intent": 3'), "dialogs.json, dialogue "),
    ],
)
def test_what_was_altered_with_a_new_sum_is_still_found(
    export: Path, path: str, change: Callable[[str], str], expected: str
) -> None:
    found = said(altered(export, path, change, resummed=True))
    assert any(expected in one for one in found), found


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda m: m["splits"].update(random_seed=77, shares={"train": 0.2, "valid": 0.8, "test": 0}),
            "random seed 77",
        ),
        (lambda m: m["splits"].update(shares={}), "how the splits were drawn"),
        (lambda m: m["parts"][0]["counts"].update(tuples=1), "under “tuples”, but the manifest says 1"),
        (lambda m: m["files"].pop(), "does not belong to the export"),
        (
            lambda m: m["files"].append({"path": "../x", "bytes": 1, "sha256": ""}),
            "“../x”, which is no file below the export",
        ),
        (lambda m: m.pop("title"), "Its field “title” is missing"),
        (lambda m: m.update(form="else"), "It is no manifest of the form"),
        (lambda m: m.update(files=[1]), "“files[0]” is no object"),
    ],
)
def test_a_manifest_that_says_something_else_is_found_out(
    export: Path, change: Callable[[Any], Any], expected: str
) -> None:
    found = said(altered(export, "manifest.json", of_json(change)))
    assert any(expected in one for one in found), found


def test_missing_files_and_folders_are_named(export: Path, tmp_path: Path) -> None:
    assert said(tmp_path) == ["manifest.json: It is missing, so that there is nothing to compare with."]
    (export / "portal/RES-2.labels.json").unlink()
    (export / "valid_ids.json").unlink()
    (export / "notes.txt").write_text("mine")
    found = said(export)
    assert "portal/RES-2.labels.json: The manifest lists it, but it is not there." in found
    assert "valid_ids.json: The manifest lists it, but it is not there." in found
    assert "notes.txt: It does not belong to the export: the manifest does not list it." in found


def test_without_the_questionnaire_portal_files_are_summed_up_only(export: Path) -> None:
    found = verify_export(export)
    assert found.findings == []
    assert "questionnaire cmas" in found.notes[0]


def test_what_is_not_recomputed_is_said(export: Path) -> None:
    notes = verified(export).notes
    assert len(notes) == 1
    assert notes[0].startswith("Whose labels these are")

    def measured(manifest: Any) -> None:
        manifest.update(agreement={}, formats=["dialogs"])

    notes = verified(altered(export, "manifest.json", of_json(measured))).notes
    assert [note.split(" ")[1] for note in notes] == ["values", "agreement", "labels"]
    assert "The agreement figures were not recomputed" in notes[1]
