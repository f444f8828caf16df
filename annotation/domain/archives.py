"""The files of an upload: one file, or those inside a zip, opened without trust.

Nothing is extracted to disk, and one member at a time is held in memory. A zip as a whole is refused when it is
damaged, has too many members or would unpack to too much. A single member is refused, and the others are kept, when
its name has a path that leaves the folder, when it is encrypted, a link, a zip, damaged, or too large. Folders, hidden
files and what macOS and Windows add are passed over with one note.

Folders inside the zip do no harm: a member is named by its path in the zip, and the readers take the last part of it
for the id of a transcript. Two members with one file name in two folders are therefore both given, with a warning;
whether they hold the same dialogue is seen when the ids of all files are compared.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, BinaryIO

from annotation.domain.notices import Notice, Severity, quoted

MIB = 1024 * 1024
_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_ENCRYPTED = 0x1 | 0x40  # flag bits: encrypted, strongly encrypted
_UTF_8_NAME = 0x800  # flag bit: the name is UTF-8
_SMALL = MIB  # members up to this size may have any ratio: a few bytes of text can repeat often
_CHUNK = 256 * 1024
_DIRECTORY_ENTRY = 512  # bytes of the zip's directory that one member may take, on average
_PASSED_OVER = frozenset({"__macosx", "thumbs.db", "desktop.ini"})
# What zipfile and zlib raise for damaged input.
_DAMAGE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    LookupError,
    OverflowError,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes. `ratio` is unpacked to packed size of one member; `members` counts folders too."""

    total_bytes: int = 200 * MIB
    member_bytes: int = 20 * MIB
    members: int = 2_000
    ratio: int = 200


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One file of an upload. `name` is the file's own, or its path inside the zip."""

    name: str
    data: bytes


class _Refused(Exception):
    """One sentence that says why a zip or a member is not read."""


def open_files(name: str, stream: BinaryIO | bytes, limits: Limits = Limits()) -> Iterator[FoundFile | Notice]:
    """The files of an upload one after the other, and a notice for everything that is not among them.

    `name` is the upload's file name, `stream` its bytes or a binary stream at its beginning. Whether it is a zip is
    seen from the first bytes. Never raises for what is in the upload.
    """
    source: BinaryIO = io.BytesIO(stream) if isinstance(stream, bytes | bytearray | memoryview) else stream
    start = _read(source, 4)
    if start not in _SIGNATURES:
        yield _single_file(name, start, source, limits)
        return
    try:
        yield from _zip_files(name, _seekable(start, source, limits), limits)
    except _Refused as refusal:
        yield Notice(Severity.ERROR, name, 0, str(refusal))


def _single_file(name: str, start: bytes, source: BinaryIO, limits: Limits) -> FoundFile | Notice:
    data = start + _read(source, limits.member_bytes + 1 - len(start))
    if len(data) > limits.member_bytes:
        message = f"The file has more than {_size(limits.member_bytes)}, which is the most that is read; split it."
        return Notice(Severity.ERROR, name, 0, message)
    if name.casefold().endswith(".zip"):
        message = "The file is named .zip and is none, or its beginning is damaged; make the zip again."
        return Notice(Severity.ERROR, name, 0, message)
    return FoundFile(name, data)


def _seekable(start: bytes, source: BinaryIO, limits: Limits) -> BinaryIO:
    """The stream itself where it can be searched; a copy in memory, up to the limit, where it cannot."""
    if source.seekable():
        return source
    rest = _read(source, limits.total_bytes + 1)
    if len(rest) > limits.total_bytes:
        raise _Refused(f"The zip has more than {_size(limits.total_bytes)}; split it.")
    return io.BytesIO(start + rest)


def _zip_files(name: str, source: BinaryIO, limits: Limits) -> Iterator[FoundFile | Notice]:
    """Raises `_Refused` where the whole zip is not read, or not read further."""
    archive = _opened(source, limits)
    passed_over = 0
    paths: dict[str, str] = {}
    for member in archive.infolist():
        path = _path(member)
        shown = quoted(path, 100)[1:-1]
        try:
            _check_name(member, path)
            if _is_passed_over(member, path):
                passed_over += 1
                continue
            _check_member(member, limits)
            data = _member_data(archive, member, limits)
        except _Refused as refusal:
            yield Notice(Severity.ERROR, name, 0, str(refusal), key=shown)
            continue
        base = PurePosixPath(path).name.casefold()
        if base in paths:
            message = f"There is also {quoted(paths[base])} in the zip; check that they are two dialogues."
            yield Notice(Severity.WARNING, name, 0, message, key=shown)
        paths.setdefault(base, path)
        yield FoundFile(path, data)
    if passed_over:
        what = "1 folder or hidden file was" if passed_over == 1 else f"{passed_over:,} folders and hidden files were"
        yield Notice(Severity.NOTE, name, 0, f"{what} passed over.")
    if passed_over == len(archive.infolist()):
        raise _Refused("The zip holds no files; put the dialogues into it.")


def _opened(source: BinaryIO, limits: Limits) -> zipfile.ZipFile:
    """The zip with a directory that keeps the limits; raises `_Refused`."""
    directory_bytes = MIB + limits.members * _DIRECTORY_ENTRY
    try:
        archive = zipfile.ZipFile(_CautiousStream(source, directory_bytes))
    except _TooMuch:
        raise _too_many_members(limits) from None
    except _DAMAGE:
        raise _Refused("The zip is damaged or incomplete; make or fetch it again.") from None
    members = archive.infolist()
    if len(members) > limits.members:
        raise _too_many_members(limits)
    if any(member.filename == "[Content_Types].xml" for member in members):
        raise _Refused("The file is an Office document; save the dialogue as plain text (UTF-8).")
    if sum(member.file_size for member in members) > limits.total_bytes:
        raise _Refused(f"The zip would unpack to more than {_size(limits.total_bytes)}; split it into several.")
    return archive


def _too_many_members(limits: Limits) -> _Refused:
    return _Refused(f"The zip has more than {limits.members:,} files; split it into several.")


def _path(member: zipfile.ZipInfo) -> str:
    """The member's name as it was meant: many programs write UTF-8 without saying so."""
    name = member.orig_filename
    if member.flag_bits & _UTF_8_NAME:
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _check_name(member: zipfile.ZipInfo, path: str) -> None:
    """Raises `_Refused` for a name that is more than a path downwards."""
    if "\\" in path or path.startswith("/") or re.match(r"[A-Za-z]:", path) or ".." in path.split("/"):
        raise _Refused("The member's name is a path out of the zip; rename it to a plain file name.")
    if not path or not member.filename or any(ord(sign) < 32 or ord(sign) == 127 for sign in path):
        raise _Refused("The member's name is empty or holds a control character; rename it.")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise _Refused("The member is a link to another file; put the file itself into the zip.")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _Refused("The member is a device and no file; remove it.")


def _is_passed_over(member: zipfile.ZipInfo, path: str) -> bool:
    parts = [part.casefold() for part in path.split("/") if part not in ("", ".")]
    hidden = any(part.startswith(".") or part in _PASSED_OVER for part in parts)
    return hidden or path.endswith("/") or stat.S_ISDIR(member.external_attr >> 16) or not parts


def _check_member(member: zipfile.ZipInfo, limits: Limits) -> None:
    """Raises `_Refused` for what the directory declares of a member."""
    if member.flag_bits & _ENCRYPTED:
        raise _Refused("The member is encrypted; make the zip without a password.")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _Refused("The member is packed by a method that is not read; make the zip with the usual one (deflate).")
    if member.file_size > limits.member_bytes:
        raise _Refused(f"The member unpacks to more than {_size(limits.member_bytes)}; split it.")
    if member.file_size > max(_SMALL, member.compress_size * limits.ratio):
        raise _Refused(f"The member unpacks to more than {limits.ratio} times its size, which no text does; check it.")


def _member_data(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: Limits) -> bytes:
    """The member's bytes, read in pieces and never more than the limit, whatever the directory declares.

    They are exactly as many as declared, so the declared total that was checked is also the total that is read.
    """
    pieces: list[bytes] = []
    size = 0
    try:
        with archive.open(member) as stream:
            while piece := stream.read(_CHUNK):
                size += len(piece)
                if size > limits.member_bytes:
                    raise _Refused(f"The member unpacks to more than {_size(limits.member_bytes)}; split it.")
                pieces.append(piece)
    except (*_DAMAGE, _TooMuch):
        raise _Refused("The member is damaged; make or fetch the zip again.") from None
    data = b"".join(pieces)
    if len(data) != member.file_size:
        raise _Refused("The member is damaged: its size is not what the zip declares; make or fetch the zip again.")
    if data.startswith(_SIGNATURES):
        raise _Refused("The member is itself a zip or an Office document; put the plain text files into one zip.")
    return data


class _TooMuch(Exception):
    """A single read asks for more than the limit."""


class _CautiousStream(io.RawIOBase):
    """Hands a stream on and refuses large single reads: zipfile reads a zip's whole directory in one, as large as the
    zip says it is, before anybody can count its members."""

    def __init__(self, source: IO[bytes], most: int) -> None:
        self._source = source
        self._most = most

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._source.seek(offset, whence)

    def tell(self) -> int:
        return self._source.tell()

    def read(self, size: int | None = -1) -> bytes:
        wanted = self._most + 1 if size is None or size < 0 else size
        if size is not None and size > self._most:
            raise _TooMuch
        data = self._source.read(wanted)
        if len(data) > self._most:
            raise _TooMuch
        return data


def _read(source: BinaryIO, size: int) -> bytes:
    """Up to `size` bytes, also from a stream that gives them in small portions."""
    pieces: list[bytes] = []
    while size > 0 and (piece := source.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _size(size: int) -> str:
    return f"{size / MIB:,.0f} MiB" if size >= MIB else f"{size:,} bytes"
