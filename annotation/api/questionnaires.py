"""The questionnaires that exist."""

from __future__ import annotations

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.base import PortalView, query_of
from annotation.api.questionnaire_shapes import QuestionnaireQuery, QuestionnaireRow, QuestionnaireShape
from annotation.questionnaires import UnknownQuestionnaire, available, get_questionnaire


class Questionnaires(PortalView):
    @extend_schema(operation_id="questionnaires_list", responses=QuestionnaireRow(many=True))
    def get(self, _request: Request) -> Response:
        """The questionnaires in their present versions."""
        rows = [get_questionnaire(name) for name in available()]
        return Response(QuestionnaireRow(rows, many=True).data)


class QuestionnaireItem(PortalView):
    @extend_schema(operation_id="questionnaire", parameters=[QuestionnaireQuery], responses=QuestionnaireShape)
    def get(self, request: Request, name: str) -> Response:
        """A whole questionnaire: intents, slots, questions, choices, controlled lists with synonyms, guidelines."""
        query = query_of(request, QuestionnaireQuery)
        try:
            return Response(get_questionnaire(name, query.get("version")).as_json())
        except UnknownQuestionnaire as error:
            raise Http404(str(error)) from None
