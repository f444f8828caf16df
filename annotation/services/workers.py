"""Signs of life of the background workers."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from annotation.models import Worker

BEAT_SECONDS = 5
LATE_SECONDS = 20


def worker_beat(*, name: str) -> None:
    """Say that the worker is there."""
    Worker.objects.update_or_create(name=name[:200], defaults={"seen_at": timezone.now()})


def worker_gone(*, name: str) -> None:
    """Say that the worker has stopped."""
    Worker.objects.filter(name=name[:200]).delete()


def worker_connected() -> bool:
    """Whether a worker was heard of within the last seconds."""
    return Worker.objects.filter(seen_at__gte=timezone.now() - timedelta(seconds=LATE_SECONDS)).exists()
