"""Labels in from a portal file: one event; the same file twice changes nothing; other labels stay unless replaced."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import transaction

from annotation.domain.labels import Label as LabelData
from annotation.domain.notices import Notice
from annotation.domain.numbers import counted
from annotation.domain.portal_file import Unknown, read_labels
from annotation.domain.text_decoding import UnreadableFile, decode
from annotation.domain.unusual import checked_import
from annotation.domain.validation import InvalidLabel
from annotation.models import Dialogue, EventKind, LabelSet, Membership, Owner, Purpose, User
from annotation.services.errors import Refused
from annotation.services.labelling import Change, label_set_change
from annotation.services.readings import labels_of, utterances_of
from annotation.services.work_gate import check_may_work

MAX_BYTES = 5 * 2**20


class HasLabels(Refused):
    """The label set holds other labels, which an import does not touch unless it is told to replace them."""


class UnreadableLabels(Refused):
    """A file that is no portal file of this dialogue; `notices` are everything that is wrong with it."""

    def __init__(self, notices: Sequence[Notice]) -> None:
        more = f" ({len(notices) - 1} more errors)" if len(notices) > 1 else ""
        super().__init__(f"{notices[0]}{more}", field="file")
        self.notices = tuple(notices)


@dataclass(frozen=True, slots=True)
class ImportedLabels:
    """What an import did. `labels` are in the file, `added` and `removed` what that changed, `version` is the newest.

    `unknown` says what of the file was not understood (and is kept), `unusual` which labels nobody could have made in
    the portal, such as a diagnosis by the patient, in sentences that name the utterance.
    """

    labels: int
    added: int
    removed: int
    version: int
    unusual: tuple[str, ...] = ()
    unknown: tuple[Unknown, ...] = ()

    @property
    def unchanged(self) -> bool:
        return not self.added and not self.removed

    @property
    def summary(self) -> str:
        """One sentence for people."""
        count = counted(self.labels, "label")
        if self.unchanged:
            if not self.labels:
                return "The file is empty."
            return f"The file's {count} {'was' if self.labels == 1 else 'were'} there already; nothing was changed."
        removed = f", {self.removed} other removed" if self.removed else ""
        same = self.labels - self.added
        return f"{count} in the file: {self.added} added{f', {same} there already' if same else ''}{removed}."


def portal_file_import(
    *, label_set: LabelSet, actor: User, data: bytes, file: str, key: str, replace_others: bool = False
) -> ImportedLabels:
    """Read a portal file's bytes and import its labels into the label set.

    Raises UnreadableLabels for a file that is none or belongs to a longer dialogue, and as `labels_import` does.
    """
    dialogue = label_set.dialogue
    if len(data) > MAX_BYTES:
        raise Refused(
            f"{file} has more than {MAX_BYTES // 2**20} MiB, too much for the labels of one dialogue.", field="file"
        )
    try:
        text, _ = decode(data, file)
    except UnreadableFile as error:
        raise UnreadableLabels([error.notice]) from error
    found = read_labels(dialogue.project.questionnaire, text, file=file, utterances=dialogue.utterance_count)
    if found.notices:
        raise UnreadableLabels(found.notices)
    done = labels_import(label_set=label_set, actor=actor, labels=found.labels, key=key, replace_others=replace_others)
    return replace(done, unknown=tuple(found.unknown))


def labels_import(
    *, label_set: LabelSet, actor: User, labels: Sequence[LabelData], key: str, replace_others: bool = False
) -> ImportedLabels:
    """Bring the label set to exactly these labels, as one event of the kind "import".

    Labels that are there already stay as they are, so that the same labels again change nothing. Raises HasLabels when
    the label set holds others and `replace_others` is off, NotEditable, Conflict, and Refused for an impossible label.
    """
    if label_set.owner == Owner.GOLD and label_set.purpose == Purpose.WORK:
        raise Refused("Gold is made by adjudication, where every label says from where it comes; none is imported.")
    with transaction.atomic():
        label_set.refresh_from_db(fields=["version", "status"])
        wanted, unusual = _stored_forms(label_set, labels)
        spare: dict[str, list[str]] = {}
        for label in labels_of(label_set):
            spare.setdefault(_content(label), []).append(label.id)
        added = [label for label in wanted if not _taken(spare, label)]
        others = [pk for ids in spare.values() for pk in ids]
        if others and not replace_others:
            raise HasLabels(_others_there(len(others), label_set))
        changes = [Change(pk, None) for pk in others]
        changes += [Change(str(uuid.uuid4()), replace(label, id="")) for label in added]
        if changes:
            label_set_change(
                label_set=label_set,
                actor=actor,
                version=label_set.version,
                key=key,
                changes=changes,
                kind=EventKind.IMPORT,
            )
    return ImportedLabels(len(wanted), len(added), len(others), label_set.version, tuple(unusual))


@transaction.atomic
def label_set_for_import(*, dialogue: Dialogue, annotator: User, actor: User | None = None) -> LabelSet:
    """The person's label set for work on this dialogue, made if there is none.

    A new one is new work: raises NotQualified for somebody who may not be given any, and Refused for an outsider.
    """
    held = LabelSet.objects.real_work().filter(dialogue=dialogue, annotator=annotator).order_by("pk").first()
    if held is None:
        if not Membership.objects.filter(project_id=dialogue.project_id, user=annotator).exists():
            raise Refused(
                f"{annotator.display_name} is no member of {dialogue.project}; add them first.", field="annotator"
            )
        check_may_work(dialogue.project, annotator)
        held = LabelSet.objects.create(
            dialogue=dialogue, owner=Owner.ANNOTATOR, annotator=annotator, purpose=Purpose.WORK, assigned_by=actor
        )
    held.dialogue = dialogue
    return held


def _stored_forms(label_set: LabelSet, labels: Sequence[LabelData]) -> tuple[list[LabelData], list[str]]:
    """The labels as they will be stored, and sentences about unusual ones. Raises Refused for an impossible one."""
    dialogue = label_set.dialogue
    speakers = {turn.position: turn.speaker for turn in utterances_of(dialogue.pk, dialogue.fingerprint)}
    stored: list[LabelData] = []
    unusual: list[str] = []
    for number, label in enumerate(labels, start=1):
        if label.position not in speakers:
            raise Refused(
                f"Label {number} is about utterance {label.position}, which {dialogue} has not.", field="file"
            )
        try:
            form, said = checked_import(dialogue.project.questionnaire, label, speakers[label.position])
        except InvalidLabel as error:
            raise Refused(f"Label {number} cannot be imported: {error}", field="file") from error
        stored.append(form)
        if said:
            unusual.append(f"Label {number} (utterance {label.position}) is kept, but unusual: {said}")
    return stored, unusual


def _content(label: LabelData) -> str:
    """What a label says, as text: two labels with the same say the same of the same utterance."""
    parts = [label.position, label.intent, label.intent_name, label.slot, label.answers, label.checks, label.kept]
    return json.dumps(parts, sort_keys=True)


def _taken(spare: dict[str, list[str]], label: LabelData) -> bool:
    """Whether one of the labels that are there already is this one; each of them counts once."""
    ids = spare.get(_content(label))
    if not ids:
        return False
    ids.pop(0)
    return True


def _others_there(count: int, label_set: LabelSet) -> str:
    labels = "a label that is" if count == 1 else f"{count} labels that are"
    return f"{label_set.dialogue} has {labels} not in the file; import with “replace” to put the file's in their place."
