"""A project whose export has everything that must come back, and the way there and back by the commands."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Dialogue, Label, LabelSet, Project, Purpose, User, Utterance
from tests import factory
from tests.exporting import ODD_LABELS, ODD_TURNS, make_gold, make_gold_project

SEEDS = ["RES-1", "RES-4", "心:1", "CAR-1"]


def make_whole_project(project: Project, one: User, other: User, by: User) -> None:
    """Gold of thirteen dialogues, and one without: four seeds (one of another specialty, one in many scripts), three of
    other specialties, one without any although its id names it, odd and similar ids, keywords, an empty turn, a closing
    turn."""
    make_gold_project(project, one, other, by)
    turns = [("doctor", "אז מה שלומך? \u200f😀"), ("patient", ""), ("control", "")]
    added = [
        factory.make_dialogue(project, "GAS 7?", ODD_TURNS, specialty="gastrointestinal"),
        factory.make_dialogue(project, "MSK-8", turns),
        factory.make_dialogue(project, "e\u0301t\u00e9", specialty="dermatology"),
        factory.make_dialogue(project, "con", specialty="respiratory"),
        factory.make_dialogue(project, "res-2", specialty="respiratory"),
    ]
    for dialogue, labels in zip(added, (ODD_LABELS, ODD_LABELS[:1], (), (), ()), strict=True):
        make_gold(dialogue, one, other, by, labels) if labels else make_gold(dialogue, one, other, by)
    Utterance.objects.filter(dialogue=added[1], position=0).update(keywords=["שלום|", "e\u0301"])
    for name in SEEDS:
        sets = project.dialogues.get(external_id=name).label_sets
        sets.filter(owner="annotator").update(purpose=Purpose.SEED)
    factory.make_dialogue(project, "RES-NEW", specialty="respiratory")


def run_json(*words: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command(*words, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return found


def export(project: str, out: Path, *more: str) -> dict[str, Any]:
    return run_json("export_gold", "--project", project, "--out", str(out), *more)


def restore(folder: Path, project: str, *more: str, by: str = "sam") -> dict[str, Any]:
    return run_json("import_export", str(folder), "--project", project, "--by", by, *more)


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return found


def forge(folder: Path, path: str, data: bytes, **fields: Any) -> None:
    """Alter a file of an export and its sum in the manifest."""
    (folder / path).write_bytes(data)
    stated = manifest(folder) | fields
    for entry in stated["files"]:
        if entry["path"] == path:
            entry |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps(stated), encoding="utf-8")


def refused(folder: Path, *more: str, project: str = "Again", by: str = "sam") -> str:
    """The one sentence; and nothing is left behind."""
    before = [model.objects.count() for model in (Project, Dialogue, LabelSet, Label)]
    with pytest.raises(CommandError) as error:
        restore(folder, project, *(more or ("--new",)), by=by)
    assert [model.objects.count() for model in (Project, Dialogue, LabelSet, Label)] == before
    assert "\n" not in str(error.value)
    return str(error.value)
