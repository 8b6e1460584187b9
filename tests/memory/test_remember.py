"""Remembering and recall: what is written is found, once, by whoever may find it."""

from pathlib import Path

import msgspec
import pytest

from protocol.contexts import FeedbackParams
from protocol.errors import ConflictError, InvalidParamsError, NotFoundError
from protocol.events import NewEvent
from protocol.memories import Anchor, Evidence, Memory, MemoryType
from protocol.methods import SessionEventsParams
from protocol.recall import (
    ListMemoriesParams,
    ReadParams,
    SearchParams,
    ShownMemory,
    UpdateParams,
    WriteParams,
    WriteResult,
)
from sidecar.capture import record, timeline
from sidecar.context import receipts
from sidecar.memory import remember
from sidecar.search.embeddings import model
from sidecar.search.meanings import Embedder, Meanings
from sidecar.search.recall import Recall
from sidecar.storage.vault import Vault
from sidecar.upkeep import purge
from tests.memory.test_duplicates import near_misses
from tests.support import HOUR, FixedClock, holding, reopen


def absent() -> str:
    return "not installed"


def real() -> Embedder | str:
    found = model.load()
    return found.reason if isinstance(found, model.Absence) else found


WORDS = Meanings(absent)
MEANINGS = Meanings(real)


def write(vault: Vault, text: str, *, type_: MemoryType = "fact", **more: object) -> WriteResult:
    given = {"type": type_, "title": text[:200], "content": text} | more
    meanings = more.pop("meanings", WORDS)
    assert isinstance(meanings, Meanings)
    given.pop("meanings", None)
    return remember.write(vault, WriteParams(**given), meanings)  # type: ignore[arg-type]  # tests vary them


def search(vault: Vault, query: str, meanings: Meanings = WORDS, **more: object) -> list[str]:
    params = SearchParams(query=query, **more)  # type: ignore[arg-type]  # tests vary them
    found = Recall(meanings).search(vault, params, lambda _: ())
    return [one.memory.title for one in found.memories]


def test_what_is_written_is_read_in_full(vault: Vault, clock: FixedClock) -> None:
    """C4."""
    result = write(
        vault,
        "Postgres advisory locks guard the jobs",
        type_="decision",
        rationale="we run no Redis",
        importance=5,
        confidence=4,
        entities=("Postgres",),
        files=("src/jobs.py",),
        tags=("storage",),
        agent_id="claude",
    )
    memory = result.memory
    assert result.outcome == "created"
    assert memory == Memory(
        memory_id=memory.memory_id,
        project_id=vault.project_id,
        type="decision",
        title="Postgres advisory locks guard the jobs",
        content="Postgres advisory locks guard the jobs",
        rationale="we run no Redis",
        importance=5,
        confidence=4,
        entities=("Postgres",),
        files=("src/jobs.py",),
        tags=("storage",),
        agent_id="claude",
        occurred_at=clock.now,
        created_at=clock.now,
        updated_at=clock.now,
    )
    other = reopen(vault)
    listed = remember.read(other, ReadParams(memory_ids=(memory.memory_id, "0" * 26)))
    shown = ShownMemory(**msgspec.structs.asdict(memory))
    assert (listed.memories, listed.missing) == ((shown,), ("0" * 26,))
    other.close()


def test_the_same_key_writes_once(vault: Vault) -> None:
    """Part of C4."""
    first = write(vault, "The port is 8080", idempotency_key="k")
    second = write(vault, "Something else entirely", idempotency_key="k")
    assert (second.outcome, second.memory) == ("duplicate", first.memory)
    assert len(vault.memories) == 1


@pytest.mark.parametrize("meanings", [WORDS, MEANINGS], ids=["words", "meaning"])
def test_a_repetition_is_skipped_and_an_update_supersedes(vault: Vault, meanings: Meanings) -> None:
    """C8."""
    old = write(vault, "Uploads go through the gateway", meanings=meanings).memory
    again = write(vault, "Uploads go through the gateway.", meanings=meanings)
    assert (again.outcome, again.memory.memory_id) == ("skipped", old.memory_id)
    newer = write(vault, "Uploads go through the gateway, which signs uploads", meanings=meanings)
    assert (newer.outcome, newer.memory.supersedes) == ("superseded", old.memory_id)
    kept = vault.memories.get(old.memory_id)
    assert kept is not None
    assert (kept.status, kept.superseded_by) == ("superseded", newer.memory.memory_id)
    assert search(vault, "uploads gateway", meanings) == [newer.memory.title]


def test_what_happened_earlier_supersedes_nothing(vault: Vault, clock: FixedClock) -> None:
    """Part of C8: an old session may be read after a newer one."""
    write(vault, "Uploads go through the gateway")
    older = write(
        vault,
        "Uploads go through the gateway, which signs uploads",
        occurred_at=clock.now - HOUR,
    )
    assert older.outcome == "created"
    assert {one.status for one in vault.memories.all()} == {"active"}


@pytest.mark.slow
def test_near_misses_stay_apart_by_meaning_too(vault: Vault) -> None:
    """Part of C8: with the real model, whose cosines of such pairs are above 0.92."""
    pairs = near_misses()[:360:15]
    for left, right in pairs:
        assert write(vault, left, meanings=MEANINGS).outcome == "created"
        assert write(vault, right, meanings=MEANINGS).outcome == "created"


def test_what_is_not_kept_leaves_no_meaning(vault: Vault) -> None:
    """Part of C7 and H3."""
    write(vault, "Deploys need two approvals", meanings=MEANINGS, idempotency_key="k")
    write(vault, "Deploys need two approvals.", meanings=MEANINGS)
    write(vault, "Anything at all", meanings=MEANINGS, idempotency_key="k")
    assert (len(vault.memories), vault.vectors.count()) == (1, 1)


def test_without_comparing_everything_is_kept(vault: Vault) -> None:
    write(vault, "Twice")
    assert write(vault, "Twice", dedup=False).outcome == "created"


def test_secrets_and_private_text_are_not_kept(vault: Vault) -> None:
    """Part of E11."""
    token = "ghp_" + "a1B2" * 9
    written = write(vault, f"The token is {token} <private>of Ada</private>").memory
    assert "[REDACTED]" in written.content
    assert "Ada" not in written.content
    changed = remember.update(
        vault, UpdateParams(memory_id=written.memory_id, content=f"now {token}")
    )
    assert changed.content == "now [REDACTED]"
    assert holding(vault.folder, token.encode()) == []


def test_an_update_changes_what_it_names(vault: Vault, clock: FixedClock) -> None:
    memory = write(vault, "The port is 8080", tags=("net",)).memory
    clock.pass_(HOUR)
    params = UpdateParams(memory_id=memory.memory_id, importance=5, pinned=True)
    changed = remember.update(vault, params)
    assert (changed.importance, changed.pinned, changed.tags) == (5, True, ("net",))
    assert (changed.created_at, changed.updated_at) == (memory.created_at, clock.now)
    with pytest.raises(NotFoundError):
        remember.update(vault, UpdateParams(memory_id="0" * 26, importance=1))


def test_a_change_of_what_is_changed_already_is_refused(vault: Vault, clock: FixedClock) -> None:
    """Part of G4."""
    read = write(vault, "The port is 8080").memory
    clock.now += HOUR
    theirs = remember.update(
        vault,
        UpdateParams(memory_id=read.memory_id, pinned=True, expected_updated_at=read.updated_at),
    )
    mine = UpdateParams(
        memory_id=read.memory_id, title="The port is 9090", expected_updated_at=read.updated_at
    )
    with pytest.raises(ConflictError) as refusal:
        remember.update(vault, mine)
    assert refusal.value.current == msgspec.to_builtins(theirs.updated_at)
    assert vault.memories.get(read.memory_id) == theirs


def listed(vault: Vault, **more: object) -> list[str]:
    params = ListMemoriesParams(**more)  # type: ignore[arg-type]  # tests vary them
    return [one.title for one in Recall(WORDS).list_memories(vault, params).memories]


def test_memories_are_listed_pinned_first_then_the_latest(
    vault: Vault, clock: FixedClock, tmp_path: Path
) -> None:
    """Part of G4."""
    for title in ("one", "two", "three", "four"):
        clock.now += HOUR
        write(vault, title, dedup=False, tags=(title,))
    keys = {one.title: one.memory_id for one in vault.memories.all()}
    remember.update(vault, UpdateParams(memory_id=keys["one"], pinned=True))
    remember.update(vault, UpdateParams(memory_id=keys["three"], status="stale"))
    purge.forget(vault, [keys["four"]], tmp_path)
    assert listed(vault) == ["one", "two"]
    assert listed(vault, statuses=()) == ["one", "(forgotten)", "three", "two"]
    assert listed(vault, statuses=("forgotten",)) == ["(forgotten)"]
    assert listed(vault, statuses=("stale", "active"), limit=2) == ["one", "three"]
    assert listed(vault, pinned=True) == listed(vault, tags=("one",), statuses=()) == ["one"]
    assert listed(vault, pinned=False, statuses=(), types=("fact",), tags=("two",)) == ["two"]
    params = ListMemoriesParams(statuses=(), limit=1)
    assert Recall(WORDS).list_memories(vault, params).total == len(keys)


def test_search_filters(vault: Vault, clock: FixedClock) -> None:
    """D7."""
    write(vault, "Cache the tokens", type_="decision", files=("src/cache.py",), agent_id="cursor")
    clock.pass_(HOUR)
    write(vault, "Never cache the session", type_="constraint", files=("docs/a.md",), tags=("web",))
    assert len(search(vault, "cache")) == 2
    only: dict[str, object] = {
        "types": ("decision",),
        "paths": ("src",),
        "agent_id": "cursor",
        "until": clock.now,
    }
    for name, value in only.items():
        assert search(vault, "cache", WORDS, **{name: value}) == ["Cache the tokens"], name
    assert search(vault, "cache", tags=("web",)) == ["Never cache the session"]
    assert search(vault, "cache", since=clock.now) == ["Never cache the session"]
    assert search(vault, "cache", paths=("src/cac",)) == []
    assert len(search(vault, "cache", top_k=1)) == 1
    assert len(search(vault, "")) == 2


def test_meaning_finds_other_words(vault: Vault) -> None:
    """C7, D7."""
    write(vault, "Customers are billed on the first day of the month", meanings=MEANINGS)
    write(vault, "The parser is generated from the grammar", meanings=MEANINGS)
    write(vault, "Deploys to production need two approvals", meanings=MEANINGS)
    query = "when do clients have to pay their invoices?"
    assert search(vault, query, MEANINGS)[0].startswith("Customers are billed")
    found = Recall(WORDS).search(vault, SearchParams(query="parser"), lambda _: ())
    assert (found.semantic, len(found.memories)) == (False, 1)


def test_the_file_at_hand_helps(vault: Vault) -> None:
    """D7."""
    write(vault, "Retries are limited to keep the queue short", files=("src/queue.py",))
    write(vault, "Retries are limited by the gateway", files=("src/gateway.py",))
    assert search(vault, "retries limited", files_at_hand=("src/gateway.py",))[0].endswith(
        "gateway"
    )
    assert search(vault, "retries limited", files_at_hand=("src/queue.py",))[0].endswith("short")


def test_the_score_is_explained(vault: Vault) -> None:
    """Part of D7."""
    write(vault, "The parser is generated from the grammar")
    found = Recall(WORDS).search(vault, SearchParams(query="parser grammar"), lambda _: ())
    (one,) = found.memories
    assert one.score == pytest.approx(sum(one.why.values()))
    assert one.why["words"] > 0


def test_what_belongs_elsewhere_stays_out(vault: Vault) -> None:
    """Part of C9."""
    there = write(vault, "The parser is written by hand").memory
    write(vault, "The parser is generated from the grammar")
    params = SearchParams(query="parser")
    recall = Recall(WORDS)
    here = recall.search(vault, params, lambda _: {there.memory_id})
    assert [one.memory.title for one in here.memories] == [
        "The parser is generated from the grammar"
    ]
    every = SearchParams(query="parser", all_branches=True)
    assert len(recall.search(vault, every, lambda _: {there.memory_id}).memories) == 2


def test_what_another_process_writes_is_found_at_once(vault: Vault) -> None:
    """Part of D7."""
    recall = Recall(WORDS)
    params = SearchParams(query="parser")
    assert recall.search(vault, params, lambda _: ()).total == 0
    other = reopen(vault)
    memory = write(other, "The parser is generated").memory
    assert recall.search(vault, params, lambda _: ()).memories[0].memory == memory
    remember.update(other, UpdateParams(memory_id=memory.memory_id, status="stale"))
    assert recall.search(vault, params, lambda _: ()).memories == ()
    other.close()


def test_what_was_kept_unredacted_is_not_served(vault: Vault) -> None:
    """E11: a store may be older than a pattern."""
    token = "ghp_" + "a1B2" * 9
    memory = write(vault, "The deploy key is new").memory
    careless = msgspec.structs.replace(
        memory,
        content=f"It is {token}",
        evidence=(Evidence(quote=f"set {token}"),),
        anchors=(Anchor(path=f"{token}/a.py", symbol=token),),
        branch=f"try/{token}",
    )
    event = NewEvent(kind="capture", text="Set the key")
    (placed,) = record.ingest(vault, [event], "test")
    with vault.transaction():
        vault.write([vault.memories.put(memory.memory_id, careless)])
        (kept,) = vault.sessions.events(str(placed.session_id))
        vault.sessions.replace(msgspec.structs.replace(kept, text=f"Set {token}"), [])
    (read,) = remember.read(vault, ReadParams(memory_ids=(memory.memory_id,))).memories
    assert (read.content, read.evidence[0].quote) == ("It is [REDACTED]", "set [REDACTED]")
    assert token.encode() not in msgspec.json.encode(read)
    params = SessionEventsParams(session_id=str(placed.session_id))
    assert timeline.list_events(vault, params).events[0].text == "Set [REDACTED]"
    found = Recall(WORDS).search(vault, SearchParams(query="deploy key"), lambda _: ())
    assert found.memories[0].memory.content == "It is [REDACTED]"


SECRET = "ghp_" + "a1B2" * 9


def test_a_secret_is_kept_in_no_field(vault: Vault) -> None:
    """E11."""
    names = (f"tag {SECRET}",)
    memory = write(
        vault,
        "Deploys need two approvals",
        tags=names,
        entities=names,
        files=names,
        agent_id=SECRET,
        idempotency_key=f"key {SECRET}",
    ).memory
    assert holding(vault.folder, SECRET.encode()) == []
    again = write(vault, "Anything", idempotency_key=f"key {SECRET}")
    assert (again.outcome, again.memory.memory_id) == ("duplicate", memory.memory_id)
    other = write(vault, "Anything else", idempotency_key=f"key {SECRET[:-1]}3")
    assert other.outcome == "created"


def test_texts_at_their_limit_stay_readable(vault: Vault) -> None:
    """Part of H1: a secret's mark may be longer than the secret."""
    address = "postgres://bob:s3cr3t@h/db "
    memory = write(vault, (address * 8)[:200], content=(address * 4000)[:100_000]).memory
    update = UpdateParams(memory_id=memory.memory_id, content=(address * 4000)[:100_000])
    remember.update(vault, update)
    event = NewEvent(kind="capture", text=(address * 4000)[:100_000])
    (placed,) = record.ingest(vault, [event], "test")
    other = reopen(vault)
    assert [one.memory_id for one in other.memories.all()] == [memory.memory_id]
    assert len(other.sessions.events(str(placed.session_id))) == 1
    other.close()


@pytest.mark.parametrize("text", ["   ", "<private>of Ada</private>"])
def test_what_says_nothing_is_no_memory(vault: Vault, text: str) -> None:
    """Part of H4."""
    memory = write(vault, "Deploys need two approvals").memory
    with pytest.raises(InvalidParamsError):
        write(vault, "A title", content=text)
    with pytest.raises(InvalidParamsError):
        remember.update(vault, UpdateParams(memory_id=memory.memory_id, title=text))
    with pytest.raises(NotFoundError):
        write(vault, "Of no session", session_id="0" * 26)
    assert vault.memories.all() == [memory]


def test_one_record_that_cannot_be_read_hides_no_other(vault: Vault) -> None:
    """Part of H1."""
    memory = write(vault, "Deploys need two approvals").memory
    with vault.transaction():
        vault.memories.table.store("0" * 26, b'{"memoryId": 7}', [None] * 4)
    assert reopen(vault).memories.all() == [memory]


def test_new_words_are_not_held_against_the_old_ones(vault: Vault) -> None:
    """Part of D6."""
    memory = write(vault, "The cache is in Redis").memory
    refused = receipts.judge(vault, FeedbackParams(memory_id=memory.memory_id, verdict="wrong"))
    assert refused.feedback == -1
    graded = remember.update(vault, UpdateParams(memory_id=memory.memory_id, importance=4))
    assert graded.feedback == -1
    corrected = UpdateParams(memory_id=memory.memory_id, content="The cache is in Postgres")
    assert remember.update(vault, corrected).feedback == 0
