"""Label sets, the labels in them, and the history of every change."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.domain.labels import Label as LabelData

if TYPE_CHECKING:
    from annotation.models.accounts import User


class Owner(models.TextChoices):
    ANNOTATOR = "annotator", "annotator"
    GOLD = "gold", "gold"
    IMPORT = "import", "imported"
    MODEL = "model", "model"


class Purpose(models.TextChoices):
    WORK = "work", "work"
    SEED = "seed", "seed"
    TRAINING = "training", "training"
    TEST = "test", "test"
    REVIEW = "review", "review"


# A seed is work like any other but for its second reader, of whom its annotators must not know.
REAL_WORK = (Purpose.WORK, Purpose.SEED)


class Status(models.TextChoices):
    TODO = "todo", "to do"
    IN_PROGRESS = "in_progress", "in progress"
    DONE = "done", "done"
    RETURNED = "returned", "returned"
    LOCKED = "locked", "locked"

    @property
    def editable(self) -> bool:
        return self in (Status.TODO, Status.IN_PROGRESS, Status.RETURNED)


class LabelSetQuerySet(models.QuerySet["LabelSet"]):
    def visible_to(self, user: User) -> LabelSetQuerySet:
        """A person's own label sets, and all of the projects they supervise."""
        if user.is_superuser:
            return self
        supervised = Q(dialogue__project__memberships__user=user, dialogue__project__memberships__role="supervisor")
        mine = Q(annotator=user, dialogue__project__memberships__user=user)
        return self.filter(supervised | mine).distinct()

    def open(self) -> LabelSetQuerySet:
        return self.filter(dialogue__archived_at=None, dialogue__project__archived_at=None)

    def real_work(self) -> LabelSetQuerySet:
        """What annotators are given to label for the project, neither training nor tests."""
        return self.filter(owner=Owner.ANNOTATOR, purpose__in=REAL_WORK)

    def untouched(self) -> LabelSetQuerySet:
        """Those that nobody has begun: nothing was ever saved in them, and nothing said about them."""
        return self.filter(
            version=0,
            active_seconds=0,
            status=Status.TODO,
            labels=None,
            events=None,
            concerns=None,
            returned_items=None,
            feedback=None,
        )

    def with_progress(self) -> LabelSetQuerySet:
        """Adds `labelled_count`, the number of utterances that carry a label."""
        return self.annotate(labelled_count=models.Count("labels__utterance", distinct=True))


class LabelSet(models.Model):
    """One reading of one dialogue. `version` counts its changes: a save must name the version it was made against."""

    dialogue = models.ForeignKey("annotation.Dialogue", models.PROTECT, related_name="label_sets")
    owner = models.CharField(max_length=20, choices=Owner, default=Owner.ANNOTATOR)
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="label_sets")
    purpose = models.CharField(max_length=20, choices=Purpose, default=Purpose.WORK)
    attempt = models.PositiveSmallIntegerField(default=1, help_text="Counts the attempts at a training or test.")
    queue_order = models.PositiveIntegerField(default=0, help_text="Its place among what its annotator is to do.")
    status = models.CharField(max_length=20, choices=Status, default=Status.TODO)
    version = models.PositiveIntegerField(default=0)
    active_seconds = models.PositiveIntegerField(default=0)
    unlabelled_reasons = models.JSONField(default=dict, blank=True, help_text="Utterance position → reason.")
    sources = models.JSONField(
        default=dict, blank=True, help_text="For gold: which label sets it is made from, and how."
    )
    assigned_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = LabelSetQuerySet.as_manager()

    class Meta:
        ordering = ["dialogue__external_id", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["dialogue", "annotator", "purpose", "attempt"],
                condition=Q(owner="annotator"),
                name="label_set_once_per_annotator",
            ),
            models.UniqueConstraint(
                fields=["dialogue", "purpose"], condition=Q(owner="gold"), name="label_set_one_gold"
            ),
            models.CheckConstraint(
                condition=Q(owner="annotator", annotator__isnull=False) | ~Q(owner="annotator"),
                name="label_set_annotator_named",
            ),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="label_set_status_known"),
            models.CheckConstraint(condition=Q(owner__in=Owner.values), name="label_set_owner_known"),
            models.CheckConstraint(condition=Q(purpose__in=Purpose.values), name="label_set_purpose_known"),
        ]

    def __str__(self) -> str:
        return f"{self.dialogue} by {self.annotator or self.get_owner_display()}"


class Label(models.Model):
    """One answer. `id` is chosen by whoever makes it, so that a label can be spoken of before it was stored.

    `about` repeats what the questionnaire says a label is about; a label about an utterance names it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    # Its constraint below is an index that begins with the label set; a second one would only slow down saving.
    label_set = models.ForeignKey(LabelSet, models.PROTECT, related_name="labels", db_index=False)
    about = models.CharField(max_length=20, default="utterance")
    utterance = models.ForeignKey("annotation.Utterance", models.PROTECT, null=True, related_name="labels")
    rank = models.PositiveIntegerField()
    intent = models.CharField(max_length=60)
    intent_name = models.CharField(max_length=200, blank=True)
    slot = models.CharField(max_length=60, blank=True)
    answers = models.JSONField(default=dict, blank=True)
    checks = models.JSONField(default=list, blank=True)
    kept = models.JSONField(default=dict, blank=True)
    origin = models.CharField(max_length=20, default="typed")
    provenance = models.JSONField(default=dict, blank=True, help_text="For gold: where the label comes from.")
    questionnaire_version = models.CharField(max_length=20)

    class Meta:
        ordering = ["utterance__position", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["label_set", "rank"], name="label_rank_once_per_set"),
            models.CheckConstraint(
                condition=~Q(about="utterance") | Q(utterance__isnull=False), name="label_about_an_utterance"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.intent} {self.slot}".strip()

    def as_data(self, position: int) -> LabelData:
        return LabelData(
            id=str(self.id),
            position=position,
            intent=self.intent,
            slot=self.slot,
            answers=self.answers,
            checks=tuple(self.checks),
            kept=self.kept,
            intent_name=self.intent_name,
            rank=self.rank,
            origin=self.origin,
            questionnaire_version=self.questionnaire_version,
        )


class EventKind(models.TextChoices):
    CHANGE = "change", "changed"
    UNDO = "undo", "undone"
    REDO = "redo", "redone"
    IMPORT = "import", "imported"
    STATUS = "status", "status"


class LabelEvent(models.Model):
    """One thing somebody did to a label set: append-only (the database refuses updates).

    `sequence` is the label set's version after it. `changes` is a list of
    `{"id": label id, "before": label | null, "after": label | null}` with labels as `services.readings` writes them;
    for a status it is `[{"before": …, "after": …}]`. `key` is the client's name for the request: the same key is the
    same request.
    """

    label_set = models.ForeignKey(LabelSet, models.PROTECT, related_name="events", db_index=False)
    sequence = models.PositiveIntegerField()
    kind = models.CharField(max_length=20, choices=EventKind)
    changes = models.JSONField(default=list)
    reverts = models.ForeignKey("self", models.PROTECT, null=True, related_name="+", db_index=False)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    key = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["label_set", "sequence"]
        constraints = [
            models.UniqueConstraint(fields=["label_set", "sequence"], name="event_sequence_once"),
            models.UniqueConstraint(fields=["label_set", "key"], name="event_key_once"),
            models.CheckConstraint(condition=Q(kind__in=EventKind.values), name="event_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.label_set_id} #{self.sequence} {self.kind}"
