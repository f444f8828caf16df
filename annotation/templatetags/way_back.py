"""The way back to the page that somebody came from to mend something, carried in the address as `from`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest, QueryDict
from django.urls import reverse

register = template.Library()

EXPORT = "export"
_KEPT = ("source", "unfinished")  # what of the page's own address comes back with it
# What is to be done where one arrives, by the route; said nowhere else so plainly.
_ADVICE = {
    "adjudicate": "Gold that is done is closed: use “Reopen”, mend it, and mark it as done again.",
    "dialogue": "Once its annotators are done with it, it is adjudicated; under Assign it is given to them.",
    "workbench": "Only its annotator changes these labels: return the question under Quality → Completeness.",
}


@dataclass(frozen=True, slots=True)
class WayBack:
    url: str
    text: str
    advice: str


def from_export(chosen: Mapping[str, str]) -> dict[str, str]:
    """What goes into the address of a place that is visited from the preparation of an export."""
    return {"from": f"{EXPORT}?{urlencode(chosen)}"}


@register.simple_tag(takes_context=True)
def way_back(context: Mapping[str, Any]) -> WayBack | None:
    """Where to go back to, or None. Only the project's own pages are addressed, whatever stands in the address."""
    request: HttpRequest | None = context.get("request")
    match = request.resolver_match if request else None
    if request is None or match is None or "slug" not in match.kwargs:
        return None
    kind, _sign, query = request.GET.get("from", "").partition("?")
    if kind != EXPORT:
        return None
    given = QueryDict(query[:500])
    url = reverse("export-new", args=[match.kwargs["slug"]])
    kept = urlencode({name: given[name] for name in _KEPT if name in given})
    return WayBack(f"{url}?{kept}" if kept else url, "Back to the export", _ADVICE.get(match.url_name or "", ""))
