"""Slowing down whoever guesses passwords.

The counts are kept in Django's default cache, which by default is the memory of one process: with several server
processes an attacker has as many tries in each of them, which still leaves guessing hopeless.
"""

from __future__ import annotations

import hashlib

from django.core.cache import cache

MAX_FAILURES = 10
WINDOW_SECONDS = 10 * 60


def sign_in_blocked(*, username: str, address: str) -> bool:
    """Whether this name was tried too often from this address within the last minutes."""
    failures: int = cache.get(_key(username, address), 0)
    return failures >= MAX_FAILURES


def sign_in_failed(*, username: str, address: str) -> None:
    """Count one failure; the window begins with the first."""
    key = _key(username, address)
    if not cache.add(key, 1, WINDOW_SECONDS):
        try:
            cache.incr(key)
        except ValueError:  # it ran out between the two calls
            cache.set(key, 1, WINDOW_SECONDS)


def sign_in_succeeded(*, username: str, address: str) -> None:
    """Forget the failures before."""
    cache.delete(_key(username, address))


def _key(username: str, address: str) -> str:
    name = username.strip().lower()
    return "sign-in:" + hashlib.sha256(f"{name}\n{address}".encode()).hexdigest()
