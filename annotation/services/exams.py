"""Which dialogues train and test people, their gold, and why the gold is as it is."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.db.models import Count, Max, QuerySet

from annotation.domain.json_text import RepeatedKeys, parse_json
from annotation.domain.text_decoding import UnreadableFile, decode
from annotation.models import (
    Dialogue,
    ExamDialogue,
    ExamKind,
    Explanation,
    LabelSet,
    Owner,
    Project,
    Purpose,
    User,
    Utterance,
)
from annotation.services.errors import Refused
from annotation.services.label_imports import MAX_BYTES, ImportedLabels, labels_import, portal_file_import
from annotation.services.qualification import gold_of
from annotation.services.readings import labels_of
from annotation.services.work_gate import check_not_in_test, check_test_stays

MAX_EXPLANATION = 4000
MAX_ATTEMPTS = 99


@transaction.atomic
def exam_add(*, dialogue: Dialogue, kind: str, actor: User | None) -> ExamDialogue:
    """Make a dialogue one for training or for the test, at the end of their order, with empty gold to fill.

    A dialogue is for one of the two, since whoever was trained on it knows its gold; it is not for training while
    somebody takes a test with it. Raises Refused.
    """
    if kind not in ExamKind.values:
        raise Refused("Choose “training” or “test”.", field="kind")
    if dialogue.archived_at or dialogue.project.archived_at:
        raise Refused(f"{dialogue} is archived; restore it first.", field="dialogue")
    present = ExamDialogue.objects.filter(dialogue=dialogue).first()
    if present is not None:
        raise Refused(f"{dialogue} is a {present.kind} dialogue already.", field="dialogue")
    trained = LabelSet.objects.filter(dialogue=dialogue, owner=Owner.ANNOTATOR, purpose=Purpose.TRAINING)
    if kind == ExamKind.TEST and trained.exists():
        raise Refused(f"People were trained on {dialogue} and know its gold; choose another one.", field="dialogue")
    if kind == ExamKind.TRAINING:
        check_not_in_test(dialogue.project, [dialogue.pk])
    last = ExamDialogue.objects.filter(dialogue__project=dialogue.project, kind=kind).aggregate(last=Max("order"))
    exam = ExamDialogue.objects.create(dialogue=dialogue, kind=kind, order=(last["last"] or 0) + 1)
    LabelSet.objects.get_or_create(
        dialogue=dialogue, owner=Owner.GOLD, purpose=kind, defaults={"annotator": None, "assigned_by": actor}
    )
    return exam


@transaction.atomic
def exam_remove(*, exam: ExamDialogue) -> None:
    """Take a dialogue out; its gold and what people labelled stay. Raises Refused where that would end
    a test that work waits for."""
    check_test_stays(exam.dialogue.project, [exam.dialogue_id])
    LabelSet.objects.filter(
        dialogue=exam.dialogue, owner=Owner.GOLD, purpose=exam.kind, version=0, labels=None, events=None
    ).delete()
    exam.delete()


@transaction.atomic
def exam_move(*, exam: ExamDialogue, by: int) -> None:
    """Move a dialogue up (-1) or down (+1) in the order in which people get them; past the end it stays."""
    rows = list(ExamDialogue.objects.filter(dialogue__project=exam.dialogue.project, kind=exam.kind))
    place = next(number for number, row in enumerate(rows) if row.pk == exam.pk)
    to = place + (1 if by > 0 else -1)
    if 0 <= to < len(rows):
        rows[place], rows[to] = rows[to], rows[place]
    for number, row in enumerate(rows, start=1):
        row.order = number
    ExamDialogue.objects.bulk_update(rows, ["order"])


@transaction.atomic
def exam_settings(*, project: Project, pass_mark: float, attempt_limit: int | None = None) -> None:
    """Set the pass mark (F from 0 to 1) and how often a person may take the test, None for as often as they like.

    Raises Refused.
    """
    if not 0 <= pass_mark <= 1:
        raise Refused("The pass mark is an F from 0 to 1, such as 0.8.", field="pass_mark")
    if attempt_limit is not None and not 1 <= attempt_limit <= MAX_ATTEMPTS:
        raise Refused(f"The number of attempts is one from 1 to {MAX_ATTEMPTS}.", field="attempt_limit")
    project.pass_mark, project.attempt_limit = pass_mark, attempt_limit
    project.save(update_fields=["pass_mark", "attempt_limit"])


@transaction.atomic
def exam_gold_import(*, exam: ExamDialogue, actor: User, data: bytes, file: str, key: str) -> ImportedLabels:
    """Make the labels of a portal file the gold, in place of what was there.

    Raises Refused for a file without labels, since nobody can be compared with such gold, and as `portal_file_import`.
    """
    done = portal_file_import(label_set=_gold(exam), actor=actor, data=data, file=file, key=key, replace_others=True)
    if not done.labels:
        raise Refused(f"{file} has no labels, so it cannot be the gold.", field="file")
    return done


@transaction.atomic
def exam_gold_copy(*, exam: ExamDialogue, source: LabelSet, actor: User, key: str) -> ImportedLabels:
    """Make the labels of another label set on the dialogue the gold. Raises Refused for one that is no candidate."""
    if not gold_candidates(exam).filter(pk=source.pk).exists():
        raise Refused("Choose one of the listed label sets.", field="source")
    return labels_import(label_set=_gold(exam), actor=actor, labels=labels_of(source), key=key, replace_others=True)


def gold_candidates(exam: ExamDialogue) -> QuerySet[LabelSet]:
    """Label sets on the dialogue that have labels (`label_count`) and are no training or test themselves."""
    rows = LabelSet.objects.filter(dialogue=exam.dialogue).exclude(purpose__in=[Purpose.TRAINING, Purpose.TEST])
    rows = rows.annotate(label_count=Count("labels")).filter(label_count__gt=0)
    return rows.select_related("annotator").order_by("owner", "annotator__username", "pk")


@transaction.atomic
def explanations_write(*, dialogue: Dialogue, texts: Mapping[int, str]) -> int:
    """Set explanations by utterance position; an empty text takes one away. Returns how many were changed."""
    rows = Utterance.objects.filter(dialogue=dialogue, position__in=texts).select_related("explanation")
    utterances = {row.position: row for row in rows}
    for position, text in texts.items():
        if position not in utterances:
            raise Refused(f"{dialogue} has no utterance {position}.", field="file")
        if len(text) > MAX_EXPLANATION:
            raise Refused(f"The explanation of utterance {position} is longer than {MAX_EXPLANATION:,} signs.")
    changed = 0
    for position, given in texts.items():
        utterance, text = utterances[position], given.replace("\r\n", "\n").strip()
        held = getattr(utterance, "explanation", None)
        if text == (held.text if held else ""):
            continue
        changed += 1
        if text:
            Explanation.objects.update_or_create(utterance=utterance, defaults={"text": text})
        elif held:
            held.delete()
    return changed


def explanations_import(*, dialogue: Dialogue, data: bytes, file: str) -> int:
    """Explanations from JSON, `{"12": "why", …}` by the utterance's number; others stay. Returns how many changed."""
    if len(data) > MAX_BYTES:
        raise Refused(f"{file} has more than {MAX_BYTES // 2**20} MiB.", field="file")
    try:
        content = parse_json(decode(data, file)[0], file)
    except UnreadableFile as error:
        raise Refused(str(error.notice), field="file") from error
    if not isinstance(content, dict):
        raise Refused(
            f'{file} must be a JSON object of utterance numbers and texts, such as {{"12": "…"}}.', field="file"
        )
    if isinstance(content, RepeatedKeys):
        raise Refused(f"{file} names utterance {content.repeated[0]} twice.", field="file")
    texts: dict[int, str] = {}
    for uid, text in content.items():
        if not (uid.isascii() and uid.isdigit() and len(uid) < 10):
            raise Refused(f"“{uid[:40]}” in {file} is no number of an utterance.", field="file")
        if not isinstance(text, str):
            raise Refused(f"The explanation of utterance {uid} in {file} must be a text.", field="file")
        texts[int(uid)] = text
    return explanations_write(dialogue=dialogue, texts=texts)


def explanations_of(dialogue: Dialogue) -> dict[int, str]:
    """The explanations of a dialogue by utterance position."""
    rows = Explanation.objects.filter(utterance__dialogue=dialogue)
    return dict(rows.values_list("utterance__position", "text"))


def _gold(exam: ExamDialogue) -> LabelSet:
    gold = gold_of(exam.dialogue_id, exam.kind)
    if gold is None:
        LabelSet.objects.create(dialogue=exam.dialogue, owner=Owner.GOLD, purpose=exam.kind)
        gold = gold_of(exam.dialogue_id, exam.kind)
    assert gold is not None
    return gold
