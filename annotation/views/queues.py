"""An annotator's queue: what comes next."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from annotation.access import get_project
from annotation.models import ExamKind, LabelSet
from annotation.views.progress import next_label_set, own_label_sets
from annotation.views.requests import person_of, whole_numbers


@require_safe
def next_work(request: HttpRequest, slug: str) -> HttpResponse:
    """To the next dialogue of the person's queue in this project, else in any other; `?after=` is the one at hand.

    After a dialogue of training or of the test it leads to their steps.
    """
    user = person_of(request)
    project = get_project(user, slug)
    after = whole_numbers(request.GET.getlist("after"))
    exams = LabelSet.objects.filter(annotator=user, dialogue__project=project, purpose__in=ExamKind.values)
    if exams.filter(pk__in=after).exists():
        return redirect("qualification", slug)
    mine = own_label_sets(user).exclude(pk__in=after)
    work = mine.real_work()
    found = next_label_set(work.filter(dialogue__project=project)) or next_label_set(work) or next_label_set(mine)
    if found is None:
        messages.info(request, "Nothing is left in your queue: all your dialogues are done.")
        return redirect("home")
    return redirect("workbench", found.dialogue.project.slug, found.pk)
