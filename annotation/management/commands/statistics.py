"""A project in figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.domain.export_dialogs import ids_path
from annotation.domain.given_text import BrokenText, plain_lines
from annotation.domain.json_text import RepeatedKeys, parse_json
from annotation.domain.numbers import counted
from annotation.domain.splits import BadShares, Shares, Split
from annotation.domain.statistics import ALL, NO_SPLIT, Size, Statistics
from annotation.domain.text_decoding import UnreadableFile, decode
from annotation.management.commands._base import PortalCommand, refuse_broken_text
from annotation.management.commands._drawing import listed, seed_of
from annotation.models import Dialogue, Project, User
from annotation.services.statistics import ProjectStatistics, project_statistics
from annotation.services.statistics_report import StatisticsChoice, statistics_report

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
        parser.add_argument(
            "--splits",
            nargs="+",
            default=[],
            help='an export\'s folder, its lists (train_ids.json …), or a JSON file {"train": ["RES0001", …], …}',
        )
        parser.add_argument(
            "--random-seed", default="", help="draw the splits as export_gold does; --gold: finished only"
        )
        parser.add_argument("--shares", default="", help="of train, valid and test (0.8,0.1,0.1); draws the splits too")
        parser.add_argument("--specialties", default="", help="those within the domain; draws the splits too")

    def run(self, *, project: str, annotator: str, gold: bool, splits: list[str], **options: Any) -> None:
        drawing = {name: options[name] for name in ("random_seed", "shares", "specialties")}
        refuse_broken_text(project=project, annotator=annotator, splits=splits, **drawing)
        asked = self.get_project(project)
        person = self.get_user(annotator) if annotator else None
        if not any(drawing.values()):
            stated = read_splits([Path(one) for one in splits]) if splits else None
            _refuse_unknown(asked, stated or {})
            found = project_statistics(project=asked, annotator=person, gold=gold, splits=stated)
        elif splits:
            raise CommandError("--splits states the splits, the others draw them; give one or the other.")
        else:
            found = statistics_report(project=asked, choice=_choice(gold, person, **drawing))
        self.finish(found.as_json(), lines=_lines(found))


def _choice(gold: bool, person: User | None, *, random_seed: str, shares: str, specialties: str) -> StatisticsChoice:
    try:
        return StatisticsChoice(
            gold=gold,
            random_seed=seed_of(random_seed or 1),
            shares=Shares.parse(shares) if shares else Shares(),
            specialties=tuple(listed(specialties)),
            annotator=person,
        )
    except BadShares as error:
        raise CommandError(str(error)) from error


def _refuse_unknown(project: Project, splits: Mapping[str, str]) -> None:
    """Raises CommandError for dialogues that the project does not have, or has archived: they are not counted."""
    there = dict(Dialogue.objects.filter(project=project).values_list("external_id", "archived_at"))
    unknown = [one for one in splits if one not in there]
    if unknown:
        named = ", ".join(f"“{one[:80]}”" for one in unknown[:5]) + (" …" if len(unknown) > 5 else "")
        raise CommandError(f"The project “{project.name}” has no dialogue {named}, which the splits name.")
    archived = [one for one in splits if there[one] is not None]
    if archived:
        raise CommandError(f"The dialogue “{archived[0]}” of the split “{splits[archived[0]]}” is archived.")


def read_splits(paths: Sequence[Path]) -> dict[str, str]:
    """From a dialogue's id to its split: from an export's folder, its lists of ids, or files that name their splits.

    Raises CommandError for a file of another form, and for an id in two splits.
    """
    found: dict[str, str] = {}
    for path in (one for given in paths for one in _files(given)):
        for split, ids in _lists(path).items():
            for one in ids:
                if found.setdefault(one, split) != split:
                    raise CommandError(f"{path.name}: “{one}” is both in “{found[one]}” and in “{split}”.")
    return found


def _files(given: Path) -> list[Path]:
    if not given.is_dir():
        return [given]
    found = [path for split in Split if (path := given / ids_path(split)).is_file()]
    if not found:
        raise CommandError(f"{given} is no export: it has none of {', '.join(map(ids_path, Split))}.")
    return found


def _lists(path: Path) -> dict[str, list[str]]:
    """The ids under each split of a file."""
    try:
        text, _ = decode(path.read_bytes(), path.name)
        given = parse_json(text, path.name)
    except UnreadableFile as error:
        raise CommandError(str(error.notice)) from error
    own = {ids_path(split): split.value for split in Split}
    if isinstance(given, list) and path.name in own:
        given = {own[path.name]: given}
    if not isinstance(given, dict) or not given or isinstance(given, RepeatedKeys):
        raise CommandError(f"{path.name}: it should be a JSON object with a list of dialogue ids under each split.")
    for split, ids in given.items():
        try:
            plain_lines(split, f"{path.name}: the name of a split")
            if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
                raise CommandError(f"{path.name}: “{split}” is no list of dialogue ids.")
            plain_lines("".join(ids), f"{path.name}: an id in “{split}”")
        except BrokenText as error:
            raise CommandError(str(error)) from error
        if split in (ALL, NO_SPLIT) or not split.strip():
            raise CommandError(f"{path.name}: a split cannot be called “{split}”; this is the name of another row.")
    return given


def _lines(found: ProjectStatistics) -> Iterator[str]:
    figures = found.statistics
    yield from (f"Counted without labels: {dialogue}. {reason}" for dialogue, reason in found.damaged.items())
    yield from _sizes(figures.sizes_in_order())
    if found.fixed:
        yield f"{counted(found.fixed, 'dialogue')} {'keeps' if found.fixed == 1 else 'keep'} the split of the import"
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


def _sizes(sizes: Sequence[tuple[str, Size]]) -> Iterator[str]:
    width = max(len(name) for name, _ in sizes)
    yield f"{''.ljust(width)}  dialogues  utterances  per dialogue  words/utterance  labels  entries"
    for name, size in sizes:
        yield (
            f"{name.ljust(width)}  {size.dialogues:>9,}  {size.utterances:>10,}  "
            f"{_mean(size.utterances_per_dialogue):>12}  {_mean(size.words_per_utterance):>15}  "
            f"{size.labels:>6,}  {size.entries:>7,}"
        )


def _intents(figures: Statistics) -> Iterator[str]:
    for speaker, total in figures.utterances_by_speaker.most_common():
        yield from ("", f"Utterances of the {speaker} ({total:,}) by intent:")
        for intent, n in figures.intents[speaker].most_common():
            yield f"{n:>7,}  {figures.intent_title(intent)}{_in_files(figures.intent_title(intent), intent)}"
        yield f"{figures.unlabelled[speaker]:>7,}  without a label"


def _slots(figures: Statistics) -> Iterator[str]:
    rows = figures.slots_by_frequency()
    if not rows:
        return
    width = max(len(figures.slot_title(name)) for name, _ in rows)
    yield from ("", "Utterances by slot, and over ten equal parts of the dialogues; attributes per entry:")
    for name, one in rows:
        most = max(one.segments)
        map_ = "".join(_SHADES[(len(_SHADES) - 1) * n // most if most else 0] for n in one.segments)
        title = figures.slot_title(name)
        mean = _mean(one.attributes_per_entry)
        yield f"{one.utterances:>7,}  {title.ljust(width)}  |{map_}|  {mean}{_in_files(title, name)}"


def _in_files(title: str, name: str) -> str:
    """The name in the files of a dataset, where it says something else than the title."""
    return "" if title.lower().replace(" ", "_") == name else f"  (in files: {name})"


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
