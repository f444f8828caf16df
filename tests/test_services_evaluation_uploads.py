"""What an upload costs the person who waits: little, whatever is in the file."""

from __future__ import annotations

import json
import shutil
import uuid
from pathlib import Path
from typing import Any

import pytest

from annotation.models import EvaluationTask, JobStatus, Project
from annotation.services.errors import Refused
from annotation.services.evaluation_gold import GoldChoice
from annotation.services.evaluations import (
    evaluation_create,
    evaluation_folder,
    evaluation_run,
)
from tests.conftest import People
from tests.evaluating import jsonl, make_evaluation, project_predictions
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


@pytest.mark.parametrize("junk", [b"1\n", b"{}\n", b"{bad\n", b"\n"])
def test_a_large_file_of_junk_is_refused_at_its_first_lines(gold: Project, people: People, junk: bytes) -> None:
    folder = evaluation_folder(uuid.uuid4())
    folder.mkdir(parents=True)
    good = b"" if junk.isspace() else jsonl(project_predictions(gold, "nlu"))  # which nobody reads so far to find
    (folder / "received").write_bytes(junk * (20 * 2**20 // len(junk)) + good)
    with pytest.raises(Refused, match=r"none of its first 500 lines has “nlu”|is empty"):
        evaluation_create(
            project=gold, actor=people.supervisor, system="S", task=EvaluationTask.NLU, comparator="exact",
            choice=GoldChoice(), stored=folder / "received", file_name="p.jsonl", evaluation_id=uuid.UUID(folder.name),
        )  # fmt: skip
    shutil.rmtree(folder)


def test_what_takes_long_is_only_stored_and_left_to_the_worker(gold: Project, people: People) -> None:
    lines = project_predictions(gold, "nlu")
    many_lines = make_evaluation(gold, people.supervisor, [*lines, *["1"] * 30_000])
    large = make_evaluation(gold, people.supervisor, [*lines, "x" * 600_000])
    dataset = json.dumps({"RES-1": {"utterances": [{"text": "x" * 600_000}]}})
    unread = make_evaluation(gold, people.supervisor, [dataset])
    assert [one.status for one in (many_lines, large, unread)] == [JobStatus.QUEUED] * 3
    marks = json.dumps(
        [{"intent": "inform", "slots": {"symptom": [{"value": "x", "onset": "a" + "\u0301\u0323" * 50_000}]}}]
    )
    slow = make_evaluation(gold, people.supervisor, [{**one, "nlu": json.loads(marks)} for one in lines[:3]])
    evaluation_run(evaluation=slow)
    slow.refresh_from_db()
    assert (slow.status, slow.results["predictions"]["malformed"]) == (JobStatus.DONE, 3)
