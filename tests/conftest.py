"""Fixtures for all tests: a project with its people, one dialogue, signed-in clients, and a real Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.test import Client

from annotation.models import Dialogue, LabelSet, Project, Role, User
from annotation.services import readings, recent_readings
from tests import factory
from umls_linker.linker import LINKER
from umls_linker.services import canonical, project_vocabulary

# The browser driver runs an event loop in the test's thread, which Django would take for asynchronous code.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class People:
    annotator: User
    second: User
    doctor: User
    supervisor: User
    outsider: User
    superuser: User


@pytest.fixture(autouse=True)
def fresh_process() -> None:
    """Row numbers come back from test to test, as they never do in one database: nothing is remembered by them."""
    readings.utterances_of.cache_clear()
    readings.utterance_ids_of.cache_clear()
    recent_readings.forget()
    canonical.forget()
    project_vocabulary.forget()
    LINKER.changed.forget()


@pytest.fixture(autouse=True)
def idle_workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Saves and imports send no work to whoever links values to concepts: tests carry tasks out in their place, where
    it would be counted as the save's own. A test with the fixture `workers` has it done."""
    if "workers" not in request.fixturenames:
        monkeypatch.setattr("umls_linker.linker.send", lambda *_, **__: None)


@pytest.fixture
def workers() -> None:
    """See `idle_workers`."""


@pytest.fixture
def project(db: None) -> Project:
    return factory.make_project("Chest clinic")


@pytest.fixture
def people(project: Project) -> People:
    make, member = factory.make_user, factory.make_member
    return People(
        annotator=member(project, make("alice"), Role.ANNOTATOR),
        second=member(project, make("bob"), Role.ANNOTATOR),
        doctor=member(project, make("dora"), Role.DOCTOR),
        supervisor=member(project, make("sam"), Role.SUPERVISOR),
        outsider=make("otto"),
        superuser=make("root", is_superuser=True),
    )


@pytest.fixture
def dialogue(project: Project) -> Dialogue:
    return factory.make_dialogue(project, "RES-TEST")


@pytest.fixture
def label_set(dialogue: Dialogue, people: People) -> LabelSet:
    return factory.make_label_set(dialogue, people.annotator)


@pytest.fixture
def client_for() -> Callable[[User], Client]:
    def make(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return make


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real dialogues; tests that need it are skipped without one."""
    folder = os.environ.get("PORTAL_REAL_DATA", "")
    if not folder:
        pytest.skip("PORTAL_REAL_DATA is not set")
    path = Path(folder).resolve()
    if not path.is_dir():
        pytest.fail(f"PORTAL_REAL_DATA names {path}, which is no folder")
    return path


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM", "") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not path:
        pytest.fail("Chromium is not installed; `make test` installs it, or set CHROMIUM to its path.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()
