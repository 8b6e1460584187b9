"""Intervals in which nothing is recorded."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from protocol.capture import CaptureState, PauseDuration
from protocol.values import Record, Timestamp

KEPT = 50
"""Pauses that are remembered, so that what happened in them is not picked up later."""
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


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
    count, unit = duration[:-1], duration[-1:]
    span = _UNITS[unit] * int(count) if count.isdecimal() else None
    return Pause(
        duration=duration,
        since=now,
        until=None if span is None else now + span,
        process=process if duration == "restart" else None,
    )


def end(pauses: Sequence[Pause], now: datetime) -> tuple[Pause, ...]:
    """End what is not over yet; the oldest are forgotten."""
    ended = [
        msgspec.structs.replace(pause, until=max(now, pause.since))
        if pause.until is None or now < pause.until
        else pause
        for pause in pauses
    ]
    return tuple(ended[-KEPT:])


def current(pauses: Iterable[Pause], now: datetime) -> Pause | None:
    """Find the pause that is on now; one without an end is, whatever the clock says of its beginning."""
    return next((pause for pause in pauses if pause.until is None or _covers(pause, now)), None)


def were_on(pauses: Iterable[Pause], second: datetime) -> bool:
    """Return whether nothing was recorded at a moment that is known only to the second.

    The second in which a pause began belongs to it; the one in which it ended does not.
    """
    return any(
        pause.since.replace(microsecond=0) <= second
        and (pause.until is None or second < pause.until.replace(microsecond=0))
        for pause in pauses
    )


def covered(pauses: Iterable[Pause], moment: datetime) -> bool:
    """Return whether nothing was recorded at a moment that is known to the millisecond."""
    return any(
        pause.since.replace(microsecond=pause.since.microsecond // 1000 * 1000) <= moment
        and (pause.until is None or moment < pause.until)
        for pause in pauses
    )


def describe(pause: Pause | None) -> CaptureState:
    """Say it as clients see it."""
    if pause is None:
        return CaptureState()
    return CaptureState(paused=True, duration=pause.duration, since=pause.since, until=pause.until)


def _covers(pause: Pause, moment: datetime) -> bool:
    return pause.since <= moment and (pause.until is None or moment < pause.until)
