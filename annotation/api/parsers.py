"""Reading the body of a request without trusting it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from annotation.api.errors import TooLarge


class BoundedJSONParser(BaseParser):
    """JSON in UTF-8 of at most DATA_UPLOAD_MAX_MEMORY_SIZE bytes, which only this portal's databases can store."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:
        return json_from(bounded(stream))


class FileParser(BaseParser):
    """A JSON file as it was sent, for services that read files themselves and name the place of every error."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:
        return bounded(stream)


def bounded(stream: IO[Any]) -> bytes:
    """The body's bytes. Raises TooLarge for more than DATA_UPLOAD_MAX_MEMORY_SIZE of them."""
    limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    data: bytes = stream.read(limit + 1)
    if len(data) > limit:
        raise TooLarge(f"The request is larger than {limit // 2**20} MiB; send it in parts.")
    return data


def json_from(data: bytes) -> Any:
    """What the bytes say. Raises ParseError with a sentence, never anything else."""
    try:
        value = json.loads(data.decode("utf-8"), parse_float=_finite, parse_constant=_no_constant)
        if b"\\u" in data:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError:
        raise ParseError("The request is not UTF-8 text.") from None
    except UnicodeEncodeError:
        raise ParseError("The request holds half a character (a lone surrogate).") from None
    except RecursionError:
        raise ParseError("The request's JSON is nested too deeply.") from None
    except json.JSONDecodeError as error:
        raise ParseError(f"The request is not JSON: {error.msg} in line {error.lineno}.") from None
    except ValueError as error:
        raise ParseError(f"The request holds a number that cannot be read: {error}.") from None
    return value


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large")
    return number


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
