"""Annotators see nothing of each other's labels, and cannot tell which of their dialogues somebody else labels too.

Three proofs: nothing of another's is in anything that an annotator can fetch; every answer stays the same, to the byte
and to the number of queries, when one of their dialogues becomes a seed that is labelled, measured, asked about and
decided by others; and writing in a seed is answered like writing in any other dialogue.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    AgreementSnapshot,
    AssignmentRun,
    Dialogue,
    LabelSet,
    Owner,
    Project,
    Purpose,
    ReturnedItem,
    Role,
    Status,
    User,
)
from annotation.services import readings, recent_readings
from annotation.services.agreement import agreement_snapshots_refresh
from annotation.services.assignments import label_set_assign
from annotation.services.concerns import concern_answer, concern_raise
from annotation.services.group_assignment import assignment_write
from annotation.services.label_imports import label_set_for_import
from annotation.services.label_sets import label_set_finish
from tests import factory
from tests.test_access_matrix import ALL_ROUTES, ROWS
from umls_linker.models import Decision, Occurrence, SurfaceForm
from umls_linker.services import canonical, project_vocabulary
from umls_linker.services.surface_forms import label_set_collect

LARGEST_KEY = 10  # of the rows of the small world below; a test sees to it
# What is the same for everybody and speaks of seeds in general: the description of the interface.
GENERAL = ("schema", "api-docs")
SECRETS = re.compile(r"\bseeds?\b|purpose.{0,6}(seed|review)", re.IGNORECASE)


@dataclass
class Answer:
    """What was answered, with everything taken out that differs from one request to the next."""

    status: int
    place: str
    headers: dict[str, str]
    text: str
    queries: int


@pytest.fixture
def dan(project: Project) -> User:
    """Somebody who reads the dialogues as a doctor and labels some of them."""
    return factory.make_member(project, factory.make_user("dan"), Role.ANNOTATOR, Role.DOCTOR)


@pytest.fixture
def dialogues(project: Project) -> list[Dialogue]:
    return [factory.make_dialogue(project, f"RES-{number}", specialty="respiratory") for number in range(1, 5)]


@pytest.fixture
def work(people: Any, dan: User, dialogues: list[Dialogue]) -> dict[str, LabelSet]:
    """RES-1 and RES-2 are alice's, RES-3 is bob's and RES-4 dan's, each finished with a label that names its owner."""
    owners = [people.annotator, people.annotator, people.second, dan]
    return {dialogue.external_id: finished(dialogue, owner) for dialogue, owner in zip(dialogues, owners, strict=True)}


def finished(dialogue: Dialogue, owner: User, purpose: str = Purpose.WORK) -> LabelSet:
    order = owner.label_sets.count() + 1
    label_set = factory.make_label_set(dialogue, owner, purpose=purpose, queue_order=order)
    said = f"zebra-{owner.username}"
    factory.make_labels(label_set, factory.inform(1, "symptom", said, status="yes", onset=f"{said} onset"))
    label_set.refresh_from_db()
    reasons = {position: "nothing to label" for position in range(dialogue.utterance_count) if position != 1}
    label_set_finish(
        label_set=label_set, actor=owner, version=label_set.version, key=str(uuid.uuid4()), reasons=reasons
    )
    label_set_collect(label_set=label_set)  # what a worker does after every save
    return label_set


def become_seed(label_set: LabelSet, other: User, supervisor: User) -> LabelSet:
    """Give the dialogue to somebody else too, and let everything happen to it that happens to a seed."""
    project = label_set.dialogue.project
    LabelSet.objects.filter(pk=label_set.pk).update(purpose=Purpose.SEED)
    second = finished(label_set.dialogue, other, Purpose.SEED)
    text = f"zebra-{other.username} asks"
    concern = concern_raise(label_set=second, actor=other, position=2, text=text, key="ask")
    concern_answer(concern=concern, actor=supervisor, text=f"zebra-{other.username} is answered")
    turn = label_set.dialogue.utterances.get(position=1)
    ReturnedItem.objects.create(
        label_set=second, utterance=turn, rule="status", question=f"zebra-{other.username}?", returned_by=supervisor
    )
    LabelSet.objects.filter(pk=second.pk).update(status=Status.RETURNED)
    LabelSet.objects.filter(pk=second.pk).update(status=Status.DONE)
    agreement_snapshots_refresh(project=project)
    call_command("adjudicate", "--project", project.name, "--accept-agreed", stdout=StringIO())
    except_from_decisions(second, supervisor)
    AssignmentRun.objects.create(project=project, number=1, random_seed=1, made_by=supervisor)
    return second


def addresses(project: Project) -> Iterator[tuple[str, str]]:
    """(route, address) of everything that can be asked for, with every key that anything has here."""
    for route, parts in ALL_ROUTES:
        if "GET" not in ROWS.get(route, {"GET": {}}) or route == "api-nothing-here":
            continue
        keys: list[dict[str, Any]] = [{}]
        if route.removeprefix("api-").startswith(("import", "export", "evaluation")):
            keys = [] if "pk" in parts else keys  # files of a job, for supervisors only
        elif "pk" in parts:
            keys = [{"pk": pk} for pk in range(1, LARGEST_KEY + 1)]
        for key in keys:
            named = {"slug": project.slug, "name": "cmas", **key}
            yield route, reverse(route, kwargs={part: named[part] for part in parts})
    exports, dataset = reverse("exports", args=[project.slug]), reverse("dataset-file", args=[project.slug])
    api = reverse("api-label-sets")
    for person in ("alice", "bob", "dan"):
        for route, address in (("exports", exports), ("dataset-file", dataset), ("api-label-sets", api)):
            yield route, f"{address}?annotator={person}"
        yield "api-dataset", f"{reverse('api-dataset', args=[project.slug])}?annotator={person}"
    for query in ("dialogue=RES-1", "status=done", "page_size=1", "page_size=1&page=2", f"project={project.slug}"):
        yield "api-label-sets", f"{api}?{query}"
    for query in ("show=done", "show=all", "q=RES-1&show=all", "q=seed&show=all"):
        yield "home", f"/?{query}"
    for query in ("q=zebra", "q=RES-4", "show=odd", "show=unassigned", "show=archived"):
        yield "dialogues", f"{reverse('dialogues', args=[project.slug])}?{query}"
    for route in ("concepts-suggest", "concepts-search", "concepts", "concepts-queue"):
        yield route, f"{reverse(route, args=[project.slug])}?q=zebra&slot=symptom&field=value"


def walk(user: User, project: Project) -> dict[str, Answer]:
    """Everything the person can fetch, by address."""
    forget()
    client = Client(raise_request_exception=False)
    client.force_login(user)
    found = {}
    for _, address in addresses(project):
        found[address] = ask(client, address)
    return found


def ask(client: Client, address: str) -> Answer:
    with CaptureQueriesContext(connection) as queries:
        response = client.get(address)
        body = response.getvalue() if response.streaming else response.content
    assert response.status_code < 500, address
    kept = ("Content-Type", "Content-Disposition", "X-Portal-Dialogue", "Cache-Control", "ETag", "Vary")
    headers = {name: response.headers[name] for name in kept if name in response.headers}
    text = plain(body.decode())
    return Answer(response.status_code, response.headers.get("Location", ""), headers, text, len(queries))


def plain(text: str) -> str:
    return re.sub(r'(csrfmiddlewaretoken" value=|"X-CSRFToken": )"[^"]*"', "", text)


def forget() -> None:
    """Every walk begins as a fresh process does, so that what was kept in memory does not save it a query."""
    readings.utterances_of.cache_clear()
    readings.utterance_ids_of.cache_clear()
    recent_readings.forget()
    canonical.forget()
    project_vocabulary.forget()
    project_vocabulary.vocabularies_register()  # what other tests have built has its row before anything is counted


def test_nothing_an_annotator_can_fetch_shows_anothers_labels_or_a_seed(project, people, dan, work):
    second = become_seed(work["RES-1"], people.second, people.supervisor)
    become_seed_of_dan(work["RES-4"], people)
    decide_all_values(people.doctor)
    assert AgreementSnapshot.objects.exists()
    assert LabelSet.objects.filter(owner=Owner.GOLD).count() == 2
    tables = (LabelSet, Dialogue, User, AgreementSnapshot, ReturnedItem)
    assert max(row.pk for table in tables for row in table.objects.all()) <= LARGEST_KEY
    for person, others in (
        (people.annotator, ("zebra-bob", "zebra-dan", "bob", "dan")),
        (people.second, ("zebra-alice", "zebra-dan", "alice", "dan")),
    ):
        seen = 0
        for address, answer in walk(person, project).items():
            shown = answer.text + answer.place + str(answer.headers) if answer.status != 403 else ""
            seen += f"zebra-{person.username}" in shown
            general = any(address.startswith(reverse(route)) for route in GENERAL)
            for word in others:
                # Whoever asks for somebody by name gets the name back in the refusal, and nothing else.
                assert not re.search(rf"\b{word}\b", shown.replace(address, "")), (address, word)
            assert general or not SECRETS.search(
                shown.replace("q=seed", "").replace('value="seed"', "").replace("“seed”", "")
            ), address
        assert seen >= 10, "the walk does not even come across the person's own labels"
    mine = Client()
    mine.force_login(people.annotator)
    for route in ("workbench", "portal-file", "labels-import", "workbench-history"):
        assert mine.get(reverse(route, args=[project.slug, second.pk])).status_code == 404


def decide_all_values(doctor: User) -> None:
    """Every wording that anybody used means something, and everybody may know what; not who used which."""
    for form in SurfaceForm.objects.all():
        kept = {"kind": "concept", "cui": "C0000001", "name": "Stripes"}
        Decision.objects.create(surface_form=form, decided_by=doctor, decided_at=timezone.now(), **kept)


def except_from_decisions(label_set: LabelSet, doctor: User) -> None:
    """Something else is decided for what this label set says, and asked about it."""
    for row in Occurrence.objects.filter(label_set=label_set):
        at = {"label_id": row.label_id, "utterance_id": row.utterance_id}
        for decision in Decision.objects.filter(surface_form=row.surface_form, utterance=None):
            decision.exceptions.create(**at)
        given = {"kind": "concept", "cui": "C0000002", "name": "Spots", "decided_at": timezone.now()}
        Decision.objects.create(surface_form=row.surface_form, decided_by=doctor, **at, **given)


def become_seed_of_dan(label_set: LabelSet, people: Any) -> None:
    LabelSet.objects.filter(pk=label_set.pk).update(purpose=Purpose.SEED)
    finished(label_set.dialogue, people.second, Purpose.SEED)
    call_command("adjudicate", "--project", label_set.dialogue.project.name, "--accept-agreed", stdout=StringIO())
    agreement_snapshots_refresh(project=label_set.dialogue.project)


@pytest.mark.parametrize(("who", "which"), [("annotator", "RES-1"), ("dan", "RES-4")])
def test_every_answer_stays_the_same_when_a_dialogue_becomes_a_seed(project, people, dan, work, who, which):
    person = dan if who == "dan" else people.annotator
    decide_all_values(people.doctor)
    except_from_decisions(work["RES-3"], people.doctor)
    before = walk(person, project)
    become_seed(work[which], people.second, people.supervisor)
    after = walk(person, project)
    assert before.keys() == after.keys()
    changed = [address for address, answer in before.items() if answer != after[address]]
    assert not changed, "\n".join(f"{address}: {difference(before[address], after[address])}" for address in changed)


def difference(one: Answer, other: Answer) -> str:
    for name in ("status", "place", "headers", "queries"):
        if getattr(one, name) != getattr(other, name):
            return f"{name} {getattr(one, name)} became {getattr(other, name)}"
    lines = zip(one.text.splitlines(), other.text.splitlines(), strict=False)
    return next((f"{a!r} became {b!r}" for a, b in lines if a != b), "longer or shorter")[:600]


LABEL = {"position": 3, "intent": "inform", "slot": "symptom", "answers": {"value": ["fever"], "status": "no"}}
REASONS = {str(position): "nothing to label" for position in range(10) if position != 3}


def write_all(client: Client, label_set: LabelSet, callbacks: Any) -> list[tuple[Any, ...]]:
    """Every write there is, by page and by API: status, body, number of queries, what is done afterwards."""
    forget()
    slug = label_set.dialogue.project.slug
    label = str(uuid.UUID(int=label_set.pk))
    asked: list[tuple[str, list[Any], dict[str, Any]]] = []
    version = 0
    for prefix, start in (("workbench", [slug, label_set.pk]), ("api-label-set", [label_set.pk])):
        for action, more in (
            ("changes", {"changes": [{"id": label, "label": LABEL}], "seconds": 5}),
            ("undo", {}),
            ("redo", {}),
            ("finish", {"reasons": REASONS}),
            ("reopen", {}),
            ("changes", {"changes": [{"id": label, "label": None}]}),
        ):
            asked.append((f"{prefix}-{action}", start, {"version": version, "key": f"{prefix} {version}", **more}))
            version += 1
    asked.append(
        ("workbench-changes", [slug, label_set.pk], {"version": 0, "key": "old", "changes": [{"label": LABEL}]})
    )
    found = []
    for route, args, body in asked:
        with CaptureQueriesContext(connection) as queries, callbacks() as after:
            response = client.post(reverse(route, args=args), json.dumps(body), content_type="application/json")
        found.append(
            (route, response.status_code, same_for_all(response.content.decode(), label_set), len(queries), len(after))
        )
    return found


def same_for_all(text: str, label_set: LabelSet) -> str:
    """The answer without what names this label set and this moment."""
    text = text.replace(label_set.dialogue.external_id, "ID").replace(str(uuid.UUID(int=label_set.pk)), "LABEL")
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(\+00:00|Z)", "NOW", text)


def test_writing_in_a_seed_is_answered_like_writing_in_any_other_dialogue(
    project, people, client_for, django_capture_on_commit_callbacks
):
    plain_one, seed = (factory.make_dialogue(project, name) for name in ("AAA", "BBB"))
    ordinary = factory.make_label_set(plain_one, people.annotator, queue_order=1)
    marked = factory.make_label_set(seed, people.annotator, purpose=Purpose.SEED, queue_order=2)
    finished(seed, people.second, Purpose.SEED)
    client = client_for(people.annotator)
    client.get("/")
    one, other = (write_all(client, row, django_capture_on_commit_callbacks) for row in (ordinary, marked))
    assert one == other
    assert {row[1] for row in one[:-1]} == {200}
    assert one[-1][1] == 409


def test_the_api_calls_a_seed_work_but_to_its_supervisors(project, people, work, client_for):
    become_seed(work["RES-1"], people.second, people.supervisor)
    pk = work["RES-1"].pk
    shown = {
        who: client_for(getattr(people, who)).get(reverse("api-label-set", args=[pk])).json()["purpose"]
        for who in ("annotator", "supervisor", "superuser")
    }
    assert shown == {"annotator": "work", "supervisor": "seed", "superuser": "seed"}
    listed = client_for(people.supervisor).get(reverse("api-label-sets"), {"dialogue": "RES-1"}).json()["results"]
    assert {row["purpose"] for row in listed if row["owner"] == "annotator"} == {"seed"}


def test_whoever_supervises_elsewhere_is_told_nothing_here(project, people, work, client_for):
    LabelSet.objects.update(purpose=Purpose.SEED)
    factory.make_member(factory.make_project("Elsewhere"), people.annotator, Role.SUPERVISOR)
    rows = client_for(people.annotator).get(reverse("api-label-sets")).json()["results"]
    assert {row["purpose"] for row in rows} == {"work"}


def test_whoever_has_a_seed_never_gets_it_a_second_time(project, people, dialogues):
    assignment_write(
        project=project, annotators=[people.annotator, people.second], groups=2, seeds=4, random_seed=1, actor=None
    )
    made = label_set_assign(dialogues=dialogues, annotator=people.annotator, actor=None)
    assert (made.created, made.existing) == ((), 4)
    found = label_set_for_import(dialogue=dialogues[0], annotator=people.annotator)
    assert found.purpose == Purpose.SEED
    assert LabelSet.objects.count() == 8
