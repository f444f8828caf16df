"""Training and test dialogues, attempts at them, and who may work without."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class ExamKind(models.TextChoices):
    TRAINING = "training", "training"
    TEST = "test", "test"


class ExamDialogue(models.Model):
    """A dialogue with gold that people are trained on or tested with. Its gold is the dialogue's gold label set of the
    same purpose ("training" or "test")."""

    dialogue = models.ForeignKey("annotation.Dialogue", models.PROTECT, related_name="exams")
    kind = models.CharField(max_length=20, choices=ExamKind)
    order = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["kind", "order", "id"]
        constraints = [
            models.UniqueConstraint(fields=["dialogue", "kind"], name="exam_dialogue_once_per_kind"),
            models.CheckConstraint(condition=Q(kind__in=ExamKind.values), name="exam_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.dialogue} ({self.kind})"


class Explanation(models.Model):
    """Why the gold of an utterance is what it is; shown in training."""

    utterance = models.OneToOneField("annotation.Utterance", models.CASCADE, related_name="explanation")
    text = models.TextField()

    def __str__(self) -> str:
        return self.text[:60]


class TestAttempt(models.Model):
    """One attempt of one person at all test dialogues of a project. `scores` is what `domain.scoring` made of it."""

    __test__ = False  # not a test of ours

    project = models.ForeignKey("annotation.Project", models.PROTECT, related_name="attempts")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    started_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True)
    scores = models.JSONField(default=dict, blank=True)
    pass_mark = models.FloatField(null=True)
    passed = models.BooleanField(null=True)

    class Meta:
        ordering = ["project", "annotator", "number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "annotator", "number"], name="attempt_number_once"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.annotator}"


class OverrideQuerySet(models.QuerySet["QualificationOverride"]):
    def standing(self) -> OverrideQuerySet:
        """Those that were not revoked."""
        return self.filter(revoked_at=None)


class QualificationOverride(models.Model):
    """A supervisor lets somebody work who has not passed, and says why. Without an annotator it holds for everybody:
    the project's test is switched off. `decided_by` is empty for a decision on the command line."""

    project = models.ForeignKey("annotation.Project", models.PROTECT, related_name="overrides")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="overrides")
    reason = models.TextField()
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(auto_now_add=True)
    revoked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    objects = OverrideQuerySet.as_manager()

    class Meta:
        ordering = ["-decided_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "annotator"], condition=Q(revoked_at=None), name="override_stands_once"
            ),
            models.UniqueConstraint(
                fields=["project"], condition=Q(revoked_at=None, annotator=None), name="override_of_all_stands_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.annotator or 'everybody'}: {self.reason[:40]}"


class ExtraAttempt(models.Model):
    """A supervisor lets somebody take the test once more than the project's limit. `number` is that attempt's."""

    project = models.ForeignKey("annotation.Project", models.PROTECT, related_name="extra_attempts")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="extra_attempts")
    number = models.PositiveSmallIntegerField()
    reason = models.TextField()
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-decided_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "annotator", "number"], name="extra_attempt_once"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.annotator}: {self.reason[:40]}"


class Feedback(models.Model):
    """What a supervisor says about one utterance of somebody's test."""

    label_set = models.ForeignKey("annotation.LabelSet", models.PROTECT, related_name="feedback")
    utterance = models.ForeignKey("annotation.Utterance", models.PROTECT, related_name="+")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["utterance__position", "created_at"]

    def __str__(self) -> str:
        return self.text[:60]
