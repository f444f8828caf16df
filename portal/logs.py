"""What the log says of requests."""

from __future__ import annotations

import logging


class RefusalsInOneLine(logging.Filter):
    """A request that is refused (403, 404 and the like) is one line: nobody has to look for a fault in the program."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "django.request" and getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True
