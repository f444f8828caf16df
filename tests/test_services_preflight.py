"""What is missing from an export is said before it is made, and where."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from annotation.domain.completeness import Gap
from annotation.domain.labels import Label as LabelData
from annotation.domain.splits import Shares, Split
from annotation.models import AdjudicationDecision, LabelSet, Project, Status
from annotation.services.adjudication import gold_finish
from annotation.services.export_readings import ExportOptions
from annotation.services.known_gaps import lacks_of
from annotation.services.preflight import Drawing, Item, Lack, Preflight, empty_splits, preflight
from annotation.services.statistics import project_statistics
from tests import factory
from tests.adjudicating import LABELS_A, Pair, finished, make_pair
from tests.conftest import People
from tests.exporting import make_gold, make_gold_project, write
from tests.factory import inform
from tests.qualifying import GOLD, make_exam
from tests.reviewing import form_of, make_vocabulary
from umls_linker.models import Occurrence
from umls_linker.services.decisions import decision_nil, decision_take
from umls_linker.services.linking import label_sets_collect


def look(project: Project, **options: object) -> Preflight:
    return preflight(project=project, options=ExportOptions(**options))  # type: ignore[arg-type]


def texts(found: Preflight, lack: Lack) -> dict[str, str]:
    return {item.dialogue.external_id: item.text for item in found.lacks[lack]}


def test_a_project_whose_gold_is_whole_lacks_nothing(project: Project, people: People) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    make_exam(factory.make_dialogue(project, "EXAM"), "test", people.supervisor)
    found = look(project)
    assert [kind for kind, items in found.lacks.items() if items] == [Lack.NO_CONCEPT], "nobody has decided yet"
    assert (found.dialogues, found.utterances, found.labels, found.refusal) == (8, 80, 80, "")
    assert {split.value: number for split, number in found.splits.items()} == {
        "train": 5,
        "valid": 1,
        "test": 1,
        "ood_test": 1,
    }


def test_dialogues_without_gold_are_listed_by_how_far_they_are(project: Project, people: People) -> None:
    one, other = people.annotator, people.second
    make_gold(factory.make_dialogue(project, "GOLD"), one, other, people.supervisor)
    make_pair(factory.make_dialogue(project, "PAIR"), one, other)
    finished(factory.make_dialogue(project, "ONCE"), one, LABELS_A)
    factory.make_label_set(factory.make_dialogue(project, "GIVEN"), one)
    factory.make_dialogue(project, "NEW")
    begun = make_pair(factory.make_dialogue(project, "BEGUN"), one, other)
    begun.decide(people.supervisor, 3, "A")
    found = look(project)
    assert texts(found, Lack.NOT_GOLD) == {
        "BEGUN": "adjudication is begun but not finished",
        "GIVEN": "still being labelled (0 of 1 done)",
        "NEW": "nobody has it to label yet",
        "ONCE": "labelled by one person, not reviewed",
        "PAIR": "labelled by 2 people, not adjudicated",
    }
    decidable = {item.dialogue.external_id for item in found.lacks[Lack.NOT_GOLD] if item.decidable}
    assert decidable == {"BEGUN", "ONCE", "PAIR"}
    assert found.dialogues == 1


def test_incomplete_labels_and_bare_utterances_are_named(project: Project, people: People) -> None:
    labels = [*GOLD[:3], inform(3, "symptom", "fever"), *GOLD[4:-1]]
    make_gold(factory.make_dialogue(project, "GOLD"), people.annotator, people.second, people.supervisor, labels)
    LabelSet.objects.filter(annotator=people.second).update(unlabelled_reasons={})
    found = look(project)
    assert [item.position for item in found.lacks[Lack.INCOMPLETE]] == [3]
    assert "fever" in found.lacks[Lack.INCOMPLETE][0].text
    assert [item.position for item in found.lacks[Lack.UNLABELLED]] == [9], "only one of the two said why"
    assert not found.complete
    whole = look(project, source="all")
    assert [item.text.split(":")[0] for item in whole.lacks[Lack.INCOMPLETE]] == ["alice", "bob"]


def test_what_every_reader_marked_as_nothing_to_label_is_not_missing(project: Project, people: People) -> None:
    dialogue = factory.make_dialogue(project, "GOLD")
    make_gold(dialogue, people.annotator, people.second, people.supervisor, GOLD[:-1])
    reasons = LabelSet.objects.filter(owner="annotator").values_list("unlabelled_reasons", flat=True)
    assert [list(one) for one in reasons] == [["9"], ["9"]]
    assert look(project).lacks[Lack.UNLABELLED] == []


def test_what_the_adjudicator_decided_to_leave_bare_is_not_missing(project: Project, people: People) -> None:
    pair = make_pair(factory.make_dialogue(project, "GOLD"), people.annotator, people.second)
    for position in list(pair.case.open):
        for _ in pair.case.undecided(position):
            pair.decide(people.supervisor, position, "none")
    gold_finish(dialogue=pair.dialogue, actor=people.supervisor, version=pair.case.version, key=str(uuid4()))
    bare = {one.position for one in gaps_of(pair)}
    decided = {row.utterance.position for row in AdjudicationDecision.objects.filter(resolution="none")}
    assert bare & decided, "the adjudicator left something bare that somebody had labelled"
    assert not {item.position for item in look(project).lacks[Lack.UNLABELLED]} & decided


def gaps_of(pair: Pair) -> list[Gap]:
    return [one for one in lacks_of(pair.dialogue.project, [pair.gold])[pair.gold.pk].gaps if not one.label]


def test_the_closing_turn_is_counted_apart_and_the_numbers_are_those_of_the_result(
    project: Project, people: People, tmp_path: Path
) -> None:
    turns = [*factory.TURNS, ("control", "The diagnosis is bronchitis.")]
    labels = [*GOLD, LabelData(len(factory.TURNS), "differential")]
    make_gold(factory.make_dialogue(project, "GOLD", turns), people.annotator, people.second, people.supervisor, labels)
    found = look(project)
    assert found.closing == 1
    assert (found.utterances, found.labels) == (len(factory.TURNS), len(GOLD))
    result = write(project, tmp_path / "out")
    assert (result.utterances, result.labels) == (found.utterances, found.labels)
    counted = project_statistics(project=project, gold=True).statistics.sizes["all"]
    assert (counted.utterances, counted.labels) == (found.utterances, found.labels)


def test_splits_that_nobody_could_use_are_said() -> None:
    shares = Shares.parse("0.8,0.1,0.1")
    counts = {Split.TRAIN: 3, Split.VALID: 0, Split.TEST: 0, Split.OOD_TEST: 0}
    drawn = Drawing(drawn=3)
    assert empty_splits(counts, shares, drawn) == [
        "Valid and test are empty: 3 dialogues are too few for these shares, seeds and specialties."
    ]
    assert empty_splits(counts, Shares.parse("1,0,0"), drawn) == ["Valid and test are empty, as their shares are 0."]
    assert empty_splits(dict.fromkeys(Split, 1), shares, drawn) == []
    assert empty_splits(dict.fromkeys(Split, 0), shares, drawn) == [], "nothing is exported, which is said elsewhere"


@pytest.mark.parametrize(
    ("drawing", "why"),
    [
        (Drawing(fixed=3), "no dialogue is drawn, as all 3 keep the split that they came with."),
        (Drawing(fixed=1), "no dialogue is drawn, as all are seeds, of other specialties or keep the split that"),
        (Drawing(fixed=1, drawn=2), "the 2 dialogues drawn are too few for these shares."),
        (Drawing(fixed=2, drawn=1), "the 1 dialogue that is drawn is too few for these shares."),
    ],
)
def test_dialogues_that_keep_their_split_are_not_too_few(drawing: Drawing, why: str) -> None:
    counts = {Split.TRAIN: 3, Split.VALID: 0, Split.TEST: 0, Split.OOD_TEST: 0}
    (said,) = empty_splits(counts, Shares(), drawing)
    assert said.startswith(f"Valid and test are empty: {why}")


def test_shares_that_leave_nothing_for_what_is_drawn_are_said(project: Project, people: People) -> None:
    make_gold_project(project, people.annotator, people.second, people.supervisor)
    shares = Shares.parse("0,0,1")
    found = look(project, shares=shares)
    assert (found.drawing, found.splits[Split.TRAIN], found.splits[Split.TEST]) == (Drawing(0, 6, True), 6, 1)
    assert "the other 6 dialogues are in train" in " ".join(empty_splits(found.splits, shares, found.drawing))
    assert "in train" not in " ".join(empty_splits(found.splits, Shares.parse("0.5,0.5,0"), found.drawing))


def test_values_without_a_concept_are_listed_the_commonest_first(project: Project, people: People) -> None:
    make_vocabulary()
    for name in ("ONE", "TWO"):
        dialogue = factory.make_dialogue(project, name)
        make_gold(dialogue, people.annotator, people.second, people.supervisor, [*GOLD[:-1], inform(9, "habit")])
    finished(factory.make_dialogue(project, "ELSE"), people.annotator, [inform(1, "symptom", "toothache")])
    assert [(item.value, item.text, item.dialogue.external_id, item.position) for item in no_concept(project)] == [
        ("cough", "symptom: 6 times", "ONE", 1),
        ("fever", "symptom: 4 times", "ONE", 2),
        ("night sweats", "symptom: 4 times", "ONE", 2),
        ("smoking", "habit: 4 times", "ONE", 6),
    ]
    label_sets_collect(project=project)
    decision_take(form=form_of(project, "cough"), actor=people.doctor, cui="C0010200", expected=None)
    decision_nil(form=form_of(project, "smoking"), actor=people.doctor, expected=None)
    fever = form_of(project, "fever")
    here = Occurrence.objects.filter(surface_form=fever, utterance__position=3).first()
    assert here is not None
    decision_take(form=fever, actor=people.doctor, cui="C0015967", except_labels=[here.label_id], expected=None)
    assert [(item.value, item.text) for item in no_concept(project)] == [
        ("night sweats", "symptom: 4 times"),
        ("fever", "symptom: once"),
    ]


def no_concept(project: Project) -> list[Item]:
    return look(project).lacks[Lack.NO_CONCEPT]


def test_an_annotators_open_work_is_listed(project: Project, people: People) -> None:
    finished(factory.make_dialogue(project, "DONE"), people.annotator, GOLD)
    factory.make_label_set(factory.make_dialogue(project, "TODO"), people.annotator)
    bobs = finished(factory.make_dialogue(project, "BOBS"), people.second, GOLD)
    LabelSet.objects.filter(pk=bobs.pk).update(status=Status.RETURNED)
    assert texts(look(project, source="annotator", annotator="alice"), Lack.NOT_DONE) == {"TODO": "alice: to do"}
    whole = look(project, source="all")
    assert texts(whole, Lack.NOT_DONE) == {"TODO": "alice: to do", "BOBS": "bob: returned"}
    assert (whole.dialogues, whole.readings) == (1, 1)
    assert look(project, source="all", unfinished=True).dialogues == 2


def test_an_empty_export_is_refused_in_words(project: Project, people: People) -> None:
    factory.make_dialogue(project, "NEW")
    found = look(project)
    assert "no dialogue's gold is finished" in found.refusal
    assert texts(found, Lack.NOT_GOLD) == {"NEW": "nobody has it to label yet"}
    assert "“nobody” has no dialogue" in look(project, source="annotator", annotator="nobody").refusal
