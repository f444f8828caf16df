"""Evaluations by the REST interface: which systems there are, and their scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.models import Evaluation, EvaluationTask, JobStatus, Project
from tests.api import Api, error_of
from tests.conftest import People
from tests.evaluating import make_evaluation, project_predictions
from tests.exporting import make_gold_project

SYSTEMS = "projects/chest-clinic/evaluations/"


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.PORTAL_EVALUATION_DIR = tmp_path / "evaluations"
    return tmp_path / "evaluations"


@pytest.fixture
def gold(project: Project, people: People) -> Project:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    return project


def test_systems_are_listed_and_each_tells_its_scores(gold: Project, people: People) -> None:
    nlu = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu", but=2), "Small")
    nlg = make_evaluation(gold, people.doctor, project_predictions(gold, "nlg"), "Talker", task=EvaluationTask.NLG)
    api = Api(people.doctor)
    listed = api.get(SYSTEMS).json()
    assert [(one["system"], one["task"], one["created_by"]) for one in listed["results"]] == [
        ("Talker", "nlg", people.doctor.username),
        ("Small", "nlu", people.supervisor.username),
    ]
    assert listed["results"][1]["gold"]["dialogues"] == 8
    assert [one["system"] for one in api.get(SYSTEMS, task="nlu").json()["results"]] == ["Small"]
    found = api.get(f"{SYSTEMS}{nlu.pk}/").json()
    assert found["results"] == Evaluation.objects.get(pk=nlu.pk).results
    assert found["results"]["predictions"]["missing"] == 2
    assert (found["file_sha256"], found["gold_has_changed"]) == (nlu.file_sha256, False)
    assert api.get(f"{SYSTEMS}{nlg.pk}/").json()["results"]["rouge_l"] == 1
    Evaluation.objects.filter(pk=nlu.pk).update(gold={**nlu.gold, "stamp": "old"})
    assert api.get(f"{SYSTEMS}{nlu.pk}/").json()["gold_has_changed"] is True


def test_one_that_is_not_done_has_no_scores(gold: Project, people: People) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    Evaluation.objects.update(status=JobStatus.FAILED, error="The disk is full.")
    found = Api(people.supervisor).get(f"{SYSTEMS}{made.pk}/").json()
    assert (found["status"], found["error"], found["results"]) == ("failed", "The disk is full.", None)


def test_who_labels_gets_nothing_of_it(gold: Project, people: People) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    for address in (SYSTEMS, f"{SYSTEMS}{made.pk}/"):
        error_of(Api(people.outsider).get(address), 404, "not_found")
    error_of(Api(people.annotator).get(SYSTEMS), 403, "forbidden")
    error_of(Api(people.second).get(f"{SYSTEMS}{made.pk}/"), 403, "forbidden")
    error_of(Api(people.supervisor).get(SYSTEMS, task="all"), 400, "invalid")
    error_of(Api(people.superuser).get(SYSTEMS, tsak="nlu"), 400, "invalid")
