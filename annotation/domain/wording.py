"""Labels and state entries in words, for lists, histories and messages."""

from __future__ import annotations

from typing import Any

from annotation.domain.labels import Label
from annotation.domain.questionnaire import Field, Kind, Meaning, Questionnaire
from annotation.domain.validation import CRITERION

SIGNS = {Meaning.YES: "+", Meaning.NO: "−", Meaning.UNSURE: "?"}


def label_parts(questionnaire: Questionnaire, label: Label) -> dict[str, Any]:
    """A label for display: `intent`, `slot`, `values`, `status` with its `meaning` and `sign`, and `details`.

    `details` are (question's name, answer in words, is it asked about) for everything else, in the order of the form.
    """
    intent = questionnaire.intent(label.intent)
    slot = questionnaire.slot(label.slot) if label.slot else None
    parts: dict[str, Any] = {
        "intent": label.intent_name or (intent.title if intent else label.intent),
        "slot": slot.title if slot else label.slot,
        "values": [],
        "status": "",
        "meaning": "",
        "sign": "",
        "details": [],
    }
    if slot is None:
        return parts
    parts["values"] = label.values(slot.head) if slot.head else []
    status = slot.status_field
    if status and label.answers.get(status.name):
        choice = status.choice(label.answers[status.name])
        meaning = choice.meaning if choice else None
        parts["status"] = choice.title if choice else label.answers[status.name]
        parts["meaning"] = meaning.value if meaning else ""
        parts["sign"] = SIGNS.get(meaning, "") if meaning else ""
    for field in slot.fields:
        asked = field.name in label.checks
        answer = "" if field.name in (slot.head, slot.status) else answer_text(field, label.answers.get(field.name))
        criterion = label.answers.get(field.name + CRITERION)
        if criterion:
            answer = f"{answer} ({criterion})".strip()
        if answer or asked:
            parts["details"].append((field_name(field), answer, asked))
    return parts


def label_text(questionnaire: Questionnaire, label: Label) -> str:
    """A label as one line: "inform symptom: cough (yes), onset: 8 days ago"."""
    parts = label_parts(questionnaire, label)
    head = f"{parts['intent']} {parts['slot']}".strip().lower()
    values = ", ".join(parts["values"]) + (f" ({parts['status']})" if parts["status"] else "")
    details = [
        f"{name}{'?' if asked else ''}{': ' + answer if answer else ''}" for name, answer, asked in parts["details"]
    ]
    rest = ", ".join([text for text in [values.strip(), *details] if text])
    return f"{head}: {rest}" if rest else head


def answer_text(field: Field, answer: Any) -> str:
    """One answer in words, "" where there is none."""
    if not answer:
        return ""
    if field.kind is Kind.RATED_VALUES:
        return ", ".join(_rated_text(field, item) for item in answer)
    if field.kind is Kind.VALUES:
        return ", ".join(answer)
    choice = field.choice(answer) if field.kind is Kind.CHOICE else None
    return choice.title if choice else str(answer)


def _rated_text(field: Field, item: dict[str, str]) -> str:
    choice = field.choice(item.get("rating", ""))
    rating = choice.title if choice else item.get("rating", "")
    return f"{item['value']} ({rating})" if rating else item["value"]


def field_name(field: Field) -> str:
    """A question's short name: "ana_factors" is "ana factors"."""
    return field.name.replace("_", " ")
