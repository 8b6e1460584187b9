"""Past conversations of other tools come in: each turn once, at its own time, whatever else their files hold."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protocol.turns import KeptTurn
from sidecar.conversations.imports import past
from sidecar.conversations.imports.backfill import READERS, Brought, Found
from sidecar.handlers.imports import Imports
from sidecar.projects.progress import untold
from sidecar.storage.vault import Vault
from tests.desks import Desk, elsewhere
from tests.support import HOUR, MINUTE, NOON

pytestmark = pytest.mark.slow

BEGUN = NOON - 30 * 24 * HOUR
ASKED = "Never write to the ledger twice, because the auditors compare it line by line."
ANSWERED = "The ledger now has a unique key per booking."
NEXT = "Add a test for that, please."
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
SESSION = "0f5c3a1e-7f6d-4e5f-9c55-3f2a7a40c001"


@dataclass(frozen=True)
class User:
    """Somebody who has used other tools before, and sits at a desk of ours."""

    home: Path
    desk: Desk

    @property
    def folder(self) -> str:
        return str(self.desk.repository.path)

    @property
    def imports(self) -> Imports:
        return Imports(self.desk.home, self.home, self.desk.app.vault)

    @property
    def vault(self) -> Vault:
        return self.desk.vault

    def bring(self, host: str, **options: Any) -> Brought:
        return self.imports.bring(host, [self.desk.app.project(None)], untold, **options)

    def count(self, host: str) -> Found:
        counts = self.imports.count(self.desk.app.project(None))
        return next(one for one in counts if one.host == host)

    def write(self, name: str, *lines: dict[str, Any] | str) -> Path:
        """Write a file of JSON Lines into the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("".join(f"{text}\n" for text in texts))
        return path


@pytest.fixture
def user(tmp_path: Path, desk: Desk) -> User:
    user = User(tmp_path / "user", desk)
    user.home.mkdir()
    return user


def at(minutes: float = 0) -> datetime:
    return BEGUN + minutes * MINUTE


def iso(minutes: float = 0) -> str:
    return at(minutes).isoformat().replace("+00:00", "Z")


def millis(minutes: float = 0) -> int:
    return int(at(minutes).timestamp() * 1000)


def said(turns: Iterable[KeptTurn]) -> list[tuple[str, str, datetime]]:
    return [(one.said_by, one.text, one.at) for one in sorted(turns, key=lambda one: one.at)]


EXPECTED = [("user", ASKED, at()), ("assistant", ANSWERED, at(2)), ("user", NEXT, at(5))]


def claude(user: User, kind: str, text: str, minutes: float = 0, **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": f"{kind}-{minutes}",
        "timestamp": iso(minutes),
        "cwd": user.folder,
        "sessionId": SESSION,
        "isSidechain": False,
        "message": {"role": kind, "content": [{"type": "text", "text": text}]},
    } | more


def claude_lines(user: User) -> list[dict[str, Any] | str]:
    ledger = f"{user.folder}/src/ledger.py"
    edit = {"filePath": ledger, "oldString": "a", "newString": "b", "structuredPatch": []}
    look = {"type": "text", "file": {"filePath": f"{user.folder}/src/looked_at.py"}}
    return [
        {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
        claude(user, "user", ASKED),
        claude(user, "user", "<command-name>/model</command-name>", 0.2, uuid="command"),
        claude(user, "user", "Explored by a subagent.", 0.3, isSidechain=True, uuid="side"),
        claude(user, "assistant", "I will look at the ledger first.", 1),
        claude(user, "user", "", 1.2, uuid="read", toolUseResult=look),
        claude(user, "user", "", 1.5, uuid="edit", toolUseResult=edit),
        "{ this line was cut",
        claude(user, "assistant", ANSWERED, 2),
        {"type": "system", "subtype": "compact_boundary", "timestamp": iso(3)},
        claude(user, "user", "Summary of all.", 3, isCompactSummary=True, uuid="cut"),
        claude(user, "user", NEXT, 5),
    ]


def make_claude_code(user: User) -> None:
    user.write(f".claude/projects/-some-where/{SESSION}.jsonl", *claude_lines(user))
    user.write(
        ".claude/projects/-some-where/agent-12.jsonl", claude(user, "user", "You are a subagent.")
    )


def make_codex(user: User) -> None:
    def event(kind: str, minutes: float, **payload: Any) -> dict[str, Any]:
        return {"timestamp": iso(minutes), "type": kind, "payload": payload}

    git = {"repository_url": "git@example.org:acme/ledger.git", "branch": "main"}
    user.write(
        f".codex/sessions/2026/02/03/rollout-2026-02-03T10-00-00-{SESSION}.jsonl",
        event("session_meta", 0, id=SESSION, cwd=user.folder, git=git),
        event("response_item", 0, type="message", role="user", content=[]),
        event("event_msg", 0, type="user_message", message=ASKED),
        event("event_msg", 1, type="agent_message", message="Looking."),
        event(
            "response_item",
            1.5,
            type="custom_tool_call",
            name="apply_patch",
            input="*** Begin Patch\n*** Update File: src/ledger.py\n@@\n*** End Patch",
        ),
        event("event_msg", 2, type="agent_message", message=ANSWERED),
        "{ this line was cut",
        event("compacted", 3, message="Summary of all."),
        event("event_msg", 5, type="user_message", message=NEXT),
    )


def make_copilot(user: User) -> None:
    def event(kind: str, minutes: float, **data: Any) -> dict[str, Any]:
        return {"type": kind, "id": f"{kind}-{minutes}", "timestamp": iso(minutes), "data": data}

    path = f"{user.folder}/src/ledger.py"
    failed = {"path": f"{user.folder}/src/not_written.py"}
    user.write(
        f".copilot/session-state/{SESSION}/events.jsonl",
        event("session.start", 0, sessionId=SESSION, context={"cwd": user.folder}),
        event("user.message", 0, content=ASKED, transformedContent=f"<reminder>{ASKED}"),
        event("assistant.message", 1, content=""),
        event("tool.execution_start", 1, toolCallId="a", toolName="create", arguments=failed),
        event("tool.execution_complete", 1, toolCallId="a", success=False),
        event("tool.execution_start", 1, toolCallId="b", toolName="edit", arguments={"path": path}),
        event("tool.execution_complete", 1.1, toolCallId="b", success=True),
        event("assistant.message", 2, content=ANSWERED),
        event("assistant.message", 2.5, content="From a subagent.", parentToolCallId="c"),
        "{ this line was cut",
        event("session.compaction_complete", 3, summaryContent="Summary of all."),
        event("user.message", 5, content=NEXT),
    )


def make_gemini(user: User) -> None:
    call = {
        "name": "replace",
        "args": {"file_path": f"{user.folder}/src/ledger.py"},
        "status": "success",
    }
    messages = [
        {"id": "1", "timestamp": iso(), "type": "user", "content": ASKED},
        {"id": "2", "timestamp": iso(1), "type": "info", "content": "Update available."},
        {
            "id": "3",
            "timestamp": iso(2),
            "type": "gemini",
            "content": ANSWERED,
            "toolCalls": [call],
        },
        {"id": "4", "timestamp": iso(5), "type": "user", "content": [{"text": NEXT}]},
    ]
    place = f".gemini/tmp/{sha256(user.folder.encode()).hexdigest()}/chats"
    user.write(
        f"{place}/session-2026-02-03T10-00-0f5c.json", {"sessionId": SESSION, "messages": messages}
    )
    user.write(f"{place}/session-2026-02-04T10-00-aaaa.json", "{ this file was cut")


def make_opencode(user: User) -> None:
    path = user.home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    store = sqlite3.connect(path)
    store.executescript(
        "PRAGMA journal_mode = WAL;"
        "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, time_created INTEGER, time_updated INTEGER);"
        "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);"
        "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);"
    )
    rows: list[tuple[str, float, dict[str, Any], Any]] = [
        ("m1", 0, {"role": "user"}, {"type": "text", "text": ASKED}),
        ("m2", 1, {"role": "assistant"}, {"type": "text", "text": "Looking."}),
        (
            "m3",
            1.5,
            {"role": "assistant"},
            {
                "type": "tool",
                "tool": "edit",
                "state": {
                    "status": "completed",
                    "input": {"filePath": f"{user.folder}/src/ledger.py"},
                },
            },
        ),
        ("m4", 2, {"role": "assistant"}, {"type": "text", "text": ANSWERED}),
        ("m5", 2.5, {"role": "user"}, {"type": "text", "text": "Machine.", "synthetic": True}),
        (
            "m6",
            3,
            {"role": "assistant", "summary": True},
            {"type": "text", "text": "Summary of all."},
        ),
        ("m7", 4, {"role": "assistant"}, "{ this was cut"),
        ("m8", 5, {"role": "user"}, {"type": "text", "text": NEXT}),
    ]
    with store:
        for session, parent in ((SESSION, None), ("child", SESSION)):
            row = (session, parent, user.folder, millis(), millis(5))
            store.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)
        for name, minutes, data, part in rows:
            told = part if isinstance(part, str) else json.dumps(part)
            message = (name, SESSION, millis(minutes), json.dumps(data))
            store.execute("INSERT INTO message VALUES (?, ?, ?, ?)", message)
            store.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (f"p{name}", name, SESSION, told))
    store.close()


def make_cursor(user: User) -> None:
    place = user.home / ".config/Cursor/User"
    user.write(
        ".config/Cursor/User/workspaceStorage/1a2b/workspace.json",
        {"folder": f"file://{user.folder}"},
    )
    composers = {"allComposers": [{"composerId": SESSION}]}
    _items(
        place / "workspaceStorage/1a2b/state.vscdb",
        {"composer.composerData": composers},
        "ItemTable",
    )
    edit = {"name": "edit_file", "rawArgs": json.dumps({"target_file": "src/ledger.py"})}
    bubbles: list[dict[str, Any]] = [
        {"bubbleId": "b1", "type": 1, "text": ASKED, "createdAt": iso()},
        {"bubbleId": "b2", "type": 2, "text": "", "createdAt": iso(1), "toolFormerData": edit},
        {
            "bubbleId": "b3",
            "type": 2,
            "text": ANSWERED,
            "timingInfo": {"clientStartTime": millis(2)},
        },
        {"bubbleId": "b5", "type": 1, "text": NEXT, "createdAt": iso(5)},
    ]
    headers = [{"bubbleId": one, "type": 1} for one in ("b1", "b2", "b3", "b4", "b5")]
    data = {
        "composerId": SESSION,
        "createdAt": millis(),
        "lastUpdatedAt": millis(5),
        "fullConversationHeadersOnly": headers,
    }
    rows: dict[str, Any] = {f"bubbleId:{SESSION}:{one['bubbleId']}": one for one in bubbles}
    rows |= {f"composerData:{SESSION}": data, f"bubbleId:{SESSION}:b4": "{ this was cut"}
    _items(place / "globalStorage/state.vscdb", rows, "cursorDiskKV")


def _items(path: Path, rows: dict[str, Any], table: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    store = sqlite3.connect(path)
    store.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    with store:
        texts = {key: one if isinstance(one, str) else json.dumps(one) for key, one in rows.items()}
        store.executemany(f"INSERT INTO {table} VALUES (?, ?)", texts.items())
    store.close()


def make_specstory(user: User) -> None:
    def stamp(minutes: float) -> str:
        return at(minutes).strftime("%Y-%m-%d %H:%M:%SZ")

    user.desk.repository.write(
        ".specstory/history/2026-02-03_10-00-00Z-ledger.md",
        "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# The ledger\n\n"
        f"<!-- Claude Code Session {SESSION} ({stamp(0)}) -->\n\n"
        f"_**User ({stamp(0)})**_\n\n{ASKED}\n\n---\n\n"
        f"_**Agent (some-model {stamp(1)})**_\n\nLooking.\n\n"
        '<tool-use data-tool-type="read"><details>\n<summary>Tool use: **Read**</summary>\n\nsecret\n</details></tool-use>\n\n'
        f"_**Agent (some-model {stamp(2)})**_\n\n{ANSWERED}\n\n---\n\n"
        f"_**User ({stamp(5)})**_\n\n{NEXT}\n",
    )


def make_aider(user: User) -> None:
    def stamp(minutes: float) -> str:
        return at(minutes).astimezone().strftime("%Y-%m-%d %H:%M:%S")

    user.desk.repository.write(
        ".aider.chat.history.md",
        f"\n# aider chat started at {stamp(-90)}\n\n> Aider v0.86\n\n#### An older chat.\n\nYes.\n"
        f"\n# aider chat started at {stamp(0)}\n\n> Aider v0.86\n> Model: some-model\n\n#### {ASKED}\n\n"
        f"{ANSWERED}\n\n> Applied edit to src/ledger.py\n\n#### {NEXT}\n",
    )
    user.desk.repository.write(
        ".aider.input.history", f"\n# {stamp(0)}.000000\n+{ASKED}\n\n# {stamp(5)}.000000\n+{NEXT}\n"
    )


MAKERS = {
    name.removeprefix("make_").replace("_", "-"): make
    for name, make in globals().items()
    if name.startswith("make_")
}
DAMAGED = {"claude-code", "codex", "copilot", "opencode", "cursor"}


def test_every_host_has_a_reader_and_a_case() -> None:
    """Part of C16."""
    assert set(MAKERS) == set(READERS)


@pytest.mark.parametrize("host", MAKERS)
def test_turns_come_in_once_at_their_own_time(user: User, host: str) -> None:
    """C16. Of what an assistant says on the way to an answer, its last words count."""
    MAKERS[host](user)
    first = user.bring(host)
    assert (first.turns - 2 * (host == "aider"), first.known) == (3, 0)
    assert first.damaged == (host in DAMAGED or host == "gemini")
    turns = [one for one in user.vault.turns.all() if one.at >= BEGUN]
    moments = [at(0), at(0), at(5)] if host == "aider" else [at(), at(2), at(5)]
    assert said(turns) == [
        (who, text, moment) for (who, text, _), moment in zip(EXPECTED, moments, strict=True)
    ]
    assert user.bring(host).turns == 0
    assert len(user.vault.turns.all()) == first.turns


@pytest.mark.parametrize("host", [one for one in MAKERS if one != "specstory"])
def test_files_that_tools_changed_come_with_their_turn(user: User, host: str) -> None:
    """Part of C16."""
    MAKERS[host](user)
    user.bring(host)
    [talk] = [one for one in user.vault.conversations.all() if one.prompt_count == 2]
    assert talk.files == ("src/ledger.py",)
    [asked] = [one for one in user.vault.turns.all() if one.text == ASKED]
    assert asked.files == ("src/ledger.py",)


@pytest.mark.parametrize("host", MAKERS)
def test_an_import_leaves_every_file_of_the_host_as_it_was(user: User, host: str) -> None:
    """Part of C16."""
    MAKERS[host](user)
    before = _bytes(user.home)
    user.bring(host)
    assert _bytes(user.home) == before


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_past_conversation_is_over_and_makes_no_checkpoint(user: User) -> None:
    """Part of C16."""
    make_claude_code(user)
    user.bring("claude-code")
    [talk] = user.vault.conversations.all()
    assert (talk.session_key, talk.started_at, talk.last_seen_at) == (SESSION, at(), at(5))
    assert (talk.ended_at, talk.prompt_count, talk.summary) == (at(5), 2, "Summary of all.")
    user.desk.ask("status")
    user.desk.app.flush()
    assert (user.vault.checkpoints.all(), user.vault.entries.all()) == ([], [])


def test_what_a_user_laid_down_long_ago_is_an_event_of_that_time(user: User) -> None:
    """Part of C16."""
    make_codex(user)
    user.bring("codex")
    [session] = [one for one in user.vault.sessions.timeline() if one.source == "codex"]
    [event] = user.vault.sessions.events(session.session_id)
    assert (event.kind, event.occurred_at, event.text) == ("capture", at(), ASKED)


def test_what_hooks_heard_live_is_not_imported_again(user: User) -> None:
    """C16. A hook is told of a turn some seconds after it is written, or before."""
    clock = user.desk.clock
    clock.now = at(0.05)
    track = {"sessionKey": SESSION, "agentId": "claude-code", "harness": "claude-code"}
    user.desk.ask("context/track", **track, prompt=ASKED, idempotencyKey="hook-1")
    clock.now = at(2.1)
    user.desk.ask("context/track", **track, response=ANSWERED, idempotencyKey="hook-2")
    clock.now = NOON
    make_claude_code(user)
    brought = user.bring("claude-code")
    assert (brought.turns, brought.known) == (1, 2)
    assert [one.text for one in sorted(user.vault.turns.all(), key=lambda one: one.at)] == [
        text for _, text, _ in EXPECTED
    ]


def test_what_goes_on_just_now_is_left_to_hooks(user: User) -> None:
    """Part of C16."""
    track = {"sessionKey": SESSION, "agentId": "claude-code", "harness": "claude-code"}
    user.desk.clock.now = at(1)
    user.desk.ask("context/track", **track, prompt=ASKED, idempotencyKey="hook-1")
    user.desk.clock.now = at(6)
    make_claude_code(user)
    assert user.bring("claude-code").turns == 0


def test_two_tools_that_saved_one_conversation_bring_it_once(user: User) -> None:
    """Part of C16."""
    make_claude_code(user)
    make_specstory(user)
    assert user.bring("claude-code").turns == 3
    again = user.bring("specstory")
    assert (again.turns, again.known) == (0, 3)


def test_a_fork_repeats_nothing(user: User) -> None:
    """Part of C16."""
    make_claude_code(user)
    lines = [*claude_lines(user), claude(user, "user", "Another way, then.", 9)]
    user.write(".claude/projects/-some-where/another-session.jsonl", *lines)
    assert user.bring("claude-code").turns == 4


def test_a_conversation_that_has_grown_is_continued(user: User) -> None:
    """Part of C16."""
    make_claude_code(user)
    user.bring("claude-code")
    more = [*claude_lines(user), claude(user, "assistant", "The test is written.", 7)]
    user.write(f".claude/projects/-some-where/{SESSION}.jsonl", *more)
    brought = user.bring("claude-code")
    assert (brought.turns, len(user.vault.turns.all())) == (1, 4)


def test_what_was_forgotten_does_not_come_back(user: User) -> None:
    """Part of C16."""
    make_claude_code(user)
    user.bring("claude-code")
    [key] = [one.turn_id for one in user.vault.turns.all() if one.text == ASKED]
    with user.vault.transaction():
        user.vault.write([user.vault.turns.drop(key)])
    more = [*claude_lines(user), claude(user, "assistant", "The test is written.", 7)]
    user.write(f".claude/projects/-some-where/{SESSION}.jsonl", *more)
    user.bring("claude-code")
    assert ASKED not in [one.text for one in user.vault.turns.all()]


def test_an_interrupted_import_goes_on_where_it_stopped(user: User) -> None:
    """Part of C16."""
    make_claude_code(user)
    path = user.write(
        ".claude/projects/-some-where/second.jsonl",
        claude(user, "user", "Something else.", 20, uuid="z"),
    )
    assert path.is_file()

    def stop(done: int, total: int, stage: str = "") -> None:
        del total, stage
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        user.imports.bring("claude-code", [user.desk.app.project(None)], stop)
    assert user.bring("claude-code").conversations == 1
    assert len(user.vault.turns.all()) == 4


def test_secrets_and_private_words_are_not_imported(user: User) -> None:
    """Part of C16 and B1."""
    user.write(
        f".claude/projects/-some-where/{SESSION}.jsonl",
        claude(user, "user", f"The token is {TOKEN}, <private>Ada's salary</private> too."),
        claude(user, "assistant", f"I used {TOKEN}.", 1),
    )
    user.bring("claude-code")
    user.desk.app.close()
    stored = b"".join(_bytes(user.desk.home.folder).values())
    assert TOKEN.encode() not in stored
    assert b"salary" not in stored


def test_only_turns_since_a_moment_are_imported(user: User) -> None:
    """Part of C16. What was left out comes with a later import."""
    make_claude_code(user)
    assert user.bring("claude-code", since=at(4)).turns == 1
    assert user.bring("claude-code").turns == 2


def test_a_trial_counts_and_stores_nothing(user: User) -> None:
    """Part of C16."""
    make_claude_code(user)
    assert user.bring("claude-code", is_trial=True).turns == 3
    assert user.vault.turns.all() == []
    assert user.vault.conversations.all() == []
    assert user.count("claude-code").here == 1


def test_nothing_is_imported_from_a_time_in_which_recording_was_paused(user: User) -> None:
    """Part of C16 and B5."""
    user.desk.clock.now = at(-1)
    user.desk.ask("capture/pause")
    user.desk.clock.now = at(4)
    user.desk.ask("capture/resume")
    user.desk.clock.now = NOON
    make_claude_code(user)
    assert user.bring("claude-code").turns == 1


def test_conversations_of_other_projects_stay_out(user: User, tmp_path: Path) -> None:
    """Part of C16. With all projects each goes into its own."""
    other = elsewhere(tmp_path / "other", user.desk)
    strange = claude(user, "user", "Somewhere else.", 1, cwd=str(tmp_path / "unknown"))
    theirs = claude(user, "user", "In the other repository.", 2, cwd=str(other.repository.path))
    other.app.project(None)
    user.write(".claude/projects/a/one.jsonl", strange)
    user.write(".claude/projects/b/two.jsonl", theirs)
    make_claude_code(user)
    assert user.bring("claude-code").conversations == 1
    assert user.count("claude-code") == Found(host="claude-code", imported=1, elsewhere=2)
    both = user.imports.bring("claude-code", user.desk.home.projects(), untold)
    assert (both.conversations, both.turns) == (1, 1)
    assert [one.text for one in other.vault.turns.all()] == ["In the other repository."]


def test_a_worktree_a_subfolder_and_a_moved_folder_are_the_same_project(
    user: User, tmp_path: Path
) -> None:
    """Part of C16."""
    tree = tmp_path / "tree"
    user.desk.repository.git("worktree", "add", "--quiet", str(tree), "-b", "side")
    user.desk.repository.write("src/deep/a.py")
    places = [str(tree), f"{user.folder}/src/deep", f"{user.folder}/gone/by/now"]
    for number, place in enumerate(places):
        line = claude(user, "user", f"Said in place {number}.", number, cwd=place, uuid=place)
        user.write(f".claude/projects/x/{number}.jsonl", line)
    assert user.bring("claude-code").conversations == 3


def test_a_folder_that_is_gone_is_known_by_its_remote(user: User, tmp_path: Path) -> None:
    """Part of C16."""
    user.desk.repository.git("remote", "add", "origin", "https://example.org/acme/ledger")
    user.desk.app.close()
    desk = user.desk.second()
    make_codex(user)
    [path] = user.home.rglob("rollout-*.jsonl")
    path.write_text(path.read_text().replace(user.folder, str(tmp_path / "gone")))
    imports = Imports(desk.home, user.home, desk.app.vault)
    assert imports.bring("codex", [desk.app.project(None)], untold).turns == 3


def test_a_transcript_of_any_shape_affects_no_other(user: User) -> None:
    """Part of C16."""
    make_claude_code(user)
    odd: list[Any] = [[], 1, "text", None, {"message": 1, "type": "user", "cwd": user.folder}]
    odd += [{"type": "user", "cwd": [], "message": {"content": [1, {"type": "text", "text": 7}]}}]
    odd += [claude(user, "user", "No moment.", timestamp="yesterday", uuid="q")]
    user.write(".claude/projects/-some-where/a.jsonl", *map(json.dumps, odd))
    (user.home / ".claude/projects/-some-where/b.jsonl").write_bytes(b"\xff\xfe\x00" * 1000)
    (user.home / ".claude/projects/-some-where/c.jsonl").mkdir()
    user.write(".claude/projects/-some-where/d.jsonl", "[" * 100_000)
    brought = user.bring("claude-code")
    assert brought.turns == 3
    assert brought.damaged > 0


def test_a_huge_line_is_skipped_in_bounded_memory(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of C16."""
    monkeypatch.setattr(past, "LONGEST_LINE", 10_000)
    lines = claude_lines(user)
    lines.insert(3, "x" * 50_000)
    user.write(f".claude/projects/-some-where/{SESSION}.jsonl", *lines)
    brought = user.bring("claude-code")
    assert (brought.turns, brought.damaged) == (3, 2)


OWNER = """
import sqlite3, sys
store = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
print("ready", flush=True)
for line in sys.stdin:
    store.execute(line).fetchall()
    print("done", flush=True)
"""
"""A program that has its database open and answers once a statement is done; a lock of ours would end it."""


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_database_that_is_being_written_is_read_without_holding_anybody_up(
    user: User, mode: str
) -> None:
    """Part of C16. Its owner has it open and writes on while we read; no file of it appears or changes by us."""
    make_cursor(user)
    path = user.home / ".config/Cursor/User/globalStorage/state.vscdb"
    command = [sys.executable, "-c", OWNER, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdin
        assert owner.stdout
        assert owner.stdout.readline() == "ready\n"

        def write(statement: str) -> None:
            assert owner.stdin
            assert owner.stdout
            owner.stdin.write(f"{statement}\n")
            owner.stdin.flush()
            assert owner.stdout.readline() == "done\n"

        write(f"PRAGMA journal_mode = {mode}")
        write("UPDATE cursorDiskKV SET value = replace(value, 'please', 'quickly')")
        before = _bytes(user.home)
        transcripts = READERS["cursor"].find(user.home, [])
        pieces = next(transcripts).pieces(lambda: None)
        next(pieces)
        assert _bytes(user.home) == before
        write("INSERT INTO cursorDiskKV VALUES ('more', 'x')")
        write("PRAGMA wal_checkpoint(PASSIVE)")
        assert "Add a test for that, quickly." in [piece.text for piece in pieces]
        owner.stdin.close()


def test_our_own_words_do_not_come_back(user: User) -> None:
    """Part of C16."""
    greeting = user.desk.app.call("threadline/context/render", {"host": "claude-code"})
    given = json.loads(msgspec.json.encode(greeting))["text"]
    user.desk.remember("Zeppelins land on Tuesdays only", "constraint")
    user.write(
        f".claude/projects/-some-where/{SESSION}.jsonl",
        claude(user, "user", f"{NEXT}\n{given}"),
    )
    user.bring("claude-code")
    assert [one.text for one in user.vault.turns.all()] == [NEXT]


def test_a_conversation_of_another_day_counts_as_seen_then(user: User) -> None:
    """Part of C16. Nobody is told that an agent was here who only was imported."""
    make_claude_code(user)
    user.bring("claude-code")
    [agent] = user.vault.agents.all()
    assert (agent.agent_id, agent.last_seen_at) == ("claude-code", at(5))
    assert timedelta(days=1) < NOON - agent.last_seen_at
