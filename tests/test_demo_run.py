"""`make demo` from the outside: the programs it starts, what it prints, and that it leaves nothing behind."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60
STOP_SECONDS = 10
TRANSCRIPT = b"D: Hello, what brings you in?\n\nP: My knee hurts.\n"

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc")


class Demonstration:
    """A running launcher. Its output goes to a file, so that it never waits for a reader."""

    def __init__(self, folder: Path, port: int, **environment: str) -> None:
        self.port, self.folder = port, folder
        self.log = folder.with_name(f"{folder.name}-{port}.log")
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        variables = {**kept, "PORT": str(port), "PORTAL_DATA_DIR": str(folder), **environment}
        command = [sys.executable, "-m", "portal.demo"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=log, stderr=subprocess.STDOUT)

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8")

    @property
    def passwords(self) -> dict[str, str]:
        return dict(
            re.findall(r"^ +(annotator|trainee|supervisor|doctor) +([a-z0-9-]{12,})$", self.output, re.MULTILINE)
        )

    def wait_until_ready(self) -> float:
        start = time.monotonic()
        while "is ready at" not in self.output:
            assert self.process.poll() is None, self.output
            assert time.monotonic() - start < START_SECONDS, self.output
            time.sleep(0.1)
        return time.monotonic() - start

    def stop(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(STOP_SECONDS)


@contextmanager
def demonstration(folder: Path, **environment: str) -> Iterator[Demonstration]:
    running = Demonstration(folder, free_port(), **environment)
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.terminate()
            try:
                running.process.wait(STOP_SECONDS + 5)
            except subprocess.TimeoutExpired:
                running.process.kill()
                running.process.wait()


class Browser:
    """Cookies and forgery tokens over plain HTTP."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def get(self, path: str) -> str:
        with self.opener.open(self.address + path, timeout=20) as answer:
            return str(answer.read().decode())

    def post(self, path: str, body: bytes = b"", kind: str = "application/json") -> tuple[str, str]:
        """The address arrived at, and the answer's text."""
        headers = {"Content-Type": kind, "X-CSRFToken": self.cookie("csrftoken"), "Referer": self.address}
        request = urllib.request.Request(self.address + path, body, headers, method="POST")
        with self.opener.open(request, timeout=20) as answer:
            return answer.url.removeprefix(self.address), answer.read().decode()

    def sign_in(self, username: str, password: str) -> str:
        self.get("/sign-in/")
        form = urllib.parse.urlencode({"username": username, "password": password}).encode()
        return self.post("/sign-in/", form, "application/x-www-form-urlencoded")[0]

    def upload(self, path: str, name: str, data: bytes) -> Any:
        edge = "----edge"
        head = f'--{edge}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
        body = head.encode() + data + f"\r\n--{edge}--\r\n".encode()
        return json.loads(self.post(path, body, f"multipart/form-data; boundary={edge}")[1])

    def cookie(self, name: str) -> str:
        return next((cookie.value or "" for cookie in self.jar if cookie.name == name), "")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def descendants(pid: int) -> dict[int, str]:
    """Command lines of the process's children and theirs, by process id."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has just ended
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in found | {pid}} - found:
        found |= more
    return {child: command_line(child) for child in found}


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def still_there(children: dict[int, str]) -> dict[int, str]:
    return {pid: line for pid, line in children.items() if line and command_line(pid) == line}


def wait_for(browser: Browser, path: str, status: str) -> Any:
    deadline = time.monotonic() + 30
    while True:
        job = json.loads(browser.get(path))
        if job["status"] == status:
            return job
        assert time.monotonic() < deadline, job
        time.sleep(0.2)


def import_through_the_worker(browser: Browser) -> None:
    path = "/api/v1/projects/demo/imports/"
    job = browser.upload(path, "KNEE-1.txt", TRANSCRIPT)
    assert job["status"] == "queued"
    wait_for(browser, f"{path}{job['id']}/", "done")


def test_it_serves_works_stops_without_a_trace_and_keeps_its_data(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with demonstration(folder, PORTAL_IMPORT_INLINE_UTTERANCES="0") as first:
        first.wait_until_ready()
        passwords = first.passwords
        assert sorted(passwords) == ["annotator", "doctor", "supervisor", "trainee"]
        assert len(set(passwords.values())) == 4
        assert f"http://127.0.0.1:{first.port}/" in first.output
        for name, password in passwords.items():
            browser = Browser(first.port)
            assert browser.sign_in(name, password) == "/"
            assert "Demo" in browser.get("/projects/demo/")
        supervisor = Browser(first.port)
        supervisor.sign_in("supervisor", passwords["supervisor"])
        import_through_the_worker(supervisor)
        styles = re.search(r'href="(/static/[^"]+\.css)"', supervisor.get("/"))
        assert styles
        assert supervisor.get(styles[1])
        children = descendants(first.process.pid)
        assert any("gunicorn" in line for line in children.values())
        assert any("celery" in line for line in children.values())
        assert first.stop(signal.SIGINT) == 0
        assert not still_there(children)
        assert "Traceback" not in first.output

    with demonstration(folder) as second:
        assert second.wait_until_ready() < 20
        assert second.passwords == {}
        assert "set_password" in second.output
        for password in passwords.values():
            assert password not in second.output
        browser = Browser(second.port)
        assert browser.sign_in("supervisor", passwords["supervisor"]) == "/"
        assert "KNEE-1" in browser.get("/projects/demo/dialogues/")
        children = descendants(second.process.pid)
        assert second.stop(signal.SIGTERM) == 0
        assert not still_there(children)


@pytest.mark.parametrize("victim", ["gunicorn", "celery"])
def test_when_one_program_dies_the_other_is_stopped_and_the_launcher_fails(tmp_path: Path, victim: str) -> None:
    with demonstration(tmp_path / "data") as running:
        running.wait_until_ready()
        children = descendants(running.process.pid)
        direct = [pid for pid, line in children.items() if victim in line and parent_of(pid) == running.process.pid]
        os.kill(direct[0], signal.SIGKILL)
        assert running.process.wait(STOP_SECONDS) == 1
        assert "ended by itself" in running.output
        deadline = time.monotonic() + STOP_SECONDS
        while still_there(children) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not still_there(children)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def run_briefly(folder: Path, port: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PORT": port, "PORTAL_DATA_DIR": str(folder)}
    variables.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "-m", "portal.demo"]
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60, check=False)


def test_a_port_in_use_is_said_in_one_sentence_before_anything_is_made(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run_briefly(tmp_path / "data", str(port))
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith(f"Port {port} cannot be used (address already in use)")
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("port", ["eighty", "0", "65536", "-1"])
def test_a_port_that_is_none_is_refused(tmp_path: Path, port: str) -> None:
    result = run_briefly(tmp_path / "data", port)
    assert result.returncode == 1
    assert result.stderr == f"PORT must be a number from 1 to 65535, not “{port}”.\n"


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    result = run_briefly(tmp_path / "file" / "data", str(free_port()))
    assert result.returncode == 1
    assert str(tmp_path / "file" / "data") in result.stderr
    assert "Traceback" not in result.stderr
