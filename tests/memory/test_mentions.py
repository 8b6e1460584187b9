"""What mentions a name is found by it, for as long as it does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.memory.rules import mentions
from sidecar.memory.rules.mentions import Mentions

NAMES = st.lists(st.sampled_from("abcde"), max_size=4)


@given(said=st.lists(st.tuples(st.sampled_from("xyz"), NAMES), max_size=20))
def test_what_was_said_last_counts(said: list[tuple[str, list[str]]]) -> None:
    found, expected = Mentions(), dict[str, list[str]]()
    for identifier, names in said:
        found.put(identifier, names)
        expected[identifier] = names
    for name in "abcde":
        assert set(found.find(name)) == {one for one, names in expected.items() if name in names}
    assert set(found.ids()) == {one for one, names in expected.items() if names}
    assert not any(len(ids) == 0 for ids in found._ids.values())


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("abcdef0", "abcdef0123", True),
        ("abcdef0123", "abcdef0", True),
        ("abcdef0", "abcdef1", False),
    ],
)
def test_a_commit_may_be_named_by_its_beginning(one: str, other: str, is_same: bool) -> None:
    assert mentions.is_same(one, other) is is_same
    assert (mentions.short(one) == mentions.short(other)) is is_same
