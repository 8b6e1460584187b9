"""Significance: whether a session that nobody asked about deserves a summary."""

from collections.abc import Collection

from protocol.events import Event

FEWEST_ACTIVITIES = 5
ENOUGH_MEMORIES = 3
"""An agent that wrote so many itself has said what there was to say."""


def is_significant(events: Collection[Event], written: int) -> bool:
    """Tell whether something happened, was changed, and was not written down already."""
    is_reading = not any(event.commit or event.files for event in events)
    return len(events) >= FEWEST_ACTIVITIES and not is_reading and written < ENOUGH_MEMORIES
