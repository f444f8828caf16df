"""Who is asking."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.base import PortalView, user_of
from annotation.api.serializers import MeShape
from annotation.models import Project


class Me(PortalView):
    @extend_schema(operation_id="me", responses=MeShape)
    def get(self, request: Request) -> Response:
        """The signed-in person, and the projects they are a member of with their roles."""
        person = user_of(request)
        person.projects = list(Project.objects.visible_to(person).open())  # type: ignore[attr-defined]
        access.set_own_roles(person, person.projects)  # type: ignore[attr-defined]
        return Response(MeShape(person).data)
