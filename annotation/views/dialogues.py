"""The dialogues of a project: the list, one dialogue, archiving and deleting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.access import SUPERVISOR, get_dialogue, get_project, gold_shown_to
from annotation.models import Dialogue, LabelSet, Membership, Project, Role, Utterance
from annotation.models.corpus import DialogueQuerySet
from annotation.services.dialogues import dialogue_delete, dialogue_restore, dialogues_archive
from annotation.services.errors import Refused
from annotation.views.progress import add_dialogue_details, add_left
from annotation.views.requests import page_of, person_of, whole_numbers

READERS = frozenset({Role.SUPERVISOR, Role.DOCTOR})


@require_safe
def dialogues(request: HttpRequest, slug: str) -> HttpResponse:
    project = get_project(person_of(request), slug, READERS)
    supervises = Role.SUPERVISOR in project.roles  # type: ignore[attr-defined]
    filters = {name: request.GET.get(name, "").strip() for name in ("q", "specialty", "show")}
    page = page_of(request, _matching(project, filters, supervises))
    page.object_list = add_dialogue_details(page.object_list, with_label_sets=supervises)
    context = {"project": project, "page": page, "supervises": supervises, "filters": filters}
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "annotation/_dialogues.html", context)
    everything = project.dialogues.all()
    specialties = everything.exclude(specialty="").order_by("specialty").values_list("specialty", flat=True).distinct()
    context |= {"specialties": list(specialties), "total": everything.count()}
    return render(request, "annotation/dialogues.html", context)


def _matching(project: Project, filters: dict[str, str], supervises: bool) -> DialogueQuerySet:
    """The dialogues whose id or text has all words looked for, of one specialty and state."""
    rows = project.dialogues.filter(archived_at__isnull=filters["show"] != "archived")
    if filters["specialty"]:
        rows = rows.filter(specialty=filters["specialty"])
    for word in filters["q"].split():
        said = Utterance.objects.filter(dialogue=OuterRef("pk"), text__icontains=word)
        rows = rows.filter(Q(external_id__icontains=word) | Exists(said))
    if filters["show"] == "odd":
        rows = rows.filter(Exists(Utterance.objects.filter(dialogue=OuterRef("pk")).exclude(warning="")))
    if filters["show"] == "unassigned" and supervises:
        rows = rows.filter(label_sets=None)
    return rows


@require_POST
def dialogues_bulk(request: HttpRequest, slug: str) -> HttpResponse:
    """What to do with the ticked dialogues: go on to assigning them, or archive them."""
    project = get_project(person_of(request), slug, SUPERVISOR)
    chosen = list(project.dialogues.filter(pk__in=whole_numbers(request.POST.getlist("dialogue"))))
    if not chosen:
        messages.warning(request, "No dialogue was ticked; tick at least one first.")
    elif request.POST.get("action") == "archive":
        said = f"{_dialogues(len(chosen))} archived. They are under “Show: archived” if you need them."
        _try(request, lambda: dialogues_archive(project=project, dialogues=chosen), said)
    else:
        query = urlencode([("dialogue", row.pk) for row in chosen])
        return redirect(f"{reverse('assign', args=[slug])}?{query}")
    return redirect("dialogues", slug)


def _dialogues(count: int) -> str:
    return "1 dialogue is" if count == 1 else f"{count} dialogues are"


@require_safe
def dialogue(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One dialogue with its turns. Label sets are for supervisors; doctors see the gold one."""
    user = person_of(request)
    found = get_dialogue(user, slug, pk, READERS)
    project = found.project
    supervises = Role.SUPERVISOR in project.roles  # type: ignore[attr-defined]
    turns = list(found.utterances.order_by("position"))
    rows = LabelSet.objects.filter(dialogue=found).select_related("annotator", "dialogue").with_progress()
    shown = rows if supervises else rows.filter(pk__in=gold_shown_to(user, project).values("pk"))
    sets = add_left(shown.order_by("owner", "annotator__username"))
    speakers = {speaker.name: speaker for speaker in project.questionnaire.speakers}
    context: dict[str, Any] = {
        "project": project,
        "dialogue": found,
        "turns": [{"row": turn, "speaker": speakers.get(turn.speaker)} for turn in turns],
        "odd": sum(bool(turn.warning) for turn in turns),
        "sets": sets,
        "supervises": supervises,
        "worked_on": supervises and any(row.version for row in sets),
        "free_annotators": _free_annotators(found) if supervises else [],
    }
    return render(request, "annotation/dialogue.html", context)


def _free_annotators(dialogue: Dialogue) -> list[Membership]:
    """Annotators of the project who do not have the dialogue yet."""
    held = LabelSet.objects.real_work().filter(dialogue=dialogue).values("annotator")
    rows = Membership.objects.filter(project=dialogue.project, role=Role.ANNOTATOR, user__is_active=True)
    return list(rows.exclude(user__in=held).select_related("user"))


@require_POST
def dialogue_archive_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_dialogue(person_of(request), slug, pk)
    said = f"{found} is archived: it left everybody's list, and its labels stay."
    _try(request, lambda: dialogues_archive(project=found.project, dialogues=[found]), said)
    return redirect("dialogue", slug, pk)


@require_POST
def dialogue_restore_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_dialogue(person_of(request), slug, pk)
    _try(request, lambda: dialogue_restore(dialogue=found), f"{found} is open again.")
    return redirect("dialogue", slug, pk)


@require_POST
def dialogue_delete_view(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = get_dialogue(person_of(request), slug, pk)
    if not _try(request, lambda: dialogue_delete(dialogue=found), f"{found} is deleted."):
        return redirect("dialogue", slug, pk)
    return redirect("dialogues", slug)


def _try(request: HttpRequest, service: Callable[[], Any], said: str) -> bool:
    """Call a service and say what became of it: `said`, or why it was refused."""
    try:
        service()
    except Refused as refusal:
        messages.error(request, refusal.message)
        return False
    messages.success(request, said)
    return True
