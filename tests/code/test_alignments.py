"""Lines of a changed text are found again, and no line is taken for another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.code.blame import align

FEW = st.lists(st.sampled_from([b"", b"a", b"b", b"c", b"d", b"e"]), max_size=30)
"""Texts in which lines come more than once."""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", {}),
        ("abc", "abc", {0: 0, 1: 1, 2: 2}),
        ("abc", "axbc", {0: 0, 2: 1, 3: 2}),
        ("abc", "ac", {0: 0, 1: 2}),
        ("abc", "aXc", {0: 0, 2: 2}),
        ("}a}b}", "}a}x}b}", {0: 0, 1: 1, 2: 2, 4: 2, 5: 3, 6: 4}),
        ("abc", "xyz", {}),
        ("abcd", "cdab", {0: 2, 1: 3}),
    ],
)
def test_lines_are_found_again(old: str, new: str, expected: dict[int, int]) -> None:
    found = align([one.encode() for one in old], [one.encode() for one in new])
    if old == "}a}b}":
        # Which of the two new braces is the old one nobody can tell; it is one of them.
        assert (found.get(2), found.get(4)) in ((2, None), (None, 2))
        expected = {key: value for key, value in expected.items() if key not in (2, 4)}
        found = {key: value for key, value in found.items() if key not in (2, 4)}
    elif old == "abcd":
        # Of two parts that changed places one stayed where it was.
        assert found in ({0: 2, 1: 3}, {2: 0, 3: 1})
        return
    assert found == expected


@given(old=FEW, new=FEW)
def test_only_equal_lines_are_paired_each_once_and_in_their_order(
    old: list[bytes], new: list[bytes]
) -> None:
    pairs = sorted(align(old, new).items())
    assert all(new[here] == old[there] for here, there in pairs)
    places = [there for _, there in pairs]
    assert places == sorted(set(places))


@given(text=FEW)
def test_a_text_that_did_not_change_is_itself(text: list[bytes]) -> None:
    assert align(text, text) == {place: place for place in range(len(text))}


@given(text=FEW, place=st.integers(0, 30), new=st.integers(1, 5))
def test_what_is_above_and_below_an_insertion_is_found_again(
    text: list[bytes], place: int, new: int
) -> None:
    place = min(place, len(text))
    added = [b"new %d" % number for number in range(new)]
    changed = [*text[:place], *added, *text[place:]]
    expected = {here: here for here in range(place)}
    expected |= {here + new: here for here in range(place, len(text))}
    assert align(text, changed) == expected
