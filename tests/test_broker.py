"""The embedded broker: messages come in order, and half a message ends nobody."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from celery import current_app
from kombu import Connection

import portal.broker


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("messages", "control"):
        (tmp_path / name).mkdir()
    return tmp_path / "messages"


@pytest.fixture
def channel(folder: Path) -> Iterator[Any]:
    options = {
        "data_folder_in": str(folder),
        "data_folder_out": str(folder),
        "control_folder": str(folder.parent / "control"),
    }
    with Connection("filesystem://localhost", transport_options=options) as connection:
        yield connection.default_channel


def test_it_is_the_portals_own(channel: Any) -> None:
    assert current_app.main == "portal"
    assert isinstance(channel, portal.broker.Channel)


def test_messages_are_read_once_and_in_order(channel: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        monkeypatch.setattr("portal.broker.monotonic", lambda at=number: 5.0 + at)
        channel._put("celery", {"number": number})
    assert [channel._get("celery")["number"] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(Empty):
        channel._get("celery")
    assert list(folder.iterdir()) == []


def test_what_a_killed_writer_left_is_no_message(channel: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portal.broker.os.replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        channel._put("celery", {"number": 1})
    assert len(list(folder.iterdir())) == 1
    with pytest.raises(Empty):
        channel._get("celery")


@pytest.mark.parametrize("left", ["", '{"body": "', "\x00\x00"])
def test_a_message_that_is_not_whole_is_passed_over(
    channel: Any, folder: Path, caplog: pytest.LogCaptureFixture, left: str
) -> None:
    (folder / "0_broken.celery.msg").write_text(left)
    channel._put("celery", {"number": 1})
    with caplog.at_level(logging.WARNING):
        assert channel._get("celery") == {"number": 1}
    assert "was not whole" in caplog.text
    assert list(folder.iterdir()) == []
