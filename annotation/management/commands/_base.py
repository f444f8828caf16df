"""What all commands share: `--json`, exit status 1 on failure, errors in one sentence, finding objects."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.utils import OperationalError

from annotation.domain.given_text import BrokenText, plain_lines
from annotation.domain.notices import Notice
from annotation.domain.questionnaire_file import QuestionnaireError
from annotation.domain.validation import InvalidLabel
from annotation.models import Dialogue, Project, User
from annotation.questionnaires import UnknownQuestionnaire
from annotation.services.errors import Refused


class Unfinished(CommandError):
    """The command has said its result, but not all of it worked: exit status 1, the result stays the last line."""


class PortalCommand(BaseCommand):
    """Base of the portal's commands. A subclass defines `arguments` and `run`, and ends with `self.finish(result)`.

    With `--json` nothing but the result, one JSON object on one line, goes to standard output. On failure the exit
    status is 1, one sentence goes to standard error and, with `--json`, `{"error": sentence}` to standard output.
    Called from Python (`call_command`), a failure is a `CommandError` instead.
    """

    as_json = False
    _from_shell = False

    def arguments(self, parser: CommandParser) -> None:
        """Add the command's own arguments."""

    def run(self, *args: Any, **options: Any) -> None:
        """Do the work. May raise `Refused`, `CommandError`, `OSError` and the other errors of `sentence_of`."""
        raise NotImplementedError

    def finish(self, result: Mapping[str, Any], *, lines: Iterable[str] | None = None, error: str = "") -> None:
        """Say the result: as JSON, or as `lines` (default: one line a key, lists below it). With `error`, exit 1."""
        if self.as_json:
            self.stdout.write(json.dumps(result, ensure_ascii=False, default=_plain))
        else:
            for line in lines if lines is not None else result_lines(result):
                self.stdout.write(line)
        if error:
            raise Unfinished(error)

    def say(self, text: str) -> None:
        """Something for a person to read, left out with `--json`."""
        if not self.as_json:
            self.stdout.write(text)

    def get_project(self, name: str) -> Project:
        """The project of this name, or else of this slug."""
        refuse_broken_text(project=name)
        project = Project.objects.filter(name=name).first() or Project.objects.filter(slug=name).first()
        if project is None:
            raise CommandError(f"There is no project “{name}”.{_known('projects', _names(Project, 'name'))}")
        return project

    def get_user(self, username: str) -> User:
        refuse_broken_text(user=username)
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no user “{username}”.")
        return user

    def get_dialogue(self, project: Project, external_id: str) -> Dialogue:
        refuse_broken_text(dialogue=external_id)
        dialogue = Dialogue.objects.select_related("project").filter(project=project, external_id=external_id).first()
        if dialogue is None:
            raise CommandError(f"There is no dialogue “{external_id}” in the project “{project.name}”.")
        return dialogue

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the result as one JSON object on the last line")
        self.arguments(parser)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        # Wrong arguments come back as a CommandError too, so that they are said like every other failure.
        parser.called_from_command_line = False
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        self.as_json = bool(options.pop("json", False))
        try:
            self.run(**options)
        except (CommandError, BrokenPipeError):
            raise
        except Exception as error:
            sentence = sentence_of(error)
            if sentence is None:
                raise
            raise CommandError(sentence) from error

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except CommandError as error:
            if not self._from_shell or options.get("traceback"):
                raise
            self._fail(error)

    def run_from_argv(self, argv: list[str]) -> None:
        self._from_shell = True
        # What a command did is its result; the log's account of it would stand between that and the person.
        logging.getLogger("annotation").setLevel(logging.WARNING)
        try:
            super().run_from_argv(argv)
            self.stdout.flush()  # here, where a reader that has gone is no fault
        except BrokenPipeError:
            self._no_longer_read()
        except CommandError as error:  # the arguments could not be understood, so that nobody has read --json yet
            self.as_json = "--json" in argv
            self._fail(error)

    def _no_longer_read(self) -> NoReturn:
        """Whoever read the output has what they wanted, as `head` does. Nothing more is said, at the end neither."""
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)

    def _fail(self, error: CommandError) -> NoReturn:
        sentence = " ".join(str(error).removeprefix("Error: ").split())
        if self.as_json and not isinstance(error, Unfinished):
            self.stdout.write(json.dumps({"error": sentence}, ensure_ascii=False))
        self.stdout.flush()
        self.stderr.write(sentence)
        sys.exit(1)


def refuse_broken_text(**options: Any) -> None:
    """Raises CommandError for an argument with bytes that are no UTF-8, which no file or database takes."""
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            try:
                plain_lines(one if isinstance(one, str) else "", f"“--{name.replace('_', '-')}”")
            except BrokenText as error:
                raise CommandError(str(error)) from error


def sentence_of(error: BaseException) -> str | None:
    """An expected error in one sentence; None for an error nobody expected, which keeps its traceback."""
    if isinstance(error, Refused):
        return error.message
    if isinstance(error, OperationalError):
        return f"The database cannot be used ({error}); run “manage.py migrate” if it is new."
    if isinstance(error, OSError):
        return f"{error.filename or 'The file'}: {error.strerror or error}."
    if isinstance(error, InvalidLabel | QuestionnaireError | UnknownQuestionnaire):
        return str(error)
    return None


def result_lines(result: Mapping[str, Any]) -> list[str]:
    """A result for people: `name  value` in two columns, then each list that is not empty under its name."""
    width = max((len(name) for name in result), default=0)
    lines = [f"{name.ljust(width)}  {_short(value)}" for name, value in result.items()]
    for name, value in result.items():
        if isinstance(value, Sequence) and not isinstance(value, str) and value:
            lines += ["", f"{name}:", *(f"  {_item_text(item)}" for item in value)]
        elif isinstance(value, Mapping) and value:
            lines += ["", f"{name}:", *(f"  {key}: {item}" for key, item in value.items())]
    return lines


def _short(value: Any) -> str:
    if isinstance(value, Sequence | Mapping) and not isinstance(value, str):
        return str(len(value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _item_text(item: Any) -> str:
    """An item of a list in words: notices and the like carry their sentence under `text` or `message`."""
    if isinstance(item, Mapping):
        return str(item.get("text") or item.get("message") or json.dumps(item, ensure_ascii=False, default=_plain))
    return str(item)


def _plain(value: Any) -> Any:
    return value.as_json() if isinstance(value, Notice) else str(value)


def _names(model: type[Project], column: str) -> list[str]:
    return list(model.objects.values_list(column, flat=True)[:20])


def _known(what: str, names: list[str]) -> str:
    return f" The {what} are: {', '.join(names)}." if names else f" There are no {what} yet."
