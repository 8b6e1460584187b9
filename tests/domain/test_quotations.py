"""Quotations: our own sentences are known again, and nobody else's are taken for them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.domain.continuity import quotations

TITLE = "Use advisory locks instead of Redis"
CONTENT = "Use advisory locks instead of Redis because we run no Redis in production."
RULE = "Never write into a user's repository."
DUTY = "We must never log tokens; mask them."
KNOWN = quotations.spoken((TITLE, CONTENT, RULE, f"{TITLE} - because we run no Redis.", DUTY))
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
        f"From memory I know: {TITLE}; {RULE}",
        f"From memory I know: {TITLE}; {RULE[:-1]}; and {DUTY}",
        f"{TITLE}; {RULE}",
        f"You told me that {TITLE.lower()} and that we must never log tokens.",
        f"You told me that we must never log tokens, and that {TITLE.lower()}",
        f"You said we must never log tokens; {RULE}",
        f"You told me to {TITLE.lower()}.",
        f"As recorded, {CONTENT}",
        f"I remember that {CONTENT}",
        f"The memory says {CONTENT}",
        f"The memory says that {TITLE}; that {RULE}",
        f"As noted, I know from memory that {TITLE} and that {RULE}",
        f"Du hast mir gesagt: {TITLE}; {RULE}",
        f"Ich weiß, dass {TITLE} und dass {RULE}",
        f"Tu m'as dit que {TITLE} et que {RULE}",
        f"Recuerdo que {TITLE} y que {RULE}",
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
        f"That is wrong: {TITLE}; {RULE}",
        f"Forget this: {TITLE}; {RULE}",
        f"It is not true that {TITLE} and that {RULE}",
        f"It is not true that {TITLE}; {RULE}",
        f"You told me that {TITLE}, and that is wrong.",
        f"You told me that {TITLE}; and that was a mistake.",
        f"You told me that {TITLE}; it is outdated.",
        f"You never told me that {TITLE} and that {RULE}",
        f"You told me that {TITLE}, but we run Redis.",
        "You told me that we need two reviewers and that Fridays are free.",
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


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            f"You told me that {TITLE} and that we decided to drop Memcached. Good.",
            "we decided to drop Memcached. Good.",
        ),
        (
            f"You told me that we decided to drop Memcached and that {RULE} Good.",
            "You told me that we decided to drop Memcached. Good.",
        ),
        (f"From memory I know: {TITLE}; keys rotate weekly; {RULE}", "keys rotate weekly."),
        (f"{TITLE}; we must never cache prices.", "we must never cache prices."),
        (
            f"- {TITLE}; keys rotate weekly; we must never cache prices",
            "- keys rotate weekly; we must never cache prices",
        ),
    ],
)
def test_clauses_of_somebody_else_stay(text: str, left: str) -> None:
    assert quotations.without(text, KNOWN).removesuffix("\n") == left


@given(st.text(max_size=300))
def test_nothing_is_taken_out_where_nothing_is_ours(text: str) -> None:
    assert quotations.without(text, quotations.spoken(["This stands nowhere at all."])) == text


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("", "; ", " and that ", ". ", "\n", ": ")),
            st.sampled_from(
                (TITLE, RULE, "You told me that ", "Never", "keys rotate weekly", "it")
            ),
        ),
        max_size=8,
    )
)
def test_what_is_left_is_left_again(parts: list[tuple[str, str]]) -> None:
    left = quotations.without("".join(map("".join, parts)), KNOWN)
    assert quotations.without(left, KNOWN) == left


@given(st.lists(st.sampled_from((TITLE, CONTENT, RULE, "And now?", "Go on.")), max_size=12))
def test_what_is_left_holds_nothing_of_ours(lines: list[str]) -> None:
    left = quotations.without("\n".join(lines), KNOWN)
    assert (
        left.split() == " ".join(one for one in lines if one not in (TITLE, CONTENT, RULE)).split()
    )
    assert quotations.without(left, KNOWN) == left


@pytest.mark.parametrize(
    "part",
    [
        "a",
        "a: ",
        "a. ",
        '"a',
        "- ",
        "> ",
        "`",
        " (files: a",
        "Sentence number 1 is …\n",
        "a;",
        "; and that ",
        "You told me that ",
        "You told me that a and that b; ",
        "From memory, ",
        "Sentence number 1 is ours; not ",
    ],
)
def test_a_turn_of_the_longest_kind_is_read_at_once(part: str) -> None:
    known = quotations.spoken(f"Sentence number {number} is ours." for number in range(2000))
    started = time.perf_counter()
    quotations.without((part * 100_000)[:100_000], known)
    assert time.perf_counter() - started < 2.0
