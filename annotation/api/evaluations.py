"""Systems that were compared with a project's gold. For supervisors, and doctors who label nothing in the project."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.base import PortalList, PortalView, query_of, user_of
from annotation.api.evaluation_shapes import EvaluationDetail, EvaluationQuery, EvaluationShape
from annotation.models import Evaluation


class Evaluations(PortalList):
    queryset = Evaluation.objects.none()
    serializer_class = EvaluationShape

    def get_queryset(self) -> QuerySet[Evaluation]:
        project = access.get_researched(user_of(self.request), self.kwargs["slug"])
        query = query_of(self.request, EvaluationQuery)
        return Evaluation.objects.filter(project=project, **query).select_related("created_by").defer("results")

    @extend_schema(operation_id="evaluations_list", parameters=[EvaluationQuery])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The systems that were compared with the gold, newest first, without their scores. For supervisors, and
        doctors who label nothing in the project."""
        return super().get(request, *args, **kwargs)


class EvaluationItem(PortalView):
    @extend_schema(operation_id="evaluation", responses=EvaluationDetail)
    def get(self, request: Request, slug: str, pk: uuid.UUID) -> Response:
        """One system with its scores."""
        return Response(EvaluationDetail(access.get_evaluation(user_of(request), slug, pk)).data)
