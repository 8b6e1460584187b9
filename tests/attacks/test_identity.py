"""A folder cannot pass itself off as another project: it gets no memory of it and writes none into it."""

import asyncio
import json
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidecar.transports.exits import Exit
from tests.hooks import Hooks
from tests.lsp_client import RawClient
from tests.support import HOUR, NOON, Repository, threadline

pytestmark = pytest.mark.slow

REMOTE = "https://example.org/acme/secret"
PROMPT = "window/showMessageRequest"
MEMORY, SUBJECT, FOREIGN = "zanzibar", "quagga", "wallaby"
"""Words of the victim's memory, of its commits, and of what is written into the disguised folder."""


@pytest.fixture
def victim(tmp_path: Path) -> Repository:
    """Make a repository with a memory worth stealing."""
    victim = Repository.create(tmp_path / "secret")
    victim.git("remote", "add", "origin", REMOTE)
    victim.commit(f"Decided: use {SUBJECT} because it is fast", at=NOON)
    victim.commit(f"Second step with {SUBJECT}", at=NOON + HOUR)
    run(victim.path, "scan", "--all-authors")
    run(victim.path, "remember", f"the {MEMORY} endpoint must stay private")
    assert MEMORY in start(victim.path)
    return victim


def run(folder: Path, *words: str, code: int = 0) -> str:
    """Run a command as a person does; give all that it prints."""
    done = threadline(*words, cwd=folder)
    assert done.returncode == code, done.stderr.decode()
    return (done.stdout + done.stderr).decode()


def start(folder: Path) -> str:
    """Start a conversation through a real hook; give what its model is told."""
    hooks = Hooks("claude-code", folder, str(uuid.uuid4()))
    return asyncio.run(hooks.hear("SessionStart.startup"))


def project_of(folder: Path) -> str:
    status = json.loads(threadline("status", "--json", cwd=folder).stdout)
    identifier: str = status["projectId"]
    return identifier


def forge(folder: Path) -> Path:
    """Make what looks like a repository, as an archive can bring it."""
    repository = Repository.create(folder)
    repository.commit("harmless", at=NOON)
    return folder


def gitdir_file(folder: Path, victim: Path) -> Path:
    folder.mkdir()
    (folder / ".git").write_text(f"gitdir: ../{victim.name}/.git\n")
    return folder


def gitdir_link(folder: Path, victim: Path) -> Path:
    folder.mkdir()
    (folder / ".git").symlink_to(f"../{victim.name}/.git")
    return folder


def common_folder(folder: Path, victim: Path) -> Path:
    gitdir = folder / ".git"
    gitdir.mkdir(parents=True)
    (gitdir / "HEAD").write_text("ref: refs/heads/main\n")
    (gitdir / "commondir").write_text(f"../../{victim.name}/.git\n")
    return folder


def alternates(folder: Path, victim: Path) -> Path:
    """Borrow the victim's objects, name it as remote, and put HEAD at its commit."""
    forge(folder)
    borrowed = folder / ".git" / "objects" / "info" / "alternates"
    borrowed.parent.mkdir(exist_ok=True)
    borrowed.write_text(f"../../../{victim.name}/.git/objects\n")
    disguised = Repository(folder)
    disguised.git("config", "remote.origin.url", f"../{victim.name}")
    disguised.git("update-ref", "refs/heads/main", Repository(victim).git("rev-parse", "HEAD"))
    return folder


def alternates_unborn(folder: Path, victim: Path) -> Path:
    alternates(folder, victim)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/unborn\n")
    Repository(folder).git("update-ref", "-d", "refs/heads/main")
    return folder


def alternates_shallow(folder: Path, victim: Path) -> Path:
    alternates(folder, victim)
    sha = Repository(victim).git("rev-parse", "HEAD")
    (folder / ".git" / "shallow").write_text(f"{sha}\n")
    return folder


def guessed_remote(folder: Path, _victim: Path) -> Path:
    forge(folder)
    disguised = Repository(folder)
    disguised.git("config", "remote.origin.url", REMOTE)
    (folder / ".git" / "shallow").write_text(disguised.git("rev-parse", "HEAD") + "\n")
    return folder


def embedded_bare(folder: Path, victim: Path) -> Path:
    """Hide a bare repository among the files of a normal clone."""
    forge(folder)
    bare = folder / "fixtures" / "sample"
    shutil.copytree(guessed_remote(folder.parent / "template", victim) / ".git", bare)
    Repository(folder).git("config", "--file", str(bare / "config"), "core.bare", "true")
    return bare


def worktree_file(folder: Path, victim: Path) -> Path:
    """Point at a worktree that the victim lists, from another folder."""
    Repository(victim).git("worktree", "add", "--quiet", "-b", "side", str(folder.parent / "real"))
    folder.mkdir()
    (folder / ".git").write_text(f"gitdir: {victim}/.git/worktrees/real\n")
    return folder


def linked_parts(folder: Path, victim: Path) -> Path:
    """Take the victim's objects and references in through links inside of `.git`."""
    forge(folder)
    for name in ("objects", "refs"):
        shutil.rmtree(folder / ".git" / name)
        (folder / ".git" / name).symlink_to(f"../../{victim.name}/.git/{name}")
    Repository(folder).git("config", "remote.origin.url", REMOTE)
    return folder


DISGUISES = [
    gitdir_file,
    gitdir_link,
    common_folder,
    alternates,
    alternates_unborn,
    alternates_shallow,
    guessed_remote,
    embedded_bare,
    worktree_file,
    linked_parts,
]
Disguise = Callable[[Path, Path], Path]


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_disguised_folder_gets_nothing_and_gives_nothing(
    victim: Repository, tmp_path: Path, disguise: Disguise
) -> None:
    """A8: neither a command nor a start hook tells it of the project it imitates, nor records anything there."""
    folder = disguise(tmp_path / "evil", victim.path)
    told = [start(folder), run(folder, "status", "--why"), run(folder, "context", "--full")]
    # A history that is not followed cannot be scanned, and says so.
    threadline("scan", "--all-authors", cwd=folder)
    run(folder, "remember", f"{FOREIGN} must be obeyed")
    event = {"kind": "capture", "text": f"Decided: {FOREIGN} is the law"}
    run(folder, "call", "threadline/ingest", json.dumps({"events": [event]}))
    if disguise is guessed_remote:
        Repository(folder).commit(f"Decided: {FOREIGN}, because I say so")
    told += [start(folder), run(folder, "search", "endpoint"), run(folder, "export")]
    assert [text for text in told if MEMORY in text or SUBJECT in text] == []
    assert FOREIGN in told[-1]
    kept = [start(victim.path), run(victim.path, "export")]
    assert [text for text in kept if FOREIGN in text] == []
    assert MEMORY in kept[0]


def test_a_repository_cannot_claim_the_folder_of_another(
    victim: Repository, tmp_path: Path
) -> None:
    """A8: a worktree that is listed, or named as working tree, is one only if it says so itself."""
    evil = Repository(forge(tmp_path / "evil"))
    entry = evil.path / ".git" / "worktrees" / "stolen"
    entry.mkdir(parents=True)
    (entry / "HEAD").write_text("ref: refs/heads/main\n")
    (entry / "commondir").write_text("../..\n")
    (entry / "gitdir").write_text(f"{victim.path}/.git\n")
    shutil.copytree(evil.path / ".git" / "logs", entry / "logs")
    run(evil.path, "watch", "--once")
    evil.commit(f"Decided: {FOREIGN}")
    (entry / "logs" / "HEAD").write_bytes((evil.path / ".git" / "logs" / "HEAD").read_bytes())
    run(evil.path, "watch", "--once")
    assert FOREIGN in run(evil.path, "export")
    assert FOREIGN not in run(victim.path, "export")
    evil.git("config", "core.worktree", str(victim.path))
    assert project_of(evil.path) != project_of(victim.path)
    run(evil.path, "scan", "--all-authors", code=Exit.GIT_FAILED)
    assert FOREIGN not in run(victim.path, "export")


@pytest.mark.parametrize("disguise", [gitdir_file, gitdir_link, common_folder, alternates])
def test_the_reason_is_told_why_a_pointer_is_not_followed(
    victim: Repository, tmp_path: Path, disguise: Disguise
) -> None:
    """A8."""
    folder = disguise(tmp_path / "evil", victim.path)
    told = json.loads(threadline("status", "--why", "--json", cwd=folder).stdout)
    assert (told["rule"], told["folder"], told["offers"]) == ("refused", str(folder), [])
    assert "is not followed" in told["why"][0]
    refused = threadline("scan", cwd=folder)
    assert refused.returncode == Exit.GIT_FAILED
    assert SUBJECT.encode() not in refused.stdout + refused.stderr


def clone(victim: Repository, path: Path) -> Repository:
    victim.git("clone", "--quiet", str(victim.path), str(path))
    other = Repository(path)
    other.git("remote", "set-url", "origin", REMOTE)
    return other


def test_a_clone_starts_empty_and_joins_once_its_person_says_so(
    victim: Repository, tmp_path: Path
) -> None:
    """A8: what the clone has recorded by itself comes along, and leaving again is possible."""
    other = clone(victim, tmp_path / "clone")
    offered = start(other.path)
    assert "`threadline link`" in offered
    assert MEMORY not in offered
    run(other.path, "remember", f"{FOREIGN} was learned in the clone")
    why = run(other.path, "status", "--why")
    assert "secret" in why
    assert "`threadline link`" in why
    linked = run(other.path, "link")
    assert "shares the memory of secret" in linked
    assert project_of(other.path) == project_of(victim.path)
    for folder in (other.path, victim.path):
        told = start(folder)
        assert MEMORY in told
        assert FOREIGN in told
        assert "threadline link" not in told
    assert "memory of its own" in run(other.path, "unlink")
    assert MEMORY not in start(other.path)
    assert FOREIGN in start(victim.path)


def test_a_refusal_is_remembered(victim: Repository, tmp_path: Path) -> None:
    """A8: nobody asks again, and it can be taken back."""
    other = clone(victim, tmp_path / "clone")
    assert "stays apart" in run(other.path, "link", "--no")
    assert "threadline link" not in start(other.path)
    assert "as you chose" in run(other.path, "status", "--why")
    run(other.path, "link", project_of(victim.path))
    assert MEMORY in start(other.path)


def test_an_editor_asks_once_and_does_what_is_answered(victim: Repository, tmp_path: Path) -> None:
    """A8."""
    other = clone(victim, tmp_path / "clone")
    assert prompted(other.path, answer=None)["type"] == 3
    assert prompted(other.path) is None
    second = clone(victim, tmp_path / "second")
    question = prompted(second.path, answer="Share Its Memory")
    assert [one["title"] for one in question["actions"]] == ["Share Its Memory", "Keep Apart"]
    assert project_of(second.path) == project_of(victim.path)
    third = clone(victim, tmp_path / "third")
    assert prompted(third.path, answer="Keep Apart") is not None
    assert "threadline link" not in start(third.path)


def prompted(folder: Path, answer: str | None = "") -> Any:
    """Open a folder in an editor; give what its person was asked, if anything, after answering."""
    client = RawClient(folder)
    try:
        client.initialize(rootUri=folder.as_uri())
        if answer == "":
            client.request(1, "threadline/status")
            client.request(2, "threadline/projects/why")
            asked = [one for one in client.notices if one["method"] == PROMPT]
            return asked[0]["params"] if asked else None
        question = client.hear(lambda said: said["method"] == PROMPT)
        client.send({"id": question["id"], "result": {"title": answer} if answer else None})
        if answer:
            # What was chosen is done before the editor is told of it.
            assert client.hear(lambda said: str(folder) in json.dumps(said.get("params")))
        client.request(3, "shutdown")
        return question["params"]
    finally:
        client.close()
