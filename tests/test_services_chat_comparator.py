"""The chat endpoint as a comparator, asked over HTTP on the loopback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from annotation.domain.evaluation_gold import patient_turns
from annotation.domain.metrics_nlu import score_nlu
from annotation.domain.unrolling import unroll_nlu
from annotation.services.chat_comparator import ChatComparator, ChatEndpoint
from annotation.services.errors import Refused
from tests.evaluating import dataset, edited_nlu, predicted


def completion(text: str) -> tuple[int, Any]:
    return 200, {"choices": [{"message": {"role": "assistant", "content": text}}]}


@dataclass
class Server:
    """A server that answers with what the test puts into `answers`, the last one for good, and keeps the requests."""

    answers: list[tuple[int, Any]] = field(default_factory=lambda: [completion("Yes.")])
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def next(self) -> tuple[int, Any]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = self.headers.get("Authorization", "")
            state.requests.append({**body, "path": self.path, "authorization": key})
            status, answer = state.next()
            if status == 0:  # hangs up without a word
                self.close_connection = True
                return
            if callable(answer):  # writes what it likes
                answer(self)
                self.close_connection = True
                return
            raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *args: Any) -> None:
            pass

    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{found.server_address[1]}/v1"
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    yield state
    found.shutdown()
    thread.join()
    found.server_close()


def comparator(server: Server, cache: Path | None = None, **given: Any) -> tuple[ChatComparator, list[float]]:
    waits: list[float] = []
    return ChatComparator(ChatEndpoint(server.url, "small", **given), cache, wait=waits.append), waits


def test_both_texts_and_the_model_are_sent_as_a_chat(server: Server) -> None:
    one, _ = comparator(server, key="secret")
    assert one.same("past four days", "since Monday")
    (request,) = server.requests
    assert request["path"] == "/v1/chat/completions"
    assert request["model"] == "small"
    assert request["temperature"] == 0
    assert request["authorization"] == "Bearer secret"
    (message,) = request["messages"]
    assert message["role"] == "user"
    assert '"past four days"' in message["content"]
    assert '"since Monday"' in message["content"]


def test_without_a_key_none_is_sent_and_a_whole_address_is_taken_as_it_is(server: Server) -> None:
    server.url += "/chat/completions"
    assert comparator(server)[0].same("a", "b")
    assert server.requests[0]["path"] == "/v1/chat/completions"
    assert server.requests[0]["authorization"] == ""


@pytest.mark.parametrize(
    ("answer", "same", "unclear"),
    [
        ("yes", True, 0),
        ("**Yes**, they do.", True, 0),
        ("No.", False, 0),
        ("Hard to say: yes", False, 1),
        ("", False, 1),
    ],
)
def test_the_first_word_is_the_answer_and_anything_else_counts_as_no(
    server: Server, answer: str, same: bool, unclear: int
) -> None:
    server.answers = [completion(answer)]
    one, _ = comparator(server)
    assert one.same("a", "b") is same
    assert one.as_json()["unclear"] == unclear


def test_a_pair_is_asked_once_whichever_comes_first_and_equal_texts_never(server: Server) -> None:
    one, _ = comparator(server)
    assert one.same("a", "b")
    assert one.same("b", "a")
    assert one.same("caf\u00e9", "cafe\u0301")
    assert len(server.requests) == 1
    assert one.as_json() | {"question": ""} == {
        "name": "chat",
        "model": "small",
        "question": "",
        "asked": 1,
        "cached": 1,
        "retried": 0,
        "unclear": 0,
    }


def test_a_second_run_asks_nothing(server: Server, tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    server.answers = [completion("yes"), completion("no")]
    first, _ = comparator(server, cache)
    verdicts = [first.same("a", "b"), first.same("é", "d")]
    second, _ = comparator(server, cache)
    assert [second.same("b", "a"), second.same("d", "é")] == verdicts == [True, False]
    assert len(server.requests) == 2
    assert (second.asked, second.cached) == (0, 2)


def test_another_model_does_not_believe_the_cache(server: Server, tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    comparator(server, cache)[0].same("a", "b")
    other = ChatComparator(ChatEndpoint(server.url, "large"), cache)
    other.same("a", "b")
    assert [request["model"] for request in server.requests] == ["small", "large"]


def test_a_cache_whose_last_line_was_cut_off_is_read_and_carried_on(server: Server, tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    first, _ = comparator(server, cache)
    first.same("a", "b")
    first.same("c", "d")
    cache.write_bytes(cache.read_bytes()[:-20])
    second, _ = comparator(server, cache)
    assert second.same("a", "b")
    assert second.same("c", "d")
    assert (second.asked, second.cached) == (1, 1)
    assert len(cache.read_text().splitlines()) == 2
    assert comparator(server, cache)[0].same("c", "d")


@pytest.mark.parametrize("text", ["{}", '{"7": {"utterances": []}}', "once upon a time\nthere was\n", "[1, 2]\n"])
def test_a_file_that_is_no_cache_is_refused_and_left_as_it_is(server: Server, tmp_path: Path, text: str) -> None:
    cache = tmp_path / "dialogs.json"
    cache.write_text(text)
    with pytest.raises(Refused, match=r"dialogs\.json, line 1: it is no cache"):
        comparator(server, cache)
    assert cache.read_text() == text


def test_a_busy_endpoint_is_asked_again_after_a_while(server: Server) -> None:
    server.answers = [(429, {}), (503, {}), completion("yes")]
    one, waits = comparator(server)
    assert one.same("a", "b")
    assert waits == [1.0, 2.0]
    assert (one.asked, one.retried) == (1, 2)


def test_after_three_tries_it_gives_up_in_one_sentence_and_keeps_what_it_knows(server: Server, tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    server.answers = [completion("yes"), (500, {})]
    one, waits = comparator(server, cache)
    one.same("a", "b")
    with pytest.raises(Refused, match=r"gave no answer after 3 tries: it says 500 Internal Server Error\.$"):
        one.same("c", "d")
    assert len(waits) == 2
    assert len(cache.read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, {}), "it says 401 Unauthorized"),
        ((404, {}), "it says 404 Not Found"),
        ((200, b"<html>"), "no chat completion"),
        ((200, {"choices": []}), "no chat completion"),
        ((200, b"[" * 200_000), "no chat completion"),
        ((200, b"9" * 6000), "no chat completion"),
        ((200, b" " * 1_000_001), "its answer is longer than 1,000,000 bytes"),
    ],
)
def test_what_another_try_cannot_mend_is_said_at_once(server: Server, answer: tuple[int, Any], words: str) -> None:
    server.answers = [answer]
    one, waits = comparator(server)
    with pytest.raises(Refused, match=f"/v1/chat/completions gave no answer: .*{words}"):
        one.same("a", "b")
    assert waits == []


def test_an_endpoint_that_hangs_up_or_is_not_there_is_said_in_words(server: Server) -> None:
    server.answers = [(0, b"")]
    with pytest.raises(Refused, match="after 3 tries"):
        comparator(server)[0].same("a", "b")
    nobody = ChatComparator(ChatEndpoint("http://127.0.0.1:9/v1", "small", tries=1))
    with pytest.raises(Refused, match="Connection refused"):
        nobody.same("a", "b")


def test_nobody_waits_longer_than_the_time_given(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        one = ChatComparator(ChatEndpoint(url, "small", timeout=0.2, tries=1))
        with pytest.raises(Refused, match=r"no whole answer came within 0\.2 seconds"):
            one.same("a", "b")


def drips(handler: BaseHTTPRequestHandler) -> None:
    """An answer that never ends, a byte at a time, each well within the time to wait."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
    _drip(handler)


def drips_headers(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    _drip(handler)


def _drip(handler: BaseHTTPRequestHandler) -> None:
    try:
        for _ in range(100):
            handler.wfile.write(b" ")
            time.sleep(0.05)
    except OSError:
        pass


@pytest.mark.parametrize("how", [drips, drips_headers])
def test_the_time_to_wait_is_that_for_the_whole_answer(server: Server, how: Any) -> None:
    server.answers = [(200, how)]
    with pytest.raises(Refused, match=r"after 2 tries: no whole answer came within 0\.3 seconds"):
        comparator(server, timeout=0.3, tries=2)[0].same("a", "b")


def test_who_waits_is_told_and_may_stop(server: Server) -> None:
    class Stopped(Exception):
        pass

    def stop() -> None:
        raise Stopped

    server.answers = [(200, drips)]
    with pytest.raises(Stopped):
        ChatComparator(ChatEndpoint(server.url, "small"), tell=stop).same("a", "b")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_key_is_not_taken_to_another_address(server: Server, status: int) -> None:
    def moved(handler: BaseHTTPRequestHandler) -> None:
        place = server.url.replace("127.0.0.1", "localhost") + "/elsewhere"
        handler.wfile.write(f"HTTP/1.1 {status} Moved\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode())

    server.answers = [(200, moved), completion("yes")]
    with pytest.raises(Refused, match=rf"gave no answer: it sends on to another address \({status}\)"):
        comparator(server, key="secret")[0].same("a", "b")
    assert len(server.requests) == 1


def test_what_a_server_says_cannot_damage_the_sentence(server: Server) -> None:
    def speaks(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 400 \x1b[31mno" + b"!" * 5000 + b"\r\nContent-Length: 0\r\n\r\n")

    server.answers = [(200, speaks)]
    with pytest.raises(Refused, match=r"^[ -~…]{50,400}$"):
        comparator(server)[0].same("a", "b")


def cut(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"choices": [{"mess')


def cut_in_a_chunk(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{"choices": [')


def cut_without_a_length(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b'HTTP/1.1 200 OK\r\n\r\n{"choices": [{"mess')


@pytest.mark.parametrize("how", [cut, cut_in_a_chunk, cut_without_a_length])
def test_an_answer_that_breaks_off_is_asked_for_again(server: Server, how: Any) -> None:
    server.answers = [(200, how), completion("yes")]
    one, waits = comparator(server)
    assert one.same("a", "b")
    assert (waits, one.retried) == ([1.0], 1)
    server.answers = [(200, how)]
    with pytest.raises(Refused, match=r"after 3 tries: its answer breaks off\.$"):
        one.same("c", "d")


def test_half_a_character_in_an_answer_or_a_text_is_kept_like_any_other(server: Server, tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    server.answers = [(200, b'{"choices": [{"message": {"content": "Yes \\ud800"}}]}')]
    assert comparator(server, cache)[0].same("a", "b \udc00")
    assert cache.read_bytes().isascii()
    second, _ = comparator(server, cache)
    assert second.same("b \udc00", "a")
    assert (second.asked, second.cached) == (0, 1)


@pytest.mark.parametrize(
    "row",
    [
        '{"question": "x", "model": "small", "one": [], "other": "b", "answer": "yes", "same": true}',
        '{"question": "x", "model": "small", "one": "a", "other": {}, "answer": "yes", "same": true}',
        '{"question": "x", "model": "small", "one": "a", "other": "b", "answer": "yes", "same": "no"}',
        "[" * 100_000,
        "9" * 6000,
    ],
)
def test_a_row_that_no_comparator_wrote_is_named(server: Server, tmp_path: Path, row: str) -> None:
    cache = tmp_path / "answers.jsonl"
    comparator(server, cache)[0].same("a", "b")
    kept = cache.read_text() + row + "\n"
    cache.write_text(kept)
    with pytest.raises(Refused, match=r"answers\.jsonl, line 2: it is no cache"):
        comparator(server, cache)
    assert cache.read_text() == kept


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": ""}, "Give the address of the chat endpoint"),
        ({"url": "file:///etc/passwd"}, "no http or https address"),
        ({"url": "localhost:80"}, "no http or https address"),
        ({"url": "http://"}, "no http or https address"),
        ({"url": "http://[::1/x"}, "no http or https address"),
        ({"url": "http://x:port/"}, "no http or https address"),
        ({"url": "http://x:99999/"}, "no http or https address"),
        ({"url": "http://x/é"}, "no http or https address"),
        ({"url": "http://é/"}, "no http or https address"),
        ({"url": "http://x/a b"}, "no http or https address"),
        ({"url": "http://x/\n"}, "no http or https address"),
        ({"url": "http://me:word@x/"}, "no http or https address"),
        ({"model": ""}, "Name the model"),
        ({"key": "secret\n"}, "The key of the chat endpoint"),
        ({"key": "secret€"}, "The key of the chat endpoint"),
        ({"timeout": float("nan")}, "seconds to wait"),
        ({"timeout": float("inf")}, "seconds to wait"),
        ({"timeout": 1e300}, "seconds to wait"),
        ({"timeout": 0.0}, "seconds to wait"),
    ],
)
def test_something_that_is_no_endpoint_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said) as refused:
        ChatEndpoint(**{"url": "http://x", "model": "m", **given})
    assert "secret" not in refused.value.message


def test_a_host_that_cannot_be_asked_for_is_said_in_words() -> None:
    with pytest.raises(Refused, match="gave no answer"):
        ChatComparator(ChatEndpoint("http://a..b/", "small", tries=1)).same("a", "b")


def test_a_key_is_never_shown() -> None:
    assert "secret" not in repr(ChatEndpoint("http://x", "m", "secret"))


def test_it_decides_what_the_score_counts(server: Server) -> None:
    """Only the reworded onset is asked about."""
    turns, given = patient_turns(dataset()), predicted(edited_nlu(), unroll_nlu, "nlu")
    assert score_nlu(turns, given, comparator(server)[0]).as_json()["non_medical"]["precision"] == 1
    assert len(server.requests) == 1
    server.answers = [completion("no")]
    assert score_nlu(turns, given, comparator(server)[0]).as_json()["non_medical"]["precision"] == 0
