"""The bare view: session, person and CSRF check as for every page, and one INSERT."""

from __future__ import annotations

import json

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_POST

from benchmarks.bare.models import Row


@require_POST
def insert(request: HttpRequest) -> JsonResponse:
    data = json.loads(request.body)
    row = Row._default_manager.create(user=request.user, position=data["position"], category=data["category"])
    return JsonResponse({"id": row.pk})
