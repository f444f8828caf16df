"""A project in which three people label dialogues two by two, with a known share of differences."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from itertools import combinations

from annotation.domain.labels import Label
from annotation.models import LabelSet, Project, Purpose, Role, User
from annotation.services.label_sets import label_set_finish
from tests import factory
from tests.factory import inform, inquire

TURNS = [
    ("doctor", "Good morning, what brings you in today?"),
    ("patient", "I've had this cough for about two weeks now."),
    ("doctor", "Any fever?"),
    ("patient", "Yes, a slight one since Monday."),
    ("doctor", "Do you smoke?"),
    ("patient", "Half a pack of cigarettes per day."),
    ("doctor", "Are you taking anything?"),
    ("patient", "Only paracetamol."),
    ("doctor", "I think it is bronchitis. Thank you."),
    ("patient", "Thanks, doctor."),
]


def first_labels() -> list[Label]:
    return [
        Label(0, "salutations"),
        inquire(0, "symptom"),
        inform(1, "symptom", "cough", status="yes", onset="two weeks ago"),
        inquire(2, "symptom", "fever"),
        inform(3, "symptom", "fever", status="yes", onset="Monday"),
        inquire(4, "habit", "smoking"),
        inform(5, "habit", "smoking", status="yes"),
        inquire(6, "medication"),
        inform(7, "medication", "paracetamol", status="currently taking"),
        Label(8, "chit-chat"),
        Label(9, "chit-chat"),
    ]


def other_labels(rng: random.Random, share: float) -> list[Label]:
    """The same with some labels left out, or with another intent, status or onset."""
    found = []
    for label in first_labels():
        if rng.random() >= share:
            found.append(label)
        elif not label.slot:
            found.append(Label(label.position, "nod_prompt"))
        elif label.slot == "symptom" and label.intent == "inform":
            changes = [{"status": "no"}, {"onset": "some time ago"}, {"value": ["chest infection"]}]
            found.append(label.with_answers(**rng.choice(changes)))
    return found


def finish(label_set: LabelSet) -> None:
    label_set.refresh_from_db()
    assert label_set.annotator is not None
    label_set_finish(
        label_set=label_set,
        actor=label_set.annotator,
        version=label_set.version,
        key=str(uuid.uuid4()),
        reasons=dict.fromkeys(range(len(TURNS)), "nothing to label"),
    )


def doubly_labelled(
    project: Project, people: Sequence[User], *, dialogues: int = 4, share: float = 0.3, specialty: str = "respiratory"
) -> list[LabelSet]:
    """Each dialogue is a seed of two of the people, in turn; all are done."""
    rng = random.Random(7)
    made = []
    pairs = list(combinations(people, 2))
    for number in range(dialogues):
        dialogue = factory.make_dialogue(project, f"SEED-{number + 1:02}", turns=TURNS, specialty=specialty)
        for place, person in enumerate(pairs[number % len(pairs)]):
            label_set = factory.make_label_set(dialogue, person, purpose=Purpose.SEED)
            factory.make_labels(label_set, *(other_labels(rng, share) if place else first_labels()))
            finish(label_set)
            made.append(label_set)
    return made


def third_annotator(project: Project) -> User:
    return factory.make_member(project, factory.make_user("cora", first_name="Cora"), Role.ANNOTATOR)
