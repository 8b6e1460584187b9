"""Capture: whether what happens is recorded at all."""

from typing import Annotated

from msgspec import Meta

from protocol.values import Record, Timestamp

PauseDuration = Annotated[str, Meta(pattern=r"^(forever|restart|[1-9][0-9]{0,3}[mhd])$")]
"""`30m`, `2h` or `1d`; `forever`: until it is resumed; `restart`: until whoever paused it restarts."""


class CaptureState(Record, frozen=True, kw_only=True):
    """Whether a project's events are recorded now."""

    paused: bool = False
    duration: PauseDuration | None = None
    """What was asked for; null while capture is on."""
    since: Timestamp | None = None
    until: Timestamp | None = None
    """When it goes on by itself; null: when it is resumed, or when whoever paused it restarts."""
