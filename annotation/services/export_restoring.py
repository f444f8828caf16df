"""An export, or a dataset in the released form, as the gold of a project without dialogues; all of it or nothing."""

from __future__ import annotations

import json
import logging
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.domain.dialogues import ParsedFile
from annotation.domain.export_source import BadSource, NotRead, Source, SourceDialogue, read_source
from annotation.domain.labels import Label
from annotation.domain.numbers import counted
from annotation.domain.portal_file import write_labels
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.questionnaire_file import QuestionnaireError
from annotation.domain.validation import InvalidLabel
from annotation.models import Dialogue, EventKind, LabelSet, Owner, Project, Purpose, Role, User
from annotation.questionnaires import UnknownQuestionnaire, get_questionnaire
from annotation.services.decision_restoring import RestoredDecisions
from annotation.services.errors import Refused
from annotation.services.imports import SourceFile, dialogues_import
from annotation.services.label_sets import label_set_decided, label_set_lock
from annotation.services.labelling import Change, label_set_change
from annotation.services.projects import project_create

logger = logging.getLogger(__name__)

IMPORTED = "imported"  # where labels of such gold come from
USUAL = "cmas"  # the questionnaire of the released form
AT_ONCE = 50  # dialogues


@dataclass(slots=True)
class Restored:
    """What came back. `fixed` counts the dialogues with a split that they keep, `not_read` says what of the labels did
    not come back, and `notes` what else did not, or is remarkable."""

    project: Project
    dialogues: int = 0
    utterances: int = 0
    labels: int = 0
    splits: Counter[str] = field(default_factory=Counter)
    fixed: int = 0
    not_read: list[NotRead] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "project": self.project.name,
            "slug": self.project.slug,
            "questionnaire": self.project.questionnaire_name,
            "version": self.project.questionnaire_version,
            "dialogues": self.dialogues,
            "utterances": self.utterances,
            "labels": self.labels,
            "fixed": self.fixed,
            "splits": dict(self.splits),
            "not_read": [one.as_json() for one in self.not_read],
            "notes": self.notes,
        }


def export_restore(*, folder: Path, actor: User, project: Project | None = None, new: str = "") -> Restored:
    """Read the folder into `project`, or into a new one of the name `new`. Every dialogue has finished, locked gold.

    Raises Refused for a folder that cannot be read, a person who does not supervise the project, and a project that is
    archived, holds dialogues or is labelled by another questionnaire. Nothing is written then.
    """
    if project is not None:
        _check_supervisor(actor, project)
    elif not actor.may_create_projects:
        raise Refused(f"{actor.display_name} may not create projects; supervisors and administrators do.")
    try:
        source = read_source(folder, _find)
        with transaction.atomic():
            target = _created(source, new, actor) if project is None else _emptied(source, project)
            return _write(source, target, actor)
    except BadSource as error:
        raise Refused(str(error), field="folder") from error


def _find(name: str, version: str) -> Questionnaire:
    try:
        return get_questionnaire(name, version)
    except QuestionnaireError as error:
        raise UnknownQuestionnaire(str(error)) from error


def _check_supervisor(actor: User, project: Project) -> None:
    if Role.SUPERVISOR not in actor.roles_in(project):
        raise Refused(f"{actor.display_name} is no supervisor of {project}; gold is imported by one.", field="by")


def _created(source: Source, name: str, actor: User) -> Project:
    """A project with the questionnaire, and its version, that the labels answer."""
    found = project_create(name=name, questionnaire=source.name or USUAL, creator=actor)
    if source.version and source.version != found.questionnaire_version:
        found.questionnaire_version = source.version
        found.save(update_fields=["questionnaire_version"])
    return found


def _emptied(source: Source, project: Project) -> Project:
    """The project, held for this transaction, if it can take the source up."""
    held = Project.objects.select_for_update().get(pk=project.pk)
    if held.archived_at:
        raise Refused(f"{held} is archived; restore it before gold is imported.")
    if held.dialogues.exists():
        raise Refused(f"{held} has dialogues; an export is imported into a project without any.")
    own = held.questionnaire_name, held.questionnaire_version
    if source.name and own != (source.name, source.version):
        raise Refused(
            f"{held} is labelled by the questionnaire {own[0]} {own[1]}, but the export by {source.name} "
            f"{source.version}; import it with --new."
        )
    return held


def _write(source: Source, project: Project, actor: User) -> Restored:
    done = Restored(project, notes=list(source.notes))
    questionnaire = project.questionnaire
    origin = {
        "from": IMPORTED,
        "sha256": source.sha256,
        "title": source.manifest.title if source.manifest else "",
        "by": actor.pk,
        "at": timezone.now().isoformat(),
    }
    decisions = RestoredDecisions(source)
    found = source.dialogues(questionnaire)
    while some := list(islice(found, AT_ONCE)):
        for item, dialogue in zip(some, _dialogues(project, some, actor), strict=True):
            done.not_read += item.not_read
            stored, otherwise = _gold(questionnaire, item, dialogue, origin, actor)
            decisions.add(questionnaire, dialogue, stored)
            done.not_read += otherwise
            done.labels += len(item.labels)
            done.utterances += len(item.parsed.utterances)
            done.splits[item.split.value if item.split else "drawn"] += 1
            done.fixed += item.split is not None
            done.dialogues += 1
    done.notes += decisions.write(project.pk, actor)
    logger.info("%s imported %d dialogues with gold into project %d", actor, done.dialogues, project.pk)
    return done


def _dialogues(project: Project, some: Sequence[SourceDialogue], actor: User) -> list[Dialogue]:
    """Write the dialogues, each with the split that it keeps, and give them in their order."""
    files = [SourceFile(ParsedFile(item.file, "", "utf-8", (item.parsed,)), item.sha256) for item in some]
    result = dialogues_import(project=project, files=files, actor=actor)
    if result.errors:
        raise Refused(str(result.errors[0]), field="folder")
    rows = Dialogue.objects.select_related("project").filter(project=project, external_id__in=result.written)
    by_id = {row.external_id: row for row in rows}
    found = [by_id[item.parsed.external_id] for item in some]
    for item, dialogue in zip(some, found, strict=True):
        dialogue.fixed_split = item.split.value if item.split else None
    Dialogue.objects.bulk_update(found, ["fixed_split"])
    return found


def _gold(
    questionnaire: Questionnaire,
    item: SourceDialogue,
    dialogue: Dialogue,
    origin: Mapping[str, Any],
    actor: User,
) -> tuple[list[Label], list[NotRead]]:
    """The labels as gold that is finished and locked, its history beginning with the import; and what they do not say
    as the file does."""
    gold = LabelSet.objects.create(
        dialogue=dialogue, owner=Owner.GOLD, purpose=Purpose.WORK, assigned_by=actor, sources={IMPORTED: dict(origin)}
    )
    provenance = {**origin, "sources": [], "decided": False}
    changes = [Change(str(uuid.uuid4()), replace(label, id=""), provenance) for label in item.labels]
    try:
        saved = label_set_change(
            label_set=gold,
            actor=actor,
            version=0,
            key=str(uuid.uuid4()),
            changes=changes,
            kind=EventKind.IMPORT,
            deciding=True,
        )
    except (InvalidLabel, Refused) as error:
        raise Refused(f"Dialogue {dialogue}: its labels cannot be imported. {error}", field="folder") from error
    label_set_decided(label_set=gold, actor=actor, version=1, key=str(uuid.uuid4()))
    label_set_lock(label_set=gold, actor=actor, version=2, key=str(uuid.uuid4()))
    stored = sorted(saved.labels, key=lambda label: label.rank)
    if item.written is None:
        return stored, []
    pairs = zip(stored, write_labels(questionnaire, stored), item.written, strict=True)
    return stored, [
        NotRead(
            dialogue.external_id, label.position, f"A label comes back in another spelling than beside {item.file}."
        )
        for label, own, given in pairs
        if json.dumps(own) != json.dumps(given)
    ]


def summary(done: Restored) -> str:
    """One sentence for people."""
    splits = ", ".join(f"{number} {split}" for split, number in sorted(done.splits.items()))
    return (
        f"{counted(done.dialogues, 'dialogue')} with {counted(done.utterances, 'utterance')} and "
        f"{counted(done.labels, 'label')} are the gold of “{done.project}” ({splits})."
    )
