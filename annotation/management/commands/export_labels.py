"""Write one annotator's labels of one dialogue as a portal file."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.domain.portal_file import write_labels
from annotation.management.commands._base import PortalCommand
from annotation.models import LabelSet, Owner
from annotation.services.exports import portal_file
from annotation.services.readings import labels_of


class Command(PortalCommand):
    help = (
        "Prints an annotator's labels of a dialogue as a portal file. With --json they come on one line, as "
        '{"labels": [...]}.'
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name or slug of the project")
        parser.add_argument("--dialogue", required=True, help="id of the dialogue, like RES0001")
        parser.add_argument("--annotator", required=True, help="user name of the person whose labels they are")

    def run(self, *, project: str, dialogue: str, annotator: str, **options: Any) -> None:
        person = self.get_user(annotator)
        found = self.get_dialogue(self.get_project(project), dialogue)
        rows = LabelSet.objects.filter(dialogue=found, owner=Owner.ANNOTATOR, annotator=person)
        label_set = rows.real_work().order_by("pk").first() or rows.first()
        if label_set is None:
            raise CommandError(f"{dialogue} is not assigned to {annotator}, so there are no labels.")
        label_set.dialogue = found
        if self.as_json:
            self.finish({"labels": write_labels(found.project.questionnaire, labels_of(label_set))})
        else:
            self.stdout.write(portal_file(label_set=label_set))
