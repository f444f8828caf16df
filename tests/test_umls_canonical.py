"""Decided concepts in readings, exports, agreement and adjudication."""

from __future__ import annotations

import json
import random
import uuid
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.domain.agreement import agreement
from annotation.domain.concepts import Canon, CanonicalConcept, canonical_reading, last_names
from annotation.domain.labels import Label, Reading
from annotation.models import Dialogue, LabelSet, Project, Purpose, Status, User
from annotation.questionnaires import get_questionnaire
from annotation.services.adjudication import gold_finish
from annotation.services.agreement import agreement_measured, agreement_snapshot_keep
from annotation.services.agreement_scope import Scope
from annotation.services.concept_linking import linker
from annotation.services.exports import dataset_dialogues, portal_file
from annotation.services.readings import labels_of
from tests import factory
from tests.adjudicating import Pair, finished
from tests.agreeing import by_labels, pair
from tests.conftest import People
from tests.factory import inform
from tests.reviewing import CONCEPTS, Small, form_of, make_vocabulary
from umls_linker.models import Occurrence
from umls_linker.services.canonical import canon_of, decided_concepts
from umls_linker.services.decisions import decision_for_label, decision_nil, decision_revert, decision_take
from umls_linker.services.linking import label_sets_collect

CMAS = get_questionnaire("cmas")
DYSPNEA, COUGH = "C0013404", "C0010200"


# --- readings ---


def random_label(draw: random.Random, words: list[str], number: int) -> Label:
    values = draw.sample(words, draw.randint(1, 3))
    answers: dict[str, Any] = {"value": values, "status": draw.choice(["yes", "no"])}
    if draw.random() < 0.5:
        answers["location"] = draw.sample(words, 1)
    return Label(draw.randint(0, 9), "inform", "symptom", answers, id=f"label {number}", rank=number)


@pytest.mark.parametrize("seed", range(50))
def test_a_canonical_reading_is_canonical_already(seed: int) -> None:
    draw = random.Random(seed)
    words = [f"word {number}" for number in range(12)]
    labels = [random_label(draw, words, number) for number in range(15)]
    reading = by_labels(*labels)
    concepts = [CanonicalConcept(f"C{number}", f"Concept {number}") for number in range(4)]
    forms = {
        ("symptom", draw.choice(["value", "location"]), word): draw.choice(concepts) for word in draw.sample(words, 8)
    }
    single = {
        (draw.choice(labels).id, ("symptom", "value", draw.choice(words))): draw.choice([None, *concepts])
        for _ in range(4)
    }
    canon = Canon(forms, single)
    once = canonical_reading(CMAS, reading, canon)
    assert canonical_reading(CMAS, once, canon) == once
    assert [label.id for label in once.labels] == [label.id for label in reading.labels]
    for before, after in zip(reading.labels, once.labels, strict=True):
        assert len(set(after.values("value"))) == len(after.values("value")) <= len(before.values("value"))
        assert after.answers["status"] == before.answers["status"]


def test_without_decisions_the_reading_is_the_same_object() -> None:
    reading = by_labels(inform(1, "symptom", "cough"))
    assert canonical_reading(CMAS, reading, Canon()) is reading


def test_nothing_but_medical_values_changes() -> None:
    canon = Canon({("symptom", "onset", "now"): CanonicalConcept("C1", "Then")})
    reading = by_labels(inform(1, "symptom", "now", onset="now"))
    assert canonical_reading(CMAS, reading, canon) == reading


def test_what_a_doctor_decided_for_one_label_comes_first() -> None:
    place = ("symptom", "value", "sob")
    canon = Canon({place: CanonicalConcept("C1", "Dyspnea")}, {("two", place): None})
    one, two = (Label(1, "inform", "symptom", {"value": ["SOB"]}, id=name) for name in ("one", "two"))
    reading = canonical_reading(CMAS, by_labels(one, two), canon)
    assert [label.values("value") for label in reading.labels] == [["Dyspnea"], ["SOB"]]


def test_two_values_of_one_concept_become_one_also_where_it_was_decided_under_two_names() -> None:
    older, newer = CanonicalConcept("C1", "Dyspnea"), CanonicalConcept("C1", "Breathlessness")
    canon = Canon({("symptom", "value", "sob"): older, ("symptom", "value", "breathless"): newer})
    label = Label(1, "inform", "symptom", {"value": ["SOB", "cough", "breathless"]}, id="one")
    [written] = canonical_reading(CMAS, by_labels(label), canon).labels
    assert written.values("value") == ["Dyspnea", "cough"]


# --- what stands in a project ---


@pytest.fixture
def doubly(project: Project, people: People, dialogue: Dialogue) -> Pair:
    """Two people say it in other words: at 1 that alone, at 3 with another status, at 5 the same words."""
    make_vocabulary()
    said_a = [inform(1, "symptom", "SOB", status="yes"), inform(3, "symptom", "SOB", status="no")]
    said_b = [
        inform(1, "symptom", "short of breath", status="yes"),
        inform(3, "symptom", "short of breath", status="yes"),
    ]
    same = inform(5, "symptom", "cough", status="yes")
    made = Pair(
        dialogue,
        finished(dialogue, people.annotator, [*said_a, same]),
        finished(dialogue, people.second, [*said_b, same], purpose=Purpose.SEED),
    )
    label_sets_collect(project=project)
    return made


def decide(project: Project, doctor: User, *, cui: str = DYSPNEA, **more: Any) -> None:
    for words in ("sob", "short of breath"):
        decision_take(form=form_of(project, words), actor=doctor, cui=cui, expected=None, **more)


def label_at(label_set: LabelSet, position: int) -> uuid.UUID:
    return next(uuid.UUID(label.id) for label in labels_of(label_set) if label.position == position)


@pytest.mark.django_db
def test_the_canon_follows_decisions_and_reversals(project: Project, people: People, doubly: Pair) -> None:
    place = ("symptom", "value", "sob")
    assert linker().canon(project.pk) == Canon()
    made = decision_take(form=form_of(project, "sob"), actor=people.doctor, cui=DYSPNEA, expected=None)
    assert canon_of(project.pk).forms == {place: CanonicalConcept(DYSPNEA, "Dyspnea")}
    nil = decision_nil(form=form_of(project, "sob"), actor=people.doctor, expected=made.pk)
    assert canon_of(project.pk).forms == {}
    decision_revert(decision=nil, actor=people.doctor)
    assert canon_of(project.pk).forms == {place: CanonicalConcept(DYSPNEA, "Dyspnea")}
    assert canon_of(factory.make_project().pk) == Canon()


@pytest.mark.django_db
def test_the_canon_costs_one_query_when_nothing_has_changed(
    project: Project, people: People, doubly: Pair, django_assert_num_queries: Any
) -> None:
    decide(project, people.doctor)
    first = canon_of(project.pk)
    with django_assert_num_queries(1):
        assert canon_of(project.pk) is first


@pytest.mark.django_db
def test_an_exception_holds_for_all_labels_of_the_utterance_also_for_later_ones(
    project: Project, people: People, doubly: Pair
) -> None:
    form = form_of(project, "sob")
    mine = label_at(doubly.a, 1)
    decision_take(form=form, actor=people.doctor, cui=DYSPNEA, except_labels=[mine], expected=None)
    place = ("symptom", "value", "sob")
    assert canon_of(project.pk).concept(*place, str(mine)) is None
    third = factory.make_label_set(doubly.dialogue, people.supervisor)
    factory.make_labels(third, inform(1, "symptom", "sob"), inform(3, "symptom", "sob"))  # not collected yet
    canon = canon_of(project.pk)
    assert canon.concept(*place, str(label_at(third, 1))) is None
    assert canon.concept(*place, str(label_at(third, 3))) == CanonicalConcept(DYSPNEA, "Dyspnea")
    single = decision_for_label(form=form, label_id=mine, actor=people.doctor, cui=COUGH)
    assert canon_of(project.pk).concept(*place, str(label_at(third, 1))) == CanonicalConcept(COUGH, "Cough")
    decision_revert(decision=single, actor=people.doctor)
    assert canon_of(project.pk).concept(*place, str(mine)) is None


# --- exports ---


def exported(project: Project, annotator: User | None, **options: Any) -> str:
    found = dataset_dialogues(project=project, annotator=annotator, **options)
    return json.dumps([one.dialogue for one in found])


@pytest.mark.django_db
def test_a_dataset_has_canonical_names_in_labels_and_states_and_the_written_ones_on_demand(
    project: Project, people: People, doubly: Pair
) -> None:
    before = exported(project, people.annotator)
    decide(project, people.doctor)
    canonical = exported(project, people.annotator)
    assert canonical.count('"Dyspnea"') == before.count('"SOB"') > 2  # acts, labels and states
    assert "SOB" not in canonical
    assert exported(project, people.annotator, surface_forms=True) == before
    assert "SOB" in portal_file(label_set=doubly.a)


@pytest.mark.django_db
def test_two_wordings_of_one_concept_are_one_entry_of_the_state(
    project: Project, people: People, dialogue: Dialogue
) -> None:
    make_vocabulary()
    said = [inform(1, "symptom", "SOB", status="yes"), inform(3, "symptom", "short of breath", status="no")]
    finished(dialogue, people.annotator, said)
    label_sets_collect(project=project)

    def last_state() -> Any:
        (found,) = dataset_dialogues(project=project, annotator=people.annotator)
        return [turn["dialog_state"] for turn in found.dialogue["utterances"] if "dialog_state" in turn][-1]

    assert json.dumps(last_state()).count("SOB") == json.dumps(last_state()).count("short of breath") == 1
    decide(project, people.doctor)
    assert json.dumps(last_state()).count("Dyspnea") == 1
    assert "negative" in json.dumps(last_state())  # the newer status


@pytest.mark.django_db
def test_the_gold_carries_the_name_under_which_it_was_decided(
    project: Project, people: People, doubly: Pair, tmp_path: Path
) -> None:
    decide(project, people.doctor)
    doubly.decide(people.supervisor, 3, "A")
    out = tmp_path / "gold.json"

    def written(*options: str) -> str:
        call_command("export_dataset", "--gold", *options, project=project.name, out=str(out))
        return out.read_text(encoding="utf-8")

    assert "Dyspnea" in written()
    assert "SOB" not in written()
    assert "SOB" in written("--surface-forms")
    make_vocabulary(renamed())
    assert "Dyspnea" in written()


def renamed() -> Small:
    return Small({**CONCEPTS, DYSPNEA: ("T184", "Breathing difficulty", "dyspnea")}, version="2027-01")


@pytest.mark.django_db
def test_the_page_and_the_file_say_which_values_they_hold(
    project: Project, people: People, doubly: Pair, client_for: Any
) -> None:
    decide(project, people.doctor)
    client = client_for(people.annotator)
    page = client.get(f"/projects/{project.slug}/exports/").content.decode()
    assert "canonical name" in page
    assert "values=written" in page
    page = client.get(f"/projects/{project.slug}/exports/?values=written").content.decode()
    assert "values as they were written" in page

    def fetched(query: str) -> str:
        response = client.get(f"/projects/{project.slug}/exports/dataset.json{query}")
        return b"".join(response.streaming_content).decode()

    assert "Dyspnea" in fetched("")
    assert "SOB" not in fetched("")
    assert "SOB" in fetched("?values=written")


# --- agreement ---


def test_agreement_respects_what_was_decided_for_one_label() -> None:
    a = [Label(at, "inform", "symptom", {"value": ["SOB"]}, id=f"a{at}") for at in (1, 3)]
    b = [Label(at, "inform", "symptom", {"value": ["short of breath"]}, id=f"b{at}") for at in (1, 3)]
    concept = CanonicalConcept(DYSPNEA, "Dyspnea")
    places = [("symptom", "value", "sob"), ("symptom", "value", "short of breath")]
    canon = Canon(dict.fromkeys(places, concept))

    def cui_rung(canon: Canon) -> float | None:
        readings: tuple[Reading, Reading] = (by_labels(*a), by_labels(*b))
        return agreement(CMAS, [pair(*readings)], concepts=canon).value("slot_values", "ladder", "slot_cui", "f")

    assert cui_rung(Canon()) == 0
    assert cui_rung(canon) == 1
    assert cui_rung(Canon(canon.forms, {("a3", places[0]): None})) == 0.5


@pytest.mark.django_db
def test_the_figures_count_two_wordings_as_one_beside_the_plain_ones(
    project: Project, people: People, doubly: Pair
) -> None:
    def ladder() -> tuple[float, float]:
        rungs = agreement_measured(project=project, scope=Scope()).figures["slot_values"]["ladder"]
        return rungs["slot_value"]["f"], rungs["slot_cui"]["f"]

    plain, by_concept = ladder()
    assert plain == by_concept == pytest.approx(1 / 3)
    snapshot, new = agreement_snapshot_keep(project=project, scope=Scope())
    assert new
    decide(project, people.doctor)
    assert ladder() == (plain, 1.0)  # although no label has changed since the snapshot
    classes = agreement_measured(project=project, scope=Scope()).figures["decomposition"]["classes"]
    assert (classes["wording_same_cui"]["n"], classes["value"]["n"], classes["status"]["n"]) == (1, 0, 1)
    again, new = agreement_snapshot_keep(project=project, scope=Scope())
    assert new
    assert again.pk != snapshot.pk
    assert agreement_snapshot_keep(project=project, scope=Scope()) == (again, False)


# --- adjudication ---


@pytest.mark.django_db
def test_two_wordings_of_one_concept_need_no_adjudication(project: Project, people: People, doubly: Pair) -> None:
    assert doubly.case.open == {1: 1, 3: 1}
    decide(project, people.doctor)
    case = doubly.case
    assert case.open == {3: 1}
    (agreed,) = case.pairings[1]
    words = "both agree, other wording of the same concept: A says “SOB”, B says “short of breath”"
    assert agreed.words() == words
    (differs,) = case.pairings[3]
    assert differs.words().startswith("same symptom, other wording of the same concept: ")


@pytest.mark.django_db
def test_gold_that_was_begun_takes_up_what_became_agreed_and_gives_it_back(
    project: Project, people: People, doubly: Pair
) -> None:
    doubly.decide(people.supervisor, 3, "A")
    assert {label.position for label in labels_of(doubly.gold)} == {3, 5}
    decide(project, people.doctor)
    assert doubly.case.stale == [1]
    assert doubly.case.decisions(3)  # the decision still counts
    done = gold_finish(dialogue=doubly.dialogue, actor=people.supervisor, version=doubly.case.version, key="done")
    gold = doubly.gold
    assert (gold.status, gold.version) == (Status.DONE, done.version)
    assert {label.position: label.values("value") for label in labels_of(gold)}[1] == ["SOB"]
    assert not doubly.case.stale
    form = form_of(project, "sob")
    decision_revert(decision=form.decisions.standing().get(), actor=people.doctor)
    assert doubly.case.open == {1: 1}
    assert doubly.case.stale == [1]


@pytest.mark.django_db
def test_an_older_decision_for_both_wordings_is_kept(project: Project, people: People, doubly: Pair) -> None:
    doubly.decide(people.supervisor, 1, "both")
    decide(project, people.doctor)
    doubly.decide(people.supervisor, 3, "A")
    assert [label.position for label in labels_of(doubly.gold)] == [1, 1, 3, 5]


@pytest.mark.django_db
def test_an_exception_makes_it_a_conflict_again(project: Project, people: People, doubly: Pair) -> None:
    decide(project, people.doctor)
    form = form_of(project, "sob")
    here = Occurrence.objects.get(surface_form=form, utterance__position=1).label_id
    decision_for_label(form=form, label_id=here, actor=people.doctor, nil=True)
    assert doubly.case.open == {1: 1, 3: 1}


# --- one name for one concept ---


@pytest.mark.parametrize("seed", range(20))
def test_a_concept_has_the_name_of_its_newest_decision(seed: int) -> None:
    draw = random.Random(seed)
    decisions = [(draw.choice(["", "C1", "C2", "C3"]), f"name {number}") for number in range(12)]
    names = last_names(decisions)
    assert set(names) == {cui for cui, _ in decisions if cui}
    for cui, name in names.items():
        newest = max(place for place, one in enumerate(decisions) if one[0] == cui)
        assert decisions[newest][1] == name


def names_in(canon: Canon) -> set[tuple[str, str]]:
    concepts = [*canon.forms.values(), *(one for one in canon.labels.values() if one)]
    return {(one.cui, one.name) for one in concepts}


@pytest.mark.django_db
def test_one_concept_has_one_name_in_files_whatever_names_it_was_decided_under(
    project: Project, people: People, doubly: Pair
) -> None:
    take = partial(decision_take, actor=people.doctor, cui=DYSPNEA, expected=None)
    take(form=form_of(project, "sob"))
    make_vocabulary(renamed())
    newest = take(form=form_of(project, "short of breath"))
    assert newest.name == "Breathing difficulty"
    assert names_in(canon_of(project.pk)) == {(DYSPNEA, "Breathing difficulty")}
    assert form_of(project, "sob").decisions.standing().get().name == "Dyspnea", "as it was decided"
    written = exported(project, people.annotator)
    assert "Breathing difficulty" in written
    assert "Dyspnea" not in written
    decided = decided_concepts(project.pk)
    older = decided.about("symptom", "value", "SOB")
    assert (older.name, older.version) == ("Breathing difficulty", "2026-01")
    # a decision about one utterance counts as well, and what is taken back counts no more
    label = label_at(doubly.a, 3)
    single = decision_for_label(
        form=form_of(project, "sob"), label_id=label, actor=people.doctor, cui=DYSPNEA, name="dyspnea"
    )
    assert names_in(canon_of(project.pk)) == {(DYSPNEA, "dyspnea")}
    decision_revert(decision=single, actor=people.doctor)
    decision_revert(decision=newest, actor=people.doctor)
    assert names_in(canon_of(project.pk)) == {(DYSPNEA, "Dyspnea")}


@pytest.mark.django_db
def test_a_decision_that_stands_again_is_as_old_as_it_was(project: Project, people: People, doubly: Pair) -> None:
    first = decision_take(form=form_of(project, "sob"), actor=people.doctor, cui=DYSPNEA, expected=None)
    nil = decision_nil(form=form_of(project, "sob"), actor=people.doctor, expected=first.pk)
    make_vocabulary(renamed())
    decision_take(form=form_of(project, "short of breath"), actor=people.doctor, cui=DYSPNEA, expected=None)
    decision_revert(decision=nil, actor=people.doctor)
    assert form_of(project, "sob").decisions.standing().get().origin == "restored"
    assert names_in(canon_of(project.pk)) == {(DYSPNEA, "Breathing difficulty")}
