"""Slowing down whoever guesses passwords."""

from __future__ import annotations

import pytest
from django.core.cache import cache

from annotation.services.sign_in import MAX_FAILURES, sign_in_blocked, sign_in_failed, sign_in_succeeded


@pytest.fixture(autouse=True)
def _empty_cache():
    cache.clear()
    yield
    cache.clear()


def fail(times: int, username: str = "alice", address: str = "10.0.0.1") -> None:
    for _ in range(times):
        sign_in_failed(username=username, address=address)


def test_the_tenth_failure_blocks():
    fail(MAX_FAILURES - 1)
    assert not sign_in_blocked(username="alice", address="10.0.0.1")
    fail(1)
    assert sign_in_blocked(username="alice", address="10.0.0.1")


def test_case_and_spaces_make_no_other_name():
    fail(MAX_FAILURES, username=" Alice")
    assert sign_in_blocked(username="alice", address="10.0.0.1")


def test_other_names_and_addresses_are_not_blocked():
    fail(MAX_FAILURES)
    assert not sign_in_blocked(username="bob", address="10.0.0.1")
    assert not sign_in_blocked(username="alice", address="10.0.0.2")


def test_a_success_forgets_the_failures_before():
    fail(MAX_FAILURES)
    sign_in_succeeded(username="alice", address="10.0.0.1")
    assert not sign_in_blocked(username="alice", address="10.0.0.1")


def test_the_block_ends_with_its_window(monkeypatch):
    monkeypatch.setattr("annotation.services.sign_in.WINDOW_SECONDS", 0.05)
    fail(MAX_FAILURES)
    import time

    time.sleep(0.1)
    assert not sign_in_blocked(username="alice", address="10.0.0.1")
