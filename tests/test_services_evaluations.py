"""Evaluations: scored against the project's gold, kept with their errors, refused, cut off, scored again, deleted."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.domain.splits import Shares
from annotation.models import (
    EvaluatedTurn,
    Evaluation,
    EvaluationTask,
    JobStatus,
    Label,
    LabelSet,
    Project,
)
from annotation.services import evaluations
from annotation.services.errors import Refused
from annotation.services.evaluation_gold import GoldChoice, project_gold
from annotation.services.evaluations import (
    evaluation_again,
    evaluation_cancel,
    evaluation_delete,
    evaluation_folder,
    evaluation_run,
    gold_has_changed,
    predictions_path,
)
from annotation.services.export_readings import ExportOptions
from annotation.services.gold_export import export_write
from annotation.tasks import take_up_unfinished
from tests.conftest import People
from tests.evaluating import jsonl, make_evaluation, project_predictions
from tests.exporting import make_gold_project
from tests.test_commands_files import run_json


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.PORTAL_EVALUATION_DIR = tmp_path / "evaluations"
    settings.PORTAL_EXPORT_DIR = tmp_path / "exports"
    return tmp_path / "evaluations"


@pytest.fixture
def gold(project: Project, people: People) -> Project:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    return project


def test_the_gold_as_its_own_prediction_is_right_everywhere(gold: Project, people: People) -> None:
    for task in EvaluationTask:
        made = make_evaluation(gold, people.doctor, project_predictions(gold, task), task=task)
        made.refresh_from_db()
        assert made.status == JobStatus.DONE, made.error
        assert made.results["rouge_l" if task == "nlg" else "overall"] in (1.0, {"precision": 1, "recall": 1, "f1": 1})
        assert made.turns.exists()
        assert not made.turns.wrong().exists()


@pytest.mark.parametrize("task", ["nlu", "pol", "nlg"])
def test_the_scores_are_those_of_the_command_on_an_export(
    gold: Project, people: People, tmp_path: Path, task: str
) -> None:
    lines = project_predictions(gold, task, but=3, extra="dyspnea" if task == "nlu" else "")
    made = make_evaluation(gold, people.supervisor, [*lines, "no json"], task=EvaluationTask(task))
    made.refresh_from_db()
    (tmp_path / "out").mkdir()
    export_write(project=gold, options=ExportOptions(), folder=tmp_path / "out")
    (tmp_path / "pred.jsonl").write_bytes(jsonl([*lines, "no json"]))
    named = {"gold": str(tmp_path / "out/dialogs.json"), "pred": str(tmp_path / "pred.jsonl")}
    printed = run_json(f"evaluate_{task}", "--gold", named["gold"], "--pred", named["pred"])
    assert {name: printed[name] for name in made.results} == json.loads(json.dumps(made.results))
    assert made.results["predictions"]["malformed"] == 1
    assert made.file_sha256 == hashlib.sha256(jsonl([*lines, "no json"])).hexdigest()


def test_what_is_missing_and_superfluous_is_kept_by_utterance(gold: Project, people: People) -> None:
    lines = project_predictions(gold, "nlu", but=1, extra="dyspnea")
    lines[1]["nlu"] = "cough"
    made = make_evaluation(gold, people.supervisor, lines)
    wrong = {(turn.utterance.dialogue.external_id, turn.utterance.position): turn for turn in made.turns.wrong()}
    (name, number) = (lines[0]["dialogue_id"], lines[0]["uttr_id"])
    first = wrong[name, number]
    assert [one[2] for one in first.found["superfluous"]] == ["dyspnea"]
    assert (first.found["missing"], first.prediction) == ([], "there")
    assert first.slots == "|symptom||attribute=symptom · value||intent=inform||kind=medical|"
    malformed = wrong[lines[1]["dialogue_id"], lines[1]["uttr_id"]]
    assert malformed.prediction == EvaluatedTurn.Prediction.MALFORMED
    assert malformed.found["missing"]
    assert "|(malformed)|" in malformed.slots
    assert [turn.prediction for turn in wrong.values()].count("none") == 1
    assert made.turns.about("symptom").wrong().count() == made.turns.filter(slots__contains="|symptom|").count()
    assert made.turns.about("symp").count() == 0
    results = made.results["counts"]["overall"]
    assert sum(len(turn.found["missing"]) for turn in wrong.values()) == results["missed"]
    assert sum(len(turn.found["superfluous"]) for turn in wrong.values()) + 1 == results["wrong"], "one is malformed"


def test_one_split_is_that_of_the_export(gold: Project, people: People) -> None:
    choice = GoldChoice("test", 5, Shares.parse("0.5,0.5,0"))
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"), choice=choice)
    assert made.gold["dialogues"] == 1
    assert {turn.utterance.dialogue.external_id for turn in made.turns.all()} == {"RES-1"}, "the seed"
    assert made.results["predictions"]["unknown"] > 0


def test_canonical_names_are_what_is_compared(gold: Project, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    from annotation.domain.concepts import Canon, CanonicalConcept
    from annotation.services.concept_linking import linker

    canon = Canon({("symptom", "value", "cough"): CanonicalConcept("C0010200", "Coughing")})
    monkeypatch.setattr(linker(), "canon", lambda _: canon)
    text = json.dumps(project_gold(project=gold, choice=GoldChoice()).dataset)
    assert '"Coughing"' in text
    assert '"value": "cough"' not in text


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "predictions.jsonl is empty"),
        (["[1]", "x"], "is no file of predictions"),
        ([{"dialogue_id": "1", "uttr_id": 1, "text": "Hello"}], "holds predictions for the task Generation"),
    ],
)
def test_another_file_is_refused_and_leaves_nothing(gold: Project, people: People, lines: list[Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        make_evaluation(gold, people.supervisor, lines)
    assert not Evaluation.objects.exists()


def test_hostile_files_end_in_a_sentence(gold: Project, people: People) -> None:
    line = project_predictions(gold, "nlu")[0]
    many = {"intent": "inform", "slots": {"positive_symptom": [{"value": f"v{n}"} for n in range(501)]}}
    made = make_evaluation(gold, people.supervisor, [{**line, "nlu": [many]}])
    assert "It has 501 tuples" in made.results["problems"][0]["message"]
    lines = [
        {**one, "nlu": [{"intent": "inform", "slots": {f"s{place}_{n}": [{"value": "x"}] for n in range(90)}}]}
        for place, one in enumerate(project_predictions(gold, "nlu")[:12])
    ]
    made = make_evaluation(gold, people.supervisor, lines)
    assert made.status == JobStatus.FAILED
    assert made.error.startswith("predictions.jsonl names 1,080 different slots and attributes; 1,000 can be scored.")
    made = make_evaluation(gold, people.supervisor, [{"dialogue_id": "NO", "uttr_id": 1, "nlu": []}])
    assert (made.status, made.turns.count()) == (JobStatus.FAILED, 0)
    assert "none of its 1 lines predicts an utterance" in made.error


def test_without_gold_a_name_or_an_endpoint_nothing_is_made(project: Project, people: People, gold: Project) -> None:
    lines = project_predictions(gold, "nlu")
    with pytest.raises(Refused, match="Name the system"):
        make_evaluation(gold, people.supervisor, lines, system="  ")
    with pytest.raises(Refused, match="no comparator “chat”"):
        make_evaluation(gold, people.supervisor, lines, comparator="chat")
    with pytest.raises(Refused, match="in the split “valid”"):
        make_evaluation(gold, people.supervisor, lines, choice=GoldChoice("valid", 1, Shares.parse("1,0,0")))
    LabelSet.objects.filter(owner="gold").update(status="in_progress")
    with pytest.raises(Refused, match="No dialogue’s gold is finished"):
        make_evaluation(gold, people.supervisor, lines)
    assert not Evaluation.objects.exists()


def test_a_large_one_goes_to_a_worker_and_is_scored_once(
    gold: Project, people: People, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.PORTAL_IMPORT_INLINE_UTTERANCES = 79
    with django_capture_on_commit_callbacks() as waiting:
        made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    assert (made.status, made.turns.count()) == (JobStatus.QUEUED, 0)
    for send in waiting:
        send()
    made.refresh_from_db()
    assert made.status == JobStatus.DONE
    before = made.changed_at
    evaluation_run(evaluation=made)
    made.refresh_from_db()
    assert made.changed_at == before, "a second delivery changes nothing"


def test_one_that_was_cut_off_is_taken_over_once_it_is_late(gold: Project, people: People) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    Evaluation.objects.update(status=JobStatus.RUNNING, changed_at=timezone.now())
    made.refresh_from_db()
    with pytest.raises(Refused, match="wait until it is over"):
        evaluation_again(evaluation=made)
    evaluation_run(evaluation=made)
    made.refresh_from_db()
    assert made.status == JobStatus.RUNNING, "another worker is at it"
    Evaluation.objects.update(changed_at=timezone.now() - timedelta(seconds=evaluations.STALLED_SECONDS + 1))
    made.refresh_from_db()
    evaluation_run(evaluation=made)
    made.refresh_from_db()
    assert made.status == JobStatus.DONE


@pytest.mark.parametrize("when", ["reading the gold", "scoring", "at the end"])
@pytest.mark.parametrize("first", [True, False])
def test_one_that_runs_is_cancelled_and_keeps_the_scores_from_before(
    gold: Project,
    people: People,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
    when: str,
    first: bool,
) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu", but=1))
    if first:
        made.turns.all().delete()
        Evaluation.objects.update(status=JobStatus.FAILED, results={}, gold={})
        made.refresh_from_db()
    before = (made.results, made.gold, made.turns.count())
    real_gold, real_score = evaluations.project_gold, evaluations.score
    ended: list[str] = []

    def cancel() -> None:
        evaluation_cancel(evaluation=Evaluation.objects.get())
        assert Evaluation.objects.get().cancel_requested

    def gold_then(**words: Any) -> Any:
        if when == "reading the gold":
            cancel()
        found = real_gold(**words)
        ended.append("gold")
        return found

    def score_then(**words: Any) -> Any:
        if when == "scoring":
            cancel()
        found = real_score(**words)
        ended.append("score")
        if when == "at the end":
            cancel()
        return found

    monkeypatch.setattr(evaluations, "BEAT_SECONDS", 0)
    monkeypatch.setattr(evaluations, "project_gold", gold_then)
    monkeypatch.setattr(evaluations, "score", score_then)
    with django_capture_on_commit_callbacks(execute=True):
        evaluation_again(evaluation=made)
    made.refresh_from_db()
    left = JobStatus.CANCELLED if first else JobStatus.DONE
    assert (made.status, made.cancel_requested) == (left, False)
    assert ended == {"reading the gold": [], "scoring": ["gold"], "at the end": ["gold", "score"]}[when]
    assert (made.results, made.gold, made.turns.count()) == before
    with pytest.raises(Refused, match=f"nothing to cancel: this evaluation is {left.label}"):
        evaluation_cancel(evaluation=made)
    monkeypatch.undo()
    with django_capture_on_commit_callbacks(execute=True):
        evaluation_again(evaluation=made)
    made.refresh_from_db()
    assert (made.status, made.results["predictions"]["missing"]) == (JobStatus.DONE, 1)


def test_one_that_nobody_is_at_is_cancelled_at_once(gold: Project, people: People) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    with pytest.raises(Refused, match="nothing to cancel: this evaluation is done"):
        evaluation_cancel(evaluation=made)
    late = timezone.now() - timedelta(seconds=evaluations.STALLED_SECONDS + 1)
    for status, changed_at in ((JobStatus.QUEUED, timezone.now()), (JobStatus.RUNNING, late)):
        Evaluation.objects.update(status=status, changed_at=changed_at, results={})
        made.refresh_from_db()
        evaluation_cancel(evaluation=made)
        made.refresh_from_db()
        assert (made.status, made.cancel_requested) == (JobStatus.CANCELLED, False)
        evaluation_run(evaluation=made)
        assert made.status == JobStatus.CANCELLED, "a message that comes late finds nothing to do"


def test_changed_gold_is_noticed_and_scored_again(
    gold: Project, people: People, django_capture_on_commit_callbacks: Any
) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    assert not gold_has_changed(made)
    label = Label.objects.filter(label_set__owner="gold", slot="symptom", utterance__speaker="patient").first()
    assert label is not None
    Label.objects.filter(pk=label.pk).update(answers={**label.answers, "value": ["stridor"]})
    row = LabelSet.objects.get(pk=label.label_set_id)
    LabelSet.objects.filter(pk=row.pk).update(version=row.version + 1)
    assert gold_has_changed(made)
    digest = made.gold["digest"]
    with django_capture_on_commit_callbacks(execute=True):
        evaluation_again(evaluation=made)
    made.refresh_from_db()
    assert made.gold["digest"] != digest
    assert not gold_has_changed(made)
    assert made.turns.wrong().count() == 1


def test_a_fault_keeps_what_was_found_before(
    gold: Project, people: People, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    turns = made.turns.count()
    monkeypatch.setattr(evaluations, "score", lambda **_: 1 / 0)
    with django_capture_on_commit_callbacks(execute=True):
        evaluation_again(evaluation=made)
    made.refresh_from_db()
    assert (made.status, made.turns.count()) == (JobStatus.DONE, turns)
    assert "unexpected fault" in made.error


@pytest.mark.parametrize("late", ["fails", "stops", "finishes"])
def test_a_run_that_was_taken_over_from_cannot_end_the_evaluation(
    gold: Project, people: People, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    Evaluation.objects.filter(pk=made.pk).update(status=JobStatus.QUEUED, results={})
    made.refresh_from_db()
    real = evaluations.score

    def slow(**known: Any) -> Any:
        found = real(**known)
        Evaluation.objects.filter(pk=made.pk).update(options={**made.options, "run": "of another"})
        if late == "fails":
            raise ZeroDivisionError
        if late == "stops":
            known["tell"].look()
        return found

    monkeypatch.setattr(evaluations, "score", slow)
    evaluation_run(evaluation=made)
    made.refresh_from_db()
    assert (made.status, made.options["run"], made.results) == (JobStatus.RUNNING, "of another", {})


def test_the_file_goes_with_the_evaluation(gold: Project, people: People, folder: Path) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    assert predictions_path(made.pk).exists()
    kept = evaluation_folder(made.pk)
    evaluation_delete(evaluation=made)
    assert not kept.exists()
    assert not EvaluatedTurn.objects.exists()


def test_one_without_its_file_says_so(gold: Project, people: People, django_capture_on_commit_callbacks: Any) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    predictions_path(made.pk).unlink()
    with django_capture_on_commit_callbacks(execute=True):
        evaluation_again(evaluation=made)
    made.refresh_from_db()
    assert made.error.startswith("Its file is not on the portal any more")


def test_the_chat_endpoint_is_asked_where_one_is_set_up_and_its_silence_is_said(
    gold: Project, people: People, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.PORTAL_CHAT_URL, settings.PORTAL_CHAT_MODEL = "http://127.0.0.1:9/v1", "small"
    lines = project_predictions(gold, "nlu")
    onset = next(one for one in lines if "two weeks" in json.dumps(one))
    onset["nlu"] = json.loads(json.dumps(onset["nlu"]).replace("two weeks", "a fortnight"))
    with django_capture_on_commit_callbacks(execute=True):
        made = make_evaluation(gold, people.supervisor, lines, comparator="chat")
        assert made.status == JobStatus.QUEUED, "asking takes too long for a page"
    made.refresh_from_db()
    assert made.status == JobStatus.FAILED
    assert made.error.startswith(
        "The chat endpoint http://127.0.0.1:9/v1/chat/completions gave no answer after 3 tries"
    )


def test_a_worker_that_starts_takes_up_what_was_left(gold: Project, people: People, settings: Any) -> None:
    settings.PORTAL_IMPORT_INLINE_UTTERANCES = 79
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    assert made.status == JobStatus.QUEUED
    take_up_unfinished()
    made.refresh_from_db()
    assert made.status == JobStatus.DONE
