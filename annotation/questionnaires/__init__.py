"""The questionnaires that exist: the YAML files of this folder and of folders that a deployment registers.

A file is named after its questionnaire (`cmas.yaml`); an older version that labels still refer to is kept under the
questionnaire's name, a hyphen and a version (`cmas-1.0.yaml`). What counts is the version inside.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import monotonic

from annotation.domain.notices import Notice, Severity
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.questionnaire_file import QuestionnaireError, load_questionnaire
from annotation.domain.yaml_tree import MAX_BYTES

__all__ = ["UnknownQuestionnaire", "available", "get_questionnaire", "read_questionnaire", "register_folder"]

_HERE = Path(__file__).parent


class UnknownQuestionnaire(LookupError):
    """No file has this questionnaire, or this version of it; the message names what exists."""


@dataclass(slots=True)
class _Shelf:
    """The folders that are searched, later ones first, and the files read so far by path and time of change."""

    folders: list[Path] = field(default_factory=lambda: [_HERE])
    read: dict[tuple[Path, int, int], Questionnaire] = field(default_factory=dict)
    found: dict[tuple[tuple[Path, ...], str, str | None], tuple[float, Questionnaire]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


_SHELF = _Shelf()
LOOK_SECONDS = 1.0


def register_folder(path: str | Path) -> None:
    """Also search this folder. Its questionnaires take precedence over those of the same name elsewhere."""
    folder = Path(path).resolve()
    if not folder.is_dir():
        raise NotADirectoryError(f"The questionnaire folder {folder} does not exist.")
    with _SHELF.lock:
        if folder not in _SHELF.folders:
            _SHELF.folders.append(folder)


def available() -> dict[str, Path]:
    """The current file of every questionnaire, by name in alphabetical order. Files of old versions are not listed."""
    found = {path.stem: path for folder in _SHELF.folders for path in folder.glob("*.yaml")}
    return {name: found[name] for name in sorted(found) if not _is_version(name, found)}


def get_questionnaire(name: str, version: str | None = None) -> Questionnaire:
    """The questionnaire of this name: its current version, or the one that is asked for.

    Raises `UnknownQuestionnaire` when there is none, and `QuestionnaireError` when its file is faulty. The folders are
    looked through at most once a second.
    """
    now, key = monotonic(), (tuple(_SHELF.folders), name, version)
    until, known = _SHELF.found.get(key, (0.0, None))
    if known is None or now >= until:
        known = _find(name, version)
        _SHELF.found[key] = (now + LOOK_SECONDS, known)
    return known


def _find(name: str, version: str | None) -> Questionnaire:
    files = available()
    if name not in files:
        known = ", ".join(files) or "none"
        raise UnknownQuestionnaire(f"There is no questionnaire “{name}”; there is {known}.")
    current = read_questionnaire(files[name])
    if current.name != name:
        raise _faulty(files[name], f"The file says `name: {current.name}`; name the file {current.name}.yaml.", "name")
    if version is None or current.version == version:
        return current
    return _other_version(name, version, current.version)


def _other_version(name: str, version: str, current: str) -> Questionnaire:
    """A version that is not the current one. A faulty file beside it matters only if no other file has the version."""
    versions = [current]
    fault: QuestionnaireError | None = None
    for path in _files_of(name):
        try:
            other = read_questionnaire(path)
        except QuestionnaireError as error:
            fault = fault or error
            continue
        if other.name == name and other.version == version:
            return other
        if other.name == name and other.version not in versions:
            versions.append(other.version)
    if fault:
        raise fault
    raise UnknownQuestionnaire(
        f"There is no version {version} of the questionnaire “{name}”; there is {', '.join(versions)}."
    )


def read_questionnaire(path: Path) -> Questionnaire:
    """The questionnaire in one file, read again only when the file has changed. Raises `QuestionnaireError`."""
    try:
        status = path.stat()
        key = (path, status.st_mtime_ns, status.st_size)
        if key in _SHELF.read:
            return _SHELF.read[key]
        with path.open("rb") as stream:
            text = stream.read(MAX_BYTES + 1).decode("utf-8")
    except UnicodeDecodeError as error:
        raise _faulty(path, "The file is not UTF-8 text; save it as UTF-8.") from error
    except OSError as error:
        raise _faulty(path, f"The file can't be read: {error.strerror}.") from error
    questionnaire = load_questionnaire(text, file=path.name)
    with _SHELF.lock:
        _SHELF.read[key] = questionnaire
    return questionnaire


def _faulty(path: Path, message: str, key: str = "") -> QuestionnaireError:
    return QuestionnaireError([Notice(Severity.ERROR, path.name, 0, message, key=key)])


def _is_version(stem: str, stems: Collection[str]) -> bool:
    """Whether a file holds another version of a questionnaire that exists: `cmas-1.0` where there is `cmas`."""
    parts = stem.split("-")
    return any(
        "-".join(parts[:count]) in stems and re.match(r"v?[0-9]", parts[count]) is not None
        for count in range(1, len(parts))
    )


def _files_of(name: str) -> list[Path]:
    """Every file that may hold a version of a questionnaire; those of folders registered last come first."""
    return [
        path
        for folder in reversed(_SHELF.folders)
        for path in sorted(folder.glob("*.yaml"))
        if path.stem == name or _is_version(path.stem, (name,))
    ]
