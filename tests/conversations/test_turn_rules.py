"""Turns: what is kept of what was said and done, and which conversations leave something behind."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.turns import ENTRY_LIMIT, Activity, Category, Entry, KeptActivity
from sidecar.conversations.rules import turns
from sidecar.conversations.rules.turns import Signal, Turn

AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3


def said(text: str, said_by: Any = "user", score: float = 0.0) -> Entry:
    turn = Turn(turn_id=text, said_by=said_by, text=text, at=AT, signal=Signal(score=score))
    return turns.entry("run", turn)


def done(category: Category, tool: str = "tool", **more: Any) -> KeptActivity:
    return turns.activity("run", Activity(tool=tool, category=category, **more), AT)


@given(st.text(max_size=2000), st.text(max_size=500), st.text(max_size=500))
def test_what_is_kept_is_never_longer_than_it_may_be(text: str, asked: str, answered: str) -> None:
    """Part of F5."""
    assert len(said(text).text) <= ENTRY_LIMIT
    kept = done("read", input_summary=asked, output_summary=answered)
    assert len(kept.input_summary) <= ENTRY_LIMIT
    assert len(kept.output_summary) <= ENTRY_LIMIT


def test_an_activity_holds_nothing_private_and_nothing_secret() -> None:
    """Part of F5."""
    kept = done("write", input_summary=f"login {TOKEN}", output_summary="<private>me</private>done")
    assert (kept.input_summary, kept.output_summary) == ("login [REDACTED]", "done")


def test_the_same_activity_has_one_name_and_another_has_another() -> None:
    names = {
        done("read", "a", at=AT).activity_id,
        done("read", "a", at=AT).activity_id,
        done("read", "b", at=AT).activity_id,
        done("read", "a", at=AT - timedelta(seconds=1)).activity_id,
        done("read", "a", at=AT + timedelta(days=9)).activity_id,
    }
    assert len(names) == 3


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=3), st.integers(0, 5), max_size=12), st.integers(0, 8))
def test_of_too_many_the_oldest_go(ages: dict[str, int], most: int) -> None:
    rows = {key: AT + timedelta(hours=age) for key, age in ages.items()}
    gone = set(turns.surplus(rows.items(), most))
    left = [rows[key] for key in rows if key not in gone]
    assert len(left) == min(most, len(rows))
    assert all(rows[key] <= min(left, default=rows[key]) for key in gone)


def test_what_was_done_and_said_is_told_in_few_lines() -> None:
    told = turns.tell(
        [done("write", "Edit"), done("read", "Read"), done("write", "Edit", input_summary="b")],
        [said("x " * 150), said("Fine.", "assistant")],
    )
    assert list(told) == [
        "### Activities",
        "- write: Edit 2",
        "- read: Read 1",
        "### Last Turns",
        f"- user: {'x ' * 98}x…",
        "- assistant: Fine.",
    ]
    assert list(turns.tell([], [])) == []
