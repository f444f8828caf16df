"""The files of an export while they are written: each is summed up on the way, and none is held in memory."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

from annotation.domain.exported import Assembly, Piece
from annotation.domain.manifest import FileEntry

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip knows: the same files give the same zip
_ZIP_MODE = 0o100644 << 16
_AT_ONCE = 1 << 18  # bytes


class ExportFolder:
    """Writes pieces below a folder. `close` ends every file and says what was written."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._assembly = Assembly()
        self._open: dict[str, tuple[BinaryIO, _Sum]] = {}
        self._done: list[FileEntry] = []

    def write(self, pieces: Iterable[Piece], prefix: str = "") -> None:
        """`prefix` is "" or a folder's name with a slash."""
        for piece in pieces:
            own = piece._replace(path=prefix + piece.path)
            data = self._assembly.text(own).encode()
            if own.container.single:
                self._place(own.path).write_bytes(data)
                self._done.append(_Sum(data).entry(own.path))
            else:
                self._append(own.path, data)

    def close(self) -> list[FileEntry]:
        """All files in the order of their paths."""
        for path, closing in self._assembly.endings():
            self._append(path, closing.encode())
            stream, total = self._open.pop(path)
            stream.close()
            self._done.append(total.entry(path))
        return sorted(self._done, key=lambda one: one.path)

    def abandon(self) -> None:
        """Let go of the files after a failure."""
        for stream, _ in self._open.values():
            stream.close()
        self._open.clear()

    def _append(self, path: str, data: bytes) -> None:
        if path not in self._open:
            self._open[path] = self._place(path).open("wb"), _Sum()
        stream, total = self._open[path]
        stream.write(data)
        total.add(data)

    def _place(self, path: str) -> Path:
        place = self._root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


class _Sum:
    def __init__(self, data: bytes = b"") -> None:
        self._digest, self._size = hashlib.sha256(data), len(data)

    def add(self, data: bytes) -> None:
        self._digest.update(data)
        self._size += len(data)

    def entry(self, path: str) -> FileEntry:
        return FileEntry(path, self._size, self._digest.hexdigest())


def check_encodable(pieces: Iterable[Piece]) -> None:
    """Raises UnicodeEncodeError for text that no file can hold, before any of it is written."""
    for piece in pieces:
        piece.text.encode()


def zip_folder(folder: Path, target: Path, *, name: str, went_on: Callable[[], None] | None = None) -> int:
    """Pack the folder's files below `name`; the size of the zip. The same files give the same bytes. `went_on` is
    called again and again while a large file is packed."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in paths:
            info = zipfile.ZipInfo(f"{name}/{path.relative_to(folder).as_posix()}", _ZIP_TIME)
            info.compress_type, info.external_attr, info.create_system = zipfile.ZIP_DEFLATED, _ZIP_MODE, 3
            info.file_size = path.stat().st_size
            with path.open("rb") as source, packed.open(info, "w") as stream:
                while some := source.read(_AT_ONCE):
                    stream.write(some)
                    if went_on:
                        went_on()
    return target.stat().st_size
