"""Label sets: somebody's labels of one dialogue, what follows from them, and what happened to them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db.models import Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.base import PortalList, PortalView, query_of, user_of
from annotation.api.serializers import (
    FindingsShape,
    HistoryShape,
    LabelSetDetail,
    LabelSetQuery,
    LabelSetShape,
    NoQuery,
    StateQuery,
    StateShape,
)
from annotation.api.states import dialog_state_at, entry_as_json
from annotation.domain.completeness import gaps
from annotation.domain.consistency import contradictions
from annotation.domain.mentions import mentions
from annotation.domain.state import track
from annotation.models import LabelEvent, LabelSet
from annotation.services.labelling import history_stacks
from annotation.services.readings import label_as_json, reading_of

FILTERS = {"project": "dialogue__project__slug", "dialogue": "dialogue__external_id"}
FILTERS |= {"annotator": "annotator__username", "status": "status"}
ARCHIVED = Q(dialogue__archived_at__isnull=False) | Q(dialogue__project__archived_at__isnull=False)


class LabelSets(PortalList):
    queryset = LabelSet.objects.none()
    serializer_class = LabelSetShape

    def get_queryset(self) -> QuerySet[LabelSet]:
        query = query_of(self.request, LabelSetQuery)
        visible = LabelSet.objects.visible_to(user_of(self.request))
        rows = visible.filter(ARCHIVED) if query["archived"] else visible.open()
        wanted = {column: query[name] for name, column in FILTERS.items() if name in query}
        rows = rows.filter(**wanted).with_progress().select_related("dialogue__project", "annotator")
        return rows.order_by("dialogue__external_id", "pk")

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        access.set_shown_purpose(user_of(self.request), page or [])
        return page

    @extend_schema(operation_id="label_sets_list", parameters=[LabelSetQuery])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Your own label sets, and all of the projects that you supervise."""
        return super().get(request, *args, **kwargs)


class LabelSetItem(PortalView):
    @extend_schema(operation_id="label_set", responses=LabelSetDetail)
    def get(self, request: Request, pk: int) -> Response:
        """One label set with the dialogue's turns and all labels."""
        label_set = access.get_label_set(user_of(request), pk)
        reading, stacks = reading_of(label_set), history_stacks(label_set)
        label_set.labelled_count = len({label.position for label in reading.labels})  # type: ignore[attr-defined]
        access.set_shown_purpose(user_of(request), [label_set])
        body = {
            **LabelSetShape(label_set).data,
            "unlabelled_reasons": label_set.unlabelled_reasons,
            "can_undo": bool(stacks.undo),
            "can_redo": bool(stacks.redo),
            "utterances": [asdict(turn) for turn in reading.utterances],
            "labels": [label_as_json(label) for label in reading.labels],
        }
        return Response(body)


class State(PortalView):
    @extend_schema(operation_id="label_set_state", parameters=[StateQuery], responses=StateShape)
    def get(self, request: Request, pk: int) -> Response:
        """The patient's state after an utterance: every value with the utterance that set and the one that
        overrode it."""
        label_set = access.get_label_set(user_of(request), pk)
        reading = reading_of(label_set)
        last = len(reading.utterances) - 1
        at = query_of(request, StateQuery).get("at", last)
        if at > last:
            raise ValidationError({"at": [f"This dialogue has utterances 0 to {last}."]})
        questionnaire = label_set.dialogue.project.questionnaire
        state = track(mentions(questionnaire, reading)).at(at)
        body = {
            "at": at,
            "version": label_set.version,
            "entries": [entry_as_json(entry) for entry in state.entries],
            "dialog_state": dialog_state_at(questionnaire, reading, at),
        }
        return Response(body)


class Findings(PortalView):
    @extend_schema(operation_id="label_set_findings", responses=FindingsShape)
    def get(self, request: Request, pk: int) -> Response:
        """What contradicts itself and what is still missing, in words."""
        label_set = access.get_label_set(user_of(request), pk)
        questionnaire, reading = label_set.dialogue.project.questionnaire, reading_of(label_set)
        state = track(mentions(questionnaire, reading))
        excused = [int(position) for position in label_set.unlabelled_reasons]
        body = {
            "version": label_set.version,
            "contradictions": [asdict(item) for item in contradictions(questionnaire, state)],
            "gaps": [asdict(gap) for gap in gaps(questionnaire, reading, excused=excused)],
        }
        return Response(body)


class History(PortalList):
    queryset = LabelEvent.objects.none()
    serializer_class = HistoryShape

    def get_queryset(self) -> QuerySet[Any]:
        label_set = access.get_label_set(user_of(self.request), self.kwargs["pk"])
        query_of(self.request, NoQuery)
        return label_set.events.select_related("actor", "reverts").order_by("-sequence")

    @extend_schema(operation_id="label_set_history")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Everything that happened to the labels, newest first."""
        return super().get(request, *args, **kwargs)
