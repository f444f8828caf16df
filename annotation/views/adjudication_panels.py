"""What the adjudication page shows, as plain data: nothing in it tells who A and B are, nor which label is whose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from annotation.domain.adjudication import Pairing, Resolution, Shown
from annotation.domain.labels import Label
from annotation.models import AdjudicationDecision, Role, Status, User
from annotation.services.adjudication import ADDED, names_shown
from annotation.services.adjudication_cases import Case, decision_of, gold_labels
from annotation.services.readings import utterances_of
from annotation.views.panels import label_rows

OTHER = {Resolution.A.value: Resolution.B.value, Resolution.B.value: Resolution.A.value}


def shown_case(case: Case, user: User, positions: Iterable[int] | None = None) -> dict[str, Any]:
    """The state of the page: all of it, or of these utterances."""
    turns = utterances_of(case.dialogue.pk, case.dialogue.fingerprint)
    speakers = {turn.position: turn.speaker for turn in turns}
    wanted = [turn.position for turn in turns] if positions is None else sorted(set(positions))
    gold = gold_labels(case)
    stale = set(case.stale)
    return {
        "version": case.version,
        "status": case.gold.status if case.gold else Status.TODO.value,
        "editable": editable(case),
        "savedAt": case.gold.changed_at.isoformat() if case.gold else "",
        "canUndo": any(row.version for row in case.rows),
        "conflicts": case.conflicts,
        "left": case.left,
        "agreed": case.agreed,
        "unfinished": case.unfinished,
        "stale": case.stale,
        "unseen": case.unseen,
        "notAccepted": case.not_accepted,
        "utterances": {
            str(position): {
                "items": _items(case, position, speakers[position], user),
                "gold": _gold(case, position, gold.get(position, []), speakers[position]),
                "stale": position in stale,
                "earlier": _earlier(case, position, speakers[position], user),
            }
            for position in wanted
        },
    }


def editable(case: Case) -> bool:
    dialogue = case.dialogue
    closed = dialogue.archived_at or dialogue.project.archived_at
    return not closed and (case.gold is None or Status(case.gold.status).editable)


def revealed_to(case: Case, user: User) -> bool:
    """Whether the person has had the names revealed before."""
    supervises = Role.SUPERVISOR in case.dialogue.project.roles  # type: ignore[attr-defined]
    return supervises and user.pk in case.named


def names_as_json(case: Case) -> dict[str, list[str]]:
    return {str(position): list(names) for position, names in names_shown(case).items()}


def _items(case: Case, position: int, speaker: str, user: User) -> list[dict[str, Any]]:
    """What is to be decided on an utterance, as it is shown, and what was written beside it."""
    decisions = case.decisions(position)
    found = [_item(case, shown, speaker, user, shown.pairing.key in decisions) for shown in case.shown(position)]
    return found + [_added(case, row, speaker, user) for row in case.added(position)]


def _item(case: Case, shown: Shown, speaker: str, user: User, decided: bool) -> dict[str, Any]:
    pairing = shown.pairing
    row = case.row(pairing.position, pairing.key)
    decision = case.decisions(pairing.position).get(pairing.key)
    # A decision that no longer counts is still told, so that it need not be thought of again.
    before = _decision(case, row, speaker, user, shown.exchanged) if row and not decided else None
    now = _decision(case, row, speaker, user, shown.exchanged) if row and decided else None
    if decision and not row:
        # Nobody decided: the review of a sample takes the label as it is.
        now = {"resolution": decision.resolution.value, "labels": [], "reason": decision.reason, "error_type": ""}
        now |= {"by": "", "at": "", "unseen": True}
    return {
        "key": pairing.key,
        "outcome": pairing.outcome.value,
        "a": _rows(case, pairing.a, speaker),
        "b": _rows(case, pairing.b, speaker),
        "words": "" if case.is_review else _words(pairing),
        "kinds": [kind.value for kind in pairing.kinds],
        "decision": now,
        "before": before,
    }


def _earlier(case: Case, position: int, speaker: str, user: User) -> list[dict[str, Any]]:
    """What was decided on labels of this utterance that have changed since."""
    exchanged = case.exchanged(position)
    return [_decision(case, row, speaker, user, exchanged) for row in case.outlived(position)]


def _words(pairing: Pairing) -> str:
    text = pairing.words()
    return text[:1].upper() + text[1:]


def _added(case: Case, row: AdjudicationDecision, speaker: str, user: User) -> dict[str, Any]:
    return {
        "key": f"{ADDED}{row.pk}",
        "outcome": "added",
        "a": [],
        "b": [],
        "words": "Written beside what the annotators said",
        "kinds": [],
        "decision": _decision(case, row, speaker, user, False),
        "before": None,
    }


def _decision(case: Case, row: AdjudicationDecision, speaker: str, user: User, exchanged: bool) -> dict[str, Any]:
    decision = decision_of(row)
    resolution = decision.resolution.value
    return {
        "resolution": OTHER.get(resolution, resolution) if exchanged else resolution,
        "labels": _rows(case, decision.labels, speaker),
        "reason": decision.reason,
        "error_type": decision.error_type,
        "by": "you" if row.decided_by_id == user.pk else row.decided_by.display_name,
        "at": row.decided_at.isoformat(),
        "blind": case.is_review or case.is_blind(row.decided_by_id, row.decided_at),
    }


def _rows(case: Case, labels: Sequence[Label], speaker: str) -> list[dict[str, Any]]:
    bare = [replace(label, id="", rank=0, origin="typed", questionnaire_version="") for label in labels]
    return label_rows(case.questionnaire, bare, speaker)


def _gold(
    case: Case, position: int, labels: Sequence[tuple[Label, dict[str, Any]]], speaker: str
) -> list[dict[str, Any]]:
    exchanged = case.exchanged(position)
    rows = _rows(case, [label for label, _ in labels], speaker)
    for row, (_, provenance) in zip(rows, labels, strict=True):
        source = provenance.get("from", "")
        row["from"] = OTHER.get(source, source) if exchanged else source
        if case.is_review and source == Resolution.A:
            row["from"] = "accepted" if provenance.get("decided") else "unseen"
    # In the order of the sides as they are shown: the stored one would tell A from B.
    return sorted(rows, key=lambda row: str(row["from"])) if not case.is_review else rows
