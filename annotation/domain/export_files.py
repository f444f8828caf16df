"""The files of an export that somebody else gave us: only plain files that lie in its folder are ever opened."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_BLOCK = 1 << 20


class ExportFiles:
    """What lies below `root`, as it was found once. Symbolic links are not followed, pipes and devices not opened.

    `plain` are the files by their paths with slashes; `folders` all folders; `odd` says of whatever is neither what it
    is.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.plain: set[str] = set()
        self.folders: list[str] = []
        self.odd: dict[str, str] = {}
        for path, mode in _below(root):
            if stat.S_ISREG(mode):
                self.plain.add(path)
            elif stat.S_ISDIR(mode):
                self.folders.append(path)
            else:
                self.odd[path] = "a symbolic link" if stat.S_ISLNK(mode) else "no plain file"

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, None where there is no plain file."""
        return (self._root / path).read_bytes() if path in self.plain else None

    def open(self, path: str) -> BinaryIO | None:
        return (self._root / path).open("rb") if path in self.plain else None

    def sum_of(self, path: str) -> tuple[int, str]:
        """Size and SHA-256 of a plain file."""
        return sha256_of(self._root / path)


def sha256_of(path: Path) -> tuple[int, str]:
    """Size and SHA-256 of a file, read block by block."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()


def _below(root: Path) -> Iterator[tuple[str, int]]:
    """(path, mode) of whatever lies below, folders before what is in them."""
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(root / prefix) as found:
            entries = sorted(found, key=lambda one: one.name)
        for one in entries:
            mode = one.stat(follow_symlinks=False).st_mode
            yield prefix + one.name, mode
            if stat.S_ISDIR(mode):
                waiting.append(f"{prefix}{one.name}/")
