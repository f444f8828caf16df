from __future__ import annotations

import io
import uuid
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings

from annotation.models import Dialogue, ImportJob, Project, Role, Utterance
from tests.api import Api, error_of
from tests.conftest import People
from tests.factory import make_member, make_project

PATH = "projects/chest-clinic/imports/"
GOOD = "D: Good morning, what brings you in?\n\nP: A cough.\n"
BAD = "D: Good morning.\n\nNurse: He is late.\n\nP: Sorry.\n"


def file(name: str = "RES1.txt", text: str | bytes = GOOD) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode() if isinstance(text, str) else text)


def stored() -> list[Path]:
    return [path for path in Path(settings.PORTAL_UPLOAD_DIR).rglob("*") if path.is_file()]


@pytest.fixture(autouse=True)
def upload_dir(tmp_path: Path) -> Any:
    with override_settings(PORTAL_UPLOAD_DIR=tmp_path / "uploads"):
        yield


@pytest.fixture
def api(people: People) -> Api:
    return Api(people.supervisor)


def test_a_dry_run_says_what_would_happen_and_writes_nothing(api: Api) -> None:
    shown = api.upload(PATH, files=[file(), file("RES2.txt", BAD)], dry_run="true").json()
    assert (shown["status"], shown["counts"]["new"], shown["counts"]["errors"]) == ("ready", 1, 1)
    assert [(row["id"], row["utterances"], row["fate"]) for row in shown["dialogues"]] == [("RES1", 2, "new")]
    first = shown["files"][0]
    assert (first["name"], first["encoding"], first["utterances"]) == ("RES1.txt", "utf-8", 2)
    error = shown["notices"][0]
    assert (error["severity"], error["file"], error["line"]) == ("error", "RES2.txt", 3)
    assert not Dialogue.objects.exists()
    assert len(stored()) == 2


def test_a_dry_run_is_confirmed_or_discarded(api: Api) -> None:
    first = api.upload(PATH, files=[file()], dry_run="true").json()["id"]
    second = api.upload(PATH, files=[file("RES2.txt")], dry_run="true").json()["id"]
    done = api.post(f"{PATH}{first}/confirm/").json()
    assert (done["status"], done["result"]["created"]) == ("done", 1)
    assert api.post(f"{PATH}{second}/discard/").json()["status"] == "cancelled"
    assert [row.external_id for row in Dialogue.objects.all()] == ["RES1"]
    assert stored() == []
    error_of(api.post(f"{PATH}{first}/confirm/"), 400, "refused")
    error_of(api.post(f"{PATH}{first}/cancel/"), 400, "refused")
    error_of(api.post(f"{PATH}{first}/retry/"), 400, "refused")


def test_an_import_writes_what_is_new(api: Api, people: People) -> None:
    response = api.upload(PATH, files=[file()])
    assert response.status_code == 200
    assert (response.json()["status"], response.json()["result"]["created"]) == ("done", 1)
    assert list(Utterance.objects.values_list("speaker", "text")) == [
        ("doctor", "Good morning, what brings you in?"),
        ("patient", "A cough."),
    ]
    assert ImportJob.objects.get().created_by == people.supervisor
    assert stored() == []


def test_importing_the_same_file_again_changes_nothing_and_says_so(api: Api) -> None:
    api.upload(PATH, files=[file()])
    again = api.upload(PATH, files=[file()])
    assert again.status_code == 200
    assert (again.json()["counts"]["same"], again.json()["counts"]["new"], again.json()["result"]) == (1, 0, None)
    assert Dialogue.objects.count() == 1
    assert stored() == []


def test_good_dialogues_of_a_batch_are_imported_beside_bad_ones(api: Api) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr("RES1.txt", GOOD)
        made.writestr("RES2.txt", BAD)
    shown = api.upload(PATH, files=[file("all.zip", stream.getvalue())]).json()
    assert (shown["result"]["created"], shown["counts"]["errors"]) == (1, 1)
    assert Dialogue.objects.get().external_id == "RES1"


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("RES2.txt", BAD.encode(), "RES2.txt, line 3"),
        ("empty.txt", b"", "empty.txt"),
        ("x.json", b'{"dlg_id": "A", ', "x.json"),
        ("x.png", b"\x89PNG\r\n\x1a\n" + bytes(100), "x.png"),
    ],
)
def test_files_without_a_single_good_dialogue_are_an_error(api: Api, name: str, data: bytes, said: str) -> None:
    error = error_of(api.upload(PATH, files=[file(name, data)]), 400, "invalid")
    assert said in error["fields"]["files"][0]
    assert not Dialogue.objects.exists()
    assert stored() == []


def test_an_id_that_is_taken_by_other_turns_is_refused(api: Api) -> None:
    api.upload(PATH, files=[file()])
    error_of(api.upload(PATH, files=[file(text=GOOD + "\nD: Since when?\n")]), 400, "invalid")
    assert Utterance.objects.count() == 2


def test_the_speakers_labels_can_be_named(api: Api) -> None:
    text = "Clinician: Hello.\nClient: Hello.\n"
    shown = api.upload(PATH, files=[file(text=text)], doctor="Clinician", patient="Client").json()
    assert shown["result"]["utterances"] == 2
    error = error_of(api.upload(PATH, files=[file()], doctor="Clinician"), 400, "refused")
    assert set(error["fields"]) == {"patient"}
    assert stored() == []


def test_a_large_import_is_left_to_a_worker(api: Api) -> None:
    with override_settings(PORTAL_IMPORT_INLINE_UTTERANCES=1):
        response = api.upload(PATH, files=[file()])
    assert response.status_code == 202
    address = f"{PATH}{response.json()['id']}/"
    polled = api.get(address)
    assert (polled.status_code, polled.json()["status"], polled.json()["total"]) == (200, "queued", 1)
    assert api.post(address + "cancel/").json()["status"] == "cancelled"
    assert api.post(address + "retry/").json()["status"] == "done"
    assert Dialogue.objects.count() == 1


@pytest.mark.parametrize("data", [{}, {"dry_run": "perhaps"}, {"doctor": "x" * 41}])
def test_an_upload_without_files_or_with_other_options_is_refused(api: Api, data: dict[str, Any]) -> None:
    if data:
        data = {**data, "files": [file()]}
    assert api.upload(PATH, **data).status_code == 400
    assert not ImportJob.objects.exists()
    assert stored() == []


def test_an_upload_is_no_json(api: Api) -> None:
    error_of(api.post(PATH, {"files": []}), 415, "unsupported_media_type")


def test_too_large_a_file_is_refused_and_not_kept(api: Api) -> None:
    with override_settings(PORTAL_MAX_FILE_BYTES=1000):
        error = error_of(api.upload(PATH, files=[file("big.txt", b"D: x\n" * 1000)]), 413, "too_large")
    assert "big.txt" in error["message"]
    with override_settings(PORTAL_MAX_UPLOAD_BYTES=1000):
        error_of(api.upload(PATH, files=[file(), file("big.txt", b"D: x\n" * 1000)]), 413, "too_large")
    assert stored() == []
    assert not ImportJob.objects.exists()


def test_only_supervisors_import(people: People) -> None:
    for person in (people.annotator, people.doctor):
        error_of(Api(person).upload(PATH, files=[file()]), 403, "forbidden")
        error_of(Api(person).get(PATH), 403, "forbidden")
    error_of(Api(people.outsider).upload(PATH, files=[file()]), 404, "not_found")
    error_of(Api(people.outsider).get(PATH), 404, "not_found")
    error_of(Api().upload(PATH, files=[file()]), 401, "not_authenticated")
    assert stored() == []
    assert not ImportJob.objects.exists()


def test_an_import_is_hidden_from_other_projects(api: Api, people: People) -> None:
    made = api.upload(PATH, files=[file()], dry_run="true").json()["id"]
    make_member(make_project("Elsewhere"), people.outsider, Role.SUPERVISOR)
    for step in ("", "confirm/", "discard/", "cancel/", "retry/"):
        for person, status, code in ((people.outsider, 404, "not_found"), (people.annotator, 403, "forbidden")):
            other = Api(person)
            ask = other.post if step else other.get
            error_of(ask(f"{PATH}{made}/{step}"), status, code)
            error_of(ask(f"projects/elsewhere/imports/{made}/{step}"), 404, "not_found")
    error_of(api.get(f"{PATH}{uuid.uuid4()}/"), 404, "not_found")
    assert ImportJob.objects.get().status == "ready"


def test_imports_are_listed_newest_first(api: Api, project: Project, django_assert_max_num_queries) -> None:
    for number in range(20):
        api.upload(PATH, files=[file(f"RES{number}.txt")], dry_run="true")
    with django_assert_max_num_queries(7):
        rows = api.get(PATH).json()["results"]
    assert len(rows) == 20
    assert rows[0]["created_at"] > rows[19]["created_at"]
    assert rows[0]["counts"]["new"] == 1
    assert rows[0]["result"] is None


def test_a_session_is_checked_before_the_upload_is_received(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CSRF check reads the whole body; whoever may not upload is refused before that."""
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.annotator)
    monkeypatch.setattr("annotation.uploads.BoundedUploadHandler.new_file", None)  # receiving a file would fail
    error_of(client.post(f"/api/v1/{PATH}", {"files": [file()]}), 403, "forbidden")


def test_a_session_without_the_csrf_token_leaves_nothing_behind(people: People) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.supervisor)
    error = error_of(client.post(f"/api/v1/{PATH}", {"files": [file()]}), 403, "forbidden")
    assert "CSRF" in error["message"]
    assert stored() == []
    assert not ImportJob.objects.exists()


def test_an_archived_project_takes_no_import(api: Api, project: Project) -> None:
    Project.objects.update(archived_at="2026-01-01T00:00:00Z")
    error_of(api.upload(PATH, files=[file()]), 400, "refused")
    assert stored() == []
