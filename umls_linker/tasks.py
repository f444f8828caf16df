"""What is linked in the background: each task fetches by id, calls a service, and is safe to run twice.

No task works for long: it does a few seconds' worth and leaves the rest to the next message, so that little is lost
with a worker that is killed, and others get their turn.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from celery import shared_task
from celery.signals import worker_ready

from annotation.models import Dialogue, LabelSet, Project
from annotation.services.agreement import agreement_snapshots_refresh
from annotation.services.errors import Refused
from umls_linker.services.linking import forms_link, label_sets_collect
from umls_linker.services.mentions import dialogue_mentions_find, mentions_find
from umls_linker.services.project_vocabulary import vocabularies_register
from umls_linker.services.surface_forms import label_set_collect, project_forms_count

logger = logging.getLogger(__name__)

SECONDS = 3.0


@shared_task
def collect_label_set(label_set_id: int) -> None:
    """Bring surface forms in line with a label set, then have candidates found for new ones."""
    label_set = LabelSet.objects.select_related("dialogue__project").filter(pk=label_set_id).first()
    if label_set and label_set_collect(label_set=label_set):
        link_forms.delay(label_set.dialogue.project_id)


@shared_task
def link_forms(project_id: int) -> None:
    """Find candidates for the surface forms of a project that wait for some."""
    project = Project.objects.filter(pk=project_id).first()
    if project is None:
        return
    done = forms_link(project=project, seconds=SECONDS)
    if done.linked and done.left:
        link_forms.delay(project_id)


@shared_task
def find_mentions(dialogue_id: int) -> None:
    """Find the vocabulary's concepts in a dialogue's utterances, once all values have candidates."""
    dialogue = Dialogue.objects.select_related("project").filter(pk=dialogue_id).first()
    if dialogue is None:
        return
    if _linked(dialogue.project):
        with _refusal_logged():
            dialogue_mentions_find(dialogue=dialogue)
    else:
        find_mentions.delay(dialogue_id)


@shared_task
def find_project_mentions(project_id: int) -> None:
    """Find concepts in all dialogues of a project that were not looked through yet, once all values have candidates."""
    project = Project.objects.filter(pk=project_id).first()
    if project is None:
        return
    with _refusal_logged():
        if not (_linked(project) and mentions_find(project=project, seconds=SECONDS)):
            find_project_mentions.delay(project_id)


@contextmanager
def _refusal_logged() -> Iterator[None]:
    """What stops the search for mentions is told once for each message and not tried again: the settings are wrong."""
    try:
        yield
    except Refused as refused:
        logger.warning("Concepts are not looked for in utterances: %s", refused.message)


def _linked(project: Project) -> bool:
    """Find candidates that wait before anything else is done: somebody may be waiting for them, and for mentions nobody
    is. Says whether none wait any more, or cannot be found."""
    label_sets_collect(project=project, seconds=SECONDS)
    done = forms_link(project=project, seconds=SECONDS)
    return not done.left or not done.linked


@shared_task
def measure_agreement(project_id: int) -> None:
    """New snapshots of a project's agreement after decisions, where they change something."""
    project = Project.objects.filter(pk=project_id).first()
    if project:
        agreement_snapshots_refresh(project=project)


@shared_task
def count_forms(project_id: int) -> None:
    """Count values anew after dialogues were archived or restored, then whatever waits."""
    project = Project.objects.filter(pk=project_id).first()
    if project:
        project_forms_count(project=project)
        link_project.delay(project_id)


@shared_task
def link_project(project_id: int) -> None:
    """Everything that is unfinished in a project: values that were not collected, candidates, mentions."""
    project = Project.objects.filter(pk=project_id).first()
    if project is None:
        return
    if not label_sets_collect(project=project, seconds=SECONDS):
        link_project.delay(project_id)
        return
    link_forms.delay(project_id)
    find_project_mentions.delay(project_id)


@worker_ready.connect
def take_up_unfinished(**_: Any) -> None:
    """Look after all projects: messages may have been lost with a worker or a broker, and a vocabulary may be new."""
    vocabularies_register()
    for project_id in Project.objects.open().values_list("pk", flat=True):
        link_project.delay(project_id)
