"""Labels that a damaged database holds: found, said in a sentence, and no obstacle to other dialogues."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.domain.damage import damage
from annotation.domain.export_verification import verify_export
from annotation.models import Label, LabelSet, Project
from annotation.services import known_gaps
from annotation.services.export_readings import ExportOptions
from annotation.services.preflight import Lack, preflight
from annotation.services.readings import label_from_json, label_from_row, labels_of
from annotation.services.statistics import project_statistics
from tests.conftest import People
from tests.exporting import contents, make_gold_project, write

BROKEN = [
    {"answers": "x"},
    {"answers": [1]},
    {"answers": {"value": 7}},
    {"answers": {"value": {"a": 1}}},
    {"answers": {"value": [None]}},
    {"answers": {"value": [{"rating": "yes"}]}},
    {"answers": {"value": ["\ud800"]}},
    {"answers": {"\udfff": ["cough"]}},
    {"checks": [{"a": 1}]},
    {"checks": 5},
    {"kept": [1]},
    {"kept": {"note": ["\ud800"]}},
]


def named(broken: dict[str, Any]) -> str:
    return json.dumps(broken)


@pytest.fixture
def gold(project: Project, people: People) -> Project:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    known_gaps._known.clear()  # what another test's label sets lacked, under the same keys
    return project


def test_labels_of_every_kind_are_whole(gold: Project) -> None:
    for label_set in LabelSet.objects.all():
        assert damage(labels_of(label_set)) == ""


@pytest.mark.parametrize("broken", BROKEN, ids=named)
def test_a_broken_dialogue_is_named_and_the_others_go_on(
    gold: Project, people: People, client: Client, tmp_path: Path, broken: dict[str, Any]
) -> None:
    one = Label.objects.filter(
        label_set__owner="gold", label_set__dialogue__external_id="RES-3", slot="symptom"
    ).first()
    assert one is not None
    Label.objects.filter(pk=one.pk).update(**broken)

    result = write(gold, tmp_path / "out")
    assert [left.dialogue for left in result.manifest.left_out] == ["RES-3"]
    reason = result.manifest.left_out[0].reason
    assert reason.startswith(f"A label of utterance {one.utterance.position} (symptom, {one.intent}) is damaged")  # type: ignore[union-attr]
    assert result.dialogues == 7
    assert all(b"RES-3" not in text for name, text in contents(tmp_path / "out").items() if name != "manifest.json")
    assert verify_export(tmp_path / "out", questionnaire=gold.questionnaire).findings == []

    found = preflight(project=gold, options=ExportOptions())
    assert [(item.dialogue.external_id, item.text) for item in found.lacks[Lack.DAMAGED]] == [("RES-3", reason)]
    assert (found.dialogues, found.utterances, found.labels) == (7, result.utterances, result.labels)

    figures = project_statistics(project=gold, gold=True)
    assert dict(figures.damaged) == {"RES-3": reason}
    assert figures.statistics.sizes["all"].labels == result.labels

    client.force_login(people.supervisor)
    for route in ("export-new", "statistics"):
        page = client.get(reverse(route, args=[gold.slug]))
        assert page.status_code == 200
        assert b"RES-3" in page.content
        assert b"is damaged in the database" in page.content


def test_a_fault_of_another_kind_is_said_in_words_too(
    gold: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotation.services import gold_export

    real: Callable[..., Any] = gold_export.exported

    def broken(questionnaire: Any, reading: Any, **words: Any) -> Any:
        if reading.dialogue == "RES-2":
            raise AttributeError("'list' object has no attribute 'get'")
        return real(questionnaire, reading, **words)

    monkeypatch.setattr(gold_export, "exported", broken)
    (left,) = write(gold, tmp_path / "out").manifest.left_out
    assert left.dialogue == "RES-2"
    assert left.reason == "Its labels cannot be written; whoever runs the portal finds the reason in its log."


def test_a_row_of_any_shape_becomes_a_label() -> None:
    for checks in (None, 5, "x", {"a": 1}, ["onset"]):
        label_from_row(["id", 0, 0, "inform", "", "", {}, checks, {}, "typed", "1"])
    assert damage([label_from_row(["id", 0, 0, "inform", "", "", {}, None, {}, "typed", "1"])])
    assert damage([label_from_json({"position": 0, "intent": "inform", "checks": []})]) == ""
