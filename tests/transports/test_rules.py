"""Rules files: Cascade cannot be told anything, so a file that it reads is renewed by its hooks, as real processes."""

import json
import os
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from protocol.forgetting import PurgeReport
from sidecar.app import open_application
from sidecar.hosts import rules_files
from sidecar.storage.vault import Vault
from sidecar.upkeep import purge
from tests.hooks import failures
from tests.support import ROOT, Repository, threadline

pytestmark = pytest.mark.slow

SECONDS = 20.0
"""Two are promised; the rest is for a busy machine, on which Python alone takes one to start."""
KNOWN = "We never log customer names."


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return tmp_path / "user"


@pytest.fixture
def page(user: Path, repository: Repository) -> Path:
    """Connect Cascade in a project with a memory, and give its rules file."""
    assert user.is_dir()
    repository.commit("feat: begin", name="auth/session.py")
    remember(repository, KNOWN)
    run(repository, "connect", "windsurf", "--project")
    return repository.path / ".windsurf/rules/threadline.md"


def run(repository: Repository, *words: str) -> bytes:
    done = threadline(*words, cwd=repository.path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def remember(repository: Repository, text: str) -> str:
    memory = json.loads(run(repository, "remember", text, "--json"))
    return str(memory["memory"]["memoryId"])


def prompt(folder: Path, trajectory: str, text: str = "Why does it fail?") -> float:
    """Let Cascade tell of a prompt as the file that was written says; give the seconds that it waited."""
    hooks = json.loads((top(folder) / ".windsurf/hooks.json").read_bytes())["hooks"]
    [hook] = hooks["pre_user_prompt"]
    message = {
        "agent_action_name": "pre_user_prompt",
        "trajectory_id": trajectory,
        "execution_id": f"{trajectory}-{text}",
        "timestamp": "2026-05-20T14:03:11.120Z",
        "tool_info": {"user_prompt": text},
    }
    began = time.monotonic()
    done = subprocess.run(
        shlex.split(hook["command"]),
        cwd=folder,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        input=json.dumps(message).encode(),
        capture_output=True,
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return time.monotonic() - began


def top(folder: Path) -> Path:
    return next(one for one in (folder, *folder.parents) if (one / ".windsurf/hooks.json").exists())


def test_the_first_prompt_of_a_conversation_renews_the_file(
    page: Path, repository: Repository
) -> None:
    """Part of F3."""
    assert KNOWN in page.read_text()
    remember(repository, "Dates are kept in UTC.")
    prompt(repository.path, "t1")
    first = page.read_text()
    assert first.startswith("---\ntrigger: always_on\n---\n\n<!-- Written by `threadline connect`")
    assert KNOWN in first
    assert "Dates are kept in UTC." in first
    assert rules_files.is_intact(first)
    remember(repository, "Money is kept in cents.")
    prompt(repository.path, "t1", "And now?")
    assert page.read_text() == first
    prompt(repository.path / "auth", "t2")
    assert KNOWN in page.read_text()
    assert "Money is kept in cents." in page.read_text()
    assert failures(Path(os.environ["THREADLINE_HOME"])) == []


def test_what_is_forgotten_leaves_the_file_at_once(page: Path, repository: Repository) -> None:
    """Part of F3."""
    memory = remember(repository, "Money is kept in cents.")
    prompt(repository.path, "t1")
    assert "Money is kept in cents." in page.read_text()
    run(repository, "forget", memory)
    assert "Money is kept in cents." not in page.read_text()
    assert rules_files.is_intact(page.read_text())
    prompt(repository.path, "t2")
    assert "Money is kept in cents." not in page.read_text()
    assert KNOWN in page.read_text()


FORGETTING = {
    "forget": lambda memory: ("forget", memory),
    "purge --memory": lambda memory: ("purge", "--memory", memory, "--yes"),
    "purge --phrase": lambda _: ("purge", "--phrase", "kept in cents", "--yes"),
    "purge --everything": lambda _: ("purge", "--everything", "--yes"),
}


@pytest.mark.parametrize("words", FORGETTING.values(), ids=FORGETTING)
def test_forgetting_empties_the_files_of_one_project_alone(
    words: Callable[[str], tuple[str, ...]], page: Path, repository: Repository, tmp_path: Path
) -> None:
    """Part of F3. A worktree is the same project, another repository is not."""
    tree = Repository(tmp_path / "tree")
    repository.git("worktree", "add", "-q", str(tree.path))
    other = Repository.create(tmp_path / "other")
    other.commit("feat: begin elsewhere")
    remember(other, "Money is kept in cents.")
    memory = remember(repository, "Money is kept in cents.")
    pages = [page]
    for one in (tree, other):
        run(one, "connect", "windsurf", "--project")
        pages.append(one.path / ".windsurf/rules/threadline.md")
    prompt(repository.path, "t1")
    before = [one.read_text() for one in pages]
    assert all("Money is kept in cents." in text for text in before)
    run(repository, *words(memory))
    ours, worktrees, others = [one.read_text() for one in pages]
    assert ours == worktrees == rules_files.write()
    assert others == before[2]


def test_a_file_is_emptied_after_what_it_says_is_forgotten(
    page: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F3. A conversation that begins meanwhile writes into it what is still known."""
    app = open_application(here=repository.path, source="cli-auto")
    forget = purge.forget_phrase

    def write_again(vault: Vault, phrase: str, logs: Path) -> PurgeReport:
        prompt(repository.path, "t1")
        assert KNOWN in page.read_text()
        return forget(vault, phrase, logs)

    monkeypatch.setattr(purge, "forget_phrase", write_again)
    report = app.call("threadline/purge", {"phrase": KNOWN})
    app.close()
    assert isinstance(report, PurgeReport)
    assert (report.verified, page.read_text()) == (True, rules_files.write())


def test_a_file_that_cannot_be_emptied_is_named(page: Path, repository: Repository) -> None:
    """Part of F3."""
    page.chmod(0o444)
    done = threadline("purge", "--phrase", KNOWN, "--yes", "--json", cwd=repository.path)
    page.chmod(0o644)
    report = json.loads(done.stdout)
    assert done.returncode != 0
    assert (report["remaining"], report["verified"]) == ([str(page)], False)
    assert KNOWN not in run(repository, "search", "customer names").decode()


def test_the_file_stays_within_what_cascade_reads(page: Path, repository: Repository) -> None:
    """Part of F3."""
    app = open_application(here=repository.path, source="cli-auto")
    for number in range(24):
        kind = ("constraint", "decision", "fact", "preference")[number % 4]
        title = f"Service {number} must never call service {number + 1}, " + f"case {number} " * 15
        memory = {"type": kind, "title": title, "content": f"{title} in any case. " * 9}
        app.call("threadline/memories/write", memory)
    app.close()
    prompt(repository.path, "t1")
    text = page.read_text()
    assert 2_000 < len(text) <= 6_000
    assert rules_files.is_intact(text)


def test_disconnecting_takes_the_file_away_and_nothing_else(
    page: Path, repository: Repository
) -> None:
    """Part of F3."""
    prompt(repository.path, "t1")
    assert KNOWN in page.read_text()
    assert (
        b"nothing to change"
        in threadline("connect", "windsurf", "--project", cwd=repository.path).stderr
    )
    run(repository, "disconnect", "windsurf", "--project")
    assert repository.git("status", "--porcelain", "--ignored") == ""
    assert not (repository.path / ".windsurf").exists()


@pytest.mark.parametrize("whose", ["nobody's", "edited", "gone", "a stranger's", "a pipe"])
def test_a_file_that_is_not_ours_is_left_alone(
    whose: str, page: Path, repository: Repository
) -> None:
    """Part of F3."""
    page.unlink()
    if whose == "nobody's":
        page.write_text("---\ntrigger: manual\n---\nmine\n")
    elif whose == "edited":
        page.write_text(rules_files.write("x").replace("always_on", "manual"))
    elif whose == "a stranger's":
        (Path(os.environ["THREADLINE_HOME"]) / "connections.json").unlink()
        page.write_text(rules_files.write("from a repository"))
    elif whose == "a pipe":
        os.mkfifo(page)
    before = page.read_bytes() if page.is_file() else None
    assert prompt(repository.path, "t1") < SECONDS
    assert (page.read_bytes() if page.is_file() else None) == before
    assert [path.name for path in page.parent.iterdir()] == ([] if whose == "gone" else [page.name])


def test_a_link_out_of_the_project_is_not_followed(page: Path, repository: Repository) -> None:
    """Part of F3."""
    outside = repository.path.parent / "outside.md"
    outside.write_text(page.read_text())
    before = outside.read_bytes()
    page.unlink()
    page.symlink_to(outside)
    prompt(repository.path, "t1")
    assert outside.read_bytes() == before


def test_a_user_who_connected_no_project_gets_no_file(user: Path, repository: Repository) -> None:
    """Part of F3."""
    repository.commit("feat: begin")
    remember(repository, KNOWN)
    run(repository, "connect", "windsurf", "--user")
    assert (user / ".codeium/windsurf/hooks.json").exists()
    (repository.path / ".windsurf").mkdir()
    (user / ".codeium/windsurf/hooks.json").rename(repository.path / ".windsurf/hooks.json")
    prompt(repository.path, "t1")
    assert not (repository.path / ".windsurf/rules").exists()


@pytest.fixture
def held() -> Iterator[Callable[[Path], None]]:
    """Let a process hold a lock for as long as the test runs."""
    holders: list[subprocess.Popen[bytes]] = []

    def hold(path: Path) -> None:
        code = (
            "import fcntl, sys\n"
            "file = open(sys.argv[1], 'ab'); fcntl.flock(file, fcntl.LOCK_EX)\n"
            "print('held', flush=True); sys.stdin.read()"
        )
        process = subprocess.Popen(
            ["python3", "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        holders.append(process)

    yield hold
    for process in holders:
        process.communicate()


def test_a_store_that_is_locked_keeps_cascade_waiting_for_two_seconds_at_most(
    page: Path, repository: Repository, held: Callable[[Path], None]
) -> None:
    """Part of F3."""
    before = page.read_bytes()
    app = open_application(here=repository.path, source="cli-auto")
    folder = app.vault(None).folder
    app.close()
    held(folder / "lock")
    held(Path(os.environ["THREADLINE_HOME"]) / "lock")
    assert prompt(repository.path, "t1", "We must go on.") < SECONDS
    assert page.read_bytes() == before or rules_files.is_intact(page.read_text())
    inbox = Path(os.environ["THREADLINE_HOME"]) / "inbox"
    heard = b"".join(path.read_bytes() for path in inbox.glob("*.jsonl"))
    assert b"We must go on." in heard


def test_a_file_that_cannot_be_written_costs_nobody_anything(
    page: Path, repository: Repository
) -> None:
    """Part of F3."""
    before = page.read_bytes()
    page.chmod(0o444)
    remember(repository, "Dates are kept in UTC.")
    prompt(repository.path, "t1")
    assert page.read_bytes() == before
    page.chmod(0o644)
    prompt(repository.path, "t2")
    assert "Dates are kept in UTC." in page.read_text()
    assert page.stat().st_mode & 0o777 == 0o644
