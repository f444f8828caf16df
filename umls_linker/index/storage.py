"""Arrays and strings on disk, written as streams and read through the operating system's page cache.

Nothing here is ever changed once written, so that any number of processes and threads may read the same files without
locks, and together hold one copy of them.
"""

from __future__ import annotations

import mmap
import os
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import BinaryIO, Literal

Width = Literal["I", "Q", "B"]
SMALL: Width = "I"  # unsigned 32 bits
LARGE: Width = "Q"  # unsigned 64 bits
BYTE: Width = "B"
_PENDING = 4096  # entries gathered before they are written together


class NumbersWriter:
    """Appends numbers of one width (`SMALL`, `LARGE`, `BYTE`) to a file."""

    def __init__(self, path: Path, width: Width) -> None:
        self._file = path.open("wb", buffering=1 << 16)
        self._pending = array(width)

    def add(self, number: int) -> None:
        self._pending.append(number)
        if len(self._pending) >= _PENDING:
            self._flush()

    def extend(self, numbers: Iterable[int]) -> None:
        self._pending.extend(numbers)
        if len(self._pending) >= _PENDING:
            self._flush()

    def _flush(self) -> None:
        self._pending.tofile(self._file)
        del self._pending[:]

    def close(self) -> None:
        self._flush()
        _close(self._file)


class ListsWriter:
    """Writes `Lists` in the order of their numbers."""

    def __init__(self, path: Path, width: Width = SMALL) -> None:
        self._starts = NumbersWriter(path.with_suffix(".starts"), LARGE)
        self._values = NumbersWriter(path.with_suffix(".values"), width)
        self._pending: list[Sequence[int]] = []
        self._starts.add(0)
        self._end = 0

    def add(self, values: Sequence[int]) -> None:
        self._pending.append(values)
        if len(self._pending) >= _PENDING:
            self._flush()

    def _flush(self) -> None:
        ends = list(accumulate(map(len, self._pending), initial=self._end))
        self._starts.extend(ends[1:])
        self._values.extend(chain.from_iterable(self._pending))
        self._end = ends[-1]
        self._pending = []

    def close(self) -> None:
        self._flush()
        self._values.close()
        self._starts.close()


class TextsWriter:
    """Appends strings, to be found by their number: the bytes in `NAME.text`, where each begins in `NAME.starts`."""

    def __init__(self, path: Path) -> None:
        self._bytes = path.with_suffix(".text").open("wb", buffering=1 << 16)
        self._starts = NumbersWriter(path.with_suffix(".starts"), LARGE)
        self._pending: list[str] = []
        self._starts.add(0)
        self._end = 0

    def add(self, text: str) -> None:
        self._pending.append(text)
        if len(self._pending) >= _PENDING:
            self._flush()

    def _flush(self) -> None:
        pieces = [text.encode("utf-8", "surrogatepass") for text in self._pending]
        ends = list(accumulate(map(len, pieces), initial=self._end))
        self._starts.extend(ends[1:])
        self._bytes.writelines(pieces)
        self._end = ends[-1]
        self._pending = []

    def close(self) -> None:
        self._flush()
        self._starts.close()
        _close(self._bytes)


def _close(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
    file.close()


def mapped(path: Path) -> memoryview[int]:
    """The file's bytes, mapped and read-only."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def numbers(path: Path, width: Width) -> memoryview[int]:
    """A file of `NumbersWriter`, indexed like a sequence of numbers."""
    return mapped(path).cast(width)


def _check_whole(path: Path, starts: memoryview[int], length: int) -> None:
    """Raise ValueError unless the last start is where the values end: a copy may have been cut off."""
    if not len(starts) or starts[-1] != length:
        raise ValueError(f"{path} is cut off")


class Texts(Sequence[str]):
    """The strings of a `TextsWriter`. Raises OSError or ValueError for files that are not whole."""

    def __init__(self, path: Path) -> None:
        self._bytes = mapped(path.with_suffix(".text"))
        self._starts = numbers(path.with_suffix(".starts"), LARGE)
        _check_whole(path, self._starts, len(self._bytes))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: int) -> str:  # type: ignore[override]  # no slices
        return self.data(number).decode("utf-8", "surrogatepass")

    def data(self, number: int) -> bytes:
        return bytes(self._bytes[self._starts[number] : self._starts[number + 1]])

    def first_not_below(self, text: str, low: int = 0, high: int | None = None) -> int:
        """Where `text` is or would be, in strings sorted by their UTF-8 bytes."""
        sought = text.encode("utf-8", "surrogatepass")
        return self._bisect(lambda data: data < sought, low, high)

    def range_of(self, prefix: str) -> range:
        """The numbers of the strings that begin with `prefix`, in sorted strings."""
        data = prefix.encode("utf-8", "surrogatepass")
        low = self.first_not_below(prefix)
        high = self._bisect(lambda found: found[: len(data)] <= data, low, None)
        return range(low, high)

    def _bisect(self, is_below: Callable[[bytes], bool], low: int, high: int | None) -> int:
        high = len(self) if high is None else high
        while low < high:
            middle = (low + high) // 2
            if is_below(self.data(middle)):
                low = middle + 1
            else:
                high = middle
        return low


class Lists:
    """Lists of numbers by number, all values in one file: list `n` is `values[starts[n]:starts[n + 1]]`. Raises OSError
    or ValueError for files that are not whole."""

    def __init__(self, path: Path, width: Width = SMALL) -> None:
        self.starts = numbers(path.with_suffix(".starts"), LARGE)
        self.values = numbers(path.with_suffix(".values"), width)
        _check_whole(path, self.starts, len(self.values))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, number: int) -> memoryview[int]:
        return self.values[self.starts[number] : self.starts[number + 1]]

    def size(self, number: int) -> int:
        return int(self.starts[number + 1] - self.starts[number])


def write_durably(path: Path, text: str) -> None:
    """Replace the file in one step: whoever reads it finds the old text or the new one, also after a power cut."""
    beside = path.with_name(f"{path.name}.new")
    with beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
