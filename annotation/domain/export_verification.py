"""An export recomputed from its files alone: nothing of the portal is asked but, for portal files, the questionnaire.

Recomputed are the bytes' sums, the ids and the draw of the splits, every patient state, the counts, and every file that
follows from `dialogs.json`: the same writers run again, and the first line that differs is named. What the files do not
hold the grounds of is the manifest's word alone, and `notes` say so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from annotation.domain import export_dialogs
from annotation.domain.export_files import ExportFiles, sha256_of
from annotation.domain.export_findings import Finding, Verification
from annotation.domain.export_formats import Format
from annotation.domain.export_part_check import Export, PartCheck, paths_of
from annotation.domain.manifest import PATH, BadManifest, Manifest
from annotation.domain.manifest_reading import read_manifest
from annotation.domain.numbers import counted
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.splits import Shares, Split, drawn

__all__ = ["Finding", "Verification", "sha256_of", "stated_questionnaire", "verify_export"]


def stated_questionnaire(folder: Path) -> tuple[str, str]:
    """(name, version) of the questionnaire that the export's labels answer; empty where it does not say."""
    data = ExportFiles(folder).read(PATH)
    try:
        stated = read_manifest(data or b"").questionnaire
    except BadManifest:
        return "", ""
    return stated["name"], stated["version"]


def verify_export(folder: Path, *, questionnaire: Questionnaire | None = None) -> Verification:
    """Everything that differs in the export below `folder`. Without `questionnaire` portal files are only summed up."""
    found = Verification()
    files = ExportFiles(folder)
    data = files.read(PATH)
    if data is None:
        what = f"It is {files.odd[PATH]}" if PATH in files.odd else "It is missing"
        found.say(PATH, f"{what}, so that there is nothing to compare with.")
        return found
    try:
        manifest = read_manifest(data)
    except BadManifest as error:
        found.say(PATH, str(error))
        return found
    export = Export(files, manifest, {one.path for one in manifest.files}, found)
    _check_files(export)
    export = replace(export, splits=_read_splits(export))
    for path in sorted({*export.listed} - paths_of(manifest, export.splits)):
        found.say(path, "The manifest lists it, but its formats have no such file.")
    _check_draw(export)
    _check_parts(export, questionnaire)
    found.notes.extend(_not_recomputed(manifest, questionnaire))
    return found


def _not_recomputed(manifest: Manifest, questionnaire: Questionnaire | None) -> Iterator[str]:
    if Format.PORTAL not in manifest.formats:
        yield (
            "The values in medical_values.csv were not compared with the labels: the export has no portal files, which "
            "hold the values as they were written. Nor were specialties, which stand there too."
        )
    elif questionnaire is None:
        name, version = manifest.questionnaire["name"], manifest.questionnaire["version"]
        yield f"The portal files were not read: the questionnaire {name} {version} is not here."
    if manifest.agreement is not None:
        yield (
            "The agreement figures were not recomputed: they compare labels of several annotators, which an export "
            "does not hold side by side."
        )
    if kept := manifest.splits.get("fixed"):
        yield f"{counted(len(kept), 'dialogue')} kept the split of an earlier dataset: that is what the manifest says."
    yield (
        "Whose labels these are, whether all of them are finished, when the newest was made, which dialogues could not "
        "be written, by which software all was, and title, licence and citation are what the manifest says; no file "
        "tells it."
    )


def _check_files(export: Export) -> None:
    """The bytes of every file that the manifest lists, and whatever else lies there."""
    files, found = export.files, export.found
    for entry in export.manifest.files:
        if entry.path in files.odd:
            continue
        if entry.path not in files.plain:
            found.say(entry.path, "The manifest lists it, but it is not there.")
            continue
        found.files += 1
        size, digest = files.sum_of(entry.path)
        if size != entry.bytes:
            found.say(entry.path, f"It has {size:,} bytes, but had {entry.bytes:,} when it was exported.")
        elif digest != entry.sha256:
            found.say(entry.path, "Its bytes were changed after the export: its SHA-256 is another.")
    for path in sorted(files.plain - {PATH, *export.listed}):
        found.say(path, "It does not belong to the export: the manifest does not list it.")
    for path, what in files.odd.items():
        found.say(path, f"It is {what}; an export has none.")
    holding = {path[:place] for path in export.listed for place, sign in enumerate(path) if sign == "/"}
    for path in files.folders:
        if path not in holding:
            found.say(path, "This folder does not belong to the export: no file that the manifest lists is in it.")


def _read_splits(export: Export) -> dict[str, Split]:
    splits: dict[str, Split] = {}
    for split in Split:
        path = export_dialogs.ids_path(split)
        ids = export.json(path)
        if ids is None and path not in export.files.plain:
            continue
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
            export.found.say(path, "It is no list of dialogue ids.")
            continue
        for one in ids:
            if one in splits:
                export.found.say(path, f"It is also in {export_dialogs.ids_path(splits[one])}.", one)
            splits[one] = split
    return splits


def _check_draw(export: Export) -> None:
    """Draw again with the stated seed and shares; what could not be written was drawn too."""
    stated, found = export.manifest.splits, export.found
    counts = Counter(export.splits.values())
    for split in Split:
        if stated["dialogues"][split] != counts[split]:
            path = export_dialogs.ids_path(split)
            found.say(path, f"It has {counts[split]}, but the manifest says {stated['dialogues'][split]}.")
    whole = {**export.splits, **{one.dialogue: Split(one.split) for one in export.manifest.left_out}}
    seed, seeds = stated["random_seed"], stated["seeds_are_test"]
    kept = _kept_splits(stated.get("fixed", ()), whole, found)
    fixed = {Split.OOD_TEST, *([Split.TEST] if seeds else [])}
    rest = [one for one, split in whole.items() if split not in fixed and one not in kept]
    known = seeds or Split.TEST in kept.values()
    draw = drawn(rest, random_seed=seed, shares=Shares.from_json(stated["shares"]), test=not known)
    for one, split in draw.items():
        if whole[one] is not split:
            path = export_dialogs.ids_path(whole[one])
            found.say(path, f"With the random seed {seed} it belongs into {export_dialogs.ids_path(split)}.", one)


def _kept_splits(ids: Iterable[str], whole: Mapping[str, Split], found: Verification) -> Mapping[str, Split]:
    """The dialogues that kept the split they came with: the manifest's word, as an export does not hold the earlier."""
    for one in ids:
        if one not in whole:
            found.say(PATH, "It is said to have kept its split, but is in none of the lists of ids.", one)
    return {one: whole[one] for one in ids if one in whole}


def _check_parts(export: Export, questionnaire: Questionnaire | None) -> None:
    """Each reading of the dialogues, and what all of them have in common."""
    found = export.found
    seen: dict[str, None] = {}
    used: set[tuple[str, str]] = set()
    for part in export.manifest.parts:
        check = PartCheck(export, part)
        seen |= dict.fromkeys(check.check(questionnaire))
        used |= check.counts.vocabularies()
    for one in sorted(export.splits.keys() - seen.keys()):
        found.say(export_dialogs.ids_path(export.splits[one]), "It is listed, but in no dialogs.json.", one)
    stated = {(one["name"], one["version"]) for one in export.manifest.vocabulary or ()}
    for name, version in sorted(used - stated):
        found.say(PATH, f"It does not name the vocabulary {name} {version}, under which was decided.")
    for name, version in sorted(stated - used):
        found.say(PATH, f"It names the vocabulary {name} {version}, under which nothing here was decided.")
