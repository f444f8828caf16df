"""Projects, dialogues and their utterances."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models

from annotation.domain.labels import Utterance as UtteranceData
from annotation.domain.questionnaire import Questionnaire
from annotation.domain.splits import Split
from annotation.questionnaires import get_questionnaire

if TYPE_CHECKING:
    from annotation.models.accounts import User


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: User) -> ProjectQuerySet:
        """The projects a person is a member of; all of them for a superuser."""
        return self if user.is_superuser else self.filter(memberships__user=user).distinct()

    def open(self) -> ProjectQuerySet:
        return self.filter(archived_at=None)


class Project(models.Model):
    """A body of dialogues labelled by one questionnaire. Everything else belongs to exactly one project."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=100, unique=True)
    questionnaire_name = models.CharField(max_length=60)
    questionnaire_version = models.CharField(max_length=20)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    pass_mark = models.FloatField(default=0.8, help_text="F against gold, from 0 to 1, that a test must reach.")
    attempt_limit = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="How often a person may take the test; empty for as often as they like."
    )
    # Draws the order in which an adjudicator sees two readings; it never leaves the portal.
    secret = models.CharField(max_length=64, default=secrets.token_hex, editable=False)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def questionnaire(self) -> Questionnaire:
        return get_questionnaire(self.questionnaire_name, self.questionnaire_version)


class DialogueQuerySet(models.QuerySet["Dialogue"]):
    def open(self) -> DialogueQuerySet:
        return self.filter(archived_at=None)


class Dialogue(models.Model):
    """One conversation. `fingerprint` is over speakers and texts, `source_hash` over the file (SHA-256, hex)."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="dialogues")
    external_id = models.CharField(max_length=100)
    specialty = models.CharField(max_length=60, blank=True)
    source_name = models.CharField(max_length=255, blank=True)
    source_hash = models.CharField(max_length=64, blank=True)
    fingerprint = models.CharField(max_length=64)
    metadata = models.JSONField(default=dict, blank=True)
    fixed_split = models.CharField(
        max_length=20, null=True, blank=True, help_text="The split it came with from a dataset; empty to be drawn."
    )
    utterance_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    objects = DialogueQuerySet.as_manager()

    class Meta:
        ordering = ["external_id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "external_id"], name="dialogue_id_once_per_project"),
            models.CheckConstraint(
                condition=models.Q(fixed_split=None) | models.Q(fixed_split__in=[one.value for one in Split]),
                name="dialogue_split_known",
            ),
        ]

    def __str__(self) -> str:
        return self.external_id


class Utterance(models.Model):
    """One turn. Immutable once it is labelled: no service changes a text."""

    dialogue = models.ForeignKey(Dialogue, models.CASCADE, related_name="utterances")
    position = models.PositiveIntegerField()
    speaker = models.CharField(max_length=20)
    text = models.TextField(blank=True)
    keywords = models.JSONField(default=list, blank=True)
    warning = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["dialogue", "position"]
        constraints = [
            models.UniqueConstraint(fields=["dialogue", "position"], name="utterance_position_once_per_dialogue"),
        ]

    def __str__(self) -> str:
        return f"{self.dialogue} {self.position}"

    def as_data(self) -> UtteranceData:
        return UtteranceData(self.position, self.speaker, self.text, tuple(self.keywords), self.warning)
