"""A whole project with annotators of a known error rate: 60 real dialogues, six people, a tenth of them as seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from annotation.domain.agreement import AgreementReport, SubmittedReading, agreement, paired
from annotation.domain.labels import Label, Reading
from annotation.models import Dialogue, LabelSet, Project, Purpose, Role, User
from annotation.services.agreement import agreement_report
from annotation.services.agreement_scope import Scope
from annotation.services.group_assignment import assignment_write
from annotation.services.import_files import LocalFiles
from annotation.services.imports import dialogues_import
from annotation.services.label_imports import labels_import
from annotation.services.label_sets import label_set_finish
from annotation.services.readings import utterances_of
from tests import factory
from tests.agreeing import CMAS
from tests.simulating import Truth, draw, true_agreement

DIALOGUES, ANNOTATORS, SEEDS = 60, 6, 0.1
ERROR = 0.12
FIGURES = {"intents.kappa_whole_set": "kappa", "slot_values.f": "f"}


@dataclass
class Simulated:
    project: Project
    team: list[User]
    label_sets: list[LabelSet]

    @property
    def seeds(self) -> dict[str, Reading]:
        """The seed dialogues by row number, unlabelled, in the order in which they are compared."""
        found: dict[str, Reading] = {}
        for row in sorted(self.label_sets, key=lambda row: row.dialogue.external_id):
            if row.purpose == Purpose.SEED:
                dialogue = row.dialogue
                turns = utterances_of(dialogue.pk, dialogue.fingerprint)
                found[str(dialogue.pk)] = Reading(str(dialogue.pk), turns)
        return found

    @property
    def readers(self) -> dict[str, list[str]]:
        """The row numbers of the people who read each seed dialogue."""
        found: dict[str, list[str]] = {}
        for row in sorted(self.label_sets, key=lambda row: str(row.annotator_id)):
            if row.purpose == Purpose.SEED:
                found.setdefault(str(row.dialogue_id), []).append(str(row.annotator_id))
        return found

    @property
    def truth(self) -> Truth:
        return true_agreement([turn for one in self.seeds.values() for turn in one.utterances], error=ERROR)


@pytest.fixture
def simulated(db: None, real_data: Path) -> Simulated:
    project = factory.make_project("Simulated")
    files = sorted((real_data / "transcripts").glob("*.txt"))[:DIALOGUES]
    done = dialogues_import(project=project, files=LocalFiles(files), actor=None)
    assert (done.created, done.errors) == (DIALOGUES, [])
    names = [f"reader{number}" for number in range(ANNOTATORS)]
    team = [factory.make_member(project, factory.make_user(name), Role.ANNOTATOR) for name in names]
    assignment_write(project=project, annotators=team, groups=len(team), seeds=SEEDS, random_seed=7, actor=None)
    rows = LabelSet.objects.filter(dialogue__project=project).select_related("dialogue__project", "annotator")
    return Simulated(project, team, list(rows))


def drawn(simulated: Simulated, seed: int) -> dict[tuple[str, str], list[Label]]:
    """Labels by (dialogue, annotator) for every seed dialogue: one draw of the whole measurement."""
    rng = np.random.default_rng(seed)
    readers = simulated.readers
    return {
        (dialogue, person): labels
        for dialogue, reading in simulated.seeds.items()
        for person, labels in zip(readers[dialogue], draw(reading.utterances, rng, error=ERROR), strict=True)
    }


def measured(simulated: Simulated, labels: Mapping[tuple[str, str], list[Label]]) -> AgreementReport:
    seeds = simulated.seeds
    readings = [
        SubmittedReading.whole(person, seeds[dialogue].with_labels(said)) for (dialogue, person), said in labels.items()
    ]
    return agreement(CMAS, paired(readings))


def test_the_known_truth_is_what_a_very_large_draw_measures(simulated: Simulated) -> None:
    """The analytic figures against 100 draws pooled, more than 50,000 utterances."""
    truth, pooled = simulated.truth, []
    for seed in range(100):
        labels = drawn(simulated, 10_000 + seed)
        for dialogue, reading in simulated.seeds.items():
            one, other = (said for (of, _), said in labels.items() if of == dialogue)
            named = Reading(f"{dialogue} {seed}", reading.utterances)
            pooled += [
                SubmittedReading.whole(name, named.with_labels(said)) for name, said in (("1", one), ("2", other))
            ]
    found = agreement(CMAS, paired(pooled), draws=1)
    assert found.n_used > 50_000
    assert found.value("intents", "kappa_whole_set") == pytest.approx(truth.kappa, abs=0.005)
    assert found.value("slot_values", "f") == pytest.approx(truth.f, abs=0.005)
    assert 0.6 < truth.f < truth.kappa < 0.9


def test_the_assignment_is_balanced_and_every_seed_has_two_annotators(simulated: Simulated) -> None:
    held = Counter(row.dialogue_id for row in simulated.label_sets)
    seeds = {row.dialogue_id for row in simulated.label_sets if row.purpose == Purpose.SEED}
    assert len(held) == DIALOGUES == Dialogue.objects.count()
    assert len(seeds) == DIALOGUES * SEEDS
    assert {pk: count for pk, count in held.items() if count != 1} == dict.fromkeys(seeds, 2)
    assert all(len(set(people)) == 2 for people in simulated.readers.values())
    loads = dict.fromkeys((person.pk for person in simulated.team), 0)
    partners: dict[str, set[str]] = {str(person.pk): set() for person in simulated.team}
    for row in simulated.label_sets:
        assert row.annotator_id is not None
        loads[row.annotator_id] += row.dialogue.utterance_count
    for one, other in simulated.readers.values():
        partners[one].add(other)
        partners[other].add(one)
    mean = sum(loads.values()) / len(loads)
    assert max(abs(load - mean) for load in loads.values()) <= 0.05 * mean
    assert all(len(found) >= 2 for found in partners.values())


def test_measured_agreement_holds_the_known_truth_in_at_least_90_of_100_draws(simulated: Simulated) -> None:
    truth = simulated.truth
    held: Counter[str] = Counter()
    for seed in range(100):
        found = measured(simulated, drawn(simulated, seed))
        for name, of_truth in FIGURES.items():
            ends = found.intervals[name].interval
            assert ends.method == "jackknife-t"
            assert ends.low is not None
            assert ends.high is not None
            assert ends.high - ends.low < 0.35  # an interval that says nothing would hold everything
            held[name] += ends.low <= getattr(truth, of_truth) <= ends.high
    assert set(held) == set(FIGURES)
    assert min(held.values()) >= 90, held


def test_a_draw_gives_the_same_figures_through_the_database(simulated: Simulated) -> None:
    labels = drawn(simulated, 3)
    rows = {(str(row.dialogue_id), str(row.annotator_id)): row for row in simulated.label_sets}
    for place, said in labels.items():
        row = rows[place]
        assert row.annotator is not None
        done = labels_import(label_set=row, actor=row.annotator, labels=said, key="labels")
        assert (done.added, done.unusual) == (len(said), ())
        label_set_finish(label_set=row, actor=row.annotator, version=row.version, key="done")
    stored, pairs = agreement_report(project=simulated.project, scope=Scope(seeds=True))
    pure = measured(simulated, labels)
    assert len(pairs) == len(simulated.seeds)
    assert stored.n_used == stored.n_total == sum(len(one.utterances) for one in simulated.seeds.values())
    assert stored.as_json() == pure.as_json()
    whole = agreement_report(project=simulated.project, scope=Scope())[0]
    assert whole.value("intents", "kappa_whole_set") == pure.value("intents", "kappa_whole_set")
