"""Dialogues to annotators."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.base import PortalView, body_of, user_of
from annotation.api.serializers import AssignedShape, AssignmentRequest
from annotation.models import Dialogue, Project
from annotation.services.assignments import label_set_assign


class Assignments(PortalView):
    @extend_schema(operation_id="assign", request=AssignmentRequest, responses=AssignedShape)
    def post(self, request: Request, slug: str) -> Response:
        """Give dialogues to an annotator. For supervisors; what was assigned before stays as it is."""
        project = access.get_project(user_of(request), slug, access.SUPERVISOR)
        asked = body_of(request, AssignmentRequest)
        done = label_set_assign(
            dialogues=_dialogues(project, asked["dialogues"]),
            annotator=access.get_annotator(user_of(request), project, asked["annotator"]),
            purpose=asked["purpose"],
            actor=user_of(request),
        )
        for label_set in done.created:
            label_set.labelled_count = 0  # type: ignore[attr-defined]
        access.set_shown_purpose(user_of(request), done.created)
        return Response(AssignedShape(done).data)


def _dialogues(project: Project, external_ids: list[str]) -> list[Dialogue]:
    """The dialogues with these ids. Raises ValidationError naming those that the project does not have."""
    found = list(Dialogue.objects.filter(project=project, external_id__in=external_ids))
    held = {dialogue.external_id for dialogue in found}
    missing = [external_id for external_id in dict.fromkeys(external_ids) if external_id not in held]
    if missing:
        raise ValidationError({"dialogues": [f"There is no dialogue “{name}” in this project." for name in missing]})
    return found
