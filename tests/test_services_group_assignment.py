"""Dialogues divided among annotators through the database, and handed over when people come and go."""

from __future__ import annotations

import json
import random
from collections import Counter
from io import StringIO
from itertools import pairwise

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import AssignmentRun, Concern, LabelSet, Purpose, Role
from annotation.services.assignments import label_set_assign
from annotation.services.errors import Refused
from annotation.services.group_assignment import (
    Outdated,
    annotators_at_work,
    assignment_plan,
    assignment_write,
    fingerprint,
    seeds_from_text,
)
from annotation.services.group_changes import changes_fingerprint, changes_plan, changes_write, staff
from tests import factory
from tests.qualifying import make_test

NAMES = ["ada", "bo", "cy", "dee", "eli", "fay"]


@pytest.fixture
def team(project):
    return [factory.make_member(project, factory.make_user(name), Role.ANNOTATOR) for name in NAMES]


@pytest.fixture
def corpus(project):
    draw = random.Random(1)
    return [
        factory.make_dialogue(project, f"D{place:02}", factory.TURNS[: draw.randint(4, 10)], specialty=f"S{place % 3}")
        for place in range(48)
    ]


def write(project, people, *, seeds=6, random_seed=7, **extra):
    asked = {"groups": len(people), "seeds": seeds, "random_seed": random_seed, "actor": None, **extra}
    return assignment_write(project=project, annotators=people, **asked)


def holdings() -> set[tuple[str, str, str, int]]:
    return set(LabelSet.objects.values_list("dialogue__external_id", "annotator__username", "purpose", "queue_order"))


def loads() -> Counter[str]:
    total: Counter[str] = Counter()
    for row in LabelSet.objects.select_related("dialogue", "annotator"):
        total[row.annotator.username] += row.dialogue.utterance_count
    return total


def check(team) -> None:
    """Every dialogue has its one annotator, every seed exactly two, and every queue is numbered without a gap."""
    for external_id, count in Counter(LabelSet.objects.values_list("dialogue__external_id", flat=True)).items():
        purposes = set(LabelSet.objects.filter(dialogue__external_id=external_id).values_list("purpose", flat=True))
        assert (count, purposes) in [(1, {"work"}), (2, {"seed"})]
    for person in team:
        orders = sorted(person.label_sets.values_list("queue_order", flat=True))
        assert orders == list(range(1, len(orders) + 1))


def test_the_plan_is_written_as_it_was_planned(project, team, corpus, people):
    plan = assignment_plan(project=project, annotators=team, groups=6, seeds=6, random_seed=7)
    assert not LabelSet.objects.exists()
    written = write(project, team, actor=people.supervisor, expected=fingerprint(plan))
    assert written.plan == plan
    assert written.created == LabelSet.objects.count() == 54
    assert holdings() == {
        (item.dialogue, share.annotator, "seed" if item.seed else "work", place)
        for share in plan.shares
        for place, item in enumerate(share.queue, start=1)
    }
    check(team)
    assert set(LabelSet.objects.values_list("assigned_by__username", "status", "version")) == {("sam", "todo", 0)}
    run = AssignmentRun.objects.get()
    assert (run.number, run.random_seed, run.made_by, run.waiting) == (1, 7, people.supervisor, [])
    assert run.inputs == {"annotators": NAMES, "groups": 6, "seeds": 6, "assignments": 54}


def test_the_same_random_seed_makes_the_same_assignments_and_another_one_others(project, team, corpus):
    write(project, team)
    first = holdings()
    LabelSet.objects.all().delete()
    write(project, team[::-1])
    assert holdings() == first
    LabelSet.objects.all().delete()
    write(project, team, random_seed=8)
    assert holdings() != first


def test_writing_again_changes_nothing(project, team, corpus):
    write(project, team)
    before = set(LabelSet.objects.values_list("pk", "queue_order"))
    assert write(project, team, random_seed=99).created == 0
    assert set(LabelSet.objects.values_list("pk", "queue_order")) == before
    assert AssignmentRun.objects.count() == 1


def test_dialogues_that_are_imported_later_come_at_the_end_of_the_queues(project, team, corpus):
    write(project, team)
    before = holdings()
    late = {factory.make_dialogue(project, f"L{place}").external_id for place in range(12)}
    assert write(project, team, seeds=8).created == 14
    assert before < holdings()
    check(team)
    assert {item[0] for item in holdings() - before} == late
    assert LabelSet.objects.filter(purpose=Purpose.SEED).count() == 16


def test_what_is_archived_empty_or_an_exam_is_left_out(project, team, corpus):
    archived, empty, exam = corpus[:3]
    archived.archived_at = timezone.now()
    archived.save()
    empty.utterance_count = 0
    empty.save()
    exam.exams.create(kind="test")
    assert write(project, team).created == 45 + 6
    assert not LabelSet.objects.filter(dialogue__in=[archived, empty, exam]).exists()


def test_the_numbers_and_times_of_label_sets_follow_the_queue_and_so_do_not_tell_seeds_apart(project, team, corpus):
    write(project, team)
    for person in team:
        rows = list(person.label_sets.order_by("queue_order"))
        assert [row.pk for row in rows] == list(range(rows[0].pk, rows[0].pk + len(rows)))
        assert all(one.created_at <= other.created_at for one, other in pairwise(rows))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"groups": 0}, "groups"),
        ({"groups": 49}, "groups"),
        ({"seeds": 49}, "seeds"),
        ({"seeds": -1}, "seeds"),
        ({"groups": 1}, "seeds"),
    ],
)
def test_what_cannot_be_planned_is_refused_at_its_field(project, team, corpus, change, field):
    with pytest.raises(Refused) as refusal:
        write(project, team, **change)
    assert refusal.value.field == field
    assert not LabelSet.objects.exists()


def test_nobody_to_divide_among_and_an_archived_project_are_refused(project, team, corpus):
    with pytest.raises(Refused, match="no annotators") as refusal:
        write(project, [], groups=3)
    assert refusal.value.field == "annotators"
    project.archived_at = timezone.now()
    project.save()
    with pytest.raises(Refused, match="archived"):
        write(project, team)


def test_only_annotators_are_given_dialogues(project, people, team, corpus):
    with pytest.raises(Refused, match="no annotator"):
        write(project, [*team, people.doctor])
    assert not LabelSet.objects.exists()
    assert not AssignmentRun.objects.exists()


def test_a_plan_that_was_overtaken_is_not_written(project, team, corpus):
    plan = assignment_plan(project=project, annotators=team, groups=6, seeds=6, random_seed=7)
    label_set_assign(dialogues=[corpus[0]], annotator=team[0], actor=None)
    with pytest.raises(Outdated):
        write(project, team, expected=fingerprint(plan))
    assert LabelSet.objects.count() == 1


def test_nobody_gets_a_dialogue_twice_by_an_assignment_by_hand(project, team, corpus):
    write(project, team)
    seed = LabelSet.objects.filter(purpose=Purpose.SEED).first()
    made = label_set_assign(dialogues=[seed.dialogue], annotator=seed.annotator, actor=None)
    assert (made.created, made.existing) == ((), 1)
    extra = factory.make_dialogue(project)
    made = label_set_assign(dialogues=[extra], annotator=seed.annotator, actor=None)
    assert made.created[0].queue_order == seed.annotator.label_sets.count()


@pytest.mark.parametrize(
    ("text", "number"),
    [("6", 6), ("0", 0), ("10%", 0.1), ("12.5 %", 0.125), ("12,5 %", 0.125), ("0.1", 0.1), ("1.0", 1.0), ("1", 1)],
)
def test_seeds_are_a_number_or_a_share(text, number):
    found = seeds_from_text(text)
    assert (found, type(found)) == (number, type(number))


@pytest.mark.parametrize("text", ["", "six", "-1", "101 %", "1.5", "10 %%", "٦", "1e3", "nan", "9999999"])
def test_anything_else_is_no_number_of_seeds(text):
    with pytest.raises(Refused) as refusal:
        seeds_from_text(text)
    assert refusal.value.field == "seeds"


# --- people who come and go ---


def test_groups_that_wait_are_kept_for_those_who_join(project, team, corpus):
    first, last = team[:4], team[4:]
    written = write(project, first, groups=6)
    waiting = [share for share in written.plan.shares if not share.annotator]
    assert len(waiting) == 2
    assert AssignmentRun.objects.get().waiting == [[item.dialogue for item in share.queue] for share in waiting]
    changes = changes_plan(project=project, arrivals=last, leavers=[], random_seed=3)
    done = changes_write(
        project=project,
        arrivals=last,
        leavers=[],
        random_seed=3,
        actor=None,
        expected=changes_fingerprint(changes),
    )
    check(team)
    assert {row.dialogue.external_id for row in LabelSet.objects.all()} == {row.external_id for row in corpus}
    assert done.created == len(changes.given)
    assert done.removed == len(changes.taken)
    assert AssignmentRun.objects.order_by("number").last().waiting == []
    total = loads()
    assert max(total.values()) <= 1.06 * sum(total.values()) / 6


def test_dividing_again_while_groups_wait_gives_nobody_anything(project, team, corpus):
    write(project, team[:4], groups=6)
    before = holdings()
    assert write(project, team[:4], groups=6).created == 0
    assert holdings() == before
    waiting = [{name for group in run.waiting for name in group} for run in AssignmentRun.objects.all()]
    assert waiting[0] == waiting[-1] != set()


def test_somebody_who_leaves_keeps_what_they_began_and_the_rest_is_shared_out(project, team, corpus, people):
    write(project, team)
    ada = team[0]
    begun = ada.label_sets.order_by("queue_order").first()
    factory.make_labels(begun, factory.inform(1, "symptom", "cough", status="yes"))
    asked = ada.label_sets.order_by("queue_order")[1]
    Concern.objects.create(
        label_set=asked, utterance=asked.dialogue.utterances.first(), raised_by=ada, text="Which?", key="1"
    )
    others = {row.pk for row in LabelSet.objects.exclude(annotator=ada)}
    seeds = set(LabelSet.objects.filter(purpose="seed").values_list("dialogue_id", flat=True))
    assert staff(project).leavers == tuple(team)
    changes_write(project=project, arrivals=[], leavers=[ada], random_seed=3, actor=people.supervisor)
    assert set(ada.label_sets.all()) == {begun, asked}
    check(team[1:])
    assert others <= {row.pk for row in LabelSet.objects.all()}
    assert set(LabelSet.objects.filter(purpose="seed").values_list("dialogue_id", flat=True)) == seeds
    assert {row.dialogue.external_id for row in LabelSet.objects.all()} == {row.external_id for row in corpus}
    now = staff(project)
    assert ada in now.arrivals
    assert ada not in now.leavers
    assert ada not in annotators_at_work(project)
    # Whoever has left is given nothing by a later change, until they join again.
    changes_write(project=project, arrivals=[], leavers=[team[1]], random_seed=3, actor=None)
    assert ada.label_sets.count() == 2
    changes_write(project=project, arrivals=[ada], leavers=[], random_seed=3, actor=None)
    assert ada.label_sets.count() > 2
    assert AssignmentRun.objects.order_by("number").last().left == [team[1].pk]


def test_queues_keep_their_order_when_something_is_handed_over(project, team, corpus):
    write(project, team)
    before = {person: list(person.label_sets.order_by("queue_order")) for person in team[1:]}
    changes_write(project=project, arrivals=[], leavers=[team[0]], random_seed=3, actor=None)
    for person, rows in before.items():
        now = [row for row in person.label_sets.order_by("queue_order") if row in rows]
        assert now == rows


def test_what_somebody_holds_who_lost_the_role_goes_to_the_others(project, team, corpus):
    write(project, team)
    team[0].memberships.all().delete()
    assert staff(project).gone == (team[0],)
    assert team[0] not in staff(project).arrivals
    changes_write(project=project, arrivals=[], leavers=[team[0]], random_seed=3, actor=None)
    assert not team[0].label_sets.exists()
    assert staff(project).gone == ()
    check(team)


def test_changes_that_cannot_be_made_are_refused(project, team, corpus, people):
    write(project, team[:2], seeds=2)

    def change(arrivals=(), leavers=(), **extra):
        changes_write(project=project, arrivals=arrivals, leavers=leavers, random_seed=1, actor=None, **extra)

    before = holdings()
    with pytest.raises(Refused, match="Tick at least one"):
        change()
    with pytest.raises(Refused, match="second reader"):
        change(leavers=[team[0]])
    with pytest.raises(Refused, match="no annotator"):
        change(arrivals=[people.doctor])
    with pytest.raises(Refused, match="has a group already"):
        change(arrivals=[team[0]])
    with pytest.raises(Refused, match="has no group"):
        change(leavers=[team[5]])
    with pytest.raises(Outdated):
        change(arrivals=[team[2]], expected="0" * 32)
    assert holdings() == before


def test_a_change_is_repeatable(project, team, corpus):
    write(project, team)
    plans = [
        changes_plan(project=project, arrivals=[], leavers=[team[2]], random_seed=seed).plan.as_json()
        for seed in (5, 5, 6)
    ]
    assert plans[0] == plans[1]
    assert plans[0] != plans[2]


# --- the command ---


def run(*args: str) -> dict:
    out = StringIO()
    call_command("assign", *args, "--json", stdout=out)
    return json.loads(out.getvalue().splitlines()[-1])


def test_the_command_shows_a_plan_and_then_writes_it(project, team, corpus):
    asked = ["--project", "Chest clinic", "--groups", "6", "--seeds", "10%", "--random-seed", "4"]
    shown = run(*asked, "--dry-run")
    assert (shown["dry_run"], shown["created"], len(shown["seeds"])) == (True, 0, 5)
    assert not LabelSet.objects.exists()
    done = run(*asked)
    assert done["created"] == 53
    assert done["groups"] == shown["groups"]
    assert done["imbalance"] < 0.05
    queues = {(name, group["annotator"]) for group in done["groups"] for name in group["queue"]}
    assert queues == {item[:2] for item in holdings()}
    assert run(*asked)["created"] == 0


def test_the_command_says_its_plan_to_people(project, team, corpus):
    out = StringIO()
    asked = ["--project", "chest-clinic", "--groups", "2", "--seeds", "1", "--random-seed", "4"]
    call_command("assign", *asked, "--annotators", "ada, bo", stdout=out)
    text = out.getvalue()
    assert "49 assignments made." in text
    assert "bo 1" in text
    again = StringIO()
    call_command("assign", *asked, "--annotators", "ada, bo", stdout=again)
    assert again.getvalue().startswith("Everything is assigned already")
    assert "differ from their mean" not in again.getvalue()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--seeds", "many"], "Give a number of dialogues"),
        (["--seeds", "99"], "choose fewer seeds"),
        (["--annotators", "dora"], "dora cannot be given dialogues"),
        (["--annotators", "nobody"], "no user"),
        (["--groups", "0"], "choose at least one"),
    ],
)
def test_the_command_refuses_in_one_sentence(project, people, team, corpus, args, message):
    asked = ["--project", "Chest clinic", "--groups", "6", "--seeds", "3", "--random-seed", "4", *args]
    with pytest.raises(CommandError, match=message):
        call_command("assign", *asked)
    assert not LabelSet.objects.exists()


def test_sixty_two_real_transcripts_are_balanced_and_each_seed_has_two_annotators(project, team, people, real_data):
    call_command("import_dialogues", str(real_data / "transcripts"), "--project", "Chest clinic", stdout=StringIO())
    assert project.dialogues.count() == 62
    done = run("--project", "Chest clinic", "--groups", "6", "--seeds", "10%", "--random-seed", "2026")
    check(team)
    total = loads()
    mean = sum(total.values()) / 6
    assert max(abs(load - mean) for load in total.values()) / mean <= 0.05
    holders = Counter(LabelSet.objects.filter(purpose="seed").values_list("dialogue__external_id", flat=True))
    assert len(holders) == 6
    assert set(holders.values()) == {2}
    assert all(len(group["partners"]) >= 2 for group in done["groups"])


def test_the_command_names_who_has_not_passed_the_test(project, people, team, corpus):
    make_test(project, people.supervisor)
    asked = ["--project", "Chest clinic", "--groups", "1", "--seeds", "0", "--random-seed", "4"]
    with pytest.raises(CommandError, match="has not passed the test of Chest clinic yet; let them take it"):
        call_command("assign", *asked, "--annotators", team[0].username)
    assert not LabelSet.objects.real_work().exists()
