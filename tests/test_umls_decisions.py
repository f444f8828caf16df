"""Deciding, taking back, shortlisting and asking."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.test import TestCase

from annotation.models import LabelSet, Project, Role, User
from annotation.services.errors import Refused
from annotation.services.labelling import Change, label_set_change
from annotation.services.readings import labels_of
from tests import factory
from tests.conftest import People
from tests.reviewing import CONCEPTS, Small, form_of, link, make_values, make_vocabulary
from umls_linker.models import (
    Candidate,
    ConceptQuestion,
    Decision,
    DecisionKind,
    Occurrence,
    ProposedConcept,
    Shortlisting,
    SurfaceForm,
    Verdict,
    Vocabulary,
)
from umls_linker.services import linking, migration
from umls_linker.services.decisions import (
    Overtaken,
    decision_for_label,
    decision_nil,
    decision_propose,
    decision_revert,
    decision_take,
    question_answer,
    question_ask,
    shortlist_set,
)
from umls_linker.services.project_vocabulary import candidates_stamp
from umls_linker.services.surface_forms import label_set_collect

pytestmark = pytest.mark.django_db
DYSPNEA, COUGH, FEVER = "C0013404", "C0010200", "C0015967"


@pytest.fixture
def vocabulary(db: None) -> Vocabulary:
    return make_vocabulary()


@pytest.fixture
def label_sets(project: Project, people: People, vocabulary: Vocabulary) -> list[LabelSet]:
    """Two dialogues; "short of breath", "cough" and "temp" stand in both."""
    found = make_values(project, people.annotator, people.second)
    link(project, *found)
    return found


@pytest.fixture
def form(project: Project, label_sets: list[LabelSet]) -> SurfaceForm:
    return form_of(project, "short of breath")


@pytest.fixture
def curator(project: Project) -> User:
    return factory.make_member(project, factory.make_user("cora"), Role.CURATOR)


def label_in(form: SurfaceForm, label_set: LabelSet) -> uuid.UUID:
    return Occurrence.objects.get(surface_form=form, label_set=label_set).label_id


def standing(form: SurfaceForm) -> list[Decision]:
    return list(Decision.objects.standing().filter(surface_form=form))


def test_a_decision_writes_down_the_concept_as_it_was(
    form: SurfaceForm, people: People, vocabulary: Vocabulary
) -> None:
    made = decision_take(form=form, actor=people.doctor, cui=DYSPNEA, note=" clear ", expected=None)
    stored = Decision.objects.get()
    assert stored == made
    assert (stored.kind, stored.cui, stored.name, stored.semantic_types) == ("concept", DYSPNEA, "Dyspnea", ["T184"])
    assert (stored.vocabulary, stored.vocabulary_name) == (vocabulary, "embedded")
    assert stored.vocabulary_version == vocabulary.version
    assert (stored.note, stored.origin, stored.decided_by, stored.replaces) == ("clear", "review", people.doctor, None)
    assert abs((datetime.now(UTC) - stored.decided_at).total_seconds()) < 60


def test_another_of_its_names_may_be_taken_but_no_other_word(form: SurfaceForm, people: People) -> None:
    made = decision_take(form=form, actor=people.doctor, cui=DYSPNEA, name="BREATHLESSNESS", expected=None)
    assert made.name == "breathlessness"  # as the vocabulary writes it
    with pytest.raises(Refused, match="is no name of “Dyspnea”"):
        decision_take(form=form, actor=people.doctor, cui=DYSPNEA, name="Cough", expected=made.pk)
    assert standing(form) == [made]


def test_a_concept_that_nobody_knows_is_refused(form: SurfaceForm, people: People) -> None:
    for cui in ("C9999999", "", "nonsense", "C" * 40):
        with pytest.raises(Refused, match="has no concept"):
            decision_take(form=form, actor=people.doctor, cui=cui, expected=None)
    assert not Decision.objects.exists()


@pytest.mark.parametrize("who", ["supervisor", "annotator", "superuser", "curator"])
def test_only_a_doctor_decides(form: SurfaceForm, people: People, curator: User, who: str) -> None:
    actor = curator if who == "curator" else getattr(people, who)
    made = decision_take(form=form, actor=people.doctor, cui=DYSPNEA, expected=None)
    label_id = Occurrence.objects.filter(surface_form=form).values_list("label_id", flat=True)[0]
    calls: list[Any] = [
        lambda: decision_take(form=form, actor=actor, cui=COUGH, expected=made.pk),
        lambda: decision_nil(form=form, actor=actor, expected=made.pk),
        lambda: decision_propose(form=form, actor=actor, name="X", expected=made.pk),
        lambda: decision_for_label(form=form, label_id=label_id, actor=actor, nil=True),
        lambda: decision_revert(decision=made, actor=actor),
    ]
    for call in calls:
        with pytest.raises(PermissionDenied, match="doctor"):
            call()
    assert standing(form) == [made]
    assert not ProposedConcept.objects.exists()


def test_an_outsider_does_not_even_learn_that_there_is_a_value(form: SurfaceForm, people: People) -> None:
    with pytest.raises(Http404):
        decision_take(form=form, actor=people.outsider, cui=DYSPNEA, expected=None)


def test_a_second_decision_takes_the_place_of_the_one_that_was_seen(form: SurfaceForm, people: People) -> None:
    first = decision_take(form=form, actor=people.doctor, cui=COUGH, expected=None)
    second = decision_take(form=form, actor=people.doctor, cui=DYSPNEA, expected=first.pk)
    first.refresh_from_db()
    assert standing(form) == [second]
    assert second.replaces == first
    assert (first.cui, first.reverted_by) == (COUGH, people.doctor)


def test_who_has_not_seen_the_present_decision_is_told_whose_it_is(
    project: Project, form: SurfaceForm, people: People
) -> None:
    other = factory.make_member(project, factory.make_user("drew", first_name="Drew"), Role.DOCTOR)
    made = decision_take(form=form, actor=people.doctor, cui=DYSPNEA, expected=None)
    for expected in (None, made.pk + 100):
        with pytest.raises(Overtaken, match="dora decided on “Dyspnea” in the meantime") as caught:
            decision_take(form=form, actor=other, cui=COUGH, expected=expected)
        assert caught.value.standing == made
    assert standing(form) == [made]
    decision_revert(decision=made, actor=people.doctor)
    with pytest.raises(Overtaken, match="was taken back in the meantime"):
        decision_nil(form=form, actor=other, expected=made.pk)
    assert standing(form) == []


def test_exceptions_are_kept_and_must_be_labels_with_this_value(
    project: Project, form: SurfaceForm, label_sets: list[LabelSet], people: People
) -> None:
    mine = label_in(form, label_sets[1])
    made = decision_take(form=form, actor=people.doctor, cui=DYSPNEA, except_labels=[str(mine)], expected=None)
    (exception,) = made.exceptions.all()
    assert (exception.label_id, exception.utterance.dialogue.external_id) == (mine, "VAL-2")
    others = label_in(form_of(project, "cough"), label_sets[0])
    for wrong in (others, uuid.uuid4(), "no uuid", None):
        with pytest.raises(Refused):
            decision_take(form=form, actor=people.doctor, cui=COUGH, except_labels=[wrong], expected=made.pk)
    assert standing(form) == [made]


def test_what_is_decided_about_words_in_one_slot_is_taken_into_account_in_the_others(
    project: Project, form: SurfaceForm, label_sets: list[LabelSet], people: People
) -> None:
    more = factory.make_label_set(factory.make_dialogue(project), people.annotator)
    factory.make_labels(more, factory.inform(1, "disease", "Whatsit"))
    link(project, more)
    first = SurfaceForm.objects.get(project=project, slot="symptom", key="whatsit")
    other = SurfaceForm.objects.get(project=project, slot="disease", key="whatsit")
    assert not other.candidates.exists()
    with TestCase.captureOnCommitCallbacks(execute=True):
        decision = decision_take(form=first, actor=people.doctor, cui=COUGH, expected=None)
    assert [row.cui for row in other.candidates.all()] == [COUGH]
    other.refresh_from_db()
    assert other.linked_with == candidates_stamp(project), "the worker has done it"
    assert not first.candidates.exists(), "what is decided is left as it is"
    with TestCase.captureOnCommitCallbacks(execute=True):
        decision_revert(decision=decision, actor=people.doctor)
    assert not other.candidates.exists()


def test_a_worker_that_read_the_decisions_before_this_one_is_not_the_last_to_link(
    form: SurfaceForm, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    SurfaceForm.objects.filter(pk=form.pk).update(linked_with="")
    real = linking.search

    def decided_meanwhile(*given: Any, **named: Any) -> Any:
        monkeypatch.setattr(linking, "search", real)
        decision_revert(decision=decision_nil(form=form, actor=people.doctor, expected=None), actor=people.doctor)
        return real(*given, **named)

    monkeypatch.setattr(linking, "search", decided_meanwhile)
    assert linking.forms_link(project=form.project).left == 1
    assert linking.forms_link(project=form.project).left == 0


def test_no_concept_and_a_proposed_one(project: Project, form: SurfaceForm, people: People) -> None:
    nil = decision_nil(form=form, actor=people.doctor, expected=None)
    assert (nil.kind, nil.cui, nil.name, nil.vocabulary) == ("nil", "", "", None)
    whatsit = form_of(project, "whatsit")
    proposed = decision_propose(
        form=whatsit, actor=people.doctor, name=" Odd  whatsit ", semantic_type="T184", expected=None
    )
    assert (proposed.kind, proposed.cui, proposed.name) == (DecisionKind.PROPOSED, "NEW0001", "Odd whatsit")
    cough = form_of(project, "cough")
    again = decision_propose(form=cough, actor=people.doctor, name="odd WHATSIT", expected=None)
    assert (again.cui, again.name, again.proposed) == ("NEW0001", "Odd whatsit", proposed.proposed)
    taken = decision_take(form=form_of(project, "temp"), actor=people.doctor, cui="NEW0001", expected=None)
    assert (taken.kind, taken.proposed) == (DecisionKind.PROPOSED, proposed.proposed)
    third = decision_propose(form=form_of(project, "rash"), actor=people.doctor, name="Another", expected=None)
    assert third.cui == "NEW0002"
    with pytest.raises(Refused, match="name is empty"):
        decision_propose(form=form_of(project, "giddy"), actor=people.doctor, name="  ", expected=None)


def test_a_proposal_that_is_refused_leaves_no_concept_behind(form: SurfaceForm, people: People) -> None:
    with pytest.raises(Overtaken):
        decision_propose(form=form, actor=people.doctor, name="New", expected=77)
    assert not ProposedConcept.objects.exists()


def test_one_utterance_may_mean_something_else(form: SurfaceForm, label_sets: list[LabelSet], people: People) -> None:
    whole = decision_take(form=form, actor=people.doctor, cui=DYSPNEA, expected=None)
    here = label_in(form, label_sets[1])
    single = decision_for_label(form=form, label_id=here, actor=people.doctor, cui=COUGH)
    assert (single.label_id, single.utterance_id) == (here, Occurrence.objects.get(label_id=here).utterance_id)
    assert set(standing(form)) == {whole, single}
    with pytest.raises(Overtaken):
        decision_for_label(form=form, label_id=here, actor=people.doctor, nil=True)
    nil = decision_for_label(form=form, label_id=here, actor=people.doctor, nil=True, expected=single.pk)
    assert set(standing(form)) == {whole, nil}
    assert decision_revert(decision=nil, actor=people.doctor) is not None
    assert {row.cui for row in standing(form)} == {DYSPNEA, COUGH}


def test_reverting_brings_back_what_was_replaced_with_its_exceptions_and_its_author(
    project: Project, form: SurfaceForm, label_sets: list[LabelSet], people: People
) -> None:
    other = factory.make_member(project, factory.make_user("drew"), Role.DOCTOR)
    here = label_in(form, label_sets[1])
    first = decision_take(form=form, actor=other, cui=COUGH, except_labels=[here], note="hm", expected=None)
    second = decision_take(form=form, actor=people.doctor, cui=DYSPNEA, expected=first.pk)
    again = decision_revert(decision=second, actor=people.doctor)
    assert again is not None
    assert standing(form) == [again]
    kept = ("kind", "cui", "name", "semantic_types", "vocabulary_id", "vocabulary_version", "note", "decided_by_id")
    assert [getattr(again, name) for name in kept] == [getattr(first, name) for name in kept]
    assert (again.origin, again.decided_at) == ("restored", first.decided_at)
    assert [row.label_id for row in again.exceptions.all()] == [here]
    assert Decision.objects.count() == 3  # nothing is ever deleted
    assert decision_revert(decision=again, actor=people.doctor) is None
    assert standing(form) == []
    with pytest.raises(Refused, match="does not stand any more"):
        decision_revert(decision=second, actor=people.doctor)


def test_decisions_outlive_new_candidates_labels_that_go_and_another_vocabulary(
    project: Project, form: SurfaceForm, label_sets: list[LabelSet], people: People
) -> None:
    made = decision_take(form=form, actor=people.doctor, cui=DYSPNEA, expected=None)
    Candidate.objects.all().delete()
    SurfaceForm.objects.update(linked_with="")
    for label_set in label_sets:
        label_set.refresh_from_db()
        gone = [Change(label.id, None) for label in labels_of(label_set)]
        label_set_change(
            label_set=label_set,
            actor=label_set.annotator,
            version=label_set.version,
            key=str(uuid.uuid4()),
            changes=gone,
        )
    link(project, *label_sets)
    form.refresh_from_db()
    assert (form.labels, standing(form)) == (0, [made])


def test_an_archived_project_is_left_as_it_is(project: Project, form: SurfaceForm, people: People) -> None:
    project.archived_at = datetime.now(UTC)
    project.save()
    form = form_of(project, "short of breath")
    with pytest.raises(Refused, match="archived"):
        decision_take(form=form, actor=people.doctor, cui=DYSPNEA, expected=None)
    with pytest.raises(Refused, match="archived"):
        question_ask(form=form, actor=people.doctor, question="What is it?")


def test_curators_and_doctors_shortlist_and_nobody_else(form: SurfaceForm, people: People, curator: User) -> None:
    row = shortlist_set(form=form, actor=curator, cui=DYSPNEA, verdict=Verdict.KEEP)
    assert row is not None
    assert (row.name, row.verdict, row.by) == ("Dyspnea", Verdict.KEEP, curator)
    row = shortlist_set(form=form, actor=people.doctor, cui=DYSPNEA, verdict=Verdict.DROP)
    assert [(one.verdict, one.by) for one in Shortlisting.objects.all()] == [(Verdict.DROP, people.doctor)]
    shortlist_set(form=form, actor=curator, cui=FEVER, verdict=Verdict.KEEP)  # no candidate, but in the vocabulary
    with pytest.raises(Refused, match="has no concept"):
        shortlist_set(form=form, actor=curator, cui="C7777777", verdict=Verdict.KEEP)
    for actor in (people.supervisor, people.annotator):
        with pytest.raises(PermissionDenied):
            shortlist_set(form=form, actor=actor, cui=DYSPNEA, verdict=Verdict.KEEP)
    assert shortlist_set(form=form, actor=curator, cui=DYSPNEA, verdict=None) is None
    assert [one.cui for one in Shortlisting.objects.all()] == [FEVER]


def test_questions_are_asked_of_those_who_see_the_value_and_answered_once(
    form: SurfaceForm, people: People, curator: User
) -> None:
    asked = question_ask(form=form, actor=curator, question=" Lungs or heart? ", of=people.doctor)
    assert (asked.question, asked.asked_of) == ("Lungs or heart?", people.doctor)
    assert question_ask(form=form, actor=curator, question="Lungs or heart?", of=people.doctor) == asked
    for nobody in (people.annotator, people.outsider):
        with pytest.raises(Refused, match="neither doctor, curator nor supervisor"):
            question_ask(form=form, actor=curator, question="And you?", of=nobody)
    with pytest.raises(Refused, match="question is empty"):
        question_ask(form=form, actor=curator, question=" ")
    with pytest.raises(PermissionDenied):
        question_ask(form=form, actor=people.annotator, question="May I?")
    assert question_answer(question=asked, actor=people.doctor, answer="Lungs").answer == "Lungs"
    with pytest.raises(Refused, match="answered in the meantime"):
        question_answer(question=asked, actor=people.supervisor, answer="Heart")
    assert ConceptQuestion.objects.get().answered_by == people.doctor


@pytest.mark.parametrize("name", ["\0", "…", " - ", "evil\u202eeman", "zero\u200bwidth"])
def test_a_proposed_name_is_one_that_can_be_read(form: SurfaceForm, people: People, name: str) -> None:
    with pytest.raises(Refused, match="letter or a digit"):
        decision_propose(form=form, actor=people.doctor, name=name, expected=None)
    assert not ProposedConcept.objects.exists()


@pytest.mark.parametrize("code", ["<b>", "T1", "symptom", "T1840"])
def test_a_proposed_semantic_type_is_a_code(form: SurfaceForm, people: People, code: str) -> None:
    with pytest.raises(Refused, match="such as T184"):
        decision_propose(form=form, actor=people.doctor, name="New thing", semantic_type=code, expected=None)


def test_a_label_that_is_left_out_may_have_moved_to_another_utterance(
    form: SurfaceForm, label_sets: list[LabelSet], people: People
) -> None:
    label_id = label_in(form, label_sets[1])
    first = decision_take(form=form, actor=people.doctor, cui=COUGH, except_labels=[label_id], expected=None)
    row = Occurrence.objects.get(surface_form=form, label_id=label_id)
    moved = row.utterance.dialogue.utterances.exclude(pk=row.utterance_id).order_by("position")[0]
    label = next(one for one in labels_of(label_sets[1]) if one.id == str(label_id))
    factory.make_labels(label_sets[1], replace(label, position=moved.position))
    label_sets[1].refresh_from_db()
    label_set_collect(label_set=label_sets[1])
    second = decision_take(form=form, actor=people.doctor, cui=DYSPNEA, except_labels=[label_id], expected=first.pk)
    assert [(one.label_id, one.utterance) for one in second.exceptions.all()] == [(label_id, moved)]


def test_a_name_of_any_length_is_kept_whole(project: Project, people: People, curator: User) -> None:
    """`clean_fields` says what a database that enforces lengths would."""
    long = f"Short of breath {'in the morning and ' * 80}at night"
    make_vocabulary(Small({**CONCEPTS, DYSPNEA: ("T184", long, "short of breath")}))
    link(project, *make_values(project, people.annotator))
    form = form_of(project, "short of breath")
    candidate = form.candidates.get(cui=DYSPNEA)
    kept = shortlist_set(form=form, actor=curator, cui=DYSPNEA, verdict=Verdict.KEEP)
    decision = decision_take(form=form, actor=people.doctor, cui=DYSPNEA, name=long.upper(), expected=None)
    for row in (candidate, kept, decision):
        assert row is not None
        row.refresh_from_db()
        row.clean_fields()
        assert row.name == long
    shown = next(iter(migration.vocabulary_difference(project, to=decision.vocabulary)))  # type: ignore[arg-type]
    assert shown.kind is migration.Change.SAME
    candidate.matched = long
    candidate.clean_fields()
