"""A new password for somebody who has lost theirs, for instance that of the demonstration."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotation.management.commands._base import PortalCommand
from annotation.services.accounts import password_change, person_reset_password


class Command(PortalCommand):
    help = (
        "Give an account a new password, which ends its sessions. Without --password one is generated, shown once, and "
        "must be changed when it is first used."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", metavar="USER")
        parser.add_argument("--password", default="", metavar="PW", help="this password, which then stays")

    def run(self, **options: Any) -> None:
        person = self.get_user(options["user"])
        chosen = options["password"]
        if chosen:
            password_change(person=person, password=chosen)
            self.finish({"user": person.username}, lines=[f"The password of {person.username} is changed."])
            return
        password = person_reset_password(person=person)
        self.finish(
            {"user": person.username, "password": password},
            lines=[f"{person.username} can sign in once with {password} and then chooses a new password."],
        )
