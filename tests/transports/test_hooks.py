"""Hooks: whatever a host sends is answered in its own form, kept once, and never keeps it waiting."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks import leaks, redaction
from benchmarks.tokens import FORMS
from protocol.messages import MessageList
from sidecar.app import Application, now, open_application
from sidecar.capture import pause
from sidecar.hosts import assistant
from sidecar.privacy import secret_files
from sidecar.storage import spool
from sidecar.text import own_words
from sidecar.transports.hooks import cleaning, main, observing, recognition
from sidecar.transports.hooks.calls import Call
from tests.hooks import failures, log
from tests.support import ROOT, Repository

pytestmark = pytest.mark.slow

PAYLOADS = Path(__file__).parent / "payloads"
HOSTS = sorted(path.stem for path in PAYLOADS.glob("*.json"))
FOLDER = "/home/dev/acme"
TEXT = "T"

NESTED = "nested"
"""Told in the form of Claude Code, with the event's own name."""
OUTCOMES: dict[str, dict[str, tuple[str, Any]]] = {
    "claude-code": {
        "PostCompact.auto": ("compact.after", None),
        "PostCompact.manual": ("compact.after", None),
        "PostToolUse.Write": ("tool", None),
        "PreCompact.auto": ("compact.before", None),
        "PreCompact.manual": ("compact.before", None),
        "SessionEnd.clear": ("session.end", None),
        "SessionEnd.logout": ("session.end", None),
        "SessionEnd.other": ("session.end", None),
        "SessionEnd.prompt_input_exit": ("session.end", None),
        "SessionEnd.resume": ("session.end", None),
        "SessionStart.clear": ("", NESTED),
        "SessionStart.compact": ("", NESTED),
        "SessionStart.fork": ("", NESTED),
        # Who goes on is not told again that there is nothing to tell.
        "SessionStart.resume": ("", None),
        "SessionStart.startup": ("", NESTED),
        "Stop.active": ("turn.end", None),
        "Stop": ("turn.end", None),
        "UserPromptSubmit": ("prompt", NESTED),
    },
    "codex": {
        "SessionStart": ("", NESTED),
        "UserPromptSubmit": ("prompt", NESTED),
        "Stop": ("turn.end", {}),
    },
    "copilot": {
        "PostToolUse.snake_case": ("tool", None),
        "SessionEnd.snake_case": ("session.end", None),
        "SessionStart.snake_case": ("", {"additionalContext": TEXT}),
        "Stop.snake_case": ("turn.end", None),
        "UserPromptSubmit.snake_case": ("prompt", {"additionalContext": TEXT}),
        "agentStop": ("turn.end", None),
        "postToolUse": ("tool", None),
        "preCompact.manual": ("compact.before", None),
        "sessionEnd": ("session.end", None),
        "sessionStart": ("", {"additionalContext": TEXT}),
        "sessionStart.resume": ("", {"additionalContext": TEXT}),
        "userPromptSubmitted": ("prompt", {"additionalContext": TEXT}),
    },
    "cursor": {
        "afterAgentResponse": ("turn.end", None),
        "afterFileEdit": ("tool", None),
        "beforeSubmitPrompt": ("prompt", {"continue": True, "additional_context": TEXT}),
        "preCompact": ("compact.before", None),
        "sessionEnd.error": ("session.end", None),
        "sessionEnd": ("session.end", None),
        "sessionStart": ("", {"additional_context": TEXT}),
        "subagentStop": ("tool", None),
        "workspaceOpen": ("", {"pluginPaths": []}),
    },
    "devin": {
        "PostCompaction": ("compact.after", None),
        "PostCompaction.null-summary": ("compact.after", None),
        "PostToolUse": ("tool", None),
        "SessionEnd": ("session.end", None),
        "SessionStart": ("", NESTED),
        "UserPromptSubmit": ("prompt", NESTED),
    },
    "vscode": {
        "PostToolUse": ("tool", None),
        "PreCompact": ("compact.before", None),
        "SessionStart": ("", NESTED),
        "SessionStart.legacy-camel": ("", NESTED),
        "UserPromptSubmit": ("prompt", NESTED),
    },
    "windsurf": {
        "post_cascade_response": ("turn.end", None),
        "post_write_code": ("tool", None),
        "pre_user_prompt": ("prompt", None),
    },
    "antigravity": {
        "PostInvocation": ("", {}),
        "PostToolUse": ("tool", {}),
        "PreInvocation": ("", {"injectSteps": [{"ephemeralMessage": TEXT}]}),
        "SessionStart": ("", {}),
        "Stop": ("", {"decision": ""}),
    },
    "opencode": {
        "chat.message": ("prompt", {"additionalContext": TEXT}),
        "experimental.session.compacting": ("compact.before", {"additionalContext": TEXT}),
        "file.edited": ("tool", None),
        "session.compacted": ("compact.after", None),
        "session.created": ("", {"additionalContext": TEXT}),
        "session.deleted": ("session.end", None),
        "tool.execute.after.builtin": ("tool", None),
    },
    "openclaw": {
        "after_compaction": ("compact.after", None),
        "after_tool_call": ("tool", None),
        "before_compaction": ("compact.before", None),
        "before_prompt_build": ("prompt", {"prependContext": TEXT}),
        "session_end": ("session.end", None),
    },
}
"""What is kept of each message, and what is answered; of all others nothing is."""
ENVIRONMENTS = {
    "copilot": {"COPILOT_CLI": "1"},
    "devin": {"DEVIN_PROJECT_DIR": FOLDER},
    "claude-code": {"CLAUDECODE": "1"},
}


def payloads() -> Iterator[Any]:
    for host in HOSTS:
        for name in json.loads((PAYLOADS / f"{host}.json").read_text()):
            yield pytest.param(host, name, id=f"{host}-{name}")


@pytest.fixture
def environment(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Give what a hook sees of its environment, in a repository with a history."""
    repository.commit("feat: begin", name="hello.txt")
    repository.write("auth/session.py")
    monkeypatch.chdir(repository.path)
    return {"THREADLINE_HOME": os.environ["THREADLINE_HOME"], "HOME": os.environ["HOME"]}


def load(host: str, name: str, folder: Path) -> dict[str, Any]:
    written = json.dumps(json.loads((PAYLOADS / f"{host}.json").read_text())[name])
    message: dict[str, Any] = json.loads(written.replace(FOLDER, str(folder)))
    return message


def respond(words: list[str], data: bytes, environment: dict[str, str]) -> main.Response:
    """Run a hook in this process; give its answer, and what is left to do."""
    return main.respond(Call(words), lambda: data, environment)


def send(environment: dict[str, str], *words: str, message: object, finish: bool = True) -> Any:
    """Run a hook in this process; give its answer with what was told as `T`."""
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    answer, rest = respond([*words], data, environment)
    if finish:
        rest()
    return shape(json.loads(answer)) if answer else None


def shape(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {name: shape(value) for name, value in answer.items()}
    if isinstance(answer, list):
        return [shape(one) for one in answer]
    return (
        TEXT if isinstance(answer, str) and answer.startswith("<!-- threadline:memory") else answer
    )


def home() -> Path:
    return Path(os.environ["THREADLINE_HOME"])


def inbox() -> list[dict[str, Any]]:
    folder = Path(os.environ["THREADLINE_HOME"]) / "inbox"
    paths = [*sorted(folder.glob("*.batch.jsonl")), folder / "current.jsonl"]
    return [
        json.loads(line)
        for path in paths
        if path.exists()
        for line in path.read_bytes().splitlines()
    ]


@pytest.mark.parametrize(("host", "name"), [*payloads()])
def test_every_message_of_every_host_has_its_outcome(
    host: str, name: str, environment: dict[str, str], repository: Repository
) -> None:
    """Part of F2."""
    kept, answer = OUTCOMES[host].get(name, ("", None))
    event = name if host == "opencode" else name.split(".", maxsplit=1)[0]
    event = event.removesuffix(".builtin").removesuffix(".mcp")
    message = load(host, name, repository.path)
    if answer == NESTED:
        told = message.get("hook_event_name") or message["hookEventName"]
        answer = {"hookSpecificOutput": {"hookEventName": told, "additionalContext": TEXT}}
    around = {
        key: value.replace(FOLDER, str(repository.path))
        for key, value in ENVIRONMENTS.get(host, {}).items()
    }
    seen: list[dict[str, Any]] = []
    drop = spool.drop

    def listen(home: str, signature: str, line: bytes | None = None, **more: Any) -> bool:
        seen.extend([json.loads(line)] if line else [])
        return drop(home, signature, line, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool, "drop", listen)
        said = send(environment | around, host, event, message=message)
    assert said == answer
    assert [(one["event"], one["host"]) for one in seen] == ([(kept, host)] if kept else [])
    for one in seen:
        assert Path(one["root"]) == repository.path


STEPS = ("", "prompt", "tool", "turn.end", "compact.before", "session.end")
"""What happens in a conversation, one after the other."""


PROMPT = "We must never log customer names."
RESPONSE = "We decided to use a token bucket instead of a sliding window."
SILENT = ("windsurf",)
"""Hosts that can be told nothing."""
WORDLESS = ("devin", "vscode", "antigravity")
"""Hosts whose hooks do not say what the assistant answered."""


def life(host: str, folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Give one message for each step of a conversation that a host tells of: the step, its name, the message."""
    for step in STEPS:
        names = [
            name
            for name, (kept, said) in OUTCOMES[host].items()
            if kept == step and (said != {} or step)
        ]
        # A file that OpenCode has seen edited may be of any conversation.
        for name in [name for name in names if name != "file.edited"][:1]:
            message = of_one_talk(load(host, name, folder))
            if host == "openclaw":
                # Its plugin adds what it has heard before.
                message["ctx"] |= {"sessionId": "talk", "workspaceDir": str(folder)}
            if host == "copilot" and step == "turn.end":
                message["transcript_path"] = write_transcript()
            yield step, name, message
    if host in {"opencode", "openclaw"}:
        yield "turn.end", *spoken(host, folder)


def write_transcript() -> str:
    """Write down what was said as Copilot does, which tells its hooks no more than where."""
    events = Path.home() / ".copilot" / "session-state" / "talk" / "events.jsonl"
    events.parent.mkdir(parents=True, exist_ok=True)
    said = {"type": "assistant.message", "data": {"content": RESPONSE}}
    events.write_text(json.dumps(said) + "\n")
    return str(events)


def spoken(host: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """Give what a plugin says when a turn ends, with what it has heard or been told."""
    name = {"opencode": "session.idle", "openclaw": "agent_end"}[host]
    message = of_one_talk(load(host, name, folder))
    if host == "opencode":
        return name, {**message, "response": RESPONSE, "directory": str(folder)}
    answer = {"role": "assistant", "content": [{"type": "text", "text": RESPONSE}]}
    return name, {**message, "event": {**message["event"], "messages": [answer]}}


def of_one_talk(message: Any) -> Any:
    """Let a sample be of one and the same conversation, in which something is said that matters."""
    ids = {"session_id", "sessionId", "sessionID", "sessionKey", "trajectory_id"}
    ids |= {"conversation_id", "conversationId"}
    words = dict.fromkeys(ids, "talk") | dict.fromkeys(("prompt", "user_prompt"), PROMPT)
    words |= dict.fromkeys(("last_assistant_message", "response"), RESPONSE)

    def follow(part: Any) -> Any:
        if isinstance(part, dict):
            # What Cursor's assistant says is called a text, as is each part of what OpenCode is told.
            named = words | {"text": PROMPT if part.get("type") == "text" else RESPONSE}
            return {
                key: named[key] if key in named and isinstance(value, str) else follow(value)
                for key, value in part.items()
            }
        if isinstance(part, list):
            return [*map(follow, part)]
        return "talk" if isinstance(part, str) and part.startswith("ses_") else part

    return follow(message)


def event_of(host: str, name: str) -> str:
    event = name if host == "opencode" else name.split(".", maxsplit=1)[0]
    return event.removesuffix(".builtin")


def form(host: str, name: str, message: dict[str, Any]) -> Any:
    """Give the answer by which a host is told something, as its sample has it."""
    answer = OUTCOMES[host][name][1]
    if answer != NESTED:
        return answer
    event = message.get("hook_event_name") or message["hookEventName"]
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": TEXT}}


QUIET: dict[tuple[str, str], Any] = {
    ("codex", "Stop"): {},
    ("antigravity", "PreInvocation"): {},
    ("antigravity", "PostToolUse"): {},
    ("cursor", "beforeSubmitPrompt"): {"continue": True},
}
"""What hosts want to hear where there is nothing to tell; all others want nothing."""


@pytest.mark.parametrize("host", HOSTS)
def test_a_conversation_of_any_host_is_told_once_and_kept_whole(
    host: str,
    environment: dict[str, str],
    repository: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F2."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with closing(open_here()) as app:
        app.call(
            "threadline/memories/write", {"type": "constraint", "title": "UTC", "content": "UTC"}
        )
    around = environment | {
        key: value.replace(FOLDER, str(repository.path))
        for key, value in ENVIRONMENTS.get(host, {}).items()
    }
    steps = sorted(life(host, repository.path), key=lambda one: STEPS.index(one[0]))
    said = [send(around, host, event_of(host, name), message=message) for _, name, message in steps]
    told = [] if host in SILENT else [0]
    told += [
        number
        for number, (step, *_) in enumerate(steps)
        if step == "compact.before" and host == "opencode"
    ]
    assert said == [
        form(host, name, message) if number in told else QUIET.get((host, name))
        for number, (_, name, message) in enumerate(steps)
    ]
    # A file of hooks that was written for another host is read by this one, too.
    word = host if host in {"codex", "opencode"} else "claude-code"
    again = [
        send(around, word, event_of(host, name), message=message) for _, name, message in steps
    ]
    assert again == [QUIET.get((host, name)) for _, name, _ in steps]
    assert failures(home()) == []
    check_memory(host, [step for step, *_ in steps])
    for step, name, message in steps:
        check_failing(host, (step, name, message), around, tmp_path)


def check_memory(host: str, steps: list[str]) -> None:
    """See that what was said and done is kept: turns, saves, checkpoints, and the end."""
    with closing(open_here()) as app:
        app.hearing.place()
        vault = app.vault(None)
        (talk,) = vault.conversations.all()
        assert (talk.harness, talk.prompt_count) == (host, int("prompt" in steps))
        is_heard = "turn.end" in steps
        assert is_heard == (host not in WORDLESS)
        assert [(note.said_by, note.text) for note in talk.notes] == [("user", PROMPT)] * (
            "prompt" in steps
        )
        kept = [entry.text for entry in vault.entries.find("sessionKey", talk.session_key)]
        kept += [checkpoint.digest for checkpoint in vault.checkpoints.all()]
        assert any(RESPONSE in text for text in kept) == is_heard
        saves = [
            (event.source, event.agent_id, [change.path for change in event.files])
            for session in vault.sessions.timeline()
            for event in vault.sessions.events(session.session_id)
            if event.kind == "save"
        ]
        assert len(talk.files) == int("tool" in steps)
        assert saves == [(host, host, list(talk.files))] * ("tool" in steps)
        assert (talk.ended_at is not None) == ("session.end" in steps)
        triggers = {"compact.before": "pre_compaction", "session.end": "session_end"}
        # Both may have been made within one millisecond.
        made = sorted(vault.checkpoints.all(), key=lambda one: one.trigger)
        assert [one.trigger for one in made] == [triggers[one] for one in steps if one in triggers]
        assert all(one.session_key == talk.session_key for one in made)
        assert not made or PROMPT in made[-1].digest


def check_failing(
    host: str, step: tuple[str, str, dict[str, Any]], around: dict[str, str], tmp_path: Path
) -> None:
    """See that a host is not held up by what fails, and that the log names it where there can be one."""
    kept, name, message = step
    homes = {"nowhere": tmp_path / "nowhere", "broken": tmp_path / f"broken {name}"}
    homes["nowhere"].write_text("no folder")
    (homes["broken"] / "inbox/current.jsonl").mkdir(parents=True)
    (homes["broken"] / "projects").write_text("no folder")
    for home in homes.values():
        broken = around | {"THREADLINE_HOME": str(home)}
        words = [host, event_of(host, name)]
        for data in (json.dumps(message).encode(), b"no JSON"):
            answer, finish = respond(words, data, broken)
            finish()
            assert json.loads(answer or b"null") == QUIET.get((host, name))
    assert len(log(homes["broken"])) == 2
    lines = failures(homes["broken"])
    assert all(f"hook {host} {event_of(host, name)}" in line for line in lines[-1:])
    assert len(lines) == 1 + bool(kept or host not in SILENT)


HEARD = {
    file.hooks.agent: file.hooks.events
    for host in assistant.find_all()
    for file in host.files
    if file.hooks
}
MORE: dict[tuple[str, str], dict[str, Any]] = {
    ("codex", "PostToolUse"): {
        "tool_name": "apply_patch",
        "tool_input": {"command": "*** Update File: a.txt"},
    },
    ("devin", "Stop"): {"last_assistant_message": "Done."},
}
"""What is not in the samples, and yet is heard."""


@pytest.mark.parametrize(
    ("host", "event"), [(host, hook.event) for host, hooks in HEARD.items() for hook in hooks]
)
def test_no_event_is_listened_to_for_nothing(host: str, event: str) -> None:
    """Part of F3."""
    if (host, event) in MORE:
        message = load(host, event, Path(FOLDER)) | MORE[host, event]
        assert observing.observe(assistant.find(host), event, message, {})
    else:
        assert event in {name.split(".", maxsplit=1)[0] for name in OUTCOMES[host]}


def test_every_outcome_is_of_a_message_that_exists() -> None:
    assert sorted(OUTCOMES) == HOSTS
    for host, outcomes in OUTCOMES.items():
        assert set(outcomes) <= set(json.loads((PAYLOADS / f"{host}.json").read_text()))


@pytest.mark.parametrize(
    ("host", "name", "said", "around", "expected"),
    [
        ("copilot", "SessionStart.snake_case", "claude-code", {"COPILOT_CLI": "1"}, "copilot"),
        ("copilot", "sessionStart", "claude-code", {"CLAUDECODE": "1"}, "copilot"),
        ("cursor", "sessionStart", "claude-code", {"CLAUDECODE": "1"}, "cursor"),
        ("devin", "SessionStart", "claude-code", {}, "devin"),
        ("claude-code", "SessionStart.startup", "copilot", {"COPILOT_CLI": "1"}, "claude-code"),
        (
            "claude-code",
            "SessionStart.startup",
            "claude-code",
            {"CURSOR_VERSION": "3"},
            "claude-code",
        ),
        ("vscode", "SessionStart", "claude-code", {}, "vscode"),
        ("codex", "SessionStart", "codex", {"CLAUDECODE": "1"}, "codex"),
        ("opencode", "session.created", "opencode", {"CLAUDECODE": "1"}, "opencode"),
        ("openclaw", "session_start", "unknown", {}, "openclaw"),
        ("windsurf", "pre_user_prompt", "claude-code", {}, "windsurf"),
    ],
)
def test_the_message_knows_its_host_better_than_the_command_line(
    host: str, name: str, said: str, around: dict[str, str], expected: str
) -> None:
    """Part of F2."""
    message = load(host, name, Path(FOLDER))
    host_found, is_sure = recognition.recognise(said, message, around)
    assert (host_found.name, is_sure) == (expected, True)


OWN = "/srv/claude/projects/-home-dev-acme/s1.jsonl"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"transcript_path": OWN}, "claude-code"),
        ({"transcript_path": OWN.replace("/", "\\")}, "claude-code"),
        ({"transcript_path": OWN, "timestamp": "2026-11-16T00:15:37.008Z"}, "copilot"),
        ({"transcript_path": OWN, "hook_event_name": None}, "copilot"),
        ({"transcript_path": "/srv/projects/s1.jsonl"}, "copilot"),
        ({"transcript_path": "/srv/projects/acme/s1.json"}, "copilot"),
        ({"transcript_path": "projects/acme/s1.jsonl"}, "copilot"),
    ],
)
def test_claude_code_with_a_folder_of_its_own_is_known_within_another_host(
    fields: dict[str, str | None], expected: str
) -> None:
    """Part of F2."""
    known = {"hook_event_name": "SessionStart", "session_id": "s1", "cwd": FOLDER, **fields}
    message = {name: value for name, value in known.items() if value is not None}
    host, is_sure = recognition.recognise("claude-code", message, {"COPILOT_CLI": "1"})
    assert (host.name, is_sure) == (expected, True)


def test_who_is_not_known_for_sure_is_told_in_every_form(environment: dict[str, str]) -> None:
    """Part of F2."""
    message = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(Path.cwd())}
    nested = {"hookEventName": "SessionStart", "additionalContext": TEXT}
    assert send(environment, "claude-code", message=message) == {
        "additionalContext": TEXT,
        "additional_context": TEXT,
        "hookSpecificOutput": nested,
    }


def claude(event: str, **fields: object) -> dict[str, object]:
    session = fields.pop("session", "s1")
    return {
        "session_id": session,
        "transcript_path": f"/home/dev/.claude/projects/-home-dev-acme/{session}.jsonl",
        "cwd": str(Path.cwd()),
        "hook_event_name": event,
        **fields,
    }


def open_here() -> Application:
    return open_application(here=Path.cwd(), source="cli-auto")


def talk(app: Application, key: str = "s1") -> Any:
    app.hearing.place()
    return app.vault(None).conversations.get(key)


def words(app: Application, key: str = "s1") -> list[str]:
    """Give what is kept of a conversation's turns."""
    app.hearing.place()
    return [one.text for one in app.vault(None).entries.find("sessionKey", key)]


def test_what_is_said_in_a_conversation_is_known_to_it_once(environment: dict[str, str]) -> None:
    """Part of F2."""
    send(environment, "claude-code", message=claude("SessionStart", source="startup"))
    prompt = claude("UserPromptSubmit", prompt="We must never log customer names.", prompt_id="p1")
    for _ in range(3):
        assert send(environment, "claude-code", message=prompt) is None
    answer = "We decided to use a token bucket instead of a sliding window."
    send(environment, "claude-code", message=claude("Stop", last_assistant_message=answer))
    send(
        environment,
        "claude-code",
        message=claude("PostToolUse", tool_name="Edit", tool_input={"file_path": "hello.txt"}),
    )
    app = open_here()
    known = talk(app)
    assert (known.prompt_count, known.harness) == (1, "claude-code")
    assert "never log customer names" in known.notes[0].text
    assert answer in words(app)
    assert known.files == ("hello.txt",)
    app.close()


def test_a_file_that_an_agent_edits_is_a_save_of_that_agent(environment: dict[str, str]) -> None:
    """Part of F2."""
    Path(".gitignore").write_text("build/\n")
    for path in ("hello.txt", "build/out.txt", ".env", "/etc/hosts", "hello.txt"):
        send(
            environment,
            "claude-code",
            message=claude("PostToolUse", tool_name="Write", tool_input={"file_path": path}),
        )
    app = open_here()
    app.hearing.place()
    vault = app.vault(None)
    events = [
        event
        for session in vault.sessions.timeline()
        for event in vault.sessions.events(session.session_id)
    ]
    assert [(one.kind, one.source, one.agent_id) for one in events] == [
        ("save", "claude-code", "claude-code")
    ]
    assert [change.path for one in events for change in one.files] == ["hello.txt"]
    assert talk(app).files == ("hello.txt",)
    app.close()


@pytest.mark.parametrize(
    ("tool", "given", "files"),
    [
        ("Write", {"file_path": "a.txt"}, ["a.txt"]),
        ("MultiEdit", {"file_path": "a.txt", "edits": [{"old_string": "x"}]}, ["a.txt"]),
        ("NotebookEdit", {"notebook_path": "a.ipynb"}, ["a.ipynb"]),
        ("editFiles", {"files": ["a.txt", "b.txt"]}, ["a.txt", "b.txt"]),
        ("str_replace_editor", {"command": "view", "path": "a.txt"}, []),
        ("str_replace_editor", {"command": "create", "path": "a.txt"}, ["a.txt"]),
        ("str_replace_editor", {"command": "str_replace", "path": "a.txt"}, ["a.txt"]),
        ("search_replace", {"file_path": "a.txt"}, ["a.txt"]),
        ("search", {"path": "a.txt"}, []),
        (
            "multi_replace_string_in_file",
            {"replacements": [{"filePath": "a.txt"}, {"filePath": "b.txt"}, {"filePath": "a.txt"}]},
            ["a.txt", "b.txt"],
        ),
        ("move_file", {"source": "a.txt", "destination": "b.txt"}, ["a.txt", "b.txt"]),
        ("rename", {"old_path": "a.txt", "new_path": "b.txt"}, ["a.txt", "b.txt"]),
        ("Write", {"file_path": "a.txt", "source": "b.txt"}, ["a.txt"]),
        (
            "apply_patch",
            {"input": "*** Update File: a.txt\n*** Move to: b.txt"},
            ["a.txt", "b.txt"],
        ),
        ("mcp__filesystem__write_file", {"path": "a.txt"}, ["a.txt"]),
        ("mcp__filesystem__move_file", {"source": "a", "destination": "b"}, ["a", "b"]),
        ("mcp_filesystem_write_file", {"path": "a.txt"}, ["a.txt"]),
        ("filesystem-write_file", {"path": "a.txt"}, ["a.txt"]),
        ("filesystem_edit_file", {"path": "a.txt"}, ["a.txt"]),
        ("mcp__filesystem__read_file", {"path": "a.txt"}, []),
        ("mcp__filesystem__create_directory", {"path": "a"}, []),
        ("mcp_filesystem_create_directory", {"path": "a"}, []),
        ("mcp__github__create_or_update_file", {"owner": "o", "repo": "r", "path": "a.txt"}, []),
        ("mcp__notes__write_memory", {"files": ["a.txt"]}, []),
        ("mcp__threadline__write_file", {"path": "a.txt"}, []),
        ("Read", {"file_path": "a.txt"}, []),
        ("TodoWrite", {"path": "a.txt"}, []),
        ("Bash", {"command": "touch a.txt", "path": "a.txt"}, []),
    ],
)
def test_a_tool_that_changes_files_is_known_by_its_name(
    tool: str, given: dict[str, object], files: list[str]
) -> None:
    """Part of F2."""
    message = claude("PostToolUse", tool_name=tool, tool_input=given)
    seen = observing.observe(assistant.find("claude-code"), "PostToolUse", message, {})
    assert seen.get("files", []) == files


CUT = """
import os, sys
from sidecar.transports.hooks import main
main._HARD_STOP = main._READING = 60
main._write = lambda answer: os._exit(0)
main.main(sys.argv[1:])
"""
"""Runs a hook that is over at the moment at which it has its answer."""


def test_a_message_is_delivered_once_the_host_has_it(environment: dict[str, str]) -> None:
    """Part of F2, F8 and F9."""
    with closing(open_here()) as app:
        sent = {"targetId": "claude-code", "senderId": "codex", "content": "Look at the locks"}
        app.call("threadline/messages/send", sent)
    start = json.dumps(claude("SessionStart", source="startup")).encode()
    words = [sys.executable, "-c", CUT, "claude-code"]
    around = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        words, env=around, input=start, capture_output=True, check=False, timeout=90
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert letters("pending") == ["Look at the locks"]
    for session, is_told in (("s2", True), ("s3", False)):
        message = json.dumps(claude("SessionStart", source="startup", session=session)).encode()
        answer, finish = respond(["claude-code"], message, environment)
        assert (b"Look at the locks" in answer) is is_told
        finish()
    assert (letters("pending"), letters("delivered")) == ([], ["Look at the locks"])


LATE = """
import sys
from sidecar.transports.hooks import main
main._HARD_STOP = main._READING = 60
main.main(sys.argv[1:])
"""
"""Runs a hook that has the time it needs."""


def test_a_host_that_has_stopped_listening_has_no_message(environment: dict[str, str]) -> None:
    """Part of F2, F8 and F9."""
    with closing(open_here()) as app:
        sent = {"targetId": "claude-code", "senderId": "codex", "content": "Look at the locks"}
        app.call("threadline/messages/send", sent)
    start = json.dumps(claude("SessionStart", source="startup")).encode()
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-c", LATE, "claude-code"]
    around = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, env=around, input=start, stdout=writer, check=False, timeout=90)
    os.close(writer)
    assert done.returncode == 0
    assert letters("pending") == ["Look at the locks"]
    message = json.dumps(claude("SessionStart", source="startup", session="s2")).encode()
    answer, finish = respond(["claude-code"], message, environment)
    finish()
    assert b"Look at the locks" in answer
    assert letters("delivered") == ["Look at the locks"]


def letters(status: str) -> list[str]:
    with closing(open_here()) as app:
        params = {"agentId": "claude-code", "status": status, "preview": True}
        found = app.call("threadline/messages/read", params)
        assert isinstance(found, MessageList)
        return [one.content for one in found.messages]


def test_a_conversation_is_told_once_and_again_after_a_cut(environment: dict[str, str]) -> None:
    """Part of F2."""
    app = open_here()
    write = {"type": "constraint", "content": "Never block a request because the limiter is down."}
    app.call("threadline/memories/write", {**write, "title": "Fail open", "importance": 5})
    app.close()
    start = claude("SessionStart", source="startup")
    assert send(environment, "claude-code", message=start) is not None
    assert send(environment, "claude-code", message=start) is None
    assert send(environment, "claude-code", message=claude("SessionStart", source="resume")) is None
    assert send(environment, "claude-code", message=claude("SessionStart", source="fork")) is None
    forked = claude("SessionStart", source="fork", session="s2")
    assert send(environment, "claude-code", message=forked) is None
    cut = claude("SessionStart", source="compact")
    assert send(environment, "claude-code", message=cut) is not None


def test_a_second_compaction_right_after_the_first_is_none_of_the_first(
    environment: dict[str, str],
) -> None:
    """Part of F2 and E8."""
    app = open_here()
    rule = {"type": "constraint", "title": "Fail open", "content": "Fail open.", "importance": 5}
    app.call("threadline/memories/write", rule)
    app.close()
    send(environment, "claude-code", message=claude("SessionStart", source="startup"))
    for summary in ("The first summary.", "The second summary."):
        said = f"We decided to write {summary.lower()}"
        send(environment, "claude-code", message=claude("UserPromptSubmit", prompt=said))
        before = claude("PreCompact", trigger="auto")
        after = claude("PostCompact", compact_summary=summary)
        start = claude("SessionStart", source="compact")
        for message in (before, before, after, after):
            assert send(environment, "claude-code", message=message) is None
        assert send(environment, "claude-code", message=start) is not None
        assert send(environment, "claude-code", message=start) is None
    app = open_here()
    assert talk(app).summary == "The second summary."
    saved = app.vault(None).checkpoints.all()
    assert [one.trigger for one in saved] == ["pre_compaction"] * 2
    app.close()


def test_who_says_the_same_again_in_another_turn_says_it_twice(environment: dict[str, str]) -> None:
    """Part of F2."""
    for turn in ("p1", "p2"):
        prompt = claude("UserPromptSubmit", prompt="Go on.", prompt_id=turn)
        for _ in range(2):
            send(environment, "claude-code", message=prompt)
    app = open_here()
    assert talk(app).prompt_count == 2
    app.close()


def test_a_start_that_came_too_late_is_told_the_next_time(environment: dict[str, str]) -> None:
    """Part of F2."""
    start = claude("SessionStart", source="startup")
    assert send(environment, "claude-code", message=start, finish=False) is not None
    inbox = Path(os.environ["THREADLINE_HOME"]) / "inbox"
    for path in (inbox / "talks").iterdir():
        os.utime(path, (1, 1))
    (inbox / "seen").unlink()
    assert send(environment, "claude-code", message=start) is not None
    assert send(environment, "claude-code", message=claude("SessionStart", source="resume")) is None


def test_who_resumes_is_told_only_what_is_new(environment: dict[str, str]) -> None:
    """Part of F2."""
    app = open_here()
    write = {"type": "constraint", "content": "Never block a request because the limiter is down."}
    app.call("threadline/memories/write", {**write, "title": "Fail open", "importance": 5})
    app.close()
    data = json.dumps(claude("SessionStart", source="startup")).encode()
    first, rest = respond(["claude-code"], data, environment)
    rest()
    assert b"Fail open" in first
    app = open_here()
    new = {"type": "constraint", "content": "Limits are configured per customer, not per endpoint."}
    app.call("threadline/memories/write", {**new, "title": "Per customer", "importance": 5})
    app.close()
    data = json.dumps(claude("SessionStart", source="resume")).encode()
    second, rest = respond(["claude-code"], data, environment)
    rest()
    assert b"Per customer" in second
    assert b"Fail open" not in second
    again, _ = respond(
        ["claude-code"], json.dumps(claude("SessionStart", source="fork")).encode(), environment
    )
    assert again == b""


def test_a_conversation_is_over_when_its_host_said_so(environment: dict[str, str]) -> None:
    """Part of F2."""
    send(environment, "claude-code", message=claude("SessionStart", source="startup"))
    send(environment, "claude-code", message=claude("UserPromptSubmit", prompt="Go on."))
    send(environment, "claude-code", message=claude("PreCompact", trigger="auto"))
    send(environment, "claude-code", message=claude("SessionEnd", reason="other"))
    at_last = now()
    app = open_here()
    known = talk(app)
    assert known.ended_at is not None
    assert known.last_seen_at <= known.ended_at <= at_last
    saved = app.vault(None).checkpoints.all()
    assert [one.created_at <= at_last for one in saved] == [True, True]
    app.close()


def test_who_resumes_a_fork_is_not_told_again_what_its_origin_was(
    environment: dict[str, str],
) -> None:
    """Part of F2."""
    app = open_here()
    write = {"type": "constraint", "content": "Never block a request because the limiter is down."}
    app.call("threadline/memories/write", {**write, "title": "Fail open", "importance": 5})
    app.call("threadline/tasks/create", {"tasks": [{"title": "Measure the limiter"}]})
    app.close()
    told = [
        send(environment, "claude-code", message=claude("SessionStart", source=source, session=key))
        for source, key in (
            ("startup", "s1"),
            ("fork", "s2"),
            ("resume", "s2"),
            ("compact", "s2"),
            ("resume", "s1"),
        )
    ]
    assert [one is None for one in told] == [False, True, True, False, True]
    app = open_here()
    forked = app.vault(None).conversations.get("s2")
    assert forked is not None
    assert (forked.previous_session_key, forked.given) == ("s1", talk(app).given)
    app.close()


@pytest.mark.parametrize(
    ("chosen", "seconds"),
    [(None, 1.8), ("20", 20), ("0.5", 0.5), ("0", 1.8), ("-1", 1.8), ("61", 1.8)]
    + [(odd, 1.8) for odd in ("", "soon", "nan", "inf")],
)
def test_a_user_may_give_hooks_more_time(chosen: str | None, seconds: float) -> None:
    """Part of F2."""
    assert main.limit({} if chosen is None else {"THREADLINE_HOOK_SECONDS": chosen}) == seconds


def copilot(event: str, **fields: object) -> bytes:
    return json.dumps(
        {"sessionId": "c1", "timestamp": 1794841229049, "cwd": str(Path.cwd()), **fields}
        | {"hookEventName": event}
    ).encode()


def tell(environment: dict[str, str], data: bytes) -> bytes:
    """Run a hook of Copilot to its end, and give what it told."""
    answer, rest = respond(["copilot"], data, environment)
    rest()
    return answer


def test_a_conversation_that_begins_is_not_told_what_was_just_said_in_it(
    environment: dict[str, str],
) -> None:
    """Part of F2. Copilot tells of the start and of the first prompt at once, in either order."""
    data = copilot("userPromptSubmitted", prompt="We decided to use postgres for the ledger.")
    seen = observing.observe(
        assistant.find("copilot"), "userPromptSubmitted", json.loads(data), environment
    )
    line = json.dumps({**seen, "key": observing.key(seen)}).encode()
    spool.drop(environment["THREADLINE_HOME"], "a prompt", line)
    told = tell(environment, copilot("sessionStart", source="new"))
    assert b"threadline:memory" in told
    assert b"postgres" not in told
    app = open_here()
    assert "postgres" in talk(app, "c1").notes[0].text
    app.close()


def test_a_host_that_forgets_what_it_was_told_is_told_again_when_it_resumes(
    environment: dict[str, str],
) -> None:
    """Part of F2."""
    first = tell(environment, copilot("sessionStart", source="new"))
    again = tell(environment, copilot("sessionStart", source="resume"))
    assert b"threadline:memory" in first
    assert b"threadline:memory" in again
    assert b"Recovery" not in again
    tell(environment, copilot("preCompact", trigger="manual"))
    asked = copilot("userPromptSubmitted", prompt="Where were we?")
    assert b"threadline:memory" in tell(environment, asked)
    # What it was told with a prompt, it keeps.
    (Path(environment["THREADLINE_HOME"]) / "inbox" / "seen").unlink()
    assert tell(environment, copilot("sessionStart", source="resume")) == b""


def test_what_is_owed_after_a_compaction_is_told_when_the_conversation_is_resumed(
    environment: dict[str, str],
) -> None:
    """Part of E8."""
    tell(environment, copilot("sessionStart", source="new"))
    tell(environment, copilot("userPromptSubmitted", prompt="We must never block a request."))
    tell(environment, copilot("preCompact", trigger="manual"))
    for _ in range(2):
        # What it is told when it is resumed, it has forgotten when it is resumed again.
        again = tell(environment, copilot("sessionStart", source="resume"))
        assert b"never block a request" in again
        assert tell(environment, copilot("userPromptSubmitted", prompt="Go on.")) == b""
        (Path(environment["THREADLINE_HOME"]) / "inbox" / "seen").unlink()


def test_before_a_compaction_all_that_is_known_is_saved(environment: dict[str, str]) -> None:
    """Part of E8."""
    send(environment, "claude-code", message=claude("SessionStart", source="startup"))
    said = "We must never block a request because the limiter is down."
    send(environment, "claude-code", message=claude("UserPromptSubmit", prompt=said))
    send(environment, "claude-code", message=claude("PreCompact", trigger="auto"))
    data = json.dumps(claude("SessionStart", source="compact")).encode()
    answer, rest = respond(["claude-code"], data, environment)
    rest()
    assert b"never block a request" in answer
    app = open_here()
    app.hearing.place()
    found = app.vault(None).checkpoints.find("sessionKey", "s1")
    assert [one.trigger for one in found] == ["pre_compaction"]
    app.close()


def test_a_host_that_cannot_be_told_after_a_cut_is_told_at_the_next_prompt(
    environment: dict[str, str],
) -> None:
    """Part of E8."""
    around = environment | {"DEVIN_PROJECT_DIR": str(Path.cwd())}

    def devin(event: str, **fields: object) -> bytes:
        message = {"session_id": "bramble-heron", "hook_event_name": event, **fields}
        answer, rest = respond(["devin", event], json.dumps(message).encode(), around)
        rest()
        return answer

    assert devin("SessionStart", source="startup")
    kept = "Keep the counters in Postgres instead of Redis because we run no Redis."
    lost = "Limits must be configurable per customer, never per endpoint."
    assert devin("UserPromptSubmit", prompt=kept) == b""
    assert devin("UserPromptSubmit", prompt=lost) == b""
    assert devin("PostCompaction", summary=f"The user decided: {kept}") == b""
    told = devin("UserPromptSubmit", prompt="Where are we?")
    assert b"per customer" in told
    assert b"Postgres instead of Redis" not in told
    assert devin("UserPromptSubmit", prompt="Go on.") == b""


def test_nothing_is_kept_while_capture_is_paused(environment: dict[str, str]) -> None:
    """Part of B6."""
    app = open_here()
    app.call("threadline/capture/pause", {"duration": "forever"})
    send(environment, "claude-code", message=claude("UserPromptSubmit", prompt="We must be quiet."))
    assert inbox() == []
    spool.drop(
        str(app.home.folder),
        "x",
        json.dumps(
            {
                "key": "k",
                "host": "claude-code",
                "event": "prompt",
                "root": str(Path.cwd()),
                "at": observing._moment(time.time()),
                "sessionKey": "s1",
                "prompt": "We must be quiet.",
            }
        ).encode(),
    )
    app.call("threadline/capture/resume", {})
    assert talk(app) is None or talk(app).prompt_count == 0
    app.close()
    assert not any(b"be quiet" in path.read_bytes() for path in kept_files())


def test_what_was_said_right_before_a_pause_is_kept(environment: dict[str, str]) -> None:
    """Part of B6."""
    send(environment, "claude-code", message=claude("SessionStart", source="startup"))
    app = open_here()
    vault = app.vault(None)
    send(environment, "claude-code", message=claude("UserPromptSubmit", prompt="We must be loud."))
    pause.pause(vault, "forever", "")
    assert talk(app).prompt_count == 1
    app.call("threadline/capture/resume", {})
    send(environment, "claude-code", message=claude("SessionEnd", reason="other"))
    app._is_watching = True  # so that it is another thread that places what was heard
    app.call("threadline/capture/pause", {})
    assert talk(app).ended_at is not None
    app.close()


def kept_files() -> list[Path]:
    return [path for path in Path(os.environ["THREADLINE_HOME"]).rglob("*") if path.is_file()]


@pytest.mark.slow
def test_no_secret_reaches_any_file(environment: dict[str, str]) -> None:
    """Part of F2."""
    from random import Random  # noqa: PLC0415  # used here alone

    send(environment, "claude-code", message=claude("SessionStart", source="startup"))
    chance = Random("hooks")
    made = [redaction.token(kind, chance) for kind in FORMS]
    made += [leaks.place(kind, chance) for kind in leaks.PLACES]
    gone = [(secret, text) for secret, text in made if secret not in cleaning.clean_text(text)]
    assert len(gone) > len(made) * 0.95
    for number, (_, text) in enumerate(gone):
        said = f"{number} <private>my diary {number}</private>\n{text}"
        field = {"prompt": said} if number % 2 else {"last_assistant_message": said}
        event = "UserPromptSubmit" if number % 2 else "Stop"
        send(environment, "claude-code", message=claude(event, **field))
    waiting = b"".join(path.read_bytes() for path in kept_files())
    app = open_here()
    app.hearing.place()
    app.close()
    held = waiting + b"".join(path.read_bytes() for path in kept_files())
    assert b"my diary" not in held
    assert [secret for secret, _ in gone if secret.encode() in held] == []


@pytest.mark.slow
def test_our_own_words_coming_back_make_nothing_new(environment: dict[str, str]) -> None:
    """Part of F2."""
    app = open_here()
    write = {"type": "constraint", "content": "We must never block a request: fail open."}
    app.call("threadline/memories/write", {**write, "title": "Fail open", "importance": 5})
    app.close()
    counts = []
    for number in range(10):
        session = f"s{number}"
        data = json.dumps(claude("SessionStart", source="startup", session=session)).encode()
        answer, rest = respond(["claude-code"], data, environment)
        rest()
        told = json.loads(answer)["hookSpecificOutput"]["additionalContext"]
        assert own_words.NAME in told
        send(
            environment,
            "claude-code",
            message=claude("Stop", session=session, last_assistant_message=told),
        )
        send(
            environment,
            "claude-code",
            message=claude("UserPromptSubmit", session=session, prompt=told),
        )
        app = open_here()
        known = talk(app, session)
        counts.append((len(app.vault(None).memories), len(known.notes)))
        app.close()
    assert counts == [(1, 0)] * 10


def test_what_a_host_does_not_say_is_read_from_its_transcript(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F2."""
    monkeypatch.setenv("HOME", str(tmp_path / "own"))
    transcript = tmp_path / "own" / ".copilot" / "session-state" / "s1" / "events.jsonl"
    transcript.parent.mkdir(parents=True)
    said = {"content": "We decided to use a token bucket instead of a sliding window."}
    line = {"type": "assistant.message", "data": said}
    transcript.write_text(json.dumps(line) + "\n")
    message = {"sessionId": "s1", "timestamp": 1, "cwd": str(Path.cwd())}
    send(environment, "copilot", "sessionStart", message=message)
    stop = {**message, "transcriptPath": str(transcript), "stopReason": "end_turn"}
    send(environment, "copilot", "agentStop", message=stop)
    app = open_here()
    assert words(app) == [said["content"]]
    app.close()


def test_a_hook_of_another_host_is_answered_in_both_forms(environment: dict[str, str]) -> None:
    message = {
        "hook_event_name": "SessionStart",
        "cursor_version": "3.20.17",
        "conversation_id": "c1",
        "workspace_roots": [str(Path.cwd())],
    }
    nested = {"hookEventName": "SessionStart", "additionalContext": TEXT}
    assert send(environment, "claude-code", message=message) == {
        "additional_context": TEXT,
        "hookSpecificOutput": nested,
    }


def test_a_secret_in_the_name_of_a_conversation_is_not_kept(environment: dict[str, str]) -> None:
    token = "gh" + "p_" + "0123456789abcdefghijABCDEFGHIJ012345"
    message = claude("Stop", last_assistant_message="Done.", session=token)
    send(environment, "claude-code", message=message | {"transcript_path": "/.claude/projects/x"})
    assert len(inbox()) == 1
    assert not any(token.encode() in path.read_bytes() for path in kept_files())


def test_what_belongs_nowhere_is_kept_aside_and_not_tried_again(
    environment: dict[str, str], tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    message = claude("UserPromptSubmit", prompt="We must go.") | {"cwd": str(gone)}
    send(environment, "claude-code", message=message)
    app = open_here()
    app.hearing.place()
    assert spool.is_empty(str(app.home.folder))
    aside = (app.home.folder / "logs" / "unplaced.jsonl").read_text()
    assert "We must go." in aside
    app.hearing.place()
    assert (app.home.folder / "logs" / "unplaced.jsonl").read_text() == aside
    report = app.call("threadline/purge", {"phrase": "We must go."})
    assert "We must go." not in (app.home.folder / "logs" / "unplaced.jsonl").read_text()
    assert getattr(report, "verified", False)
    app.close()


def test_a_crash_while_placing_makes_nothing_twice(environment: dict[str, str]) -> None:
    send(environment, "claude-code", message=claude("SessionStart", source="startup"))
    for number in range(6):
        send(
            environment,
            "claude-code",
            message=claude("UserPromptSubmit", prompt=f"Prompt {number}"),
        )
    app = open_here()
    batches = spool.Batches(str(app.home.folder))
    (name,) = batches.names()
    path = app.home.folder / "inbox" / name
    content = path.read_bytes()
    batches.close()
    assert talk(app).prompt_count == 6
    path.write_bytes(content)
    assert talk(app).prompt_count == 6
    app.close()


def test_who_has_little_time_goes_on_where_it_stopped(environment: dict[str, str]) -> None:
    send(environment, "claude-code", message=claude("SessionStart", source="startup"))
    home = os.environ["THREADLINE_HOME"]
    for number in range(4):
        said = claude("UserPromptSubmit", prompt=f"Prompt {number}")
        send(environment, "claude-code", message=said)
        batches = spool.Batches(home)
        assert len(batches.names()) == number + 1
        batches.close()
    app = open_here()
    for expected in (1, 2, 3, 4):
        app.hearing.place(0.0)
        known = app.vault(None).conversations.get("s1")
        assert known is not None
        assert known.prompt_count == expected
    app.close()


def test_a_line_that_was_cut_costs_only_itself(environment: dict[str, str]) -> None:
    send(environment, "claude-code", message=claude("SessionStart", source="startup"))
    current = Path(os.environ["THREADLINE_HOME"]) / "inbox" / "current.jsonl"
    current.write_bytes(b'{"key": "cut')
    current.chmod(0o600)
    send(environment, "claude-code", message=claude("UserPromptSubmit", prompt="Whole"))
    app = open_here()
    assert talk(app).prompt_count == 1
    assert "cut" in (app.home.folder / "logs" / "unplaced.jsonl").read_text()
    app.close()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe{}",
        b"{}" * 2,
        b'{"hook_event_name": "SessionStart", "session_id": NaN}',
        b'{"hook_event_name": "SessionStart", "hook_event_name": "Stop"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"session_id": ' + b"9" * 5000 + b"}",
        pytest.param(json.dumps({"prompt": "x" * 17_000_000}).encode(), id="too long"),
        b'{"prompt": "' + b"\\ud800" * 10 + b'", "hook_event_name": 7}',
        json.dumps({"hook_event_name": ["SessionStart"], "session_id": {"a": 1}}).encode(),
        json.dumps({"hook_event_name": "SessionStart", "cwd": 7, "session_id": 7}).encode()[:-3],
        json.dumps({"hook_event_name": "Stop", "session_id": "s", "messages": [[1], 2]}).encode(),
        json.dumps({"hook_event_name": "PostToolUse", "tool_name": 5, "tool_input": "{"}).encode(),
    ],
)
def test_a_broken_message_is_answered_with_silence(
    data: bytes, environment: dict[str, str]
) -> None:
    """Part of F2."""
    assert respond(["claude-code", ""], data, environment)[0] == b""
    assert inbox() == []


@pytest.mark.parametrize(
    ("host", "event", "form"),
    [
        ("codex", "Stop", b"{}"),
        ("codex", "UserPromptSubmit", b""),
        ("antigravity", "PreInvocation", b"{}"),
        ("antigravity", "PostInvocation", b"{}"),
        ("antigravity", "PostToolUse", b"{}"),
        ("antigravity", "Stop", b'{"decision": ""}'),
        ("cursor", "beforeSubmitPrompt", b'{"continue": true}'),
        ("cursor", "workspaceOpen", b'{"pluginPaths": []}'),
        ("claude-code", "Stop", b""),
        ("nobody", "Stop", b""),
    ],
)
def test_a_host_that_wants_an_answer_gets_it_though_all_fails(
    host: str, event: str, form: bytes, environment: dict[str, str], tmp_path: Path
) -> None:
    """Part of F2."""
    (tmp_path / "file").write_bytes(b"no folder")
    nowhere = environment | {"THREADLINE_HOME": str(tmp_path / "file")}
    prompt = {"session_id": "s", "prompt": "x", "response": "x", "hook_event_name": event}
    for data, around in (
        (b"{", environment),
        (b"", nowhere),
        (json.dumps(prompt).encode(), nowhere),
    ):
        assert respond([host, event], data, around)[0] == form


def test_the_log_says_what_was_done_and_nothing_of_what_was_said(
    environment: dict[str, str],
) -> None:
    """Part of F2."""
    stop = claude("Stop", last_assistant_message="Marmalade")
    for message in (
        claude("UserPromptSubmit", prompt="Marmalade"),
        stop,
        stop,
        claude("SessionStart", source="compact"),
        claude("PostToolUse", tool_name="Read", tool_input={"file_path": "hello.txt"}),
        claude("Marmalade"),
    ):
        send(environment, "claude-code", "Event", message=message)
    with closing(open_here()) as app:
        app.call("threadline/capture/pause", {"duration": "forever"})
    send(environment, "claude-code", message=claude("Stop", last_assistant_message="Jam"))
    send(environment, "claude-code", "Stop\nMarmalade", message=b"no JSON")
    form = r"[\d-]+T[\d:]+Z \d+ hook (.*), \d+ ms"
    found = [re.fullmatch(form, line) for line in log(home())]
    assert [one and re.sub(r":\d+", "", one[1]) for one in found] == [
        "claude-code UserPromptSubmit: kept and told",
        "claude-code Stop: kept",
        "claude-code Stop: duplicate",
        "claude-code SessionStart: told",
        "claude-code Event: nothing",
        "claude-code Event: nothing",
        "claude-code Stop: paused",
        "claude-code StopMarmalade: failed: ValueError in decode",
    ]


def test_the_log_is_begun_anew_when_it_has_grown(environment: dict[str, str]) -> None:
    place = home() / "logs"
    place.mkdir(parents=True, mode=0o700)
    (place / "hooks.log").write_bytes(b"x" * 300_000)
    send(environment, "claude-code", "Stop", message=claude("Stop", last_assistant_message="x"))
    assert len(log(home())) == 1
    assert (place / "hooks.log.1").stat().st_size == 300_000


JSONS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=12)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("host", HOSTS)
def test_a_message_with_wrong_types_breaks_nothing(host: str, tmp_path: Path) -> None:
    """Part of F2."""
    known = json.loads((PAYLOADS / f"{host}.json").read_text())
    starts = ("sessionstart", "prompt", "created", "chatmessage", "preinvocation", "compacting")
    quiet = {
        name: one
        for name, one in known.items()
        if not any(s in name.lower().replace("_", "") for s in starts)
    }
    around = {"THREADLINE_HOME": str(tmp_path / "fuzzed")}

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(sorted(quiet)), st.data())
    def hold(name: str, data: st.DataObject) -> None:
        message = dict(quiet[name])
        for field in data.draw(st.lists(st.sampled_from(sorted(message)), max_size=3)):
            message[field] = data.draw(JSONS)
        fallible = respond(
            [host, name.split(".", maxsplit=1)[0]], json.dumps(message).encode(), around
        )
        assert fallible[0] in {b"", b"{}", b'{"decision": ""}', b'{"pluginPaths": []}'}

    hold()
    assert failures(tmp_path / "fuzzed") == []


@given(
    st.sampled_from([*secret_files._NAMES, *secret_files._FOLDERS]), st.text("abc.-", max_size=4)
)
def test_no_file_that_may_hold_secrets_is_named(name: str, letters: str) -> None:
    for path in (
        f"a/{name.replace('*', letters)}",
        f"{name.replace('*', letters)}/a",
        name.upper(),
    ):
        assert cleaning._is_secret(path) == secret_files.is_secret(path)


@pytest.mark.parametrize(
    "path",
    [".env", "a/.env.local", "id_rsa", "x.pem", "a.key", ".ssh/config", "secrets/a", "prod.tfvars"],
)
def test_files_that_hold_secrets_are_not_named(path: str) -> None:
    assert cleaning._is_secret(path)
    assert not cleaning._is_secret("src/keyboard.py")


def test_every_place_is_private(environment: dict[str, str]) -> None:
    send(environment, "claude-code", message=claude("UserPromptSubmit", prompt="Hello"))
    send(environment, "claude-code", message=b"{")
    for path in (home(), *home().rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path
    assert "in decode" in failures(home())[0]


@pytest.mark.parametrize("place", ["inbox", "inbox/current.jsonl", "inbox/lock"])
def test_a_link_in_our_place_is_not_followed(
    place: str, environment: dict[str, str], tmp_path: Path
) -> None:
    home = Path(os.environ["THREADLINE_HOME"])
    target = tmp_path / "elsewhere"
    (home / place).parent.mkdir(parents=True, mode=0o700)
    if place == "inbox":
        target.mkdir()
    else:
        target.write_bytes(b"mine")
    (home / place).symlink_to(target)
    message = claude("Stop", last_assistant_message="We must not write there.")
    assert send(environment, "claude-code", message=message) is None
    written = [*target.iterdir()] if target.is_dir() else target.read_bytes()
    assert written in ([], b"mine")


def test_a_log_does_not_grow_for_ever() -> None:
    home = Path(os.environ["THREADLINE_HOME"])
    for _ in range(3):
        spool.keep_aside(str(home / "logs" / "x"), b"a" * 100, 50)
    assert sorted(path.name for path in (home / "logs").iterdir()) == ["x", "x.1"]


def test_a_claim_is_had_by_one_alone(tmp_path: Path) -> None:
    home = str(tmp_path / "h")
    claim: Callable[..., str | None] = spool.claim
    assert claim(home, "t", is_start=False) == "new"
    assert claim(home, "t", is_start=False) is None
    assert claim(home, "t", is_start=True) is None
    spool.keep_promise(home, "t")
    assert claim(home, "t", is_start=False) is None
    spool.promise(home, "t")
    assert claim(home, "t", is_start=False) == "owed"


def test_a_conversation_that_is_first_heard_of_as_it_is_cut_is_told(
    environment: dict[str, str], repository: Repository
) -> None:
    """Part of E8."""
    event = "experimental.session.compacting"
    message = load("opencode", event, repository.path)
    answer = send(environment, "opencode", event, message=message)
    assert answer == {"additionalContext": TEXT}
    assert failures(home()) == []


def test_who_fails_to_tell_is_followed_by_one_other(tmp_path: Path) -> None:
    home = str(tmp_path / "h")
    path = tmp_path / "h" / "inbox" / "talks" / "t"
    for expected in ("new", "new", None):
        assert spool.claim(home, "t", is_start=False) == expected
        os.utime(path, (1, 1))


def test_the_memory_of_repetitions_stays_small(tmp_path: Path) -> None:
    home = str(tmp_path / "h")
    for number in range(1500):
        assert spool.drop(home, f"{number:024d}")
    assert not spool.drop(home, f"{1499:024d}")
    assert (tmp_path / "h" / "inbox" / "seen").stat().st_size < 20_000
