"""The pages through which dialogues come in."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Dialogue, ImportJob, JobStatus, Project
from annotation.services.workers import worker_beat
from tests import factory
from tests.conftest import People
from tests.uploads import GOOD, file, left_over, upload, zipped

pytestmark = pytest.mark.django_db
ClientFor = Callable[[Any], Client]
ACTIONS = ["import-confirm", "import-discard", "import-cancel", "import-retry"]


@pytest.fixture
def sam(client_for: ClientFor, people: People) -> Client:
    return client_for(people.supervisor)


@pytest.fixture
def upload_dir(settings: Any, tmp_path: Path) -> Path:
    settings.PORTAL_UPLOAD_DIR = tmp_path / "uploads"
    return settings.PORTAL_UPLOAD_DIR


def page(client: Client, job: ImportJob) -> str:
    response = client.get(reverse("import", args=[job.project.slug, job.pk]))
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def act(client: Client, name: str, job: ImportJob, **extra: Any) -> HttpResponse:
    return client.post(reverse(name, args=[job.project.slug, job.pk]), **extra)  # type: ignore[return-value]


def test_an_upload_is_shown_and_nothing_is_written_before_the_decision(
    sam: Client, project: Project, upload_dir: Path
) -> None:
    response = upload(sam, project, file("RES9001.txt"), file("MSK9002.txt", "D: Hi.\nP; No.\n"))
    job = ImportJob.objects.get()
    assert response["Location"] == reverse("import", args=[project.slug, job.pk])
    html = page(sam, job)
    for text in (
        "RES9001",
        "MSK9002",
        "respiratory",
        "transcript",
        "utf-8",
        "Import 2 dialogues",
        "Nothing is imported yet",
        'badge warning">1</span> Warning:',
    ):
        assert text in html
    assert not Dialogue.objects.exists()
    assert len(left_over(upload_dir)) == 2


def test_confirming_imports_and_deletes_the_uploads(sam: Client, project: Project, upload_dir: Path) -> None:
    upload(sam, project, file("RES9001.txt"))
    job = ImportJob.objects.get()
    act(sam, "import-confirm", job)
    html = page(sam, job)
    assert "1 dialogue imported" in html
    assert "Import 1 dialogue" not in html
    assert Dialogue.objects.get().utterances.count() == 3
    assert not left_over(upload_dir)


def test_discarding_imports_nothing_and_deletes_the_uploads(sam: Client, project: Project, upload_dir: Path) -> None:
    upload(sam, project, file("RES9001.txt"))
    job = ImportJob.objects.get()
    act(sam, "import-discard", job)
    assert "Nothing was imported" in page(sam, job)
    assert not Dialogue.objects.exists()
    assert not left_over(upload_dir)


def test_the_same_files_again_would_change_nothing_and_the_page_says_so(
    sam: Client, project: Project, upload_dir: Path
) -> None:
    upload(sam, project, file("RES9001.txt"))
    act(sam, "import-confirm", ImportJob.objects.get())
    upload(sam, project, file("RES9001.txt"))
    again = ImportJob.objects.first()
    assert again is not None
    html = page(sam, again)
    assert "Nothing would change" in html
    assert "in the project already, with the same turns" in html
    assert reverse("import-confirm", args=[project.slug, again.pk]) not in html


def test_good_dialogues_of_a_bad_batch_can_be_imported(sam: Client, project: Project, upload_dir: Path) -> None:
    bad = "D: Hi.\nP: Hello.\nNurse: Excuse me.\n"
    packed = zipped(RES9001=GOOD, RES9002=bad)
    upload(sam, project, file("all.zip", packed), file("picture.txt", b"\x89PNG\r\n\x1a\n" + bytes(99)))
    job = ImportJob.objects.get()
    html = page(sam, job)
    assert "all.zip/RES9002.txt" in html
    assert "Nurse" in html
    assert '<span class="badge error">2</span> Errors' in html
    assert "not text" in html
    errors = {notice["file"]: notice["line"] for notice in job.report["notices"] if notice["severity"] == "error"}
    assert errors == {"all.zip/RES9002.txt": 3, "picture.txt": 0}
    act(sam, "import-confirm", job)
    assert [row.external_id for row in Dialogue.objects.all()] == ["RES9001"]


def test_a_pair_of_labels_is_used_and_a_half_pair_is_said_beside_its_field(
    sam: Client, project: Project, upload_dir: Path
) -> None:
    other = file("X1.txt", "Clinician: Hi.\nClient: Hello.\n")
    response = upload(sam, project, other, doctor="Clinician")
    assert response.status_code == 422
    assert 'id="patient-error"' in response.content.decode()
    assert 'value="Clinician"' in response.content.decode()
    assert not ImportJob.objects.exists()
    assert not left_over(upload_dir)
    upload(sam, project, file("X1.txt", "Clinician: Hi.\nClient: Hello.\n"), doctor="Clinician", patient="Client")
    assert ImportJob.objects.get().report["counts"]["new_utterances"] == 2


def test_no_file_is_said_beside_the_field(sam: Client, project: Project, upload_dir: Path) -> None:
    response = upload(sam, project)
    assert response.status_code == 422
    assert "Choose at least one file." in response.content.decode()


def test_hostile_names_are_shown_escaped_and_used_as_no_path(sam: Client, project: Project, upload_dir: Path) -> None:
    upload(sam, project, file("<img src=x onerror=alert(1)>.txt"), file("..%2f..%2fpasswd.txt"))
    job = ImportJob.objects.get()
    html = page(sam, job) + sam.get(reverse("imports", args=[project.slug])).content.decode()
    assert "<img src=x" not in html
    assert "&lt;img src=x" in html
    for path in left_over(upload_dir):
        assert path.parent == upload_dir / str(job.pk)
        assert len(path.name) == 32
        assert path.stat().st_mode & 0o777 == 0o600


# ---------------------------------------------------------------------------- the form's token


def test_a_form_without_its_token_is_refused_and_nothing_is_kept(
    people: People, project: Project, upload_dir: Path
) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people.supervisor)
    assert upload(strict, project, file("a.txt")).status_code == 403
    assert not ImportJob.objects.exists()
    assert not left_over(upload_dir)


def test_the_token_of_the_form_is_accepted(people: People, project: Project, upload_dir: Path) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people.supervisor)
    strict.get(reverse("imports", args=[project.slug]))
    response = strict.post(
        reverse("imports", args=[project.slug]),
        {"csrfmiddlewaretoken": strict.cookies["csrftoken"].value, "files": [file("A1.txt")]},
    )
    assert response.status_code == 302


# ---------------------------------------------------------------------------- jobs


def make_job(project: Project, people: People, **fields: Any) -> ImportJob:
    counts = {"files": 1, "dialogues": 2, "utterances": 8000, "new": 2, "new_utterances": 8000, "same": 0, "clash": 0}
    report = {"counts": {**counts, "warnings": 0, "errors": 0, "notes": 0}, "dialogues": [], "files": [], "notices": []}
    defaults = {"report": report, "total": 2, "files": [{"name": "a.txt", "stored": "x", "bytes": 5}]}
    options = {"names": ["a.txt"], "speakers": {}}
    return ImportJob.objects.create(
        project=project, created_by=people.supervisor, options=options, **{**defaults, **fields}
    )


def test_a_large_import_becomes_a_job_that_a_worker_does(
    sam: Client,
    project: Project,
    upload_dir: Path,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.PORTAL_IMPORT_INLINE_UTTERANCES = 2
    upload(sam, project, file("RES9001.txt"))
    job = ImportJob.objects.get()
    with django_capture_on_commit_callbacks() as waiting:
        act(sam, "import-confirm", job)
    html = page(sam, job)
    assert "Waiting for a worker" in html
    assert "No background worker is connected" in html
    assert not Dialogue.objects.exists()
    worker_beat(name="w1")
    assert "No background worker" not in page(sam, job)
    for send in waiting:
        send()
    assert "1 dialogue imported" in page(sam, job)


def test_a_broker_that_is_away_leaves_the_job_waiting(
    sam: Client,
    project: Project,
    upload_dir: Path,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    from kombu.exceptions import OperationalError

    from annotation import tasks

    def away(*_: Any) -> None:
        raise OperationalError("nobody there")

    monkeypatch.setattr(tasks.run_import, "delay", away)
    settings.PORTAL_IMPORT_INLINE_UTTERANCES = 2
    upload(sam, project, file("RES9001.txt"))
    job = ImportJob.objects.get()
    with django_capture_on_commit_callbacks(execute=True):
        assert act(sam, "import-confirm", job).status_code == 302
    job.refresh_from_db()
    assert job.status == JobStatus.QUEUED


def test_a_large_upload_is_read_by_a_worker(
    sam: Client, project: Project, upload_dir: Path, django_capture_on_commit_callbacks: Any
) -> None:
    turns = "".join(f"D: {'How are you? ' * 100}\nP: Fine.\n" for _ in range(2100))
    big = [file(f"X{number}.txt", turns) for number in range(2)]
    with django_capture_on_commit_callbacks() as waiting:
        upload(sam, project, *big)
    job = ImportJob.objects.get()
    assert job.status == JobStatus.ANALYSING
    assert "The files are being read" in page(sam, job)
    for send in waiting:
        send()
    assert "Import 2 dialogues" in page(sam, job)


def test_the_progress_asks_for_itself_until_the_job_is_over(sam: Client, project: Project, people: People) -> None:
    job = make_job(project, people, status=JobStatus.RUNNING, finished=1)
    address = reverse("import-progress", args=[project.slug, job.pk])
    response = sam.get(address)
    html = response.content.decode()
    assert f'hx-get="{address}"' in html
    assert 'value="1" max="2"' in html
    assert "HX-Refresh" not in response
    ImportJob.objects.filter(pk=job.pk).update(status=JobStatus.DONE)
    response = sam.get(address)
    assert "hx-get" not in response.content.decode()
    assert response["HX-Refresh"] == "true"


def test_a_running_job_is_asked_to_stop(sam: Client, project: Project, people: People) -> None:
    job = make_job(project, people, status=JobStatus.RUNNING)
    act(sam, "import-cancel", job)
    job.refresh_from_db()
    assert (job.status, job.cancel_requested) == (JobStatus.RUNNING, True)
    assert "stops before its next dialogue" in page(sam, job)


def test_a_job_without_progress_offers_a_retry(sam: Client, project: Project, people: People) -> None:
    job = make_job(project, people, status=JobStatus.RUNNING)
    assert reverse("import-retry", args=[project.slug, job.pk]) not in page(sam, job)
    ImportJob.objects.filter(pk=job.pk).update(changed_at=timezone.now() - timedelta(minutes=5))
    assert reverse("import-retry", args=[project.slug, job.pk]) in page(sam, job)


@pytest.mark.parametrize("name", ACTIONS)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    sam: Client, project: Project, people: People, name: str
) -> None:
    job = make_job(project, people, status=JobStatus.DONE, files=[])
    response = act(sam, name, job, follow=True)
    assert 'class="notice error"' in response.content.decode()
    job.refresh_from_db()
    assert job.status == JobStatus.DONE


def test_long_lists_are_paged(sam: Client, project: Project, people: People) -> None:
    rows = [
        {"id": f"D{number:03}", "file": "a.jsonl", "utterances": 1, "warnings": 0, "specialty": "", "fate": "new"}
        for number in range(120)
    ]
    job = make_job(project, people, status=JobStatus.READY)
    job.report["dialogues"] = rows
    job.save()
    first = page(sam, job)
    assert "D049" in first
    assert "D050" not in first
    address = reverse("import", args=[project.slug, job.pk])
    assert "D119" in sam.get(f"{address}?page=3").content.decode()


def test_the_list_of_imports_needs_few_queries(
    sam: Client, project: Project, people: People, django_assert_max_num_queries: Any
) -> None:
    for _ in range(15):
        make_job(project, people, status=JobStatus.DONE)
    with django_assert_max_num_queries(9):
        html = sam.get(reverse("imports", args=[project.slug])).content.decode()
    assert html.count(">done</span>") == 15


def test_an_archived_project_shows_no_form_and_takes_nothing(sam: Client, project: Project, upload_dir: Path) -> None:
    project.archived_at = timezone.now()
    project.save()
    assert 'type="file"' not in sam.get(reverse("imports", args=[project.slug])).content.decode()
    assert upload(sam, project, file("A.txt")).status_code == 422
    assert not left_over(upload_dir)


# ---------------------------------------------------------------------------- who


@pytest.mark.parametrize(("who", "status"), [("annotator", 403), ("doctor", 403), ("outsider", 404)])
def test_only_supervisors_get_to_imports(
    client_for: ClientFor, project: Project, people: People, upload_dir: Path, who: str, status: int
) -> None:
    client = client_for(getattr(people, who))
    job = make_job(project, people, status=JobStatus.READY)
    assert client.get(reverse("imports", args=[project.slug])).status_code == status
    assert upload(client, project, file("A.txt")).status_code == status
    for name in ("import", "import-progress"):
        assert client.get(reverse(name, args=[project.slug, job.pk])).status_code == status
    for name in ACTIONS:
        assert act(client, name, job).status_code == status
    job.refresh_from_db()
    assert job.status == JobStatus.READY
    assert not left_over(upload_dir)


def test_a_job_is_only_found_in_its_own_project(client_for: ClientFor, project: Project, people: People) -> None:
    other = factory.make_project("Elsewhere")
    factory.make_member(other, people.supervisor, factory.Role.SUPERVISOR)
    job = make_job(project, people, status=JobStatus.READY)
    client = client_for(people.supervisor)
    assert client.get(reverse("import", args=[other.slug, job.pk])).status_code == 404
    assert client.get(reverse("import", args=[project.slug, uuid.uuid4()])).status_code == 404


def test_the_strangers_upload_is_sent_to_the_sign_in(project: Project, upload_dir: Path) -> None:
    response = upload(Client(), project, file("A.txt"))
    assert response.status_code == 302
    assert reverse("sign-in") in response["Location"]
    assert not left_over(upload_dir)
