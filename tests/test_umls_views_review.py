"""The review of concepts: what the page shows to whom, and what it writes."""

from __future__ import annotations

import json
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import Project, Purpose, Role, Status, User
from tests import factory
from tests.conftest import People
from tests.reviewing import form_of, link, make_values, make_vocabulary
from umls_linker import tasks
from umls_linker.domain.slots import TYPE_NAMES
from umls_linker.models import ConceptQuestion, Decision, Occurrence, ProposedConcept, Shortlisting, SurfaceForm
from umls_linker.services import project_vocabulary
from umls_linker.services.decisions import (
    decision_for_label,
    decision_nil,
    decision_propose,
    decision_revert,
    decision_take,
    question_answer,
    question_ask,
)
from umls_linker.services.surface_forms import surface_forms_count
from umls_linker.services.vocabularies import vocabularies_root
from umls_linker.views.cards import told

ClientFor = Callable[[User], Client]
DYSPNEA, COUGH, FEVER = "C0013404", "C0010200", "C0015967"


@pytest.fixture
def curator(project: Project) -> User:
    return factory.make_member(project, factory.make_user("cora"), Role.CURATOR)


@pytest.fixture
def values(project: Project, people: People) -> list[Any]:
    """Eleven wordings in two dialogues, with candidates."""
    make_vocabulary()
    label_sets = make_values(project, people.annotator, people.second)
    link(project, *label_sets)
    return label_sets


def page(client: Client, project: Project, **query: str) -> str:
    return client.get(reverse("concepts", args=[project.slug]), query).content.decode()


def part(client: Client, form: SurfaceForm) -> str:
    response = client.get(reverse("concept", args=[form.project.slug, form.pk]))
    assert response.status_code == 200
    return response.content.decode()


def send(client: Client, route: str, *args: Any, **body: Any) -> Any:
    return client.post(reverse(route, args=args), json.dumps(body), content_type="application/json")


def decide(client: Client, form: SurfaceForm, **body: Any) -> Any:
    return send(client, "concept-decide", form.project.slug, form.pk, **{"expected": None, **body})


def test_the_queue_lists_values_by_frequency_and_narrows_by_words_slot_and_status(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    client = client_for(people.doctor)
    text = page(client, project)
    assert text.index("short of breath") < text.index("giddy")
    assert "11 values" in text
    queue = reverse("concepts-queue", args=[project.slug])
    assert "1 value matches" in client.get(queue, {"q": "pain chest"}).content.decode()
    assert "No value matches these filters." in client.get(queue, {"slot": "habit"}).content.decode()
    decision_nil(form=form_of(project, "whatsit"), actor=people.doctor, expected=None)
    found = client.get(queue, {"status": "nil"}).content.decode()
    assert "1 value matches" in found
    assert "whatsit" in found
    assert client.get(queue, {"status": "odd", "shown": "x"}).status_code == 200


def test_a_long_queue_comes_in_parts(client_for: ClientFor, people: People, project: Project):
    rows = [
        SurfaceForm(project=project, slot="symptom", field="value", key=f"v{at}", text=f"v{at}", labels=1, utterances=1)
        for at in range(230)
    ]
    SurfaceForm.objects.bulk_create(rows)
    client = client_for(people.doctor)
    queue = reverse("concepts-queue", args=[project.slug])
    assert client.get(queue).content.decode().count("data-form=") == 100
    assert 'data-more="300"' in client.get(queue, {"shown": "200"}).content.decode()
    assert client.get(queue, {"shown": "300"}).content.decode().count("data-form=") == 230


def test_without_values_and_without_a_vocabulary_the_page_says_what_to_do(
    client_for: ClientFor, people: People, project: Project, settings: Any
):
    settings.PORTAL_VOCABULARY = "none-of-this-name"
    text = page(client_for(people.doctor), project)
    assert "No medical values yet" in text
    assert "No vocabulary is built yet" in text
    assert "build_vocabulary" in text


def test_a_value_shows_its_words_in_context_and_numbered_candidates(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    text = part(client_for(people.doctor), form_of(project, "short of breath"))
    assert "I get <mark>short of breath</mark> on the stairs." in " ".join(text.split())
    assert "The cough keeps me awake." in text, "two turns on"
    assert "VAL-1, u1" in text
    assert "VAL-2, u1" in text
    assert f'data-card="{DYSPNEA}" data-key="1"' in text
    assert "Sign or Symptom" in text
    assert "breathlessness" in text
    assert "alice" not in text
    assert "bob" not in text


def test_markup_in_a_value_is_shown_and_not_carried_out(client_for: ClientFor, people: People, project: Project):
    dialogue = factory.make_dialogue(project, "X", [("patient", "<b>bold</b> & sore")])
    label_set = factory.make_label_set(dialogue, people.annotator)
    factory.make_labels(label_set, factory.inform(0, "symptom", "<b>bold</b>", status="yes"))
    link(project, label_set)
    client = client_for(people.doctor)
    for text in (page(client, project), part(client, form_of(project, "<b>bold</b>"))):
        assert "<b>bold</b>" not in text
        assert "&lt;b&gt;bold&lt;/b&gt;" in text


def test_a_doctor_decides_for_all_but_what_is_ticked_off(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    form = form_of(project, "short of breath")
    second = form.occurrences.get(label_set=values[1])
    client = client_for(people.doctor)
    response = decide(client, form, kind="concept", cui=DYSPNEA, excluded=[str(second.label_id)])
    assert response.status_code == 200
    assert response.json()["said"] == "“short of breath” means Dyspnea (C0013404)."
    decision = Decision.objects.get()
    assert [str(row.label_id) for row in decision.exceptions.all()] == [str(second.label_id)]
    text = " ".join(part(client, form).split())
    assert "Decided by dora" in text
    assert "embedded 2026-01" in text
    assert "everywhere but in 1 utterance" in text
    assert "left out of the decision" in text
    # and for that one another concept
    one = decide(client, form, kind="concept", cui=FEVER, label=str(second.label_id))
    assert one.status_code == 200
    assert "here: Fever" in part(client, form)
    assert Decision.objects.standing().count() == 2


def test_none_and_a_new_concept(client_for: ClientFor, people: People, project: Project, values: Any):
    client, form = client_for(people.doctor), form_of(project, "whatsit")
    nil = decide(client, form, kind="nil").json()
    assert nil["said"] == "“whatsit” has no concept."
    made = decide(client, form, kind="proposed", name="Odd whatsit", semantic_type="T184", expected=nil["decision"])
    assert made.status_code == 200
    text = part(client, form)
    assert "Odd whatsit" in text
    assert "proposed here" in text
    found = client.get(reverse("concepts-search", args=[project.slug]), {"q": "whatsit"}).json()["concepts"]
    assert found[0]["name"] == "Odd whatsit"


def test_a_second_doctor_is_told_in_one_sentence_and_sees_the_first_decision(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    other = factory.make_member(project, factory.make_user("drew"), Role.DOCTOR)
    form = form_of(project, "cough")
    assert decide(client_for(people.doctor), form, kind="concept", cui=COUGH).status_code == 200
    late = decide(client_for(other), form, kind="nil")
    assert late.status_code == 409
    assert late.json()["error"]["code"] == "conflict"
    assert "dora decided on “Cough”" in late.json()["error"]["message"]
    assert Decision.objects.standing().get().cui == COUGH
    assert "Decided by dora" in part(client_for(other), form)


def test_the_same_request_sent_again_is_no_conflict(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    """The answer was lost on the way: the page sends it again and must not frighten anybody."""
    form = form_of(project, "short of breath")
    second = str(form.occurrences.get(label_set=values[1]).label_id)
    client = client_for(people.doctor)
    body = {"kind": "concept", "cui": DYSPNEA, "excluded": [second]}
    first, again = decide(client, form, **body), decide(client, form, **body)
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["decision"] == again.json()["decision"]
    assert Decision.objects.count() == 1
    assert decide(client, form, kind="concept", cui=DYSPNEA, excluded=[]).status_code == 409


def test_undo_takes_the_own_last_decision_back_and_revert_any(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    other = factory.make_member(project, factory.make_user("drew"), Role.DOCTOR)
    cough, breath = form_of(project, "cough"), form_of(project, "short of breath")
    decision_take(form=cough, actor=people.doctor, cui=COUGH, expected=None)
    decision_take(form=breath, actor=other, cui=DYSPNEA, expected=None)
    client = client_for(people.doctor)
    undone = send(client, "concepts-undo", project.slug)
    assert (undone.json()["form"], undone.json()["decision"]) == (cough.pk, None)
    again = send(client, "concepts-undo", project.slug)
    assert again.status_code == 400
    assert again.json()["error"]["message"] == "You have no decision here that could be taken back."
    standing = Decision.objects.standing().get()
    reverted = send(client, "concept-decision-revert", project.slug, standing.pk)
    assert reverted.status_code == 200
    assert not Decision.objects.standing().exists()
    assert "taken back by dora" in part(client, breath)


def test_a_curator_shortlists_and_does_not_decide(
    client_for: ClientFor, people: People, project: Project, curator: User, values: Any
):
    client, form = client_for(curator), form_of(project, "cough")
    text = part(client, form)
    assert "data-take=" not in text
    assert 'data-action="nil"' not in text
    assert 'data-mark="keep"' in text
    kept = send(client, "concept-shortlist", project.slug, form.pk, cui=COUGH, verdict="keep")
    assert kept.json()["said"] == "“Cough” is kept."
    assert "+ kept by cora" in part(client_for(people.doctor), form)
    assert (
        "1 value"
        in client.get(reverse("concepts-queue", args=[project.slug]), {"status": "shortlisted"}).content.decode()
    )
    neither = send(client, "concept-shortlist", project.slug, form.pk, cui=COUGH, verdict="")
    assert neither.json()["said"] == "“Cough” is neither kept nor dropped."
    assert not Shortlisting.objects.exists()
    for kind in ({"kind": "nil"}, {"kind": "concept", "cui": COUGH}):
        assert decide(client, form, **kind).status_code == 403
    assert send(client, "concepts-undo", project.slug).status_code == 403
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("who", "status"), [("annotator", 403), ("outsider", 404), ("supervisor", 403), ("superuser", 403)]
)
def test_nobody_but_a_doctor_decides(
    client_for: ClientFor, people: People, project: Project, values: Any, who: str, status: int
):
    form = form_of(project, "cough")
    assert decide(client_for(getattr(people, who)), form, kind="concept", cui=COUGH).status_code == status
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ([], "Say what was decided"),
        ({"kind": "odd"}, "Say what was decided"),
        ({"kind": "concept"}, "Name the concept by its identifier."),
        ({"kind": "concept", "cui": 5}, "“cui” must be a text."),
        ({"kind": "concept", "cui": "C9999999"}, "has no concept “C9999999”"),
        ({"kind": "concept", "cui": "C" * 99}, "longer than 20 characters"),
        ({"kind": "proposed", "name": " "}, "Give the new concept a name."),
        ({"kind": "nil", "excluded": "all"}, "“excluded” must be a list of labels."),
        ({"kind": "nil", "excluded": ["x"]}, "“excluded” must name labels."),
        ({"kind": "nil", "excluded": ["00000000-0000-0000-0000-000000000000"]}, "does not say “cough” any more"),
        ({"kind": "nil", "label": "x"}, "“label” must name labels."),
        ({"kind": "nil", "expected": "1"}, "“expected” must be a whole number."),
        ({"kind": "nil", "expected": True}, "“expected” must be a whole number."),
    ],
)
def test_bad_decisions_get_one_sentence(
    client_for: ClientFor, people: People, project: Project, values: Any, body: Any, words: str
):
    form = form_of(project, "cough")
    address = reverse("concept-decide", args=[project.slug, form.pk])
    response = client_for(people.doctor).post(address, json.dumps(body), content_type="application/json")
    assert response.status_code == 400
    assert words in response.json()["error"]["message"]
    assert not Decision.objects.exists()
    assert client_for(people.doctor).post(address, "{", content_type="application/json").status_code == 400


def test_a_question_is_asked_counted_and_answered(
    client_for: ClientFor, people: People, project: Project, curator: User, values: Any
):
    form = form_of(project, "temp")
    asked = send(
        client_for(curator), "concept-ask", project.slug, form.pk, question="Fever or climate?", of=people.doctor.pk
    )
    assert asked.status_code == 200
    question = ConceptQuestion.objects.get()
    assert "1 question" in client_for(people.doctor).get("/").content.decode()
    assert "Questions about concepts" not in client_for(people.supervisor).get("/").content.decode()
    client = client_for(people.doctor)
    assert "temp" in client.get(reverse("concepts-queue", args=[project.slug]), {"status": "asked"}).content.decode()
    assert "cora</b> asks dora" in part(client, form)
    answered = send(client, "concept-question-answer", project.slug, question.pk, answer="Fever.")
    assert answered.status_code == 200
    assert "Fever." in part(client_for(curator), form)
    assert "Questions about concepts" not in client.get("/").content.decode()
    late = send(client_for(people.supervisor), "concept-question-answer", project.slug, question.pk, answer="No.")
    assert late.status_code == 400
    empty = send(client_for(curator), "concept-ask", project.slug, form.pk, question=" ")
    assert empty.status_code == 400
    stranger = send(client_for(curator), "concept-ask", project.slug, form.pk, question="?", of=people.annotator.pk)
    assert "does not review concepts" in stranger.json()["error"]["message"]


def test_the_first_page_tells_of_answers_and_of_values_that_wait(
    client_for: ClientFor, people: People, project: Project, curator: User, values: Any
):
    form = form_of(project, "temp")
    question = question_ask(form=form, actor=curator, question="Fever or climate?")
    for person in (curator, people.doctor):
        home = " ".join(client_for(person).get("/").content.decode().split())
        assert "11 values wait for a concept." in home
        assert "was answered" not in home
    for person in (people.annotator, people.supervisor):
        assert "values wait for a concept" not in client_for(person).get("/").content.decode()
    question_answer(question=question, actor=people.doctor, answer="Fever.")
    home = client_for(curator).get("/").content.decode()
    assert "your question about “temp” was answered" in home
    assert f"{reverse('concepts', args=[project.slug])}#f{form.pk}" in home
    assert "was answered" not in client_for(people.doctor).get("/").content.decode()


def test_an_answer_is_told_until_whoever_asked_has_seen_it_and_is_found_afterwards(
    client_for: ClientFor, people: People, project: Project, curator: User, values: Any
):
    form = form_of(project, "temp")
    question = question_ask(form=form, actor=curator, question="Fever or climate?")
    client, queue_address = client_for(curator), reverse("concepts-queue", args=[project.slug])
    assert send(client, "concept-question-seen", project.slug, question.pk).status_code == 400  # not answered
    question_answer(question=question, actor=people.doctor, answer="Fever.")
    ConceptQuestion.objects.update(answered_at=timezone.now() - timedelta(days=60))
    text = part(client, form)  # may be fetched ahead: that alone is not seeing it
    assert "new answer" in text
    assert text.index("Fever.") < text.index("linking-cards")
    assert "new answer" not in part(client_for(people.doctor), form)
    assert ">answer<" in client.get(queue_address).content.decode()
    assert ">answer<" not in client_for(people.doctor).get(queue_address).content.decode()
    assert client.get(reverse("concepts-progress", args=[project.slug])).json()["answers"] == 1
    assert "was answered" in client.get("/").content.decode()
    assert send(client_for(people.doctor), "concept-question-seen", project.slug, question.pk).status_code == 400
    assert send(client_for(people.annotator), "concept-question-seen", project.slug, question.pk).status_code == 403
    assert "was answered" in client.get("/").content.decode()
    for _ in range(2):
        assert send(client, "concept-question-seen", project.slug, question.pk).status_code == 200
    assert "was answered" not in client.get("/").content.decode()
    text = part(client, form)
    assert "new answer" not in text
    assert "1 question answered" in text
    assert ">answer<" not in client.get(queue_address).content.decode()
    for person in (curator, people.doctor, people.supervisor):
        found = client_for(person).get(queue_address, {"status": "answered"}).content.decode()
        assert re.findall(r"([0-9]+) values?", found)[0] == "1"
        assert "temp" in found


def test_the_answers_that_are_not_listed_are_counted(
    client_for: ClientFor, people: People, project: Project, curator: User, values: Any
):
    form = form_of(project, "temp")
    for number in range(12):
        asked = question_ask(form=form, actor=curator, question=f"Question {number}?")
        question_answer(question=asked, actor=people.doctor, answer="Yes.")
    home = client_for(curator).get("/").content.decode()
    assert home.count("was answered") == 10
    assert "2 more answers" in home


def test_a_question_about_a_decided_value_is_among_those_that_wait(
    client_for: ClientFor, people: People, project: Project, curator: User, values: Any
):
    form = form_of(project, "temp")
    question_ask(form=form, actor=curator, question="Fever or climate?")
    decision_take(form=form, actor=people.doctor, cui=FEVER, expected=None)
    address = reverse("concepts-queue", args=[project.slug])
    assert "temp" in client_for(people.doctor).get(address, {"status": "asked"}).content.decode()


def test_a_card_shows_the_name_by_which_it_was_found_and_the_telling_reasons_first():
    reasons = [
        {"kind": "coverage", "points": 20, "sentence": "without “mild”"},
        {"kind": "letters", "points": 3, "sentence": "spelt alike"},
        {"kind": "wording", "points": 0, "sentence": "“temp” taken as “temperature”"},
        {"kind": "kind", "points": 2.5, "sentence": "preferred name"},
        {"kind": "kind", "points": -6, "sentence": "a related term"},
        {"kind": "weak", "points": 0, "sentence": "little in common"},
    ]
    telling, further = told(reasons)
    assert telling == ("little in common", "“temp” taken as “temperature”", "without “mild”", "a related term")
    assert further == ("spelt alike", "preferred name")


def test_the_types_that_fit_the_value_come_first_and_every_type_is_offered_once(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    groups = client_for(people.doctor).get(reverse("concepts", args=[project.slug])).context["data"]["types"]
    codes = [code for group in groups for code, _ in group["types"]]
    assert sorted(codes) == sorted(TYPE_NAMES)
    assert groups[0]["name"] == "Disorders"
    assert 'data-fitting="T184 T033 T048 T046' in part(client_for(people.doctor), form_of(project, "temp"))


def test_what_was_taken_back_is_said_with_what_holds_now(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    doctor, form = people.doctor, form_of(project, "cough")
    client = client_for(doctor)
    whole = decision_take(form=form, actor=doctor, cui=COUGH, expected=None)
    labels = list(form.occurrences.values_list("label_id", flat=True))
    decision_for_label(form=form, label_id=labels[0], actor=doctor, cui=DYSPNEA)
    said = send(client, "concepts-undo", project.slug).json()["said"]
    assert said == "Taken back for “cough” in one occurrence: Dyspnea; the decision for all (Cough) stands."
    decision_for_label(form=form, label_id=labels[1], actor=doctor, nil=True)
    said = send(client, "concept-decision-revert", project.slug, whole.pk).json()["said"]
    assert said == "Taken back for “cough” in every occurrence: Cough; 1 decision about one occurrence stands."
    said = send(client, "concepts-undo", project.slug).json()["said"]
    assert said == "Taken back for “cough” in one occurrence: no concept; nothing is decided about it now."


def test_a_proposal_that_was_taken_back_is_not_offered_again(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    client, address = client_for(people.doctor), reverse("concepts-search", args=[project.slug])
    made = decision_propose(form=form_of(project, "whatsit"), actor=people.doctor, name="Whatsit itch", expected=None)
    assert [one["cui"] for one in client.get(address, {"q": "whatsit"}).json()["concepts"]] == ["NEW0001"]
    decision_revert(decision=made, actor=people.doctor)
    assert client.get(address, {"q": "whatsit"}).json()["concepts"] == []
    assert ProposedConcept.objects.count() == 1


def test_candidates_that_hardly_fit_are_marked_and_if_all_are_it_says_what_to_do(
    client_for: ClientFor, people: People, project: Project, curator: User, values: Any
):
    client, form = client_for(people.doctor), form_of(project, "short of breath")
    form.candidates.update(reasons=[{"kind": "exact", "points": 25, "sentence": "the phrase itself"}])
    assert "Nothing fits well" not in part(client, form)
    assert ">weak<" not in part(client, form)
    form.candidates.update(reasons=[{"kind": "weak", "points": 0, "sentence": "only one word is the same"}])
    assert part(client, form).count(">weak<") == form.candidates.count() > 0
    assert "Nothing fits well: search (<kbd>/</kbd>), say none (<kbd>0</kbd>), or propose" in part(client, form)
    assert "or ask a colleague" in part(client_for(curator), form)
    send(client, "concept-shortlist", project.slug, form.pk, cui=DYSPNEA, verdict="keep")
    assert "Nothing fits well" not in part(client, form)


def test_a_doctor_who_labels_sees_nothing_of_their_own_dialogues(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    dan = factory.make_member(project, factory.make_user("dan"), Role.ANNOTATOR, Role.DOCTOR)
    own = factory.make_label_set(values[0].dialogue, dan, purpose=Purpose.SEED)
    client, form, elsewhere = client_for(dan), form_of(project, "short of breath"), form_of(project, "rash")
    made = decision_nil(form=elsewhere, actor=people.doctor, expected=None)
    asked = question_ask(form=elsewhere, actor=people.doctor, question="Which?")
    for status in (Status.IN_PROGRESS, Status.DONE):
        own.status = status
        own.save()
        for text in (
            part(client, form),
            client.get(reverse("concept-occurrences", args=[project.slug, form.pk])).content.decode(),
        ):
            assert "VAL-2" in text
            assert "VAL-1" not in text
            assert "Nothing is shown of the dialogue that you label yourself." in text
        assert "3 values," in page(client, project)
        for address in (
            reverse("concept", args=[project.slug, elsewhere.pk]),
            reverse("concept-occurrences", args=[project.slug, elsewhere.pk]),
        ):
            assert client.get(address).status_code == 404
        assert decide(client, elsewhere, kind="nil", expected=made.pk).status_code == 404
        assert send(client, "concept-decision-revert", project.slug, made.pk).status_code == 404
        assert send(client, "concept-question-answer", project.slug, asked.pk, answer="x").status_code == 404
        assert "Questions about concepts" not in client.get("/").content.decode()
        assert "3 of 3 values wait" in " ".join(
            client.get(reverse("project", args=[project.slug])).content.decode().split()
        )
    hidden = str(form.occurrences.get(label_set=values[0]).label_id)
    assert decide(client, form, kind="nil", excluded=[hidden]).status_code == 400
    assert decide(client, form, kind="nil", label=hidden).status_code == 400


def test_what_was_left_out_where_one_does_not_see_it_stays_left_out(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    dan = factory.make_member(project, factory.make_user("dan"), Role.ANNOTATOR, Role.DOCTOR)
    factory.make_label_set(values[0].dialogue, dan)
    form = form_of(project, "cough")
    hidden = str(form.occurrences.get(label_set=values[0]).label_id)
    first = decision_take(form=form, actor=people.doctor, cui=COUGH, except_labels=[hidden], expected=None)
    client = client_for(dan)
    assert "for every occurrence" in part(client, form)
    body = {"kind": "concept", "cui": FEVER, "expected": first.pk}
    made, again = decide(client, form, **body), decide(client, form, **body)
    assert (made.status_code, again.status_code) == (200, 200)
    second = Decision.objects.standing().get()
    assert [str(row.label_id) for row in second.exceptions.all()] == [hidden]
    assert "everywhere but in 1 utterance" in part(client_for(people.doctor), form)


def test_a_label_that_says_something_else_for_a_while_keeps_what_was_decided_about_it(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    form, label_set = form_of(project, "cough"), values[1]
    label_id = str(form.occurrences.get(label_set=label_set).label_id)
    client = client_for(people.doctor)
    first = decide(client, form, kind="concept", cui=COUGH, excluded=[label_id], note="dry ones only").json()
    assert "“dry ones only”" in part(client, form)
    one = decide(client, form, kind="nil", label=label_id, note="an animal")
    assert one.status_code == 200
    assert Decision.objects.get(pk=one.json()["decision"]).note == "an animal"
    label_set.refresh_from_db()
    editor = client_for(people.second)
    asked = {"version": label_set.version, "key": "edit"}
    row = label_set.labels.get(pk=label_id)
    content = {"position": 3, "intent": "inform", "slot": "symptom", "answers": {**row.answers, "value": ["tickle"]}}
    changes = [{"id": label_id, "label": content}]
    assert send(editor, "workbench-changes", project.slug, label_set.pk, **asked, changes=changes).status_code == 200
    link(project, label_set)
    assert "left out of the decision" not in part(client, form)
    again = decide(client, form, kind="concept", cui=FEVER, expected=first["decision"])
    assert again.status_code == 200
    undone = {"version": label_set.version, "key": "undo"}
    assert send(editor, "workbench-undo", project.slug, label_set.pk, **undone).status_code == 200
    link(project, label_set)
    text = " ".join(part(client, form).split())
    assert "everywhere but in 1 utterance" in text
    assert "here: no concept" in text


def test_a_request_that_arrives_twice_takes_back_one_decision_only(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    for words in ("cough", "temp", "rash"):
        decision_take(form=form_of(project, words), actor=people.doctor, cui=COUGH, expected=None)
    client = client_for(people.doctor)
    first, again = (send(client, "concepts-undo", project.slug, key="k1") for _ in range(2))
    assert first.json() == again.json()
    assert (again.status_code, Decision.objects.standing().count()) == (200, 2)
    other = send(client, "concepts-undo", project.slug, key="k2").json()
    assert other["form"] == form_of(project, "temp").pk
    last = Decision.objects.standing().get()
    for status, key in ((200, "k3"), (200, "k3"), (400, "k4"), (400, "")):
        assert send(client, "concept-decision-revert", project.slug, last.pk, key=key).status_code == status
    assert not Decision.objects.standing().exists()
    assert send(client, "concepts-undo", project.slug, key="k" * 65).status_code == 400


def test_candidates_of_one_name_are_told_apart(client_for: ClientFor, people: People, project: Project, values: Any):
    form = form_of(project, "cough")
    first = form.candidates.get(cui=COUGH)
    twin = {"rank": 99, "cui": "C7777777", "name": first.name.upper(), "matched": "cough", "score": 0.1}
    form.candidates.create(**twin, semantic_types=["T047"])
    text = part(client_for(people.doctor), form)
    assert text.count("2 concepts of this name") == 2
    assert "Also C7777777: each is a concept of its own" in text
    assert f"Also {COUGH}: each" in text


def test_more_occurrences_and_more_of_the_dialogue_come_when_asked_for(
    client_for: ClientFor, people: People, project: Project
):
    make_vocabulary()
    turns = [("patient", f"cough number {at}") for at in range(30)]
    label_set = factory.make_label_set(factory.make_dialogue(project, "LONG", turns), people.annotator)
    factory.make_labels(label_set, *[factory.inform(at, "symptom", "cough", status="yes") for at in range(30)])
    link(project, label_set)
    client, form = client_for(people.doctor), form_of(project, "cough")
    assert part(client, form).split("<template")[0].count("data-label=") == 8
    assert part(client, form).count('name="include"') == 30
    address = reverse("concept-occurrences", args=[project.slug, form.pk])
    more = client.get(address, {"offset": "8"}).content.decode()
    assert more.count("data-label=") == 20
    assert 'data-more-occurrences="28"' in more
    wide = client.get(address, {"around": "6"}).content.decode()
    assert wide.split("data-label=")[8].count("number ") == 13
    assert client.get(address, {"around": "-1", "offset": "999999999999"}).status_code == 200


def test_progress_is_told_as_numbers(client_for: ClientFor, people: People, project: Project, values: Any):
    decision_nil(form=form_of(project, "whatsit"), actor=people.doctor, expected=None)
    found = client_for(people.supervisor).get(reverse("concepts-progress", args=[project.slug])).json()
    counts = {"decided": 0, "nil": 1, "proposed": 0, "open": 10}
    assert found == {"forms": 11, "linked": 11, "waiting": 0, "answers": 0, **counts}


def test_the_project_page_counts_what_is_open(
    client_for: ClientFor, people: People, project: Project, curator: User, values: Any
):
    decision_nil(form=form_of(project, "whatsit"), actor=people.doctor, expected=None)
    address = reverse("project", args=[project.slug])
    for person in (people.doctor, people.supervisor, curator):
        text = " ".join(client_for(person).get(address).content.decode().split())
        assert "10 of 11 values wait for a concept." in text
        assert reverse("concepts", args=[project.slug]) in text
    assert reverse("concepts", args=[project.slug]) not in client_for(people.annotator).get(address).content.decode()
    assert "Chest clinic" in client_for(curator).get("/").content.decode()


def test_an_archived_project_can_be_read_and_not_changed(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    from django.utils import timezone

    Project.objects.filter(pk=project.pk).update(archived_at=timezone.now())
    client, form = client_for(people.doctor), form_of(project, "cough")
    assert "This project is archived" in page(client, project)
    assert "data-take=" not in part(client, form)
    response = decide(client, form, kind="nil")
    assert response.status_code == 400
    assert "archived" in response.json()["error"]["message"]


def test_the_page_takes_few_queries_however_many_values(
    client_for: ClientFor, people: People, project: Project, values: Any, django_assert_max_num_queries: Any
):
    client = client_for(people.doctor)
    page(client, project)
    with django_assert_max_num_queries(18):
        page(client, project)
    form = form_of(project, "cough")
    with django_assert_max_num_queries(26):
        part(client, form)


def make_many(project: Project, annotator: User, utterances: int) -> SurfaceForm:
    """One wording in so many utterances, and in 300 dialogues."""
    form = SurfaceForm.objects.create(project=project, slot="symptom", field="value", key="cough", text="cough")
    each = utterances // 300 + 1
    said = [("patient", f"It is a cough, number {at}.") for at in range(each)]
    for number in range(300):
        label_set = factory.make_label_set(factory.make_dialogue(project, f"M{number:03}", said), annotator)
        Occurrence.objects.bulk_create(
            Occurrence(surface_form=form, label_set=label_set, utterance=turn, label_id=uuid.uuid4(), text="cough")
            for turn in label_set.dialogue.utterances.all()
        )
    surface_forms_count(forms=[form.pk])
    return form


def test_a_value_of_five_thousand_occurrences_is_summed_up(
    client_for: ClientFor, people: People, project: Project, django_assert_max_num_queries: Any
):
    form = make_many(project, people.annotator, 5000)
    left = form.occurrences.last()
    total = form.occurrences.count()
    assert left is not None
    assert total >= 5000
    decision_nil(form=form, actor=people.doctor, except_labels=[left.label_id], expected=None)
    client = client_for(people.doctor)
    part(client, form)
    begun = time.monotonic()
    with django_assert_max_num_queries(28):
        text = " ".join(part(client, form).split())
    assert time.monotonic() - begun < 1, "it takes an eighth of a second where nothing else runs"
    assert text.count('name="include"') == 300
    # What is left out by now comes first, so that it does not come back by not being listed.
    ticks = re.findall(r'name="include" value="([^"]+)"( checked)?', text)
    assert ticks[0] == (str(left.label_id), "")
    assert {checked for _, checked in ticks[1:]} == {" checked"}
    assert f"{total - 300} further utterances not listed here are included." in text


@pytest.mark.parametrize("labels_too", [False, True])
def test_a_queue_of_three_thousand_values_takes_as_many_queries_as_a_short_one(
    client_for: ClientFor, people: People, project: Project, values: Any, labels_too: bool
):
    if labels_too:
        factory.make_label_set(factory.make_dialogue(project), people.doctor)
    client = client_for(people.doctor)
    page(client, project)

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            page(client, project)
        return len(found)

    few = queries()
    rows = [
        SurfaceForm(project=project, slot="symptom", field="value", key=f"v{at}", text=f"v{at}", labels=1, utterances=1)
        for at in range(3000)
    ]
    SurfaceForm.objects.bulk_create(rows)
    label_set = values[0]
    turn = label_set.dialogue.utterances.first()
    Occurrence.objects.bulk_create(
        Occurrence(surface_form=form, label_set=label_set, utterance=turn, label_id=uuid.uuid4(), text=form.text)
        for form in SurfaceForm.objects.filter(key__startswith="v")
    )
    begun = time.monotonic()
    assert queries() == few <= 18
    assert time.monotonic() - begun < 1, "it takes an eighth of a second where nothing else runs"
    assert "3011 values" in page(client, project)


def test_a_proposal_whose_answer_was_lost_can_be_sent_again(
    client_for: ClientFor, people: People, project: Project, values: Any
):
    client, form = client_for(people.doctor), form_of(project, "whatsit")
    answers = [decide(client, form, kind="proposed", name="Odd  Whatsit") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json()["decision"] == answers[1].json()["decision"]
    assert Decision.objects.count() == 1


@pytest.fixture
def home(values: Any) -> Iterator[Path]:
    """The folder of the vocabulary; what a test deletes of it is put back."""
    home = vocabularies_root() / "embedded"
    kept = home.with_name("kept")
    shutil.copytree(home, kept)
    yield home
    shutil.rmtree(home, ignore_errors=True)
    kept.rename(home)
    project_vocabulary.forget()


@pytest.mark.parametrize("gone", ["", "*/terms", "*/words", "*/manifest.json", "[0-9]*", "current"])
@pytest.mark.parametrize("opened", [True, False])
def test_a_vocabulary_that_is_deleted_while_it_is_used_makes_no_page_fail(
    client_for: ClientFor, people: People, project: Project, home: Path, gone: str, opened: bool
):
    client, form = client_for(people.doctor), form_of(project, "cough")
    if not opened:
        project_vocabulary.forget()
    for path in home.glob(gone) if gone else [home]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for route in ("concepts", "concepts-queue", "concepts-progress", "concepts-vocabulary"):
        assert client.get(reverse(route, args=[project.slug])).status_code == 200
    for route in ("concepts-suggest", "concepts-search"):
        query = {"q": "coughh", "slot": "symptom", "field": "value"}
        assert client.get(reverse(route, args=[project.slug]), query).status_code == 200
    assert client.get(reverse("concept", args=[project.slug, form.pk])).status_code == 200
    assert decide(client, form, kind="concept", cui=COUGH).status_code == 200, "it is a candidate from before"
    SurfaceForm.objects.update(linked_with="")
    tasks.link_project(project.pk)
    assert form.candidates.exists(), "candidates are replaced, not lost"


def test_without_the_current_pointer_being_readable_the_build_is_found(
    client_for: ClientFor, people: People, project: Project, home: Path
):
    (home / "current").write_text("{")
    project_vocabulary.forget()
    found = client_for(people.doctor).get(reverse("concepts-search", args=[project.slug]), {"q": "cough"})
    assert found.json()["concepts"][0]["cui"] == COUGH
