"""Import a portal file into one annotator's labels of one dialogue."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from annotation.management.commands._base import PortalCommand
from annotation.models import Dialogue, LabelSet, Role, User
from annotation.services.label_imports import label_set_for_import, portal_file_import
from annotation.services.projects import member_add
from annotation.services.work_gate import NotQualified, may_work, qualification_override


class Command(PortalCommand):
    help = (
        "Imports a portal file (a JSON list of labels) as an annotator's labels of a dialogue. "
        "The same file again changes nothing. Somebody who is no member yet becomes an annotator of the project. "
        "Who has not passed the project's test gets no dialogue by it, unless --override says why."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name or slug of the project")
        parser.add_argument("--dialogue", required=True, help="id of the dialogue, like RES0001")
        parser.add_argument("--annotator", required=True, help="user name of the person whose labels they become")
        parser.add_argument("--replace", action="store_true", help="remove labels that are not in the file")
        parser.add_argument(
            "--override",
            default="",
            metavar="REASON",
            help="let the person work without having passed the test; kept like a supervisor's decision",
        )
        parser.add_argument("file", help="the portal file")

    def run(
        self, *, project: str, dialogue: str, annotator: str, file: str, replace: bool, override: str, **options: Any
    ) -> None:
        data = Path(file).read_bytes()
        person = self.get_user(annotator)
        found = self.get_dialogue(self.get_project(project), dialogue)
        with transaction.atomic():  # a refused file must not leave a membership or an assignment behind
            joined = not found.project.memberships.filter(user=person).exists()
            if joined:
                member_add(project=found.project, who=person.username, roles=[Role.ANNOTATOR])
            done = portal_file_import(
                label_set=self._label_set(found, person, override),
                actor=person,
                data=data,
                file=Path(file).name,
                key=str(uuid.uuid4()),
                replace_others=replace,
            )
        unknown = [one.as_json() for one in done.unknown]
        self.finish(
            {
                "labels": done.labels,
                "unknown": unknown,
                "added": done.added,
                "removed": done.removed,
                "unusual": list(done.unusual),
                "joined": joined,
            },
            lines=[
                *([f"{person.username} is an annotator of {found.project} now."] if joined else []),
                done.summary,
                *done.unusual,
                *(str(one["text"]) for one in unknown),
            ],
        )

    def _label_set(self, dialogue: Dialogue, person: User, override: str) -> LabelSet:
        if override and not may_work(dialogue.project, person):
            qualification_override(project=dialogue.project, annotator=person, reason=override, actor=None)
        try:
            return label_set_for_import(dialogue=dialogue, annotator=person)
        except NotQualified as refusal:
            raise CommandError(f"{refusal.message} To import all the same, give --override with a reason.") from refusal
