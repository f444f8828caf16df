"""What pages look up while somebody types or labels: concepts by name, and which wordings are decided."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET, require_POST
from rest_framework.exceptions import ParseError

from annotation.access import LINKING, get_project
from annotation.api.parsers import json_from
from annotation.domain.concepts import Place, surface_key
from annotation.models import Project
from annotation.services.errors import Refused
from annotation.views.requests import person_of
from umls_linker.forms.lookup import values_from_json
from umls_linker.index.manifest import UnusableVocabulary
from umls_linker.index.reader import VocabularyIndex
from umls_linker.index.search import search as ranked
from umls_linker.models import Decision, Occurrence, ProposedConcept
from umls_linker.services.canonical import canon_of
from umls_linker.services.project_vocabulary import index_of, vocabulary_of
from umls_linker.services.suggestions import Suggestion, suggestions
from umls_linker.views.cards import types_of

FOUND = 25
LONGEST = 200


@require_GET
def suggest(request: HttpRequest, slug: str) -> HttpResponse:
    """`{suggestions: [{value, note}]}` for what is typed into a medical field, `note` being the concept's name where it
    is another. Empty for whatever cannot be looked up; a type-ahead has no errors."""
    project = get_project(person_of(request), slug)
    index = _index(project)
    given = {name: request.GET.get(name, "")[:LONGEST] for name in ("slot", "field", "q")}
    found: list[dict[str, str]] = []
    if index and given["q"].strip():
        with suppress(UnusableVocabulary):  # its folder is being deleted
            offered = suggestions(index, given["q"], slot=given["slot"], field=given["field"])
            found = [_shown(one) for one in offered]
    return JsonResponse({"suggestions": found})


def _shown(one: Suggestion) -> dict[str, str]:
    return {
        "value": as_in_a_sentence(one.string),
        "note": "" if one.string.casefold() == one.name.casefold() else one.name,
    }


def as_in_a_sentence(string: str) -> str:
    """A vocabulary's string without the capital it begins with: "Night sweats" is "night sweats", "HIV test" stays."""
    first = string.split(maxsplit=1)[0] if string.split() else ""
    return string[:1].lower() + string[1:] if len(first) > 1 and first[1:].islower() else string


@require_GET
def search(request: HttpRequest, slug: str) -> HttpResponse:
    """`{concepts: [{cui, name, types, note}]}` from the whole vocabulary and the project's own, for the review page."""
    project = get_project(person_of(request), slug, LINKING)
    text = request.GET.get("q", "").strip()[:LONGEST]
    slot, field = (request.GET.get(name, "")[:LONGEST] for name in ("slot", "field"))
    index = _index(project)
    concepts = [*_proposed(project, text)]
    if index:
        with suppress(UnusableVocabulary):  # its folder is being deleted
            concepts += _found(index, text, slot, field)
    return JsonResponse({"concepts": concepts[:FOUND]})


def _found(index: VocabularyIndex, text: str, slot: str, field: str) -> Iterable[dict[str, Any]]:
    known = index.concept(text.upper())  # whoever knows the identifier need not know the name
    if known:
        yield _entry(known.cui, known.name, known.semantic_types, "")
    for one in ranked(index, text, slot=slot, field=field, limit=FOUND):
        if known and known.cui == one.cui:
            continue
        note = "" if one.matched_text.casefold() == one.name.casefold() else one.matched_text
        yield _entry(one.cui, one.name, one.semantic_types, note)


def _proposed(project: Project, text: str) -> Iterable[dict[str, Any]]:
    """Those that a decision uses; what was proposed and taken back is not offered again."""
    standing = Decision.objects.filter(proposed=OuterRef("pk")).standing().order_by()
    rows = ProposedConcept.objects.filter(Exists(standing), project=project)
    for word in text.split():
        rows = rows.filter(name__icontains=word)
    for row in rows[:FOUND]:
        types = (row.semantic_type,) if row.semantic_type else ()
        yield _entry(row.identifier, row.name, types, "proposed in this project")


def _entry(cui: str, name: str, types: Iterable[str], note: str) -> dict[str, Any]:
    return {"cui": cui, "name": name, "types": [words for words, _ in types_of(types)], "note": note}


@require_POST
def decided(request: HttpRequest, slug: str) -> HttpResponse:
    """What values mean that the person has typed, for the marks in the workbench.

    `{values: [[label, slot, field, value], …]}` is answered with `{concepts: [[cui, name] or null, …]}` in that order.

    Nobody is told what others wrote: only what is asked for is answered. A decision about one utterance counts for the
    person's own labels; of any other label, or one that is not saved yet, the wording decides.
    """
    user = person_of(request)
    project = get_project(user, slug)
    try:
        values = values_from_json(json_from(request.body))
    except (ParseError, Refused) as error:
        message = error.message if isinstance(error, Refused) else str(error.detail)
        return JsonResponse({"error": {"code": "malformed", "message": message}}, status=400)
    canon = canon_of(project.pk)
    single = {label for label, _ in canon.labels}
    mine = _own_places(user.pk, single & {label for label, *_ in values})
    found = []
    for label, slot, field, value in values:
        own = (label, (slot, field, surface_key(value))) in mine
        concept = canon.concept(slot, field, value, label if own else "")
        found.append([concept.cui, concept.name] if concept else None)
    return JsonResponse({"concepts": found}, headers={"Cache-Control": "no-store"})


def _own_places(user_id: int, labels: set[str]) -> set[tuple[str, Place]]:
    """What the person's own among these labels say. What is decided about other wordings of the same utterance is about
    somebody else's labels."""
    if not labels:
        return set()
    rows = Occurrence.objects.filter(label_set__annotator=user_id, label_id__in=labels).order_by()
    form = "surface_form__"
    found = rows.values_list("label_id", f"{form}slot", f"{form}field", f"{form}key")
    return {(str(label_id), (slot, name, key)) for label_id, slot, name, key in found}


def _index(project: Project) -> VocabularyIndex | None:
    vocabulary = vocabulary_of(project)
    return index_of(vocabulary) if vocabulary else None
