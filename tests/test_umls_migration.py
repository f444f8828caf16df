"""Another vocabulary: what it would change, the switch, and what a doctor makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied

from annotation.models import Project, Role
from annotation.services.errors import Refused
from tests import factory
from tests.conftest import People
from tests.reviewing import CONCEPTS, Small, form_of, link, make_values, make_vocabulary
from umls_linker.domain.vocabulary import Retired
from umls_linker.models import Decision, KeptDecision, Occurrence, ProjectVocabulary, Vocabulary
from umls_linker.services.canonical import canon_of
from umls_linker.services.decisions import (
    Overtaken,
    decision_for_label,
    decision_nil,
    decision_propose,
    decision_revert,
    decision_take,
)
from umls_linker.services.migration import (
    Change,
    decisions_kept,
    differences_left,
    migration_accept,
    migration_keep,
    migration_keep_revoke,
    vocabulary_difference,
    vocabulary_switch,
)
from umls_linker.services.project_vocabulary import vocabulary_of
from umls_linker.services.sight import Sight

pytestmark = pytest.mark.django_db
DYSPNEA, COUGH, FEVER, NAUSEA, RASH = "C0013404", "C0010200", "C0015967", "C0027497", "C0015230"
NEW_NAUSEA = "C0900001"


@pytest.fixture
def old(project: Project, people: People) -> Vocabulary:
    """Six decisions: seen from the next vocabulary the same, renamed, merged, retired, and two without a CUI."""
    made = make_vocabulary()
    link(project, *make_values(project, people.annotator, people.second))
    doctor = people.doctor
    for words, cui in (("cough", COUGH), ("temp", FEVER), ("feeling sick", NAUSEA), ("rash", RASH)):
        decision_take(form=form_of(project, words), actor=doctor, cui=cui, expected=None)
    decision_nil(form=form_of(project, "whatsit"), actor=doctor, expected=None)
    decision_propose(form=form_of(project, "giddy"), actor=doctor, name="Giddiness of its own", expected=None)
    return made


@pytest.fixture
def new(old: Vocabulary) -> Vocabulary:
    concepts = {
        **{cui: words for cui, words in CONCEPTS.items() if cui not in (NAUSEA, RASH)},
        FEVER: ("T184", "Pyrexia", "fever"),
        NEW_NAUSEA: ("T184", "Sickness", "nausea", "feeling sick"),
    }
    return make_vocabulary(Small(concepts, version="2027-01"), name="next")


def kinds(project: Project, to: Vocabulary) -> dict[str, Change]:
    return {one.decision.surface_form.key: one.kind for one in vocabulary_difference(project, to=to)}


def standing(project: Project) -> set[tuple[str, str, str, str]]:
    rows = Decision.objects.standing().filter(surface_form__project=project)
    return set(rows.values_list("surface_form__key", "cui", "name", "vocabulary_version"))


def test_retired_merged_and_renamed_concepts_are_told_apart(project: Project, new: Vocabulary) -> None:
    found = vocabulary_difference(project, to=new)
    assert [(one.decision.surface_form.key, one.kind) for one in found] == [
        ("rash", Change.RETIRED),
        ("feeling sick", Change.MERGED),
        ("temp", Change.RENAMED),
        ("cough", Change.SAME),
    ]
    retired, merged, renamed, _ = found
    assert retired.now is None
    assert retired.sentence == "There is no C0015230 there, and no concept called “Rash”."
    assert merged.now is not None
    assert merged.now.cui == NEW_NAUSEA
    assert merged.sentence == "“Nausea” (C0027497) is not there; the name now belongs to “Sickness” (C0900001)."
    assert renamed.sentence == "“Fever” (C0015967) is called “Pyrexia” there."


def test_what_the_source_says_of_retired_concepts_decides_who_has_their_place(
    project: Project, old: Vocabulary
) -> None:
    concepts = {
        **{cui: words for cui, words in CONCEPTS.items() if cui not in (NAUSEA, RASH, FEVER)},
        NEW_NAUSEA: ("T184", "Sickness", "nausea", "feeling sick"),
        "C0900002": ("T184", "Queasiness"),
        "C0900003": ("T184", "Eruption"),
        "C0900004": ("T184", "Raised temperature", "fever"),
    }
    retired = (
        Retired(NAUSEA, "SY", "C0900002"),  # merged, although another has the name
        Retired(RASH, "RB", "C0900003"),
        Retired(FEVER, "RO", "C0900003"),  # the name is closer than what is merely related
    )
    new = make_vocabulary(Small(concepts, version="2027-01", retired=retired), name="next")
    found = {one.decision.surface_form.key: one for one in vocabulary_difference(project, to=new)}
    assert {key: one.now.cui for key, one in found.items() if one.now and one.kind is Change.MERGED} == {
        "feeling sick": "C0900002",
        "rash": "C0900003",
        "temp": "C0900004",
    }
    assert found["feeling sick"].sentence == (
        "“Nausea” (C0027497) is not there; the source has merged it into “Queasiness” (C0900002)."
    )
    assert found["rash"].sentence == (
        "“Rash” (C0015230) is not there; the source names “Eruption” (C0900003) as the closest."
    )


def test_the_vocabulary_of_the_decisions_changes_nothing(project: Project, old: Vocabulary) -> None:
    assert set(kinds(project, old).values()) == {Change.SAME}
    assert differences_left(project) == []


def test_a_switch_changes_no_decision_and_nothing_that_follows_from_them(
    project: Project, people: People, new: Vocabulary
) -> None:
    before, canon = standing(project), canon_of(project.pk)
    row = vocabulary_switch(project=project, to=new, actor=people.supervisor)
    assert (row.vocabulary, row.chosen_by, vocabulary_of(project)) == (new, people.supervisor, new)
    assert standing(project) == before
    assert canon_of(project.pk) == canon
    assert canon.forms["symptom", "value", "temp"].name == "Fever"
    assert [one.kind for one in differences_left(project)] == [Change.RETIRED, Change.MERGED, Change.RENAMED]


def test_after_a_switch_the_workers_find_candidates_anew(
    project: Project, people: People, new: Vocabulary, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        vocabulary_switch(project=project, to=new, actor=people.doctor)
    form = form_of(project, "feeling sick")
    assert form.linked_with.startswith("next ")
    assert [one.cui for one in form.candidates.all()][:1] == [NEW_NAUSEA]


def test_who_may_switch(project: Project, people: People, new: Vocabulary) -> None:
    curator = factory.make_member(project, factory.make_user("cora"), Role.CURATOR)
    for actor in (people.annotator, curator):
        with pytest.raises(PermissionDenied):
            vocabulary_switch(project=project, to=new, actor=actor)
    assert not ProjectVocabulary.objects.exists()


def test_a_vocabulary_that_is_not_there_is_refused(project: Project, people: People, old: Vocabulary) -> None:
    gone = Vocabulary.objects.create(name="gone", version="1", digest="0" * 64, built_at=old.built_at)
    with pytest.raises(Refused, match="is not on this machine any more"):
        vocabulary_switch(project=project, to=gone, actor=people.doctor)
    with pytest.raises(Refused, match="is not on this machine any more"):
        vocabulary_difference(project, to=gone)


def test_a_doctor_accepts_a_replacement_and_may_take_it_back(project: Project, people: People, new: Vocabulary) -> None:
    vocabulary_switch(project=project, to=new, actor=people.doctor)
    form = form_of(project, "feeling sick")
    before = Decision.objects.standing().get(surface_form=form)
    made = migration_accept(decision=before, actor=people.doctor, cui=NEW_NAUSEA)
    assert (made.cui, made.name, made.origin, made.replaces) == (NEW_NAUSEA, "Sickness", "migration", before)
    assert (made.vocabulary, made.vocabulary_version) == (new, "2027-01")
    assert kinds(project, new)["feeling sick"] is Change.SAME
    with pytest.raises(Overtaken):
        migration_accept(decision=before, actor=people.doctor, cui=NEW_NAUSEA)
    again = decision_revert(decision=made, actor=people.doctor)
    assert again is not None
    assert (again.cui, again.vocabulary_version) == (NAUSEA, before.vocabulary_version)
    with pytest.raises(PermissionDenied):
        migration_accept(decision=again, actor=people.supervisor, cui=NEW_NAUSEA)
    with pytest.raises(Refused, match="has no concept"):
        migration_accept(decision=again, actor=people.doctor, cui=RASH)


def test_exceptions_and_decisions_for_one_utterance_come_along(
    project: Project, people: People, new: Vocabulary
) -> None:
    form = form_of(project, "cough")
    before = Decision.objects.standing().get(surface_form=form)
    first, second = Occurrence.objects.filter(surface_form=form)
    excepting = decision_take(
        form=form, actor=people.doctor, cui=RASH, except_labels=[first.label_id], expected=before.pk
    )
    single = decision_for_label(form=form, label_id=second.label_id, actor=people.doctor, cui=NAUSEA)
    vocabulary_switch(project=project, to=new, actor=people.doctor)
    moved = migration_accept(decision=excepting, actor=people.doctor, cui=COUGH)
    assert [row.label_id for row in moved.exceptions.all()] == [first.label_id]
    alone = migration_accept(decision=single, actor=people.doctor, cui=NEW_NAUSEA)
    assert (alone.label_id, alone.utterance_id) == (second.label_id, second.utterance_id)


def test_of_several_heirs_the_one_of_that_very_name_and_type_is_meant(project: Project, old: Vocabulary) -> None:
    concepts = {
        "C0900001": ("T047", "Rash disease", "rash"),
        "C0900002": ("T047", "Rash"),
        "C0900003": ("T184", "Rash"),
    }
    to = make_vocabulary(Small({**CONCEPTS, **concepts} | {RASH: ("T184", "Something else")}), name="next")
    assert kinds(project, to)["rash"] is Change.RENAMED  # the CUI is there, so nothing has to be guessed
    without = {cui: words for cui, words in {**CONCEPTS, **concepts}.items() if cui != RASH}
    to = make_vocabulary(Small(without), name="third")
    (rash,) = [one for one in vocabulary_difference(project, to=to) if one.decision.surface_form.key == "rash"]
    assert rash.now is not None
    assert (rash.kind, rash.now.cui) == (Change.MERGED, "C0900003")


def test_what_a_doctor_keeps_leaves_the_list_until_it_is_looked_at_again(
    project: Project, people: People, new: Vocabulary
) -> None:
    vocabulary_switch(project=project, to=new, actor=people.doctor)
    before = standing(project)
    rash = Decision.objects.standing().get(surface_form__key="rash")
    kept = migration_keep(decision=rash, actor=people.doctor)
    assert migration_keep(decision=rash, actor=people.doctor) == kept
    assert (kept.vocabulary, kept.kept_by) == (new, people.doctor)
    assert [one.kind for one in differences_left(project)] == [Change.MERGED, Change.RENAMED]
    assert list(decisions_kept(project, sight=Sight(project))) == [kept]
    assert standing(project) == before
    migration_keep_revoke(decision=rash, actor=people.doctor)
    migration_keep_revoke(decision=rash, actor=people.doctor)
    assert [one.kind for one in differences_left(project)] == [Change.RETIRED, Change.MERGED, Change.RENAMED]
    assert not decisions_kept(project, sight=Sight(project)).exists()
    kept.refresh_from_db()
    assert (kept.revoked_by, KeptDecision.objects.count()) == (people.doctor, 1)


def test_a_decision_is_kept_under_one_vocabulary_and_while_it_stands(
    project: Project, people: People, old: Vocabulary, new: Vocabulary
) -> None:
    vocabulary_switch(project=project, to=new, actor=people.doctor)
    rash = Decision.objects.standing().get(surface_form__key="rash")
    migration_keep(decision=rash, actor=people.doctor)
    third = make_vocabulary(Small({COUGH: CONCEPTS[COUGH]}, version="2028-01"), name="third")
    vocabulary_switch(project=project, to=third, actor=people.doctor)
    assert "rash" in [one.decision.surface_form.key for one in differences_left(project)]
    vocabulary_switch(project=project, to=new, actor=people.doctor)
    assert "rash" not in [one.decision.surface_form.key for one in differences_left(project)]
    decision_revert(decision=rash, actor=people.doctor)
    assert not decisions_kept(project, sight=Sight(project)).exists()
    with pytest.raises(Refused, match="does not stand any more"):
        migration_keep(decision=rash, actor=people.doctor)
    with pytest.raises(PermissionDenied):
        migration_keep(decision=rash, actor=people.supervisor)
    with pytest.raises(PermissionDenied):
        migration_keep_revoke(decision=rash, actor=people.supervisor)


def test_differences_in_dialogues_of_ones_own_are_out_of_sight(
    project: Project, people: People, new: Vocabulary
) -> None:
    vocabulary_switch(project=project, to=new, actor=people.doctor)
    own = Occurrence.objects.filter(surface_form=form_of(project, "rash")).get().label_set.dialogue
    assert [one.kind for one in differences_left(project, sight=Sight(project, frozenset({own.pk})))] == [
        Change.RENAMED  # "temp", which is said in the other dialogue too
    ]
