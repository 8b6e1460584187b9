"""Each signal moves a memory the way it should, and the explanation adds up."""

import random
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sidecar.search.rules import ranking
from sidecar.search.rules.catalogues import Catalogue, Item
from sidecar.search.rules.indexes import Entry
from sidecar.search.rules.ranking import Group, Question, Ranked
from sidecar.search.rules.similarities import Listed
from tests.support import NOON

DAY = timedelta(days=1)
WORDS = ("lock", "cache", "parser", "token", "route", "schema", "retry", "queue")
PATHS = ("src/lock.py", "src/cache.py", "tests/test_lock.py", "docs/index.md", "lock.md")


def item(memory_id: str, text: str = "lock", *, days: float = 0, **traits: Any) -> Item:
    files = traits.pop("files", ())
    entry = Entry(content=text, files=files)
    return Item(memory_id=memory_id, entry=entry, occurred_at=NOON - days * DAY, **traits)


def catalogue(*items: Item) -> Catalogue:
    made = Catalogue()
    for one in items:
        made.put(one)
    return made


def ask(made: Catalogue, text: str = "", **more: Any) -> list[str]:
    cosines = more.pop("cosines", None)
    is_wanted = more.pop("is_wanted", None)
    question = Question(now=NOON, text=text, **more)
    similarities = None if cosines is None else Listed(cosines)
    found = ranking.rank(made, question, similarities, is_wanted=is_wanted)
    return [one.memory_id for one in found]


@pytest.mark.parametrize(
    ("better", "more"),
    [
        (item("b", "lock cache"), {}),
        (item("b", days=1), {}),
        (item("b", days=100, importance=5), {}),
        (item("b", days=100, confidence=5), {}),
        (item("b", days=100, pinned=True), {}),
        (item("b", days=100, feedback=1.0), {}),
        (item("b", days=100, branch="topic"), {"branch": "topic"}),
        (item("b", days=100, files=("src/a.py",)), {"open_file": "src/a.py"}),
        (item("b", days=100, files=("tests/test_a.py",)), {"open_file": "src/a.py"}),
        (item("b", days=100, files=("src/b.py",)), {"open_file": "src/a.py"}),
        (item("b", days=100, files=("src/a.py",)), {"changed_files": ("src/a.py", "x.py")}),
        (item("b", days=100), {"cosines": {"b": 0.6, "a": 0.1}}),
        (item("b", days=100, branch=None), {"cosines": {"b": 0.6}}),
    ],
)
def test_each_signal_lifts_its_memory(better: Item, more: dict[str, Any]) -> None:
    """Part of D7. Words, meaning, recency, importance and files at hand each count."""
    other = item("a", days=100)
    assert ask(catalogue(other, better), "lock cache", **more) == ["b", "a"]


@pytest.mark.parametrize(
    ("better", "more"),
    [
        (item("b", days=1), {}),
        (item("b", days=100, importance=5), {}),
        (item("b", days=100, pinned=True), {}),
        (item("b", days=100, files=("src/a.py",)), {"open_file": "src/a.py"}),
    ],
)
def test_without_a_question_the_other_signals_rank(better: Item, more: dict[str, Any]) -> None:
    """Part of D7."""
    assert ask(catalogue(item("a", days=100), better), **more) == ["b", "a"]


def test_a_question_in_other_words_is_found_by_its_meaning() -> None:
    """Part of D7."""
    made = catalogue(
        item("right", "Seats are held for twelve minutes"),
        item("wrong", "How to release the places in the layout"),
    )
    text = "how long does someone have to pay before we release the places"
    assert ask(made, text, cosines={"right": 0.5, "wrong": 0.2})[0] == "right"


def test_keywords_are_found_by_words_where_meaning_is_undecided() -> None:
    made = catalogue(item("right", "LogfmtRenderer newline"), item("wrong", "JSONRenderer"))
    assert ask(made, "LogfmtRenderer", cosines={"right": 0.4, "wrong": 0.5})[0] == "right"


def test_a_question_that_names_code_is_found_by_the_name() -> None:
    """Part of D7."""
    made = catalogue(
        item("right", "parse_config skips comments"), item("wrong", "Settings are read at start")
    )
    text = "why does parse_config not see my settings?"
    assert ask(made, text, cosines={"right": 0.35, "wrong": 0.45})[0] == "right"


def test_an_open_file_does_not_drown_the_answer_to_a_question() -> None:
    """Part of D7."""
    made = catalogue(
        item("answer", "Seats are held for twelve minutes"),
        item("open", "Tidy the imports", files=("src/a.py",)),
    )
    text = "how long does someone have to pay before the places go?"
    cosines = {"answer": 0.5, "open": 0.0}
    assert ask(made, text, open_file="src/a.py", cosines=cosines) == ["answer", "open"]


def test_who_shares_files_with_the_best_answer_comes_along() -> None:
    made = catalogue(
        item("best", "parser crash", files=("src/parser.py",)),
        item("kin", "tidy up", files=("src/parser.py",)),
        item("stranger", "tidy up", files=("src/other.py",)),
    )
    assert ask(made, "parser crash") == ["best", "kin"]


def test_a_rare_file_tells_more_than_one_that_everybody_touches() -> None:
    crowd = [item(f"c{number}", "x", files=("CHANGELOG.md",), days=9) for number in range(20)]
    made = catalogue(*crowd, item("b", "x", files=("src/rare.py",), days=10))
    assert ask(made, changed_files=("CHANGELOG.md", "src/rare.py"))[0] == "b"


def test_filters_hold_for_every_signal() -> None:
    """Part of D7."""
    made = catalogue(
        item("a", "lock", files=("src/a.py",)), item("b", "lock", files=("src/a.py",), days=50)
    )
    for text in ("lock", ""):
        found = ask(made, text, open_file="src/a.py", cosines={"a": 0.9}, is_wanted="b".__eq__)
        assert found == ["b"]


def test_a_rare_kind_is_found_among_many_others() -> None:
    made = catalogue(*(item(f"m{number:04}", days=number) for number in range(500)))
    cosines = {f"m{number:04}": 0.5 for number in range(500)}
    for text in ("lock", "", "which of them is it"):
        assert ask(made, text, cosines=cosines, is_wanted="m0499".__eq__) == ["m0499"]


def test_nothing_that_matches_is_nothing_found() -> None:
    assert ask(catalogue(item("a")), "zebra") == []
    assert ask(catalogue(), "zebra") == []
    assert ask(catalogue()) == []


def test_equals_are_ordered_by_id_the_latest_first() -> None:
    made = catalogue(*(item(name) for name in "bdac"))
    assert ask(made, "lock") == ask(made) == ["d", "c", "b", "a"]


def test_the_best_without_a_question_are_exact_however_many_there_are() -> None:
    chance = random.Random(7)
    items = [
        item(f"m{n:04}", days=chance.random() * 900, importance=chance.randint(1, 5))
        for n in range(400)
    ]
    everything = ask(catalogue(*items), limit=400)
    assert ask(catalogue(*items), limit=10) == everything[:10]


ITEMS = st.lists(
    st.builds(
        item,
        st.uuids().map(lambda number: number.hex[:26]),
        st.lists(st.sampled_from(WORDS)).map(" ".join),
        type=st.sampled_from(["fact", "task", "decision"]),
        days=st.floats(0, 2000),
        importance=st.integers(1, 5),
        confidence=st.integers(1, 5),
        pinned=st.booleans(),
        feedback=st.floats(-1, 1),
        branch=st.sampled_from([None, "main", "topic"]),
        files=st.lists(st.sampled_from(PATHS), max_size=3).map(tuple),
    ),
    unique_by=lambda one: one.memory_id,
    max_size=12,
)
QUESTIONS = st.builds(
    Question,
    now=st.just(NOON),
    text=st.lists(st.sampled_from([*WORDS, "how", "is", "the"])).map(" ".join),
    open_file=st.sampled_from([None, *PATHS]),
    changed_files=st.lists(st.sampled_from(PATHS), unique=True).map(tuple),
    branch=st.sampled_from([None, "main"]),
    limit=st.integers(1, 20),
)


def cosines_of(items: list[Item]) -> Listed:
    chance = random.Random(len(items))
    return Listed({one.memory_id: chance.uniform(-1, 1) for one in items})


def ranked(items: list[Item], question: Question) -> list[Ranked]:
    return ranking.rank(catalogue(*items), question, cosines_of(items))


@settings(max_examples=40)
@given(ITEMS, QUESTIONS)
def test_the_explanation_adds_up_to_the_score(items: list[Item], question: Question) -> None:
    found = ranked(items, question)
    assert len(found) <= question.limit
    for one in found:
        assert sum(one.signals.values()) == one.score > 0
    assert [one.score for one in found] == pytest.approx(
        sorted((one.score for one in found), reverse=True)
    )


@settings(max_examples=40)
@given(ITEMS, QUESTIONS, st.randoms())
def test_the_order_of_coming_changes_nothing(
    items: list[Item], question: Question, chance: random.Random
) -> None:
    similarities = cosines_of(items)
    expected = ranking.rank(catalogue(*items), question, similarities)
    chance.shuffle(items)
    found = ranking.rank(catalogue(*items), question, similarities)
    assert [one.memory_id for one in found] == [one.memory_id for one in expected]
    assert [one.score for one in found] == pytest.approx([one.score for one in expected])


@settings(max_examples=40)
@given(ITEMS, QUESTIONS)
def test_what_was_dropped_leaves_no_trace(items: list[Item], question: Question) -> None:
    made = catalogue(*items)
    expected = ranking.rank(made, question)
    made.put(item("new", "lock cache", files=PATHS, pinned=True))
    made.drop("new")
    assert ranking.rank(made, question) == expected


GROUPS = {
    "tasks": Group(types=frozenset({"task"}), limit=2),
    "weighty": Group(types=frozenset({"fact", "decision"}), least_importance=3, limit=4),
    "none": Group(types=frozenset({"skill"}), limit=4),
}


@settings(max_examples=40)
@given(ITEMS, QUESTIONS)
def test_each_group_gets_the_best_of_its_own(items: list[Item], question: Question) -> None:
    made, similarities = catalogue(*items), cosines_of(items)
    everything = replace(question, limit=20)
    ranked_all = ranking.rank(made, everything, similarities)
    picked = ranking.pick(made, question, similarities, GROUPS)
    assert picked.keys() == GROUPS.keys()
    for name, group in GROUPS.items():
        traits = [(one, made.traits[one.memory_id]) for one in ranked_all]
        own = [one for one, of in traits if group.takes(of.type, of.importance, of.feedback)]
        assert picked[name] == own[: group.limit]


@settings(max_examples=40)
@given(ITEMS, QUESTIONS)
def test_what_was_refused_comes_last(items: list[Item], question: Question) -> None:
    made = catalogue(*(replace(one, feedback=round(one.feedback)) for one in items))
    found = ranking.rank(made, replace(question, limit=20), cosines_of(items))
    refused = [made.traits[one.memory_id].feedback <= -1 for one in found]
    assert refused == sorted(refused)


@settings(max_examples=40)
@given(ITEMS, QUESTIONS)
def test_a_catalogue_that_was_written_down_ranks_the_same(
    items: list[Item], question: Question
) -> None:
    made = catalogue(*items)
    read = Catalogue(made.pack())
    read.learn_words(made.pack_words())
    assert ranking.rank(read, question) == ranking.rank(made, question)


@settings(max_examples=40)
@given(ITEMS, QUESTIONS)
def test_who_stands_otherwise_is_ranked_so(items: list[Item], question: Question) -> None:
    """A memory that says what it said is not read again, but its new traits count."""
    made = catalogue(*items)
    ranking.rank(made, question)
    changed = [
        replace(one, importance=6 - one.importance, pinned=not one.pinned, type="task")
        for one in items
    ]
    for one in changed:
        assert not made.put(one)
    assert ranking.rank(made, question) == ranking.rank(catalogue(*changed), question)


def test_what_is_linked_with_a_good_answer_is_found_and_does_not_outrank_it() -> None:
    """Part of F12."""
    made = catalogue(
        item("answer", "lock cache"),
        item("beside", "owl"),
        item("half", "lock"),
        item("far", "fox"),
    )
    assert ask(made, "lock cache") == ["answer", "half"]
    linked = {"answer": ("beside",), "beside": ("answer",), "half": ("far",)}
    assert ask(made, "lock cache", linked=linked) == ["answer", "beside", "half", "far"]
    only = ranking.rank(made, Question(now=NOON, text="lock cache", linked=linked))
    assert [set(one.signals) >= {"links"} for one in only] == [False, True, False, True]


def test_of_equals_the_linked_one_comes_first() -> None:
    """Part of F12."""
    made = catalogue(item("answer", "lock cache"), item("a", "lock", days=3), item("b", "lock"))
    assert ask(made, "lock cache") == ["answer", "b", "a"]
    assert ask(made, "lock cache", linked={"answer": ("a",)}) == ["answer", "a", "b"]


def test_what_only_bad_answers_share_files_with_is_no_good_answer() -> None:
    """Part of D7: a good answer that names no file leaves its company to nobody."""
    made = catalogue(
        item("told", "never deploy on fridays", days=30),
        *(item(f"noise{number}", "cache", files=("src/cache.py",)) for number in range(5)),
    )
    cosines = {"told": 0.4} | {f"noise{number}": 0.2 for number in range(5)}
    assert ask(made, "fridays", cosines=cosines)[0] == "told"


def test_what_has_nothing_to_do_with_a_question_is_not_found() -> None:
    """Part of D7."""
    made = catalogue(item("a", "lock"), item("b", "cache", files=("src/cache.py",)))
    assert ask(made, "xyzzy", cosines={"a": 0.14, "b": 0.1}) == []
    assert ask(made, "mutex", cosines={"a": 0.3, "b": 0.1}) == ["a"]
