"""Bodies of the requests that the workbench makes while somebody labels."""

from __future__ import annotations

from typing import Any

from annotation.services.errors import Refused

MOST_VALUES = 5000  # of one request; a long dialogue has some hundred
LONGEST = 4000


def values_from_json(data: Any) -> list[tuple[str, str, str, str]]:
    """(label, slot, field, value) of `{values: [[…], …]}`. Raises Refused."""
    values = data.get("values") if isinstance(data, dict) else None
    if not isinstance(values, list) or len(values) > MOST_VALUES:
        raise Refused(f"“values” must be a list of at most {MOST_VALUES} values.", field="values")
    found = []
    for one in values:
        if not isinstance(one, list) or len(one) != 4 or not all(isinstance(part, str) for part in one):
            raise Refused("A value is told as its label, slot, field and wording.", field="values")
        label, slot, name, value = one
        found.append((label[:LONGEST], slot[:LONGEST], name[:LONGEST], value[:LONGEST]))
    return found
