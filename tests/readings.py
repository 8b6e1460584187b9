"""Sessions made by hand, as the enricher reads them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from protocol.events import Commit, Event, FileChange
from sidecar.memory.rules.drafts import FileDiff, Reading
from sidecar.storage import ulids

BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SESSION = ulids.encode(1)


def event(number: int, **fields: object) -> Event:
    at = BEGIN + timedelta(minutes=number)
    shared = {"occurred_at": at, "recorded_at": at, "source": "test", "session_id": SESSION}
    return Event(event_id=ulids.encode(1000 + number), **shared, **fields)  # type: ignore[arg-type]


def commit(
    number: int, subject: str, body: str = "", *, diffs: Sequence[FileDiff] = (), **fields: object
) -> Reading:
    made = Commit(
        sha=f"{number:040x}",
        authored_at=BEGIN,
        subject=subject,
        body=body,
        branch="main",
        **fields,  # type: ignore[arg-type]
    )
    files = (FileChange(path="shop/orders/cart.py"), FileChange(path="tests/test_cart.py"))
    return Reading(event=event(number, kind="commit", commit=made, files=files), diffs=tuple(diffs))


def capture(number: int, text: str, agent: str | None = None) -> Reading:
    return Reading(event=event(number, kind="capture", text=text, agent_id=agent))


def save(number: int, path: str) -> Reading:
    return Reading(event=event(number, kind="save", files=(FileChange(path=path),)))
