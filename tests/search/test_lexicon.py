"""The lexicon finds what holds the words, rare words first, and forgets without a trace."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.search.rules import indexes, words
from sidecar.search.rules.indexes import Entry, Lexicon

WORDS = st.lists(
    st.sampled_from(("lock", "cache", "parser", "token", "route", "schema", "retry", "queue"))
)
ENTRIES = st.builds(
    lambda title, content, files: Entry(
        title=" ".join(title), content=" ".join(content), files=tuple(f"{f}.py" for f in files)
    ),
    WORDS,
    WORDS,
    WORDS,
)
SHELVES = st.dictionaries(st.sampled_from("abcdefgh"), ENTRIES)


def filled(entries: dict[str, Entry]) -> Lexicon:
    made = Lexicon()
    for memory_id, entry in entries.items():
        made.put(memory_id, entry)
    return made


def order(made: Lexicon, text: str) -> list[str]:
    scores = made.score(words.count(text))
    return sorted(scores, key=lambda memory_id: -scores[memory_id])


def test_who_holds_more_of_the_question_comes_first() -> None:
    """Part of D7."""
    made = filled(
        {
            "both": Entry(content="the lock of the cache"),
            "one": Entry(content="the lock of the door"),
            "none": Entry(content="a schema"),
        }
    )
    assert order(made, "cache lock") == ["both", "one"]


def test_a_rare_word_tells_more_than_a_common_one() -> None:
    common = {f"m{number}": Entry(content="lock") for number in range(9)}
    made = filled(common | {"rare": Entry(content="parser")})
    assert order(made, "lock parser")[0] == "rare"


def test_a_title_counts_more_than_the_text_below() -> None:
    made = filled({"below": Entry(content="retry"), "title": Entry(title="retry")})
    assert order(made, "retry") == ["title", "below"]


@pytest.mark.parametrize(
    "entry",
    [
        Entry(title="lock"),
        Entry(content="lock"),
        Entry(names=("lock",)),
        Entry(files=("a/lock.py",)),
    ],
)
def test_every_field_is_searched(entry: Entry) -> None:
    assert order(filled({"it": entry}), "locks") == ["it"]


def test_a_long_text_does_not_win_by_its_length() -> None:
    long = "lock " + " ".join(f"word{number}" for number in range(300))
    made = filled({"long": Entry(content=long), "short": Entry(content="lock")})
    assert order(made, "lock") == ["short", "long"]


def test_a_new_entry_takes_the_place_of_the_old_one() -> None:
    made = filled({"it": Entry(content="lock")})
    made.put("it", Entry(content="cache"))
    assert (order(made, "lock"), order(made, "cache"), len(made)) == ([], ["it"], 1)


@settings(max_examples=40)
@given(SHELVES, ENTRIES, WORDS)
def test_put_and_drop_leave_no_trace(
    shelf: dict[str, Entry], entry: Entry, asked: list[str]
) -> None:
    made = filled(shelf)
    before = made.score(words.count(" ".join(asked)))
    made.put("new", entry)
    made.drop("new")
    assert made.score(words.count(" ".join(asked))) == before
    assert made.index.pack() == filled(shelf).index.pack()


@settings(max_examples=40)
@given(SHELVES, WORDS, st.randoms())
def test_the_order_of_coming_does_not_matter(
    shelf: dict[str, Entry], asked: list[str], chance: random.Random
) -> None:
    rows = list(shelf.items())
    chance.shuffle(rows)
    question = words.count(" ".join(asked))
    assert filled(dict(rows)).score(question) == filled(shelf).score(question)


def test_common_words_still_add_to_what_rare_ones_found(monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = {f"m{number:03}": Entry(content="lock") for number in range(50)}
    shelf |= {"rare": Entry(content="parser"), "rare and common": Entry(content="parser lock")}
    everything = filled(shelf).score(words.count("lock parser"))
    monkeypatch.setattr(indexes, "_ENOUGH", 10)
    found = filled(shelf).score(words.count("lock parser"))
    assert found == {name: everything[name] for name in ("rare", "rare and common")}


def test_only_common_words_still_find_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "_ENOUGH", 10)
    shelf = {f"m{number:03}": Entry(content="lock") for number in range(50)}
    assert len(filled(shelf).score(words.count("lock"))) == 50
