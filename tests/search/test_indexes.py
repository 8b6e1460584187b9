"""An index that was packed is the index that it was, whatever happens to it afterwards."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.search.rules import words
from sidecar.search.rules.indexes import Index

IDS = st.sampled_from("abcdef")
KEYS = st.integers(0, 9).map(lambda number: number * 2**60 + number)
STEPS = st.lists(
    st.tuples(IDS, st.none() | st.dictionaries(KEYS, st.sampled_from([0.5, 1.0, 2.0])))
)


def walk(index: Index, steps: list[tuple[str, dict[int, float] | None]]) -> Index:
    for memory_id, weights in steps:
        if weights is None:
            index.drop(memory_id)
        else:
            index.put(memory_id, weights)
    return index


def packed(index: Index) -> Index:
    return Index(index.pack(), index.ids)


def content(index: Index) -> dict[str, dict[int, float]]:
    """Tell what an index says, looked at from both sides."""
    found: dict[str, dict[int, float]] = {memory_id: {} for memory_id in index.ids}
    for key in range(10):
        posting = index.posting(key * 2**60 + key)
        if posting is not None:
            assert list(posting[0]) == sorted(posting[0])
            for number, weight in zip(*posting, strict=True):
                found[index.names[number]][key * 2**60 + key] = weight
    assert {one: set(keys) for one, keys in found.items()} == {
        one: set(index.keys(one)) for one in index.ids
    }
    assert len(index) == len(found)
    return found


@settings(max_examples=60)
@given(STEPS, STEPS, STEPS)
def test_packing_changes_nothing_between_or_after_any_steps(
    first: list[tuple[str, dict[int, float] | None]],
    second: list[tuple[str, dict[int, float] | None]],
    third: list[tuple[str, dict[int, float] | None]],
) -> None:
    expected = walk(Index(), [*first, *second, *third])
    once = walk(packed(walk(Index(), first)), [*second, *third])
    twice = walk(packed(walk(packed(walk(Index(), first)), second)), third)
    assert content(once) == content(twice) == content(expected)
    assert packed(twice).pack() == twice.pack()
    assert content(packed(twice)) == content(expected)


def test_what_holds_no_key_is_still_there() -> None:
    index = packed(walk(Index(), [("a", {}), ("b", {1: 1.0})]))
    assert (len(index), index.ids, index.keys("a"), index.holders(1)) == (2, ["a", "b"], [], ["b"])


def test_what_was_dropped_does_not_come_back_from_what_was_packed() -> None:
    index = packed(walk(Index(), [("a", {1: 1.0})]))
    index.drop("a")
    assert (index.posting(1), index.count(1), index.holders(1), len(index)) == (None, 0, [], 0)
    assert packed(index).posting(1) is None


@given(st.text(), st.text())
def test_hashes_tell_texts_apart(one: str, other: str) -> None:
    assert (words.of(one) == words.of(other)) == (one == other)
    assert 0 <= words.of(one) < 2**64
    assert words.of_kind("tag", one) != words.of_kind("file", one)


def test_hashes_are_the_same_in_every_process() -> None:
    assert words.of("lock") == 101840856560334716
