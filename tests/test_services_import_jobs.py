"""The life of an import job: decided once, run once, stopped, cut off, gone on with, cleaned up."""

from __future__ import annotations

import os
import time
import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.domain.notices import Notice, Severity
from annotation.models import Dialogue, ImportJob, JobStatus, Project, Utterance
from annotation.services import import_files, import_jobs, imports
from annotation.services.errors import Refused
from annotation.services.import_files import speaker_pair, upload_folder
from annotation.services.import_jobs import (
    import_job_analyse,
    import_job_cancel,
    import_job_confirm,
    import_job_discard,
    import_job_retry,
    import_job_run,
    import_jobs_clean_up,
    may_retry,
)
from annotation.services.imports import plan
from tests.conftest import People
from tests.uploads import job_for, source, talk, write

pytestmark = pytest.mark.django_db


def test_a_small_job_goes_from_upload_to_done(project: Project, people: People, tmp_path: Path) -> None:
    job = job_for(project, people, write(tmp_path, "A.txt"), write(tmp_path, "B.txt", "One.", "Two."))
    assert (job.status, job.total) == (JobStatus.READY, 2)
    assert not Dialogue.objects.exists()
    import_job_confirm(job=job)
    job.refresh_from_db()
    assert (job.status, job.finished, job.files) == (JobStatus.DONE, 2, [])
    assert job.report["result"] == {"created": 2, "dialogues": 2, "utterances": 5, "errors": 0}
    assert not upload_folder(job.pk).exists()
    assert Dialogue.objects.count() == 2


def test_a_job_cannot_be_decided_twice(project: Project, people: People, tmp_path: Path) -> None:
    job = job_for(project, people, write(tmp_path, "A.txt"))
    other_window = ImportJob.objects.get(pk=job.pk)
    import_job_confirm(job=job)
    with pytest.raises(Refused, match="decided"):
        import_job_confirm(job=other_window)
    with pytest.raises(Refused, match="decided"):
        import_job_confirm(job=job)
    with pytest.raises(Refused, match="discard"):
        import_job_discard(job=job)
    assert Dialogue.objects.count() == 1


def test_nothing_new_is_nothing_to_import(project: Project, people: People, tmp_path: Path) -> None:
    path = write(tmp_path, "A.txt")
    import_job_confirm(job=job_for(project, people, path))
    again = job_for(project, people, path)
    assert (again.report["counts"]["same"], again.total) == (1, 0)
    with pytest.raises(Refused, match="nothing to import"):
        import_job_confirm(job=again)


def test_a_job_keeps_its_speaker_labels(project: Project, people: People, tmp_path: Path) -> None:
    path = tmp_path / "X.txt"
    path.write_text("Clinician: Well?\nClient: Not well.\n", encoding="utf-8")
    job = job_for(project, people, path, speakers=speaker_pair("Clinician", "Client"))
    import_job_confirm(job=job)
    assert Utterance.objects.count() == 2


def test_discarding_deletes_the_files_and_imports_nothing(project: Project, people: People, tmp_path: Path) -> None:
    job = job_for(project, people, write(tmp_path, "A.txt"))
    import_job_discard(job=job)
    assert job.status == JobStatus.CANCELLED
    assert not upload_folder(job.pk).exists()
    assert not may_retry(job)
    assert not Dialogue.objects.exists()


def queued(job: ImportJob) -> ImportJob:
    ImportJob.objects.filter(pk=job.pk).update(status=JobStatus.QUEUED)
    return ImportJob.objects.select_related("project", "created_by").get(pk=job.pk)


def test_a_cancelled_run_keeps_what_it_wrote_and_a_retry_writes_the_rest(
    project: Project, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queued(job_for(project, people, *(write(tmp_path, f"{name}.txt") for name in "ABCD")))
    write_one = imports._write

    def write_and_cancel(*args: object) -> None:
        write_one(*args)  # type: ignore[arg-type]
        if Dialogue.objects.count() == 2:
            import_job_cancel(job=ImportJob.objects.get(pk=job.pk))

    monkeypatch.setattr(imports, "_write", write_and_cancel)
    import_job_run(job=job)
    assert (job.status, Dialogue.objects.count()) == (JobStatus.CANCELLED, 2)
    assert upload_folder(job.pk).exists()
    import_job_retry(job=job)
    job.refresh_from_db()
    assert (job.status, job.finished, job.report["result"]["created"]) == (JobStatus.DONE, 4, 4)
    assert Dialogue.objects.count() == 4


def test_a_waiting_job_is_cancelled_at_once_and_its_message_then_does_nothing(
    project: Project, people: People, tmp_path: Path
) -> None:
    job = queued(job_for(project, people, write(tmp_path, "A.txt")))
    late = ImportJob.objects.get(pk=job.pk)
    import_job_cancel(job=job)
    import_job_run(job=late)
    job.refresh_from_db()
    assert job.status == JobStatus.CANCELLED
    assert not Dialogue.objects.exists()


def test_a_message_that_comes_twice_is_carried_out_once(project: Project, people: People, tmp_path: Path) -> None:
    job = queued(job_for(project, people, write(tmp_path, "A.txt")))
    twin = ImportJob.objects.get(pk=job.pk)
    import_job_run(job=job)
    import_job_run(job=twin)
    assert (Dialogue.objects.count(), ImportJob.objects.get(pk=job.pk).finished) == (1, 1)


def test_a_running_job_is_left_to_its_worker_until_it_has_not_moved_for_a_while(
    project: Project, people: People, tmp_path: Path
) -> None:
    job = queued(job_for(project, people, write(tmp_path, "A.txt"), write(tmp_path, "B.txt")))
    ImportJob.objects.filter(pk=job.pk).update(status=JobStatus.RUNNING, changed_at=timezone.now())
    job.refresh_from_db()
    import_job_run(job=job)
    assert not Dialogue.objects.exists()
    with pytest.raises(Refused, match="cannot be retried"):
        import_job_retry(job=job)
    old = timezone.now() - timedelta(seconds=import_jobs.STALLED_SECONDS + 1)
    ImportJob.objects.filter(pk=job.pk).update(changed_at=old)
    job.refresh_from_db()
    import_job_retry(job=job)
    assert (job.status, Dialogue.objects.count()) == (JobStatus.DONE, 2)


def test_a_stalled_job_is_cancelled_at_once(project: Project, people: People, tmp_path: Path) -> None:
    job = queued(job_for(project, people, write(tmp_path, "A.txt")))
    old = timezone.now() - timedelta(seconds=import_jobs.STALLED_SECONDS + 1)
    ImportJob.objects.filter(pk=job.pk).update(status=JobStatus.RUNNING, changed_at=old)
    job.refresh_from_db()
    import_job_cancel(job=job)
    assert job.status == JobStatus.CANCELLED


def test_an_unexpected_fault_fails_the_job_in_words_and_a_retry_completes_it(
    project: Project, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queued(job_for(project, people, write(tmp_path, "A.txt"), write(tmp_path, "B.txt")))
    write_one = imports._write
    calls: list[int] = []

    def fail_once(*args: object) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise MemoryError
        write_one(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(imports, "_write", fail_once)
    import_job_run(job=job)
    assert job.status == JobStatus.FAILED
    assert "retry" in job.error
    import_job_retry(job=job)
    job.refresh_from_db()
    assert (job.status, job.error, job.finished) == (JobStatus.DONE, "", 2)


def test_a_job_whose_uploads_are_gone_says_so_and_offers_no_retry(
    project: Project, people: People, tmp_path: Path
) -> None:
    job = queued(job_for(project, people, write(tmp_path, "A.txt")))
    import_files.uploads_delete(job.pk)
    import_job_run(job=job)
    assert job.status == JobStatus.FAILED
    assert "upload them again" in job.error
    assert not may_retry(job)


def test_reading_twice_does_not_undo_a_decision(project: Project, people: People, tmp_path: Path) -> None:
    job = job_for(project, people, write(tmp_path, "A.txt"))
    late = ImportJob.objects.get(pk=job.pk)
    late.status = JobStatus.ANALYSING  # as a second worker may still believe
    import_job_confirm(job=job)
    import_job_analyse(job=late)
    assert ImportJob.objects.get(pk=job.pk).status == JobStatus.DONE


def test_the_clean_up_deletes_what_nobody_decided_on_for_a_day(
    project: Project, people: People, tmp_path: Path
) -> None:
    old_job, new_job, waiting = (job_for(project, people, write(tmp_path, f"{name}.txt")) for name in "ABC")
    day_ago = timezone.now() - timedelta(days=1, minutes=1)
    ImportJob.objects.filter(pk=old_job.pk).update(changed_at=day_ago)
    ImportJob.objects.filter(pk=waiting.pk).update(changed_at=day_ago, status=JobStatus.QUEUED)
    stray = upload_folder(uuid.uuid4())
    stray.mkdir()
    for folder in (stray, upload_folder(waiting.pk)):
        os.utime(folder, (time.time() - 90_000,) * 2)
    import_jobs_clean_up()
    assert not upload_folder(old_job.pk).exists()
    assert not stray.exists()
    assert upload_folder(new_job.pk).exists()
    assert upload_folder(waiting.pk).exists()
    old_job.refresh_from_db()
    assert old_job.status == JobStatus.CANCELLED
    assert "for a day" in old_job.error


def test_a_report_stays_bounded_and_its_counts_are_whole(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_jobs, "KEPT_DIALOGUES", 3)
    monkeypatch.setattr(import_jobs, "KEPT_NOTICES", 2)
    notices = tuple(Notice(Severity.WARNING, "a.txt", line, "Odd.") for line in range(1, 10))
    files = [source("a.txt", *(talk(f"D{number}") for number in range(9)), notices=notices)]
    report = import_jobs.plan_as_json(plan(project=project, files=files))
    assert (len(report["dialogues"]), len(report["notices"])) == (3, 2)
    assert (report["counts"]["new"], report["counts"]["warnings"]) == (9, 9)
