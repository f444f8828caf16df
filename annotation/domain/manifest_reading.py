"""A manifest read back, every field of the type that it has to be: what comes out can be relied on.

Whether it says the truth is not asked here, but by `export_verification`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, TypeVar

from annotation.domain.concepts import Outcome
from annotation.domain.export_concepts import CANONICAL, WRITTEN
from annotation.domain.export_formats import Format
from annotation.domain.manifest import FORM, KINDS, BadManifest, Contributor, Counts, FileEntry, LeftOut, Manifest, Part
from annotation.domain.splits import DRAWN, BadShares, Shares, Split
from annotation.domain.strict_json import BadJson, read_json
from annotation.domain.typed_reading import Given, Misread

T = TypeVar("T")

PSEUDONYM = "annotator-[0-9a-f]{10}"
_SHA256 = "[0-9a-f]{64}"
_TIME = "%Y-%m-%dT%H:%M:%SZ"


def read_manifest(data: bytes) -> Manifest:
    """Raises BadManifest for something else, a later form, and a field of another type."""
    try:
        return _manifest(read_json(data))
    except (BadJson, Misread) as error:
        raise BadManifest(str(error)) from None


def shares_of(splits: Given) -> Shares:
    """Raises Misread."""
    shares = splits.fields(*(one.value for one in DRAWN))
    for one in shares.values():
        if isinstance(one.value, bool) or not isinstance(one.value, str | int | float):
            raise one.misread("is no share")
    try:
        return Shares.from_json(splits.value)
    except BadShares as error:
        raise splits.misread(f"is none: {str(error).removesuffix('.')}") from None


def _manifest(found: Any) -> Manifest:
    if not isinstance(found, dict) or found.get("form") != FORM:
        raise BadManifest(f"It is no manifest of the form “{FORM}”.")
    given = Given(found).fields("form", *(one.name for one in fields(Manifest)))
    source = given["source"].one_of(KINDS)
    parts = _distinct([_part(one, source) for one in given["parts"].items()], "folder", given["parts"])
    if not parts:
        raise given["parts"].misread("is empty")
    folders = [one.folder for one in parts]
    return Manifest(
        title=given["title"].text(),
        licence=given["licence"].text(),
        citation=given["citation"].text(),
        source=source,
        only_finished=given["only_finished"].truth(),
        formats=_formats(given["formats"]),
        software=_texts(given["software"], "name", "version"),
        questionnaire=_texts(given["questionnaire"], "name", "version"),
        values=given["values"].one_of((CANONICAL, WRITTEN)),
        vocabulary=_vocabulary(given["vocabulary"]),
        newest_label=_time(given["newest_label"]),
        splits=_splits(given["splits"]),
        parts=parts,
        annotators=_distinct(
            [_contributor(one) for one in given["annotators"].items()], "pseudonym", given["annotators"]
        ),
        agreement=_plain_object(given["agreement"]),
        left_out=[_left_out(one, folders) for one in given["left_out"].items()],
        files=_distinct([_file(one) for one in given["files"].items()], "path", given["files"]),
    )


def _part(given: Given, source: str) -> Part:
    found = given.fields("folder", "counts", "concepts")
    counts = found["counts"].fields(*(one.name for one in fields(Counts)))
    concepts = found["concepts"].fields("concepts", "proposed", "values", "occurrences")
    for name, one in counts.items():
        if name.endswith("_by_split"):
            _numbers(one, [split.value for split in Split])
        else:
            one.whole()
    for name, one in concepts.items():
        if name in ("values", "occurrences"):
            one.fields(*(outcome.value for outcome in Outcome))
            _numbers(one, [outcome.value for outcome in Outcome])
        else:
            one.whole()
    folder = found["folder"].text(PSEUDONYM if source == "all" else "")
    if source != "all" and folder:
        raise found["folder"].misread(f"names a folder, which the source “{source}” does not have")
    return Part(folder, found["counts"].value, found["concepts"].value)


def _splits(given: Given) -> dict[str, Any]:
    names = [split.value for split in Split]
    try:
        found = given.fields("random_seed", "shares", "in_domain", "seeds_are_test", "dialogues", optional=["fixed"])
        found["random_seed"].whole(least=None)
        shares_of(found["shares"])
        found["seeds_are_test"].truth()
    except Misread as error:
        raise BadManifest(f"It does not say how the splits were drawn: {error}") from None
    _all_text(found["in_domain"])
    if "fixed" in found:
        _all_text(found["fixed"])
    found["dialogues"].fields(*names)
    _numbers(found["dialogues"], names)
    return dict(given.value)


def _formats(given: Given) -> list[str]:
    names = [one.one_of([known.value for known in Format]) for one in given.items()]
    if Format.DIALOGS not in names or len(set(names)) < len(names):
        raise given.misread("has a format twice, or not “dialogs”, which is part of every export")
    return names


def _vocabulary(given: Given) -> list[dict[str, str]] | None:
    if given.value is None:
        return None
    found = [_texts(one, "name", "version", "attribution") for one in given.items()]
    if not found:
        raise given.misread("is an empty list; where there is none it is null")
    return found


def _time(given: Given) -> str | None:
    if given.value is None:
        return None
    try:
        datetime.strptime(given.text(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), _TIME)
    except ValueError as error:
        raise error if isinstance(error, Misread) else given.misread("is no time") from None
    return str(given.value)


def _contributor(given: Given) -> Contributor:
    found = given.fields("pseudonym", "dialogues")
    return Contributor(found["pseudonym"].text(PSEUDONYM), found["dialogues"].whole())


def _left_out(given: Given, folders: Sequence[str]) -> LeftOut:
    found = given.fields("dialogue", "folder", "split", "reason")
    if found["folder"].text() not in folders:
        raise found["folder"].misread("is the folder of no part")
    split = found["split"].one_of([one.value for one in Split])
    return LeftOut(found["dialogue"].text(), found["folder"].text(), split, found["reason"].text())


def _file(given: Given) -> FileEntry:
    found = given.fields("path", "bytes", "sha256")
    path = found["path"].text()
    if not _is_path(path):
        raise found["path"].misread(f"is “{path[:80]}”, which is no file below the export")
    return FileEntry(path, found["bytes"].whole(), found["sha256"].text(_SHA256))


def _is_path(path: str) -> bool:
    """Relative, with slashes, and nowhere up."""
    steps = path.split("/")
    return "\\" not in path and all(one not in ("", ".", "..") for one in steps)


def _plain_object(given: Given) -> dict[str, Any] | None:
    return None if given.value is None else {key: one.value for key, one in given.entries().items()}


def _texts(given: Given, *names: str) -> dict[str, str]:
    return {name: one.text() for name, one in given.fields(*names).items()}


def _all_text(given: Given) -> None:
    for one in given.items():
        one.text()


def _numbers(given: Given, known: Sequence[str]) -> None:
    for name, one in given.entries().items():
        if name not in known:
            raise one.misread(f"is none of {', '.join(known)}")
        one.whole()


def _distinct(found: list[T], name: str, given: Given) -> list[T]:
    """The list, in which no two have the same under `name`. Raises Misread."""
    twice = [key for key, times in Counter(getattr(one, name) for one in found).items() if times > 1]
    if twice:
        raise given.misread(f"has “{twice[0][:80]}” twice")
    return found
