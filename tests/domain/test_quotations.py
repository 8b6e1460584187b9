"""Quotations: our own sentences are known again, and nobody else's are taken for them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.domain.continuity import quotations

TITLE = "Use advisory locks instead of Redis"
CONTENT = "Use advisory locks instead of Redis because we run no Redis in production."
RULE = "Never write into a user's repository."
KNOWN = quotations.spoken((TITLE, CONTENT, RULE, f"{TITLE} - because we run no Redis."))
ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


@pytest.mark.parametrize(
    "text",
    [
        CONTENT,
        TITLE,
        f"- {CONTENT}",
        f"> {CONTENT.upper()}",
        f"1. **{TITLE}**",
        f"| {RULE}",
        f"{CONTENT} {RULE}",
        f"As the memory says: {CONTENT}",
        f'I was told "{CONTENT}"',
        f"- `{ID}` (decision, commit 1b6ef1e by Ada, 2026-03-02) {TITLE} (files: a.txt)",
        f"`{ID}` (constraint, written by hand, 2026-03-02) {RULE} {CONTENT}",
        f"- `{ID}` {TITLE}",
        f"- agent (last seen 2026-03-02 12:00 UTC) Cursor - {RULE}",
        f"{TITLE} - because we run no Redis. (files: a.txt, b.txt)",
        "Use advisory locks instead of Redis because we run no …",
    ],
)
def test_what_is_ours_is_taken_out(text: str) -> None:
    assert quotations.without(text, KNOWN).strip() == ""


@pytest.mark.parametrize(
    "text",
    [
        "Use advisory locks instead of Redis because we run no Redis in staging.",
        "Do not use advisory locks instead of Redis",
        "Use Redis instead of advisory locks",
        f"That is wrong: {CONTENT}",
        f"This is no longer true: {RULE}",
        f'"{TITLE}" was a mistake.',
        f"{TITLE}?",
        f"- `{ID}` (decision, commit 1b6ef1e by Ada, 2026-03-02) {TITLE} is wrong by now",
        f"- `{ID}` is wrong, we run Redis.",
        "Use …",
        "ok",
        "`code` and | a pipe",
    ],
)
def test_what_says_something_else_stays(text: str) -> None:
    assert quotations.without(text, KNOWN) == text


def test_who_adds_words_keeps_them() -> None:
    text = f"Sure. {CONTENT} We also decided to drop Memcached.\n- {RULE}\nBye."
    left = quotations.without(text, KNOWN)
    assert left == "Sure. We also decided to drop Memcached.\n\nBye."


@given(st.text(max_size=300))
def test_nothing_is_taken_out_where_nothing_is_ours(text: str) -> None:
    assert quotations.without(text, quotations.spoken(["This stands nowhere at all."])) == text


@given(st.lists(st.sampled_from((TITLE, CONTENT, RULE, "And now?", "Go on.")), max_size=12))
def test_what_is_left_holds_nothing_of_ours(lines: list[str]) -> None:
    left = quotations.without("\n".join(lines), KNOWN)
    assert (
        left.split() == " ".join(one for one in lines if one not in (TITLE, CONTENT, RULE)).split()
    )
    assert quotations.without(left, KNOWN) == left


@pytest.mark.parametrize(
    "part", ["a", "a: ", "a. ", '"a', "- ", "> ", "`", " (files: a", "Sentence number 1 is …\n"]
)
def test_a_turn_of_the_longest_kind_is_read_at_once(part: str) -> None:
    known = quotations.spoken(f"Sentence number {number} is ours." for number in range(2000))
    started = time.perf_counter()
    quotations.without((part * 100_000)[:100_000], known)
    assert time.perf_counter() - started < 2.0
