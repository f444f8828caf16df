"""Evaluations against the gold of an export: tied to its files, with its own splits."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.splits import Shares, Split
from annotation.models import Dialogue, Evaluation, EvaluationTask, ExportJob, JobStatus, Label, LabelSet, Project, User
from annotation.services.errors import Refused
from annotation.services.evaluation_exports import exported_gold
from annotation.services.evaluation_gold import GoldChoice
from annotation.services.evaluations import (
    evaluation_again,
    gold_has_changed,
    outdated,
)
from annotation.services.export_jobs import export_job_create, export_job_delete
from annotation.services.export_readings import ExportOptions
from annotation.services.export_storage import export_path
from tests.conftest import People
from tests.evaluating import make_evaluation, project_predictions
from tests.exporting import make_gold_project


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.PORTAL_EVALUATION_DIR = tmp_path / "evaluations"
    settings.PORTAL_EXPORT_DIR = tmp_path / "exports"
    return tmp_path / "evaluations"


@pytest.fixture
def gold(project: Project, people: People) -> Project:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    return project


def exported(project: Project, actor: User, **options: Any) -> ExportJob:
    job = export_job_create(project=project, actor=actor, options=ExportOptions(**options))
    job.refresh_from_db()
    assert job.status == JobStatus.DONE, job.error
    return job


def one_more_decision(project: Project) -> None:
    label = Label.objects.filter(label_set__owner="gold", slot="symptom", utterance__speaker="patient").first()
    assert label is not None
    Label.objects.filter(pk=label.pk).update(answers={**label.answers, "value": ["stridor"]})
    row = LabelSet.objects.get(pk=label.label_set_id)
    LabelSet.objects.filter(pk=row.pk).update(version=row.version + 1)


@pytest.mark.parametrize("task", EvaluationTask)
def test_a_score_against_an_export_stays_what_it_is(
    gold: Project, people: People, django_capture_on_commit_callbacks: Any, task: EvaluationTask
) -> None:
    lines = project_predictions(gold, task)
    job = exported(gold, people.supervisor)
    one_more_decision(gold)
    made = make_evaluation(gold, people.supervisor, lines, task=task, choice=GoldChoice(export=str(job.pk)))
    now = make_evaluation(gold, people.supervisor, lines, task=task)
    for _ in range(2):
        made.refresh_from_db()
        assert made.status == JobStatus.DONE, made.error
        assert made.results["rouge_l" if task == "nlg" else "overall"] in (1, {"precision": 1, "recall": 1, "f1": 1})
        assert not made.turns.wrong().exists()
        assert made.turns.count() == now.turns.count() > 0
        with zipfile.ZipFile(export_path(job)) as packed:
            name = next(one for one in packed.namelist() if one.endswith("/dialogs.json"))
            assert made.gold["export"]["dialogs_sha256"] == hashlib.sha256(packed.read(name)).hexdigest()
        assert not gold_has_changed(made)
        with django_capture_on_commit_callbacks(execute=True):
            evaluation_again(evaluation=made)
    if task is EvaluationTask.NLU:
        assert now.results["overall"]["f1"] < 1


def test_the_same_gold_can_be_compared_wherever_it_was_read(gold: Project, people: People) -> None:
    lines = project_predictions(gold, "nlu", but=2)
    job = exported(gold, people.supervisor)
    then = make_evaluation(gold, people.supervisor, lines, choice=GoldChoice(export=str(job.pk)))
    now = make_evaluation(gold, people.supervisor, lines)
    assert then.gold["digest"] == now.gold["digest"]
    assert then.results == now.results
    one_more_decision(gold)
    assert outdated([then, now]) == {now.pk}


def test_the_splits_are_the_export_s_own(gold: Project, people: People) -> None:
    """Both specialties were within its domain, which no seed and no shares say."""
    job = exported(gold, people.supervisor, specialties=("respiratory", "cardiac"), shares=Shares.parse("0.5,0.5,0"))
    with zipfile.ZipFile(export_path(job)) as packed:
        name = next(one for one in packed.namelist() if one.endswith("/valid_ids.json") and one.count("/") == 1)
        ids = json.loads(packed.read(name))
    choice = GoldChoice("valid", 99, Shares(), str(job.pk))
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"), choice=choice)
    assert ids
    assert {turn.utterance.dialogue.external_id for turn in made.turns.all()} == set(ids)
    assert made.results["dialogues"] == {"scored": len(ids), "without_prediction": 0}
    with pytest.raises(Refused, match="No dialogue of this export is in the split “ood_test”"):
        make_evaluation(
            gold, people.supervisor, project_predictions(gold, "nlu"), choice=replace(choice, split="ood_test")
        )


def test_only_a_gold_export_of_the_project_that_is_there_can_be_chosen(
    gold: Project, people: People, django_capture_on_commit_callbacks: Any
) -> None:
    lines = project_predictions(gold, "nlu")
    hers = exported(gold, people.supervisor, source="annotator", annotator="alice")
    far = ExportJob.objects.create(
        project=Project.objects.create(name="Far", slug="far"), created_by=people.supervisor, status=JobStatus.DONE,
        options={"source": "gold"},
    )  # fmt: skip
    for pk in (str(hers.pk), str(far.pk), "x"):
        with pytest.raises(Refused, match="no such export"):
            make_evaluation(gold, people.supervisor, lines, choice=GoldChoice(export=pk))
    job = exported(gold, people.supervisor)
    made = make_evaluation(gold, people.supervisor, lines, choice=GoldChoice(export=str(job.pk)))
    export_path(job).write_bytes(export_path(job).read_bytes()[:-200])
    with django_capture_on_commit_callbacks(execute=True):
        evaluation_again(evaluation=made)
    made.refresh_from_db()
    assert made.error.startswith("The files of this export are damaged")
    again = make_evaluation(gold, people.supervisor, lines)
    Evaluation.objects.filter(pk=again.pk).update(options=made.options)
    again.refresh_from_db()
    export_job_delete(job=job, actor=people.supervisor)
    with pytest.raises(Refused, match="are not on the portal any more"):
        evaluation_again(evaluation=again)
    again.refresh_from_db()
    assert (again.status, again.results["overall"]["f1"]) == (JobStatus.DONE, 1), "its scores stay"
    with pytest.raises(Refused, match="are not on the portal any more"):
        make_evaluation(gold, people.supervisor, lines, choice=GoldChoice(export=str(job.pk)))


def test_what_is_not_in_the_project_any_more_is_scored_and_not_listed(gold: Project, people: People) -> None:
    lines = project_predictions(gold, "nlu")
    job = exported(gold, people.supervisor)
    Dialogue.objects.filter(external_id="RES-1").update(external_id="RES-1-new")
    made = make_evaluation(gold, people.supervisor, lines, choice=GoldChoice(export=str(job.pk)))
    assert made.gold["dialogues"] == 8
    assert made.results["overall"]["f1"] == 1
    assert 0 < made.turns.count() < made.results["utterances"]["scored"]


def repacked(job: ExportJob, changed: dict[str, bytes]) -> None:
    """The same zip with other contents in some of its files."""
    path = export_path(job)
    with zipfile.ZipFile(path) as packed:
        files = {one: packed.read(one) for one in packed.namelist()}
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in files.items():
            packed.writestr(name, changed.get(name.partition("/")[2], data))


def test_another_zip_in_the_place_of_an_export_is_no_gold(gold: Project, people: People) -> None:
    job = exported(gold, people.supervisor)
    repacked(job, {"test_ids.json": b"[]"})
    with pytest.raises(Refused, match="are damaged"):
        exported_gold(job, None)


@pytest.mark.parametrize("ids", ["null", "3", "[[]]", "[{}]", "[" * 100_000])
def test_a_list_of_ids_that_is_none_is_named_as_damage(gold: Project, people: People, ids: str) -> None:
    job = exported(gold, people.supervisor)
    job.report.pop("zip_sha256")  # as exports of before have none
    repacked(job, {"test_ids.json": ids.encode()})
    with pytest.raises(Refused, match="are damaged"):
        exported_gold(job, Split.TEST)


def test_a_zip_with_any_byte_changed_is_refused_in_words(gold: Project, people: People) -> None:
    job = exported(gold, people.supervisor)
    job.report.pop("zip_sha256")
    path = export_path(job)
    whole = path.read_bytes()
    refused = 0
    for place in range(0, len(whole), max(1, len(whole) // 300)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            exported_gold(job, None)
        except Refused:
            refused += 1
    assert refused
