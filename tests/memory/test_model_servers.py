"""Servers of language models do everything wrong; we wait, give up, or explain, and never tell the key."""

import itertools
import json
import logging
import socket
import struct
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from protocol.enrichment import ModelParams
from protocol.errors import CancelledError, Code, ModelFailedError
from sidecar.memory.llm import servers
from sidecar.memory.llm.editors import EditorModel
from sidecar.memory.llm.http import LARGEST, Patience
from sidecar.memory.llm.prompts import Completion, Prompt

pytestmark = pytest.mark.slow

KEY = "sk" + "-local-" + "Zq81" * 8
PROMPT = Prompt(system="Answer in JSON.", user="What happened?")
HASTY = Patience(connect=0.5, silence=0.6, total=1.0, tries=3, first_wait=0.02, longest_wait=0.6)
TEXT = '{"items": []}'
GOOD = {
    "choices": [{"message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 3},
}
DONE = Completion(text=TEXT, input_tokens=12, output_tokens=3)

Reply = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Does what the test has planned for each request in turn; the last plan stays."""

    server: "Server"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        plan = self.server.take(self.path, json.loads(body), dict(self.headers))
        plan(self)

    def send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        chosen = {"Content-Type": "application/json", "Content-Length": str(len(body))} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        for name, value in chosen.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


class Server(ThreadingHTTPServer):
    """A real server on this machine."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plans: list[Reply] = [answer(GOOD)]
        self.requests: list[tuple[str, Any, dict[str, str]]] = []
        self.times: list[float] = []
        self.heard = threading.Event()
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def take(self, path: str, body: Any, headers: dict[str, str]) -> Reply:
        self.requests.append((path, body, headers))
        self.times.append(time.monotonic())
        self.heard.set()
        return self.plans.pop(0) if len(self.plans) > 1 else self.plans[0]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are expected here."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.over.set()
        running.shutdown()
        thread.join()


def answer(content: object, status: int = 200, **headers: str) -> Reply:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return lambda handler: handler.send(status, body, **headers)


def refuse(status: int, message: str = "no", **headers: str) -> Reply:
    return answer({"error": {"message": message}}, status, **headers)


def silent(handler: Handler) -> None:
    """Take the question and never answer."""
    handler.server.over.wait(10)


def dripping(handler: Handler) -> None:
    """Send an answer so slowly that it never ends, though no wait for a byte is long."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.over.wait(0.05):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def stalled(handler: Handler) -> None:
    """Begin to answer and stop in the middle."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    handler.server.over.wait(10)


def reset(handler: Handler) -> None:
    """Hang up in the rudest way."""
    linger = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.connection.close()


def closed(handler: Handler) -> None:
    """Hang up without a word."""
    handler.close_connection = True


def short(handler: Handler) -> None:
    """Promise more bytes than come."""
    handler.send(200, json.dumps(GOOD).encode()[:30], Content_Length="5000")


def endless(handler: Handler) -> None:
    """Send more than anyone wants to read."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(LARGEST // 65_536 + 8):
        handler.wfile.write(b" " * 65_536)


def model(server: Server, **changes: Any) -> servers.HttpModel:
    return servers.connect(server.url, "small", KEY, **{"patience": HASTY, **changes})


def complete(asked: servers.HttpModel, cancelled: Callable[[], bool] = lambda: False) -> Completion:
    return asked.complete(PROMPT, max_tokens=100, cancelled=cancelled)


def failure(asked: servers.HttpModel) -> str:
    with pytest.raises(ModelFailedError) as caught:
        complete(asked)
    assert caught.value.code == Code.MODEL_FAILED
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def test_a_model_is_asked_in_the_common_way(server: Server) -> None:
    """Part of C6."""
    assert complete(model(server)) == DONE
    ((path, body, headers),) = server.requests
    assert path == "/v1/chat/completions"
    assert body == {
        "model": "small",
        "messages": [
            {"role": "system", "content": PROMPT.system},
            {"role": "user", "content": PROMPT.user},
        ],
        "max_tokens": 100,
        "temperature": 0,
        "response_format": {"type": "json_object"},
        "stream": False,
    }
    assert headers["authorization"] == f"Bearer {KEY}"


def test_a_server_that_needs_no_key_gets_none(server: Server) -> None:
    complete(servers.connect(server.url, "small", patience=HASTY))
    assert "authorization" not in server.requests[0][2]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, (PROMPT.tokens, 7)),
        ({}, (PROMPT.tokens, 7)),
        ({"prompt_tokens": "many", "completion_tokens": -1}, (PROMPT.tokens, 7)),
        ({"prompt_tokens": 40, "completion_tokens": None}, (40, 7)),
        ("none", (PROMPT.tokens, 7)),
    ],
)
def test_what_a_server_does_not_count_is_estimated(
    server: Server, usage: object, expected: tuple[int, int]
) -> None:
    """Part of C6."""
    server.plans = [answer(GOOD | {"usage": usage})]
    found = complete(model(server))
    assert (found.input_tokens, found.output_tokens) == expected


@pytest.mark.parametrize(
    "troubles",
    [
        [refuse(429)],
        [refuse(429, Retry_After="0")],
        [refuse(429, Retry_After="soon")],
        [refuse(500), refuse(500)],
        [refuse(502), refuse(503)],
        [refuse(504)],
        [reset],
        [closed],
        [short],
        [answer(b"<html>busy</html>", 503, Content_Type="text/html")],
    ],
)
def test_a_trouble_that_passes_is_waited_for(server: Server, troubles: list[Reply]) -> None:
    """Part of C6."""
    server.plans = [*troubles, answer(GOOD)]
    assert complete(model(server)) == DONE
    assert len(server.requests) == len(troubles) + 1


def moment(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(("wish", "least"), [(lambda: "1", 1.0), (lambda: moment(2.5), 0.4)])
def test_a_server_that_says_when_to_come_back_is_not_asked_before(
    server: Server, wish: Callable[[], str], least: float
) -> None:
    """Part of C6."""
    server.plans = [refuse(429, Retry_After=wish()), answer(GOOD)]
    patient = Patience(total=6, silence=2, tries=3, first_wait=0.02, longest_wait=3)
    assert complete(model(server, patience=patient)) == DONE
    assert server.times[1] - server.times[0] >= least


@pytest.mark.parametrize(
    "wish", [lambda: "3600", lambda: moment(3600), lambda: "9" * 400], ids=["s", "date", "digits"]
)
def test_a_server_that_wants_a_long_rest_is_left_alone_at_once(
    server: Server, wish: Callable[[], str]
) -> None:
    """Part of C6."""
    server.plans = [refuse(429, Retry_After=wish())]
    assert "wants to be left alone for" in failure(model(server))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("trouble", "said"),
    [(refuse(429), "too often (429)"), (refuse(500), "trouble of its own (500)"), (reset, "hung up")],
)  # fmt: skip
def test_a_trouble_that_stays_is_given_up_after_a_few_tries(
    server: Server, trouble: Reply, said: str
) -> None:
    """Part of C6."""
    server.plans = [trouble]
    text = failure(model(server))
    assert said in text
    assert "tried 3 times" in text
    assert len(server.requests) == 3


def test_the_pauses_between_tries_grow(server: Server) -> None:
    server.plans = [refuse(503)]
    patient = Patience(total=5, tries=4, first_wait=0.1, longest_wait=5)
    failure(model(server, patience=patient))
    first, second, third = (after - before for before, after in itertools.pairwise(server.times))
    assert first >= 0.05
    assert second >= 0.1
    assert third >= 0.2


def test_nobody_is_asked_where_no_one_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    absent = servers.connect(f"http://127.0.0.1:{port}", "small", KEY, patience=HASTY)
    assert "cannot be reached" in failure(absent)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (answer(b"Sure, here is what happened."), "no completion"),
        (answer(json.dumps(GOOD).encode()[:50]), "no completion"),
        (answer(b"<html>login</html>", Content_Type="text/html"), "no completion (text/html"),
        (answer(b""), "answered with nothing"),
        (answer({}), "no completion"),
        (answer([]), "no completion"),
        (answer({"choices": []}), "without a choice"),
        (answer({"choices": [{}]}), "without a choice"),
        (answer({"choices": [{"message": {"content": None}}]}), "empty text"),
        (answer({"choices": [{"message": {"content": " "}}]}), "empty text"),
        (answer({"choices": [{"message": {"content": TEXT}, "finish_reason": "length"}]}), "cut off"),
        (answer(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'), "no completion"),
        (answer(b"[" * 100_000), "no completion"),
        (answer(json.dumps(GOOD).encode(), Content_Encoding="gzip"), "compressed"),
        (endless, "more than 4,194,304 bytes"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_an_error_that_says_why(
    server: Server, plan: Reply, said: str
) -> None:
    """Part of C6."""
    server.plans = [plan]
    assert said in failure(model(server))
    assert len(server.requests) == 1


def test_a_good_answer_of_the_wrong_type_is_taken(server: Server) -> None:
    server.plans = [answer(GOOD, Content_Type="text/plain")]
    assert complete(model(server)) == DONE


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (refuse(400, f"the context of {KEY} is too long"), "the context of [REDACTED] is too long"),
        (refuse(401, f"Incorrect key provided: {KEY}"), "does not accept the key (401)"),
        (refuse(403, KEY), "does not accept the key (403)"),
        (refuse(404, "model not found"), "knows no model 'small' (404)"),
        (refuse(413), "too long (413)"),
        (refuse(429, "insufficient_quota"), "nothing left (429)"),
        (answer({"error": f"unhappy with {KEY}"}, 418), "unhappy with [REDACTED]"),
        (answer(KEY.encode() * 50, 400), "refuses"),
        (answer(b"", 400), "without a reason"),
    ],
)
def test_a_refusal_is_explained_and_not_asked_again(server: Server, plan: Reply, said: str) -> None:
    """Part of C6."""
    server.plans = [plan]
    assert said in failure(model(server))
    assert len(server.requests) == 1


def test_a_missing_key_is_asked_for(server: Server) -> None:
    server.plans = [refuse(401)]
    assert "wants a key" in failure(servers.connect(server.url, "small", patience=HASTY))


def test_a_redirect_is_not_followed(server: Server) -> None:
    """Part of C6."""
    with Server() as other:
        server.plans = [answer(b"", status, Location=other.url) for status in (301, 302, 307, 308)]
        for _ in range(4):
            assert "points elsewhere" in failure(model(server))
        assert other.requests == []
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("refusals", "left"),
    [
        (["Use 'max_completion_tokens' instead of max_tokens"], {"temperature", "response_format"}),
        (["temperature does not support 0"], {"max_tokens", "response_format"}),
        (["temperature?", "response_format?", "max_tokens?"], set()),
    ],
)
def test_an_option_that_a_server_does_not_know_is_left_out(
    server: Server, refusals: list[str], left: set[str]
) -> None:
    server.plans = [*(refuse(400, text) for text in refusals), answer(GOOD)]
    assert complete(model(server)) == DONE
    body = server.requests[-1][1]
    assert left == set(body) & {"max_tokens", "temperature", "response_format"}
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 100


@pytest.mark.parametrize("plan", [silent, dripping, stalled])
def test_a_slow_server_is_left_in_time_and_not_asked_twice(server: Server, plan: Reply) -> None:
    """Part of C6."""
    server.plans = [plan]
    begun = time.monotonic()
    assert "did not answer in time" in failure(model(server))
    assert time.monotonic() - begun < HASTY.total + 20
    assert len(server.requests) == 1
    _no_thread_is_left()


@pytest.mark.parametrize("plan", [silent, dripping, refuse(429, Retry_After="20")])
def test_a_cancellation_is_heard_at_once(server: Server, plan: Reply) -> None:
    """Part of C6."""
    server.plans = [plan]
    patient = Patience(connect=5, silence=30, total=60, tries=3, longest_wait=40)
    cancelled = threading.Event()
    noticed: list[float] = []

    def cancel() -> None:
        server.heard.wait(5)
        time.sleep(0.15)
        noticed.append(time.monotonic())
        cancelled.set()

    watcher = threading.Thread(target=cancel)
    watcher.start()
    with pytest.raises(CancelledError):
        complete(model(server, patience=patient), cancelled.is_set)
    assert time.monotonic() - noticed[0] < 20
    watcher.join()
    _no_thread_is_left()


def test_nothing_is_sent_for_someone_who_has_cancelled(server: Server) -> None:
    with pytest.raises(CancelledError):
        complete(model(server), lambda: True)
    assert server.requests == []


def _no_thread_is_left() -> None:
    limit = time.monotonic() + 2
    while any(thread.name == "threadline-model" for thread in threading.enumerate()):
        assert time.monotonic() < limit
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "is none"),
        ("api.example.org/v1", "is none"),
        ("ftp://example.org", "is none"),
        ("https://", "is none"),
        ("http://[::1", "is none"),
        ("https://example.org:99999", "is none"),
        ("https://me:" + "hunter22@example.org/v1", "holds a user's name"),
        ("https://example.org/v1?key=" + "hunter22", "after `?`"),
        ("http://example.org/v1", "in the open"),
        ("http://localhost.example.org/v1", "in the open"),
        ("http://10.0.0.8:11434", "in the open"),
    ],
)
def test_an_unsafe_address_is_refused_before_anything_is_sent(address: str, said: str) -> None:
    """Part of C6."""
    with pytest.raises(ModelFailedError, match=said) as caught:
        servers.connect(address, "small", KEY)
    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "base"),
    [
        ("https://api.example.org/v1/", "https://api.example.org/v1"),
        ("https://api.example.org/v1/chat/completions", "https://api.example.org/v1"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("http://127.0.0.1:1234", "http://127.0.0.1:1234"),
        ("http://[::1]:1234", "http://[::1]:1234"),
    ],
)
def test_a_safe_address_is_taken(address: str, base: str) -> None:
    found = servers.connect(address, " small ", KEY)
    assert (found.base_url, found.model) == (base, "small")


def test_plain_http_to_another_machine_needs_permission() -> None:
    address = "http://10.0.0.8:11434"
    assert servers.connect(address, "small", allow_plain=True).base_url == address


@pytest.mark.parametrize("key", [KEY + "\n", KEY + "\r\nX-Evil: 1", KEY + "é"])
def test_a_key_that_would_break_the_request_is_refused_unseen(key: str) -> None:
    with pytest.raises(ModelFailedError) as caught:
        servers.connect("https://example.org", "small", key)
    assert KEY not in str(caught.value)


def test_a_model_needs_a_name() -> None:
    with pytest.raises(ModelFailedError, match="no model is named"):
        servers.connect("https://example.org", " ")


def test_the_key_is_in_no_log_and_no_representation(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Part of C6."""
    caplog.set_level(logging.DEBUG)
    server.plans = [refuse(500, KEY), reset, answer(GOOD)]
    asked = model(server)
    complete(asked)
    assert len(caplog.records) > 5
    assert KEY not in caplog.text
    assert KEY not in repr(asked)
    assert asked.name == f"small at 127.0.0.1:{server.server_port}"


def test_a_proxy_of_the_environment_sees_nothing_that_stays_on_this_machine(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of C6."""
    with Server() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.server_port}")
        assert complete(model(server)) == DONE
        assert proxy.requests == []


class Editor:
    """An editor that answers, or does not."""

    def __init__(self, result: object) -> None:
        self.result = result
        self.asked: list[ModelParams] = []
        self.futures: list[Future[Any]] = []

    def __call__(self, params: ModelParams) -> "Future[Any]":
        self.asked.append(params)
        future: Future[Any] = Future()
        self.futures.append(future)
        if isinstance(self.result, Exception):
            future.set_exception(self.result)
        elif self.result is not None:
            future.set_result(self.result)
        return future


def test_the_editors_own_model_answers_like_any_other() -> None:
    """Part of C6."""
    editor = Editor({"text": TEXT, "inputTokens": 12, "outputTokens": 3})
    asked = EditorModel(editor, "vscode")
    assert asked.complete(PROMPT, max_tokens=100, cancelled=lambda: False) == DONE
    assert editor.asked == [ModelParams(system=PROMPT.system, prompt=PROMPT.user, max_tokens=100)]
    assert asked.name == "the model of vscode"


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"text": " "}, "empty text"),
        ({"words": TEXT}, "wrong form"),
        ([], "wrong form"),
        (RuntimeError("no model is installed"), "no model is installed"),
        (None, "did not answer in 0.2 s"),
    ],
)
def test_an_editor_that_does_not_answer_well_is_an_error(result: object, said: str) -> None:
    """Part of C6."""
    editor = Editor(result)
    with pytest.raises(ModelFailedError, match=said):
        EditorModel(editor, "vscode", seconds=0.2).complete(
            PROMPT, max_tokens=100, cancelled=lambda: False
        )
    assert editor.futures[0].done()


def test_an_editor_is_told_when_nobody_waits_any_more() -> None:
    editor = Editor(None)
    with pytest.raises(CancelledError):
        EditorModel(editor, "vscode").complete(PROMPT, max_tokens=100, cancelled=lambda: True)
    assert editor.futures[0].cancelled()


def test_an_editor_that_counts_nothing_is_counted_for() -> None:
    editor = Editor({"text": TEXT, "inputTokens": 0})
    found = EditorModel(editor, "vscode").complete(PROMPT, max_tokens=100, cancelled=lambda: False)
    assert found == Completion(text=TEXT, input_tokens=PROMPT.tokens, output_tokens=7)
