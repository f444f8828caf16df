"""The files of agreement say what they were measured over."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotation.models import Project, User
from annotation.services.agreement import agreement_snapshot_keep
from annotation.services.agreement_scope import Scope
from tests.conftest import People
from tests.doubly import doubly_labelled, third_annotator


@pytest.fixture
def sam(client_for: Callable[[User], Client], people: People) -> Client:
    return client_for(people.supervisor)


@pytest.fixture(autouse=True)
def seeds(project: Project, people: People) -> None:
    doubly_labelled(project, [people.annotator, people.second, third_annotator(project)])


def fetch(client: Client, route: str, query: str = "") -> HttpResponse:
    return client.get(reverse(route, args=["chest-clinic"]) + query)


def test_every_file_carries_the_choice_it_was_made_over(sam, people) -> None:
    query = f"?of=seeds&pair={people.annotator.pk}-{people.second.pk}&specialty=respiratory&since=2020-01-02"
    sentence = "seed dialogues of specialty respiratory of alice and bob from 2020-01-02"
    name = "seeds.respiratory.alice-bob.from-2020-01-02"
    said = json.loads(fetch(sam, "agreement-json", query).content)
    assert said["scope"] == sentence
    assert said["chosen"] == {
        "seeds": True,
        "since": "2020-01-02",
        "pair": ["alice", "bob"],
        "specialty": "respiratory",
    }
    assert {(cell["a"], cell["b"]) for cell in said["pairs"]} == {("alice", "bob")}
    table = list(csv.DictReader(io.StringIO(fetch(sam, "agreement-csv", query).content.decode())))
    about = {row["figure"]: row["value"] for row in table if row["scope"] == "report"}
    assert about["chosen"] == sentence
    assert about["project"] == "Chest clinic"
    assert next(row["value"] for row in table if row["figure"] == "coverage.n_total") == "20"
    for route, file in (
        ("agreement-json", f"chest-clinic.agreement.{name}.json"),
        ("agreement-csv", f"chest-clinic.agreement.{name}.csv"),
        ("agreement-disagreements", f"chest-clinic.disagreements.{name}.csv"),
    ):
        assert f'filename="{file}"' in fetch(sam, route, query).headers["Content-Disposition"]
    assert 'filename="chest-clinic.agreement.csv"' in fetch(sam, "agreement-csv").headers["Content-Disposition"]


def test_a_choice_without_dialogues_gives_files_that_say_so(sam) -> None:
    said = json.loads(fetch(sam, "agreement-json", "?until=2001-01-01").content)
    assert (said["scope"], said["coverage"]["n_total"]) == ("all doubly labelled dialogues until 2001-01-01", 0)
    assert said["intents"]["kappa_whole_set"] is None
    assert said["disagreements"] == []


def test_of_an_earlier_measurement_there_are_its_figures_and_no_table_of_todays(sam, project) -> None:
    snapshot, _ = agreement_snapshot_keep(project=project, scope=Scope(seeds=True))
    said = json.loads(fetch(sam, "agreement-json", f"?at={snapshot.pk}").content)
    assert said["intents"] == snapshot.figures["intents"]
    assert said["measured_at"] == snapshot.created_at.isoformat()
    assert said["scope"] == "seed dialogues"
    assert said["pairs"][0]["a"] == "alice"
    assert fetch(sam, "agreement-csv", f"?at={snapshot.pk}").status_code == 404
