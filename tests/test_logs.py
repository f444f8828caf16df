"""What goes to the terminal: a refused request is a line, a fault has its trace; who stops reading ends a command."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Project
from portal.logs import RefusalsInOneLine
from tests.conftest import People

ROOT = Path(__file__).parent.parent


def test_a_refused_request_leaves_no_trace(
    client_for: Any, project: Project, people: People, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.handler.addFilter(RefusalsInOneLine())
    client: Client = client_for(people.annotator)
    assert client.get(reverse("export-new", args=[project.slug])).status_code == 403
    (record,) = [one for one in caplog.records if one.name == "django.request"]
    assert (record.levelno, record.exc_info) == (logging.WARNING, None)
    assert record.getMessage().startswith("Forbidden")


def test_a_fault_keeps_its_trace() -> None:
    fault = logging.LogRecord("django.request", logging.ERROR, "", 0, "fault", (), (ValueError, ValueError("x"), None))
    fault.status_code = 500
    assert RefusalsInOneLine().filter(fault)
    assert fault.exc_info is not None


def test_the_log_of_the_portal_is_filtered(settings: Any) -> None:
    assert "refusals" in settings.LOGGING["handlers"]["console"]["filters"]


def test_a_command_whose_reader_is_gone_ends_without_a_word(tmp_path: Path) -> None:
    """Like `manage.py help_of_some_length | head -0`: nothing is read, and the pipe is closed at once."""
    environment = {**os.environ, "PORTAL_DATA_DIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "manage.py", "verify_export", str(tmp_path), "--json"]
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, env=environment, cwd=ROOT, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, b"")
