"""Agreement through the database: the golden fixture typed in by two users, the traps, scopes, snapshots."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import ProtectedError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import tasks
from annotation.domain.agreement import methods_paragraph
from annotation.domain.labels import Label
from annotation.models import AgreementSnapshot, Dialogue, LabelEvent, LabelSet, Project, Purpose, Role, Status, User
from annotation.services.accounts import HasWork, person_archive, person_delete
from annotation.services.agreement import (
    agreement_measured,
    agreement_report,
    agreement_snapshot_keep,
    agreement_snapshots_refresh,
    agreement_trend,
)
from annotation.services.agreement_jobs import agreement_refresh
from annotation.services.agreement_places import Part
from annotation.services.agreement_scope import Scope
from annotation.services.agreement_sources import compared, paired_readings
from annotation.services.label_sets import label_set_finish, label_set_reopen
from annotation.services.projects import member_remove
from tests import factory
from tests.conftest import People
from tests.factory import inform

# The fixture's intents in words that the questionnaire has. What they are called changes no figure.
INTENTS = {
    "inform": "inform",
    "greet": "salutations",
    "inquire": "inquire",
    "diagnosis": "diagnosis",
    "salutation": "nod_prompt",
    "chit_chat": "chit-chat",
}
SLOTS = {"inform": "residence", "inquire": "residence"}
GOLDEN_A = ["inform", "inform greet", "inquire", "", "inform", "diagnosis salutation", "inform", "inquire"]
GOLDEN_B = ["inform", "inform", "inquire", "", "inform inquire", "diagnosis", "chit_chat", "inquire"]
KAPPA = ("intents", "kappa_whole_set")


def labels_for(intents: Sequence[str]) -> list[dict[str, Any]]:
    found = []
    for position, names in enumerate(intents):
        for name in names.split():
            intent = INTENTS[name]
            answers = {"value": "Leeds"} if intent in SLOTS else {}
            found.append({"position": position, "intent": intent, "slot": SLOTS.get(intent, ""), "answers": answers})
    return found


def type_in(client: Client, label_set: LabelSet, labels: list[dict[str, Any]], reasons: dict[str, str]) -> None:
    """What the workbench sends when somebody enters label after label and marks the dialogue as done."""
    slug = label_set.dialogue.project.slug

    def send(route: str, **data: Any) -> int:
        body = {"key": str(uuid.uuid4()), **data}
        response = client.post(reverse(route, args=[slug, label_set.pk]), json.dumps(body), "application/json")
        assert response.status_code == 200, response.content
        return int(response.json()["version"])

    version = 0
    for label in labels:
        changes = [{"id": str(uuid.uuid4()), "label": label}]
        version = send("workbench-changes", version=version, changes=changes)
    send("workbench-finish", version=version, reasons=reasons)


def doubly(project: Project, people: Sequence[User], name: str = "", **fields: Any) -> list[LabelSet]:
    dialogue = factory.make_dialogue(project, name, **fields)
    return [factory.make_label_set(dialogue, person, purpose=Purpose.SEED) for person in people]


def say(label_set: LabelSet, *intents: str, finish: bool = True) -> None:
    """Label the first utterances with intents that need no slot ("" for none), and finish."""
    labels = [Label(place, name) for place, names in enumerate(intents) for name in names.split()]
    if labels:
        factory.make_labels(label_set, *labels)
    if finish:
        done(label_set)


def done(label_set: LabelSet) -> None:
    label_set.refresh_from_db()
    assert label_set.annotator is not None
    positions = range(label_set.dialogue.utterance_count)
    label_set_finish(
        label_set=label_set,
        actor=label_set.annotator,
        version=label_set.version,
        key=str(uuid.uuid4()),
        reasons=dict.fromkeys(positions, "nothing to label"),
    )


def figures(project: Project, scope: Scope | None = None) -> dict[str, Any]:
    return dict(agreement_measured(project=project, scope=scope or Scope()).figures)


# --- the golden fixture ---


@pytest.fixture
def golden(project: Project, people: People, client_for: Callable[[User], Client]) -> tuple[LabelSet, LabelSet]:
    turns = [("doctor", f"Sentence {number}.") for number in range(8)]
    both = doubly(project, [people.annotator, people.second], "GOLD", turns=turns)
    for label_set, sets in zip(both, (GOLDEN_A, GOLDEN_B), strict=True):
        assert label_set.annotator is not None
        type_in(client_for(label_set.annotator), label_set, labels_for(sets), {"3": "nothing to label"})
    return both[0], both[1]


def test_the_golden_fixture_typed_in_by_two_users_gives_its_figures_to_six_digits(golden, project) -> None:
    found = figures(project)
    intents = found["intents"]
    assert round(intents["alpha_masi"], 6) == 0.540295
    assert round(intents["alpha_whole_set"], 6) == 0.417476
    kappas = [round(intents["by_intent"][INTENTS[name]]["kappa"], 6) for name in ("inform", "inquire", "greet")]
    assert kappas == [0.75, 0.714286, 0.0]
    assert round(intents["micro_f"], 6) == round(12 / 17, 6)
    assert (found["coverage"]["n_used"], found["coverage"]["n_total"]) == (8, 8)


def test_the_command_says_the_same_figures(golden, project) -> None:
    out = StringIO()
    call_command("agreement", "--project", "Chest clinic", "--json", stdout=out)
    said = json.loads(out.getvalue())
    assert round(said["intents"]["alpha_masi"], 6) == 0.540295
    assert {"coverage", "intents", "slot_values", "by_speaker", "intervals", "methods"} <= said.keys()
    assert {"kappa_whole_set", "alpha_masi", "by_intent"} <= said["intents"].keys()
    assert {"f", "kappa"} <= said["slot_values"].keys()
    assert [(cell["a"], cell["b"]) for cell in said["pairs"]] == [("alice", "bob")]
    assert not AgreementSnapshot.objects.exists()


# --- traps ---


def test_who_differ_everywhere_score_at_most_zero(project, people) -> None:
    a, b = doubly(project, [people.annotator, people.second])
    say(a, *["salutations", "chit-chat"] * 5)
    say(b, *["chit-chat", "salutations"] * 5)
    found = figures(project)["intents"]
    assert found["kappa_whole_set"] == -1
    assert found["alpha_masi"] <= 0
    assert found["micro_f"] == 0


def test_a_label_against_none_is_a_disagreement(project, people) -> None:
    a, b = doubly(project, [people.annotator, people.second])
    say(a, "salutations", "chit-chat")
    say(b, "", "chit-chat")
    found = figures(project)["intents"]
    assert (found["same_set"], found["different_set"]) == (9, 1)
    assert found["by_intent"]["salutations"]["b"] == 1


def test_an_utterance_not_submitted_is_missing_and_a_finished_empty_one_is_an_answer(project, people) -> None:
    a, b = doubly(project, [people.annotator, people.second])
    say(a, *["salutations"] * 10)
    say(b, "salutations", "", "chit-chat", finish=False)
    found = figures(project)
    assert (found["coverage"]["n_used"], found["coverage"]["n_total"]) == (2, 10)
    assert found["intents"]["different_set"] == 1  # not nine: seven were not reached, one was passed over
    done(b)
    found = figures(project)
    assert (found["coverage"]["n_used"], found["coverage"]["n_total"]) == (10, 10)
    assert found["intents"]["different_set"] == 9


def test_a_reason_for_no_label_is_an_answer_even_after_reopening(project, people) -> None:
    a, b = doubly(project, [people.annotator, people.second])
    say(a, "salutations")
    say(b, "salutations")
    for label_set in (a, b):
        label_set.refresh_from_db()
        label_set_reopen(
            label_set=label_set, actor=label_set.annotator, version=label_set.version, key=str(uuid.uuid4())
        )
    assert figures(project)["coverage"]["n_used"] == 10


def test_one_category_is_undefined(project, people) -> None:
    for label_set in doubly(project, [people.annotator, people.second]):
        say(label_set, *["chit-chat"] * 10)
    found = figures(project)
    assert found["intents"]["kappa_whole_set"] is None
    assert found["intents"]["alpha_masi"] is None
    assert found["slot_values"]["f"] is None
    assert found["headline"]["intents.kappa_whole_set"] == {"mean": None, "pairs": 1, "undefined": 1}


def test_three_annotators_of_a_dialogue_are_three_pairs(project, people) -> None:
    third = factory.make_member(project, factory.make_user("cora"), Role.ANNOTATOR)
    sets = doubly(project, [people.annotator, people.second, third])
    for label_set, first in zip(sets, ("salutations", "salutations", "chit-chat"), strict=True):
        say(label_set, first, "nod_prompt")
    found = figures(project)
    assert found["coverage"]["n_used"] == 30
    by_people = {(int(cell["a"]), int(cell["b"])): cell["n_used"] for cell in found["pairs"]}
    ids = sorted([people.annotator.pk, people.second.pk, third.pk], key=str)
    assert by_people == {(ids[0], ids[1]): 10, (ids[0], ids[2]): 10, (ids[1], ids[2]): 10}
    assert found["intents"]["different_set"] == 2


def rename(person: User, actor: User) -> None:
    User.objects.filter(pk=person.pk).update(username="zoe", first_name="Zoe", last_name="Quill")


def archive(person: User, actor: User) -> None:
    person_archive(person=person, actor=actor)


def remove(person: User, actor: User) -> None:
    for membership in person.memberships.select_related("project"):
        member_remove(project=membership.project, person=person)


def try_to_delete(person: User, actor: User) -> None:
    with pytest.raises(HasWork):
        person_delete(person=person, actor=actor)
    with pytest.raises(ProtectedError):
        person.delete()
    assert User.objects.filter(pk=person.pk).exists()


@pytest.mark.parametrize("happens", [rename, archive, remove, try_to_delete])
def test_whatever_happens_to_an_account_no_figure_changes(golden, project, people, happens) -> None:
    agreement_snapshot_keep(project=project, scope=Scope())
    before, _ = agreement_report(project=project, scope=Scope())
    for person in (people.annotator, people.second):
        happens(person, people.superuser)
        if happens is rename:
            break  # a user name is one person's
    after, _ = agreement_report(project=project, scope=Scope())
    assert after.as_json() == before.as_json()
    assert methods_paragraph(after) == methods_paragraph(before)
    assert agreement_measured(project=project, scope=Scope()).kept  # nor does it count as a change of the work


def test_gold_training_tests_and_archived_dialogues_are_not_compared(project, people) -> None:
    a, _ = doubly(project, [people.annotator, people.second], "ARCHIVED")
    Dialogue.objects.filter(pk=a.dialogue_id).update(archived_at=timezone.now())
    for purpose in (Purpose.TRAINING, Purpose.TEST, Purpose.REVIEW):
        dialogue = factory.make_dialogue(project)
        for person in (people.annotator, people.second):
            factory.make_label_set(dialogue, person, purpose=purpose)
    golden = factory.make_dialogue(project)
    LabelSet.objects.create(dialogue=golden, owner="gold")
    factory.make_label_set(golden, people.annotator)
    assert compared(project, Scope()) == []


def test_of_two_label_sets_of_one_person_the_seed_one_counts(project, people) -> None:
    a, b = doubly(project, [people.annotator, people.second])
    factory.make_label_set(a.dialogue, people.annotator, purpose=Purpose.WORK)
    assert {pair.a.pk for pair in compared(project, Scope())} | {pair.b.pk for pair in compared(project, Scope())} == {
        a.pk,
        b.pk,
    }


def test_dialogues_that_nobody_has_begun_count_towards_coverage_and_not_towards_the_intervals(project, people) -> None:
    for number in range(12):
        a, b = doubly(project, [people.annotator, people.second])
        if number < 3:
            say(a, "salutations", *["chit-chat"] * number)
            say(b, "salutations", "nod_prompt")
    found = figures(project)
    assert (found["coverage"]["n_used"], found["coverage"]["n_total"]) == (30, 120)
    assert (found["uncertainty"]["method"], found["uncertainty"]["dialogues"]) == ("leave_one_out", 3)
    interval = found["intervals"]["intents.kappa_whole_set"]
    assert interval["low"] <= found["intents"]["kappa_whole_set"] <= interval["high"]
    assert "labelled 3 dialogues" in found["methods"]


def test_nothing_doubly_labelled_is_no_fault(project, people, label_set) -> None:
    found = figures(project)
    assert found["coverage"]["n_total"] == 0
    assert found["intents"]["kappa_whole_set"] is None


# --- scopes ---


def test_scopes_choose_seeds_a_pair_a_specialty_and_days(project, people, monkeypatch) -> None:
    third = factory.make_member(project, factory.make_user("cora"), Role.ANNOTATOR)
    seeds = doubly(project, [people.annotator, people.second], "SEED", specialty="respiratory")
    work = factory.make_dialogue(project, "WORK")
    others = [factory.make_label_set(work, person) for person in (people.annotator, third)]
    now = timezone.now()
    with monkeypatch.context() as earlier:
        earlier.setattr(timezone, "now", lambda: now - timedelta(days=9))
        for label_set in [*seeds, others[0]]:
            say(label_set, "salutations")
    say(others[1], "salutations")

    def dialogues(**fields: Any) -> list[str]:
        return [pair.a.dialogue.external_id for pair in compared(project, Scope(**fields))]

    pair = tuple(sorted([people.annotator.pk, third.pk]))
    today = timezone.localdate(now)
    assert dialogues() == ["SEED", "WORK"]
    assert dialogues(seeds=True) == dialogues(specialty="respiratory") == ["SEED"]
    assert dialogues(pair=pair) == ["WORK"]
    assert dialogues(since=today - timedelta(days=9), until=today) == ["SEED", "WORK"]
    assert dialogues(until=today - timedelta(days=9)) == ["SEED"]  # the later of two readings counts
    assert dialogues(since=today) == ["WORK"]
    assert dialogues(since=today + timedelta(days=1)) == dialogues(until=today - timedelta(days=10)) == []


def test_a_dialogue_finished_without_a_label_has_the_day_on_which_it_was_finished(project, people) -> None:
    a, b = doubly(project, [people.annotator, people.second], "EMPTY")
    today = Scope(since=timezone.localdate())
    done(a)
    assert compared(project, today) == []
    done(b)
    assert [one.a.dialogue.external_id for one in compared(project, today)] == ["EMPTY"]
    assert compared(project, Scope(until=timezone.localdate() - timedelta(days=1))) == []


def test_choices_narrow_each_other_down(project, people) -> None:
    third = factory.make_member(project, factory.make_user("cora"), Role.ANNOTATOR)
    for name, other, specialty, purpose in (
        ("A", people.second, "respiratory", Purpose.SEED),
        ("B", third, "respiratory", Purpose.SEED),
        ("C", people.second, "msk", Purpose.SEED),
        ("D", people.second, "respiratory", Purpose.WORK),
    ):
        dialogue = factory.make_dialogue(project, name, specialty=specialty)
        for person in (people.annotator, other):
            say(factory.make_label_set(dialogue, person, purpose=purpose), "salutations")
    pair = (people.annotator.pk, people.second.pk)
    chosen: dict[str, Any] = {}
    for name, value, left in (
        ("seeds", True, ["A", "B", "C"]),
        ("pair", pair, ["A", "C"]),
        ("specialty", "respiratory", ["A"]),
        ("since", timezone.localdate(), ["A"]),
        ("until", timezone.localdate() - timedelta(days=1), []),
    ):
        chosen[name] = value
        assert [one.a.dialogue.external_id for one in compared(project, Scope(**chosen))] == left, name


def test_a_scope_comes_back_from_what_is_kept_of_it() -> None:
    day = timezone.localdate()
    for scope in (Scope(), Scope(True), Scope(True, day, day, (3, 14), "msk")):
        assert Scope.from_json(json.loads(json.dumps(scope.as_json()))) == scope
    assert Scope().key != Scope(True).key == Scope(seeds=True).key


# --- snapshots ---


def test_submitting_a_dialogue_leaves_a_snapshot_in_the_background(
    project, people, client_for, django_capture_on_commit_callbacks
) -> None:
    a, b = doubly(project, [people.annotator, people.second], "NEW")
    for label_set, intents in ((a, ["chit_chat", "greet"]), (b, ["chit_chat", "chit_chat"])):
        reasons = {str(position): "nothing to label" for position in range(2, 10)}
        assert not AgreementSnapshot.objects.filter(figures__coverage__n_used=10).exists()
        with django_capture_on_commit_callbacks(execute=True):
            type_in(client_for(label_set.annotator), label_set, labels_for(intents), reasons)
    newest = AgreementSnapshot.objects.filter(scope_key=Scope().key).latest("created_at")
    assert newest.figures["coverage"]["n_used"] == 10
    assert newest.figures["intents"]["different_set"] == 1
    assert agreement_measured(project=project, scope=Scope()).kept


def test_a_snapshot_is_made_once_for_the_same_labels_and_says_what_is_behind_every_figure(golden, project) -> None:
    first, made = agreement_snapshot_keep(project=project, scope=Scope())
    assert made
    assert agreement_snapshot_keep(project=project, scope=Scope()) == (first, False)
    measured = agreement_measured(project=project, scope=Scope())
    assert measured.kept
    assert measured.figures == json.loads(json.dumps(figures(project)))
    report, _ = agreement_report(project=project, scope=Scope())
    for path in [KAPPA, ("intents", "by_intent", "inform", "c"), ("n",), ("slot_values", "f")]:
        places = [(str(one.dialogue), one.position) for one in measured.places.behind(path)]
        assert places == report.places(*path), path
    assert [one.position for one in measured.places.behind(KAPPA)] == [1, 4, 5, 6]


def test_every_figure_of_the_report_can_name_its_utterances(golden, project) -> None:
    report, _ = agreement_report(project=project, scope=Scope())
    places = agreement_measured(project=project, scope=Scope()).places
    for path in [figure.path for figure in report.figures] + report.counts.shown:
        assert [(str(one.dialogue), one.position) for one in places.behind(path)] == report.places(*path)


def test_what_is_missing_can_be_listed(project, people) -> None:
    a, b = doubly(project, [people.annotator, people.second])
    say(a, *["salutations"] * 10)
    say(b, "salutations", finish=False)
    missing = agreement_measured(project=project, scope=Scope()).places.missing(Part(speaker="patient"))
    assert [one.position for one in missing] == [1, 3, 5, 7, 9]


def test_a_changed_label_makes_figures_anew_and_the_trend_longer(golden, project, monkeypatch) -> None:
    agreement_snapshot_keep(project=project, scope=Scope())
    label_set = golden[0]
    label_set.refresh_from_db()
    label_set_reopen(label_set=label_set, actor=label_set.annotator, version=label_set.version, key="again")
    factory.make_labels(label_set, Label(6, "chit-chat"))
    measured = agreement_measured(project=project, scope=Scope())
    assert not measured.kept
    _, made = agreement_snapshot_keep(project=project, scope=Scope())
    assert made
    trend = agreement_trend(project=project, scope=Scope())
    assert len(trend) == 2
    assert trend[0].at < trend[1].at
    assert trend[0].values != trend[1].values
    monkeypatch.setattr("annotation.services.agreement.LISTED", 2)
    factory.make_labels(label_set, Label(7, "chit-chat"))
    agreement_snapshot_keep(project=project, scope=Scope())
    assert [row.places == {} for row in AgreementSnapshot.objects.order_by("pk")] == [True, False, False]


def test_finishing_measures_in_the_background_and_again_makes_nothing(
    golden, project, django_capture_on_commit_callbacks
) -> None:
    label_set = golden[0]
    label_set.refresh_from_db()
    with django_capture_on_commit_callbacks(execute=True):
        label_set_reopen(label_set=label_set, actor=label_set.annotator, version=label_set.version, key="again")
    whole = AgreementSnapshot.objects.filter(scope_key=Scope().key)
    assert whole.count() == 1
    assert AgreementSnapshot.objects.filter(scope_key=Scope(seeds=True).key).count() == 1
    newest = LabelEvent.objects.order_by("pk").last()
    assert newest is not None
    tasks.measure_agreement(project.pk, newest.pk)
    tasks.measure_agreement(project.pk, newest.pk)
    tasks.measure_agreement(0, newest.pk)
    assert whole.count() == 1


def test_of_many_finished_at_once_only_the_last_one_measures(golden, project) -> None:
    first, last = (LabelEvent.objects.filter(kind="status").order_by(order).first() for order in ("pk", "-pk"))
    assert first is not None
    assert last is not None
    assert agreement_refresh(project=project, event_id=first.pk)  # nothing was measured for long: not left to others
    label_set = golden[1]
    label_set.refresh_from_db()
    label_set_reopen(label_set=label_set, actor=label_set.annotator, version=label_set.version, key="again")
    assert agreement_refresh(project=project, event_id=last.pk) == []
    newest = LabelEvent.objects.order_by("pk").last()
    assert newest is not None
    assert agreement_refresh(project=project, event_id=newest.pk)


def test_a_kept_scope_is_measured_along(golden, project, people) -> None:
    pair = Scope(pair=(people.annotator.pk, people.second.pk))
    agreement_snapshot_keep(project=project, scope=pair)
    AgreementSnapshot.objects.update(places={})  # as if labels had changed
    made = agreement_snapshots_refresh(project=project)
    assert {row.scope_key for row in made} == {Scope().key, Scope(seeds=True).key, pair.key}
    assert agreement_snapshots_refresh(project=project) == []


def test_label_sets_nobody_has_begun_leave_no_snapshot(project, people) -> None:
    doubly(project, [people.annotator, people.second])
    assert agreement_snapshots_refresh(project=project) == []


def test_reading_takes_few_queries_however_many_dialogues(project, people, django_assert_max_num_queries) -> None:
    for _ in range(6):
        for label_set in doubly(project, [people.annotator, people.second]):
            factory.make_labels(label_set, inform(1, "symptom", "cough", status="yes"))
    pairs = compared(project, Scope())
    paired_readings(pairs)
    with django_assert_max_num_queries(2):  # the turns are known by now
        assert len(paired_readings(compared(project, Scope()))) == 6


# --- the command ---


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--pair", "alice"], "two different user names"),
        (["--pair", "alice,alice"], "two different user names"),
        (["--pair", "alice,nobody"], "There is no user “nobody”"),
        (["--since", "yesterday"], "“yesterday” is no day"),
        (["--specialty", "foo"], "no dialogue of the specialty “foo”; there is: none"),
        ([], "is labelled by two"),
    ],
)
def test_the_command_says_what_is_wrong(people, arguments, sentence) -> None:
    with pytest.raises(CommandError, match=sentence):
        call_command("agreement", "--project", "Chest clinic", *arguments)


def test_the_command_prints_a_table_and_the_paragraph_only_when_asked(golden, project) -> None:
    def said(*arguments: str) -> str:
        out = StringIO()
        call_command("agreement", "--project", "Chest clinic", *arguments, stdout=out)
        return out.getvalue()

    text = said()
    assert "8 of 8 utterances compared, in 1 dialogue and 1 pair of annotators" in text
    assert re.search(r"^α of intents \(MASI\) +0\.54 +0\.54 +none$", text, re.M)
    assert "independently labelled" not in text
    assert "independently labelled" in said("--methods")


def test_the_command_narrows_to_a_pair(project, people) -> None:
    third = factory.make_member(project, factory.make_user("cora"), Role.ANNOTATOR)
    for label_set in doubly(project, [people.annotator, people.second, third]):
        say(label_set, "salutations")
    out = StringIO()
    call_command("agreement", "--project", "Chest clinic", "--pair", "cora,alice", "--json", stdout=out)
    said = json.loads(out.getvalue())
    assert {(cell["a"], cell["b"]) for cell in said["pairs"]} <= {("alice", "cora"), ("cora", "alice")}
    assert said["coverage"]["n_total"] == 10
    assert Status.DONE.value == LabelSet.objects.values_list("status", flat=True)[0]
