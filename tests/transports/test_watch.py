"""`threadline watch`: capture without an editor, shown as it comes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT, Repository, documents, threadline

pytestmark = pytest.mark.slow


def test_one_look_shows_what_was_committed_since_the_last(repository: Repository) -> None:
    """Part of B5."""
    repository.commit("before")
    first = threadline("watch", "--once", cwd=repository.path)
    assert (first.returncode, first.stdout) == (0, b"")
    repository.commit("one [red]")
    repository.commit("two")
    second = threadline("watch", "--once", cwd=repository.path)
    assert [line.split(None, 3)[1:] for line in second.stdout.decode().splitlines()] == [
        ["commit", repository.git("rev-parse", "HEAD~1")[:10], "one [red]"],
        ["commit", repository.git("rev-parse", "HEAD")[:10], "two"],
    ]
    assert b"2 events" in second.stderr
    assert threadline("watch", "--once", cwd=repository.path).stdout == b""


def test_an_amended_commit_is_shown_with_what_it_replaces(repository: Repository) -> None:
    """Part of B2."""
    threadline("watch", "--once", cwd=repository.path)
    repository.commit("one")
    threadline("watch", "--once", cwd=repository.path)
    old = repository.git("rev-parse", "HEAD").strip()[:10]
    repository.git("commit", "--amend", "--allow-empty", "-m", "one, better")
    shown = threadline("watch", "--once", cwd=repository.path).stdout.decode()
    assert shown.endswith(f"one, better (replaces {old})\n")


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    done = threadline("watch", str(tmp_path / "nowhere"), cwd=tmp_path)
    assert (done.returncode, b"is not a folder" in done.stderr) == (3, True)


@pytest.mark.parametrize("duration", ["15m", "30m", "2h", "1d", "forever"])
def test_capture_is_paused_and_resumed_from_the_command_line(
    repository: Repository, duration: str
) -> None:
    """B6."""
    assert threadline("pause", duration, cwd=repository.path).returncode == 0
    assert b"paused" in threadline("status", cwd=repository.path).stdout
    repository.commit("unheard")
    assert threadline("watch", "--once", cwd=repository.path).stdout == b""
    state = json.loads(threadline("resume", "--json", cwd=repository.path).stdout)
    assert not state["paused"]
    assert threadline("watch", "--once", cwd=repository.path).stdout == b""


@pytest.fixture
def watching(repository: Repository) -> "Iterator[subprocess.Popen[str]]":
    # Where the tests run in the background, Ctrl-C is turned off for all of them.
    command = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from sidecar.transports.entry import main; raise SystemExit(main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", command, "watch", "--json"],
        cwd=repository.path,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.communicate()


@pytest.mark.slow
def test_events_are_shown_as_they_come_until_ctrl_c(
    repository: Repository, watching: "subprocess.Popen[str]"
) -> None:
    """B5."""
    assert watching.stdout is not None
    wait_until_watched(watching, repository)
    sha = repository.commit("one")
    event = json.loads(watching.stdout.readline())
    assert (event["commit"]["sha"], event["source"]) == (sha, "cli-auto")
    threadline(
        "call",
        "threadline/ingest",
        '{"events":[{"kind":"capture","text":"x"}]}',
        cwd=repository.path,
    )
    assert json.loads(watching.stdout.readline())["text"] == "x"
    watching.send_signal(signal.SIGINT)
    assert watching.wait(10) == 0


@pytest.mark.slow
def test_files_are_seen_as_they_are_saved_but_not_when_git_writes_them(
    repository: Repository, watching: "subprocess.Popen[str]"
) -> None:
    """B5."""
    assert watching.stdout is not None
    wait_until_watched(watching, repository)
    repository.write(".gitignore", "ignored/\n")
    repository.write("src/a.py", "one\n")
    shown = [saved(watching), saved(watching)]
    repository.commit("first", name="b.txt")
    while "commit" not in (event := json.loads(watching.stdout.readline()))["kind"]:
        shown.append(event["files"][0]["path"])
    repository.git("checkout", "--quiet", "-b", "side")
    repository.write("src/a.py", "two\n")
    repository.git("commit", "--quiet", "--all", "-m", "second")
    repository.git("checkout", "--quiet", "main")
    repository.write("ignored/x.py")
    repository.write(".env")
    repository.write("src/c.py")
    while "src/c.py" not in shown:
        event = json.loads(watching.stdout.readline())
        shown += [change["path"] for change in event["files"] if event["kind"] == "save"]
    assert (
        {".gitignore", "src/a.py", "src/c.py"}
        <= set(shown)
        <= {
            ".gitignore",
            "src/a.py",
            "src/c.py",
            "b.txt",
        }
    )


def saved(watching: "subprocess.Popen[str]") -> str:
    assert watching.stdout is not None
    event = json.loads(watching.stdout.readline())
    assert event["kind"] == "save"
    return str(event["files"][0]["path"])


def wait_until_watched(watching: "subprocess.Popen[str]", repository: Repository) -> None:
    assert watching.stderr is not None
    assert watching.stderr.readline().startswith("watching ")
    limit = time.monotonic() + 30
    while not marks(repository):
        assert time.monotonic() < limit, "the repository is not watched"


def marks(repository: Repository) -> dict[str, Any]:
    found = threadline("status", "--json", cwd=repository.path)
    return documents(Path(json.loads(found.stdout)["folder"]), "marks")
