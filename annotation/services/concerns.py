"""Questions of annotators: raised on an utterance or a label, talked over, closed, published as guideline text."""

from __future__ import annotations

from uuid import UUID

from django.db import IntegrityError, transaction

from annotation.models import Concern, ConcernMessage, ConcernStatus, GuidelineNote, Label, LabelSet, User
from annotation.services.checks import checked_text
from annotation.services.errors import NotEditable, Refused
from annotation.services.guideline_notes import guideline_note_add
from annotation.services.readings import utterance_ids_of

MAX_LENGTH = 4000


def concern_raise(
    *, label_set: LabelSet, actor: User, position: int, text: str, key: str, label_id: str = ""
) -> Concern:
    """Ask about an utterance, or about one of its labels. The same `key` again gives the concern it made.

    Asking changes no label, so it is possible in a finished and in a locked dialogue too. Raises Refused for an empty
    text, an utterance that is not there and a label that is not at it, NotEditable in an archived dialogue.
    """
    if not key or len(key) > 64:
        raise Refused("A request needs a key of 1 to 64 characters.", field="key")
    earlier = Concern.objects.filter(label_set=label_set, key=key).first()
    if earlier:
        return earlier
    _refuse_archived(label_set)
    text = checked_text(text, field="text", what="The question", longest=MAX_LENGTH)
    dialogue = label_set.dialogue
    utterance_id = utterance_ids_of(dialogue.pk, dialogue.fingerprint).get(position)
    if utterance_id is None:
        raise Refused(f"This dialogue has no utterance {position}.", field="position")
    if label_id and not _has_label(label_set, utterance_id, label_id):
        raise Refused("That label is not there any more; ask about the utterance instead.", field="label")
    try:
        with transaction.atomic():
            return Concern.objects.create(
                label_set=label_set,
                utterance_id=utterance_id,
                label_id=label_id,
                raised_by=actor,
                text=text,
                key=key,
            )
    except IntegrityError:
        return Concern.objects.get(label_set=label_set, key=key)


@transaction.atomic
def concern_answer(*, concern: Concern, actor: User, text: str) -> ConcernMessage:
    """Answer, once or again; an answer to a closed concern opens it for its annotator again.

    The same text by the same person right after itself is the same answer. Raises Refused for an empty text.
    """
    _refuse_archived(concern.label_set)
    text = checked_text(text, field="text", what="The answer", longest=MAX_LENGTH)
    last = concern.messages.last()
    again = last and not last.is_reply and last.author_id == actor.pk and last.text == text
    if last and again and concern.status == ConcernStatus.ANSWERED:
        return last
    answer = ConcernMessage.objects.create(concern=concern, author=actor, text=text)
    _to_status(concern, ConcernStatus.ANSWERED)
    return answer


def concern_reply(*, concern: Concern, actor: User, text: str, key: str) -> ConcernMessage:
    """Go on with one's own concern, answered or not: it waits for an answer then, also when it was closed before.

    The same `key` again gives the reply it made. Raises Refused for an empty text and for anybody but the annotator who
    asked, NotEditable in an archived dialogue.
    """
    if concern.raised_by_id != actor.pk:
        raise Refused("Only who asked can reply here.")
    if not key or len(key) > 64:
        raise Refused("A request needs a key of 1 to 64 characters.", field="key")
    if earlier := concern.messages.filter(key=key).first():
        return earlier
    _refuse_archived(concern.label_set)
    text = checked_text(text, field="text", what="The reply", longest=MAX_LENGTH)
    try:
        with transaction.atomic():
            reply = ConcernMessage.objects.create(concern=concern, author=actor, is_reply=True, text=text, key=key)
            _to_status(concern, ConcernStatus.OPEN)
            return reply
    except IntegrityError:
        return concern.messages.get(key=key)


@transaction.atomic
def concern_close(*, concern: Concern, seen: int | None = None) -> None:
    """Nothing more is to be said: by who answers, or by the annotator who has read the answer.

    `seen` is how many messages whoever closes it has before them. Raises Refused where there are more by now: nobody
    would look at them in a closed concern.
    """
    _refuse_archived(concern.label_set)
    if seen is not None and concern.messages.count() > seen:
        raise Refused("Something was said here meanwhile; read it before you close the question.")
    _to_status(concern, ConcernStatus.CLOSED)


@transaction.atomic
def concern_publish(
    *, concern: Concern, actor: User, text: str, intent: str = "", slot: str = "", example: str = ""
) -> GuidelineNote:
    """Make guideline text of what a concern came to. Nothing of the concern itself goes into it: only what is given.

    Raises as `guideline_note_add` does.
    """
    note = guideline_note_add(
        project=concern.label_set.dialogue.project,
        dialogue=concern.label_set.dialogue,
        actor=actor,
        text=text,
        intent=intent,
        slot=slot,
        example=example,
        concern=concern,
    )
    concern.save(update_fields=["changed_at"])  # whoever watches the concerns sees that it was published
    return note


def _to_status(concern: Concern, status: ConcernStatus) -> None:
    concern.status = status
    concern.save(update_fields=["status", "changed_at"])


def _refuse_archived(label_set: LabelSet) -> None:
    if label_set.dialogue.archived_at or label_set.dialogue.project.archived_at:
        raise NotEditable("This dialogue is archived; what was asked about it can be read but not changed.")


def _has_label(label_set: LabelSet, utterance_id: int, label_id: str) -> bool:
    try:
        pk = UUID(label_id)
    except ValueError:
        return False
    return Label.objects.filter(pk=pk, label_set=label_set, utterance_id=utterance_id).exists()
