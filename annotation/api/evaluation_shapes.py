"""The shapes of evaluations: whose predictions they are, what they were compared with, and their scores."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.models import Evaluation, EvaluationTask, JobStatus
from annotation.services.evaluations import gold_has_changed


class EvaluationQuery(serializers.Serializer[Any]):
    task = serializers.ChoiceField(EvaluationTask.choices, required=False, help_text="Only systems for this task.")


class EvaluationShape(serializers.ModelSerializer[Evaluation]):
    created_by = serializers.CharField(source="created_by.username")
    options = serializers.SerializerMethodField(
        help_text="Which dialogues count, and the comparator. While it is scored with other choices, those are `asked`."
    )
    gold = serializers.JSONField(
        help_text="What was scored against: the number of dialogues, a digest of their ids, and a digest that two "
        "systems which can be compared share. Empty until it is scored."
    )

    class Meta:
        model = Evaluation
        fields = [
            "id",
            "system",
            "task",
            "status",
            "created_by",
            "created_at",
            "file_name",
            "file_bytes",
            "file_sha256",
            "options",
            "gold",
            "error",
        ]

    def get_options(self, evaluation: Evaluation) -> dict[str, Any]:
        return {name: value for name, value in evaluation.options.items() if name != "run"}


class EvaluationDetail(EvaluationShape):
    gold_has_changed = serializers.SerializerMethodField(help_text="Whether the gold is another one now.")
    results = serializers.SerializerMethodField(
        help_text="What the command of the task prints with --json; null unless it is done."
    )

    class Meta(EvaluationShape.Meta):
        fields = [*EvaluationShape.Meta.fields, "gold_has_changed", "results"]

    def get_gold_has_changed(self, evaluation: Evaluation) -> bool:
        return evaluation.status == JobStatus.DONE and gold_has_changed(evaluation)

    def get_results(self, evaluation: Evaluation) -> dict[str, Any] | None:
        return evaluation.results if evaluation.status == JobStatus.DONE else None
