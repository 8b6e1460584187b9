"""HTTP with a deadline and prompt cancellation."""

import contextlib
import email.utils
import random
import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

import httpx
import msgspec

from protocol.errors import CancelledError, ModelFailedError

Result = TypeVar("Result")

_LOOK = 0.1
"""Seconds after which somebody who cancelled is heard."""


def begin(action: Callable[[], Result], name: str) -> "Future[Result]":
    """Do something in a thread of its own, which the end of the process does not wait for."""
    future: Future[Result] = Future()
    threading.Thread(target=_run, args=(action, future), name=name, daemon=True).start()
    return future


def wait(
    future: "Future[Result]", *, until: float, cancelled: Callable[[], bool] = lambda: False
) -> Result:
    """Wait for a result until a monotonic moment; raises `TimeoutError`, or `CancelledError`."""
    while not future.done():
        _stop_if(cancelled)
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        _look(future, min(_LOOK, left))
    return future.result()


def pause(*, until: float, cancelled: Callable[[], bool]) -> None:
    """Do nothing until a monotonic moment; raises `CancelledError`."""
    while (left := until - time.monotonic()) > 0:
        _stop_if(cancelled)
        time.sleep(min(_LOOK, left))
    _stop_if(cancelled)


def _stop_if(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise CancelledError("cancelled")


def _look(future: "Future[Result]", seconds: float) -> None:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    done.wait(seconds)


def _run(action: Callable[[], Result], future: "Future[Result]") -> None:
    try:
        future.set_result(action())
    except BaseException as error:  # noqa: BLE001 - it is raised again where the result is awaited
        future.set_exception(error)


LARGEST = 4 * 1024 * 1024
"""Bytes of an answer; no honest one comes near."""
_AGAIN = {429, 500, 502, 503, 504}
_CHANCE = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, in seconds, and how often to try."""

    connect: float = 10.0
    silence: float = 90.0
    """Between two bytes of an answer."""
    total: float = 180.0
    """For everything, tries and waits between them too."""
    tries: int = 5
    first_wait: float = 1.0
    longest_wait: float = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def text(self) -> str:
        """Return its body as text, whatever it is made of."""
        return self.body.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Question:
    """What is sent, and to whom."""

    url: str
    body: object
    key: str | None = field(repr=False)
    direct: bool
    """Past the proxies of the environment."""


class _LostError(Exception):
    """The connection failed before there was an answer; asking again costs nothing twice."""


def post(
    question: Question, patience: Patience, *, until: float, cancelled: Callable[[], bool]
) -> Answer:
    """Send JSON until there is an answer that will not change; busy and broken servers get time."""
    if cancelled():
        raise CancelledError("cancelled before anything was sent")
    with httpx.Client(
        trust_env=not question.direct,
        timeout=httpx.Timeout(patience.silence, connect=patience.connect),
    ) as client:
        sending = _Sending(client, question)
        for number in range(1, patience.tries + 1):
            outcome = _try(sending, until, cancelled)
            if isinstance(outcome, Answer) and not _is_passing(outcome):
                return outcome
            if number < patience.tries:
                moment = _next(outcome, number, patience, question.url)
                if moment >= until:
                    break
                pause(until=moment, cancelled=cancelled)
    trouble = _trouble(outcome, question.url)
    raise ModelFailedError(f"{trouble}; tried {_times(number)}, try again later")


@dataclass(slots=True)
class _Sending:
    """One request, which can be cut off from another thread."""

    client: httpx.Client
    question: Question
    lines: list[Any] = field(default_factory=list)
    """Network streams, as httpx's trace names them, the latest last."""

    def __call__(self) -> Answer:
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if self.question.key:
            headers["authorization"] = f"Bearer {self.question.key}"
        with self.client.stream(
            "POST",
            self.question.url,
            content=msgspec.json.encode(self.question.body),
            headers=headers,
            extensions={"trace": self._trace},
        ) as response:
            return Answer(response.status_code, dict(response.headers), _body(response))

    def cut(self) -> None:
        """End a wait for the network at once, so that no thread is left behind."""
        for line in self.lines[-1:]:
            with contextlib.suppress(OSError):
                line.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    def _trace(self, event: str, facts: dict[str, Any]) -> None:
        if event in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            self.lines.append(facts["return_value"])


def _body(response: httpx.Response) -> bytes:
    """Read an answer as it comes, up to its largest size; compressed ones were not asked for."""
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ModelFailedError(f"{_host(response.url)} sent a compressed answer, unasked")
    body = bytearray()
    for part in response.iter_raw():
        body += part
        if len(body) > LARGEST:
            raise ModelFailedError(f"{_host(response.url)} sent more than {LARGEST:,} bytes")
    return bytes(body)


def _try(sending: _Sending, until: float, cancelled: Callable[[], bool]) -> Answer | _LostError:
    """Ask once; a failure of the connection is a value, because it may pass."""
    host = _host(sending.question.url)
    running = begin(sending, "threadline-model")
    try:
        return wait(running, until=until, cancelled=cancelled)
    except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout):
        raise ModelFailedError(
            f"{host} did not answer in time; raise the time-out, or ask a faster model"
        ) from None
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        if "CERTIFICATE" in str(error):
            raise ModelFailedError(
                f"{host} shows a certificate that is not trusted here; check the address, or set SSL_CERT_FILE"
            ) from None
        return _LostError(type(error).__name__)
    finally:
        if not running.done():
            sending.cut()


def _is_passing(answer: Answer) -> bool:
    """Return whether a failure may be over soon; a spent account is not."""
    return answer.status in _AGAIN and b"insufficient_quota" not in answer.body


def _next(outcome: Answer | _LostError, number: int, patience: Patience, url: str) -> float:
    """Return the monotonic moment of the next try: when the server says, else later each time."""
    wished = _retry_after(outcome.headers) if isinstance(outcome, Answer) else None
    if wished is not None and wished > patience.longest_wait:
        raise ModelFailedError(
            f"{_trouble(outcome, url)} and wants to be left alone for {wished:.0f} s; try again then"
        )
    grown = min(patience.longest_wait, patience.first_wait * 2.0 ** (number - 1))
    return time.monotonic() + max(wished or 0.0, grown * _CHANCE.uniform(0.5, 1))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        moment: datetime = email.utils.parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    wait = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)
    return max(0.0, wait.total_seconds())


def _trouble(outcome: Answer | _LostError, url: str) -> str:
    if isinstance(outcome, _LostError):
        return f"{_host(url)} cannot be reached or hung up ({outcome})"
    if outcome.status == httpx.codes.TOO_MANY_REQUESTS:
        return f"{_host(url)} says it is asked too often (429)"
    return f"{_host(url)} has trouble of its own ({outcome.status})"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _host(url: object) -> str:
    return httpx.URL(str(url)).netloc.decode("ascii", "replace")
