"""A project in figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.domain.json_text import RepeatedKeys, parse_json
from annotation.domain.statistics import Size, Statistics
from annotation.domain.text_decoding import UnreadableFile, decode
from annotation.management.commands._base import PortalCommand
from annotation.services.statistics import ProjectStatistics, project_statistics

MOST_SHOWN = 20
_SHADES = " ·░▒▓█"


class Command(PortalCommand):
    help = (
        "Counts a project: dialogues, utterances and words, utterances by intent and slot, where in the dialogues the "
        "slots stand, what is answered about them, concepts by frequency, and labels day by day. Of each dialogue one "
        "reading counts: the gold where there is one, else the work of the first person who finished it."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name or slug of the project")
        whose = parser.add_mutually_exclusive_group()
        whose.add_argument("--annotator", default="", help="user name; only dialogues with this person's labels")
        whose.add_argument("--gold", action="store_true", help="only dialogues that have gold")
        parser.add_argument("--splits", default="", help='JSON file: {"train": ["RES0001", …], "test": […]}')

    def run(self, *, project: str, annotator: str, gold: bool, splits: str, **options: Any) -> None:
        found = project_statistics(
            project=self.get_project(project),
            annotator=self.get_user(annotator) if annotator else None,
            gold=gold,
            splits=read_splits(Path(splits)) if splits else None,
        )
        self.finish(found.as_json(), lines=_lines(found))


def read_splits(path: Path) -> dict[str, str]:
    """From a dialogue's id to its split. Raises CommandError for a file of another form or an id in two splits."""
    try:
        text, _ = decode(path.read_bytes(), path.name)
        given = parse_json(text, path.name)
    except UnreadableFile as error:
        raise CommandError(str(error.notice)) from error
    if not isinstance(given, dict) or not given or isinstance(given, RepeatedKeys):
        raise CommandError(f"{path.name}: it should be a JSON object with a list of dialogue ids under each split.")
    found: dict[str, str] = {}
    for split, ids in given.items():
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
            raise CommandError(f"{path.name}: “{split}” is no list of dialogue ids.")
        for one in ids:
            if found.setdefault(one, split) != split:
                raise CommandError(f"{path.name}: “{one}” is both in “{found[one]}” and in “{split}”.")
    return found


def _lines(found: ProjectStatistics) -> Iterator[str]:
    figures = found.statistics
    yield from _sizes(figures.sizes)
    yield from _intents(figures)
    yield from _slots(figures)
    concepts = figures.concepts_by_frequency()
    if concepts:
        yield from ("", f"Concepts by frequency ({len(concepts):,}):")
        yield from (f"{one.mentions:>7,}  {one.spelling}{one.cui and f' ({one.cui})'}" for one in concepts[:MOST_SHOWN])
        if len(concepts) > MOST_SHOWN:
            yield f"  … and {len(concepts) - MOST_SHOWN:,} more; --json lists them"
    if found.growth:
        last = found.growth[-1]
        yield from ("", f"{last.total:,} labels on {last.day}, made since {found.growth[0].day}; --json has every day")


def _sizes(sizes: Mapping[str, Size]) -> Iterator[str]:
    width = max(len(name) for name in sizes)
    yield f"{''.ljust(width)}  dialogues  utterances  per dialogue  words/utterance  labels  entries"
    for name, size in sizes.items():
        yield (
            f"{name.ljust(width)}  {size.dialogues:>9,}  {size.utterances:>10,}  "
            f"{_mean(size.utterances_per_dialogue):>12}  {_mean(size.words_per_utterance):>15}  "
            f"{size.labels:>6,}  {size.entries:>7,}"
        )


def _intents(figures: Statistics) -> Iterator[str]:
    for speaker, total in figures.utterances_by_speaker.most_common():
        yield from ("", f"Utterances of the {speaker} ({total:,}) by intent:")
        yield from (f"{n:>7,}  {intent}" for intent, n in figures.intents[speaker].most_common())
        yield f"{figures.unlabelled[speaker]:>7,}  without a label"


def _slots(figures: Statistics) -> Iterator[str]:
    rows = figures.slots_by_frequency()
    if not rows:
        return
    width = max(len(name) for name, _ in rows)
    yield from ("", "Utterances by slot, and over ten equal parts of the dialogues; attributes per entry:")
    for name, one in rows:
        most = max(one.segments)
        map_ = "".join(_SHADES[(len(_SHADES) - 1) * n // most if most else 0] for n in one.segments)
        yield f"{one.utterances:>7,}  {name.ljust(width)}  |{map_}|  {_mean(one.attributes_per_entry)}"


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
