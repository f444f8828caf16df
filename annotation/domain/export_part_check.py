"""One reading of an export's dialogues, recomputed: its states, its counts, and every file that follows from it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from annotation.domain import export_concepts, export_dialogs, export_huggingface, export_tuples, export_utterances
from annotation.domain.dataset_tracking import track_dataset
from annotation.domain.dataset_writing import DatasetError
from annotation.domain.export_concepts import CANONICAL
from annotation.domain.export_files import ExportFiles
from annotation.domain.export_findings import Verification
from annotation.domain.export_formats import WRITERS, Format
from annotation.domain.export_huggingface import card_piece
from annotation.domain.export_portal import dialogue_path, labels_path, listed_stem
from annotation.domain.export_portal_check import PortalCheck
from annotation.domain.exported import Assembly, Exported, ValueRow
from annotation.domain.file_names import file_stem, file_stems
from annotation.domain.manifest import PATH, Counts, Manifest, Part
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.splits import Split
from annotation.domain.strict_json import BadJson, read_json
from annotation.domain.unrolling import Malformed

DERIVED = (Format.JSONL, Format.CSV, Format.TUPLES, Format.HUGGINGFACE)
# The tables among them by path: their cells, before they became text.
_TABLES: Mapping[str, Callable[[Exported], list[tuple[Any, ...]]]] = {
    export_utterances.CSV_PATH: export_utterances.csv_rows,
    export_tuples.PATH: export_tuples.tuples_rows,
}


@dataclass(frozen=True, slots=True)
class Export:
    """An export that is being verified. `listed` are the paths of its manifest, `splits` the dialogues of its lists."""

    files: ExportFiles
    manifest: Manifest
    listed: Collection[str]
    found: Verification
    splits: Mapping[str, Split] = field(default_factory=dict)

    def json(self, path: str) -> Any:
        """The JSON of a file, None where there is none; that a listed file is missing is said elsewhere."""
        data = self.files.read(path)
        if data is None:
            if path not in self.listed:
                self.found.say(path, "It is missing; an export always has it.")
            return None
        try:
            return read_json(data)
        except BadJson as error:
            self.found.say(path, str(error))
            return None

    def miss(self, path: str, dialogue: str = "") -> None:
        """Say that a file is missing, where the manifest does not list it: what it lists has been looked for."""
        if path not in self.files.plain and path not in self.listed:
            self.found.say(path, "It is missing, and the manifest does not list it.", dialogue)


class PartCheck:
    """One reading of the dialogues, with everything that is written of it."""

    def __init__(self, export: Export, part: Part) -> None:
        self._export, self._part = export, part
        self._found, self._manifest = export.found, export.manifest
        self._prefix = f"{part.folder}/" if part.folder else ""
        self._path = self._prefix + export_dialogs.PATH
        self.counts = export_concepts.ConceptCounts()

    def check(self, questionnaire: Questionnaire | None) -> list[str]:
        """Say what differs; the ids of its dialogues."""
        self._check_card()
        values = self._read_values()
        if not self._part.counts["dialogues"] and self._path not in {*self._export.listed, *self._export.files.plain}:
            return []  # all of its dialogues were left out
        dialogs = self._export.json(self._path)
        if dialogs is None or not self._check_states(dialogs):
            return []
        items = list(self._items(dialogs))
        self._found.dialogues += len(items)
        self._check_written(items)
        self._check_values(values, {item.id for item in items})
        if Format.PORTAL in self._manifest.formats:
            for item in items:
                for path in (dialogue_path(item.id, item.stem), labels_path(item.id, item.stem)):
                    self._export.miss(self._prefix + path, item.id)
            if questionnaire is not None:
                self._check_portal(items, values, questionnaire)
        return [item.id for item in items]

    def _check_portal(
        self, items: Sequence[Exported], values: Mapping[str, Sequence[ValueRow]], questionnaire: Questionnaire
    ) -> None:
        splits = self._manifest.splits
        portal = PortalCheck(
            self._export.files,
            self._prefix,
            questionnaire,
            self._manifest.values == CANONICAL,
            splits["in_domain"],
            [Split.TEST] if splits["seeds_are_test"] else [],
            splits.get("fixed", ()),
        )
        for item in items:
            for path, message, turn in portal.differences(item, values.get(item.id, [])):
                self._found.say(path, message, item.id, turn)

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

    def _items(self, dialogs: Any) -> Iterator[Exported]:
        """The dialogues that can be written again; of the others it is said why not."""
        splits = self._export.splits
        stems = file_stems([*splits, *(one.dialogue for one in self._manifest.left_out)])
        for name, dialogue in dialogs.items():
            turns = dialogue.get("utterances") if isinstance(dialogue, Mapping) else None
            if name not in splits:
                self._found.say(self._path, "It is in none of the lists of ids.", name)
            elif not isinstance(turns, list) or not all(_is_turn(turn) for turn in turns):
                message = "It has no list of utterances with speaker, uttr_id, text and keywords."
                self._found.say(self._path, message, name)
            else:
                stem = listed_stem(name, stems[name], self._export.listed, self._prefix)
                yield Exported(name, splits[name], turns, stem=stem)

    def _check_written(self, items: Sequence[Exported]) -> None:
        """The counts, and the files that follow from dialogs.json."""
        counts = Counts()
        written = [_Written(self._export, self._prefix, one) for one in DERIVED if one in self._manifest.formats]
        for item in items:
            try:
                counts.add(item)
                for one in written:
                    one.compare(item)
            except Malformed as error:
                self._found.say(self._path, str(error), item.id)
            except RecursionError:
                self._found.say(self._path, "It is nested too deeply.", item.id)
        for one in written:
            one.finish()
        for name, value in counts.as_json().items():
            stated = self._part.counts[name]
            if stated != value:
                self._found.say(self._path, f"It has {value} under “{name}”, but the manifest says {stated}.")

    def _read_values(self) -> dict[str, list[ValueRow]]:
        """The medical values by dialogue. There is no file where no label has one."""
        path = self._prefix + export_concepts.VALUES_PATH
        data = self._export.files.read(path)
        if data is None:
            return {}
        try:
            text = data.decode()
            values = export_concepts.read_values(text)
        except (export_concepts.BadValues, UnicodeDecodeError) as error:
            known = isinstance(error, export_concepts.BadValues)
            self._found.say(path, str(error) if known else "It is no text in UTF-8.")
            return {}
        if export_concepts.values_text(values) != text:
            self._found.say(path, "It says its rows in another order or form than an export writes them.")
        return values

    def _check_values(self, values: Mapping[str, Sequence[ValueRow]], dialogues: Collection[str]) -> None:
        """The concepts, their counts and their vocabularies follow from the medical values."""
        for one in values.keys() - set(dialogues):
            self._found.say(self._prefix + export_concepts.VALUES_PATH, "It is not in dialogs.json.", one)
        for rows in values.values():
            self.counts.add(rows)
        piece = self.counts.piece()
        path = self._prefix + piece.path
        data = self._export.files.read(path)
        self._export.miss(path)
        if data is not None and data != piece.text.encode():
            self._found.say(path, "It does not follow from medical_values.csv.")
        if self._part.concepts != self.counts.as_json():
            self._found.say(PATH, f"Its counts of concepts do not follow from {self._prefix}medical_values.csv.")

    def _check_card(self) -> None:
        if Format.HUGGINGFACE not in self._manifest.formats:
            return
        path = self._prefix + export_huggingface.CARD_PATH
        data = self._export.files.read(path)
        self._export.miss(path)
        if data is not None and data != card_piece(self._manifest, self._part).text.encode():
            self._found.say(path, "It does not say what the manifest says.")


def paths_of(manifest: Manifest, splits: Mapping[str, Split]) -> set[str]:
    """Every path that an export with these formats can have."""
    own = {export_concepts.VALUES_PATH, export_concepts.CONCEPTS_PATH, export_dialogs.PATH}
    by_format = {
        Format.JSONL: [export_utterances.JSONL_PATH],
        Format.CSV: [export_utterances.CSV_PATH],
        Format.TUPLES: [export_tuples.PATH],
        Format.HUGGINGFACE: [export_huggingface.CARD_PATH, *map(export_huggingface.data_path, Split)],
    }
    for form, paths in by_format.items():
        own.update(paths if form in manifest.formats else ())
    if Format.PORTAL in manifest.formats:
        stems = file_stems([*splits, *(one.dialogue for one in manifest.left_out)])
        for name, stem in stems.items():
            for one in (stem, file_stem(name), name):
                own.update((dialogue_path(name, one), labels_path(name, one)))
    prefixes = [f"{part.folder}/" if part.folder else "" for part in manifest.parts]
    return {export_dialogs.ids_path(split) for split in Split} | {prefix + path for prefix in prefixes for path in own}


def _is_turn(turn: Any) -> bool:
    wanted = {"speaker": str, "uttr_id": int, "text": str, "keywords": list}
    if not isinstance(turn, Mapping) or not all(isinstance(turn.get(key), kind) for key, kind in wanted.items()):
        return False
    if not all(isinstance(one, str) for one in turn["keywords"]):
        return False
    for key, name in (("nlu", "intent"), ("actions", "action")):
        given = turn.get(key, [])
        if not isinstance(given, list) or not all(isinstance(one, Mapping) and name in one for one in given):
            return False
    return "nlu" in turn or "actions" in turn


class _Written:
    """The files of one format, compared with what its writer gives again; after a difference a file is left alone."""

    def __init__(self, export: Export, prefix: str, form: Format) -> None:
        self._export, self._prefix, self._form = export, prefix, form
        self._assembly = Assembly()
        self._streams: dict[str, BinaryIO | None] = {}

    def compare(self, item: Exported) -> None:
        """Raises Malformed for labels that are not of the dataset's form."""
        for piece in WRITERS[self._form](item):
            expected = self._assembly.text(piece).encode()
            stream = self._stream(piece.path)
            if stream is None:
                continue
            given = stream.read(len(expected))
            if given != expected:
                line = _first_difference(expected, given)
                self._say(piece.path, f"It does not follow from dialogs.json, from {line} on.", item.id)
            elif piece.path in _TABLES and _cells(piece.text) != _texts(_TABLES[piece.path](item)):
                self._say(piece.path, "Its rows do not read back as what dialogs.json says.", item.id)

    def finish(self) -> None:
        for path, closing in self._assembly.endings():
            stream = self._streams.get(path)
            if stream is not None:
                if stream.read() != closing.encode():
                    self._export.found.say(self._prefix + path, "It has more than follows from dialogs.json.")
                self._end(path)

    def _say(self, path: str, message: str, dialogue: str) -> None:
        self._export.found.say(self._prefix + path, message, dialogue)
        self._end(path)

    def _stream(self, path: str) -> BinaryIO | None:
        if path not in self._streams:
            self._streams[path] = self._export.files.open(self._prefix + path)
            self._export.miss(self._prefix + path)
        return self._streams[path]

    def _end(self, path: str) -> None:
        stream = self._streams[path]
        if stream is not None:
            stream.close()
        self._streams[path] = None


def _cells(text: str) -> list[list[str]] | None:
    try:
        return export_utterances.csv_cells(text)
    except csv.Error:
        return None


def _texts(rows: Sequence[tuple[Any, ...]]) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in rows]


def _first_difference(expected: bytes, given: bytes) -> str:
    for one, other in zip(expected.splitlines(), given.splitlines(), strict=False):
        if one != other:
            return f"the line “{other[:80].decode(errors='replace')}”"
    return "its end"
