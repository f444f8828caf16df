"""A folder that is damaged, hostile or no export is refused in one sentence, and leaves nothing behind."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Project
from annotation.services import export_restoring
from annotation.services.errors import Refused
from annotation.services.imports import SourceFile
from tests.conftest import People
from tests.restoring import export, forge, make_whole_project, manifest, refused


@pytest.fixture
def whole(project: Project, people: People) -> Project:
    make_whole_project(project, people.annotator, people.second, people.supervisor)
    return project


@pytest.fixture
def out(whole: Project, tmp_path: Path) -> Path:
    export("Chest clinic", tmp_path / "out")
    return tmp_path / "out"


def labels_of_res_2(out: Path) -> Path:
    """There is a `res-2` too, so that the name has a sum behind it."""
    [path] = (out / "portal").glob("RES-2*.labels.json")
    return path


def test_a_changed_byte_is_refused(out: Path) -> None:
    path = labels_of_res_2(out)
    path.write_bytes(path.read_bytes().replace(b"fever", b"Fever", 1))
    assert f"The export is not as it was made. portal/{path.name}" in refused(out)


def test_labels_that_dialogs_json_does_not_follow_from_are_refused(out: Path) -> None:
    forge(out, f"portal/{labels_of_res_2(out).name}", b"[]\n")
    assert "RES-2" in refused(out)


@pytest.mark.parametrize("kind", ["file", "folder", "inside", "broken", "fifo"])
def test_links_and_pipes_are_refused(out: Path, tmp_path: Path, kind: str) -> None:
    target = labels_of_res_2(out)
    if kind == "fifo":
        os.mkfifo(out / "pipe")
    elif kind == "broken":
        (out / "link").symlink_to(tmp_path / "nowhere")
    elif kind == "inside":
        (out / "link").symlink_to("dialogs.json")
    elif kind == "folder":
        (out / "portal").rename(tmp_path / "elsewhere")
        (out / "portal").symlink_to(tmp_path / "elsewhere")
    else:
        target.rename(tmp_path / "elsewhere.json")
        target.symlink_to(tmp_path / "elsewhere.json")
    assert "is neither a plain file nor a folder" in refused(out)


def test_a_file_out_of_the_folder_is_refused(out: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text("[]")
    for path in ("../secret.json", str(tmp_path / "secret.json")):
        stated = manifest(out)
        entry = {"path": path, "bytes": 2, "sha256": hashlib.sha256(b"[]").hexdigest()}
        text = json.dumps(stated | {"files": [*stated["files"], entry]})
        (out / "manifest.json").write_text(text)
        assert refused(out)
        (out / "manifest.json").write_text(json.dumps(stated))


def test_labels_of_annotators_are_no_gold(whole: Project, tmp_path: Path) -> None:
    for source in ("all", "annotator=alice"):
        folder = tmp_path / source[:3] / "out"
        export("Chest clinic", folder, "--source", source)
        assert "which are no gold" in refused(folder)


def test_a_questionnaire_that_is_not_here_is_named(out: Path) -> None:
    forge(out, "nothing.txt", b"", questionnaire={"name": "cmas", "version": "77"})
    assert "no version 77" in refused(out)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "has neither manifest.json nor dialogs.json"),
        ({"dialogs.json": "{"}, "dialogs.json: "),
        ({"dialogs.json": "[]"}, "no JSON object with one dialogue"),
        ({"dialogs.json": '{"a": 1}'}, "has no list of utterances"),
        ({"dialogs.json": '{"a": {"utterances": []}}'}, "has no utterances"),
        ({"dialogs.json": '{"a": {}, "a": {}}'}, "twice"),
        ({"dialogs.json": '{"a": {}, "a ": {}}'}, "twice"),
        ({"dialogs.json": "[" * 100_000}, "dialogs.json: "),
        ({"dialogs.json": '{"a": {"utterances": [{"speaker": "nurse", "uttr_id": 0, "text": "x"}]}}'}, "nurse"),
        ({"dialogs.json": '{"a/../b": {"utterances": [{"speaker": "doctor", "uttr_id": 0, "text": "x"}]}}'}, "/"),
        ({"dialogs.json": '{"a": {"utterances": [{"speaker": "doctor", "uttr_id": 0, "text": "\\ud800"}]}}'}, "half"),
        ({"dialogs.json": "{}", "train_ids.json": "[]"}, "no JSON object with one dialogue"),
        ({"dialogs.json": '{"a": {}}', "train_ids.json": "{}"}, "train_ids.json is no list"),
        ({"dialogs.json": '{"a": {}}', "train_ids.json": "[true]"}, "train_ids.json is no list"),
        ({"dialogs.json": '{"a": {}}', "train_ids.json": '["a"]', "test_ids.json": '["a"]'}, "is both in train_ids"),
    ],
)
def test_a_folder_that_is_no_dataset_is_refused(
    people: People, tmp_path: Path, files: dict[str, str], said: str
) -> None:
    (tmp_path / "in").mkdir()
    for name, text in files.items():
        (tmp_path / "in" / name).write_text(text)
    assert said in refused(tmp_path / "in")


def test_a_link_in_a_released_folder_is_not_followed(people: People, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "in/dialogs.json").symlink_to(tmp_path / "real.json")
    assert "it is a link" in refused(tmp_path / "in")
    (tmp_path / "in/dialogs.json").unlink()
    os.mkfifo(tmp_path / "in/dialogs.json")
    assert "is no plain file" in refused(tmp_path / "in")
    assert "is no folder" in refused(tmp_path / "real.json")


def test_what_is_too_large_is_refused_unread(people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.domain.export_source.MAX_DATASET_BYTES", 2**20)
    (tmp_path / "dialogs.json").write_bytes(b" " * (2**20 + 1))
    assert "more than 1 MiB" in refused(tmp_path)
    monkeypatch.setattr("annotation.domain.export_source.MAX_CONTAINERS", 10)
    (tmp_path / "dialogs.json").write_text("[" * 11)
    assert "more than 10 objects" in refused(tmp_path)


def test_a_fault_half_way_leaves_nothing(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[SourceFile] = []
    first = export_restoring.dialogues_import

    def fail(**given: Any) -> Any:
        if written:
            raise Refused("The disk is full.")
        written.extend(given["files"])
        return first(**given)

    monkeypatch.setattr(export_restoring, "AT_ONCE", 3)
    monkeypatch.setattr(export_restoring, "dialogues_import", fail)
    assert refused(out) == "The disk is full."
    assert len(written) == 3
