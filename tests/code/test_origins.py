"""Where lines come from: through edits, moves, renames and worktrees; and nothing where git cannot tell."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from sidecar.code import blame, checkouts, git
from sidecar.code.blame import Origins
from sidecar.code.line_origins import Origin
from sidecar.text import paths
from tests.code.test_git import HOSTILE, booby_trap, put_before_git, snapshot
from tests.support import NOON, Repository

pytestmark = pytest.mark.slow

CODE = "def load(a):\n    return a + 1\n\n\nclass Store:\n    def save(self, a):\n        return a - 1\n"


def put(repository: Repository, subject: str, **files: str) -> str:
    for name, content in files.items():
        repository.write(name.replace("_py", ".py"), content)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", subject, at=NOON)
    return repository.git("rev-parse", "HEAD")


def origins_of(folder: Path) -> Origins:
    checkout = checkouts.enclosing(folder)
    assert checkout is not None
    return Origins(checkout)


def origin(folder: Path, path: str, line: int) -> Origin | None:
    return origins_of(folder).look(path, line).origin


def sha(folder: Path, path: str, line: int) -> str | None:
    found = origin(folder, path, line)
    return None if found is None else found.sha


def test_a_line_is_told_with_its_commit_and_what_it_is_in(repository: Repository) -> None:
    """Part of D13."""
    first = put(repository, "begin | é", a_py=CODE)
    second = put(repository, "subtract two", a_py=CODE.replace("a - 1", "a - 2"))
    asked = origins_of(repository.path)
    sight = asked.look("a.py", 7)
    assert sight.symbols == ("Store.save", "Store")
    assert sight.origin == Origin(
        sha=second, path="a.py", line=7, author="Ada", at=NOON, subject="subtract two"
    )
    above = asked.look("a.py", 2)
    assert above.symbols == ("load",)
    assert above.origin is not None
    assert (above.origin.sha, above.origin.subject) == (first, "begin | é")


def test_a_line_is_followed_through_indentation_moves_and_renames(repository: Repository) -> None:
    """Part of D13."""
    line = "total = sum(price * amount for price, amount in the_whole_basket)\n"
    body = "".join(f"value_{number} = {number}\n" for number in range(20))
    first = put(repository, "write it", a_py=line + body)
    put(repository, "move it down", a_py=body + line)
    put(repository, "indent it", a_py=body + "if True:\n    " + line)
    asked = origins_of(repository.path)
    repository.git("mv", "a.py", "b.py")
    assert asked.names("b.py") == ("b.py",)
    put(repository, "rename the file")
    found = asked.look("b.py", 22).origin
    assert found is not None
    assert (found.sha, found.path, found.line) == (first, "a.py", 1)
    assert asked.names("b.py") == ("b.py", "a.py")


def test_lines_that_nobody_committed_have_no_origin_and_the_others_keep_theirs(
    repository: Repository,
) -> None:
    """Part of D13."""
    first = put(repository, "begin", a_py=CODE)
    asked = origins_of(repository.path)
    assert asked.look("a.py", 1).origin is not None
    repository.write("a.py", "import os\n\n" + CODE.replace("a - 1", "a - 3"))
    found = [asked.look("a.py", line) for line in range(1, 11)]
    shas = [one.origin and one.origin.sha for one in found]
    assert shas == [None, None, *[first] * 6, None, None]
    assert found[3].symbols == ("load",)
    assert found[3].origin is not None
    assert found[3].origin.line == 2
    repository.git("add", "--all")
    assert asked.look("a.py", 1).origin is None
    (repository.path / "a.py").unlink()
    assert asked.look("a.py", 2).origin == found[3].origin


def test_line_ends_are_no_change(repository: Repository) -> None:
    first = put(repository, "begin", a_py=CODE)
    (repository.path / "a.py").write_bytes(CODE.replace("\n", "\r\n").encode())
    assert {sha(repository.path, "a.py", line) for line in range(1, 8)} == {first}


def test_what_cannot_be_told_is_not_told(repository: Repository, tmp_path: Path) -> None:
    """Part of D13."""
    put(repository, "begin", a_py=CODE, big_py="x = 1\n" * 200_000, empty_py="")
    (repository.path / "binary.py").write_bytes(b"\0\1\n\2")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "binary")
    repository.write("new.py", CODE)
    asked = origins_of(repository.path)
    for path, line in [
        ("big.py", 1),
        ("binary.py", 1),
        ("empty.py", 1),
        ("new.py", 1),
        ("a.py", 8),
        ("a.py", 2**31),
        ("nowhere.py", 1),
        ("", 1),
        ("a.py/b", 1),
        ("../a.py", 1),
        (".", 1),
    ]:
        assert asked.look(path, line).origin is None, (path, line)
    assert asked.look("new.py", 1).symbols == ("load",)
    empty = Repository.create(tmp_path / "empty")
    empty.write("a.py", CODE)
    assert origins_of(empty.path).look("a.py", 1).origin is None


def test_a_history_that_was_cut_off_tells_nothing_of_its_first_commit(
    repository: Repository, tmp_path: Path
) -> None:
    put(repository, "begin", a_py=CODE)
    put(repository, "go on", b_py=CODE)
    last = put(repository, "more", a_py=CODE.replace("a - 1", "a - 2"))
    repository.git(
        "clone", "--quiet", "--depth=2", repository.path.as_uri(), str(tmp_path / "clone")
    )
    assert sha(tmp_path / "clone", "a.py", 1) is None
    assert sha(tmp_path / "clone", "a.py", 7) == last


def test_a_worktree_is_asked_at_its_own_head(repository: Repository, tmp_path: Path) -> None:
    """Part of D13."""
    first = put(repository, "begin", a_py=CODE)
    repository.git("worktree", "add", "--quiet", "-b", "other", str(tmp_path / "other"))
    other = Repository(tmp_path / "other")
    second = put(other, "elsewhere", a_py=CODE.replace("a + 1", "a + 2"))
    assert sha(repository.path, "a.py", 2) == first
    assert sha(other.path, "a.py", 2) == second


def test_any_path_is_survived(repository: Repository) -> None:
    for name in HOSTILE:
        (Path(os.fsdecode(os.fsencode(repository.path) + b"/" + name))).write_bytes(b"content\n")
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "hostile", at=NOON)
    head = repository.git("rev-parse", "HEAD")
    asked = origins_of(repository.path)
    for name in HOSTILE:
        found = asked.look(paths.read(name), 1).origin
        assert found is not None, name
        assert (found.sha, found.path) == (head, paths.read(name))


def test_no_program_of_the_repository_runs_and_nothing_is_written(
    repository: Repository, tmp_path: Path
) -> None:
    """Part of B5."""
    put(repository, "begin", a_py=CODE)
    trap = tmp_path / "sprung"
    repository.git("config", "filter.trap.clean", f"touch {trap}; cat")
    repository.git("config", "filter.trap.process", f"touch {trap}")
    repository.git("config", "diff.trap.textconv", f"touch {trap}; cat")
    repository.git("config", "diff.trap.command", f"touch {trap}")
    (repository.path / ".git" / "info" / "attributes").write_text("* filter=trap diff=trap\n")
    booby_trap(repository, trap)
    repository.write("a.py", CODE + "# more\n")
    before = snapshot(repository.path)
    assert sha(repository.path, "a.py", 1) is not None
    origins_of(repository.path).names("a.py")
    assert not trap.exists()
    assert snapshot(repository.path) == before


def test_git_is_asked_once_for_a_line_until_head_or_the_file_moves(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of D13."""
    put(repository, "begin", a_py=CODE)
    asked = origins_of(repository.path)
    asked.look("a.py", 1)
    questions: list[str] = []
    ask = git.ask

    def note(*words: Any, **more: Any) -> tuple[int, bytes, str]:
        questions.append(words[-1])
        return ask(*words, **more)

    monkeypatch.setattr(git, "ask", note)
    for _ in range(3):
        asked.look("a.py", 1)
    assert questions == []
    second = put(repository, "change", a_py=CODE.replace("load", "fetch"))
    found = asked.look("a.py", 1).origin
    assert found is not None
    assert found.sha == second
    assert questions


def test_a_list_of_commits_to_pass_over_is_heeded_and_need_not_be_there(
    repository: Repository,
) -> None:
    first = put(repository, "begin", a_py=CODE)
    second = put(repository, "reformat", a_py=CODE.replace("a - 1", "(a-1)"))
    repository.git("config", "blame.ignoreRevsFile", ".passed-over")
    found = origin(repository.path, "a.py", 7)
    assert found == Origin(
        sha=second, path="a.py", line=7, author="Ada", at=NOON, subject="reformat"
    )
    repository.write(".passed-over", f"{second}\n")
    assert sha(repository.path, "a.py", 7) == first


def test_a_git_that_takes_too_long_is_not_waited_for_and_not_asked_at_once_again(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Part of D13."""
    put(repository, "begin", a_py=CODE)
    asked = origins_of(repository.path)
    asked.look("a.py", 1)
    with monkeypatch.context() as slow:
        slow.setattr(blame, "SECONDS", 0.3)
        stuck = 'case "$*" in *blame*) exec sleep 60;; esac; exec {git} "$@"'
        put_before_git(stuck, tmp_path, slow)
        begun = time.monotonic()
        assert asked.look("a.py", 2).origin is None
        assert time.monotonic() - begun < 20
    assert asked.look("a.py", 2).origin is None
    assert asked.look("a.py", 5).origin is not None


def test_many_may_ask_at_once(repository: Repository) -> None:
    first = put(repository, "begin", a_py=CODE)
    asked = origins_of(repository.path)
    found: list[str | None] = []

    def look() -> None:
        for line in (1, 2, 5, 6, 7):
            seen = asked.look("a.py", line).origin
            found.append(None if seen is None else seen.sha)

    threads = [threading.Thread(target=look) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [first] * 30


def test_what_is_remembered_is_bounded(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(repository, "begin", a_py=CODE)
    monkeypatch.setattr(blame, "_ORIGINS", 2)
    asked = origins_of(repository.path)
    for line in (1, 2, 5, 6):
        assert asked.look("a.py", line).origin is not None
    assert len(asked._origins) == 2
