"""Give somebody roles in a project from the shell, with an account if they have none."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from annotation.management.commands._base import PortalCommand
from annotation.models import Membership, Role, User
from annotation.services.projects import member_add, member_create


class Command(PortalCommand):
    help = (
        "Make somebody a member of a project. Whoever has no account gets one, with a password that is shown once and "
        "must be changed when it is first used."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name or slug of the project")
        parser.add_argument("user", metavar="USER")
        parser.add_argument(
            "--role",
            action="append",
            choices=Role.values,
            help="a role, several times for several (default: annotator)",
        )

    def run(self, *, project: str, user: str, role: list[str] | None, **options: Any) -> None:
        found = self.get_project(project)
        roles = role or [Role.ANNOTATOR.value]
        password = None
        with transaction.atomic():
            if User.objects.filter(username=user).exists():
                person = member_add(project=found, who=user, roles=roles)
            else:
                person, password = member_create(
                    project=found, username=user, email="", first_name="", last_name="", roles=roles
                )
        held = sorted(Membership.objects.filter(project=found, user=person).values_list("role", flat=True))
        lines = [f"{person.username} is {', '.join(held)} in {found}."]
        if password:
            lines.append(f"{person.username} can sign in once with {password} and then chooses a new password.")
        self.finish({"project": found.name, "user": person.username, "roles": held, "password": password}, lines=lines)
