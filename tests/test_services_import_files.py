"""Reading files one by one, from folders and with other labels of the speakers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotation.services.errors import Refused
from annotation.services.import_files import LocalFiles, is_large, speaker_pair
from tests.uploads import write


def test_a_folder_gives_its_files_in_order_without_sub_folders(tmp_path: Path) -> None:
    write(tmp_path, "b.txt")
    write(tmp_path, "a.txt")
    write(tmp_path, ".hidden")
    (tmp_path / "deeper").mkdir()
    write(tmp_path / "deeper", "c.txt")
    names = [Path(item.parsed.name).name for item in LocalFiles([tmp_path])]
    assert names == ["a.txt", "b.txt"]


def test_files_can_be_gone_through_twice(tmp_path: Path) -> None:
    files = LocalFiles([write(tmp_path, "a.txt")])
    assert [item.sha256 for item in files] == [item.sha256 for item in files] != []


@pytest.mark.parametrize("name", ["missing.txt", "empty-folder"])
def test_what_cannot_be_read_is_an_error_and_no_exception(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty-folder").mkdir()
    (item,) = LocalFiles([tmp_path / name])
    assert item.parsed.errors[0].message.endswith(".")


def test_a_large_file_is_refused_unread(tmp_path: Path, settings: Any) -> None:
    settings.PORTAL_MAX_FILE_BYTES = 1000
    path = tmp_path / "big.txt"
    path.write_bytes(b"D: hello\n\n" * 200)
    (item,) = LocalFiles([path])
    assert not item.parsed.dialogues
    assert len(item.parsed.errors) == 1


def test_a_pair_of_labels_needs_both(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="patient"):
        speaker_pair("Clinician", "")
    path = tmp_path / "x.txt"
    path.write_text("Clinician: Well?\nClient: Not well.\n", encoding="utf-8")
    (item,) = LocalFiles([path], speaker_pair("Clinician:", " Client "))
    assert [turn.speaker for turn in item.parsed.dialogues[0].utterances] == ["doctor", "patient"]


def test_a_zip_counts_as_what_it_will_unpack_to() -> None:
    assert not is_large([{"name": "a.txt", "bytes": 2 * 2**20}])
    assert is_large([{"name": "a.ZIP", "bytes": 2 * 2**20}])
    assert is_large([{"name": f"{number}.txt", "bytes": 2 * 2**20} for number in range(3)])
