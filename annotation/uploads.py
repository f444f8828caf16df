"""Files from a browser or program straight to disk, with limits that hold while they still arrive.

Nothing of what is sent is believed: names are only ever shown, files lie under random names, and whoever sends too much
is told so as soon as that is known, without the rest being read into memory or stored.
"""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile, StopUpload
from django.http import HttpRequest

if TYPE_CHECKING:  # generic for the type checker only
    _UploadedFile = UploadedFile[bytes]
else:
    _UploadedFile = UploadedFile

FIELD = "files"
MIB = 2**20
# Form fields and the boundaries between files come on top of the files' own bytes.
_FORM_BYTES = 2 * MIB
# A browser only shows an answer that comes before everything was sent if the rest is taken off its hands.
_DRAIN_BYTES = 512 * MIB
_DRAIN_SECONDS = 10.0


class StoredUpload(_UploadedFile):
    """A file that was received: `stored` is its name in the folder, `name` what the sender called it."""

    def __init__(self, name: str, stored: str, size: int) -> None:
        super().__init__(file=None, name=name, size=size)
        self.stored = stored

    def close(self) -> None:
        """The file on disk was closed when it was complete."""


class BoundedUploadHandler(FileUploadHandler):
    """Stores the files of the field `files` in `folder` (mode 0700, files 0600), other files nowhere.

    `refusal` is the sentence for the sender when a limit was passed, "" otherwise. Set it as the request's only handler
    before anything of the body is read.
    """

    def __init__(self, request: HttpRequest, folder: Path) -> None:
        super().__init__(request)
        self.folder = folder
        self.refusal = refusal_by_length(request)
        self._total = self._count = self._size = 0
        self._stored = ""
        self._handle: int | None = None

    def new_file(self, field_name: str, file_name: str, *args: Any, **kwargs: Any) -> None:
        super().new_file(field_name, file_name, *args, **kwargs)
        if field_name != FIELD:
            raise SkipFile
        self._count += 1
        limit = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        if limit is not None and self._count >= limit:
            self._refuse(f"These are too many files for one upload; send fewer than {limit:,}, or put them into a zip.")
        if self.refusal:
            raise StopUpload(connection_reset=True)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._stored, self._size = uuid.uuid4().hex, 0
        path = self.folder / self._stored
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:  # noqa: ARG002
        self._size += len(raw_data)
        self._total += len(raw_data)
        if self._size > settings.PORTAL_MAX_FILE_BYTES:
            limit = size_limit(settings.PORTAL_MAX_FILE_BYTES)
            self._refuse(f"{self.file_name} is larger than {limit}, the most one file may be; split it.")
        if self._total > settings.PORTAL_MAX_UPLOAD_BYTES:
            self._refuse(_too_much())
        if self._handle is not None:
            view = memoryview(raw_data)
            while view:
                view = view[os.write(self._handle, view) :]

    def file_complete(self, file_size: int) -> StoredUpload | None:  # noqa: ARG002
        if self._handle is None:
            return None
        self._close()
        return StoredUpload(self.file_name or "", self._stored, self._size)

    def upload_interrupted(self) -> None:
        self._close()

    def _refuse(self, sentence: str) -> None:
        self.refusal = sentence
        self._close()
        raise StopUpload(connection_reset=True)

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def refusal_by_length(request: HttpRequest) -> str:
    """The sentence for a request that announces more than may be sent, "" for any other."""
    try:
        announced = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return ""
    return _too_much() if announced > settings.PORTAL_MAX_UPLOAD_BYTES + _FORM_BYTES else ""


def drain(request: HttpRequest) -> None:
    """Read and forget what is still being sent, within limits, so that the sender gets to see the answer."""
    deadline = time.monotonic() + _DRAIN_SECONDS
    read = 0
    try:
        while read < _DRAIN_BYTES and time.monotonic() < deadline:
            chunk = request.read(64 * 1024)
            if not chunk:
                return
            read += len(chunk)
    except OSError:
        return  # the sender has gone


def size_limit(count: int) -> str:
    """A number of bytes in words: "20 MiB"."""
    if count >= MIB:
        return f"{count / MIB:.0f} MiB" if count % MIB == 0 else f"{count / MIB:.1f} MiB"
    return f"{count / 1024:.0f} KiB" if count >= 1024 else f"{count} bytes"


def _too_much() -> str:
    limit = size_limit(settings.PORTAL_MAX_UPLOAD_BYTES)
    return f"This is more than {limit}, the most one upload may be; send the files in several uploads."
