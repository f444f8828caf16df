"""Which vocabularies were built, and which one a project uses. The folder on disk is the truth; a row mirrors it."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Vocabulary(models.Model):
    """One build of a vocabulary. Builds are kept in the database after their folder has gone, because decisions name
    the build under which they were made.

    `digest` is the SHA-256 (hex) of what was built; building the same source again gives the same digest and no new
    row. `report` holds counts, seconds, peak memory and faults of the build.
    """

    name = models.CharField(max_length=60)
    version = models.CharField(max_length=120)
    source = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    report = models.JSONField(default=dict, blank=True)
    licence = models.TextField(blank=True)
    attribution = models.TextField(blank=True)
    built_at = models.DateTimeField()

    class Meta:
        ordering = ["name", "-built_at"]
        verbose_name_plural = "vocabularies"
        constraints = [models.UniqueConstraint(fields=["name", "digest"], name="vocabulary_build_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class StatedAttribution(models.Model):
    """What an imported export says has to be shown with concepts of a vocabulary, which need not be on this machine."""

    project = models.ForeignKey("annotation.Project", models.CASCADE, related_name="stated_attributions")
    name = models.CharField(max_length=60)
    version = models.CharField(max_length=120, blank=True)
    attribution = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name", "version"], name="stated_attribution_once"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version} in {self.project}"


class ProjectVocabulary(models.Model):
    """The build that a project's candidates come from. A project without a row uses the newest build by the name in
    `settings.PORTAL_VOCABULARY`."""

    project = models.OneToOneField("annotation.Project", models.CASCADE, related_name="chosen_vocabulary")
    vocabulary = models.ForeignKey(Vocabulary, models.PROTECT, related_name="projects")
    chosen_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    chosen_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.project} uses {self.vocabulary}"
