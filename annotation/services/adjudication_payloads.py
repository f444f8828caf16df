"""The one reader of decisions that come as JSON from the adjudication page."""

from __future__ import annotations

import uuid
from typing import Any

from annotation.domain.adjudication import DifferenceKind, Resolution
from annotation.services.adjudication import Choice
from annotation.services.errors import Refused
from annotation.services.payloads import changes_from_json

ERROR_TYPES = tuple(kind.value for kind in DifferenceKind)
MAX_CHOICES = 50
MAX_LABELS = 20
MAX_REASON = 2000


def choices_from_json(data: Any) -> list[Choice]:
    """The `decisions` of a request. Raises Refused with a sentence.

    Each is `{"position", "pairing", "resolution", "labels", "reason", "error_type"}`; the last three may be left out.
    """
    items = data.get("decisions") if isinstance(data, dict) else None
    if not isinstance(items, list) or not 1 <= len(items) <= MAX_CHOICES:
        raise Refused(f"“decisions” must be a list of 1 to {MAX_CHOICES} decisions.", field="decisions")
    return [_choice(item, f"decisions[{index}]") for index, item in enumerate(items)]


def _choice(item: Any, place: str) -> Choice:
    if not isinstance(item, dict):
        raise Refused(f"“{place}” must be an object.", field=place)
    position = item.get("position")
    if not isinstance(position, int) or isinstance(position, bool) or not 0 <= position < 2**31:
        raise Refused(f"“{place}.position” must be the number of an utterance.", field=place)
    texts = {name: item.get(name, "") for name in ("pairing", "reason", "error_type")}
    if not all(isinstance(text, str) and len(text) <= MAX_REASON for text in texts.values()):
        raise Refused(f"“pairing”, “reason” and “error_type” of “{place}” must be texts.", field=place)
    if len(texts["pairing"]) > 64:
        raise Refused(f"“{place}.pairing” names nothing that is to be decided.", field=place)
    if texts["error_type"] and texts["error_type"] not in ERROR_TYPES:
        raise Refused(f"“{place}.error_type” must be one of: {', '.join(ERROR_TYPES)}.", field=place)
    try:
        resolution = Resolution(str(item.get("resolution")))
    except ValueError:
        known = ", ".join(choice.value for choice in Resolution)
        raise Refused(f"“{place}.resolution” must be one of: {known}.", field=place) from None
    labels = item.get("labels") or []
    if not isinstance(labels, list) or len(labels) > MAX_LABELS:
        raise Refused(f"“{place}.labels” must be a list of at most {MAX_LABELS} labels.", field=place)
    written = (
        changes_from_json({"changes": [{"id": str(uuid.uuid4()), "label": label} for label in labels]})
        if labels
        else []
    )
    if not all(change.label for change in written):
        raise Refused(f"“{place}.labels” must hold labels.", field=place)
    return Choice(
        position,
        texts["pairing"],
        resolution,
        tuple(change.label for change in written if change.label),
        texts["reason"].strip(),
        texts["error_type"],
    )
