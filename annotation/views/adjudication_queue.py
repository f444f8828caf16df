"""The queue of adjudication: what two people have finished, and what one has, with what is left to decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.access import ANSWERING, SUPERVISOR, get_adjudicated, get_project, labels_dialogue, learns_by_gold
from annotation.domain.numbers import counted
from annotation.models import Dialogue, Project, Role, Status, User
from annotation.services.adjudication import agreed_accept, gold_begin_review
from annotation.services.adjudication_cases import FINISHED, WORK, Case, cases_of
from annotation.services.errors import Refused
from annotation.templatetags.way_back import onward
from annotation.views.requests import page_of, person_of

PAGE = 25
ALL_SHOWN = ("open", "done", "all")


@dataclass(frozen=True, slots=True)
class Row:
    """A dialogue of the queue."""

    case: Case

    @property
    def dialogue(self) -> Dialogue:
        return self.case.dialogue

    @property
    def status(self) -> str:
        return self.case.gold.status if self.case.gold else Status.TODO.value

    @property
    def get_status_display(self) -> str:
        return Status(self.status).label

    @property
    def decided(self) -> int:
        return self.case.conflicts - self.case.left

    @property
    def sample(self) -> int:
        """The share that a review looks at, in per cent; 0 where it looks at everything."""
        return round(self.case.share * 100) if self.case.left_out else 0

    @property
    def reopened(self) -> int:
        """Utterances whose labels have changed since they were decided."""
        return len(self.case.stale)


@require_safe
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    """Dialogues of two annotators (`?kind=double`) or of one (`?kind=single`), the first that has some unless one is
    asked for; `?show=` open, done or all."""
    user = person_of(request)
    project = get_project(user, slug, ANSWERING)
    show = request.GET.get("show", "open")
    show = show if show in ALL_SHOWN else "open"
    waiting = _waiting(project, user)
    kind = _kind(request.GET.get("kind", ""), waiting, show)
    page = page_of(request, _matching(waiting[kind], show), PAGE)
    page.object_list = [Row(case) for case in _cases(project, page.object_list)]
    context: dict[str, Any] = {
        "project": project,
        "supervises": Role.SUPERVISOR in project.roles,  # type: ignore[attr-defined]
        "kind": kind,
        "show": show,
        "page": page,
        "doubles": waiting["double"].count(),
        "singles": waiting["single"].count(),
        "own": labels_dialogue(user).filter(dialogue__project=project).exists(),
        "share": request.GET.get("share", "100"),
    }
    return render(request, "annotation/adjudication.html", context)


@require_safe
def next_open(request: HttpRequest, slug: str) -> HttpResponse:
    """To the first open dialogue of the queue (`?kind=` as there), or to the queue, which says that there is none."""
    user = person_of(request)
    project = get_project(user, slug, ANSWERING)
    kind = "single" if request.GET.get("kind") == "single" else "double"
    found = _matching(_waiting(project, user)[kind], "open").first()
    if found is None:
        return redirect(onward(request, f"{reverse('adjudication', args=[slug])}?kind={kind}"))
    return redirect(onward(request, reverse("adjudicate", args=[slug, found.pk])))


@require_POST
def accept(request: HttpRequest, slug: str) -> HttpResponse:
    """Take all that annotators agree on into the gold, in every doubly labelled dialogue."""
    user = person_of(request)
    project = get_project(user, slug, SUPERVISOR)
    try:
        done = agreed_accept(project=project, actor=user)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect(onward(request, reverse("adjudication", args=[slug])))
    agreed, left = done["agreed"], done["conflicts"]
    text = f"{counted(agreed, 'agreed label')} of {counted(done['dialogues'], 'dialogue')} "
    text += f"{'is' if agreed == 1 else 'are'} in the gold; {counted(left, 'conflict')} "
    messages.success(request, text + f"{'waits' if left == 1 else 'wait'} for a decision.")
    return redirect(onward(request, reverse("adjudication", args=[slug])))


@require_POST
def begin(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Begin the review of a dialogue that one person labelled, of `share` per cent of its utterances."""
    user = person_of(request)
    dialogue = get_adjudicated(user, slug, pk, SUPERVISOR)
    try:
        gold_begin_review(dialogue=dialogue, actor=user, share=_share(request.POST.get("share", "100")))
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect(onward(request, reverse("adjudicate", args=[slug, pk])))


def _kind(asked: str, waiting: Mapping[str, Any], show: str) -> str:
    """The group that is shown: the one asked for, else the first that has something to show, or has anything."""
    if asked in waiting:
        return asked
    for what in (show, "all"):
        for kind, rows in waiting.items():
            if _matching(rows, what).exists():
                return kind
    return next(iter(waiting))


def _share(text: str) -> float:
    try:
        return float(text.replace(",", ".").strip().rstrip("%")) / 100
    except ValueError:
        raise Refused(f"“{text}” is no percentage.", field="share") from None


def _waiting(project: Project, user: User) -> dict[str, Any]:
    """Dialogues that two people, or one of one, have finished; whoever labels one themselves doesn't see it here, nor
    does an annotator what they are trained or tested with."""
    sets = Q(label_sets__owner="annotator", label_sets__purpose__in=WORK)
    rows = (
        Dialogue.objects.open()
        .filter(project=project)
        .exclude(pk__in=labels_dialogue(user).values("dialogue"))
        .annotate(
            given=Count("label_sets", filter=sets, distinct=True),
            finished=Count("label_sets", filter=sets & Q(label_sets__status__in=FINISHED), distinct=True),
            gold_open=Count("label_sets", filter=_GOLD & ~Q(label_sets__status__in=FINISHED), distinct=True),
            gold_done=Count("label_sets", filter=_GOLD & Q(label_sets__status__in=FINISHED), distinct=True),
        )
        .order_by("external_id")
    )
    if learns_by_gold(project.roles):  # type: ignore[attr-defined]
        rows = rows.filter(exams=None)
    begun = Q(gold_open__gt=0) | Q(gold_done__gt=0)
    return {
        "double": rows.filter(Q(finished__gte=2) | (begun & Q(given__gte=2))),
        "single": rows.filter(given=1).filter(Q(finished=1) | begun),
    }


_GOLD = Q(label_sets__owner="gold", label_sets__purpose="work")


def _matching(rows: Any, show: str) -> Any:
    if show == "open":
        return rows.filter(gold_done=0)
    return rows.filter(gold_done__gt=0) if show == "done" else rows


def _cases(project: Project, dialogues: Any) -> list[Case]:
    rows = list(dialogues)
    for row in rows:
        row.project = project
    return cases_of(rows)
