"""Building vocabularies and opening them. What lies in the folders is the truth; whatever else is kept of a build
mirrors it.
"""

from __future__ import annotations

import resource
import shutil
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from annotation.services.errors import Refused
from umls_linker.domain import normalise
from umls_linker.domain.vocabulary import Faults
from umls_linker.index.builder import Built, Progress, build, unheard
from umls_linker.index.folders import (
    NAME,
    BuildRuns,
    clear_leftovers,
    current_build,
    locked,
    names,
    new_build,
    put_into_use,
)
from umls_linker.index.manifest import Manifest, UnusableVocabulary, read_manifest, write_manifest
from umls_linker.index.reader import VocabularyIndex
from umls_linker.index.sources import Source

DEFAULT = "embedded"

_open: dict[Path, VocabularyIndex] = {}
_lock = threading.Lock()


def vocabularies_root() -> Path:
    return Path(settings.DATA_DIR) / "vocabularies"


def vocabulary_build(*, source: Source, name: str, progress: Progress = unheard, root: Path | None = None) -> Manifest:
    """Build the vocabulary beside the one in use, then let it take that one's place. Nothing is replaced by half a
    build.

    Raises Refused for a bad name, while another process builds the same vocabulary, and when the source has nothing
    to offer.
    """
    if not NAME.fullmatch(name):
        raise Refused("A vocabulary's name has up to 50 small letters, digits and hyphens.", field="name")
    begun = time.monotonic()
    try:
        with locked(root or vocabularies_root(), name) as home:
            clear_leftovers(home)
            folder = new_build(home)
            try:
                faults = Faults()
                built = build(
                    source.atoms(faults), folder, faults=faults, wanted_types=source.wanted_types, progress=progress
                )
                if not built.counts.concepts:
                    raise Refused(f"{source.description}: it has no concept that was asked for, so nothing was built.")
                manifest = _manifest(source, name, built, faults, time.monotonic() - begun)
                write_manifest(folder, manifest)
                progress("Putting it into use", built.counts.terms)
                put_into_use(folder)
                clear_leftovers(home)
            finally:
                shutil.rmtree(folder, ignore_errors=True)  # it has another name by now, unless something went wrong
    except BuildRuns as error:
        raise Refused(str(error), field="name") from error
    return manifest


def _manifest(source: Source, name: str, built: Built, faults: Faults, seconds: float) -> Manifest:
    return Manifest(
        name=name,
        version=source.version,
        source=source.description,
        licences=source.licences,
        built_at=datetime.now(UTC).isoformat(timespec="seconds"),
        digest=built.digest,
        counts=built.counts,
        seconds=round(seconds, 1),
        peak_mb=peak_mb(),
        fault_counts=dict(faults.counts),
        faults=tuple(str(fault) for fault in faults.listed),
        semantic_types=built.types,
        sources=built.sources,
        options=source.options,
        keys_version=normalise.VERSION,
    )


def peak_mb() -> float:
    """The most memory that this process and the largest of those it started have held, together, in MB."""
    peak = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)  # kB; bytes on macOS


def vocabulary_open(name: str = DEFAULT, *, root: Path | None = None) -> VocabularyIndex:
    """The vocabulary's build in use, kept open in this process until another build takes its place.

    Raises Refused when there is none, or when its word keys are those of another release.
    """
    home = root or vocabularies_root()
    try:
        folder = current_build(home, name)
        index = _open.get(folder)
        if index is None:
            index = _opened(folder)
    except UnusableVocabulary as error:
        raise Refused(str(error), field="vocabulary") from error
    return index


def _opened(folder: Path) -> VocabularyIndex:
    with _lock:
        index = _open.get(folder) or VocabularyIndex.open(folder)
        if index.manifest.keys_version != normalise.VERSION:
            raise UnusableVocabulary(f"The vocabulary “{index.manifest.name}” is of another release; build it anew.")
        for stale in [path for path in _open if path.parent == folder.parent]:
            del _open[stale]
        _open[folder] = index
        return index


def vocabulary_names(*, root: Path | None = None) -> list[str]:
    """All vocabularies that can be opened, by name."""
    return names(root or vocabularies_root())


def vocabulary_manifest(name: str = DEFAULT, *, root: Path | None = None) -> Manifest:
    """What the build in use says of itself. Raises Refused when there is none."""
    try:
        return read_manifest(current_build(root or vocabularies_root(), name))
    except UnusableVocabulary as error:
        raise Refused(str(error), field="vocabulary") from error
