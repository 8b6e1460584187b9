"""Significance: which sessions deserve a summary that nobody asked for."""

import pytest

from protocol.events import Event, FileChange
from sidecar.memory.rules.jobs import is_significant
from tests.support import NOON


def event(number: int, *, reads: bool) -> Event:
    return Event(
        event_id=f"{number:026d}",
        session_id="0" * 26,
        kind="capture",
        occurred_at=NOON,
        recorded_at=NOON,
        source="test",
        text="looked at it",
        files=() if reads else (FileChange(path="a.py"),),
    )


@pytest.mark.parametrize(
    ("activities", "reads", "written", "expected"),
    [
        (5, False, 0, True),
        (4, False, 0, False),
        (0, False, 0, False),
        (50, True, 0, False),
        (5, False, 2, True),
        (50, False, 3, False),
    ],
)
def test_the_gate(activities: int, reads: bool, written: int, expected: bool) -> None:
    """C10."""
    events = [event(number, reads=reads) for number in range(activities)]
    assert is_significant(events, written) is expected
