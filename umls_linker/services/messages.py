"""Messages to the workers that never keep anybody waiting.

A save must cost the same whether the broker is quick, slow or gone. So a thread of its own hands messages over; what it
has not handed over when a process is killed is taken up when a worker starts (`tasks.take_up_unfinished`).
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable

from celery import current_app

logger = logging.getLogger(__name__)

MOST_WAITING = 10_000
PAUSE_SECONDS = 30  # after a failure; what waits meanwhile is kept
LAST_SECONDS = 3  # that a process which ends gives its messages

Message = tuple[str, Hashable]  # a task's name and its argument


class Outbox:
    """What is to be handed over, each message once, with its countdown in seconds."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[Message, int] = OrderedDict()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._handing_over = False
        self._ending = False
        self._failing = False

    def put(self, message: Message, countdown: int = 0) -> None:
        """Have the message sent soon. The oldest ones make room when there are far too many."""
        with self._changed:
            self._waiting[message] = countdown
            while len(self._waiting) > MOST_WAITING:
                self._waiting.popitem(last=False)
            if self._thread is None or not self._thread.is_alive():  # a process that was forked has none
                self._thread = threading.Thread(target=self._run, name="messages", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def empty(self, seconds: float) -> bool:
        """Wait until everything is handed over, or so long; says which."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._handing_over, timeout=seconds)

    def end(self) -> None:
        """Give what waits a last chance, unless the broker was not there before."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        if not self._failing:
            self.empty(LAST_SECONDS)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                message, countdown = self._waiting.popitem(last=False)
                self._handing_over = True
            sent = self._sent(message, countdown)
            with self._changed:
                self._handing_over = False
                if not sent:
                    self._waiting.setdefault(message, countdown)
                    self._waiting.move_to_end(message, last=False)
                self._changed.notify_all()
                if not sent:
                    self._changed.wait_for(lambda: self._ending, timeout=PAUSE_SECONDS)
                    if self._ending:
                        return

    def _sent(self, message: Message, countdown: int) -> bool:
        """Hand one message over. A broker that is down is logged when it goes, not with every message."""
        name, argument = message
        try:
            _task(name).apply_async([argument], countdown=countdown, retry=False)
        except Exception as error:
            if not self._failing:
                logger.warning("The broker takes no messages (%s); work waits until it does", error)
            self._failing = True
            return False
        self._failing = False
        return True


_outbox = Outbox()
atexit.register(_outbox.end)


def in_place() -> bool:
    """Whether tasks are carried out where they are sent, with no broker between (`CELERY_TASK_ALWAYS_EAGER`)."""
    return bool(current_app.conf.task_always_eager)


def send(name: str, argument: Hashable, *, countdown: int = 0) -> None:
    """Have a worker carry out `umls_linker.tasks.<name>` with this argument. Returns at once and raises nothing.

    Where tasks are carried out in place, this one is, too.
    """
    if not in_place():
        _outbox.put((name, argument), countdown)
        return
    try:
        _task(name).apply_async([argument])
    except Exception:
        logger.exception("The task %s failed", name)


class Seldom:
    """Says of each key whether it is due: at most once in `seconds`."""

    def __init__(self, seconds: float, most: int = 2000) -> None:
        self._seconds, self._most = seconds, most
        self._last: OrderedDict[Hashable, float] = OrderedDict()
        self._lock = threading.Lock()

    def due(self, key: Hashable) -> bool:
        now = time.monotonic()
        with self._lock:
            if now - self._last.get(key, -self._seconds) < self._seconds:
                return False
            self._last[key] = now
            self._last.move_to_end(key)
            while len(self._last) > self._most:
                self._last.popitem(last=False)
            return True

    def forget(self) -> None:
        self._last.clear()


def _task(name: str):  # type: ignore[no-untyped-def]  # Celery has no types
    from umls_linker import tasks

    return getattr(tasks, name)
