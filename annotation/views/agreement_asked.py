"""What a page about agreement is asked for: a project, a part of its dialogues, now or as measured earlier."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, QueryDict

from annotation.access import SUPERVISOR, get_agreement_snapshot, get_project
from annotation.domain.agreement import DEFINITION
from annotation.forms.agreement import ScopeForm
from annotation.models import AgreementSnapshot, Project, User
from annotation.services.agreement import Measured, agreement_as_kept, agreement_measured
from annotation.services.agreement_scope import Scope
from annotation.services.agreement_sources import compared
from annotation.views.requests import person_of, whole_numbers

_FIELDS = ("of", "pair", "specialty", "since", "until")


@dataclass(frozen=True, slots=True)
class Asked:
    """A project with the scope that the address asks for. `names` are those of everybody who has labelled doubly.

    `snapshot` is an earlier measurement (`at` in the address); the scope is then the one it was made over.
    """

    project: Project
    form: ScopeForm
    scope: Scope
    query: dict[str, str]
    names: dict[int, str]
    snapshot: AgreementSnapshot | None

    @property
    def suffix(self) -> str:
        return f"?{urlencode(self.query)}" if self.query else ""

    @property
    def now(self) -> str:
        """The same scope as it is now."""
        return f"?{urlencode(self.scope.query)}" if self.scope.query else ""

    def measured(self) -> Measured:
        """The figures that are asked for."""
        if self.snapshot is not None:
            return agreement_as_kept(self.snapshot)
        return agreement_measured(project=self.project, scope=self.scope)


def asked(request: HttpRequest, slug: str, sent: QueryDict | None = None) -> Asked:
    """Who may see it and what it is about. Only supervisors: the pages name annotators and show their labels."""
    user = person_of(request)
    given = request.GET if sent is None else sent
    at = given.get("at", "")
    if at:
        return _earlier(user, slug, at)
    project = get_project(user, slug, SUPERVISOR)
    query = {name: value for name in _FIELDS if (value := given.get(name, "").strip())}
    names, form = _form(project, query)
    return Asked(project, form, form.scope(), query if form.is_valid() else {}, names, None)


def _earlier(user: User, slug: str, at: str) -> Asked:
    snapshot = get_agreement_snapshot(user, slug, next(iter(whole_numbers([at])), 0))
    if snapshot.definition != DEFINITION:
        raise Http404("This was measured under other definitions; its figures cannot be set beside today's.")
    scope = Scope.from_json(snapshot.scope)
    names, form = _form(snapshot.project, scope.query)
    compared_then = {int(cell[side]) for cell in snapshot.figures.get("pairs", []) for side in ("a", "b")}
    names |= {person.pk: person.display_name for person in User.objects.filter(pk__in=compared_then)}
    return Asked(snapshot.project, form, scope, {"at": at}, names, snapshot)


def _form(project: Project, query: dict[str, str]) -> tuple[dict[int, str], ScopeForm]:
    """The names of all who have labelled doubly, and the form with what can be chosen."""
    pairs = dict.fromkeys(tuple(sorted(pair.people)) for pair in compared(project, Scope()))
    people = User.objects.filter(pk__in={pk for pair in pairs for pk in pair})
    names = {person.pk: person.display_name for person in people}
    choices = sorted((f"{names[one]} and {names[other]}", (one, other)) for one, other in pairs)
    specialties = project.dialogues.exclude(specialty="").order_by("specialty").values_list("specialty", flat=True)
    return names, ScopeForm(query, pairs=choices, specialties=list(specialties.distinct()))
