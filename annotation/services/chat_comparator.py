"""Whether two texts say the same, asked of a chat endpoint that speaks the OpenAI chat protocol.

Every answer is kept in a cache file (JSON lines), so that a second run asks nothing and gives the same figures.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from annotation.domain.comparators import Exact
from annotation.domain.notices import quoted, shortened
from annotation.services.errors import Refused

QUESTION = (
    "Two annotators described the same detail of a conversation between a doctor and a patient.\n"
    "First: {one}\nSecond: {other}\n"
    "Do both descriptions mean the same? Answer with one word, yes or no."
)
# A cached answer holds for this wording only.
QUESTION_ID = hashlib.sha256(QUESTION.encode()).hexdigest()[:12]
TRIES = 3
TIMEOUT = 30.0  # seconds for one answer, from the question to its last byte
LONGEST_TIMEOUT = 3600.0
_LONGEST_ANSWER = 1_000_000  # bytes
_PIECE = 65_536  # bytes
_MOVED = frozenset({301, 302, 303, 307, 308})
_WORTH_RETRYING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_ROW_START = b'{"question": "'
_EXACT = Exact()


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """Where to ask. `url` is the base, such as `http://localhost:8000/v1`; `key` is sent as a bearer token, to this
    address and no other. An answer that is not there after `timeout` seconds is none. Raises Refused for what cannot
    be asked."""

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = TIMEOUT
    tries: int = TRIES

    def __post_init__(self) -> None:
        if not self.url:
            raise Refused("Give the address of the chat endpoint, such as http://localhost:8000/v1.")
        if not _is_address(self.url):
            raise Refused(f"The chat endpoint {quoted(self.url)} is no http or https address.")
        if not self.model:
            raise Refused("Name the model that the chat endpoint should use.")
        if not all("!" <= sign <= "~" for sign in self.key):
            raise Refused(
                "The key of the chat endpoint holds a blank, a line end or a sign that is not ASCII; no key does."
            )
        if not 0 < self.timeout <= LONGEST_TIMEOUT:  # not a number is no such number either
            raise Refused(f"The seconds to wait for the chat endpoint lie above 0 and up to {LONGEST_TIMEOUT:,.0f}.")

    @property
    def address(self) -> str:
        base = self.url.rstrip("/")
        return base if base.endswith("/chat/completions") else f"{base}/chat/completions"


class ChatComparator:
    """A comparator that asks. Raises Refused when the endpoint does not answer; what it answered so far is cached."""

    name = "chat"

    def __init__(
        self,
        endpoint: ChatEndpoint,
        cache: Path | None = None,
        *,
        wait: Callable[[float], None] = time.sleep,
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        """`tell` is called about once a second while an answer is waited for; what it raises ends the waiting. Raises
        Refused for a cache file that is something else."""
        self._endpoint = endpoint
        self._tell = tell
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
        return _content(*_fetched(request, self._endpoint.timeout, self._tell))

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
        try:
            text = json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # half of a character, which only an escape can hold
            text = json.dumps(row).encode()
        with self._cache.open("ab") as stream:
            stream.write(text + b"\n")


class _Unanswered(Exception):
    """A try without an answer; `final` where another try would fare no better. The message may be the server's own."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        plain = "".join(sign if sign.isprintable() else " " for sign in message[:1000])
        super().__init__(shortened(" ".join(plain.split()), 200))
        self.final = final


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Leaves a redirection as the error that it is: the key and the texts are meant for one address."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _fetched(request: urllib.request.Request, seconds: float, tell: Callable[[], None]) -> tuple[bytes, bool]:
    """The body of the answer, and whether it is known to be whole. Raises _Unanswered, after `seconds` at the latest.

    The libraries count their seconds from byte to byte, so the asking runs beside this and is left when time is up.
    """
    asking = _Asking(request, seconds)
    end = time.monotonic() + seconds
    asking.start()
    try:
        while asking.is_alive() and (left := end - time.monotonic()) > 0:
            asking.join(min(left, 1.0))
            tell()
    finally:
        asking.left = True
    if asking.is_alive():
        raise _Unanswered(f"no whole answer came within {seconds:g} seconds")
    if asking.error is not None:
        _explain(asking.error, seconds)
    return asking.body, asking.whole


class _Asking(threading.Thread):
    """One request in a thread that does not keep the program from ending. Once it is `left`, it stops at the next
    piece."""

    def __init__(self, request: urllib.request.Request, seconds: float) -> None:
        super().__init__(daemon=True)
        self._request = request
        self._seconds = seconds
        self.left = False
        self.body = b""
        self.whole = False
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            opener = urllib.request.build_opener(_NoRedirect)
            with opener.open(self._request, timeout=self._seconds) as response:
                self._read(response)
        except Exception as error:
            self.error = error

    def _read(self, response: http.client.HTTPResponse) -> None:
        stated: int | None = response.length
        while not self.left and len(self.body) <= _LONGEST_ANSWER and len(self.body) != stated:
            piece = response.read1(_PIECE)
            self.body += piece
            if not piece:
                break
        self.whole = len(self.body) == stated or response.chunked


def _explain(error: Exception, seconds: float) -> NoReturn:
    """Raise _Unanswered for what a request raises."""
    if isinstance(error, urllib.error.HTTPError):
        with error:
            code = error.code
        if code in _MOVED:
            raise _Unanswered(f"it sends on to another address ({code}), which is not asked", final=True) from error
        raise _Unanswered(f"it says {code} {error.reason}", final=code not in _WORTH_RETRYING) from error
    reason = getattr(error, "reason", "") or error
    if isinstance(error, TimeoutError) or isinstance(reason, TimeoutError):
        raise _Unanswered(f"no whole answer came within {seconds:g} seconds") from error
    if isinstance(error, http.client.IncompleteRead):
        raise _Unanswered("its answer breaks off") from error
    if isinstance(error, OSError | http.client.HTTPException):
        raise _Unanswered(str(reason) or type(error).__name__) from error
    if isinstance(error, ValueError):  # a host that no name server can be asked for
        raise _Unanswered(f"it cannot be asked ({error})", final=True) from error
    raise error


def _is_address(url: str) -> bool:
    """Whether it is an http or https address with a host, as a request can name it."""
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and " " not in url
    return plain and named and parts.scheme in ("http", "https") and "@" not in parts.netloc


def _content(raw: bytes, whole: bool) -> str:
    if len(raw) > _LONGEST_ANSWER:
        raise _Unanswered(f"its answer is longer than {_LONGEST_ANSWER:,} bytes", final=True)
    try:
        return _text_of(json.loads(raw)["choices"][0]["message"]["content"])
    except (ValueError, LookupError, TypeError, RecursionError):
        if not whole:
            raise _Unanswered("its answer breaks off") from None
        raise _Unanswered("what it sent is no chat completion", final=True) from None


def _text_of(content: Any) -> str:
    """Some servers send a text in parts. Raises LookupError or TypeError for what is no text."""
    if isinstance(content, list):
        return "".join(_text_of(part["text"]) for part in content)
    if not isinstance(content, str | None):
        raise TypeError
    return content or ""


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
            one, other, same, mine = _row(json.loads(line), model)
        except (ValueError, LookupError, TypeError, RecursionError):
            # Only what this class began to write is ever taken away.
            if number == len(lines) and line[: len(_ROW_START)] == _ROW_START[: len(line)]:
                _cut(path, len(raw) - len(line))
                break
            raise Refused(f"{path}, line {number}: it is no cache of a chat endpoint's answers.") from None
        if mine:
            known[one, other] = same
    return known


def _row(row: Any, model: str) -> tuple[str, str, bool, bool]:
    """The two texts, whether they are the same, and whether this question was asked of this model."""
    one, other, same = row["one"], row["other"], row["same"]
    if not (isinstance(one, str) and isinstance(other, str) and isinstance(same, bool)):
        raise TypeError
    return one, other, same, row["question"] == QUESTION_ID and row["model"] == model


def _cut(path: Path, size: int) -> None:
    """Take an unfinished last line away, so that the next answer does not continue it."""
    with path.open("r+b") as stream:
        stream.truncate(size)
