"""Gold: what two annotators agree on is accepted, a third person decides the rest, and every label says from where.

Gold is the dialogue's label set of owner "gold" and purpose "work". Decisions are rows beside it; its labels follow
from them, are written through `services.labelling` as everything else is, and carry their provenance. The gold keeps in
`sources` which label sets it is made from, the fingerprint of each utterance as it was taken up, and the share that a
review looks at. Who has had the annotators' names shown is kept beside the dialogue (`services.blindness`).
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.domain.adjudication import AdjudicationError, Decision, Resolution, resolve, unblinded
from annotation.domain.labels import Label as LabelData
from annotation.domain.validation import checked_label
from annotation.models import (
    AdjudicationDecision,
    Dialogue,
    GuidelineNote,
    LabelEvent,
    LabelSet,
    Owner,
    Project,
    Purpose,
    Status,
    User,
)
from annotation.services.adjudication_cases import Case, case_of
from annotation.services.blindness import names_show
from annotation.services.errors import Conflict, Refused
from annotation.services.gold import Decided, gold_brought_up
from annotation.services.guideline_notes import guideline_note_add
from annotation.services.label_sets import label_set_decided, label_set_reopen, label_set_return
from annotation.services.labelling import Saved, events_since
from annotation.services.readings import label_as_json, utterance_ids_of, utterances_of

ADDED = "added-"


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision as it was made on what was shown: A and B are those of the page.

    `pairing` is the key of a pairing, "added-<number>" for something written beside them earlier, "" to write more.
    """

    position: int
    pairing: str
    resolution: Resolution
    labels: tuple[LabelData, ...] = ()
    reason: str = ""
    error_type: str = ""


def gold_decide(
    *, dialogue: Dialogue, actor: User, version: int, key: str, choices: Sequence[Choice], seconds: int = 0
) -> Decided:
    """Decide. The first decision on a dialogue also accepts all that both annotators agree on.

    Raises Refused for what does not fit, InvalidLabel for a label that nobody could make, Conflict and NotEditable as a
    change of labels does. The same `key` again does nothing a second time.
    """
    if not choices:
        raise Refused("There is nothing to decide.")
    places = [(choice.position, choice.pairing) for choice in choices if choice.pairing]
    if len(set(places)) != len(places):
        raise Refused("One request may decide on the same labels only once.", field="decisions")
    case = _ready(dialogue)
    if replayed := _replayed(case, key):
        return replayed
    with transaction.atomic():
        gold = _opened(case, actor, version)
        for choice in choices:
            _decide(case, gold, actor, choice)
        return gold_brought_up(case, actor, key, {choice.position for choice in choices}, seconds=seconds)


def gold_undo(*, dialogue: Dialogue, actor: User, version: int, key: str) -> Decided:
    """Take the last decision back; what it replaced stands again. Raises Refused when there is none."""
    case = _ready(dialogue)
    if replayed := _replayed(case, key):
        return replayed
    last = max((row.version for row in case.rows), default=0)
    if not last:
        raise Refused("There is no decision that could be taken back.")
    rows = [row for row in case.rows if row.version == last]
    with transaction.atomic():
        _opened(case, actor, version)
        for row in rows:
            if row.previous is None:
                row.delete()
            else:
                _restore(row)
        return gold_brought_up(case, actor, key, {case.positions[row.utterance_id] for row in rows})


def gold_finish(*, dialogue: Dialogue, actor: User, version: int, key: str) -> Decided:
    """Mark the gold as done. Everything must be decided, and both annotators must have finished."""
    case = _ready(dialogue)
    if replayed := _replayed(case, key):
        return replayed
    if case.left:
        place = min(case.open)
        count = f"{case.left} conflicts wait" if case.left > 1 else "One conflict waits"
        raise Refused(f"{count} for a decision, the first at utterance {place}.")
    if case.unfinished:
        raise Refused("An annotator has reopened their labels; the gold can be finished once they are done again.")
    with transaction.atomic():
        gold = _opened(case, actor, version)
        if case.gold is None or case.stale:
            version = gold_brought_up(case, actor, f"{key[:56]}:labels", set()).version
            gold.refresh_from_db()
        return _said(label_set_decided(label_set=gold, actor=actor, version=version, key=key))


def gold_reopen(*, dialogue: Dialogue, actor: User, version: int, key: str) -> Decided:
    """Go on with a finished gold."""
    case = _ready(dialogue)
    if case.gold is None:
        raise Refused("There is no gold of this dialogue yet.")
    return _said(label_set_reopen(label_set=case.gold, actor=actor, version=version, key=key))


@transaction.atomic
def gold_refresh(*, dialogue: Dialogue) -> None:
    """Give finished gold back when labels that it was made from have changed; safe to run twice.

    Where the change leaves nothing to decide, the gold follows it and stays done. What is locked stays as it is.
    """
    case = case_of(dialogue)
    if case is None or case.gold is None or case.gold.status != Status.DONE or not case.stale:
        return
    gold = case.gold
    label_set_return(label_set=gold, actor=None, version=gold.version, key=str(uuid.uuid4()))
    if case.open:
        return
    version = gold_brought_up(case, None, str(uuid.uuid4()), set()).version
    gold.refresh_from_db()
    label_set_decided(label_set=gold, actor=None, version=version, key=str(uuid.uuid4()))


@transaction.atomic
def gold_begin_review(*, dialogue: Dialogue, actor: User, share: float) -> LabelSet:
    """Begin the review of a dialogue that one person labelled: `share` of its utterances will be looked at.

    The others are taken as they are. Raises Refused for a share that is none, and for a dialogue of two annotators.
    """
    if not 0 < share <= 1:
        raise Refused("The share of utterances to look at must be more than 0 and at most 100 %.", field="share")
    case = _ready(dialogue)
    if not case.is_review:
        raise Refused(f"{dialogue} was labelled by two people; their labels are adjudicated, not reviewed.")
    if case.gold is not None:
        return case.gold
    gold = _opened(case, actor, 0)
    gold.sources["share"] = share
    gold.save(update_fields=["sources"])
    gold_brought_up(case, actor, str(uuid.uuid4()), set())
    return gold


def gold_review_all(*, dialogue: Dialogue, actor: User, version: int, key: str) -> Decided:
    """Look at all utterances after all: what was taken unseen leaves the gold and waits for a decision.

    What was decided stands. Raises Refused where nothing was left out, Conflict and NotEditable as deciding does.
    """
    case = _ready(dialogue)
    if replayed := _replayed(case, key):
        return replayed
    if case.gold is None or not case.left_out:
        raise Refused("All utterances are looked at already.")
    unseen = set(case.left_out)
    with transaction.atomic():
        gold = _opened(case, actor, version)
        gold.sources["share"] = 1.0
        gold.save(update_fields=["sources"])
        return gold_brought_up(case, actor, key, unseen)


@transaction.atomic
def gold_reveal(*, dialogue: Dialogue, actor: User) -> dict[int, tuple[str, ...]]:
    """Say who A and B are, as they are shown, by utterance. From now on the person's decisions are not blind ones."""
    case = _ready(dialogue)
    names_show(dialogues=[dialogue], actor=actor)
    return names_shown(case)


def names_shown(case: Case) -> dict[int, tuple[str, ...]]:
    """Utterance → the names of A and B as they are shown there."""
    names = tuple(side.annotator.display_name if side.annotator else "" for side in case.sides)
    return {position: names[::-1] if case.exchanged(position) else names for position in case.pairings}


def agreed_accept(*, project: Project, actor: User | None = None) -> dict[str, int]:
    """Take what both annotators agree on into the gold of every dialogue that two have finished.

    Doing it again changes nothing. Returns the dialogues, the agreed labels and the conflicts that are left in them.
    """
    if project.archived_at is not None:
        raise Refused(f"{project} is archived; restore it before its gold is changed.")
    found = {"dialogues": 0, "agreed": 0, "conflicts": 0}
    dialogues = Dialogue.objects.open().filter(project=project)
    for dialogue in dialogues.filter(label_sets__owner=Owner.ANNOTATOR).distinct():
        dialogue.project = project
        case = case_of(dialogue)
        if case is None or case.is_review:
            continue
        if case.gold is None or (case.stale and Status(case.gold.status).editable):
            # Whoever decides in the very moment accepts what is agreed along with it.
            with suppress(Conflict), transaction.atomic():
                _opened(case, actor, case.version)
                gold_brought_up(case, actor, str(uuid.uuid4()), set())
        found["dialogues"] += 1
        found["agreed"] += case.agreed
        found["conflicts"] += case.left
    return found


def guideline_note_from_decision(
    *, dialogue: Dialogue, author: User, intent: str, slot: str, text: str, example: str
) -> GuidelineNote:
    """Turn a decision on `dialogue` into an example of the project's guidelines. The same once more is one note.

    Raises Refused as `guideline_note_add` does.
    """
    text, example = text.strip(), example.strip()
    notes = GuidelineNote.objects.filter(project=dialogue.project, withdrawn_at=None, intent=intent, slot=slot)
    known = notes.filter(text=text, example=example).first()
    return known or guideline_note_add(
        project=dialogue.project,
        dialogue=dialogue,
        actor=author,
        intent=intent,
        slot=slot,
        text=text,
        example=example,
    )


def _ready(dialogue: Dialogue) -> Case:
    case = case_of(dialogue)
    if case is None:
        raise Refused(f"{dialogue} cannot be decided on yet: its annotators have not finished it.")
    return case


def _replayed(case: Case, key: str) -> Decided | None:
    """What an earlier request of this key came to."""
    if case.gold is None or not LabelEvent.objects.filter(label_set=case.gold, key=key).exists():
        return None
    return Decided(case.gold.version, tuple(case.pairings), replayed=True)


def _said(saved: Saved) -> Decided:
    return Decided(saved.version, replayed=saved.replayed)


def _opened(case: Case, actor: User | None, version: int) -> LabelSet:
    """The gold at this version, made when there is none yet; within the transaction that writes. Raises Conflict."""
    gold = case.gold
    if gold is None:
        sources = {"label_sets": [side.pk for side in case.sides], "share": case.share, "prints": {}}
        gold, _ = LabelSet.objects.get_or_create(
            dialogue=case.dialogue,
            owner=Owner.GOLD,
            purpose=Purpose.WORK,
            defaults={"sources": sources, "assigned_by": actor},
        )
        gold.dialogue = case.dialogue
    else:
        # The case was read before this transaction began; whoever was quicker may have decided since.
        gold.refresh_from_db(fields=["version", "status", "sources"])
    if gold.version != version:
        raise Conflict(gold.version, events_since(gold, version))
    return gold


def _decide(case: Case, gold: LabelSet, actor: User, choice: Choice) -> None:
    """Write one decision."""
    row = _row_for(case, gold, choice)
    decision = _checked(case, choice)
    row.previous = _as_json(row) if row.pk else None
    row.resolution = decision.resolution.value
    row.labels = [label_as_json(label) for label in decision.labels]
    row.reason, row.error_type = decision.reason, decision.error_type
    row.source, row.version = case.print_of(choice.position), gold.version + 1
    row.decided_by, row.decided_at = actor, timezone.now()
    row.save()


def _row_for(case: Case, gold: LabelSet, choice: Choice) -> AdjudicationDecision:
    """The row of this decision: the one that it replaces, or a new one."""
    if choice.pairing.startswith(ADDED):
        number = choice.pairing.removeprefix(ADDED)
        found = next((row for row in case.added(choice.position) if str(row.pk) == number), None)
        if found is None:
            raise Refused(f"Utterance {choice.position}: that label is not there any more.")
        return found
    row = case.row(choice.position, choice.pairing)
    if row is not None:
        return row
    ids = utterance_ids_of(case.dialogue.pk, case.dialogue.fingerprint)
    if choice.position not in ids:
        raise Refused(f"This dialogue has no utterance {choice.position}.")
    return AdjudicationDecision(gold=gold, utterance_id=ids[choice.position], pairing=choice.pairing)


def _checked(case: Case, choice: Choice) -> Decision:
    """The choice as a decision on the true sides, its labels in their stored form."""
    turns = utterances_of(case.dialogue.pk, case.dialogue.fingerprint)
    speakers = {turn.position: turn.speaker for turn in turns}
    labels = []
    for label in choice.labels:
        if label.position != choice.position:
            raise Refused(f"Utterance {choice.position}: a label written here is about another utterance.")
        labels.append(checked_label(case.questionnaire, label, speakers[choice.position]))
    decision = Decision(choice.resolution, tuple(labels), choice.reason, choice.error_type)
    beside = not choice.pairing or choice.pairing.startswith(ADDED)
    if beside:
        _check_beside(choice, decision)
        return decision
    shown = next((item for item in case.shown(choice.position) if item.pairing.key == choice.pairing), None)
    if shown is None:
        raise Refused(f"The labels of utterance {choice.position} have changed since; look at them again.")
    decision = unblinded(shown, decision)
    pairing = next(item for item in case.pairings[choice.position] if item.key == choice.pairing)
    try:
        resolve([pairing], {pairing.key: decision})
    except AdjudicationError as error:
        # Its sentence speaks of the true sides, which stay hidden.
        raise Refused(f"“{choice.resolution}” cannot be chosen at utterance {choice.position}.") from error
    return decision


def _check_beside(choice: Choice, decision: Decision) -> None:
    writes = choice.resolution in (Resolution.NEW, Resolution.EDITED)
    if writes != bool(decision.labels) or not (writes or (choice.pairing and choice.resolution is Resolution.NONE)):
        raise Refused(f"Utterance {choice.position}: write a label to add one.")


_KEPT = ("resolution", "labels", "reason", "error_type", "source", "version", "previous")


def _as_json(row: AdjudicationDecision) -> dict[str, Any]:
    kept = {name: getattr(row, name) for name in _KEPT}
    return {**kept, "decided_by": row.decided_by_id, "decided_at": row.decided_at.isoformat()}


def _restore(row: AdjudicationDecision) -> None:
    """What the row said before its last change."""
    before = dict(row.previous or {})
    row.decided_by_id = before.pop("decided_by")
    row.decided_at = datetime.fromisoformat(before.pop("decided_at"))
    for name, value in before.items():
        setattr(row, name, value)
    row.save()
