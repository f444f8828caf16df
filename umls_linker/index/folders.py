"""Where vocabularies lie, and how a new build takes the place of an old one.

    ROOT/NAME/current        {"build": …}: the build in use; replaced in one step
    ROOT/NAME/BUILD/         one finished build; it never changes
    ROOT/NAME/building-…/    a build at work, or what a crash has left of one
    ROOT/NAME/lock           held by the process that builds

Readers take no lock. The build before the current one stays, because somebody may still be reading it; what is older
goes, and leftovers of crashes go when the next build begins.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from umls_linker.index.manifest import UnusableVocabulary
from umls_linker.index.storage import sync_folder, write_durably

CURRENT, LOCK, BUILDING = "current", "lock", "building-"
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,49}")


class BuildRuns(Exception):
    """Another process builds this vocabulary right now."""


def current_build(root: Path, name: str) -> Path:
    """The folder of the build in use. Raises UnusableVocabulary when there is none."""
    try:
        pointer = json.loads((root / name / CURRENT).read_text(encoding="utf-8"))
        return root / name / str(pointer["build"])
    except FileNotFoundError:
        raise UnusableVocabulary(f"There is no vocabulary “{name}”; build it with build_vocabulary.") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnusableVocabulary(
            f"What says which build of “{name}” is in use cannot be read; build it anew."
        ) from error


def names(root: Path) -> list[str]:
    """All vocabularies that have a build in use."""
    return sorted(path.parent.name for path in root.glob(f"*/{CURRENT}"))


@contextmanager
def locked(root: Path, name: str) -> Iterator[Path]:
    """The vocabulary's folder, for this process alone to build in. Raises BuildRuns. A crash frees it."""
    home = root / name
    home.mkdir(parents=True, exist_ok=True)
    with (home / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BuildRuns(f"The vocabulary “{name}” is being built already.") from None
        yield home


def clear_leftovers(home: Path) -> list[str]:
    """Remove what crashes left, and all builds but the current one and the one before. Returns what went."""
    builds = sorted(path.name for path in home.iterdir() if path.is_dir() and not path.name.startswith(BUILDING))
    current = ""
    with suppress(UnusableVocabulary):
        current = current_build(home.parent, home.name).name
    before = [build for build in builds if build < current][-1:]
    # A build that was finished but never came into use: the crash fell between the two.
    unwanted = [build for build in builds if build != current and build not in before]
    unwanted += [path.name for path in home.iterdir() if path.name.startswith(BUILDING)]
    for name in unwanted:
        shutil.rmtree(home / name)
    return unwanted


def new_build(home: Path) -> Path:
    """An empty folder to build in. Its name sorts after those of all builds before."""
    folder = home / f"{BUILDING}{time.time_ns():020}-{os.getpid()}"
    folder.mkdir()
    return folder


def put_into_use(folder: Path) -> Path:
    """Make a finished build the current one. Its new place is returned."""
    for path in sorted(folder.rglob("*")):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    place = folder.with_name(folder.name.removeprefix(BUILDING).partition("-")[0])
    folder.rename(place)
    sync_folder(place.parent)
    write_durably(place.parent / CURRENT, json.dumps({"build": place.name}))
    return place
