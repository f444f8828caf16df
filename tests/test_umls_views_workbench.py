"""What the workbench looks up: suggestions, mentions, and which wordings are decided."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import LabelSet, Project, Role, User
from tests import factory
from tests.conftest import People
from tests.factory import inform
from tests.reviewing import form_of, link, make_values, make_vocabulary
from umls_linker.services.decisions import decision_for_label, decision_nil, decision_revert, decision_take
from umls_linker.views.lookup import as_in_a_sentence, place_digest

ClientFor = Callable[[User], Client]
DYSPNEA, FEVER = "C0013404", "C0015967"
BREATH = place_digest(("symptom", "value", "short of breath"))


@pytest.fixture
def values(project: Project, people: People) -> list[LabelSet]:
    make_vocabulary()
    label_sets = make_values(project, people.annotator, people.second)
    link(project, *label_sets)
    return label_sets


def suggest(client: Client, project: Project, q: str, **more: str) -> list[dict[str, str]]:
    query = {"slot": "symptom", "field": "value", "q": q, **more}
    response = client.get(reverse("concepts-suggest", args=[project.slug]), query)
    assert response.status_code == 200
    found: list[dict[str, str]] = response.json()["suggestions"]
    return found


def decided(client: Client, project: Project, **headers: str) -> Any:
    return client.get(reverse("concepts-decided", args=[project.slug]), headers=headers)


def test_suggestions_come_by_prefix_by_synonym_and_with_a_typo(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    client = client_for(people.annotator)
    assert suggest(client, project, "short")[0] == {"value": "shortness of breath", "note": "Dyspnea"}
    assert suggest(client, project, "dysp")[0] == {"value": "dyspnea", "note": ""}
    assert suggest(client, project, "dyspnoea")[0]["value"] == "dyspnea"
    assert suggest(client, project, "tirednes")[0]["value"] == "tiredness"
    assert suggest(client, project, "head ac")[0] == {"value": "headache", "note": ""}
    assert suggest(client, project, "pain chest")[0]["note"] in ("", "Chest pain")


def test_what_fits_the_slot_comes_first(client_for: ClientFor, people: People, project: Project, values: Any):
    make_vocabulary()
    client = client_for(people.annotator)
    assert suggest(client, project, "as", slot="disease")[0]["value"] == "asthma"
    assert suggest(client, project, "adv", slot="medication")[0] == {"value": "advil", "note": "Ibuprofen"}


@pytest.mark.parametrize(
    "odd",
    ["", " ", ",", "%", "\x00", "🫁" * 50, "x" * 10_000, "שלום", "'; drop table", "-", "\u202e", "a" * 300 + "\n"],
)
def test_odd_input_is_answered_like_any_other(client_for: ClientFor, people: People, project: Project, odd: str):
    make_vocabulary()
    client = client_for(people.annotator)
    assert len(suggest(client, project, odd, slot=odd[:90], field=odd[:90])) <= 8
    bare = client.get(reverse("concepts-suggest", args=[project.slug]))
    assert bare.json() == {"suggestions": []}


def test_without_a_vocabulary_there_are_no_suggestions(
    client_for: ClientFor, people: People, project: Project, settings: Any
):
    settings.PORTAL_VOCABULARY = "none-of-this-name"
    assert suggest(client_for(people.annotator), project, "cough") == []


def test_a_suggestion_takes_less_than_fifty_milliseconds(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    client = client_for(people.annotator)
    suggest(client, project, "cou")
    begun = time.perf_counter()
    for text in ("c", "co", "cou", "short", "dispnea"):
        suggest(client, project, text)
    assert (time.perf_counter() - begun) / 5 < 0.05


def test_strings_lose_the_capital_that_only_begins_them():
    assert [as_in_a_sentence(text) for text in ("Night sweats", "HIV test", "COVID-19", "X-ray", "Advil", "", " ")] == [
        "night sweats",
        "HIV test",
        "COVID-19",
        "x-ray",
        "advil",
        "",
        " ",
    ]


def test_the_workbench_knows_where_to_ask_and_what_was_found(
    client_for: ClientFor, people: People, project: Project, values: list[LabelSet]
):
    address = reverse("workbench", args=[project.slug, values[0].pk])
    response = client_for(people.annotator).get(address)
    text = response.content.decode()
    assert f'data-suggest="{reverse("concepts-suggest", args=[project.slug])}"' in text
    mentions = response.context["data"]["mentions"]
    assert {"text": "cough", "name": "Cough", "slots": ["symptom"]} in [
        {**one, "slots": list(one["slots"])[:1], "text": one["text"].lower()} for one in mentions["3"]
    ]
    assert client_for(people.supervisor).get(address).context["data"]["mentions"] == {}


def test_decided_wordings_are_told_by_digest_only(
    client_for: ClientFor, people: People, project: Project, values: list[LabelSet]
):
    client = client_for(people.annotator)
    assert decided(client, project).json() == {"forms": {}, "labels": {}}
    decision = decision_take(form=form_of(project, "short of breath"), actor=people.doctor, cui=DYSPNEA, expected=None)
    decision_nil(form=form_of(project, "whatsit"), actor=people.doctor, expected=None)
    response = decided(client, project)
    assert response.json() == {"forms": {BREATH: [DYSPNEA, "Dyspnea"]}, "labels": {}}
    assert "short of breath" not in response.content.decode()
    decision_revert(decision=decision, actor=people.doctor)
    assert decided(client, project).json()["forms"] == {}


def test_exceptions_are_told_for_ones_own_labels_only(
    client_for: ClientFor, people: People, project: Project, values: list[LabelSet]
):
    form = form_of(project, "short of breath")
    first, second = (str(form.occurrences.get(label_set=one).label_id) for one in values)
    decision_take(form=form, actor=people.doctor, cui=DYSPNEA, except_labels=[first, second], expected=None)
    decision_for_label(form=form, label_id=second, actor=people.doctor, cui=FEVER)
    alice, bob, doctor = (client_for(one) for one in (people.annotator, people.second, people.doctor))
    assert decided(alice, project).json()["labels"] == {first: {BREATH: None}}
    assert decided(bob, project).json()["labels"] == {second: {BREATH: [FEVER, "Fever"]}}
    assert decided(doctor, project).json()["labels"] == {}


def test_an_unchanged_answer_is_not_sent_again(
    client_for: ClientFor, people: People, project: Project, values: list[LabelSet]
):
    client = client_for(people.annotator)
    stamp = decided(client, project)["ETag"]
    again = decided(client, project, if_none_match=stamp)
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", stamp)
    decision_take(form=form_of(project, "cough"), actor=people.doctor, cui="C0010200", expected=None)
    changed = decided(client, project, if_none_match=stamp)
    assert changed.status_code == 200
    assert changed["ETag"] != stamp
    assert "no-cache" in changed["Cache-Control"]


def test_digests_are_those_of_the_browser():
    """The same figures stand in tests/js/concepts.test.mjs."""
    assert place_digest(("symptom", "value", "short of breath")) == "64b61cdad1db906a"
    assert place_digest(("symptom", "location", "déjà vu ½")) == "0f722e3925229cd8"


def test_every_member_may_look_up_and_nobody_else(client_for: ClientFor, people: People, project: Project):
    curator = factory.make_member(project, factory.make_user("cora"), Role.CURATOR)
    for route in ("concepts-suggest", "concepts-decided"):
        address = reverse(route, args=[project.slug])
        for person in (people.annotator, people.doctor, people.supervisor, curator):
            assert client_for(person).get(address).status_code == 200
        assert client_for(people.outsider).get(address).status_code == 404


def test_a_new_label_with_a_decided_wording_is_canonical_at_once(
    client_for: ClientFor, people: People, project: Project, values: list[LabelSet]
):
    """No worker has to collect it first: the wording itself is decided."""
    decision_take(form=form_of(project, "short of breath"), actor=people.doctor, cui=DYSPNEA, expected=None)
    third = factory.make_label_set(factory.make_dialogue(project, "NEW"), people.second)
    factory.make_labels(third, inform(1, "symptom", "Short  of BREATH", status="yes"))
    forms = decided(client_for(people.second), project).json()["forms"]
    assert forms[place_digest(("symptom", "value", "short of breath"))] == [DYSPNEA, "Dyspnea"]
