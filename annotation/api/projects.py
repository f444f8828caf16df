"""Projects and their dialogues."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.base import PortalList, PortalView, body_of, query_of, user_of
from annotation.api.serializers import (
    ArchivedQuery,
    DialogueDetail,
    DialogueQuery,
    DialogueShape,
    ProjectRequest,
    ProjectShape,
)
from annotation.models import Dialogue, Project, Role
from annotation.services.projects import project_create

READERS = frozenset({Role.SUPERVISOR, Role.DOCTOR})


class Projects(PortalList):
    queryset = Project.objects.none()
    serializer_class = ProjectShape

    def get_queryset(self) -> QuerySet[Project]:
        query = query_of(self.request, ArchivedQuery)
        return Project.objects.visible_to(user_of(self.request)).filter(archived_at__isnull=not query["archived"])

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        access.set_own_roles(user_of(self.request), page or [])
        return page

    @extend_schema(operation_id="projects_list", parameters=[ArchivedQuery])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The projects you are a member of; all of them for an administrator."""
        return super().get(request, *args, **kwargs)

    @extend_schema(operation_id="projects_create", request=ProjectRequest, responses={201: ProjectShape})
    def post(self, request: Request) -> Response:
        """A new project, of which you become the supervisor. For supervisors of any project, and administrators."""
        if not user_of(request).may_create_projects:
            raise PermissionDenied("Only a supervisor of some project or an administrator can create one.")
        project = project_create(**body_of(request, ProjectRequest), creator=user_of(request))
        access.set_own_roles(user_of(request), [project])
        return Response(ProjectShape(project).data, status=status.HTTP_201_CREATED)


class ProjectItem(PortalView):
    @extend_schema(operation_id="project", responses=ProjectShape)
    def get(self, request: Request, slug: str) -> Response:
        """One project."""
        project = access.get_project(user_of(request), slug)
        access.set_own_roles(user_of(request), [project])
        return Response(ProjectShape(project).data)


class Dialogues(PortalList):
    queryset = Dialogue.objects.none()
    serializer_class = DialogueShape

    def get_queryset(self) -> QuerySet[Dialogue]:
        project = access.get_project(user_of(self.request), self.kwargs["slug"], READERS)
        query = query_of(self.request, DialogueQuery)
        wanted = {name: query[name] for name in ("external_id", "specialty") if name in query}
        return Dialogue.objects.filter(project=project, archived_at__isnull=not query["archived"], **wanted)

    @extend_schema(operation_id="dialogues_list", parameters=[DialogueQuery])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The project's dialogues without their turns. For supervisors and doctors."""
        return super().get(request, *args, **kwargs)


class DialogueItem(PortalView):
    @extend_schema(operation_id="dialogue", responses=DialogueDetail)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """One dialogue with its turns. For supervisors and doctors; annotators read it in their label set."""
        return Response(DialogueDetail(access.get_dialogue(user_of(request), slug, pk, READERS)).data)
