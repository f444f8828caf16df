"""Portal files into a label set: once, whole, and never over other labels unasked."""

from __future__ import annotations

import json
import random
import uuid
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.labels import Label as LabelData
from annotation.models import Dialogue, EventKind, Label, LabelSet, Project
from annotation.questionnaires import get_questionnaire
from annotation.services.errors import NotEditable, Refused
from annotation.services.exports import portal_file
from annotation.services.label_imports import (
    MAX_BYTES,
    HasLabels,
    ImportedLabels,
    UnreadableLabels,
    label_set_for_import,
    labels_import,
    portal_file_import,
)
from annotation.services.labelling import label_set_undo
from annotation.services.readings import labels_of
from tests import factory
from tests.conftest import People
from tests.test_portal_file import odd_item, plain

COUGH = {"uid": "1", "intent": "inform", "slot": "symptom", "value": "cough", "status": "YES", "mood": "low"}
HELLO = {"uid": "0", "intent": "salutations"}


def bring(label_set: LabelSet, *items: Any, **options: Any) -> ImportedLabels:
    assert label_set.annotator
    return portal_file_import(
        label_set=label_set,
        actor=label_set.annotator,
        data=json.dumps(list(items)).encode(),
        file="x.labels.json",
        key=str(uuid.uuid4()),
        **options,
    )


def test_a_file_becomes_labels_in_one_event(label_set: LabelSet) -> None:
    done = bring(label_set, HELLO, COUGH)
    assert (done.labels, done.added, done.removed, done.version) == (2, 2, 0, 1)
    assert [(one.key, one.number) for one in done.unknown] == [("mood", 2)]
    (event,) = label_set.events.all()
    assert event.kind == EventKind.IMPORT
    labels = labels_of(label_set)
    assert [(label.position, label.origin) for label in labels] == [(0, "import"), (1, "import")]
    assert dict(labels[1].kept) == {"status": "YES", "mood": "low"}
    assert json.loads(portal_file(label_set=label_set)) == [HELLO, COUGH]


def test_the_same_file_again_changes_nothing_and_says_so(label_set: LabelSet) -> None:
    bring(label_set, HELLO, COUGH)
    again = bring(label_set, COUGH, HELLO)
    assert again.unchanged
    assert "nothing was changed" in again.summary
    assert (label_set.version, label_set.events.count(), Label.objects.count()) == (1, 1, 2)


def test_a_label_that_a_file_has_twice_is_there_twice_and_stays_so(label_set: LabelSet) -> None:
    assert bring(label_set, HELLO, HELLO).added == 2
    assert bring(label_set, HELLO, HELLO).unchanged
    assert Label.objects.count() == 2


def test_other_labels_are_refused_unless_they_shall_be_replaced(label_set: LabelSet) -> None:
    factory.make_labels(label_set, factory.inform(1, "symptom", "fever", status="no"))
    with pytest.raises(HasLabels, match="a label that is not in the file"):
        bring(label_set, HELLO)
    assert Label.objects.count() == 1
    done = bring(label_set, HELLO, replace_others=True)
    assert (done.added, done.removed) == (1, 1)
    assert [label.intent for label in labels_of(label_set)] == ["salutations"]


def test_replacing_keeps_the_labels_that_are_in_the_file_and_can_be_undone(label_set: LabelSet) -> None:
    bring(label_set, HELLO, COUGH)
    kept = labels_of(label_set)[0].id
    bring(label_set, HELLO, replace_others=True)
    assert [label.id for label in labels_of(label_set)] == [kept]
    assert label_set.annotator
    label_set_undo(label_set=label_set, actor=label_set.annotator, version=label_set.version, key="undo")
    assert json.loads(portal_file(label_set=label_set)) == [HELLO, COUGH]


def test_labels_can_be_added_when_those_that_are_there_are_in_the_file(label_set: LabelSet) -> None:
    bring(label_set, HELLO)
    done = bring(label_set, HELLO, COUGH)
    assert (done.added, done.removed) == (1, 0)
    assert "1 there already" in done.summary


def test_the_same_file_after_an_undo_imports_again(label_set: LabelSet) -> None:
    bring(label_set, HELLO)
    assert label_set.annotator
    label_set_undo(label_set=label_set, actor=label_set.annotator, version=1, key="undo")
    assert bring(label_set, HELLO).added == 1


@pytest.mark.parametrize(
    "item",
    [
        {"uid": "1", "intent": "diagnosis", "slot": "disease", "value": "copd"},  # a patient does not diagnose
        {"uid": "0", "intent": "differential", "slot": "diseases/conditions", "ddx 1": "copd"},
        {"uid": "0", "intent": "salutations", "slot": "symptom", "value": "cough"},  # a greeting has no slot
        {"uid": "0", "intent": "chit-chat", "slot": "symptom", "value": "cough"},
    ],
)
def test_an_unusual_label_is_kept_and_reported(label_set: LabelSet, item: dict[str, Any]) -> None:
    done = bring(label_set, item)
    assert len(done.unusual) == 1
    assert f"utterance {item['uid']}" in done.unusual[0]
    assert json.loads(portal_file(label_set=label_set)) == [item]
    assert bring(label_set, item).unchanged


def test_an_import_does_not_let_impossible_answers_in(label_set: LabelSet) -> None:
    label = LabelData(1, "diagnosis", "disease", {"value": ["copd"], "mood": "low"})
    assert label_set.annotator
    with pytest.raises(Refused, match=r"Label 1 .* mood|question “mood”"):
        labels_import(label_set=label_set, actor=label_set.annotator, labels=[label], key="k")
    assert Label.objects.count() == 0


def test_a_file_of_a_longer_dialogue_is_refused_whole(label_set: LabelSet) -> None:
    with pytest.raises(UnreadableLabels, match="last utterance is 9") as refusal:
        bring(label_set, HELLO, {"uid": "10", "intent": "inform"}, {"uid": "11", "intent": "inform"})
    assert len(refusal.value.notices) == 2
    assert Label.objects.count() == 0


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n\x00\x00", b"[", b'{"a": 1}', b" " * (MAX_BYTES + 1)])
def test_bytes_that_are_no_portal_file_are_refused_with_a_sentence(label_set: LabelSet, data: bytes) -> None:
    assert label_set.annotator
    with pytest.raises(Refused) as refusal:
        portal_file_import(label_set=label_set, actor=label_set.annotator, data=data, file="x.json", key="k")
    assert "x.json" in refusal.value.message
    assert refusal.value.field == "file"


def test_a_finished_label_set_takes_no_import(label_set: LabelSet) -> None:
    LabelSet.objects.filter(pk=label_set.pk).update(status="done")
    with pytest.raises(NotEditable):
        bring(label_set, HELLO)
    assert Label.objects.count() == 0


def test_a_label_set_is_found_or_made_for_a_member_only(dialogue: Dialogue, people: People) -> None:
    made = label_set_for_import(dialogue=dialogue, annotator=people.annotator)
    assert label_set_for_import(dialogue=dialogue, annotator=people.annotator) == made
    with pytest.raises(Refused, match="no member"):
        label_set_for_import(dialogue=dialogue, annotator=people.outsider)


def test_the_released_labels_import_and_export_the_same(project: Project, people: People, real_data: Path) -> None:
    folder = real_data / "meditod"
    turns = json.loads((folder / "RES0001.dialogue.json").read_text(encoding="utf-8"))["utterances"]
    dialogue = factory.make_dialogue(project, "RES0001", [(turn["speaker"], turn["text"]) for turn in turns])
    label_set = factory.make_label_set(dialogue, people.annotator)
    data = (folder / "RES0001.labels.json").read_bytes()

    def bring_in(file: bytes) -> ImportedLabels:
        return portal_file_import(
            label_set=label_set, actor=people.annotator, data=file, file="RES0001.labels.json", key=str(uuid.uuid4())
        )

    done = bring_in(data)
    assert (done.labels, done.added, done.unknown, done.unusual) == (115, 115, (), ())
    exported = portal_file(label_set=label_set)
    assert bring_in(exported.encode()).unchanged
    assert portal_file(label_set=label_set) == exported
    assert [
        {key: value.replace(", ", ",") if isinstance(value, str) else value for key, value in item.items()}
        for item in json.loads(exported)
    ] == [
        {key: value.replace(", ", ",") if isinstance(value, str) else value for key, value in item.items()}
        for item in json.loads(data)
    ]


def test_any_odd_label_goes_through_the_database_unchanged(label_set: LabelSet) -> None:
    rng = random.Random(5)
    items = [odd_item(get_questionnaire("cmas"), rng) for _ in range(400)]
    done = bring(label_set, *items)
    assert (done.labels, done.added) == (400, 400)
    assert plain(json.loads(portal_file(label_set=label_set))) == plain(items)
    assert bring(label_set, *items).unchanged
