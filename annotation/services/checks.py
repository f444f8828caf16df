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
