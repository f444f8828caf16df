"""What doctors decide about surface forms and take back, what curators think of candidates, what colleagues are asked.

One decision holds for every occurrence of a surface form, now and later; utterances where the words mean something else
are left out of it and may have a decision of their own. A decision is never altered or deleted: another one takes its
place, and reverting that one brings the first back.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.access import DOCTOR, LINKING, SHORTLISTING, require
from annotation.models import Membership, Project, Role, User
from annotation.services.checks import checked_text
from annotation.services.errors import Refused
from umls_linker.models import (
    Candidate,
    ConceptQuestion,
    Decision,
    DecisionException,
    DecisionKind,
    Shortlisting,
    SurfaceForm,
    Verdict,
)
from umls_linker.services.agreement import agreement_outdated
from umls_linker.services.concepts import Meaning, meaning_of, meaning_proposed
from umls_linker.services.sight import sight_of
from umls_linker.services.surface_forms import same_words_outdated

LONGEST_NOTE = 2000
LONGEST_QUESTION = 4000
NIL = Meaning(DecisionKind.NIL)
IMPORTED = "imported"  # the origin of what came with an export: nobody's own decision to be undone
NOTHING_TO_UNDO = "You have no decision here that could be taken back."
LabelIds = Iterable[uuid.UUID | str]


class Overtaken(Refused):
    """Somebody decided in the meantime; `standing` is what holds now, None when it was taken back."""

    def __init__(self, standing: Decision | None) -> None:
        if standing is None:
            super().__init__("The decision that you saw was taken back in the meantime; look at the value again.")
        else:
            who, what = standing.decided_by.display_name, standing.name or "no concept"
            super().__init__(f"{who} decided on “{what}” in the meantime; look at it before you decide otherwise.")
        self.standing = standing


def decision_take(
    *,
    form: SurfaceForm,
    actor: User,
    cui: str,
    name: str = "",
    except_labels: LabelIds = (),
    note: str = "",
    expected: int | None,
) -> Decision:
    """Every occurrence of the form means this concept, but for the utterances of `except_labels`.

    The concept is one of the project's vocabulary, of the form's candidates, or one that the project proposed; `name`
    chooses another of its names than the preferred one. What the standing decision leaves out where `actor` does not
    see it, or at a label that says something else for now, stays left out. `expected` is the decision that was seen to
    stand (its row number, None for none). Raises Overtaken when another stands now; Refused for an unknown concept or
    name, for a label without the form, and in an archived project; PermissionDenied for everybody but the project's
    doctors.
    """
    _check(form, actor)
    return _decide(form, actor, meaning_of(form, cui, name), except_labels=except_labels, note=note, expected=expected)


def decision_nil(
    *, form: SurfaceForm, actor: User, except_labels: LabelIds = (), note: str = "", expected: int | None
) -> Decision:
    """No concept fits the form. Raises as `decision_take` does."""
    _check(form, actor)
    return _decide(form, actor, NIL, except_labels=except_labels, note=note, expected=expected)


def decision_propose(
    *,
    form: SurfaceForm,
    actor: User,
    name: str,
    semantic_type: str = "",
    definition: str = "",
    except_labels: LabelIds = (),
    note: str = "",
    expected: int | None,
) -> Decision:
    """The form means a concept that the vocabulary has not. One that was proposed under this name before is taken.

    Raises as `decision_take` does, and Refused without a name.
    """
    _check(form, actor)
    with transaction.atomic():
        meaning = meaning_proposed(form.project, actor, name, semantic_type, definition)
        return _decide(form, actor, meaning, except_labels=except_labels, note=note, expected=expected)


def decision_for_label(
    *,
    form: SurfaceForm,
    label_id: uuid.UUID | str,
    actor: User,
    cui: str = "",
    name: str = "",
    nil: bool = False,
    note: str = "",
    expected: int | None = None,
) -> Decision:
    """In the utterance of this label the form means this concept (or with `nil` none), whatever it means elsewhere.

    `expected` is the decision that was seen to stand for this utterance alone. Raises as `decision_take` does.
    """
    _check(form, actor)
    meaning = NIL if nil else meaning_of(form, cui, name)
    pk, utterance_id = _occurrences(form, actor, [label_id])[0]
    return _decide(form, actor, meaning, except_labels=(), note=note, expected=expected, at=(pk, utterance_id))


@transaction.atomic
def decision_revert(*, decision: Decision, actor: User, key: str = "") -> Decision | None:
    """Take a decision back, everywhere. Returns what stands again: a copy of what it had replaced, or None.

    The same request (`key`) again changes nothing. Raises Refused when the decision does not stand, and
    PermissionDenied as `decision_take` does.
    """
    form = decision.surface_form
    _check(form, actor)
    if not _end(decision, actor, key):
        if key and Decision.objects.filter(pk=decision.pk, reverted_by=actor, reverted_key=key).exists():
            return _standing(form, decision.utterance_id)
        raise Refused("This decision does not stand any more; somebody has taken it back or replaced it.")
    before, again = decision.replaces, None
    if before is not None:
        again = _copied(before, origin="restored", replaces=before.replaces)
        _except(again, [(row.label_id, row.utterance_id) for row in before.exceptions.all()])
    if decision.utterance_id is None:
        same_words_outdated(form=form)
    return again


@transaction.atomic
def decision_undo(*, project: Project, actor: User, key: str = "") -> tuple[Decision, Decision | None]:
    """Take the person's own last decision back. Returns it and what stands again, see `decision_revert`.

    The same request (`key`) again takes no other one back. Raises Refused when there is none.
    """
    require(actor, project.pk, DOCTOR)
    own = sight_of(actor, project).decisions().select_related("surface_form__project")
    last = own.filter(reverted_by=actor, reverted_key=key).first() if key else None
    if last is None:
        standing = own.standing().filter(decided_by=actor).exclude(origin__in=["restored", IMPORTED])
        last = standing.order_by("-decided_at", "-pk").first()
    if last is None:
        raise Refused(NOTHING_TO_UNDO)
    return last, decision_revert(decision=last, actor=actor, key=key)


def decision_moved(*, decision: Decision, actor: User, meaning: Meaning) -> Decision:
    """Put a decision with another meaning in the place of this one, its exceptions kept (see `migration_accept`).

    Raises Overtaken when it does not stand any more.
    """
    _check(decision.surface_form, actor)
    with transaction.atomic():
        if not _end(decision, actor):
            raise Overtaken(_standing(decision.surface_form, decision.utterance_id))
        new = Decision(
            surface_form=decision.surface_form,
            label_id=decision.label_id,
            utterance_id=decision.utterance_id,
            note=decision.note,
            origin="migration",
            replaces=decision,
            decided_by=actor,
            decided_at=timezone.now(),
        )
        meaning.write(new)
        new.save()
        _except(new, [(row.label_id, row.utterance_id) for row in decision.exceptions.all()])
        if new.utterance_id is None:
            same_words_outdated(form=decision.surface_form)
        return new


@transaction.atomic
def shortlist_set(*, form: SurfaceForm, actor: User, cui: str, verdict: Verdict | None) -> Shortlisting | None:
    """Keep a concept for the doctor's eyes or drop it; None takes that back. The last word counts.

    Raises Refused for an unknown concept, PermissionDenied for everybody but curators and doctors.
    """
    _check(form, actor, SHORTLISTING)
    if verdict is None:
        Shortlisting.objects.filter(surface_form=form, cui=cui).delete()
        return None
    known = Candidate.objects.filter(surface_form=form, cui=cui).values_list("name", flat=True).first()
    values = {"name": known or meaning_of(form, cui).name, "verdict": verdict, "by": actor}
    row, _ = Shortlisting.objects.update_or_create(surface_form=form, cui=cui, defaults=values)
    return row


@transaction.atomic
def question_ask(*, form: SurfaceForm, actor: User, question: str, of: User | None = None) -> ConceptQuestion:
    """Ask a colleague (`of`, or whoever knows) about the form. The same question while it is open is the same question.

    Raises Refused for an empty text and for a colleague who does not see the values of this project.
    """
    _check(form, actor, LINKING)
    question = checked_text(question, field="question", what="The question", longest=LONGEST_QUESTION)
    if of is not None and not _sees_values(of, form.project_id):
        raise Refused(f"{of.display_name} is neither doctor, curator nor supervisor of this project.", field="of")
    same: dict[str, Any] = {
        "surface_form": form,
        "asked_by": actor,
        "asked_of": of,
        "question": question,
        "answered_at": None,
    }
    return ConceptQuestion.objects.get_or_create(**same)[0]


@transaction.atomic
def question_answer(*, question: ConceptQuestion, actor: User, answer: str) -> ConceptQuestion:
    """Answer a question, which closes it. Raises Refused for an empty text and when it was answered otherwise."""
    _check(question.surface_form, actor, LINKING)
    answer = checked_text(answer, field="answer", what="The answer", longest=LONGEST_QUESTION)
    now = timezone.now()
    rows = ConceptQuestion.objects.filter(pk=question.pk, answered_at=None)
    if not rows.update(answer=answer, answered_by=actor, answered_at=now):
        question.refresh_from_db()
        if (question.answer, question.answered_by_id) == (answer, actor.pk):
            return question
        raise Refused("This question was answered in the meantime; look at the answer first.")
    question.answer, question.answered_by, question.answered_at = answer, actor, now
    return question


def question_seen(*, question: ConceptQuestion, actor: User) -> None:
    """Note that whoever asked has seen the answer; again, it changes nothing.

    Raises Refused for anybody else, and while there is no answer.
    """
    _check(question.surface_form, actor, LINKING, archived=True)
    if question.asked_by_id != actor.pk:
        raise Refused("Only who asked the question can say that the answer was seen.")
    if question.answered_at is None:
        raise Refused("This question is not answered yet.")
    ConceptQuestion.objects.filter(pk=question.pk, seen_at=None).update(seen_at=timezone.now())


def _sees_values(user: User, project_id: int) -> bool:
    rows = Membership.objects.filter(project_id=project_id, user=user, role__in=LINKING)
    return rows.exists()


def _check(form: SurfaceForm, actor: User, needed: frozenset[Role] = DOCTOR, *, archived: bool = False) -> None:
    """Whoever calls this has fetched the form for this role; that nobody else may do it does not rest on that.
    `archived`: also in an archived project."""
    require(actor, form.project_id, needed)
    if form.project.archived_at and not archived:
        raise Refused("This project is archived; its concepts can be read but not changed.")


def _decide(
    form: SurfaceForm,
    actor: User,
    meaning: Meaning,
    *,
    except_labels: LabelIds,
    note: str,
    expected: int | None,
    at: tuple[uuid.UUID, int] | None = None,
) -> Decision:
    note = checked_text(note, field="note", what="The note", longest=LONGEST_NOTE) if note.strip() else ""
    label_id, utterance_id = at or (None, None)
    try:
        with transaction.atomic():
            standing = _standing(form, utterance_id)
            if (standing.pk if standing else None) != expected:
                raise Overtaken(standing)
            excepted = _occurrences(form, actor, except_labels)
            if standing is not None:
                excepted = _with_unseen(excepted, standing, actor)
                _end(standing, actor)
            decision = Decision(
                surface_form=form,
                label_id=label_id,
                utterance_id=utterance_id,
                note=note,
                replaces=standing,
                decided_by=actor,
                decided_at=timezone.now(),
            )
            meaning.write(decision)
            decision.save()
            _except(decision, excepted)
            agreement_outdated(project_id=form.project_id)
            if at is None:
                same_words_outdated(form=form)
    except IntegrityError:
        raise Overtaken(_standing(form, utterance_id)) from None
    return decision


def _standing(form: SurfaceForm, utterance_id: int | None) -> Decision | None:
    rows = Decision.objects.filter(surface_form=form, utterance=utterance_id).standing()
    return rows.select_related("decided_by", "surface_form__project").first()


def _end(decision: Decision, actor: User, key: str = "") -> bool:
    """Let the decision stand no more; False where it does not stand already."""
    now = timezone.now()
    rows = Decision.objects.filter(pk=decision.pk, reverted_at=None)
    if not rows.update(reverted_at=now, reverted_by=actor, reverted_key=key):
        return False
    decision.reverted_at, decision.reverted_by = now, actor
    agreement_outdated(project_id=decision.surface_form.project_id)
    return True


def _copied(decision: Decision, *, origin: str, replaces: Decision | None) -> Decision:
    """The same decision standing again, by whom and when it was made; its exceptions are still to be added."""
    return Decision.objects.create(
        surface_form=decision.surface_form,
        label_id=decision.label_id,
        utterance_id=decision.utterance_id,
        kind=decision.kind,
        cui=decision.cui,
        name=decision.name,
        semantic_types=decision.semantic_types,
        proposed=decision.proposed,
        vocabulary=decision.vocabulary,
        vocabulary_name=decision.vocabulary_name,
        vocabulary_version=decision.vocabulary_version,
        note=decision.note,
        origin=origin,
        replaces=replaces,
        decided_by=decision.decided_by,
        decided_at=decision.decided_at,
    )


def _except(decision: Decision, labels: Iterable[tuple[uuid.UUID, int]]) -> None:
    DecisionException.objects.bulk_create(
        DecisionException(decision=decision, label_id=label_id, utterance_id=utterance_id)
        for label_id, utterance_id in labels
    )


def _with_unseen(excepted: list[tuple[uuid.UUID, int]], standing: Decision, actor: User) -> list[tuple[uuid.UUID, int]]:
    """The labels to leave out with those that the standing decision leaves out where the actor could not tick them."""
    unseen = sight_of(actor, standing.surface_form.project).unseen_exceptions(standing)
    unseen = unseen.exclude(label_id__in=[label_id for label_id, _ in excepted])  # moved to another utterance since
    return [*excepted, *unseen.order_by("pk").values_list("label_id", "utterance_id")]


def _occurrences(form: SurfaceForm, actor: User, label_ids: LabelIds) -> list[tuple[uuid.UUID, int]]:
    """The labels with their utterances (row numbers). Raises Refused for one that does not use the form, or that the
    actor does not see."""
    try:
        wanted = {one if isinstance(one, uuid.UUID) else uuid.UUID(one) for one in label_ids}
    except (ValueError, TypeError, AttributeError):
        raise Refused("A label is named by its UUID.", field="label") from None
    if not wanted:
        return []
    rows = sight_of(actor, form.project).occurrences().filter(surface_form=form, label_id__in=wanted)
    found = list(rows.order_by("pk").values_list("label_id", "utterance_id"))
    if len(found) < len(wanted):
        raise Refused(f"A chosen label does not say “{form.text}” any more; look at the value again.", field="label")
    return found
