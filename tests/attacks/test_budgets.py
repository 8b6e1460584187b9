"""Foreign input has a budget: no file of a repository hangs, crashes or fills Threadline, or delays another project.

Everything here is the real thing: real files of an attacker's, real git, real processes.
"""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sidecar.storage import spool
from tests.lsp_client import RawClient
from tests.support import NOON, ROOT, Repository, threadline

HUGE = 2 * 1024**3
BOMB = b"*a" * 30 + b"b\n"
NAME = "a" * 60 + "c"
pytestmark = pytest.mark.slow

ENTRY = "from sidecar.transports.entry import main; raise SystemExit(main())"


@pytest.fixture
def victim(tmp_path: Path) -> Repository:
    """Another project of the same user."""
    repository = Repository.create(tmp_path / "victim")
    repository.commit("victim: begin", at=NOON)
    return repository


MEASURE = """
import resource, subprocess, sys
command = [sys.executable, "-c", sys.argv[1], "hook", "claude-code", "SessionStart"]
code = subprocess.run(command, stdin=sys.stdin, stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, used.ru_maxrss, int(used.ru_utime + used.ru_stime))
"""
"""A child counts from the size of the process that started it, so something small starts the hook."""


def start_hook(event: str, folder: Path, **fields: Any) -> "subprocess.Popen[bytes]":
    """Run a hook as a host does; its message is sent, its answer not read yet."""
    message = {"hook_event_name": event, "session_id": "s1", "cwd": str(folder), **fields}
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY, "hook", "claude-code", event],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode())
    process.stdin.close()
    return process


def hook(event: str, folder: Path, **fields: Any) -> tuple[bytes, float]:
    """Run a hook to its end; give its answer and how many seconds it took."""
    begun = time.monotonic()
    with start_hook(event, folder, **fields) as process:
        assert process.wait(timeout=60) == 0
        assert process.stdout is not None
        return process.stdout.read(), time.monotonic() - begun


def edit(folder: Path, name: str = NAME) -> None:
    """Let an agent tell that it has written a file."""
    given = {"tool_name": "Write", "tool_input": {"file_path": str(folder / name)}}
    hook("PostToolUse", folder, **given)


def status(folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-c", ENTRY, "status", "--json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def reasons(folder: Path) -> dict[str, str]:
    return {one["path"]: one["reason"] for one in status(folder)["skipped"]}


def make_sparse(path: Path) -> None:
    with path.open("ab") as file:
        file.truncate(HUGE)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (BOMB, None),
        (b"*a" * 70 + b"b\n", "lines with more than 64 wildcards"),
        (b"a" * 200_000 + b"\n", "lines longer than 1,024 bytes"),
        (b"*" + b"a" * 1_000_000 + b"\n", "beyond the first 262,144 bytes"),
    ],
    ids=["stars", "many-stars", "long", "megabyte"],
)
def test_a_line_of_an_ignore_file_stops_nobody(
    repository: Repository, victim: Repository, line: bytes, reason: str | None
) -> None:
    """H8: an edit under a hostile `.threadlineignore` is placed by whoever comes next, in any project."""
    (repository.path / ".threadlineignore").write_bytes(line)
    edit(repository.path)
    assert status(victim.path)["events"] == 0
    assert threadline("search", "anything", cwd=victim.path).returncode == 0
    told = status(repository.path)
    assert told["events"] == 1
    assert [one["reason"] for one in told["skipped"]] == ([reason] if reason else [])


def test_a_server_answers_while_it_works_under_a_hostile_list(repository: Repository) -> None:
    """H8: a save under a hostile list is judged, and the server goes on answering."""
    (repository.path / ".threadlineignore").write_bytes(BOMB)
    repository.write(NAME)
    client = RawClient(repository.path)
    try:
        client.initialize(rootUri=repository.path.as_uri())
        saved = {"textDocument": {"uri": (repository.path / NAME).as_uri()}}
        client.send({"jsonrpc": "2.0", "method": "textDocument/didSave", "params": saved})
        told = client.hear(lambda notice: notice["method"] == "threadline/didChange")
        assert told is not None
        assert client.request(1, "threadline/status", {})["result"]["events"] == 1
    finally:
        client.close()


def test_a_gitignore_that_git_cannot_match_costs_others_little(
    repository: Repository, victim: Repository
) -> None:
    """H8: who has little time leaves what git cannot judge, and after three tries it is parked; all is named."""
    (repository.path / ".gitignore").write_bytes(BOMB)
    edit(repository.path, f"1{NAME}")
    edit(repository.path, f"2{NAME}")
    told = [status(victim.path)["parkedEvents"] for _ in range(6)]
    assert told[0] == 0
    assert told[-1] == 2
    assert reasons(repository.path) == {".gitignore": "names could not be judged in time"}
    assert status(repository.path)["events"] == 0


def test_a_server_ignores_what_git_cannot_judge(repository: Repository) -> None:
    """H8: names that git cannot judge in time are ignored, counted and named."""
    (repository.path / ".gitignore").write_bytes(BOMB)
    for number in range(6):
        edit(repository.path, f"{number}{NAME}")
    client = RawClient(repository.path)
    try:
        client.initialize(rootUri=repository.path.as_uri())
        _wait_until(lambda: spool.is_empty(os.environ["THREADLINE_HOME"]))
        # What was skipped is written down after what was placed.
        numbers = itertools.count(1)
        told: dict[str, Any] = {"skipped": []}

        def is_noted() -> bool:
            told.update(client.request(next(numbers), "threadline/status", {})["result"])
            return bool(told["skipped"])

        _wait_until(is_noted)
    finally:
        client.close()
    assert told["events"] == 0
    assert [(one["path"], one["count"]) for one in told["skipped"]] == [(".gitignore", 6)]


def write_commit(repository: Repository, tree: str, message: bytes, parent: str) -> str:
    raw = repository.path.parent / "raw"
    who = b"Ada <ada@example.org> 1772000000 +0000"
    head = b"tree %b\nparent %b\nauthor %b\ncommitter %b\n\n"
    raw.write_bytes(head % (tree.encode(), parent.encode(), who, who) + message)
    return repository.git("hash-object", "-t", "commit", "-w", str(raw))


def test_a_message_of_150_megabytes_is_cut(repository: Repository) -> None:
    """H8: the commit is kept with the beginning of its message, which says so, and the scan goes on."""
    first = repository.commit("first", at=NOON)
    tree = repository.git("rev-parse", "HEAD^{tree}")
    long = write_commit(repository, tree, b"long\n\n" + b"word " * 30_000_000, first)
    last = write_commit(repository, tree, b"last\n", long)
    repository.git("update-ref", "HEAD", last)
    done = threadline("scan", "--json", cwd=repository.path)
    assert json.loads(done.stdout)["imported"] == 3, done.stderr
    told = threadline(
        "call", "threadline/commits/get", json.dumps({"sha": long}), cwd=repository.path
    )
    body = json.loads(told.stdout)["commit"]["body"]
    assert len(body) <= 100_000
    assert body.endswith("characters and was cut]")
    assert reasons(repository.path) == {f"commit {long}": "message beyond 100,000 characters"}


def write_bomb(repository: Repository, depth: int) -> str:
    """Make a tree that names 10 to the power of this many files, in a few kilobytes."""

    def put(kind: str, mode: str, name: str) -> str:
        lines = "".join(f"{mode} {kind} {name}\t{number}\n" for number in range(10))
        return (
            subprocess.run(
                ["git", "mktree"],
                cwd=repository.path,
                input=lines.encode(),
                capture_output=True,
                check=True,
            )
            .stdout.decode()
            .strip()
        )

    tree = put("blob", "100644", repository.git("hash-object", "-w", "a.txt"))
    for _ in range(depth - 1):
        tree = put("tree", "040000", tree)
    return tree


def test_a_tree_of_a_hundred_million_files_is_not_listed(repository: Repository) -> None:
    """H8: git is stopped at its limits, the commit is kept without files, and the scan goes on."""
    first = repository.commit("first", at=NOON)
    bomb = write_commit(repository, write_bomb(repository, 8), b"bomb\n", first)
    tree = repository.git("rev-parse", "HEAD^{tree}")
    repository.git("update-ref", "HEAD", write_commit(repository, tree, b"last\n", bomb))
    done = threadline("scan", "--json", cwd=repository.path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["imported"] >= 2
    assert reasons(repository.path)[f"commit {bomb}"] == "changes more files than can be listed"
    told = threadline(
        "call", "threadline/commits/get", json.dumps({"sha": bomb}), cwd=repository.path
    )
    assert json.loads(told.stdout)["files"] == []


def test_files_beyond_the_limit_are_counted(repository: Repository) -> None:
    """Part of H8."""
    first = repository.commit("first", at=NOON)
    many = write_commit(repository, write_bomb(repository, 5), b"many\n", first)
    repository.git("update-ref", "HEAD", many)
    assert threadline("scan", cwd=repository.path).returncode == 0
    told = threadline(
        "call", "threadline/commits/get", json.dumps({"sha": many}), cwd=repository.path
    )
    event = json.loads(told.stdout)
    assert len(event["files"]) == 50_000
    assert event["commit"]["filesOverflow"] == 50_000


@pytest.mark.parametrize(
    ("name", "is_named"),
    [
        ("logs/HEAD", False),
        ("HEAD", True),
        ("refs/heads/main", True),
        ("packed-refs", True),
        ("config", True),
    ],
)
def test_a_sparse_file_of_gigabytes_costs_nothing(
    repository: Repository,
    victim: Repository,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    is_named: bool,
) -> None:
    """H8: a hook in such a repository takes neither time nor memory, and other projects do not notice."""
    repository.commit("feat: begin", at=NOON)
    status(repository.path)
    make_sparse(repository.path / ".git" / name)
    # Its deadline would hide what it would take.
    monkeypatch.setenv("THREADLINE_HOOK_SECONDS", "40")
    message = {
        "hook_event_name": "SessionStart",
        "session_id": "s1",
        "cwd": str(repository.path),
        "source": "startup",
    }
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, ENTRY],
        cwd=repository.path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=json.dumps(message).encode(),
        capture_output=True,
        check=True,
    )
    code, kilobytes, seconds = done.stdout.split()[-3:]
    assert code == b"0"
    assert int(kilobytes) < 300 * 1024
    assert int(seconds) < 20
    assert status(victim.path)["name"] == "victim"
    # Where git is needed to know the project, the refusal names the file.
    told = threadline("status", "--json", cwd=repository.path)
    assert (f".git/{name}".encode() in told.stdout + told.stderr) == is_named


def test_a_hook_whose_work_does_not_return_ends_in_time(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H8. A child that is stopped runs no more Python than one that is in a system call."""
    monkeypatch.delenv("THREADLINE_HOOK_SECONDS")
    repository.commit("feat: begin", at=NOON)
    begun = time.monotonic()
    with start_hook("SessionStart", repository.path, source="startup") as process:
        child = _wait_for_child(process.pid)
        os.kill(child, signal.SIGSTOP)
        assert process.wait(timeout=30) == 0
        assert time.monotonic() - begun < 20
        assert process.stdout is not None
        assert process.stdout.read() == b""
    assert not Path(f"/proc/{child}").exists() or _is_zombie(child)
    log = (Path(os.environ["THREADLINE_HOME"]) / "logs" / "hooks.log").read_text()
    assert "out of time" in log


def _wait_for_child(pid: int) -> int:
    """Wait until a process has a child, and name it."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if children:
            return int(children[0])
    raise AssertionError("the hook does all by itself")


def _is_zombie(pid: int) -> bool:
    return "Z (zombie)" in Path(f"/proc/{pid}/status").read_text()


def test_git_dies_with_us(repository: Repository, tmp_path: Path) -> None:
    """H8: whoever kills Threadline leaves no git behind."""
    repository.commit("feat: begin", at=NOON)
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 300\n")
    slow.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY, "scan"],
        cwd=repository.path,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PATH": f"{slow.parent}{os.pathsep}{os.environ['PATH']}",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    git = int((tmp_path / "pid").read_text())
    process.kill()
    process.wait(timeout=10)
    _wait_until(lambda: not Path(f"/proc/{git}").exists() or _is_zombie(git))


def _wait_until(holds: Any) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline


@pytest.mark.parametrize(
    ("name", "source"),
    [("a.cs", b"a<" * 100_000), ("a.rb", b"%w(" * 60_000), ("a.cpp", b"a<b<" * 249_999)],
)
def test_a_hostile_source_is_given_up(repository: Repository, name: str, source: bytes) -> None:
    """H8: a file that its parser cannot leave is skipped and named, and a sound one beside it is read."""
    (repository.path / name).write_bytes(source)
    repository.write("sound.go", "package a\n\nfunc sound() {}\n")
    repository.commit("feat: begin", at=NOON)
    for path in (name, "sound.go"):
        memory = {
            "type": "fact",
            "title": f"About {path}",
            "content": f"See {path}.",
            "files": [path],
        }
        done = threadline(
            "call", "threadline/memories/write", json.dumps(memory), cwd=repository.path
        )
        assert done.returncode == 0, done.stderr
    asked = {"path": str(repository.path / name), "line": 1}
    done = threadline("call", "threadline/lines/explain", json.dumps(asked), cwd=repository.path)
    assert done.returncode == 0, done.stderr
    assert "to parse" in reasons(repository.path)[name]


def test_an_event_that_fails_three_times_is_parked(
    repository: Repository, victim: Repository
) -> None:
    """H8: an event that ends whoever places it is parked after three tries, told, and forgotten by no one."""
    home = Path(os.environ["THREADLINE_HOME"])
    hook("UserPromptSubmit", repository.path, prompt="We must retry five times.")
    hook("UserPromptSubmit", victim.path, prompt="We must sign all commits.")
    for deaths in (2, 1):
        batches = spool.Batches(str(home))
        name = next(one for one in batches.names() if _root(batches, one) == str(repository.path))
        number, _ = next(batches.lines(name))
        for again in range(deaths):
            # Whoever dies in the middle leaves just this behind.
            batches.begin(name, number, 1, again)
        batches.close()
        told = status(victim.path)
    assert told["parkedEvents"] == 1
    parked = (home / "logs" / "parked.jsonl").read_text()
    assert json.loads(parked)["prompt"] == "We must retry five times."
    assert spool.is_empty(str(home))


def test_an_event_whose_place_was_cut_off_once_keeps_its_place(repository: Repository) -> None:
    """Part of H8 and A4: hosts end their servers at any moment; what was said first is still placed first."""
    hook("UserPromptSubmit", repository.path, prompt="We must retry five times.")
    hook("UserPromptSubmit", repository.path, prompt="We must never sign commits.")
    batches = spool.Batches(os.environ["THREADLINE_HOME"])
    name = batches.names()[0]
    batches.begin(name, next(batches.lines(name))[0], 1)
    batches.close()
    told = status(repository.path)
    assert (told["events"], told["sessions"], told["parkedEvents"]) == (2, 1, 0)


def _root(batches: spool.Batches, name: str) -> str:
    _, line = next(batches.lines(name))
    root: str = json.loads(line)["root"]
    return root
