"""How the dialogues of a project were divided among its annotators."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class AssignmentRun(models.Model):
    """One division of dialogues, or one later change of it: what was asked for, so that it can be repeated.

    The assignments themselves are label sets. `inputs` are what the planning was given beside the dialogues;
    `waiting` are groups without an annotator, each a list of dialogue ids; `left` the keys of people who get no more.
    """

    project = models.ForeignKey("annotation.Project", models.PROTECT, related_name="assignment_runs")
    number = models.PositiveIntegerField()
    random_seed = models.BigIntegerField()
    inputs = models.JSONField(default=dict)
    waiting = models.JSONField(default=list, blank=True)
    left = models.JSONField(default=list, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["project", "number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="assignment_run_number_once"),
        ]

    def __str__(self) -> str:
        return f"assignment {self.number} in {self.project}"
