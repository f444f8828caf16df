"""A dialogue that came with a split keeps it, wherever splits are drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from annotation.domain.export_verification import verify_export
from annotation.domain.splits import Candidate, Shares, Split, split_dialogues
from annotation.models import Project
from annotation.services.evaluation_gold import GoldChoice, gold_sets
from annotation.services.export_readings import ExportOptions
from annotation.services.preflight import preflight
from annotation.services.statistics_report import StatisticsChoice, statistics_report
from tests.conftest import People
from tests.exporting import make_gold_project, write
from tests.test_export_schemas import faults

DRAWN = [Candidate(f"D{number:02}", "respiratory") for number in range(10)]


def split(*candidates: Candidate, shares: str = "0.8,0.1,0.1") -> dict[str, Split]:
    found = [*DRAWN, *candidates]
    return split_dialogues(found, random_seed=1, shares=Shares.parse(shares), in_domain=("respiratory",))


def test_it_comes_before_seeds_and_specialties() -> None:
    found = split(
        Candidate("A", "cardiac", fixed=Split.TRAIN),
        Candidate("B", "respiratory", seed=True, fixed=Split.VALID),
        Candidate("C", "respiratory", fixed=Split.OOD_TEST),
        Candidate("E", "cardiac"),
    )
    assert [found[name].value for name in "ABCE"] == ["train", "valid", "ood_test", "ood_test"]
    assert {name: found[name] for name in found if name[0] == "D" and len(name) == 3} == split(), "drawn as ever"


def test_a_test_set_that_came_along_is_complete() -> None:
    found = split(Candidate("A", "respiratory", fixed=Split.TEST), shares="0,0,1")
    assert [name for name, own in found.items() if own is Split.TEST] == ["A"]
    assert sum(own is Split.TEST for own in split(Candidate("A", fixed=Split.TRAIN), shares="0,0,1").values()) == 10


@pytest.fixture
def fixed(project: Project, people: People) -> Project:
    """Eight dialogues, the seed RES-1 among them; three came with a split that no draw gives them all."""
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    for name, own in (("CAR-1", "test"), ("RES-2", "ood_test"), ("RES-3", "valid")):
        assert project.dialogues.filter(external_id=name).update(fixed_split=own) == 1
    return project


SEEDS = (1, 2, 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_exports_statistics_and_evaluation_have_one_answer(fixed: Project, tmp_path: Path, seed: int) -> None:
    shares = Shares.parse("0.5,0.5,0")
    written = write(fixed, tmp_path / "out", random_seed=seed, shares=shares)
    ids = {one.value: json.loads((tmp_path / f"out/{one}_ids.json").read_text()) for one in Split}
    assert ids["test"] == ["CAR-1", "RES-1"]
    assert ids["ood_test"] == ["RES-2"]
    assert "RES-3" in ids["valid"]
    stated = written.manifest.splits
    assert (stated["fixed"], stated["seeds_are_test"]) == (["CAR-1", "RES-2", "RES-3"], True)
    assert faults("manifest", json.loads((tmp_path / "out/manifest.json").read_text())) == []
    assert verify_export(tmp_path / "out", questionnaire=fixed.questionnaire).findings == []
    counted = statistics_report(project=fixed, choice=StatisticsChoice(True, seed, shares)).statistics.sizes
    for name, own in ids.items():
        sets = gold_sets(project=fixed, choice=GoldChoice(name, seed, shares))
        assert [row.dialogue.external_id for row in sets] == own
        assert counted[name].dialogues == len(own)
    found = preflight(project=fixed, options=ExportOptions(random_seed=seed, shares=shares))
    assert found.fixed == 3
    assert {one.value: number for one, number in found.splits.items()} == {one: len(own) for one, own in ids.items()}


def test_without_one_nothing_is_said(project: Project, people: People, tmp_path: Path) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    assert "fixed" not in write(project, tmp_path / "out").manifest.splits
    assert preflight(project=project, options=ExportOptions()).fixed == 0


def test_a_dialogue_that_was_drawn_cannot_be_moved(fixed: Project, tmp_path: Path) -> None:
    """A fixed one can: which it was is the manifest's word, which the notes say."""
    write(fixed, tmp_path / "out", shares=Shares.parse("1,0,0"))
    for name in ("train", "valid"):
        path = tmp_path / f"out/{name}_ids.json"
        ids = json.loads(path.read_text())
        path.write_text(json.dumps(sorted({*ids, "RES-4"} if name == "valid" else {*ids} - {"RES-4"})))
    found = verify_export(tmp_path / "out", questionnaire=fixed.questionnaire)
    assert any(one.dialogue == "RES-4" and "belongs into train_ids.json" in one.message for one in found.findings)
    assert any(note.startswith("3 dialogues kept the split") for note in found.notes)


def test_another_split_is_none(fixed: Project) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        fixed.dialogues.update(fixed_split="dev")
