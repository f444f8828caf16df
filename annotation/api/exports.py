"""Labels out as files, and back in."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import quote

from django.http import HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api.base import PortalView, query_of, user_of
from annotation.api.export_shapes import (
    DATASET,
    PORTAL_FILE,
    AvailableShape,
    DatasetQuery,
    ImportedLabelsShape,
    PortalFileQuery,
)
from annotation.api.parsers import FileParser
from annotation.api.serializers import ConflictShape, NoQuery
from annotation.models import Role
from annotation.services.exports import available, dataset_file, dataset_file_name, portal_file, portal_file_name
from annotation.services.label_imports import ImportedLabels, portal_file_import


class PortalFile(PortalView):
    parser_classes = [FileParser]

    @extend_schema(operation_id="portal_file", responses={(200, "application/json"): PORTAL_FILE})
    def get(self, request: Request, pk: int) -> HttpResponse:
        """The labels as a portal file.

        Which dialogue it belongs to stands in the file's name and in the header `X-Portal-Dialogue`.
        """
        label_set = access.get_label_set(user_of(request), pk)
        query_of(request, NoQuery)
        text, name = portal_file(label_set=label_set), portal_file_name(label_set=label_set)
        headers = {**_as_file(name), "X-Portal-Dialogue": quote(label_set.dialogue.external_id)}
        return HttpResponse(text, content_type="application/json", headers=headers)

    @extend_schema(
        operation_id="portal_file_import",
        parameters=[PortalFileQuery],
        request={"application/json": PORTAL_FILE},
        responses={200: ImportedLabelsShape, 409: ConflictShape},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Import a portal file, which is the request's body. For the annotator whose labels these are, and
        supervisors.

        Labels that are there already stay, so that the same file again changes nothing. Where there are others the
        file is refused, unless `replace` removes them.
        """
        label_set = access.get_label_set(user_of(request), pk)
        query = query_of(request, PortalFileQuery)
        done = portal_file_import(
            label_set=label_set,
            actor=user_of(request),
            data=request.data if isinstance(request.data, bytes) else b"",
            file="The file",
            key=query.get("key") or str(uuid.uuid4()),
            replace_others=query["replace"],
        )
        return Response(_imported_as_json(done))


class Exports(PortalView):
    @extend_schema(operation_id="exports", responses=AvailableShape(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """What can be exported: of everybody for supervisors, otherwise your own."""
        person = user_of(request)
        project = access.get_project(person, slug)
        everybody = Role.SUPERVISOR in project.roles  # type: ignore[attr-defined]
        rows = available(project=project, annotator=None if everybody else person)
        return Response(AvailableShape(rows, many=True).data)


class Dataset(PortalView):
    @extend_schema(operation_id="dataset", parameters=[DatasetQuery], responses={(200, "application/json"): DATASET})
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """One person's labels in MediTOD's form: anybody's for supervisors, otherwise your own."""
        person = user_of(request)
        project = access.get_project(person, slug)
        query = query_of(request, DatasetQuery)
        annotator = access.get_annotator(person, project, query.get("annotator", person.username))
        pieces = dataset_file(
            project=project,
            annotator=annotator,
            done_only=query["done_only"],
            surface_forms=query["surface_forms"],
        )
        name = dataset_file_name(project=project, annotator=annotator)
        return StreamingHttpResponse(pieces, content_type="application/json", headers=_as_file(name))


def _as_file(name: str) -> dict[str, str]:
    return {"Content-Disposition": content_disposition_header(True, name) or "attachment"}


def _imported_as_json(done: ImportedLabels) -> dict[str, Any]:
    return {
        "labels": done.labels,
        "added": done.added,
        "removed": done.removed,
        "version": done.version,
        "summary": done.summary,
        "unusual": list(done.unusual),
        "unknown": [item.as_json() for item in done.unknown],
    }
