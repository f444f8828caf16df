"""What is asked for of an export stays what it is: through a form, a program, the record of a job, and the manifest."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.domain.export_verification import verify_export
from annotation.domain.splits import Shares
from annotation.models import ExportJob, JobStatus, Project
from annotation.questionnaires import get_questionnaire
from annotation.services.errors import Refused
from annotation.services.export_readings import ExportOptions, parts_of
from annotation.services.export_storage import export_path
from tests.conftest import People
from tests.exporting import make_gold_project

CHOICES = {"source": "gold", "random_seed": "7", "title": "Coughs", "formats": ["csv", "huggingface", "portal"]}


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> None:
    settings.PORTAL_EXPORT_DIR = tmp_path / "exports"


@pytest.fixture
def gold(project: Project, people: People) -> Project:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    return project


def unpacked(job: ExportJob, where: Path) -> Path:
    with zipfile.ZipFile(export_path(job)) as packed:
        packed.extractall(where)
    (folder,) = where.iterdir()
    return folder


@pytest.mark.parametrize(
    "shares", ["1/3,1/3,1/3", "0.33333333,0.33333333,0.33333334", "0.12345678,0.87654322,0", "80 10 10"]
)
def test_an_untouched_export_of_the_page_is_as_it_was_exported(
    client_for: Any, gold: Project, people: People, tmp_path: Path, shares: str
) -> None:
    client: Client = client_for(people.supervisor)
    given = {**CHOICES, "shares": shares, "citation": "One,\r\ntwo\rand three", "specialties": ["respiratory"]}
    answer = client.post(reverse("export-new", args=[gold.slug]), given)
    assert answer.status_code == 302, answer.content.decode()
    job = ExportJob.objects.get()
    assert (job.status, job.error) == (JobStatus.DONE, "")
    options = ExportOptions.from_json(json.loads(json.dumps(job.options)))
    assert options.shares == Shares.parse(shares)
    assert options.citation == "One,\ntwo\nand three"
    out = unpacked(job, tmp_path / "out")
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert Shares.from_json(manifest["splits"]["shares"]) == Shares.parse(shares)
    assert verify_export(out, questionnaire=get_questionnaire("cmas")).findings == []


@pytest.mark.parametrize("shares", ["1e9999999,0,0", "0.3333333333333333333,0.3,0.3", "1/0,0,0", "9" * 90])
def test_shares_that_are_none_are_said_at_their_field(
    client_for: Any, gold: Project, people: People, shares: str
) -> None:
    client: Client = client_for(people.supervisor)
    answer = client.post(reverse("export-new", args=[gold.slug]), {**CHOICES, "shares": shares})
    assert answer.status_code == 422
    assert not ExportJob.objects.exists()


@pytest.mark.parametrize("name", ["title", "licence", "citation"])
def test_words_are_text_with_plain_line_ends(name: str) -> None:
    assert getattr(ExportOptions(**{name: "a\r\nb\rc\u2028\n"}), name) == "a\nb\nc\u2028\n"  # type: ignore[arg-type]
    with pytest.raises(Refused, match=f"The {name} is no text in UTF-8") as refused:
        ExportOptions(**{name: "\ud800"})  # type: ignore[arg-type]
    assert refused.value.field == name


def test_a_specialty_that_no_dialogue_has_is_refused_wherever_it_comes_from(gold: Project) -> None:
    assert len(parts_of(gold, ExportOptions(specialties=("cardiac",)))[0].label_sets) == 8
    with pytest.raises(Refused, match="“nope”; there are: cardiac, respiratory") as refused:
        parts_of(gold, ExportOptions(specialties=("cardiac", "nope")))
    assert refused.value.field == "specialties"
