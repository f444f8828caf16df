"""`export_gold` and `verify_export` as a shell would call them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Label, Project
from tests import factory
from tests.conftest import People
from tests.exporting import contents, make_gold_project


@pytest.fixture
def gold(project: Project, people: People) -> Project:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    return project


def run_json(*words: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command(*words, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return found


def export(out: Path, *more: str) -> dict[str, Any]:
    return run_json("export_gold", "--project", "Chest clinic", "--out", str(out), *more)


def test_an_export_is_written_and_verified(gold: Project, tmp_path: Path) -> None:
    found = export(tmp_path / "out", "--random-seed", "3", "--shares", "0.6,0.4,0", "--licence", "CC0-1.0")
    assert (found["dialogues"], found["utterances"]) == (8, 80)
    assert found["splits"]["dialogues"] == {"train": 4, "valid": 2, "test": 1, "ood_test": 1}
    checked = run_json("verify_export", str(tmp_path / "out"))
    assert checked["findings"] == []
    assert (checked["files"], checked["states"]) == (found["files"], 40)
    out = io.StringIO()
    call_command("verify_export", str(tmp_path / "out"), stdout=out)
    last = out.getvalue().splitlines()
    assert last[-1] == "Everything that could be recomputed is as it was exported."
    assert last[1].startswith("Whose labels these are")


def test_values_as_they_were_written_are_asked_for_and_recorded(gold: Project, tmp_path: Path) -> None:
    assert export(tmp_path / "one")["values"] == "canonical"
    assert export(tmp_path / "two", "--surface-forms")["values"] == "written"
    assert json.loads((tmp_path / "two/manifest.json").read_text())["values"] == "written"


def test_one_changed_byte_is_named_with_exit_status_one(gold: Project, tmp_path: Path) -> None:
    export(tmp_path / "out", "--formats", "tuples,jsonl")
    path = tmp_path / "out/tuples.csv"
    path.write_bytes(path.read_bytes().replace(b"fever", b"Fever", 1))
    out = io.StringIO()
    with pytest.raises(CommandError, match="differs in 2 places"):
        call_command("verify_export", str(tmp_path / "out"), stdout=out)
    assert "tuples.csv: Its bytes were changed after the export" in out.getvalue()


def test_annotators_come_under_pseudonyms(gold: Project, tmp_path: Path) -> None:
    assert export(tmp_path / "one", "--source", "annotator=alice")["dialogues"] == 8
    whole = export(tmp_path / "all", "--source", "all", "--formats", "dialogs")
    assert (whole["dialogues"], whole["readings"]) == (8, 16)
    folders = {path.split("/")[0] for path in contents(tmp_path / "all") if "/" in path}
    assert len(folders) == 2
    assert all(name.startswith("annotator-") for name in folders)


def test_a_dialogue_that_was_left_out_is_said_with_exit_status_one(gold: Project, tmp_path: Path) -> None:
    bad = Label.objects.filter(label_set__owner="gold", label_set__dialogue__external_id="RES-3", slot="habit")
    bad.update(answers={"value": 7})
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 dialogue could not be written"):
        call_command("export_gold", "--project", "Chest clinic", "--out", str(tmp_path / "out"), stdout=out)
    assert "Left out: RES-3." in out.getvalue()
    assert run_json("verify_export", str(tmp_path / "out"))["findings"] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--source", "somebody"], "“somebody” is no source"),
        (["--source", "annotator"], "is no source"),
        (["--source", "annotator=otto"], "“otto” has no dialogue"),
        (["--formats", "xml"], "There is no format “xml”"),
        (["--shares", "1,1,1"], "must add up to 1"),
        (["--shares", "1e9999999,0,0"], "“1e9999999” is no share"),
        (["--random-seed", "-1"], "“-1” is no random seed"),
        (["--random-seed", "x"], "“x” is no random seed"),
        (["--title", "\udcff"], "“--title” is no text in UTF-8"),
        (["--citation", "\udcff"], "“--citation” is no text in UTF-8"),
        (["--project", "\udcff"], "“--project” is no text in UTF-8"),
        (["--specialties", "nope"], "No dialogue here has the specialty “nope”; no dialogue states one"),
        (["--project", "Nowhere"], "There is no project “Nowhere”"),
    ],
)
def test_wrong_words_are_refused_and_leave_nothing(
    project: Project, people: People, tmp_path: Path, words: list[str], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        export(tmp_path / "out", *words)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_left_alone(gold: Project, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(CommandError, match="is not empty"):
        export(tmp_path)
    assert contents(tmp_path) == {"mine.txt": b"mine"}
    with pytest.raises(CommandError, match="is no folder"):
        run_json("verify_export", str(tmp_path / "mine.txt"))
    with pytest.raises(CommandError, match="differs in 1 place"):
        run_json("verify_export", str(tmp_path))


def test_an_empty_project_is_refused(project: Project, tmp_path: Path) -> None:
    factory.make_dialogue(project, "NEW")
    with pytest.raises(CommandError, match="There is nothing to export"):
        export(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_specialty_that_no_dialogue_has_is_refused(gold: Project, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="has the specialty “nope”; there are: cardiac, respiratory"):
        export(tmp_path / "out", "--specialties", "respiratory,nope")
    assert list(tmp_path.iterdir()) == []
    assert export(tmp_path / "out", "--specialties", "respiratory,cardiac")["splits"]["dialogues"]["ood_test"] == 0


def test_thirds_and_a_citation_of_several_lines_are_written_and_verified(gold: Project, tmp_path: Path) -> None:
    found = export(tmp_path / "out", "--shares", "1/3,1/3,1/3", "--citation", "a\r\nb\rc")
    assert found["splits"]["shares"] == {"train": "1/3", "valid": "1/3", "test": "1/3"}
    assert json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))["citation"] == "a\nb\nc"
    assert run_json("verify_export", str(tmp_path / "out"))["findings"] == []


def test_a_folder_whose_name_is_no_text_can_be_printed(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(bytes(tmp_path) + b"/\xff"))
    with pytest.raises(CommandError, match="is no folder") as refused:
        run_json("verify_export", str(folder))
    str(refused.value).encode()
    folder.mkdir()
    with pytest.raises(CommandError, match="differs in 1 place") as refused:
        run_json("verify_export", str(folder))
    str(refused.value).encode()


def test_what_a_killed_export_left_goes_with_the_next_one(gold: Project, tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    kept = [".out.part", ".out.x.part", ".other.1.part", f".out.{os.getppid()}.part"]
    for name in [*kept, f".out.{ended.pid}.part"]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "dialogs.json").write_text("what was said to a doctor")
    export(tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, "out"])
