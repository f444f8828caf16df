"""Test data, made through the same services and tables as real data."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from typing import Any

from annotation.domain.dialogues import ParsedDialogue
from annotation.domain.labels import Label as LabelData
from annotation.domain.labels import Utterance as UtteranceData
from annotation.models import Dialogue, LabelSet, Membership, Project, Role, User, Utterance
from annotation.services.labelling import Change, Saved, label_set_change

PASSWORD = "correct horse battery"
_numbers = itertools.count(1)

TURNS = [
    ("doctor", "Good morning, what brings you in today?"),
    ("patient", "I've had this cough for about two weeks now."),
    ("doctor", "Any fever or night sweats?"),
    ("patient", "No."),
    ("doctor", "And when did the cough start exactly?"),
    ("patient", "Maybe 15 days ago, after a cold."),
    ("doctor", "Do you smoke?"),
    ("patient", "Half a pack of cigarettes per day."),
    ("doctor", "Okay. Thank you."),
    ("patient", "Thanks, doctor."),
]


def make_user(username: str, **fields: Any) -> User:
    user = User(username=username, **fields)
    user.set_password(PASSWORD)
    user.save()
    return user


def make_project(name: str = "", **fields: Any) -> Project:
    name = name or f"Project {next(_numbers)}"
    slug = name.lower().replace(" ", "-")
    defaults = {"questionnaire_name": "cmas", "questionnaire_version": cmas_version()}
    return Project.objects.create(name=name, slug=slug, **{**defaults, **fields})


def cmas_version() -> str:
    from annotation.questionnaires import get_questionnaire

    return get_questionnaire("cmas").version


def make_member(project: Project, user: User, *roles: Role) -> User:
    for role in roles:
        Membership.objects.get_or_create(project=project, user=user, role=role)
    return user


def make_dialogue(
    project: Project, external_id: str = "", turns: Sequence[tuple[str, str]] = TURNS, **fields: Any
) -> Dialogue:
    external_id = external_id or f"D{next(_numbers):04}"
    utterances = tuple(UtteranceData(position, speaker, text) for position, (speaker, text) in enumerate(turns))
    parsed = ParsedDialogue(external_id, utterances)
    dialogue = Dialogue.objects.create(
        project=project,
        external_id=external_id,
        fingerprint=parsed.fingerprint,
        utterance_count=len(utterances),
        **fields,
    )
    Utterance.objects.bulk_create(
        Utterance(dialogue=dialogue, position=turn.position, speaker=turn.speaker, text=turn.text)
        for turn in utterances
    )
    return dialogue


def make_label_set(dialogue: Dialogue, annotator: User, **fields: Any) -> LabelSet:
    return LabelSet.objects.create(dialogue=dialogue, annotator=annotator, **fields)


def make_labels(label_set: LabelSet, *labels: LabelData) -> Saved:
    """Store labels through the service, as one change."""
    label_set.refresh_from_db()
    changes = [Change(label.id or str(uuid.uuid4()), label) for label in labels]
    assert label_set.annotator is not None
    return label_set_change(
        label_set=label_set,
        actor=label_set.annotator,
        version=label_set.version,
        key=str(uuid.uuid4()),
        changes=changes,
    )


def inform(position: int, slot: str, *values: str, **answers: Any) -> LabelData:
    """`inform(1, "symptom", "cough", status="yes", onset="two weeks")`"""
    return LabelData(position, "inform", slot, {"value": list(values), **answers} if values else answers)


def inquire(position: int, slot: str, *values: str, checks: Sequence[str] = (), **answers: Any) -> LabelData:
    return LabelData(
        position, "inquire", slot, {"value": list(values), **answers} if values else answers, tuple(checks)
    )
