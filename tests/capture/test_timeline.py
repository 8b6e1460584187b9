"""Browsing: a session tells of its events, and events are found by their words and kinds."""

import pytest

from protocol.errors import NotFoundError
from protocol.events import Commit, EventKind, FileChange, NewEvent
from protocol.methods import CommitParams, SessionEventsParams, SessionParams
from sidecar.capture import record, timeline
from sidecar.capture.changes import Follower
from sidecar.memory import pipeline
from sidecar.storage.vault import Vault
from tests.memory.test_pipeline import commit, ingest, start, tools, work
from tests.support import MINUTE, FixedClock, save


def mixed(vault: Vault, clock: FixedClock) -> str:
    """Record one session with events of every kind."""
    events = [
        commit("Lock jobs in the database", "Nobody runs Redis here.", number=1),
        save("src/Worker.py", at=clock.now + MINUTE),
        NewEvent(kind="capture", text="Ask Ada about the lock", occurred_at=clock.now + 2 * MINUTE),
    ]
    return ingest(vault, *events)


@pytest.mark.parametrize(
    ("query", "kind", "expected"),
    [
        ("", None, ["commit", "save", "capture"]),
        ("", "save", ["save"]),
        ("lock", None, ["commit", "capture"]),
        ("REDIS nobody", None, ["commit"]),
        ("worker.py", None, ["save"]),
        (f"{1:040x}"[:12], None, ["commit"]),
        ("lock", "capture", ["capture"]),
        ("lock nowhere", None, []),
    ],
)
def test_events_are_found_by_words_and_kind(
    vault: Vault, clock: FixedClock, query: str, kind: EventKind | None, expected: list[str]
) -> None:
    """Part of G3."""
    params = SessionEventsParams(session_id=mixed(vault, clock), query=query, kind=kind)
    page = timeline.list_events(vault, params)
    assert ([one.kind for one in page.events], page.total) == (expected, len(expected))


def test_pages_of_events_may_begin_with_the_newest(vault: Vault, clock: FixedClock) -> None:
    """Part of G3."""
    session_id = mixed(vault, clock)
    pages = [
        timeline.list_events(
            vault,
            SessionEventsParams(session_id=session_id, newest_first=True, limit=2, offset=offset),
        )
        for offset in (0, 2)
    ]
    assert [[one.kind for one in page.events] for page in pages] == [
        ["capture", "save"],
        ["commit"],
    ]
    assert [page.total for page in pages] == [3, 3]


def test_a_session_tells_what_no_job_has_read(vault: Vault) -> None:
    """Part of G3."""
    session_id = work(vault)
    shown = timeline.show_session(vault, SessionParams(session_id=session_id))
    assert (shown.kinds, shown.unprocessed) == ({"commit": 2, "capture": 1}, 3)
    start(vault)
    shown = timeline.show_session(vault, SessionParams(session_id=session_id))
    assert (shown.unprocessed, shown.enrichment_status) == (0, "completed")


def test_a_commit_is_found_by_each_of_its_names(vault: Vault, clock: FixedClock) -> None:
    """Part of G3."""
    old, new, unknown = (letter * 40 for letter in "abc")
    event = NewEvent(
        kind="commit",
        idempotency_key=f"commit:{new}",
        files=(FileChange(path="a.py", added_lines=3, deleted_lines=1),),
        commit=Commit(sha=new, authored_at=clock.now, subject="Weave", replaces=(old,)),
    )
    record.ingest(vault, [event], "test")
    for sha in (old, new):
        found = timeline.show_commit(vault, CommitParams(sha=sha))
        assert (found.commit, found.files) == (event.commit, event.files)
    with pytest.raises(NotFoundError):
        timeline.show_commit(vault, CommitParams(sha=unknown))


def test_each_stage_of_a_job_is_announced_as_it_comes(vault: Vault) -> None:
    """Part of G3."""
    session_id = work(vault)
    follower = Follower(vault, lambda _: True)
    told: dict[str, set[str]] = {}

    def tell(done: int, total: int, stage: str = "") -> None:
        if done <= total and stage not in told:
            told[stage] = {change.what for change in follower.changes()}

    pipeline.start(vault, session_id, tools(), tell)
    # What has nothing to do without a model and without code does not say how far it is.
    assert [*told] == ["enrich", "dedup"]
    assert told["enrich"] == {"jobs", "sessions"}
    assert "jobs" in told["dedup"]
    assert {"jobs", "sessions", "memories"} <= {change.what for change in follower.changes()}
