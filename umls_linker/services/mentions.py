"""The vocabulary's concepts found in the utterances of a dialogue, for the workbench to offer as values."""

from __future__ import annotations

import hashlib
import importlib.util
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import OuterRef, QuerySet, Subquery

from annotation.models import Dialogue, Project
from annotation.services.concept_linking import Mention
from annotation.services.errors import Refused
from annotation.services.readings import utterances_of
from umls_linker.domain.slots import slot_of
from umls_linker.index.manifest import UnusableVocabulary
from umls_linker.index.reader import VocabularyIndex
from umls_linker.models import DialogueMentions, Vocabulary
from umls_linker.services.project_vocabulary import index_of, vocabulary_of

MATCHER = "1"  # changes with what is found, or how it is kept
LONGEST = 60  # characters of a value that is offered


def dialogue_mentions_find(*, dialogue: Dialogue) -> bool:
    """Find and keep the concepts of a dialogue; says whether there was anything to do. Safe to call twice.

    Raises Refused when the settings name a language model that is not installed.
    """
    model = language_model()
    vocabulary = vocabulary_of(dialogue.project)
    index = index_of(vocabulary) if vocabulary else None
    if vocabulary is None or index is None:
        return False
    found_with = f"{dialogue.fingerprint[:16]} {_suffix(vocabulary)}"
    if DialogueMentions.objects.filter(dialogue=dialogue, found_with=found_with).exists():
        return False
    turns = utterances_of(dialogue.pk, dialogue.fingerprint)
    try:
        found = {str(turn.position): mentions for turn in turns if (mentions := _mentions(index, turn.text, model))}
    except UnusableVocabulary:  # its folder is being deleted
        return False
    values = {"found_with": found_with, "mentions": found}
    DialogueMentions.objects.update_or_create(dialogue=dialogue, defaults=values)
    return True


def dialogues_without_mentions(project: Project) -> QuerySet[Dialogue]:
    """The dialogues whose concepts were not looked for with the project's present vocabulary."""
    vocabulary = vocabulary_of(project)
    if vocabulary is None:
        return Dialogue.objects.none()
    known = DialogueMentions.objects.filter(dialogue=OuterRef("pk"), found_with__endswith=_suffix(vocabulary))
    rows = Dialogue.objects.filter(project=project, archived_at=None).annotate(known=Subquery(known.values("pk")))
    return rows.filter(known=None).select_related("project").order_by("pk")


def mentions_find(*, project: Project, seconds: float) -> bool:
    """Look through the project's dialogues; False where the time was too short for all. Raises as
    `dialogue_mentions_find` does.
    """
    language_model()
    ends = time.monotonic() + seconds
    for dialogue in dialogues_without_mentions(project)[:1000]:
        if time.monotonic() > ends:
            return False
        if not dialogue_mentions_find(dialogue=dialogue):
            return True  # the vocabulary has gone
    return not dialogues_without_mentions(project).exists()


def mentions_of(dialogue_id: int) -> dict[int, Sequence[Mention]]:
    """What is kept of a dialogue, by the utterance's position: one query."""
    row = DialogueMentions.objects.filter(dialogue=dialogue_id).values_list("mentions", flat=True).first()
    return {int(position): [_mention(one) for one in items] for position, items in (row or {}).items()}


def language_model() -> str:
    """The spaCy model that divides utterances into words, "" for none. Raises Refused when it is not installed."""
    model: str = settings.PORTAL_SPACY_MODEL
    # As spaCy looks for it, without importing spaCy, which takes seconds: a package, or a folder.
    if model and not (model.isidentifier() and importlib.util.find_spec(model)) and not Path(model).is_dir():
        raise Refused(f"PORTAL_SPACY_MODEL names the spaCy model “{model}”, which is not installed.")
    return model


def _suffix(vocabulary: Vocabulary) -> str:
    """What mentions were found with, apart from the dialogue's own words."""
    model = settings.PORTAL_SPACY_MODEL
    return f"{vocabulary.digest[:16]} {MATCHER}" + (f" {_digest(model)}" if model else "")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _mentions(index: VocabularyIndex, text: str, model: str) -> list[dict[str, Any]]:
    """The concepts of one utterance that belong to some slot, as they are kept."""
    found = []
    for one in index.mentions(text, language_model=model):
        if one.end - one.start > LONGEST:
            continue
        for cui in one.cuis:
            types = index.semantic_types(cui)
            if slot_of(types):
                name = index.name(cui) or one.term
                kept = {"start": one.start, "end": one.end, "text": text[one.start : one.end]}
                found.append({**kept, "cui": cui, "name": name, "types": list(types)})
                break
    return found


def _mention(kept: Mapping[str, Any]) -> Mention:
    slot = slot_of(tuple(kept["types"]))
    return Mention(kept["start"], kept["end"], kept["text"], kept["cui"], kept["name"], (slot,) if slot else ())
