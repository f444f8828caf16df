"""Agreement between two label files of one dialogue."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.domain.agreement import AgreementReport, SubmittedReading, agreement, methods_paragraph, paired
from annotation.domain.dialogue_files import read_dialogue_file
from annotation.domain.labels import Label, Reading, Utterance
from annotation.domain.portal_file import ReadLabels, read_labels
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.text_decoding import UnreadableFile, decode
from annotation.management.commands._base import PortalCommand
from annotation.questionnaires import get_questionnaire


class Command(PortalCommand):
    help = (
        "Measures the agreement of two portal files of one dialogue. Uses no database. Both files count as submitted "
        "whole: an utterance without labels is an answer. A portal file does not say who speaks or how long the "
        "dialogue is; give the dialogue's own file for the figures by speaker and of the state. Without it, the "
        "last utterance that either file labels is taken for the dialogue's last."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("a", help="one annotator's portal file")
        parser.add_argument("b", help="the other annotator's portal file")
        parser.add_argument("--dialogue", default="", help="the dialogue's file (transcript, portal dialogue, dataset)")
        parser.add_argument("--dialogue-id", default="", help="the dialogue's id, where --dialogue holds several")
        parser.add_argument("--utterances", type=int, default=0, help="how many utterances the dialogue has")
        parser.add_argument("--questionnaire", default="cmas", help="name of the questionnaire (default: cmas)")

    def run(
        self, *, a: str, b: str, dialogue: str, dialogue_id: str, utterances: int, questionnaire: str, **options: Any
    ) -> None:
        asked = get_questionnaire(questionnaire)
        turns = _dialogue(Path(dialogue), dialogue_id) if dialogue else None
        length = len(turns) if turns is not None else utterances
        files = [_labels(asked, Path(name), length or None) for name in (a, b)]
        if turns is None:
            last = max((label.position for read in files for label in read.labels), default=-1)
            turns = tuple(Utterance(position, "", "") for position in range(length or last + 1))
        report = agreement(asked, paired(_readings([read.labels for read in files], turns)))
        unknown = [
            {"file": Path(name).name, **one.as_json()}
            for name, read in zip((a, b), files, strict=True)
            for one in read.unknown
        ]
        result = {**report.as_json(), "methods": methods_paragraph(report), "unknown": unknown}
        self.finish(result, lines=_lines(report, unknown))


def _dialogue(path: Path, wanted: str) -> tuple[Utterance, ...]:
    """The turns of the one dialogue in the file, or of the one with this id."""
    parsed = read_dialogue_file(path.read_bytes(), path.name)
    if parsed.errors:
        raise CommandError(str(parsed.errors[0]))
    found = [one for one in parsed.dialogues if not wanted or one.external_id == wanted]
    if len(found) != 1:
        names = ", ".join(one.external_id for one in parsed.dialogues[:20])
        raise CommandError(
            f"{path.name} must give one dialogue; say which with --dialogue-id. It has: {names or 'none'}."
        )
    return found[0].utterances


def _labels(questionnaire: Questionnaire, path: Path, utterances: int | None) -> ReadLabels:
    try:
        text, _ = decode(path.read_bytes(), path.name)
    except UnreadableFile as error:
        raise CommandError(str(error.notice)) from error
    read = read_labels(questionnaire, text, file=path.name, utterances=utterances)
    if read.notices:
        raise CommandError(str(read.notices[0]))
    return read


def _readings(files: Sequence[list[Label]], turns: tuple[Utterance, ...]) -> list[SubmittedReading]:
    """The first file is annotator A, the second B, whatever they are called: both may have the same name."""
    return [
        SubmittedReading.whole(name, Reading("", turns).with_labels(labels))
        for name, labels in zip(("A", "B"), files, strict=True)
    ]


def _lines(report: AgreementReport, unknown: Sequence[dict[str, Any]]) -> list[str]:
    """For people: the methods paragraph, then every disagreement with its utterance."""
    lines = [methods_paragraph(report)]
    lines += [f"  utterance {one.position}: {one.words}" for one in report.disagreements]
    return lines + [f"  {one['file']}: {one['text']}" for one in unknown]
