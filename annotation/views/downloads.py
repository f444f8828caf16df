"""Tables and texts as files that a browser saves."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse
from django.utils.http import content_disposition_header

CSV = "text/csv; charset=utf-8"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would take for the beginning of a formula


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV. A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out)
    for row in rows:
        writer.writerow(f"'{one}" if isinstance(one, str) and one.startswith(_FORMULA) else one for one in row)
    return out.getvalue()


def file_response(text: str, name: str, content_type: str) -> HttpResponse:
    """A text under a file's name."""
    response = HttpResponse(text, content_type=content_type)
    response.headers["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name) or ""
    return response
