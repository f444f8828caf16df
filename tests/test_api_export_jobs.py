"""Exports for researchers by the REST interface: begun, watched, fetched, cancelled, their files deleted."""

from __future__ import annotations

import hashlib
import io
import uuid
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.export_verification import verify_export
from annotation.models import ExportJob, JobStatus, Project
from annotation.services.export_storage import export_path
from tests.api import Api, error_of
from tests.conftest import People
from tests.exporting import make_gold_project

JOBS = "projects/chest-clinic/exports/jobs/"


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.PORTAL_EXPORT_DIR = tmp_path / "exports"
    return tmp_path / "exports"


@pytest.fixture
def gold(project: Project, people: People) -> Project:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    return project


@pytest.fixture
def api(gold: Project, people: People) -> Api:
    return Api(people.supervisor)


def test_an_export_is_made_fetched_and_verifies(api: Api, gold: Project, tmp_path: Path) -> None:
    asked = {"formats": ["jsonl"], "random_seed": 7, "shares": "50 50 0", "title": "Coughs", "surface_forms": True}
    made = api.post(JOBS, asked)
    assert made.status_code == 200
    job = made.json()
    assert (job["status"], job["dialogues"], job["total"], job["created_by"]) == ("done", 8, 8, "sam")
    assert job["options"] | {"specialties": []} == {
        "source": "gold",
        "annotator": "",
        "unfinished": False,
        "surface_forms": True,
        "formats": ["dialogs", "jsonl"],
        "random_seed": 7,
        "shares": "0.5,0.5,0",
        "specialties": [],
        "title": "Coughs",
        "licence": "",
        "citation": "",
    }
    fetched = api.get(f"{JOBS}{job['id']}/download/")
    assert fetched["Content-Disposition"] == 'attachment; filename="chest-clinic-gold.zip"'
    assert hashlib.sha256(fetched.body).hexdigest() == job["zip_sha256"]
    with zipfile.ZipFile(io.BytesIO(fetched.body)) as packed:
        packed.extractall(tmp_path / "out")
    assert verify_export(tmp_path / "out/chest-clinic-gold", questionnaire=gold.questionnaire).findings == []
    named = {one["path"]: one["sha256"] for one in job["files"]}
    lines = (tmp_path / "out/chest-clinic-gold/utterances.jsonl").read_bytes()
    assert named["utterances.jsonl"] == hashlib.sha256(lines).hexdigest()
    assert api.get(f"{JOBS}{job['id']}/").json() == job
    (listed,) = api.get(JOBS).json()["results"]
    assert listed == {name: job[name] for name in listed}


def test_nothing_said_is_the_gold_in_all_formats(api: Api) -> None:
    options = api.post(JOBS, {}).json()["options"]
    assert (options["source"], options["random_seed"], options["shares"]) == ("gold", 1, "0.8,0.1,0.1")
    assert options["formats"] == ["dialogs", "jsonl", "csv", "tuples", "huggingface", "portal"]
    hers = api.post(JOBS, {"source": "annotator", "annotator": "alice"}).json()
    assert hers["options"]["annotator"] == "alice"


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"source": "mine"}, "source"),
        ({"source": "annotator"}, "annotator"),
        ({"annotator": "alice"}, "annotator"),
        ({"formats": ["xml"]}, "formats"),
        ({"shares": "1,1,1"}, "shares"),
        ({"random_seed": -1}, "random_seed"),
        ({"random_sed": 1}, "random_sed"),
        ({"formats": []}, "formats"),
        ({"specialties": []}, "specialties"),
    ],
)
def test_what_cannot_be_asked_for_is_said_at_its_field(api: Api, asked: dict[str, Any], field: str) -> None:
    assert field in error_of(api.post(JOBS, asked), 400, "invalid")["fields"]
    assert not ExportJob.objects.exists()


def test_who_has_nothing_here_and_nothing_to_export_are_refused(api: Api, gold: Project) -> None:
    asked = {"source": "annotator", "annotator": "otto"}
    assert "source" in error_of(api.post(JOBS, asked), 400, "refused")["fields"]
    gold.dialogues.update(archived_at="2026-01-01T00:00:00Z")
    assert "There is nothing to export" in error_of(api.post(JOBS, {}), 400, "refused")["message"]


def test_a_large_one_is_watched_and_cancelled(api: Api, settings: Any, django_capture_on_commit_callbacks: Any) -> None:
    settings.PORTAL_IMPORT_INLINE_UTTERANCES = 79
    with django_capture_on_commit_callbacks() as waiting:
        made = api.post(JOBS, {})
    address = f"{JOBS}{made.json()['id']}/"
    assert (made.status_code, made.json()["status"], made.json()["zip_sha256"]) == (202, "queued", None)
    assert "not done" in error_of(api.get(f"{address}download/"), 404, "not_found")["message"]
    assert api.post(f"{address}cancel/").json()["status"] == "cancelled"
    for send in waiting:
        send()
    assert api.get(address).json()["status"] == "cancelled"
    error_of(api.post(f"{address}cancel/"), 400, "refused")
    with django_capture_on_commit_callbacks(execute=True):
        assert api.post(f"{address}retry/").status_code == 202
    assert api.get(address).json()["status"] == "done"
    error_of(api.post(f"{address}retry/"), 400, "refused")


def test_files_are_deleted_and_what_they_were_stays(api: Api, people: People) -> None:
    made = api.post(JOBS, {}).json()
    address = f"{JOBS}{made['id']}/"
    gone = Api(people.superuser).post(f"{address}delete-files/").json()
    assert gone["files_deleted_by"] == people.superuser.username
    assert gone["files_deleted_at"]
    assert (gone["zip_sha256"], gone["files"]) == (made["zip_sha256"], made["files"])
    assert not export_path(ExportJob.objects.get()).exists()
    error_of(api.get(f"{address}download/"), 404, "not_found")
    error_of(api.post(f"{address}delete-files/"), 400, "refused")
    assert [one["id"] for one in api.get(JOBS).json()["results"]] == [made["id"]]
    ExportJob.objects.update(status=JobStatus.FAILED, files_deleted_at=None)
    assert api.post(f"{address}delete-files/").status_code == 204
    assert api.get(JOBS).json()["count"] == 0


def test_only_supervisors_get_there(api: Api, people: People) -> None:
    made = api.post(JOBS, {}).json()
    for person in (people.annotator, people.doctor):
        error_of(Api(person).get(JOBS), 403, "forbidden")
    for person in (people.second, people.doctor):
        error_of(Api(person).get(f"{JOBS}{made['id']}/download/"), 403, "forbidden")
    error_of(Api(people.outsider).get(f"{JOBS}{made['id']}/"), 404, "not_found")
    error_of(api.get(f"{JOBS}{uuid.uuid4()}/"), 404, "not_found")
    error_of(api.client.get(f"/api/v1/{JOBS}", {"state": "done"}), 400, "invalid")


@pytest.mark.parametrize("action", ["cancel", "retry", "delete-files"])
def test_an_action_that_takes_nothing_refuses_what_it_is_told(api: Api, action: str) -> None:
    job = api.post(JOBS, {}).json()["id"]
    assert "dry_run" in error_of(api.post(f"{JOBS}{job}/{action}/", {"dry_run": True}), 400, "invalid")["fields"]
    assert ExportJob.objects.get().files_deleted_at is None
