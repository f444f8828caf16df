"""How long an export in all formats takes, and how much memory, against writing the same objects with `json` alone.

    python -m benchmarks.exports [--utterances 22500] [--rounds 3] [--json]

An empty database in a temporary folder is filled with gold for 22,500 utterances: the labels of `benchmarks.agreement`,
half of their values with a decided concept. The export reads it dialogue by dialogue, makes every format, sums up every
file and writes them; the least is `json.dumps`, without indentation, of the objects that stand in these files, which
are read before. Times are of the processor, the fastest of some runs; memory is the most that the process which exports
has held. The exit status is 1 when it takes more than 3 times the least, or 300 MB.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.agreement import TURNS, WORDINGS, dialogue_labels, megabytes, timed

MOST_RATIO, MOST_MEGABYTES = 3.0, 300
PROJECT = "Benchmark"
ROUND = "--one-export"  # the argument with which this module is started as the process that is measured


def prepare(utterances: int) -> None:
    """Fill the empty database."""
    from django.core.management import call_command

    from annotation.models import Dialogue, Label, LabelSet, Project, Utterance
    from annotation.questionnaires import get_questionnaire

    call_command("migrate", interactive=False, verbosity=0)
    questionnaire = get_questionnaire("cmas")
    project = Project.objects.create(
        name=PROJECT, slug="benchmark", questionnaire_name="cmas", questionnaire_version=questionnaire.version
    )
    rng = random.Random(1)
    for number in range(max(1, utterances // TURNS)):
        dialogue = Dialogue.objects.create(
            project=project, external_id=f"D{number:04}", fingerprint=str(number), utterance_count=TURNS
        )
        turns = Utterance.objects.bulk_create(
            Utterance(
                dialogue=dialogue,
                position=position,
                speaker="patient" if position % 2 else "doctor",
                text=" ".join(f"word{rng.randrange(900)}" for _ in range(rng.randrange(3, 20))),
            )
            for position in range(TURNS)
        )
        gold = LabelSet.objects.create(dialogue=dialogue, owner="gold", status="done")
        Label.objects.bulk_create(
            Label(
                label_set=gold,
                utterance=turns[one.position],
                rank=one.rank,
                intent=one.intent,
                slot=one.slot,
                answers=one.answers,
                checks=list(one.checks),
                questionnaire_version=questionnaire.version,
            )
            for one in dialogue_labels(questionnaire, rng)
        )


def decide_concepts() -> None:
    """Of every medical question's values half are decided, two wordings for each concept."""
    from django.utils import timezone

    from annotation.models import Project, User
    from umls_linker.models import Decision, SurfaceForm

    project, doctor = Project.objects.get(name=PROJECT), User.objects.create(username="doctor")
    for slot, field in project.questionnaire.medical_fields():
        keys = [f"thing {number}" for number in range(WORDINGS // 2)]
        made = SurfaceForm.objects.bulk_create(
            SurfaceForm(project=project, slot=slot.name, field=field.name, key=key, text=key) for key in keys
        )
        Decision.objects.bulk_create(
            Decision(
                surface_form=form,
                kind="concept",
                cui=f"C{number // 2:07}",
                name=f"Canonical thing {number // 2}",
                semantic_types=["T184"],
                vocabulary_name="benchmark",
                vocabulary_version="1",
                decided_by=doctor,
                decided_at=timezone.now(),
            )
            for number, form in enumerate(made)
        )


def export_once(folder: Path) -> None:
    from annotation.models import Project
    from annotation.services.export_readings import ExportOptions
    from annotation.services.gold_export import export_write

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    export_write(project=Project.objects.get(name=PROJECT), options=ExportOptions(), folder=folder)


def objects_of(folder: Path) -> list[Any]:
    """What stands in the files. A row of a table is a list of its cells."""
    return [item for path in sorted(folder.rglob("*.*")) for item in _items(path)]


def _items(path: Path) -> Iterator[Any]:
    import csv

    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)
    elif path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as rows:
            yield from csv.reader(rows)
    elif path.suffix == ".json":
        yield json.loads(path.read_text(encoding="utf-8"))


def json_alone(objects: Sequence[Any], indent: int | None = None) -> int:
    return sum(len(json.dumps(one, indent=indent, ensure_ascii=False)) for one in objects)


def one_export(folder: Path) -> dict[str, float]:
    """Measured in a process of its own, which holds nothing else."""
    import django

    django.setup()
    import annotation.services.gold_export  # noqa: F401 – loading the code is no part of an export

    seconds = timed(lambda: export_once(folder), 1)
    return {"seconds": seconds, "megabytes": megabytes()}


def measured(folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.exports", ROUND, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Times an export in all formats.")
    parser.add_argument("--utterances", type=int, default=22_500)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of which the fastest counts (default: 3)")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument(ROUND, metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    if options.one_export:
        print(json.dumps(one_export(Path(options.one_export))))
        return 0
    with tempfile.TemporaryDirectory(prefix="portal-bench-") as data:
        os.environ["PORTAL_DATA_DIR"] = data
        import django

        django.setup()
        prepare(options.utterances)
        decide_concepts()
        figures = compare(Path(data) / "export", options.rounds)
    met = figures["ratio"] <= MOST_RATIO and figures["megabytes"] <= MOST_MEGABYTES
    print(json.dumps({**figures, "met": met}) if options.json else "\n".join(lines(figures)))
    return 0 if met else 1


def compare(folder: Path, rounds: int) -> dict[str, float]:
    runs = [measured(folder) for _ in range(rounds)]
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    objects = objects_of(folder)
    least = timed(lambda: json_alone(objects), rounds)
    indented = timed(lambda: json_alone(objects, 1), 1)
    seconds = min(run["seconds"] for run in runs)
    return {
        "utterances": manifest["parts"][0]["counts"]["utterances"],
        "labels": manifest["parts"][0]["counts"]["labels"],
        "files": len(manifest["files"]),
        "written_megabytes": round(sum(one["bytes"] for one in manifest["files"]) / 2**20),
        "json_seconds": round(least, 3),
        "indented_json_seconds": round(indented, 3),
        "export_seconds": round(seconds, 3),
        "ratio": round(seconds / least, 2),
        "megabytes": round(max(run["megabytes"] for run in runs)),
    }


def lines(figures: dict[str, float]) -> list[str]:
    """The figures for people."""
    return [
        f"utterances {figures['utterances']:,}, labels {figures['labels']:,}; {figures['files']:,} files of "
        f"{figures['written_megabytes']} MB",
        f"json alone    {figures['json_seconds']:.3f} s (indented {figures['indented_json_seconds']:.3f} s)",
        f"whole export  {figures['export_seconds']:.3f} s",
        f"ratio         {figures['ratio']:.2f} (at most {MOST_RATIO})",
        f"memory        {figures['megabytes']} MB (at most {MOST_MEGABYTES})",
    ]


if __name__ == "__main__":
    sys.exit(main())
