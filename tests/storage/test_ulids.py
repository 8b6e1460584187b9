"""ULIDs sort by time and only ever grow."""

import re
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from sidecar.storage import ulids
from sidecar.storage.ulids import Ids
from tests.support import NOON, FixedClock


def test_a_known_number_has_its_known_letters() -> None:
    assert ulids.encode(0) == "0" * 26
    assert ulids.encode((1 << 128) - 1) == "7" + "Z" * 25
    assert ulids.encode(1_469_918_176_385 << 80).startswith("01ARYZ6S41")


@given(st.integers(0, (1 << 128) - 1), st.integers(0, (1 << 128) - 1))
def test_letters_sort_as_the_numbers_do(first: int, second: int) -> None:
    assert (ulids.encode(first) < ulids.encode(second)) == (first < second)


def test_ids_grow_even_when_the_clock_goes_back() -> None:
    """A1."""
    clock = FixedClock()
    ids = Ids(clock)
    made = [ids.next()]
    for span in (0, -3600, 5, -1, 0):
        clock.now = NOON + timedelta(seconds=span)
        made += [ids.next() for _ in range(50)]
    assert made == sorted(set(made))
    assert all(re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{25}", identifier) for identifier in made)
