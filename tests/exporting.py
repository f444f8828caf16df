"""A project with gold to export: four specialties' worth of dialogues, words in many scripts, two annotators."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from pathlib import Path

from annotation.domain.labels import Label as LabelData
from annotation.models import Dialogue, Project, Purpose, User
from annotation.services.adjudication import agreed_accept, gold_finish
from annotation.services.adjudication_cases import case_of
from annotation.services.export_readings import ExportOptions
from annotation.services.gold_export import ExportResult, export_write
from tests import factory
from tests.adjudicating import finished
from tests.factory import inform, inquire
from tests.qualifying import GOLD

# An emoji of several characters, a combining accent, right-to-left text, Chinese, a line end and a line separator.
ODD_TURNS = [
    ("doctor", "Was führt Sie her? 👩🏽‍⚕️"),
    ("patient", "Un de\u0301but de toux,\n“très” légère\u2028depuis lundi; 咳嗽, سعال"),
    ("doctor", "Any fever, night sweats?"),
    ("patient", 'No, "none", at all'),
    ("doctor", "And the cough: since when?"),
    ("patient", "两周了 =SUM(1)"),
    ("doctor", "Smoker?"),
    ("patient", "نصف علبة يوميا"),
    ("doctor", "Okay."),
    ("patient", "🙏"),
]
ODD_LABELS = [
    LabelData(0, "salutations"),
    inform(1, "symptom", "咳嗽, سعال", "de\u0301but 😷", status="yes", onset="lundi\u2028"),
    inquire(2, "symptom", "fever", "night sweats"),
    inform(3, "symptom", "fever", "night sweats", status="no"),
    inquire(4, "symptom", "咳嗽", checks=["onset"]),
    inform(5, "symptom", "咳嗽", status="yes", onset="两周"),
    inquire(6, "habit", "smoking"),
    inform(7, "habit", "smoking", status="yes", frequency="نصف علبة"),
    LabelData(8, "nod_prompt"),
    LabelData(9, "other", intent_name="prière"),
]


def make_gold(dialogue: Dialogue, one: User, other: User, by: User, labels: Sequence[LabelData] = GOLD) -> None:
    """Both say the same, so that everything is agreed; then the gold is finished."""
    for person in (one, other):
        finished(dialogue, person, labels)
    agreed_accept(project=dialogue.project, actor=by)
    case = case_of(Dialogue.objects.select_related("project").get(pk=dialogue.pk))
    assert case is not None
    gold_finish(dialogue=case.dialogue, actor=by, version=case.version, key=str(uuid.uuid4()))


def make_gold_project(project: Project, one: User, other: User, by: User) -> list[Dialogue]:
    """Eight dialogues with gold: a seed, one of another specialty, one in many scripts with an odd id."""
    made = []
    for number in range(1, 7):
        made.append(factory.make_dialogue(project, f"RES-{number}", specialty="respiratory"))
    made.append(factory.make_dialogue(project, "心:1", ODD_TURNS, specialty="respiratory"))
    made.append(factory.make_dialogue(project, "CAR-1", specialty="cardiac"))
    for dialogue in made:
        make_gold(dialogue, one, other, by, ODD_LABELS if dialogue.external_id == "心:1" else GOLD)
    made[0].label_sets.filter(owner="annotator").update(purpose=Purpose.SEED)
    return made


def write(project: Project, folder: Path, **options: object) -> ExportResult:
    folder.mkdir(parents=True)
    return export_write(project=project, options=ExportOptions(**options), folder=folder)  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below the folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
