"""People and their roles in projects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import AbstractUser
from django.db import models

if TYPE_CHECKING:
    from annotation.models.corpus import Project


class User(AbstractUser):
    """A person. People with work are never deleted: `is_active` off is the archive."""

    keymap = models.JSONField(default=dict, blank=True, help_text="The person's own keys: action → key.")
    must_change_password = models.BooleanField(default=False)

    class Meta:
        ordering = ["username"]

    def __str__(self) -> str:
        return self.username

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.username

    def roles_in(self, project: Project) -> set[str]:
        """The roles this person holds in a project; a superuser holds that of the supervisor everywhere."""
        roles = set(self.memberships.filter(project=project).values_list("role", flat=True))
        return roles | {Role.SUPERVISOR.value} if self.is_superuser else roles

    @property
    def may_create_projects(self) -> bool:
        return self.is_superuser or self.memberships.filter(role=Role.SUPERVISOR).exists()


class Role(models.TextChoices):
    ANNOTATOR = "annotator", "annotator"
    DOCTOR = "doctor", "doctor"
    CURATOR = "curator", "curator"
    SUPERVISOR = "supervisor", "supervisor"


class Membership(models.Model):
    """One role of one person in one project; several rows give several roles."""

    project = models.ForeignKey("annotation.Project", models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["user__username", "role"]
        constraints = [
            models.UniqueConstraint(fields=["project", "user", "role"], name="membership_once_per_role"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.project}"
