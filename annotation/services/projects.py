"""Writes about projects and who is in them."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.db.models import ProtectedError, Q
from django.utils import timezone
from django.utils.text import slugify

from annotation.domain.given_text import BrokenText, plain_lines
from annotation.models import LabelSet, Membership, Project, Role, User
from annotation.questionnaires import UnknownQuestionnaire, get_questionnaire
from annotation.services.accounts import person_create
from annotation.services.checks import check_row
from annotation.services.errors import HasWork, Refused

# "new" is the address of the page that creates a project.
_RESERVED_SLUGS = frozenset({"new"})


@transaction.atomic
def project_create(*, name: str, questionnaire: str, creator: User | None) -> Project:
    """A project with the questionnaire's current version; its creator becomes its supervisor.

    Raises Refused for a name that is taken or has nothing to make an address from, and an unknown questionnaire.
    """
    name = _free_name(name)
    try:
        version = get_questionnaire(questionnaire).version
    except UnknownQuestionnaire as error:
        raise Refused(str(error), field="questionnaire") from None
    project = Project(
        name=name,
        slug=_free_slug(name),
        questionnaire_name=questionnaire,
        questionnaire_version=version,
        created_by=creator,
    )
    check_row(project)
    project.save()
    if creator is not None:
        Membership.objects.create(project=project, user=creator, role=Role.SUPERVISOR)
    return project


@transaction.atomic
def project_rename(*, project: Project, name: str) -> None:
    """Give another name; the address (slug) stays, so that links and scripts go on working."""
    project.name = _free_name(name, but=project)
    check_row(project)
    project.save(update_fields=["name"])


@transaction.atomic
def project_archive(*, project: Project) -> None:
    """Put a project away: it can be read and exported, and nothing in it changes."""
    if project.archived_at is None:
        project.archived_at = timezone.now()
        project.save(update_fields=["archived_at"])


@transaction.atomic
def project_restore(*, project: Project) -> None:
    """Take a project up again."""
    project.archived_at = None
    project.save(update_fields=["archived_at"])


@transaction.atomic
def project_delete(*, project: Project) -> None:
    """Delete a project that never held anything; raises HasWork otherwise."""
    if project.dialogues.exists() or project.import_jobs.exists():
        raise HasWork(f"“{project.name}” has dialogues or imports, so it cannot be deleted. Archive it instead.")
    project.overrides.all().delete()  # who may work where there is no work
    project.extra_attempts.all().delete()
    try:
        project.delete()
    except ProtectedError as error:
        raise HasWork(f"“{project.name}” held work once, so it cannot be deleted. Archive it instead.") from error


@transaction.atomic
def member_add(*, project: Project, who: str, roles: Collection[str]) -> User:
    """Give roles to the person with exactly this user name or e-mail address. Raises Refused when there is none."""
    chosen = _known_roles(roles)
    who = who.strip()
    found = User.objects.filter(Q(username=who) | Q(email__iexact=who), is_active=True).exclude(username="")[:2]
    person = next((user for user in found if user.username == who), found[0] if found else None) if who else None
    if person is None:
        raise Refused(
            f"Nobody here has the user name or e-mail address “{who}”. Check the spelling, or create an account below.",
            field="who",
        )
    for role in chosen:
        Membership.objects.get_or_create(project=project, user=person, role=role)
    return person


@transaction.atomic
def member_create(
    *, project: Project, username: str, email: str, first_name: str, last_name: str, roles: Collection[str]
) -> tuple[User, str]:
    """A new account that is a member from the start, and its one-time password."""
    chosen = _known_roles(roles)
    person, password = person_create(username=username, email=email, first_name=first_name, last_name=last_name)
    Membership.objects.bulk_create(Membership(project=project, user=person, role=role) for role in chosen)
    return person, password


@transaction.atomic
def member_set_roles(*, project: Project, person: User, roles: Collection[str]) -> int:
    """Make these the person's roles; none removes the member.

    Returns how many label sets of theirs stay in the project, for the caller to say. Raises Refused when the project
    would be left without a supervisor.
    """
    chosen = _known_roles(roles, at_least_one=False)
    rows = Membership.objects.filter(project=project, user=person)
    if not rows.exists():
        raise Refused(f"{person.display_name} is no member of this project.")
    if Role.SUPERVISOR not in chosen:
        _keep_a_supervisor(project, person)
    rows.exclude(role__in=chosen).delete()
    for role in chosen:
        Membership.objects.get_or_create(project=project, user=person, role=role)
    return LabelSet.objects.filter(dialogue__project=project, annotator=person).count()


def member_remove(*, project: Project, person: User) -> int:
    """Take all roles from a member; returns how many label sets of theirs stay. Raises as `member_set_roles`."""
    return member_set_roles(project=project, person=person, roles=())


def _known_roles(roles: Collection[str], *, at_least_one: bool = True) -> list[Role]:
    unknown = [role for role in roles if role not in Role.values]
    if unknown:
        raise Refused(f"There is no role “{unknown[0]}”; there are {', '.join(Role.values)}.", field="roles")
    if at_least_one and not roles:
        raise Refused("Choose at least one role.", field="roles")
    return [role for role in Role if role in roles]


def _keep_a_supervisor(project: Project, person: User) -> None:
    supervisors = Membership.objects.filter(project=project, role=Role.SUPERVISOR, user__is_active=True)
    is_one = Membership.objects.filter(project=project, role=Role.SUPERVISOR, user=person).exists()
    if is_one and not supervisors.exclude(user=person).exists():
        raise Refused(
            f"{person.display_name} is the last supervisor of this project; give somebody else the role first.",
            field="roles",
        )


def _free_name(name: str, but: Project | None = None) -> str:
    name = " ".join(name.split())
    if not name:
        raise Refused("Give the project a name.", field="name")
    try:
        plain_lines(name, "The name of the project")
    except BrokenText as error:
        raise Refused(str(error), field="name") from None
    others = Project.objects.exclude(pk=but.pk) if but else Project.objects.all()
    if others.filter(name__iexact=name).exists():
        raise Refused(f"There is a project named “{name}” already; choose another name.", field="name")
    return name


def _free_slug(name: str) -> str:
    """The name as a part of an address, numbered when another project has it."""
    stem = slugify(name)[:50].strip("-_") or "project"
    slug, number = stem, 1
    while slug in _RESERVED_SLUGS or Project.objects.filter(slug=slug).exists():
        number += 1
        slug = f"{stem}-{number}"
    return slug
