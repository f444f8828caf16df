"""The one reader of changes that come as JSON, from the workbench and from the API alike."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from annotation.domain.labels import Label as LabelData
from annotation.domain.notices import shortened
from annotation.services.errors import Refused
from annotation.services.labelling import Change

ORIGINS = {"typed", "answer key", "copied", "suggestion"}
LABEL_KEYS = {"position", "intent", "intent_name", "slot", "answers", "checks", "kept", "origin"}
MAX_CHANGES = 200
MAX_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Request:
    """Which version a request was made against, its key, and the seconds of active work since the last one."""

    version: int
    key: str
    seconds: int = 0


def request_from_json(data: Any) -> Request:
    """The envelope of every write to a label set. Raises Refused with a sentence."""
    if not isinstance(data, dict):
        raise Refused("The request must be a JSON object.")
    version, key, seconds = data.get("version"), data.get("key"), data.get("seconds", 0)
    if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version < 2**31:
        raise Refused("“version” must be the number of the version the change was made against.", field="version")
    if not isinstance(key, str) or not 1 <= len(key) <= 64:
        raise Refused("“key” must be a text of 1 to 64 characters that names this request.", field="key")
    if not isinstance(seconds, int) or isinstance(seconds, bool) or seconds < 0:
        raise Refused("“seconds” must be a whole number.", field="seconds")
    return Request(version, key, min(seconds, MAX_SECONDS))


def changes_from_json(data: Any) -> list[Change]:
    """The `changes` of a request: `[{"id": uuid, "label": {...} | null}]`. Raises Refused with a sentence."""
    items = data.get("changes") if isinstance(data, dict) else None
    if not isinstance(items, list) or not items:
        raise Refused("“changes” must be a list with at least one change.", field="changes")
    if len(items) > MAX_CHANGES:
        raise Refused(f"One request carries at most {MAX_CHANGES} changes.", field="changes")
    return [_change(item, f"changes[{index}]") for index, item in enumerate(items)]


def reasons_from_json(data: Any) -> dict[int, str]:
    """The `reasons` of a request to finish: utterance position → reason. Raises Refused with a sentence."""
    given = data.get("reasons", {}) if isinstance(data, dict) else {}
    if not isinstance(given, dict) or not all(isinstance(reason, str) for reason in given.values()):
        raise Refused("“reasons” must be an object of utterance positions and reasons.", field="reasons")
    for position in given:
        if not (position.isascii() and position.isdigit() and len(position) < 10):
            raise Refused(f"“{shortened(position)}” in “reasons” is no utterance position.", field="reasons")
    return {int(position): reason for position, reason in given.items()}


def _change(item: Any, place: str) -> Change:
    if not isinstance(item, dict) or "label" not in item:
        raise Refused(f"“{place}” must be an object with “id” and “label”.", field=place)
    pk = item.get("id") or str(uuid.uuid4())
    if not isinstance(pk, str):
        raise Refused(f"“{place}.id” must be a UUID.", field=place)
    return Change(pk, None if item["label"] is None else _label(item["label"], f"{place}.label"))


def _label(data: Any, place: str) -> LabelData:
    if not isinstance(data, dict):
        raise Refused(f"“{place}” must be an object, or null to delete the label.", field=place)
    unknown = set(data) - LABEL_KEYS - {"id", "rank", "questionnaire_version"}
    if unknown:
        raise Refused(f"“{place}” has no “{shortened(min(unknown))}”.", field=place)
    position = data.get("position")
    if not isinstance(position, int) or isinstance(position, bool) or position < 0:
        raise Refused(f"“{place}.position” must be the number of an utterance.", field=place)
    texts = {name: data.get(name, "") for name in ("intent", "intent_name", "slot")}
    if not all(isinstance(value, str) and len(value) <= 200 for value in texts.values()):
        raise Refused(f"“intent”, “intent_name” and “slot” of “{place}” must be short texts.", field=place)
    answers, checks, kept = data.get("answers", {}), data.get("checks", []), data.get("kept", {})
    if not isinstance(answers, dict) or not isinstance(kept, dict):
        raise Refused(f"“answers” and “kept” of “{place}” must be objects.", field=place)
    if not isinstance(checks, list) or not all(isinstance(name, str) for name in checks):
        raise Refused(f"“{place}.checks” must be a list of question names.", field=place)
    origin = data.get("origin", "typed")
    if not isinstance(origin, str) or origin not in ORIGINS | {"imported"}:
        raise Refused(f"“{place}.origin” must be one of: {', '.join(sorted(ORIGINS))}.", field=place)
    return LabelData(position=position, answers=answers, checks=tuple(checks), kept=kept, origin=origin, **texts)
