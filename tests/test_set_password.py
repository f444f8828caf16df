"""The command by which somebody at the machine gives an account a new password."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import User
from tests import factory

pytestmark = pytest.mark.django_db


def test_a_generated_password_works_and_must_be_changed() -> None:
    factory.make_user("alice")
    out = StringIO()
    call_command("set_password", "alice", "--json", stdout=out)
    result = json.loads(out.getvalue().splitlines()[-1])
    alice = User.objects.get(username="alice")
    assert result["user"] == "alice"
    assert alice.check_password(result["password"])
    assert alice.must_change_password


def test_a_chosen_password_stays_and_is_not_printed() -> None:
    factory.make_user("alice", must_change_password=True)
    out = StringIO()
    call_command("set_password", "alice", "--password", "violet harbour 7", stdout=out)
    alice = User.objects.get(username="alice")
    assert alice.check_password("violet harbour 7")
    assert not alice.must_change_password
    assert "violet" not in out.getvalue()


def test_a_password_that_is_too_easy_is_refused() -> None:
    alice = factory.make_user("alice")
    with pytest.raises(CommandError, match="too short"):
        call_command("set_password", "alice", "--password", "short")
    alice.refresh_from_db()
    assert alice.check_password(factory.PASSWORD)


def test_an_unknown_account_is_named() -> None:
    with pytest.raises(CommandError, match="There is no user “nobody”"):
        call_command("set_password", "nobody")
