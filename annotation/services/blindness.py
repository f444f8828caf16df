"""Whose labels are whose: hidden from whoever may decide on them until they ask, and when they asked is kept."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from annotation.domain.adjudication import is_exchanged
from annotation.models import Dialogue, NamesShown, User
from annotation.services.errors import NotEditable


@transaction.atomic
def names_show(*, dialogues: Iterable[Dialogue], actor: User) -> None:
    """Keep that the person has the names of these dialogues (with their projects) from now on; again changes nothing.

    Raises NotEditable for a dialogue that is archived, or whose project is.
    """
    for dialogue in dialogues:
        if dialogue.archived_at or dialogue.project.archived_at:
            raise NotEditable(f"{dialogue} is archived; nothing about it is noted any more.")
        NamesShown.objects.get_or_create(dialogue=dialogue, person=actor)


def names_known(user: User, dialogues: Iterable[int]) -> set[int]:
    """Those of the dialogues whose names the person has had shown."""
    return set(NamesShown.objects.filter(person=user, dialogue__in=set(dialogues)).values_list("dialogue", flat=True))


def shown_at(dialogues: Iterable[int]) -> dict[int, dict[int, datetime]]:
    """Dialogue → person → since when they have the names."""
    found: dict[int, dict[int, datetime]] = {}
    for dialogue, person, at in NamesShown.objects.filter(dialogue__in=dialogues).values_list(
        "dialogue", "person", "at"
    ):
        found.setdefault(dialogue, {})[person] = at
    return found


def seed_of(dialogue: Dialogue) -> str:
    """What is drawn from who is A on an utterance of this dialogue; nobody outside knows it."""
    return f"{dialogue.project.secret}/{dialogue.pk}"


def exchanged_at(dialogue: Dialogue, position: int) -> bool:
    """Whether A and B are exchanged at this utterance for who decides on it, against the order of their row numbers."""
    return is_exchanged(seed_of(dialogue), position)
