"""What the workbench looks up: suggestions, mentions, and which wordings are decided."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import LabelSet, Project, Role, User
from tests import factory
from tests.conftest import People
from tests.factory import inform
from tests.reviewing import CONCEPTS, Small, form_of, link, make_values, make_vocabulary
from umls_linker.services.decisions import decision_for_label, decision_nil, decision_revert, decision_take
from umls_linker.views.lookup import as_in_a_sentence

ClientFor = Callable[[User], Client]
DYSPNEA, FEVER = "C0013404", "C0015967"
BREATH = ("", "symptom", "value", "short of breath")


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


def decided(client: Client, project: Project, *values: tuple[str, str, str, str]) -> Any:
    response = client.post(
        reverse("concepts-decided", args=[project.slug]), {"values": values}, content_type="application/json"
    )
    assert response.status_code == 200
    return response.json()["concepts"]


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


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("short of br", "shortness of breath"),
        ("shortnes of bre", "shortness of breath"),
        ("swolen ank", "ankle swelling"),
        ("swollen an", "ankle swelling"),
        ("pain in the che", "pain in chest"),
        ("swolen", "swollen throat"),
        ("diarh", "diarrhea"),
    ],
)
def test_a_last_word_that_is_half_typed_is_completed_and_a_slip_forgiven(
    client_for: ClientFor, people: People, project: Project, typed: str, offered: str
):
    more = {
        "C0235439": ("T184", "Ankle swelling", "swelling of the ankles"),
        "C0003090": ("T047", "Ankylosis"),
        "C0031350": ("T046", "Pharyngeal edema", "Swollen throat"),
        "C0011991": ("T184", "Diarrhea"),
        "C0006144": ("T190", "Short broad feet", "broad short feet"),
        "C0000001": ("T190", "Short ear"),
    }
    make_vocabulary(Small({**CONCEPTS, **more}))
    assert suggest(client_for(people.annotator), project, typed)[0]["value"] == offered


def test_what_hardly_resembles_is_not_offered_and_nothing_twice(
    client_for: ClientFor, people: People, project: Project
):
    more = {
        "C0000001": ("T190", "Short ear"),
        "C0000002": ("T190", "Short nose"),
        "C0000003": ("T184", "Vertigo", "Dizziness"),
    }
    make_vocabulary(Small({**CONCEPTS, **more}))
    client = client_for(people.annotator)
    values = [one["value"] for one in suggest(client, project, "short of br")]
    assert values[0] == "shortness of breath"
    assert not {"short ear", "short nose"} & set(values)
    assert [one["value"] for one in suggest(client, project, "dizz")] == ["dizziness"]
    assert suggest(client, project, "zzzz qq") == []


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


def test_only_what_is_asked_for_is_told(
    client_for: ClientFor, people: People, project: Project, values: list[LabelSet]
):
    client, chill = client_for(people.annotator), ("", "symptom", "value", "chills")
    assert decided(client, project, BREATH) == [None]
    decision = decision_take(form=form_of(project, "short of breath"), actor=people.doctor, cui=DYSPNEA, expected=None)
    decision_nil(form=form_of(project, "whatsit"), actor=people.doctor, expected=None)
    nil = ("", "symptom", "value", "whatsit")
    assert decided(client, project) == []
    assert decided(client, project, chill, nil) == [None, None]
    assert decided(client, project, chill, BREATH, nil) == [None, [DYSPNEA, "Dyspnea"], None]
    assert decided(client, project, ("", "symptom", "location", "short of breath")) == [None]
    decision_revert(decision=decision, actor=people.doctor)
    assert decided(client, project, BREATH) == [None]


def test_what_was_decided_for_one_utterance_is_told_for_ones_own_labels_only(
    client_for: ClientFor, people: People, project: Project, values: list[LabelSet]
):
    form = form_of(project, "short of breath")
    first, second = (str(form.occurrences.get(label_set=one).label_id) for one in values)
    decision_take(form=form, actor=people.doctor, cui=DYSPNEA, except_labels=[first, second], expected=None)
    decision_for_label(form=form, label_id=second, actor=people.doctor, cui=FEVER)
    asked = [(label, *BREATH[1:]) for label in (first, second, str(uuid.uuid4()), "no label")]
    everywhere, here = [DYSPNEA, "Dyspnea"], [FEVER, "Fever"]
    alice, bob, doctor = (client_for(one) for one in (people.annotator, people.second, people.doctor))
    assert decided(alice, project, *asked) == [None, everywhere, everywhere, everywhere]
    assert decided(bob, project, *asked) == [everywhere, here, everywhere, everywhere]
    assert decided(doctor, project, *asked) == [everywhere] * 4


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "null", "{}", '{"values": 3}', '{"values": [["a"]]}', '{"values": [["a", 1, "b", "c"]]}']
)
def test_a_question_of_another_form_is_refused_in_a_sentence(
    client_for: ClientFor, people: People, project: Project, body: str
):
    address = reverse("concepts-decided", args=[project.slug])
    response = client_for(people.annotator).post(address, body, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["error"]["message"].endswith(".")


def test_every_member_may_look_up_and_nobody_else(client_for: ClientFor, people: People, project: Project):
    curator = factory.make_member(project, factory.make_user("cora"), Role.CURATOR)
    suggestions, decisions = (reverse(name, args=[project.slug]) for name in ("concepts-suggest", "concepts-decided"))
    for person in (people.annotator, people.doctor, people.supervisor, curator):
        assert client_for(person).get(suggestions).status_code == 200
        assert decided(client_for(person), project, BREATH) == [None]
    outsider = client_for(people.outsider)
    assert outsider.get(suggestions).status_code == 404
    assert outsider.post(decisions, {"values": []}, content_type="application/json").status_code == 404


def test_a_new_label_with_a_decided_wording_is_canonical_at_once(
    client_for: ClientFor, people: People, project: Project, values: list[LabelSet]
):
    """No worker has to collect it first: the wording itself is decided."""
    decision_take(form=form_of(project, "short of breath"), actor=people.doctor, cui=DYSPNEA, expected=None)
    third = factory.make_label_set(factory.make_dialogue(project, "NEW"), people.second)
    factory.make_labels(third, inform(1, "symptom", "Short  of BREATH", status="yes"))
    label_id = str(third.labels.get().pk)
    asked = (label_id, "symptom", "value", "Short  of BREATH")
    assert decided(client_for(people.second), project, asked) == [[DYSPNEA, "Dyspnea"]]
