"""Writes to a label set: each class is one, and each calls one service.

Every write names the version it was made against and itself (`key`). Against an older version it answers 409 with what
happened since; a key that was seen before answers with what it did the first time.
"""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.base import PortalView, user_of
from annotation.api.serializers import (
    ChangesRequest,
    ConflictShape,
    EventShape,
    FinishRequest,
    SavedShape,
    VersionRequest,
)
from annotation.models import LabelSet
from annotation.services.label_sets import label_set_finish, label_set_reopen
from annotation.services.labelling import Saved, label_set_change, label_set_redo, label_set_undo
from annotation.services.payloads import changes_from_json, reasons_from_json, request_from_json

RESPONSES = {200: SavedShape, 409: ConflictShape}


class Changes(PortalView):
    @extend_schema(operation_id="label_set_change", request=ChangesRequest, responses=RESPONSES)
    def post(self, request: Request, pk: int) -> Response:
        """Make, change and delete labels, all of them or none."""
        label_set = access.get_own_label_set(user_of(request), pk)
        asked = request_from_json(request.data)
        saved = label_set_change(
            label_set=label_set,
            actor=user_of(request),
            version=asked.version,
            key=asked.key,
            seconds=asked.seconds,
            changes=changes_from_json(request.data),
        )
        return answer_to_write(saved, label_set)


class Undo(PortalView):
    @extend_schema(operation_id="label_set_undo", request=VersionRequest, responses=RESPONSES)
    def post(self, request: Request, pk: int) -> Response:
        """Take back the newest change that stands."""
        label_set = access.get_own_label_set(user_of(request), pk)
        asked = request_from_json(request.data)
        saved = label_set_undo(label_set=label_set, actor=user_of(request), version=asked.version, key=asked.key)
        return answer_to_write(saved, label_set)


class Redo(PortalView):
    @extend_schema(operation_id="label_set_redo", request=VersionRequest, responses=RESPONSES)
    def post(self, request: Request, pk: int) -> Response:
        """Bring back the change that was undone last."""
        label_set = access.get_own_label_set(user_of(request), pk)
        asked = request_from_json(request.data)
        saved = label_set_redo(label_set=label_set, actor=user_of(request), version=asked.version, key=asked.key)
        return answer_to_write(saved, label_set)


class Finish(PortalView):
    @extend_schema(operation_id="label_set_finish", request=FinishRequest, responses=RESPONSES)
    def post(self, request: Request, pk: int) -> Response:
        """Mark as done. Every utterance needs a label or one of the questionnaire's reasons."""
        label_set = access.get_own_label_set(user_of(request), pk)
        asked = request_from_json(request.data)
        saved = label_set_finish(
            label_set=label_set,
            actor=user_of(request),
            version=asked.version,
            key=asked.key,
            reasons=reasons_from_json(request.data),
        )
        return answer_to_write(saved, label_set)


class Reopen(PortalView):
    @extend_schema(operation_id="label_set_reopen", request=VersionRequest, responses=RESPONSES)
    def post(self, request: Request, pk: int) -> Response:
        """Go on with a finished dialogue."""
        label_set = access.get_own_label_set(user_of(request), pk)
        asked = request_from_json(request.data)
        saved = label_set_reopen(label_set=label_set, actor=user_of(request), version=asked.version, key=asked.key)
        return answer_to_write(saved, label_set)


def answer_to_write(saved: Saved, label_set: LabelSet) -> Response:
    """What became of a write. A replayed one tells of the event as it was, under the version as it is now."""
    body = {
        "version": saved.version,
        "status": label_set.status,
        "replayed": saved.replayed,
        "event": EventShape(saved.event).data,
    }
    return Response(body)
