"""Projects and members."""

from __future__ import annotations

import pytest

from annotation.models import (
    AgreementSnapshot,
    AssignmentRun,
    GuidelineNote,
    ImportJob,
    Membership,
    Project,
    Role,
    TestAttempt,
    User,
)
from annotation.services import projects
from annotation.services.errors import HasWork, Refused
from tests import factory


def roles_of(project: Project, user: User) -> set[str]:
    return set(Membership.objects.filter(project=project, user=user).values_list("role", flat=True))


def test_the_creator_becomes_the_supervisor(people):
    project = projects.project_create(name="  Heart   clinic ", questionnaire="cmas", creator=people.outsider)
    assert (project.name, project.slug) == ("Heart clinic", "heart-clinic")
    assert project.questionnaire_version == factory.cmas_version()
    assert roles_of(project, people.outsider) == {Role.SUPERVISOR}


def test_a_project_made_by_a_command_has_no_member(db):
    project = projects.project_create(name="Heart clinic", questionnaire="cmas", creator=None)
    assert not project.memberships.exists()


@pytest.mark.parametrize("name", ["", "   ", "Chest clinic", "CHEST  clinic", "half \ud800"])
def test_an_empty_or_taken_name_is_refused_at_its_field(project, name):
    with pytest.raises(Refused) as refusal:
        projects.project_create(name=name, questionnaire="cmas", creator=None)
    assert refusal.value.field == "name"
    assert Project.objects.count() == 1


def test_a_name_that_is_too_long_is_refused(db):
    with pytest.raises(Refused) as refusal:
        projects.project_create(name="x" * 101, questionnaire="cmas", creator=None)
    assert refusal.value.field == "name"


def test_an_unknown_questionnaire_is_refused_naming_those_that_exist(db):
    with pytest.raises(Refused, match="cmas") as refusal:
        projects.project_create(name="Heart clinic", questionnaire="nope", creator=None)
    assert refusal.value.field == "questionnaire"


@pytest.mark.parametrize(
    ("names", "slugs"),
    [
        (["A b", "A-b"], ["a-b", "a-b-2"]),
        (["New"], ["new-2"]),
        (["心", "肺"], ["project", "project-2"]),
        (["x" * 100], ["x" * 50]),
    ],
)
def test_addresses_are_unique_and_never_that_of_another_page(db, names, slugs):
    made = [projects.project_create(name=name, questionnaire="cmas", creator=None) for name in names]
    assert [project.slug for project in made] == slugs


def test_renaming_keeps_the_address(project):
    projects.project_rename(project=project, name="Lung clinic")
    assert Project.objects.values_list("name", "slug").get() == ("Lung clinic", "chest-clinic")
    projects.project_rename(project=project, name="LUNG clinic")
    factory.make_project("Other")
    with pytest.raises(Refused, match="already"):
        projects.project_rename(project=project, name="other")


def test_archiving_twice_keeps_the_first_date_and_restoring_clears_it(project):
    projects.project_archive(project=project)
    first = Project.objects.get().archived_at
    projects.project_archive(project=project)
    assert Project.objects.get().archived_at == first is not None
    projects.project_restore(project=project)
    assert Project.objects.get().archived_at is None


def test_an_empty_project_can_be_deleted_with_its_memberships(project, people):
    projects.project_delete(project=project)
    assert not Project.objects.exists()
    assert not Membership.objects.exists()


def test_a_project_with_a_dialogue_or_an_import_is_kept(project, people):
    job = ImportJob.objects.create(project=project, created_by=people.supervisor)
    with pytest.raises(HasWork, match="Archive it instead"):
        projects.project_delete(project=project)
    job.delete()
    factory.make_dialogue(project)
    with pytest.raises(HasWork, match="Archive it instead"):
        projects.project_delete(project=project)


def test_a_member_is_added_by_the_exact_user_name_or_address(project, people):
    people.outsider.email = "otto@example.org"
    people.outsider.save()
    assert projects.member_add(project=project, who=" otto ", roles=["doctor"]) == people.outsider
    projects.member_add(project=project, who="OTTO@example.org", roles=["annotator", "doctor"])
    assert roles_of(project, people.outsider) == {"annotator", "doctor"}


@pytest.mark.parametrize("who", ["ott", "", "otto@", "OTTO"])
def test_a_part_of_a_name_finds_nobody(project, people, who):
    with pytest.raises(Refused) as refusal:
        projects.member_add(project=project, who=who, roles=["annotator"])
    assert refusal.value.field == "who"


def test_people_without_an_address_are_not_found_by_an_empty_one(project, people):
    with pytest.raises(Refused):
        projects.member_add(project=project, who="  ", roles=["annotator"])


def test_an_archived_account_cannot_be_added(project, people):
    people.outsider.is_active = False
    people.outsider.save()
    with pytest.raises(Refused, match="Nobody here"):
        projects.member_add(project=project, who="otto", roles=["annotator"])


@pytest.mark.parametrize("roles", [[], ["boss"], ["annotator", "boss"]])
def test_no_role_and_unknown_roles_are_refused(project, people, roles):
    with pytest.raises(Refused) as refusal:
        projects.member_add(project=project, who="otto", roles=roles)
    assert refusal.value.field == "roles"
    assert roles_of(project, people.outsider) == set()


def test_a_new_account_is_a_member_from_the_start(project):
    person, password = projects.member_create(
        project=project, username="eve", email="", first_name="Eve", last_name="", roles=["annotator", "doctor"]
    )
    assert person.check_password(password)
    assert roles_of(project, person) == {"annotator", "doctor"}


def test_a_refused_new_member_leaves_no_account(project, people):
    with pytest.raises(Refused):
        projects.member_create(project=project, username="eve", email="", first_name="", last_name="", roles=["boss"])
    assert not User.objects.filter(username="eve").exists()


def test_roles_are_replaced(project, people):
    projects.member_set_roles(project=project, person=people.annotator, roles=["doctor", "supervisor"])
    assert roles_of(project, people.annotator) == {"doctor", "supervisor"}


def test_the_last_supervisor_keeps_the_role(project, people):
    for roles in ([], ["annotator"]):
        with pytest.raises(Refused, match="last supervisor"):
            projects.member_set_roles(project=project, person=people.supervisor, roles=roles)
    assert roles_of(project, people.supervisor) == {"supervisor"}
    projects.member_add(project=project, who="bob", roles=["supervisor"])
    projects.member_remove(project=project, person=people.supervisor)
    assert roles_of(project, people.supervisor) == set()


def test_an_archived_supervisor_does_not_count(project, people):
    projects.member_add(project=project, who="bob", roles=["supervisor"])
    User.objects.filter(username="bob").update(is_active=False)
    with pytest.raises(Refused, match="last supervisor"):
        projects.member_remove(project=project, person=people.supervisor)


def test_a_removed_member_leaves_their_work(project, people, label_set):
    assert projects.member_remove(project=project, person=people.annotator) == 1
    label_set.refresh_from_db()
    assert label_set.annotator == people.annotator
    with pytest.raises(Refused, match="no member"):
        projects.member_remove(project=project, person=people.annotator)


@pytest.mark.parametrize("left", ["run", "note", "snapshot", "attempt"])
def test_a_project_that_held_work_once_is_not_deleted(project, people, left):
    if left == "run":
        AssignmentRun.objects.create(project=project, number=1, random_seed=1)
    elif left == "note":
        GuidelineNote.objects.create(project=project, text="Ask for the onset.", author=people.supervisor)
    elif left == "snapshot":
        AgreementSnapshot.objects.create(project=project, scope_key="x", definition="1")
    else:
        TestAttempt.objects.create(project=project, annotator=people.annotator, number=1)
    with pytest.raises(HasWork, match="held work once"):
        projects.project_delete(project=project)
    assert project.memberships.exists()
