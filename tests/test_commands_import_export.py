"""`import_export`: what was exported comes back as gold, to the byte; what was released, as far as labels say it."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import questionnaires
from annotation.domain.adjudication import Resolution
from annotation.domain.labels import Label as LabelData
from annotation.models import Dialogue, EventKind, Label, LabelSet, Project, Role, Status
from annotation.questionnaires import available
from annotation.services.adjudication import Choice, agreed_accept, gold_decide, gold_refresh
from annotation.services.errors import NotEditable
from annotation.services.evaluation_gold import GoldChoice, project_gold
from annotation.services.statistics import project_statistics
from tests import factory
from tests.adjudicating import LABELS_A, finished
from tests.conftest import People
from tests.exporting import contents, make_gold
from tests.restoring import SEEDS, export, make_whole_project, manifest, refused, restore, run_json
from tests.test_statistics import Raw

# What the manifest of an export that came back says otherwise (docs/exports.md).
OTHERWISE = {"annotators", "agreement", "newest_label", "splits"}


@pytest.fixture
def whole(project: Project, people: People) -> Project:
    make_whole_project(project, people.annotator, people.second, people.supervisor)
    return project


# --- there and back ---


@pytest.mark.parametrize("options", [[], ["--surface-forms", "--random-seed", "9", "--shares", "0.5,0.25,0.25"]])
def test_export_import_export_is_the_same_to_the_byte(whole: Project, tmp_path: Path, options: list[str]) -> None:
    first = export("Chest clinic", tmp_path / "first", "--title", "T", *options)
    assert first["splits"]["dialogues"]["test"] == len(SEEDS)
    assert first["dialogues"] == 13
    done = restore(tmp_path / "first", "Again", "--new")
    assert (done["dialogues"], done["fixed"], done["not_read"], done["notes"]) == (13, 13, [], [])
    assert done["splits"] == {name: number for name, number in first["splits"]["dialogues"].items() if number}
    export("Again", tmp_path / "second", "--title", "T", *options)
    one, other = contents(tmp_path / "first"), contents(tmp_path / "second")
    assert one.keys() == other.keys()
    assert [path for path in one if one[path] != other[path]] == ["manifest.json"]
    before, after = manifest(tmp_path / "first"), manifest(tmp_path / "second")
    assert {name for name in before if before[name] != after[name]} <= OTHERWISE
    changed = {"seeds_are_test": False, "fixed": sorted(row.external_id for row in whole.dialogues.all())}
    changed["fixed"].remove("RES-NEW")
    assert after["splits"] == before["splits"] | changed
    assert run_json("verify_export", str(tmp_path / "second"))["findings"] == []


def test_what_came_back_comes_back_again(whole: Project, tmp_path: Path) -> None:
    export("Chest clinic", tmp_path / "first", "--title", "T")
    restore(tmp_path / "first", "Two", "--new")
    export("Two", tmp_path / "second", "--title", "T")
    restore(tmp_path / "second", "Three", "--new")
    export("Three", tmp_path / "third", "--title", "T")
    second, third = contents(tmp_path / "second"), contents(tmp_path / "third")
    assert [path for path in second if second[path] != third[path]] in ([], ["manifest.json"])
    before, after = manifest(tmp_path / "second"), manifest(tmp_path / "third")
    assert {name for name in before if before[name] != after[name]} <= {"newest_label"}


def test_a_split_is_kept_whatever_the_draw_and_new_dialogues_are_drawn_beside_it(
    whole: Project, people: People, tmp_path: Path
) -> None:
    export("Chest clinic", tmp_path / "first")
    restore(tmp_path / "first", "Again", "--new")
    again = Project.objects.get(name="Again")
    for user in (people.annotator, people.second):
        factory.make_member(again, user, Role.ANNOTATOR)
    added = factory.make_dialogue(again, "ADDED", specialty="cardiac")
    make_gold(added, people.annotator, people.second, people.supervisor)
    make_gold(factory.make_dialogue(again, "RES-11"), people.annotator, people.second, people.supervisor)
    export("Again", tmp_path / "second", "--random-seed", "77", "--shares", "0,0,1")
    for split in ("train", "valid", "test", "ood_test"):
        name = f"{split}_ids.json"
        before, after = (json.loads((tmp_path / where / name).read_text()) for where in ("first", "second"))
        new = {"train": {"RES-11"}, "ood_test": {"ADDED"}}.get(split, set())
        assert set(after) == set(before) | new, "the test set is known, so nothing is drawn into it"
    found = run_json("verify_export", str(tmp_path / "second"))
    assert found["findings"] == []
    assert any(note.startswith("13 dialogues kept the split") for note in found["notes"])


def test_the_gold_is_finished_and_says_where_it_comes_from(whole: Project, people: People, tmp_path: Path) -> None:
    export("Chest clinic", tmp_path / "first")
    restore(tmp_path / "first", "Again", "--new")
    sums = hashlib.sha256((tmp_path / "first/manifest.json").read_bytes()).hexdigest()
    sets = LabelSet.objects.filter(dialogue__project__name="Again")
    assert {(row.owner, row.purpose, row.status) for row in sets} == {("gold", "work", Status.LOCKED)}
    assert {row.sources["imported"]["sha256"] for row in sets} == {sums}
    for row in sets:
        assert list(row.events.values_list("kind", "actor__username")) == [("import", "sam"), *[("status", "sam")] * 2]
    for label in Label.objects.filter(label_set__in=sets):
        assert (label.provenance["from"], label.provenance["sha256"], label.origin) == ("imported", sums, "import")
    assert Dialogue.objects.get(project__name="Again", external_id="MSK-8").specialty == ""
    assert Dialogue.objects.get(project__name="Again", external_id="CAR-1").specialty == "cardiac"
    assert not LabelSet.objects.filter(dialogue__project=whole, events__kind=EventKind.IMPORT).exists()


def test_pages_show_gold_that_came_back(whole: Project, people: People, client_for: Any, tmp_path: Path) -> None:
    export("Chest clinic", tmp_path / "first")
    slug = restore(tmp_path / "first", "Again", "--new")["slug"]
    client: Client = client_for(people.supervisor)
    for route in ("adjudication", "statistics", "exports", "evaluations", "concepts", "export-new", "dialogues"):
        assert client.get(reverse(route, args=[slug])).status_code == 200, route
    text = client.get(reverse("export-new", args=[slug])).content.decode()
    assert "13 keep the split that they came with" in text
    assert "keep the split that" not in client.get(reverse("export-new", args=[whole.slug])).content.decode()
    gold = LabelSet.objects.filter(dialogue__project__slug=slug).first()
    assert gold is not None
    assert client.get(reverse("workbench", args=[slug, gold.pk])).status_code == 200


def test_labels_made_later_do_not_replace_it_before_a_supervisor_unlocks_it(
    whole: Project, people: People, client_for: Any, tmp_path: Path
) -> None:
    export("Chest clinic", tmp_path / "first")
    restore(tmp_path / "first", "Again", "--new")
    again = Project.objects.get(name="Again")
    dialogue = again.dialogues.get(external_id="RES-2")
    for user in (people.annotator, people.second):
        factory.make_member(again, user, Role.ANNOTATOR)
        finished(dialogue, user, LABELS_A)
    gold = dialogue.label_sets.get(owner="gold")
    before = sorted(gold.labels.values_list("pk", flat=True))
    gold_refresh(dialogue=dialogue)
    agreed_accept(project=again, actor=people.supervisor)
    choice = Choice(8, "", Resolution.NEW, (LabelData(8, "nod_prompt"),))
    with pytest.raises(NotEditable, match="locked by a supervisor"):
        gold_decide(dialogue=dialogue, actor=people.supervisor, version=gold.version, key="k", choices=[choice])
    gold.refresh_from_db()
    assert gold.status == Status.LOCKED
    assert sorted(gold.labels.values_list("pk", flat=True)) == before
    envelope = {"version": gold.version, "key": "unlock", "unlock": True}
    place = reverse("workbench-lock", args=[again.slug, gold.pk])
    answer = client_for(people.supervisor).post(place, json.dumps(envelope), content_type="application/json")
    assert answer.status_code == 200
    gold.refresh_from_db()
    assert gold.status == Status.DONE


def test_an_empty_project_takes_an_export_up(whole: Project, people: People, tmp_path: Path) -> None:
    export("Chest clinic", tmp_path / "first")
    empty = factory.make_project("Empty")
    factory.make_member(empty, people.supervisor, Role.SUPERVISOR)
    assert restore(tmp_path / "first", "empty")["dialogues"] == 13
    assert empty.dialogues.count() == 13


def test_a_new_project_has_the_version_of_the_questionnaire_that_the_labels_answer(
    people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = tmp_path / "questionnaires"
    older.mkdir()
    current = available()["cmas"].read_text(encoding="utf-8")
    text = re.sub(r"(?m)^version: .*$", 'version: "0.9"', current)
    (older / "cmas-0.9.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(questionnaires._SHELF, "folders", [*questionnaires._SHELF.folders, older])
    first = factory.make_project("First", questionnaire_version="0.9")
    make_gold(factory.make_dialogue(first, "A"), people.annotator, people.second, people.supervisor)
    export("First", tmp_path / "first", "--title", "T")
    done = restore(tmp_path / "first", "Again", "--new")
    assert (done["questionnaire"], done["version"]) == ("cmas", "0.9")
    export("Again", tmp_path / "second", "--title", "T")
    one, other = contents(tmp_path / "first"), contents(tmp_path / "second")
    assert [path for path in one if one[path] != other[path]] == ["manifest.json"]


def test_an_export_without_portal_files_comes_back_as_far_as_its_form_goes(whole: Project, tmp_path: Path) -> None:
    options = ["--formats", "jsonl,csv", "--title", "T"]
    export("Chest clinic", tmp_path / "first", *options)
    done = restore(tmp_path / "first", "Again", "--new")
    assert done["not_read"] == []
    assert "no portal files" in done["notes"][0]
    export("Again", tmp_path / "second", *options)
    one, other = contents(tmp_path / "first"), contents(tmp_path / "second")
    assert [path for path in one if one[path] != other[path]] == ["manifest.json"]


# --- what was released ---


@pytest.fixture
def released(db: None, real_data: Path, people: People, tmp_path: Path) -> Path:
    """The released dialogues, and lists of ids as released: numbers or texts, of dialogues that are not here too."""
    folder = tmp_path / "released"
    folder.mkdir()
    shutil.copy(real_data / "meditod/dialogs.json", folder)
    (folder / "train_ids.json").write_text('[317, "12"]')
    (folder / "test_ids.json").write_text('["115"]')
    return folder


def test_the_released_dialogues_come_in_as_gold(released: Path, people: People, tmp_path: Path) -> None:
    done = restore(released, "MediTOD", "--new")
    assert (done["dialogues"], done["fixed"], done["not_read"]) == (2, 2, [])
    assert done["notes"] == ['1 listed id (first "12") without a dialogue here.']
    raw = json.loads((released / "dialogs.json").read_text(encoding="utf-8"))
    found = project_statistics(project=Project.objects.get(name="MediTOD"), gold=True).statistics
    counted = Raw(raw)
    assert (found.sizes["all"].utterances, found.sizes["all"].words) == (counted.utterances, counted.words)
    assert found.sizes["all"].entries == counted.entries
    assert found.intents == counted.intents
    assert {name: one.utterances for name, one in found.slots.items()} == counted.slots
    assert {one.spelling.lower(): one.mentions for one in found.concepts.values()} == counted.concepts
    export("MediTOD", tmp_path / "out")
    assert json.loads((tmp_path / "out/dialogs.json").read_text(encoding="utf-8")) == raw
    assert json.loads((tmp_path / "out/train_ids.json").read_text()) == ["317"]
    assert json.loads((tmp_path / "out/test_ids.json").read_text()) == ["115"]
    assert run_json("verify_export", str(tmp_path / "out"))["findings"] == []


def test_released_gold_is_scored_in_the_portal(released: Path, people: People, client_for: Any) -> None:
    slug = restore(released, "MediTOD", "--new")["slug"]
    raw = json.loads((released / "dialogs.json").read_text(encoding="utf-8"))
    found = project_gold(project=Project.objects.get(slug=slug), choice=GoldChoice("test", random_seed=5))
    expected = [{k: v for k, v in turn.items() if k != "dialog_state"} for turn in raw["115"]["utterances"]]
    assert found.dataset == {"115": {"utterances": expected}}


def test_what_labels_cannot_say_is_named_by_dialogue_and_turn(released: Path, people: People, tmp_path: Path) -> None:
    dialogs = json.loads((released / "dialogs.json").read_text(encoding="utf-8"))
    turns = dialogs["115"]["utterances"]
    patient = next(turn for turn in turns if turn["speaker"] == "patient" and turn["uttr_id"] > 20 and turn["nlu"])
    doctor = next(turn for turn in turns if turn["speaker"] == "doctor" and turn["actions"] and turn["uttr_id"] > 40)
    patient["nlu"].append({"intent": "inform", "slots": {"positive_mood": [{"value": "low"}]}})
    patient["mood"] = 3
    doctor["actions"].append({"action": "hum", "symptom": "x"})
    (released / "dialogs.json").write_text(json.dumps(dialogs), encoding="utf-8")
    out = io.StringIO()
    with pytest.raises(CommandError, match="did not come back"):
        call_command("import_export", str(released), "--project", "M", "--new", "--by", "sam", stdout=out)
    text = out.getvalue()
    assert f"Not read: dialogue 115, turn {patient['uttr_id']}: Its “nlu” cannot be said in labels" in text
    assert f"Not read: dialogue 115, turn {patient['uttr_id']}: “mood” has no place" in text
    assert f"Not read: dialogue 115, turn {doctor['uttr_id']}: There is no intent “hum”" in text
    sets = LabelSet.objects.get(dialogue__external_id="115", owner="gold")
    bare = {patient["uttr_id"], doctor["uttr_id"]}
    assert not bare & set(sets.labels.values_list("utterance__position", flat=True))
    assert sets.dialogue.utterances.filter(position__in=bare).count() == 2, "the words are there"
    assert "dialogue 317" not in text


def test_a_file_without_states_comes_back_whole_and_says_so_in_one_line(released: Path, people: People) -> None:
    dialogs = json.loads((released / "dialogs.json").read_text(encoding="utf-8"))
    for dialogue in dialogs.values():
        for turn in dialogue["utterances"]:
            turn.pop("dialog_state", None)
    (released / "dialogs.json").write_text(json.dumps(dialogs), encoding="utf-8")
    done = restore(released, "MediTOD", "--new")
    assert done["not_read"] == []
    assert [note for note in done["notes"] if "dialog_state" in note] == [
        "2 dialogues have turns without “dialog_state”; an export states what follows from the labels."
    ]


# --- who may ---


def test_only_a_supervisor_of_the_project_imports(released: Path, people: People) -> None:
    empty = factory.make_project("Empty")
    assert "no supervisor of Empty" in refused(released, "--json", project="Empty", by="sam")
    factory.make_member(empty, people.doctor, Role.DOCTOR)
    assert "no supervisor of Empty" in refused(released, "--json", project="Empty", by="dora")
    assert "may not create projects" in refused(released, "--new", by="otto")
    assert "no user “nobody”" in refused(released, by="nobody")
    assert restore(released, "Empty", by="root")["dialogues"] == 2


def test_a_project_that_holds_something_or_asks_otherwise_is_left_alone(
    whole: Project, people: People, tmp_path: Path
) -> None:
    export("Chest clinic", tmp_path / "out")
    assert "has dialogues" in refused(tmp_path / "out", "--json", project="Chest clinic")
    other = factory.make_project("Other", questionnaire_version="0.9")
    factory.make_member(other, people.supervisor, Role.SUPERVISOR)
    assert "is labelled by the questionnaire cmas 0.9" in refused(tmp_path / "out", "--json", project="Other")
    Project.objects.filter(pk=other.pk).update(archived_at=timezone.now())
    assert "is archived" in refused(tmp_path / "out", "--json", project="Other")
    assert "a project named" in refused(tmp_path / "out", project="chest clinic")
