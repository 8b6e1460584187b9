"""Report progress of long work."""

from typing import Protocol


class Tell(Protocol):
    """Hears how far it is; raises CancelledError once nobody wants it any more."""

    def __call__(self, done: int, total: int, stage: str = "") -> None:
        """Say how much is done, and of what."""


def untold(done: int, total: int, stage: str = "") -> None:
    """Tell nobody how far it is."""
