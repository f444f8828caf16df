"""The published schemas hold for what is written, and for the files that MediTOD's authors published."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from annotation.models import Project
from tests.conftest import People
from tests.exporting import make_gold_project, write

SCHEMAS = Path(__file__).parent.parent / "docs/schemas"
# What of an export each schema is about, as globs.
ABOUT = {
    "dialogs": "dialogs.json",
    "ids": "*_ids.json",
    "medical-values": "medical_values.csv",
    "concepts": "concepts.csv",
    "utterance": "utterances.jsonl",
    "utterances-csv": "utterances.csv",
    "tuples": "tuples.csv",
    "huggingface": "huggingface/*.jsonl",
    "portal-dialogue": "portal/*.dialogue.json",
    "portal-labels": "portal/*.labels.json",
    "manifest": "manifest.json",
}


def faults(name: str, data: Any) -> list[str]:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return [f"{error.json_path}: {error.message[:200]}" for error in Draft202012Validator(schema).iter_errors(data)]


def items(path: Path) -> Iterator[Any]:
    text = path.read_bytes().decode()
    if path.suffix == ".csv":
        yield from csv.DictReader(io.StringIO(text, newline=""))
    elif path.suffix == ".jsonl":
        yield from map(json.loads, text.split("\n")[:-1])
    else:
        yield json.loads(text)


def test_every_format_has_a_schema() -> None:
    assert {path.name.removesuffix(".schema.json") for path in SCHEMAS.iterdir()} == set(ABOUT)


def test_what_is_written_fits_the_schemas(project: Project, people: People, tmp_path: Path) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    write(project, tmp_path / "out")
    for name, glob in ABOUT.items():
        checked = [(path, item) for path in sorted((tmp_path / "out").glob(glob)) for item in items(path)]
        assert checked, f"nothing is written that {name} is about"
        assert [f"{path.name} {fault}" for path, item in checked for fault in faults(name, item)] == []


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("dialogs", "dialogs.json"),
        ("portal-dialogue", "RES0001.dialogue.json"),
        ("portal-labels", "RES0001.labels.json"),
    ],
)
def test_the_published_files_fit_the_schemas(real_data: Path, name: str, file: str) -> None:
    assert faults(name, json.loads((real_data / "meditod" / file).read_text(encoding="utf-8"))) == []


PATIENT = {"speaker": "patient", "uttr_id": 1, "text": "No.", "keywords": [], "nlu": [], "dialog_state": {}}


@pytest.mark.parametrize(
    ("turn", "fits"),
    [
        (PATIENT, True),
        ({key: value for key, value in PATIENT.items() if key != "dialog_state"}, False),
        ({**PATIENT, "speaker": "doctor"}, False),
        ({**PATIENT, "nlu": [{"slots": {}}]}, False),
        ({**PATIENT, "dialog_state": {"positive_symptom": [{"value": 3}]}}, False),
        ({**PATIENT, "mood": "low"}, False),
    ],
)
def test_a_dataset_of_another_form_is_refused(turn: dict[str, Any], fits: bool) -> None:
    assert (not faults("dialogs", {"A": {"utterances": [turn]}})) is fits
