"""Waiting for what is not ours: never longer than wanted, and left behind when it does not come back."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from protocol.errors import CancelledError

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
