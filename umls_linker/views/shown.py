"""What the review page shows of a value: its occurrences, its candidates as numbered cards, decisions and questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.domain.questionnaire import Questionnaire
from annotation.models import Project, User
from umls_linker.models import ConceptQuestion, Decision, DecisionKind, SurfaceForm, Verdict
from umls_linker.services import queue as reading
from umls_linker.services.canonical import project_names
from umls_linker.services.project_vocabulary import stamp_of, vocabulary_of
from umls_linker.services.sight import Sight, sight_of
from umls_linker.views.cards import Card, Types, cards_of, types_of

# States of a value in the order in which they are offered, with their words and the sign that stands for each.
STATES = {
    "open": ("open", "○"),
    "shortlisted": ("shortlisted", "◐"),
    "asked": ("asked", "?"),
    "waiting": ("waiting for candidates", "…"),
    "decided": ("decided", "✓"),
    "nil": ("no concept", "∅"),
    "proposed": ("new concept proposed", "+"),
}
FILTERS = {**{state: words for state, (words, _) in STATES.items()}, "answered": "answered"}
_BADGES = {"decided": "done", "nil": "done", "proposed": "done", "asked": "unsure", "shortlisted": "in_progress"}
FIRST = 8  # occurrences that are shown at once
LISTED = 300  # occurrences that a preview lists one by one
AROUND = 2
WIDE = 6


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Turn:
    speaker: str
    mark: str
    here: bool
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One utterance that uses the value. `own` says what was decided for it alone, `own_id` by which decision."""

    label_id: str
    dialogue_id: int
    dialogue: str
    position: int
    said: str
    turns: tuple[Turn, ...]
    excluded: bool
    own: str
    own_id: int | None


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Some utterances of `total`. `more` can be shown from `next` on, `left` are not among these; `widen`: how many
    turns around each can be had, 0 for no more; `hidden`: a sentence about those that are not shown."""

    rows: tuple[Row, ...]
    total: int
    next: int
    more: int
    left: int
    widen: int
    hidden: str


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything about one value. `single` are standing decisions about one utterance, `history` those that ended;
    `waiting` are the questions that wait for an answer or whose answer is new to the person, `questions` the others;
    `in_files` is the name that files give the decided concept, where that is another one."""

    place: str
    state: str
    words: str
    badge: str
    decision: Decision | None
    decision_types: Types
    exceptions: int
    outdated: bool
    cards: tuple[Card, ...]
    occurrences: Occurrences
    preview: Occurrences
    single: tuple[Decision, ...]
    history: tuple[Decision, ...]
    waiting: tuple[ConceptQuestion, ...]
    questions: tuple[ConceptQuestion, ...]
    in_files: str

    @property
    def nothing_fits(self) -> bool:
        """Whether all that was found is weak, and nobody has kept any of it."""
        return bool(self.cards) and all(card.weak and card.verdict != Verdict.KEEP for card in self.cards)


def shown(form: SurfaceForm, user: User) -> Shown:
    """The value as the person may see it; `form.project` has the person's roles."""
    vocabulary = vocabulary_of(form.project)
    state: str = reading.with_state(SurfaceForm.objects.filter(pk=form.pk)).values_list("state", flat=True)[0]
    sight = sight_of(user, form.project)
    decisions = _decisions(form, sight)
    standing = next((one for one in decisions if one.reverted_at is None and one.utterance_id is None), None)
    questions = list(form.questions.select_related("asked_by", "asked_of", "answered_by"))
    unseen = set(form.questions.unseen_by(user).values_list("pk", flat=True)) if questions else set()
    waiting = [one for one in questions if one.answered_at is None or one.pk in unseen]
    return Shown(
        place=place_of(form.project.questionnaire, form),
        state=state,
        words=STATES[state][0],
        badge=_BADGES.get(state, ""),
        decision=standing,
        decision_types=types_of(standing.semantic_types) if standing else (),
        exceptions=sight.exceptions(standing).values("utterance").distinct().count() if standing else 0,
        outdated=bool(vocabulary and form.linked_with and form.linked_with != stamp_of(vocabulary)),
        cards=tuple(cards_of(form, standing, vocabulary)),
        occurrences=occurrences_of(form, sight, offset=0, limit=FIRST, around=AROUND),
        preview=_preview_of(form, sight),
        single=tuple(one for one in decisions if one.reverted_at is None and one.utterance_id is not None),
        history=tuple(one for one in decisions if one.reverted_at is not None),
        waiting=tuple(waiting),
        questions=tuple(one for one in questions if one not in waiting),
        in_files=_in_files(standing, form.project_id),
    )


def _in_files(standing: Decision | None, project_id: int) -> str:
    name = project_names(project_id).get(standing.cui, "") if standing else ""
    return name if standing and name != standing.name else ""


def occurrences_of(form: SurfaceForm, sight: Sight, *, offset: int, limit: int, around: int) -> Occurrences:
    found = reading.occurrences_in_context(form, sight=sight, around=around, limit=limit, offset=offset)
    return _some(_rows(form, found.items), found, offset=offset, around=around)


def _preview_of(form: SurfaceForm, sight: Sight) -> Occurrences:
    """What can be ticked off, without the turns around: first what is left out by now, so that it stays left out."""
    found = reading.occurrences_in_context(form, sight=sight, around=0, limit=LISTED, exceptions_first=True)
    return _some(_rows(form, found.items), found, offset=0, around=0)


def _some(rows: tuple[Row, ...], found: reading.Occurrences, *, offset: int, around: int) -> Occurrences:
    left = found.total - offset - len(rows)
    widen = WIDE if 0 < around < WIDE and not offset else 0
    return Occurrences(rows, found.total, offset + len(rows), min(left, 20), left, widen, found.hidden_words)


def _rows(form: SurfaceForm, items: Iterable[reading.InContext]) -> tuple[Row, ...]:
    questionnaire = form.project.questionnaire
    return tuple(
        Row(
            label_id=item.label_id,
            dialogue_id=item.dialogue_id,
            dialogue=item.dialogue,
            position=item.position,
            said=f"{item.dialogue}, u{item.position}",
            turns=tuple(_turn(questionnaire, turn) for turn in item.turns),
            excluded=item.excepted or item.decision is not None,
            own=f"here: {item.decision.name or 'no concept'}" if item.decision else "",
            own_id=item.decision.pk if item.decision else None,
        )
        for item in items
    )


def _turn(questionnaire: Questionnaire, turn: reading.Turn) -> Turn:
    speaker = questionnaire.speaker(turn.speaker)
    mark = speaker.mark if speaker else turn.speaker[:1].upper()
    return Turn(turn.speaker, mark, turn.is_the_one, tuple(pieces_of(turn.text, turn.spans)))


def pieces_of(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    """The text in pieces, those within `spans` (in order, not overlapping) marked."""
    at = 0
    for start, end in spans:
        if start > at:
            yield Piece(text[at:start], False)
        yield Piece(text[start:end], True)
        at = end
    if at < len(text):
        yield Piece(text[at:], False)


def _decisions(form: SurfaceForm, sight: Sight) -> list[Decision]:
    """All that was ever decided, newest first, but for utterances of dialogues that the person labels."""
    rows = sight.decisions().filter(surface_form=form)
    return list(rows.select_related("decided_by", "reverted_by", "utterance__dialogue"))


def place_of(questionnaire: Questionnaire, form: SurfaceForm) -> str:
    """The slot and, where it is not the slot's own value, the field in words: "symptom", "symptom, where"."""
    slot = questionnaire.slot(form.slot)
    title = slot.title if slot else form.slot
    return title if slot and form.field == slot.head else f"{title}, {form.field.replace('_', ' ')}"


def queue_rows(project: Project, forms: Iterable[SurfaceForm]) -> list[dict[str, Any]]:
    """Rows of the queue: the value (with what `queue` says of it), its place, its state in words and as a sign."""
    questionnaire = project.questionnaire
    rows = []
    for form in forms:
        words, sign = STATES[form.state]  # type: ignore[attr-defined]
        name = form.decided_as if form.state in ("decided", "proposed") else ""  # type: ignore[attr-defined]
        rows.append({"form": form, "place": place_of(questionnaire, form), "words": words, "sign": sign, "name": name})
    return rows


def decision_in_words(decision: Decision) -> str:
    only = " in this utterance" if decision.utterance_id is not None else ""
    text = decision.surface_form.text
    if decision.kind == DecisionKind.NIL:
        return f"“{text}” has no concept{only}."
    kind = "the proposed concept " if decision.kind == DecisionKind.PROPOSED else ""
    return f"“{text}” means {kind}{decision.name} ({decision.cui}){only}."


def taken_back_in_words(decision: Decision, stands: Decision | None, sight: Sight) -> str:
    """What was taken back, and what holds now: `stands` is what came back in its place."""
    text, name = decision.surface_form.text, decision.name or "no concept"
    said = f"Taken back for “{text}” in {'every' if decision.utterance_id is None else 'one'} occurrence: {name}"
    if stands is not None:
        return f"{said}. What stands again: {decision_in_words(stands)}"
    others = sight.decisions().standing().filter(surface_form=decision.surface_form)
    if decision.utterance_id is None:
        left = others.count()
        about = f"{left} decision{'s' if left > 1 else ''} about one occurrence stand{'s' if left == 1 else ''}"
        return f"{said}; {about}." if left else f"{said}."
    whole = others.of_forms().first()
    if whole is None:
        return f"{said}; nothing is decided about it now."
    left_out = whole.exceptions.filter(utterance=decision.utterance_id).exists()
    return f"{said}; the decision for {'the others' if left_out else 'all'} ({whole.name or 'no concept'}) stands."
