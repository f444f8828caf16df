"""Models compared with the gold: what a system predicted, how it was scored, and where it errs."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.jobs import JobStatus


class EvaluationTask(models.TextChoices):
    """MediTOD's tasks."""

    NLU = "nlu", "Understanding"
    POL = "pol", "Policy"
    NLG = "nlg", "Generation"

    @property
    def key(self) -> str:
        """Under which a line of predictions holds what is scored."""
        return {EvaluationTask.NLU: "nlu", EvaluationTask.POL: "actions", EvaluationTask.NLG: "text"}[self]


class Evaluation(models.Model):
    """A file of predictions of one system for one task, and its scores.

    The file lies in PORTAL_EVALUATION_DIR under the evaluation's id. `options` are a
    `services.evaluation_gold.GoldChoice` and the comparator; `gold` says what it was scored against, `results` is what
    the command of the task prints.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    project = models.ForeignKey("annotation.Project", models.PROTECT, related_name="evaluations")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    system = models.CharField(max_length=100)
    task = models.CharField(max_length=10, choices=EvaluationTask)
    status = models.CharField(max_length=20, choices=JobStatus, default=JobStatus.QUEUED)
    file_name = models.CharField(max_length=255)
    file_bytes = models.PositiveBigIntegerField()
    file_sha256 = models.CharField(max_length=64)
    options = models.JSONField(default=dict)
    gold = models.JSONField(default=dict)
    results = models.JSONField(default=dict)
    cancel_requested = models.BooleanField(default=False)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=JobStatus.values), name="evaluation_status_known"),
            models.CheckConstraint(condition=Q(task__in=EvaluationTask.values), name="evaluation_task_known"),
        ]

    def __str__(self) -> str:
        return f"{self.system} on {self.get_task_display()} in {self.project}"


class EvaluatedTurns(models.QuerySet["EvaluatedTurn"]):
    def wrong(self) -> EvaluatedTurns:
        return self.filter(wrong=True)

    def about(self, slot: str) -> EvaluatedTurns:
        """Those with something missing or superfluous in this slot."""
        return self.filter(slots__contains=f"|{slot}|")

    def in_order(self) -> EvaluatedTurns:
        return self.order_by("utterance__dialogue__external_id", "utterance__position")


class EvaluatedTurn(models.Model):
    """One scored utterance. `found` is `domain.metrics_errors.TurnErrors` for tuples, the predicted text for texts.

    `prediction` says whether there was one. `slots` are what its errors can be
    looked up by (`TurnErrors.marks`), each between two vertical bars.
    """

    class Prediction(models.TextChoices):
        THERE = "there", "predicted"
        NONE = "none", "no prediction"
        MALFORMED = "malformed", "malformed prediction"

    evaluation = models.ForeignKey(Evaluation, models.CASCADE, related_name="turns")
    utterance = models.ForeignKey("annotation.Utterance", models.CASCADE, related_name="+")
    prediction = models.CharField(max_length=10, choices=Prediction)
    wrong = models.BooleanField()
    slots = models.TextField(blank=True)
    found = models.JSONField(default=dict)

    objects = EvaluatedTurns.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "utterance"], name="evaluated_turn_once"),
        ]

    def __str__(self) -> str:
        return f"utterance {self.utterance_id} in evaluation {self.evaluation_id}"
