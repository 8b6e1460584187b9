"""Forgetting: what is to be forgotten stands in no file any more, and the report proves it."""

from pathlib import Path

import pytest

from protocol.errors import NotFoundError
from protocol.events import Commit, FileChange, NewEvent
from protocol.methods import CloseSessionParams, SessionParams
from protocol.recall import WriteParams
from sidecar.capture import record, timeline
from sidecar.memory import remember
from sidecar.search.meanings import Meanings
from sidecar.storage.home import Home
from sidecar.storage.vault import Vault
from sidecar.upkeep import maintenance, purge
from tests.memory.test_remember import MEANINGS, write
from tests.support import HOUR, FixedClock, holding, reopen, save

PHRASE = 'the "blue" heron\nsings'
"""Words that JSON writes in another way."""


def commit(subject: str, path: str, number: int) -> NewEvent:
    return NewEvent(
        kind="commit",
        idempotency_key=f"commit:{number}",
        files=(FileChange(path=path),),
        commit=Commit(sha=f"{number:040x}", authored_at=FixedClock().now, subject=subject),
    )


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def test_a_memory_is_forgotten_everywhere(vault: Vault, logs: Path) -> None:
    """H3."""
    secret = "the combination of the safe is four blue herons"
    kept = write(vault, "Deploys need two approvals", meanings=MEANINGS).memory
    gone = write(vault, secret, meanings=MEANINGS).memory
    vault.snapshot()
    (vault.folder / "pauses.json.corrupt.1").write_text(f'"{secret}"')
    (logs / "threadline.log").write_text(f"a line\nwrote {secret}\nanother\n")
    report = purge.forget(vault, [gone.memory_id], logs)
    assert (report.memories, report.verified, report.remaining) == (1, True, ())
    assert report.files_deleted >= 2
    assert holding(vault.folder, b"blue herons") == holding(logs, b"blue herons") == []
    assert (logs / "threadline.log").read_text() == "a line\nanother\n"
    assert vault.vectors.matrix().memory_ids == (kept.memory_id,)
    left = vault.memories.get(gone.memory_id)
    assert left is not None
    assert (left.status, left.content) == ("forgotten", "(forgotten)")
    other = reopen(vault)
    assert {one.status for one in other.memories.all()} == {"active", "forgotten"}
    other.close()
    with pytest.raises(NotFoundError):
        purge.forget(vault, [gone.memory_id], logs)


@pytest.mark.parametrize(("agent_id", "kept"), [("cursor", "cursor"), ("user", None), (None, None)])
def test_who_has_forgotten_a_memory_is_known(
    vault: Vault, logs: Path, agent_id: str | None, kept: str | None
) -> None:
    """Part of H3."""
    gone = write(vault, "Uploads are unsigned", agent_id="codex").memory
    assert purge.forget(vault, [gone.memory_id], logs, agent_id=agent_id).verified
    (left,) = reopen(vault).memories.all()
    assert (left.status, left.agent_id, left.updated_by) == ("forgotten", None, kept)


def test_words_that_an_event_says_too_stay_there(vault: Vault, logs: Path) -> None:
    """H3."""
    record.ingest(vault, [commit("Sign the uploads", "a.py", 1)], "test")
    memory = write(vault, "Sign the uploads").memory
    report = purge.forget(vault, [memory.memory_id], logs)
    assert report.verified
    assert holding(vault.folder, b"Sign the uploads") != ["vault.jsonl"]


@pytest.mark.parametrize("is_compacted", [False, True], ids=["open", "compacted"])
def test_a_phrase_is_forgotten_everywhere(
    vault: Vault, logs: Path, clock: FixedClock, is_compacted: bool
) -> None:
    """H3."""
    placed = record.ingest(vault, [commit(f"Hear {PHRASE} now", "a.py", 1)], "test")
    write(vault, f"We heard that {PHRASE} at dawn", tags=("birds",))
    session_id = str(placed[0].session_id)
    if is_compacted:
        clock.pass_(HOUR)
        timeline.close_session(vault, CloseSessionParams())
        maintenance.compact(vault, SessionParams(session_id=session_id))
    report = purge.forget_phrase(vault, PHRASE, logs)
    assert (report.verified, report.memories, report.events) == (True, 1, 1)
    assert holding(vault.folder, b"heron") == []
    (event,) = vault.sessions.events(session_id)
    assert event.commit is not None
    assert event.commit.subject == "Hear [FORGOTTEN] now"
    assert vault.memories.all()[0].content == "We heard that [FORGOTTEN] at dawn"
    other = reopen(vault)
    assert other.sessions.events(session_id) == [event]
    other.close()


def test_a_phrase_never_touches_what_is_ours(vault: Vault, logs: Path) -> None:
    """H3."""
    write(vault, "The active session is the one that counts")
    purge.forget_phrase(vault, "active", logs)
    report = purge.forget_phrase(vault, "active", logs)
    assert report.verified
    (memory,) = reopen(vault).memories.all()
    assert (memory.status, memory.content) == (
        "active",
        "The … session is the one that counts",
    )


def test_texts_at_their_limit_stay_readable(vault: Vault, logs: Path) -> None:
    """Part of H3 and H1: what stands for forgotten words is never longer than they were."""
    memory = write(vault, "abcd " * 40).memory
    assert len(memory.title) == 200
    purge.forget_phrase(vault, "abcd", logs)
    other = reopen(vault)
    assert [one.memory_id for one in other.memories.all()] == [memory.memory_id]
    other.close()


def test_a_file_is_forgotten_everywhere(vault: Vault, logs: Path) -> None:
    """H3."""
    placed = record.ingest(
        vault,
        [
            save("secrets/plan.md", key="1"),
            save("secrets/plan.md.txt", key="2"),
            commit("Touch secrets/plan.md and src/a.py", "src/a.py", 3),
        ],
        "test",
    )
    write(vault, "The plan is in the drawer", files=("secrets/plan.md",))
    write(vault, "Read secrets/plan.md before you start", files=("src/a.py",))
    report = purge.forget_path(vault, "secrets/plan.md", logs)
    assert report.events == 2
    session = timeline.get_session(vault, str(placed[0].session_id))
    assert session.files_modified == ("secrets/plan.md.txt", "src/a.py")
    assert session.message_count == 2
    assert [one.content for one in vault.memories.all()] == ["Read [FORGOTTEN] before you start"]
    assert report.verified
    assert purge.forget_path(vault, "secrets", logs).verified
    assert holding(vault.folder, b"secrets/") == []


def test_a_project_is_forgotten_whole(home: Home) -> None:
    """H3."""
    vault = home.vault("a" * 20)
    record.ingest(vault, [save()], "test")
    remember.write(
        vault, WriteParams(type="fact", title="x", content="y"), Meanings(lambda: "none")
    )
    report = purge.forget_everything(home, vault)
    assert (report.verified, report.memories, report.events) == (True, 1, 1)
    assert not vault.folder.exists()
    assert holding(home.folder, b"a" * 20) == []
    fresh = home.vault("a" * 20)
    assert len(fresh.memories) == fresh.sessions.count_events() == 0
