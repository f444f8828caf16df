"""An export for researchers, one dialogue after the other. The same data and options give the same bytes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from django.db.models import Max

from annotation import VERSION
from annotation.domain.concepts import NOTHING_DECIDED
from annotation.domain.damage import damage
from annotation.domain.dataset_writing import CONTROL
from annotation.domain.export_concepts import CANONICAL, WRITTEN, ConceptCounts, stated_vocabularies
from annotation.domain.export_dialogs import ids_pieces
from annotation.domain.export_formats import Format, pieces_of
from annotation.domain.export_huggingface import card_piece
from annotation.domain.exported import Exported, exported
from annotation.domain.file_names import file_stems
from annotation.domain.labels import Reading
from annotation.domain.manifest import PATH, Contributor, Counts, LeftOut, Manifest, Part
from annotation.domain.splits import Split, commonest_specialty
from annotation.domain.unrolling import Malformed
from annotation.models import AgreementSnapshot, EventKind, LabelEvent, LabelSet, Project
from annotation.services.agreement_scope import Scope
from annotation.services.concept_linking import linker
from annotation.services.errors import Refused
from annotation.services.export_folder import ExportFolder, check_encodable
from annotation.services.export_readings import (
    ExportOptions,
    ExportPart,
    candidates_of,
    contributors,
    exported_reading,
    nothing_there,
    parts_of,
    splits_of,
)

logger = logging.getLogger(__name__)


class Stopped(Exception):
    """The export was cancelled; its folder is not to be used."""


class _Damaged(Exception):
    """A dialogue that cannot be written; the sentence says why."""


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What was written, as the manifest says it. `labels` are the labels behind it, as pages and statistics count them;
    what the manifest counts under that name are the acts that a dataset has of them."""

    manifest: Manifest
    labels: int

    @property
    def dialogues(self) -> int:
        return sum(self.manifest.splits["dialogues"].values())

    @property
    def readings(self) -> int:
        """Of all annotators a dialogue has several."""
        return sum(part.counts["dialogues"] for part in self.manifest.parts)

    @property
    def utterances(self) -> int:
        return sum(part.counts["utterances"] for part in self.manifest.parts)

    def as_json(self) -> dict[str, Any]:
        stated = asdict(self.manifest)
        return {
            "dialogues": self.dialogues,
            "readings": self.readings,
            "utterances": self.utterances,
            "labels": self.labels,
            "acts": sum(part.counts["labels"] for part in self.manifest.parts),
            "tuples": sum(part.counts["tuples"] for part in self.manifest.parts),
            "bytes": sum(one.bytes for one in self.manifest.files),
            **{
                name: stated[name]
                for name in (
                    "splits",
                    "parts",
                    "values",
                    "vocabulary",
                    "left_out",
                    "newest_label",
                    "agreement",
                    "files",
                )
            },
        }


def export_write(
    *,
    project: Project,
    options: ExportOptions,
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> ExportResult:
    """Write the export into an existing, empty folder. `progress` is told how many readings of how many are done.

    A dialogue that cannot be written is left out whole and named in the manifest. Raises Refused when nothing can be
    exported, and Stopped.
    """
    parts = parts_of(project, options)
    if not parts:
        raise Refused(nothing_there(options))
    writing = _Writing(project, options, folder, splits_of(project, parts, options))
    try:
        total, done = sum(len(part.label_sets) for part in parts), 0
        for part in parts:
            for label_set in part.label_sets:
                if should_stop and should_stop():
                    raise Stopped
                writing.add(part.folder, label_set)
                done += 1
                if progress:
                    progress(done, total)
        return writing.finish(parts)
    finally:
        writing.store.abandon()


class _Writing:
    """An export under way: the files, and what the manifest will say of them."""

    def __init__(self, project: Project, options: ExportOptions, folder: Path, splits: Mapping[str, Split]) -> None:
        self._project, self._options, self._folder, self._splits = project, options, folder, splits
        self._questionnaire = project.questionnaire
        self._stems = file_stems(splits)
        self.store = ExportFolder(folder)
        self._counts: dict[str, Counts] = {}
        self._written: set[str] = set()
        self._decided = linker().decided_concepts(project.pk)
        self._canon = NOTHING_DECIDED if options.surface_forms else self._decided.canon()
        self._concepts: dict[str, ConceptCounts] = {}
        self._left_out: list[LeftOut] = []
        self._labels = 0

    def add(self, part: str, label_set: LabelSet) -> None:
        """Write one dialogue, or note why it cannot be written: all of it or nothing."""
        name = label_set.dialogue.external_id
        split = self._splits[name]
        counts = self._counts.setdefault(part, Counts())
        try:
            reading = _undamaged(exported_reading(label_set))
            item = self._exported(label_set, reading, split)
            pieces = list(pieces_of(item, self._options.formats))
            check_encodable(pieces)
            counts.add(item)
        except Exception as error:
            logger.exception("Dialogue %s could not be exported", name)
            self._left_out.append(LeftOut(name, part, split.value, _reason(error)))
            return
        self.store.write(pieces, _prefix(part))
        self._labels += _counted_labels(reading)
        self._written.add(name)
        self._concepts.setdefault(part, ConceptCounts()).add(item.values)

    def finish(self, parts: Sequence[ExportPart]) -> ExportResult:
        if not self._written:
            first = self._left_out[0]
            raise Refused(f"No dialogue could be exported. {first.dialogue}: {first.reason}")
        self.store.write(ids_pieces({one: split for one, split in self._splits.items() if one in self._written}))
        stated = [self._part(part.folder) for part in parts]
        manifest = self._manifest(parts, stated)
        if Format.HUGGINGFACE in self._options.formats:
            for part in stated:
                self.store.write([card_piece(manifest, part)], _prefix(part.folder))
        manifest = replace(manifest, files=self.store.close())
        (self._folder / PATH).write_text(manifest.text(), encoding="utf-8", newline="\n")
        return ExportResult(manifest, self._labels)

    def _exported(self, label_set: LabelSet, reading: Reading, split: Split) -> Exported:
        return exported(
            self._questionnaire,
            reading,
            stem=self._stems[label_set.dialogue.external_id],
            split=split.value,
            specialty=label_set.dialogue.specialty,
            decided=self._decided,
            canon=self._canon,
        )

    def _part(self, folder: str) -> Part:
        """End a part with its concepts, and say what it holds."""
        concepts = self._concepts.setdefault(folder, ConceptCounts())
        self.store.write([concepts.piece()], _prefix(folder))
        return Part(folder, self._counts[folder].as_json(), concepts.as_json())

    def _manifest(self, parts: Sequence[ExportPart], stated: Sequence[Part]) -> Manifest:
        """All but the list of files."""
        options, project = self._options, self._project
        return Manifest(
            title=options.title or project.name,
            licence=options.licence,
            citation=options.citation,
            source=options.source,
            only_finished=not options.unfinished,
            formats=[one.value for one in options.formats],
            software={"name": "Anamnesis", "version": VERSION},
            questionnaire={"name": project.questionnaire_name, "version": project.questionnaire_version},
            values=WRITTEN if options.surface_forms else CANONICAL,
            vocabulary=stated_vocabularies(self._concepts.values(), self._decided.attributions),
            newest_label=_newest_label(row.pk for part in parts for row in part.label_sets),
            splits=self._stated_splits(parts),
            parts=stated,
            annotators=[Contributor(name, count) for name, count in contributors(project, parts).items()],
            agreement=_agreement(project),
            left_out=self._left_out,
            files=[],
        )

    def _stated_splits(self, parts: Sequence[ExportPart]) -> dict[str, Any]:
        candidates = candidates_of(self._project, parts)
        fixed = [one.id for one in candidates if one.fixed is not None]
        return {
            "random_seed": self._options.random_seed,
            "shares": self._options.shares.as_json(),
            "in_domain": list(self._options.specialties or commonest_specialty(candidates)),
            "seeds_are_test": any(one.seed and one.fixed is None for one in candidates),
            **({"fixed": fixed} if fixed else {}),
            "dialogues": {split.value: sum(self._splits[one] is split for one in self._written) for split in Split},
        }


def _reason(error: Exception) -> str:
    """Why a dialogue cannot be written, for whoever asked for the export; the log has the details."""
    if isinstance(error, _Damaged):
        return str(error)
    if isinstance(error, Malformed):
        return f"Its labels do not fit the form of the dataset: {str(error)[:200]}"
    return "Its labels cannot be written; whoever runs the portal finds the reason in its log."


def _undamaged(reading: Reading) -> Reading:
    if found := damage(reading.labels):
        raise _Damaged(found)
    return reading


def _counted_labels(reading: Reading) -> int:
    """The labels as pages and statistics count them: without those of the closing turn."""
    closing = {turn.position for turn in reading.utterances if turn.speaker == CONTROL}
    return sum(label.position not in closing for label in reading.labels)


def _prefix(folder: str) -> str:
    return f"{folder}/" if folder else ""


def _newest_label(label_sets: Iterable[int]) -> str | None:
    """When a label of these was changed last, in UTC; from the history, which knows no other change."""
    rows = LabelEvent.objects.filter(label_set__in=list(label_sets)).exclude(kind=EventKind.STATUS)
    newest = rows.aggregate(newest=Max("created_at"))["newest"]
    return newest.strftime("%Y-%m-%dT%H:%M:%SZ") if newest else None


def _agreement(project: Project) -> dict[str, Any] | None:
    """The project's agreement as it was measured last, without who is behind it; None where it never was."""
    rows = AgreementSnapshot.objects.filter(project=project, scope_key=Scope().key).order_by("-created_at", "-pk")
    newest = rows.values_list("definition", "figures__headline", "figures__coverage").first()
    if newest is None:
        return None
    definition, headline, coverage = newest
    return {"definition": definition, "headline": headline, "coverage": coverage}
