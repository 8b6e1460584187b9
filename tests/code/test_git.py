"""Git is read to the last byte and never trusted."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from protocol.errors import GitFailedError
from protocol.events import FileChange, NewEvent
from sidecar.code import commits, git, identity
from sidecar.text import paths
from sidecar.transports.exits import Exit
from tests.support import HOUR, MINUTE, NOON, Repository, threadline

pytestmark = pytest.mark.slow


def read(repository: Repository, **options: bool) -> list[NewEvent]:
    history = commits.history(repository.path, since=None, author=None)
    return list(commits.read(repository.path, history, **options))


def subjects(events: list[NewEvent]) -> list[str]:
    return [event.commit.subject for event in events if event.commit]


def test_a_commit_is_read_with_all_its_facts(repository: Repository) -> None:
    """Part of B3."""
    first = repository.commit("one", at=NOON, name="old name.txt")
    repository.git("mv", "old name.txt", "new|name.txt")
    repository.write("added.txt", "1\n2\n3\n")
    repository.git("add", "--all")
    repository.git(
        "commit", "--quiet", "-m", 'pipe | "quotes"\n\nBody line\n\nlast', at=NOON + HOUR
    )
    event = read(repository, line_counts=True)[1]
    assert event.idempotency_key == f"commit:{repository.git('rev-parse', 'HEAD')}"
    assert event.occurred_at == NOON + HOUR
    assert event.files == (
        FileChange(path="added.txt", status="added", added_lines=3, deleted_lines=0),
        FileChange(
            path="new|name.txt",
            status="renamed",
            previous_path="old name.txt",
            added_lines=0,
            deleted_lines=0,
        ),
    )
    assert event.commit is not None
    assert event.commit.parents == (first,)
    assert event.commit.subject == 'pipe | "quotes"'
    assert event.commit.body == "Body line\n\nlast"
    assert (event.commit.author_name, event.commit.author_email) == ("Ada", "ada@example.org")
    assert event.commit.branch == "main"


def test_without_line_counts_the_files_are_the_same(repository: Repository) -> None:
    """Part of B3."""
    repository.commit("one", at=NOON)
    repository.commit("two", at=NOON, name="b.txt")
    (repository.path / "a.txt").unlink()
    repository.commit("three", at=NOON, name="b.txt")
    quick = [[(f.path, f.status) for f in event.files] for event in read(repository)]
    counted = [[(f.path, f.status) for f in e.files] for e in read(repository, line_counts=True)]
    assert (
        quick
        == counted
        == [
            [("a.txt", "added")],
            [("b.txt", "added")],
            [("a.txt", "deleted"), ("b.txt", "modified")],
        ]
    )


HOSTILE = [
    b"with space",
    b"new\nline",
    b"tab\there",
    b'quote"d',
    b"back\\slash",
    b"back\\xe9slash",
    b"latin-\xe9\xff",
    "größe-✓-😀".encode(),
    "e\u0301-decomposed".encode(),
    b"-leading-dash",
    b"--output=x",
    b":colon",
    b"pipe|pipe",
    b"A",
    b"R100",
    b"1\t2\tnumstat",
    b"\x01\x02",
    b"~",
    b"x" * 250,
    b"0123456789abcdef0123456789abcdef01234567",
]


@pytest.mark.parametrize("line_counts", [False, True])
def test_any_path_is_survived(repository: Repository, line_counts: bool) -> None:
    """Part of B5, B3."""
    for name in HOSTILE:
        (Path(os.fsdecode(os.fsencode(repository.path) + b"/" + name))).write_bytes(name)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "hostile", at=NOON)
    repository.commit("after", at=NOON + MINUTE)
    events = read(repository, line_counts=line_counts)
    assert subjects(events) == ["hostile", "after"]
    assert {paths.write(change.path) for change in events[0].files} == set(HOSTILE)


@pytest.mark.parametrize(
    "message",
    [
        b"latin-1: caf\xe9\n\nbody \xff\xfe\n",
        b"pipe | and \x1e and \x01 and ~\n",
        b"\xf0\x9f\x98\x80 emoji\n",
        b"A\n",
        b":100644 100644 a b M\n",
        b"",
        b"\n\nblank first\n",
        b"x" * 300_000,
    ],
)
def test_any_message_and_author_is_survived(repository: Repository, message: bytes) -> None:
    """Part of B5, B3."""
    repository.commit("before", at=NOON)
    (repository.path / ".git" / "MESSAGE").write_bytes(message)
    repository.write("b.txt")
    repository.git("add", "--all")
    repository.git(
        *("commit", "--quiet", "--allow-empty-message", "--cleanup=verbatim", "-F", ".git/MESSAGE"),
        at=NOON + MINUTE,
        GIT_AUTHOR_NAME=os.fsdecode(b'J\xe9r\xf4me | "x"'),
    )
    repository.commit("after", at=NOON + 2 * MINUTE)
    events = read(repository)
    assert len(events) == 3
    assert subjects(events)[2] == "after"
    assert [change.path for change in events[1].files] == ["b.txt"]
    for event in events:
        assert event.commit is not None
        f"{event.commit.subject}{event.commit.body}{event.commit.author_name}".encode()


def test_merges_list_what_they_brought_and_roots_what_they_began(repository: Repository) -> None:
    """Part of B5, B3."""
    repository.commit("root", at=NOON)
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("side", at=NOON + MINUTE, name="side.txt")
    repository.git("checkout", "--quiet", "main")
    repository.commit("main", at=NOON + 2 * MINUTE, name="main.txt")
    repository.git("merge", "--quiet", "--no-ff", "-m", "merge", "side", at=NOON + 3 * MINUTE)
    events = read(repository)
    assert subjects(events) == ["root", "side", "main", "merge"]
    assert [[f.path for f in event.files] for event in events] == [
        ["a.txt"],
        ["side.txt"],
        ["main.txt"],
        ["side.txt"],
    ]


def test_history_is_ordered_by_author_time_and_parents_come_first(repository: Repository) -> None:
    """Part of B5."""
    repository.commit("first", at=NOON)
    repository.commit("same second", at=NOON)
    repository.commit("earlier", at=NOON - HOUR)
    assert subjects(read(repository)) == ["earlier", "first", "same second"]


def test_stashes_and_notes_are_no_history(repository: Repository) -> None:
    """Part of B5."""
    repository.commit("one", at=NOON)
    repository.git("notes", "add", "-m", "a note")
    repository.write("a.txt", "changed\n")
    repository.git("stash", "push", "--quiet")
    assert subjects(read(repository)) == ["one"]


def test_replaced_and_rewritten_commits_are_no_history(repository: Repository) -> None:
    """Part of B5."""
    first = repository.commit("one", at=NOON)
    second = repository.commit("two", at=NOON)
    repository.git("replace", "--graft", second)
    repository.git("update-ref", "refs/original/refs/heads/main", first)
    events = read(repository)
    assert subjects(events) == ["one", "two"]
    assert events[1].commit is not None
    assert events[1].commit.parents == (first,)


def test_paths_are_those_of_the_repository_wherever_one_asks(repository: Repository) -> None:
    """Part of B3."""
    repository.commit("one", at=NOON, name="sub/a.txt")
    repository.git("config", "diff.relative", "true")
    (event,) = read(Repository(repository.path / "sub"))
    assert [change.path for change in event.files] == ["sub/a.txt"]


def put_before_git(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a script be found as git; `{git}` in it is the real one."""
    identity.facts(folder)
    fake = folder / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\n" + script.replace("{git}", str(shutil.which("git"))) + "\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")


def test_a_git_that_dies_is_no_short_history(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of B5: what could not be read to its end is an error, not the end."""
    for number in range(5):
        repository.commit(f"{number}", at=NOON)
    put_before_git('{git} "$@" | head -c 100\nkill -9 $$', tmp_path, monkeypatch)
    with pytest.raises(GitFailedError):
        commits.history(repository.path, since=None, author=None)


@pytest.mark.slow
def test_a_git_that_does_not_work_is_said(repository: Repository, tmp_path: Path) -> None:
    """Part of B5, H4."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "bin" / "git").chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = threadline("scan", cwd=repository.path, PATH=path)
    assert done.returncode == Exit.GIT_FAILED
    assert b"Traceback" not in done.stderr


def test_a_git_that_complains_a_lot_is_heard_to_the_end(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of B5."""
    repository.commit("one", at=NOON)
    noise = 'head -c 500000 /dev/zero | tr "\\0" w >&2\nexec {git} "$@"'
    put_before_git(noise, tmp_path, monkeypatch)
    assert subjects(read(repository)) == ["one"]


def test_a_partial_clone_is_read_without_its_missing_contents(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of B5."""
    repository.commit("one", at=NOON)
    repository.write("big.txt", "line\n" * 50)
    repository.commit("two", at=NOON)
    repository.git("mv", "big.txt", "moved.txt")
    repository.write("moved.txt", "line\n" * 49)
    repository.git("mv", "a.txt", "b.txt")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "three", at=NOON)
    repository.git("config", "uploadpack.allowFilter", "true")
    target = str(tmp_path / "partial")
    repository.git(
        "clone",
        "--quiet",
        "--no-checkout",
        "--filter=blob:none",
        f"file://{repository.path}",
        target,
    )
    events = read(Repository(Path(target)))
    assert [(f.path, f.status) for f in events[2].files] == [
        ("b.txt", "renamed"),
        ("big.txt", "deleted"),
        ("moved.txt", "added"),
    ]


def test_an_empty_repository_and_a_plain_folder(repository: Repository, tmp_path: Path) -> None:
    """A8. Part of B5."""
    assert commits.history(repository.path, since=None, author=None) == []
    assert identity.facts(repository.path).root is None
    plain = tmp_path / "plain"
    plain.mkdir()
    assert identity.facts(plain).folder == str(plain)
    with pytest.raises(GitFailedError, match="not a git repository"):
        commits.history(plain, since=None, author=None)


def test_a_date_no_calendar_holds_is_survived(repository: Repository) -> None:
    """Part of B3."""
    repository.commit("one", at=NOON)
    tree = repository.git("rev-parse", "HEAD^{tree}")
    raw = f"tree {tree}\nauthor A <a@b> 99999999999999 +0000\ncommitter A <a@b> 1 +0000\n\nfar\n"
    (repository.path / "raw").write_text(raw)
    sha = repository.git("hash-object", "-t", "commit", "-w", "--literally", "raw")
    repository.git("update-ref", "refs/heads/far", sha)
    assert sorted(subjects(read(repository))) == ["far", "one"]


def booby_trap(repository: Repository, marker: Path) -> None:
    """Let every setting that can run a program run one that leaves a mark."""
    program = repository.path / "trap.sh"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\ncat >/dev/null 2>&1\nexit 0\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    hooks = repository.path / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc"):
        (hooks / hook).write_text(program.read_text())
        (hooks / hook).chmod(0o755)
    settings = {
        "core.fsmonitor": str(program),
        "core.hooksPath": str(hooks),
        "core.pager": str(program),
        "core.editor": str(program),
        "core.sshCommand": str(program),
        "core.gitProxy": str(program),
        "core.askPass": str(program),
        "credential.helper": f"!{program}",
        "diff.external": str(program),
        "diff.trap.textconv": str(program),
        "diff.trap.command": str(program),
        "filter.trap.clean": str(program),
        "filter.trap.smudge": str(program),
        "filter.trap.process": str(program),
        "pager.log": str(program),
        "pager.config": str(program),
        "log.showSignature": "true",
        "gpg.program": str(program),
        "gpg.ssh.program": str(program),
        "gpg.x509.program": str(program),
        "interactive.diffFilter": str(program),
        "sequence.editor": str(program),
        "uploadpack.packObjectsHook": str(program),
        "remote.origin.url": "ext::" + str(program),
        "remote.origin.uploadpack": str(program),
        "remote.origin.promisor": "true",
        "remote.origin.partialclonefilter": "blob:none",
        "extensions.partialClone": "origin",
        "protocol.ext.allow": "always",
        "alias.log": f"!{program}",
        "alias.rev-parse": f"!{program}",
    }
    for name, value in settings.items():
        repository.git("config", name, value)
    (repository.path / ".git" / "info").mkdir(exist_ok=True)
    (repository.path / ".git" / "info" / "attributes").write_text("* diff=trap filter=trap\n")


def test_a_booby_trapped_repository_runs_nothing(repository: Repository, tmp_path: Path) -> None:
    """Part of B5, B7."""
    repository.write("a.txt")
    repository.git("add", "--all")
    tree = repository.git("write-tree")
    signed = (
        f"tree {tree}\nauthor Ada <ada@example.org> 1 +0000\ncommitter Ada <ada@example.org> 1 +0000\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n"
    )
    (repository.path / "raw").write_text(signed)
    sha = repository.git("hash-object", "-t", "commit", "-w", "--literally", "raw")
    repository.git("update-ref", "refs/heads/main", sha)
    repository.git("update-ref", "refs/heads/--output=x", sha)
    marker = tmp_path / "marker"
    booby_trap(repository, marker)
    before = snapshot(repository.path)
    assert subjects(read(repository, line_counts=True)) == ["signed"]
    identity.facts(repository.path)
    identity.user_email(repository.path)
    assert not marker.exists(), marker.read_text()
    assert snapshot(repository.path) == before


def test_missing_objects_are_never_fetched(repository: Repository, tmp_path: Path) -> None:
    """Part of B7: a partial clone would ask its remote, by whatever program its config names."""
    repository.commit("one", at=NOON)
    marker = tmp_path / "marker"
    blob = repository.git("rev-parse", "HEAD:a.txt")
    (repository.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    booby_trap(repository, marker)
    repository.git("config", "remote.origin.url", str(tmp_path / "repository"))
    assert subjects(read(repository)) == ["one"]
    with pytest.raises(GitFailedError):
        read(repository, line_counts=True)
    assert not marker.exists(), marker.read_text()


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_reading_writes_nothing_into_the_repository(repository: Repository) -> None:
    """Part of B7."""
    repository.commit("one", at=NOON)
    os.utime(repository.path / "a.txt")
    before = snapshot(repository.path)
    read(repository)
    identity.facts(repository.path)
    assert snapshot(repository.path) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to someone else")
def test_git_decides_whose_repositories_may_be_read(repository: Repository) -> None:
    """Part of B7."""
    repository.commit("one", at=NOON)
    for path in [repository.path, *repository.path.rglob("*")]:
        os.chown(path, 12345, 12345)
    with pytest.raises(GitFailedError, match="dubious ownership"):
        identity.facts(repository.path)


def test_a_callers_git_does_not_mislead_us(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A8: inside a git hook or alias, git's environment names the caller's repository."""
    other = Repository.create(tmp_path / "other")
    other.commit("other", at=NOON)
    repository.commit("ours", at=NOON)
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    assert subjects(read(repository)) == ["ours"]


@pytest.mark.slow
def test_a_reader_that_stops_early_leaves_no_process(repository: Repository) -> None:
    """Part of B7."""
    for number in range(50):
        repository.commit(str(number), at=NOON)
    events = commits.read(
        repository.path, commits.history(repository.path, since=None, author=None)
    )
    next(events)
    events.close()  # type: ignore[attr-defined]  # it is a generator
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    assert not children.exists() or children.read_text() == ""


def test_a_git_in_the_repository_is_never_run(repository: Repository) -> None:
    """Part of B7: Windows looks at the folder at hand first, and so does a PATH with `.` in it."""
    repository.commit("begin", at=NOON)
    fake = repository.path / "git"
    fake.write_text("#!/bin/sh\ntouch run\n")
    fake.chmod(0o755)
    path = os.pathsep.join([".", "", os.environ["PATH"]])
    done = threadline("scan", cwd=repository.path, PATH=path)
    assert done.returncode == Exit.OK, done.stderr
    assert not (repository.path / "run").exists()


def test_windows_has_a_git_with_an_ending(tmp_path: Path) -> None:
    (tmp_path / "git.exe").touch(mode=0o755)
    folders = [".", str(tmp_path / "none"), str(tmp_path)]
    assert git.find_program(folders, is_windows=True) == str(tmp_path / "git.exe")
    assert git.find_program(folders, is_windows=False) is None
