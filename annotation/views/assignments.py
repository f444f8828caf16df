"""Giving dialogues to annotators: choose, look, confirm."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.db import transaction
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import SUPERVISOR, get_dialogue, get_label_set, get_project
from annotation.domain.numbers import counted
from annotation.models import Dialogue, LabelSet, Project, Purpose, Role, User
from annotation.services.assignments import label_set_assign, label_set_unassign
from annotation.services.errors import Refused
from annotation.services.work_gate import those_who_may_work
from annotation.templatetags.way_back import onward
from annotation.views.progress import CLOSED
from annotation.views.requests import person_of, whole_numbers


@dataclass(frozen=True, slots=True)
class Share:
    """What one annotator would get: dialogues that are new to them, and how many of the chosen they have."""

    annotator: User
    new: tuple[Dialogue, ...]
    existing: int


@require_http_methods(["GET", "HEAD", "POST"])
def assign(request: HttpRequest, slug: str) -> HttpResponse:
    user = person_of(request)
    project = get_project(user, slug, SUPERVISOR)
    annotators = _annotators(project)
    given = request.POST if request.method == "POST" else request.GET
    chosen = set(whole_numbers(given.getlist("dialogue")))
    people = [person for person in annotators if person.pk in whole_numbers(given.getlist("annotator"))]
    allowed = those_who_may_work(project, annotators)
    for person in annotators:
        vars(person)["waits"] = person.pk not in allowed
    how = "each" if given.get("how") == "each" else "all"
    context = {"project": project, "annotators": annotators, "people": people, "chosen": chosen, "how": how}
    if request.method == "POST" and request.POST.get("action") != "back":
        rows = list(project.dialogues.open().filter(pk__in=chosen, exams=None))
        if not rows or not people:
            context["error"] = "Tick at least one annotator and one dialogue."
        elif request.POST.get("action") == "assign":
            return _assign(request, project, _shares(rows, people, how))
        else:
            shares = _shares(rows, people, how)
            context |= {"shares": shares, "rows": rows, "new": sum(len(share.new) for share in shares)}
            return render(request, "annotation/assign_confirm.html", context)
    unassigned = given.get("show") == "unassigned"
    dialogues = _dialogues(project, unassigned)
    context |= {
        "dialogues": dialogues,
        "unassigned": unassigned,
        "total": project.dialogues.open().filter(exams=None).count(),
    }
    return render(request, "annotation/assign.html", context)


def _annotators(project: Project) -> list[User]:
    """Who can be given dialogues, each with what they hold already (`held`, `finished`)."""
    theirs = Q(label_sets__dialogue__project=project, label_sets__dialogue__archived_at=None)
    rows = User.objects.filter(memberships__project=project, memberships__role=Role.ANNOTATOR, is_active=True)
    return list(
        rows.annotate(
            held=Count("label_sets", filter=theirs, distinct=True),
            finished=Count("label_sets", filter=theirs & Q(label_sets__status__in=CLOSED), distinct=True),
        ).order_by("username")
    )


def _dialogues(project: Project, unassigned: bool) -> list[Dialogue]:
    """The open dialogues, but for those of training and the test, with the names of those who have them (`holders`), in
    two queries."""
    rows = project.dialogues.open().filter(exams=None)
    rows = rows.filter(label_sets=None) if unassigned else rows
    holders: dict[int, list[str]] = {}
    held = LabelSet.objects.filter(dialogue__project=project, annotator__isnull=False).select_related("annotator")
    for label_set in held:
        assert label_set.annotator is not None
        holders.setdefault(label_set.dialogue_id, []).append(label_set.annotator.display_name)
    dialogues = list(rows)
    for row in dialogues:
        vars(row)["holders"] = holders.get(row.pk, [])
    return dialogues


def _shares(rows: list[Dialogue], people: list[User], how: str) -> list[Share]:
    """`all`: everybody gets every dialogue. `each`: the dialogues go round, one to each person in turn."""
    sets = LabelSet.objects.real_work().filter(dialogue__in=rows, annotator__in=people)
    held = set(sets.values_list("annotator_id", "dialogue_id"))
    shares = []
    for turn, person in enumerate(people):
        part = rows if how == "all" else rows[turn :: len(people)]
        new = tuple(row for row in part if (person.pk, row.pk) not in held)
        shares.append(Share(person, new, len(part) - len(new)))
    return shares


def _assign(request: HttpRequest, project: Project, shares: list[Share]) -> HttpResponse:
    try:
        with transaction.atomic():
            made = [
                label_set_assign(
                    dialogues=share.new, annotator=share.annotator, purpose=Purpose.WORK, actor=person_of(request)
                )
                for share in shares
            ]
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("assign", project.slug)
    count = sum(len(item.created) for item in made)
    if count:
        messages.success(request, f"{counted(count, 'assignment')} made.")
    else:
        messages.info(request, "Nothing changed: they have all of these dialogues already.")
    return redirect("project", project.slug)


@require_POST
def dialogue_assign(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Give one dialogue to the ticked annotators, from its own page."""
    user = person_of(request)
    dialogue = get_dialogue(user, slug, pk)
    wanted = whole_numbers(request.POST.getlist("annotator"))
    people = [person for person in _annotators(dialogue.project) if person.pk in wanted]
    if not people:
        messages.warning(request, "Nobody was ticked; tick at least one annotator.")
    try:
        with transaction.atomic():
            for person in people:
                label_set_assign(dialogues=[dialogue], annotator=person, purpose=Purpose.WORK, actor=user)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        if people:
            names = ", ".join(person.display_name for person in people)
            messages.success(request, f"{dialogue} is assigned to {names}.")
    return redirect(onward(request, reverse("dialogue", args=[slug, pk])))


@require_POST
def unassign(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    user = person_of(request)
    get_project(user, slug, SUPERVISOR)
    label_set = get_label_set(user, pk, slug)
    try:
        label_set_unassign(label_set=label_set)
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"{label_set.dialogue} is taken back from {label_set.annotator or 'its owner'}.")
    return redirect(onward(request, reverse("dialogue", args=[slug, label_set.dialogue_id])))
