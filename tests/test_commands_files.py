"""The commands about label files, called as a shell would and from Python."""

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

from annotation.management.commands._base import PortalCommand, result_lines
from annotation.models import Label, LabelSet
from tests import factory
from tests.conftest import People
from tests.qualifying import make_test

ROOT = Path(__file__).parent.parent
COUGH = {"uid": "1", "intent": "inform", "slot": "symptom", "value": "cough", "status": "Yes", "mood": "low"}


def run(*words: str, **options: Any) -> str:
    out = io.StringIO()
    call_command(*words, stdout=out, **options)
    return out.getvalue()


def run_json(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*words, "--json").splitlines()[-1])
    return found


def shell(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A real process on the test settings."""
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "portal.settings_test", **environment}
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=ROOT, timeout=120, check=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "RES-TEST.alice.labels.json"
    path.write_text(json.dumps([COUGH]), encoding="utf-8")
    return path


def place(annotator: str = "alice") -> list[str]:
    return ["--project", "Chest clinic", "--dialogue", "RES-TEST", "--annotator", annotator]


# --- import_labels ---


def test_labels_are_imported_and_what_is_unknown_is_listed(dialogue: Any, people: People, file: Path) -> None:
    result = run_json("import_labels", *place(), str(file))
    assert result["labels"] == 1
    assert [(one["key"], one["value"], one["label"], one["uid"]) for one in result["unknown"]] == [
        ("mood", "low", 1, "1")
    ]
    label_set = LabelSet.objects.get()
    assert (label_set.annotator, label_set.dialogue) == (people.annotator, dialogue)
    assert Label.objects.count() == 1


def test_importing_twice_says_that_nothing_changes(dialogue: Any, people: People, file: Path) -> None:
    run("import_labels", *place(), str(file))
    assert "nothing was changed" in run("import_labels", *place(), str(file))
    assert run_json("import_labels", *place(), str(file)) | {"unknown": []} == {
        "labels": 1,
        "unknown": [],
        "added": 0,
        "removed": 0,
        "unusual": [],
        "joined": False,
    }


def test_somebody_who_is_no_member_becomes_an_annotator_unless_the_file_is_refused(
    dialogue: Any, people: People, file: Path, tmp_path: Path
) -> None:
    words = [*place(), "--annotator", "otto"]
    bad = tmp_path / "bad.json"
    bad.write_text("[")
    with pytest.raises(CommandError):
        run("import_labels", *words, str(bad))
    assert not people.outsider.memberships.exists()
    assert run_json("import_labels", *words, str(file))["joined"] is True
    assert people.outsider.memberships.get().role == "annotator"


def test_labels_of_somebody_who_has_not_passed_are_refused_unless_there_is_a_reason(
    project: Any, dialogue: Any, people: People, file: Path
) -> None:
    make_test(project, people.supervisor)
    with pytest.raises(CommandError, match=r"alice has not passed the test of Chest clinic yet.*give --override"):
        run("import_labels", *place(), str(file))
    bad = file.with_name("bad.json")
    bad.write_text("[", encoding="utf-8")
    with pytest.raises(CommandError):
        run("import_labels", *place(), "--override", "Labelled elsewhere.", str(bad))
    assert not project.overrides.exists()
    assert run_json("import_labels", *place(), "--override", "Labelled elsewhere.", str(file))["labels"] == 1
    kept = project.overrides.get()
    assert (kept.annotator, kept.reason, kept.decided_by) == (people.annotator, "Labelled elsewhere.", None)
    kept.revoked_at = kept.decided_at
    kept.save()
    assert "nothing was changed" in run("import_labels", *place(), str(file))  # the work that is there stays theirs


def test_other_labels_are_only_replaced_when_asked(label_set: LabelSet, file: Path) -> None:
    factory.make_labels(label_set, factory.inform(1, "symptom", "fever", status="no"))
    with pytest.raises(CommandError, match="replace"):
        run("import_labels", *place(), str(file))
    assert run_json("import_labels", *place(), "--replace", str(file))["removed"] == 1


def test_a_project_is_found_by_its_slug_too(dialogue: Any, people: People, file: Path) -> None:
    words = ["--project", "chest-clinic", "--dialogue", "RES-TEST", "--annotator", "alice"]
    assert run_json("import_labels", *words, str(file))["labels"] == 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (["--project", "Nowhere"], "no project “Nowhere”"),
        (["--dialogue", "X"], "no dialogue “X”"),
        (["--annotator", "nobody"], "no user “nobody”"),
    ],
)
def test_something_that_is_not_there_is_named(
    dialogue: Any, people: People, file: Path, wrong: list[str], words: str
) -> None:
    with pytest.raises(CommandError, match=words):
        run("import_labels", *place(), *wrong, str(file))


def test_a_missing_file_is_named(dialogue: Any, people: People) -> None:
    with pytest.raises(CommandError, match=r"nowhere\.json: No such file"):
        run("import_labels", *place(), "nowhere.json")


def test_a_refused_file_leaves_no_assignment_behind(dialogue: Any, people: People, file: Path) -> None:
    file.write_text('[{"uid": "99", "intent": "inform"}]', encoding="utf-8")
    with pytest.raises(CommandError, match="last utterance is 9"):
        run("import_labels", *place(), str(file))
    assert LabelSet.objects.count() == 0


# --- export_labels, export_dataset ---


def test_exported_labels_are_the_portal_file(label_set: LabelSet, file: Path) -> None:
    run("import_labels", *place(), str(file))
    assert json.loads(run("export_labels", *place())) == [COUGH]
    assert run_json("export_labels", *place()) == {"labels": [COUGH]}


def test_there_is_nothing_to_export_without_a_label_set(dialogue: Any, people: People) -> None:
    with pytest.raises(CommandError, match="not assigned"):
        run("export_labels", *place())


def test_a_dataset_is_written_whole(label_set: LabelSet, file: Path, tmp_path: Path) -> None:
    run("import_labels", *place(), str(file))
    out = tmp_path / "out.json"
    out.write_text("before", encoding="utf-8")
    words = ["export_dataset", "--project", "Chest clinic", "--annotator", "alice", "--out", str(out)]
    assert run_json(*words) == {"dialogues": 1, "utterances": 10, "labels": 1, "out": str(out)}
    assert list(json.loads(out.read_text(encoding="utf-8"))) == ["RES-TEST"]
    assert run_json("track_state", str(out)) == {"turns": 5, "equal": 5, "differences": []}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([file.name, "out.json"])
    assert run_json(*words, "--done-only")["dialogues"] == 0


def test_a_failed_export_leaves_the_old_file(
    label_set: LabelSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotation.management.commands import export_dataset

    def failing(*args: Any) -> Any:
        yield "{"
        raise OSError(28, "No space left on device", "out.json")

    monkeypatch.setattr(export_dataset, "dataset_text", failing)
    out = tmp_path / "out.json"
    out.write_text("before", encoding="utf-8")
    with pytest.raises(CommandError, match="No space left"):
        run("export_dataset", "--project", "Chest clinic", "--annotator", "alice", "--out", str(out))
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["before"]


@pytest.mark.parametrize("out", [".", "no/such/folder/out.json"])
def test_a_place_that_cannot_be_written_is_named(label_set: LabelSet, out: str) -> None:
    with pytest.raises(CommandError, match=r"folder|No such file"):
        run("export_dataset", "--project", "Chest clinic", "--annotator", "alice", "--out", out)


# --- track_state, as processes ---


def test_the_published_states_are_all_equal(real_data: Path) -> None:
    done = shell("track_state", "--json", str(real_data / "meditod" / "dialogs.json"))
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[-1]) == {"turns": 104, "equal": 104, "differences": []}


def test_a_difference_is_reported_and_gives_exit_status_1(tmp_path: Path) -> None:
    path = tmp_path / "dialogs.json"
    turn = {"speaker": "patient", "uttr_id": 1, "text": "", "nlu": [], "dialog_state": {"habit": [{"value": "tea"}]}}
    path.write_text(json.dumps({"7": {"utterances": [turn]}}), encoding="utf-8")
    done = shell("track_state", str(path), "--json")
    assert done.returncode == 1
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["turns"], result["equal"]) == (1, 0)
    assert [(one["dialogue"], one["turn"], one["key"]) for one in result["differences"]] == [("7", 1, "habit")]
    assert done.stderr.strip() == "dialogs.json differs from the rule in 1 place."
    assert "dialogue 7, turn 1" in shell("track_state", str(path)).stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [("[]", "JSON object"), ('{"7": ', "breaks off"), ("", "empty"), ('{"7": 1e999}', "number")],
)
def test_a_file_that_is_no_dataset_is_refused_in_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError, match=words):
        run("track_state", str(path))


def test_a_failure_is_one_sentence_on_stderr_and_an_error_object_with_json() -> None:
    done = shell("track_state", "nowhere.json", "--json")
    assert (done.returncode, done.stderr.strip()) == (1, "nowhere.json: No such file or directory.")
    assert json.loads(done.stdout.splitlines()[-1]) == {"error": "nowhere.json: No such file or directory."}
    assert shell("track_state", "nowhere.json").stdout == ""


def test_wrong_arguments_are_a_failure_like_any_other() -> None:
    done = shell("import_labels", "--json", "--project", "X")
    assert done.returncode == 1
    error = json.loads(done.stdout.splitlines()[-1])["error"]
    assert "--dialogue" in error
    assert done.stderr.strip() == error


def test_a_database_that_was_never_set_up_is_said_in_words() -> None:
    done = shell("export_labels", "--json", *place())
    assert done.returncode == 1
    assert "migrate" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_command_that_worked_says_nothing_on_stderr(tmp_path: Path) -> None:
    own = {"DJANGO_SETTINGS_MODULE": "portal.settings", "PORTAL_DATA_DIR": str(tmp_path / "data")}
    transcript = tmp_path / "CHEST1.txt"
    transcript.write_text("D: Any cough?\nP: No.\n", encoding="utf-8")
    assert shell("migrate", "--verbosity", "0", **own).returncode == 0
    shell("create_project", "Chest clinic", **own)
    done = shell("import_dialogues", "--project", "Chest clinic", str(transcript), "--json", **own)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["created"] == 1
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0  # what patients said is for the portal's own user


# --- the base ---


def test_a_result_is_shown_in_columns_with_its_lists_below() -> None:
    assert result_lines({"turns": 1234, "differences": [{"text": "a"}, "b"], "empty": []}) == [
        "turns        1,234",
        "differences  2",
        "empty        0",
        "",
        "differences:",
        "  a",
        "  b",
    ]


def test_an_error_nobody_expected_keeps_its_traceback() -> None:
    class Broken(PortalCommand):
        def run(self, **options: Any) -> None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        call_command(Broken())
