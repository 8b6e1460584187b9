"""Conversations, checkpoints and recovery: what an assistant knew survives its context window."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from protocol.checkpoints import (
    Checkpoint,
    Checkpointed,
    CheckpointMemory,
    CheckpointParams,
    DigestParams,
    EndParams,
    ListCheckpointsParams,
    Tracked,
    TrackParams,
)
from protocol.contexts import ContextParams, Receipt, Recovery
from protocol.conversations import Conversation, Note
from protocol.events import Commit, FileChange, NewEvent
from protocol.settings import Settings
from sidecar.capture import record, timeline
from sidecar.capture.rules.sessions import Rule
from sidecar.conversations import checkpoints, finish, statements, turns
from sidecar.conversations.checkpoints import Sources
from sidecar.conversations.later import Buffer
from sidecar.conversations.participants import Tools
from sidecar.conversations.rules.conversations import Who
from sidecar.conversations.rules.turns import Signal
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import Vault
from sidecar.upkeep import maintenance, purge
from tests.memory.test_remember import MEANINGS, WORDS
from tests.support import HOUR, MINUTE, NOON, FixedClock, enclose, holding, reopen, save

pytestmark = pytest.mark.slow

SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
WHO = Who(
    agent_id="claude-code",
    harness="claude-code",
    folder=Path("/link/app"),
    real_folder=Path("/work/app"),
)
WORD = ("apples", "bridges", "candles", "dragons", "engines", "forests", "gardens", "harbours")


def hear(text: str, at: datetime) -> Signal:
    """Take every line that says so for a decision, a rule or a task."""
    kinds = {"Decision": "decision", "Rule": "constraint", "Todo": "task"}
    parts = [line.partition(": ") for line in text.splitlines()]
    notes = tuple(
        Note(type=kinds[kind], text=said, said_by="user", at=at)  # type: ignore[arg-type]  # one of them
        for kind, _, said in parts
        if kind in kinds
    )
    return Signal(notes=notes)


def idle(_run: Callable[[], None]) -> None:
    """Start no thread: the test writes when it wants to."""


def tools(**chosen: Any) -> Tools:
    return Tools(settings=Settings(**chosen), hear=hear, meanings=WORDS, buffer=Buffer(start=idle))


TOOLS = tools()


def track(vault: Vault, key: str = "run", using: Tools = TOOLS, **seen: Any) -> Tracked:
    return turns.track(vault, TrackParams(session_key=key, **seen), WHO, using)


def known(vault: Vault, key: str = "run") -> Conversation:
    found = vault.conversations.get(key)
    assert found is not None
    return found


def saved(vault: Vault, key: str | None = None) -> list[Checkpoint]:
    params = ListCheckpointsParams(session_key=key, limit=100)
    return list(checkpoints.list_checkpoints(vault, params).checkpoints)


def checkpoint(vault: Vault, *texts: str, using: Tools = TOOLS, **more: Any) -> Checkpointed:
    given = {"agent_run_id": "run", "agent_id": "opus"} | more
    memories = tuple(CheckpointMemory(content=text) for text in texts)
    return checkpoints.checkpoint(vault, CheckpointParams(memories=memories, **given), WHO, using)


def recover(
    vault: Vault, using: Tools = TOOLS, summary: str | None = None, **asked: Any
) -> Recovery | None:
    sources = Sources(settings=using.settings, summary=summary)
    known = checkpoints.recollect(vault, ContextParams(**asked), WHO, sources)
    return known.tell(using.settings.recovery_budget_chars) if known else None


def lines(vault: Vault) -> int:
    return vault.database.sequence()


def test_what_is_tracked_is_on_the_disk_in_one_line(vault: Vault, clock: FixedClock) -> None:
    """Part of E5."""
    before = lines(vault)
    answer = track(
        vault,
        prompt="Decision: use uv\nHello!",
        response="Todo: write the docs",
        queries=("package managers",),
        remembered=("uv is fast",),
        memory_ids=("0" * 26,),
        files=(
            "/work/app/src/a.py",
            "/link/app/src/b.py",
            "src/c.py",
            "/link/app/.env",
            "/work/app",
        ),
    )
    assert lines(vault) > before
    assert answer == Tracked(session_key="run", prompt_count=1, is_checkpoint_due=False)
    other = reopen(vault)
    assert known(other) == Conversation(
        session_key="run",
        project_id=vault.project_id,
        agent_id="claude-code",
        harness="claude-code",
        project="/link/app",
        project_normalized="/work/app",
        started_at=clock.now,
        last_seen_at=clock.now,
        prompt_count=1,
        prompts=("Decision: use uv Hello!",),
        last_words="Todo: write the docs",
        notes=(Note(type="decision", text="use uv", at=clock.now),),
        queries=("package managers",),
        remembered=("uv is fast",),
        files=("src/c.py", "src/b.py", "src/a.py"),
        used={"0" * 26: 1},
    )
    other.close()


def test_a_report_with_a_key_counts_once(vault: Vault) -> None:
    """Part of E5."""
    track(vault, prompt="Decision: use uv", idempotency_key="hook/1")
    before = lines(vault)
    assert track(vault, prompt="Decision: use uv", idempotency_key="hook/1").prompt_count == 1
    assert lines(vault) == before
    assert track(vault, prompt="again", idempotency_key="hook/2").prompt_count == 2


def test_nothing_private_secret_or_of_ours_is_tracked(vault: Vault) -> None:
    """Part of E11."""
    ours = enclose("Decision: an old one")
    said = f"Decision: the key is {SECRET}\n<private>Decision: hidden</private>\n{ours}"
    track(
        vault,
        key=SECRET,
        prompt=said,
        queries=(said, "<private>gone</private>"),
        remembered=(said,),
        agent_id=f"agent {SECRET}",
    )
    assert holding(vault.folder, SECRET.encode(), b"hidden", b"an old one") == []
    (talk,) = vault.conversations.all()
    assert [one.text for one in talk.notes] == ["the key is [REDACTED]"]
    assert len(talk.queries) == 1
    assert track(vault, key=SECRET, prompt="more").prompt_count == 2


def test_agents_are_known_by_their_conversations(vault: Vault, clock: FixedClock) -> None:
    """Part of E1."""
    track(vault, "a", prompt="x")
    clock.pass_(HOUR)
    track(vault, "b", prompt="x", agent_id="opus", harness="cursor")
    track(vault, "b", prompt="y", harness="cursor")
    checkpoint(
        vault, agent_run_id="b", session_summary="Moved the queue to Postgres. Docs are next."
    )
    agents = vault.agents.by_id()
    assert sorted(agents) == ["claude-code", "opus"]
    assert (agents["claude-code"].conversations, agents["opus"].conversations) == (1, 1)
    assert (agents["claude-code"].label, agents["opus"].label) == ("Claude Code", "Opus")
    assert agents["opus"].harness == "cursor"
    assert agents["claude-code"].last_seen_at == NOON
    assert agents["opus"].last_summary == "Moved the queue to Postgres"
    assert known(vault, "b").agent_id == "opus"


def test_the_tenth_prompt_saves_the_state_once_and_later(vault: Vault, clock: FixedClock) -> None:
    """Part of E5."""
    using = tools()
    for number in range(10):
        answer = track(
            vault, using=using, prompt=f"Decision: use tool {number}", queries=(f"q{number}",)
        )
        assert answer.is_checkpoint_due is (number == 9)
    track(vault, using=using, prompt="Decision: use uv")
    assert saved(vault) == []
    clock.pass_(MINUTE)
    assert using.buffer.flush() == 0
    (made,) = saved(vault)
    assert (made.trigger, made.prompt_count, made.created_at) == ("periodic", 11, clock.now)
    assert made.memory_queries == tuple(f"q{number}" for number in range(10))
    assert "Prompts: 11 | Duration: 1 min" in made.digest
    assert "- use uv" in made.digest
    assert known(vault).queries == ()
    assert (known(vault).checkpointed_prompts, known(vault).checkpointed_at) == (11, clock.now)
    assert track(vault, using=using, prompt="x").is_checkpoint_due is False
    assert using.buffer.flush() == 0
    assert len(saved(vault)) == 1


def test_what_another_process_has_saved_is_not_saved_again(vault: Vault) -> None:
    """Part of E5."""
    one, other = tools(prompt_interval=1), tools(prompt_interval=1)
    track(vault, using=one, prompt="Decision: use uv")
    track(vault, using=other, files=("a.py",))
    assert (one.buffer.flush(), other.buffer.flush()) == (0, 0)
    assert len(saved(vault)) == 1


def test_a_quarter_of_an_hour_saves_the_state(vault: Vault, clock: FixedClock) -> None:
    """Part of E5."""
    using = tools()
    track(vault, using=using, prompt="Decision: use uv")
    clock.pass_(15 * MINUTE)
    assert track(vault, using=using, files=("a.py",)).is_checkpoint_due
    using.buffer.flush()
    assert [one.trigger for one in saved(vault)] == ["periodic"]
    clock.pass_(HOUR)
    assert not track(vault, using=using, files=("b.py",)).is_checkpoint_due


def test_a_checkpoint_that_was_never_written_is_still_due(vault: Vault) -> None:
    """Part of E5."""
    for _ in range(10):
        track(vault, using=tools(), prompt="Decision: use uv")
    after = tools()
    assert saved(vault) == []
    recovered = recover(vault)
    assert recovered is not None
    assert (recovered.checkpoint_id, recovered.lineage) == (None, "path")
    assert recovered.text.count("- Decision: use uv") == 1
    assert track(vault, using=after, prompt="x").is_checkpoint_due
    after.buffer.flush()
    assert [one.prompt_count for one in saved(vault)] == [11]


def test_the_digest_names_memories_commits_and_files(vault: Vault, clock: FixedClock) -> None:
    """Part of E5."""
    record.ingest(vault, [save("src/before.py")], "test")
    clock.pass_(MINUTE)
    result = checkpoint(vault, "Uploads are signed", agent_run_id=None)
    track(vault, prompt="x", memory_ids=(str(result.memories[0].memory_id),))
    clock.pass_(MINUTE)
    commit = Commit(sha="a" * 40, subject="Sign uploads", authored_at=clock.now)
    event = NewEvent(kind="commit", commit=commit, files=(FileChange(path="src/up.py"),))
    record.ingest(vault, [event, save("src/ui.py")], "test")
    made = checkpoints.digest(
        vault, DigestParams(session_key="run", trigger="pre_compaction"), WHO, TOOLS
    ).checkpoint
    assert made is not None
    assert "Top memories used: Uploads are signed (1)" in made.digest
    assert (
        "### Files\n- src/up.py\n- src/ui.py\n### Commits\n- aaaaaaaa Sign uploads" in made.digest
    )
    assert "before.py" not in made.digest


def test_a_checkpoint_keeps_memories_and_a_summary_in_one_line(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of E1, E3 and E4."""
    record.ingest(vault, [save()], "test")
    active = timeline.find_active(vault)
    assert active is not None
    track(vault, prompt="hello", queries=("locks",))
    before = lines(vault)
    result = checkpoint(
        vault,
        "Jobs are locked by Postgres",
        "The port is 8080",
        session_summary="# Summary\nLocked the jobs. Tests are next.",
    )
    assert lines(vault) > before
    assert (result.created, result.skipped, result.superseded, result.failed) == (2, 0, 0, 0)
    assert [one.outcome for one in result.memories] == ["created", "created"]
    first = vault.memories.get(str(result.memories[0].memory_id))
    assert first is not None
    assert (first.title, first.type) == ("Jobs are locked by Postgres", "fact")
    assert (first.agent_id, first.session_id) == ("opus", active.session_id)
    assert (first.importance, first.confidence) == (3, 3)
    assert str(first.idempotency_key).startswith("checkpoint:run:0:")
    summary = vault.memories.get(str(result.summary_id))
    assert summary is not None
    assert (summary.type, summary.title) == ("episodic", "Locked the jobs")
    assert summary.content == "# Summary\nLocked the jobs. Tests are next."
    assert str(summary.idempotency_key).startswith("checkpoint:run:summary:")
    (made,) = saved(vault)
    assert made == Checkpoint(
        id=str(result.checkpoint_id),
        session_key="run",
        agent_id="opus",
        harness="claude-code",
        project="/link/app",
        project_normalized="/work/app",
        trigger="explicit",
        digest=summary.content,
        prompt_count=1,
        memory_queries=("locks",),
        created_at=clock.now,
    )
    assert known(vault).checkpointed_at == clock.now
    assert known(vault).queries == ()


def test_a_retry_makes_nothing_new(vault: Vault, clock: FixedClock) -> None:
    """Part of E2."""
    first = checkpoint(vault, "Apples are red", "Bridges are long", session_summary="Counted.")
    track(vault, prompt="go on")
    before = vault.database.sequence()
    clock.pass_(MINUTE)
    again = checkpoint(vault, "Apples are red", "Bridges are long", session_summary="Counted.")
    assert vault.database.sequence() == before
    assert (again.created, again.skipped) == (0, 2)
    assert [one.memory_id for one in again.memories] == [one.memory_id for one in first.memories]
    assert (again.summary_id, again.checkpoint_id) == (first.summary_id, first.checkpoint_id)


def test_a_second_checkpoint_with_other_content_loses_nothing(vault: Vault) -> None:
    """Part of E2."""
    checkpoint(vault, "Apples are red", "Bridges are long", session_summary="Counted apples.")
    second = checkpoint(vault, "Candles are warm", "Apples are red", session_summary="Lit a fire.")
    assert [one.outcome for one in second.memories] == ["created", "skipped"]
    contents = sorted(one.content for one in vault.memories.all())
    assert contents == [
        "Apples are red",
        "Bridges are long",
        "Candles are warm",
        "Counted apples.",
        "Lit a fire.",
    ]
    assert all(one.status == "active" for one in vault.memories.all())
    assert len(saved(vault)) == 2


def test_what_is_superseded_does_not_come_back_by_a_retry(vault: Vault) -> None:
    """Part of E2."""
    checkpoint(vault, "Uploads go through the gateway")
    newer = checkpoint(vault, "Uploads go through the gateway, which signs uploads")
    assert (newer.created, newer.superseded) == (0, 1)
    again = checkpoint(vault, "Apples are red", "Uploads go through the gateway")
    assert [one.outcome for one in again.memories] == ["created", "skipped"]
    assert len(vault.memories) == 3


def test_an_item_that_cannot_be_kept_stops_no_other(vault: Vault) -> None:
    """Part of E1."""
    result = checkpoint(
        vault,
        "<private>only for me</private>",
        "Apples are red",
        enclose("told before"),
    )
    assert [one.outcome for one in result.memories] == ["failed", "created", "failed"]
    assert result.memories[0].reason
    assert (result.created, result.failed) == (1, 2)


def test_without_dedup_everything_is_kept(vault: Vault) -> None:
    """Part of E1."""
    result = checkpoint(vault, "Apples are red", "Apples are red", dedup=False)
    assert result.created == 2
    again = checkpoint(vault, "Apples are red", "Apples are red", dedup=False)
    assert (again.created, again.skipped) == (0, 2)
    assert len(vault.memories) == 2
    other = checkpoint(vault, "Apples are red", dedup=False, agent_run_id="another")
    assert other.created == 1


@pytest.mark.parametrize("meanings", [WORDS, MEANINGS], ids=["words", "meaning"])
def test_what_others_have_said_is_skipped(vault: Vault, meanings: Any) -> None:
    """Part of E1."""
    using = Tools(settings=Settings(), hear=hear, meanings=meanings, buffer=Buffer(start=idle))
    checkpoint(vault, "Uploads go through the gateway", agent_run_id="one", using=using)
    result = checkpoint(vault, "Uploads go through the gateway.", agent_run_id="two", using=using)
    assert result.skipped == 1
    assert len(vault.memories) == 1
    assert vault.vectors.count() <= 1


def test_without_a_run_memories_are_kept_all_the_same(vault: Vault) -> None:
    """Part of E1."""
    result = checkpoint(vault, "Apples are red", session_summary="Done.", agent_run_id=None)
    assert (result.created, result.checkpoint_id) == (1, None)
    assert result.summary_id is not None
    assert vault.conversations.all() == []


def test_a_checkpoint_without_anything_tells_what_was_seen(vault: Vault) -> None:
    """Part of E1."""
    track(vault, prompt="Decision: use uv")
    result = checkpoint(vault)
    assert checkpoint(vault).checkpoint_id == result.checkpoint_id
    (made,) = saved(vault)
    assert "- use uv" in made.digest
    track(vault, prompt="Decision: use pip")
    assert checkpoint(vault).checkpoint_id != result.checkpoint_id


sent = st.lists(st.sampled_from(WORD), min_size=0, max_size=4, unique=True)


@pytest.mark.parametrize("dedup", [True, False])
@settings(
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(sequence=st.lists(sent, min_size=1, max_size=8), data=st.data())
def test_any_sequence_of_checkpoints_and_retries_keeps_each_content_once(
    tmp_path_factory: pytest.TempPathFactory,
    dedup: bool,
    sequence: list[list[str]],
    data: st.DataObject,
) -> None:
    """Part of E2."""
    folder = tmp_path_factory.mktemp("vault") / "vault"
    vault = Vault(folder, "p", Ids(FixedClock()), Rule())
    retries = data.draw(st.lists(st.sampled_from(sequence), max_size=6))
    places = [data.draw(st.integers(0, len(sequence))) for _ in retries]
    for place, retry in zip(places, retries, strict=True):
        sequence = [*sequence[:place], retry, *sequence[place:]]
    for words in sequence:
        result = checkpoint(vault, *(f"{word} {word} {word}" for word in words), dedup=dedup)
        assert result.created + result.skipped == len(words)
    contents = [one.content for one in vault.memories.all()]
    wanted = {f"{word} {word} {word}" for words in sequence for word in words}
    if not dedup:
        placed = {(at, word) for words in sequence for at, word in enumerate(words)}
        assert len(contents) == len(placed)
    else:
        assert len(contents) == len(wanted)
    assert set(contents) == wanted
    vault.close()


def test_what_another_kept_meanwhile_is_seen(vault: Vault) -> None:
    """Part of E2."""
    author = statements.sign(vault, "run", WHO)
    wanted = [statements.make(vault, CheckpointMemory(content="Apples are red"), 0, author)]
    decision = statements.decide(vault, wanted, author, WORDS)
    track(vault, prompt="nothing that concerns memories")
    assert statements.is_current(vault, decision)
    other = reopen(vault)
    checkpoint(other, "Apples are red")
    assert not statements.is_current(vault, decision)
    result = statements.write(vault, wanted, author, meanings=WORDS, along=list)
    assert [one.outcome for one in result] == ["skipped"]
    other.close()


def test_a_run_is_not_taken_for_one_whose_name_begins_like_it(vault: Vault) -> None:
    """Part of E2."""
    checkpoint(vault, "Apples are red", agent_run_id="run:0")
    checkpoint(vault, "Apples are red, all of them are", agent_run_id="run:0")
    assert checkpoint(vault, "Apples are red", agent_run_id="run", dedup=False).created == 1


def test_two_writers_that_retry_at_once_keep_each_content_once(vault: Vault) -> None:
    """Part of E2."""
    vaults = [reopen(vault) for _ in range(4)]
    texts = [f"{word} {word}" for word in WORD]
    threads = [
        threading.Thread(target=lambda one=one: [checkpoint(one, *texts) for _ in range(3)])
        for one in vaults
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.content for one in vault.memories.all()) == sorted(texts)
    assert len(saved(vault)) == 1
    for one in vaults:
        one.close()


def test_a_narrative_is_kept_word_by_word(vault: Vault) -> None:
    """Part of E7."""
    words = "  ## Where I stand\n\n- Decided: *uv*\n- Blocked by CI\n\ttabs and  spaces\n"
    params = DigestParams(session_key="run", digest=f"{words}token {SECRET}")
    made = checkpoints.digest(vault, params, WHO, TOOLS).checkpoint
    assert made is not None
    assert made.digest == f"{words}token [REDACTED]"
    assert made.trigger == "agent"
    assert saved(reopen(vault)) == [made]
    assert checkpoints.digest(vault, params, WHO, TOOLS).checkpoint == made
    assert len(saved(vault)) == 1
    explicit = msgspec.structs.replace(params, trigger="explicit")
    again = checkpoints.digest(vault, explicit, WHO, TOOLS).checkpoint
    assert again is not None
    assert again.trigger == "explicit"
    assert len(saved(vault)) == 2


def test_before_a_compaction_everything_known_is_saved_at_once(vault: Vault) -> None:
    """Part of E8."""
    track(vault, prompt="Rule: never push to main", queries=("branches",))
    params = DigestParams(
        session_key="run", trigger="pre_compaction", digest=f"At step 3 with {SECRET}"
    )
    made = checkpoints.digest(vault, params, WHO, TOOLS).checkpoint
    assert made is not None
    assert (made.trigger, made.memory_queries) == ("pre_compaction", ("branches",))
    assert "- never push to main" in made.digest
    assert made.digest.endswith("At step 3 with [REDACTED]")
    recovered = recover(vault, session_key="run", occasion="compact")
    assert recovered is not None
    assert (recovered.lineage, recovered.checkpoint_id) == ("conversation", made.id)
    assert "never push to main" in recovered.text
    assert "At step 3" in recovered.text


def test_a_compaction_that_nobody_announced_is_recovered_from(vault: Vault) -> None:
    """Part of E8."""
    for prompt in ("Rule: never push to main", "Decision: use uv", "Todo: write the docs"):
        track(vault, prompt=prompt)
    recovered = recover(vault, session_key="run", occasion="compact")
    assert recovered is not None
    assert recovered.checkpoint_id is None
    dropped = recover(
        vault,
        session_key="run",
        occasion="compact",
        summary="Its decision: use uv. Nothing else.",
    )
    assert dropped is not None
    assert dropped.dropped_only
    assert "use uv" in recovered.text
    assert "use uv" not in dropped.text
    assert "never push to main" in dropped.text
    assert recover(vault, session_key="run", occasion="compact", summary=recovered.text) is None


def test_a_new_conversation_is_told_where_the_last_one_stood(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of E6."""
    track(vault, "first", prompt="Decision: use uv")
    track(vault, "second", prompt="Decision: use pip")
    clock.pass_(MINUTE)
    checkpoint(vault, agent_run_id="second", session_summary="Chose pip.")
    clock.pass_(MINUTE)
    by_path = recover(vault, session_key="new")
    assert by_path is not None
    assert (by_path.session_key, by_path.lineage) == ("second", "path")
    assert by_path.text.startswith("## Session Recovery Context\n")
    by_lineage = recover(vault, session_key="new", previous_session_key="first")
    assert by_lineage is not None
    assert (by_lineage.session_key, by_lineage.lineage) == ("first", "previous")
    clock.pass_(4 * HOUR)
    assert recover(vault, session_key="new", previous_session_key="first") is None
    longer = tools(recovery_window_ms=5 * 3_600_000)
    assert recover(vault, longer, session_key="new") is not None


def test_recovery_has_the_prompts_word_by_word_the_newest_first(
    vault: Vault, clock: FixedClock
) -> None:
    """Part of E6."""
    said = ["Make the importer read gzip files, too.", "Why is it slow?", "Now  the docs\nplease."]
    for prompt in said:
        track(vault, prompt=prompt, response="I decided to rewrite everything in Rust.")
        clock.pass_(MINUTE)
        checkpoints.digest(
            vault, DigestParams(session_key="run", trigger="pre_compaction"), WHO, TOOLS
        )
    track(vault, prompt="Go on with the second file.")
    recovered = recover(vault, session_key="run", occasion="compact")
    assert recovered is not None
    lines = recovered.text.splitlines()
    start = lines.index("Prompts, the newest first:")
    assert lines[start + 1 : start + 5] == [
        "- Go on with the second file.",
        "- Now the docs please.",
        "- Why is it slow?",
        "- Make the importer read gzip files, too.",
    ]
    # What the agent said last comes after all that its user said.
    assert lines[start + 5 : start + 7] == [
        "The agent's last words:",
        "- I decided to rewrite everything in Rust.",
    ]


def test_small_talk_hides_no_earlier_work(vault: Vault, clock: FixedClock) -> None:
    """Part of E6."""
    track(vault, "first", prompt="Decision: use uv")
    clock.pass_(MINUTE)
    track(vault, "second", prompt="hello")
    track(vault, "third", prompt="thanks!")
    finish.end(vault, EndParams(session_key="third"), WHO, TOOLS)
    recovered = recover(vault, session_key="new", previous_session_key="second")
    assert recovered is not None
    assert (recovered.session_key, recovered.lineage) == ("first", "path")
    assert recover(vault, session_key="second", occasion="compact") is None


def test_recovery_keeps_to_its_room(vault: Vault) -> None:
    """Part of E6 and E9."""
    for number in range(90):
        track(vault, prompt=f"Decision: use tool number {number} for what it is good at")
    checkpoints.digest(vault, DigestParams(session_key="run", digest="words. " * 9000), WHO, TOOLS)
    for budget in (200, 2000, 5000):
        recovered = recover(vault, tools(recovery_budget_chars=budget))
        assert recovered is not None
        assert budget * 0.6 < len(recovered.text) <= budget


def test_secrets_that_are_known_today_are_not_served(vault: Vault) -> None:
    """Part of E11 and E10."""
    track(vault, prompt="Decision: use uv")
    checkpoint(vault, session_summary="Chose uv.")
    (made,) = vault.checkpoints.all()
    talk = known(vault)
    leak = Note(type="decision", text=f"the key is {SECRET}", at=NOON)
    with vault.transaction():
        old = msgspec.structs.replace(made, digest=SECRET, memory_queries=(SECRET,))
        ops = [
            vault.checkpoints.put(made.id, old),
            vault.conversations.put("run", msgspec.structs.replace(talk, notes=(leak,))),
        ]
        vault.write(ops)
    assert SECRET not in str(saved(vault))
    recovered = recover(vault)
    assert recovered is not None
    assert "the key is [REDACTED]" in recovered.text
    assert SECRET not in recovered.text


def test_the_end_is_saved_once(vault: Vault, clock: FixedClock) -> None:
    """Part of E5 and E1."""
    using = tools()
    for _ in range(10):
        track(vault, using=using, prompt="Decision: use uv")
    clock.pass_(MINUTE)
    params = EndParams(session_key="run", session_summary="Chose uv. Docs are next.")
    made = finish.end(vault, params, WHO, using).checkpoint
    assert made is not None
    assert made.trigger == "session_end"
    assert made.digest.startswith("Chose uv. Docs are next.\n\n## Session Checkpoint")
    assert sorted(one.trigger for one in saved(vault)) == ["periodic", "session_end"]
    assert known(vault).ended_at == clock.now
    (summary,) = vault.memories.all()
    assert (summary.type, summary.title, summary.agent_id) == (
        "episodic",
        "Chose uv",
        "claude-code",
    )
    before = lines(vault)
    clock.pass_(MINUTE)
    assert finish.end(vault, params, WHO, using).checkpoint == made
    assert finish.end(vault, EndParams(session_key="run"), WHO, using).checkpoint == made
    assert lines(vault) == before
    clock.pass_(MINUTE)
    track(vault, using=using, prompt="Decision: use pip")
    assert known(vault).ended_at is None
    later = finish.end(vault, EndParams(session_key="run"), WHO, using).checkpoint
    assert later is not None
    assert later.id != made.id
    recovered = recover(vault, session_key="new")
    assert recovered is not None
    assert "Chose uv. Docs are next." in recovered.text


def test_the_end_of_what_nobody_knows_makes_no_checkpoint(vault: Vault) -> None:
    """Part of E5."""
    assert finish.end(vault, EndParams(session_key="run"), WHO, TOOLS).checkpoint is None
    assert vault.conversations.all() == []


def test_turned_off_nothing_is_saved_or_recovered(vault: Vault) -> None:
    """Part of E9."""
    off = tools(continuity_enabled=False)
    track(vault, prompt="Decision: use uv")
    before = vault.conversations.all()
    ignored = track(vault, using=off, prompt="Decision: use pip")
    assert (ignored.prompt_count, ignored.is_kept) == (1, False)
    said = DigestParams(session_key="run", digest="words")
    assert checkpoints.digest(vault, said, WHO, off).checkpoint is None
    assert recover(vault, off) is None
    result = checkpoint(vault, "Apples are red", using=off)
    assert (result.created, result.checkpoint_id) == (1, None)
    ended = finish.end(vault, EndParams(session_key="run", session_summary="Done."), WHO, off)
    assert ended.checkpoint is None
    assert vault.conversations.all() == before
    assert len(vault.memories) == 2
    assert vault.checkpoints.all() == []


def test_too_many_checkpoints_go_as_new_ones_come(vault: Vault, clock: FixedClock) -> None:
    """Part of E9."""
    few = tools(max_checkpoints_per_session=3)
    for number in range(6):
        clock.pass_(MINUTE)
        words = DigestParams(session_key="run", digest=f"words {number}")
        checkpoints.digest(vault, words, WHO, few)
    assert [one.digest for one in saved(vault)] == ["words 5", "words 4", "words 3"]


def receipt(number: int, at: datetime) -> Receipt:
    return Receipt(
        receipt_id=f"{number:04}",
        project_id="p",
        agent_id="opus",
        mode="default",
        chars=1,
        cap=1,
        given_at=at,
        last_given_at=at,
    )


def test_maintenance_drops_what_is_too_old_or_too_many(vault: Vault, clock: FixedClock) -> None:
    """Part of E9."""
    track(vault, prompt="Decision: use uv", queries=("q",), files=("a.py",), memory_ids=("0" * 26,))
    checkpoint(vault, session_summary="Chose uv.")
    with vault.transaction():
        receipts = [receipt(number, clock.now + number * MINUTE) for number in range(1003)]
        vault.write([vault.receipts.put(one.receipt_id, one) for one in receipts])
    maintenance.maintain(vault, Settings())
    assert min(vault.receipts.ids()) == "0003"
    assert len(saved(vault)) == 1
    clock.pass_(timedelta(days=8))
    track(vault, "fresh", prompt="Decision: use pip")
    maintenance.maintain(vault, Settings())
    assert saved(vault) == []
    old = known(vault)
    assert (old.notes, old.queries, old.files) == ((), (), ())
    assert (old.prompt_count, old.used) == (1, {"0" * 26: 1})
    assert known(vault, "fresh").notes
    assert len(vault.receipts) == 1000
    assert finish.prune(vault, Settings()) == 0
    clock.pass_(timedelta(days=28))
    maintenance.maintain(vault, Settings())
    assert vault.receipts.all() == []
    assert "Chose uv" in [one.title for one in vault.memories.all()]


def test_checkpoints_are_listed_newest_first(vault: Vault, clock: FixedClock) -> None:
    """Part of E10."""
    for number in range(12):
        clock.pass_(MINUTE)
        key = "even" if number % 2 == 0 else "odd"
        checkpoints.digest(vault, DigestParams(session_key=key, digest=f"{number}"), WHO, TOOLS)
    listed = checkpoints.list_checkpoints(vault, ListCheckpointsParams())
    assert [one.digest for one in listed.checkpoints] == [str(one) for one in range(11, 1, -1)]
    assert listed.total == 12
    odd = checkpoints.list_checkpoints(vault, ListCheckpointsParams(session_key="odd", limit=2))
    assert ([one.digest for one in odd.checkpoints], odd.total) == (["11", "9"], 6)
    none = checkpoints.list_checkpoints(vault, ListCheckpointsParams(session_key="none"))
    assert (none.checkpoints, none.total) == ((), 0)


def test_what_is_forgotten_leaves_conversations_and_checkpoints(
    vault: Vault, tmp_path: Path
) -> None:
    """Part of H3."""
    words = "The launch code is swordfish and nobody else may hear of it. " * 12
    result = checkpoint(vault, words, "Apples are red")
    memory_id = str(result.memories[0].memory_id)
    track(vault, remembered=(words,), prompt="x", memory_ids=(memory_id,), queries=("swordfish",))
    checkpoints.digest(vault, DigestParams(session_key="run", trigger="pre_compaction"), WHO, TOOLS)
    report = purge.forget(vault, [memory_id], tmp_path / "logs")
    assert report.verified
    assert not holding(vault.folder, b"launch code")
    assert holding(vault.folder, b"Apples are red")
    assert holding(vault.folder, b"swordfish")
    assert purge.forget_phrase(vault, "swordfish", tmp_path / "logs").verified
    assert not holding(vault.folder, b"swordfish")
    assert "[FORGOTTEN]" in str(saved(vault))
