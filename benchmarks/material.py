"""What is saved: dialogues of 150 utterances and 200 labels for each, put together from the demonstration's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from annotation.domain.dialogue_files import read_dialogue_file
from annotation.domain.dialogues import ParsedDialogue, ParsedFile
from annotation.domain.labels import Label, Utterance
from annotation.domain.portal_file import read_labels

UTTERANCES = 150
LABELS = 200
SOURCES = ("DEMO-RES-01", "DEMO-MSK-01", "DEMO-RES-01")
PASSWORD = "only for this measurement"


@dataclass(frozen=True, slots=True)
class Worker:
    """An annotator and the pages of their label sets, none of which has a label yet."""

    username: str
    pages: list[str]


def prepare(annotators: int, dialogues: int) -> list[Worker]:
    """Fill an empty database with a project in which every annotator has so many dialogues to label."""
    from django.core.management import call_command

    from annotation.services.accounts import person_create
    from annotation.services.projects import project_create

    call_command("migrate", run_syncdb=True, interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    supervisor, _ = person_create(username="supervisor")
    project = project_create(name="Benchmark", questionnaire="cmas", creator=supervisor)
    utterances = tuple(_utterances())
    return [_worker(project, supervisor, f"annotator-{number}", dialogues, utterances) for number in range(annotators)]


def _worker(project: Any, supervisor: Any, name: str, count: int, utterances: tuple[Utterance, ...]) -> Worker:
    from django.urls import reverse

    from annotation.models import Dialogue, Role
    from annotation.services.accounts import person_create
    from annotation.services.assignments import label_set_assign
    from annotation.services.imports import SourceFile, dialogues_import
    from annotation.services.projects import member_add

    person, _ = person_create(username=name)
    person.set_password(PASSWORD)
    person.must_change_password = False
    person.save()
    member_add(project=project, who=name, roles=[Role.ANNOTATOR])
    ids = [f"{name}-{number:02}" for number in range(count)]
    parsed = tuple(ParsedDialogue(external_id, utterances) for external_id in ids)
    file = SourceFile(ParsedFile(f"{name}.jsonl", "jsonl", "utf-8", dialogues=parsed))
    dialogues_import(project=project, files=[file], actor=supervisor)
    rows = Dialogue.objects.filter(project=project, external_id__in=ids)
    made = label_set_assign(dialogues=rows, annotator=person, actor=supervisor).created
    return Worker(name, [reverse("workbench-changes", args=[project.slug, label_set.pk]) for label_set in made])


def label_bodies() -> list[dict[str, Any]]:
    """The labels as the workbench sends them, in the order in which an annotator would make them."""
    from annotation.services.readings import label_as_json

    left_out = {"id", "rank", "questionnaire_version"}
    return [
        {name: value for name, value in label_as_json(label).items() if name not in left_out} for label in _labels()
    ]


def _utterances() -> list[Utterance]:
    turns = [turn for name in SOURCES for turn in _dialogue(name).utterances]
    return [replace(turn, position=position) for position, turn in enumerate(turns[:UTTERANCES])]


def _labels() -> list[Label]:
    from annotation.questionnaires import get_questionnaire
    from annotation.services.demo import FOLDER

    labels: list[Label] = []
    start = 0
    for name in SOURCES:
        text = (FOLDER / "labels" / f"{name}.labels.json").read_text(encoding="utf-8")
        read = read_labels(get_questionnaire("cmas"), text, file=name).labels
        labels += [replace(label, position=label.position + start, origin="typed") for label in read]
        start += len(_dialogue(name).utterances)
    labels = [label for label in labels if label.position < UTTERANCES]
    if len(labels) < LABELS:
        raise SystemExit(f"The demonstration has {len(labels)} labels for this measurement; {LABELS} are needed.")
    return labels[:LABELS]


def _dialogue(name: str) -> ParsedDialogue:
    from annotation.services.demo import FOLDER

    path = FOLDER / "dialogues" / f"{name}.txt"
    return read_dialogue_file(path.read_bytes(), path.name).dialogues[0]
