"""The distinct medical values of a project's labels, where they occur, and the concepts that may be meant."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class SurfaceForm(models.Model):
    """One wording in one field of one slot: "soboe" as the value of a symptom. It is never deleted, so that decisions
    about it stay when the last label that uses it goes.

    `key` is the wording as it is compared (`annotation.domain.concepts.surface_key`), `text` as it is written most
    often. `labels` and `utterances` count the labels and the distinct utterances that use it now. `linked_with` names
    the vocabulary build and the ranking that its candidates come from, "" while it waits for some; "outdated" and a
    number while those from before a decision about the same words wait to be renewed.
    """

    project = models.ForeignKey("annotation.Project", models.PROTECT, related_name="surface_forms")
    slot = models.CharField(max_length=60)
    field = models.CharField(max_length=60)
    key = models.TextField()
    text = models.TextField()
    labels = models.PositiveIntegerField(default=0)
    utterances = models.PositiveIntegerField(default=0)
    linked_with = models.CharField(max_length=120, blank=True)
    linked_at = models.DateTimeField(null=True)
    first_seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-utterances", "key", "slot", "field"]
        constraints = [
            models.UniqueConstraint(fields=["project", "slot", "field", "key"], name="surface_form_once"),
        ]
        indexes = [models.Index(fields=["project", "-utterances", "key"], name="surface_form_queue")]

    def __str__(self) -> str:
        return f"“{self.text}” ({self.slot} {self.field})"


class Occurrence(models.Model):
    """A label that uses a surface form, written there as `text`. `label_id` is a UUID without a foreign key: labels are
    deleted and brought back under the same id."""

    surface_form = models.ForeignKey(SurfaceForm, models.CASCADE, related_name="occurrences")
    label_set = models.ForeignKey("annotation.LabelSet", models.CASCADE, related_name="+")
    utterance = models.ForeignKey("annotation.Utterance", models.CASCADE, related_name="+")
    label_id = models.UUIDField()
    text = models.TextField()

    class Meta:
        ordering = ["label_set__dialogue__external_id", "utterance__position", "label_id"]
        constraints = [models.UniqueConstraint(fields=["surface_form", "label_id"], name="occurrence_once")]

    def __str__(self) -> str:
        return f"{self.surface_form} in {self.utterance}"


class LinkedLabelSet(models.Model):
    """The version of a label set up to which its occurrences are known."""

    label_set = models.OneToOneField("annotation.LabelSet", models.CASCADE, related_name="+", primary_key=True)
    version = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.label_set} up to {self.version}"


class Candidate(models.Model):
    """A concept that a surface form may mean, as ranked with `SurfaceForm.linked_with`. All candidates of a form are
    replaced together. `reasons` is a list of `{"kind", "points", "sentence"}`."""

    surface_form = models.ForeignKey(SurfaceForm, models.CASCADE, related_name="candidates")
    rank = models.PositiveSmallIntegerField()
    cui = models.CharField(max_length=20)
    name = models.TextField()
    semantic_types = models.JSONField(default=list)
    synonyms = models.JSONField(default=list)
    matched = models.TextField()
    score = models.FloatField()
    reasons = models.JSONField(default=list)

    class Meta:
        ordering = ["rank"]
        constraints = [
            models.UniqueConstraint(fields=["surface_form", "rank"], name="candidate_rank_once"),
            models.UniqueConstraint(fields=["surface_form", "cui"], name="candidate_concept_once"),
        ]

    def __str__(self) -> str:
        return f"{self.rank}. {self.name} ({self.cui})"


class Verdict(models.TextChoices):
    KEEP = "keep", "kept"
    DROP = "drop", "dropped"


class Shortlisting(models.Model):
    """What a curator thinks of one concept for a surface form. It is about the concept, not the row of the candidate,
    so that it outlives new candidates."""

    surface_form = models.ForeignKey(SurfaceForm, models.CASCADE, related_name="shortlistings")
    cui = models.CharField(max_length=20)
    name = models.TextField()
    verdict = models.CharField(max_length=10, choices=Verdict)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["surface_form", "cui"], name="shortlisting_once"),
            models.CheckConstraint(condition=Q(verdict__in=Verdict.values), name="shortlisting_verdict_known"),
        ]

    def __str__(self) -> str:
        return f"{self.cui} {self.verdict} for {self.surface_form}"


class DialogueMentions(models.Model):
    """The vocabulary's concepts found in a dialogue's utterances, as numbered values in the workbench.

    `mentions` maps an utterance's position (as text) to a list of `{"start", "end", "text", "cui", "name", "types"}`
    (offsets in characters). `found_with` names dialogue fingerprint, vocabulary build and matcher.
    """

    dialogue = models.OneToOneField("annotation.Dialogue", models.CASCADE, related_name="+", primary_key=True)
    found_with = models.CharField(max_length=200)
    mentions = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"concepts in {self.dialogue}"
