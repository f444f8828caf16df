"""The background tasks, run in place, and once through a worker of its own on the file broker."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation import tasks
from annotation.models import AgreementSnapshot, Dialogue, ImportJob, JobStatus, Project, Status
from annotation.services.adjudication import gold_finish
from annotation.services.agreement_jobs import agreement_unmeasured
from annotation.services.gold_jobs import gold_unrefreshed
from tests.adjudicating import make_pair
from tests.conftest import People
from tests.factory import inform
from tests.uploads import job_for, write

ROOT = Path(__file__).resolve().parent.parent
WAIT_SECONDS = 60


def in_state(job: ImportJob, status: JobStatus, **fields: Any) -> None:
    ImportJob.objects.filter(pk=job.pk).update(status=status, **fields)


@pytest.mark.django_db
def test_the_tasks_read_and_write_a_job_and_may_come_twice(project: Project, people: People, tmp_path: Path) -> None:
    job = job_for(project, people, write(tmp_path, "A.txt"), write(tmp_path, "B.txt"))
    in_state(job, JobStatus.ANALYSING, report={}, total=0)
    tasks.analyse_import(str(job.pk))
    job.refresh_from_db()
    assert (job.status, job.total) == (JobStatus.READY, 2)
    tasks.analyse_import(str(job.pk))
    tasks.run_import(str(job.pk))
    assert not Dialogue.objects.exists()  # nobody decided yet
    in_state(job, JobStatus.QUEUED)
    tasks.run_import(str(job.pk))
    tasks.run_import(str(job.pk))
    job.refresh_from_db()
    assert (job.status, job.finished, Dialogue.objects.count()) == (JobStatus.DONE, 2, 2)


@pytest.mark.django_db
def test_a_job_that_is_not_there_any_more_is_no_fault(db: None) -> None:
    tasks.analyse_import(str(uuid.uuid4()))
    tasks.run_import(str(uuid.uuid4()))


@pytest.mark.django_db
def test_a_worker_that_starts_looks_after_jobs_whose_messages_were_lost(
    project: Project, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = {status: job_for(project, people, write(tmp_path, f"{status.value}.txt")) for status in JobStatus}
    for status, job in jobs.items():
        in_state(job, status, changed_at=timezone.now() - timedelta(minutes=10))
    sent: dict[str, tuple[str, int]] = {}
    for task in (tasks.analyse_import, tasks.run_import):
        name = task.name.rsplit(".", 1)[1]
        monkeypatch.setattr(
            task, "apply_async", lambda args, countdown, name=name: sent.update({args[0]: (name, countdown)})
        )
    tasks.take_up_unfinished()
    assert sent == {
        str(jobs[JobStatus.ANALYSING].pk): ("analyse_import", 0),
        str(jobs[JobStatus.QUEUED].pk): ("run_import", 0),
        str(jobs[JobStatus.RUNNING].pk): ("run_import", tasks.STALLED_SECONDS + 5),
    }


@pytest.mark.django_db
def test_a_worker_that_starts_measures_and_looks_at_gold_where_that_was_lost(
    project: Project, people: People, dialogue: Dialogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = make_pair(dialogue, people.annotator, people.second)
    pair.decide(people.supervisor, 3, "A")
    pair.decide(people.supervisor, 5, "A")
    pair.decide(people.supervisor, 7, "none")
    gold_finish(dialogue=dialogue, actor=people.supervisor, version=pair.case.version, key="finish")
    for task in (tasks.measure_agreement, tasks.refresh_gold):
        monkeypatch.setattr(task, "delay", task)
    tasks.take_up_unfinished()
    assert (AgreementSnapshot.objects.filter(scope={}).count(), pair.gold.status) == (1, Status.DONE)
    pair.change(pair.a, 3, inform(3, "symptom", "chills", status="yes"))  # no worker hears of it
    assert pair.gold.status == Status.DONE
    tasks.take_up_unfinished()
    assert (AgreementSnapshot.objects.filter(scope={}).count(), pair.gold.status) == (2, Status.RETURNED)
    assert (agreement_unmeasured(), gold_unrefreshed()) == ([], [])


PREPARE = """
import uuid, django
django.setup()
from pathlib import Path
from annotation.models import User
from annotation.services.import_files import upload_folder
from annotation.services.import_jobs import import_job_confirm, import_job_create
from annotation.services.projects import project_create
sam = User.objects.create_user("sam")
project = project_create(name="Background", questionnaire="cmas", creator=sam)
job_id = uuid.uuid4()
folder = upload_folder(job_id)
folder.mkdir(parents=True)
files = []
for number in range(20):
    text = "\\n".join(f"D: Question {turn}?\\nP: Answer {turn}." for turn in range(30))
    (folder / f"f{number}").write_text(text)
    files.append({"name": f"W{number:02}.txt", "stored": f"f{number}", "bytes": len(text)})
job = import_job_create(project=project, actor=sam, files=files, job_id=job_id)
import_job_confirm(job=job)
print(job.status)
"""


def test_a_job_that_waited_is_done_as_soon_as_a_worker_is_there(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PORTAL_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "PORTAL_IMPORT_INLINE_UTTERANCES": "10",
        "PORTAL_BROKER_URL": "",
    }

    def python(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout

    python("manage.py", "migrate", "--verbosity", "0")
    assert python("-c", PREPARE).split()[-1] == "queued"
    assert status(tmp_path) == ("queued", 0, 0)
    log = (tmp_path / "worker.log").open("w")
    command = [sys.executable, "-m", "celery", "-A", "portal", "worker", "--concurrency", "1", "--loglevel", "INFO"]
    worker = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while status(tmp_path)[0] != "done" and worker.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
        assert status(tmp_path) == ("done", 20, 20), (tmp_path / "worker.log").read_text()[-3000:]
    finally:
        worker.terminate()
        try:
            worker.wait(timeout=20)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait(timeout=20)
        log.close()
    assert not list((tmp_path / "uploads").iterdir())


def status(data_dir: Path) -> tuple[str, int, int]:
    """(status, dialogues the job counted, dialogues stored), read past Django from the worker's database."""
    connection = sqlite3.connect(f"file:{data_dir / 'portal.sqlite3'}?mode=ro", uri=True, timeout=10)
    try:
        row = connection.execute("select status, finished from annotation_importjob").fetchone()
        stored = connection.execute("select count(*) from annotation_dialogue").fetchone()
    finally:
        connection.close()
    return row[0], row[1], stored[0]
