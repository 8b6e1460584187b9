"""Rewriting: when a commit is made anew, its record follows; when one is dropped, its record says so."""

from collections.abc import Iterable, Sequence

import msgspec

from protocol.events import Commit, Event, NewEvent
from sidecar.domain import privacy
from sidecar.domain.events import commit_key, keys
from sidecar.store.vaults import Vault


def replace(vault: Vault, new: NewEvent, earlier: Sequence[str]) -> bool:
    """Let a commit stand where the earlier ones stood; False where none of them was recorded."""
    made = privacy.public_event(new) or new
    if made.commit is None:
        return False
    with vault.lock.held():
        records = _records(vault, [*earlier, made.commit.sha])
        if not records:
            return False
        keeper, *gone = records
        commit = msgspec.structs.replace(
            made.commit, replaces=_replaced(made.commit, records, earlier)
        )
        if keeper.commit != commit or gone:
            event = msgspec.structs.replace(
                keeper,
                commit=commit,
                files=made.files,
                idempotency_key=commit_key(commit.sha),
            )
            vault.sessions.replace(event, gone)
    return True


def mark(vault: Vault, shas: Iterable[str], *, dropped: bool) -> None:
    """Say of recorded commits whether any branch still holds them."""
    wanted = set(shas)
    with vault.lock.held():
        for record in _records(vault, wanted):
            commit = record.commit
            if commit and commit.sha in wanted and commit.dropped != dropped:
                commit = msgspec.structs.replace(commit, dropped=dropped)
                vault.sessions.replace(msgspec.structs.replace(record, commit=commit), ())


def _records(vault: Vault, shas: Iterable[str]) -> list[Event]:
    """Read what is recorded of commits, oldest first, also under the names they had before."""
    wanted = {commit_key(sha) for sha in shas}
    sessions = dict.fromkeys(vault.sessions.find(wanted).values())
    found = [
        event
        for session_id in sessions
        for event in vault.sessions.arrivals(session_id)
        if not wanted.isdisjoint(keys(event))
    ]
    return sorted(found, key=lambda event: (event.occurred_at, event.event_id))


def _replaced(made: Commit, records: Iterable[Event], earlier: Iterable[str]) -> tuple[str, ...]:
    """List every commit that the new one stands for."""
    known = [
        sha
        for record in records
        if record.commit
        for sha in (*record.commit.replaces, record.commit.sha)
    ]
    return tuple(dict.fromkeys(sha for sha in (*known, *earlier) if sha != made.sha))
