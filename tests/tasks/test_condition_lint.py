"""Doubts: what looks mistyped is said, and what looks right is not doubted."""

import pytest

from sidecar.tasks.rules import condition_lint
from sidecar.tasks.rules.conditions import Facts

TREE = {
    "": ("src", "docs", "tests", "README.md"),
    "src": ("signing.py", "lock.py", "v1", "a.py"),
    "src/v1": ("models.py",),
    "docs": (),
    "tests": ("test_lock.py",),
}


def exists(path: str) -> bool:
    folder, _, name = path.rstrip("/").rpartition("/")
    return name in TREE.get(folder, ())


FACTS = Facts(path_exists=exists, symbol_exists=lambda path, name: exists(path) and name == "Lock")


def told(text: str) -> list[str]:
    return list(condition_lint.tell(text, FACTS, lambda folder: TREE.get(folder, ())))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("path exists: scr/new.py", "src"),
        ("path exists: sr/new.py", None),
        ("path exists: test/test_new.py", "tests"),
        ("path exists: SRC/new.py", "src"),
        ("path exists: src/sining.py", "src/signing.py"),
        ("commit touches: src/signin.py", "src/signing.py"),
        ("symbol exists: src/lokc.py::Lock.take", "src/lock.py"),
        ("path gone: readme.md", "README.md"),
        ("path exists: src/b.py", None),
        ("path exists: src/v2/models.py", None),
        ("path exists: src/new/deep/file.py", None),
        ("path exists: build/out.js", None),
        ("commit message matches: scr", None),
    ],
)
def test_a_path_that_looks_mistyped_is_told(text: str, meant: str | None) -> None:
    """Part of F11."""
    said = [one for one in told(text) if "is that what is meant?" in one]
    assert [f"but “{meant}”" in one for one in said] == ([] if meant is None else [True])


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("path exists: src/signing.py", True),
        ("path gone: src/signing.py", False),
        ("path gone: old/", True),
        ("path exists: src/signing.py\npath exists: src/new.py", False),
        ("symbol exists: src/lock.py::Lock", True),
        ("commit touches: src", False),
        ("when everybody is happy", False),
        ("", False),
    ],
)
def test_what_holds_already_is_told(text: str, holds: bool) -> None:
    """Part of F11."""
    assert (condition_lint.holds(text, FACTS) is not None) is holds
    assert any("holds already" in one for one in told(text)) is holds


@pytest.mark.parametrize(
    ("text", "is_doubted"),
    [
        ("path exist: src/new.py", True),
        ("path exists: ../elsewhere.py", True),
        ("path exists: /etc/passwd", True),
        ("- commits touch: src", True),
        ("path exists: src/*.py", True),
        ("path exists src/new.py", True),
        ("- commit touches docs/", True),
        ("symbol exists src/lock.py::Lock", True),
        ('path exists: "src/new.py"', True),
        ("path exists: src/new.py, src/old.py", True),
        ("path exists: src/new.py; src/old.py", True),
        ("path exists: src/new.py or src/old.py", True),
        ("path exists: src/new.py and src/old.py", True),
        ("symbol exists: src/lock.py::Lock, Key", True),
        ("symbol exists: src/*.py::Lock", True),
        ("symbol exists: src/lock.py::Lock.take", False),
        ("path exists: src/new.py", False),
        ("path exists: src/sandor.py", False),
        ("commit message matches: one, two or three", False),
        ("the file exists, and the path is gone", False),
        ("when the path is clear", False),
        ("Reviewed: by two people", False),
        ("commit to the plan", False),
    ],
)
def test_what_cannot_be_checked_though_it_looks_so_is_told(text: str, is_doubted: bool) -> None:
    """Part of F11."""
    assert bool(told(text)) is is_doubted


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("path exists: src/new.py\nand tests pass", "and tests pass"),
        ("and tests pass\n\npath exists: src/new.py", "and tests pass"),
        ("tests pass\npath exist: src/new.py", "path exist: src/new.py"),
        ("path exists: src/new.py\n- path exists: ../up.py", "- path exists: ../up.py"),
    ],
)
def test_the_line_that_cannot_be_checked_is_named(text: str, line: str) -> None:
    """Part of F11."""
    (said,) = told(text)
    assert said.startswith(f"“{line}” cannot be checked")


@pytest.mark.parametrize(
    ("typed", "known", "is_slip"),
    [
        ("tests", "test", True),
        ("test", "tests", True),
        ("lcok.py", "lock.py", True),
        ("lick.py", "lock.py", True),
        ("scr", "src", True),
        ("abc", "abd", False),
        ("same.py", "same.py", False),
        ("0001_a.sql", "0002_a.sql", False),
        ("model", "model2", False),
        ("alpha", "omega", False),
    ],
)
def test_a_slip_is_one_letter_and_no_number(typed: str, known: str, is_slip: bool) -> None:
    """Part of F11."""
    assert condition_lint.is_slip(typed, known) is is_slip
