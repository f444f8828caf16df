"""The portal under gunicorn as `make demo` runs it, on data of its own, for as long as a measurement takes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

ADDRESS = "127.0.0.1"
START_SECONDS = 30


@contextmanager
def serving(settings: str) -> Iterator[int]:
    """The port on which the portal answers under these settings; the server is stopped at the end of the block."""
    port = _free_port()
    environment = {**os.environ, "PORT": str(port), "DJANGO_SETTINGS_MODULE": settings}
    command = [sys.executable, "-m", "gunicorn", "--config", "python:portal.gunicorn_conf", "portal.wsgi"]
    server = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        _wait(server, port)
        yield port
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


def _wait(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise SystemExit(f"The server ended with status {server.returncode} before it answered.")
        with socket.socket() as probe:
            if probe.connect_ex((ADDRESS, port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit(f"The server did not answer within {START_SECONDS} seconds.")
