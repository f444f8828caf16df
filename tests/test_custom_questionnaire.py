"""A question more, by an edit of the file alone: it is labelled, checked, exported and seen, with no Python changed."""

from __future__ import annotations

import html
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation import questionnaires
from annotation.domain.completeness import gaps
from annotation.domain.labels import Label as LabelData
from annotation.models import Label, LabelSet, Project, User
from annotation.questionnaires import available, get_questionnaire, register_folder
from annotation.services.label_imports import portal_file_import
from annotation.services.readings import labels_of, reading_of
from tests import factory
from tests.conftest import People
from tests.factory import inform

NEW_VERSION = "1.1"
# The new question of the slot "symptom", as somebody would type it before the last one.
QUESTION = """\
      wakes_up:
        question: Does it wake the patient at night?
        kind: choice
        choices:
          - {name: yes, portal: Woken, meaning: yes}
          - {name: no, portal: Not woken, meaning: no}
        needed: true
        portal: wakes up
"""


def edited(text: str) -> str:
    """The shipped file with a new version number and the new question."""
    current = factory.cmas_version()
    assert text.count(f'version: "{current}"') == 1
    text = text.replace(f'version: "{current}"', f'version: "{NEW_VERSION}"')
    before, after = text.split("\n  symptom:\n", 1)
    last_question = "      other:\n"
    fields, rest = after.split(last_question, 1)
    assert "\n  symptom (dermatology):\n" not in fields
    return f"{before}\n  symptom:\n{fields}{QUESTION}{last_question}{rest}"


@pytest.fixture
def old_label(label_set: LabelSet) -> Label:
    """A label that was made before the questionnaire was changed."""
    factory.make_labels(label_set, inform(1, "symptom", "cough", status="yes"))
    return Label.objects.get()


@pytest.fixture
def changed(old_label: Label, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LabelSet:
    """The label set of a project that uses the changed copy."""
    text = available()["cmas"].read_text(encoding="utf-8")
    (tmp_path / "cmas.yaml").write_text(edited(text), encoding="utf-8")
    monkeypatch.setattr(questionnaires._SHELF, "folders", list(questionnaires._SHELF.folders))
    register_folder(tmp_path)
    project.questionnaire_version = NEW_VERSION
    project.save()
    return LabelSet.objects.select_related("dialogue__project").get()


@pytest.fixture
def client(client_for: Callable[[User], Client], people: People) -> Client:
    return client_for(people.annotator)


def save(client: Client, label_set: LabelSet, position: int, pk: str = "", **answers: Any) -> HttpResponse:
    label_set.refresh_from_db(fields=["version"])
    label = {"position": position, "intent": "inform", "slot": "symptom", "answers": answers}
    body = {"version": label_set.version, "key": str(uuid.uuid4())}
    body["changes"] = [{"id": pk or str(uuid.uuid4()), "label": label}]
    where = reverse("workbench-changes", args=[label_set.dialogue.project.slug, label_set.pk])
    return client.post(where, json.dumps(body), content_type="application/json")


def saved(client: Client, label_set: LabelSet, **answers: Any) -> dict[str, Any]:
    response = save(client, label_set, 5, value=["cough"], status="yes", **answers)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def test_the_new_question_is_asked_on_the_workbench_and_in_the_guidelines(client: Client, changed: LabelSet):
    for route, arguments in (("workbench", [changed.pk]), ("guidelines", [])):
        page = client.get(reverse(route, args=[changed.dialogue.project.slug, *arguments]))
        assert "Does it wake the patient at night?" in html.unescape(page.content.decode())


def test_a_label_with_the_new_answer_is_saved_and_its_version_with_it(client: Client, changed: LabelSet):
    saved(client, changed, wakes_up="yes")
    (label,) = Label.objects.filter(utterance__position=5)
    assert label.answers == {"value": ["cough"], "status": "yes", "wakes_up": "yes"}
    assert label.questionnaire_version == NEW_VERSION


def test_the_new_answer_is_validated(client: Client, changed: LabelSet):
    response = save(client, changed, 5, value=["cough"], status="yes", wakes_up="often")
    assert response.status_code == 400
    assert response.json()["error"]["fields"] == [{"field": "wakes_up", "message": "Wakes up has no answer “often”."}]


def test_a_label_that_lacks_the_new_answer_is_incomplete(client: Client, changed: LabelSet):
    answer = saved(client, changed)
    assert answer["labels"]["5"][0]["gaps"] == ["symptom “cough” has no wakes up"]
    lacking = gaps(changed.dialogue.project.questionnaire, reading_of(changed))
    assert [gap.position for gap in lacking if gap.label] == [1, 5]  # the old label lacks it too
    assert saved(client, changed, wakes_up="no")["labels"]["5"][1]["gaps"] == []


def test_the_patients_state_shows_the_new_answer_and_says_contradictions(client: Client, changed: LabelSet):
    saved(client, changed, wakes_up="no")
    answer = save(client, changed, 7, value=["cough"], status="yes", wakes_up="yes").json()
    (entry,) = answer["state"][0]["entries"]
    (row,) = [row for row in entry["attributes"] if row["field"] == "wakes_up"]
    assert (row["name"], [setting["position"] for setting in row["settings"]]) == ("wakes up", [5, 7])
    assert "cough: wakes up “no” at u5, “yes” at u7" in [problem["message"] for problem in answer["problems"]]


def test_the_portal_file_has_it_under_its_own_name_and_is_read_back(client: Client, changed: LabelSet, people: People):
    saved(client, changed, wakes_up="no")
    text = client.get(reverse("portal-file", args=[changed.dialogue.project.slug, changed.pk])).content
    old, new = json.loads(text)
    assert "wakes up" not in old
    assert new["wakes up"] == "Not woken"
    again = factory.make_label_set(changed.dialogue, people.second)
    done = portal_file_import(label_set=again, actor=people.second, data=text, file="labels.json", key="k")
    assert (done.labels, done.unknown, done.unusual) == (2, (), ())
    assert [content(label) for label in labels_of(again)] == [content(label) for label in labels_of(changed)]


def content(label: LabelData) -> tuple[Any, ...]:
    return label.position, label.intent, label.slot, label.answers, label.checks


def test_the_dataset_has_it_as_an_attribute(client: Client, changed: LabelSet):
    saved(client, changed, wakes_up="yes")
    response = client.get(reverse("dataset-file", args=[changed.dialogue.project.slug]))
    dialogue = json.loads(response.getvalue())["RES-TEST"]
    turn = next(turn for turn in dialogue["utterances"] if turn["uttr_id"] == 5)
    assert turn["nlu"][0]["slots"]["positive_symptom"][0]["wakes_up"] == "yes"
    assert turn["dialog_state"]["positive_symptom"] == [{"value": "cough", "wakes_up": "yes"}]


def test_labels_keep_the_version_they_were_made_under_until_they_are_changed(
    client: Client, changed: LabelSet, old_label: Label
):
    before = old_label.questionnaire_version
    saved(client, changed, wakes_up="no")
    old_label.refresh_from_db()
    assert old_label.questionnaire_version == before == "1.0"
    response = save(client, changed, 1, str(old_label.pk), value=["cough"], status="yes", wakes_up="yes")
    assert response.status_code == 200
    old_label.refresh_from_db()
    assert old_label.questionnaire_version == NEW_VERSION


def test_the_old_version_is_still_there_for_projects_that_use_it(
    client: Client, changed: LabelSet, people: People, old_label: Label
):
    old = get_questionnaire("cmas", old_label.questionnaire_version)
    assert old.slot("symptom").field("wakes_up") is None
    assert get_questionnaire("cmas").version == NEW_VERSION
    other = factory.make_project(questionnaire_version=old.version)
    factory.make_member(other, people.annotator, "annotator")
    label_set = factory.make_label_set(factory.make_dialogue(other), people.annotator)
    response = save(client, label_set, 5, value=["cough"], wakes_up="yes")
    assert response.status_code == 400
    assert "no question “wakes_up”" in response.json()["error"]["message"]
