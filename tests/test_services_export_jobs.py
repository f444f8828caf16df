"""Exports as jobs: made, packed, cancelled, cut off, retried, deleted."""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from annotation import tasks
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
)
from annotation.services.export_readings import ExportOptions
from annotation.services.export_storage import dead_runs_delete, export_path
from tests import factory
from tests.conftest import People
from tests.exporting import make_gold, make_gold_project, write
from tests.factory import inform


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
    assert (job.status, job.report["dialogues"], job.report["readings"]) == (JobStatus.DONE, 8, 16)


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


def test_its_file_is_deleted_and_what_it_was_stays_on_record(
    make: Callable[..., ExportJob], people: People, tmp_path: Path
) -> None:
    job = make()
    given = export_path(job).read_bytes()
    with zipfile.ZipFile(export_path(job)) as packed:
        manifest = packed.read("chest-clinic-gold/manifest.json")
    ExportJob.objects.update(status=JobStatus.RUNNING, changed_at=timezone.now())
    job.refresh_from_db()
    with pytest.raises(Refused, match="cancel it first"):
        export_job_delete(job=job, actor=people.superuser)
    ExportJob.objects.update(status=JobStatus.DONE)
    job.refresh_from_db()
    export_job_delete(job=job, actor=people.superuser)
    assert files_left() == []
    kept = ExportJob.objects.get()
    assert (kept.status, kept.files_deleted_by, kept.created_by) == (
        JobStatus.DONE,
        people.superuser,
        people.supervisor,
    )
    assert kept.files_deleted_at is not None
    assert kept.report["zip_sha256"] == hashlib.sha256(given).hexdigest()
    assert kept.report["manifest_sha256"] == hashlib.sha256(manifest).hexdigest()
    with pytest.raises(Refused, match="were deleted before"):
        export_job_delete(job=kept, actor=people.supervisor)
    again = make()
    assert export_path(again).read_bytes() == given


def test_one_made_before_sums_were_kept_is_summed_when_it_goes(make: Callable[..., ExportJob], people: People) -> None:
    job = make()
    digest = job.report.pop("zip_sha256")
    job.save()
    export_job_delete(job=job, actor=people.supervisor)
    assert ExportJob.objects.get().report["zip_sha256"] == digest


def test_a_file_that_cannot_be_deleted_is_not_said_to_be(
    make: Callable[..., ExportJob], people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    job = make()
    monkeypatch.setattr(Path, "unlink", stuck)
    with pytest.raises(PermissionError):
        export_job_delete(job=job, actor=people.supervisor)
    assert ExportJob.objects.get().files_deleted_at is None


def test_one_that_came_to_nothing_leaves_nothing(make: Callable[..., ExportJob], people: People) -> None:
    job = make()
    export_path(job).unlink()
    ExportJob.objects.update(status=JobStatus.CANCELLED)
    job.refresh_from_db()
    export_job_delete(job=job, actor=people.supervisor)
    assert (files_left(), ExportJob.objects.count()) == ([], 0)


def test_the_tables_of_a_dataset_keep_the_exact_words_even_of_a_formula(
    project: Project, people: People, tmp_path: Path
) -> None:
    turns = [("doctor", "=1+1"), ("patient", "+49 30 12"), ("doctor", "-"), ("patient", "@home\ttoday")]
    labels = [inform(1, "symptom", "=HYPERLINK(1)", status="yes"), inform(3, "symptom", "@cough", status="yes")]
    dialogue = factory.make_dialogue(project, "=RES", turns)
    make_gold(dialogue, people.annotator, people.second, people.supervisor, labels)
    write(project, tmp_path / "out")
    read = {
        name: list(csv.reader(io.StringIO((tmp_path / "out" / name).read_text(encoding="utf-8"), newline="")))
        for name in ("utterances.csv", "tuples.csv", "medical_values.csv")
    }
    assert [row[4] for row in read["utterances.csv"][1:]] == [text for _, text in turns]
    assert {row[0] for row in read["utterances.csv"][1:]} == {"=RES"}
    for name in ("tuples.csv", "medical_values.csv"):
        assert {"=HYPERLINK(1)", "@cough"} <= {cell for row in read[name] for cell in row}
    assert verify_export(tmp_path / "out", questionnaire=project.questionnaire).findings == []


def test_nothing_to_export_makes_no_job(project: Project, people: People) -> None:
    with pytest.raises(Refused, match="There is nothing to export"):
        export_job_create(project=project, actor=people.supervisor, options=ExportOptions())
    assert not ExportJob.objects.exists()


def late() -> None:
    ExportJob.objects.update(changed_at=timezone.now() - timedelta(seconds=export_jobs.STALLED_SECONDS + 1))


def test_a_run_that_was_overtaken_while_it_packed_leaves_the_other_ones_zip_alone(
    make: Callable[..., ExportJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, other = export_jobs.zip_folder, []

    def slow(*given: Any, **words: Any) -> int:
        if not other:
            other.append(ExportJob.objects.get())
            size = real(*given, **words)
            late()
            export_job_run(job=other[0])
            return size
        return real(*given, **words)

    monkeypatch.setattr(export_jobs, "zip_folder", slow)
    make()
    job = ExportJob.objects.get()
    assert (job.status, files_left()) == (JobStatus.DONE, [f"{job.pk}.zip"])
    assert job.report["zip_sha256"] == hashlib.sha256(export_path(job).read_bytes()).hexdigest()


@pytest.mark.parametrize("ending", ["cancelled", "failed"])
def test_a_run_that_was_overtaken_does_not_end_the_other_one(
    make: Callable[..., ExportJob], monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    real = export_jobs.export_write

    def overtaken(**words: Any) -> Any:
        def progress(done: int, total: int) -> None:
            if done == 3:
                ExportJob.objects.update(report={"run": "f" * 32})  # what another one says when it takes over
                if ending == "failed":
                    raise OSError(2, "No such file or directory")
                words["progress"](total, total)

        return real(**{**words, "progress": progress})

    monkeypatch.setattr(export_jobs, "export_write", overtaken)
    make()
    job = ExportJob.objects.get()
    assert (job.status, job.report, job.error) == (JobStatus.RUNNING, {"run": "f" * 32}, "")


def test_packing_gives_signs_of_life_and_hears_that_it_is_to_stop(
    make: Callable[..., ExportJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, heard = export_jobs.zip_folder, []

    def slow(*given: Any, went_on: Callable[[], None], **words: Any) -> int:
        late()
        before = ExportJob.objects.get().changed_at

        def told() -> None:
            went_on()
            heard.append(ExportJob.objects.get().changed_at > before)
            export_job_cancel(job=ExportJob.objects.get())

        return real(*given, went_on=told, **words)

    monkeypatch.setattr(export_jobs, "zip_folder", slow)
    monkeypatch.setattr(export_jobs, "SAID_EVERY_SECONDS", 0)
    job = make()
    assert heard == [True], "the first piece says that it goes on, the second hears of the cancellation"
    assert (job.status, files_left()) == (JobStatus.CANCELLED, [])


DEAD = "d" * 32


def die(job: ExportJob, run: str = DEAD) -> None:
    """Leave what a run leaves that is killed while it packs."""
    folder = export_path(job).with_name(f"{job.pk}.{run}")
    folder.mkdir()
    (folder / "dialogs.json").write_text("what was said to a doctor")
    folder.with_name(f"{folder.name}.zip").write_bytes(b"the same")
    ExportJob.objects.filter(pk=job.pk).update(status=JobStatus.RUNNING, report={"run": run})
    job.refresh_from_db()


def test_what_a_killed_run_left_goes_when_another_takes_over(make: Callable[..., ExportJob]) -> None:
    job = make()
    die(job)
    late()
    job.refresh_from_db()
    export_job_run(job=job)
    assert (job.status, files_left()) == (JobStatus.DONE, [f"{job.pk}.zip"])


@pytest.mark.parametrize("act", ["cancel", "delete"])
def test_what_a_killed_run_left_goes_with_its_job(make: Callable[..., ExportJob], people: People, act: str) -> None:
    job = make()
    export_path(job).unlink()
    die(job)
    late()
    job.refresh_from_db()
    if act == "cancel":
        export_job_cancel(job=job)
    else:
        export_job_delete(job=job, actor=people.supervisor)
    assert files_left() == []


def test_a_worker_that_starts_deletes_what_dead_runs_left_and_nothing_else(
    make: Callable[..., ExportJob], people: People
) -> None:
    over, alive, gone = make(), make(), make()
    die(over)
    ExportJob.objects.filter(pk=over.pk).update(status=JobStatus.DONE)
    die(alive, "a" * 32)
    (export_path(alive).with_name(f"{alive.pk}.{DEAD}")).mkdir()
    die(gone)
    ExportJob.objects.filter(pk=gone.pk).delete()
    other = export_path(alive).with_name("notes of somebody else.txt")
    other.write_text("kept")
    tasks.take_up_unfinished()
    kept = [f"{one.pk}.zip" for one in (over, alive, gone)] + [f"{alive.pk}.{'a' * 32}{end}" for end in ("", ".zip")]
    assert files_left() == sorted([*kept, other.name])


def test_a_link_that_is_named_like_a_run_is_not_followed(make: Callable[..., ExportJob], tmp_path: Path) -> None:
    job, outside = make(), tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    export_path(job).with_name(f"{job.pk}.{DEAD}").symlink_to(outside)
    dead_runs_delete()
    assert (files_left(), (outside / "kept").read_text()) == ([f"{job.pk}.zip"], "kept")
