"""A process that has just begun: it asks git for nothing that was found out before, and is never wrong for that."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from protocol.contexts import RenderParams
from protocol.memories import Anchor, Evidence, Memory
from protocol.tasks import Task
from sidecar.app import Application
from sidecar.capture.rules.sessions import Rule
from sidecar.code import checkouts, git
from sidecar.code.checkouts import Heads
from sidecar.storage.home import Home
from sidecar.storage.ulids import Ids
from sidecar.tasks.rules import completion
from tests.support import FixedClock, Repository

PARAMS = RenderParams(host="claude-code", agent_id="claude-code", preview=True)


class Starter:
    """Starts one process after the other in the same home."""

    def __init__(self, folder: Path, repository: Repository, clock: FixedClock) -> None:
        self.folder, self.repository, self.clock = folder, repository, clock

    def start(self) -> Application:
        home = Home(self.folder, Ids(self.clock), Rule())
        return Application(home, here=self.repository.path, source="hook")

    def told(self) -> str:
        app = self.start()
        try:
            return app.dialogue.render(PARAMS).text
        finally:
            app.close()


@pytest.fixture
def starter(tmp_path: Path, repository: Repository, clock: FixedClock) -> Starter:
    sha = repository.commit("feat: retry webhooks", at=clock.now, name="hooks.py")
    blob = repository.git("rev-parse", "HEAD:hooks.py")
    made = Starter(tmp_path / "home", repository, clock)
    app = made.start()
    vault = app.vault(None)
    memory = Memory(
        memory_id=vault.ids.next(),
        project_id=vault.project_id,
        type="constraint",
        title="Webhooks are retried at most five times",
        content="Webhooks are retried at most five times",
        importance=5,
        evidence=(Evidence(quote="retry webhooks", commit_sha=sha),),
        anchors=(Anchor(path="hooks.py", commit_sha=sha, blob=blob),),
        occurred_at=clock.now,
        created_at=clock.now,
        updated_at=clock.now,
    )
    task = Task(
        task_id=vault.ids.next(),
        project_id=vault.project_id,
        title="Retry webhooks",
        created_at=clock.now,
        updated_at=clock.now,
    )
    with vault.transaction():
        vault.write([vault.memories.put(memory.memory_id, memory)])
        vault.write([vault.tasks.put(task.task_id, task)])
    app.call("threadline/scan", {"allAuthors": True})
    app.close()
    return made


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Note what git is asked."""
    questions: list[tuple[str, ...]] = []
    launch = git._launch

    def note(folder: Path, command: tuple[str, ...], **options: Any) -> object:
        questions.append(tuple(command))
        return launch(folder, command, **options)

    monkeypatch.setattr(git, "_launch", note)
    return questions


def test_what_one_process_found_out_the_next_tells_without_git(
    starter: Starter, asked: list[tuple[str, ...]]
) -> None:
    first = starter.told()
    assert "Webhooks are retried" in first
    assert asked
    asked.clear()
    assert starter.told() == first
    assert asked == []


def test_what_one_process_judged_the_next_tells_without_judging(
    starter: Starter, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = starter.told()
    assert "feat: retry webhooks”" in first
    with monkeypatch.context() as patch:
        patch.delattr(completion, "is_done_by")
        assert starter.told() == first
    for path in starter.folder.rglob("endings"):
        path.unlink()
    assert starter.told() == first


def test_another_head_is_looked_at(starter: Starter, asked: list[tuple[str, ...]]) -> None:
    starter.told()
    starter.repository.git("rm", "--quiet", "hooks.py")
    starter.repository.git("commit", "--quiet", "--message", "drop webhooks", at=starter.clock.now)
    asked.clear()
    assert "Webhooks are retried" not in starter.told()
    assert asked


def test_another_repository_at_the_same_place_is_another_project(
    starter: Starter, clock: FixedClock
) -> None:
    starter.told()
    shutil.rmtree(starter.repository.path)
    other = Repository.create(starter.repository.path)
    other.commit("feat: something else", at=clock.now, name="other.py")
    assert "Webhooks are retried" not in starter.told()


def test_a_remote_that_is_added_is_noticed(starter: Starter, asked: list[tuple[str, ...]]) -> None:
    starter.told()
    starter.repository.git("remote", "add", "origin", "https://example.org/a.git")
    asked.clear()
    starter.told()
    assert any("config" in question for question in asked)


@pytest.mark.parametrize("name", ["landmarks.json", "cache.sqlite"])
@pytest.mark.parametrize("content", [b"", b"\x00\x01", b"[]", b"{"])
def test_what_is_damaged_costs_a_question(starter: Starter, name: str, content: bytes) -> None:
    expected = starter.told()
    (path,) = starter.folder.rglob(name)
    path.write_bytes(content)
    assert starter.told() == expected


def test_a_project_that_is_forgotten_leaves_no_landmark(starter: Starter) -> None:
    starter.told()
    app = starter.start()
    app.call("threadline/purge", {"everything": True})
    app.close()
    assert not list(starter.folder.rglob("landmarks.json"))


def test_only_a_plain_repository_of_our_own_is_recognised(repository: Repository) -> None:
    repository.commit("feat: begin")
    inner = repository.path / "deep" / "down"
    inner.mkdir(parents=True)
    assert checkouts.sight(inner) == checkouts.sight(repository.path)
    outside = repository.path.parent / "outside"
    outside.mkdir()
    (repository.path / "link").symlink_to(outside)
    assert checkouts.sight(repository.path / "link") is None
    repository.git("worktree", "add", "--quiet", "../tree", "-b", "side")
    assert checkouts.sight(repository.path.parent / "tree") is None
    assert checkouts.sight(repository.path / ".git") is None
    assert checkouts.sight(repository.path.parent) is None


def test_head_is_read_anew_once_it_has_moved(repository: Repository) -> None:
    first = repository.commit("feat: begin")
    checkout = checkouts.enclosing(repository.path)
    assert checkout is not None
    heads = Heads(checkout)
    assert heads.look() == (first, checkout.branch()) == heads.look()
    second = repository.commit("feat: go on")
    assert heads.look()[0] == second
    repository.git("pack-refs", "--all")
    assert heads.look()[0] == second
    repository.git("checkout", "--quiet", "-b", "side")
    assert heads.look() == (second, "side")
    repository.git("reset", "--quiet", "--soft", first)
    assert heads.look() == (first, "side")
    repository.git("checkout", "--quiet", "--detach")
    assert heads.look() == (first, None)
    (repository.path / ".git" / "HEAD").unlink()
    assert heads.look()[1] is None
