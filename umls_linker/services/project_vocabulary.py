"""Which vocabulary a project uses, and its index on this machine."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import Lock

from django.conf import settings
from django.utils import timezone

from annotation.models import Project
from umls_linker.domain import normalise, rank
from umls_linker.index.folders import CURRENT, current_build, names
from umls_linker.index.manifest import FILE, Manifest, UnusableVocabulary, read_manifest
from umls_linker.index.reader import VocabularyIndex
from umls_linker.models import ProjectVocabulary, Vocabulary
from umls_linker.services.vocabularies import vocabularies_root

KEPT_OPEN = 4

Pointer = tuple[int, int]  # when the file was written, and which file it is

_registered_at: dict[Path, Pointer] = {}
_open: OrderedDict[str, VocabularyIndex] = OrderedDict()
_lock = Lock()


def vocabulary_of(project: Project) -> Vocabulary | None:
    """The build that was chosen for the project, else the newest one of the portal's vocabulary; None without any."""
    chosen = ProjectVocabulary.objects.filter(project=project).select_related("vocabulary").first()
    if chosen is not None:
        return chosen.vocabulary
    _register_new_build(vocabularies_root() / settings.PORTAL_VOCABULARY / CURRENT)
    return Vocabulary.objects.filter(name=settings.PORTAL_VOCABULARY).order_by("-built_at", "-pk").first()


def _register_new_build(pointer: Path) -> None:
    """See to the row of a build that another process has put into use since this one last looked."""
    try:
        found = pointer.stat()
    except OSError:
        return
    seen = found.st_mtime_ns, found.st_ino
    if _registered_at.get(pointer) != seen:
        vocabularies_register()
        _registered_at[pointer] = seen


def index_of(vocabulary: Vocabulary) -> VocabularyIndex | None:
    """The index of this very build, kept open by the process; None when its folder is not there any more, or not whole.

    What is looked up raises UnusableVocabulary where a part of an open one has gone.
    """
    with _lock:
        index = _open.get(vocabulary.digest)
        if index is not None and not (index.folder / FILE).is_file():
            index = None
            del _open[vocabulary.digest]
        if index is None:
            index = _opened(vocabulary)
            if index is None:
                return None
            _open[vocabulary.digest] = index
        _open.move_to_end(vocabulary.digest)
        while len(_open) > KEPT_OPEN:
            _open.popitem(last=False)
        return index


def candidates_stamp(project: Project) -> str:
    """What the candidates of a project's forms come from, as `SurfaceForm.linked_with` names it; "" without any."""
    vocabulary = vocabulary_of(project)
    return stamp_of(vocabulary) if vocabulary else ""


def stamp_of(vocabulary: Vocabulary) -> str:
    return f"{vocabulary.name[:60]} {vocabulary.digest[:16]} ranking {rank.VERSION}"


def vocabularies_register() -> list[Vocabulary]:
    """A row for every vocabulary that is built on this machine, as its folder says. Again, it changes nothing."""
    found = []
    for name in names(vocabularies_root()):
        try:
            found.append(_registered(read_manifest(current_build(vocabularies_root(), name))))
        except UnusableVocabulary:
            continue  # the next build will say what is wrong with it
    return found


def _registered(manifest: Manifest) -> Vocabulary:
    built_at = datetime.fromisoformat(manifest.built_at) if manifest.built_at else timezone.now()
    values = {
        "version": manifest.version[:120],
        "source": manifest.source[:200],
        "licence": "\n\n".join(f"{one.part}: {one.text} {one.address}".strip() for one in manifest.licences),
        "attribution": manifest.attribution,
        "report": manifest.as_json(),
        "built_at": built_at,
    }
    key = {"name": manifest.name[:60], "digest": manifest.digest}
    row, created = Vocabulary.objects.get_or_create(**key, defaults=values)
    if not created and row.built_at != built_at:  # the same was built again, and is in use again
        for name, value in values.items():
            setattr(row, name, value)
        row.save(update_fields=list(values))
    return row


def _opened(vocabulary: Vocabulary) -> VocabularyIndex | None:
    """The build from its folder, which may be the one before the current one."""
    home = vocabularies_root() / vocabulary.name
    if not (home / CURRENT).exists():
        return None
    folders = sorted(home.glob("[0-9]*"), reverse=True)
    with suppress(UnusableVocabulary):
        folders.insert(0, current_build(vocabularies_root(), vocabulary.name))
    for folder in folders:
        with suppress(UnusableVocabulary):  # what remains of a deleted build, or a copy that was cut off
            manifest = read_manifest(folder)
            if manifest.digest == vocabulary.digest and manifest.keys_version == normalise.VERSION:
                return VocabularyIndex.open(folder)
    return None


def forget() -> None:
    """Know nothing, as a process that has just started."""
    _registered_at.clear()
    _open.clear()
