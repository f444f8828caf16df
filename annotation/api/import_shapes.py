"""The shapes of imports: what is asked, what would happen, what happened."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.domain.notices import Severity
from annotation.models import ImportJob
from annotation.services.imports import Fate


class ImportRequest(serializers.Serializer[Any]):
    files = serializers.ListField(
        child=serializers.FileField(), help_text="Transcripts, JSON, JSONL, CSV, or zips of them; the field repeats."
    )
    dry_run = serializers.BooleanField(default=False, help_text="Read and compare only; confirm it, or discard it.")
    doctor = serializers.CharField(required=False, default="", help_text="The doctor's label in transcripts.")
    patient = serializers.CharField(required=False, default="", help_text="The patient's label in transcripts.")


class ImportOptions(serializers.Serializer[Any]):
    """What stands beside the files, which never pass through memory."""

    dry_run = serializers.BooleanField(default=False)
    doctor = serializers.CharField(default="", allow_blank=True, max_length=40)
    patient = serializers.CharField(default="", allow_blank=True, max_length=40)


class ImportCounts(serializers.Serializer[Any]):
    files = serializers.IntegerField()
    dialogues = serializers.IntegerField(help_text="Those that the project holds afterwards.")
    utterances = serializers.IntegerField()
    new = serializers.IntegerField()
    new_utterances = serializers.IntegerField()
    same = serializers.IntegerField(help_text="There already, with the same turns.")
    clash = serializers.IntegerField(help_text="Refused, for instance because the id is taken by other turns.")
    warnings = serializers.IntegerField()
    errors = serializers.IntegerField()  # type: ignore[assignment]
    notes = serializers.IntegerField()


class ImportResultShape(serializers.Serializer[Any]):
    created = serializers.IntegerField()
    dialogues = serializers.IntegerField()
    utterances = serializers.IntegerField()
    errors = serializers.IntegerField()  # type: ignore[assignment]


class ImportShape(serializers.ModelSerializer[ImportJob]):
    created_by = serializers.CharField(source="created_by.username")
    counts = ImportCounts(allow_null=True, help_text="Null until the files were read.")
    result = ImportResultShape(allow_null=True, help_text="Null until the dialogues were written.")

    class Meta:
        model = ImportJob
        fields = ["id", "status", "created_by", "created_at", "total", "finished", "error", "counts", "result"]


class ImportFileShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    format = serializers.CharField(help_text="As recognised; “” where it was not.")
    encoding = serializers.CharField()
    bytes = serializers.IntegerField()
    dialogues = serializers.IntegerField()
    utterances = serializers.IntegerField()


class ImportDialogueShape(serializers.Serializer[Any]):
    id = serializers.CharField(help_text="As in the file; the dialogue's `external_id`.")
    file = serializers.CharField()
    utterances = serializers.IntegerField()
    warnings = serializers.IntegerField()
    fate = serializers.ChoiceField([(fate.value, fate.value) for fate in Fate])
    specialty = serializers.CharField()


class NoticeShape(serializers.Serializer[Any]):
    severity = serializers.ChoiceField([(severity.value, severity.value) for severity in Severity])
    file = serializers.CharField()
    line = serializers.IntegerField(help_text="From 1; 0 where it is about the whole file.")
    key = serializers.CharField()
    dialogue = serializers.CharField()
    message = serializers.CharField()
    text = serializers.CharField(help_text="The message with its place.")


class ImportDetail(ImportShape):
    files = ImportFileShape(many=True)
    dialogues = ImportDialogueShape(many=True)
    notices = NoticeShape(many=True)

    class Meta(ImportShape.Meta):
        fields = [*ImportShape.Meta.fields, "files", "dialogues", "notices"]
