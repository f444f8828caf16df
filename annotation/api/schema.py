"""The OpenAPI document and its page."""

from __future__ import annotations

from typing import Any

from drf_spectacular.openapi import AutoSchema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny

from annotation.api.error_shapes import ErrorShape

REFUSALS = {
    "400": "Something in the request is not right; `fields` names what.",
    "401": "Not signed in, or the token is not valid.",
    "403": "The role in the project does not reach.",
    "404": "There is nothing here, or nothing that you may see.",
    "413": "The request is too large.",
    "415": "The request's media type is not one that is read here.",
}


class PortalSchema(AutoSchema):
    """Adds to every operation the errors that it may answer with, all of one shape."""

    def get_tags(self) -> list[str]:
        """Grouped by what an address begins with: `/api/v1/label-sets/…` under “label-sets”."""
        return [self.path.split("/")[3]]

    def get_summary(self) -> str:
        """The first sentence of the view's docstring."""
        paragraph = " ".join(str(self.get_description()).split("\n\n")[0].split())
        return paragraph.split(". ")[0].rstrip(".")

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        for status in self._refusals():
            if status not in bodies:
                bodies[status] = {
                    **self._get_response_for_code(ErrorShape, status),  # type: ignore[no-untyped-call]
                    "description": REFUSALS[status],
                }
        return bodies

    def _refusals(self) -> list[str]:
        if self.method == "POST":
            return list(REFUSALS)
        found = ["401"]
        if "{" in self.path:
            found += ["403", "404"]
        if self.get_override_parameters():
            found.append("400")
        return found


class SchemaView(SpectacularAPIView):
    """The document describes the interface and holds no data, so that tools can read it without a token."""

    permission_classes = [AllowAny]


class DocsView(SpectacularSwaggerSplitView):
    """The document as a page, from files of this server only and without inline script or style."""

    permission_classes = [AllowAny]
    template_name = "annotation/api_docs.html"
