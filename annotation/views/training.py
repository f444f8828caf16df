"""Training in the workbench: what of an utterance matches the gold, what differs, and why."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import get_label_set
from annotation.models import Owner, Purpose
from annotation.services.errors import Refused
from annotation.services.training import compared
from annotation.views.requests import person_of, whole_numbers

CONFLICT = 409


@require_GET
def workbench_check(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One utterance (`?position=`) of a training dialogue, as a fragment for the workbench.

    Nothing of the gold is sent before the utterance is labelled.
    """
    label_set = get_label_set(person_of(request), pk, slug)
    if label_set.owner != Owner.ANNOTATOR or label_set.purpose != Purpose.TRAINING:
        raise Http404
    positions = whole_numbers([request.GET.get("position", "")])
    try:
        found = compared(label_set=label_set, position=positions[0] if positions else -1)
    except Refused as refusal:
        return HttpResponse(refusal.message, status=CONFLICT, content_type="text/plain; charset=utf-8")
    return render(request, "annotation/_check.html", {"found": found})
