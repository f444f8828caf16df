"""All accounts of the portal, for administrators."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import get_person, require_superuser
from annotation.forms.accounts import NewPersonForm, PersonForm
from annotation.models import User
from annotation.services.accounts import (
    person_archive,
    person_create,
    person_delete,
    person_reset_password,
    person_restore,
    person_update,
)
from annotation.services.errors import Refused
from annotation.views.requests import page_of, person_of, posted

_FIELDS = ("first_name", "last_name", "email", "is_superuser")


@require_safe
def people(request: HttpRequest) -> HttpResponse:
    require_superuser(person_of(request))
    show = "archived" if request.GET.get("show") == "archived" else "active"
    query = request.GET.get("q", "").strip()
    rows = User.objects.filter(is_active=show == "active")
    for word in query.split():
        rows = rows.filter(
            Q(username__icontains=word)
            | Q(first_name__icontains=word)
            | Q(last_name__icontains=word)
            | Q(email__icontains=word)
        )
    rows = rows.annotate(project_count=Count("memberships__project", distinct=True)).order_by("username")
    archived = User.objects.filter(is_active=False).count()
    context = {"page": page_of(request, rows), "show": show, "q": query, "archived": archived}
    return render(request, "annotation/people.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def person_new(request: HttpRequest) -> HttpResponse:
    """Create an account. Its one-time password is part of the answer only, so that it is stored nowhere."""
    require_superuser(person_of(request))
    form = NewPersonForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            person, password = person_create(**form.cleaned_data)
        except Refused as refusal:
            form.refuse(refusal)
        else:
            return _person_page(request, person, new_password=password, created=True)
    return render(request, "annotation/person_new.html", {"form": form})


@require_http_methods(["GET", "HEAD", "POST"])
def person(request: HttpRequest, pk: int) -> HttpResponse:
    actor = person_of(request)
    found = get_person(actor, pk)
    form = PersonForm(posted(request), initial={name: getattr(found, name) for name in _FIELDS})
    if request.method == "POST" and form.is_valid():
        try:
            person_update(person=found, actor=actor, **form.cleaned_data)
        except Refused as refusal:
            found.refresh_from_db()
            form.refuse(refusal)
        else:
            messages.success(request, f"{found.display_name} is saved.")
            return redirect("person", pk)
    return _person_page(request, found, form=form)


def _person_page(request: HttpRequest, found: User, **changes: Any) -> HttpResponse:
    roles: dict[Any, list[str]] = {}
    for row in found.memberships.select_related("project").order_by("project__name", "role"):
        roles.setdefault(row.project, []).append(row.get_role_display())
    context = {
        "person": found,
        "form": PersonForm(initial={name: getattr(found, name) for name in _FIELDS}),
        "roles": list(roles.items()),
        "label_sets": found.label_sets.count(),
        **changes,
    }
    return render(request, "annotation/person.html", context)


@never_cache
@require_POST
def person_password(request: HttpRequest, pk: int) -> HttpResponse:
    """A new one-time password, part of this answer only."""
    found = get_person(person_of(request), pk)
    return _person_page(request, found, new_password=person_reset_password(person=found))


@require_POST
def person_archive_view(request: HttpRequest, pk: int) -> HttpResponse:
    actor = person_of(request)
    found = get_person(actor, pk)
    try:
        person_archive(person=found, actor=actor)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"{found.display_name} is archived and cannot sign in; all their work stays.")
    return redirect("person", pk)


@require_POST
def person_restore_view(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_person(person_of(request), pk)
    person_restore(person=found)
    messages.success(request, f"{found.display_name} can sign in again.")
    return redirect("person", pk)


@require_POST
def person_delete_view(request: HttpRequest, pk: int) -> HttpResponse:
    actor = person_of(request)
    found = get_person(actor, pk)
    name = found.display_name
    try:
        person_delete(person=found, actor=actor)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("person", pk)
    messages.success(request, f"The account of {name} is deleted.")
    return redirect("people")
