"""What pages look up while somebody types or labels: concepts by name, and which wordings are decided."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from annotation.access import LINKING, get_project
from annotation.domain.concepts import CanonicalConcept, Place
from annotation.models import Project
from annotation.views.requests import person_of
from umls_linker.domain.slots import fit
from umls_linker.index.manifest import UnusableVocabulary
from umls_linker.index.reader import VocabularyIndex
from umls_linker.index.search import search as ranked
from umls_linker.models import Decision, Occurrence, ProposedConcept
from umls_linker.services.canonical import canon_of
from umls_linker.services.project_vocabulary import index_of, vocabulary_of
from umls_linker.views.shown import types_of

SUGGESTED = 8
FOUND = 25
COMPLETIONS = 60  # terms with the prefix among which those that fit the slot are preferred
LONGEST = 200


@require_GET
def suggest(request: HttpRequest, slug: str) -> HttpResponse:
    """`{suggestions: [{value, note}]}` for what is typed into a medical field: by prefix, then by likeness. Empty for
    whatever cannot be looked up; a type-ahead has no errors."""
    project = get_project(person_of(request), slug)
    index = _index(project)
    given = {name: request.GET.get(name, "")[:LONGEST] for name in ("slot", "field", "q")}
    found: list[dict[str, str]] = []
    if index and given["q"].strip():
        with suppress(UnusableVocabulary):  # its folder is being deleted
            found = _suggestions(index, given["q"], given["slot"], given["field"])
    return JsonResponse({"suggestions": found})


def _suggestions(index: VocabularyIndex, text: str, slot: str, field: str) -> list[dict[str, str]]:
    """One for each concept, under the string that fits what is typed, with the concept's own name beside it."""
    found: dict[str, dict[str, str]] = {}
    completions = []
    joined = "".join(text.split())  # "head ac" may become "headache"
    numbers = index.terms_starting(text, COMPLETIONS) + (
        index.terms_starting(joined, COMPLETIONS) if joined != text else []
    )
    for place, number in enumerate(dict.fromkeys(numbers)):
        term = index.term(number)
        for meaning in term.concepts[:1]:
            concept = index.concept(meaning.cui)
            if concept:
                completions.append((-fit(concept.semantic_types, slot, field)[0], place, term.text, concept))
    for _, _, string, concept in sorted(completions, key=lambda entry: entry[:2]):
        found.setdefault(concept.cui, _suggestion(string, concept.name))
    if len(found) < SUGGESTED:
        for one in ranked(index, text, slot=slot, field=field, limit=SUGGESTED):
            found.setdefault(one.cui, _suggestion(one.matched_text, one.name))
    return list(found.values())[:SUGGESTED]


def _suggestion(string: str, name: str) -> dict[str, str]:
    value = as_in_a_sentence(string)
    return {"value": value, "note": "" if string.casefold() == name.casefold() else name}


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


@require_GET
def decided(request: HttpRequest, slug: str) -> HttpResponse:
    """Which wordings are canonical, for the marks in the workbench: `{forms: {place: [cui, name]}, labels: {label:
    {place: [cui, name] or null}}}`, `labels` for the person's own labels only. Answers 304 to the ETag of the last one.

    Places are digests (`place_digest`): whoever has used a wording finds it, and nobody is told what others wrote.
    """
    user = person_of(request)
    project = get_project(user, slug)
    canon = canon_of(project.pk)
    mine = _own_places(user.pk, {label for label, _ in canon.labels})
    labels: dict[str, dict[str, list[str] | None]] = {}
    for (label, place), concept in canon.labels.items():
        if (label, place) in mine:
            labels.setdefault(label, {})[place_digest(place)] = _plain(concept) if concept else None
    forms = {place_digest(place): _plain(concept) for place, concept in canon.forms.items()}
    body = json.dumps({"forms": forms, "labels": labels}, sort_keys=True, ensure_ascii=False).encode()
    stamp = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": stamp, "Cache-Control": "private, no-cache"}
    if request.headers.get("If-None-Match") == stamp:
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(body, content_type="application/json", headers=headers)


def _plain(concept: CanonicalConcept) -> list[str]:
    return [concept.cui, concept.name]


def _own_places(user_id: int, labels: set[str]) -> set[tuple[str, Place]]:
    """What the person's own among these labels say. What is decided about other wordings of the same utterance is about
    somebody else's labels."""
    if not labels:
        return set()
    rows = Occurrence.objects.filter(label_set__annotator=user_id, label_id__in=labels).order_by()
    form = "surface_form__"
    found = rows.values_list("label_id", f"{form}slot", f"{form}field", f"{form}key")
    return {(str(label_id), (slot, name, key)) for label_id, slot, name, key in found}


def place_digest(place: Place) -> str:
    """FNV-1a (64 bits, hex) over slot, field and key with U+001F between them, in UTF-8; `concepts.js` has the same."""
    value = 0xCBF29CE484222325
    for byte in "\x1f".join(place).encode():
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def _index(project: Project) -> VocabularyIndex | None:
    vocabulary = vocabulary_of(project)
    return index_of(vocabulary) if vocabulary else None
