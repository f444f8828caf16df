"""The embedded broker: messages as files in a folder, each of them whole or not there at all.

A process may be killed while it writes a message. Half a message would end the worker that reads it, so one is written
under another name first; what a power cut leaves of one is passed over.
"""

from __future__ import annotations

import logging
import os
import uuid
from pathlib import Path
from time import monotonic
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps

logger = logging.getLogger(__name__)


class Channel(filesystem.Channel):
    def _put(self, queue: str, message: Any, **_: Any) -> None:  # type: ignore[override]
        place = Path(self.data_folder_out) / f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        written = place.with_name(f"{place.name}.part")  # no queue's readers take a file of this name
        try:
            written.write_bytes(dumps(message).encode())  # type: ignore[no-untyped-call]
            os.replace(written, place)  # in one step
        except OSError as error:
            raise ChannelError(f"Cannot add the message {place.name}: {error}") from error

    def _get(self, queue: str, timeout: float | None = None) -> Any:  # noqa: ARG002 – Kombu passes none
        """The next message that can be read. Raises queue.Empty without any."""
        while True:
            try:
                return super()._get(queue)  # type: ignore[no-untyped-call]
            except ValueError:
                logger.warning("A message in the queue %s was not whole, so it was passed over", queue)


class Transport(filesystem.Transport):
    Channel = Channel
