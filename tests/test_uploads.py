"""Files that arrive: limits that hold while they do, and where they lie."""

from __future__ import annotations

import stat
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.test.client import FakePayload
from django.urls import reverse

from annotation import uploads
from annotation.models import ImportJob, Project
from annotation.uploads import FIELD, BoundedUploadHandler
from tests.conftest import People
from tests.uploads import file, left_over, upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def sam(client_for: Callable[[Any], Client], people: People) -> Client:
    return client_for(people.supervisor)


@pytest.fixture
def upload_dir(settings: Any, tmp_path: Path) -> Path:
    settings.PORTAL_UPLOAD_DIR = tmp_path / "uploads"
    return settings.PORTAL_UPLOAD_DIR


def test_one_file_over_its_limit_is_refused_in_one_sentence_and_not_kept(
    sam: Client, project: Project, upload_dir: Path, settings: Any
) -> None:
    settings.PORTAL_MAX_FILE_BYTES = 100 * 1024
    response = upload(sam, project, file("good.txt"), file("big.txt", b"D: " + b"x" * 300_000))
    assert response.status_code == 413
    assert "big.txt is larger than 100 KiB" in response.content.decode()
    assert not ImportJob.objects.exists()
    assert not left_over(upload_dir)


def test_files_over_the_limit_together_are_refused(
    sam: Client, project: Project, upload_dir: Path, settings: Any
) -> None:
    settings.PORTAL_MAX_UPLOAD_BYTES = 100_000
    response = upload(sam, project, file("a.txt", b"x" * 60_000), file("b.txt", b"x" * 60_000))
    assert response.status_code == 413
    assert "the most one upload may be" in response.content.decode()
    assert not left_over(upload_dir)


def test_too_many_files_are_refused(sam: Client, project: Project, upload_dir: Path, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 3
    response = upload(sam, project, *(file(f"{number}.txt") for number in range(4)))
    assert response.status_code == 413
    assert "too many files" in response.content.decode()
    assert not left_over(upload_dir)


def test_200_mb_are_refused_by_their_announced_length_without_being_parsed(
    sam: Client, project: Project, upload_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads.BoundedUploadHandler, "new_file", lambda *_: pytest.fail("the body was parsed"))
    body = Endless(b"--x\r\n", 200 * 2**20)
    started = time.monotonic()
    response = sam.post(
        reverse("imports", args=[project.slug]),
        **{"wsgi.input": body, "CONTENT_LENGTH": str(body.total), "CONTENT_TYPE": "multipart/form-data; boundary=x"},
    )
    assert time.monotonic() - started < 5
    assert response.status_code == 413
    assert "100 MiB" in response.content.decode()


def test_a_file_that_goes_on_and_on_takes_no_memory(
    sam: Client, project: Project, upload_dir: Path, settings: Any
) -> None:
    """30 MB against a limit of 1 MiB: stopped after the limit, the rest read and forgotten."""
    settings.PORTAL_MAX_FILE_BYTES = 2**20
    head = b'--x\r\nContent-Disposition: form-data; name="files"; filename="endless.txt"\r\n\r\n'
    body = Endless(head, 30 * 10**6)
    tracemalloc.start()
    response = sam.post(
        reverse("imports", args=[project.slug]),
        **{"wsgi.input": body, "CONTENT_LENGTH": str(body.total), "CONTENT_TYPE": "multipart/form-data; boundary=x"},
    )
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert response.status_code == 413
    assert "endless.txt is larger than 1 MiB" in response.content.decode()
    assert peak < 8 * 2**20
    assert not left_over(upload_dir)


class Endless(FakePayload):
    """A body that is made while it is read."""

    def __init__(self, head: bytes, total: int) -> None:
        super().__init__()
        self.head, self.total, self.given = head, total, 0

    def read(self, size: int | None = -1) -> bytes:
        want = min(size if size and size > 0 else 65536, self.total - self.given)
        part = self.head[self.given : self.given + want]
        part += b"x" * (want - len(part))
        self.given += len(part)
        return part


def test_folder_and_files_are_private_and_no_name_becomes_a_path(tmp_path: Path, rf: Any) -> None:
    request = rf.post("/", {})
    handler = BoundedUploadHandler(request, tmp_path / "job")
    handler.new_file(FIELD, "../../etc/passwd", "text/plain", None)
    handler.receive_data_chunk(b"abc", 0)
    stored = handler.file_complete(3)
    assert stored is not None
    assert stored.size == 3
    path = tmp_path / "job" / stored.stored
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [item.name for item in tmp_path.rglob("*")] == ["job", stored.stored]
