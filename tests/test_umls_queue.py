"""The queue of surface forms, the words around them, and how far things are."""

from __future__ import annotations

import pytest

from annotation.models import LabelSet, Owner, Project, Purpose, Role, Status
from annotation.services.dialogues import dialogue_restore, dialogues_archive
from tests import factory
from tests.conftest import People
from tests.factory import inform, make_label_set, make_labels
from tests.reviewing import SAID, form_of, link, make_values, make_vocabulary
from umls_linker.models import Verdict
from umls_linker.services.decisions import (
    decision_for_label,
    decision_nil,
    decision_propose,
    decision_revert,
    decision_take,
    question_answer,
    question_ask,
    shortlist_set,
)
from umls_linker.services.queue import STATES, occurrences_in_context, progress, queue, spans_of
from umls_linker.services.sight import sight_of
from umls_linker.services.surface_forms import label_set_collect
from umls_linker.tasks import count_forms

pytestmark = pytest.mark.django_db
DYSPNEA = "C0013404"


@pytest.fixture
def label_sets(project: Project, people: People) -> list[LabelSet]:
    make_vocabulary()
    found = make_values(project, people.annotator, people.second)
    link(project, *found)
    return found


def test_the_most_frequent_come_first(project: Project, people: People, label_sets: list[LabelSet]) -> None:
    rows = list(queue(project, user=people.doctor))
    assert [row.key for row in rows[:3]] == ["cough", "short of breath", "temp"]  # two utterances each, then by letters
    assert sorted(row.key for row in rows) == sorted(words for _, words in SAID)
    assert [row.utterances for row in rows] == [2] * 3 + [1] * 8


def test_filters_by_slot_status_and_words(project: Project, people: People, label_sets: list[LabelSet]) -> None:
    def keys(**filters: str) -> list[str]:
        return [row.key for row in queue(project, user=people.doctor, **filters)]

    decision_nil(form=form_of(project, "whatsit"), actor=people.doctor, expected=None)
    assert keys(status="nil") == ["whatsit"]
    assert "whatsit" not in keys(status="open")
    assert keys(slot="habit") == []
    assert len(keys(slot="symptom")) == len(SAID)
    assert keys(q="  PAIN chest ") == ["pain in the chest"]
    assert keys(q="pain", status="nil") == keys(q="100%") == keys(status="nonsense") == []


def test_every_state_is_told_and_a_decision_comes_before_all_else(
    project: Project, people: People, label_sets: list[LabelSet]
) -> None:
    def state(words: str) -> str:
        found: str = queue(project, user=people.doctor).get(key=words).state
        return found

    make_labels(label_sets[0], inform(1, "symptom", "brand new"))
    label_set_collect(label_set=label_sets[0])
    seen = {state("brand new"), state("cough")}
    cough, doctor = form_of(project, "cough"), people.doctor
    shortlist_set(form=cough, actor=doctor, cui="C0010200", verdict=Verdict.DROP)
    seen.add(state("cough"))
    assert seen == {"waiting", "open"}
    shortlist_set(form=cough, actor=doctor, cui="C0010200", verdict=Verdict.KEEP)
    seen.add(state("cough"))
    asked = question_ask(form=cough, actor=doctor, question="Dry?")
    seen.add(state("cough"))
    made = decision_take(form=cough, actor=doctor, cui="C0010200", expected=None)
    row = queue(project, user=doctor).get(key="cough")
    seen.add(row.state)
    assert (row.state, row.decided_as) == ("decided", "Cough")
    decision_revert(decision=made, actor=doctor)
    assert state("cough") == "asked"
    question_answer(question=asked, actor=doctor, answer="Yes")
    assert state("cough") == "shortlisted"
    decision_nil(form=form_of(project, "temp"), actor=doctor, expected=None)
    decision_propose(form=form_of(project, "rash"), actor=doctor, name="Odd rash", expected=None)
    seen |= {state("temp"), state("rash")}
    assert seen == set(STATES)


def test_a_form_without_labels_stays_only_while_it_is_decided(
    project: Project, people: People, label_sets: list[LabelSet]
) -> None:
    form = form_of(project, "whatsit")
    form.occurrences.all().delete()
    form.labels = form.utterances = 0
    form.save()
    assert not queue(project, user=people.doctor).filter(key="whatsit").exists()
    decision_nil(form=form, actor=people.doctor, expected=None)
    assert queue(project, user=people.doctor).filter(key="whatsit").exists()


def test_an_occurrence_is_shown_with_two_turns_on_each_side_and_its_words_marked(
    project: Project, people: People, label_sets: list[LabelSet]
) -> None:
    found = occurrences_in_context(form_of(project, "temp"), sight=sight_of(people.doctor, project))
    assert (found.total, found.hidden, found.hidden_words) == (2, 0, "")
    assert [(one.dialogue, one.position) for one in found.items] == [("VAL-1", 5), ("VAL-2", 5)]
    (one, other) = found.items
    assert [turn.position for turn in one.turns] == [3, 4, 5, 6, 7]
    assert [turn.position for turn in other.turns] == [3, 4, 5, 6]  # the dialogue ends
    meant = next(turn for turn in one.turns if turn.is_the_one)
    assert [meant.text[start:end] for start, end in meant.spans] == ["temp"]
    assert not any(turn.spans for turn in one.turns if not turn.is_the_one)
    wide = occurrences_in_context(
        form_of(project, "temp"), sight=sight_of(people.doctor, project), around=4, limit=1, offset=1
    )
    assert [one.dialogue for one in wide.items] == ["VAL-2"]
    assert len(wide.items[0].turns) == 6
    assert wide.total == 2


def test_several_labels_of_one_utterance_are_one_occurrence_that_tells_nothing_of_them(
    project: Project, people: People, label_sets: list[LabelSet]
) -> None:
    before = occurrences_in_context(form_of(project, "cough"), sight=sight_of(people.doctor, project)).total
    dialogue = label_sets[0].dialogue
    seed = make_label_set(dialogue, people.second, purpose=Purpose.SEED)
    gold = LabelSet.objects.create(dialogue=dialogue, owner=Owner.GOLD, annotator=people.doctor)
    for one in (seed, gold):
        make_labels(one, inform(3, "symptom", "cough"))
        label_set_collect(label_set=one)
    found = occurrences_in_context(form_of(project, "cough"), sight=sight_of(people.doctor, project))
    assert found.total == len(found.items) == before
    assert "alice" not in repr(found)
    assert "seed" not in repr(found)


@pytest.mark.parametrize("status", Status.values)
def test_of_dialogues_that_somebody_labels_they_see_nothing_whatever_the_status(
    project: Project, people: People, label_sets: list[LabelSet], status: str
) -> None:
    factory.make_member(project, people.doctor, Role.ANNOTATOR)
    make_label_set(label_sets[0].dialogue, people.doctor, status=status)
    sight = sight_of(people.doctor, project)
    found = occurrences_in_context(form_of(project, "cough"), sight=sight)
    assert [one.dialogue for one in found.items] == ["VAL-2"]
    assert (found.total, found.hidden) == (1, 1)
    assert found.hidden_words == "Nothing is shown of the dialogue that you label yourself."
    shown = {row.key: row.seen for row in queue(project, user=people.doctor)}
    assert shown == {"short of breath": 1, "cough": 1, "temp": 1}  # the others occur in that dialogue only
    assert (sight.forms_in_use().count(), progress(project, user=people.doctor).forms) == (3, 3)
    assert len(queue(project, user=people.supervisor)) == len(SAID)
    # What others label there in the meantime changes nothing, and neither does a decision.
    before = progress(project, user=people.doctor)
    make_labels(label_sets[0], inform(1, "symptom", "brand new"), inform(1, "symptom", "COUGH"))
    assert progress(project, user=people.doctor) == before
    link(project, *label_sets)
    decision_nil(form=form_of(project, "rash"), actor=people.doctor, expected=None)
    assert progress(project, user=people.doctor) == before
    assert {row.key: row.seen for row in queue(project, user=people.doctor)} == shown
    assert [row.surface_form.key for row in sight.decisions()] == []


def test_wordings_come_from_what_may_be_seen(project: Project, people: People, label_sets: list[LabelSet]) -> None:
    factory.make_member(project, people.second, Role.DOCTOR)
    third = make_label_set(label_sets[0].dialogue, factory.make_user("third"))
    for one in (label_sets[0], third):
        make_labels(one, inform(4, "symptom", "COUGH"), inform(6, "symptom", "COUGH"))
    link(project, label_sets[0], third)
    (form,) = queue(project, user=people.doctor, q="cough")
    assert (form.text, form.seen) == ("COUGH", 4)
    sight_of(people.second, project).set_wordings([form])  # VAL-2 is their own
    assert form.text == "COUGH"
    make_label_set(label_sets[0].dialogue, people.doctor)
    (form,) = queue(project, user=people.doctor, q="cough")
    sight_of(people.doctor, project).set_wordings([form])
    assert (form.text, form.seen) == ("cough", 1)


def test_archived_dialogues_neither_count_nor_show(
    project: Project, people: People, label_sets: list[LabelSet]
) -> None:
    dialogue = label_sets[0].dialogue
    dialogues_archive(project=project, dialogues=[dialogue])
    count_forms(project.pk)  # what a worker does then
    assert {row.key: row.seen for row in queue(project, user=people.doctor)} == dict.fromkeys(
        ("short of breath", "cough", "temp"), 1
    )
    assert progress(project, user=people.doctor).forms == 3
    found = occurrences_in_context(form_of(project, "cough"), sight=sight_of(people.doctor, project))
    assert [one.dialogue for one in found.items] == ["VAL-2"]
    make_labels(label_sets[1], inform(2, "symptom", "brand new"))
    assert progress(project, user=people.doctor).label_sets_waiting == 1
    dialogue.refresh_from_db()
    dialogue_restore(dialogue=dialogue)
    count_forms(project.pk)
    assert len(queue(project, user=people.doctor)) == len(SAID) + 1  # and what waited is read


def test_what_is_decided_for_an_utterance_alone_is_told_there(
    project: Project, people: People, label_sets: list[LabelSet]
) -> None:
    form = form_of(project, "cough")
    first, second = occurrences_in_context(form, sight=sight_of(people.doctor, project)).items
    decision_take(form=form, actor=people.doctor, cui="C0010200", except_labels=[second.label_id], expected=None)
    single = decision_for_label(form=form, label_id=second.label_id, actor=people.doctor, nil=True)
    found = occurrences_in_context(form, sight=sight_of(people.doctor, project)).items
    assert [(one.excepted, one.decision) for one in found] == [(False, None), (True, single)]
    assert found[0].label_id == first.label_id


def test_progress_counts_forms_label_sets_and_decisions(
    project: Project, people: People, label_sets: list[LabelSet]
) -> None:
    total = len(SAID)
    found = progress(project, user=people.doctor)
    assert (found.forms, found.linked, found.label_sets_waiting, found.open) == (total, total, 0, total)
    make_labels(label_sets[0], inform(1, "symptom", "brand new"))
    assert progress(project, user=people.doctor).label_sets_waiting == 1
    label_set_collect(label_set=label_sets[0])
    found = progress(project, user=people.doctor)
    assert (found.forms, found.linked, found.label_sets_waiting) == (total + 1, total, 0)
    decision_nil(form=form_of(project, "temp"), actor=people.doctor, expected=None)
    decision_take(form=form_of(project, "cough"), actor=people.doctor, cui=DYSPNEA, expected=None)
    decision_propose(form=form_of(project, "rash"), actor=people.doctor, name="Odd rash", expected=None)
    found = progress(project, user=people.doctor)
    assert (found.decided, found.nil, found.proposed, found.open) == (1, 1, 1, total - 2)


@pytest.mark.parametrize(
    ("wording", "text", "marked"),
    [
        ("short of breath", "I'm SHORT of\nbreath, really short of breath.", ["SHORT of\nbreath", "short of breath"]),
        ("breath shortness", "I run short of breath.", ["breath"]),
        ("cough", "I coughed.", []),
        ("c++ (odd", "It is c++ (odd, I say", ["c++ (odd"]),
        ("", "Nothing", []),
        ("Ödem", "Das ödem", ["ödem"]),
    ],
)
def test_words_are_found_where_they_stand(wording: str, text: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in spans_of(wording, text)] == marked
