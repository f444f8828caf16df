"""Fetching an object of concept linking for a request **is** checking the person's role in its project, as in
`annotation.access`: an outsider gets 404, a member whose roles do not reach gets 403.

The role comes first: whoever lacks it is not told by the answer which values there are. What is out of a person's sight
(`services.sight`) does not exist to them.
"""

from __future__ import annotations

from django.http import Http404

from annotation.access import DOCTOR, LINKING, get_project
from annotation.models import Role, User
from umls_linker.models import ConceptQuestion, Decision, SurfaceForm
from umls_linker.services.sight import sight_of

LARGEST_ID = 2**63 - 1  # that a database can compare


def get_surface_form(user: User, slug: str, pk: int, needed: frozenset[Role] = LINKING) -> SurfaceForm:
    """A value of this project, with `project.roles` set, and `text` worded as in what the person may see."""
    project = get_project(user, slug, needed)
    sight = sight_of(user, project)
    form: SurfaceForm | None = sight.forms().filter(pk=min(pk, LARGEST_ID)).first()
    if form is None:
        raise Http404
    sight.set_wordings([form])
    form.project = project
    return form


def get_decision(user: User, slug: str, pk: int, needed: frozenset[Role] = DOCTOR) -> Decision:
    """A decision about a value of this project, for who may change it."""
    project = get_project(user, slug, needed)
    rows = sight_of(user, project).decisions().select_related("surface_form", "vocabulary")
    decision = rows.filter(pk=min(pk, LARGEST_ID)).first()
    if decision is None:
        raise Http404
    decision.surface_form.project = project
    return decision


def get_question(user: User, slug: str, pk: int) -> ConceptQuestion:
    """A question about a value of this project; whoever sees the value may answer."""
    project = get_project(user, slug, LINKING)
    rows = ConceptQuestion.objects.select_related("surface_form")
    forms = sight_of(user, project).forms().values("pk")
    question = rows.filter(pk=min(pk, LARGEST_ID), surface_form__in=forms).first()
    if question is None:
        raise Http404
    question.surface_form.project = project
    return question
