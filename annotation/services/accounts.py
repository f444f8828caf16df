"""Writes about people: accounts, passwords, API tokens, keys."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import ProtectedError
from knox.models import AuthToken

from annotation.domain.keymap import check_overrides, default_bindings
from annotation.domain.questionnaire import Questionnaire
from annotation.models import User
from annotation.services.checks import check_row
from annotation.services.errors import HasWork, Refused

# Without letters and digits that are mistaken for one another when somebody reads them out.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_EDITABLE = ("first_name", "last_name", "email", "is_superuser")


def one_time_password() -> str:
    """Four groups of four signs, about 79 bits: `k3vd-9xwm-…`."""
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(4)) for _ in range(4))


@transaction.atomic
def person_create(
    *, username: str, email: str = "", first_name: str = "", last_name: str = "", is_superuser: bool = False
) -> tuple[User, str]:
    """A new account with a one-time password, which is returned and stored nowhere.

    Raises Refused for a user name or e-mail address that is taken or malformed.
    """
    username = username.strip()
    if User.objects.filter(username__iexact=username).exists():
        raise Refused(f"The user name “{username}” is taken.", field="username")
    person = User(
        username=username,
        email=_free_email(email),
        first_name=first_name.strip(),
        last_name=last_name.strip(),
        is_superuser=is_superuser,
        must_change_password=True,
    )
    password = one_time_password()
    person.set_password(password)
    check_row(person)
    person.save()
    return person, password


@transaction.atomic
def person_update(*, person: User, actor: User, **changes: Any) -> User:
    """Change names, e-mail address or `is_superuser`; only a superuser may change the latter."""
    unknown = changes.keys() - set(_EDITABLE)
    if unknown:
        raise TypeError(f"person_update cannot change {', '.join(sorted(unknown))}")
    if "email" in changes:
        changes["email"] = _free_email(changes["email"], but=person)
    if changes.get("is_superuser", person.is_superuser) != person.is_superuser:
        if not actor.is_superuser:
            raise Refused("Only an administrator can make or unmake administrators.", field="is_superuser")
        if person.is_superuser:
            _keep_an_administrator(person, field="is_superuser")
    for name, value in changes.items():
        setattr(person, name, value.strip() if isinstance(value, str) else value)
    check_row(person)
    person.save(update_fields=[*changes])
    return person


@transaction.atomic
def person_archive(*, person: User, actor: User) -> None:
    """Take the way in from a person and keep their work. Sessions and API tokens end at once."""
    if person.pk == actor.pk:
        raise Refused("You cannot archive your own account; ask another administrator.")
    _keep_an_administrator(person)
    person.is_active = False
    person.save(update_fields=["is_active"])
    AuthToken.objects.filter(user=person).delete()


@transaction.atomic
def person_restore(*, person: User) -> None:
    """Let an archived person in again, with the password and the roles they had."""
    person.is_active = True
    person.save(update_fields=["is_active"])


@transaction.atomic
def person_delete(*, person: User, actor: User) -> None:
    """Delete an account that nothing refers to; raises HasWork, naming what does."""
    if person.pk == actor.pk:
        raise Refused("You cannot delete your own account; ask another administrator.")
    _keep_an_administrator(person)
    try:
        with transaction.atomic():
            person.delete()
    except ProtectedError as error:
        kinds = sorted({str(item._meta.verbose_name_plural) for item in error.protected_objects})
        raise HasWork(
            f"{person.display_name} has work in the portal ({', '.join(kinds)}), so the account cannot be deleted. "
            "Archive it instead: the work stays, and nobody can sign in with it."
        ) from None


@transaction.atomic
def person_reset_password(*, person: User) -> str:
    """A new one-time password; sessions opened with the old password end."""
    password = one_time_password()
    person.set_password(password)
    person.must_change_password = True
    person.save(update_fields=["password", "must_change_password"])
    return password


@transaction.atomic
def password_change(*, person: User, password: str) -> None:
    """Set the password a person chose. Raises Refused when it is too easy or the one they have."""
    if person.check_password(password):
        raise Refused("Choose a password that differs from the present one.", field="new")
    try:
        validate_password(password, person)
    except ValidationError as error:
        raise Refused(" ".join(error.messages), field="new") from None
    person.set_password(password)
    person.must_change_password = False
    person.save(update_fields=["password", "must_change_password"])


@transaction.atomic
def token_create(*, person: User) -> tuple[AuthToken, str]:
    """A new API token: its row, and its text, which cannot be had again."""
    instance, token = AuthToken.objects.create(user=person)
    return instance, token


@transaction.atomic
def token_revoke(*, person: User, digest: str) -> None:
    """End one of the person's own tokens; one that is gone already is no error."""
    AuthToken.objects.filter(user=person, digest=digest).delete()


@transaction.atomic
def keymap_save(*, person: User, questionnaire: Questionnaire, overrides: Mapping[str, str]) -> None:
    """Keep a person's own keys for the actions of one questionnaire; without any, the usual ones are back.

    `User.keymap` is one flat table action → key: keys for what every questionnaire has (next, undo, …) hold in all of
    them. Raises Refused, naming every clash.
    """
    problems = check_overrides(questionnaire, overrides)
    if problems:
        raise Refused(" ".join(problems))
    actions = {binding.action for binding in default_bindings(questionnaire)}
    others = {action: key for action, key in person.keymap.items() if action not in actions}
    person.keymap = {**others, **overrides}
    person.save(update_fields=["keymap"])


def _free_email(email: str, but: User | None = None) -> str:
    """The address as it is stored; people are found by it, so that two may not share one."""
    email = User.objects.normalize_email(email.strip())
    others = User.objects.exclude(pk=but.pk) if but else User.objects.all()
    if email and others.filter(email__iexact=email).exists():
        raise Refused("Somebody else has this e-mail address.", field="email")
    return email


def _keep_an_administrator(person: User, field: str = "") -> None:
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=person.pk)
    if person.is_superuser and not others.exists():
        raise Refused(f"{person.display_name} is the only administrator left; make another one first.", field=field)
