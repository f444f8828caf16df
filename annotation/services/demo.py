"""The demonstration: a project with people, dialogues, two labelled readings, a training and a test, made by the pages'
own services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction

from annotation import demo
from annotation.models import Dialogue, ExamKind, Label, LabelSet, Membership, Project, Role, User
from annotation.services.accounts import person_create
from annotation.services.assignments import label_set_assign
from annotation.services.errors import Refused
from annotation.services.exams import exam_add, exam_gold_import, explanations_import
from annotation.services.import_files import LocalFiles
from annotation.services.imports import dialogues_import
from annotation.services.label_imports import portal_file_import
from annotation.services.projects import member_add, project_create
from annotation.services.work_gate import qualification_override

NAME = "Demo"
PEOPLE = {
    "annotator": Role.ANNOTATOR,
    "trainee": Role.ANNOTATOR,
    "supervisor": Role.SUPERVISOR,
    "doctor": Role.DOCTOR,
    "curator": Role.CURATOR,
}
WITHOUT_TEST = "Labels for the tour of the portal; the trainee shows the way through training and test."
FOLDER = Path(demo.__file__).parent


@dataclass(frozen=True, slots=True)
class Demo:
    """What there is now. `accounts` gives the password by user name, None for an account that was there before;
    `missing` are the roles, by the name of who has them in a new demonstration, that nobody has in this one."""

    project: Project
    created: bool
    accounts: Mapping[str, str | None] = field(default_factory=dict)
    missing: Mapping[str, Role] = field(default_factory=dict)

    def hints(self) -> list[str]:
        """What to do about each missing role."""
        return [
            f"{self.project.name} has no {role.label} yet; add one: "
            f"manage.py add_member --project {self.project.name} {name} --role {role.value}"
            for name, role in self.missing.items()
        ]

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
        held = set(Membership.objects.filter(project=existing).values_list("role", flat=True))
        missing = {name: role for name, role in PEOPLE.items() if role not in held}
        accounts = dict.fromkeys(name for name in PEOPLE if name in set(present))
        return Demo(existing, created=False, accounts=accounts, missing=missing)
    people, accounts = _people(password)
    project = project_create(name=NAME, questionnaire="cmas", creator=people["supervisor"])
    for name, role in PEOPLE.items():
        member_add(project=project, who=name, roles=[role])
    dialogues = _dialogues(project, FOLDER / "dialogues", people["supervisor"])
    label_set_assign(dialogues=dialogues, annotator=people["annotator"], actor=people["supervisor"])
    _dialogues(project, FOLDER / "further", people["supervisor"])  # nobody's yet, for dividing
    for path in sorted((FOLDER / "labels").glob("*.labels.json")):
        _label(project, people["annotator"], path)
    for kind in ExamKind:
        _exams(project, kind, people["supervisor"])
    qualification_override(
        project=project, annotator=people["annotator"], reason=WITHOUT_TEST, actor=people["supervisor"]
    )
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


def _dialogues(project: Project, folder: Path, actor: User) -> list[Dialogue]:
    """Import the transcripts of a folder; returns the dialogues that they made."""
    paths = sorted(folder.glob("*.txt"))
    result = dialogues_import(project=project, files=LocalFiles(paths), actor=actor)
    if result.errors:
        raise Refused(f"A demonstration dialogue cannot be imported: {result.errors[0]}")
    return list(project.dialogues.filter(external_id__in=[path.stem for path in paths]))


def _exams(project: Project, kind: ExamKind, actor: User) -> None:
    """Training or test: its dialogues with their gold, and why the gold is as it is."""
    folder = FOLDER / kind
    for dialogue in _dialogues(project, folder, actor):
        name = dialogue.external_id
        exam = exam_add(dialogue=dialogue, kind=kind, actor=actor)
        gold, why = folder / f"{name}.gold.json", folder / f"{name}.why.json"
        exam_gold_import(exam=exam, actor=actor, data=gold.read_bytes(), file=gold.name, key=f"demo {name}")
        explanations_import(dialogue=dialogue, data=why.read_bytes(), file=why.name)
