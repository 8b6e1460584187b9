"""What commits hold is read whole, within bounds, and nothing of it runs."""

import os
from pathlib import Path

import pytest

from sidecar.code import contents, lineage
from sidecar.memory.rules.drafts import FileDiff
from sidecar.memory.rules.drift import Departure, Revert, Touched
from sidecar.text import paths
from tests.code.test_git import HOSTILE, booby_trap, snapshot
from tests.support import HOUR, MINUTE, NOON, Repository

pytestmark = pytest.mark.slow


def put(repository: Repository, files: dict[str, str | None], subject: str = "change") -> str:
    """Write or delete files and commit."""
    for name, content in files.items():
        if content is None:
            (repository.path / name).unlink()
        else:
            repository.write(name, content)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "--allow-empty", "-m", subject)
    return repository.git("rev-parse", "HEAD")


def test_a_commits_lines_are_read(repository: Repository) -> None:
    """Part of C9."""
    first = put(repository, {"a.py": "def f():\n    a = 1\n    return a\n\nx = 2\n"})
    repository.git("mv", "a.py", "b.py")
    second = put(repository, {"b.py": "def f():\n    a = 3\n    return a\n\nx = 2\n", "c.txt": "c"})
    assert contents.diffs(repository.path, [second, first]) == {
        first: (
            FileDiff(path="a.py", added=("def f():", "    a = 1", "    return a", "", "x = 2")),
        ),
        second: (
            FileDiff(
                path="b.py",
                previous_path="a.py",
                added=("    a = 3",),
                removed=("    a = 1",),
                context=("def f():",),
            ),
            FileDiff(path="c.txt", added=("c",)),
        ),
    }


def test_a_commit_is_read_under_the_name_it_was_asked_for(repository: Repository) -> None:
    """Part of C9."""
    first = put(repository, {"a.txt": "a\n"})
    second = put(repository, {"a.txt": "b\n"})
    read = contents.diffs(repository.path, [first[:9], second])
    assert {sha: file.added for sha, (file,) in read.items()} == {
        first[:9]: ("a",),
        second: ("b",),
    }


def test_a_commits_places_are_read(repository: Repository) -> None:
    """Part of C9."""
    put(repository, {"a.txt": "1\n2\n3\n4\n5\n", "b.txt": "b\n"})
    second = put(repository, {"a.txt": "1\n3\n4\nfour\nmore\n5\n", "b.txt": None})
    blob = repository.git("rev-parse", "HEAD:a.txt")
    assert contents.touched(repository.path, [second]) == {
        second: (
            Touched(path="a.txt", blob=blob, spans=((2, 1), (4, 5))),
            Touched(path="b.txt", blob=None, spans=((1, 0),)),
        )
    }


def test_what_is_too_much_is_only_named(repository: Repository) -> None:
    """Part of C9."""
    sha = put(
        repository,
        {
            "large.txt": "x" * 79 + "\n" + "y" * 1_100_000 + "\n",
            "long.txt": "line\n" * (contents.LINES_OF_FILE + 1),
            "short.txt": "z" * 5_000,
            "zero.bin": "a\0b",
        },
    )
    (read,) = contents.diffs(repository.path, [sha]).values()
    assert {file.path: len(file.added) for file in read} == {
        "large.txt": 0,
        "long.txt": 0,
        "short.txt": 1,
        "zero.bin": 0,
    }
    assert [len(line) for file in read for line in file.added] == [contents.LINE]


def test_a_commit_as_a_whole_is_bounded(repository: Repository) -> None:
    """Part of C9."""
    lines = "line\n" * (contents.LINES_OF_FILE - 1)
    sha = put(repository, {f"{number:02}.txt": lines + f"{number}\n" for number in range(15)})
    (read,) = contents.diffs(repository.path, [sha]).values()
    assert len(read) == 15
    assert sum(len(file.added) for file in read) == contents.LINES_OF_COMMIT


def test_odd_contents_do_not_break_the_reading(repository: Repository) -> None:
    """Part of C9: lines that look like git's own, bytes that are no text, no newline at the end."""
    odd = "diff --git a/x b/x\n@@ -1 +1 @@\ncommit 123\n\\ No newline\n\n--- a\n+++ b\nlate \0 zero"
    before = b"latin \xe9\r\n"
    (repository.path / "bytes.txt").write_bytes(before)
    first = put(repository, {"odd.txt": ("text\n" * 2_000) + odd})
    second = put(repository, {"odd.txt": "text\n" * 2_000 + odd + "!", "z.txt": "z\n"})
    read = contents.diffs(repository.path, [first, second])
    assert [file.path for file in read[first]] == ["bytes.txt", "odd.txt"]
    assert read[first][0].added == ("latin \ufffd",)
    assert read[second][0].removed == ("late \0 zero",)
    assert read[second][0].added == ("late \0 zero!",)
    assert read[second][1].added == ("z",)


def test_a_file_that_becomes_a_link_keeps_the_others_in_step(repository: Repository) -> None:
    """Part of C9."""
    put(repository, {"a.txt": "text\n", "b.txt": "b\n"})
    (repository.path / "a.txt").unlink()
    (repository.path / "a.txt").symlink_to("b.txt")
    sha = put(repository, {"b.txt": "b\nmore\n"})
    (read,) = contents.diffs(repository.path, [sha]).values()
    assert [(file.path, file.added) for file in read] == [
        ("a.txt", ("b.txt",)),
        ("b.txt", ("more",)),
    ]


def test_settings_of_the_repository_do_not_change_what_is_read(repository: Repository) -> None:
    """Part of C9."""
    put(repository, {"a.txt": "1\n2\n3\n4\n5\n"})
    sha = put(repository, {"a.txt": "one\n2\n3\nfour\n5\n"})
    plain = contents.diffs(repository.path, [sha])
    for name, value in {
        "diff.noprefix": "true",
        "diff.context": "9",
        "diff.interHunkContext": "9",
        "diff.renames": "false",
        "diff.algorithm": "histogram",
        "color.ui": "always",
        "color.diff": "always",
        "core.quotePath": "false",
        "log.diffMerges": "combined",
        "format.pretty": "oneline",
        "diff.wordRegex": ".",
    }.items():
        repository.git("config", name, value)
    assert contents.diffs(repository.path, [sha]) == plain
    assert plain[sha][0].added == ("one", "four")


def test_merges_and_lost_commits_have_nothing(repository: Repository) -> None:
    """Part of C9."""
    repository.commit("root", at=NOON)
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("side", at=NOON + MINUTE, name="side.txt")
    repository.git("checkout", "--quiet", "main")
    repository.commit("main", at=NOON + 2 * MINUTE, name="main.txt")
    repository.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    merge = repository.git("rev-parse", "HEAD")
    lost = repository.commit("lost", at=NOON + HOUR)
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--quiet", "--prune=now")
    assert contents.diffs(repository.path, [merge, lost]) == {merge: ()}
    assert lineage.present(repository.path, [lost, merge]) == {merge}
    assert contents.diffs(repository.path, []) == {}


def test_a_commit_that_cannot_be_read_does_not_hide_the_others(repository: Repository) -> None:
    """Part of C9: a blob is missing."""
    shas = [put(repository, {"a.txt": f"{number}\n" * 9}) for number in range(4)]
    blob = repository.git("rev-parse", f"{shas[1]}:a.txt")
    (repository.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    read = contents.diffs(repository.path, shas)
    assert set(read) == {shas[0], shas[3]}


def test_any_path_is_found_again(repository: Repository) -> None:
    """Part of C9."""
    for name in HOSTILE:
        Path(os.fsdecode(os.fsencode(repository.path) + b"/" + name)).write_bytes(name)
    sha = put(repository, {})
    names = {paths.read(name) for name in HOSTILE}
    (diffs,) = contents.diffs(repository.path, [sha]).values()
    (touched,) = contents.touched(repository.path, [sha]).values()
    blobs = contents.blobs(repository.path, sha, names | {"nowhere"})
    assert {file.path for file in diffs} == names
    assert {file.path: file.blob for file in touched} == blobs
    texts = contents.read(repository.path, set(blobs.values()))
    assert {texts[blob] for blob in blobs.values()} == set(HOSTILE)
    assert contents.blobs(repository.path, sha, {*names, *map(str, range(200))}) == blobs
    plain = {path: blob for path, blob in blobs.items() if "\n" not in path}
    wanted = [*((sha, path) for path in [*names, "no where"]), ("0" * 40, "a")]
    found = contents.earlier(repository.path, wanted)
    assert found == {(sha, path): blob for path, blob in plain.items()}


def test_blobs_are_read_if_they_are_there_and_small(repository: Repository) -> None:
    """Part of C9."""
    put(repository, {"a.txt": "a\n", "empty.txt": "", "large.txt": "x" * 1_000_001})
    blobs = contents.blobs(repository.path, "HEAD", ["a.txt", "empty.txt", "large.txt"])
    wanted = {*blobs.values(), "0" * 39 + "1", repository.git("rev-parse", "HEAD")}
    assert contents.read(repository.path, wanted) == {
        blobs["a.txt"]: b"a\n",
        blobs["empty.txt"]: b"",
    }
    assert contents.read(repository.path, ()) == {}
    held = contents.holders(repository.path, "HEAD", [blobs["a.txt"], "0" * 40])
    assert held == {blobs["a.txt"]: "a.txt"}


def test_files_are_found_by_the_words_in_them(repository: Repository) -> None:
    """Part of C9."""
    put(repository, {"a.py": "def load(): pass\n", "sub/b.py": "x.load()\n", "c.py": "loader\n"})
    found = contents.mentioning(Path(repository.path, "sub"), "HEAD", ["load", "-e", "--output=x"])
    assert found == ["a.py", "sub/b.py"]
    assert contents.mentioning(repository.path, "HEAD", []) == []
    assert not (repository.path / "x").exists()


def test_files_are_followed_through_renames(repository: Repository) -> None:
    """Part of C9: also whole folders, and names that came and went before."""
    text = "".join(f"line {number}\n" for number in range(20))
    put(repository, {"old/a.txt": text, "old/b.txt": "b\n" * 9, "gone.txt": "gone\n"})
    repository.git("mv", "old", "new")
    moved = put(repository, {"new/a.txt": text + "more\n", "gone.txt": None}, "move")
    again = put(repository, {"gone.txt": "again\n"})
    repository.git("mv", "gone.txt", "kept.txt")
    kept = put(repository, {}, "keep")
    wanted = ["old/a.txt", "old/b.txt", "gone.txt", "never.txt", "new/a.txt"]
    expected = {
        "old/a.txt": [Departure(sha=moved, to="new/a.txt")],
        "old/b.txt": [Departure(sha=moved, to="new/b.txt")],
        "gone.txt": [Departure(sha=kept, to="kept.txt"), Departure(sha=moved)],
    }
    assert lineage.departures(repository.path, "HEAD", wanted) == expected
    many = [*wanted, *map(str, range(200))]
    assert lineage.departures(repository.path, "HEAD", many) == expected
    assert lineage.departures(repository.path, f"{again}..HEAD", wanted) == {
        "gone.txt": [Departure(sha=kept, to="kept.txt")]
    }


def test_a_rename_on_a_merged_branch_is_seen_from_both_sides(repository: Repository) -> None:
    """Part of C9: also where the branch that HEAD was on never had the file."""
    repository.commit("root", at=NOON)
    repository.git("checkout", "--quiet", "-b", "topic")
    repository.commit("topic", at=NOON, name="topic.txt")
    repository.git("checkout", "--quiet", "main")
    put(repository, {"a.py": "text\n" * 9})
    repository.git("mv", "a.py", "b.py")
    moved = put(repository, {}, "move")
    repository.git("checkout", "--quiet", "topic")
    repository.git("merge", "--quiet", "--no-ff", "-m", "merge", "main")
    assert lineage.departures(repository.path, "HEAD", ["a.py"]) == {
        "a.py": [Departure(sha=moved, to="b.py")]
    }


def test_reverts_say_what_they_take_back(repository: Repository) -> None:
    """Part of C9: by full and short names, and all that a merge brought."""
    root = repository.commit("root", at=NOON)
    one = repository.commit("one", at=NOON, name="one.txt")
    repository.git("revert", "--no-edit", one)
    back = repository.git("rev-parse", "HEAD")
    short = put(repository, {}, f"Back\n\nThis reverts commit {root[:10]} (root, today).")
    repository.git("checkout", "--quiet", "-b", "side")
    side = repository.commit("side", at=NOON, name="side.txt")
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    merge = repository.git("rev-parse", "HEAD")
    repository.git("revert", "--no-edit", "--mainline", "1", "HEAD")
    whole, *rest = lineage.reverts(repository.path, "HEAD")
    assert whole.sha == repository.git("rev-parse", "HEAD")
    assert set(whole.of) == {merge, side}
    assert rest == [Revert(sha=short, of=(root,)), Revert(sha=back, of=(one,))]


def test_the_same_change_is_found_under_another_sha(repository: Repository) -> None:
    """Part of C9: rebased and picked commits, but not others of the same author and second."""
    repository.commit("root", at=NOON)
    repository.git("checkout", "--quiet", "-b", "topic")
    one = repository.commit("one", at=NOON + MINUTE, name="one.txt")
    two = repository.commit("two", at=NOON + MINUTE, name="two.txt")
    repository.git("checkout", "--quiet", "main")
    repository.commit("main", at=NOON + MINUTE, name="main.txt")
    repository.git("cherry-pick", one, at=NOON + HOUR)
    picked = repository.git("rev-parse", "HEAD")
    assert lineage.twins(repository.path, [one, two, "0" * 40], picked) == {one: picked}
    assert lineage.twins(repository.path, ["0" * 40], picked) == {}
    assert lineage.twins(repository.path, [], picked) == {}


def test_where_head_is(repository: Repository, tmp_path: Path) -> None:
    """Part of C9: before the first commit, on a branch, on none, and where there is no repository."""
    assert lineage.head(repository.path) is None
    assert lineage.branch(repository.path) == "main"
    first = repository.commit("one", at=NOON)
    second = repository.commit("two", at=NOON)
    assert lineage.head(repository.path) == second
    assert list(lineage.walk(repository.path, "HEAD")) == [second, first]
    assert lineage.is_ancestor(repository.path, first, second)
    assert not lineage.is_ancestor(repository.path, second, first)
    repository.git("checkout", "--quiet", "--detach")
    assert lineage.branch(repository.path) is None
    (tmp_path / "plain").mkdir()
    assert lineage.head(tmp_path / "plain") is None


@pytest.mark.parametrize("is_partial", [False, True])
def test_a_booby_trapped_repository_runs_nothing(
    repository: Repository, tmp_path: Path, is_partial: bool
) -> None:
    """Part of C9, B7."""
    first = put(repository, {"a.txt": "a\n" * 9, "b.py": "def f(): pass\n"})
    repository.git("mv", "a.txt", "c.txt")
    second = put(repository, {"b.py": "def f(): return 1\n"}, f"x\n\nThis reverts commit {first}.")
    repository.git("update-ref", "refs/heads/--output=x", second)
    marker = tmp_path / "marker"
    booby_trap(repository, marker)
    repository.git("config", "grep.fallbackToNoIndex", "true")
    if not is_partial:
        for name in ("extensions.partialClone", "remote.origin.promisor"):
            repository.git("config", "--unset", name)
    before = snapshot(repository.path)
    assert len(contents.diffs(repository.path, [first, second])) == 2
    blobs = contents.blobs(repository.path, second, ["b.py", "c.txt"])
    assert len(contents.read(repository.path, {*blobs.values(), "1" * 40})) == 2
    assert contents.mentioning(repository.path, second, ["f"]) == ["b.py"]
    assert contents.holders(repository.path, second, [blobs["c.txt"]])
    assert lineage.departures(repository.path, "HEAD", ["a.txt"])["a.txt"][0].to == "c.txt"
    assert lineage.reverts(repository.path, "HEAD")
    assert lineage.twins(repository.path, [first], second) == {first: first}
    assert not marker.exists(), marker.read_text()
    assert snapshot(repository.path) == before


def test_a_shallow_clone_is_read_as_far_as_it_goes(repository: Repository, tmp_path: Path) -> None:
    """Part of C9."""
    first = put(repository, {"a.txt": "a\n" * 9})
    repository.git("mv", "a.txt", "b.txt")
    put(repository, {}, "move")
    last = put(repository, {"c.txt": "c\n"}, "last")
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", "--depth=1", f"file://{repository.path}", str(clone))
    assert lineage.present(clone, [first, last]) == {last}
    assert list(lineage.walk(clone, "HEAD")) == [last]
    assert lineage.departures(clone, "HEAD", ["a.txt"]) == {}
    assert set(contents.diffs(clone, [first, last])) == {last}
