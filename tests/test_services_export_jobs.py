"""Exports as jobs: made, packed, cancelled, cut off, retried, deleted."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from annotation.domain.export_verification import verify_export
from annotation.models import ExportJob, JobStatus, Label, Project
from annotation.services import export_jobs
from annotation.services.errors import Refused
from annotation.services.export_jobs import (
    export_job_cancel,
    export_job_create,
    export_job_delete,
    export_job_retry,
    export_job_run,
    export_path,
)
from annotation.services.export_readings import ExportOptions
from tests.conftest import People
from tests.exporting import make_gold_project


@pytest.fixture
def make(project: Project, people: People, tmp_path: Path, settings: Any) -> Callable[..., ExportJob]:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    settings.PORTAL_EXPORT_DIR = tmp_path / "exports"

    def made(**options: Any) -> ExportJob:
        return export_job_create(project=project, actor=people.supervisor, options=ExportOptions(**options))

    return made


def files_left() -> list[str]:
    return sorted(path.name for path in Path(settings.PORTAL_EXPORT_DIR).iterdir())


def test_a_small_export_is_made_at_once_and_verifies(make: Callable[..., ExportJob], tmp_path: Path) -> None:
    job = make()
    assert (job.status, job.total, job.finished) == (JobStatus.DONE, 8, 8)
    assert job.report["dialogues"] == 8
    assert files_left() == [f"{job.pk}.zip"]
    with zipfile.ZipFile(export_path(job)) as packed:
        assert {name.split("/")[0] for name in packed.namelist()} == {"chest-clinic-gold"}
        packed.extractall(tmp_path / "out")
    assert verify_export(tmp_path / "out/chest-clinic-gold", questionnaire=job.project.questionnaire).findings == []


def test_the_same_export_again_is_the_same_zip(make: Callable[..., ExportJob]) -> None:
    assert export_path(make()).read_bytes() == export_path(make()).read_bytes()


def test_a_large_one_goes_to_a_worker(
    make: Callable[..., ExportJob], settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.PORTAL_IMPORT_INLINE_UTTERANCES = 79
    with django_capture_on_commit_callbacks() as waiting:
        job = make(source="all")
    assert job.status == JobStatus.QUEUED
    for send in waiting:
        send()
    job.refresh_from_db()
    assert (job.status, job.report["dialogues"]) == (JobStatus.DONE, 16)


def test_a_second_delivery_changes_nothing(make: Callable[..., ExportJob]) -> None:
    job = make()
    export_path(job).write_bytes(b"mine")
    export_job_run(job=job)
    assert export_path(job).read_bytes() == b"mine"


def test_it_is_cancelled_before_its_next_dialogue_and_made_after_a_retry(
    make: Callable[..., ExportJob], monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    real = export_jobs.export_write

    def cancelled_in_the_middle(**words: Any) -> Any:
        told = words["progress"]

        def progress(done: int, total: int) -> None:
            if done == 3:
                export_job_cancel(job=ExportJob.objects.get())
                told(total, total)  # the sign of life that hears of it
            told(done, total)

        return real(**{**words, "progress": progress})

    monkeypatch.setattr(export_jobs, "export_write", cancelled_in_the_middle)
    job = make()
    assert (job.status, files_left()) == (JobStatus.CANCELLED, [])
    monkeypatch.undo()
    with django_capture_on_commit_callbacks(execute=True):
        export_job_retry(job=job)
    job.refresh_from_db()
    assert job.status == JobStatus.DONE
    with pytest.raises(Refused, match="nothing to cancel: this export is done"):
        export_job_cancel(job=job)
    with pytest.raises(Refused, match="cannot be retried: it is done"):
        export_job_retry(job=job)


def test_a_fault_leaves_no_file_and_says_so(make: Callable[..., ExportJob], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export_jobs, "zip_folder", broken)
    job = make()
    assert (job.status, files_left()) == (JobStatus.FAILED, [])
    assert "No space left on device" in job.error


def test_labels_that_cannot_be_written_fail_the_job_in_words(make: Callable[..., ExportJob]) -> None:
    Label.objects.update(answers={"value": 7})
    job = make()
    assert job.status == JobStatus.FAILED
    assert job.error.startswith("No dialogue could be exported. CAR-1: ")


def test_one_that_was_cut_off_is_taken_over_once_it_is_late(make: Callable[..., ExportJob]) -> None:
    job = make()
    export_path(job).unlink()
    ExportJob.objects.update(status=JobStatus.RUNNING, changed_at=timezone.now())
    job.refresh_from_db()
    export_job_run(job=job)
    assert not export_path(job).exists(), "another worker is at it"
    ExportJob.objects.update(changed_at=timezone.now() - timedelta(seconds=export_jobs.STALLED_SECONDS + 1))
    job.refresh_from_db()
    export_job_run(job=job)
    job.refresh_from_db()
    assert (job.status, files_left()) == (JobStatus.DONE, [f"{job.pk}.zip"])


def test_its_file_is_deleted_with_it(make: Callable[..., ExportJob]) -> None:
    job = make()
    ExportJob.objects.update(status=JobStatus.RUNNING, changed_at=timezone.now())
    job.refresh_from_db()
    with pytest.raises(Refused, match="cancel it first"):
        export_job_delete(job=job)
    ExportJob.objects.update(status=JobStatus.DONE)
    job.refresh_from_db()
    export_job_delete(job=job)
    assert (files_left(), ExportJob.objects.count()) == ([], 0)


def test_nothing_to_export_makes_no_job(project: Project, people: People) -> None:
    with pytest.raises(Refused, match="There is nothing to export"):
        export_job_create(project=project, actor=people.supervisor, options=ExportOptions())
    assert not ExportJob.objects.exists()
