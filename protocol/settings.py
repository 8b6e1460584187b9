"""Settings: what users may choose, in an editor as `threadline.*` or in a file of their own."""

from typing import Annotated, Literal

from msgspec import Meta

from protocol.values import Record


class Settings(Record, frozen=True, kw_only=True):
    """Every choice with its default; a wrong value is reported and the default used."""

    capture_commits: bool = True
    """Record commits as they are made."""
    capture_saves: bool = True
    """Record which files are saved; never what is in them."""
    save_interval_seconds: Annotated[int, Meta(ge=0, le=3600)] = 120
    """A file that is saved again within this time is not recorded again."""
    session_hours: Annotated[float, Meta(ge=0.25, le=24)] = 4
    """For how long a session takes events after its first."""
    log_level: Literal["error", "warning", "info", "debug"] = "info"
    """What is written to the log and shown in the editor's output."""
