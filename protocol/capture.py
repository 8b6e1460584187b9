"""Capture: whether what happens is recorded at all."""

from typing import Literal

from protocol.values import Record, Timestamp

PauseDuration = Literal["forever", "15m", "1h", "restart"]


class CaptureState(Record, frozen=True, kw_only=True):
    """Whether a project's events are recorded now."""

    paused: bool = False
    duration: PauseDuration | None = None
    """What was asked for; null while capture is on."""
    since: Timestamp | None = None
    until: Timestamp | None = None
    """When it goes on by itself; null: when it is resumed, or when whoever paused it restarts."""
