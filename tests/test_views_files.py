"""The export page, the downloads, and the upload of a portal file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Label, LabelSet, Project, User
from annotation.services.label_imports import MAX_BYTES
from tests import factory
from tests.conftest import People

ClientFor = Callable[[User], Client]
COUGH = {"uid": "1", "intent": "inform", "slot": "symptom", "value": "cough", "status": "Yes", "mood": "<b>low</b>"}


@pytest.fixture
def labelled(label_set: LabelSet) -> LabelSet:
    factory.make_labels(label_set, factory.inform(1, "symptom", "fever", status="no"))
    return label_set


def exports_url(project: Project) -> str:
    return reverse("exports", args=[project.slug])


def dataset_url(project: Project, **query: str) -> str:
    words = "&".join(f"{key}={value}" for key, value in query.items())
    return reverse("dataset-file", args=[project.slug]) + (f"?{words}" if words else "")


def file_url(label_set: LabelSet) -> str:
    return reverse("portal-file", args=[label_set.dialogue.project.slug, label_set.pk])


def import_url(label_set: LabelSet) -> str:
    return reverse("labels-import", args=[label_set.dialogue.project.slug, label_set.pk])


def upload(client: Client, label_set: LabelSet, *items: Any, data: bytes | None = None, **fields: str) -> Any:
    content = json.dumps(list(items)).encode() if data is None else data
    file = SimpleUploadedFile("RES-TEST.alice.labels.json", content, content_type="application/json")
    return client.post(import_url(label_set), {"file": file, **fields})


def body(response: Any) -> Any:
    return json.loads(b"".join(response.streaming_content))


# --- portal file ---


@pytest.mark.parametrize("who", ["annotator", "supervisor", "superuser"])
def test_the_annotator_and_supervisors_download_a_portal_file(
    labelled: LabelSet, people: People, client_for: ClientFor, who: str
) -> None:
    response = client_for(getattr(people, who)).get(file_url(labelled))
    assert response.status_code == 200
    assert [item["value"] for item in response.json()] == ["fever"]
    assert response["Content-Type"] == "application/json; charset=utf-8"
    assert response["Content-Disposition"] == 'attachment; filename="RES-TEST.alice.labels.json"'
    assert response["X-Portal-Dialogue"] == "RES-TEST"


@pytest.mark.parametrize("who", ["second", "doctor", "outsider"])
@pytest.mark.parametrize("url", [file_url, import_url])
def test_a_label_set_of_somebody_else_does_not_exist_for_others(
    labelled: LabelSet, people: People, client_for: ClientFor, who: str, url: Callable[[LabelSet], str]
) -> None:
    assert client_for(getattr(people, who)).get(url(labelled)).status_code == 404
    assert client_for(getattr(people, who)).post(import_url(labelled)).status_code == 404


def test_a_label_set_is_not_found_under_another_project(
    labelled: LabelSet, people: People, client_for: ClientFor
) -> None:
    other = factory.make_project()
    client = client_for(people.superuser)
    assert client.get(reverse("portal-file", args=[other.slug, labelled.pk])).status_code == 404


def test_whoever_is_not_signed_in_is_sent_to_sign_in(labelled: LabelSet, client: Client) -> None:
    project = labelled.dialogue.project
    for url in (file_url(labelled), exports_url(project), dataset_url(project), import_url(labelled)):
        response = client.get(url)
        assert (response.status_code, response["Location"].split("?")[0]) == (302, reverse("sign-in"))


# --- dataset ---


def test_an_annotator_downloads_their_own_dataset(labelled: LabelSet, people: People, client_for: ClientFor) -> None:
    response = client_for(people.annotator).get(dataset_url(labelled.dialogue.project))
    assert response.status_code == 200
    assert response.streaming
    assert response["Content-Disposition"] == 'attachment; filename="chest-clinic.alice.dialogs.json"'
    assert list(body(response)) == ["RES-TEST"]


def test_a_supervisor_downloads_anybodys_dataset(labelled: LabelSet, people: People, client_for: ClientFor) -> None:
    project, client = labelled.dialogue.project, client_for(people.supervisor)
    assert list(body(client.get(dataset_url(project, annotator="alice")))) == ["RES-TEST"]
    assert body(client.get(dataset_url(project, annotator="alice", done="1"))) == {}
    assert body(client.get(dataset_url(project, annotator="bob"))) == {}
    assert client.get(dataset_url(project, annotator="otto")).status_code == 404
    assert client.get(dataset_url(project, annotator="nobody")).status_code == 404


@pytest.mark.parametrize(("who", "status"), [("second", 403), ("doctor", 403), ("outsider", 404)])
def test_others_do_not_get_somebody_elses_dataset(
    labelled: LabelSet, people: People, client_for: ClientFor, who: str, status: int
) -> None:
    client, project = client_for(getattr(people, who)), labelled.dialogue.project
    assert client.get(dataset_url(project, annotator="alice")).status_code == status
    assert client.get(exports_url(project), {"annotator": "alice"}).status_code == status


# --- the page ---


def test_a_supervisor_sees_everybodys_counts_and_one_persons_files(
    labelled: LabelSet, people: People, client_for: ClientFor
) -> None:
    project = labelled.dialogue.project
    factory.make_label_set(labelled.dialogue, people.second)
    client = client_for(people.supervisor)
    page = client.get(exports_url(project))
    assert [(row.annotator.username, row.dialogues, row.labels) for row in page.context["people"]] == [
        ("alice", 1, 1),
        ("bob", 0, 0),
    ]
    text = page.content.decode()
    assert "dataset.json?annotator=alice" in text
    assert "dataset.json?annotator=bob" not in text  # there is nothing in it
    assert file_url(labelled) in text
    second = client.get(exports_url(project), {"annotator": "bob"})
    assert file_url(labelled) not in second.content.decode()
    assert [row.annotator for row in second.context["page"]] == [people.second]


def test_an_annotator_sees_only_their_own_work(labelled: LabelSet, people: People, client_for: ClientFor) -> None:
    factory.make_label_set(labelled.dialogue, people.second)
    page = client_for(people.annotator).get(exports_url(labelled.dialogue.project))
    assert [row.annotator.username for row in page.context["people"]] == ["alice"]
    assert "bob" not in page.content.decode()


@pytest.mark.parametrize(
    ("who", "words"), [("supervisor", "Import dialogues"), ("doctor", "no dialogue in this project")]
)
def test_an_empty_page_says_what_to_do(
    project: Project, people: People, client_for: ClientFor, who: str, words: str
) -> None:
    page = client_for(getattr(people, who)).get(exports_url(project)).content.decode()
    assert "Nothing to export yet" in page
    assert words in page


def test_an_outsider_sees_no_export_page(project: Project, people: People, client_for: ClientFor) -> None:
    assert client_for(people.outsider).get(exports_url(project)).status_code == 404


def test_the_page_needs_the_same_queries_for_many_dialogues(
    project: Project, people: People, client_for: ClientFor, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        label_set = factory.make_label_set(factory.make_dialogue(project, f"D{number}"), people.annotator)
        factory.make_labels(label_set, factory.inform(1, "symptom", "cough", status="yes"))
    client = client_for(people.supervisor)
    with django_assert_max_num_queries(11):
        client.get(exports_url(project))


# --- upload ---


def test_an_uploaded_file_becomes_labels_and_the_page_says_what_was_not_understood(
    label_set: LabelSet, people: People, client_for: ClientFor
) -> None:
    client = client_for(people.annotator)
    assert client.get(import_url(label_set)).status_code == 200
    page = upload(client, label_set, COUGH)
    assert page.status_code == 200
    text = page.content.decode()
    assert "1 added" in text
    assert "mood" in text
    assert "&lt;b&gt;low&lt;/b&gt;" in text
    assert Label.objects.get().answers == {"value": ["cough"], "status": "yes"}
    assert client.get(file_url(label_set)).json() == [COUGH]
    assert "nothing was changed" in upload(client, label_set, COUGH).content.decode()


def test_a_supervisor_imports_for_an_annotator_and_the_history_says_who(
    label_set: LabelSet, people: People, client_for: ClientFor
) -> None:
    assert upload(client_for(people.supervisor), label_set, COUGH).status_code == 200
    event = label_set.events.get()
    assert (event.kind, event.actor) == ("import", people.supervisor)


def test_other_labels_are_kept_until_replacing_is_ticked(
    labelled: LabelSet, people: People, client_for: ClientFor
) -> None:
    client = client_for(people.annotator)
    page = upload(client, labelled, COUGH)
    assert page.status_code == 409
    assert "Replace" in page.content.decode()
    assert Label.objects.get().answers["value"] == ["fever"]
    assert upload(client, labelled, COUGH, replace="1").status_code == 200
    assert Label.objects.get().answers["value"] == ["cough"]


def test_of_thousands_of_remarks_the_page_shows_the_first(
    label_set: LabelSet, people: People, client_for: ClientFor
) -> None:
    strange = {f"strange{number:04}": "x" for number in range(300)}
    page = upload(client_for(people.annotator), label_set, {**COUGH, **strange})
    text = page.content.decode()
    assert "Not understood (301)" in text
    assert "the first 200." in text
    assert text.count("is no question of") == 200


def test_everything_that_is_wrong_with_a_file_is_listed(
    label_set: LabelSet, people: People, client_for: ClientFor
) -> None:
    items = [{"uid": "99", "intent": "inform"}, {"intent": "inform"}, COUGH]
    page = upload(client_for(people.annotator), label_set, *items)
    assert page.status_code == 422
    text = page.content.decode()
    assert "last utterance is 9" in text
    assert "Label 2 has no uid" in text
    assert Label.objects.count() == 0


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\x00", b"[{", b"{}", b"\xff\xfe"])
def test_a_file_that_is_none_is_refused_beside_the_form(
    label_set: LabelSet, people: People, client_for: ClientFor, data: bytes
) -> None:
    page = upload(client_for(people.annotator), label_set, data=data)
    assert page.status_code == 422
    assert "was not imported" in page.content.decode()


def test_no_file_is_said_beside_the_field(label_set: LabelSet, people: People, client_for: ClientFor) -> None:
    page = client_for(people.annotator).post(import_url(label_set), {})
    assert page.status_code == 422
    assert 'id="file-error"' in page.content.decode()


def test_a_large_file_is_refused_before_it_is_read(label_set: LabelSet, people: People, client_for: ClientFor) -> None:
    page = upload(client_for(people.annotator), label_set, data=b"[" + b" " * (MAX_BYTES + 2**17) + b"]")
    assert page.status_code == 413
    assert "larger than 5 MiB" in page.content.decode()


def test_an_upload_needs_the_forms_token(label_set: LabelSet, people: People) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.annotator)
    assert upload(client, label_set, COUGH).status_code == 403
    assert Label.objects.count() == 0
    client.get(import_url(label_set))
    token = client.cookies["csrftoken"].value
    assert upload(client, label_set, COUGH, csrfmiddlewaretoken=token).status_code == 200


@pytest.mark.parametrize("status", ["done", "locked"])
def test_a_finished_dialogue_offers_no_form_and_takes_no_file(
    label_set: LabelSet, people: People, client_for: ClientFor, status: str
) -> None:
    LabelSet.objects.filter(pk=label_set.pk).update(status=status)
    client = client_for(people.annotator)
    assert 'type="file"' not in client.get(import_url(label_set)).content.decode()
    assert upload(client, label_set, COUGH).status_code == 422
    assert Label.objects.count() == 0


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_other_methods_are_not_allowed(labelled: LabelSet, people: People, client_for: ClientFor, method: str) -> None:
    client, project = client_for(people.annotator), labelled.dialogue.project
    for url in (file_url(labelled), exports_url(project), dataset_url(project), import_url(labelled)):
        assert getattr(client, method)(url).status_code == 405
