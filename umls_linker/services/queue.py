"""What is shown to those who review surface forms: the queue, the words around each occurrence, how far things are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, Exists, Min, OuterRef, Q, QuerySet, Subquery, Value, When

from annotation.domain.concepts import surface_key
from annotation.models import Project, User
from annotation.services.readings import utterances_of
from umls_linker.models import ConceptQuestion, Decision, DecisionKind, Occurrence, Shortlisting, SurfaceForm, Verdict
from umls_linker.services.project_vocabulary import candidates_stamp
from umls_linker.services.sight import Sight, sight_of

STATES = ("waiting", "open", "shortlisted", "asked", "decided", "nil", "proposed")
QUESTIONS = {"asked": True, "answered": False}  # by questions about a value, whatever its state: do they wait?
_STATE_OF_KIND = {DecisionKind.CONCEPT: "decided", DecisionKind.NIL: "nil", DecisionKind.PROPOSED: "proposed"}


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a dialogue. In the one that is meant, `spans` are where the words stand: characters from, to."""

    position: int
    speaker: str
    text: str
    is_the_one: bool
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class InContext:
    """An utterance whose labels use a surface form, with the turns around it. Whoever made the labels, they count once;
    `label_id` is one of them (in text form) and `text` the wording there. `decision` is that for this utterance alone.
    """

    label_id: str
    utterance_id: int
    dialogue_id: int
    dialogue: str
    position: int
    text: str
    turns: tuple[Turn, ...]
    excepted: bool
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Some utterances of a surface form, of `total` that may be seen; `hidden` are the dialogues that the person
    labels, whether or not the form occurs there: what others labelled there cannot be told from it."""

    items: tuple[InContext, ...]
    total: int
    hidden: int

    @property
    def hidden_words(self) -> str:
        if not self.hidden:
            return ""
        dialogues = "the dialogue" if self.hidden == 1 else f"the {self.hidden} dialogues"
        return f"Nothing is shown of {dialogues} that you label yourself."


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of the surface forms in use, as far as a person may see them. `linked` have candidates of the present
    vocabulary, or were found to have none; `label_sets_waiting` have changed since their values were collected; `open`
    is whatever is not decided; of `answered` an answer to the person's own question is new."""

    forms: int
    linked: int
    label_sets_waiting: int
    decided: int
    nil: int
    proposed: int
    open: int
    answered: int


def queue(project: Project, *, user: User, slot: str = "", status: str = "", q: str = "") -> QuerySet[SurfaceForm]:
    """The surface forms in use and those with a decision, the most frequent first. Each has its `state`, `seen`, the
    utterances that count for `user` (see `sight`), and `answered`, whether an answer to a question of theirs is new.

    `status` is one of STATES or of QUESTIONS: a value about which something was asked is among those, decided or not.
    `q` are words, of each of which the wording must have a part.
    """
    rows = with_state(sight_of(user, project).forms())
    if status in QUESTIONS:
        asked = ConceptQuestion.objects.filter(surface_form=OuterRef("pk"), answered_at__isnull=QUESTIONS[status])
        rows = rows.filter(Exists(asked))
    else:
        rows = rows.filter(Q(seen_labels__gt=0) | Q(state__in=_STATE_OF_KIND.values()))
        rows = rows.filter(state=status) if status else rows
    if slot:
        rows = rows.filter(slot=slot)
    for word in surface_key(q).split():
        rows = rows.filter(key__contains=word)
    rows = rows.annotate(answered=Exists(_unseen(user)))
    found: QuerySet[SurfaceForm] = rows.order_by("-seen", "-seen_labels", "key", "slot", "field")
    return found


def with_state(rows: QuerySet[SurfaceForm]) -> QuerySet[Any, Any]:
    """Adds `state` (one of STATES) and `decided_as`, the name of the concept of the standing decision."""
    standing = Decision.objects.filter(surface_form=OuterRef("pk")).standing().of_forms().order_by()
    asked = ConceptQuestion.objects.filter(surface_form=OuterRef("pk"), answered_at=None)
    kept = Shortlisting.objects.filter(surface_form=OuterRef("pk"), verdict=Verdict.KEEP)
    return rows.annotate(
        decision_kind=Subquery(standing.values("kind")[:1]),
        decided_as=Subquery(standing.values("name")[:1]),
    ).annotate(
        state=Case(
            *(When(decision_kind=kind, then=Value(state)) for kind, state in _STATE_OF_KIND.items()),
            When(Exists(asked), then=Value("asked")),
            When(Exists(kept), then=Value("shortlisted")),
            When(linked_at=None, then=Value("waiting")),
            default=Value("open"),
        )
    )


def occurrences_in_context(
    form: SurfaceForm,
    *,
    sight: Sight,
    around: int = 2,
    limit: int = 20,
    offset: int = 0,
    exceptions_first: bool = False,
) -> Occurrences:
    """The utterances of a surface form with `around` turns before and after, in the order of the dialogues, or with
    `exceptions_first` those before all others that the standing decision leaves out.

    Those out of `sight` are left out: nobody learns from here what others said of one's own dialogues. Nothing tells
    whose labels they are, or how many people labelled the dialogue.
    """
    rows = sight.occurrences().filter(surface_form=form)
    excepted = _excepted(form)
    # Of the labels of an utterance the one with the smallest id stands for all.
    utterances = rows.order_by().values("utterance").annotate(first=Min("label_id"))
    order = ["utterance__dialogue__external_id", "utterance__position"]
    if exceptions_first and excepted:
        later = Case(When(utterance__in=excepted, then=Value(0)), default=Value(1))
        utterances, order = utterances.annotate(later=later), ["later", *order]
    total = utterances.count()
    chosen = [one["first"] for one in utterances.order_by(*order)[offset : offset + limit]]
    found = {row.label_id: row for row in rows.filter(label_id__in=chosen).select_related("utterance__dialogue")}
    decisions = _own_decisions(form, [row.utterance_id for row in found.values()])
    items = (
        _in_context(row, around, row.utterance_id in excepted, decisions.get(row.utterance_id))
        for row in map(found.__getitem__, chosen)
    )
    return Occurrences(tuple(items), total, len(sight.hidden))


def progress(project: Project, *, user: User) -> Progress:
    """How far collecting, finding candidates and deciding are, over what the person may see."""
    sight = sight_of(user, project)
    forms = sight.forms_in_use()
    rows = with_state(forms).order_by()
    numbers = {"n": Count("pk"), "answered": Count("pk", filter=Exists(_unseen(user)))}
    by_state = list(rows.values("state").annotate(**numbers))
    counts: dict[str, int] = {row["state"]: row["n"] for row in by_state}
    total, answered = sum(counts.values()), sum(row["answered"] for row in by_state)
    stamp = candidates_stamp(project)
    linked = forms.filter(Q(linked_with=stamp) if stamp else Q(linked_at__isnull=False)).count()
    decided, nil, proposed = (counts.get(state, 0) for state in ("decided", "nil", "proposed"))
    waiting = sight.label_sets_waiting().count()
    left = total - decided - nil - proposed
    return Progress(total, linked, waiting, decided, nil, proposed, left, answered)


def _unseen(user: User) -> QuerySet[ConceptQuestion]:
    """For a query of forms: the person's questions about each whose answer they have not seen."""
    return ConceptQuestion.objects.filter(surface_form=OuterRef("pk")).unseen_by(user).order_by()


def _own_decisions(form: SurfaceForm, utterances: Sequence[int]) -> dict[int, Decision]:
    rows = Decision.objects.filter(surface_form=form, utterance__in=utterances).standing()
    return {row.utterance_id: row for row in rows.select_related("decided_by") if row.utterance_id is not None}


def _excepted(form: SurfaceForm) -> set[int]:
    """The utterances that the standing decision leaves out."""
    rows = Decision.objects.filter(surface_form=form, exceptions__isnull=False).standing().of_forms()
    return set(rows.values_list("exceptions__utterance", flat=True))


def _in_context(row: Occurrence, around: int, excepted: bool, decision: Decision | None) -> InContext:
    dialogue, meant = row.utterance.dialogue, row.utterance
    the_one = Turn(meant.position, meant.speaker, meant.text, True, spans_of(row.text, meant.text))
    turns = utterances_of(dialogue.pk, dialogue.fingerprint) if around else ()
    near = tuple(
        the_one if turn.position == meant.position else Turn(turn.position, turn.speaker, turn.text, False)
        for turn in turns
        if abs(turn.position - meant.position) <= around
    )
    return InContext(
        label_id=str(row.label_id),
        utterance_id=row.utterance_id,
        dialogue_id=dialogue.pk,
        dialogue=dialogue.external_id,
        position=meant.position,
        text=row.text,
        turns=near or (the_one,),
        excepted=excepted,
        decision=decision,
    )


def spans_of(wording: str, text: str) -> tuple[tuple[int, int], ...]:
    """Where the wording stands in a text: the whole of it, or else its words of three letters and more."""
    words = wording.split()
    for pattern in (r"\s+".join(map(re.escape, words)), "|".join(re.escape(word) for word in words if len(word) > 2)):
        if pattern:
            found = re.finditer(rf"(?<!\w)(?:{pattern})(?!\w)", text, re.IGNORECASE)
            spans = tuple(match.span() for match in found)
            if spans:
                return spans
    return ()
