"""A folder that gold can be read back from: an export of this portal, or a dataset in MediTOD's released form.

An export has a manifest, and everything in it must be as the manifest says. Dialogues and labels are read from its
portal files, which say all of both. Where it has none, and in the released form (`dialogs.json`, with `train_ids.json`
and so on as far as they are there), they are read from `dialogs.json`, as far as its labels can be turned back. Nothing
is followed out of the folder, and nothing is read that is no plain file or too large.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.domain.dialogue_files import MAX_FILE_BYTES, read_dialogue_file
from annotation.domain.dialogues import ParsedDialogue
from annotation.domain.export_concepts import VALUES_PATH, BadValues, read_values
from annotation.domain.export_dialogs import PATH as DIALOGS_PATH
from annotation.domain.export_dialogs import ids_path
from annotation.domain.export_formats import Format
from annotation.domain.export_portal import dialogue_path, labels_path, listed_stem, stated_specialty
from annotation.domain.export_verification import verify_export
from annotation.domain.exported import ValueRow
from annotation.domain.file_names import file_stems
from annotation.domain.labels import Label
from annotation.domain.manifest import PATH as MANIFEST_PATH
from annotation.domain.manifest import BadManifest, Manifest
from annotation.domain.manifest_reading import read_manifest
from annotation.domain.notices import quoted
from annotation.domain.numbers import counted
from annotation.domain.portal_file import read_labels
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.released_labels import labels_of_released
from annotation.domain.splits import Split
from annotation.domain.strict_json import BadJson, printable, read_json

MAX_FILES = 100_000
MAX_FOLDERS = 1_000
MAX_BYTES = 4 * 2**30  # of all files
MAX_DATASET_BYTES = 512 * 2**20
MAX_MANIFEST_BYTES = 64 * 2**20
MAX_CONTAINERS = 8_000_000  # objects and lists in dialogs.json, most of which are states

Finder = Callable[[str, str], Questionnaire]  # the questionnaire of this name and version; raises LookupError


class BadSource(ValueError):
    """A folder that cannot be read back, in one sentence."""


@dataclass(frozen=True, slots=True)
class NotRead:
    """Something of a dialogue that does not come back, and why. `turn` is a `uttr_id`, None for the whole dialogue."""

    dialogue: str
    turn: int | None
    message: str

    def __str__(self) -> str:
        turn = "" if self.turn is None else f", turn {self.turn}"
        return f"dialogue {self.dialogue}{turn}: {self.message}"

    def as_json(self) -> dict[str, Any]:
        return {"dialogue": self.dialogue, "turn": self.turn, "message": self.message, "text": str(self)}


@dataclass(frozen=True, slots=True)
class SourceDialogue:
    """One dialogue with its labels, in the order in which they stand. `written` is its label list as the file has it,
    None where it comes from `dialogs.json`. `file` and `sha256` (hex) are those of the file that it was read from."""

    parsed: ParsedDialogue
    labels: tuple[Label, ...]
    split: Split | None
    file: str
    sha256: str
    written: Sequence[Mapping[str, Any]] | None = None
    not_read: tuple[NotRead, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """What a folder holds. `name` and `version` are those of the questionnaire, "" where nothing says it.

    `sha256` (hex) is that of the manifest, or of `dialogs.json` where there is none. `notes` say what does not come
    back, or is remarkable. `dataset` is `dialogs.json` where dialogues and labels are read from it, else None.
    `values` are the medical values by dialogue, with what was decided of them, where portal files have the labels.
    """

    folder: Path
    manifest: Manifest | None
    name: str
    version: str
    sha256: str
    splits: Mapping[str, Split]
    notes: tuple[str, ...]
    dataset: Mapping[str, Any] | None
    values: Mapping[str, Sequence[ValueRow]] = field(default_factory=dict)

    def dialogues(self, questionnaire: Questionnaire) -> Iterator[SourceDialogue]:
        """Each dialogue, one at a time, in the order of the ids. Raises BadSource for one that is none."""
        if self.dataset is None:
            stems = self._stems()
            for one in sorted(self.splits):
                yield _portal_dialogue(self.folder, questionnaire, one, stems[one], self.splits[one])
            return
        for one in sorted(self.dataset):
            yield _released_dialogue(questionnaire, one, self.dataset[one], self.splits.get(one.strip()), self.sha256)

    def _stems(self) -> dict[str, str]:
        """What the portal files of each dialogue are called; ids that look alike have names of their own."""
        if self.manifest is None:
            return {}
        today = file_stems([*self.splits, *(one.dialogue for one in self.manifest.left_out)])
        listed = {one.path for one in self.manifest.files}
        return {one: listed_stem(one, today[one], listed) for one in self.splits}


def read_source(folder: Path, find: Finder) -> Source:
    """Look at the folder and check everything that can be checked. Raises BadSource."""
    if not folder.is_dir():
        raise BadSource(f"{printable(str(folder))} is no folder; unpack the export first.")
    if os.path.lexists(folder / MANIFEST_PATH):
        return _export(folder, find)
    return _released(folder)


def _export(folder: Path, find: Finder) -> Source:
    _check_plain(folder)
    data = _read(folder, MANIFEST_PATH, MAX_MANIFEST_BYTES)
    try:
        manifest = read_manifest(data)
    except BadManifest as error:
        raise BadSource(f"{MANIFEST_PATH}: {error}") from None
    if manifest.source != "gold" or [part.folder for part in manifest.parts] != [""]:
        raise BadSource("This export holds labels of annotators, which are no gold; import_labels takes them back.")
    name, version = manifest.questionnaire["name"], manifest.questionnaire["version"]
    try:
        questionnaire = find(name, version)
    except LookupError as error:
        raise BadSource(str(error)) from None
    _check_size(folder)
    found = verify_export(folder, questionnaire=questionnaire)
    if found.findings:
        more = f" (and {len(found.findings) - 1} more; verify_export lists them)" if len(found.findings) > 1 else ""
        raise BadSource(f"The export is not as it was made. {found.findings[0]}{more}")
    splits = _read_splits(folder)
    whole = Format.PORTAL in manifest.formats
    dataset = None if whole else _read_dataset(folder)[0]
    values = _read_values(folder) if whole else {}
    notes = tuple(_notes_of_export(manifest, whole=whole))
    return Source(folder, manifest, name, version, hashlib.sha256(data).hexdigest(), splits, notes, dataset, values)


def _released(folder: Path) -> Source:
    if not os.path.lexists(folder / DIALOGS_PATH):
        raise BadSource(
            f"{printable(str(folder))} has neither {MANIFEST_PATH} nor {DIALOGS_PATH}; name the folder of an export."
        )
    dataset, sha256 = _read_dataset(folder)
    splits = _read_splits(folder)
    here = {one.strip() for one in dataset}
    notes = []
    if missing := sorted(splits.keys() - here):
        notes.append(f"{counted(len(missing), 'listed id')} (first {quoted(missing[0])}) without a dialogue here.")
    if splits and (drawn := sorted(here - splits.keys())):
        what = "is in no list of ids; its split is" if len(drawn) == 1 else "are in no list of ids; their splits are"
        notes.append(f"{counted(len(drawn), 'dialogue')} (first {quoted(drawn[0])}) {what} drawn.")
    if not splits:
        notes.append("There are no lists of ids, so that splits are drawn.")
    return Source(folder, None, "", "", sha256, splits, tuple(notes), dataset)


def _notes_of_export(manifest: Manifest, *, whole: bool) -> Iterator[str]:
    """What of an export does not come back."""
    occurrences = manifest.parts[0].concepts.get("occurrences", {})
    decided = sum(number for outcome, number in occurrences.items() if outcome != "open")
    if decided and not whole:
        yield (
            f"{counted(decided, 'medical value')} had a decision about a concept; without portal files decisions do "
            "not come back, so that these values have the wording of dialogs.json, and are open."
        )
    if not whole:
        yield (
            "The export has no portal files: the closing turns, the specialties and what dialogs.json has no place for "
            "do not come back."
        )
    if not manifest.only_finished:
        yield "The export took unfinished dialogues too; all are finished gold here."
    if manifest.left_out:
        first = manifest.left_out[0].dialogue
        yield f"{counted(len(manifest.left_out), 'dialogue')} (first {quoted(first)}) could not be exported then."


# --- files ---


def _check_plain(folder: Path) -> None:
    """Raises BadSource where anything below the folder is neither a plain file nor a folder, or there is too much."""
    files = size = 0
    waiting, folders = [folder], 1
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                mode = entry.stat(follow_symlinks=False)
                shown = quoted(os.path.relpath(entry.path, folder), 120)
                if stat.S_ISDIR(mode.st_mode):
                    folders += 1
                    waiting.append(Path(entry.path))
                elif not stat.S_ISREG(mode.st_mode):
                    raise BadSource(f"{shown} is neither a plain file nor a folder; an export has nothing else.")
                else:
                    files, size = files + 1, size + mode.st_size
                if files > MAX_FILES or folders > MAX_FOLDERS or size > MAX_BYTES:
                    raise BadSource(
                        f"The folder holds too much: more than {MAX_FILES:,} files, {MAX_FOLDERS:,} folders or "
                        f"{MAX_BYTES // 2**30} GiB."
                    )


def _check_size(folder: Path) -> None:
    """Raises BadSource for a file that is too large to be held in memory. A missing one is said elsewhere."""
    for path in (DIALOGS_PATH, VALUES_PATH):
        if os.path.lexists(folder / path):
            _read(folder, path, MAX_DATASET_BYTES)


def _read_values(folder: Path) -> Mapping[str, Sequence[ValueRow]]:
    """The medical values by dialogue. There is no file where no label has one."""
    if not os.path.lexists(folder / VALUES_PATH):
        return {}
    try:
        return read_values(_read(folder, VALUES_PATH, MAX_DATASET_BYTES).decode())
    except (BadValues, UnicodeDecodeError) as error:
        raise BadSource(f"{VALUES_PATH}: {error}") from None


def _read(folder: Path, path: str, most: int) -> bytes:
    """The bytes of a plain file below the folder; no link is followed. Raises BadSource."""
    try:
        number = os.open(folder / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = "it is a link, or cannot be opened" if os.path.lexists(folder / path) else "it is missing"
        raise BadSource(f"{quoted(path, 200)} cannot be read: {reason}.") from error
    with os.fdopen(number, "rb") as stream:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise BadSource(f"{quoted(path, 200)} is no plain file.")
        data = stream.read(most + 1)
    if len(data) > most:
        raise BadSource(f"{quoted(path, 200)} has more than {most // 2**20} MiB, too much to be read.")
    if data.count(b"{") + data.count(b"[") > MAX_CONTAINERS:
        raise BadSource(f"{quoted(path, 200)} has more than {MAX_CONTAINERS:,} objects and lists, too many to be read.")
    return data


def _read_dataset(folder: Path) -> tuple[Mapping[str, Any], str]:
    """dialogs.json and its SHA-256 (hex)."""
    data = _read(folder, DIALOGS_PATH, MAX_DATASET_BYTES)
    found = _json(data, DIALOGS_PATH)
    if not isinstance(found, Mapping) or not found:
        raise BadSource(f"{DIALOGS_PATH} is no JSON object with one dialogue under each id.")
    seen: set[str] = set()
    for name in found:
        if name.strip() in seen:
            raise BadSource(f"{DIALOGS_PATH} has the dialogue {quoted(name)} twice.")
        seen.add(name.strip())
    return found, hashlib.sha256(data).hexdigest()


def _json(data: bytes, path: str) -> Any:
    """What a file holds, a byte order mark aside. Raises BadSource."""
    try:
        return read_json(data.removeprefix(codecs.BOM_UTF8))
    except BadJson as error:
        raise BadSource(f"{path}: {error}") from None


def _read_splits(folder: Path) -> dict[str, Split]:
    """The split of every id that a list has. MediTOD's ids are numbers, which may stand there as such."""
    found: dict[str, Split] = {}
    for split in Split:
        path = ids_path(split)
        if not os.path.lexists(folder / path):
            continue
        ids = _json(_read(folder, path, MAX_FILE_BYTES), path)
        plain = isinstance(ids, list) and all(isinstance(one, str | int) and not isinstance(one, bool) for one in ids)
        if not plain:
            raise BadSource(f"{path} is no list of dialogue ids.")
        for one in map(str, ids):
            if found.setdefault(one.strip(), split) is not split:
                raise BadSource(f"The dialogue {quoted(one)} is both in {ids_path(found[one.strip()])} and in {path}.")
    return found


# --- dialogues ---


def _portal_dialogue(folder: Path, questionnaire: Questionnaire, name: str, stem: str, split: Split) -> SourceDialogue:
    path, beside = dialogue_path(name, stem), labels_path(name, stem)
    data = _read(folder, path, MAX_FILE_BYTES)
    parsed = _checked(data, path, name)
    parsed = replace(parsed, specialty=stated_specialty(data))
    written = _json(_read(folder, beside, MAX_FILE_BYTES), beside)
    found = read_labels(questionnaire, written, file=beside, utterances=len(parsed.utterances))
    if found.notices:
        raise BadSource(str(found.notices[0]))
    return SourceDialogue(parsed, tuple(found.labels), split, path, hashlib.sha256(data).hexdigest(), written)


def _released_dialogue(
    questionnaire: Questionnaire, name: str, dialogue: Any, split: Split | None, sha256: str
) -> SourceDialogue:
    turns = dialogue.get("utterances") if isinstance(dialogue, Mapping) else None
    if not isinstance(turns, list) or not all(isinstance(turn, Mapping) for turn in turns):
        raise BadSource(f"{DIALOGS_PATH}: the dialogue {quoted(name)} has no list of utterances.")
    words = ("speaker", "uttr_id", "text", "keywords")
    said = [{key: turn[key] for key in words if key in turn} for turn in turns]
    data = json.dumps({name: {"utterances": said}}).encode()
    parsed = _checked(data, DIALOGS_PATH, name.strip())
    labels, lost = labels_of_released(questionnaire, name, turns)
    not_read = tuple(NotRead(parsed.external_id, one.turn, one.message) for one in lost)
    return SourceDialogue(parsed, labels, split, DIALOGS_PATH, sha256, not_read=not_read)


def _checked(data: bytes, path: str, name: str) -> ParsedDialogue:
    """The one dialogue of a file, by the rules that hold for every import."""
    parsed = read_dialogue_file(data, path)
    if parsed.errors:
        raise BadSource(str(parsed.errors[0]))
    if len(parsed.dialogues) != 1 or parsed.dialogues[0].external_id != name:
        raise BadSource(f"{quoted(path, 200)} does not hold the dialogue {quoted(name)}.")
    return parsed.dialogues[0]
