"""Expressions that anybody may write: they find what Python's own would, and never take long."""

import random
import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sidecar.domain import expressions


@pytest.mark.parametrize(
    ("expression", "text", "is_found"),
    [
        ("fix", "Fix the login", True),
        ("fix(es|ed)? #12\\b", "This Fixes #12.", True),
        ("fix(es|ed)? #12\\b", "fixed #123", False),
        ("^closes: #7$", "Add a page\n\nCloses: #7\nSigned-off", True),
        ("^closes: #7$", "It Closes: #7", False),
        ("login  page", "the login\npage", True),
        ("a.c", "a\nc", False),
        ("[^a-c]d", "xd", True),
        ("[a-c-]d", "-d", True),
        ("[]x]", "]", True),
        ("\\d{3,4}!", "12!", False),
        ("\\d{3,4}!", "a1234!", True),
        ("ab{2}c", "abbbc", False),
        ("ab{2,}c", "abbbbbc", True),
        ("\\Bar", "bar", True),
        ("\\Bar", "ar", False),
        ("(?i)FEAT\\(api\\): .+", "feat(API): more", True),
        ("(?:a|b|)c$", "c", True),
        ("x\\s", "x", False),
        ("", "anything", True),
        ("\\S+@\\S+", "write to a@b", True),
        ("(a*)*b", "aaac", False),
    ],
)
def test_an_expression_finds_what_it_says(expression: str, text: str, is_found: bool) -> None:
    """Part of F11."""
    read = expressions.read(expression)
    assert read is not None
    assert read.is_in(text) is is_found


@pytest.mark.parametrize(
    "expression",
    [
        "(?=a)",
        "(?<!a)b",
        "(a)\\1",
        "(",
        "a)",
        "[a",
        "*a",
        "C++",
        "a{3,1}",
        "(a{99}){99}",
        "a{200}|b{200}",
        "a" * 201,
        "\\",
        "[z-a]",
        "(?P<x>a)",
        "\\p",
        "(" * 200,
    ],
)
def test_what_is_not_understood_is_refused(expression: str) -> None:
    """Part of F11."""
    assert expressions.read(expression) is None


_PARTS = st.sampled_from(
    ["a", "b", "ab", ".", "[ab]", "[^a]", "\\w", "\\d", "^", "$", "\\b", "(a|b)", "(?:ab|c)"]
)
_REPEATED = st.builds(
    lambda part, sign: part if part in ("^", "$", "\\b") else part + sign,
    _PARTS,
    st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,3}", "{2,}"]),
)
_GROUPS = st.builds(
    lambda parts, sign: f"({''.join(parts)}){sign}",
    st.lists(_REPEATED, min_size=1, max_size=3),
    st.sampled_from(["", "?", "{0,2}"]),
)
_EXPRESSIONS = st.lists(_REPEATED | _GROUPS, max_size=5).map("".join)


@settings(max_examples=50)
@example("[^a]", "", "\n")
@given(_EXPRESSIONS, _EXPRESSIONS, st.text("abc1 \n_", max_size=12))
def test_python_finds_the_same(one: str, other: str, text: str) -> None:
    """Part of F11."""
    expression = f"{one}|{other}" if other else one
    read = expressions.read(expression)
    assert read is not None
    assert read.is_in(text) is bool(re.search(expression, text, re.IGNORECASE | re.MULTILINE))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("(a+)+$", "a" * 5_000 + "b"),
        ("(a|aa)*(a|aa)*(a|aa)*b", "a" * 5_000),
        ("(.*)*x", "y" * 5_000),
        ("(a|b)*a(a|b){40}c", "".join(random.Random(1).choices("ab", k=5_000))),
    ],
)
def test_no_expression_takes_long(expression: str, text: str) -> None:
    """Part of F11: Python's own engine would not end."""
    read = expressions.read(expression)
    assert read is not None
    start = time.perf_counter()
    assert not read.is_in(text)
    assert time.perf_counter() - start < 5
