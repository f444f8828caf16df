"""The page of statistics: what is counted, by which split, as tables, pictures and files."""

from __future__ import annotations

import csv
import html
import io
import re
from datetime import timedelta
from typing import Any
from unittest import mock
from urllib.parse import quote

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.domain.splits import Shares
from annotation.models import LabelSet, Project, Purpose, Role
from annotation.services import statistics_report
from annotation.services.charts import Steps, chart_svg
from annotation.services.export_readings import ExportOptions, parts_of, splits_of
from annotation.services.statistics import project_statistics
from annotation.views.statistics_tables import tables_of
from tests import factory
from tests.conftest import People
from tests.exporting import make_gold_project
from tests.factory import inform
from tests.reviewing import make_vocabulary
from umls_linker.models import SurfaceForm
from umls_linker.services.decisions import decision_take
from umls_linker.services.linking import label_sets_collect


@pytest.fixture
def supervisor(client_for: Any, people: People) -> Client:
    client: Client = client_for(people.supervisor)
    return client


def place(project: Project, route: str = "statistics", **parts: Any) -> str:
    return reverse(route, kwargs={"slug": project.slug, **parts})


def table(client: Client, project: Project, name: str, **query: Any) -> list[list[str]]:
    answer = client.get(place(project, "statistics-csv", name=name), query)
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == f'attachment; filename="{project.slug}.statistics.{name}.csv"'
    return list(csv.reader(io.StringIO(answer.content.decode())))


def test_which_reading_is_counted_is_said(supervisor: Client, project: Project, people: People) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    began = factory.make_label_set(factory.make_dialogue(project, "ZZZ"), people.annotator)
    factory.make_labels(began, inform(1, "symptom", "cough", status="yes"))
    factory.make_dialogue(project, "NEW")
    text = supervisor.get(place(project)).content.decode()
    assert "Over 10 dialogues, each with one reading: 8 with gold, 1 with the labels" in text
    assert "1 without labels" in text
    text = supervisor.get(place(project), {"reading": "gold"}).content.decode()
    assert "Over the finished gold of 8 dialogues" in text
    assert [row[:2] for row in table(supervisor, project, "sizes", reading="gold")][1] == ["all", "8"]


def test_splits_are_those_of_an_export_with_the_same_seed_and_shares(
    supervisor: Client, project: Project, people: People
) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    for seed in (1, 5):
        rows = table(supervisor, project, "sizes", reading="gold", random_seed=seed, shares="0.5,0.5,0")
        options = ExportOptions(random_seed=seed, shares=Shares.parse("0.5,0.5,0"))
        drawn = [split.value for split in splits_of(project, parts_of(project, options), options).values()]
        assert {row[0]: int(row[1]) for row in rows[2:]} == {name: drawn.count(name) for name in drawn}
        assert rows[1][1] == "8"


def test_utterances_and_words_are_counted_as_the_page_defines_them(supervisor: Client, project: Project) -> None:
    turns = [("doctor", "How  are you?"), ("patient", "Uh-huh, it's bad"), ("control", "")]
    factory.make_dialogue(project, "ONE", turns)
    head, row = table(supervisor, project, "sizes")
    assert dict(zip(head, row, strict=True)) == {
        "Split": "all",
        "Dialogues": "1",
        "Utterances": "2",
        "Per dialogue": "2.0",
        "Words per utterance": "3.0",
        "With a label": "0",
        "Labels": "0",
        "Entries": "0",
    }
    text = supervisor.get(place(project)).content.decode()
    assert "Words are what white space separates." in text
    assert "Nothing yet: no label that counts here." in text


def test_every_chart_is_a_picture_with_its_finding_and_its_numbers(
    supervisor: Client, project: Project, people: People
) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    with mock.patch("django.utils.timezone.now", return_value=timezone.now() + timedelta(days=3)):
        later = factory.make_label_set(factory.make_dialogue(project, "LATER"), people.annotator)
        factory.make_labels(later, inform(1, "symptom", "cough", status="yes"))
    text = supervisor.get(place(project)).content.decode()
    for name in ("intents", "slots", "segments", "attributes", "concepts", "growth"):
        address = place(project, "statistics-chart", name=name)
        assert f'<img class="drawn" src="{address}?' in text
        light, dark = supervisor.get(address), supervisor.get(address, {"theme": "dark"})
        assert light["Content-Type"] == "image/svg+xml"
        assert light["Content-Security-Policy"] == "default-src 'none'; style-src 'unsafe-inline'"
        assert light.content.startswith(b"<?xml")
        assert light.content != dark.content
        assert light.content == supervisor.get(address).content
        assert len(table(supervisor, project, name)) > 1
    assert "Chart: the most frequent slot of " in text
    assert "is “symptom” with " in text


def test_names_are_those_of_the_questionnaire_and_of_the_files(
    supervisor: Client, project: Project, people: People
) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    intents = {row[0]: row[1] for row in table(supervisor, project, "intents")[1:]}
    assert (intents["greeting"], intents["nod"], intents["without a label"]) == ("salutations", "nod_prompt", "")
    assert table(supervisor, project, "slots")[0][:2] == ["Slot", "In files"]
    out = io.StringIO()
    call_command("statistics", "--project", project.slug, stdout=out)
    assert "greeting  (in files: salutations)" in out.getvalue()
    assert "nod  (in files: nod_prompt)" in out.getvalue()
    assert "in files: symptom" not in out.getvalue(), "nothing is said twice"


def test_labels_of_one_day_are_a_step_from_nothing(supervisor: Client, project: Project, people: People) -> None:
    label_set = factory.make_label_set(factory.make_dialogue(project, "ONE"), people.annotator)
    factory.make_labels(label_set, inform(1, "symptom", "cough", status="yes"))
    assert len(table(supervisor, project, "growth")) == 2
    assert supervisor.get(place(project, "statistics-chart", name="growth")).status_code == 200
    drawn = tables_of(project_statistics(project=project))["growth"].chart
    assert isinstance(drawn, Steps)
    assert list(drawn.values) == [1]
    (day,) = drawn.days
    named = re.findall(rb">([^<>]*\b\d{4})</text>", chart_svg(drawn))
    assert named == [f"{day.day} {day:%b %Y}".encode()], "no day is named on which nothing was"


def test_splits_stand_in_one_order_and_those_that_are_kept_are_counted(
    supervisor: Client, project: Project, people: People
) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    order = ["all", "train", "valid", "test", "ood_test"]
    assert [row[0] for row in table(supervisor, project, "sizes")[1:]] == order
    out = io.StringIO()
    call_command("statistics", "--project", project.slug, "--gold", "--random-seed", "1", stdout=out)
    assert [line.split()[0] for line in out.getvalue().splitlines()[1:6]] == order
    page = place(project)
    assert "came with" not in supervisor.get(page).content.decode()
    project.dialogues.filter(external_id__in=["RES-2", "RES-3"]).update(fixed_split="train")
    assert "; 2 dialogues keep the split that they came with." in supervisor.get(page).content.decode()
    project.dialogues.filter(external_id="RES-2").update(fixed_split=None)
    assert "; 1 dialogue keeps the split that it came with." in supervisor.get(page).content.decode()


def test_what_is_decided_in_one_slot_only_is_told_apart(supervisor: Client, project: Project, people: People) -> None:
    make_vocabulary()
    label_set = factory.make_label_set(factory.make_dialogue(project, "ONE"), people.annotator)
    said = [inform(1, "symptom", "cough", status="yes"), inform(3, "disease", "cough", status="yes")]
    factory.make_labels(label_set, *said)
    label_sets_collect(project=project)
    decision_take(
        form=SurfaceForm.objects.get(key="cough", slot="symptom"), actor=people.doctor, cui="C0010200", expected=None
    )
    rows = {row[0]: row[1] for row in table(supervisor, project, "concepts")[1:]}
    assert rows == {"Cough": "C0010200", "cough (not decided)": ""}


def test_a_choice_that_is_refused_is_summed_up_on_top(supervisor: Client, project: Project) -> None:
    text = supervisor.get(place(project), {"shares": "1,1,1"}).content.decode()
    assert '<a href="#id_shares">Shares of train, valid, test</a>: The shares' in text.partition("What is counted")[0]


def test_segments_add_up_to_the_utterances_of_their_slot(supervisor: Client, project: Project, people: People) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    slots = {row[0]: int(row[2]) for row in table(supervisor, project, "slots")[1:]}
    segments = {row[0]: sum(map(int, row[1:])) for row in table(supervisor, project, "segments")[1:]}
    assert segments.pop("all utterances") == 80
    assert segments == slots


def test_thirds_are_drawn_and_stand_in_every_address(supervisor: Client, project: Project, people: People) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    for shares in ("1/3,1/3,1/3", "0.12345678,0.87654322,0", "999999998/999999999,1/999999999,0"):
        text = supervisor.get(place(project), {"shares": shares}).content.decode()
        address = place(project, "statistics-csv", name="sizes")
        query = next(part.split('"')[0] for part in text.split(f"{address}?")[1:])
        assert supervisor.get(f"{address}?{html.unescape(query)}").status_code == 200
        assert quote(shares, safe="") in query


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("random_seed", "x", "whole number"),
        ("shares", "1,2", "share"),
        ("shares", "1e9999999,0,0", "is no share"),
        ("reading", "mine", "Select a valid choice"),
    ],
)
def test_a_choice_that_cannot_be_is_said_at_its_field(
    supervisor: Client, project: Project, field: str, value: str, said: str
) -> None:
    factory.make_dialogue(project, "ONE")
    answer = supervisor.get(place(project), {field: value})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert supervisor.get(place(project, "statistics-csv", name="sizes"), {field: value}).status_code == 404


def test_nothing_to_count_says_what_to_do(supervisor: Client, project: Project) -> None:
    assert "This project has no dialogues." in supervisor.get(place(project)).content.decode()
    factory.make_dialogue(project, "ONE")
    text = supervisor.get(place(project), {"reading": "gold"}).content.decode()
    assert "No dialogue has finished gold." in text
    assert supervisor.get(place(project, "statistics-chart", name="slots")).status_code == 404
    assert supervisor.get(place(project, "statistics-csv", name="nothing")).status_code == 404


def test_a_file_runs_no_formula(supervisor: Client, project: Project, people: People) -> None:
    label_set = factory.make_label_set(factory.make_dialogue(project, "ONE"), people.annotator)
    factory.make_labels(label_set, inform(1, "symptom", "=HYPERLINK(1)", status="yes"))
    assert table(supervisor, project, "concepts")[1][0] == "'=HYPERLINK(1)"


def test_figures_are_kept_until_a_label_changes(supervisor: Client, project: Project, people: People) -> None:
    label_set = factory.make_label_set(factory.make_dialogue(project, "ONE"), people.annotator)
    factory.make_labels(label_set, inform(1, "symptom", "cough", status="yes"))
    with mock.patch.object(
        statistics_report, "project_statistics", wraps=statistics_report.project_statistics
    ) as counted:
        assert table(supervisor, project, "slots")[1][2] == "1"
        table(supervisor, project, "concepts")
        assert counted.call_count == 1
        factory.make_labels(label_set, inform(3, "symptom", "fever", status="no"))
        assert table(supervisor, project, "slots")[1][2] == "2"
        factory.make_dialogue(project, "TWO")
        assert table(supervisor, project, "sizes")[1][1] == "2"
        assert counted.call_count == 3


def test_whoever_labels_here_sees_none_of_it(client_for: Any, project: Project, people: People) -> None:
    dialogue = factory.make_dialogue(project, "ONE")
    both = factory.make_member(project, factory.make_user("dan"), Role.ANNOTATOR, Role.DOCTOR)
    former = factory.make_member(project, factory.make_user("fay"), Role.DOCTOR)
    factory.make_label_set(dialogue, former)
    LabelSet.objects.update(purpose=Purpose.SEED)
    for person in (people.annotator, both, former):
        for route, parts in (("statistics", {}), ("statistics-csv", {"name": "sizes"}), ("evaluations", {})):
            assert client_for(person).get(place(project, route, **parts)).status_code == 403
    assert client_for(people.doctor).get(place(project)).status_code == 200
    assert place(project) not in client_for(both).get(reverse("project", args=[project.slug])).content.decode()
    assert place(project) in client_for(people.doctor).get(reverse("project", args=[project.slug])).content.decode()
