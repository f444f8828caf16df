"""The portal's own files of an export, read again: what the other files say follows from them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from annotation.domain.concepts import NOTHING_DECIDED, DecidedConcepts, canonical_reading
from annotation.domain.dataset_writing import dialogue_to_dataset
from annotation.domain.dialogue_files import read_dialogue_file
from annotation.domain.export_concepts import VALUES_PATH, stated_canon
from annotation.domain.export_files import ExportFiles
from annotation.domain.export_portal import dialogue_path, labels_path, stated_specialty
from annotation.domain.exported import Exported, ValueRow, value_rows
from annotation.domain.labels import Reading
from annotation.domain.portal_file import read_labels
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.splits import Split
from annotation.domain.strict_json import BadJson, read_json

Difference = tuple[str, str, int | None]  # the file, what is wrong in it, and at which turn


@dataclass(frozen=True, slots=True)
class PortalCheck:
    """Compares the portal files of a part with the rest of it.

    `canonical` says that the turns have the names of concepts; `in_domain` are the specialties within the domain, and
    `any_specialty` the splits of whose dialogues it does not say anything, such as that of the seeds. `kept` are the
    dialogues that kept the split they came with.
    """

    files: ExportFiles
    prefix: str
    questionnaire: Questionnaire
    canonical: bool
    in_domain: Collection[str] = ()
    any_specialty: Collection[Split] = ()
    kept: Collection[str] = ()

    def paths(self, item: Exported) -> tuple[str, str]:
        """The dialogue's own file, and that of its labels."""
        return self.prefix + dialogue_path(item.id, item.stem), self.prefix + labels_path(item.id, item.stem)

    def differences(self, item: Exported, values: Sequence[ValueRow]) -> Iterator[Difference]:
        """The first thing that differs in each file of the dialogue. `values` are its medical values as stated."""
        paths = self.paths(item)
        dialogue, labels = map(self.files.read, paths)
        if dialogue is None or labels is None:
            return  # that it is missing is said where the files are looked for
        for path, data in zip(paths, (dialogue, labels), strict=True):
            if fault := _fault(data):
                yield path, fault, None
                return
        parsed = read_dialogue_file(dialogue, paths[0])
        if len(parsed.dialogues) != 1 or parsed.dialogues[0].external_id != item.id:
            yield paths[0], "It is no dialogue of this id that the portal reads.", None
            return
        read = read_labels(self.questionnaire, labels.decode(), file=paths[1])
        if read.notices:
            yield paths[1], read.notices[0].message, None
            return
        # Decisions hold for whole utterances: a label is named after its own.
        named = [replace(label, id=str(label.position)) for label in read.labels]
        reading = Reading(item.id, parsed.dialogues[0].utterances).with_labels(named)
        yield from self._specialty(stated_specialty(dialogue), item, paths[0])
        yield from self._values(reading, values)
        yield from self._turns(reading, item, values, paths)

    def _specialty(self, specialty: str, item: Exported, path: str) -> Iterator[Difference]:
        split = Split(item.split)
        if item.id in self.kept or split in self.any_specialty:
            return
        other = bool(specialty and self.in_domain and specialty not in self.in_domain)
        if other is not (split is Split.OOD_TEST):
            where = "outside" if other else "within"
            message = (
                f"Its specialty “{specialty}” is {where} the domain that the manifest states, but it is in {split}."
            )
            yield path, message, None

    def _values(self, reading: Reading, stated: Sequence[ValueRow]) -> Iterator[Difference]:
        followed = value_rows(self.questionnaire, reading, DecidedConcepts())
        for own, other in zip(followed, stated, strict=False):
            if own[:4] != other[:4]:
                yield self.prefix + VALUES_PATH, f"The labels have “{own.value}” where it lists another.", own.uttr_id
                return
        if len(followed) != len(stated):
            message = f"It lists {len(stated)} values, but the labels have {len(followed)}."
            yield self.prefix + VALUES_PATH, message, None

    def _turns(
        self, reading: Reading, item: Exported, values: Sequence[ValueRow], paths: Sequence[str]
    ) -> Iterator[Difference]:
        canon = stated_canon(values) if self.canonical else NOTHING_DECIDED
        worded = canonical_reading(self.questionnaire, reading, canon)
        turns = dialogue_to_dataset(self.questionnaire, worded)["utterances"]
        for own, other in zip(turns, item.turns, strict=False):
            if own != other:
                yield paths[1], "It does not say what dialogs.json says.", own["uttr_id"]
                return
        if len(turns) != len(item.turns):
            yield paths[0], f"It has {len(turns)} utterances, dialogs.json has {len(item.turns)}.", None


def _fault(data: bytes) -> str:
    """Why it is no JSON that can be read in one way only; "" where it is."""
    try:
        read_json(data)
    except BadJson as error:
        return str(error)
    return ""
