"""The commands by which dialogues come in, and those that make something to put them in."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Dialogue, Label, LabelSet, Membership, Project, Role, User, Utterance
from annotation.services.labelling import label_set_undo
from annotation.services.qualification import (
    attempt_hand_in,
    attempt_label_sets,
    attempt_start,
    gold_of,
    training_start,
)
from annotation.services.readings import labels_of
from annotation.services.training import compared
from annotation.services.work_gate import gate_of, may_work, those_who_may_work
from tests import factory
from tests.qualifying import fill, finish

pytestmark = pytest.mark.django_db
GOOD = "D: How are you?\n\nP: Fine.\n"
BAD = "D: Hi.\nP: Hello.\nNurse: Excuse me.\n"


def run(*words: Any, fails: bool = False) -> dict[str, Any]:
    """The JSON object on the command's last line."""
    out = StringIO()
    if fails:
        with pytest.raises(CommandError):
            call_command(*map(str, words), "--json", stdout=out)
    else:
        call_command(*map(str, words), "--json", stdout=out)
    result = json.loads(out.getvalue().splitlines()[-1])
    assert isinstance(result, dict)
    return result


def shown(*words: Any) -> str:
    out = StringIO()
    call_command(*map(str, words), stdout=out)
    return out.getvalue()


def test_a_dry_run_says_what_would_happen_and_writes_nothing(project: Project, tmp_path: Path) -> None:
    (tmp_path / "A.txt").write_text(GOOD, encoding="utf-8")
    result = run("import_dialogues", "--project", project.name, tmp_path, "--dry-run")
    assert {**result, "warnings": [], "errors": []} == {
        "dialogues": 1,
        "utterances": 2,
        "created": 0,
        "new": 1,
        "same": 0,
        "warnings": [],
        "errors": [],
    }
    assert not Dialogue.objects.exists()


def test_good_dialogues_are_imported_beside_bad_ones_and_the_command_fails(project: Project, tmp_path: Path) -> None:
    (tmp_path / "A.txt").write_text(GOOD, encoding="utf-8")
    (tmp_path / "B.txt").write_text(BAD, encoding="utf-8")
    result = run("import_dialogues", "--project", project.slug, tmp_path, tmp_path / "missing.txt", fails=True)
    assert (result["dialogues"], result["created"]) == (1, 1)
    places = [(Path(error["file"]).name, error["line"]) for error in result["errors"]]
    assert places == [("B.txt", 3), ("missing.txt", 0)]
    assert Dialogue.objects.get().external_id == "A"


def test_importing_again_says_that_nothing_changed(project: Project, tmp_path: Path) -> None:
    (tmp_path / "A.txt").write_text(GOOD, encoding="utf-8")
    run("import_dialogues", "--project", project.name, tmp_path)
    again = run("import_dialogues", "--project", project.name, tmp_path)
    assert (again["created"], again["same"], again["dialogues"]) == (0, 1, 1)
    text = shown("import_dialogues", "--project", project.name, tmp_path)
    assert "0 created, 1 were there already" in text


def test_a_clash_is_an_error_and_leaves_what_is_there(project: Project, tmp_path: Path) -> None:
    (tmp_path / "A.txt").write_text(GOOD, encoding="utf-8")
    run("import_dialogues", "--project", project.name, tmp_path)
    (tmp_path / "A.txt").write_text(GOOD + "D: Bye.\n", encoding="utf-8")
    result = run("import_dialogues", "--project", project.name, tmp_path, fails=True)
    assert "already has" in result["errors"][0]["message"]
    assert Utterance.objects.count() == 2


def test_a_zip_and_a_pair_of_labels_are_read(project: Project, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("in/C1.txt", "Clinician: Hi.\nClient: Hello.\n")
    pair = ["--doctor", "Clinician", "--patient", "Client"]
    result = run("import_dialogues", "--project", project.name, tmp_path / "all.zip", *pair)
    assert (result["dialogues"], result["utterances"], result["errors"]) == (1, 2, [])
    row = Dialogue.objects.get()
    assert (row.external_id, row.source_name) == ("C1", "C1.txt")
    with pytest.raises(CommandError, match="patient"):
        call_command("import_dialogues", str(tmp_path), "--project", project.name, "--doctor", "Clinician")


def test_an_unknown_project_is_an_error(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no project"):
        call_command("import_dialogues", str(tmp_path), "--project", "Nowhere")


def test_the_62_transcripts_give_the_reference_figures(project: Project, real_data: Path) -> None:
    folder = real_data / "transcripts"
    first = run("import_dialogues", "--project", project.name, folder)
    assert (first["dialogues"], first["utterances"], first["created"], first["errors"]) == (62, 6581, 62, [])
    odd = {(Path(notice["file"]).stem, notice["line"]) for notice in first["warnings"]}
    assert odd >= {
        ("CAR0001", 221),
        ("MSK0006", 59),
        ("MSK0018", 115),
        ("RES0036", 205),
        ("RES0047", 9),
        ("RES0052", 47),
        ("RES0053", 49),
        ("RES0058", 139),
        ("RES0060", 159),
    }
    assert Utterance.objects.exclude(warning="").count() >= 9
    again = run("import_dialogues", "--project", project.name, folder)
    assert (again["created"], again["same"], again["utterances"]) == (0, 62, 6581)
    assert (Dialogue.objects.count(), Utterance.objects.count()) == (62, 6581)


def test_res0001_is_stored_as_the_released_dialogue_has_it(project: Project, real_data: Path) -> None:
    run("import_dialogues", "--project", project.name, real_data / "transcripts" / "RES0001.txt")
    released = json.loads((real_data / "meditod" / "RES0001.dialogue.json").read_text(encoding="utf-8"))
    turns = list(Utterance.objects.order_by("position").values_list("speaker", "text"))
    assert len(turns) == 112
    assert released["utterances"][-1]["speaker"] == "control"  # it stands where the last "Yeah, thanks." was
    assert turns[:-1] == [(turn["speaker"], turn["text"]) for turn in released["utterances"][:-1]]
    assert turns[-1] == ("patient", "Yeah, thanks.")


# --------------------------------------------------------------------------- create_project


def test_create_project_makes_a_project_with_its_supervisor(db: None) -> None:
    factory.make_user("sam")
    result = run("create_project", "Second clinic", "--supervisor", "sam")
    assert (result["project"], result["questionnaire"]) == ("Second clinic", "cmas")
    member = Membership.objects.get(project__slug=result["slug"])
    assert (member.user.username, member.role) == ("sam", "supervisor")


@pytest.mark.parametrize("words", [["Chest clinic"], ["New", "--questionnaire", "nope"], ["New", "--supervisor", "no"]])
def test_create_project_refuses_in_words(project: Project, words: list[str]) -> None:
    with pytest.raises(CommandError):
        call_command("create_project", *words)
    assert Project.objects.count() == 1


# --------------------------------------------------------------------------- load_demo


def test_the_demo_has_people_dialogues_and_two_readings_in_progress(db: None) -> None:
    result = run("load_demo")
    assert (result["project"], result["dialogues"]) == ("Demo", 12)
    assert result["utterances"] == Utterance.objects.count() >= 7 * 40
    assert result["labels"] == Label.objects.count() > 100
    assert set(result["accounts"]) == {"annotator", "trainee", "supervisor", "doctor", "curator"}
    assert len(set(result["accounts"].values())) == 5
    for name, password in result["accounts"].items():
        person = User.objects.get(username=name)
        assert person.check_password(password)
        assert not person.must_change_password
        role = "annotator" if name == "trainee" else name
        assert role in person.roles_in(Project.objects.get())
    sets = LabelSet.objects.filter(annotator__username="annotator")
    assert sets.count() == 7
    begun = {row.dialogue.external_id for row in sets.filter(status="in_progress")}
    assert begun == {"DEMO-RES-01", "DEMO-MSK-01"}


def test_the_demo_again_keeps_work_and_passwords(db: None) -> None:
    first = run("load_demo", "--password", "only for this test")
    assert set(first["accounts"].values()) == {"only for this test"}
    label_set = LabelSet.objects.get(dialogue__external_id="DEMO-RES-01")
    annotator = User.objects.get(username="annotator")
    label_set_undo(label_set=label_set, actor=annotator, version=label_set.version, key="undo")
    labels = Label.objects.count()
    hashes = list(User.objects.values_list("password", flat=True))
    again = run("load_demo", "--password", "another one")
    assert again["accounts"] == dict.fromkeys(first["accounts"])
    assert list(User.objects.values_list("password", flat=True)) == hashes
    assert Label.objects.count() == labels < first["labels"]
    text = shown("load_demo")
    assert "nothing was changed" in text
    assert "keeps its password" in text


def test_an_older_demo_is_told_how_to_get_the_roles_that_it_lacks(db: None) -> None:
    run("load_demo")
    assert "add_member" not in shown("load_demo")
    Membership.objects.filter(role=Role.CURATOR).delete()
    hint = "Demo has no curator yet; add one: manage.py add_member --project Demo curator --role curator"
    assert hint in shown("load_demo")
    assert not Membership.objects.filter(role=Role.CURATOR).exists(), "nothing was changed"
    run(*hint.partition("manage.py ")[2].split())
    assert hint not in shown("load_demo")


def test_in_the_demo_a_trainee_goes_through_training_and_test_and_the_annotator_works_without(db: None) -> None:
    run("load_demo")
    project = Project.objects.get()
    annotator, trainee = (User.objects.get(username=name) for name in ("annotator", "trainee"))
    assert gate_of(project).closed
    assert those_who_may_work(project, [annotator, trainee]) == {annotator.pk}
    (training,) = training_start(project=project, annotator=trainee)
    label_as_the_gold(training)
    for position in range(training.dialogue.utterance_count):
        told = compared(label_set=training, position=position)
        assert told.feedback.right
        assert told.feedback.explanation
    finish(training)
    attempt = attempt_start(project=project, annotator=trainee)
    for label_set in attempt_label_sets(attempt):
        label_as_the_gold(label_set)
    assert attempt_hand_in(attempt=attempt).passed
    assert may_work(project, trainee)


def label_as_the_gold(label_set: LabelSet) -> None:
    gold = gold_of(label_set.dialogue_id, label_set.purpose)
    assert gold is not None
    fill(label_set, [replace(label, id="") for label in labels_of(gold)])
    label_set.refresh_from_db()


def test_the_demo_leaves_an_account_of_that_name_its_password(db: None) -> None:
    factory.make_user("doctor")
    result = run("load_demo")
    assert result["accounts"]["doctor"] is None
    assert User.objects.get(username="doctor").check_password(factory.PASSWORD)
