"""Clipping: never longer than asked, cut at a word, and nothing taken apart."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.text.clipping import LIMIT, clip, clip_lines

FAMILY = "👩\u200d👩\u200d👧"
FLAG = "🇦🇹"


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("", 10, ("", False)),
        ("  two\n\twords ", 10, ("two words", False)),
        ("exactly 10", 10, ("exactly 10", False)),
        ("one two three", 10, ("one two…", True)),
        ("one two three", 8, ("one two…", True)),
        ("one two three", 7, ("one…", True)),
        ("one, two three", 5, ("one…", True)),
        ("unbreakable", 6, ("unbre…", True)),
        ("unbreakable word", 6, ("unbre…", True)),
        ("a b", 1, ("…", True)),
        ("a b", 0, ("", True)),
        (",,,,,, ,,,,", 5, (",,,,…", True)),
        ("e\u0301" * 4, 4, ("e\u0301…", True)),
        (FAMILY * 2, 7, (FAMILY + "…", True)),
        (FLAG * 3, 4, (FLAG + "…", True)),
        ("👍🏽" * 3, 4, ("👍🏽…", True)),
        ("❤\ufe0f" * 3, 4, ("❤\ufe0f…", True)),
        ("日本語の文章です", 5, ("日本語の…", True)),
        ("a" + "\u0301" * 50, 10, ("a" + "\u0301" * 8 + "…", True)),
    ],
)
def test_a_text_is_clipped_at_a_word(text: str, limit: int, expected: tuple[str, bool]) -> None:
    """Part of D4."""
    assert clip(text, limit) == expected


@given(st.text(), st.integers(1, 200))
def test_a_clipped_text_is_never_too_long_and_begins_like_the_whole(text: str, limit: int) -> None:
    """Part of D4."""
    line = " ".join(text.split())
    short, is_clipped = clip(text, limit)
    assert len(short) <= limit
    assert is_clipped == (len(line) > limit)
    assert short == line if not is_clipped else line.startswith(short.removesuffix("…"))
    assert "\n" not in short


@settings(max_examples=50)
@given(st.lists(st.text("abcdefgh", min_size=1, max_size=12), min_size=20, max_size=60))
def test_words_stay_whole(words: list[str]) -> None:
    """Part of D4."""
    short, is_clipped = clip(" ".join(words))
    kept = short.removesuffix("…").split()
    assert kept == words[: len(kept)]
    assert not is_clipped or len(" ".join(words[: len(kept) + 1])) >= LIMIT


@given(
    st.text(st.sampled_from("ae\u0301\u0308\ufe0f"), min_size=8, max_size=60), st.integers(4, 30)
)
def test_marks_stay_with_their_letters(text: str, limit: int) -> None:
    short, is_clipped = clip(text, limit)
    after = text[len(short) - 1 : len(short)]
    runs = max(len(run) for run in text.replace("e", "a").split("a"))
    if is_clipped and runs < 3 and unicodedata.category(text[0]) == "Ll":
        assert not unicodedata.category(after).startswith("M")


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("one\ntwo", 7, ("one\ntwo", False)),
        ("one\ntwo\nthree", 12, ("one\ntwo\n…", True)),
        ("one\ntwo\nthree", 9, ("one\ntwo\n…", True)),
        ("one\n\n\ntwo\nthree", 8, ("one\n…", True)),
        ("x\none very long line that goes on", 20, ("x\none very long…", True)),
        ("word " * 10, 12, ("word word…", True)),
        ("unbreakable", 6, ("unbre…", True)),
        ("one\ntwo", 1, ("…", True)),
        ("one\ntwo", 0, ("", True)),
    ],
)
def test_a_document_is_clipped_at_a_line(text: str, limit: int, expected: tuple[str, bool]) -> None:
    assert clip_lines(text, limit) == expected


@given(st.text(st.sampled_from("ab \n\r\u0301"), max_size=300), st.integers(1, 100))
def test_clipped_lines_are_never_too_many_and_begin_like_the_whole(text: str, limit: int) -> None:
    short, is_clipped = clip_lines(text, limit)
    assert len(short) <= limit
    assert is_clipped == (len(text) > limit)
    assert text.startswith(short.removesuffix("…").rstrip())


def test_a_very_long_text_of_spaces_takes_no_time() -> None:
    assert clip("x" + " " * 100_000) == ("x", False)
    assert clip_lines("x" + " " * 100_000 + "y", 90_000) == ("x…", True)
