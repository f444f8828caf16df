"""The pages of exports for researchers: what is missing and where it is mended, the options, the result."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Dialogue, ExportJob, JobStatus, LabelSet, Project, Status, User
from annotation.services.export_readings import pseudonym
from tests import factory
from tests.adjudicating import finished
from tests.conftest import People
from tests.exporting import make_gold, make_gold_project
from tests.factory import inform
from tests.qualifying import GOLD

CHOICES = {"random_seed": "7", "shares": "0.5,0.5,0", "title": "Coughs", "formats": ["jsonl"]}


@pytest.fixture
def supervisor(client_for: Any, people: People) -> Client:
    client: Client = client_for(people.supervisor)
    return client


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.PORTAL_EXPORT_DIR = tmp_path / "exports"
    return tmp_path / "exports"


def place(project: Project, route: str = "export-new", **parts: Any) -> str:
    return reverse(route, kwargs={"slug": project.slug, **parts})


def test_what_is_missing_is_linked_to_where_it_is_mended(supervisor: Client, project: Project, people: People) -> None:
    one, other = people.annotator, people.second
    whole = factory.make_dialogue(project, "GOLD")
    make_gold(whole, one, other, people.supervisor, [*GOLD[:3], inform(3, "symptom", "fever"), *GOLD[4:]])
    pair = factory.make_dialogue(project, "PAIR")
    for person in (one, other):
        finished(pair, person, GOLD)
    new = factory.make_dialogue(project, "NEW")
    text = supervisor.get(place(project)).content.decode()
    assert "dialogues have no finished gold" in text
    back = "?from=export%3Fsource%3Dgold"
    assert f'href="{reverse("adjudicate", args=[project.slug, pair.pk])}{back}">PAIR</a>' in text
    assert f'href="{reverse("dialogue", args=[project.slug, new.pk])}{back}">NEW</a>' in text
    assert "label is incomplete" in text
    assert f'href="{reverse("adjudicate", args=[project.slug, whole.pk])}{back}#u3">GOLD · u3</a>' in text
    text = supervisor.get(place(project), {"source": "annotator=alice"}).content.decode()
    alices = LabelSet.objects.get(dialogue=whole, annotator=one)
    mended = reverse("workbench", args=[project.slug, alices.pk]) + "?from=export%3Fsource%3Dannotator%253Dalice"
    assert f'href="{mended}#u3">GOLD · u3</a>' in text
    there = supervisor.get(mended).content.decode()
    assert f'<a href="{place(project)}?source=annotator%3Dalice">← Back to the export</a>' in there
    there = supervisor.get(reverse("adjudicate", args=[project.slug, whole.pk]) + back).content.decode()
    assert f'<a href="{place(project)}?source=gold">← Back to the export</a>' in there
    assert "use “Reopen”" in there


@pytest.mark.parametrize("given", ["", "https://elsewhere.example/", "//elsewhere.example", "exports", "export/../.."])
def test_the_way_back_leads_to_nothing_else(supervisor: Client, project: Project, given: str) -> None:
    text = supervisor.get(place(project, "exports"), {"from": given}).content.decode()
    assert "Back to the export" not in text
    text = supervisor.get(
        place(project, "exports"), {"from": f"export?next={given}&source=//e.example"}
    ).content.decode()
    assert f'<a href="{place(project)}?source=%2F%2Fe.example">← Back to the export</a>' in text


def test_splits_follow_the_options_while_they_are_chosen(supervisor: Client, project: Project, people: People) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    text = supervisor.get(place(project)).content.decode()
    assert f'hx-get="{place(project, "export-splits")}"' in text
    asked = {"source": "gold", "shares": "0.5,0.5,0", "random_seed": "7", "specialties": ["cardiac", "respiratory"]}
    text = supervisor.get(place(project, "export-splits"), asked).content.decode()
    assert "These draw 4 train, 3 valid, 1 test, 0 ood_test." in text
    text = supervisor.get(place(project, "export-splits"), {**asked, "shares": "1,0,0"}).content.decode()
    assert "These draw 7 train, 0 valid, 1 test, 0 ood_test. Valid is empty, as its share is 0." in text
    text = supervisor.get(place(project, "export-splits"), {**asked, "shares": "1,1,1"}).content.decode()
    assert "Shares of train, valid, test: The shares of train, valid and test must not be negative" in text
    assert "These draw" not in text
    text = supervisor.get(place(project, "export-splits"), {**asked, "random_seed": "x"}).content.decode()
    assert "Random seed: Enter a whole number." in text


def test_a_refused_form_says_on_top_what_is_wrong_and_where(
    supervisor: Client, project: Project, people: People
) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    text = supervisor.post(place(project), {**CHOICES, "source": "gold", "shares": "1,1,1"}).content.decode()
    top, _, rest = text.partition("What would be in it")
    assert 'class="notice error error-summary" role="alert" tabindex="-1" autofocus' in top
    assert '<a href="#id_shares">Shares of train, valid, test</a>: The shares of' in top
    assert 'id="id_shares"' in rest
    text = supervisor.post(place(project), {**CHOICES, "source": "gold", "formats": ["tables"]}).content.decode()
    assert '<a href="#id_formats_0">' in text
    assert 'id="id_formats_0"' in text
    text = supervisor.post(place(project), {**CHOICES, "source": "gold", "shares": "0.5,0.5,0", "title": ""})
    assert "<dd>3</dd>" in text.content.decode(), "valid as these shares draw it"


def test_readings_and_dialogues_are_not_mixed_up(supervisor: Client, project: Project, people: People) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    for person in (people.annotator, people.second):
        for name in ("LATE-1", "LATE-2"):
            dialogue = Dialogue.objects.filter(external_id=name).first() or factory.make_dialogue(project, name)
            factory.make_label_set(dialogue, person)
    text = supervisor.get(place(project), {"source": "all"}).content.decode()
    assert "readings of 2 dialogues are not done" in text
    answer = supervisor.post(place(project), {**CHOICES, "source": "all"}, follow=True)
    assert "16 readings of 8 dialogues exported" in answer.content.decode()


def test_one_annotators_zips_have_names_of_their_own(supervisor: Client, project: Project, people: People) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    names = set()
    for source in ("gold", "all", "annotator=alice", "annotator=bob"):
        supervisor.post(place(project), {**CHOICES, "source": source})
        fetched = supervisor.get(place(project, "export-download", pk=ExportJob.objects.latest("created_at").pk))
        names.add(fetched["Content-Disposition"].partition("filename=")[2].strip('"'))
        b"".join(fetched.streaming_content)  # type: ignore[arg-type]
    pseudonyms = {pseudonym(project, one.pk) for one in (people.annotator, people.second)}
    assert names == {f"chest-clinic-{one}.zip" for one in ("gold", "all", *pseudonyms)}


def test_an_export_is_made_with_what_was_chosen(supervisor: Client, project: Project, people: People) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    page = supervisor.get(place(project)).content.decode()
    assert "values without a concept" in page
    concepts = reverse("concepts", args=[project.slug])
    assert f'href="{concepts}?status=open&amp;from=export%3Fsource%3Dgold">All of them: Concepts' in page
    assert f'href="{concepts}?q=night+sweats&amp;from=export%3Fsource%3Dgold">night sweats</a>' in page
    assert "dialogues have no" not in page
    answer = supervisor.post(
        place(project), {**CHOICES, "surface_forms": "on", "source": "gold", "specialties": ["cardiac", "respiratory"]}
    )
    job = ExportJob.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, place(project, "export", pk=job.pk))
    assert job.status == JobStatus.DONE
    assert (job.options["formats"], job.options["surface_forms"]) == (["dialogs", "jsonl"], True)
    assert job.report["values"] == "written"
    assert job.report["splits"]["dialogues"] == {"train": 4, "valid": 3, "test": 1, "ood_test": 0}
    page = supervisor.get(answer["Location"]).content.decode()
    assert "8 dialogues exported" in page
    assert "utterances.jsonl" in page
    fetched = supervisor.get(place(project, "export-download", pk=job.pk))
    assert fetched["Content-Disposition"] == 'attachment; filename="chest-clinic-gold.zip"'
    with zipfile.ZipFile(io.BytesIO(b"".join(fetched.streaming_content))) as packed:  # type: ignore[arg-type]
        assert "chest-clinic-gold/manifest.json" in packed.namelist()
    assert str(job.pk) in supervisor.get(place(project, "exports")).content.decode()


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("shares", "0.9,0.9,0.9", "must add up to 1"),
        ("shares", "all", "is no three shares"),
        ("random_seed", "-1", "greater than or equal to 0"),
        ("title", "", "This field is required"),
        ("formats", "tables", "not one of the available choices"),
        ("source", "annotator=otto", "not one of the available choices"),
    ],
)
def test_a_wrong_choice_is_said_beside_it_and_nothing_is_made(
    supervisor: Client, project: Project, people: People, field: str, value: str, said: str
) -> None:
    make_gold(factory.make_dialogue(project, "GOLD"), people.annotator, people.second, people.supervisor)
    answer = supervisor.post(place(project), {**CHOICES, "source": "gold", field: value})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not ExportJob.objects.exists()


def test_nothing_to_export_is_said_and_offers_no_button(supervisor: Client, project: Project) -> None:
    factory.make_dialogue(project, "NEW")
    text = supervisor.get(place(project)).content.decode()
    assert "There is nothing to export: no dialogue&#x27;s gold is finished" in text
    assert "Make the export" not in text
    answer = supervisor.post(place(project), {**CHOICES, "source": "gold"})
    assert answer.status_code == 422


def test_the_way_back_is_kept_through_what_is_done_there(supervisor: Client, project: Project, people: People) -> None:
    back = "?from=export%3Fsource%3Dgold"
    once, new = factory.make_dialogue(project, "ONCE"), factory.make_dialogue(project, "NEW")
    finished(once, people.annotator, GOLD)
    begin, decided = (place(project, name, pk=once.pk) for name in ("adjudicate-begin", "adjudicate"))
    queue = supervisor.get(place(project, "adjudication") + back).content.decode()
    assert f'action="{begin}{back}"' in queue
    assert "kind=single&amp;show=done&amp;from=export%3Fsource%3Dgold" in queue
    waiting = supervisor.get(decided + back).content.decode()
    assert f'action="{begin}{back}"' in waiting
    assert "Begin the review, go through it" in waiting
    assert "Reopen" not in waiting
    answer = supervisor.post(begin + back, {"share": "100"}, follow=True)
    text = answer.content.decode()
    assert answer.redirect_chain[-1][0] == decided + back
    assert f'<a href="{place(project)}?source=gold">← Back to the export</a>' in text
    assert "Decide what is left, and mark the gold as done" in text
    given, there = place(project, "dialogue-assign", pk=new.pk), place(project, "dialogue", pk=new.pk)
    assert f'action="{given}{back}"' in supervisor.get(there + back).content.decode()
    answer = supervisor.post(given + back, {"annotator": people.annotator.pk})
    assert answer["Location"] == there + back
    assert supervisor.post(given + "?from=//e.example", {"annotator": people.second.pk})["Location"] == there


def test_adjudication_opens_where_something_waits(supervisor: Client, project: Project, people: People) -> None:
    make_gold(factory.make_dialogue(project, "GOLD"), people.annotator, people.second, people.supervisor)
    finished(factory.make_dialogue(project, "ONCE"), people.annotator, GOLD)
    current = 'aria-current="true">'
    text = supervisor.get(place(project)).content.decode()
    queue = place(project, "adjudication") + "?from=export%3Fsource%3Dgold"
    assert f'href="{queue}">All of them: Adjudication' in text
    assert current + "One annotator, for review (1)" in supervisor.get(queue).content.decode()
    assert current + "Two annotators (1)" in supervisor.get(queue + "&show=done").content.decode()
    assert current + "Two annotators (1)" in supervisor.get(queue + "&kind=double").content.decode()


def test_what_nobody_can_decide_on_yet_is_not_looked_for_in_adjudication(supervisor: Client, project: Project) -> None:
    factory.make_dialogue(project, "NEW")
    address = place(project, "dialogues") + "?from=export%3Fsource%3Dgold"
    assert f'href="{address}">All of them: Dialogues' in supervisor.get(place(project)).content.decode()


def test_a_doctor_is_told_who_exports_the_gold(client_for: Any, project: Project, people: People) -> None:
    dialogue = factory.make_dialogue(project, "GOLD")
    make_gold(dialogue, people.annotator, people.second, people.supervisor)
    text = client_for(people.doctor).get(place(project, "exports")).content.decode()
    assert "Gold and the labels of others are exported by supervisors" in text
    assert "as soon as your supervisor has assigned one to you" not in text
    assert "owner=gold" not in text


def test_imported_gold_alone_is_something_to_export(supervisor: Client, project: Project, people: People) -> None:
    text = supervisor.get(place(project, "exports")).content.decode()
    assert f'<a class="button" href="{place(project, "imports")}">Import dialogues</a>' in text
    assert "Assign dialogues" not in text
    dialogue = factory.make_dialogue(project, "GOLD")
    assert "Assign dialogues" in supervisor.get(place(project, "exports")).content.decode()
    LabelSet.objects.create(dialogue=dialogue, owner="gold", status=Status.DONE, sources={"imported": {}})
    text = supervisor.get(place(project, "exports")).content.decode()
    assert "Nothing to export yet" not in text
    assert "Gold that was imported; no annotator has labelled these dialogues here." in text
    assert "adjudication and review have made" not in text
    make_gold(factory.make_dialogue(project, "MADE"), people.annotator, people.second, people.supervisor)
    text = supervisor.get(place(project, "exports")).content.decode()
    assert "the annotators' labels, and imported gold of 1 dialogue." in text


def test_annotators_see_nothing_of_it(client_for: Any, project: Project, people: People) -> None:
    """A test set names the seeds."""
    make_gold(factory.make_dialogue(project, "GOLD"), people.annotator, people.second, people.supervisor)
    for person in (people.annotator, people.doctor):
        text = client_for(person).get(place(project, "exports")).content.decode()
        assert "export-new" not in text
        assert "For researchers" not in text
        assert client_for(person).get(place(project)).status_code == 403


def make_job(project: Project, user: User, **fields: Any) -> ExportJob:
    return ExportJob.objects.create(project=project, created_by=user, **fields)


def test_progress_asks_again_until_it_is_over(supervisor: Client, project: Project, people: People) -> None:
    job = make_job(project, people.supervisor, status=JobStatus.RUNNING, total=8, finished=3)
    address = place(project, "export-progress", pk=job.pk)
    assert address in supervisor.get(place(project, "export", pk=job.pk)).content.decode()
    answer = supervisor.get(address)
    assert "3 of 8 written" in answer.content.decode()
    assert "HX-Refresh" not in answer
    ExportJob.objects.update(status=JobStatus.CANCELLED)
    assert supervisor.get(address)["HX-Refresh"] == "true"


def test_a_job_is_cancelled_retried_and_deleted(
    supervisor: Client, project: Project, people: People, django_capture_on_commit_callbacks: Any
) -> None:
    make_gold(factory.make_dialogue(project, "GOLD"), people.annotator, people.second, people.supervisor)
    job = make_job(project, people.supervisor, status=JobStatus.FAILED, error="The disk is full.")
    job.options = {**_options(), "title": "T"}
    job.save()
    assert "The disk is full." in supervisor.get(place(project, "export", pk=job.pk)).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        supervisor.post(place(project, "export-retry", pk=job.pk))
    job.refresh_from_db()
    assert job.status == JobStatus.DONE
    answer = supervisor.post(place(project, "export-cancel", pk=job.pk), follow=True)
    assert "There is nothing to cancel: this export is done." in answer.content.decode()
    page = supervisor.get(place(project, "export", pk=job.pk)).content.decode()
    assert "Delete the files of this export?" in page, "asks before"
    answer = supervisor.post(place(project, "export-delete", pk=job.pk), follow=True)
    text = answer.content.decode()
    assert "The files of this export were deleted." in text
    assert f"Its files were deleted by {people.supervisor.display_name}" in text
    assert job.report["zip_sha256"] in text
    assert job.report["manifest_sha256"] in text
    assert place(project, "export-download", pk=job.pk) not in text
    assert place(project, "export-delete", pk=job.pk) not in text
    listed = supervisor.get(place(project, "exports")).content.decode()
    assert place(project, "export", pk=job.pk) in listed
    assert place(project, "export-download", pk=job.pk) not in listed
    again = supervisor.post(place(project, "export-delete", pk=job.pk), follow=True)
    assert "The files of this export were deleted before." in again.content.decode()
    ExportJob.objects.update(status=JobStatus.FAILED, files_deleted_at=None)
    answer = supervisor.post(place(project, "export-delete", pk=job.pk), follow=True)
    assert "The export was deleted." in answer.content.decode()
    assert not ExportJob.objects.exists()


def _options() -> dict[str, Any]:
    from annotation.services.export_readings import ExportOptions

    return ExportOptions().as_json()


def test_a_file_that_is_gone_is_said(supervisor: Client, project: Project, people: People) -> None:
    job = make_job(project, people.supervisor, status=JobStatus.DONE, report={"dialogues": 1})
    answer = supervisor.get(place(project, "export-download", pk=job.pk), follow=True)
    assert "There is no file to download" in answer.content.decode()
    assert "The file is not on the portal any more" in answer.content.decode()


def test_dialogues_that_were_left_out_are_named(supervisor: Client, project: Project, people: People) -> None:
    left_out = [{"dialogue": "RES-3", "folder": "", "split": "train", "reason": "Its labels cannot be written."}]
    report = {"dialogues": 1, "left_out": left_out, "left_out_count": 1}
    job = make_job(project, people.supervisor, status=JobStatus.DONE, report=report)
    text = supervisor.get(place(project, "export", pk=job.pk)).content.decode()
    assert "1 dialogue was left out" in text
    assert "RES-3" in text


def test_returned_work_counts_as_not_done(supervisor: Client, project: Project, people: People) -> None:
    done = finished(factory.make_dialogue(project, "ONE"), people.annotator, GOLD)
    LabelSet.objects.filter(pk=done.pk).update(status=Status.RETURNED)
    text = supervisor.get(place(project), {"source": "all", "unfinished": "on"}).content.decode()
    assert "Make the export" in text
    assert "is not done" not in text
    text = supervisor.get(place(project), {"source": "all"}).content.decode()
    assert "dialogue is not done" in text
