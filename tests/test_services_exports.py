"""Portal files and datasets out of label sets."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.utils import timezone

from annotation.domain.dataset import track_dataset
from annotation.models import LabelSet, Project, Purpose
from annotation.services.exports import (
    available,
    dataset_dialogues,
    dataset_file,
    dataset_file_name,
    dataset_text,
    portal_file,
    portal_file_name,
)
from tests import factory
from tests.conftest import People

COUGH = factory.inform(1, "symptom", "cough", status="yes", onset="two weeks")
FEVER = factory.inquire(2, "symptom", "fever")


def labelled(project: Project, people: People, external_id: str, **fields: Any) -> LabelSet:
    label_set = factory.make_label_set(factory.make_dialogue(project, external_id), people.annotator)
    factory.make_labels(label_set, FEVER, COUGH)
    LabelSet.objects.filter(pk=label_set.pk).update(**fields)
    return label_set


def exported(project: Project, people: People, **options: Any) -> dict[str, Any]:
    text = "".join(dataset_file(project=project, annotator=people.annotator, **options))
    found: dict[str, Any] = json.loads(text)
    return found


def test_a_portal_file_has_the_labels_in_the_order_of_the_dialogue(label_set: LabelSet) -> None:
    factory.make_labels(label_set, FEVER, COUGH)
    text = portal_file(label_set=label_set)
    assert json.loads(text) == [
        {"intent": "inform", "slot": "symptom", "value": "cough", "status": "Yes", "when": "two weeks", "uid": "1"},
        {"intent": "inquire", "slot": "symptom", "value": "fever", "uid": "2"},
    ]
    assert text.startswith('[\n    {\n        "intent"')


def test_a_portal_file_is_named_after_dialogue_and_annotator(label_set: LabelSet) -> None:
    assert portal_file_name(label_set=label_set) == "RES-TEST.alice.labels.json"


@pytest.mark.parametrize(("external_id", "name"), [("a/b", "a_b"), ('x"\n', "x__"), ("..", "_"), ("é 1", "é 1")])
def test_a_file_name_holds_nothing_that_a_system_would_stumble_over(
    project: Project, people: People, external_id: str, name: str
) -> None:
    label_set = factory.make_label_set(factory.make_dialogue(project, external_id), people.annotator)
    assert portal_file_name(label_set=label_set) == f"{name}.alice.labels.json"
    assert dataset_file_name(project=project, annotator=people.annotator) == "chest-clinic.alice.dialogs.json"


def test_a_dataset_has_the_dialogues_with_labels_in_the_order_of_their_ids(project: Project, people: People) -> None:
    for external_id in ("D2", "D10", "D1"):
        labelled(project, people, external_id)
    factory.make_label_set(factory.make_dialogue(project, "D0"), people.annotator)
    factory.make_labels(factory.make_label_set(factory.make_dialogue(project, "D9"), people.second), COUGH)
    found = exported(project, people)
    assert list(found) == ["D1", "D10", "D2"]
    turns = found["D1"]["utterances"]
    assert [turn["speaker"] for turn in turns[:2]] == ["doctor", "patient"]
    assert turns[1]["dialog_state"] == {"positive_symptom": [{"value": "cough", "onset": "two weeks"}]}
    assert turns[2]["actions"] == [{"action": "inquire", "symptom": [{"value": "fever"}]}]
    assert track_dataset(found).differences == ()


def test_the_same_labels_give_the_same_bytes(project: Project, people: People) -> None:
    for external_id in ("D2", "D1"):
        labelled(project, people, external_id)
    texts = {"".join(dataset_file(project=project, annotator=people.annotator)) for _ in range(3)}
    assert len(texts) == 1
    assert texts.pop() == json.dumps(exported(project, people), indent=1, ensure_ascii=False) + "\n"


def test_nothing_to_export_is_an_empty_dataset(project: Project, people: People) -> None:
    assert "".join(dataset_file(project=project, annotator=people.annotator)) == "{}\n"
    assert "".join(dataset_text([])) == "{}\n"


@pytest.mark.parametrize(
    ("status", "included"),
    [("in_progress", False), ("returned", False), ("done", True), ("locked", True)],
)
def test_only_done_dialogues_are_included_when_so_asked(
    project: Project, people: People, status: str, included: bool
) -> None:
    labelled(project, people, "D1", status=status)
    assert list(exported(project, people)) == ["D1"]
    assert list(exported(project, people, done_only=True)) == (["D1"] if included else [])


def test_archived_dialogues_and_other_projects_are_left_out(project: Project, people: People) -> None:
    archived = labelled(project, people, "D1").dialogue
    archived.archived_at = timezone.now()
    archived.save()
    elsewhere = factory.make_project()
    labelled(elsewhere, people, "D2")
    assert exported(project, people) == {}


def test_of_two_label_sets_on_one_dialogue_that_for_work_counts(project: Project, people: People) -> None:
    dialogue = factory.make_dialogue(project, "D1")
    training = factory.make_label_set(dialogue, people.annotator, purpose=Purpose.TRAINING)
    factory.make_labels(training, FEVER)
    factory.make_labels(factory.make_label_set(dialogue, people.annotator), FEVER, COUGH)
    (item,) = dataset_dialogues(project=project, annotator=people.annotator)
    assert (item.external_id, item.labels, item.utterances) == ("D1", 2, 10)


def test_what_can_be_exported_is_counted_for_each_annotator(project: Project, people: People) -> None:
    labelled(project, people, "D1", status="done")
    labelled(project, people, "D2")
    factory.make_labels(factory.make_label_set(factory.make_dialogue(project, "D3"), people.second), COUGH)
    factory.make_label_set(factory.make_dialogue(project, "D4"), people.second)
    factory.make_label_set(factory.make_dialogue(project, "D5"), people.supervisor)
    rows = available(project=project)
    assert [(row.annotator.username, row.dialogues, row.done, row.labels) for row in rows] == [
        ("alice", 2, 1, 4),
        ("bob", 1, 0, 1),
        ("sam", 0, 0, 0),
    ]
    assert [row.annotator.username for row in available(project=project, annotator=people.second)] == ["bob"]
    assert available(project=project, annotator=people.doctor) == []


def test_the_queries_of_a_dataset_grow_with_its_dialogues_only(
    project: Project, people: People, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        labelled(project, people, f"D{number}")
    exported(project, people)
    with django_assert_max_num_queries(1 + 1 + 5):  # the label sets, what is decided about concepts
        exported(project, people)
