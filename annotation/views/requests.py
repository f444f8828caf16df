"""Small helpers for views: who asks, and which page of a list."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, QueryDict

from annotation.models import User


def person_of(request: HttpRequest) -> User:
    """The signed-in person; the middleware lets nobody else reach a view that calls this."""
    assert isinstance(request.user, User)
    return request.user


def posted(request: HttpRequest) -> QueryDict | None:
    """What a form is bound to: what was sent, even when that is nothing, and None when the form is only asked for."""
    return request.POST if request.method == "POST" else None


def page_of(request: HttpRequest, rows: Any, size: int = 50) -> Page[Any]:
    """The page that `?page=` names; a number out of range gives the nearest one."""
    page = Paginator(rows, size).get_page(request.GET.get("page"))
    page.query = _without_page(request.GET)  # type: ignore[attr-defined]
    return page


def _without_page(query: QueryDict) -> str:
    """The other parameters, for the links to other pages of the same list."""
    rest = query.copy()
    rest.pop("page", None)
    return rest.urlencode()


def whole_numbers(values: list[str]) -> list[int]:
    """The values that are whole numbers a database can compare; anything else names no row."""
    return [int(value) for value in values if value.isascii() and value.isdigit() and len(value) < 19]


def numbered_texts(request: HttpRequest, prefix: str) -> dict[int, str]:
    """The posted fields named `<prefix><number>` by their number, for forms with a text for each utterance."""
    return {
        int(name.removeprefix(prefix)): str(text)
        for name, text in request.POST.items()
        if name.startswith(prefix) and whole_numbers([name.removeprefix(prefix)])
    }
