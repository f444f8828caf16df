"""Lets the pages of labelling show what waits in concept linking, without knowing it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import template

from annotation.models import Project, User
from umls_linker.views import for_you
from umls_linker.views.for_you import open_values

register = template.Library()


@register.simple_tag
def concepts_for_you(user: User, projects: Iterable[Project]) -> dict[str, list[Any]]:
    return for_you.concepts_for_you(user, projects)


@register.simple_tag
def concept_values(project: Project, user: User) -> dict[str, int]:
    """`open` and `total` values of the project that the person may see."""
    left, total = open_values(project, user)
    return {"open": left, "total": total}
