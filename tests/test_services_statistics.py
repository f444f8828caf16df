"""The statistics of a project: which reading of a dialogue counts, how its labels came about, and the command."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.core.management.base import CommandError
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.models import Dialogue, Label, LabelSet, Owner, Project, Purpose, Status
from annotation.services.labelling import label_set_undo
from annotation.services.statistics import project_statistics
from tests import factory
from tests.conftest import People
from tests.exporting import make_gold_project
from tests.factory import inform, inquire
from tests.test_commands_files import run, run_json


@contextmanager
def on(day: int) -> Iterator[None]:
    with mock.patch("django.utils.timezone.now", return_value=datetime(2024, 5, day, 12, tzinfo=UTC)):
        yield


def labelled(dialogue: Dialogue, person: Any, *labels: Any, status: Status = Status.IN_PROGRESS) -> LabelSet:
    label_set = factory.make_label_set(dialogue, person)
    factory.make_labels(label_set, *labels)
    label_set.refresh_from_db()
    label_set.status = status
    label_set.save()
    return label_set


def slots(**choice: Any) -> dict[str, int]:
    return {name: one.utterances for name, one in project_statistics(**choice).statistics.slots.items()}


def test_every_dialogue_counts_once_labelled_or_not(project: Project, dialogue: Dialogue, people: People) -> None:
    labelled(dialogue, people.annotator, inform(1, "symptom", "cough", status="yes"))
    labelled(dialogue, people.second, inform(1, "habit", "tea", status="yes"))
    factory.make_dialogue(project, "EMPTY")
    found = project_statistics(project=project)
    assert found.statistics.sizes["all"].dialogues == 2
    assert found.statistics.sizes["all"].utterances == 20
    assert found.readings == {"gold": 0, "annotator": 1, "without_labels": 1}
    assert slots(project=project) == {"symptom": 1}


def test_finished_work_comes_before_begun_work_and_gold_before_both(
    project: Project, dialogue: Dialogue, people: People
) -> None:
    labelled(dialogue, people.annotator, inform(1, "symptom", "cough", status="yes"))
    labelled(dialogue, people.second, inform(1, "habit", "tea", status="yes"), status=Status.DONE)
    assert slots(project=project) == {"habit": 1}
    gold = labelled(dialogue, people.doctor, inquire(0, "travel"))
    LabelSet.objects.filter(pk=gold.pk).update(owner=Owner.GOLD, annotator=None)
    assert slots(project=project) == {"travel": 1}
    assert slots(project=project, gold=True) == {"travel": 1}
    assert slots(project=project, annotator=people.annotator) == {"symptom": 1}


def test_somebody_s_figures_are_over_their_dialogues_only(project: Project, dialogue: Dialogue, people: People) -> None:
    labelled(dialogue, people.annotator, inform(1, "symptom", "cough", status="yes"))
    factory.make_dialogue(project, "EMPTY")
    assert project_statistics(project=project, annotator=people.annotator).statistics.sizes["all"].dialogues == 1
    assert project_statistics(project=project, gold=True).statistics.sizes["all"].dialogues == 0


def test_training_and_tests_archived_dialogues_and_other_projects_are_left_out(
    project: Project, dialogue: Dialogue, people: People
) -> None:
    test = factory.make_label_set(dialogue, people.annotator, purpose=Purpose.TEST)
    factory.make_labels(test, inform(1, "habit", "tea", status="yes"))
    with on(1):
        gone = factory.make_dialogue(project, "GONE", archived_at=datetime(2024, 5, 1, tzinfo=UTC))
    labelled_elsewhere = factory.make_dialogue(factory.make_project(), "OTHER")
    factory.make_label_set(labelled_elsewhere, people.annotator)
    found = project_statistics(project=project)
    assert gone.archived_at
    assert found.statistics.sizes["all"].dialogues == 1
    assert found.statistics.slots == {}


def test_labels_grow_by_the_events_that_made_and_removed_them(
    project: Project, dialogue: Dialogue, people: People
) -> None:
    label_set = factory.make_label_set(dialogue, people.annotator)
    with on(1):
        factory.make_labels(label_set, inform(1, "symptom", "cough", status="yes"), inquire(0, "symptom"))
    with on(3):
        factory.make_labels(label_set, inform(3, "symptom", "fever", status="no"))
        label_set.refresh_from_db()
        label_set_undo(label_set=label_set, actor=people.annotator, version=label_set.version, key=str(uuid.uuid4()))
        factory.make_labels(label_set, inform(5, "symptom", "cold", status="yes"), inform(7, "habit", "smoking"))
    found = project_statistics(project=project)
    assert [(one.day.day, one.change, one.total) for one in found.growth] == [(1, 2, 2), (3, 2, 4)]
    assert found.growth[-1].total == found.statistics.sizes["all"].labels == Label.objects.count()


def test_the_number_of_queries_does_not_grow_with_the_dialogues(
    project: Project, people: People, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(30):
        labelled(factory.make_dialogue(project), people.annotator, inform(1, "symptom", "cough", status="yes"))
    with django_assert_max_num_queries(6):
        assert slots(project=project) == {"symptom": 30}


# --- the command ---


def test_a_project_in_figures_for_people(project: Project, dialogue: Dialogue, people: People) -> None:
    labelled(dialogue, people.annotator, inform(1, "symptom", "cough", status="yes", onset="today"))
    lines = run("statistics", "--project", "Chest clinic").splitlines()
    words = sum(len(text.split()) for _, text in factory.TURNS) / 10
    assert lines[1].split() == ["all", "1", "10", "10.00", f"{words:.2f}", "1", "1"]
    assert "Utterances of the patient (5) by intent:" in lines
    assert "      1  symptom  | █        |  1.00" in lines
    assert "      1  cough" in lines
    assert lines[-1].startswith("1 labels on ")


def test_a_project_in_figures_for_programs(project: Project, dialogue: Dialogue, people: People) -> None:
    labelled(dialogue, people.annotator, inform(1, "symptom", "cough", status="yes"))
    found = run_json("statistics", "--project", "chest-clinic", "--annotator", "alice")
    assert found["readings"] == {"gold": 0, "annotator": 1, "without_labels": 0}
    assert found["slots"]["symptom"]["segments"] == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert found["concepts"] == [
        {"concept": "cough", "cui": "", "mentions": 1, "dialogues": 1, "slots": {"symptom": 1}}
    ]
    assert [one["total"] for one in found["growth"]] == [1]


def test_splits_come_from_a_file(project: Project, dialogue: Dialogue, tmp_path: Path) -> None:
    factory.make_dialogue(project, "OTHER")
    path = tmp_path / "splits.json"
    path.write_text(json.dumps({"train": ["RES-TEST"], "test": []}), encoding="utf-8")
    found = run_json("statistics", "--project", "Chest clinic", "--splits", str(path))
    assert {name: one["dialogues"] for name, one in found["sizes"].items()} == {"all": 2, "train": 1, "none": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "list of dialogue ids under each split"),
        ('{"train": "RES-TEST"}', "“train” is no list"),
        ('{"train": [1]}', "“train” is no list"),
        ('{"train": ["A"], "test": ["A"]}', "“A” is both in “train” and in “test”"),
        ('{"train": ["A"], "train": ["B"]}', "list of dialogue ids under each split"),
        ('{"train": ', "breaks off"),
        ('{"train": ["RES-9"]}', "has no dialogue “RES-9”, which the splits name"),
        ('{"all": ["RES-TEST"]}', "cannot be called “all”"),
        ('{"none": ["RES-TEST"]}', "cannot be called “none”"),
        ('{"": []}', "cannot be called “”"),
        ('{"\\ud800": []}', "no text in UTF-8"),
        ('{"train": ["\\ud800"]}', "no text in UTF-8"),
    ],
)
def test_a_file_of_splits_that_cannot_be_read_is_refused(
    project: Project, tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "splits.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError, match=words):
        run("statistics", "--project", "Chest clinic", "--splits", str(path))


def test_an_archived_dialogue_is_in_no_split(project: Project, dialogue: Dialogue, tmp_path: Path) -> None:
    Dialogue.objects.filter(pk=dialogue.pk).update(archived_at=timezone.now())
    path = tmp_path / "splits.json"
    path.write_text('{"train": ["RES-TEST"]}', encoding="utf-8")
    with pytest.raises(CommandError, match="“RES-TEST” of the split “train” is archived"):
        run("statistics", "--project", "Chest clinic", "--splits", str(path))


def test_splits_come_from_an_export_or_its_lists(project: Project, people: People, tmp_path: Path) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    out = tmp_path / "out"
    run("export_gold", "--project", "Chest clinic", "--out", str(out), "--random-seed", "7", "--shares", "1/2,1/2,0")

    def sizes(*words: str) -> dict[str, int]:
        found = run_json("statistics", "--project", "Chest clinic", *words)
        return {name: one["dialogues"] for name, one in found["sizes"].items()}

    stated = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["splits"]["dialogues"]
    whole = {"all": 8, **{name: number for name, number in stated.items() if number}}
    assert sizes("--splits", str(out)) == whole
    assert sizes("--splits", *(str(out / f"{name}_ids.json") for name in stated)) == whole
    assert sizes("--random-seed", "7", "--shares", "1/2,1/2,0") == whole
    assert sizes("--random-seed", "7", "--shares", "1/2,1/2,0", "--gold") == whole
    assert sizes("--splits", str(out / "test_ids.json")) == {"all": 8, "test": 1, "none": 7}
    cardiac = sizes("--specialties", "cardiac")
    assert (cardiac["ood_test"], cardiac["all"], cardiac["test"]) == (6, 8, 1)
    assert sizes("--annotator", "alice", "--random-seed", "7")["all"] == 8
    (tmp_path / "ids.json").write_text('["RES-1"]', encoding="utf-8")
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy/train_ids.json").write_text('["RES-1"]', encoding="utf-8")
    for words, wrong in (
        (["--splits", str(out), "--random-seed", "7"], "give one or the other"),
        (["--splits", str(tmp_path)], "is no export"),
        (["--splits", str(tmp_path / "ids.json")], "list of dialogue ids under each split"),
        (["--splits", str(out), str(tmp_path / "copy")], "“RES-1” is both in “test” and in “train”"),
        (["--random-seed", "-1"], "“-1” is no random seed"),
        (["--random-seed", "9" * 5_000], "is no random seed"),
        (["--shares", "1e9999999,0,0"], "“1e9999999” is no share"),
        (["--specialties", "nope"], "the specialty “nope”; there are: cardiac, respiratory"),
        (["--annotator", "\udcff"], "“--annotator” is no text in UTF-8"),
    ):
        with pytest.raises(CommandError, match=re.escape(wrong)):
            run("statistics", "--project", "Chest clinic", *words)


def test_what_is_not_there_is_named(project: Project) -> None:
    with pytest.raises(CommandError, match="no project “Nowhere”"):
        run("statistics", "--project", "Nowhere")
    with pytest.raises(CommandError, match="no user “nobody”"):
        run("statistics", "--project", "Chest clinic", "--annotator", "nobody")


def test_an_empty_project_has_figures_too(project: Project) -> None:
    assert run("statistics", "--project", "Chest clinic").splitlines()[1].split() == [
        "all",
        "0",
        "0",
        "–",
        "–",
        "0",
        "0",
    ]


def test_the_transcripts_have_the_figures_of_their_import(db: None, real_data: Path) -> None:
    """Words are counted here from the utterances' own rows; the import says how many dialogues and utterances."""
    found = factory.make_project("Transcripts")
    imported = run_json("import_dialogues", "--project", found.name, str(real_data / "transcripts"))
    size = run_json("statistics", "--project", found.name)["sizes"]["all"]
    assert size["dialogues"] == imported["created"] == 62
    assert size["utterances"] == imported["utterances"] == 6581
    texts = found.dialogues.values_list("utterances__text", flat=True)
    assert size["words"] == sum(len(text.split()) for text in texts)
