"""A browser reduced to what costs nothing: one kept-alive connection, the cookies, and a clock."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any
from urllib.parse import urlencode

from benchmarks.server import ADDRESS

IDLE_SECONDS = 3  # less than gunicorn keeps a connection that nobody uses


class Failed(Exception):
    """An answer that is no success."""


class Client:
    """One signed-in person. `post` returns the answer's body and the milliseconds from request to whole answer."""

    def __init__(self, port: int, username: str, password: str) -> None:
        self._connection = http.client.HTTPConnection(ADDRESS, port, timeout=30)
        self._cookies: dict[str, str] = {}
        self._used = time.monotonic()
        self._send("GET", "/sign-in/", b"", {})
        form = {"username": username, "password": password, "csrfmiddlewaretoken": self._cookies["csrftoken"]}
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        status, _ = self._send("POST", "/sign-in/", urlencode(form).encode(), headers)
        if status != 302:
            raise Failed(f"{username} cannot sign in: status {status}")
        self._json_headers = {"Content-Type": "application/json", "X-CSRFToken": self._cookies["csrftoken"]}

    def post(self, path: str, data: Any) -> tuple[bytes, float]:
        body = json.dumps(data).encode()
        start = time.perf_counter()
        status, answer = self._send("POST", path, body, self._json_headers)
        milliseconds = (time.perf_counter() - start) * 1000
        if status != 200:
            raise Failed(f"POST {path}: status {status}: {answer[:300].decode(errors='replace')}")
        return answer, milliseconds

    def close(self) -> None:
        self._connection.close()

    def _send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        if time.monotonic() - self._used > IDLE_SECONDS:
            self._connection.close()  # before the server does; the next request opens another one
        cookies = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        self._connection.request(method, path, body=body, headers={**headers, "Cookie": cookies})
        response = self._connection.getresponse()
        answer = response.read()
        self._used = time.monotonic()
        for line in response.headers.get_all("Set-Cookie") or []:
            name, _, value = line.split(";", 1)[0].partition("=")
            self._cookies[name] = value
        return response.status, answer
