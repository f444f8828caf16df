"""What is sent to the workers, when, and that nobody waits for it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from kombu.exceptions import OperationalError

from annotation.models import Dialogue, EventKind, LabelSet, Project
from annotation.services import concept_linking
from annotation.services.exports import portal_file
from annotation.services.import_files import LocalFiles
from annotation.services.imports import dialogues_import
from annotation.services.label_imports import portal_file_import
from annotation.services.labelling import label_set_redo, label_set_undo
from tests import factory
from tests.conftest import People
from tests.editor import Editor
from tests.factory import inform, make_label_set, make_labels
from tests.reviewing import SAID, make_values, make_vocabulary
from umls_linker import tasks
from umls_linker.linker import EVERY_SECONDS, LINKER, WAIT_SECONDS
from umls_linker.models import Candidate, DialogueMentions, LinkedLabelSet, SurfaceForm
from umls_linker.services import messages
from umls_linker.services.messages import Outbox, Seldom

ROOT = Path(__file__).resolve().parent.parent
Sent = list[tuple[str, Any, int]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """What was sent, in place of sending: (task, argument, countdown)."""
    found: Sent = []
    monkeypatch.setattr(
        "umls_linker.linker.send", lambda name, argument, countdown=0: found.append((name, argument, countdown))
    )
    return found


def undo(label_set: LabelSet) -> None:
    label_set_undo(label_set=label_set, actor=label_set.annotator, version=label_set.version, key=str(uuid.uuid4()))  # type: ignore[arg-type]


def redo(label_set: LabelSet) -> None:
    label_set_redo(label_set=label_set, actor=label_set.annotator, version=label_set.version, key=str(uuid.uuid4()))  # type: ignore[arg-type]


# --- what is sent ---


@pytest.mark.django_db
def test_every_kind_of_change_tells_the_linker_once_it_is_committed(
    label_set: LabelSet, sent: Sent, django_capture_on_commit_callbacks: Any
) -> None:
    def told() -> list[str]:
        found = [name for name, pk, countdown in sent if (pk, countdown) == (label_set.pk, WAIT_SECONDS)]
        sent.clear()
        return found

    with django_capture_on_commit_callbacks(execute=True):
        make_labels(label_set, inform(1, "symptom", "cough"))
        assert sent == []  # not before the commit
    assert told() == ["collect_label_set"]
    with django_capture_on_commit_callbacks(execute=True):
        undo(label_set)
    assert told() == ["collect_label_set"]
    with django_capture_on_commit_callbacks(execute=True):
        redo(label_set)
    assert told() == ["collect_label_set"]
    with django_capture_on_commit_callbacks(execute=True):
        Editor(label_set).finish()
    assert told() == ["collect_label_set"]


@pytest.mark.django_db
def test_an_import_of_labels_tells_the_linker(
    label_set: LabelSet, people: People, sent: Sent, django_capture_on_commit_callbacks: Any
) -> None:
    other = make_label_set(label_set.dialogue, people.second)
    make_labels(other, inform(1, "symptom", "cough"))
    data = portal_file(label_set=other).encode()
    with django_capture_on_commit_callbacks(execute=True):
        portal_file_import(label_set=label_set, actor=people.annotator, data=data, file="a.json", key="1")
    assert label_set.events.get().kind == EventKind.IMPORT
    assert sent == [("collect_label_set", label_set.pk, WAIT_SECONDS)]


@pytest.mark.django_db
def test_new_dialogues_tell_the_linker_few_one_by_one_and_many_at_once(
    project: Project, sent: Sent, tmp_path: Any, django_capture_on_commit_callbacks: Any
) -> None:
    def add(count: int, name: str) -> None:
        for number in range(count):
            (tmp_path / f"{name}{number}.txt").write_text(f"D: Hello {name} {number}?\nP: I cough.\n")
        with django_capture_on_commit_callbacks(execute=True):
            dialogues_import(project=project, files=LocalFiles([tmp_path]), actor=None)

    add(2, "A")
    assert sorted(pk for name, pk, _ in sent if name == "find_mentions") == sorted(
        Dialogue.objects.values_list("pk", flat=True)
    )
    sent.clear()
    add(21, "B")
    assert sent == [("find_project_mentions", project.pk, 0)]
    sent.clear()
    add(0, "C")
    assert sent == []


def test_one_message_in_two_seconds_covers_what_is_saved_meanwhile(monkeypatch: pytest.MonkeyPatch, sent: Sent) -> None:
    assert WAIT_SECONDS > EVERY_SECONDS  # or the last save would not be covered
    now = [100.0]
    monkeypatch.setattr("umls_linker.services.messages.time.monotonic", lambda: now[0])
    monkeypatch.setattr("umls_linker.linker.in_place", lambda: False)
    LINKER.changed.forget()
    for _ in range(50):
        LINKER.labels_changed(1)
        LINKER.labels_changed(2)
        now[0] += 0.1
    assert [pk for _, pk, _ in sent] == [1, 2] * 3  # at 100, 102 and 104 seconds


def test_what_is_remembered_of_label_sets_is_bounded() -> None:
    seldom = Seldom(1000, most=3)
    assert [seldom.due(key) for key in (1, 2, 3, 1, 4, 1)] == [True, True, True, False, True, True]


# --- how it is sent ---


class Broker:
    """Stands for a task; holds up, fails or takes what it is given."""

    def __init__(self) -> None:
        self.taken: list[Any] = []
        self.fails = False
        self.open = threading.Event()
        self.open.set()

    def apply_async(self, args: list[Any], countdown: int = 0, retry: bool = True) -> None:
        assert retry is False
        self.open.wait(20)
        if self.fails:
            raise OperationalError("no broker")
        self.taken.append((args[0], countdown))


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    found = Broker()
    monkeypatch.setattr(messages, "_task", lambda name: found)
    return found


def test_a_broker_that_hangs_holds_nobody_up(broker: Broker) -> None:
    outbox = Outbox()
    broker.open.clear()
    begun = time.monotonic()
    for number in range(200):
        outbox.put(("collect_label_set", number), 3)
    assert time.monotonic() - begun < 1
    assert not outbox.empty(0)
    broker.open.set()
    assert outbox.empty(20)
    assert broker.taken == [(number, 3) for number in range(200)]


def test_what_a_broker_refuses_is_kept_and_logged_once(
    broker: Broker, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "PAUSE_SECONDS", 0.01)
    outbox = Outbox()
    broker.fails = True
    with caplog.at_level(logging.WARNING, logger="umls_linker"):
        outbox.put(("link_forms", 1))
        outbox.put(("link_forms", 2))
        assert not outbox.empty(0.5)
        broker.fails = False
        assert outbox.empty(20)
    assert broker.taken == [(1, 0), (2, 0)]
    assert len([one for one in caplog.records if one.name.startswith("umls_linker")]) == 1


def test_a_process_that_ends_hands_over_what_waits(broker: Broker) -> None:
    outbox = Outbox()
    broker.open.clear()
    outbox.put(("link_forms", 1))
    threading.Timer(0.2, broker.open.set).start()
    outbox.end()
    assert broker.taken == [(1, 0)]


SAVE = """
import sys, time
import django
django.setup()
from annotation.models import Role
from tests import factory
from tests.factory import inform, make_label_set, make_labels
project = factory.make_project("Alone")
alice = factory.make_member(project, factory.make_user("alice"), Role.ANNOTATOR)
sets = [make_label_set(factory.make_dialogue(project), alice) for _ in range(5)]
for label_set in sets:
    begun = time.monotonic()
    make_labels(label_set, inform(1, "symptom", "cough"))
    print(time.monotonic() - begun)
"""


def test_without_a_broker_a_process_saves_as_quickly_and_ends(tmp_path: Path) -> None:
    """The real client against a port at which nobody listens: five label sets, and one line about it in the log."""
    pytest.importorskip("redis")
    environment = {
        **os.environ,
        "PORTAL_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "PORTAL_BROKER_URL": "redis://127.0.0.1:1/0",
    }

    def python(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *words]
        return subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=90, check=False
        )

    assert python("manage.py", "migrate", "--verbosity", "0").returncode == 0
    done = python("-c", SAVE)
    assert done.returncode == 0, done.stderr
    assert max(float(line) for line in done.stdout.split()) < 2
    assert done.stderr.count("The broker takes no messages") <= 1
    assert "label" not in done.stderr.lower()


# --- what the tasks do ---


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("workers")
def test_a_save_ends_in_candidates_and_an_import_in_mentions(project: Project, people: People) -> None:
    make_vocabulary()
    label_sets = make_values(project, people.annotator, people.second)
    assert SurfaceForm.objects.filter(candidates__rank=1, linked_at__isnull=False).count() > 5
    assert LinkedLabelSet.objects.count() == 2
    concept_linking.linker().dialogues_added([label_sets[0].dialogue_id])
    assert DialogueMentions.objects.count() == 1


@pytest.mark.django_db
def test_tasks_may_come_twice_and_for_what_is_not_there_any_more(project: Project, people: People) -> None:
    make_vocabulary()
    label_sets = make_values(project, people.annotator, people.second)
    for _ in range(2):
        for label_set in label_sets:
            tasks.collect_label_set(label_set.pk)
        tasks.link_forms(project.pk)
        tasks.find_mentions(label_sets[0].dialogue_id)
        tasks.find_project_mentions(project.pk)
        tasks.link_project(project.pk)
    assert (SurfaceForm.objects.count(), DialogueMentions.objects.count()) == (len(SAID), 2)
    for task in (
        tasks.collect_label_set,
        tasks.link_forms,
        tasks.find_mentions,
        tasks.find_project_mentions,
        tasks.link_project,
    ):
        task(10**9)


@pytest.mark.django_db
def test_a_worker_that_starts_takes_up_what_is_unfinished_everywhere(project: Project, people: People) -> None:
    make_vocabulary()
    make_values(project, people.annotator)
    elsewhere = factory.make_project()
    make_values(elsewhere, people.second)
    assert not SurfaceForm.objects.exists()
    tasks.take_up_unfinished()
    assert SurfaceForm.objects.filter(project=project).count() == len(SAID)
    assert not SurfaceForm.objects.filter(linked_at=None).exists()
    assert Candidate.objects.filter(surface_form__project=elsewhere).exists()
    assert DialogueMentions.objects.count() == 4


def test_the_workers_know_the_tasks() -> None:
    current_app.loader.import_default_modules()
    names = ("collect_label_set", "link_forms", "find_mentions", "find_project_mentions", "link_project")
    assert {f"umls_linker.tasks.{name}" for name in names} <= set(current_app.tasks)
