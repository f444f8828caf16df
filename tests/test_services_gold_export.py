"""Exports for researchers: what is in them, that they are the same every time, and that they come back in."""

from __future__ import annotations

import csv
import io
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.export_portal import labels_path
from annotation.domain.export_verification import verify_export
from annotation.domain.splits import Shares
from annotation.models import Dialogue, Label, LabelSet, Project, Role, User
from annotation.questionnaires import get_questionnaire
from annotation.services import gold_export
from annotation.services.errors import Refused
from annotation.services.export_readings import pseudonym
from annotation.services.gold_export import Stopped, export_write
from annotation.services.import_files import LocalFiles
from annotation.services.imports import dialogues_import
from annotation.services.label_imports import label_set_for_import, portal_file_import
from annotation.services.label_sets import label_set_finish
from tests import factory
from tests.adjudicating import finished
from tests.conftest import People
from tests.exporting import ODD_TURNS, contents, make_gold_project, write
from tests.factory import inform
from tests.qualifying import GOLD

CHANGELOG = Path(__file__).parent.parent / "CHANGELOG.md"
SPLITS = ("train", "valid", "test", "ood_test")


@pytest.fixture
def gold(project: Project, people: People) -> Project:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    return project


def ids(folder: Path, split: str) -> Any:
    return json.loads((folder / f"{split}_ids.json").read_text())


def test_dialogs_and_ids_are_meditods(gold: Project, tmp_path: Path) -> None:
    result = write(gold, tmp_path / "out")
    dialogs = json.loads((tmp_path / "out/dialogs.json").read_text())
    assert list(dialogs) == ["CAR-1", *(f"RES-{number}" for number in range(1, 7)), "心:1"]
    assert dialogs["心:1"]["utterances"][1]["text"] == ODD_TURNS[1][1]
    assert dialogs["RES-1"]["utterances"][7]["dialog_state"]["positive_habit"] == [
        {"value": "smoking", "frequency": "half a pack per day"}
    ]
    assert ids(tmp_path / "out", "test") == ["RES-1"], "the seed dialogue, and nothing else"
    assert ids(tmp_path / "out", "ood_test") == ["CAR-1"]
    rest = ids(tmp_path / "out", "train") + ids(tmp_path / "out", "valid")
    assert sorted(rest) == sorted(set(dialogs) - {"RES-1", "CAR-1"})
    assert len(ids(tmp_path / "out", "valid")) == 1
    assert (result.dialogues, result.utterances) == (8, 80)


def test_the_same_data_and_options_give_the_same_bytes(gold: Project, tmp_path: Path) -> None:
    write(gold, tmp_path / "one")
    LabelSet.objects.filter(owner="gold").update(active_seconds=5)
    write(gold, tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    write(gold, tmp_path / "other", random_seed=2, shares=Shares.parse("0.5,0.5,0"))
    assert contents(tmp_path / "one")["dialogs.json"] == contents(tmp_path / "other")["dialogs.json"]
    assert contents(tmp_path / "one")["train_ids.json"] != contents(tmp_path / "other")["train_ids.json"]


def test_what_is_written_verifies_for_every_source(gold: Project, tmp_path: Path) -> None:
    for source, more in (("gold", {}), ("annotator", {"annotator": "alice"}), ("all", {})):
        write(gold, tmp_path / source, source=source, **more)
        found = verify_export(tmp_path / source, questionnaire=get_questionnaire("cmas"))
        assert [str(one) for one in found.findings] == []
        assert (found.dialogues, found.states) == ((16, 80) if source == "all" else (8, 40))


def test_the_manifest_says_how_it_was_made(gold: Project, people: People, tmp_path: Path) -> None:
    write(gold, tmp_path / "out", licence="CC0-1.0", citation="Somebody 2026")
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert (manifest["title"], manifest["licence"], manifest["citation"]) == (
        "Chest clinic",
        "CC0-1.0",
        "Somebody 2026",
    )
    assert manifest["questionnaire"] == {"name": "cmas", "version": factory.cmas_version()}
    assert f"## [{manifest['software']['version']}]" in CHANGELOG.read_text(encoding="utf-8")
    assert manifest["splits"]["dialogues"] == {"train": 5, "valid": 1, "test": 1, "ood_test": 1}
    assert manifest["splits"]["in_domain"] == ["respiratory"]
    assert manifest["parts"][0]["counts"]["labelled_utterances"] == 80
    assert {one["dialogues"] for one in manifest["annotators"]} == {8}
    assert {one["pseudonym"] for one in manifest["annotators"]} == {
        pseudonym(gold, people.annotator.pk),
        pseudonym(gold, people.second.pk),
    }
    assert manifest["newest_label"].endswith("Z")
    listed = {one["path"] for one in manifest["files"]}
    assert listed == set(contents(tmp_path / "out")) - {"manifest.json"}


def test_nobodys_name_leaves_the_portal(gold: Project, tmp_path: Path) -> None:
    for source, more in (("gold", {}), ("annotator", {"annotator": "alice"}), ("all", {})):
        write(gold, tmp_path / source, source=source, **more)
        whole = b"\n".join(path.encode() + data for path, data in contents(tmp_path / source).items())
        assert [name for name in (b"alice", b"bob", b"sam") if name in whole] == []


def test_an_annotators_pseudonym_is_the_same_in_every_export_and_another_in_another_project(
    gold: Project, people: People
) -> None:
    one = pseudonym(gold, people.annotator.pk)
    people.annotator.username = "renamed"
    people.annotator.save()
    assert pseudonym(gold, people.annotator.pk) == one
    assert pseudonym(factory.make_project("Other"), people.annotator.pk) != one


def imported(name: str, dialogues: list[Path], labels: Callable[[str], Path]) -> Project:
    """A new project with these dialogues, and carla's labels of all of them, by the imports that everybody has."""
    project = factory.make_project(name)
    carla = User.objects.filter(username="carla").first() or factory.make_user("carla")
    factory.make_member(project, carla, Role.ANNOTATOR)
    assert not dialogues_import(project=project, files=LocalFiles(dialogues), actor=carla).errors
    for dialogue in Dialogue.objects.filter(project=project).select_related("project"):
        path = labels(dialogue.external_id)
        label_set = label_set_for_import(dialogue=dialogue, annotator=carla)
        key = str(uuid.uuid4())
        portal_file_import(label_set=label_set, actor=carla, data=path.read_bytes(), file=path.name, key=key)
        label_set.refresh_from_db()
        turns = range(dialogue.utterance_count)
        label_set_finish(
            label_set=label_set,
            actor=carla,
            version=label_set.version,
            key=str(uuid.uuid4()),
            reasons=dict.fromkeys(turns, "nothing to label"),
        )
    return project


def imported_again(export: Path) -> Project:
    dialogues = sorted((export / "portal").glob("*.dialogue.json"))
    return imported("Again", dialogues, lambda name: export / labels_path(name))


def test_the_released_labels_are_exported_and_come_back(db: None, real_data: Path, tmp_path: Path) -> None:
    released = [real_data / "meditod/RES0001.dialogue.json"]
    first = imported("First", released, lambda name: real_data / f"meditod/{name}.labels.json")
    options = {"source": "annotator", "annotator": "carla", "title": "T"}
    result = write(first, tmp_path / "first", **options)
    assert (result.dialogues, result.utterances) == (1, 111), "without the closing control turn"
    assert verify_export(tmp_path / "first", questionnaire=first.questionnaire).findings == []
    write(imported_again(tmp_path / "first"), tmp_path / "second", **options)
    one, other = contents(tmp_path / "first"), contents(tmp_path / "second")
    assert [path for path in one if one[path] != other[path]] == ["manifest.json"]


@pytest.mark.parametrize("source", ["gold", "annotator"])
def test_export_import_export_is_the_same_to_the_byte(gold: Project, tmp_path: Path, source: str) -> None:
    """The gold comes back as an annotator's labels."""
    gold.dialogues.get(external_id="RES-1").label_sets.filter(purpose="seed").update(purpose="work")
    more = {"annotator": "alice"} if source == "annotator" else {}
    first = write(gold, tmp_path / "first", source=source, title="T", **more)
    again = imported_again(tmp_path / "first")
    second = write(again, tmp_path / "second", source="annotator", annotator="carla", title="T")
    one, other = contents(tmp_path / "first"), contents(tmp_path / "second")
    named = {"manifest.json"} | ({"huggingface/README.md"} if source == "gold" else set())  # they state the source
    assert one.keys() == other.keys()
    assert [path for path in one if one[path] != other[path] and path not in named] == []
    assert first.manifest.parts == second.manifest.parts


def test_dialogues_come_back_from_the_lines_too(gold: Project, people: People, tmp_path: Path) -> None:
    write(gold, tmp_path / "out", formats=())
    write(gold, tmp_path / "all")
    for name in ("utterances.jsonl", "utterances.csv"):
        empty = factory.make_project(f"From {name[-4:]}")
        path = tmp_path / "all" / name
        assert not dialogues_import(project=empty, files=LocalFiles([path]), actor=people.supervisor).errors
        texts = list(empty.dialogues.get(external_id="心:1").utterances.values_list("text", flat=True))
        assert texts == [text for _, text in ODD_TURNS]


def test_tables_hold_every_utterance_and_tuple(gold: Project, tmp_path: Path) -> None:
    write(gold, tmp_path / "out")
    files = {path: data.decode() for path, data in contents(tmp_path / "out").items()}
    rows = list(csv.DictReader(io.StringIO(files["utterances.csv"], newline="")))
    assert len(rows) == 80
    assert {row["text"] for row in rows} >= {text for _, text in ODD_TURNS}
    tuples = list(csv.DictReader(io.StringIO(files["tuples.csv"], newline="")))
    wanted = {"slot": "positive_habit", "value": "smoking", "attribute": "frequency", "attribute_value": "نصف علبة"}
    assert any(wanted.items() <= row.items() for row in tuples)
    lines = files["utterances.jsonl"].split("\n")[:-1]
    assert [json.loads(line)["uttr_id"] for line in lines[:10]] == list(range(10))


def test_only_what_is_asked_for_is_written(gold: Project, tmp_path: Path) -> None:
    from annotation.domain.export_formats import parse_formats

    write(gold, tmp_path / "out", formats=parse_formats(["tuples"]))
    names = set(contents(tmp_path / "out"))
    always = {"dialogs.json", "manifest.json", "concepts.csv", "medical_values.csv"}
    assert names == always | {"tuples.csv", *(f"{s}_ids.json" for s in SPLITS)}


def test_one_bad_dialogue_is_named_and_the_rest_is_written(
    gold: Project, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bad = Label.objects.filter(label_set__owner="gold", label_set__dialogue__external_id="RES-3", slot="habit").first()
    assert bad is not None
    Label.objects.filter(pk=bad.pk).update(answers={"value": 7})
    result = write(gold, tmp_path / "out")
    (left_out,) = result.manifest.left_out
    assert left_out.dialogue == "RES-3"
    assert result.dialogues == 7
    listed = [one for split in SPLITS for one in ids(tmp_path / "out", split)]
    assert "RES-3" not in listed
    assert b"RES-3" not in contents(tmp_path / "out")["utterances.jsonl"]
    assert verify_export(tmp_path / "out", questionnaire=gold.questionnaire).findings == []
    assert "RES-3" in caplog.text


def test_an_export_is_never_silently_empty(project: Project, people: People, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="no dialogue's gold is finished"):
        write(project, tmp_path / "none")
    finished(factory.make_dialogue(project, "ONE"), people.annotator, GOLD)
    Label.objects.update(answers={"value": 7})
    with pytest.raises(Refused, match=r"No dialogue could be exported\. ONE"):
        write(project, tmp_path / "bad", source="annotator", annotator="alice")
    with pytest.raises(Refused, match="“otto” has no dialogue in this project"):
        write(project, tmp_path / "otto", source="annotator", annotator="otto")


def test_unfinished_work_training_and_archived_dialogues_stay_out(
    gold: Project, people: People, tmp_path: Path
) -> None:
    begun = factory.make_label_set(factory.make_dialogue(gold, "BEGUN"), people.annotator)
    factory.make_labels(begun, inform(1, "symptom", "cough", status="yes"))
    finished(factory.make_dialogue(gold, "TRAIN"), people.annotator, GOLD, purpose="training")
    Dialogue.objects.filter(external_id="RES-2").update(archived_at=gold.created_at)
    write(gold, tmp_path / "done", source="annotator", annotator="alice")
    write(gold, tmp_path / "begun", source="annotator", annotator="alice", unfinished=True)
    done, begun_too = (json.loads((tmp_path / name / "dialogs.json").read_text()) for name in ("done", "begun"))
    assert done.keys().isdisjoint({"BEGUN", "TRAIN", "RES-2"})
    assert begun_too.keys() - done.keys() == {"BEGUN"}


def test_it_stops_when_it_is_told_to(gold: Project, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    with pytest.raises(Stopped):
        export_write(
            project=gold,
            options=gold_export.ExportOptions(),
            folder=tmp_path,
            progress=lambda done, total: seen.append((done, total)),
            should_stop=lambda: len(seen) == 2,
        )
    assert seen == [(1, 8), (2, 8)]


def test_hugging_face_loads_the_folder_offline(gold: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    datasets = pytest.importorskip("datasets")
    write(gold, tmp_path / "out", licence="CC0-1.0", title="Ünïcode: 'quoted' #1")
    loaded = datasets.load_dataset(str(tmp_path / "out/huggingface"), cache_dir=str(tmp_path / "cache"))
    assert {name: len(split) for name, split in loaded.items()} == {
        "train": 50,
        "validation": 10,
        "test": 10,
        "ood_test": 10,
    }
    row = next(one for split in loaded.values() for one in split if one["text"] == ODD_TURNS[1][1])
    assert row["labels"][0] == {
        "intent": "inform",
        "slot": "positive_symptom",
        "value": "咳嗽, سعال",
        "attribute": "",
        "attribute_value": "",
    }
    assert json.loads(row["dialog_state"])["positive_symptom"][1]["value"] == "de\u0301but 😷"
