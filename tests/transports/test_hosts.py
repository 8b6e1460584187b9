"""Hooks as hosts run them: real processes that end by themselves, with 0, in time, whatever they meet."""

import fcntl
import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from protocol.methods import Change
from sidecar.app import open_application
from sidecar.code.folder_watcher import Watches
from tests.hooks import FOLDER, PAYLOADS, failures, log
from tests.support import ROOT, Repository, threadline

pytestmark = pytest.mark.slow

SECONDS = 20.0
"""Two are promised and measured by the benchmarks; here a hang is caught, on a machine however busy."""
MEMORY = 300 * 1024 * 1024
COMMAND = [
    sys.executable,
    "-c",
    "from sidecar.transports.entry import main; raise SystemExit(main())",
    "hook",
]


def message(event: str, folder: Path, **fields: object) -> bytes:
    known = {
        "session_id": "s1",
        "transcript_path": "/home/dev/.claude/projects/-home-dev-acme/s1.jsonl",
        "cwd": str(folder),
        "hook_event_name": event,
    }
    return json.dumps({**known, **fields}).encode()


def start(folder: Path, *, host: str = "claude-code", **options: Any) -> "subprocess.Popen[bytes]":
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(
        [*COMMAND, *host.split()],
        cwd=folder,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        text=False,
        **(streams | options),
    )


def run(folder: Path, data: bytes, **options: Any) -> tuple[int, bytes, bytes, float]:
    began = time.monotonic()
    with start(folder, **options) as process:
        output, errors = process.communicate(data, timeout=30)
        return process.returncode, output or b"", errors or b"", time.monotonic() - began


def check_silent(told: tuple[int, bytes, bytes, float]) -> None:
    code, output, errors, seconds = told
    assert (code, output, errors) == (0, b"", b"")
    assert seconds < SECONDS


def waiting() -> bytes:
    folder = Path(os.environ["THREADLINE_HOME"]) / "inbox"
    return b"".join(path.read_bytes() for path in sorted(folder.glob("*.jsonl")))


@pytest.fixture
def stopped() -> Iterator[Callable[[Path], None]]:
    """Let a process hold a lock and stop."""
    held: list[subprocess.Popen[bytes]] = []

    def hold(path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        code = (
            "import fcntl, os, signal, sys\n"
            "file = open(sys.argv[1], 'ab'); os.fchmod(file.fileno(), 0o600)\n"
            "fcntl.flock(file, fcntl.LOCK_EX); print('held', flush=True)\n"
            "os.kill(os.getpid(), signal.SIGSTOP)"
        )
        process = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        held.append(process)

    yield hold
    for process in held:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("host", sorted(path.stem for path in PAYLOADS.glob("*.json")))
def test_every_sample_of_a_host_passes_through_the_command(
    host: str, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F2."""
    monkeypatch.setenv("THREADLINE_HOOK_SECONDS", "60")
    text = (PAYLOADS / f"{host}.json").read_text().replace(FOLDER, str(repository.path))
    samples = json.loads(text)
    for name, sample in samples.items():
        event = name if host == "opencode" else name.split(".", maxsplit=1)[0]
        data = json.dumps(sample).encode()
        code, output, errors, _ = run(repository.path, data, host=f"{host} {event}")
        assert (name, code, errors) == (name, 0, b"")
        assert not output or isinstance(json.loads(output), dict)
    home = Path(os.environ["THREADLINE_HOME"])
    assert failures(home) == []
    assert len(log(home)) == len(samples)


def test_a_host_that_leaves_the_pipe_open_is_heard(repository: Repository) -> None:
    """Part of F2."""
    said = message("Stop", repository.path, last_assistant_message="We must go on.")
    with start(repository.path) as process:
        assert process.stdin is not None
        process.stdin.write(said)
        process.stdin.flush()
        assert process.wait(timeout=30) == 0
    assert b"We must go on." in waiting()


def test_a_message_that_comes_in_two_parts_is_heard_whole(repository: Repository) -> None:
    """Part of F2."""
    said = message("Stop", repository.path, last_assistant_message="We must {go} on.")
    first, second = said[: said.index(b"}") + 1], said[said.index(b"}") + 1 :]
    with start(repository.path) as process:
        assert process.stdin is not None
        process.stdin.write(first)
        process.stdin.flush()
        assert drained(process.stdin)
        # The silence in which a hook asks itself whether this was all.
        time.sleep(0.1)
        process.stdin.write(second)
        process.stdin.close()
        assert process.wait(timeout=30) == 0
    assert b"We must {go} on." in waiting()


def drained(pipe: IO[bytes]) -> bool:
    """Wait until a reader has taken all that was written."""
    deadline = time.monotonic() + 30
    left = bytearray(4)
    while time.monotonic() < deadline:
        fcntl.ioctl(pipe, termios.FIONREAD, left)
        if not any(left):
            return True
        time.sleep(0.005)
    return False


@pytest.mark.parametrize("data", [b'{"session_id": "s1', b'{"session_id": "s1"', b'{"a" 1}', b"{"])
def test_a_message_that_is_cut_is_named_in_the_log(data: bytes, repository: Repository) -> None:
    """Part of F2."""
    check_silent(run(repository.path, data))
    (line,) = failures(Path(os.environ["THREADLINE_HOME"]))
    assert "ValueError in decode" in line


def test_arguments_that_are_cut_cost_only_themselves(repository: Repository) -> None:
    """Part of F2."""
    known = {"sessionId": "c1", "timestamp": 1794841229049, "cwd": str(repository.path)}
    cut = {"toolName": "create", "toolArgs": '{"path": "a.txt", "file_text": "Hel'}
    told = {"tool_input": {"path": "b.txt"}}
    data = json.dumps({**known, **cut, **told}).encode()
    check_silent(run(repository.path, data, host="copilot postToolUse"))
    (line,) = waiting().splitlines()
    assert json.loads(line)["files"] == ["b.txt"]


@pytest.mark.parametrize(
    "content", [b'[{"until": null, "rea', b"{", b"\xff", b'[{"until": {}}]', b""]
)
def test_pauses_that_are_broken_harm_nobody(content: bytes, repository: Repository) -> None:
    """Part of F2 and B6."""
    home = Path(os.environ["THREADLINE_HOME"])
    (home / "projects" / "another").mkdir(parents=True)
    (home / "projects" / "another" / "pauses.json").write_bytes(content)
    (home / "projects" / "another" / "folders.json").write_bytes(content)
    said = message("Stop", repository.path, last_assistant_message="We must go on.")
    check_silent(run(repository.path, said))
    assert b"We must go on." in waiting()


def test_a_host_that_says_nothing_is_not_waited_for(repository: Repository) -> None:
    """Part of F2."""
    began = time.monotonic()
    with start(repository.path) as process:
        assert process.wait(timeout=30) == 0
    assert time.monotonic() - began < SECONDS


def test_who_is_out_of_time_says_so_in_the_form_of_the_host(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F2."""
    monkeypatch.setenv("THREADLINE_HOOK_SECONDS", "0.3")
    with start(repository.path, host="codex Stop") as process:
        assert process.wait(timeout=30) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b"{}"
    (line,) = log(Path(os.environ["THREADLINE_HOME"]))
    assert "hook codex Stop: out of time, " in line


def test_a_host_that_does_not_listen_is_no_failure(repository: Repository) -> None:
    """Part of F2."""
    reading, writing = os.pipe()
    os.close(reading)
    told = run(repository.path, message("SessionStart", repository.path), stdout=writing)
    os.close(writing)
    check_silent(told)


def test_a_locked_inbox_loses_nothing(
    repository: Repository, stopped: Callable[[Path], None]
) -> None:
    """Part of F2."""
    stopped(Path(os.environ["THREADLINE_HOME"]) / "inbox" / "lock")
    said = message("Stop", repository.path, last_assistant_message="We must go on.")
    check_silent(run(repository.path, said))
    assert b"We must go on." in waiting()


def test_a_locked_store_keeps_no_host_waiting(
    repository: Repository, stopped: Callable[[Path], None]
) -> None:
    """Part of F2."""
    app = open_application(here=repository.path, source="cli-auto")
    folder = app.vault(None).folder
    app.close()
    stopped(folder / "lock")
    stopped(Path(os.environ["THREADLINE_HOME"]) / "lock")
    code, _, errors, seconds = run(repository.path, message("SessionStart", repository.path))
    assert (code, errors) == (0, b"")
    assert seconds < SECONDS


@pytest.mark.parametrize("event", ["Stop", "SessionStart", "PreCompact", "SessionEnd"])
def test_a_home_that_cannot_be_written_is_no_failure(
    event: str, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F2."""
    (tmp_path / "file").write_bytes(b"no folder")
    monkeypatch.setenv("THREADLINE_HOME", str(tmp_path / "file"))
    check_silent(run(repository.path, message(event, repository.path, last_assistant_message="x")))


@pytest.mark.parametrize("event", ["Stop", "SessionStart", "UserPromptSubmit"])
def test_a_full_disk_is_no_failure(event: str, repository: Repository) -> None:
    """Part of F2."""

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    said = message(event, repository.path, last_assistant_message="x", prompt="x")
    check_silent(run(repository.path, said, preexec_fn=fill))


@pytest.mark.parametrize("kind", ["fifo", "/dev/zero", "/etc/passwd", "folder"])
def test_a_transcript_that_is_none_is_not_read(
    kind: str, repository: Repository, tmp_path: Path
) -> None:
    """Part of F2."""
    path = Path(kind) if kind.startswith("/") else tmp_path / ".claude" / "projects" / "s1.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (8 * MEMORY, 8 * MEMORY))

    said = message("SessionStart", repository.path, source="compact", transcript_path=str(path))
    code, output, errors, seconds = run(repository.path, said, preexec_fn=limit)
    assert (code, errors) == (0, b"")
    assert b"root:" not in output
    assert seconds < SECONDS


@pytest.mark.parametrize(("words", "kept"), [(3_000_000, 1), (4_000_000, 0)])
def test_a_huge_message_takes_little_memory(words: int, kept: int, repository: Repository) -> None:
    """Part of F2."""
    said = message("Stop", repository.path, last_assistant_message="word " * words + "\U0001f9f5")
    # A process is also charged with the memory of whoever started it: let that be a small one.
    weigh = (
        "import resource, subprocess, sys; "
        "done = subprocess.run(sys.argv[1:], stdin=0, stdout=subprocess.DEVNULL); "
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    weighed = subprocess.run(
        [sys.executable, "-c", weigh, *COMMAND, "claude-code"],
        cwd=repository.path,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        input=said,
        capture_output=True,
        check=True,
    )
    code, kilobytes = map(int, weighed.stdout.split())
    assert (code, weighed.stderr) == (0, b"")
    assert kilobytes * 1024 < MEMORY
    assert len(waiting().splitlines()) == kept


def test_an_edit_of_a_large_file_is_heard(repository: Repository) -> None:
    """Part of F2. Claude Code sends the file before and after, and what changed."""
    lines = [f"line {number}\n" for number in range(100_000)]
    text = "".join(lines)
    given = {"file_path": str(repository.path / "large.txt"), "content": text}
    patch = [{"oldStart": 1, "newStart": 1, "lines": [f"+{line}" for line in lines]}]
    done = {**given, "type": "update", "originalFile": text, "structuredPatch": patch}
    edit = {"tool_name": "Write", "tool_input": given, "tool_response": done}
    said = message("PostToolUse", repository.path, **edit)
    assert len(said) > 3_000_000
    check_silent(run(repository.path, said))
    (line,) = waiting().splitlines()
    assert json.loads(line)["files"] == [given["file_path"]]


def test_a_long_message_is_clipped_and_kept(repository: Repository) -> None:
    said = message("Stop", repository.path, last_assistant_message="word " * 150_000)
    check_silent(run(repository.path, said))
    (line,) = waiting().splitlines()
    assert 90_000 < len(json.loads(line)["response"]) <= 100_000


def test_one_hook_that_fires_in_two_processes_is_heard_once(repository: Repository) -> None:
    """Part of F2."""
    said = message("Stop", repository.path, last_assistant_message="We must go on.")
    both = [start(repository.path) for _ in range(2)]
    for process in both:
        assert process.stdin is not None
        process.stdin.write(said)
        process.stdin.close()
    for process in both:
        assert process.wait(timeout=30) == 0
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stderr.close()
    assert waiting().count(b"We must go on.") == 1


def test_many_at_once_are_all_heard(repository: Repository) -> None:
    """Part of F2."""
    running = []
    for number in range(12):
        process = start(repository.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert process.stdin is not None
        process.stdin.write(
            message("Stop", repository.path, last_assistant_message=f"Number {number}!")
        )
        process.stdin.close()
        running.append(process)
    assert {process.wait(timeout=60) for process in running} == {0}
    heard = [json.loads(line)["response"] for line in waiting().splitlines()]
    assert sorted(heard) == sorted(f"Number {number}!" for number in range(12))


def test_whoever_opens_the_application_places_what_was_heard(repository: Repository) -> None:
    """Part of F2."""
    prompt = "We must never log customer names."
    run(repository.path, message("SessionStart", repository.path))
    run(repository.path, message("UserPromptSubmit", repository.path, prompt=prompt))
    assert prompt.encode() in waiting()
    done = threadline("status", cwd=repository.path)
    assert done.returncode == 0
    assert waiting() == b""
    app = open_application(here=repository.path, source="cli-auto")
    (known,) = app.vault(None).conversations.all()
    assert "customer names" in known.notes[0].text
    app.close()


def test_a_process_that_is_killed_while_placing_is_followed_by_another(
    repository: Repository,
) -> None:
    """Part of F2."""
    run(repository.path, message("SessionStart", repository.path))
    folder = Path(os.environ["THREADLINE_HOME"]) / "inbox"
    for number in range(30):
        line = {
            "key": f"k{number}",
            "host": "claude-code",
            "event": "prompt",
            "root": str(repository.path),
            "at": "2026-11-16T12:00:00.000Z",
            "sessionKey": "s1",
            "prompt": f"Prompt {number}",
        }
        with (folder / "current.jsonl").open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
    for seconds in (0.6, 0.8, 1.0):
        process = subprocess.Popen(
            [*COMMAND[:-1], "status"],
            cwd=repository.path,
            env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
    app = open_application(here=repository.path, source="cli-auto")
    app.hearing.place()
    assert waiting() == b""
    known = app.vault(None).conversations.get("s1")
    assert known is not None
    assert known.prompt_count == 30
    app.close()


def test_who_watches_places_what_is_heard_as_it_comes(repository: Repository) -> None:
    """Part of F2."""
    run(repository.path, message("SessionStart", repository.path))
    app = open_application(here=repository.path, source="vscode")
    app.workspace.arrange([repository.path])
    heard = threading.Event()
    watches = Watches()

    def tell(change: Change) -> None:
        if change.what == "conversations":
            heard.set()

    watcher = threading.Thread(target=app.watch, args=(watches, tell), daemon=True)
    watcher.start()
    prompt = "We must never log customer names."
    run(repository.path, message("UserPromptSubmit", repository.path, prompt=prompt))
    assert heard.wait(30)
    watches.stop()
    watcher.join(30)
    (known,) = app.vault(None).conversations.all()
    assert "customer names" in known.notes[0].text
    app.close()


PLAY = """
const [, , plugin, folder, name] = process.argv
const { Threadline } = await import(plugin)
const hooks = await Threadline({ directory: folder, worktree: folder })
const sessionID = `ses_${name}`
await hooks.event({ event: { type: "session.created", properties: { sessionID, info: { id: sessionID } } } })
const parts = [{ type: "text", text: "We must never log customer names." }]
await hooks["chat.message"]({ sessionID }, { message: { id: "m1" }, parts })
await hooks["tool.execute.after"](
  { tool: "write", sessionID, callID: "c1", args: { filePath: `${folder}/a.txt`, content: "x".repeat(2e6) } }, { title: "a" })
await hooks.event({ event: { type: "message.updated", properties: { info: { id: "m2", role: "assistant", sessionID } } } })
const part = { type: "text", text: "We decided to use ids.", messageID: "m2", sessionID }
await hooks.event({ event: { type: "message.part.updated", properties: { part } } })
await hooks.event({ event: { type: "session.idle", properties: { sessionID } } })
const system = [], again = [], context = []
await hooks["experimental.chat.system.transform"]({ sessionID }, { system })
await hooks["experimental.chat.system.transform"]({ sessionID }, { system: again })
await hooks["experimental.session.compacting"]({ sessionID }, { context })
console.log(JSON.stringify({ system, again, context }))
"""
CLAW = """
const [, , plugin, folder, name] = process.argv
const { default: entry } = await import(plugin)
const hooks = {}
entry.register({ on: (name, run) => { hooks[name] = run } })
const ctx = { sessionKey: "agent:main:main", sessionId: `s-${name}`, workspaceDir: folder }
await hooks.session_start({ sessionId: ctx.sessionId }, ctx)
const prompt = "We must never log customer names."
const first = await hooks.before_prompt_build({ prompt, messages: [] }, ctx)
const second = await hooks.before_prompt_build({ prompt: "Go on.", messages: [] }, ctx)
await hooks.after_tool_call({ toolName: "edit", params: { path: `${folder}/a.txt`, text: "x".repeat(2e6) } }, { sessionKey: ctx.sessionKey })
const messages = [{ role: "user", content: "x".repeat(2e6) }, { role: "assistant", content: "We decided to use ids." }]
await hooks.agent_end({ messages, success: true }, ctx)
console.log(JSON.stringify({ system: first ? [first.prependContext] : [], second: second ?? null }))
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="plugins run in Node")
@pytest.mark.parametrize(
    ("plugin", "play", "key"),
    [("opencode/threadline.js", PLAY, "ses_"), ("openclaw/index.js", CLAW, "agent:main:main/s-")],
)
def test_a_plugin_tells_and_is_told(
    plugin: str, play: str, key: str, repository: Repository, tmp_path: Path
) -> None:
    """Part of F2."""
    repository.commit("feat: begin")
    command = tmp_path / "threadline"
    words = " ".join(map(shlex.quote, COMMAND[:-1]))
    command.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    command.chmod(0o755)
    script, copy = tmp_path / "play.mjs", tmp_path / "plugin.mjs"
    script.write_text(play)
    copy.write_text((ROOT / "editors" / plugin).read_text())
    around = dict(os.environ) | {"PYTHONPATH": str(ROOT), "THREADLINE_COMMAND": str(command)}
    told: dict[str, Any] = {}
    # On a busy machine a start may be over before it has said anything, as it should be.
    for name in "abcd":
        play_it = ["node", str(script), str(copy), str(repository.path), name]
        done = subprocess.run(play_it, env=around, capture_output=True, check=True, timeout=120)
        told = json.loads(done.stdout)
        if told["system"]:
            break
    assert "threadline:memory" in told["system"][0]
    assert told.get("again", told["system"]) == told["system"]
    assert told.get("second") is None
    app = open_application(here=repository.path, source="cli-auto")
    app.hearing.place()
    vault = app.vault(None)
    known = vault.conversations.get(f"{key}{name}")
    assert known is not None
    assert (known.prompt_count, known.files) == (len(told.get("again", "12")), ("a.txt",))
    assert {note.said_by for note in known.notes} == {"user"}
    app.close()


def test_a_lock_that_is_let_go_is_had(repository: Repository) -> None:
    lock = Path(os.environ["THREADLINE_HOME"]) / "inbox" / "lock"
    lock.parent.mkdir(parents=True, mode=0o700)
    lock.parent.parent.chmod(0o700)
    with lock.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        process = start(repository.path)
        assert process.stdin is not None
        process.stdin.write(message("Stop", repository.path, last_assistant_message="Soon"))
        process.stdin.close()
        fcntl.flock(file, fcntl.LOCK_UN)
        assert process.wait(timeout=30) == 0
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()
    assert b"Soon" in waiting()
