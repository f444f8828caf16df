"""Supervisors' decisions about who may work without the test, and who may take it once more."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotation.access import SUPERVISOR, get_override, get_project
from annotation.forms.qualification import DecisionForm, WaiverForm
from annotation.services.errors import Refused
from annotation.services.work_gate import (
    attempt_allow,
    override_revoke,
    qualification_override,
    qualification_waive,
)
from annotation.views.exams import UNPROCESSABLE, exams_page, those_to_let_through, those_without_attempts
from annotation.views.qualified import annotators_of
from annotation.views.requests import person_of


@require_POST
def exams_waive(request: HttpRequest, slug: str) -> HttpResponse:
    """Switch the test off for everybody, with a reason."""
    user = person_of(request)
    project = get_project(user, slug, SUPERVISOR)
    form = WaiverForm(request.POST, auto_id="waiver_%s")
    if form.is_valid():
        try:
            qualification_waive(project=project, actor=user, **form.cleaned_data)
        except Refused as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, "The test is switched off: work no longer waits for it.")
            return redirect("exams", slug)
    return exams_page(request, project, status=UNPROCESSABLE, waiver_form=form)


@require_POST
def exams_override(request: HttpRequest, slug: str) -> HttpResponse:
    """Let somebody work who has not passed, with a reason."""
    user = person_of(request)
    project = get_project(user, slug, SUPERVISOR)
    form = DecisionForm(those_to_let_through(annotators_of(project)), request.POST)
    if form.is_valid():
        try:
            done = qualification_override(project=project, actor=user, **form.cleaned_data)
        except Refused as refusal:
            form.refuse(refusal)
        else:
            name = done.annotator.display_name if done.annotator else ""
            messages.success(request, f"{name} may be given work.")
            return redirect("exams", slug)
    return exams_page(request, project, status=UNPROCESSABLE, override_form=form)


@require_POST
def exams_attempt(request: HttpRequest, slug: str) -> HttpResponse:
    """Allow somebody one attempt more than the limit, with a reason."""
    user = person_of(request)
    project = get_project(user, slug, SUPERVISOR)
    form = DecisionForm(those_without_attempts(annotators_of(project)), request.POST, auto_id="attempt_%s")
    if form.is_valid():
        try:
            done = attempt_allow(project=project, actor=user, **form.cleaned_data)
        except Refused as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, f"{done.annotator.display_name} may take attempt {done.number} at the test.")
            return redirect("exams", slug)
    return exams_page(request, project, status=UNPROCESSABLE, attempt_form=form)


@require_POST
def override_revoke_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take back that somebody, or everybody, may work without the test; work they have stays with them."""
    user = person_of(request)
    override = get_override(user, slug, pk)
    try:
        override_revoke(override=override, actor=user)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, "Revoked; the decision stays in the list.")
    return redirect("exams", slug)
