"""The form of evaluations and what a page says of the gold, the malformed and the unscored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Evaluation, EvaluationTask, Project
from annotation.services.export_jobs import export_job_create
from annotation.services.export_readings import ExportOptions
from tests.conftest import People
from tests.evaluating import jsonl, make_evaluation, project_predictions
from tests.exporting import make_gold_project

CHOICES = {
    "system": "Small model",
    "task": "nlu",
    "comparator": "normalised",
    "gold": "now",
    "split": "all",
    "random_seed": "1",
    "shares": "0.8,0.1,0.1",
}


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.PORTAL_EVALUATION_DIR = tmp_path / "evaluations"
    settings.PORTAL_EXPORT_DIR = tmp_path / "exports"
    return tmp_path / "evaluations"


@pytest.fixture
def gold(project: Project, people: People) -> Project:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    return project


@pytest.fixture
def doctor(client_for: Any, people: People) -> Client:
    client: Client = client_for(people.doctor)
    return client


def place(project: Project, route: str = "evaluations", **parts: Any) -> str:
    return reverse(route, kwargs={"slug": project.slug, **parts})


def file(lines: Any, name: str = "small.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, lines if isinstance(lines, bytes) else jsonl(lines))


def test_the_task_that_is_looked_at_is_the_one_that_is_offered(doctor: Client, gold: Project) -> None:
    for task in EvaluationTask:
        assert f'<option value="{task}" selected>' in doctor.get(place(gold), {"task": task}).content.decode()


@pytest.mark.parametrize(
    ("change", "field", "said"),
    [
        ({"files": b"\xff\xfe\x00"}, "files", "small.jsonl is no file of predictions"),
        ({"shares": "2,1"}, "shares", "is no three shares"),
        ({"gold": "x"}, "gold", "Select a valid choice"),
        ({"task": "pol"}, "task", "choose that task"),
    ],
)
def test_a_refused_upload_says_why_on_top_leads_to_the_field_and_keeps_the_rest(
    doctor: Client, gold: Project, change: dict[str, Any], field: str, said: str
) -> None:
    sent = change.get("files", jsonl(project_predictions(gold, "nlu")))
    given = {**CHOICES, "comparator": "exact", "random_seed": "7", **change, "files": file(sent)}
    text = doctor.post(place(gold), given).content.decode()
    top = text[: text.index("<h1>")]
    assert "This was not accepted" in top
    assert f'href="#id_{field}"' in top
    assert said in top
    assert f'id="id_{field}"' in text
    assert 'name="system" value="Small model"' in text
    assert 'name="random_seed" value="7"' in text
    assert '<option value="exact" selected>' in text
    assert "choose it again" in text


def test_what_was_typed_before_too_large_a_file_is_kept(doctor: Client, gold: Project, settings: Any) -> None:
    settings.PORTAL_MAX_FILE_BYTES = 1000
    text = doctor.post(place(gold), {**CHOICES, "random_seed": "7", "files": file(b"x" * 5000)}).content.decode()
    assert 'href="#id_files"' in text[: text.index("<h1>")]
    assert 'name="system" value="Small model"' in text
    assert 'name="random_seed" value="7"' in text


def test_an_export_is_offered_as_the_gold_and_named_with_its_sum(doctor: Client, gold: Project, people: People) -> None:
    lines = project_predictions(gold, "nlu")
    job = export_job_create(project=gold, actor=people.supervisor, options=ExportOptions())
    job.refresh_from_db()
    total = next(one["sha256"] for one in job.report["files"] if one["path"] == "dialogs.json")
    text = doctor.get(place(gold)).content.decode()
    assert f'<option value="{job.pk}">the export of ' in text
    assert f", dialogs.json {total[:12]} (SHA-256)</option>" in text
    answer = doctor.post(place(gold), {**CHOICES, "gold": str(job.pk), "files": file(lines)}, follow=True)
    made = Evaluation.objects.get()
    text = answer.content.decode()
    assert "Against the gold of the export of" in text
    assert f'<code title="{total}">{total[:12]}</code>' in text
    assert f'<code title="{made.gold["digest"]}">' in text
    now = make_evaluation(gold, people.supervisor, lines, "Now")
    Evaluation.objects.update(gold={**made.gold, "stamp": "old"})
    Evaluation.objects.filter(pk=now.pk).update(gold={**now.gold, "stamp": "old"})
    answer = doctor.get(place(gold))
    assert answer.context["outdated"] == {now.pk}
    assert answer.content.decode().count("gold changed since") == 1
    assert answer.content.decode().count(">outdated</span>") == 2, "in each of the two tables of scores"


def test_a_system_for_some_dialogues_only_and_what_is_not_scored_are_said(
    doctor: Client, gold: Project, people: People
) -> None:
    lines = [one for one in project_predictions(gold, "nlu") if one["dialogue_id"] != "RES-2"]
    lines[0]["nlu"] = "cough"
    made = make_evaluation(gold, people.supervisor, lines)
    text = doctor.get(place(gold, "evaluation", pk=made.pk)).content.decode()
    assert "1 of 8 dialogues has no prediction at all; what they say counts as missed." in text
    assert "it is one wrong tuple in each of the three groups above" in text
    assert ">malformed<" not in text
    assert "(malformed)" in text
    answer = doctor.get(place(gold, "evaluation", pk=made.pk), {"slot": "(malformed)"})
    assert [turn.sides[0].prediction for turn in answer.context["turns"]] == ["malformed prediction"]
    results = made.results
    Evaluation.objects.update(results={**results, "utterances": {"scored": 91, "left_out": 17}})
    assert "17 more are predicted and not scored" in doctor.get(place(gold, "evaluation", pk=made.pk)).content.decode()
    other = make_evaluation(gold, people.supervisor, lines, "Other")
    text = doctor.get(place(gold, "evaluation-compare", pk=made.pk), {"with": str(other.pk)}).content.decode()
    assert "17 more are predicted and not scored" in text
