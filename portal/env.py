"""Small readers for environment variables, so that settings stay a list of facts."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path


def text(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool = False) -> bool:
    value = os.environ.get(name, "").strip().lower()
    return default if not value else value in {"1", "true", "yes", "on"}


def number(name: str, default: int) -> int:
    value = os.environ.get(name, "").strip()
    try:
        return int(value) if value else default
    except ValueError:
        raise SystemExit(f"{name} must be a whole number, not {value!r}.") from None


def words(name: str, default: list[str]) -> list[str]:
    value = os.environ.get(name, "").strip()
    return [part.strip() for part in value.split(",") if part.strip()] if value else default


def is_command(*names: str) -> bool:
    """Whether this process is `manage.py` with one of these commands."""
    return Path(sys.argv[0]).name == "manage.py" and sys.argv[1:2] != [] and sys.argv[1] in names


def passing_secret() -> str:
    """A secret for a process that signs nothing."""
    return secrets.token_urlsafe(50)


def secret(name: str, file: Path) -> str:
    """The secret in the environment, or the one kept in `file`, made there (mode 0600) at the first start."""
    value = os.environ.get(name, "").strip()
    if value:
        return value
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return file.read_text(encoding="utf-8").strip()
    value = secrets.token_urlsafe(50)
    with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
        handle.write(value)
    return value
