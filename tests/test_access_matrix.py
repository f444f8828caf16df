"""Every route × every kind of person × every method × an object of one's own project and of another one.

`TABLE` is the whole truth: a route that is missing from it fails the test, and so does a row without a route. Methods
without a row are refused. Beyond what the table says, four rules hold for every request: nobody reaches an object of
another project; the address must name the project that the object is in; a request that is refused changes nothing;
and nothing ends in a server error.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone
from knox.models import AuthToken

from annotation.models import (
    Concern,
    Dialogue,
    Evaluation,
    ExamDialogue,
    ExportJob,
    ImportJob,
    JobStatus,
    LabelSet,
    Project,
    ReturnedItem,
    Role,
    TestAttempt,
    User,
)
from annotation.services.concerns import concern_raise
from annotation.services.evaluation_gold import GoldChoice
from annotation.services.guideline_notes import guideline_note_add
from annotation.services.qualification import attempt_hand_in, attempt_start
from annotation.services.work_gate import qualification_waive
from tests import factory
from tests.conftest import People
from tests.factory import TURNS, inform
from tests.qualifying import make_exam
from umls_linker.models import ConceptQuestion, Decision, SurfaceForm, Vocabulary
from umls_linker.services.surface_forms import label_set_collect

PEOPLE = ("anonymous", "outsider", "annotator", "second", "curator", "doctor", "supervisor", "superuser")
MEMBERS = PEOPLE[:-1]  # administrators belong to every project
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

# `annotator` is the one whose label set and whose token it is. "login" is the way to the sign-in page; "=" after a
# status: the request is answered but must change nothing. A POST carries the body that BODIES gives for its route.
TABLE = """
route                       method  anonymous outsider annotator second curator doctor supervisor superuser
home                        GET     login     200      200       200    200     200    200        200
sign-in                     GET     200       302      302       302    302     302    302        302
sign-in                     POST    302       302=     302=      302=   302=    302=   302=       302=
sign-out                    POST    302=      302=     302=      302=   302=    302=   302=       302=
password                    GET     302       200      200       200    200     200    200        200
password                    POST    302=      200=     200=      200=   200=    200=   200=       200=
keys                        GET     login     200      302       302    302     302    302        302
questionnaire-keys          GET     login     404      200       200    200     200    200        200
questionnaire-keys          POST    login     404      302       302    302     302    302        302
tokens                      GET     login     200      200       200    200     200    200        200
tokens                      POST    login     200      200       200    200     200    200        200
token-revoke                POST    login     302=     302       302=   302=    302=   302=       302=
people                      GET     login     403      403       403    403     403    403        200
person-new                  GET     login     403      403       403    403     403    403        200
person-new                  POST    login     403      403       403    403     403    403        200
person                      GET     login     403      403       403    403     403    403        200
person                      POST    login     403      403       403    403     403    403        302
person-password             POST    login     403      403       403    403     403    403        200
person-archive              POST    login     403      403       403    403     403    403        302
person-restore              POST    login     403      403       403    403     403    403        302=
person-delete               POST    login     403      403       403    403     403    403        302=
projects                    GET     login     200      200       200    200     200    200        200
project-new                 GET     login     403      403       403    403     403    200        200
project-new                 POST    login     403      403       403    403     403    302        302
project                     GET     login     404      200       200    200     200    200        200
project-settings            GET     login     404      403       403    403     403    200        200
project-settings            POST    login     404      403       403    403     403    302        302
project-archive             POST    login     404      403       403    403     403    302        302
project-restore             POST    login     404      403       403    403     403    302=       302=
project-delete              POST    login     404      403       403    403     403    302=       302=
members                     GET     login     404      403       403    403     403    200        200
member-add                  POST    login     404      403       403    403     403    302        302
member-new                  POST    login     404      403       403    403     403    200        200
member                      GET     login     404      403       403    403     403    200        200
member                      POST    login     404      403       403    403     403    302        302
member-remove               POST    login     404      403       403    403     403    302        302
dialogues                   GET     login     404      403       403    403     200    200        200
dialogues-bulk              POST    login     404      403       403    403     403    302        302
dialogue                    GET     login     404      403       403    403     200    200        200
dialogue-assign             POST    login     404      403       403    403     403    302        302
dialogue-archive            POST    login     404      403       403    403     403    302        302
dialogue-restore            POST    login     404      403       403    403     403    302=       302=
dialogue-delete             POST    login     404      403       403    403     403    302=       302=
assign                      GET     login     404      403       403    403     403    200        200
assign                      POST    login     404      403       403    403     403    302        302
assign-groups               GET     login     404      403       403    403     403    200        200
assign-groups               POST    login     404      403       403    403     403    200=       200=
assign-changes              GET     login     404      403       403    403     403    200        200
assign-changes              POST    login     404      403       403    403     403    200=       200=
work-next                   GET     login     404      302       302    302     302    302        302
label-set-unassign          POST    login     404      403       403    403     403    302=       302=
guidelines                  GET     login     404      200       200    200     200    200        200
imports                     GET     login     404      403       403    403     403    200        200
imports                     POST    login     404      403       403    403     403    422        422
import                      GET     login     404      403       403    403     403    200        200
import-progress             GET     login     404      403       403    403     403    200        200
import-confirm              POST    login     404      403       403    403     403    302=       302=
import-discard              POST    login     404      403       403    403     403    302=       302=
import-cancel               POST    login     404      403       403    403     403    302=       302=
import-retry                POST    login     404      403       403    403     403    302=       302=
workbench                   GET     login     404      200       404    404     404    200        200
workbench-changes           POST    login     404      200       404    404     404    403        403
workbench-undo              POST    login     404      200       404    404     404    403        403
workbench-redo              POST    login     404      400       404    404     404    403        403
workbench-history           GET     login     404      200       404    404     404    200        200
workbench-finish            POST    login     404      200       404    404     404    403        403
workbench-reopen            POST    login     404      409       404    404     404    403        403
workbench-lock              POST    login     404      403       404    404     404    409        409
exams                       GET     login     404      403       403    403     403    200        200
exams-settings              POST    login     404      403       403    403     403    302        302
exams-add                   POST    login     404      403       403    403     403    302        302
exams-override              POST    login     404      403       403    403     403    302        302
exams-waive                 POST    login     404      403       403    403     403    422        422
exams-attempt               POST    login     404      403       403    403     403    422        422
override-revoke             POST    login     404      403       403    403     403    302        302
exam                        GET     login     404      403       403    403     403    200        200
exam-remove                 POST    login     404      403       403    403     403    302        302
exam-move                   POST    login     404      403       403    403     403    302=       302=
exam-gold                   POST    login     404      403       403    403     403    422        422
exam-explanations           POST    login     404      403       403    403     403    302        302
qualification               GET     login     404      200       200    403     403    403        403
training-start              POST    login     404      302=      302=   403     403    403        403
test-start                  POST    login     404      302       302    403     403    403        403
attempt                     GET     login     404      200       404    404     404    200        200
attempt-hand-in             POST    login     404      302=      404    404     404    403        403
attempt-feedback            POST    login     404      403       404    404     404    302        302
workbench-check             GET     login     404      404       404    404     404    404        404
agreement                   GET     login     404      403       403    403     403    200        200
agreement-keep              POST    login     404      403       403    403     403    302=       302=
agreement-places            GET     login     404      403       403    403     403    200        200
agreement-json              GET     login     404      403       403    403     403    200        200
agreement-csv               GET     login     404      403       403    403     403    200        200
agreement-disagreements     GET     login     404      403       403    403     403    200        200
agreement-names             POST    login     404      403       403    403     403    302=       302=
state-timeline              GET     login     404      403       403    403     403    200        200
concerns                    GET     login     404      403       403    403     200    200        200
concern                     GET     login     404      403       403    403     200    200        200
concern-answer              POST    login     404      403       403    403     302    302        302
concern-close               POST    login     404      403       403    403     302    302        302
concern-publish             POST    login     404      403       403    403     302    302        302
guideline-note-withdraw     POST    login     404      403       403    403     302    302        302
workbench-news              GET     login     404      200       404    404     404    200        200
workbench-concern           POST    login     404      200       404    404     404    403        403
workbench-concern-close     POST    login     404      200       404    404     404    403        403
workbench-concern-reply     POST    login     404      200       404    404     404    403        403
completeness                GET     login     404      403       403    403     403    200        200
gaps-return                 POST    login     404      403       403    403     403    302=       302=
returned-item-take-back     POST    login     404      403       403    403     403    302        302
adjudication                GET     login     404      403       403    403     200    200        200
adjudicate-next             GET     login     404      403       403    403     302    302        302
adjudication-accept         POST    login     404      403       403    403     403    302=       302=
adjudicate                  GET     login     404      403       403    403     200    200        200
adjudicate-begin            POST    login     404      403       403    403     403    302=       302=
adjudicate-decide           POST    login     404      403       403    403     400    400        400
adjudicate-undo             POST    login     404      403       403    403     400    400        400
adjudicate-finish           POST    login     404      403       403    403     400    400        400
adjudicate-reopen           POST    login     404      403       403    403     400    400        400
adjudicate-review-all       POST    login     404      403       403    403     403    400        400
adjudicate-reveal           POST    login     404      403       403    403     403    400        400
adjudicate-guideline        POST    login     404      403       403    403     200    200        200
concepts                    GET     login     404      403       403    200     200    200        200
concepts-queue              GET     login     404      403       403    200     200    200        200
concepts-progress           GET     login     404      403       403    200     200    200        200
concepts-search             GET     login     404      403       403    200     200    200        200
concepts-suggest            GET     login     404      200       200    200     200    200        200
concepts-decided            POST    login     404      200=      200=   200=    200=   200=       200=
concepts-undo               POST    login     404      403       403    403     400    403        403
concept                     GET     login     404      403       403    200     200    200        200
concept-occurrences         GET     login     404      403       403    200     200    200        200
concept-decide              POST    login     404      403       403    403     200    403        403
concept-shortlist           POST    login     404      403       403    200     200    403        403
concept-ask                 POST    login     404      403       403    200     200    200        200
concept-question-answer     POST    login     404      403       403    200     200    200        200
concept-question-seen       POST    login     404      403       403    400     400    400        400
concept-decision-revert     POST    login     404      403       403    403     200    403        403
concept-decision-migrate    POST    login     404      403       403    403     302=   403        403
concept-decision-keep       POST    login     404      403       403    403     302    403        403
concept-decision-look-again POST    login     404      403       403    403     302=   403        403
concepts-vocabulary         GET     login     404      403       403    200     200    200        200
concepts-vocabulary-switch  POST    login     404      403       403    403     302=   302=       302=
exports                     GET     login     404      200       200    200     200    200        200
dataset-file                GET     login     404      200       200    200     200    200        200
export-new                  GET     login     404      403       403    403     403    200        200
export-new                  POST    login     404      403       403    403     403    422=       422=
export-splits               GET     login     404      403       403    403     403    200        200
export                      GET     login     404      403       403    403     403    200        200
export-progress             GET     login     404      403       403    403     403    200        200
export-download             GET     login     404      403       403    403     403    302        302
export-cancel               POST    login     404      403       403    403     403    302=       302=
export-retry                POST    login     404      403       403    403     403    302=       302=
export-delete               POST    login     404      403       403    403     403    302        302
statistics                  GET     login     404      403       403    403     200    200        200
statistics-chart            GET     login     404      403       403    403     200    200        200
statistics-csv              GET     login     404      403       403    403     200    200        200
evaluations                 GET     login     404      403       403    403     200    200        200
evaluations                 POST    login     404      403       403    403     422    422        422
evaluation                  GET     login     404      403       403    403     200    200        200
evaluation-progress         GET     login     404      403       403    403     200    200        200
evaluation-compare          GET     login     404      403       403    403     200    200        200
evaluation-predictions      GET     login     404      403       403    403     302    302        302
evaluation-cancel           POST    login     404      403       403    403     302=   302=       302=
evaluation-again            POST    login     404      403       403    403     302    302        302
evaluation-delete           POST    login     404      403       403    403     302    302        302
portal-file                 GET     login     404      200       404    404     404    200        200
labels-import               GET     login     404      200       404    404     404    200        200
labels-import               POST    login     404      422       404    404     404    422        422
schema                      GET     200       200      200       200    200     200    200        200
schema                      OPTIONS 200       200      200       200    200     200    200        200
api-docs                    GET     200       200      200       200    200     200    200        200
api-docs                    OPTIONS 200       200      200       200    200     200    200        200
api-me                      GET     401       200      200       200    200     200    200        200
api-questionnaires          GET     401       200      200       200    200     200    200        200
api-questionnaire           GET     401       200      200       200    200     200    200        200
api-projects                GET     401       200      200       200    200     200    200        200
api-projects                POST    401       403      403       403    403     403    201        201
api-project                 GET     401       404      200       200    200     200    200        200
api-dialogues               GET     401       404      403       403    403     200    200        200
api-dialogue                GET     401       404      403       403    403     200    200        200
api-assignments             POST    401       404      403       403    403     403    200        200
api-imports                 GET     401       404      403       403    403     403    200        200
api-imports                 POST    401       404      403       403    403     403    400        400
api-import                  GET     401       404      403       403    403     403    200        200
api-import-confirm          POST    401       404      403       403    403     403    400        400
api-import-discard          POST    401       404      403       403    403     403    400        400
api-import-cancel           POST    401       404      403       403    403     403    400        400
api-import-retry            POST    401       404      403       403    403     403    400        400
api-exports                 GET     401       404      200       200    200     200    200        200
api-dataset                 GET     401       404      200       200    200     200    200        200
api-export-jobs             GET     401       404      403       403    403     403    200        200
api-export-jobs             POST    401       404      403       403    403     403    400        400
api-export                  GET     401       404      403       403    403     403    200        200
api-export-download         GET     401       404      403       403    403     403    404        404
api-export-cancel           POST    401       404      403       403    403     403    400        400
api-export-retry            POST    401       404      403       403    403     403    400        400
api-export-delete-files     POST    401       404      403       403    403     403    200        200
api-evaluations             GET     401       404      403       403    403     200    200        200
api-evaluation              GET     401       404      403       403    403     200    200        200
api-label-sets              GET     401       200      200       200    200     200    200        200
api-label-set               GET     401       404      200       404    404     404    200        200
api-label-set-changes       POST    401       404      200       404    404     404    403        403
api-label-set-undo          POST    401       404      200       404    404     404    403        403
api-label-set-redo          POST    401       404      400       404    404     404    403        403
api-label-set-finish        POST    401       404      200       404    404     404    403        403
api-label-set-reopen        POST    401       404      400       404    404     404    403        403
api-portal-file             GET     401       404      200       404    404     404    200        200
api-portal-file             POST    401       404      200=      404    404     404    200=       200=
api-label-set-history       GET     401       404      200       404    404     404    200        200
api-label-set-state         GET     401       404      200       404    404     404    200        200
api-label-set-findings      GET     401       404      200       404    404     404    200        200
api-nothing-here            GET     401       404      404       404    404     404    404        404
api-nothing-here            POST    401       404      404       404    404     404    404        404
api-nothing-here            PUT     401       404      404       404    404     404    404        404
api-nothing-here            PATCH   401       404      404       404    404     404    404        404
api-nothing-here            DELETE  401       404      404       404    404     404    404        404
api-nothing-here            OPTIONS 401       404      404       404    404     404    404        404
"""

# A part of an address that is no id: the route's name → its values by the name of the part.
PLAIN_PARTS = {
    "questionnaire-keys": {"name": "cmas"},
    "api-questionnaire": {"name": "cmas"},
    "statistics-chart": {"name": "slots"},
    "statistics-csv": {"name": "slots"},
}
ADDRESSES = {"api-nothing-here": "/api/no/such/address/"}
# Routes that speak of people, not of a project: there is no object of another project.
WITHOUT_PROJECT = ("person", "token-revoke", "questionnaire-keys", "api-questionnaire")


@dataclass(frozen=True)
class Objects:
    """What the addresses name: one project with an object of each kind."""

    project: Project
    dialogue: Dialogue
    label_set: LabelSet
    job: ImportJob
    member: User

    @property
    def attempted(self) -> LabelSet:
        """What was labelled in the member's attempt at the test."""
        return LabelSet.objects.get(dialogue__project=self.project, owner="annotator", purpose="test")

    def part(self, route: str, name: str) -> Any:
        """The value of one part of the route's address."""
        if name in PLAIN_PARTS.get(route, {}):
            return PLAIN_PARTS[route][name]
        if name == "slug":
            return self.project.slug
        if name == "digest":
            return AuthToken.objects.get(user=self.member).digest
        assert name == "pk", f"{route} has a part “{name}” that the matrix knows no value for"
        return self._row(route).pk

    def _row(self, route: str) -> Any:
        kinds: dict[str, Any] = {"export": ExportJob.objects.filter(project=self.project).first()}
        kinds |= {"evaluation": self.project.evaluations.first()}
        kinds |= {"import": self.job, "dialogue": self.dialogue, "member": self.member, "person": self.member}
        kinds |= {"workbench": self.label_set, "label-set": self.label_set}
        kinds |= {"portal-file": self.label_set, "labels-import": self.label_set}
        kinds |= {"state-timeline": self.dialogue, "adjudicate": self.dialogue}
        kinds |= {"exam": ExamDialogue.objects.filter(dialogue__project=self.project).first()}
        kinds |= {"override": self.project.overrides.first()}
        kinds |= {"attempt": TestAttempt.objects.filter(project=self.project).first()}
        kinds |= {"concern": Concern.objects.filter(label_set=self.label_set).first()}
        kinds |= {"guideline-note": self.project.guideline_notes.first()}
        kinds |= {"returned-item": self.label_set.returned_items.first()}
        form = SurfaceForm.objects.filter(project=self.project).first()
        kinds |= dict.fromkeys(("concept", "concept-occurrences", "concept-decide"), form)
        kinds |= dict.fromkeys(("concept-shortlist", "concept-ask"), form)
        kinds |= {
            "concept-question": form and form.questions.first(),
            "concept-decision": form and form.decisions.first(),
        }
        bare = route.removeprefix("api-")
        # "concept-…" is about a value unless its name says otherwise.
        found = [
            row for kind, row in kinds.items() if bare == kind or (kind != "concept" and bare.startswith(f"{kind}-"))
        ]
        assert len(found) == 1, f"the matrix does not know which object {route} is about"
        return found[0]


def make_objects(project: Project, name: str, annotator: User, supervisor: User) -> Objects:
    dialogue = factory.make_dialogue(project, name)
    label_set = factory.make_label_set(dialogue, annotator)
    factory.make_labels(label_set, inform(1, "symptom", "cough", status="yes"))
    job = ImportJob.objects.create(project=project, created_by=supervisor, status=JobStatus.READY)
    ExportJob.objects.create(project=project, created_by=supervisor, status=JobStatus.DONE)
    Evaluation.objects.create(
        project=project,
        created_by=supervisor,
        system="S",
        task="nlu",
        status=JobStatus.FAILED,
        file_bytes=0,
        options={**GoldChoice().as_json(), "comparator": "exact"},
    )
    AuthToken.objects.create(user=annotator)
    make_exam(factory.make_dialogue(project, f"{name}-EXAM"), "test", supervisor)
    attempt_hand_in(attempt=attempt_start(project=project, annotator=annotator))
    qualification_waive(project=project, reason="Everybody is known here.", actor=supervisor)
    concern_raise(label_set=label_set, actor=annotator, position=1, text="Since when?", key="matrix")
    guideline_note_add(project=project, actor=supervisor, text="Take the first mention.")
    ReturnedItem.objects.create(
        label_set=label_set,
        utterance=dialogue.utterances.get(position=1),
        rule="status",
        question="Which one?",
        returned_by=supervisor,
    )
    make_decision(label_set, supervisor)
    return Objects(project, dialogue, label_set, job, annotator)


def make_decision(label_set: LabelSet, decided_by: User) -> None:
    """What the label says is decided to have no concept, and asked about."""
    label_set_collect(label_set=label_set)
    form = SurfaceForm.objects.get(project=label_set.dialogue.project)
    Decision.objects.create(surface_form=form, kind="nil", decided_by=decided_by, decided_at=timezone.now())
    ConceptQuestion.objects.create(surface_form=form, question="What is it?", asked_by=decided_by)


@dataclass
class World:
    """Two projects that know nothing of each other, and the sessions of all kinds of people of the first."""

    own: Objects
    foreign: Objects
    sessions: Mapping[str, str]

    def client(self, person: str) -> Client:
        """A new browser in which the person is signed in: what an earlier request did to its cookies is gone."""
        client = Client(raise_request_exception=False)
        if person in self.sessions:
            client.cookies[settings.SESSION_COOKIE_NAME] = self.sessions[person]
        return client

    def address(self, route: str, *, slug_of: Objects, row_of: Objects) -> str:
        """The route's address with the project's part from one world and the object's from another."""
        if route in ADDRESSES:
            return ADDRESSES[route]
        parts = {name: (slug_of if name == "slug" else row_of).part(route, name) for name in ROUTES[route]}
        return reverse(route, kwargs=parts)


@pytest.fixture
def world(project: Project, people: People) -> World:
    far = factory.make_project("Far clinic")
    annotator = factory.make_member(far, factory.make_user("felix"), Role.ANNOTATOR)
    supervisor = factory.make_member(far, factory.make_user("frida"), Role.SUPERVISOR)
    curator = factory.make_member(project, factory.make_user("cora"), Role.CURATOR)
    accounts = {**vars(people), "curator": curator}
    return World(
        own=make_objects(project, "OWN", people.annotator, people.supervisor),
        foreign=make_objects(far, "FAR", annotator, supervisor),
        sessions={name: _session_of(accounts[name]) for name in PEOPLE[1:]},
    )


def _session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def form(**fields: Any) -> dict[str, Any]:
    return {"data": fields}


def as_json(data: Any) -> dict[str, Any]:
    return {"data": json.dumps(data), "content_type": "application/json"}


VERSION = {"version": 1, "key": "matrix"}
LABEL = {"position": 3, "intent": "inform", "slot": "symptom", "answers": {"value": ["fever"], "status": "no"}}
CHANGES = {**VERSION, "changes": [{"id": str(uuid.UUID(int=1)), "label": LABEL}]}
REASONS = {**VERSION, "reasons": {str(position): "nothing to label" for position in range(len(TURNS))}}
SAME_LABELS = [{"uid": "1", "intent": "inform", "slot": "symptom", "value": "cough", "status": "Yes"}]
PERSON = {"username": "nina", "first_name": "Nina"}

BODIES: Mapping[str, Callable[[Objects], dict[str, Any]]] = {
    "sign-in": lambda _: form(username="alice", password=factory.PASSWORD),
    "person-new": lambda _: form(**PERSON),
    "person": lambda _: form(first_name="Alison"),
    "project-new": lambda _: form(name="New clinic", questionnaire="cmas"),
    "project-settings": lambda _: form(name="Renamed clinic"),
    "member-add": lambda _: form(who="otto", roles=["annotator"]),
    "member-new": lambda _: form(**PERSON, roles=["doctor"]),
    "member": lambda _: form(roles=["annotator", "doctor"]),
    "dialogues-bulk": lambda objects: form(dialogue=[objects.dialogue.pk], action="archive"),
    "dialogue-assign": lambda objects: form(annotator=[pk_of("bob")]),
    "assign": lambda objects: assigning(objects.dialogue, "bob"),
    "adjudicate-decide": lambda _: as_json({**VERSION, "decisions": [{"position": 1, "resolution": "A"}]}),
    "adjudicate-undo": lambda _: as_json(VERSION),
    "adjudicate-finish": lambda _: as_json(VERSION),
    "adjudicate-reopen": lambda _: as_json(VERSION),
    "adjudicate-review-all": lambda _: as_json(VERSION),
    "concepts-undo": lambda _: as_json({}),
    "concept-decide": lambda objects: as_json({"kind": "nil", "expected": decision_of(objects).pk}),
    "concept-shortlist": lambda _: as_json({"cui": "C0010200", "verdict": ""}),
    "concept-ask": lambda _: as_json({"question": "And this?"}),
    "concepts-decided": lambda _: as_json({"values": []}),
    "concept-question-answer": lambda _: as_json({"answer": "A cough."}),
    "concept-decision-revert": lambda _: as_json({}),
    "adjudicate-guideline": lambda _: as_json({"slot": "symptom", "text": "The patient's word counts."}),
    "exams-settings": lambda _: form(pass_mark="0.7"),
    "exams-add": lambda objects: form(dialogue=objects.dialogue.pk, kind="training"),
    "exams-waive": lambda _: form(reason="A pilot."),
    "exams-attempt": lambda _: form(annotator=pk_of("bob"), reason="Has all attempts left."),
    "exams-override": lambda _: form(annotator=pk_of("bob"), reason="Wrote the guidelines."),
    "exam-explanations": lambda _: form(u1="He says since when."),
    "attempt-feedback": lambda objects: form(set=objects.attempted.pk, f1="Mind the onset."),
    "concern-answer": lambda _: form(text="Since Monday."),
    "concern-publish": lambda _: form(guideline="The first mention counts."),
    "workbench-concern": lambda _: as_json({"key": "new", "position": 3, "text": "And this?"}),
    "workbench-concern-close": lambda objects: as_json({"concern": objects.label_set.concerns.get(key="matrix").pk}),
    "workbench-concern-reply": lambda objects: as_json(
        {"key": "reply", "concern": objects.label_set.concerns.get(key="matrix").pk, "text": "Not quite."}
    ),
    "gaps-return": lambda _: form(gap="0:1::status", request="matrix"),
    "questionnaire-keys": lambda _: form(**{"key:next": "Ctrl+ArrowDown"}),
    "workbench-changes": lambda _: as_json(CHANGES),
    "workbench-undo": lambda _: as_json(VERSION),
    "workbench-redo": lambda _: as_json(VERSION),
    "workbench-finish": lambda _: as_json(REASONS),
    "workbench-reopen": lambda _: as_json(VERSION),
    "workbench-lock": lambda _: as_json(VERSION),
    "api-projects": lambda _: as_json({"name": "New clinic"}),
    "api-assignments": lambda _: as_json({"dialogues": ["OWN"], "annotator": "bob"}),
    "api-export-jobs": lambda _: as_json({}),
    "api-label-set-changes": lambda _: as_json(CHANGES),
    "api-label-set-undo": lambda _: as_json(VERSION),
    "api-label-set-redo": lambda _: as_json(VERSION),
    "api-label-set-finish": lambda _: as_json(REASONS),
    "api-label-set-reopen": lambda _: as_json(VERSION),
    "api-portal-file": lambda _: as_json(SAME_LABELS),
}


def routes_of(patterns: list[URLPattern | URLResolver]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(name, parts of the address) of every route below."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from routes_of(pattern.url_patterns)
        else:
            assert pattern.name, f"the route {pattern.pattern} needs a name"
            yield pattern.name, tuple(pattern.pattern.converters)


def rows_of(table: str) -> dict[str, dict[str, dict[str, str]]]:
    """route → method → person → expected status."""
    head, *lines = table.strip().splitlines()
    assert tuple(head.split()[2:]) == PEOPLE
    rows: dict[str, dict[str, dict[str, str]]] = {}
    for line in lines:
        route, method, *statuses = line.split()
        assert len(statuses) == len(PEOPLE), f"{route} {method} needs a status for each of {', '.join(PEOPLE)}"
        assert method not in rows.setdefault(route, {}), f"{route} {method} stands in the table twice"
        rows[route][method] = dict(zip(PEOPLE, statuses, strict=True))
    return rows


ALL_ROUTES = list(routes_of(get_resolver().url_patterns))
ROUTES = dict(ALL_ROUTES)
ROWS = rows_of(TABLE)


def test_every_route_stands_in_the_table_and_every_row_is_a_route():
    assert {name for name, count in Counter(name for name, _ in ALL_ROUTES).items() if count > 1} == set()
    missing, superfluous = sorted(ROUTES.keys() - ROWS.keys()), sorted(ROWS.keys() - ROUTES.keys())
    assert not missing, f"say in TABLE who may do what with: {', '.join(missing)}"
    assert not superfluous, f"TABLE names routes that do not exist: {', '.join(superfluous)}"
    assert BODIES.keys() <= {route for route, methods in ROWS.items() if "POST" in methods}


@pytest.mark.parametrize("route", sorted(ROWS))
def test_who_may_do_what(world: World, route: str):
    if route not in ROUTES:
        pytest.skip("there is no such route; another test says so")
    address = world.address(route, slug_of=world.own, row_of=world.own)
    _walk(world, route, address, lambda method, person: _expected(route, method, person), METHODS, PEOPLE)


@pytest.mark.parametrize("route", sorted(route for route, parts in ROUTES.items() if parts))
def test_an_object_of_another_project_does_not_exist(world: World, route: str):
    if route.removeprefix("api-").startswith(WITHOUT_PROJECT) or route in WITHOUT_PROJECT:
        return

    def expected(method: str, person: str) -> set[str]:
        own = _expected(route, method, person)
        return own if person == "anonymous" else {"404"}

    address = world.address(route, slug_of=world.foreign, row_of=world.foreign)
    _walk(world, route, address, expected, ROWS[route], MEMBERS)


@pytest.mark.parametrize(
    "route", sorted(route for route, parts in ROUTES.items() if len(parts) == 2 and route not in PLAIN_PARTS)
)
def test_the_address_must_name_the_project_that_the_object_is_in(world: World, route: str):
    def expected(method: str, person: str) -> set[str]:
        own = _expected(route, method, person)
        # Who lacks the role may be told so before the object is looked for.
        return own if person == "anonymous" else {"404"} | (own & {"403"})

    address = world.address(route, slug_of=world.own, row_of=world.foreign)
    _walk(world, route, address, expected, ROWS[route], PEOPLE)


@pytest.mark.parametrize("route", sorted(route for route, parts in ROUTES.items() if "pk" in parts))
def test_a_number_that_no_database_holds_names_nothing(world: World, route: str):
    parts = {name: world.own.part(route, name) for name in ROUTES[route]}
    if not isinstance(parts["pk"], int):
        return  # the address takes a UUID

    def expected(method: str, person: str) -> set[str]:
        own = _expected(route, method, person)
        return own if person == "anonymous" else {"404"} | (own & {"403"})

    _walk(world, route, reverse(route, kwargs={**parts, "pk": 10**30}), expected, ROWS[route], PEOPLE)


def decision_of(objects: Objects) -> Decision:
    return Decision.objects.get(surface_form__project=objects.project)


def pk_of(username: str) -> int:
    return User.objects.get(username=username).pk


def assigning(dialogue: Dialogue, username: str) -> dict[str, Any]:
    return form(dialogue=[dialogue.pk], annotator=[pk_of(username)], how="all", action="assign")


def changing(objects: Objects, label: dict[str, Any] | None) -> dict[str, Any]:
    return as_json({**VERSION, "changes": [{"id": str(objects.label_set.labels.get().pk), "label": label}]})


@pytest.mark.parametrize(
    ("person", "route", "body"),
    [
        ("supervisor", "dialogues-bulk", lambda far, own: form(dialogue=[far.dialogue.pk], action="archive")),
        ("supervisor", "assign", lambda far, own: assigning(far.dialogue, "bob")),
        ("supervisor", "assign", lambda far, own: assigning(own.dialogue, "felix")),
        ("supervisor", "dialogue-assign", lambda far, own: form(annotator=[pk_of("felix")])),
        ("supervisor", "api-assignments", lambda far, own: as_json({"dialogues": ["FAR"], "annotator": "bob"})),
        ("supervisor", "api-assignments", lambda far, own: as_json({"dialogues": ["OWN"], "annotator": "felix"})),
        ("annotator", "workbench-changes", lambda far, own: changing(far, LABEL)),
        ("supervisor", "agreement-names", lambda far, own: {"dialogue": [far.dialogue.pk]}),
        ("annotator", "workbench-changes", lambda far, own: changing(far, None)),
        ("annotator", "api-label-set-changes", lambda far, own: changing(far, LABEL)),
        ("annotator", "api-label-set-changes", lambda far, own: changing(far, None)),
    ],
)
def test_a_body_reaches_nothing_of_another_project(
    world: World, person: str, route: str, body: Callable[[Objects, Objects], dict[str, Any]]
):
    before = contents()
    address = world.address(route, slug_of=world.own, row_of=world.own)
    response = world.client(person).post(address, **body(world.foreign, world.own))
    assert response.status_code < 500
    assert not difference(before)


def _expected(route: str, method: str, person: str) -> set[str]:
    """What may be answered to a method, whether or not the table has a row for it."""
    row = ROWS[route].get(method)
    if row:
        return {row[person]}
    if method == "HEAD" and "GET" in ROWS[route]:
        return {ROWS[route]["GET"][person], "405"}
    # Who is not signed in learns nothing, not even which methods there are.
    public = any(methods["anonymous"] not in ("login", "401") for methods in ROWS[route].values())
    nobody = "401" if route.startswith("api-") else "login"
    if person == "anonymous" and not public:
        return {nobody}
    return {"404"} if route == "api-nothing-here" else {"405"}


def _walk(
    world: World,
    route: str,
    address: str,
    expected: Callable[[str, str], set[str]],
    methods: Iterable[str],
    people: Iterable[str],
) -> None:
    """Send the methods as each of the people and compare; a request that is refused must change nothing."""
    before = contents()
    wrong = []
    for person in people:
        for method in methods:
            allowed = expected(method, person)
            writes = Writes()
            with transaction.atomic(), connection.execute_wrapper(writes):
                got = answer(world, route, address, method, person)
                changed = difference(before) if writes.seen and not may_change(method, got, allowed) else ""
                transaction.set_rollback(True)
            if got not in {status.removesuffix("=") for status in allowed}:
                wrong.append(f"{method} as {person}: {got} instead of {' or '.join(sorted(allowed))}")
            if changed:
                wrong.append(f"{method} as {person}: {got}, and yet {changed}")
    assert not wrong, f"{route} ({address})\n  " + "\n  ".join(wrong)


def answer(world: World, route: str, address: str, method: str, person: str) -> str:
    """The status of the answer, "login" for the way to the sign-in page, with the error where it is a server's."""
    body = BODIES[route](world.own) if method == "POST" and route in BODIES else {}
    if method not in ("GET", "HEAD", "POST"):
        body = as_json({}) if route.startswith("api-") else {}
    response: HttpResponse = getattr(world.client(person), method.lower())(address, **body)
    if response.status_code >= 500:
        return f"{response.status_code} ({getattr(response, 'exc_info', ('', '?'))[1]!r})"
    if response.status_code == 302 and response["Location"].startswith(f"{reverse('sign-in')}?"):
        return "login"
    if response.streaming:
        response.getvalue()  # what fails while it is sent must fail here
    return str(response.status_code)


def may_change(method: str, got: str, allowed: set[str]) -> bool:
    """Whether a request that was answered so is one that may have changed something."""
    return method == "POST" and got in allowed and got in ("200", "201", "202", "302")


class Writes:
    """Notices whether anything was written at all, so that the tables are compared only where they may differ."""

    seen = False

    def __call__(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        self.seen = self.seen or sql.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE", "REPLACE"))
        return execute(sql, *rest)


def contents() -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, but for sessions, for what signing in leaves, and for the vocabularies, which are
    registered by whoever looks at them first."""
    linking = [model for model in apps.get_app_config("umls_linker").get_models() if model is not Vocabulary]
    models = [*apps.get_app_config("annotation").get_models(), *linking, AuthToken]
    return {model.__name__: list(model._default_manager.order_by("pk").values_list()) for model in models}


def difference(before: dict[str, list[tuple[Any, ...]]]) -> str:
    changed = [name for name, rows in contents().items() if rows != before[name]]
    return f"changed {', '.join(changed)}" if changed else ""
