"""Zips are opened without trust: what is harmful is refused in a sentence, the rest is given."""

from __future__ import annotations

import io
import random
import stat
import struct
import zipfile
from collections.abc import Callable
from typing import BinaryIO

import pytest

from annotation.domain.archives import FoundFile, Limits, open_files
from annotation.domain.notices import Notice, Severity

MIB = 1024 * 1024
Member = tuple[str | zipfile.ZipInfo, bytes]


def zipped(*members: Member, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data, compress_type=method)
    return stream.getvalue()


def opened(
    data: bytes | BinaryIO, limits: Limits | None = None, name: str = "up.zip"
) -> tuple[dict[str, bytes], list[Notice]]:
    found = list(open_files(name, data, limits or Limits()))
    files = {item.name: item.data for item in found if isinstance(item, FoundFile)}
    return files, [item for item in found if isinstance(item, Notice)]


def the_error(notices: list[Notice]) -> Notice:
    (error,) = [notice for notice in notices if notice.severity is Severity.ERROR]
    assert error.file == "up.zip"
    assert error.message.endswith(".")
    return error


def replaced(data: bytes, old: bytes, new: bytes) -> bytes:
    """The zip with a name changed in both places where it stands."""
    assert data.count(old) == 2
    assert len(old) == len(new)
    return data.replace(old, new)


GOOD: Member = ("good.txt", b"D: hi")


def test_a_file_that_is_no_zip_is_given_as_it_is() -> None:
    assert opened(b"D: hi", name="talk.txt") == ({"talk.txt": b"D: hi"}, [])
    assert opened(io.BytesIO(b""), name="talk.txt") == ({"talk.txt": b""}, [])


def test_the_files_of_a_zip_are_given_by_their_path_in_it() -> None:
    data = zipped(("transcripts/RES1.txt", b"D: hi"), ("RES2.txt", b"P: hi"), ("./c/对话.txt", b"x"))
    for stream in (data, io.BytesIO(data)):
        files, notices = opened(stream)
        assert files == {"transcripts/RES1.txt": b"D: hi", "RES2.txt": b"P: hi", "./c/对话.txt": b"x"}
        assert notices == []


def test_a_zip_is_known_by_its_first_bytes_and_not_by_its_name() -> None:
    assert opened(zipped(GOOD), name="talk.txt")[0] == {"good.txt": b"D: hi"}
    files, notices = opened(b"D: hi")
    assert files == {}
    assert "none" in the_error(notices).message


def test_one_member_at_a_time_is_read() -> None:
    found = open_files("up.zip", zipped(GOOD, ("other.txt", b"x" * 100)))
    assert next(found) == FoundFile("good.txt", b"D: hi")


def test_names_in_utf_8_without_their_flag_are_read() -> None:
    data = replaced(zipped(("caf__.txt", b"x")), b"caf__", "café".encode())
    assert list(opened(data)[0]) == ["café.txt"]


def test_a_stream_that_cannot_be_searched_is_read_up_to_the_limit() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation

        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(size or 0, 7))  # in small portions, as a pipe may

    assert opened(Pipe(zipped(GOOD)))[0] == {"good.txt": b"D: hi"}
    data = zipped(("a.txt", random.Random(1).randbytes(400)))
    assert "more than 300 bytes" in the_error(opened(Pipe(data), Limits(total_bytes=300))[1]).message
    assert opened(Pipe(b"D: hi"), name="talk.txt")[0] == {"talk.txt": b"D: hi"}


def test_folders_and_hidden_files_are_passed_over_with_one_note() -> None:
    extras = ["a/", "__MACOSX/a/._good.txt", ".DS_Store", "a/.hidden", ".git/config", "a/Thumbs.db"]
    files, notices = opened(zipped(*[(name, b"") for name in extras], GOOD))
    assert list(files) == ["good.txt"]
    assert [(notice.severity, notice.message[:2]) for notice in notices] == [(Severity.NOTE, "6 ")]


@pytest.mark.parametrize("data", [zipped(), zipped(("a/", b"")), zipped((".DS_Store", b""))])
def test_a_zip_without_files_is_refused(data: bytes) -> None:
    assert "no files" in the_error(opened(data)[1]).message


def test_one_file_name_in_two_folders_is_given_twice_with_a_warning() -> None:
    files, notices = opened(zipped(("a/RES1.txt", b"1"), ("b/res1.TXT", b"2")))
    assert files == {"a/RES1.txt": b"1", "b/res1.TXT": b"2"}
    assert [(notice.severity, notice.key) for notice in notices] == [(Severity.WARNING, "b/res1.TXT")]


@pytest.mark.parametrize(
    "name",
    ["../evil.txt", "a/../../b.txt", "/etc/a.txt", "C:evil.txt", "c:/evil.txt", "a\\b.txt", "..", "../a/", "..\\x"],
)
def test_a_name_that_leaves_the_folder_is_refused_and_the_others_are_kept(name: str) -> None:
    files, notices = opened(zipped((name, b"x"), GOOD))
    assert list(files) == ["good.txt"]
    error = the_error(notices)
    assert "path" in error.message
    assert error.key


@pytest.mark.parametrize("sign", [b"\x00", b"\n", b"\x7f"])
def test_a_name_with_a_control_character_is_refused(sign: bytes) -> None:
    files, notices = opened(replaced(zipped(("bad_name.txt", b"x"), GOOD), b"bad_", b"bad" + sign))
    assert list(files) == ["good.txt"]
    assert "control character" in the_error(notices).message


def special(mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("special.txt")
    info.create_system = 3
    info.external_attr = (mode | 0o644) << 16
    return info


@pytest.mark.parametrize(("mode", "word"), [(stat.S_IFLNK, "link"), (stat.S_IFIFO, "device"), (stat.S_IFCHR, "device")])
def test_links_and_devices_are_refused(mode: int, word: str) -> None:
    files, notices = opened(zipped((special(mode), b"/etc/passwd"), GOOD))
    assert list(files) == ["good.txt"]
    assert word in the_error(notices).message


def test_an_encrypted_member_is_refused() -> None:
    data = bytearray(zipped(("a.txt", b"secret"), GOOD))
    data[6] |= 1  # flag bits of the first member's own header
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and of its entry in the directory
    files, notices = opened(bytes(data))
    assert list(files) == ["good.txt"]
    assert "encrypted" in the_error(notices).message


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unusual_methods_of_packing_are_refused(method: int) -> None:
    assert "packed by a method" in the_error(opened(zipped(GOOD, method=method))[1]).message


@pytest.mark.parametrize("name", ["inner.zip", "inner.txt"])
def test_a_zip_in_a_zip_is_refused(name: str) -> None:
    files, notices = opened(zipped((name, zipped(GOOD)), GOOD))
    assert list(files) == ["good.txt"]
    assert "itself a zip" in the_error(notices).message


def test_an_office_document_is_refused() -> None:
    files, notices = opened(zipped(("[Content_Types].xml", b"<x/>"), ("word/document.xml", b"<x/>")))
    assert files == {}
    assert "Office" in the_error(notices).message


def test_a_member_over_the_limit_is_refused_and_the_others_are_kept() -> None:
    files, notices = opened(zipped(("big.txt", b"x" * 101), GOOD), Limits(member_bytes=100))
    assert list(files) == ["good.txt"]
    assert the_error(notices).key == "big.txt"
    assert "more than 100 bytes" in opened(b"x" * 101, Limits(member_bytes=100), "a.txt")[1][0].message
    assert opened(b"x" * 100, Limits(member_bytes=100), "a.txt")[0] == {"a.txt": b"x" * 100}


def test_a_zip_that_unpacks_to_too_much_is_refused_whole() -> None:
    members = [(f"{number}.txt", b"x" * 100) for number in range(11)]
    assert len(opened(zipped(*members[:10]), Limits(total_bytes=1_000))[0]) == 10
    files, notices = opened(zipped(*members), Limits(total_bytes=1_000))
    assert files == {}
    assert "more than 1,000 bytes" in the_error(notices).message


def test_a_bomb_is_known_by_its_ratio() -> None:
    files, notices = opened(zipped(("bomb.txt", bytes(10 * MIB)), ("small.txt", b"no " * 200_000)))
    assert list(files) == ["small.txt"]
    assert "200 times" in the_error(notices).message


@pytest.mark.parametrize("declared", [10, 5 * MIB])
def test_a_member_that_declares_another_size_is_refused(declared: int) -> None:
    content = random.Random(2).randbytes(MIB // 2) * 4
    data = bytearray(zipped(("liar.txt", content), GOOD))
    for place in (22, data.index(b"PK\x01\x02") + 24):  # where the unpacked size stands in header and directory
        data[place : place + 4] = struct.pack("<L", declared)
    files, notices = opened(bytes(data))
    assert list(files) == ["good.txt"]
    assert "damaged" in the_error(notices).message


def test_a_member_that_breaks_its_checksum_is_refused() -> None:
    data = zipped(("a.txt", b"some words here"), GOOD, method=zipfile.ZIP_STORED).replace(b"some words", b"same words")
    files, notices = opened(data)
    assert list(files) == ["good.txt"]
    assert "damaged" in the_error(notices).message


def test_a_zip_with_too_many_members_is_refused() -> None:
    members = [(f"{number}.txt", b"x") for number in range(11)]
    assert len(opened(zipped(*members[:10]), Limits(members=10))[0]) == 10
    files, notices = opened(zipped(*members), Limits(members=10))
    assert files == {}
    assert "more than 10 files" in the_error(notices).message


def test_a_directory_too_large_to_be_held_is_refused_before_it_is_read() -> None:
    class Watched(io.BytesIO):
        largest = 0

        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            Watched.largest = max(Watched.largest, len(data))
            return data

    data = zipped(GOOD)
    directory = data[data.index(b"PK\x01\x02") : data.index(b"PK\x05\x06")]
    start = data[: data.index(b"PK\x01\x02")]
    count = 60_000
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory) * count, len(start), 0)
    files, notices = opened(Watched(start + directory * count + end))
    assert files == {}
    assert "more than 2,000 files" in the_error(notices).message
    assert Watched.largest <= 70_000


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:40], lambda data: data[:-10], lambda data: b"PK\x03\x04", lambda data: data[:4] + bytes(99)],
)
def test_a_damaged_zip_is_refused(damage: Callable[[bytes], bytes]) -> None:
    files, notices = opened(damage(zipped(GOOD)))
    assert files == {}
    assert "damaged" in the_error(notices).message


def test_truncated_and_corrupted_zips_give_files_and_notices_only() -> None:
    source = random.Random(13)
    text = b"D: Any pain?\n\nP: It's, uh, a 7.\n" * 20
    zips = [zipped(("a/1.txt", text), ("2.txt", text), (".x", b""), method=method) for method in (0, 8)]
    for number in range(1_500):
        data = bytearray(zips[number % 2])
        if source.random() < 0.2:
            del data[source.randint(4, len(data)) :]
        for _ in range(source.randint(1, 8)):
            # the headers at the end are short, and most that can go wrong goes wrong there
            tail = source.random() < 0.6
            data[source.randrange(max(0, len(data) - 250) if tail else 0, len(data))] = source.randrange(256)
        for item in open_files("up.zip", bytes(data), Limits(member_bytes=5_000, total_bytes=20_000)):
            assert isinstance(item, FoundFile | Notice)
            if isinstance(item, FoundFile):
                assert len(item.data) <= 5_000
                assert ".." not in item.name.split("/")
            else:
                assert str(item).encode()
