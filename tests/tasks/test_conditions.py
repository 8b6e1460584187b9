"""Conditions: what can be checked is checked, what cannot is left to people."""

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.tasks.rules import conditions
from sidecar.tasks.rules.conditions import Change, Condition, Facts
from tests.support import HOUR, NOON

DOCS = Change(sha="1a2b3c4d", at=NOON, message="docs: Say how\n\nFixes #12", paths=("docs/a.md",))
MOVE = Change(sha="ffffffff", at=NOON + HOUR, message="Move feat(api) on", paths=("new.py", "o.py"))


def facts(*paths: str, symbols: Sequence[str] = ()) -> Facts:
    return Facts(
        path_exists=lambda path: path in paths,
        symbol_exists=lambda path, name: f"{path}::{name}" in symbols,
        commits=(MOVE, DOCS),
    )


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("path exists: src/x.py", [Condition("path exists", "src/x.py")]),
        ("  Path   EXISTS :src/x.py ", [Condition("path exists", "src/x.py")]),
        ("- path gone: `./old//`", [Condition("path gone", "old/")]),
        ("path gone: a b.txt", [Condition("path gone", "a b.txt")]),
        ("Path does not exist: old.py", [Condition("path gone", "old.py")]),
        ("file exists: src/x.py", [Condition("path exists", "src/x.py")]),
        ("Commit touches: docs/", [Condition("commit touches", "docs/")]),
        (
            "commit message matches: fix(ui): the *page [docs]",
            [Condition("commit message matches", "fix(ui): the *page [docs]")],
        ),
        ("symbol exists: a.py::B.c", [Condition("symbol exists", "a.py", "B.c")]),
        (
            "\npath exists: a\n\n* path gone: b\n",
            [Condition("path exists", "a"), Condition("path gone", "b")],
        ),
        (
            "commit message matches: Port to C++",
            [Condition("commit message matches", "Port to C++")],
        ),
    ],
)
def test_a_condition_is_read_however_it_is_written(text: str, parsed: list[Condition]) -> None:
    """Part of F11."""
    assert conditions.parse(text) == tuple(parsed)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n \n",
        "when the tests pass",
        "path exists: a\nand the tests pass",
        "path exists:",
        "path exists: ..",
        "path exists: a/../../b",
        "path gone: /etc/passwd",
        "path gone: C:\\x",
        "path gone: c:x",
        "path gone: a\\b",
        "path exists: a\0b",
        "path exists: .",
        "symbol exists: a.py",
        "symbol exists: a.py::",
        "symbol exists: ::B",
        "path gone: [FORGOTTEN]",
        "path gone: src/….py",
        "commit message matches: (?=a)b",
        "commit message matches: (a)\\1",
        "commit message matches: fix(es|ed) it",
        "commit message matches: (never)+",
        "commit message matches: fix.*login",
        "commit message matches: [a-z] left",
        "commit message matches: ^fix",
        "commit message matches: fix$",
        "commit message matches: this|that",
        "commit message matches: a{2}",
        "commit message matches: * *",
        "commit message matches: " + "a" * 201,
        "path exists: " + "a" * 1000,
        "path exist: a",
        "https://example.org",
    ],
)
def test_anything_else_is_prose(text: str) -> None:
    """Part of F11."""
    assert conditions.parse(text) is None


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("path exists: src/x.py", "src/x.py exists"),
        ("path exists: src/y.py", None),
        ("path gone: old/", "old/ is gone"),
        ("path gone: src/x.py", None),
        ("commit touches: docs", "commit 1a2b3c4 touches docs"),
        ("commit touches: docs/", "commit 1a2b3c4 touches docs/"),
        ("commit touches: docs/a.md", "commit 1a2b3c4 touches docs/a.md"),
        ("commit touches: doc", None),
        ("commit touches: o.py", "commit fffffff touches o.py"),
        ("commit message matches: fixes #1", None),
        ("commit message matches: FIXES   #12", "commit 1a2b3c4 says “docs: Say how”"),
        ("commit message matches: fix* #12", "commit 1a2b3c4 says “docs: Say how”"),
        ("commit message matches: feat(api)", "commit fffffff says “Move feat(api) on”"),
        ("commit message matches: o", None),
        ("commit message matches: s.y", None),
        ("symbol exists: a.py::B.c", "a.py defines B.c"),
        ("symbol exists: a.py::C", None),
        (
            "path exists: src/x.py\ncommit touches: docs",
            "src/x.py exists; commit 1a2b3c4 touches docs",
        ),
        ("path exists: src/x.py\npath exists: z", None),
    ],
)
def test_what_holds_is_shown(text: str, evidence: str | None) -> None:
    """Part of F11."""
    parsed = conditions.parse(text)
    assert parsed is not None
    assert conditions.judge(parsed, facts("src/x.py", symbols=["a.py::B.c"])) == evidence


@pytest.mark.parametrize("text", ["path gone: a", "path exists: a", "symbol exists: a::b"])
def test_what_nobody_can_tell_does_not_hold(text: str) -> None:
    """Part of F11: a working tree that is not there shows nothing, least of all that something is gone."""
    unknown = Facts(path_exists=lambda _: None, symbol_exists=lambda *_: None)
    assert conditions.judge(conditions.parse(text) or (), unknown) is None


def test_no_condition_shows_nothing() -> None:
    assert conditions.judge((), facts()) is None


@given(st.text(max_size=200))
def test_no_path_leaves_the_repository(path: str) -> None:
    """Part of F11."""
    for condition in conditions.parse(f"path exists: {path}") or ():
        assert not condition.value.startswith("/")
        assert ".." not in condition.value.split("/")
        assert "\0" not in condition.value


@pytest.mark.parametrize(
    ("wanted", "message", "is_in"),
    [
        ("fix* #12", "This Fixes #12.", True),
        ("fix* #12", "Fixes #123", False),
        ("fix* #12", "Fix it\n\n#12", False),
        ("fix * page", "fix the login page", True),
        ("fix * page", "fixed the login page", False),
        ("fix * page", "fix the homepage", False),
        ("*page", "the homepage", True),
        ("page*", "homepages", False),
        ("login  page", "the login\npage", True),
        ("a*ab", "aab", True),
        ("Port to C++ *", "port to c++ today", True),
    ],
)
def test_a_star_stands_for_any_letters_of_a_line(wanted: str, message: str, is_in: bool) -> None:
    """Part of F11."""
    assert conditions.is_said(wanted, message) is is_in


@pytest.mark.parametrize(
    ("wanted", "message"),
    [("*a" * 99 + "b", "a" * 5_000), ("a " * 99 + "b", "a " * 2_500), ("* a*b", " " * 5_000)],
)
def test_no_condition_takes_long(wanted: str, message: str) -> None:
    """Part of F11: a matcher that goes back would not end."""
    start = time.perf_counter()
    assert not conditions.is_said(wanted, message)
    assert time.perf_counter() - start < 5


def test_a_regular_expression_of_an_older_version_is_named() -> None:
    """Part of F11."""
    old = "path exists: a\n- Commit message matches: fix(es|ed)? #12"
    assert conditions.parse(old) is None
    assert conditions.expressions(old) == ["- Commit message matches: fix(es|ed)? #12"]
    assert conditions.expressions("commit message matches: fix* #12\npath exists: (a|b)") == []
