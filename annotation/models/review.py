"""What is said about labels and made of them: agreement, adjudication, concerns, returned labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.accounts import Role

if TYPE_CHECKING:
    from collections.abc import Collection

    from annotation.models.accounts import User


class AgreementSnapshot(models.Model):
    """A report as it was at one time. `scope` says over what, `figures` is the report, `places` what is behind them."""

    project = models.ForeignKey("annotation.Project", models.PROTECT, related_name="agreement_snapshots")
    created_at = models.DateTimeField(auto_now_add=True)
    scope = models.JSONField(default=dict)
    scope_key = models.CharField(max_length=64)
    definition = models.CharField(max_length=20)
    figures = models.JSONField(default=dict)
    places = models.JSONField(default=dict)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["project", "scope_key", "-created_at"], name="snapshot_newest")]

    def __str__(self) -> str:
        return f"agreement in {self.project}, {self.created_at:%Y-%m-%d %H:%M}"


class AdjudicationDecision(models.Model):
    """What the adjudicator decided about one pairing of one utterance. `source` fingerprints the labels it is about:
    when they change, the decision no longer counts and the utterance is open again.

    `pairing` is `domain.alignment.Pairing.key`, "" for labels written anew beside all pairings. `version` is the one of
    the gold that it made, and `previous` what it replaced (null: nothing), so that it can be taken back.
    """

    gold = models.ForeignKey("annotation.LabelSet", models.PROTECT, related_name="decisions")
    utterance = models.ForeignKey("annotation.Utterance", models.PROTECT, related_name="+")
    pairing = models.CharField(max_length=64, blank=True)
    resolution = models.CharField(max_length=20)
    labels = models.JSONField(default=list, blank=True)
    reason = models.TextField(blank=True)
    error_type = models.CharField(max_length=40, blank=True)
    source = models.CharField(max_length=64)
    version = models.PositiveIntegerField(default=0)
    previous = models.JSONField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    decided_at = models.DateTimeField()

    class Meta:
        ordering = ["utterance__position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["gold", "utterance", "pairing"], condition=~Q(pairing=""), name="decision_once_per_pairing"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.utterance}: {self.resolution}"


class NamesShown(models.Model):
    """Since when a person knows whose the labels of a dialogue are; what they decide on it then is not blind."""

    dialogue = models.ForeignKey("annotation.Dialogue", models.CASCADE, related_name="names_shown")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dialogue", "person"], name="names_shown_once")]

    def __str__(self) -> str:
        return f"{self.dialogue}: {self.person}"


class ConcernStatus(models.TextChoices):
    OPEN = "open", "open"
    ANSWERED = "answered", "answered"
    CLOSED = "closed", "closed"


class ConcernQuerySet(models.QuerySet["Concern"]):
    def readable_by(self, user: User, roles: Collection[Role]) -> ConcernQuerySet:
        """All to a supervisor. A doctor who labels a dialogue too must not see what others ask about it, nor
        about what annotators are trained or tested with."""
        if Role.SUPERVISOR in roles:
            return self
        if Role.DOCTOR not in roles:
            return self.none()
        rows = self.exclude(label_set__dialogue__label_sets__annotator=user)
        return rows.filter(label_set__dialogue__exams=None) if Role.ANNOTATOR in roles else rows


class Concern(models.Model):
    """A question of an annotator about an utterance or one of their labels (`label_id` of it, as text), which `text`
    begins and its messages go on with. Open: it waits for an answer. Answered: for its annotator."""

    label_set = models.ForeignKey("annotation.LabelSet", models.PROTECT, related_name="concerns")
    utterance = models.ForeignKey("annotation.Utterance", models.PROTECT, related_name="concerns")
    label_id = models.CharField(max_length=36, blank=True)
    raised_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    text = models.TextField()
    status = models.CharField(max_length=20, choices=ConcernStatus, default=ConcernStatus.OPEN)
    key = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = ConcernQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["label_set", "key"], name="concern_key_once"),
            models.CheckConstraint(condition=Q(status__in=ConcernStatus.values), name="concern_status_known"),
        ]

    def __str__(self) -> str:
        return self.text[:60]


class ConcernMessage(models.Model):
    """What was said after the question: answers, and replies of the annotator who asked. `key` is the client's name
    for a reply: the same key is the same reply."""

    concern = models.ForeignKey(Concern, models.PROTECT, related_name="messages")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    is_reply = models.BooleanField(default=False)
    text = models.TextField()
    key = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["concern", "key"], condition=~Q(key=""), name="concern_message_key_once"),
        ]

    def __str__(self) -> str:
        return self.text[:60]


class GuidelineNote(models.Model):
    """A project's own addition to the guidelines of an intent or slot, from an answered concern or an adjudication."""

    project = models.ForeignKey("annotation.Project", models.PROTECT, related_name="guideline_notes")
    intent = models.CharField(max_length=60, blank=True)
    slot = models.CharField(max_length=60, blank=True)
    text = models.TextField()
    example = models.TextField(blank=True)
    concern = models.ForeignKey(Concern, models.PROTECT, null=True, blank=True, related_name="notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["concern"], condition=Q(withdrawn_at=None), name="guideline_note_once_per_concern"
            ),
        ]

    def __str__(self) -> str:
        return self.text[:60]


class ReturnedItem(models.Model):
    """An incomplete label, or an utterance without one, that goes back to its annotator with the question to answer."""

    label_set = models.ForeignKey("annotation.LabelSet", models.PROTECT, related_name="returned_items")
    utterance = models.ForeignKey("annotation.Utterance", models.PROTECT, related_name="+")
    label_id = models.CharField(max_length=36, blank=True)
    rule = models.CharField(max_length=20)
    question = models.TextField()
    returned_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    returned_at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["utterance__position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["label_set", "utterance", "label_id", "rule"],
                condition=Q(resolved_at=None),
                name="returned_item_once_while_open",
            ),
        ]

    def __str__(self) -> str:
        return self.question[:60]
