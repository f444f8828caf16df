"""Dialogues of files into a project: first a plan that says what would happen to each, then the writing.

Every dialogue is written whole or not at all, and nothing that is there is ever changed: a dialogue that the project
holds already is passed over when it says the same, and refused when it says something else.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from django.db import IntegrityError, transaction

from annotation.domain.dialogues import ParsedDialogue, ParsedFile
from annotation.domain.notices import Notice, Severity, quoted
from annotation.models import Dialogue, Project, User, Utterance
from annotation.services.concept_linking import linker
from annotation.services.errors import Refused

logger = logging.getLogger(__name__)

AT_ONCE = 500  # dialogues in one query

# Called inside the transaction that wrote a dialogue, with the number of its utterances: what a caller counts there is
# never ahead of or behind what is stored.
Progress = Callable[[int], None]


class Fate(StrEnum):
    """What an import does with a dialogue."""

    NEW = "new"
    SAME = "same"
    CLASH = "clash"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file as it was read. `sha256` (hex) and `size` (bytes) are those of the file, of the member within a zip."""

    parsed: ParsedFile
    sha256: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class PlannedDialogue:
    """A dialogue without its turns, so that a plan stays small however much is imported."""

    external_id: str
    file: str
    fingerprint: str
    utterances: int
    warnings: int
    fate: Fate
    specialty: str = ""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    name: str
    format: str
    encoding: str
    size: int
    dialogues: int
    utterances: int


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import would do. Errors are about what is left out; the rest can be imported in spite of them."""

    files: tuple[PlannedFile, ...]
    dialogues: tuple[PlannedDialogue, ...]
    notices: tuple[Notice, ...]

    def of(self, *fates: Fate) -> tuple[PlannedDialogue, ...]:
        return tuple(dialogue for dialogue in self.dialogues if dialogue.fate in fates)

    def notices_of(self, severity: Severity) -> tuple[Notice, ...]:
        return tuple(notice for notice in self.notices if notice.severity is severity)

    def counts(self) -> dict[str, int]:
        """`dialogues` and `utterances` are of what the project will hold of these files afterwards."""
        kept, new = self.of(Fate.NEW, Fate.SAME), self.of(Fate.NEW)
        return {
            "files": len(self.files),
            "dialogues": len(kept),
            "utterances": sum(dialogue.utterances for dialogue in kept),
            "new": len(new),
            "new_utterances": sum(dialogue.utterances for dialogue in new),
            "same": len(kept) - len(new),
            "clash": len(self.of(Fate.CLASH)),
            "warnings": len(self.notices_of(Severity.WARNING)),
            "errors": len(self.notices_of(Severity.ERROR)),
            "notes": len(self.notices_of(Severity.NOTE)),
        }


@dataclass(slots=True)
class ImportResult:
    """What an import did. `dialogues` and `utterances` count what the project now holds of the files' dialogues,
    whether written now (`created`, their ids in `written`) or there before (`same`). `stopped`: it was asked to stop
    before the end."""

    created: int = 0
    same: int = 0
    utterances: int = 0
    written: list[str] = field(default_factory=list)
    warnings: list[Notice] = field(default_factory=list)
    errors: list[Notice] = field(default_factory=list)
    stopped: bool = False

    @property
    def dialogues(self) -> int:
        return self.created + self.same

    def as_json(self) -> dict[str, Any]:
        return {
            "dialogues": self.dialogues,
            "utterances": self.utterances,
            "created": self.created,
            "same": self.same,
            "warnings": [notice.as_json() for notice in self.warnings],
            "errors": [notice.as_json() for notice in self.errors],
        }


def plan(*, project: Project, files: Iterable[SourceFile]) -> ImportPlan:
    """Compare the files with what the project holds; reads only."""
    rows = Dialogue.objects.filter(project=project).values_list("external_id", "fingerprint")
    speakers = {speaker.name for speaker in project.questionnaire.speakers}
    return compare(files, held=dict(rows), speakers=speakers)


def compare(files: Iterable[SourceFile], *, held: Mapping[str, str], speakers: set[str]) -> ImportPlan:
    """The plan, given the fingerprints held by dialogue id, and the speakers that the questionnaire knows."""
    planned: list[PlannedDialogue] = []
    notices: list[Notice] = []
    facts: list[PlannedFile] = []
    for source in files:
        parsed = source.parsed
        notices += parsed.notices
        warned = Counter(notice.dialogue for notice in parsed.warnings)
        for dialogue in parsed.dialogues:
            fate, problem = _fate(dialogue, parsed.name, held, speakers)
            notices += [problem] if problem else []
            planned.append(_planned(dialogue, parsed.name, fate, warned[dialogue.external_id]))
        if parsed.format or parsed.errors:  # a zip's members that were passed over are only noted
            turns = sum(len(dialogue.utterances) for dialogue in parsed.dialogues)
            facts.append(
                PlannedFile(parsed.name, parsed.format, parsed.encoding, source.size, len(parsed.dialogues), turns)
            )
    planned, doubles = _without_doubles(planned)
    return ImportPlan(tuple(facts), tuple(planned), tuple(notices + doubles))


def _planned(dialogue: ParsedDialogue, file: str, fate: Fate, warnings: int) -> PlannedDialogue:
    turns = len(dialogue.utterances)
    return PlannedDialogue(dialogue.external_id, file, dialogue.fingerprint, turns, warnings, fate, dialogue.specialty)


def _fate(
    dialogue: ParsedDialogue, file: str, held: Mapping[str, str], speakers: set[str]
) -> tuple[Fate, Notice | None]:
    external_id = dialogue.external_id
    unknown = sorted({turn.speaker for turn in dialogue.utterances} - speakers)
    if unknown:
        message = (
            f"Dialogue {quoted(external_id)} has turns of {quoted(unknown[0])}, a speaker whom this project's "
            f"questionnaire does not know; known are {', '.join(sorted(speakers))}."
        )
        return Fate.CLASH, Notice(Severity.ERROR, file, 0, message, external_id)
    if external_id not in held:
        return Fate.NEW, None
    if held[external_id] == dialogue.fingerprint:
        return Fate.SAME, None
    message = (
        f"The project already has a dialogue {quoted(external_id)} with other turns, which stays as it is; "
        f"give the one in the file another id."
    )
    return Fate.CLASH, Notice(Severity.ERROR, file, 0, message, external_id)


def _without_doubles(planned: list[PlannedDialogue]) -> tuple[list[PlannedDialogue], list[Notice]]:
    """Refuse dialogues whose id occurs more than once in the batch.

    Where they say the same, the first one counts. Where they differ, nobody can know which is meant: all are refused.
    """
    groups: dict[str, list[PlannedDialogue]] = {}
    for dialogue in planned:
        groups.setdefault(dialogue.external_id, []).append(dialogue)
    notices: list[Notice] = []
    result: list[PlannedDialogue] = []
    for dialogue in planned:
        group = groups[dialogue.external_id]
        first = group[0]
        differ = len({other.fingerprint for other in group}) > 1
        if len(group) == 1 or (dialogue is first and not differ):
            result.append(dialogue)
            continue
        result.append(replace(dialogue, fate=Fate.CLASH))
        if dialogue is not first:
            notices.append(_double(first, dialogue, differ))
    return result, notices


def _double(first: PlannedDialogue, second: PlannedDialogue, differ: bool) -> Notice:
    verdict = "with other turns, so neither is imported" if differ else "with the same turns, so it is imported once"
    message = (
        f"Dialogue {quoted(second.external_id)} is in {quoted(first.file)} as well as in {quoted(second.file)}, "
        f"{verdict}; leave one of them out."
    )
    return Notice(Severity.ERROR, second.file, 0, message, second.external_id)


def dialogues_import(
    *,
    project: Project,
    files: Iterable[SourceFile],
    actor: User | None,
    planned: ImportPlan | None = None,
    progress: Progress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> ImportResult:
    """Write the dialogues that are new, each in a transaction of its own; the same files again write nothing.

    `files` are gone through twice unless a plan is given, one file in memory at a time. `actor` is None for a command.
    Raises Refused for an archived project.
    """
    if project.archived_at:
        raise Refused("This project is archived; restore it before importing dialogues.")
    planned = planned or plan(project=project, files=files)
    same = planned.of(Fate.SAME)
    result = ImportResult(same=len(same), utterances=sum(dialogue.utterances for dialogue in same))
    result.warnings += planned.notices_of(Severity.WARNING)
    result.errors += planned.notices_of(Severity.ERROR)
    wanted = {dialogue.external_id: dialogue.fingerprint for dialogue in planned.of(Fate.NEW)}
    try:
        for source in files if wanted else ():
            for dialogue in source.parsed.dialogues:
                if wanted.get(dialogue.external_id) != dialogue.fingerprint:
                    continue
                if should_stop and should_stop():
                    result.stopped = True
                    return result
                del wanted[dialogue.external_id]
                _write_or_compare(project, dialogue, source, progress, result)
    finally:
        _tell_linker(project, result.written)
    logger.info("%s imported %d dialogues into project %d", actor or "A command", result.created, project.pk)
    return result


def _tell_linker(project: Project, written: Sequence[str]) -> None:
    """What is written stays, however the import ends, and its words may be looked up."""

    def tell() -> None:
        for start in range(0, len(written), AT_ONCE):
            rows = Dialogue.objects.filter(project=project, external_id__in=written[start : start + AT_ONCE])
            linker().dialogues_added(list(rows.values_list("pk", flat=True)))

    transaction.on_commit(tell)


def _write_or_compare(
    project: Project, dialogue: ParsedDialogue, source: SourceFile, progress: Progress | None, result: ImportResult
) -> None:
    """Write one dialogue; where somebody else did so meanwhile, treat it as one that was there."""
    turns = len(dialogue.utterances)
    try:
        with transaction.atomic():
            _write(project, dialogue, source)
            if progress:
                progress(turns)
    except IntegrityError:
        rows = Dialogue.objects.filter(project=project, external_id=dialogue.external_id)
        held = dict(rows.values_list("external_id", "fingerprint"))
        if not held:
            raise
        fate, problem = _fate(dialogue, source.parsed.name, held, {turn.speaker for turn in dialogue.utterances})
        if problem:
            result.errors.append(problem)
        else:
            result.same += fate is Fate.SAME
            result.utterances += turns
        return
    result.created += 1
    result.written.append(dialogue.external_id)
    result.utterances += turns


def _write(project: Project, dialogue: ParsedDialogue, source: SourceFile) -> None:
    row = Dialogue.objects.create(
        project=project,
        external_id=dialogue.external_id,
        specialty=dialogue.specialty[:60],
        source_name=PurePosixPath(source.parsed.name).name[-255:],  # where it lay is nobody's business
        source_hash=source.sha256,
        fingerprint=dialogue.fingerprint,
        metadata=dict(dialogue.metadata),
        utterance_count=len(dialogue.utterances),
    )
    Utterance.objects.bulk_create(
        Utterance(
            dialogue=row,
            position=turn.position,
            speaker=turn.speaker,
            text=turn.text,
            keywords=list(turn.keywords),
            warning=turn.warning[:300],
        )
        for turn in dialogue.utterances
    )
