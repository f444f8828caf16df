"""The workbench: the page, and the requests it makes while somebody labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET, require_POST

from annotation.access import SUPERVISOR, get_label_set, get_own_label_set
from annotation.domain.keymap import as_json, bindings_of, resolve
from annotation.domain.labels import Reading
from annotation.domain.wording import label_text
from annotation.models import EventKind, LabelSet, Status, User
from annotation.services.concept_linking import linker
from annotation.services.errors import Conflict
from annotation.services.label_sets import (
    label_set_finish,
    label_set_lock,
    label_set_reopen,
    label_set_unlock,
)
from annotation.services.labelling import Saved, history_stacks, label_set_change, label_set_redo, label_set_undo
from annotation.services.payloads import Request, changes_from_json, reasons_from_json, request_from_json
from annotation.services.readings import label_from_json, reading_of
from annotation.views.panels import Touched, label_rows, panels
from annotation.views.requests import person_of
from annotation.views.writes import answer_write

HISTORY_LENGTH = 100


@require_GET
@gzip_page  # the questionnaire and two hundred labels shrink to a tenth; a slow line notices
def workbench(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The page. A supervisor sees another's label set, but cannot change it."""
    user = person_of(request)
    label_set = get_label_set(user, pk, slug)
    questionnaire = label_set.dialogue.project.questionnaire
    reading = reading_of(label_set)
    own = label_set.annotator_id == user.pk
    stacks = history_stacks(label_set)
    context = {
        "label_set": label_set,
        "dialogue": label_set.dialogue,
        "project": label_set.dialogue.project,
        "questionnaire": questionnaire,
        "turns": [
            {
                "turn": turn,
                "mark": _mark(questionnaire.speaker(turn.speaker), turn.speaker),
            }
            for turn in reading.utterances
        ],
        "own": own,
        "data": {
            **_shown(label_set, user, reading, None),
            "user": user.pk,
            "labelSet": label_set.pk,
            "undo": bool(stacks.undo),
            "redo": bool(stacks.redo),
            "reasons": label_set.unlabelled_reasons,
            "questionnaire": questionnaire.as_json(),
            "mentions": _mentions(label_set) if own else {},
            "bindings": as_json(bindings_of("workbench", resolve(questionnaire, user.keymap))),
            "utterances": [
                {"position": turn.position, "speaker": turn.speaker, "text": turn.text} for turn in reading.utterances
            ],
        },
    }
    return render(request, "annotation/workbench.html", context)


@require_POST
def changes(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A batch of changes: what a form, an answer key or a repetition saves."""

    def write(label_set: LabelSet, user: User, envelope: Request, data: Any) -> Saved:
        return label_set_change(
            label_set=label_set,
            actor=user,
            version=envelope.version,
            key=envelope.key,
            seconds=envelope.seconds,
            changes=changes_from_json(data),
        )

    return _write(request, slug, pk, write)


@require_POST
def undo(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return _write(request, slug, pk, _plain(label_set_undo))


@require_POST
def redo(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return _write(request, slug, pk, _plain(label_set_redo))


@require_POST
def reopen(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return _write(request, slug, pk, _plain(label_set_reopen))


@require_POST
def finish(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Done, with a listed reason for every utterance that has no label: `reasons` is {position: reason}."""

    def write(label_set: LabelSet, user: User, envelope: Request, data: Any) -> Saved:
        return label_set_finish(
            label_set=label_set,
            actor=user,
            version=envelope.version,
            key=envelope.key,
            reasons=reasons_from_json(data),
        )

    return _write(request, slug, pk, write)


@require_POST
def lock(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Lock or unlock a finished label set; supervisors only. `unlock` in the request says which."""
    user = person_of(request)
    label_set = get_label_set(user, pk, slug)
    if not SUPERVISOR & label_set.dialogue.project.roles:  # type: ignore[attr-defined]
        raise PermissionDenied("Only a supervisor of this project can lock a dialogue.")

    def write(label_set: LabelSet, user: User, envelope: Request, data: Any) -> Saved:
        service = label_set_unlock if data.get("unlock") else label_set_lock
        return service(label_set=label_set, actor=user, version=envelope.version, key=envelope.key)

    return _answer(request, label_set, user, write)


@require_GET
def history(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The last changes, newest first, in words."""
    label_set = get_label_set(person_of(request), pk, slug)
    events = label_set.events.select_related("actor", "reverts").order_by("-sequence")[:HISTORY_LENGTH]
    questionnaire = label_set.dialogue.project.questionnaire
    rows = [{"event": event, "changes": event_words(questionnaire, event)} for event in events]
    return render(request, "annotation/_history.html", {"rows": rows, "total": label_set.version})


Writer = Callable[[LabelSet, User, Request, Any], Saved]


def _plain(service: Callable[..., Saved]) -> Writer:
    """A service that takes nothing but the envelope."""
    return lambda label_set, user, envelope, _: service(
        label_set=label_set, actor=user, version=envelope.version, key=envelope.key
    )


def _write(request: HttpRequest, slug: str, pk: int, write: Writer) -> HttpResponse:
    user = person_of(request)
    return _answer(request, get_own_label_set(user, pk, slug), user, write)


def _answer(request: HttpRequest, label_set: LabelSet, user: User, write: Writer) -> HttpResponse:
    """Carry out a write and say what the page now shows, or in which way it failed."""

    def carried_out(data: Any) -> dict[str, Any]:
        saved = write(label_set, user, request_from_json(data), data)
        return {**_answered(label_set, user, saved), "replayed": saved.replayed}

    def missed(error: Conflict) -> dict[str, Any]:
        label_set.refresh_from_db()
        return {"events": error.events, "now": _answered(label_set, user)}

    return answer_write(request, carried_out, missed)


def _answered(label_set: LabelSet, user: User, saved: Saved | None = None) -> dict[str, Any]:
    """What the page needs after a write: what it touched, or everything where the page cannot know what it missed."""
    reading = reading_of(label_set)
    touched = None
    if saved and not saved.replayed:
        touched = Touched.by(label_set.dialogue.project.questionnaire, saved.labels)
    # A change can always be undone and leaves nothing to redo; only the other events need the history.
    plain = saved and not saved.replayed and saved.event.kind == EventKind.CHANGE
    stacks = None if plain else history_stacks(label_set)
    return {
        **_shown(label_set, user, reading, touched),
        "undo": bool(stacks.undo) if stacks else True,
        "redo": bool(stacks.redo) if stacks else False,
    }


def _shown(label_set: LabelSet, user: User, reading: Reading, touched: Touched | None) -> dict[str, Any]:
    questionnaire = label_set.dialogue.project.questionnaire
    by_position = reading.by_position()
    speakers = {turn.position: turn.speaker for turn in reading.utterances}
    found = panels(questionnaire, reading, touched)
    positions = by_position if touched is None else touched.positions
    return {
        "touched": touched.as_json() if touched else None,
        "version": label_set.version,
        "status": label_set.status,
        "editable": label_set.annotator_id == user.pk and _editable(label_set),
        "savedAt": label_set.changed_at.isoformat(),
        "labels": {
            str(position): label_rows(questionnaire, by_position.get(position, []), speakers.get(position, ""))
            for position in positions
        },
        "state": found.state,
        "problems": found.problems,
        "labelled": found.labelled,
        "total": found.total,
    }


def _mentions(label_set: LabelSet) -> dict[str, list[dict[str, Any]]]:
    """The concepts found in the dialogue's utterances, by position: what was stored of them, no search."""
    found = linker().mentions(label_set.dialogue_id)
    keys = ("text", "name", "slots")
    return {
        str(position): [{key: getattr(one, key) for key in keys} for one in mentions]
        for position, mentions in found.items()
    }


def event_words(questionnaire: Any, event: Any) -> list[str]:
    """What an event did, one line a change."""
    if event.kind == "status":
        return [f"{Status(item['before']).label} → {Status(item['after']).label}" for item in event.changes]
    lines = []
    for change in event.changes[:20]:
        before, after = (
            label_text(questionnaire, label_from_json(change[side])) if change.get(side) else ""
            for side in ("before", "after")
        )
        position = (change["after"] or change["before"])["position"]
        text = f"{before} → {after}" if before and after else f"+ {after}" if after else f"− {before}"
        lines.append(f"u{position}: {text}")
    if len(event.changes) > 20:
        lines.append(f"… and {len(event.changes) - 20} more")
    return lines


def _mark(speaker: Any, name: str) -> str:
    return speaker.mark if speaker else name[:1].upper()


def _editable(label_set: LabelSet) -> bool:
    dialogue = label_set.dialogue
    return Status(label_set.status).editable and not (dialogue.archived_at or dialogue.project.archived_at)
