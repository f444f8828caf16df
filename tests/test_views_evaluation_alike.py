"""Systems that were not scored alike: what differs, what can be done, and scoring with other choices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from annotation.domain.splits import Shares
from annotation.models import Evaluation, EvaluationTask, ExportJob, JobStatus, Label, LabelSet, Project
from annotation.services.errors import Refused
from annotation.services.evaluation_gold import GoldChoice
from annotation.services.evaluations import evaluation_again, evaluation_cancel
from annotation.services.export_jobs import export_job_create, export_job_delete
from annotation.services.export_readings import ExportOptions
from tests.conftest import People
from tests.evaluating import make_evaluation, project_predictions
from tests.exporting import make_gold_project

DRAWN = Shares.parse("0.5,0.25,0.25")


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


@pytest.fixture
def job(gold: Project, people: People) -> ExportJob:
    made = export_job_create(project=gold, actor=people.supervisor, options=ExportOptions(shares=DRAWN))
    made.refresh_from_db()
    assert made.status == JobStatus.DONE
    return made


def place(project: Project, route: str = "evaluations", **parts: Any) -> str:
    return reverse(route, kwargs={"slug": project.slug, **parts})


def one_more_decision(project: Project) -> None:
    label = Label.objects.filter(label_set__owner="gold", slot="symptom", utterance__speaker="patient").first()
    assert label is not None
    Label.objects.filter(pk=label.pk).update(answers={**label.answers, "value": ["stridor"]})
    row = LabelSet.objects.get(pk=label.label_set_id)
    LabelSet.objects.filter(pk=row.pk).update(version=row.version + 1)


def test_all_dialogues_and_one_split_differ_in_the_dialogues_and_not_in_the_gold(
    doctor: Client, gold: Project, people: People, job: ExportJob
) -> None:
    lines = project_predictions(gold, "nlu")
    whole = make_evaluation(gold, people.supervisor, lines, "Whole", choice=GoldChoice(export=str(job.pk)))
    part = make_evaluation(gold, people.supervisor, lines, "Part", choice=GoldChoice("train", export=str(job.pk)))
    number = part.gold["dialogues"]
    assert 1 < number < 8
    for address in (place(gold), f"{place(gold, 'evaluation-compare', pk=whole.pk)}?with={part.pk}"):
        text = doctor.get(address).content.decode()
        assert "were not scored alike: the dialogues differ." in text
        assert "choose the same dialogues on their pages, under “Score with other choices”" in text
        assert "the gold" not in text.split("not scored alike", 1)[1].split("</p>", 1)[0]
        assert '<span class="badge">8 dialogues</span>' in text
        assert f'<span class="badge">{number} dialogues in train</span>' in text
    answer = doctor.get(place(gold))
    tables = [*answer.context["headlines"][0].rows, *answer.context["by_slot"], *answer.context["by_attribute"]]
    assert not any(cell.best for row in tables for cell in row.cells)
    assert "No figure is marked as the best" in answer.content.decode()
    for one in (whole, part):  # as those that were scored before the ids were summed up
        kept = {name: value for name, value in one.gold.items() if name != "dialogues_digest"}
        Evaluation.objects.filter(pk=one.pk).update(gold=kept)
    assert "the dialogues differ." in doctor.get(place(gold)).content.decode()


def test_exports_and_the_gold_that_has_moved_on_are_told_apart(
    doctor: Client, gold: Project, people: People, job: ExportJob
) -> None:
    lines = project_predictions(gold, "nlu")
    make_evaluation(gold, people.supervisor, lines, "Then", choice=GoldChoice(export=str(job.pk)))
    make_evaluation(gold, people.supervisor, lines, "Now")
    assert "not scored alike" not in doctor.get(place(gold)).content.decode(), "both are the same labels"
    one_more_decision(gold)
    make_evaluation(gold, people.supervisor, lines, "Later", choice=GoldChoice("test", shares=DRAWN))
    text = doctor.get(place(gold)).content.decode()
    assert "the dialogues and the gold differ. Score those again that are marked as outdated." in text
    Evaluation.objects.filter(system="Now").delete()
    text = doctor.get(place(gold)).content.decode()
    assert "the dialogues and the source of the gold differ." in text
    assert "choose the same dialogues and gold on their pages" in text
    assert f"({str(job.pk)[:8]})</span>" in text
    assert '<span class="badge">the project’s gold</span>' in text


def test_how_the_intervals_came_about_is_said_of_each_system(
    doctor: Client, gold: Project, people: People, job: ExportJob
) -> None:
    def shown(address: str) -> str:
        return " ".join(doctor.get(address).content.decode().split())

    lines = project_predictions(gold, "nlu")
    make_evaluation(gold, people.supervisor, lines, "Whole")
    text = shown(place(gold))
    assert "Under a figure stands its 95 % interval over dialogues. There are only 8 dialogues" in text
    (whole,) = doctor.get(place(gold)).context["headlines"][0].rows
    assert "no interval" not in {cell.note for cell in whole.cells}
    made = make_evaluation(gold, people.supervisor, lines, "Part", choice=GoldChoice("test", export=str(job.pk)))
    text = shown(place(gold))
    assert "Whole: There are only 8 dialogues" in text
    assert f"Part: {escape(' '.join(made.results['resampling']['note'].split()))}" in text
    assert made.gold["dialogues"] == 1
    of_whole, of_part = doctor.get(place(gold)).context["headlines"][0].rows
    assert [cell.note for cell in of_whole.cells] == [cell.note for cell in whole.cells]
    assert {cell.note for cell in of_part.cells} == {"no interval"}
    for address in (place(gold), place(gold, "evaluation", pk=made.pk)):
        text = shown(address)
        assert '<span class="range">no interval</span>' in text
        assert "Where it says “no interval”" in text


def test_a_file_is_scored_with_other_choices(
    doctor: Client, gold: Project, people: People, job: ExportJob, django_capture_on_commit_callbacks: Any
) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    again = place(gold, "evaluation-again", pk=made.pk)
    drawn = {"random_seed": "3", "shares": "0.5,0.25,0.25", "comparator": "exact"}
    with django_capture_on_commit_callbacks(execute=True):
        doctor.post(again, {**drawn, "gold": str(job.pk), "split": "test"})
    made.refresh_from_db()
    assert (made.status, made.error) == (JobStatus.DONE, "")
    assert GoldChoice.from_json(made.options) == GoldChoice("test", 3, DRAWN, str(job.pk))
    assert made.options["comparator"] == made.results["comparator"]["name"] == "exact"
    assert "asked" not in made.options
    assert made.gold["export"]["id"] == str(job.pk)
    for wrong, said in (
        ({"gold": "x"}, "Gold: Select a valid choice"),
        ({"shares": "2"}, "Shares of train, valid, test: "),
    ):
        answer = doctor.post(again, {**drawn, "gold": str(job.pk), "split": "test", **wrong}, follow=True)
        assert said in answer.content.decode()
        assert Evaluation.objects.get().options == made.options


def test_what_is_stopped_or_fails_leaves_the_choices_of_the_scores_that_stand(
    gold: Project, people: People, job: ExportJob, folder: Path, django_capture_on_commit_callbacks: Any
) -> None:
    made = make_evaluation(gold, people.supervisor, project_predictions(gold, "nlu"))
    before = made.options
    choice = GoldChoice("test", export=str(job.pk))
    evaluation_again(evaluation=made, choice=choice)
    assert Evaluation.objects.get().options["asked"]["split"] == "test"
    evaluation_cancel(evaluation=made)
    assert (made.status, Evaluation.objects.get().options) == (JobStatus.DONE, before)
    (folder / str(made.pk) / "predictions.jsonl").unlink()
    with django_capture_on_commit_callbacks(execute=True):
        evaluation_again(evaluation=made, choice=choice)
    made.refresh_from_db()
    assert (made.status, made.options) == (JobStatus.DONE, before)
    with pytest.raises(Refused, match="no comparator"):
        evaluation_again(evaluation=made, choice=choice, comparator="chat")


def test_without_the_files_of_its_export_other_gold_is_chosen_on_the_page(
    doctor: Client, client_for: Any, gold: Project, people: People, job: ExportJob
) -> None:
    lines = project_predictions(gold, "nlu")
    made = make_evaluation(gold, people.supervisor, lines, choice=GoldChoice(export=str(job.pk)))
    make_evaluation(gold, people.supervisor, lines, "Now")
    address = place(gold, "evaluation", pk=made.pk)
    assert f'<option value="{job.pk}" selected>' in doctor.get(address).content.decode()
    supervisor = client_for(people.supervisor)
    text = supervisor.get(place(gold, "export", pk=job.pk)).content.decode()
    assert "1 evaluation is scored against this export. Without its files it keeps its scores" in text
    text = supervisor.post(place(gold, "export-delete", pk=job.pk), follow=True).content.decode()
    assert "The files of this export were deleted. 1 evaluation is scored against this export." in text
    text = doctor.get(address).content.decode()
    assert "choose other gold" in text
    assert ">Score again</button>" not in text
    assert '<option value="" selected>choose one</option>' in text
    assert ">the gold as it is now</option>" in text
    texts = doctor.get(place(gold, "evaluation", pk=Evaluation.objects.get(system="Now").pk)).content.decode()
    assert ">Score again</button>" in texts


def test_exports_of_one_minute_are_told_apart(
    doctor: Client, client_for: Any, gold: Project, people: People, job: ExportJob
) -> None:
    other = export_job_create(
        project=gold, actor=people.supervisor, options=ExportOptions(random_seed=7, specialties=("cardiac",))
    )
    text = doctor.get(place(gold)).content.decode()
    assert f"({str(job.pk)[:8]}: seed 1, shares {DRAWN}, respiratory in domain), dialogs.json" in text
    assert f"({str(other.pk)[:8]}: seed 7, shares {Shares()}, cardiac in domain), dialogs.json" in text
    text = client_for(people.supervisor).get(place(gold, "exports")).content.decode()
    assert f"{str(job.pk)[:8]}: seed 1, shares {DRAWN}</span>" in text
    assert f"{str(other.pk)[:8]}: seed 7, shares {Shares()}, cardiac in domain</span>" in text
    export_job_delete(job=other, actor=people.supervisor)
    assert str(other.pk) not in doctor.get(place(gold)).content.decode()


def test_errors_are_counted_with_the_filter(doctor: Client, gold: Project, people: People) -> None:
    lines = project_predictions(gold, "nlu", but=4, extra="dyspnea")
    made = make_evaluation(gold, people.supervisor, lines)
    address = place(gold, "evaluation", pk=made.pk)
    wrong = made.turns.wrong().count()
    assert f"Errors in {wrong} of 40 scored utterances" in doctor.get(address).content.decode()
    found = made.turns.wrong().about("symptom").count()
    assert 0 < found < wrong
    text = doctor.get(address, {"slot": "symptom"}).content.decode()
    assert f"Such errors in {found} of 40 scored utterances" in text
    assert f"{wrong} of the 40 have an error of any kind." in text


def test_two_systems_open_on_the_first_group_that_has_some(doctor: Client, gold: Project, people: People) -> None:
    lines = project_predictions(gold, "nlu")
    good = make_evaluation(gold, people.supervisor, lines, "Good")
    poor = make_evaluation(gold, people.supervisor, lines[3:], "Poor")
    address = place(gold, "evaluation-compare", pk=good.pk)
    answer = doctor.get(address, {"with": str(poor.pk)})
    assert (answer.context["show"], len(answer.context["turns"])) == ("second", 3)
    assert doctor.get(address, {"with": str(poor.pk), "show": "first"}).context["show"] == "first"
    texts = [
        make_evaluation(gold, people.supervisor, project_predictions(gold, "nlg"), task=EvaluationTask.NLG)
        for _ in range(2)
    ]
    answer = doctor.get(place(gold, "evaluation-compare", pk=texts[0].pk), {"with": str(texts[1].pk)})
    assert answer.context["show"] == "neither"
