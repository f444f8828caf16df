"""Whether two texts say the same, asked of a chat endpoint that speaks the OpenAI chat protocol.

Every answer is kept in a cache file (JSON lines), so that a second run asks nothing and gives the same figures.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation.domain.comparators import Exact
from annotation.domain.notices import quoted
from annotation.services.errors import Refused

QUESTION = (
    "Two annotators described the same detail of a conversation between a doctor and a patient.\n"
    "First: {one}\nSecond: {other}\n"
    "Do both descriptions mean the same? Answer with one word, yes or no."
)
# A cached answer holds for this wording only.
QUESTION_ID = hashlib.sha256(QUESTION.encode()).hexdigest()[:12]
TRIES = 3
TIMEOUT = 30.0  # seconds for one answer
_LONGEST_ANSWER = 1_000_000  # bytes
_WORTH_RETRYING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_ROW_START = b'{"question": "'
_EXACT = Exact()


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """Where to ask. `url` is the base, such as `http://localhost:8000/v1`; `key` is sent as a bearer token."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = TIMEOUT
    tries: int = TRIES

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise Refused(f"The chat endpoint {quoted(self.url)} is no http or https address.")
        if not self.model:
            raise Refused("Name the model that the chat endpoint should use.")

    @property
    def address(self) -> str:
        base = self.url.rstrip("/")
        return base if base.endswith("/chat/completions") else f"{base}/chat/completions"


class ChatComparator:
    """A comparator that asks. Raises Refused when the endpoint does not answer; what it answered so far is cached."""

    name = "chat"

    def __init__(
        self, endpoint: ChatEndpoint, cache: Path | None = None, *, wait: Callable[[float], None] = time.sleep
    ) -> None:
        """Raises Refused for a cache file that is something else."""
        self._endpoint = endpoint
        self._cache = cache
        self._wait = wait
        self._known: dict[tuple[str, str], bool] = dict(_read_cache(cache, endpoint.model)) if cache else {}
        self.asked = self.cached = self.retried = self.unclear = 0

    def same(self, one: str, other: str) -> bool:
        """Texts that are equal need no question; whichever comes first, the same question is asked."""
        if _EXACT.same(one, other):
            return True
        first, second = sorted((one, other))
        if (first, second) in self._known:
            self.cached += 1
        else:
            answer = self._ask(QUESTION.format(one=json.dumps(first), other=json.dumps(second)))
            self._keep(first, second, answer)
        return self._known[first, second]

    def as_json(self) -> Mapping[str, Any]:
        """Its name and model, and how many answers came from the endpoint, from the cache, after a retry, and were
        neither yes nor no, which counts as no."""
        return {
            "name": self.name,
            "model": self._endpoint.model,
            "question": QUESTION_ID,
            "asked": self.asked,
            "cached": self.cached,
            "retried": self.retried,
            "unclear": self.unclear,
        }

    def _ask(self, question: str) -> str:
        for attempt in range(1, self._endpoint.tries + 1):
            try:
                answer = self._answer(question)
            except _Unanswered as error:
                if error.final or attempt == self._endpoint.tries:
                    tries = f" after {attempt} tries" if attempt > 1 else ""
                    raise Refused(
                        f"The chat endpoint {self._endpoint.address} gave no answer{tries}: {error}."
                    ) from error
                self.retried += 1
                self._wait(2.0 ** (attempt - 1))
            else:
                self.asked += 1
                return answer
        raise AssertionError("unreachable: the last try returns or raises")

    def _answer(self, question: str) -> str:
        body = {
            "model": self._endpoint.model,
            "messages": [{"role": "user", "content": question}],
            "temperature": 0,
            "max_tokens": 16,
        }
        headers = {"Content-Type": "application/json"}
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        # The address is the person's own choice and was checked to be http or https.
        request = urllib.request.Request(self._endpoint.address, json.dumps(body).encode(), headers)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=self._endpoint.timeout) as response:  # noqa: S310
                raw = response.read(_LONGEST_ANSWER)
        except urllib.error.HTTPError as error:
            with error:
                final = error.code not in _WORTH_RETRYING
            raise _Unanswered(f"it says {error.code} {error.reason}", final=final) from error
        except TimeoutError as error:
            raise _Unanswered(f"nothing came within {self._endpoint.timeout:g} seconds") from error
        except (OSError, http.client.HTTPException) as error:
            raise _Unanswered(str(getattr(error, "reason", "") or error or type(error).__name__)) from error
        return _content(raw)

    def _keep(self, first: str, second: str, answer: str) -> None:
        verdict = _verdict(answer)
        self.unclear += verdict is None
        self._known[first, second] = bool(verdict)
        if self._cache is None:
            return
        row = {
            "question": QUESTION_ID,
            "model": self._endpoint.model,
            "one": first,
            "other": second,
            "answer": answer,
            "same": bool(verdict),
        }
        with self._cache.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


class _Unanswered(Exception):
    """A try without an answer; `final` where another try would fare no better."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


def _content(raw: bytes) -> str:
    try:
        return str(json.loads(raw)["choices"][0]["message"]["content"] or "")
    except (ValueError, LookupError, TypeError):
        raise _Unanswered("what it sent is no chat completion", final=True) from None


def _verdict(answer: str) -> bool | None:
    """True for an answer that begins with yes, False for no, None for neither."""
    word = "".join(sign if sign.isalpha() else " " for sign in answer.lower()).split()[:1]
    return {"yes": True, "no": False}.get(word[0]) if word else None


def _read_cache(path: Path, model: str) -> dict[tuple[str, str], bool]:
    """The answers to this question by this model. A last line that was cut off is left out and asked again."""
    if not path.exists():
        return {}
    known: dict[tuple[str, str], bool] = {}
    raw = path.read_bytes()
    lines = raw.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            key, same = (row["one"], row["other"]), row["same"]
            mine = row["question"] == QUESTION_ID and row["model"] == model
        except (ValueError, LookupError, TypeError):
            # Only what this class began to write is ever taken away.
            if number == len(lines) and line[: len(_ROW_START)] == _ROW_START[: len(line)]:
                _cut(path, len(raw) - len(line))
                break
            raise Refused(f"{path}, line {number}: it is no cache of a chat endpoint's answers.") from None
        if mine:
            known[key] = bool(same)
    return known


def _cut(path: Path, size: int) -> None:
    """Take an unfinished last line away, so that the next answer does not continue it."""
    with path.open("r+b") as stream:
        stream.truncate(size)
