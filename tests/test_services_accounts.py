"""Accounts: creating, changing, archiving, deleting; passwords, tokens, keys."""

from __future__ import annotations

import pytest
from knox.models import AuthToken

from annotation.models import User
from annotation.questionnaires import get_questionnaire
from annotation.services import accounts
from annotation.services.errors import HasWork, Refused
from tests import factory


def test_a_new_person_can_sign_in_with_the_one_time_password_and_must_change_it(db):
    person, password = accounts.person_create(username=" eve ", email="Eve@Example.ORG", first_name=" Eve ")
    person.refresh_from_db()
    assert (person.username, person.first_name, person.email) == ("eve", "Eve", "Eve@example.org")
    assert person.check_password(password)
    assert person.must_change_password


def test_two_one_time_passwords_differ():
    assert accounts.one_time_password() != accounts.one_time_password()


@pytest.mark.parametrize("username", ["alice", "ALICE"])
def test_a_user_name_that_is_taken_is_refused_in_any_case(people, username):
    with pytest.raises(Refused, match="taken") as refusal:
        accounts.person_create(username=username)
    assert refusal.value.field == "username"


@pytest.mark.parametrize("username", ["", "two words", "a/b", "x" * 151])
def test_a_malformed_user_name_is_refused_at_its_field(db, username):
    with pytest.raises(Refused) as refusal:
        accounts.person_create(username=username)
    assert refusal.value.field == "username"
    assert not User.objects.exists()


def test_an_email_address_belongs_to_one_person(db):
    person, _ = accounts.person_create(username="eve", email="eve@example.org")
    with pytest.raises(Refused, match="Somebody else") as refusal:
        accounts.person_create(username="ev2", email="EVE@example.org")
    assert refusal.value.field == "email"
    accounts.person_update(person=person, actor=person, email="eve@example.org")
    for name in ("a", "b"):
        accounts.person_create(username=name, email="")


def test_an_update_changes_what_it_names_and_nothing_else(people):
    accounts.person_update(person=people.annotator, actor=people.superuser, first_name="Alice", email="a@example.org")
    person = User.objects.get(username="alice")
    assert (person.first_name, person.email, person.is_superuser) == ("Alice", "a@example.org", False)
    with pytest.raises(TypeError):
        accounts.person_update(person=person, actor=people.superuser, password="x")


def test_only_administrators_make_administrators(people):
    with pytest.raises(Refused, match="Only an administrator"):
        accounts.person_update(person=people.supervisor, actor=people.supervisor, is_superuser=True)
    accounts.person_update(person=people.supervisor, actor=people.superuser, is_superuser=True)
    assert User.objects.get(username="sam").is_superuser


def test_the_last_administrator_stays_one(people):
    with pytest.raises(Refused, match="only administrator"):
        accounts.person_update(person=people.superuser, actor=people.superuser, is_superuser=False)
    other = factory.make_user("root2", is_superuser=True, is_active=False)
    with pytest.raises(Refused, match="only administrator"):
        accounts.person_archive(person=people.superuser, actor=other)
    other.is_active = True
    other.save()
    accounts.person_archive(person=people.superuser, actor=other)
    assert not User.objects.get(username="root").is_active


def test_archiving_ends_the_tokens_and_restoring_lets_in_again(people):
    accounts.token_create(person=people.annotator)
    accounts.person_archive(person=people.annotator, actor=people.superuser)
    assert not User.objects.get(username="alice").is_active
    assert not AuthToken.objects.filter(user=people.annotator).exists()
    accounts.person_restore(person=people.annotator)
    assert User.objects.get(username="alice").is_active


def test_nobody_archives_or_deletes_their_own_account(people):
    for service in (accounts.person_archive, accounts.person_delete):
        with pytest.raises(Refused, match="your own account"):
            service(person=people.superuser, actor=people.superuser)


def test_a_person_without_work_can_be_deleted_and_their_tokens_go_along(people):
    accounts.token_create(person=people.outsider)
    accounts.person_delete(person=people.outsider, actor=people.superuser)
    assert not User.objects.filter(username="otto").exists()
    assert not AuthToken.objects.exists()


def test_a_person_with_work_is_kept_and_the_refusal_names_it(people, label_set):
    with pytest.raises(HasWork, match=r"label sets.*memberships.*Archive it instead"):
        accounts.person_delete(person=people.annotator, actor=people.superuser)
    assert User.objects.filter(username="alice").exists()


def test_a_chosen_password_ends_the_duty_to_choose_one(people):
    one_time = accounts.person_reset_password(person=people.annotator)
    assert people.annotator.must_change_password
    accounts.password_change(person=people.annotator, password="four words are easy")
    person = User.objects.get(username="alice")
    assert person.check_password("four words are easy")
    assert not person.check_password(one_time)
    assert not person.must_change_password


@pytest.mark.parametrize("password", ["short", "password123", factory.PASSWORD])
def test_an_easy_or_unchanged_password_is_refused(people, password):
    with pytest.raises(Refused) as refusal:
        accounts.password_change(person=people.annotator, password=password)
    assert refusal.value.field == "new"
    assert User.objects.get(username="alice").check_password(factory.PASSWORD)


def test_a_token_is_revoked_by_its_owner_only(people):
    instance, token = accounts.token_create(person=people.annotator)
    assert token.startswith(instance.token_key)
    accounts.token_revoke(person=people.second, digest=instance.digest)
    assert AuthToken.objects.count() == 1
    accounts.token_revoke(person=people.annotator, digest=instance.digest)
    assert AuthToken.objects.count() == 0


def test_own_keys_are_kept_and_given_up(people):
    questionnaire = get_questionnaire("cmas")
    accounts.keymap_save(person=people.annotator, questionnaire=questionnaire, overrides={"repeat": "F4"})
    assert User.objects.get(username="alice").keymap == {"repeat": "F4"}
    accounts.keymap_save(person=people.annotator, questionnaire=questionnaire, overrides={})
    assert User.objects.get(username="alice").keymap == {}


def test_keys_of_another_questionnaire_survive(people):
    people.annotator.keymap = {"slot:rash of another questionnaire": "F9"}
    accounts.keymap_save(person=people.annotator, questionnaire=get_questionnaire("cmas"), overrides={"repeat": "F4"})
    assert User.objects.get(username="alice").keymap == {"slot:rash of another questionnaire": "F9", "repeat": "F4"}


def test_clashing_keys_are_refused_by_name(people):
    with pytest.raises(Refused, match="Repeat the last label here"):
        accounts.keymap_save(
            person=people.annotator, questionnaire=get_questionnaire("cmas"), overrides={"repeat": "j"}
        )
    assert User.objects.get(username="alice").keymap == {}
