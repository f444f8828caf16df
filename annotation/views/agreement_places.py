"""Utterances with what two annotators made of them, in words, and the way to adjudicating them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.urls import NoReverseMatch, reverse

from annotation.domain.alignment import Outcome, align
from annotation.domain.labels import Label, Reading
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.wording import label_text
from annotation.models import LabelSet, Project
from annotation.services.agreement_places import Place
from annotation.services.readings import reading_of


def place_rows(project: Project, places: Iterable[Place], names: Mapping[int, str]) -> list[dict[str, Any]]:
    """For each place its text, both annotators' labels, and the differences in words."""
    listed = list(places)
    pks = {pk for one in listed for pk in one.label_sets}
    sets = LabelSet.objects.filter(pk__in=pks).select_related("dialogue__project").in_bulk()
    readings = {pk: reading_of(row) for pk, row in sets.items()}
    rows = []
    for one in listed:
        a, b = one.label_sets
        if a in readings and b in readings:
            rows.append(_row(project, one, (sets[a], sets[b]), (readings[a], readings[b]), names))
    return rows


def _row(
    project: Project,
    place: Place,
    sets: tuple[LabelSet, LabelSet],
    readings: tuple[Reading, Reading],
    names: Mapping[int, str],
) -> dict[str, Any]:
    questionnaire = project.questionnaire
    labels = [list(reading.labels_at(place.position)) for reading in readings]
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
                "name": names.get(person, "?"),
                "labels": [label_text(questionnaire, label) for label in found],
                "reason": row.unlabelled_reasons.get(str(place.position), "") if not found else "",
                "reached": found or row.status in ("done", "locked") or str(place.position) in row.unlabelled_reasons,
                "href": f"{reverse('workbench', args=[project.slug, row.pk])}#u{place.position}",
            }
            for letter, person, row, found in zip("AB", place.people, sets, labels, strict=True)
        ],
        "differences": _differences(questionnaire, *labels),
        "adjudicate": adjudication_address(project.slug, place.dialogue, place.position),
    }


def _differences(questionnaire: Questionnaire, a: list[Label], b: list[Label]) -> list[str]:
    return [one.words() for one in align(questionnaire, a, b) if one.outcome is not Outcome.AGREED]


def adjudication_address(slug: str, dialogue: int, position: int) -> str:
    """Where this utterance is adjudicated; "" where the portal has no such page."""
    try:
        return f"{reverse('adjudicate', args=[slug, dialogue])}#u{position}"
    except NoReverseMatch:
        return ""
