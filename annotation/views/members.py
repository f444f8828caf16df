"""Who is in a project, and with which roles."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import SUPERVISOR, get_member, get_project
from annotation.domain.numbers import counted
from annotation.forms.projects import MemberForm, MemberRolesForm, NewMemberForm
from annotation.models import LabelSet, Membership, Project, User
from annotation.services.errors import Refused
from annotation.services.projects import member_add, member_create, member_remove, member_set_roles
from annotation.views.requests import person_of, posted


@require_safe
def members(request: HttpRequest, slug: str) -> HttpResponse:
    return _members_page(request, get_project(person_of(request), slug, SUPERVISOR))


def _members_page(request: HttpRequest, project: Project, **changes: Any) -> HttpResponse:
    held: dict[User, list[str]] = {}
    for row in Membership.objects.filter(project=project).select_related("user"):
        held.setdefault(row.user, []).append(row.get_role_display())
    context = {
        "project": project,
        "members": [{"person": person, "roles": roles} for person, roles in held.items()],
        "form": MemberForm(initial={"roles": ["annotator"]}),
        "new_form": NewMemberForm(initial={"roles": ["annotator"]}, auto_id="id_new_%s"),
        **changes,
    }
    return render(request, "annotation/members.html", context)


@require_POST
def member_add_view(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project(person_of(request), slug, SUPERVISOR)
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            person = member_add(project=project, **form.cleaned_data)
        except Refused as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, f"{person.display_name} is a member of this project now.")
            return redirect("members", slug)
    return _members_page(request, project, form=form)


@never_cache
@require_POST
def member_new(request: HttpRequest, slug: str) -> HttpResponse:
    """Create an account. Its one-time password is part of this answer only, so that it is stored nowhere."""
    project = get_project(person_of(request), slug, SUPERVISOR)
    form = NewMemberForm(request.POST, auto_id="id_new_%s")
    if form.is_valid():
        try:
            person, password = member_create(project=project, **form.cleaned_data)
        except Refused as refusal:
            form.refuse(refusal)
        else:
            return _members_page(request, project, new_person=person, new_password=password)
    return _members_page(request, project, new_form=form, new_open=True)


@require_http_methods(["GET", "HEAD", "POST"])
def member(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Change one member's roles."""
    project = get_project(person_of(request), slug, SUPERVISOR)
    person = get_member(project, pk)
    held = list(Membership.objects.filter(project=project, user=person).values_list("role", flat=True))
    form = MemberRolesForm(posted(request), initial={"roles": held})
    if request.method == "POST" and form.is_valid():
        try:
            member_set_roles(project=project, person=person, roles=form.cleaned_data["roles"])
        except Refused as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, f"{person.display_name} is {_listed(form.cleaned_data['roles'])} now.")
            return redirect("members", slug)
    label_sets = LabelSet.objects.filter(dialogue__project=project, annotator=person).count()
    context = {"project": project, "person": person, "form": form, "label_sets": label_sets}
    return render(request, "annotation/member.html", context)


def _listed(roles: list[str]) -> str:
    return roles[0] if len(roles) == 1 else ", ".join(roles[:-1]) + " and " + roles[-1]


@require_POST
def member_remove_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    user = person_of(request)
    project = get_project(user, slug, SUPERVISOR)
    person = get_member(project, pk)
    try:
        kept = member_remove(project=project, person=person)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("member", slug, pk)
    work = f" Their work stays: {counted(kept, 'label set')}." if kept else ""
    messages.success(request, f"{person.display_name} is no longer a member.{work}")
    if person.pk == user.pk and not user.is_superuser:
        return redirect("home")
    return redirect("members", slug)
