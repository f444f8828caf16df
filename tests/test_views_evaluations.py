"""The pages of evaluations: upload, side by side, what a system gets wrong, two systems compared, deletion."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Evaluation, EvaluationTask, JobStatus, Project, Role
from tests import factory
from tests.conftest import People
from tests.evaluating import jsonl, make_evaluation, project_predictions
from tests.exporting import make_gold_project, write
from tests.uploads import left_over

CHOICES = {
    "system": "Small model",
    "task": "nlu",
    "comparator": "normalised",
    "gold": "now",
    "split": "all",
    "random_seed": "1",
    "shares": "0.8,0.1,0.1",
}


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.PORTAL_EVALUATION_DIR = tmp_path / "evaluations"
    settings.PORTAL_EXPORT_DIR = tmp_path / "exports"
    return tmp_path / "evaluations"


@pytest.fixture
def gold(project: Project, people: People) -> Project:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    return project


@pytest.fixture
def doctor(client_for: Any, people: People) -> Client:
    client: Client = client_for(people.doctor)
    return client


def place(project: Project, route: str = "evaluations", **parts: Any) -> str:
    return reverse(route, kwargs={"slug": project.slug, **parts})


def file(lines: Any, name: str = "small.jsonl") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, lines if isinstance(lines, bytes) else jsonl(lines))


def test_without_gold_the_page_says_what_to_do_and_offers_no_form(doctor: Client, project: Project) -> None:
    text = doctor.get(place(project)).content.decode()
    assert "No finished gold yet" in text
    assert 'type="file"' not in text


def test_the_first_visit_shows_a_line_to_copy_for_each_task(doctor: Client, gold: Project) -> None:
    text = doctor.get(place(gold)).content.decode()
    assert "Score a first system" in text
    for one in EvaluationTask:
        assert f'data-copies="example-{one}"' in text
        assert f'id="example-{one}"' in text


def test_an_upload_is_scored_and_shown(doctor: Client, gold: Project, people: People) -> None:
    lines = [*project_predictions(gold, "nlu", but=2, extra="dyspnea"), '{"broken": ']
    answer = doctor.post(place(gold), {**CHOICES, "files": file(lines)}, follow=True)
    text = answer.content.decode()
    made = Evaluation.objects.get()
    assert answer.redirect_chain == [(place(gold, "evaluation", pk=made.pk), 302)]
    assert (made.system, made.file_name, made.created_by) == ("Small model", "small.jsonl", people.doctor)
    overall = made.results["overall"]
    assert f"{overall['precision']:.3f}" in text
    ends = made.results["intervals"]["overall"]["f1"]["interval"]
    assert f"{ends['low']:.3f}–{ends['high']:.3f}" in text
    assert "Errors in 3 of 40 scored utterances" in text
    assert '<span class="tuple superfluous">inform · positive_symptom = dyspnea</span>' in text
    assert '<span class="badge warning">no prediction</span>' in text
    assert "Lines with something wrong (1)" in text
    assert f"line {len(lines)}</span> It is no JSON (column" in text
    sent = doctor.get(place(gold, "evaluation-predictions", pk=made.pk))
    assert sent.getvalue() == jsonl(lines)  # type: ignore[attr-defined]


def test_errors_are_narrowed_by_slot_and_right_ones_shown_on_demand(
    doctor: Client, gold: Project, people: People
) -> None:
    lines = project_predictions(gold, "nlu", extra="dyspnea")
    habit = next(one for one in lines if "habit" in str(one["nlu"]))
    habit["nlu"] = []
    made = make_evaluation(gold, people.supervisor, lines)
    address = place(gold, "evaluation", pk=made.pk)

    def positions(**query: str) -> set[str]:
        turns = doctor.get(address, query).context["turns"]
        return {f"{turn.dialogue} {turn.position}" for turn in turns}

    first, second = (f"{one['dialogue_id']} {one['uttr_id']}" for one in (lines[0], habit))
    assert positions() == {first, second}
    assert positions(slot="symptom") == {first}
    assert positions(slot="habit") == {second}
    assert positions(slot="nothing") == set()
    assert positions(attribute="symptom · value") == {first}
    assert positions(kind="medical") == {first, second}
    assert positions(kind="medical", slot="habit") == {second}
    assert positions(kind="other") == {second}, "how much was smoked"
    assert positions(intent="inform") == {first, second}
    assert positions(intent="chit-chat") == set()
    text = doctor.get(address).content.decode()
    for name in ("slot", "attribute", "intent", "kind"):
        assert f'<select class="auto" id="by-{name}" name="{name}">' in text
    assert f'href="{address}?slot=habit#errors"' in text
    assert f'href="{address}?attribute=symptom+%C2%B7+value#errors"' in text
    assert doctor.get(f"{address}?attribute=symptom+%C2%B7+value").context["turns"]
    assert len(positions(show="all")) == 25
    assert doctor.get(address, {"show": "all", "page": "2"}).context["turns"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"system": ""}, "This field is required."),
        ({"task": "pol"}, "small.jsonl holds predictions for the task Understanding; choose that task."),
        ({"comparator": "chat"}, "Select a valid choice. chat is not one of the available choices."),
        ({"shares": "2,1"}, "shares"),
        ({"random_seed": "-1"}, "greater than or equal to 0"),
        ({"files": b"\xff\xfe\x00"}, "small.jsonl is no file of predictions"),
        ({"files": b""}, "small.jsonl is empty"),
        ({"files": None}, "Choose a file."),
    ],
)
def test_what_cannot_be_scored_is_said_and_nothing_is_kept(
    doctor: Client, gold: Project, folder: Path, change: dict[str, Any], said: str
) -> None:
    sent = change.get("files", jsonl(project_predictions(gold, "nlu")))
    answer = doctor.post(place(gold), {**CHOICES, **change, "files": "" if sent is None else file(sent)})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Evaluation.objects.exists()
    assert left_over(folder) == []


def test_too_large_a_file_is_refused_while_it_arrives(
    doctor: Client, gold: Project, folder: Path, settings: Any
) -> None:
    settings.PORTAL_MAX_FILE_BYTES = 1000
    answer = doctor.post(place(gold), {**CHOICES, "files": file(b"x" * 5000)})
    assert answer.status_code == 413
    assert "small.jsonl is larger than 1000 bytes" in answer.content.decode()
    assert left_over(folder) == []


def test_a_forged_upload_is_refused_and_leaves_nothing(people: People, gold: Project, folder: Path) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.doctor)
    assert client.post(place(gold), {**CHOICES, "files": file(project_predictions(gold, "nlu"))}).status_code == 403
    assert not Evaluation.objects.exists()
    assert left_over(folder) == []


def test_systems_stand_side_by_side_the_best_is_marked(doctor: Client, gold: Project, people: People) -> None:
    good = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"), "Good")
    poor = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu", but=9), "Poor")
    other = make_evaluation(
        gold, people.supervisor, project_predictions(gold, "pol"), "Policy", task=EvaluationTask.POL
    )
    answer = doctor.get(place(gold))
    scores, read = answer.context["headlines"]
    assert [row.system.system for row in scores.rows] == ["Good", "Poor"]
    overall = {column.title: column.cells for column in scores.groups[0].columns}
    assert [cell.best for cell in overall["recall"]] == [True, False]
    assert [cell.best for cell in overall["precision"]] == [True, True]
    assert [row.cells[0].text for row in read.rows] == ["0.0%", "0.0%"]
    assert [row.cells[1].text for row in read.rows] == ["0", "9"]
    assert {row.title for row in answer.context["by_slot"]} >= {"symptom", "habit", "intent"}
    assert {"onset", "value"} <= {row.title for row in answer.context["by_attribute"]}
    only = doctor.get(place(gold), {"task": "nlu", "system": str(poor.pk)})
    assert [one.system for one in only.context["systems"]] == ["Poor"]
    policy = doctor.get(place(gold), {"task": "pol"})
    assert [one.pk for one in policy.context["systems"]] == [other.pk]
    assert "Precision@∞" in policy.content.decode()
    assert "Understanding: what the patient says (2)" in policy.content.decode()
    assert f'href="{place(gold, "evaluation-compare", pk=good.pk)}?with={poor.pk}"' in answer.content.decode()
    third = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu", but=5), "Third")
    text = doctor.get(place(gold)).content.decode()
    for one, other in ((good, poor), (good, third), (poor, third)):
        assert f'href="{place(gold, "evaluation-compare", pk=one.pk)}?with={other.pk}"' in text


def test_systems_that_were_not_scored_alike_are_not_passed_off_as_comparable(
    doctor: Client, gold: Project, people: People
) -> None:
    lines = project_predictions(gold, "nlu")
    make_evaluation(gold, people.supervisor, lines, "A")
    made = make_evaluation(gold, people.supervisor, lines, "B", comparator="exact")
    assert "the comparator differs" in doctor.get(place(gold)).content.decode()
    Evaluation.objects.filter(pk=made.pk).update(gold={**made.gold, "digest": "other"})
    assert "the gold and the comparator differ." in doctor.get(place(gold)).content.decode()


def test_two_systems_on_the_same_utterances(doctor: Client, gold: Project, people: People) -> None:
    lines = project_predictions(gold, "nlu")
    first = make_evaluation(gold, people.supervisor, lines[2:], "First")  # errs in 0 and 1
    second = make_evaluation(gold, people.supervisor, [lines[0], *lines[3:]], "Second")  # errs in 1 and 2
    address = place(gold, "evaluation-compare", pk=first.pk)
    assert "Compare First with another" in doctor.get(address).content.decode()
    for show, number in (("first", 0), ("both", 1), ("second", 2)):
        answer = doctor.get(address, {"with": str(second.pk), "show": show})
        assert answer.context["counts"] == {"first": 1, "second": 1, "both": 1, "neither": 37}
        (turn,) = answer.context["turns"]
        assert (turn.dialogue, turn.position) == (lines[number]["dialogue_id"], lines[number]["uttr_id"])
        assert [side.wrong for side in turn.sides] == [show != "second", show != "first"]
    answer = doctor.get(address, {"with": str(second.pk), "show": "neither", "page": "2"})
    assert len(answer.context["turns"]) == 12
    for other in (str(uuid.uuid4()), "no-number"):
        assert doctor.get(address, {"with": other}).status_code == 404
    texts = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlg"), task=EvaluationTask.NLG)
    assert doctor.get(address, {"with": str(texts.pk)}).status_code == 404
    turned = doctor.get(address, {"first": str(second.pk), "with": str(first.pk), "show": "both", "x": "y"})
    there = place(gold, "evaluation-compare", pk=second.pk)
    assert turned.headers["Location"] == f"{there}?with={first.pk}&show=both"
    assert doctor.get(address, {"first": "//evil.example/", "with": str(second.pk)}).status_code == 404


def test_a_system_of_another_project_cannot_be_compared_with(doctor: Client, gold: Project, people: People) -> None:
    mine = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    far = factory.make_project("Far clinic")
    factory.make_member(far, people.doctor, Role.DOCTOR)
    theirs = Evaluation.objects.create(
        project=far, created_by=people.doctor, system="X", task="nlu", status=JobStatus.DONE, file_bytes=0
    )
    address = place(gold, "evaluation-compare", pk=mine.pk)
    assert doctor.get(address, {"with": str(theirs.pk)}).status_code == 404
    assert doctor.get(address, {"first": str(theirs.pk), "with": str(mine.pk)}).status_code == 404


def test_generated_texts_stand_beside_the_doctor_s(doctor: Client, gold: Project, people: People) -> None:
    lines = project_predictions(gold, "nlg", but=1)
    lines[1]["text"] = "<b>Any pain?</b>"
    made = make_evaluation(gold, people.supervisor, lines, "Talker", task=EvaluationTask.NLG)
    text = doctor.get(place(gold, "evaluation", pk=made.pk)).content.decode()
    assert "Other words than the doctor’s in 2 of 32 texts" in text
    assert "&lt;b&gt;Any pain?&lt;/b&gt;" in text
    assert "BLEU-4" in text
    assert "BLEU-4" in doctor.get(place(gold), {"task": "nlg"}).content.decode()


def test_progress_asks_again_until_it_is_over(doctor: Client, gold: Project, people: People) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    Evaluation.objects.update(status=JobStatus.RUNNING)
    address = place(gold, "evaluation-progress", pk=made.pk)
    assert address in doctor.get(place(gold, "evaluation", pk=made.pk)).content.decode()
    assert "HX-Refresh" not in doctor.get(address)
    Evaluation.objects.update(status=JobStatus.FAILED, error="The disk is full.")
    assert doctor.get(address)["HX-Refresh"] == "true"
    assert "The disk is full." in doctor.get(place(gold, "evaluation", pk=made.pk)).content.decode()


def test_one_that_waits_or_runs_is_cancelled_on_its_page(doctor: Client, gold: Project, people: People) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    address, cancel = place(gold, "evaluation", pk=made.pk), place(gold, "evaluation-cancel", pk=made.pk)
    assert cancel not in doctor.get(address).content.decode()
    Evaluation.objects.update(status=JobStatus.RUNNING, changed_at=timezone.now())
    assert f'action="{cancel}"' in doctor.get(address).content.decode()
    text = doctor.post(cancel, follow=True).content.decode()
    assert "Stopping." in text
    assert "disabled>Cancel</button>" in text
    Evaluation.objects.update(status=JobStatus.QUEUED, cancel_requested=False)
    text = doctor.post(cancel, follow=True).content.decode()
    assert "these are the scores from before" in text
    assert "Errors in 0 of" in text
    Evaluation.objects.update(status=JobStatus.QUEUED, results={})
    text = doctor.post(cancel, follow=True).content.decode()
    assert "The scoring was stopped before there were scores" in text
    assert place(gold, "evaluation-again", pk=made.pk) in text
    assert "There is nothing to cancel" in doctor.post(cancel, follow=True).content.decode()


@pytest.mark.parametrize("name", ["dialogs.json", "utterances.jsonl", "downloaded.json"])
def test_an_annotator_s_own_export_is_taken_as_a_system(
    doctor: Client, client_for: Any, gold: Project, people: People, tmp_path: Path, name: str
) -> None:
    if name == "downloaded.json":  # on the page of exports, without options
        answer = client_for(people.supervisor).get(reverse("dataset-file", args=[gold.slug]), {"annotator": "alice"})
        sent = answer.getvalue()
    else:
        write(gold, tmp_path / "out", source="annotator", annotator="alice")
        sent = (tmp_path / "out" / name).read_bytes()
    assert "utterances.jsonl" in doctor.get(place(gold)).content.decode(), "the page says so"
    for task in EvaluationTask:
        answer = doctor.post(place(gold), {**CHOICES, "task": task.value, "files": file(sent, name)})
        assert answer.status_code == 302
        made = Evaluation.objects.get(task=task)
        assert (made.status, made.error) == (JobStatus.DONE, "")
        assert made.results.get("rouge_l", made.results.get("overall")) in (1, {"precision": 1, "recall": 1, "f1": 1})
        assert not made.turns.wrong().exists()


def test_scored_again_and_deleted(
    doctor: Client, gold: Project, people: People, folder: Path, django_capture_on_commit_callbacks: Any
) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    Evaluation.objects.update(gold={**made.gold, "stamp": "old"})
    address = place(gold, "evaluation", pk=made.pk)
    assert "The gold has changed since this was scored." in doctor.get(address).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        doctor.post(place(gold, "evaluation-again", pk=made.pk))
    assert "The gold has changed" not in doctor.get(address).content.decode()
    answer = doctor.post(place(gold, "evaluation-delete", pk=made.pk), follow=True)
    assert "The predictions of “S” and their scores were deleted." in answer.content.decode()
    assert not Evaluation.objects.exists()
    assert left_over(folder) == []


def test_annotators_reach_nothing_of_it(client_for: Any, gold: Project, people: People) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    client = client_for(people.annotator)
    for route in ("evaluation", "evaluation-progress", "evaluation-compare", "evaluation-predictions"):
        assert client.get(place(gold, route, pk=made.pk)).status_code == 403
    assert client.get(place(gold)).status_code == 403
    assert place(gold) not in client.get(reverse("project", args=[gold.slug])).content.decode()
