"""Continuity: what is kept of a conversation, when it is saved, and what of it is told again."""

from datetime import datetime, timedelta
from pathlib import PurePath

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.checkpoints import Checkpoint, CheckpointMemory, Trigger
from protocol.conversations import Agent, Conversation, Note, Speaker
from protocol.events import Commit
from protocol.memories import MemoryType
from protocol.settings import Settings
from sidecar.conversations.rules import checkpoints, conversations, recovery
from sidecar.conversations.rules.checkpoints import Work
from sidecar.conversations.rules.conversations import Report, Who
from sidecar.conversations.rules.recovery import Start, Trail
from sidecar.privacy import cleaning
from tests.support import HOUR, MINUTE, NOON, enclose

WHO = Who(
    agent_id="claude-code",
    harness="claude-code",
    folder=PurePath("/link/app"),
    real_folder=PurePath("/work/app"),
)
DEFAULT = Settings()
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
texts = st.text(max_size=60)


def talk(key: str = "run-1", **changes: object) -> Conversation:
    return msgspec.structs.replace(conversations.begin(key, "p", WHO, NOON), **changes)


def note(
    text: str, type_: MemoryType = "decision", *, by: Speaker = "user", at: datetime = NOON
) -> Note:
    return Note(type=type_, text=text, said_by=by, at=at)


def checkpoint(
    number: int = 0,
    *,
    key: str = "run-1",
    trigger: Trigger = "periodic",
    digest: str = "## Session Checkpoint",
    at: datetime = NOON,
) -> Checkpoint:
    return checkpoints.make(talk(key), trigger, digest, identifier=f"{number:04}", now=at)


@given(st.lists(st.tuples(texts, st.sampled_from(["decision", "task"]))), st.integers(0, 3))
def test_notes_stay_few_and_say_nothing_twice(
    said: list[tuple[str, MemoryType]], size: int
) -> None:
    """Part of E5."""
    kept = talk()
    for start in range(0, len(said), size + 1):
        notes = tuple(note(text, type_) for text, type_ in said[start : start + size + 1])
        kept = conversations.told(kept, Report(notes=notes), NOON)
    names = [conversations.same(one.text) for one in kept.notes]
    assert len(names) == len(set(names)) <= conversations.NOTES
    expected = {conversations.same(conversations.bounded(text)) for text, _ in said} - {""}
    assert set(names) <= expected
    assert len(names) == min(len(expected), conversations.NOTES)


@given(st.lists(texts, max_size=40), st.lists(texts, max_size=40))
def test_the_latest_queries_and_remembers_stay(first: list[str], second: list[str]) -> None:
    """Part of E5."""
    kept = conversations.told(talk(), Report(queries=tuple(first), remembered=tuple(first)), NOON)
    kept = conversations.told(kept, Report(queries=tuple(second), remembered=tuple(second)), NOON)
    assert len(kept.queries) <= 20
    assert len(kept.remembered) <= 10
    said = [text for text in map(conversations.bounded, second) if conversations.same(text)]
    if said:
        assert kept.queries[-1] == kept.remembered[-1] == said[-1]


def test_a_conversation_stays_small_however_much_is_told() -> None:
    """Part of E5."""
    kept = talk()
    for number in range(300):
        report = Report(
            key=f"{number}" * 100,
            prompts=1,
            notes=(note(f"{number} " + "long " * 500),),
            queries=(f"{number} " + "long " * 500,),
            remembered=(f"{number} " + "long " * 500,),
            files=tuple(f"src/{number}/{one}.py" for one in range(5)),
            memory_ids=tuple(f"{number}-{one}" for one in range(5)),
        )
        kept = conversations.told(kept, report, NOON + number * MINUTE)
    assert kept.prompt_count == 300
    assert (len(kept.notes), len(kept.queries), len(kept.remembered)) == (100, 20, 10)
    assert (len(kept.files), len(kept.heard), len(kept.used)) == (50, 50, 500)
    assert kept.files[0] == "src/299/4.py"
    assert kept.notes[-1].text.startswith("299 ")
    assert kept.queries[-1].startswith("299 ")
    assert all(len(one.text) <= 500 for one in kept.notes)
    assert kept.last_seen_at == NOON + 299 * MINUTE
    assert len(msgspec.json.encode(kept)) < 120_000


def test_a_report_that_comes_again_changes_nothing() -> None:
    """Part of E5."""
    report = Report(key="hook/1", prompts=1, notes=(note("Use uv"),), memory_ids=("m",))
    once = conversations.told(talk(), report, NOON)
    assert conversations.told(once, report, NOON + HOUR) is once
    other = conversations.told(once, msgspec.structs.replace(report, key="hook/2"), NOON)
    assert (other.prompt_count, other.used, len(other.notes)) == (2, {"m": 2}, 1)
    assert "hook" not in " ".join(once.heard)


def test_what_is_said_again_counts_as_said_now_and_as_its_users() -> None:
    """Part of E5."""
    first = Report(notes=(note("Use uv."), note("Never push to main", "constraint")))
    again = Report(notes=(note("use  uv", by="assistant", at=NOON + HOUR),))
    kept = conversations.told(conversations.told(talk(), first, NOON), again, NOON + HOUR)
    assert kept.notes == (
        note("Never push to main", "constraint"),
        note("use uv", by="user", at=NOON + HOUR),
    )


def test_a_conversation_that_was_over_goes_on_only_by_what_came_later() -> None:
    """Part of E5."""
    over = talk(ended_at=NOON + HOUR)
    assert conversations.seen(over, NOON).ended_at == NOON + HOUR
    assert conversations.seen(over, NOON + 2 * HOUR).ended_at is None


@pytest.mark.parametrize(
    ("prompts", "saved_prompts", "saved_at", "now", "is_due"),
    [
        (9, 0, None, NOON + MINUTE, False),
        (10, 0, None, NOON + MINUTE, True),
        (19, 10, NOON, NOON + 14 * MINUTE, False),
        (20, 10, NOON, NOON + MINUTE, True),
        (1, 0, None, NOON + 15 * MINUTE, True),
        (1, 0, None, NOON + 15 * MINUTE - timedelta(milliseconds=1), False),
        (0, 0, None, NOON + 5 * HOUR, False),
        (11, 10, NOON + HOUR, NOON + HOUR + 15 * MINUTE, True),
        (10, 10, NOON, NOON + 5 * HOUR, False),
    ],
)
def test_a_checkpoint_is_due_after_prompts_or_time(
    prompts: int, saved_prompts: int, saved_at: datetime | None, now: datetime, is_due: bool
) -> None:
    """Part of E5."""
    of = talk(prompt_count=prompts, checkpointed_prompts=saved_prompts, checkpointed_at=saved_at)
    assert conversations.is_due(of, DEFAULT, now) is is_due


def test_settings_say_when_a_checkpoint_is_due() -> None:
    """Part of E9."""
    of = talk(prompt_count=2)
    assert conversations.is_due(of, Settings(prompt_interval=2), NOON)
    assert conversations.is_due(of, Settings(time_interval_ms=60_000), NOON + MINUTE)
    assert not conversations.is_due(of, DEFAULT, NOON + MINUTE)


def test_a_checkpoint_has_all_its_fields() -> None:
    """Part of E4."""
    of = talk(prompt_count=3, queries=("jobs",), remembered=("use uv",))
    made = checkpoints.make(of, "agent", "words", identifier="id", now=NOON)
    assert msgspec.to_builtins(made) == {
        "id": "id",
        "sessionKey": "run-1",
        "agentId": "claude-code",
        "harness": "claude-code",
        "project": "/link/app",
        "projectNormalized": "/work/app",
        "trigger": "agent",
        "digest": "words",
        "promptCount": 3,
        "memoryQueries": ("jobs",),
        "recentRemembers": ("use uv",),
        "createdAt": "2026-03-02T12:00:00Z",
    }


@pytest.mark.parametrize(
    ("trigger", "prompts"), [("periodic", 7), ("pre_compaction", 7), ("agent", 0), ("explicit", 0)]
)
def test_a_saved_conversation_counts_anew(trigger: Trigger, prompts: int) -> None:
    """Part of E5."""
    of = talk(prompt_count=7, queries=("a",), remembered=("b",), notes=(note("c"),))
    marked = checkpoints.mark(of, trigger, NOON + HOUR)
    assert marked == msgspec.structs.replace(
        of, queries=(), remembered=(), checkpointed_prompts=prompts, checkpointed_at=NOON + HOUR
    )


def test_the_passive_digest_tells_what_was_seen() -> None:
    """Part of E5."""
    of = talk(
        prompt_count=12,
        queries=("job locks", "retries"),
        remembered=("deploys are on Fridays",),
        notes=(
            note("Use advisory locks"),
            note("Never hold a lock over a call", "constraint"),
            note("Document the lock", "task"),
            note("The queue has 3 workers", "fact", by="assistant"),
        ),
        files=("src/jobs.py",),
        used={"m1": 1, "m2": 3, "gone": 9},
        last_seen_at=NOON + 65 * MINUTE,
    )
    work = Work(
        commits=(Commit(sha="a" * 40, subject="Lock jobs", authored_at=NOON),),
        files=("src/jobs.py", "src/locks.py"),
    )
    titles = {"m1": "Ports", "m2": "Uploads"}
    assert checkpoints.describe(of, work, titles, NOON + HOUR) == (
        "## Session Checkpoint\n"
        "Project: /link/app\n"
        "Prompts: 12 | Duration: 1 h 5 min\n"
        "### Memory Activity Since Last Checkpoint\n"
        "Queries: job locks; retries\n"
        "Remembered: deploys are on Fridays\n"
        "Top memories used: Uploads (3); Ports (1)\n"
        "### Constraints\n- Never hold a lock over a call\n"
        "### Decisions\n- Use advisory locks\n"
        "### Open\n- Document the lock\n"
        "### Also said\n- The queue has 3 workers\n"
        "### Files\n- src/jobs.py\n- src/locks.py\n"
        "### Commits\n- aaaaaaaa Lock jobs"
    )


def test_a_hosts_words_are_found_again_in_the_emergency_checkpoint() -> None:
    """Part of E8."""
    described = checkpoints.describe(talk(), Work(), {}, NOON)
    whole = checkpoints.before_compaction(described, "We were at step 3.\n### More\nand 4")
    made = checkpoint(trigger="pre_compaction", digest=whole)
    assert whole.startswith("## Session Checkpoint")
    assert checkpoints.hosts_words(made) == "We were at step 3.\n### More\nand 4"
    assert checkpoints.before_compaction(described, " \n") == described
    assert checkpoints.hosts_words(checkpoint(trigger="agent", digest=whole)) == ""


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.integers(0, 12 * 24)), max_size=60),
    st.integers(1, 5),
)
def test_the_oldest_checkpoints_go_and_the_newest_stay(
    made: list[tuple[str, int]], most: int
) -> None:
    """Part of E9."""
    saved = [
        checkpoint(number, key=key, at=NOON - hours * HOUR)
        for number, (key, hours) in enumerate(made)
    ]
    settings = Settings(max_checkpoints_per_session=most, retention_days=7)
    gone = set(checkpoints.surplus(saved, settings, NOON))
    for key in "abc":
        mine = sorted(
            (one for one in saved if one.session_key == key),
            key=lambda one: (one.created_at, one.id),
            reverse=True,
        )
        kept = [one for one in mine if one.id not in gone]
        assert kept == [one for one in mine if NOON - one.created_at <= timedelta(days=7)][:most]


def test_fifty_checkpoints_of_a_conversation_stay_for_seven_days() -> None:
    """Part of E9."""
    saved = [checkpoint(number, at=NOON - number * MINUTE) for number in range(60)]
    assert checkpoints.surplus(saved, DEFAULT, NOON) == [f"{number:04}" for number in range(50, 60)]
    assert checkpoints.surplus(saved[:1], DEFAULT, NOON + timedelta(days=7)) == []
    late = NOON + timedelta(days=7, seconds=1)
    assert checkpoints.surplus(saved[:1], DEFAULT, late) == ["0000"]


def test_the_key_of_a_memory_names_its_run_its_place_and_its_words() -> None:
    """Part of E2."""
    one, other = CheckpointMemory(content="Use uv"), CheckpointMemory(content="Use pip")
    assert checkpoints.key("run", 3, one).startswith("checkpoint:run:3:")
    names = {
        checkpoints.key(run, index, memory)
        for run in ("run", "other")
        for index in (0, 1)
        for memory in (one, other)
    }
    assert len(names) == 8
    assert checkpoints.key("run", 3, one) == checkpoints.key(
        "run", 3, CheckpointMemory(content="Use uv")
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We moved the queue to Postgres. Then we tested it.", "We moved the queue to Postgres"),
        (
            "# Session Summary\n\n- Added retries to uploads\n- Next: docs",
            "Added retries to uploads",
        ),
        ("Summary: the parser survives bad input.", "The parser survives bad input"),
        ("**Done:** locks are taken in order", "Locks are taken in order"),
        ("1. Fix the flaky test", "Fix the flaky test"),
        ("---\n\n", "What happened in this conversation"),
        ("移行が完了しました。次はテスト。", "移行が完了しました"),
    ],
)
def test_a_summary_gets_a_headline(text: str, expected: str) -> None:
    """Part of E3."""
    assert checkpoints.headline(text) == expected


@given(st.text(max_size=400))
def test_every_headline_is_a_title(text: str) -> None:
    """Part of E3."""
    assert 1 <= len(checkpoints.headline(text)) <= 200


def test_our_own_words_and_secrets_are_not_kept() -> None:
    """Part of E11."""
    said = f"Use uv {enclose('Old memory')} <private>x</private>with {SECRET}"
    kept = conversations.kept(said)
    assert kept == cleaning.clean(f"Use uv  with {SECRET}")
    assert SECRET not in kept
    assert conversations.known_as("run-1") == "run-1"
    assert conversations.known_as(SECRET).startswith("hashed:")


def test_an_agent_is_known_again() -> None:
    """Part of E1."""
    first = conversations.greet(None, WHO, "p", NOON)
    assert first == Agent(
        agent_id="claude-code",
        project_id="p",
        label="Claude Code",
        harness="claude-code",
        first_seen_at=NOON,
        last_seen_at=NOON,
    )
    later = conversations.greet(first, WHO, "p", NOON + HOUR)
    assert later == msgspec.structs.replace(first, last_seen_at=NOON + HOUR)


def start(key: str | None = None, previous: str | None = None, folder: str = "/work/app") -> Start:
    return Start(
        project_normalized=folder,
        session_key=key,
        previous_session_key=previous,
        since=NOON - 4 * HOUR,
    )


def found(
    known: list[Conversation], saved: list[Checkpoint], start: Start
) -> tuple[str, str] | None:
    choice = next(recovery.choose(recovery.trails(known, saved), start), None)
    return None if choice is None else (choice.trail.session_key, choice.lineage)


def test_lineage_goes_before_the_folder() -> None:
    """Part of E6."""
    known = [
        talk("old", prompt_count=1, last_seen_at=NOON - 2 * HOUR),
        talk("near", prompt_count=1, last_seen_at=NOON - HOUR),
        talk("own", prompt_count=1, last_seen_at=NOON - 3 * HOUR),
        talk("new"),
    ]
    assert found(known, [], start("own", "old")) == ("own", "conversation")
    assert found(known, [], start("new", "old")) == ("old", "previous")
    assert found(known, [], start("new", "unknown")) == ("near", "path")
    assert found(known, [], start("unknown")) == ("near", "path")
    assert found(known, [], start()) == ("near", "path")


@pytest.mark.parametrize("folder", ["/work", "/work/app/", "/work/app2", "/work/app/src"])
def test_only_the_very_same_folder_counts(folder: str) -> None:
    """Part of E6."""
    known = [talk(prompt_count=1)]
    assert found(known, [checkpoint()], start(folder=folder)) is None
    assert found(known, [checkpoint()], start()) == ("run-1", "path")


def test_nothing_older_than_the_window_is_recovered() -> None:
    """Part of E6."""
    exact, older = NOON - 4 * HOUR, NOON - 4 * HOUR - timedelta(seconds=1)
    assert found([], [checkpoint(at=exact)], start()) == ("run-1", "path")
    assert found([], [checkpoint(at=older)], start()) is None
    assert found([], [checkpoint(at=older)], start("run-1")) is None
    assert found([talk(prompt_count=1, last_seen_at=older)], [], start(previous="run-1")) is None


def test_a_conversation_of_which_nothing_is_known_is_not_continued() -> None:
    """Part of E6."""
    assert found([talk()], [], start()) is None
    assert found([talk(notes=(note("Use uv"),))], [], start()) == ("run-1", "path")
    assert found([talk()], [checkpoint()], start()) == ("run-1", "path")


def test_a_chain_of_conversations_is_followed_and_a_circle_survived() -> None:
    """Part of E6."""
    known = [
        talk("a", previous_session_key="b"),
        talk("b", previous_session_key="c"),
        talk("c", prompt_count=1, project_normalized="/elsewhere"),
    ]
    assert found(known, [], start("a")) == ("c", "previous")
    assert found(known, [], start("x", "b")) == ("c", "previous")
    circle = [talk("a", previous_session_key="b"), talk("b", previous_session_key="a")]
    assert found(circle, [], start("a")) is None
    assert found(circle, [], start("x", "a")) is None
    lost = [talk("a", previous_session_key="lost")]
    assert found(lost, [checkpoint(key="lost")], start("a")) == ("lost", "previous")


def trail(of: Conversation | None, *saved: Checkpoint) -> Trail:
    key = of.session_key if of else saved[0].session_key
    return recovery.trails([of] if of else [], saved)[key]


def composed(of: Trail, budget: int = 2000, work: Work | None = None) -> str:
    return recovery.compose(of, recovery.outline(of, work or Work()), budget)


def test_recovery_tells_the_most_valuable_first() -> None:
    """Part of E6."""
    of = talk(
        prompt_count=4,
        prompts=("Lock the jobs.", "And test it."),
        last_words="The tests are red.",
        notes=(
            note("Use advisory locks"),
            note("The queue has 3 workers", "fact"),
            note("Document the lock", "task"),
            note("Never hold a lock over a call", "constraint"),
        ),
        files=("src/jobs.py",),
        queries=("job locks",),
        remembered=("deploys are on Fridays",),
    )
    words = checkpoint(trigger="agent", digest="Half of the worker is written.\nBlocked by CI.")
    commit = Commit(sha="a" * 40, subject="Lock jobs", authored_at=NOON)
    text = composed(trail(of, words), work=Work(commits=(commit,), files=("src/a.py",)))
    assert text == (
        "## Session Recovery Context\n"
        "Conversation run-1 (claude-code), as of 2026-03-02 12:00 UTC, 4 prompts.\n"
        "Prompts, the newest first:\n- And test it.\n- Lock the jobs.\n"
        "In the agent's own words:\nHalf of the worker is written.\nBlocked by CI.\n"
        "Constraints:\n- Never hold a lock over a call\n"
        "Decisions:\n- Use advisory locks\n"
        "The agent's last words:\n- The tests are red.\n"
        "Files at hand:\n- src/jobs.py\n- src/a.py\n"
        "Commits:\n- aaaaaaaa Lock jobs\n"
        "Open:\n- Document the lock\n"
        "Also said:\n- The queue has 3 workers\n"
        "Asked to remember:\n- deploys are on Fridays\n"
        "Searched for:\n- job locks"
    )


statements = st.text("abc déf.;\n", min_size=1, max_size=700)
kinds: st.SearchStrategy[MemoryType] = st.sampled_from(
    ["fact", "decision", "preference", "constraint", "skill", "task", "correction"]
)


@given(
    st.lists(st.tuples(statements, kinds), max_size=40),
    st.lists(statements, max_size=3),
    st.integers(200, 3000),
)
def test_recovery_never_exceeds_its_room_nor_cuts_a_statement(
    said: list[tuple[str, MemoryType]], narratives: list[str], budget: int
) -> None:
    """Part of E6."""
    of = conversations.told(
        talk("k" * 500), Report(notes=tuple(note(text, type_) for text, type_ in said)), NOON
    )
    saved = [
        checkpoint(number, key="k" * 500, trigger="agent", digest=words)
        for number, words in enumerate(narratives)
    ]
    whole = trail(of, *saved)
    sections = recovery.outline(whole, Work())
    text = recovery.compose(whole, sections, budget)
    assert len(text) <= budget
    assert text == recovery.compose(whole, sections, budget)
    assert bool(text) is bool(sections) or budget < 400
    names = {f"{section.name}:" for section in sections}
    whole_lines = {line for section in sections for line in section.lines}
    for line in text.split("\n")[2:]:
        assert line in names or {line, line.removeprefix("- ")} & whole_lines or line[-1] == "…"


def test_prompts_come_first_and_other_things_fill_what_they_leave() -> None:
    """Part of E6."""
    notes = (note("Never do forbidden things", "constraint"), note("Finish the parser", "task"))
    words = checkpoint(trigger="agent", digest="I am in the middle of the parser.")
    few = conversations.told(talk(), Report(said=("Fix the parser.",), notes=notes), NOON)
    text = composed(trail(few, words), work=Work(files=("src/parser.py",)))
    order = [
        "- Fix the parser.",
        "I am in the middle",
        "forbidden things",
        "- src/parser.py",
        "- Finish the parser",
    ]
    assert sorted(order, key=text.index) == order
    said = tuple(f"Now do the thing that has the number {one} on our list." for one in range(60))
    many = conversations.told(few, Report(said=said), NOON)
    text = composed(trail(many, words))
    assert 1900 < len(text) <= 2000
    told = [line for line in text.split("\n") if line.startswith("- Now do")]
    assert told == [f"- {line}" for line in reversed(said)][: len(told)]
    assert "I am in the middle" not in text


def test_what_was_already_told_is_not_told_again() -> None:
    """Part of E6."""
    said = ("Use uv.", "use UV", "Use uv.", "Write the docs, and use uv.")
    of = conversations.told(talk(), Report(said=said, notes=(note("use uv"),)), NOON)
    assert composed(trail(of)).split("\n")[2:] == [
        "Prompts, the newest first:",
        "- Write the docs, and use uv.",
    ]


def test_long_prompts_are_told_whole_where_all_of_them_fit() -> None:
    """Part of E6."""
    long = " ".join(f"This is sentence number {one} of it." for one in range(20))
    few = conversations.told(talk(), Report(said=(long,)), NOON)
    assert long in composed(trail(few))
    said = tuple(f"{long} Part {one} it is." for one in range(5))
    text = composed(trail(conversations.told(few, Report(said=said), NOON)))
    for number in range(1, 5):
        assert f"Part {number} it is." in text
    assert text.count("- This is sentence number 0 of it. This") == 5


def test_the_latest_prompts_are_kept() -> None:
    """Part of E6."""
    of = talk()
    for number in range(100):
        of = conversations.told(of, Report(said=(f"{number} {'x' * 900}", "")), NOON)
    assert 15_000 < sum(map(len, of.prompts)) <= conversations.PROMPTS
    assert of.prompts[-1].startswith("99 ")
    assert conversations.faded(of).prompts == ()


def test_a_narrative_is_told_from_its_beginning_as_far_as_there_is_room() -> None:
    """Part of E6 and E7."""
    words = " ".join(f"Sentence number {one} tells what was done." for one in range(200))
    text = composed(trail(None, checkpoint(trigger="agent", digest=words)))
    told = text.split("own words:\n")[1].split("\n")
    assert 1900 < len(text) <= 2000
    assert told == [f"Sentence number {one} tells what was done." for one in range(len(told))]
    gap = "\n".join(["It begins.", "long " * 47, "It ends."])
    short = composed(trail(None, checkpoint(trigger="agent", digest=gap)), 300)
    assert "It begins." in short
    assert "It ends." not in short


def test_a_narrative_outlives_later_observations() -> None:
    """Part of E7."""
    saved = [
        checkpoint(0, trigger="agent", digest="The worker is half done.", at=NOON - HOUR),
        checkpoint(1, trigger="periodic", digest="## Session Checkpoint\nProject: x"),
        checkpoint(2, trigger="explicit", digest=f"{checkpoints.KEPT}\n- A title"),
    ]
    text = composed(trail(talk(prompt_count=9), *saved))
    assert "The worker is half done." in text
    assert "A title" not in text
    assert "Project: x" not in text


def test_without_a_conversation_its_last_checkpoint_is_told() -> None:
    """Part of E6."""
    of = talk(prompt_count=9, notes=(note("Use uv"),))
    digest = checkpoints.describe(of, Work(), {}, NOON)
    assert "- Use uv" in composed(trail(None, checkpoint(digest=digest)))


def test_what_the_summary_holds_is_left_out() -> None:
    """Part of E8."""
    of = talk(notes=(note("Use uv"), note("Never push to main", "constraint")))
    words = "## Where I stand\n\nThe parser is half done."
    whole = trail(of, checkpoint(trigger="agent", digest=words))
    sections = recovery.outline(whole, Work())
    sections = recovery.leave_out(sections, "We  USE UV.\nThe parser is half done; tests pass.")
    text = recovery.compose(whole, sections, 2000)
    assert "Never push to main" in text
    assert "uv" not in text
    assert "Where I stand" not in text
    assert "parser" not in text
    nothing = recovery.leave_out(sections, "- never push to main")
    assert recovery.compose(whole, nothing, 2000) == ""
