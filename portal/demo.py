"""`make demo`: data, web server and worker on this machine, started together and stopped together.

Nothing but this process sees Ctrl-C: its children run in sessions of their own and are stopped by it, so that each of
them ends in order and none is left behind.
"""

from __future__ import annotations

import http.client
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

ADDRESS = "127.0.0.1"
START_SECONDS = 60
STOP_SECONDS = 8
LOOK_SECONDS = 0.2

WEB = ["gunicorn", "--config", "python:portal.gunicorn_conf", "portal.wsgi"]
WORKER = [
    *("celery", "--quiet", "--app", "portal", "worker", "--pool", "threads", "--concurrency", "1"),
    *("--loglevel", "WARNING", "--without-gossip", "--without-mingle", "--without-heartbeat"),
]
# In a container everything runs as root, and this worker takes orders from this machine only.
QUIET = "ignore:You're running the worker with superuser privileges"


class CannotRun(Exception):
    """Why the demonstration cannot start or go on, in one sentence."""


@dataclass
class Children:
    """The programs that run together. `stop` is set by whoever wants all of them to end."""

    stop: threading.Event = field(default_factory=threading.Event)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, module_and_arguments: Sequence[str]) -> None:
        command = [sys.executable, "-W", QUIET, "-m", *module_and_arguments]
        self.running[name] = subprocess.Popen(  # noqa: S603 - our own words only
            command, stdin=subprocess.DEVNULL, start_new_session=True
        )

    def check(self) -> None:
        """Raises CannotRun when one of them has ended by itself."""
        for name, child in self.running.items():
            if (status := child.poll()) is not None:
                raise CannotRun(f"The {name} ended by itself (status {status}), so everything was stopped.")

    def wait(self) -> None:
        """Until somebody asks to stop, or a child ends (CannotRun)."""
        while not self.stop.wait(LOOK_SECONDS):
            self.check()

    def end(self) -> None:
        """Ask all to end, wait a few seconds, then take whatever is left of them away."""
        for child in self.running.values():
            if child.poll() is None:
                child.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for child in self.running.values():
            with suppress(subprocess.TimeoutExpired):
                child.wait(max(0.0, deadline - time.monotonic()))
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def main() -> int:
    try:
        port = chosen_port(os.environ.get("PORT", "").strip())
        os.environ["PORT"] = str(port)
        announce(prepare(), f"http://{ADDRESS}:{port}/")
        return run(port)
    except CannotRun as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def chosen_port(text: str) -> int:
    """The port to serve on. Raises CannotRun when it is none, or when another program has it."""
    port = int(text or 8000) if (text or "8000").isdecimal() else 0
    if not 0 < port < 65536:
        raise CannotRun(f"PORT must be a number from 1 to 65535, not “{text}”.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            other = 8001 if port != 8001 else 8002
            raise CannotRun(
                f"Port {port} cannot be used ({reason}); choose another, for instance: make demo PORT={other}"
            ) from None
    return port


def prepare() -> Mapping[str, str | None]:
    """Bring database and static files up to date and load the demonstration.

    Returns user name → password, None where the account was there before.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    try:
        import django
        from django.core.management import call_command
        from django.db import DatabaseError, connection

        django.setup()
        from annotation.services.demo import demo_load
        from annotation.services.errors import Refused
    except OSError as error:
        raise CannotRun(f"{error.filename or 'The data folder'}: {error.strerror or error}.") from None
    logging.getLogger("annotation").setLevel(logging.WARNING)
    try:
        call_command("migrate", interactive=False, verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        vocabulary()
        demo = demo_load()
    except (DatabaseError, OSError, Refused) as error:
        raise CannotRun(f"The data cannot be prepared: {error}") from None
    finally:
        connection.close()
    for hint in demo.hints():
        print(hint)
    return demo.accounts


def vocabulary() -> None:
    """Build the vocabulary that comes with the portal, unless there is one that this release can read."""
    from annotation.services.errors import Refused
    from umls_linker.index.sources import Embedded, SourceUnusable
    from umls_linker.services.vocabularies import DEFAULT, vocabulary_build, vocabulary_open

    with suppress(Refused):
        vocabulary_open(DEFAULT)
        return
    print("Building the vocabulary of medical concepts …", end=" ", flush=True)
    try:
        counts = vocabulary_build(source=Embedded.find(), name=DEFAULT).counts
    except SourceUnusable as error:
        raise CannotRun(str(error)) from None
    print(f"{counts.concepts:,} concepts.", flush=True)


def announce(accounts: Mapping[str, str | None], address: str) -> None:
    """Say the new passwords at once: they are stored nowhere, whatever happens next."""
    from django.conf import settings

    print(f"\nThe data lies in {settings.DATA_DIR}.")
    width = max(map(len, accounts), default=0)
    if new := {name: password for name, password in accounts.items() if password}:
        print("Sign in as one of these; the passwords are shown only now:\n")
        for name, password in new.items():
            print(f"  {name.ljust(width)}  {password}")
    else:
        folder = f"PORTAL_DATA_DIR={settings.DATA_DIR} " if os.environ.get("PORTAL_DATA_DIR") else ""
        print("It was kept from the last run, and so were the passwords. A new one for an account:\n")
        print(f"  {folder}.venv/bin/python manage.py set_password annotator")
    print(f"\nStarting {address} …", flush=True)


def run(port: int) -> int:
    """Serve until SIGINT, SIGTERM or a closed terminal. Raises CannotRun when a child ends by itself."""
    children = Children()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: children.stop.set())
    try:
        children.start("web server", WEB)
        children.start("worker", WORKER)
        if answers(port, children):
            print(f"The portal is ready at http://{ADDRESS}:{port}/ (Ctrl-C stops it).", flush=True)
        children.wait()
        print("Stopping …", flush=True)
    finally:
        children.end()
    return 0


def answers(port: int, children: Children, clock: Callable[[], float] = time.monotonic) -> bool:
    """Wait until the server answers; False when somebody asked to stop before."""
    deadline = clock() + START_SECONDS
    while not children.stop.wait(LOOK_SECONDS):
        children.check()
        with suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection(ADDRESS, port, timeout=5)
            try:
                connection.request("GET", "/sign-in/")
                connection.getresponse().read()
                return True
            finally:
                connection.close()
        if clock() > deadline:
            raise CannotRun(f"The web server did not answer within {START_SECONDS} seconds, so everything was stopped.")
    return False


if __name__ == "__main__":
    sys.exit(main())
