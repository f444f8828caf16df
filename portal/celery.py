"""The Celery application, and the beat by which pages know that a worker is there."""

from __future__ import annotations

import os
import threading
from typing import Any

from celery import Celery
from celery.signals import worker_ready, worker_shutdown
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

TRANSPORT_ALIASES["filesystem"] = "portal.broker:Transport"

app = Celery("portal")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

_stop = threading.Event()


@worker_ready.connect
def _start_beating(sender: Any = None, **_: Any) -> None:
    threading.Thread(target=_beat, args=(str(getattr(sender, "hostname", "worker")),), daemon=True).start()


@worker_shutdown.connect
def _stop_beating(**_: Any) -> None:
    _stop.set()


def _beat(name: str) -> None:
    """Write a sign of life every few seconds; a database that is busy for once is no reason to stop."""
    from django.db import DatabaseError, connection

    from annotation.services.workers import BEAT_SECONDS, worker_beat, worker_gone

    while not _stop.is_set():
        try:
            worker_beat(name=name)
        except DatabaseError:
            connection.close()
        _stop.wait(BEAT_SECONDS)
    worker_gone(name=name)
