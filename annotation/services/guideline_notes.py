"""What a project adds to its guidelines while the work goes on. A note names nobody and shows no dialogue."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.domain.notices import shortened
from annotation.domain.quotations import quoted
from annotation.models import Concern, Dialogue, GuidelineNote, Project, User
from annotation.services.checks import checked_text
from annotation.services.errors import Refused
from annotation.services.readings import utterances_of

MAX_LENGTH = 4000


@transaction.atomic
def guideline_note_add(
    *,
    project: Project,
    actor: User,
    text: str,
    intent: str = "",
    slot: str = "",
    example: str = "",
    concern: Concern | None = None,
    dialogue: Dialogue | None = None,
) -> GuidelineNote:
    """Add a note to the guideline of an intent, of a slot, or, with neither, to the project's general guideline.

    `dialogue` is what gave rise to it, if one did. Nothing said there may be repeated: who labelled it would know it
    again, and with it that somebody else works on it too. A concern is published once at a time: again, it gives the
    note that stands. Raises Refused for a text that is empty, too long or a quotation, an intent or slot that the
    questionnaire has not, and in an archived project.
    """
    if project.archived_at is not None:
        raise Refused(f"{project} is archived; restore it before its guidelines are changed.")
    text = checked_text(text, field="text", what="The guideline", longest=MAX_LENGTH)
    if len(example) > MAX_LENGTH:
        raise Refused(f"An example may have {MAX_LENGTH} characters.", field="example")
    if intent and project.questionnaire.intent(intent) is None:
        raise Refused(f"The questionnaire has no intent “{intent}”.", field="intent")
    if slot and project.questionnaire.slot(slot) is None:
        raise Refused(f"The questionnaire has no slot “{slot}”.", field="slot")
    if dialogue:
        _refuse_quotation(dialogue, text=text, example=example)
    try:
        with transaction.atomic():
            return GuidelineNote.objects.create(
                project=project,
                author=actor,
                text=text,
                intent=intent,
                slot=slot,
                example=example.strip(),
                concern=concern,
            )
    except IntegrityError:
        return GuidelineNote.objects.get(concern=concern, withdrawn_at=None)


def _refuse_quotation(dialogue: Dialogue, **texts: str) -> None:
    utterances = [turn.text for turn in utterances_of(dialogue.pk, dialogue.fingerprint)]
    for field, text in texts.items():
        said = quoted(text, utterances)
        if not said:
            continue
        raise Refused(
            f"“{shortened(said)}” is what was said in the dialogue; put it in other words, so that nobody can tell "
            "which dialogue it is.",
            field=field,
        )


def guideline_note_withdraw(*, note: GuidelineNote) -> None:
    """Take a note out of the guidelines; it is kept as what was said at the time. Again, it changes nothing."""
    GuidelineNote.objects.filter(pk=note.pk, withdrawn_at=None).update(withdrawn_at=timezone.now())
    note.refresh_from_db(fields=["withdrawn_at"])
