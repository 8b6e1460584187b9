"""A whole working day on one repository: an editor, two agents with hooks and two with tools, all at once.

Everyone is a process of its own, as for a user; nothing is shared but the disk and the clock, which is the real one.
"""

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from protocol.checkpoints import Checkpoint
from protocol.conversations import Conversation
from sidecar.app import open_application
from sidecar.storage import spool
from tests.editors import Day, open_editor, wait_until_watched
from tests.hooks import Hooks
from tests.mcps import Assistant, Host, Story
from tests.support import Repository

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

PATIENCE = 120
"""Seconds that a loaded machine may take for anything."""

EDITOR = "Use integers of cents instead of floats because rounding lost money"
CLAUDE = "Use a token bucket instead of a sliding window because bursts are normal"
CURSOR = "We decided to keep avatars in object storage instead of Postgres because the table grew too large."
CODEX = "Webhooks are signed with HMAC instead of a shared password because passwords leaked"
"""What each of them decides today."""
KEPT = "Never call the payment provider from within a transaction."
LOST = "The limiter must fail open when its store is down."
LATE = "We must not rename the table of customers before the migration in spring."
OWED = "Thumbnails must never be larger than 200 kilobytes."
"""What users require; Claude Code's own summary will lose one, and Cursor writes none."""
QUESTION = "Which header carries the signature?"
RELEASE, LOAD, COLOURS = "The release is on Friday.", "Test it with load.", "Mind the colours."
TASK = "Describe the limits for customers"
HUSHED = "hushed"
"""Part of everything that is said and done while capture is paused."""
WATCHERS = {"vscode", "codex", "claude-code"}
"""Who watches git; whoever looks first records a commit."""

Entry = tuple[str, str, str | None, str]
MORNING: list[Entry] = [
    *(("capture", "claude-code", None, said) for said in (f"{CLAUDE}.", KEPT, LOST)),
    *(("capture", "cursor", None, said) for said in (CURSOR, OWED)),
    *(("save", "vscode", None, f"src/editor_{number}.py") for number in range(3)),
    *(("save", "claude-code", "claude-code", f"src/claude_{number}.py") for number in range(3)),
    *(("save", "cursor", "cursor", f"src/cursor_{number}.py") for number in range(3)),
    *(("capture", "mcp-server", "codex", f"Looked at webhook {number}.") for number in range(2)),
    ("commit", "git", None, EDITOR),
    ("commit", "git", None, "test: cover cents"),
]
AFTERNOON: list[Entry] = [
    ("capture", "claude-code", None, LATE),
    *(("save", "vscode", None, f"src/editor_{number}.py") for number in range(2)),
    ("save", "claude-code", "claude-code", "src/claude_3.py"),
    ("save", "cursor", "cursor", "src/cursor_3.py"),
    ("capture", "mcp-server", "codex", "Signed the webhooks."),
    ("commit", "git", None, "feat: step 0"),
    ("commit", "git", None, "feat: step 1"),
    ("commit", "git", None, "docs: tell the limits"),
]


@dataclass
class Team:
    """All who work on the repository today."""

    editor: Day
    claude: Hooks
    cursor: Hooks

    @property
    def folder(self) -> Path:
        return self.editor.repository.path

    def path(self, name: str) -> str:
        return str(self.folder / name)

    async def commit(self, subject: str, name: str) -> None:
        await asyncio.to_thread(self.editor.repository.commit, subject, name=name)

    async def edit(self, name: str, **turn: str) -> None:
        """Let Claude Code write a file."""
        written = {"file_path": self.path(name), "content": "x = 1\n"}
        await self.claude.say("PostToolUse.Write", tool_input=written, **turn)


@pytest_asyncio.fixture
async def team(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Team]:
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for name in ("CLAUDECODE", "CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR", "CURSOR_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    repository.commit("before")
    async with open_editor(Day, repository) as editor:
        await wait_until_watched(editor)
        yield Team(
            editor,
            claude=Hooks("claude-code", repository.path, "claude-1"),
            cursor=Hooks("cursor", repository.path, "cursor-1", is_doubled=True),
        )


async def test_a_working_day_of_everybody_at_once(team: Team) -> None:
    """Part of A2, B6, D2, E8, F2, F9 and H1."""
    await begin(team)
    await Host(name="codex-mcp-client", mode="legacy").join(team.folder, day_with(team))
    await leave(team)
    await check_timeline(team)
    check_conversations(team)
    check_that_nothing_hushed_is_kept()
    await check_next_starts(team)


async def begin(team: Team) -> None:
    """Open everything in the morning: nobody has been here before."""
    window, *texts = await asyncio.gather(
        team.editor.ask("threadline/context/start", sessionKey="window-1"),
        team.claude.hear("SessionStart.startup"),
        team.cursor.hear("sessionStart"),
    )
    assert window["isFirstConnection"]
    assert all("has nothing to tell yet" in text for text in texts)


def day_with(team: Team) -> Story[None]:
    """Tell what Codex lives through, and what the others do meanwhile."""

    async def story(codex: Assistant) -> None:
        assert (await codex.use("session_start"))["isFirstConnection"]

        async def with_claude(claude: Assistant) -> None:
            await work(team, claude, codex)

        await Host(name="claude-code", mode="auto").join(team.folder, with_claude)
        await team.claude.say("SessionEnd.other")
        await hand_over(codex)

    return story


async def work(team: Team, claude: Assistant, codex: Assistant) -> None:
    """Work in two sessions, since the first is closed by hand; in between nothing may be recorded."""
    await asyncio.gather(
        morning_of_the_editor(team),
        morning_of_claude(team, claude),
        morning_of_cursor(team),
        morning_of_codex(codex),
    )
    await wait_for(team, len(MORNING))
    closed = await team.editor.ask("threadline/sessions/close")
    await rest(team, codex)
    await asyncio.gather(
        afternoon_of_the_editor(team),
        afternoon_of_agents(team),
        afternoon_of_codex(codex, closed["sessionId"]),
    )
    await cut_claude(team)
    await cut_cursor(team)


async def morning_of_the_editor(team: Team) -> None:
    for subject, name in ((EDITOR, "src/money.py"), ("test: cover cents", "tests/money.py")):
        for number in range(3):
            team.editor.save(f"src/editor_{number}.py")
        await team.commit(subject, name)


async def morning_of_claude(team: Team, claude: Assistant) -> None:
    for number, said in enumerate((f"{CLAUDE}.", KEPT, LOST)):
        turn = {"prompt_id": f"p{number}"}
        await team.claude.say("UserPromptSubmit", prompt=said, **turn)
        await team.edit(f"src/claude_{number}.py", **turn)
        await team.claude.say("Stop", last_assistant_message=f"Step {number} is done.", **turn)
    written = await claude.use("write_memory", type="decision", title=CLAUDE, content=CLAUDE)
    assert (written["memory"]["agentId"], written.get("start")) == ("claude-code", None)
    await claude.use("send_message", targetId="codex", content=QUESTION)


async def morning_of_cursor(team: Team) -> None:
    for number, said in enumerate((CURSOR, OWED, "Go on with the thumbnails, please.")):
        turn = {"generation_id": f"g{number}"}
        await team.cursor.say("beforeSubmitPrompt", prompt=said, **turn)
        path = team.path(f"src/cursor_{number}.py")
        await team.cursor.say("afterFileEdit", file_path=path, **turn)
        await team.cursor.say("afterAgentResponse", text=f"Part {number} is there.", **turn)


async def morning_of_codex(codex: Assistant) -> None:
    for number in range(2):
        await codex.use("session_track", prompt=f"Look at webhook {number}, please.")
        await codex.use("save_session", summary=f"Looked at webhook {number}.")


async def rest(team: Team, codex: Assistant) -> None:
    """Say a last word, and then let nothing be recorded for a while, whatever happens."""
    await team.claude.say("UserPromptSubmit", prompt=LATE, prompt_id="p3")
    await team.editor.ask("threadline/capture/pause")
    said, hushed = f"{HUSHED}: We must never tell.", f"{HUSHED}/secret.py"
    team.editor.save(hushed)
    saved, tracked, *_ = await asyncio.gather(
        codex.use("save_session", summary=said),
        codex.use("session_track", prompt=said),
        team.claude.say("UserPromptSubmit", prompt=said),
        team.edit(hushed),
        team.cursor.say("afterFileEdit", file_path=team.path(hushed)),
        team.commit(f"{HUSHED}: commit", hushed),
    )
    assert (saved["events"][0]["outcome"], tracked["isKept"]) == ("dropped", False)
    await team.editor.ask("threadline/capture/resume")


async def afternoon_of_the_editor(team: Team) -> None:
    for number in range(2):
        team.editor.save(f"src/editor_{number}.py")
        await team.commit(f"feat: step {number}", f"src/step_{number}.py")


async def afternoon_of_agents(team: Team) -> None:
    await asyncio.gather(
        team.claude.say("UserPromptSubmit", prompt="Where are we?", prompt_id="p4"),
        team.edit("src/claude_3.py", prompt_id="p4"),
        team.cursor.say("afterFileEdit", file_path=team.path("src/cursor_3.py")),
    )


async def afternoon_of_codex(codex: Assistant, session_id: str) -> None:
    job = await codex.use("generate_memory", sessionId=session_id)
    assert job["status"] == "completed"
    await codex.use("save_session", summary="Signed the webhooks.")
    await codex.use("session_track", prompt="Finish it.", response="They are signed now.")


async def cut_claude(team: Team) -> None:
    """Let Claude Code compact: only what its own summary has lost comes back."""
    await team.claude.say("PreCompact.auto")
    summary = f"The user decided: {CLAUDE}. {KEPT} {LATE}"
    await team.claude.say("PostCompact.auto", compact_summary=summary)
    await wait_for(team)
    text = await team.claude.hear("SessionStart.compact")
    recovery = parts(text)["Session Recovery Context"]
    assert LOST in recovery
    assert not [one for one in (KEPT, LATE) if one in recovery]


async def cut_cursor(team: Team) -> None:
    """Let Cursor compact, which listens only at the next prompt."""
    await team.cursor.say("preCompact")
    await wait_for(team)
    asked = {"prompt": "Where were we with the thumbnails?", "generation_id": "g3"}
    text = await team.cursor.hear("beforeSubmitPrompt", **asked)
    assert [one for one in (OWED, CURSOR) if one not in text] == []


async def hand_over(codex: Assistant) -> None:
    """Leave to the others what they need."""
    kept = await codex.use(
        "context_checkpoint",
        memories=[{"content": CODEX, "memoryType": "decision", "importance": 4}],
        sessionSummary="Signed all webhooks. Open: old clients still send a password.",
    )
    assert kept["created"] == 1
    assert [one["content"] for one in kept["pendingMessages"]] == [QUESTION]
    await codex.use("create_task", title=TASK, doneWhen="path exists: docs/limits.md")
    for target, text in (("*", RELEASE), ("claude-code", LOAD), ("cursor", COLOURS)):
        await codex.use("send_message", targetId=target, content=text)


async def leave(team: Team) -> None:
    """Go home: Cursor is closed last, and one commit comes after all others have gone."""
    await team.cursor.say("sessionEnd")
    await team.commit("docs: tell the limits", "docs/limits.md")
    await wait_for(team, len(MORNING) + len(AFTERNOON))


async def wait_for(team: Team, expected: int = 0) -> None:
    """Wait, not for ever, until so many events are there and nothing of what hooks have heard waits."""
    deadline = time.monotonic() + PATIENCE
    found = -1
    while time.monotonic() < deadline:
        found = sum([len(entries) for _, entries in await timeline(team)])
        if found >= expected and spool.is_empty(os.environ["THREADLINE_HOME"]):
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"{found} events of {expected} after {PATIENCE} s")


async def timeline(team: Team) -> list[tuple[Any, list[Entry]]]:
    """Give all sessions with their events, the oldest first."""
    sessions = (await team.editor.ask("threadline/sessions/list"))["sessions"]
    asked = [
        team.editor.ask("threadline/sessions/events", sessionId=one["sessionId"])
        for one in sessions
    ]
    pages = [(await one)["events"] for one in asked]
    return [
        *zip(reversed(sessions), ([entry(e) for e in one] for one in reversed(pages)), strict=True)
    ]


def entry(event: Any) -> Entry:
    """Say in short what an event is."""
    kind, source = event["kind"], event["source"]
    if kind == "commit":
        assert source in WATCHERS
        return kind, "git", event["agentId"], event["commit"]["subject"]
    what = event["text"] if kind == "capture" else event["files"][0]["path"]
    return kind, source, event["agentId"], what


async def check_timeline(team: Team) -> None:
    """See that all of it is there, each once, in its session."""
    (first, morning), (second, afternoon) = await timeline(team)
    assert sorted(map(str, morning)) == sorted(map(str, MORNING))
    assert sorted(map(str, afternoon)) == sorted(map(str, AFTERNOON))
    assert (first["status"], second["status"]) == ("closed", "active")
    assert (first["messageCount"], second["messageCount"]) == (len(MORNING), len(AFTERNOON))
    assert set(first["sources"]) | WATCHERS == {
        *("vscode", "claude-code", "cursor", "codex", "mcp-server")
    }
    assert second["headCommitSha"] == team.editor.repository.git("rev-parse", "HEAD")


def check_conversations(team: Team) -> None:
    """See that every conversation knows what was said and done in it, and nothing else."""
    talks, saved = conversations(team)
    codex = next(key for key in talks if key.startswith("mcp-"))
    assert set(talks) == {"window-1", "claude-1", "cursor-1", codex}
    told = {key: (talk.agent_id, talk.prompt_count) for key, talk in talks.items()}
    assert told.pop("window-1") == ("vscode", 0)
    assert told == {"claude-1": ("claude-code", 5), "cursor-1": ("cursor", 4), codex: ("codex", 3)}
    assert all(talks[key].ended_at for key in told)
    said = {key: sorted(note.text for note in talk.notes) for key, talk in talks.items()}
    assert said["claude-1"] == sorted((f"{CLAUDE}.", KEPT, LOST, LATE))
    assert said["cursor-1"] == sorted((CURSOR, OWED))
    files = {key: sorted(talk.files) for key, talk in talks.items()}
    assert files["claude-1"] == [f"src/claude_{number}.py" for number in range(4)]
    assert files["cursor-1"] == [f"src/cursor_{number}.py" for number in range(4)]
    cuts = [("claude-1", "pre_compaction"), ("cursor-1", "pre_compaction"), (codex, "explicit")]
    ends = [(key, "session_end") for key in told]
    assert sorted((one.session_key, one.trigger) for one in saved) == sorted((*cuts, *ends))


def conversations(team: Team) -> tuple[dict[str, Conversation], list[Checkpoint]]:
    """Read what is kept of conversations."""
    app = open_application(here=team.folder, source="cli-auto")
    vault = app.vault(None)
    found = dict(vault.conversations.by_id()), list(vault.checkpoints.all())
    app.close()
    return found


def check_that_nothing_hushed_is_kept() -> None:
    """See that no file knows of what was said and done while nothing was to be recorded."""
    home = Path(os.environ["THREADLINE_HOME"])
    holding = [
        path.name
        for path in home.rglob("*")
        if path.is_file() and HUSHED.encode() in path.read_bytes()
    ]
    assert holding == []


async def check_next_starts(team: Team) -> None:
    """See that each of them, when it comes back, is told what it should know, and once."""
    for kind in (await team.editor.ask("threadline/review/list"))["kinds"]:
        await team.editor.ask("threadline/review/decide", kind=kind, verdict="accept")
    window = await team.editor.ask("threadline/context/start", sessionKey="window-2")
    check_context(window, [RELEASE])
    assert window["changesSinceLastSession"]["commits"] == 5
    assert [one["title"] for one in window["tasksAutoCompleted"]] == [TASK]
    claude = Hooks("claude-code", team.folder, "claude-2")
    check_text(await claude.hear("SessionStart.startup"), [RELEASE, LOAD])
    await claude.say("SessionStart.resume")
    cursor = Hooks("cursor", team.folder, "cursor-2", is_doubled=True)
    check_text(await cursor.hear("sessionStart"), [RELEASE, COLOURS])
    await cursor.say("beforeSubmitPrompt", prompt="Good morning!")

    async def story(codex: Assistant) -> Any:
        return await codex.use("session_start")

    context = await Host(name="codex-mcp-client", mode="auto").join(team.folder, story)
    check_context(context, [])
    changes = context["changesSinceLastSession"]
    assert changes["commits"] < 5
    assert any("docs: tell the limits" in line for line in changes["highlights"])


def check_context(context: Any, messages: list[str]) -> None:
    """See that a plain answer has what was decided, and the messages for this agent."""
    heart = context["sessionContext"]
    assert not context["isFirstConnection"]
    assert [one["content"] for one in context["pendingMessages"]] == messages
    facts = [f"{one['title']} {one.get('text', '')}" for one in heart["importantFacts"]]
    for decided in (EDITOR, CLAUDE, CODEX):
        assert sum(decided in fact for fact in facts) == 1, decided
    rules = " ".join(f"{one['title']} {one.get('text', '')}" for one in heart["constraints"])
    assert [rules.count(one.rstrip(".")) for one in (KEPT, OWED)] == [1, 1], rules
    assert CURSOR in context["recovery"]["text"]
    assert heart["activeTasks"] == []
    sections = [*heart["recentSessions"], *heart["importantFacts"], *heart["constraints"]]
    ids = [one["memoryId"] for one in sections]
    assert len(ids) == len(set(ids))


def check_text(text: str, messages: list[str]) -> None:
    """See that a text for a host says the same."""
    told_in = parts(text)
    assert "This is the memory of" not in text
    told = told_in["Messages"].strip().splitlines()
    assert [line.partition(" UTC) ")[2] for line in told] == messages
    facts = told_in["Decisions and facts"].replace(" - because", " because")
    for decided in (EDITOR, CLAUDE, CODEX):
        assert facts.count(decided) == 1, decided
    rules = told_in["Constraints"]
    assert [rules.count(one.rstrip(".")) for one in (KEPT, OWED)] == [1, 1], rules
    assert CURSOR in told_in["Session Recovery Context"]
    assert re.search(r"since .*\bcommits?\b", told_in["Changes since last time"])
    ids = re.findall(r"^- `(\w+)`", text, re.MULTILINE)
    assert len(ids) == len(set(ids))


def parts(text: str) -> dict[str, str]:
    """Give the parts of a text for a host by their headings."""
    return dict(re.findall(r"^### (.+?)\n(.*?)(?=^###|^===)", text, re.MULTILINE | re.DOTALL))
