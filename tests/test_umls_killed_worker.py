"""Workers that are killed in the middle of their work, with either broker: every value is linked once, none is lost."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
WAIT_SECONDS = 120
DIALOGUES, VALUES = 4, 30  # values in each dialogue, all different
FORMS = DIALOGUES * VALUES

PREPARE = f"""
import django
django.setup()
from django.db import connection
from annotation.models import Role
from tests import factory
from tests.factory import inform, make_label_set, make_labels
from tests.reviewing import Small, make_vocabulary
from umls_linker.models import SurfaceForm
from umls_linker.services.decisions import decision_nil, decision_take
from umls_linker.services.linking import label_sets_collect
make_vocabulary()
project = factory.make_project("Killed")
alice = factory.make_member(project, factory.make_user("alice"), Role.ANNOTATOR)
dora = factory.make_member(project, factory.make_user("dora"), Role.DOCTOR)
for number in range({DIALOGUES}):
    label_set = make_label_set(factory.make_dialogue(project, f"K{{number}}"), alice)
    values = [f"cough of kind {{number}} {{value}}" for value in range({VALUES})]
    make_labels(label_set, *[inform(1, "symptom", *values[at:at + 10]) for at in range(0, {VALUES}, 10)])
    if number == 0:
        label_sets_collect(project=project)
first, second = SurfaceForm.objects.order_by("pk")[:2]
decision_take(form=first, actor=dora, cui="C0010200", expected=None)
decision_nil(form=second, actor=dora, expected=None)
with connection.cursor() as cursor:
    cursor.execute("create table linked_log (form integer)")
    cursor.execute('''create trigger linked after update of linked_with on umls_linker_surfaceform
        when new.linked_with <> old.linked_with begin insert into linked_log values (new.id); end''')
"""

ONE_MORE = """
import django
django.setup()
from annotation.models import LabelSet
from tests.factory import inform, make_labels
make_labels(LabelSet.objects.order_by("pk").first(), inform(3, "symptom", "one more cough"))
"""

# The portal's worker, but that every look-up takes a while, so that there is a middle in which it can be killed.
WORKER = """
import time
from portal.celery import app
import django
django.setup()
from umls_linker.services import linking
real = linking.search
def slow(*given, **named):
    time.sleep(0.03)
    return real(*given, **named)
linking.search = slow
app.worker_main(["worker", "--concurrency", "2", "--loglevel", "WARNING"])
"""


@pytest.fixture(params=["files", "redis"])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Settings of a portal of its own, on the embedded broker or on a Redis of its own."""
    found = {**os.environ, "PORTAL_DATA_DIR": str(tmp_path / "data"), "DJANGO_SETTINGS_MODULE": "portal.settings"}
    found |= {"PORTAL_BROKER_URL": "", "PORTAL_VOCABULARY": "embedded", "C_FORCE_ROOT": "1"}
    if request.param == "files":
        yield found
        return
    pytest.importorskip("redis")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(tmp_path), "--save", "", "--appendonly", "no"]
    server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    try:
        until(lambda: answers(port), "Redis does not answer")
        yield {**found, "PORTAL_BROKER_URL": f"redis://127.0.0.1:{port}/0"}
    finally:
        server.terminate()
        server.wait(timeout=20)


def test_a_worker_that_is_killed_twice_leaves_every_value_linked_once(
    environment: dict[str, str], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    python(environment, "manage.py", "migrate", "--verbosity", "0")
    python(environment, "-c", PREPARE)
    decisions = rows(data, "select * from umls_linker_decision order by id")
    assert len(decisions) == 2
    for kill, share in enumerate((0.2, 0.5)):
        with Worker(environment, tmp_path / f"worker{kill}.log") as worker:
            until(lambda share=share: linked(data) >= share * FORMS, "Nothing is linked", worker)  # type: ignore[misc]
            worker.kill()
        assert linked(data) < FORMS  # it was in the middle
        assert whole(data)
        if kill == 0:
            python(environment, "-c", ONE_MORE)  # saved while no worker was there
    with Worker(environment, tmp_path / "worker.log") as worker:
        until(lambda: linked(data) == FORMS + 1, "Not everything is linked", worker)
        until(lambda: rows(data, "select count(*) from umls_linker_dialoguementions") == [(DIALOGUES,)], "No mentions")
    assert rows(data, "select form, count(*) from linked_log group by form having count(*) <> 1") == []
    assert rows(data, "select count(*) from linked_log") == [(FORMS + 1,)]
    assert whole(data)
    assert rows(data, "select * from umls_linker_decision order by id") == decisions


def linked(data: Path) -> int:
    found: int = rows(data, "select count(*) from umls_linker_surfaceform where linked_with <> ''")[0][0]
    return found


def whole(data: Path) -> bool:
    """Whether every form has either all of its candidates, ranked from 1, or none and waits for them."""
    found = rows(
        data,
        """select form.linked_with <> '', count(candidate.id), min(candidate.rank), max(candidate.rank)
           from umls_linker_surfaceform form
           left join umls_linker_candidate candidate on candidate.surface_form_id = form.id group by form.id""",
    )
    return all((count > 0 and (low, high) == (1, count)) if done else not count for done, count, low, high in found)


class Worker:
    """A worker with its child processes, none of which is left behind."""

    def __init__(self, environment: dict[str, str], log: Path) -> None:
        self.log = log
        self._stream = log.open("w")
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            cwd=ROOT,
            env=environment,
            stdout=self._stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def __enter__(self) -> Worker:
        return self

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=20)

    def __exit__(self, *_: Any) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.kill()
        self._stream.close()


def until(true: Callable[[], bool], otherwise: str, worker: Worker | None = None) -> None:
    """Look again and again until it is so."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not true():
        ended = worker is not None and worker.process.poll() is not None
        if ended or time.monotonic() > deadline:
            pytest.fail(f"{otherwise}\n{worker.log.read_text()[-3000:] if worker else ''}")
        time.sleep(0.02)


def answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def rows(data: Path, query: str) -> list[Any]:
    """Read past Django from the worker's database."""
    connection = sqlite3.connect(f"file:{data / 'portal.sqlite3'}?mode=ro", uri=True, timeout=20)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def python(environment: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
