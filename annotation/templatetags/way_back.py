"""The way back to the page that somebody came from to mend something, carried in the address as `from`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest, QueryDict
from django.urls import reverse

from annotation.models import Status

register = template.Library()

EXPORT = "export"
_LONGEST = 500  # signs of the address that are looked at
_KEPT = ("source", "unfinished")  # what of the page's own address comes back with it
_DONE = (Status.DONE, Status.LOCKED)
# What is to be done where one arrives, by the route; said nowhere else so plainly.
_ADVICE = {
    "dialogue": "Once its annotators are done with it, it is adjudicated; under Assign it is given to them.",
    "workbench": "Only its annotator changes these labels: return the question under Quality → Completeness.",
}
_CLOSED = "Gold that is done is closed: use “Reopen”, mend it, and mark it as done again."
_OPEN = "Decide what is left, and mark the gold as done: it is exported from then on."
_REVIEW = "Begin the review, go through it, and mark the gold as done: it is exported from then on."


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
    given = _asked(request)
    if given is None:
        return None
    url = reverse("export-new", args=[match.kwargs["slug"]])
    kept = urlencode({name: given[name] for name in _KEPT if name in given})
    return WayBack(f"{url}?{kept}" if kept else url, "Back to the export", _advice(match.url_name or "", context))


@register.simple_tag(takes_context=True)
def way_on(context: Mapping[str, Any], sign: str = "?") -> str:
    """What an address of the page must end with, after `?` or `&`, so that the way back is not lost behind it."""
    request: HttpRequest | None = context.get("request")
    kept = _kept(request) if request else {}
    return f"{sign}{urlencode(kept)}" if kept else ""


def onward(request: HttpRequest, url: str) -> str:
    """The address to send somebody on to, from where the way back still leads back."""
    kept = _kept(request)
    return f"{url}{'&' if '?' in url else '?'}{urlencode(kept)}" if kept else url


def _asked(request: HttpRequest) -> QueryDict | None:
    """What the preparation of the export was asked for, None where nobody comes from there."""
    kind, _sign, query = request.GET.get("from", "").partition("?")
    return QueryDict(query[:_LONGEST]) if kind == EXPORT else None


def _kept(request: HttpRequest) -> dict[str, str]:
    given = _asked(request)
    return {} if given is None else from_export({name: str(given[name]) for name in _KEPT if name in given})


def _advice(route: str, context: Mapping[str, Any]) -> str:
    """Of a dialogue without gold, with gold under way, and with gold that is done, something else is true."""
    if route != "adjudicate":
        return _ADVICE.get(route, "")
    if "data" not in context:
        return _REVIEW if context.get("review") and "supervisor" in context["project"].roles else ""
    return _CLOSED if context["data"]["status"] in _DONE else _OPEN
