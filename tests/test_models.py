"""What the database itself keeps right, and the adjectives of the query sets."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from annotation.models import (
    Dialogue,
    ImportJob,
    Label,
    LabelEvent,
    LabelSet,
    Membership,
    Owner,
    Project,
    Purpose,
    Role,
    Status,
    User,
    Utterance,
)
from tests import factory
from tests.conftest import People
from tests.factory import inform


def refused(name: str = "") -> Any:
    """A write that the database refuses, by the constraint of this name where one is given."""
    return pytest.raises(IntegrityError, match=name or None)


# Constraints


def test_a_role_is_held_once_and_is_one_of_the_known(project: Project, people: People):
    with refused(), transaction.atomic():
        Membership.objects.create(project=project, user=people.annotator, role=Role.ANNOTATOR)
    with refused("membership_role_known"), transaction.atomic():
        Membership.objects.create(project=project, user=people.annotator, role="owner")
    Membership.objects.create(project=project, user=people.annotator, role=Role.DOCTOR)
    assert people.annotator.roles_in(project) == {"annotator", "doctor"}


def test_a_dialogues_id_is_unique_in_its_project_only(project: Project):
    factory.make_dialogue(project, "A")
    factory.make_dialogue(factory.make_project(), "A")
    with refused(), transaction.atomic():
        factory.make_dialogue(project, "A")


def test_two_projects_share_neither_name_nor_address(project: Project):
    for fields in ({"name": project.name, "slug": "other"}, {"name": "Other", "slug": project.slug}):
        with refused(), transaction.atomic():
            Project.objects.create(**fields, questionnaire_name="cmas", questionnaire_version="1.0")


def test_a_position_is_taken_once_in_a_dialogue(dialogue: Dialogue):
    with refused(), transaction.atomic():
        Utterance.objects.create(dialogue=dialogue, position=0, speaker="doctor", text="again")


def test_an_annotator_has_one_label_set_for_a_purpose(label_set: LabelSet, dialogue: Dialogue, people: People):
    with refused(), transaction.atomic():
        factory.make_label_set(dialogue, people.annotator)
    factory.make_label_set(dialogue, people.annotator, purpose=Purpose.TRAINING)
    factory.make_label_set(dialogue, people.second)


def test_there_is_one_gold_label_set_and_any_number_of_imported_ones(dialogue: Dialogue):
    LabelSet.objects.create(dialogue=dialogue, owner=Owner.GOLD)
    with refused(), transaction.atomic():
        LabelSet.objects.create(dialogue=dialogue, owner=Owner.GOLD)
    for _ in range(2):
        LabelSet.objects.create(dialogue=dialogue, owner=Owner.IMPORT)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"annotator": None}, "label_set_annotator_named"),
        ({"status": "perhaps"}, "label_set_status_known"),
        ({"owner": "nobody"}, "label_set_owner_known"),
        ({"purpose": "fun"}, "label_set_purpose_known"),
    ],
)
def test_a_label_set_is_one_that_can_be(label_set: LabelSet, fields: dict[str, Any], name: str):
    with refused(name), transaction.atomic():
        LabelSet.objects.filter(pk=label_set.pk).update(**fields)


def test_a_rank_is_taken_once_in_a_label_set(label_set: LabelSet):
    factory.make_labels(label_set, inform(1, "symptom", "a"))
    row = Label.objects.get()
    row.pk = uuid.uuid4()
    with refused(), transaction.atomic():
        row.save(force_insert=True)


def test_a_label_about_an_utterance_names_one_and_another_need_not(label_set: LabelSet):
    factory.make_labels(label_set, inform(1, "symptom", "a"))
    with refused("label_about_an_utterance"), transaction.atomic():
        Label.objects.update(utterance=None)
    Label.objects.update(about="dialogue", utterance=None)


def test_an_event_has_its_own_place_and_key_and_a_known_kind(label_set: LabelSet):
    def event(**fields: Any) -> None:
        defaults = {"label_set": label_set, "sequence": 1, "kind": "change", "key": "a"}
        with transaction.atomic():
            LabelEvent.objects.create(**{**defaults, **fields})

    event()
    for fields in ({"key": "b"}, {"sequence": 2}, {"sequence": 2, "key": "b", "kind": "guess"}):
        with refused():
            event(**fields)
    event(sequence=2, key="b")


def test_an_import_job_has_a_known_status(project: Project, people: People):
    with refused("import_job_status_known"), transaction.atomic():
        ImportJob.objects.create(project=project, created_by=people.supervisor, status="lost")


# Who has work stays


def test_people_dialogues_and_projects_with_labels_cannot_be_deleted(label_set: LabelSet, people: People):
    factory.make_labels(label_set, inform(1, "symptom", "a"))
    dialogue = label_set.dialogue
    for row in (people.annotator, dialogue, dialogue.project, label_set):
        with pytest.raises(ProtectedError):
            row.delete()
    for rows in (Dialogue.objects.all(), Utterance.objects.all(), User.objects.all(), Project.objects.all()):
        with pytest.raises(ProtectedError):
            rows.delete()
    assert Label.objects.count() == LabelEvent.objects.count() == 1


def test_who_is_only_named_in_the_history_cannot_be_deleted_either(label_set: LabelSet, people: People):
    factory.make_labels(label_set, inform(1, "symptom", "a"))
    LabelEvent.objects.create(label_set=label_set, sequence=2, kind="status", key="s", actor=people.superuser)
    with pytest.raises(ProtectedError):
        people.superuser.delete()


@pytest.mark.parametrize(
    "table", ["annotation_user", "annotation_dialogue", "annotation_utterance", "annotation_labelset"]
)
def test_the_database_refuses_it_even_past_the_models(label_set: LabelSet, table: str):
    factory.make_labels(label_set, inform(1, "symptom", "a"))
    with pytest.raises(IntegrityError), transaction.atomic():  # noqa: PT012
        with connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {table}")
        connection.check_constraints()


def test_who_has_done_nothing_can_be_deleted(people: People):
    people.outsider.delete()
    assert not User.objects.filter(username="otto").exists()


# Adjectives


def test_visible_to_shows_ones_own_and_what_one_supervises(label_set: LabelSet, dialogue: Dialogue, people: People):
    theirs = factory.make_label_set(dialogue, people.second)
    elsewhere = factory.make_project()
    far = factory.make_label_set(
        factory.make_dialogue(elsewhere), factory.make_member(elsewhere, factory.make_user("far"), Role.ANNOTATOR)
    )
    expected = {
        "annotator": {label_set},
        "second": {theirs},
        "doctor": set(),
        "supervisor": {label_set, theirs},
        "outsider": set(),
        "superuser": {label_set, theirs, far},
    }
    for name, seen in expected.items():
        rows = list(LabelSet.objects.visible_to(getattr(people, name)))
        assert set(rows) == seen, name
        assert len(rows) == len(seen), f"{name} sees a row twice"


def test_a_supervisor_who_annotates_sees_each_once(project: Project, label_set: LabelSet, people: People):
    factory.make_member(project, people.supervisor, Role.ANNOTATOR, Role.DOCTOR)
    own = factory.make_label_set(label_set.dialogue, people.supervisor)
    assert sorted(LabelSet.objects.visible_to(people.supervisor).values_list("pk", flat=True)) == [label_set.pk, own.pk]


def test_who_left_a_project_sees_none_of_its_work(label_set: LabelSet, people: People):
    people.annotator.memberships.all().delete()
    assert not LabelSet.objects.visible_to(people.annotator).exists()
    assert not Project.objects.visible_to(people.annotator).exists()


def test_a_project_is_visible_once_to_a_member_with_several_roles(project: Project, people: People):
    factory.make_member(project, people.annotator, Role.DOCTOR)
    factory.make_project()
    assert list(Project.objects.visible_to(people.annotator)) == [project]
    assert Project.objects.visible_to(people.superuser).count() == 2
    assert not Project.objects.visible_to(people.outsider).exists()


@pytest.mark.parametrize("what", ["dialogue", "project"])
def test_open_leaves_out_what_is_archived(label_set: LabelSet, what: str):
    assert list(LabelSet.objects.open()) == [label_set]
    rows = Dialogue.objects if what == "dialogue" else Project.objects
    rows.update(archived_at=timezone.now())
    assert not LabelSet.objects.open().exists()
    assert not rows.open().exists()


def test_progress_counts_utterances_and_not_labels(label_set: LabelSet):
    factory.make_labels(label_set, inform(1, "symptom", "a"), inform(1, "symptom", "b"), inform(3, "symptom", "c"))
    assert LabelSet.objects.with_progress().get().labelled_count == 2


def test_who_may_create_projects(people: People):
    may = {
        name: getattr(people, name).may_create_projects for name in ("annotator", "doctor", "supervisor", "superuser")
    }
    assert may == {"annotator": False, "doctor": False, "supervisor": True, "superuser": True}


def test_only_open_statuses_are_editable():
    assert [status for status in Status if status.editable] == [Status.TODO, Status.IN_PROGRESS, Status.RETURNED]


def test_rows_say_who_they_are(label_set: LabelSet, people: People):
    factory.make_labels(label_set, inform(1, "symptom", "a"))
    people.annotator.first_name = "Alice"
    assert people.annotator.display_name == "Alice"
    assert str(label_set) == "RES-TEST by alice"
    assert str(LabelSet(dialogue=label_set.dialogue, owner=Owner.GOLD)) == "RES-TEST by gold"
    assert str(Label.objects.get()) == "inform symptom"
    assert str(LabelEvent.objects.get()).endswith("#1 change")
    assert str(Utterance.objects.first()) == "RES-TEST 0"
    assert str(people.annotator.memberships.get()) == "alice is annotator of Chest clinic"


@pytest.mark.django_db
def test_the_migrations_make_exactly_these_tables():
    from io import StringIO

    from django.core.management import call_command

    out = StringIO()
    call_command("makemigrations", "--check", "--dry-run", stdout=out)
    assert "No changes" in out.getvalue()
