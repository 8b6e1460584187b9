"""Diagnosis: what is installed, connected, locked or behind on this machine, and what mends it."""

from typing import Literal

from protocol.values import Record

State = Literal["ok", "note", "problem"]


class Finding(Record, frozen=True, kw_only=True):
    """One thing that was looked at."""

    about: str
    """What was looked at: `program`, `git`, `store`, `capture`, `hooks`, `memory`, or an assistant."""
    state: State
    """`note` means that something works, but not as well as it could."""
    text: str
    """What was seen."""
    fix: str | None = None
    """What to do about it; a command where there is one."""


class Diagnosis(Record, frozen=True, kw_only=True):
    """All that was looked at."""

    findings: tuple[Finding, ...]
