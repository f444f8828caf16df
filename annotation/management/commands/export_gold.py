"""Write a project's gold, or its annotators' labels, for researchers: split, in several formats, with a manifest."""

from __future__ import annotations

import glob
import os
import re
import shutil
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.domain.export_formats import UnknownFormat, known_in_order, parse_formats
from annotation.domain.splits import BadShares, Shares
from annotation.management.commands._base import PortalCommand, refuse_broken_text
from annotation.management.commands._drawing import listed, seed_of
from annotation.services.export_readings import ALL, ANNOTATOR, GOLD, ExportOptions
from annotation.services.gold_export import ExportResult, export_write


class Command(PortalCommand):
    help = (
        "Writes the gold (or labels of annotators, under pseudonyms) into a folder: MediTOD's dialogs.json with the "
        "ids of train, valid, test and ood_test, and what else is asked for, with a manifest that verify_export "
        "checks. The same data and options give the same bytes."
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="name or slug of the project")
        parser.add_argument("--out", required=True, help="the folder to make; it must not exist, or be empty")
        parser.add_argument("--source", default=GOLD, help="gold, annotator=USER or all (default: gold)")
        parser.add_argument("--formats", default="", help=f"some of {','.join(known_in_order())} (default: all)")
        parser.add_argument("--random-seed", default="1", help="draws the splits (default: 1)")
        parser.add_argument("--shares", default="0.8,0.1,0.1", help="of train, valid and test (0.8,0.1,0.1)")
        parser.add_argument("--specialties", default="", help="those within the domain (default: the commonest)")
        parser.add_argument("--unfinished", action="store_true", help="take dialogues that are not done too")
        parser.add_argument(
            "--surface-forms", action="store_true", help="values as they were written, not the names of their concepts"
        )
        parser.add_argument("--title", default="", help="name of the dataset (default: the project's)")
        parser.add_argument("--licence", default="", help="licence of the dataset, for its manifest and card")
        parser.add_argument("--citation", default="", help="how to cite it, for its manifest and card")

    def run(self, *, project: str, out: str, **options: Any) -> None:
        refuse_broken_text(project=project, out=out, **options)
        asked = _options(**options)
        found = self.get_project(project)
        target = Path(out)
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise CommandError(f"{out} is there already and is not empty; name a new folder.")
        _delete_dead(target)
        part = target.absolute().with_name(f".{target.absolute().name}.{os.getpid()}.part")
        part.mkdir(parents=True)
        try:
            result = export_write(project=found, options=asked, folder=part)
            part.replace(target)  # whoever looks sees nothing, or the whole export
        finally:
            shutil.rmtree(part, ignore_errors=True)
        self._say(result, out)

    def _say(self, result: ExportResult, out: str) -> None:
        found = result.as_json()
        left_out = found["left_out"]
        splits = ", ".join(f"{number} {split}" for split, number in found["splits"]["dialogues"].items())
        self.finish(
            {**found, "files": len(found["files"]), "out": out},
            lines=[
                f"{_content(result)} in {out} ({splits}).",
                *(f"Left out: {one['dialogue']}. {one['reason']}" for one in left_out),
            ],
            error=f"{len(left_out)} dialogue{'s'[: len(left_out) > 1]} could not be written." if left_out else "",
        )


def _delete_dead(target: Path) -> None:
    """Delete what an export to the same place has left that was killed."""
    name = target.absolute().name
    for path in target.absolute().parent.glob(f".{glob.escape(name)}.*.part"):
        number = path.name.removeprefix(f".{name}.").removesuffix(".part")
        if re.fullmatch(r"[1-9][0-9]{0,9}", number) and not path.is_symlink() and not _runs(int(number)):
            shutil.rmtree(path, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True


def _content(result: ExportResult) -> str:
    """How much was written: of all annotators a dialogue has several readings."""
    dialogues = _number(result.dialogues, "dialogue")
    readings = _number(result.readings, "reading")
    whole = dialogues if result.readings == result.dialogues else f"{readings} of {dialogues}"
    return f"{whole} with {_number(result.utterances, 'utterance')} and {_number(result.labels, 'label')}"


def _number(count: int, name: str) -> str:
    return f"{count:,} {name}{'s'[: count != 1]}"


def _options(
    *,
    source: str,
    formats: str,
    random_seed: str,
    shares: str,
    specialties: str,
    unfinished: bool,
    surface_forms: bool,
    title: str,
    licence: str,
    citation: str,
    **_: Any,
) -> ExportOptions:
    kind, _sign, name = source.partition("=")
    if (kind == ANNOTATOR) != bool(name) or kind not in (GOLD, ANNOTATOR, ALL):
        raise CommandError(f"“{source}” is no source; it is gold, all, or annotator=USER.")
    try:
        return ExportOptions(
            source=kind,
            annotator=name,
            unfinished=unfinished,
            surface_forms=surface_forms,
            formats=parse_formats(listed(formats)),
            random_seed=seed_of(random_seed),
            shares=Shares.parse(shares),
            specialties=tuple(listed(specialties)),
            title=title,
            licence=licence,
            citation=citation,
        )
    except (UnknownFormat, BadShares) as error:
        raise CommandError(str(error)) from error
