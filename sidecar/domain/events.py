"""Under which keys an event is known, and by which words it is found."""

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


def mentions(event: Event, query: str) -> bool:
    """Tell whether each word of a query stands in an event, in capitals or not."""
    words = query.casefold().split()
    if not words:
        return True
    said = "\n".join(_said(event)).casefold()
    return all(word in said for word in words)


def _said(event: Event) -> Iterator[str]:
    """Give all that a reader sees of an event."""
    yield event.text or ""
    yield event.source
    yield event.agent_id or ""
    if event.commit is not None:
        commit = event.commit
        yield from (
            commit.sha,
            commit.subject,
            commit.body,
            commit.author_name,
            commit.author_email,
        )
        yield commit.branch or ""
    for file in event.files:
        yield from (file.path, file.previous_path or "")
