"""An export recomputed from its files alone: nothing of the portal is asked but, for portal files, the questionnaire.

Recomputed are the bytes' sums, the ids and the draw of the splits, every patient state, the counts, and every file that
follows from `dialogs.json`: the same writers run again, and the first line that differs is named. What the files do not
hold the grounds of is the manifest's word alone, and `notes` say so.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from annotation.domain import export_concepts, export_dialogs, export_huggingface
from annotation.domain.dataset_tracking import track_dataset
from annotation.domain.dataset_writing import DatasetError
from annotation.domain.export_concepts import CANONICAL
from annotation.domain.export_formats import WRITERS, Format
from annotation.domain.export_huggingface import card_piece
from annotation.domain.export_portal_check import PortalCheck
from annotation.domain.exported import Assembly, Exported, ValueRow
from annotation.domain.manifest import PATH, BadManifest, Counts, Manifest, Part, manifest_from_text
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.splits import BadShares, Shares, Split, drawn
from annotation.domain.unrolling import Malformed

DERIVED = (Format.JSONL, Format.CSV, Format.TUPLES, Format.HUGGINGFACE)
_MOST = 1_000  # findings; a damaged file gives one for every turn
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it was exported. `dialogue` and `turn` (its `uttr_id`) where they are known."""

    file: str
    message: str
    dialogue: str = ""
    turn: int | None = None

    def __str__(self) -> str:
        place = [self.file]
        if self.dialogue:
            place.append(f"dialogue {self.dialogue}")
        if self.turn is not None:
            place.append(f"turn {self.turn}")
        return f"{', '.join(place)}: {self.message}"

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "dialogue": self.dialogue,
            "turn": self.turn,
            "message": self.message,
            "text": str(self),
        }


@dataclass(slots=True)
class Verification:
    """What was recomputed, and what differs. `notes` say what could not be recomputed, and why."""

    files: int = 0
    dialogues: int = 0
    states: int = 0
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def say(self, file: str, message: str, dialogue: str = "", turn: int | None = None) -> None:
        if len(self.findings) < _MOST:
            self.findings.append(Finding(file, message, dialogue, turn))

    def as_json(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "dialogues": self.dialogues,
            "states": self.states,
            "findings": [one.as_json() for one in self.findings],
            "notes": self.notes,
        }


def stated_questionnaire(folder: Path) -> tuple[str, str]:
    """(name, version) of the questionnaire that the export's labels answer; empty where it does not say."""
    try:
        stated = manifest_from_text((folder / PATH).read_text(encoding="utf-8")).questionnaire
    except (OSError, UnicodeDecodeError, BadManifest):
        return "", ""
    return str(stated.get("name", "")), str(stated.get("version", ""))


def verify_export(folder: Path, *, questionnaire: Questionnaire | None = None) -> Verification:
    """Everything that differs in the export below `folder`. Without `questionnaire` portal files are only summed up."""
    found = Verification()
    try:
        manifest = manifest_from_text((folder / PATH).read_text(encoding="utf-8"))
    except OSError:
        found.say(PATH, "It is missing, so that there is nothing to compare with.")
        return found
    except (UnicodeDecodeError, BadManifest) as error:
        found.say(PATH, str(error) if isinstance(error, BadManifest) else "It is no text in UTF-8.")
        return found
    _check_files(folder, manifest, found)
    splits = _read_splits(folder, found)
    _check_draw(manifest, splits, found)
    seen: dict[str, None] = {}
    for part in manifest.parts:
        checked = _CheckedPart(folder, manifest, part, found)
        seen |= dict.fromkeys(checked.check(splits, questionnaire))
    for one in sorted(splits.keys() - seen.keys()):
        found.say(export_dialogs.ids_path(splits[one]), "It is listed, but in no dialogs.json.", one)
    found.notes.extend(_not_recomputed(manifest, questionnaire))
    return found


def _not_recomputed(manifest: Manifest, questionnaire: Questionnaire | None) -> Iterator[str]:
    if Format.PORTAL not in manifest.formats:
        yield (
            "The values in medical_values.csv were not compared with the labels: the export has no portal files, which "
            "hold the values as they were written."
        )
    elif questionnaire is None:
        name, version = manifest.questionnaire.get("name"), manifest.questionnaire.get("version")
        yield f"The portal files were not read: the questionnaire {name} {version} is not here."
    if manifest.agreement is not None:
        yield (
            "The agreement figures were not recomputed: they compare labels of several annotators, which an export "
            "does not hold side by side."
        )
    if manifest.annotators:
        yield "Whose labels these are, and when the newest was made, is what the manifest says; no file tells it."


def sha256_of(path: Path) -> tuple[int, str]:
    """Size and SHA-256 of a file, read block by block."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()


def _check_files(folder: Path, manifest: Manifest, found: Verification) -> None:
    listed = {one.path: one for one in manifest.files}
    for path, entry in listed.items():
        place = folder / path
        inside = place.resolve().is_relative_to(folder.resolve())
        if not inside or not place.is_file():
            found.say(path, "The manifest lists it, but it is not there.")
            continue
        found.files += 1
        size, digest = sha256_of(place)
        if size != entry.bytes:
            found.say(path, f"It has {size:,} bytes, but had {entry.bytes:,} when it was exported.")
        elif digest != entry.sha256:
            found.say(path, "Its bytes were changed after the export: its SHA-256 is another.")
    for place in sorted(folder.rglob("*")):
        path = place.relative_to(folder).as_posix()
        if place.is_file() and path != PATH and path not in listed:
            found.say(path, "It does not belong to the export: the manifest does not list it.")


def _read_splits(folder: Path, found: Verification) -> dict[str, Split]:
    splits: dict[str, Split] = {}
    for split in Split:
        path = export_dialogs.ids_path(split)
        ids = _json(folder, path, found)
        if ids is None:
            continue
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
            found.say(path, "It is no list of dialogue ids.")
            continue
        for one in ids:
            if one in splits:
                found.say(path, f"It is also in {export_dialogs.ids_path(splits[one])}.", one)
            splits[one] = split
    return splits


def _check_draw(manifest: Manifest, splits: Mapping[str, Split], found: Verification) -> None:
    """Draw again with the stated seed and shares; what could not be written was drawn too."""
    whole = {**splits, **{one.dialogue: Split(one.split) for one in manifest.left_out if one.split in set(Split)}}
    stated = manifest.splits
    try:
        shares = Shares(*(Fraction(str(stated["shares"][name])) for name in ("train", "valid", "test")))
        seed, seeds = int(stated["random_seed"]), bool(stated["seeds_are_test"])
    except (KeyError, TypeError, ValueError, BadShares):
        found.say(PATH, "It does not say how the splits were drawn.")
        return
    fixed = {Split.OOD_TEST, *([Split.TEST] if seeds else [])}
    rest = [one for one, split in whole.items() if split not in fixed]
    for one, split in drawn(rest, random_seed=seed, shares=shares, test=not seeds).items():
        if whole[one] is not split:
            path = export_dialogs.ids_path(whole[one])
            found.say(path, f"With the random seed {seed} it belongs into {export_dialogs.ids_path(split)}.", one)


class _CheckedPart:
    """One reading of the dialogues, with everything that is written of it."""

    def __init__(self, folder: Path, manifest: Manifest, part: Part, found: Verification) -> None:
        self._folder, self._manifest, self._part, self._found = folder, manifest, part, found
        self._prefix = f"{part.folder}/" if part.folder else ""
        self._path = self._prefix + export_dialogs.PATH

    def check(self, splits: Mapping[str, Split], questionnaire: Questionnaire | None) -> list[str]:
        """Say what differs; the ids of its dialogues."""
        self._check_card()
        values = self._read_values()
        dialogs = _json(self._folder, self._path, self._found)
        if dialogs is None or not self._check_states(dialogs):
            return []
        items = list(_items(self._path, dialogs, splits, self._found))
        self._found.dialogues += len(items)
        self._check_written(items)
        self._check_values(values, {item.id for item in items})
        if Format.PORTAL in self._manifest.formats and questionnaire is not None:
            portal = PortalCheck(self._folder, self._prefix, questionnaire, self._manifest.values == CANONICAL)
            for item in items:
                for path, message, turn in portal.differences(item, values.get(item.id, [])):
                    self._found.say(path, message, item.id, turn)
        return [item.id for item in items]

    def _check_states(self, dialogs: Any) -> bool:
        """Whether it is a dataset at all."""
        try:
            report = track_dataset(dialogs)
        except DatasetError as error:
            self._found.say(self._path, str(error))
            return False
        self._found.states += report.turns
        for one in report.differences:
            self._found.say(self._path, one.message, one.dialogue, one.turn)
        return True

    def _check_written(self, items: Sequence[Exported]) -> None:
        """The counts, and the files that follow from dialogs.json."""
        counts = Counts()
        written = [_Written(self._folder, self._prefix, one) for one in DERIVED if one in self._manifest.formats]
        for item in items:
            try:
                counts.add(item)
            except Malformed as error:
                self._found.say(self._path, str(error), item.id)
                continue
            for one in written:
                one.compare(item, self._found)
        for one in written:
            one.finish(self._found)
        for name, value in counts.as_json().items():
            stated = self._part.counts.get(name)
            if stated != value:
                self._found.say(self._path, f"It has {value} under “{name}”, but the manifest says {stated}.")

    def _read_values(self) -> dict[str, list[ValueRow]]:
        """The medical values by dialogue. There is no file where no label has one."""
        path = self._prefix + export_concepts.VALUES_PATH
        place = self._folder / path
        if not place.is_file():
            return {}
        try:
            return export_concepts.read_values(place.read_bytes().decode(errors="replace"))
        except (export_concepts.BadValues, csv.Error) as error:
            self._found.say(path, str(error))
            return {}

    def _check_values(self, values: Mapping[str, Sequence[ValueRow]], dialogues: Collection[str]) -> None:
        """The concepts, their counts and their vocabularies follow from the medical values."""
        for one in values.keys() - set(dialogues):
            self._found.say(self._prefix + export_concepts.VALUES_PATH, "It is not in dialogs.json.", one)
        counts = export_concepts.ConceptCounts()
        for rows in values.values():
            counts.add(rows)
        piece = counts.piece()
        place = self._folder / (self._prefix + piece.path)
        if place.is_file() and place.read_bytes() != piece.text.encode():
            self._found.say(self._prefix + piece.path, "It does not follow from medical_values.csv.")
        if self._part.concepts != counts.as_json():
            self._found.say(PATH, f"Its counts of concepts do not follow from {self._prefix}medical_values.csv.")
        stated = {(one["name"], one["version"]) for one in self._manifest.vocabulary or ()}
        for name, version in sorted(counts.vocabularies() - stated):
            self._found.say(PATH, f"It does not name the vocabulary {name} {version}, under which was decided.")

    def _check_card(self) -> None:
        path = self._prefix + export_huggingface.CARD_PATH
        place = self._folder / path
        if Format.HUGGINGFACE not in self._manifest.formats or not place.is_file():
            return
        if place.read_text(encoding="utf-8", errors="replace") != card_piece(self._manifest, self._part).text:
            self._found.say(path, "It does not say what the manifest says.")


def _items(path: str, dialogs: Any, splits: Mapping[str, Split], found: Verification) -> Iterator[Exported]:
    """The dialogues that can be written again; of the others it is said why not."""
    for name, dialogue in dialogs.items():
        turns = dialogue.get("utterances") if isinstance(dialogue, Mapping) else None
        if name not in splits:
            found.say(path, "It is in none of the lists of ids.", name)
        elif not isinstance(turns, list) or not all(_is_turn(turn) for turn in turns):
            found.say(path, "It has no list of utterances with speaker, uttr_id, text and keywords.", name)
        else:
            yield Exported(name, splits[name], turns)


def _is_turn(turn: Any) -> bool:
    wanted = {"speaker": str, "uttr_id": int, "text": str, "keywords": list}
    if not isinstance(turn, Mapping) or not all(isinstance(turn.get(key), kind) for key, kind in wanted.items()):
        return False
    for key, name in (("nlu", "intent"), ("actions", "action")):
        given = turn.get(key, [])
        if not isinstance(given, list) or not all(isinstance(one, Mapping) and name in one for one in given):
            return False
    return "nlu" in turn or "actions" in turn


class _Written:
    """The files of one format, compared with what its writer gives again; after a difference a file is left alone."""

    def __init__(self, folder: Path, prefix: str, form: Format) -> None:
        self._folder, self._prefix, self._form = folder, prefix, form
        self._assembly = Assembly()
        self._streams: dict[str, Any] = {}

    def compare(self, item: Exported, found: Verification) -> None:
        for piece in WRITERS[self._form](item):
            expected = self._assembly.text(piece).encode()
            stream = self._stream(piece.path)
            if stream is None:
                continue
            given = stream.read(len(expected))
            if given != expected:
                line = _first_difference(expected, given)
                found.say(self._prefix + piece.path, f"It does not follow from dialogs.json, from {line} on.", item.id)
                self._end(piece.path)

    def finish(self, found: Verification) -> None:
        for path, closing in self._assembly.endings():
            stream = self._streams.get(path)
            if stream is not None:
                if stream.read() != closing.encode():
                    found.say(self._prefix + path, "It has more than follows from dialogs.json.")
                self._end(path)

    def _stream(self, path: str) -> Any:
        if path not in self._streams:
            place = self._folder / (self._prefix + path)
            self._streams[path] = place.open("rb") if place.is_file() else None
        return self._streams[path]

    def _end(self, path: str) -> None:
        self._streams[path].close()
        self._streams[path] = None


def _first_difference(expected: bytes, given: bytes) -> str:
    for one, other in zip(expected.splitlines(), given.splitlines(), strict=False):
        if one != other:
            return f"the line “{other[:80].decode(errors='replace')}”"
    return "its end"


def _json(folder: Path, path: str, found: Verification) -> Any:
    """The JSON of a file, None where there is none; that a file is missing is said where the manifest is checked."""
    try:
        text = (folder / path).read_text(encoding="utf-8")
        return json.loads(text)
    except OSError:
        if not (folder / path).exists():
            found.say(path, "It is missing; an export always has it.")
    except (ValueError, RecursionError):
        found.say(path, "It is no JSON; it was cut off or altered.")
    return None
