"""The demonstration: a project with people, dialogues and two labelled readings, made by the pages' own services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from annotation import demo
from annotation.models import Dialogue, Label, LabelSet, Project, Role, User
from annotation.services.accounts import person_create
from annotation.services.assignments import label_set_assign
from annotation.services.errors import Refused
from annotation.services.import_files import LocalFiles
from annotation.services.imports import dialogues_import
from annotation.services.label_imports import portal_file_import
from annotation.services.projects import member_add, project_create

NAME = "Demo"
PEOPLE = {"annotator": Role.ANNOTATOR, "supervisor": Role.SUPERVISOR, "doctor": Role.DOCTOR}
FOLDER = Path(demo.__file__).parent


@dataclass(frozen=True, slots=True)
class Demo:
    """What there is now. `accounts` gives the password by user name, None for an account that was there before."""

    project: Project
    created: bool
    accounts: Mapping[str, str | None] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        dialogues = Dialogue.objects.filter(project=self.project)
        return {
            "dialogues": dialogues.count(),
            "utterances": sum(dialogues.values_list("utterance_count", flat=True)),
            "labels": Label.objects.filter(label_set__dialogue__project=self.project).count(),
        }


@transaction.atomic
def demo_load(*, password: str = "") -> Demo:
    """Make the demonstration, whole or not at all; where its project is there already, change nothing.

    Accounts that exist keep their passwords; new ones get `password`, or one of their own each when it is empty.
    """
    existing = Project.objects.filter(name=NAME).first()
    if existing:
        present = User.objects.filter(username__in=PEOPLE).values_list("username", flat=True)
        return Demo(existing, created=False, accounts=dict.fromkeys(name for name in PEOPLE if name in set(present)))
    people, accounts = _people(password)
    project = project_create(name=NAME, questionnaire="cmas", creator=people["supervisor"])
    for name, role in PEOPLE.items():
        member_add(project=project, who=name, roles=[role])
    result = dialogues_import(project=project, files=LocalFiles([FOLDER / "dialogues"]), actor=people["supervisor"])
    if result.errors:
        raise Refused(f"A demonstration dialogue cannot be imported: {result.errors[0]}")
    dialogues = Dialogue.objects.filter(project=project)
    label_set_assign(dialogues=dialogues, annotator=people["annotator"], actor=people["supervisor"])
    for path in sorted((FOLDER / "labels").glob("*.labels.json")):
        _label(project, people["annotator"], path)
    return Demo(project, created=True, accounts=accounts)


def _people(password: str) -> tuple[dict[str, User], dict[str, str | None]]:
    people: dict[str, User] = {}
    accounts: dict[str, str | None] = {}
    for name in PEOPLE:
        person = User.objects.filter(username=name).first()
        accounts[name] = None
        if person is None:
            person, generated = person_create(username=name)
            if password:
                person.set_password(password)
            person.must_change_password = False  # whoever tries the demonstration has just read it on the screen
            person.save(update_fields=["password", "must_change_password"])
            accounts[name] = password or generated
        people[name] = person
    return people, accounts


def _label(project: Project, annotator: User, path: Path) -> None:
    """Put a written reading into the annotator's label set, so that the tour begins with a filled patient state."""
    dialogue = path.name.removesuffix(".labels.json")
    rows = LabelSet.objects.select_related("dialogue__project").filter(dialogue__project=project, annotator=annotator)
    label_set = rows.get(dialogue__external_id=dialogue)
    portal_file_import(
        label_set=label_set, actor=annotator, data=path.read_bytes(), file=path.name, key=f"demo {dialogue}"
    )
