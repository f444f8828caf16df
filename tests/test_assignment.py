"""Dialogues divided among annotators: balance, seeds in pairs, chance that can be repeated, people who come and go."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from annotation.domain.assignment import (
    Assignment,
    AssignmentError,
    AssignmentPlan,
    DialogueSize,
    plan_assignment,
    plan_changes,
)
from annotation.domain.assignment_balance import deal, deal_seeds, exchange_seeds, spread
from annotation.domain.assignment_pairs import Pairing, fair_order, pair_of
from annotation.domain.text_decoding import decode
from annotation.domain.transcripts import read_transcript, specialty_of

PEOPLE = ["ada", "bo", "cy", "dee", "eli", "fay", "gus", "hal"]


def sizes(*utterances: int) -> list[DialogueSize]:
    return [DialogueSize(f"D{place:02}", count) for place, count in enumerate(utterances)]


def drawn_sizes(draw: random.Random, count: int) -> list[DialogueSize]:
    names = ["RES", "CAR", "MSK"]
    return [DialogueSize(f"D{place:03}", draw.randint(60, 140), draw.choice(names)) for place in range(count)]


def of(plan: AssignmentPlan, annotator: str) -> list[str]:
    """The annotator's queue."""
    return [item.dialogue for share in plan.shares if share.annotator == annotator for item in share.queue]


def check_invariants(plan: AssignmentPlan, dialogues: list[DialogueSize]) -> None:
    """Nobody has a dialogue twice; seeds have two annotators, all others one, a waiting group counting as one."""
    held = Counter((item.dialogue, item.annotator) for item in plan.assignments)
    assert set(held.values()) == {1}
    takers = Counter(item.dialogue for item in plan.assignments)
    seeds = set(plan.seeds)
    assert takers == {item.id: 2 if item.id in seeds else 1 for item in dialogues}
    for item in plan.assignments:
        assert item.seed == (item.dialogue in seeds)
        assert item.annotator or not item.seed


# --- pairs ---


@pytest.mark.parametrize("count", range(2, 16))
def test_every_beginning_of_the_order_of_pairs_is_fair_and_n_minus_1_pairs_connect_all(count: int) -> None:
    people = [f"p{place:02}" for place in range(count)]
    order = fair_order(people)
    assert sorted(order) == sorted(combinations(people, 2))
    degrees = Counter(dict.fromkeys(people, 0))
    for one, other in order:
        degrees.update((one, other))
        assert max(degrees.values()) - min(degrees.values()) <= 1
    pairing = Pairing(people)
    for pair in order[: count - 1]:
        assert pairing.parts() > 1
        pairing.add(*pair)
    assert pairing.parts() == 1


def test_next_pairs_follow_the_fair_order_and_begin_again() -> None:
    people = ["a", "b", "c", "d", "e"]
    pairing, chosen = Pairing(people), []
    for _ in range(25):
        pair = pairing.next_pair()
        pairing.add(*pair)
        chosen.append(pair)
    assert chosen[:10] == fair_order(people)
    assert Counter(chosen[:20]) == dict.fromkeys(combinations(people, 2), 2)


def test_the_next_pair_connects_first_then_is_the_rarest_then_the_least_busy() -> None:
    pairing = Pairing(["a", "b", "c", "d"])
    pairing.add("a", "b", 3)
    pairing.add("b", "c")
    assert "d" in pairing.next_pair()
    pairing.add("c", "d")
    assert pairing.next_pair() in {("a", "c"), ("b", "d"), ("a", "d")}
    assert pairing.next_pair() == ("a", "d")  # shared seeds so far: a 3, b 4, c 2, d 1
    assert pairing.partner_for("b", ["a", "c", "d"]) == "d"


def test_people_whom_nothing_connects_come_before_a_pair_that_is_less_busy() -> None:
    pairing = Pairing(["a", "b", "c", "d", "e"])
    for pair in (("a", "b"), ("b", "c"), ("d", "e"), ("d", "e"), ("d", "e")):
        pairing.add(*pair)
    one, other = pairing.next_pair()
    assert (one in "abc") != (other in "abc")


# --- the plan ---


@pytest.mark.parametrize("seed", range(150))
def test_plans_hold_their_promises_for_any_random_seed(seed: int) -> None:
    draw = random.Random(seed)
    people = PEOPLE[: draw.randint(2, 8)]
    dialogues = drawn_sizes(draw, draw.randint(8 * len(people), 90))
    seeds = draw.randint(0, len(dialogues) // 3)
    plan = plan_assignment(dialogues, people, groups=len(people), seeds=seeds, random_seed=seed)
    check_invariants(plan, dialogues)
    assert len(plan.seeds) == seeds
    assert plan.imbalance <= 0.05
    counts = plan.pair_counts
    assert sum(counts.values()) == seeds
    assert max(counts.values()) - min(counts.values()) <= 1
    held = [numbers.seeds for numbers in plan.numbers()]
    assert max(held) - min(held) <= 1
    pairing = Pairing(people)
    for (one, other), count in counts.items():
        pairing.add(one, other, count)
    assert (pairing.parts() == 1) == (seeds >= len(people) - 1)


@pytest.mark.parametrize("seed", range(60))
def test_seeds_are_spread_one_in_each_stretch_of_a_queue(seed: int) -> None:
    draw = random.Random(seed)
    rest = [f"r{place}" for place in range(draw.randint(6, 30))]
    chosen = [f"s{place}" for place in range(draw.randint(1, 5))]
    queue = spread(rest, chosen, draw)
    assert sorted(queue) == sorted(rest + chosen)
    places = [place for place, name in enumerate(queue) if name in chosen]
    total = len(queue)
    for number, place in enumerate(places):
        assert number * total // len(chosen) <= place < (number + 1) * total // len(chosen)
    if total >= 3 * len(chosen):
        assert 0 not in places
        assert total - 1 not in places


def test_seeds_in_the_plan_are_spread_through_every_queue() -> None:
    dialogues = drawn_sizes(random.Random(3), 60)
    plan = plan_assignment(dialogues, PEOPLE[:6], groups=6, seeds=12, random_seed=5)
    for share in plan.shares:
        places = [place for place, item in enumerate(share.queue) if item.seed]
        assert len(places) == 4
        assert 0 < places[0] < len(share.queue) / 4
        assert 3 * len(share.queue) // 4 <= places[3] < len(share.queue) - 1


def test_the_places_of_seeds_differ_from_draw_to_draw() -> None:
    rest = [f"r{place}" for place in range(20)]
    places = {spread(rest, ["s"], random.Random(seed)).index("s") for seed in range(200)}
    assert places == set(range(1, 20))


def test_the_order_of_seeds_is_drawn() -> None:
    first = {min(queue.index(name) for name in "st") == queue.index("s") for queue in _spread_often("st")}
    assert first == {True, False}


def _spread_often(seeds: str) -> list[list[str]]:
    return [spread([f"r{place}" for place in range(8)], list(seeds), random.Random(seed)) for seed in range(30)]


def test_the_two_annotators_of_a_seed_do_not_get_it_at_the_same_place() -> None:
    """Otherwise two who compare their queues could tell it."""
    plan = plan_assignment(drawn_sizes(random.Random(1), 60), PEOPLE[:6], groups=6, seeds=15, random_seed=2)
    same = 0
    for seed in plan.seeds:
        one, other = plan.holders[seed]
        same += of(plan, one).index(seed) == of(plan, other).index(seed)
    assert same < 6


def test_the_same_random_seed_gives_the_same_plan_whatever_the_order_of_the_input() -> None:
    dialogues = drawn_sizes(random.Random(9), 40)
    plan = plan_assignment(dialogues, PEOPLE[:5], groups=5, seeds=8, random_seed=7)
    again = plan_assignment(dialogues[::-1], PEOPLE[4::-1], groups=5, seeds=8, random_seed=7)
    other = plan_assignment(dialogues, PEOPLE[:5], groups=5, seeds=8, random_seed=8)
    assert plan.as_json() == again.as_json()
    assert plan.as_json() != other.as_json()


def test_the_plan_does_not_depend_on_pythons_hashes() -> None:
    script = (
        "import json, random\n"
        "from annotation.domain.assignment import *\n"
        "d = [DialogueSize(f'D{i}', 50 + i * 7 % 40, 'RC'[i % 2]) for i in range(30)]\n"
        "p = plan_assignment(d, ['x', 'y', 'z', 'w'], groups=4, seeds=6, random_seed=1)\n"
        "c = plan_changes(p, ['v'], ['x'], {(a.dialogue, a.annotator) for a in p.assignments})\n"
        "print(json.dumps([p.as_json(), c.plan.as_json()]))\n"
    )
    root = Path(__file__).resolve().parent.parent
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script], cwd=root, env={"PYTHONHASHSEED": value}, capture_output=True, check=True
        ).stdout
        for value in ("0", "1", "12345")
    }
    assert len(outputs) == 1
    assert json.loads(outputs.pop())[0]["groups"][0]["dialogues"] > 0


def test_a_small_plan_has_the_numbers_worked_out_by_hand() -> None:
    """Two people, one seed of all equal sizes: (7 - 1) / 2 = 3 ordinary ones each, and the seed with both."""
    plan = plan_assignment(sizes(*[10] * 7), ["bo", "ada"], groups=2, seeds=1, random_seed=0)
    assert [numbers.as_json() for numbers in plan.numbers()] == [
        {"group": 1, "annotator": "ada", "dialogues": 4, "utterances": 40, "seeds": 1, "partners": {"bo": 1}},
        {"group": 2, "annotator": "bo", "dialogues": 4, "utterances": 40, "seeds": 1, "partners": {"ada": 1}},
    ]
    assert plan.imbalance == 0
    assert plan.notices == ()


def test_seeds_as_a_share_are_rounded_and_at_least_one() -> None:
    many = sizes(*[10] * 62)
    for share, number in ((0.1, 6), (0.001, 1), (0.0, 0), (1.0, 62), (0.25, 16)):
        plan = plan_assignment(many, PEOPLE[:4], groups=4, seeds=share, random_seed=1)
        assert len(plan.seeds) == number
    assert len(plan_assignment(many, PEOPLE[:4], groups=4, seeds=1, random_seed=1).seeds) == 1


def test_seeds_come_from_every_specialty_in_proportion() -> None:
    dialogues = [DialogueSize(f"R{place}", 50, "RES") for place in range(30)]
    dialogues += [DialogueSize(f"C{place}", 50, "CAR") for place in range(15)]
    dialogues += [DialogueSize(f"M{place}", 50, "MSK") for place in range(15)]
    plan = plan_assignment(dialogues, PEOPLE[:4], groups=4, seeds=8, random_seed=3)
    assert Counter(name[0] for name in plan.seeds) == {"R": 4, "C": 2, "M": 2}
    for share in plan.shares:
        assert Counter(item.dialogue[0] for item in share.queue if not item.seed)["C"] in (3, 4)


def test_what_remains_of_the_proportions_goes_to_one_specialty_each() -> None:
    """5 of three equal specialties: 5/3 each, so 1 each and 2 more for two of them."""
    dialogues = [DialogueSize(f"{name}{place}", 50, name) for name in "RCM" for place in range(10)]
    for seed in range(10):
        plan = plan_assignment(dialogues, ["ada", "bo"], groups=2, seeds=5, random_seed=seed)
        assert sorted(Counter(name[0] for name in plan.seeds).values()) == [1, 2, 2]


def test_all_dialogues_can_be_seeds_and_are_balanced_by_exchanging_them() -> None:
    dialogues = drawn_sizes(random.Random(4), 30)
    plan = plan_assignment(dialogues, PEOPLE[:5], groups=5, seeds=1.0, random_seed=4)
    check_invariants(plan, dialogues)
    assert len(plan.seeds) == 30
    assert plan.imbalance <= 0.05


def test_a_plan_of_seeds_alone_that_dealing_leaves_uneven_is_evened_out() -> None:
    plan = plan_assignment(sizes(68, 36, 44, 110, 25, 30, 37, 51, 123), PEOPLE[:4], groups=4, seeds=1.0, random_seed=1)
    assert plan.imbalance <= 0.05


def test_exchanging_seeds_brings_loads_nearer_and_keeps_the_books() -> None:
    pairs = [("a", "b"), ("c", "d"), ("a", "b"), ("c", "d")]
    loads = dict.fromkeys("abcd", 0)
    given = sizes(90, 10, 80, 20)
    for seed, pair in zip(given, pairs, strict=True):
        for name in pair:
            loads[name] += seed.utterances
    exchange_seeds(given, pairs, loads)
    assert loads == dict.fromkeys("abcd", 100)
    assert sorted(item.utterances for item in given) == [10, 20, 80, 90]
    fresh = dict.fromkeys("abcd", 0)
    deal_seeds(sizes(90, 10, 80, 20), pairs, fresh)
    assert fresh == dict.fromkeys("abcd", 100)


def test_dealing_finds_the_even_division_that_the_longest_first_rule_misses() -> None:
    """8 7 6 5 4: longest first gives 8+5+4 = 17 and 7+6 = 13; the even division is 8+7 and 6+5+4."""
    groups = deal(sizes(8, 7, 6, 5, 4), [0, 0])
    assert [sum(item.utterances for item in group) for group in groups] == [15, 15]


def test_dialogues_are_exchanged_within_a_specialty_where_that_is_enough_and_across_where_it_is_needed() -> None:
    """On top of 100 each, 17 and 13 lie within the tolerance; exchanges within the specialty still make it 15."""
    groups = deal(sizes(8, 7, 6, 5, 4), [100, 100])
    assert [sum(item.utterances for item in group) for group in groups] == [15, 15]
    apart = [DialogueSize(name, count, name) for name, count in zip("abcde", (8, 7, 6, 5, 4), strict=True)]
    assert [sum(item.utterances for item in group) for group in deal(apart, [0, 0])] == [15, 15]
    assert sorted(sum(item.utterances for item in group) for group in deal(apart, [100, 100])) == [13, 17]


def test_dealing_counts_what_a_group_has_already() -> None:
    groups = deal(sizes(10, 10, 10, 10), [40, 0])
    assert [len(group) for group in groups] == [0, 4]


def test_where_sizes_allow_no_balance_the_plan_says_so() -> None:
    plan = plan_assignment(sizes(100, 10), ["ada", "bo"], groups=2, seeds=0, random_seed=0)
    assert plan.notices == (
        "The groups differ from their mean by up to 82 %; "
        "the sizes of the dialogues, or what is assigned already, allow no better.",
    )


def test_groups_beyond_the_annotators_wait_without_seeds() -> None:
    dialogues = sizes(*[10] * 24)
    plan = plan_assignment(dialogues, ["ada", "bo"], groups=3, seeds=3, random_seed=0)
    check_invariants(plan, dialogues)
    waiting = plan.shares[2]
    assert (waiting.annotator, len(waiting.queue), plan.annotators) == ("", 9, ("ada", "bo"))
    assert plan.notices == (
        "There are more groups than annotators: 1 group (9 dialogues, 90 utterances) waits for somebody who joins "
        "later; choose 2 groups to divide everything now.",
    )


def test_with_fewer_groups_some_annotators_drawn_by_lot_get_none() -> None:
    got = set()
    for seed in range(30):
        plan = plan_assignment(sizes(*[10] * 12), PEOPLE[:4], groups=3, seeds=3, random_seed=seed)
        (without,) = set(PEOPLE[:4]) - set(plan.annotators)
        assert plan.notices == (
            f"There are fewer groups than annotators, and a group is one person's share: {without} gets none; "
            "choose 4 groups to give everybody one.",
        )
        got.add(without)
    assert got == set(PEOPLE[:4])


def test_too_few_seeds_to_connect_are_said() -> None:
    plan = plan_assignment(sizes(*[10] * 60), PEOPLE[:6], groups=6, seeds=4, random_seed=0)
    assert plan.notices[0] == (
        "The seed dialogues do not connect all 6 annotators; 5 seeds connect them, 6 give each two partners."
    )
    assert plan.notices[1].startswith("Fewer than two partners on seed dialogues: ")
    assert not plan_assignment(sizes(*[10] * 60), PEOPLE[:6], groups=6, seeds=6, random_seed=0).notices


def test_what_is_assigned_already_stays_comes_first_and_counts() -> None:
    dialogues = sizes(*[10] * 20)
    already = [
        Assignment("D00", "ada"),
        Assignment("D01", "ada"),
        Assignment("D02", "ada"),
        Assignment("D02", "bo"),
        Assignment("D03", "old"),
    ]
    plan = plan_assignment(dialogues, ["ada", "bo", "cy"], groups=3, seeds=3, random_seed=1, already=already)
    check_invariants(plan, dialogues)
    assert of(plan, "ada")[:3] == ["D00", "D01", "D02"]
    assert "D02" in plan.seeds
    assert len(plan.seeds) == 3
    assert plan.pair_counts == {("ada", "bo"): 1, ("ada", "cy"): 1, ("bo", "cy"): 1}
    assert of(plan, "old") == ["D03"]
    assert "old" not in plan.annotators
    assert {(item.dialogue, item.annotator) for item in plan.assignments if item.kept} == {
        (item.dialogue, item.annotator) for item in already
    }
    # 20 dialogues and a second reader for 3 are 23 assignments, 1 of them old's: 22 for three people.
    assert sorted(len(of(plan, name)) for name in ("ada", "bo", "cy")) == [7, 7, 8]


def test_who_has_work_already_gets_a_group_before_others() -> None:
    for seed in range(10):
        plan = plan_assignment(
            sizes(*[10] * 9), PEOPLE[:5], groups=2, seeds=0, random_seed=seed, already=[Assignment("D00", "eli")]
        )
        assert "eli" in plan.annotators


def test_planning_again_over_a_finished_plan_changes_nothing() -> None:
    dialogues = drawn_sizes(random.Random(2), 40)
    plan = plan_assignment(dialogues, PEOPLE[:4], groups=4, seeds=8, random_seed=1)
    again = plan_assignment(dialogues, PEOPLE[:4], groups=4, seeds=8, random_seed=9, already=plan.assignments)
    assert again.holders == plan.holders
    assert all(item.kept for item in again.assignments)


def test_a_seed_with_one_annotator_gets_its_second() -> None:
    already = [Assignment("D00", "ada", seed=True), Assignment("D01", "gone", seed=True)]
    plan = plan_assignment(sizes(*[10] * 9), ["ada", "bo"], groups=2, seeds=2, random_seed=1, already=already)
    assert plan.holders["D00"] == ("ada", "bo")
    assert len(plan.holders["D01"]) == 2
    assert plan.seeds == ("D00", "D01")


def test_more_seeds_than_asked_for_are_kept_and_said() -> None:
    already = [Assignment(name, who) for name in ("D00", "D01") for who in ("ada", "bo")]
    plan = plan_assignment(sizes(*[10] * 10), ["ada", "bo"], groups=2, seeds=1, random_seed=1, already=already)
    assert plan.notices == ("2 dialogues are seeds already, more than the 1 asked for; no new one was chosen.",)


def test_the_sizes_of_real_transcripts_are_balanced(real_data: Path) -> None:
    dialogues = []
    for path in sorted((real_data / "transcripts").glob("*.txt")):
        text = decode(path.read_bytes(), path.name)[0]
        dialogue, _ = read_transcript(text, file=path.name, external_id=path.stem)
        assert dialogue is not None
        dialogues.append(DialogueSize(path.stem, len(dialogue.utterances), specialty_of(path.stem)))
    assert (len(dialogues), sum(item.utterances for item in dialogues)) == (62, 6581)
    for people in range(2, 9):
        for seed in range(20):
            plan = plan_assignment(dialogues, PEOPLE[:people], groups=people, seeds=0.1, random_seed=seed)
            check_invariants(plan, dialogues)
            assert len(plan.seeds) == 6
            assert plan.imbalance <= 0.05
            assert not any("differ from their mean" in notice for notice in plan.notices)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"dialogues": []}, "There are no dialogues to divide; choose at least one."),
        ({"dialogues": sizes(5, 0)}, "The dialogue D01 has no utterances; leave it out."),
        ({"dialogues": [*sizes(5), *sizes(5)]}, "The dialogue D00 is listed twice; list it once."),
        ({"annotators": []}, "There are no annotators; choose at least one."),
        ({"annotators": ["a", "a"]}, "The annotator a is listed twice; list everybody once."),
        ({"annotators": ["a", ""]}, "An annotator has no name; give everybody one."),
        ({"groups": 0}, "Dialogues cannot be divided into 0 groups; choose at least one."),
        ({"groups": 5}, "4 dialogues cannot be divided into 5 groups; choose 4 groups at most."),
        ({"seeds": 5}, "5 seed dialogues are wanted out of 4 dialogues; choose fewer seeds."),
        ({"seeds": -1}, "There cannot be -1 seed dialogues; choose 0 or more."),
        ({"seeds": 1.5}, "The share of seeds must lie between 0 and 1, but it is 1.5."),
        ({"seeds": float("nan")}, "The share of seeds must lie between 0 and 1, but it is nan."),
        (
            {"annotators": ["a"], "groups": 1},
            "Seed dialogues need at least two annotators with a group each; choose more, or no seeds.",
        ),
        (
            {"groups": 1},
            "Seed dialogues need at least two annotators with a group each; choose more, or no seeds.",
        ),
        (
            {"already": [Assignment("D99", "a")]},
            "a already has D99, which is not among the dialogues.",
        ),
        (
            {"already": [Assignment("D00", "a"), Assignment("D00", "a")]},
            "a is said to have D00 twice; say it once.",
        ),
        (
            {"already": [Assignment("D00", "a"), Assignment("D01", "a"), Assignment("D02", "a")], "seeds": 2},
            "2 more seed dialogues are wanted, but only 1 dialogue can still be one; choose fewer seeds.",
        ),
    ],
)
def test_what_cannot_be_planned_is_said_in_one_sentence(change: dict[str, object], sentence: str) -> None:
    asked: dict[str, object] = {
        "dialogues": sizes(10, 10, 10, 10),
        "annotators": ["a", "b"],
        "groups": 2,
        "seeds": 1,
        "random_seed": 0,
    }
    asked |= change
    with pytest.raises(AssignmentError) as caught:
        plan_assignment(asked.pop("dialogues"), asked.pop("annotators"), **asked)  # type: ignore[arg-type]
    assert str(caught.value) == sentence


# --- people who come and go ---


def left_for(plan: AssignmentPlan, annotator: str, untouched: set[tuple[str, str]]) -> int:
    return sum(plan.sizes[name].utterances for name in of(plan, annotator) if (name, annotator) in untouched)


@pytest.mark.parametrize("seed", range(80))
def test_changes_move_untouched_work_only_and_keep_every_promise(seed: int) -> None:
    draw = random.Random(seed)
    people = PEOPLE[: draw.randint(3, 6)]
    dialogues = drawn_sizes(draw, 60)
    plan = plan_assignment(dialogues, people, groups=len(people), seeds=draw.randint(0, 14), random_seed=seed)
    # Everybody has begun some dialogues from the front of the queue.
    untouched = {
        (item.dialogue, share.annotator)
        for share in plan.shares
        for item in share.queue[draw.randint(0, len(share.queue) // 2) :]
    }
    leavers = draw.sample(people, draw.randint(0, len(people) - 2))
    arrivals = draw.sample(["new1", "new2"], draw.randint(0, 2))
    changes = plan_changes(plan, arrivals, leavers, untouched)
    after = changes.plan
    check_invariants(after, dialogues)
    assert after.seeds == plan.seeds
    assert set(after.annotators) == {*people, *arrivals} - set(leavers)
    assert {(item.dialogue, item.annotator) for item in changes.taken} <= untouched
    assert {item.annotator for item in changes.given}.isdisjoint(leavers)
    for name in people:
        begun = [item for item in of(plan, name) if (item, name) not in untouched]
        assert of(after, name)[: len(begun)] == begun
    for name in leavers:
        assert not [item for item in of(after, name) if (item, name) in untouched]
    before = {(item.dialogue, item.annotator) for item in plan.assignments}
    taken = {(item.dialogue, item.annotator) for item in changes.taken}
    given = {(item.dialogue, item.annotator) for item in changes.given}
    assert {(item.dialogue, item.annotator) for item in after.assignments} == before - taken | given
    assert not taken & given
    assert plan_changes(plan, arrivals[::-1], leavers[::-1], list(untouched)).plan == after


@pytest.mark.parametrize("seed", range(40))
def test_somebody_who_joins_gets_a_full_share_of_what_is_left_with_several_partners(seed: int) -> None:
    dialogues = drawn_sizes(random.Random(seed), 60)
    plan = plan_assignment(dialogues, PEOPLE[:5], groups=5, seeds=15, random_seed=seed)
    untouched = {(item.dialogue, item.annotator) for item in plan.assignments}
    changes = plan_changes(plan, ["new"], [], untouched)
    after = changes.plan
    numbers = {numbers.annotator: numbers for numbers in after.numbers()}
    assert numbers["new"].seeds == 5  # 30 seed assignments for six people
    assert len(numbers["new"].partners) >= 4
    assert max(line.seeds for line in numbers.values()) <= 6
    assert after.imbalance <= 0.10
    assert {item.annotator for item in changes.given} == {"new"}
    assert not changes.notices


def test_two_who_join_get_the_same() -> None:
    plan = plan_assignment(sizes(*[10] * 40), PEOPLE[:2], groups=2, seeds=0, random_seed=0)
    after = plan_changes(
        plan, ["new1", "new2"], [], {(item.dialogue, item.annotator) for item in plan.assignments}
    ).plan
    assert [numbers.dialogues for numbers in after.numbers()] == [10, 10, 10, 10]


def test_a_leavers_work_goes_to_whom_least_is_left_and_begun_work_stays() -> None:
    dialogues = sizes(*[10] * 30)
    plan = plan_assignment(dialogues, ["ada", "bo", "cy"], groups=3, seeds=3, random_seed=2)
    begun = next(item for item in plan.shares[0].queue if not item.seed)
    untouched = {(item.dialogue, item.annotator) for item in plan.assignments} - {(begun.dialogue, "ada")}
    changes = plan_changes(plan, [], ["ada"], untouched)
    assert changes.notices == ("ada has begun or finished 1 dialogue, which stays with ada.",)
    assert of(changes.plan, "ada") == [begun.dialogue]
    assert changes.plan.pair_counts == {("bo", "cy"): 3}
    # 30 dialogues and 3 second readers less the one that ada began are 32 for two people.
    assert [len(of(changes.plan, name)) for name in ("bo", "cy")] == [16, 16]


def test_an_arrival_takes_the_group_that_waits() -> None:
    dialogues = sizes(*[10] * 30)
    plan = plan_assignment(dialogues, ["ada", "bo"], groups=3, seeds=0, random_seed=2)
    waiting = [item.dialogue for item in plan.shares[2].queue]
    changes = plan_changes(plan, ["cy"], [], {(item.dialogue, item.annotator) for item in plan.assignments})
    assert of(changes.plan, "cy") == waiting
    assert {item.dialogue for item in changes.given} == set(waiting)
    assert changes.taken == ()
    assert len(changes.plan.shares) == 3


def test_an_arrival_in_a_waiting_group_gets_seeds_too() -> None:
    dialogues = sizes(*[10] * 40)
    plan = plan_assignment(dialogues, ["ada", "bo", "dee"], groups=4, seeds=8, random_seed=2)
    after = plan_changes(plan, ["cy"], [], {(item.dialogue, item.annotator) for item in plan.assignments}).plan
    check_invariants(after, dialogues)
    assert {numbers.annotator: numbers.seeds for numbers in after.numbers()}["cy"] == 4


def test_somebody_may_come_back() -> None:
    dialogues = sizes(*[10] * 30)
    plan = plan_assignment(dialogues, ["ada", "bo", "cy"], groups=3, seeds=3, random_seed=2)
    begun = {(share.queue[0].dialogue, share.annotator) for share in plan.shares}
    untouched = {(item.dialogue, item.annotator) for item in plan.assignments} - begun
    gone = plan_changes(plan, [], ["ada"], untouched).plan
    untouched = {(item.dialogue, item.annotator) for item in gone.assignments} - begun
    back = plan_changes(gone, ["ada"], [], untouched).plan
    check_invariants(back, dialogues)
    assert back.annotators == ("ada", "bo", "cy")
    assert back.revision == 2
    assert left_for(back, "ada", {(item.dialogue, item.annotator) for item in back.assignments} - begun) >= 70


def test_nothing_untouched_means_nothing_moves() -> None:
    plan = plan_assignment(sizes(*[10] * 30), ["ada", "bo", "cy"], groups=3, seeds=3, random_seed=2)
    changes = plan_changes(plan, ["dee"], ["ada"], set())
    assert (changes.taken, changes.given) == ((), ())
    assert changes.plan.holders == plan.holders
    assert of(changes.plan, "dee") == []


@pytest.mark.parametrize(
    ("arrivals", "leavers", "untouched", "sentence"),
    [
        (["ada"], [], [], "ada has a group already and cannot join again."),
        ([], ["zoe"], [], "zoe has no group and cannot leave."),
        (["ada"], ["ada"], [], "ada cannot join and leave at once."),
        (["dee", "dee"], [], [], "dee is listed twice among those joining; list everybody once."),
        ([], ["ada", "ada"], [], "ada is listed twice among those leaving; list everybody once."),
        ([""], [], [], "Somebody who joins has no name."),
        ([], [], [("D77", "ada")], "ada does not have the dialogue D77; leave it out of the untouched ones."),
        (
            [],
            ["ada"],
            "all",
            "With fewer than two annotators at work, untouched seed dialogues would lose their second reader; "
            "let somebody join first.",
        ),
    ],
)
def test_changes_that_cannot_be_made_are_said_in_one_sentence(
    arrivals: list[str], leavers: list[str], untouched: object, sentence: str
) -> None:
    plan = plan_assignment(sizes(*[10] * 10), ["ada", "bo"], groups=2, seeds=2, random_seed=2)
    free = [(item.dialogue, item.annotator) for item in plan.assignments] if untouched == "all" else untouched
    with pytest.raises(AssignmentError) as caught:
        plan_changes(plan, arrivals, leavers, free)  # type: ignore[arg-type]
    assert str(caught.value) == sentence


def test_when_the_last_annotator_leaves_untouched_work_somebody_must_join() -> None:
    plan = plan_assignment(sizes(10, 10), ["ada"], groups=1, seeds=0, random_seed=0)
    everything = {(item.dialogue, item.annotator) for item in plan.assignments}
    with pytest.raises(AssignmentError, match="Nobody is left to take over the untouched dialogues"):
        plan_changes(plan, [], ["ada"], everything)
    after = plan_changes(plan, ["bo"], ["ada"], everything).plan
    assert sorted(of(after, "bo")) == ["D00", "D01"]


def test_a_plan_is_not_changed_by_planning_changes() -> None:
    plan = plan_assignment(sizes(*[10] * 30), ["ada", "bo", "cy"], groups=3, seeds=3, random_seed=2)
    copy = replace(plan)
    plan_changes(plan, ["dee"], ["ada"], {(item.dialogue, item.annotator) for item in plan.assignments})
    assert plan == copy
    assert pair_of("b", "a") == pair_of("a", "b") == ("a", "b")
