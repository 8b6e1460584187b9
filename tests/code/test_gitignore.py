"""Git's ignore notation says here what it says to git, and no list makes it run on."""

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sidecar.code import gitignore

_PART = st.text(alphabet="ab.", min_size=1, max_size=4).filter(lambda part: part.strip("."))
_PATHS = st.lists(st.lists(_PART, min_size=1, max_size=4).map("/".join), min_size=1, max_size=12)
_SIGNS = r"a b ab . * ** ? / /**/ **/ /** [ab] [!a] [a-b] []a] [[:alpha:]] [^b.] \a \* ! # [ \ *** [a\]] [[:x:]]"
_PIECE = st.sampled_from([" ", "\\ ", *_SIGNS.split()])
_LINES = st.lists(st.lists(_PIECE, min_size=1, max_size=6).map("".join), min_size=1, max_size=6)


def ask_git(folder: Path, content: bytes, paths: list[str]) -> set[str]:
    """Let git say which names it ignores, none of which need be there."""
    (folder / ".gitignore").write_bytes(content)
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=folder,
        input="\0".join(f"./{path}" for path in paths).encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    return {name.decode()[2:] for name in done.stdout.split(b"\0") if name}


def ask_us(content: bytes, paths: list[str]) -> set[str]:
    listed = gitignore.read(content)
    known: dict[bytes, bool] = {}
    return {path for path in paths if listed.covers(path.encode(), known)}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ignoring")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lines=_LINES, paths=_PATHS)
@example(lines=["a**/***"], paths=["a", "ab", "a/b"])
@example(lines=["a**/b"], paths=["ab", "a/b", "acb", "a/c/b"])
def test_a_list_says_what_it_says_to_git(tree: Path, lines: list[str], paths: list[str]) -> None:
    content = ("\n".join(lines) + "\n").encode()
    assert ask_us(content, paths) == ask_git(tree, content, paths)


@pytest.mark.parametrize(
    ("content", "ignored"),
    [
        (b"*.log\n!keep.log\n", {"a.log", "d/b.log"}),
        (b"/a.log\n", {"a.log"}),
        (b"d/\n!d/keep.log\n", {"d/b.log", "d/keep.log"}),
        (b"**/b.log\r\n", {"d/b.log"}),
        (b"\xef\xbb\xbf# none\n\\#x\n  \n", {"#x"}),
        ("é?\n".encode(), {"éa"}),
    ],
)
def test_the_notation_by_example(tree: Path, content: bytes, ignored: set[str]) -> None:
    paths = ["a.log", "d/b.log", "d/keep.log", "keep.log", "#x", "éa", "éab"]
    assert ask_us(content, paths) == ask_git(tree, content, paths) == ignored


@pytest.mark.parametrize(
    "pattern",
    [b"*a" * 60 + b"b", b"**/" * 30 + b"b", b"a*" * 30 + b"/**/" + b"*a" * 30, b"[a-z]*" * 30],
)
def test_no_pattern_takes_longer_than_its_length(pattern: bytes) -> None:
    listed = gitignore.read(pattern + b"\n")
    assert listed.patterns
    path = b"/".join([b"a" * 255] * 16)
    begun = time.perf_counter()
    listed.covers(path, {})
    assert time.perf_counter() - begun < 20


def test_what_exceeds_the_limits_is_skipped_and_counted() -> None:
    """Part of H8."""
    long, wild = b"a" * 1025, b"*a" * 65
    listed = gitignore.read(b"\n".join([long, wild, b"*.log", *[b"x"] * 2_010]))
    assert listed.skipped == {
        "lines longer than 1,024 bytes": 1,
        "lines with more than 64 wildcards": 1,
        "lines beyond the first 2,000": 11,
    }
    assert listed.covers(b"a.log", {})
    cut = gitignore.read(b"*.log\n" + b"a" * 300_000)
    assert cut.skipped == {"beyond the first 262,144 bytes": 1}
    assert cut.covers(b"a.log", {})
