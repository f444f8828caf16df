"""The shapes of what the API says and reads. They hold no rules: services check, `access` authorises."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.domain.completeness import Rule
from annotation.models import Dialogue, EventKind, LabelSet, Project, Purpose, Role, Status, Utterance


class QuestionnaireRef(serializers.Serializer[Any]):
    name = serializers.CharField(source="questionnaire_name")
    version = serializers.CharField(source="questionnaire_version")


class ProjectShape(serializers.ModelSerializer[Project]):
    questionnaire = QuestionnaireRef(source="*")
    roles = serializers.ListField(child=serializers.ChoiceField(Role.choices), source="own_roles")

    class Meta:
        model = Project
        fields = ["slug", "name", "questionnaire", "roles", "created_at", "archived_at"]


class ProjectRequest(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100)
    questionnaire = serializers.CharField(max_length=60, default="cmas", help_text="The name of a questionnaire.")


class ArchivedQuery(serializers.Serializer[Any]):
    archived = serializers.BooleanField(default=False, help_text="Only what is archived instead of what is not.")


class NoQuery(serializers.Serializer[Any]):
    """No parameters beside those of the pages."""


class MeShape(serializers.Serializer[Any]):
    username = serializers.CharField()
    name = serializers.CharField(source="display_name")
    email = serializers.EmailField()
    is_superuser = serializers.BooleanField()
    projects = ProjectShape(many=True)


class UtteranceShape(serializers.ModelSerializer[Utterance]):
    keywords = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Utterance
        fields = ["position", "speaker", "text", "keywords", "warning"]


class DialogueShape(serializers.ModelSerializer[Dialogue]):
    class Meta:
        model = Dialogue
        fields = [
            "id",
            "external_id",
            "specialty",
            "source_name",
            "utterance_count",
            "metadata",
            "created_at",
            "archived_at",
        ]


class DialogueDetail(DialogueShape):
    utterances = UtteranceShape(many=True)

    class Meta(DialogueShape.Meta):
        fields = [*DialogueShape.Meta.fields, "utterances"]


class DialogueQuery(ArchivedQuery):
    external_id = serializers.CharField(required=False, help_text="The dialogue with exactly this id.")
    specialty = serializers.CharField(required=False)


ANSWERS = {
    "type": "object",
    "description": "By question: a text, a list of values, or a list of rated values. "
    "The questionnaire's `kind` says which.",
    "additionalProperties": {
        "oneOf": [
            {"type": "string"},
            {"type": "array", "items": {"type": "string"}},
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"value": {"type": "string"}, "rating": {"type": "string"}},
                    "required": ["value"],
                },
            },
        ]
    },
}


@extend_schema_field(ANSWERS)
class AnswersField(serializers.JSONField):
    """A label's answers."""


class LabelContent(serializers.Serializer[Any]):
    """A label as a program sends it."""

    position = serializers.IntegerField(min_value=0, help_text="The utterance it is about, from 0.")
    intent = serializers.CharField()
    intent_name = serializers.CharField(required=False, help_text="Where the intent is named freely.")
    slot = serializers.CharField(required=False)
    answers = AnswersField(required=False)
    checks = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="The questions that an inquiry asks about."
    )
    kept = serializers.DictField(required=False, help_text="Input of a file that the questionnaire has no place for.")
    origin = serializers.CharField(required=False, help_text="How it was made; “typed” where nothing else is said.")


class LabelShape(serializers.Serializer[Any]):
    """A label as it is stored."""

    id = serializers.UUIDField()
    position = serializers.IntegerField()
    rank = serializers.IntegerField(help_text="Orders the labels of a label set as they were made.")
    intent = serializers.CharField()
    intent_name = serializers.CharField()
    slot = serializers.CharField()
    answers = AnswersField()
    checks = serializers.ListField(child=serializers.CharField())
    kept = serializers.DictField()
    origin = serializers.CharField()
    questionnaire_version = serializers.CharField()


class LabelSetShape(serializers.ModelSerializer[LabelSet]):
    project = serializers.CharField(source="dialogue.project.slug")
    dialogue = serializers.CharField(source="dialogue.external_id")
    annotator = serializers.CharField(source="annotator.username", allow_null=True, default=None)
    utterance_count = serializers.IntegerField(source="dialogue.utterance_count")
    labelled_count = serializers.IntegerField(help_text="How many utterances carry a label.")
    purpose = serializers.ChoiceField(
        Purpose.choices, source="shown_purpose", help_text="What is a second reading is “work” to all but supervisors."
    )

    class Meta:
        model = LabelSet
        fields = [
            "id",
            "project",
            "dialogue",
            "annotator",
            "owner",
            "purpose",
            "status",
            "version",
            "utterance_count",
            "labelled_count",
            "created_at",
            "changed_at",
        ]


class LabelSetDetail(LabelSetShape):
    unlabelled_reasons = serializers.DictField(child=serializers.CharField(), help_text="Utterance position → reason.")
    can_undo = serializers.BooleanField()
    can_redo = serializers.BooleanField()
    utterances = UtteranceShape(many=True)
    labels = LabelShape(many=True)

    class Meta(LabelSetShape.Meta):
        fields = [
            *LabelSetShape.Meta.fields,
            "unlabelled_reasons",
            "can_undo",
            "can_redo",
            "utterances",
            "labels",
        ]


class LabelSetQuery(ArchivedQuery):
    project = serializers.CharField(required=False, help_text="The project's slug.")
    dialogue = serializers.CharField(required=False, help_text="The dialogue's external id.")
    annotator = serializers.CharField(required=False, help_text="The annotator's user name.")
    status = serializers.ChoiceField(Status.choices, required=False)


class AssignmentRequest(serializers.Serializer[Any]):
    dialogues = serializers.ListField(
        child=serializers.CharField(max_length=100), allow_empty=False, max_length=1000, help_text="External ids."
    )
    annotator = serializers.CharField(help_text="The user name of somebody with the role of annotator.")
    purpose = serializers.ChoiceField(Purpose.choices, default=Purpose.WORK.value)


class AssignedShape(serializers.Serializer[Any]):
    created = LabelSetShape(many=True)
    existing = serializers.IntegerField(help_text="How many were assigned before.")


class VersionRequest(serializers.Serializer[Any]):
    """Every write names the version it was made against, and itself: the same key again is the same request."""

    version = serializers.IntegerField(min_value=0)
    key = serializers.CharField(max_length=64)


class ChangeItem(serializers.Serializer[Any]):
    id = serializers.UUIDField(required=False, help_text="The label's id; a new label may bring one of its own.")
    label = LabelContent(  # type: ignore[assignment]
        allow_null=True, help_text="The label's new content; null deletes it."
    )


class ChangesRequest(VersionRequest):
    seconds = serializers.IntegerField(min_value=0, required=False, help_text="Seconds of work since the last write.")
    changes = ChangeItem(many=True)


class FinishRequest(VersionRequest):
    reasons = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        help_text="Utterance position → one of the questionnaire's reasons, for utterances without a label.",
    )


CHANGES: dict[str, Any] = {
    "type": "array",
    "description": "Of labels: `{id, before, after}` with the whole label on each side, null where there is none. "
    "Of a status: `{before, after}`.",
    "items": {"type": "object", "additionalProperties": True},
}


@extend_schema_field(CHANGES)
class EventChangesField(serializers.JSONField):
    """What an event changed."""


class EventShape(serializers.Serializer[Any]):
    sequence = serializers.IntegerField(help_text="The label set's version after it.")
    kind = serializers.ChoiceField(EventKind.choices)
    by = serializers.CharField(source="actor.display_name", default="", help_text="The person's name.")
    at = serializers.DateTimeField(source="created_at")
    changes = EventChangesField()


class HistoryShape(EventShape):
    reverts = serializers.IntegerField(
        source="reverts.sequence", allow_null=True, default=None, help_text="The event that an undo or redo speaks of."
    )


class SavedShape(serializers.Serializer[Any]):
    version = serializers.IntegerField(help_text="The version to name in the next write.")
    status = serializers.ChoiceField(Status.choices)
    replayed = serializers.BooleanField(help_text="The request had been carried out before; nothing was done again.")
    event = EventShape()


class StateQuery(serializers.Serializer[Any]):
    at = serializers.IntegerField(
        min_value=0, required=False, help_text="The state after this utterance; after the last one if left out."
    )


class SettingShape(serializers.Serializer[Any]):
    position = serializers.IntegerField(help_text="The utterance that set the value.")
    value = serializers.JSONField(help_text="A text or a list of texts.")
    overridden_at = serializers.IntegerField(
        allow_null=True, help_text="The utterance that named it again; null for what stands."
    )


class EntryShape(serializers.Serializer[Any]):
    slot = serializers.CharField()
    value = serializers.CharField(allow_null=True)
    status = serializers.CharField(help_text="As it stands; “” where the slot knows none.")
    first_position = serializers.IntegerField()
    statuses = SettingShape(many=True, help_text="Oldest first; the last one stands.")
    attributes = serializers.DictField(child=SettingShape(many=True), help_text="By attribute, oldest first.")


class StateShape(serializers.Serializer[Any]):
    at = serializers.IntegerField(help_text="The utterance after which this is the state; −1 in an empty dialogue.")
    version = serializers.IntegerField(help_text="The label set's version.")
    entries = EntryShape(many=True)
    dialog_state = serializers.DictField(help_text="The same in the form of the dataset.")


class ContradictionShape(serializers.Serializer[Any]):
    earlier = serializers.IntegerField()
    position = serializers.IntegerField()
    slot = serializers.CharField()
    value = serializers.CharField()
    message = serializers.CharField()


class GapShape(serializers.Serializer[Any]):
    rule = serializers.ChoiceField([(rule.value, rule.value) for rule in Rule])
    position = serializers.IntegerField()
    label = serializers.CharField(  # type: ignore[assignment]
        help_text="The label's id; “” for an utterance without one."
    )
    message = serializers.CharField()


class FindingsShape(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    contradictions = ContradictionShape(many=True)
    gaps = GapShape(many=True)


class ConflictBody(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    version = serializers.IntegerField(help_text="The newest version.")
    events = EventShape(many=True, help_text="What happened since the version that was named, oldest first.")


class ConflictShape(serializers.Serializer[Any]):
    error = ConflictBody()
