"""Utterance by utterance: where a system errs, and where one of two systems does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.access import get_evaluation
from annotation.domain.metrics_errors import ATTRIBUTE, INTENT, KIND
from annotation.models import EvaluatedTurn, Evaluation, EvaluationTask, JobStatus
from annotation.services.evaluations import outdated
from annotation.views.evaluation_alike import unlike
from annotation.views.requests import page_of, person_of

TURNS_SHOWN = 25
# Whether the first and the second system err, by the name in the address.
SIDES = {"first": (True, False), "second": (False, True), "both": (True, True), "neither": (False, False)}


# What errors are narrowed by: its label, and the sign of its marks.
NARROWED = {
    "slot": ("Slot", ""),
    "attribute": ("Attribute", ATTRIBUTE),
    "intent": ("Intent", INTENT),
    "kind": ("Tuples", KIND),
}


@dataclass(frozen=True, slots=True)
class Side:
    """What one system predicted in an utterance: tuples in words, or a text."""

    prediction: str
    wrong: bool
    matched: Sequence[str] = ()
    missing: Sequence[str] = ()
    superfluous: Sequence[str] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """An utterance with what each system predicted."""

    dialogue_id: int
    dialogue: str
    position: int
    speaker: str
    text: str
    gold: Sequence[str]
    sides: Sequence[Side]


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A field by which errors are narrowed: `offered` are (value, text)."""

    name: str
    label: str
    asked: str
    offered: Sequence[tuple[str, str]]


def _offered(marks: Sequence[str], sign: str) -> list[tuple[str, str]]:
    """What the errors' marks with this sign name; a slot stands without a sign."""
    signs = (ATTRIBUTE, INTENT, KIND)
    own = [one for one in marks if one and (one.startswith(sign) if sign else not one.startswith(signs))]
    return [(one[len(sign) :], one[len(sign) :].replace("_", " ")) for one in own]


def errors_page(request: HttpRequest, evaluation: Evaluation) -> dict[str, Any]:
    """The utterances where the system errs: `?slot=`, `?attribute=`, `?intent=` and `?kind=` narrow them, `?show=all`
    takes those that are right too."""
    rows = EvaluatedTurn.objects.filter(evaluation=evaluation)
    marks = sorted({mark for text in set(rows.wrong().values_list("slots", flat=True)) for mark in text.split("|")})
    everything = request.GET.get("show") == "all"
    chosen = rows if everything else rows.wrong()
    filters = []
    for name, (label, sign) in NARROWED.items():
        asked = request.GET.get(name, "")
        filters.append(Narrowing(name, label, asked, _offered(marks, sign)))
        if asked:
            chosen = chosen.about(sign + asked)
    page = page_of(request, chosen.in_order().select_related("utterance__dialogue"), TURNS_SHOWN)
    shown = [_shown([turn]) for turn in page]
    return {
        "page": page,
        "turns": shown,
        "filters": [one for one in filters if one.offered or one.asked],
        "narrowed": any(one.asked for one in filters),
        "everything": everything,
        "found": page.paginator.count,
        "wrong": rows.wrong().count(),
        "scored": rows.count(),
    }


@require_GET
def compare(request: HttpRequest, slug: str, pk: UUID) -> HttpResponse:
    """Two systems on the same utterances: `?with=` names the second, `?show=` who errs, which otherwise is the first
    group that has some."""
    user = person_of(request)
    first = get_evaluation(user, slug, pk)
    asked = request.GET.get("first", "")
    if asked and asked != str(first.pk):
        first = get_evaluation(user, slug, _uuid(asked))
        query = {name: request.GET[name] for name in ("with", "show") if name in request.GET}
        here = reverse("evaluation-compare", args=[slug, first.pk])
        return redirect(f"{here}?{urlencode(query)}")
    others = Evaluation.objects.filter(project=first.project, task=first.task, status=JobStatus.DONE)
    context: dict[str, Any] = {
        "project": first.project,
        "first": first,
        "systems": others.defer("results"),
        "others": others.exclude(pk=first.pk).defer("results"),
        "generation": first.task == EvaluationTask.NLG,
    }
    if request.GET.get("with"):
        second = get_evaluation(user, slug, _uuid(request.GET["with"]))
        if second.task != first.task:
            raise Http404("These two systems were scored on different tasks.")
        context |= _compared(request, first, second)
    return render(request, "annotation/evaluation_compare.html", context)


def _compared(request: HttpRequest, first: Evaluation, second: Evaluation) -> dict[str, Any]:
    one, other = (dict(row.turns.order_by().values_list("utterance_id", "wrong")) for row in (first, second))
    common = one.keys() & other.keys()
    groups = {name: [pk for pk in common if (one[pk], other[pk]) == sides] for name, sides in SIDES.items()}
    show = request.GET.get("show", "")
    if show not in SIDES:
        show = next((name for name in SIDES if groups[name]), "first")
    page = _page(request, first, groups[show])
    apart = unlike([first, second], outdated([first, second]))
    facing = {row.utterance_id: row for row in second.turns.filter(utterance__in=[turn.utterance_id for turn in page])}
    return {
        "second": second,
        "counts": {name: len(found) for name, found in groups.items()},
        "show": show,
        "page": page,
        "turns": [_shown([turn, facing[turn.utterance_id]]) for turn in page],
        "common": len(common),
        "apart": len(one.keys() ^ other.keys()),
        "left_out": first.results.get("utterances", {}).get("left_out", 0),
        "apart_by": apart,
        "apart_marks": [(row.system, apart.marks[row.pk]) for row in (first, second)] if apart else [],
    }


def _page(request: HttpRequest, first: Evaluation, utterances: Sequence[int]) -> Page[Any]:
    """The page's turns of the first system. A database takes only so many numbers at once, so the order comes first."""
    wanted = set(utterances)
    ordered = [pk for pk in first.turns.in_order().values_list("utterance_id", flat=True) if pk in wanted]
    page = page_of(request, ordered, TURNS_SHOWN)
    rows = first.turns.filter(utterance__in=list(page)).in_order().select_related("utterance__dialogue")
    page.object_list = list(rows)
    return page


def _shown(turns: Sequence[EvaluatedTurn]) -> Shown:
    utterance = turns[0].utterance
    dialogue = utterance.dialogue
    found = turns[0].found
    gold = sorted({*_words([pair[0] for pair in found.get("matched", ())]), *_words(found.get("missing", ()))})
    sides = [_side(turn) for turn in turns]
    return Shown(dialogue.pk, dialogue.external_id, utterance.position, utterance.speaker, utterance.text, gold, sides)


def _side(turn: EvaluatedTurn) -> Side:
    found: Mapping[str, Any] = turn.found
    if "text" in found:
        return Side(turn.get_prediction_display(), turn.wrong, text=found["text"])
    return Side(
        turn.get_prediction_display(),
        turn.wrong,
        [_matched(*pair) for pair in found["matched"]],
        _words(found["missing"]),
        _words(found["superfluous"]),
    )


def _matched(gold: Sequence[str], predicted: Sequence[str]) -> str:
    """What matches; where the texts differ, both."""
    return _word(gold) if gold == predicted else f"{_word(gold)} (predicted: {predicted[-1]})"


def _words(tuples: Sequence[Sequence[str]]) -> list[str]:
    return [_word(one) for one in tuples]


def _word(one: Sequence[str]) -> str:
    """A tuple in a line: intent · slot = value · attribute = attribute's value."""
    intent, slot, value, attribute, attribute_value = one
    parts = [intent]
    if slot:
        parts.append(f"{slot} = {value}" if value else slot)
    if attribute:
        parts.append(f"{attribute} = {attribute_value}" if attribute_value else f"{attribute}?")
    return " · ".join(parts)


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404(f"No system is numbered “{text}”.") from None
