"""Commits as they are made: each once, whoever made it, however history is written anew."""

import json
import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from protocol.events import Event, FileChange, NewEvent
from protocol.methods import EventPage, IngestResult, SessionPage, Status
from protocol.sessions import Session
from sidecar.app import Application, open_application
from sidecar.capture import record
from sidecar.capture.rules import sessions
from tests.support import Repository

pytestmark = pytest.mark.slow


@dataclass
class Watcher:
    """What a sidecar does when something has changed, done when a test says so."""

    app: Application

    def look(self) -> "Watcher":
        self.app.workspace.look()
        return self

    def call(self, method: str, **params: object) -> Any:
        return self.app.call(method, params)

    def events(self, project: Path | None = None) -> list[Event]:
        name = None if project is None else str(project)
        page = self.call("threadline/sessions/list", project=name)
        assert isinstance(page, SessionPage)
        found: list[Event] = []
        for session in reversed(page.sessions):
            events = self.call(
                "threadline/sessions/events", project=name, sessionId=session.session_id, limit=1000
            )
            assert isinstance(events, EventPage)
            assert session.message_count == events.total
            found += events.events
        return found

    def subjects(self, project: Path | None = None) -> list[str]:
        return [event.commit.subject for event in self.events(project) if event.commit]

    def shas(self, project: Path | None = None) -> list[str]:
        return [event.commit.sha for event in self.events(project) if event.commit]


def watch(*folders: Path) -> Watcher:
    """Begin to watch as a sidecar does when its client has told it the folders."""
    app = open_application(here=folders[0], source="vscode")
    app.workspace.arrange(folders)
    return Watcher(app).look()


@pytest.fixture
def watcher(repository: Repository) -> Iterator[Watcher]:
    repository.commit("before")
    watcher = watch(repository.path)
    yield watcher
    watcher.app.close()


def rebase(repository: Repository, *arguments: str, todo: str = "") -> None:
    repository.git(
        "rebase",
        *arguments,
        GIT_SEQUENCE_EDITOR=f"sed -i -e '{todo}'",
        GIT_EDITOR="true",
    )


def head(repository: Repository) -> str:
    return repository.git("rev-parse", "HEAD")


def test_a_commit_is_recorded_with_all_that_is_known_of_it(
    watcher: Watcher, repository: Repository
) -> None:
    """B3."""
    repository.write("src/b.py", "one\ntwo\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "feat: add b", "-m", "Because it was missing.")
    (event,) = watcher.look().events()
    commit = event.commit
    assert commit is not None
    assert (event.kind, event.source, commit.sha) == ("commit", "vscode", head(repository))
    assert (commit.subject, commit.body) == ("feat: add b", "Because it was missing.")
    assert (commit.author_name, commit.author_email) == ("Ada", "ada@example.org")
    assert (commit.branch, len(commit.parents)) == ("main", 1)
    assert [
        (file.path, file.status, file.added_lines, file.deleted_lines) for file in event.files
    ] == [("src/b.py", "added", 2, 0)]


def test_what_was_there_before_is_not_imported(watcher: Watcher) -> None:
    assert watcher.events() == []


def test_looking_again_changes_nothing(watcher: Watcher, repository: Repository) -> None:
    repository.commit("one")
    watcher.look()
    repository.commit("two")
    assert watcher.look().look().subjects() == ["one", "two"]


def test_an_amended_commit_replaces_the_earlier_record(
    watcher: Watcher, repository: Repository
) -> None:
    """B2."""
    first = repository.commit("wrogn")
    watcher.look()
    repository.write("more.txt")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--amend", "-m", "right")
    repository.git("commit", "--quiet", "--amend", "-m", "righter")
    (event,) = watcher.look().events()
    assert event.commit is not None
    assert (event.commit.subject, event.commit.sha) == ("righter", head(repository))
    assert event.commit.replaces[0] == first
    assert {file.path for file in event.files} == {"a.txt", "more.txt"}


def test_amending_what_was_never_recorded_is_a_commit(
    watcher: Watcher, repository: Repository
) -> None:
    repository.git("commit", "--quiet", "--amend", "-m", "before, mended")
    assert watcher.look().subjects() == ["before, mended"]


def make_line(repository: Repository, count: int) -> list[str]:
    return [repository.commit(f"c{number}", name=f"f{number}.txt") for number in range(count)]


@pytest.mark.slow
def test_a_rebase_of_fifty_commits_replaces_each_of_them(
    watcher: Watcher, repository: Repository
) -> None:
    """B2."""
    base = head(repository)
    repository.git("checkout", "--quiet", "-b", "feature")
    old = make_line(repository, 50)
    events = {event.event_id for event in watcher.look().events()}
    repository.git("checkout", "--quiet", "-b", "ground", base)
    ground = repository.commit("ground", name="ground.txt")
    watcher.look()
    repository.git("rebase", "--quiet", "ground", "feature")
    found = watcher.look().events()
    feature = [event for event in found if event.event_id in events]
    assert len(found) == 51
    assert [event.commit.sha for event in feature if event.commit] == repository.git(
        "rev-list", "--reverse", f"{ground}..feature"
    ).split()
    assert [event.commit.replaces for event in feature if event.commit] == [(sha,) for sha in old]


def test_a_rebase_seen_only_when_it_is_over_is_the_same(
    watcher: Watcher, repository: Repository
) -> None:
    base = head(repository)
    repository.git("checkout", "--quiet", "-b", "feature")
    make_line(repository, 3)
    repository.git("checkout", "--quiet", "-b", "ground", base)
    repository.commit("ground", name="ground.txt")
    repository.git("rebase", "--quiet", "ground", "feature")
    repository.commit("after", name="after.txt")
    assert sorted(watcher.look().subjects()) == ["after", "c0", "c1", "c2", "ground"]
    reachable = repository.git("rev-list", "HEAD").split()
    assert set(watcher.shas()) <= set(reachable)


def test_an_interactive_squash_absorbs_what_it_squashed(
    watcher: Watcher, repository: Repository
) -> None:
    """B2."""
    first, second, third = make_line(repository, 3)
    watcher.look()
    rebase(repository, "--quiet", "-i", "HEAD~3", todo="2,$s/^pick/squash/")
    (event,) = watcher.look().events()
    assert event.commit is not None
    assert event.commit.sha == head(repository)
    assert set(event.commit.replaces) >= {first, second, third}
    assert {file.path for file in event.files} == {"f0.txt", "f1.txt", "f2.txt"}


def test_a_fixup_goes_into_the_commit_it_fixes(watcher: Watcher, repository: Repository) -> None:
    make_line(repository, 2)
    repository.write("f0.txt", "mended\n")
    repository.git("commit", "--quiet", "--all", "--fixup", "HEAD~1")
    assert watcher.look().subjects() == ["c0", "c1", "fixup! c0"]
    rebase(repository, "--quiet", "-i", "--autosquash", "HEAD~3")
    assert watcher.look().subjects() == ["c0", "c1"]
    assert watcher.shas() == repository.git("rev-list", "--reverse", "HEAD~2..HEAD").split()


def test_a_soft_reset_and_one_commit_are_a_squash(watcher: Watcher, repository: Repository) -> None:
    make_line(repository, 3)
    watcher.look()
    repository.git("reset", "--quiet", "--soft", "HEAD~3")
    watcher.look()
    repository.git("commit", "--quiet", "-m", "all three")
    assert watcher.look().subjects() == ["all three"]


def test_a_commit_left_out_of_a_rebase_is_marked(watcher: Watcher, repository: Repository) -> None:
    make_line(repository, 3)
    watcher.look()
    rebase(repository, "--quiet", "-i", "HEAD~3", todo="2d")
    dropped = {
        event.commit.subject: event.commit.dropped
        for event in watcher.look().events()
        if event.commit
    }
    assert dropped == {"c0": False, "c1": True, "c2": False}


def test_a_rebase_that_stops_and_goes_on_is_one_rebase(
    watcher: Watcher, repository: Repository
) -> None:
    make_line(repository, 3)
    watcher.look()
    rebase(repository, "--quiet", "-i", "HEAD~3", todo="1s/^pick/edit/")
    watcher.look()
    repository.write("f0.txt", "edited\n")
    repository.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    watcher.look()
    repository.git("rebase", "--continue", GIT_EDITOR="true")
    assert sorted(watcher.look().subjects()) == ["c0", "c1", "c2"]
    assert set(watcher.shas()) == set(
        repository.git("rev-list", "--reverse", "HEAD~3..HEAD").split()
    )


def test_an_aborted_rebase_changes_nothing(watcher: Watcher, repository: Repository) -> None:
    shas = make_line(repository, 3)
    watcher.look()
    rebase(repository, "--quiet", "-i", "HEAD~3", todo="2s/^pick/edit/")
    watcher.look()
    repository.git("rebase", "--abort")
    assert watcher.look().shas() == shas
    assert not any(event.commit and event.commit.dropped for event in watcher.events())


def test_a_cherry_pick_a_revert_and_a_merge_are_commits(
    watcher: Watcher, repository: Repository
) -> None:
    """B1."""
    repository.git("checkout", "--quiet", "-b", "side")
    picked = repository.commit("picked", name="p.txt")
    repository.commit("other", name="o.txt")
    repository.git("checkout", "--quiet", "main")
    repository.commit("ground", name="g.txt")
    repository.git("cherry-pick", picked)
    repository.git("revert", "--no-edit", "HEAD")
    repository.git("merge", "--quiet", "--no-edit", "side")
    assert watcher.look().subjects() == [
        "picked",
        "other",
        "ground",
        "picked",
        'Revert "picked"',
        "Merge branch 'side'",
    ]


def clone(repository: Repository, path: Path) -> Repository:
    repository.git("clone", "--quiet", str(repository.path), str(path))
    other = Repository(path)
    other.git("config", "user.email", "grace@example.org")
    other.git("config", "user.name", "Grace")
    return other


@pytest.mark.parametrize("how", ["--ff-only", "--no-rebase", "--rebase"])
def test_pulling_the_work_of_others_records_only_what_is_ours(
    watcher: Watcher, repository: Repository, tmp_path: Path, how: str
) -> None:
    """B2."""
    other = clone(repository, tmp_path / "other")
    other.commit("theirs", name="theirs.txt")
    if how != "--ff-only":
        repository.commit("ours", name="ours.txt")
        watcher.look()
    repository.git("pull", "--quiet", how, "--no-edit", str(other.path), "main")
    ours = [] if how == "--ff-only" else ["ours"]
    assert watcher.look().subjects() == ours
    assert set(watcher.shas()) <= set(repository.git("rev-list", "HEAD").split())


def test_rebasing_the_work_of_others_is_nobodys_commit(
    watcher: Watcher, repository: Repository, tmp_path: Path
) -> None:
    """B2."""
    other = clone(repository, tmp_path / "other")
    other.commit("theirs", name="theirs.txt")
    repository.commit("ours", name="ours.txt")
    repository.git("fetch", "--quiet", str(other.path), "main:theirs")
    repository.git("rebase", "--quiet", "main", "theirs")
    assert watcher.look().subjects() == ["ours"]


def test_only_commits_count(watcher: Watcher, repository: Repository) -> None:
    """B2."""
    repository.git("branch", "side")
    repository.git("checkout", "--quiet", "side")
    repository.git("checkout", "--quiet", "-")
    repository.write("a.txt", "changed\n")
    repository.git("stash", "--quiet")
    repository.git("stash", "pop", "--quiet")
    repository.git("reset", "--quiet", "--hard")
    repository.git("gc", "--quiet", "--prune=now")
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("tag", "v1")
    assert watcher.look().events() == []
    repository.commit("after all that")
    assert watcher.look().subjects() == ["after all that"]


def test_what_is_reset_away_is_marked_until_it_is_back(
    watcher: Watcher, repository: Repository
) -> None:
    sha = repository.commit("wanted after all")
    watcher.look()
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    (event,) = watcher.look().events()
    assert event.commit is not None
    assert event.commit.dropped
    repository.git("reset", "--quiet", "--hard", sha)
    (event,) = watcher.look().events()
    assert event.commit is not None
    assert not event.commit.dropped


def test_a_log_that_git_wrote_anew_is_read_on_from_where_it_was(
    watcher: Watcher, repository: Repository
) -> None:
    repository.commit("one")
    repository.commit("two")
    watcher.look()
    log = repository.path / ".git" / "logs" / "HEAD"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[2:]))
    repository.commit("three")
    assert watcher.look().subjects() == ["one", "two", "three"]


def test_a_detached_head_and_the_first_commit_of_a_branch_count(
    watcher: Watcher, repository: Repository
) -> None:
    """B1."""
    repository.git("checkout", "--quiet", "--detach")
    repository.commit("on no branch")
    repository.git("checkout", "--quiet", "--orphan", "fresh")
    repository.commit("unborn before")
    events = watcher.look().events()
    assert [event.commit.branch for event in events if event.commit] == [None, "fresh"]


def test_the_first_commit_of_a_repository_counts(tmp_path: Path) -> None:
    """B1."""
    repository = Repository.create(tmp_path / "new")
    watcher = watch(repository.path)
    repository.commit("the first")
    assert watcher.look().subjects() == ["the first"]


def test_a_repository_that_appears_while_watching_is_watched(tmp_path: Path) -> None:
    """B1."""
    folder = tmp_path / "plain"
    folder.mkdir()
    watcher = watch(folder)
    repository = Repository(folder)
    repository.git("init", "--quiet")
    repository.commit("the first")
    assert watcher.look().subjects() == ["the first"]


def test_a_worktree_shares_the_memory_of_its_repository(
    watcher: Watcher, repository: Repository, tmp_path: Path
) -> None:
    """B1."""
    repository.git("worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "side")
    tree = Repository(tmp_path / "tree")
    tree.commit("in the worktree", name="t.txt")
    repository.commit("in the main one", name="m.txt")
    assert sorted(watcher.look().subjects()) == ["in the main one", "in the worktree"]
    elsewhere = watch(tree.path)
    repository.commit("seen from there", name="s.txt")
    assert "seen from there" in elsewhere.look().subjects()


@pytest.mark.slow
def test_every_repository_of_the_workspace_is_watched(tmp_path: Path) -> None:
    """B1."""
    library = Repository.create(tmp_path / "library")
    library.commit("library")
    outer = Repository.create(tmp_path / "workspace" / "outer")
    outer.commit("outer")
    outer.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.path), "sub"
    )
    other = Repository.create(tmp_path / "workspace" / "group" / "other")
    second = Repository.create(tmp_path / "second")
    watcher = watch(tmp_path / "workspace", second.path)
    outer.commit("in outer")
    Repository(outer.path / "sub").commit("in the submodule")
    other.commit("in other")
    second.commit("in the second folder")
    watcher.look()
    assert watcher.subjects(outer.path) == ["in outer"]
    assert watcher.subjects(outer.path / "sub") == ["in the submodule"]
    assert watcher.subjects(other.path) == ["in other"]
    assert watcher.subjects(second.path) == ["in the second folder"]


def test_folders_come_and_go(watcher: Watcher, repository: Repository, tmp_path: Path) -> None:
    second = Repository.create(tmp_path / "second")
    watcher.app.workspace.arrange([repository.path, second.path])
    second.commit("now it counts")
    assert watcher.look().subjects(second.path) == ["now it counts"]
    watcher.app.workspace.arrange([repository.path])
    second.commit("not any more")
    assert watcher.look().subjects(second.path) == ["now it counts"]


def test_commits_made_while_nothing_ran_are_picked_up_once(
    watcher: Watcher, repository: Repository
) -> None:
    """B2."""
    repository.commit("seen")
    watcher.look().app.close()
    shas = make_line(repository, 3)
    repository.git("commit", "--quiet", "--amend", "-m", "amended meanwhile")
    later = watch(repository.path)
    assert later.subjects() == ["seen", "c0", "c1", "amended meanwhile"]
    assert watch(repository.path).shas() == [*later.shas()]
    assert later.shas()[1:3] == shas[:2]


def test_a_scan_is_where_watching_begins(repository: Repository) -> None:
    repository.commit("old")
    app = open_application(here=repository.path, source="cli-auto")
    app.call("threadline/scan", {})
    app.close()
    repository.commit("between")
    assert watch(repository.path).subjects() == ["old", "between"]


def test_two_sidecars_record_each_commit_once(watcher: Watcher, repository: Repository) -> None:
    """B2."""
    other = watch(repository.path)
    repository.commit("one")
    watcher.look()
    repository.commit("two")
    other.look()
    repository.git("commit", "--quiet", "--amend", "-m", "two, amended")
    watcher.look()
    assert other.look().subjects() == watcher.look().subjects() == ["one", "two, amended"]


def test_without_a_log_the_commits_themselves_tell(repository: Repository, tmp_path: Path) -> None:
    repository.git("config", "core.logAllRefUpdates", "false")
    shutil.rmtree(repository.path / ".git" / "logs", ignore_errors=True)
    watcher = watch(repository.path)
    repository.commit("the first")
    assert watcher.look().subjects() == ["the first"]
    repository.commit("one", name="1.txt")
    repository.commit("two", name="2.txt")
    assert watcher.look().subjects() == ["the first", "one", "two"]
    repository.git("commit", "--quiet", "--amend", "-m", "two, amended")
    assert watcher.look().subjects() == ["the first", "one", "two, amended"]
    other = clone(repository, tmp_path / "other")
    other.commit("theirs", name="theirs.txt")
    repository.git("pull", "--quiet", "--ff-only", str(other.path), "main")
    repository.git("checkout", "--quiet", "-b", "side", "HEAD~2")
    repository.git("pack-refs", "--all")
    assert watcher.look().subjects() == ["the first", "one", "two, amended"]


def test_a_reason_nobody_knows_is_judged_by_the_commit(
    watcher: Watcher, repository: Repository, tmp_path: Path
) -> None:
    other = clone(repository, tmp_path / "other")
    other.commit("theirs", name="theirs.txt")
    repository.write("x.txt")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "by a tool", GIT_REFLOG_ACTION="my-tool")
    repository.git("fetch", "--quiet", str(other.path), "main:theirs")
    repository.git("update-ref", "-m", "my-tool: jump", "HEAD", "theirs")
    assert watcher.look().subjects() == ["by a tool"]


def test_while_paused_nothing_is_recorded_then_or_later(
    watcher: Watcher, repository: Repository
) -> None:
    """B6."""
    state = watcher.call("threadline/capture/pause", duration="1h")
    assert (state.paused, state.until - state.since) == (True, timedelta(hours=1))
    repository.commit("private work")
    assert watcher.look().events() == []
    event = {"kind": "capture", "text": "unheard"}
    result = watcher.call("threadline/ingest", events=[event])
    assert isinstance(result, IngestResult)
    assert [placed.outcome for placed in result.events] == ["dropped"]
    status = watcher.call("threadline/status")
    assert isinstance(status, Status)
    assert status.capture.paused
    watcher.call("threadline/capture/resume")
    assert not watcher.call("threadline/status").capture.paused
    repository.commit("public work")
    assert watcher.look().subjects() == ["public work"]


@pytest.mark.slow
def test_a_pause_holds_for_commits_that_are_picked_up_later(
    watcher: Watcher, repository: Repository
) -> None:
    watcher.call("threadline/capture/pause", duration="forever")
    watcher.app.close()
    stamp = datetime.now(UTC) + timedelta(seconds=1)
    repository.commit("private work", at=stamp)
    later = open_application(here=repository.path, source="vscode")
    while datetime.now(UTC) < stamp + timedelta(seconds=1):
        os.sched_yield()
    later.call("threadline/capture/resume", {})
    later.workspace.arrange([repository.path])
    assert Watcher(later).look().events() == []


def test_settings_turn_the_capture_of_commits_off(watcher: Watcher, repository: Repository) -> None:
    watcher.app.configure(user={"captureCommits": False})
    repository.commit("unheard")
    watcher.look().app.configure()
    repository.commit("heard")
    assert watcher.look().subjects() == ["heard"]


def test_commits_of_a_stranger_are_read_with_every_byte(
    watcher: Watcher, repository: Repository
) -> None:
    repository.write("we|ird\nname.txt")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", b"p\xefpe | \xff")
    (event,) = watcher.look().events()
    assert event.commit is not None
    assert event.commit.subject == "p\u00efpe | \u00ff"
    assert [file.path for file in event.files] == ["we|ird\nname.txt"]


def test_a_secret_in_a_commit_message_never_reaches_the_disk(
    watcher: Watcher, repository: Repository
) -> None:
    """Part of E11."""
    secret = "gh" + "p_" + "x7" * 18
    repository.write("b.txt")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", f"use {secret}", "-m", f"DB_PASSWORD={secret[4:]}")
    (event,) = watcher.look().events()
    assert event.commit is not None
    assert (event.commit.subject, event.commit.body) == (
        "use [REDACTED]",
        "DB_PASSWORD=[REDACTED]",
    )
    kept = b"".join(
        path.read_bytes() for path in watcher.app.home.folder.rglob("*") if path.is_file()
    )
    assert secret[4:].encode() not in kept


def test_private_words_of_a_commit_are_not_kept(watcher: Watcher, repository: Repository) -> None:
    """B6."""
    repository.commit("fix <private>for Acme</private>login")
    assert watcher.look().subjects() == ["fix login"]


def test_nothing_a_repository_names_is_run(
    watcher: Watcher, repository: Repository, tmp_path: Path
) -> None:
    """B7."""
    make_line(repository, 3)
    watcher.look()
    rebase(repository, "--quiet", "-i", "HEAD~3", todo="2,$s/^pick/squash/")
    repository.git("commit", "--quiet", "--amend", "-m", "once more")
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    repository.commit("after the reset")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path / 'sprung'}\ncat\n")
    trap.chmod(0o700)
    names = [
        *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass"),
        *("diff.external", "diff.trap.textconv", "diff.trap.command", "gpg.program"),
        *(
            "filter.trap.clean",
            "filter.trap.smudge",
            "filter.trap.process",
            "interactive.diffFilter",
        ),
        *("credential.helper", "alias.log", "alias.check-ignore", "uploadpack.packObjectsHook"),
    ]
    for name in names:
        repository.git("config", name, str(trap))
    repository.git("config", "log.showSignature", "true")
    for hook in ("post-index-change", "reference-transaction", "post-checkout"):
        (repository.path / ".git" / "hooks" / hook).write_text(trap.read_text())
        (repository.path / ".git" / "hooks" / hook).chmod(0o700)
    (repository.path / ".gitattributes").write_text("* diff=trap filter=trap\n")
    before = {path: path.stat().st_mtime_ns for path in (repository.path / ".git").rglob("*")}
    watcher.app.workspace.save([(repository.path / "f0.txt", datetime.now(UTC))])
    assert watcher.look().subjects()[-1] == "after the reset"
    assert not (tmp_path / "sprung").exists()
    after = {path: path.stat().st_mtime_ns for path in (repository.path / ".git").rglob("*")}
    assert before == after


def states(watcher: Watcher) -> dict[str, bool]:
    """Tell of each commit that is recorded whether it is dropped."""
    return {e.commit.subject: e.commit.dropped for e in watcher.events() if e.commit}


@pytest.mark.parametrize("undone", ["amend", "rebase", "squash"])
def test_what_is_undone_is_again_what_it_was(
    watcher: Watcher, repository: Repository, undone: str
) -> None:
    """B2."""
    shas = make_line(repository, 3)
    watcher.look()
    if undone == "amend":
        repository.git("commit", "--quiet", "--amend", "-m", "amended")
    elif undone == "rebase":
        rebase(repository, "--quiet", "-i", "HEAD~3", todo="1d")
    else:
        rebase(repository, "--quiet", "-i", "HEAD~3", todo="2,$s/^pick/squash/")
    watcher.look()
    assert watcher.shas() != shas
    repository.git("reset", "--quiet", "--hard", shas[-1])
    assert watcher.look().shas() == shas
    assert states(watcher) == {"c0": False, "c1": False, "c2": False}


def test_a_dropped_commit_that_is_merged_again_is_there_again(
    watcher: Watcher, repository: Repository
) -> None:
    sha = repository.commit("wanted", name="w.txt")
    watcher.look()
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    repository.commit("other", name="o.txt")
    watcher.look()
    assert states(watcher) == {"wanted": True, "other": False}
    repository.git("merge", "--quiet", "--no-edit", sha)
    watcher.look()
    assert states(watcher)["wanted"] is False


def test_what_another_branch_still_holds_is_not_replaced(
    watcher: Watcher, repository: Repository
) -> None:
    sha = repository.commit("kept")
    watcher.look()
    repository.git("branch", "backup")
    repository.git("commit", "--quiet", "--amend", "-m", "amended")
    assert watcher.look().shas() == [sha, head(repository)]


def test_what_git_has_thrown_away_holds_nothing_up(
    watcher: Watcher, repository: Repository
) -> None:
    repository.commit("gone")
    watcher.look()
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    watcher.look()
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--quiet", "--prune=now")
    repository.commit("one")
    repository.commit("two")
    watcher.look()
    assert states(watcher) == {"gone": True, "one": False, "two": False}


def test_one_repository_that_cannot_be_read_leaves_the_others_alone(tmp_path: Path) -> None:
    bad = Repository.create(tmp_path / "workspace" / "a")
    good = Repository.create(tmp_path / "workspace" / "b")
    (bad.path / ".git" / "config").write_text("nonsense")
    watcher = watch(tmp_path / "workspace")
    good.commit("seen")
    assert watcher.look().subjects(good.path) == ["seen"]


def test_another_repository_at_the_same_place_is_another_project(
    watcher: Watcher, repository: Repository
) -> None:
    repository.commit("of the first")
    watcher.look()
    shutil.rmtree(repository.path)
    second = Repository.create(repository.path)
    second.git("remote", "add", "origin", "https://example.org/other.git")
    second.commit("of the second")
    watcher.look()
    assert Watcher(open_application(here=second.path, source="x")).subjects() == ["of the second"]


def test_commits_of_a_worktree_that_was_made_while_nothing_ran_are_picked_up(
    watcher: Watcher, repository: Repository, tmp_path: Path
) -> None:
    repository.commit("seen")
    watcher.look().app.close()
    repository.git("worktree", "add", "--quiet", str(tmp_path / "tree"), "-b", "side")
    Repository(tmp_path / "tree").commit("unseen", name="t.txt")
    assert watch(repository.path).subjects() == ["seen", "unseen"]


def test_commits_of_a_repository_that_moved_while_nothing_ran_are_picked_up(
    watcher: Watcher, repository: Repository, tmp_path: Path
) -> None:
    repository.commit("seen")
    watcher.look().app.close()
    moved = Repository(repository.path.rename(tmp_path / "moved"))
    moved.commit("after the move")
    again = watch(moved.path)
    assert again.subjects() == []
    again.app.call("threadline/projects/link", {})
    assert again.look().subjects() == ["seen", "after the move"]
    again.app.close()


def test_a_session_that_begins_elsewhere_meanwhile_takes_the_commit_of_its_second(
    watcher: Watcher, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of A3 and H1."""
    second = datetime.now(UTC).replace(microsecond=0)
    other = open_application(here=repository.path, source="neovim")
    save = NewEvent(
        kind="save",
        files=(FileChange(path="a.txt"),),
        occurred_at=second + timedelta(milliseconds=500),
    )
    vault = other.vault(other.project(None))
    elsewhere = threading.Thread(target=record.ingest, args=(vault, [save], "neovim"))
    sharpen = sessions.sharpen

    def look(moment: datetime, timeline: Sequence[Session]) -> datetime:
        found = sharpen(moment, timeline)
        elsewhere.start()
        elsewhere.join(0.5)
        return found

    monkeypatch.setattr(sessions, "sharpen", look)
    repository.commit("work", at=second)
    watcher.look()
    elsewhere.join()
    assert len({event.session_id for event in watcher.events()}) == 1
    assert len(watcher.events()) == 2
    other.close()


def test_a_pause_begins_and_ends_between_two_commits_of_one_second(
    watcher: Watcher, repository: Repository
) -> None:
    """B6."""
    repository.commit("before")
    watcher.call("threadline/capture/pause")
    repository.commit("during")
    watcher.call("threadline/capture/resume")
    repository.commit("after")
    assert watcher.look().subjects() == ["before", "after"]


def test_a_scan_does_not_find_what_was_committed_in_a_pause(
    watcher: Watcher, repository: Repository
) -> None:
    """B6."""
    watcher.call("threadline/capture/pause")
    repository.commit("during")
    watcher.call("threadline/scan")
    assert "during" not in watcher.look().subjects()


def test_records_follow_what_happens_to_them_in_a_pause(
    watcher: Watcher, repository: Repository
) -> None:
    repository.commit("recorded")
    watcher.look()
    watcher.call("threadline/capture/pause")
    repository.git("commit", "--quiet", "--amend", "-m", "private words")
    watcher.look()
    assert states(watcher) == {"recorded": True}


def test_a_commit_that_waits_in_the_inbox_can_be_amended(
    watcher: Watcher, repository: Repository
) -> None:
    first = repository.commit("first words")
    vault = watcher.app.vault(None)
    commit = {"sha": first, "authoredAt": "2026-11-16T12:00:00Z", "subject": "first words"}
    line = {
        "source": "vscode",
        "recordedAt": "2026-11-16T12:00:00Z",
        "events": [{"kind": "commit", "idempotencyKey": f"commit:{first}", "commit": commit}],
    }
    vault.defer(json.dumps(line).encode())
    repository.git("commit", "--quiet", "--amend", "-m", "second words")
    assert watcher.look().subjects() == ["second words"]
