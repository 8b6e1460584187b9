"""Under which keys an event is known."""

from collections.abc import Iterator

from protocol.events import Event


def commit_key(sha: str) -> str:
    """Give the idempotency key of a commit, whoever reports it."""
    return f"commit:{sha}"


def keys(event: Event) -> Iterator[str]:
    """Give every key an event is known by: its own, and those of the commits it replaced."""
    if event.idempotency_key is not None:
        yield event.idempotency_key
    yield from earlier_keys(event)


def earlier_keys(event: Event) -> Iterator[str]:
    """Give the keys of the commits that an event replaced."""
    if event.commit is not None:
        yield from map(commit_key, event.commit.replaces)
