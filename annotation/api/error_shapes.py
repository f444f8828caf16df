"""How errors look, for the OpenAPI document; `errors` makes them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class ErrorBody(serializers.Serializer[Any]):
    code = serializers.CharField(help_text="For programs; does not change.")
    message = serializers.CharField(help_text="One sentence for people.")
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="The inputs that are not right, each with its sentences.",
    )
    positions = serializers.ListField(
        child=serializers.IntegerField(),
        required=False,
        help_text="The utterances without a label, where they stand in the way of finishing.",
    )


class ErrorShape(serializers.Serializer[Any]):
    error = ErrorBody()
