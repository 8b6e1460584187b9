"""Memories get telling anchors, and are judged by what has become of them."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.memories import Anchor, Evidence, Memory, Verdict
from sidecar.memory.rules import drift
from sidecar.memory.rules.drafts import Draft
from sidecar.memory.rules.drift import (
    Departure,
    Fates,
    Revert,
    Span,
    State,
    Symbol,
    Touched,
    written,
)
from tests.support import NOON

A, B, C, R = (letter * 40 for letter in "abcd")


def symbol(name: str, first: int, last: int) -> Symbol:
    return Symbol(name=name, first=first, last=last, digest=f"of {name}", shape="")


def draft(title: str = "Something", files: tuple[str, ...] = ()) -> Draft:
    return Draft(type="fact", title=title, content="Because.", files=files)


def memory(*symbols: str | None, title: str = "Something", shas: tuple[str, ...] = (A,)) -> Memory:
    return Memory(
        memory_id="0" * 26,
        project_id="p",
        type="fact",
        title=title,
        content="Because.",
        evidence=tuple(Evidence(quote="x", commit_sha=sha) for sha in shas),
        anchors=tuple(Anchor(path="src/a.py", symbol=name) for name in symbols),
        occurred_at=NOON,
        created_at=NOON,
        updated_at=NOON,
    )


CLASS = [symbol("A", 1, 20), symbol("A.f", 5, 9), symbol("A.g", 11, 15), symbol("h", 22, 30)]


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(6, 7)], [0, 2, 0, 0]),
        ([(3, 3)], [1, 0, 0, 0]),
        ([(9, 11)], [1, 1, 1, 0]),
        ([(1, 40)], [10, 5, 5, 9]),
        ([(7, 6)], [0, 1, 0, 0]),
        ([(11, 10)], [0, 0, 0, 0]),
        ([(22, 21)], [0, 0, 0, 0]),
        ([(6, 6), (7, 7), (25, 25)], [0, 2, 0, 1]),
        ([], [0, 0, 0, 0]),
    ],
)
def test_a_changed_line_belongs_to_the_innermost_symbol(
    spans: list[Span], expected: list[int]
) -> None:
    """Part of C9."""
    assert written(CLASS, spans) == expected


FILE = Touched(path="src/a.py", blob=B, spans=((6, 6), (11, 15)))
SYMBOLS = {("src/a.py", B): CLASS}


def chosen(wanted: Draft, *files: Touched) -> list[tuple[str, str | None]]:
    picked = [(A, file) for file in drift.files(wanted, files or (FILE,))]
    return [(one.path, one.symbol) for one in drift.anchors(wanted, picked, SYMBOLS)]


def test_an_anchor_says_all_that_is_known_of_its_place() -> None:
    """Part of C9."""
    (first, _) = drift.anchors(draft(), [(A, FILE)], SYMBOLS)
    assert first == Anchor(path="src/a.py", commit_sha=A, blob=B, symbol="A.g", digest="of A.g")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Something", ["A.g", "A.f"]),
        ("`f` is slow", ["A.f", "A.g"]),
        ("Let f() wait", ["A.f", "A.g"]),
        ("Let f wait", ["A.g", "A.f"]),
        ("`h` is slow", ["h", "A.g", "A.f"]),
    ],
)
def test_what_the_text_names_comes_first(title: str, expected: list[str]) -> None:
    """Part of C9."""
    assert chosen(draft(title)) == [("src/a.py", name) for name in expected]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("load_all", "load_all is slow", True),
        ("loadAll", "We use loadAll here", True),
        ("HTTP", "HTTP is spoken", True),
        ("load", "We load it", False),
        ("load", "We `load` it", True),
        ("Store.load", "See `Store.load`", True),
        ("load", "We `reload` it", False),
        ("Store", "Store it", False),
        ("VaultStore", "the VaultStore", True),
    ],
)
def test_a_plain_word_is_no_name(name: str, text: str, expected: bool) -> None:
    """Part of C9."""
    said = drift.words(text, "", ())
    assert drift.is_named(Anchor(path="a.py", symbol=name), said) == expected
    assert drift.is_named(Anchor(path="a.py", symbol=name), drift.words("", "", (name,)))


def test_a_file_without_changed_symbols_is_an_anchor_as_a_whole() -> None:
    """Part of C9."""
    imports = Touched(path="src/a.py", blob=B, spans=((40, 41),))
    notes = Touched(path="notes.md", blob=C, spans=((1, 9),))
    gone = Touched(path="old.py", blob=None, spans=((1, 0),))
    assert chosen(draft(), imports) == [("src/a.py", None)]
    assert chosen(draft(), notes, FILE) == [
        ("src/a.py", "A.g"),
        ("src/a.py", "A.f"),
        ("notes.md", None),
    ]
    assert chosen(draft("See notes.md"), FILE, notes)[0] == ("notes.md", None)
    assert chosen(draft(), gone) == [("old.py", None)]


def test_the_files_of_a_draft_are_preferred_and_tests_come_last() -> None:
    """Part of C9."""
    test = Touched(path="tests/test_a.py", blob=C, spans=((1, 99),))
    moved = Touched(path="new.py", previous_path="old.py", blob=C, spans=((1, 1),))
    assert [path for path, _ in chosen(draft(), test, FILE)][-1] == "tests/test_a.py"
    assert chosen(draft(files=("tests/test_a.py",)), test, FILE) == [("tests/test_a.py", None)]
    assert chosen(draft(files=("old.py",)), FILE, moved) == [("new.py", None)]
    assert len(chosen(draft(files=("elsewhere.py",)), FILE)) == 2


def test_anchors_are_few_and_one_is_what_was_changed() -> None:
    """Part of C9."""
    many = [symbol(f"name_{number}", number, number) for number in range(1, 50)]
    title = " ".join(f"name_{number}" for number in range(10, 50))
    found = drift.anchors(
        draft(title), [(A, Touched(path="a.py", blob=B, spans=((2, 2),)))], {("a.py", B): many}
    )
    assert len(found) == drift.MOST
    assert found[-1].symbol == "name_2"


def test_of_several_commits_the_last_one_counts() -> None:
    """Part of C9."""
    newer = Touched(path="new.py", previous_path="old.py", blob=A)
    older = Touched(path="old.py", blob=B)
    aside = Touched(path="aside.py", blob=C)
    found = drift.latest([("2", newer), ("1", older), ("1", aside)])
    assert found == {newer: "2", aside: "1"}


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ("", None),
        ("s", "fresh"),
        ("c", "changed"),
        ("g", "gone"),
        ("ggg", "gone"),
        ("ccc", "changed"),
        ("sss", "fresh"),
        ("css", "changed"),
        ("gss", "changed"),
        ("scs", "fresh"),
        ("sgs", "fresh"),
        ("scg", "changed"),
        ("sc", "changed"),
        ("ssssc", "fresh"),
    ],
)
def test_anchors_are_weighed_in_their_order(states: str, expected: Verdict | None) -> None:
    """Part of C9."""
    names: dict[str, State] = {"s": "same", "c": "changed", "g": "gone"}
    found = [names[letter] for letter in states]
    told = memory(*(f"f{number}" for number in range(len(states))))
    assert drift.verdict(told, found, [A], {}) == expected


def test_what_the_text_names_decides() -> None:
    """Part of C9."""
    told = memory("A.f", "A.g", "A.h", title="`g` is slow")
    assert drift.verdict(told, ["changed", "same", "gone"], [A], {}) == "fresh"
    assert drift.verdict(told, ["same", "gone", "same"], [A], {}) == "gone"
    assert drift.verdict(told, ["same", "changed", "same"], [A], {}) == "changed"


@pytest.mark.parametrize(
    ("shas", "states", "undone", "expected"),
    [
        ((A,), ("changed",), {A: R}, "gone"),
        ((A,), (), {A: R}, "gone"),
        ((A,), ("same",), {A: R}, "fresh"),
        ((A, B), ("changed",), {A: R}, "changed"),
        ((A, B), ("gone",), {A: R, B: R}, "gone"),
        ((A, R), ("same",), {A: R}, "fresh"),
        ((A, R), (), {A: R}, None),
        ((A,), ("changed",), {B: R}, "changed"),
        ((), (), {A: R}, None),
    ],
)
def test_what_was_taken_back_is_gone_unless_it_is_there_again(
    shas: tuple[str, ...],
    states: tuple[State, ...],
    undone: dict[str, str],
    expected: Verdict | None,
) -> None:
    """Part of C9."""
    told = memory(*("f" for _ in states), shas=shas)
    assert drift.verdict(told, states, shas, undone) == expected


def test_a_revert_that_was_reverted_counts_for_nothing() -> None:
    """Part of C9."""
    first, second, third = (Revert(sha=sha, of=(of,)) for sha, of in ((B, A), (C, B), (R, C)))
    assert drift.reverted([first], Fates()) == {A: B}
    assert drift.reverted([second, first], Fates()) == {B: C}
    assert drift.reverted([third, second, first], Fates()) == {C: R, A: B}


def test_a_revert_is_known_under_every_sha_of_what_it_reverts() -> None:
    """Part of C9."""
    fates = Fates(became={A: B, "f" * 40: C})
    assert drift.reverted([Revert(sha=R, of=(A,))], fates) == {B: R}
    assert drift.reverted([Revert(sha=R, of=("f" * 40,)), Revert(sha=C, of=(A,))], fates) == {C: R}


def test_a_commit_is_followed_through_all_its_shas() -> None:
    """Part of C9: also in a circle, which only a damaged record can hold."""
    assert Fates(became={A: B, B: C}).latest(A) == C
    assert Fates(became={A: B, B: A}).latest(A) in {A, B}
    assert drift.commits(memory(shas=(A, B)), Fates(became={A: B})) == [B]
    noted = memory(None, shas=())
    assert drift.commits(noted, Fates()) == []


@pytest.mark.parametrize(
    ("shas", "here", "present", "dropped", "expected"),
    [
        ((), "", "", "", False),
        ("a", "a", "a", "", False),
        ("a", "", "a", "", True),
        ("a", "", "", "", False),
        ("a", "", "", "a", True),
        ("ab", "b", "ab", "", False),
        ("ab", "", "a", "", False),
        ("ab", "", "a", "b", True),
    ],
)
def test_a_memory_is_elsewhere_if_all_its_commits_are(
    shas: str, here: str, present: str, dropped: str, expected: bool
) -> None:
    """Part of C9."""
    assert drift.is_elsewhere(tuple(shas), set(here), set(present), set(dropped)) == expected


def test_the_first_departure_after_the_memory_counts() -> None:
    """Part of C9."""
    steps = [Departure(sha="late", to="x"), Departure(sha="soon", to="y"), Departure(sha="early")]
    ages = {"late": 1, "soon": 5, "memory": 8, "early": 9, "last": 0}
    assert drift.departure(steps, ages, "memory") == steps[1]
    assert drift.departure(steps, ages, "unknown") == steps[0]
    assert drift.departure(steps, ages, None) == steps[0]
    assert drift.departure(steps, ages, "last") is None
    assert drift.departure([], ages, "memory") is None


@pytest.mark.parametrize(
    ("old", "spans", "new", "expected"),
    [
        (b"a\nb\nc\nd\n", (), b"a\nb\nx\ny\n", False),
        (b"a\nb\nc\nd\n", (), b"a\nx\ny\nz\n", True),
        (b"a\nb\nc\nd\n", ((3, 4),), b"a\nb\nx\ny\n", True),
        (b"a\nb\nc\nd\n", ((1, 2),), b"a\nb\nx\ny\n", False),
        (b"a\nb\nc\nd\n", ((2, 1),), b"a\nb\nc\nx\n", False),
        (b" a  b\r\n\n", ((1, 1),), b"\tab\n", False),
        (b"a\na\na\n", (), b"a\n", True),
        (b"", (), b"a\n", False),
        (b"a\n", ((7, 9),), b"a\n", False),
    ],
)
def test_a_text_is_another_when_most_of_what_was_told_is_gone(
    old: bytes, spans: tuple[Span, ...], new: bytes, expected: bool
) -> None:
    """Part of C9."""
    assert drift.is_rewritten(old, spans, new) == expected


@given(st.lists(st.sampled_from("abcdef"), max_size=20), st.randoms())
def test_the_order_of_lines_is_layout(lines: list[str], chance: random.Random) -> None:
    """Part of C9."""
    mixed = list(lines)
    chance.shuffle(mixed)
    assert not drift.is_rewritten("\n".join(lines).encode(), (), "\n".join(mixed).encode())


@given(st.text(max_size=300), st.text(max_size=300), st.lists(st.text(max_size=30), max_size=3))
def test_any_text_can_be_searched_for_names(title: str, content: str, entities: list[str]) -> None:
    """Part of C9."""
    said = drift.words(title, content, entities)
    assert said.names <= said.any
