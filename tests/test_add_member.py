"""`add_member`: people and roles from the shell."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Project, User
from tests.conftest import People


def run(*arguments: str) -> dict[str, object]:
    out = StringIO()
    call_command("add_member", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue().splitlines()[-1])


def test_a_new_person_gets_an_account_and_a_password_for_once(project: Project):
    done = run("--project", project.name, "nora")
    nora = User.objects.get(username="nora")
    assert nora.check_password(str(done["password"]))
    assert nora.must_change_password
    assert done["roles"] == ["annotator"]


def test_somebody_known_gets_further_roles_and_keeps_their_password(project: Project, people: People):
    done = run("--project", project.slug, "alice", "--role", "doctor", "--role", "supervisor")
    assert done["roles"] == ["annotator", "doctor", "supervisor"]
    assert done["password"] is None


@pytest.mark.django_db
def test_an_unknown_project_is_refused_and_no_account_is_made():
    with pytest.raises((CommandError, SystemExit)):
        run("--project", "nowhere", "nora")
    assert not User.objects.exists()
