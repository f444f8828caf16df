"""A row's own rules, said as a refusal."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db.models import Model

from annotation.services.errors import Refused


def check_row(row: Model) -> None:
    """Raise Refused with the first thing that the model's validators find, naming the field."""
    unset = {field.name for field in row._meta.fields if field.null and getattr(row, field.attname) is None}
    try:
        row.full_clean(exclude=unset, validate_constraints=False)
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise Refused(messages[0], field="" if field == "__all__" else field) from None


def checked_text(text: str, *, field: str, what: str, longest: int) -> str:
    """The text without the space around it. Raises Refused, beginning with `what`, when it is empty or too long."""
    text = text.strip()
    if not text:
        raise Refused(f"{what} is empty; write a sentence.", field=field)
    if len(text) > longest:
        raise Refused(f"{what} has {len(text)} characters; it may have {longest}.", field=field)
    return text
