"""Both patient states of two annotators on one dialogue, side by side, turn by turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import get_dialogue
from annotation.domain.labels import Reading
from annotation.domain.mentions import SUBJECT
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.state_changes import Standing
from annotation.domain.state_timeline import Mark, Row, Turn, state_timeline
from annotation.models import Dialogue, User
from annotation.services.agreement_scope import Scope
from annotation.services.agreement_sources import Compared, compared, submitted_positions
from annotation.services.blindness import exchanged_at, names_known
from annotation.services.readings import reading_of
from annotation.views.agreement_places import adjudication_address
from annotation.views.requests import person_of

WHOLE = -1  # who is A is drawn once for a timeline, beside the draws for its utterances


@require_safe
def timeline(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """`?a=&b=` are the row numbers of two people who both labelled the dialogue; without them the first two."""
    dialogue = get_dialogue(person_of(request), slug, pk)
    pairs = [pair for pair in compared(dialogue.project, Scope()) if pair.a.dialogue_id == dialogue.pk]
    people = User.objects.filter(pk__in={one for pair in pairs for one in pair.people})
    names = {person.pk: person.display_name for person in people}
    context: dict[str, Any] = {"project": dialogue.project, "dialogue": dialogue}
    pair = _chosen(pairs, request.GET.get("a", ""), request.GET.get("b", ""))
    if pair is not None:
        known = bool(names_known(person_of(request), [dialogue.pk]))
        pair = pair if not exchanged_at(dialogue, WHOLE) else replace(pair, a=pair.b, b=pair.a)
        a, b = pair.people
        others = [(one.people, " and ".join(names[person] for person in one.people)) for one in pairs]
        context |= {"both": {a, b}, "pairs": others, **_replayed(dialogue, pair)}
        context |= {"a": names[a], "b": names[b]} if known else {"hidden": [dialogue.pk]}
    return render(request, "annotation/state_timeline.html", context)


def _chosen(pairs: list[Compared], a: str, b: str) -> Compared | None:
    """The pair that was asked for, whichever way round; None where nobody has labelled the dialogue doubly."""
    if not a and not b:
        return pairs[0] if pairs else None
    for pair in pairs:
        if {a, b} == {str(person) for person in pair.people}:
            return pair
    raise Http404("These two have not both labelled this dialogue.")


def _replayed(dialogue: Dialogue, pair: Compared) -> dict[str, Any]:
    questionnaire = dialogue.project.questionnaire
    a, b = (_reading(row, dialogue) for row in (pair.a, pair.b))
    both = submitted_positions(pair.a, a) & submitted_positions(pair.b, b)
    turns = state_timeline(questionnaire, a, b, positions=both)
    texts = {turn.position: turn.text for turn in a.utterances}
    spoken = sum(turn.speaker == SUBJECT for turn in a.utterances)
    return {
        "turns": [_turn(questionnaire, turn, texts, dialogue) for turn in turns],
        "causes": [(turn.position, _row(questionnaire, row)) for turn in turns for row in turn.causes],
        "equal": sum(turn.equal for turn in turns),
        "left_out": spoken - len(turns),
    }


def _reading(label_set: Any, dialogue: Dialogue) -> Reading:
    label_set.dialogue = dialogue
    return reading_of(label_set)


def _turn(questionnaire: Questionnaire, turn: Turn, texts: Mapping[int, str], dialogue: Dialogue) -> dict[str, Any]:
    here = [row for row in turn.rows if row.mark is Mark.CAUSE or row.set_here]
    rest = [row for row in turn.rows if row not in here]
    return {
        "position": turn.position,
        "text": texts[turn.position],
        "equal": turn.equal,
        "here": _rows(questionnaire, here),
        "follows": _rows(questionnaire, (row for row in rest if row.mark is Mark.FOLLOWS)),
        "unchanged": _rows(questionnaire, (row for row in rest if row.mark is Mark.EQUAL)),
        "adjudicate": adjudication_address(dialogue.project.slug, dialogue.pk, turn.position),
    }


def _rows(questionnaire: Questionnaire, rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [_row(questionnaire, row) for row in rows]


def _row(questionnaire: Questionnaire, row: Row) -> dict[str, Any]:
    slot = questionnaire.slot(row.slot)
    return {
        "slot": slot.title if slot else row.slot,
        "value": row.value,
        "a": _words(row.a),
        "b": _words(row.b),
        "mark": row.mark.value,
        "cause": row.cause,
    }


def _words(standing: Standing | None) -> str:
    """How an entry stands, in words; "" where the state does not have it."""
    if standing is None:
        return ""
    parts = [standing.status] if standing.status else []
    for name, value in standing.attributes:
        said = value if isinstance(value, str) else ", ".join(value)
        parts.append(f"{name.replace('_', ' ').replace(':', ' ')}: {said}")
    return "; ".join(parts) or "named"
