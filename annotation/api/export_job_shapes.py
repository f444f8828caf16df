"""The shapes of exports for researchers: what is asked for, how far it is, what was written."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.domain.export_formats import known_in_order, parse_formats
from annotation.domain.splits import MAX_SHARES, BadShares, Shares
from annotation.models import ExportJob
from annotation.services.export_readings import ALL, ANNOTATOR, GOLD, MAX_SEED, ExportOptions


class ExportRequest(serializers.Serializer[Any]):
    """What an export is to hold; all of it can be left out."""

    source = serializers.ChoiceField(  # type: ignore[assignment]
        [GOLD, ANNOTATOR, ALL], default=GOLD, help_text="Whose labels; “annotator” needs a user name beside it."
    )
    annotator = serializers.CharField(default="", allow_blank=True, help_text="A user name, for that source only.")
    unfinished = serializers.BooleanField(default=False, help_text="Also dialogues that are not done.")
    surface_forms = serializers.BooleanField(
        default=False, help_text="Values as they were written, not the names of the concepts decided for them."
    )
    formats = serializers.MultipleChoiceField(
        choices=known_in_order(),
        default=set,
        allow_empty=False,
        help_text="All of them if this is left out; dialogs is part of every export.",
    )
    random_seed = serializers.IntegerField(default=1, min_value=0, max_value=MAX_SEED)
    shares = serializers.CharField(default="0.8,0.1,0.1", max_length=MAX_SHARES, help_text="Of train, valid and test.")
    specialties = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        allow_empty=False,
        help_text="Those within the domain; the commonest if this is left out.",
    )
    title = serializers.CharField(default="", allow_blank=True, max_length=200, help_text="The project's by default.")
    licence = serializers.CharField(default="", allow_blank=True, max_length=100)
    citation = serializers.CharField(default="", allow_blank=True, max_length=2000)

    def validate_shares(self, given: str) -> Shares:
        try:
            return Shares.parse(given)
        except BadShares as error:
            raise serializers.ValidationError(str(error)) from error

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if (attrs["source"] == ANNOTATOR) != bool(attrs["annotator"]):
            raise serializers.ValidationError(
                {"annotator": ["Name the annotator with the source “annotator”, and with no other."]}
            )
        return attrs


def options_of(asked: dict[str, Any]) -> ExportOptions:
    """What a valid request says."""
    lists = {"formats": parse_formats(asked["formats"]), "specialties": tuple(asked["specialties"])}
    return ExportOptions(**{**asked, **lists})


class ExportJobShape(serializers.ModelSerializer[ExportJob]):
    created_by = serializers.CharField(source="created_by.username")
    options = serializers.JSONField(help_text="What was asked for.")
    dialogues = serializers.IntegerField(allow_null=True, help_text="This and the next are null until it is done.")
    zip_bytes = serializers.IntegerField(allow_null=True)
    zip_sha256 = serializers.CharField(allow_null=True)
    manifest_sha256 = serializers.CharField(allow_null=True)
    files_deleted_by = serializers.CharField(source="files_deleted_by.username", default=None, allow_null=True)

    class Meta:
        model = ExportJob
        fields = [
            "id",
            "status",
            "created_by",
            "created_at",
            "total",
            "finished",
            "cancel_requested",
            "error",
            "options",
            "dialogues",
            "zip_bytes",
            "zip_sha256",
            "manifest_sha256",
            "files_deleted_at",
            "files_deleted_by",
        ]


class ExportFileShape(serializers.Serializer[Any]):
    path = serializers.CharField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()


class LeftOutShape(serializers.Serializer[Any]):
    dialogue = serializers.CharField()
    folder = serializers.CharField()
    split = serializers.CharField()
    reason = serializers.CharField()


class ExportJobDetail(ExportJobShape):
    utterances = serializers.IntegerField(allow_null=True)
    labels = serializers.IntegerField(allow_null=True)
    splits = serializers.JSONField(allow_null=True, help_text="As in the manifest.")
    files = ExportFileShape(many=True, help_text="The first 500; the manifest lists all.")
    left_out = LeftOutShape(many=True, help_text="Dialogues that could not be written, the first 500.")

    class Meta(ExportJobShape.Meta):
        fields = [*ExportJobShape.Meta.fields, "utterances", "labels", "splits", "files", "left_out"]
