"""The utterances behind a figure with what two annotators made of them, in words, and the way to adjudicating them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.access import SUPERVISOR, get_dialogue, get_project
from annotation.domain.agreement_pairs import intent_of
from annotation.domain.agreement_reasons import why_mean_undefined, why_undefined
from annotation.domain.alignment import Outcome, align
from annotation.domain.concepts import same_concept
from annotation.domain.label_differences import SameConcept
from annotation.domain.labels import Label, Reading
from annotation.domain.numbers import counted
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.wording import label_text
from annotation.models import Dialogue, LabelSet
from annotation.services.agreement import Measured
from annotation.services.agreement_places import Part, Place, Places
from annotation.services.agreement_then import readings_then
from annotation.services.blindness import exchanged_at, names_known, names_show
from annotation.services.concept_linking import linker
from annotation.services.errors import Refused
from annotation.services.readings import reading_of
from annotation.views.agreement_asked import Asked, asked
from annotation.views.agreement_names import words_of
from annotation.views.agreement_tables import Cell, Tables
from annotation.views.requests import page_of, person_of, whole_numbers

Path = tuple[str, ...]
_LISTS: tuple[Path, ...] = (("missing",), ("total",))
_BASELINE: Path = ("baseline",)
_COMPARED: Path = ("n",)
# Counts of what only one of a pair has: their lists tell whose labels they are, whatever is left out.
_ONE_SIDED = {"b", "c", "only_a", "only_b"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address asks for: a figure or count (`p`, its names in order), of a part, all of it or only what
    disagrees. `mean`: the mean over pairs is meant and not the pooled figure.
    """

    path: Path
    part: Part
    mean: bool
    everything: bool

    @property
    def one_sided(self) -> bool:
        return self.path[-1] in _ONE_SIDED


@dataclass(frozen=True, slots=True)
class Found:
    """The utterances behind a figure or count, in words why these, and how many there are of either list."""

    places: list[Place]
    sentence: str = ""
    differing: int | None = None  # None where the two lists are one
    over: int = 0


@require_safe
def agreement_places(request: HttpRequest, slug: str) -> HttpResponse:
    """The utterances behind one figure or count, of one speaker, one pair of people, or one dialogue."""
    page = asked(request, slug)
    wanted = _wanted(request)
    measured = page.measured()
    found = _found(measured, wanted, page)
    listed = page_of(request, found.places, 25)
    part = wanted.part
    known = names_known(person_of(request), (one.dialogue for one in listed.object_list))
    hidden = sorted({one.dialogue for one in listed.object_list} - known)
    guesses = measured.figures["baseline"]["usual_sets"] if wanted.path == _BASELINE else None
    context = {
        "project": page.project,
        "what": words_of(wanted.path, page.project.questionnaire),
        "cell": _cell(measured, wanted, page),
        "mean": wanted.mean,
        "scope": page.scope.sentence(page.names),
        "speaker": part.speaker,
        "both": [page.names.get(pk, "?") for pk in part.pair or ()],
        "suffix": page.suffix,
        "earlier": page.snapshot,
        "found": found,
        "everything": wanted.everything,
        "other": _other_list(request, wanted),
        "compared": Tables(
            measured.figures, slug=slug, query=page.query, questionnaire=page.project.questionnaire
        ).href("n"),
        "page": listed,
        "rows": place_rows(page, listed.object_list, measured.places, guesses, known, by_pair=wanted.one_sided),
        "hidden": hidden,
        "asks_first": wanted.one_sided and bool(hidden),
    }
    return render(request, "annotation/agreement_places.html", context)


@require_POST
def agreement_names(request: HttpRequest, slug: str) -> HttpResponse:
    """Show whose labels those of these dialogues are, from now on, and keep that the person knows; then back."""
    user = person_of(request)
    get_project(user, slug, SUPERVISOR)
    keys = whole_numbers(request.POST.getlist("dialogue"))
    dialogues = [get_dialogue(user, slug, pk, SUPERVISOR) for pk in keys]
    try:
        names_show(dialogues=dialogues, actor=user)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, "Names are shown. What you decide on these dialogues from now on is not blind.")
    # Only the query comes from the browser; the page is one of these two.
    query = QueryDict(request.POST.get("query", "")).urlencode()
    if request.POST.get("page") == "state" and keys:
        address = reverse("state-timeline", args=[slug, keys[0]])
    else:
        address = reverse("agreement-places", args=[slug])
    return redirect(f"{address}?{query}")


def _wanted(request: HttpRequest) -> Wanted:
    given = request.GET
    one, _, other = given.get("both", "").partition("-")
    people = whole_numbers([one, other])
    part = Part(
        given.get("speaker") or None,
        (people[0], people[1]) if len(people) == 2 else None,
        next(iter(whole_numbers([given.get("dialogue", "")])), None),
    )
    path = tuple(given.getlist("p")) or _COMPARED
    return Wanted(path, part, bool(given.get("mean")), bool(given.get("all")))


def _other_list(request: HttpRequest, wanted: Wanted) -> str:
    """The same figure with only what disagrees, or with everything it is computed from."""
    query = request.GET.copy()
    query.pop("page", None)
    query.pop("all", None)
    if not wanted.everything:
        query["all"] = "1"
    return f"?{query.urlencode()}"


def _cell(measured: Measured, wanted: Wanted, page: Asked) -> Cell | None:
    """The figure itself; None for a list or a part of which there is no figure."""
    tables = Tables(measured.figures, slug=page.project.slug, query={}, questionnaire=page.project.questionnaire)
    part, speaker = wanted.part, wanted.part.speaker or ""
    if wanted.path in _LISTS or part.dialogue is not None:
        return None
    if part.pair:
        return None if speaker else tables.of_pair(wanted.path, part.pair)
    if wanted.path == _BASELINE:
        return tables.baseline(speaker)
    return tables.mean(*wanted.path) if wanted.mean else tables.cell(*wanted.path, speaker=speaker)


def _found(measured: Measured, wanted: Wanted, page: Asked) -> Found:
    places, path, part = measured.places, wanted.path, wanted.part
    if not places.complete:
        return Found([], "Which utterances these were is no longer kept of a measurement this old; its figures stay.")
    if path in _LISTS:
        return Found(places.missing(part) if path == ("missing",) else places.every(part))
    if path == _BASELINE:
        return _behind_baseline(measured, wanted, page)
    if not places.knows(path):
        raise Http404("There is no such figure in this report.")
    if places.is_figure(path):
        return _behind_figure(measured, wanted, page)
    found = places.behind(path, part)
    compared = len(places.behind(_COMPARED, part))
    return Found(found, "" if found else _nothing(compared))


def _nothing(compared: int) -> str:
    if not compared:
        return "No utterance here is submitted by both, so that there is nothing to count."
    return f"The count is 0: this holds for none of the {counted(compared, 'utterance')} compared."


def _behind_figure(measured: Measured, wanted: Wanted, page: Asked) -> Found:
    places, path, part = measured.places, wanted.path, wanted.part
    over, differing = places.over(path, part), places.behind(path, part)
    cell = _cell(measured, wanted, page)
    if cell is not None and cell.value is None:
        reason = _reason(measured, wanted, len(over))
        return Found(over or places.behind(_COMPARED, part), reason)
    if not differing:
        return Found(over, "Nobody disagreed: these are all the utterances that the figure is computed from.")
    return Found(over if wanted.everything else differing, "", len(differing), len(over))


def _reason(measured: Measured, wanted: Wanted, over: int) -> str:
    pairs = [cell for cell in measured.figures["pairs"] if cell["n_used"]]
    compared = len(measured.places.behind(_COMPARED, wanted.part))
    text = why_mean_undefined(len(pairs)) if wanted.mean and compared else ""
    return f"Undefined. {text or why_undefined(wanted.path, compared=compared, over=over)}"


def _behind_baseline(measured: Measured, wanted: Wanted, page: Asked) -> Found:
    """All that is compared: such an annotator answers every utterance."""
    found = measured.places.behind(_COMPARED, wanted.part)
    cell = _cell(measured, wanted, page)
    if cell is not None and cell.value is None:
        reason = why_undefined(("intents", "kappa_whole_set"), compared=len(found), over=len(found))
        return Found(found, f"Undefined. {reason}")
    return Found(found, "Each utterance gets its speaker's most frequent intents, whatever is said in it.")


def place_rows(
    page: Asked,
    places: Iterable[Place],
    known: Places,
    guesses: Mapping[str, list[str]] | None,
    named: Collection[int],
    *,
    by_pair: bool = False,
) -> list[dict[str, Any]]:
    """For each place its text, both annotators' labels, and the differences in words.

    Of an earlier measurement the labels are those of that time. `guesses`: what the baseline says, by speaker. A and B
    are those of adjudication, or with `by_pair` those of the pair; whose labels they are is told of the dialogues in
    `named` only.
    """
    listed = list(places)
    pks = {pk for one in listed for pk in one.label_sets}
    sets = LabelSet.objects.filter(pk__in=pks).select_related("dialogue__project").in_bulk()
    versions = known.versions if page.snapshot is not None else {}
    readings = readings_then(sets.values(), versions)
    submitted = {(one.dialogue, one.people, one.position) for one in known.behind(_COMPARED)} if listed else set()
    concept = same_concept(page.project.questionnaire, linker().canon(page.project.pk))
    rows = []
    for one in listed:
        a, b = one.label_sets
        if a not in sets or b not in sets:
            continue
        if not by_pair:
            a, b = sorted((a, b), reverse=exchanged_at(_of_project(page, sets[a]), one.position))
        row = _row(page, one, (sets[a], sets[b]), (readings[a], readings[b]), one.dialogue in named, concept=concept)
        for side, pk in zip(row["sides"], (a, b), strict=True):
            both = (one.dialogue, one.people, one.position) in submitted
            side["reached"] = bool(side["labels"] or side["reason"]) or both or pk in known.finished
        row["changed"] = any(
            list(readings[pk].labels_at(one.position)) != list(reading_of(sets[pk]).labels_at(one.position))
            for pk in one.label_sets
            if versions.get(pk, sets[pk].version) < sets[pk].version
        )
        if guesses is not None:
            row["guess"] = _guess(page.project.questionnaire, guesses.get(one.speaker, []), row["labels"])
        rows.append(row)
    return rows


def _of_project(page: Asked, label_set: LabelSet) -> Dialogue:
    label_set.dialogue.project = page.project
    return label_set.dialogue


def _guess(questionnaire: Questionnaire, usual: list[str], labels: tuple[list[Label], list[Label]]) -> str:
    """What an annotator who reads only the speaker says, and who says the same."""
    titles = {intent.name: intent.title for intent in questionnaire.intents}
    said = ", ".join(titles.get(name, name) for name in usual) or "no label"
    same = [
        letter
        for letter, found in zip("AB", labels, strict=True)
        if {intent_of(questionnaire, label) for label in found} == set(usual)
    ]
    return f"{said} – {'as ' + ' and '.join(same) if same else 'unlike both'}"


def _row(
    page: Asked,
    place: Place,
    sets: tuple[LabelSet, LabelSet],
    readings: tuple[Reading, Reading],
    named: bool,
    *,
    concept: SameConcept | None,
) -> dict[str, Any]:
    project, questionnaire = page.project, page.project.questionnaire
    labels = (list(readings[0].labels_at(place.position)), list(readings[1].labels_at(place.position)))
    turn = readings[0].utterances[place.position]
    speaker = questionnaire.speaker(place.speaker)
    return {
        "position": place.position,
        "dialogue": sets[0].dialogue,
        "speaker": speaker.title if speaker else place.speaker,
        "text": turn.text,
        "sides": [
            {
                "letter": letter,
                "name": page.names.get(row.annotator_id or 0, "?") if named else "",
                "labels": [label_text(questionnaire, label) for label in found],
                "reason": row.unlabelled_reasons.get(str(place.position), "") if not found else "",
                "href": f"{reverse('workbench', args=[project.slug, row.pk])}#u{place.position}",
            }
            for letter, row, found in zip("AB", sets, labels, strict=True)
        ],
        "labels": labels,
        "differences": _differences(questionnaire, *labels, concept),
        "adjudicate": adjudication_address(project.slug, place.dialogue, place.position),
    }


def _differences(
    questionnaire: Questionnaire, a: list[Label], b: list[Label], concept: SameConcept | None
) -> list[str]:
    found = align(questionnaire, a, b, concept)
    return [one.words() for one in found if one.outcome is not Outcome.AGREED or one.reworded]


def adjudication_address(slug: str, dialogue: int, position: int) -> str:
    """Where this utterance is adjudicated; "" where the portal has no such page."""
    try:
        return f"{reverse('adjudicate', args=[slug, dialogue])}#u{position}"
    except NoReverseMatch:
        return ""
