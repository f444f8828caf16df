"""The guidelines of a project's questionnaire on one page."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from annotation.access import ANSWERING, get_project
from annotation.domain.questionnaire import Intent, Questionnaire, Slot
from annotation.models import GuidelineNote, Project
from annotation.views.requests import person_of


@require_safe
def guidelines(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project(person_of(request), slug)
    questionnaire = project.questionnaire
    notes = _notes(project)
    context = {
        "project": project,
        "questionnaire": questionnaire,
        "intents": [_with_notes(_intent(questionnaire, intent), notes) for intent in questionnaire.intents],
        "slots": [_with_notes(_slot(questionnaire, slot), notes) for slot in questionnaire.slots],
        "cases": [{"case": case, "anchor": anchor("case", case.title)} for case in questionnaire.special_cases],
        "changes_notes": bool(ANSWERING & project.roles) and not project.archived_at,  # type: ignore[attr-defined]
        "notes": notes[note_anchor("", "")],
    }
    return render(request, "annotation/guidelines.html", context)


def _notes(project: Project) -> dict[str, list[GuidelineNote]]:
    """The project's own notes by where they stand."""
    found: dict[str, list[GuidelineNote]] = defaultdict(list)
    for note in GuidelineNote.objects.filter(project=project, withdrawn_at=None):
        found[note_anchor(note.intent, note.slot)].append(note)
    return found


def _with_notes(entry: dict[str, Any], notes: dict[str, list[GuidelineNote]]) -> dict[str, Any]:
    return {**entry, "notes": notes[entry["anchor"]]}


def note_anchor(intent: str, slot: str) -> str:
    """Where on the page a note about an intent, a slot, both or neither stands."""
    return anchor("slot", slot) if slot else anchor("intent", intent) if intent else "project-notes"


def anchor(kind: str, name: str) -> str:
    """`slot-symptom-dermatology` for the slot “symptom (dermatology)”; pages link to it with a #."""
    return f"{kind}-{slugify(name.replace('/', ' '))}"


def _intent(questionnaire: Questionnaire, intent: Intent) -> dict[str, Any]:
    return {
        "intent": intent,
        "anchor": anchor("intent", intent.name),
        "speakers": [speaker.title for speaker in questionnaire.speakers if speaker.name in intent.speakers],
        "slots": [(slot.title, anchor("slot", slot.name)) for slot in questionnaire.slots_for(intent.name)],
        "cases": [case for case in questionnaire.special_cases if intent.name in case.intents],
    }


def _slot(questionnaire: Questionnaire, slot: Slot) -> dict[str, Any]:
    intents = [intent for intent in questionnaire.intents if intent.name in slot.intents]
    return {
        "slot": slot,
        "anchor": anchor("slot", slot.name),
        "intents": [(intent.title, anchor("intent", intent.name)) for intent in intents],
        "fields": [
            {"field": item, "choices": [choice for choice in item.choices if not choice.older]} for item in slot.fields
        ],
        "cases": [case for case in questionnaire.special_cases if slot.name in case.slots],
    }
