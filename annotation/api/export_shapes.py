"""The shapes of files in and out. The two file formats are described as far as every file has the same keys."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

PORTAL_FILE: dict[str, Any] = {
    "type": "array",
    "description": "A portal file: one object a label, with further keys by the slot's questions.",
    "items": {
        "type": "object",
        "properties": {
            "uid": {"type": "string", "description": "The utterance's position."},
            "intent": {"type": "string"},
            "slot": {"type": "string"},
        },
        "required": ["uid"],
        "additionalProperties": True,
    },
}

DATASET: dict[str, Any] = {
    "type": "object",
    "description": "MediTOD's form, by dialogue: the doctor's turns have `actions`, the patient's `nlu` and "
    "`dialog_state`.",
    "additionalProperties": {
        "type": "object",
        "properties": {"utterances": {"type": "array", "items": {"type": "object", "additionalProperties": True}}},
        "required": ["utterances"],
    },
}


class AvailableShape(serializers.Serializer[Any]):
    annotator = serializers.CharField(source="annotator.username")
    dialogues = serializers.IntegerField(help_text="Dialogues with at least one label.")
    done = serializers.IntegerField(help_text="Of these, the finished ones.")
    labels = serializers.IntegerField()


class DatasetQuery(serializers.Serializer[Any]):
    annotator = serializers.CharField(required=False, help_text="The annotator's user name; your own if left out.")
    done_only = serializers.BooleanField(default=False, help_text="Only finished dialogues.")
    surface_forms = serializers.BooleanField(
        default=False, help_text="Values as they were written, not the names of the concepts decided for them."
    )


class PortalFileQuery(serializers.Serializer[Any]):
    replace = serializers.BooleanField(default=False, help_text="Remove the labels that are not in the file.")
    key = serializers.CharField(max_length=64, required=False, help_text="Names the request in the history.")


class UnknownShape(serializers.Serializer[Any]):
    label = serializers.IntegerField(  # type: ignore[assignment]
        help_text="The label's number in the file, from 1."
    )
    uid = serializers.CharField()
    key = serializers.CharField()
    value = serializers.JSONField()
    message = serializers.CharField()
    text = serializers.CharField(help_text="The message with its place.")


class ImportedLabelsShape(serializers.Serializer[Any]):
    labels = serializers.IntegerField(help_text="Labels in the file.")
    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    version = serializers.IntegerField(help_text="The version to name in the next write.")
    summary = serializers.CharField()
    unusual = serializers.ListField(child=serializers.CharField(), help_text="Labels nobody could make in the portal.")
    unknown = UnknownShape(many=True, help_text="What was not understood; it is kept on its label.")
