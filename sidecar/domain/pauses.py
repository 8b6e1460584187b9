"""Pauses: when nothing is recorded."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from protocol.capture import CaptureState, PauseDuration
from protocol.values import Record, Timestamp

KEPT = 50
"""Pauses that are remembered, so that what happened in them is not picked up later."""
_SPANS = {"15m": timedelta(minutes=15), "1h": timedelta(hours=1)}


class Pause(Record, frozen=True, kw_only=True):
    """A time in which nothing was recorded."""

    duration: PauseDuration
    since: Timestamp
    until: Timestamp | None
    """Null while nobody knows."""
    process: str | None = None
    """Whose end ends it."""


def begin(duration: PauseDuration, now: datetime, process: str) -> Pause:
    """Pause from now on."""
    span = _SPANS.get(duration)
    return Pause(
        duration=duration,
        since=now,
        until=None if span is None else now + span,
        process=process if duration == "restart" else None,
    )


def end(pauses: Sequence[Pause], now: datetime) -> tuple[Pause, ...]:
    """End what is not over yet; the oldest are forgotten."""
    ended = [
        msgspec.structs.replace(pause, until=now) if _is_on(pause, now) else pause
        for pause in pauses
    ]
    return tuple(ended[-KEPT:])


def current(pauses: Iterable[Pause], moment: datetime) -> Pause | None:
    """Find the pause that a moment falls into."""
    return next((pause for pause in pauses if _is_on(pause, moment)), None)


def describe(pause: Pause | None) -> CaptureState:
    """Say it as clients see it."""
    if pause is None:
        return CaptureState()
    return CaptureState(paused=True, duration=pause.duration, since=pause.since, until=pause.until)


def _is_on(pause: Pause, moment: datetime) -> bool:
    return pause.since <= moment and (pause.until is None or moment < pause.until)
