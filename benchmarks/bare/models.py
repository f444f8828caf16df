"""One table, with as much in a row as a bare category label would need."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Row(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    position = models.PositiveIntegerField()
    category = models.CharField(max_length=60)

    def __str__(self) -> str:
        return f"{self.position} {self.category}"
