"""Stems are those of Snowball's own English stemmer."""

import re
from pathlib import Path

import pytest
import snowballstemmer  # type: ignore[import-untyped]  # it has no stubs
from hypothesis import given
from hypothesis import strategies as st

from sidecar.text import words as rules_words

_SNOWBALL = snowballstemmer.stemmer("english")
_SUFFIXES = (
    *(
        "s",
        "es",
        "ies",
        "ied",
        "sses",
        "us",
        "ss",
        "y",
        "e",
        "l",
        "ll",
        "eed",
        "eedly",
        "ed",
        "ing",
        "ingly",
        "edly",
    ),
    *(
        "tional",
        "enci",
        "anci",
        "abli",
        "entli",
        "izer",
        "ization",
        "ational",
        "ation",
        "ator",
        "alism",
        "aliti",
    ),
    *(
        "alli",
        "fulness",
        "fulli",
        "ousli",
        "ousness",
        "iveness",
        "iviti",
        "biliti",
        "bli",
        "ogi",
        "logi",
        "ogist",
    ),
    *(
        "lessli",
        "li",
        "cli",
        "alize",
        "icate",
        "iciti",
        "ical",
        "ful",
        "ness",
        "ative",
        "al",
        "ance",
        "ence",
        "er",
    ),
    *(
        "ic",
        "able",
        "ible",
        "ant",
        "ement",
        "ment",
        "ent",
        "ism",
        "ate",
        "iti",
        "ous",
        "ive",
        "ize",
        "sion",
        "tion",
    ),
)
_BEGINNINGS = (
    "",
    "arsen",
    "commun",
    "emerg",
    "gener",
    "inter",
    "later",
    "organ",
    "past",
    "univers",
    "succ",
    "out",
)
_ODD = (
    *(
        "andes",
        "atlas",
        "bias",
        "cosmos",
        "early",
        "gently",
        "howe",
        "idly",
        "news",
        "only",
        "singly",
        "skies",
    ),
    *(
        "skis",
        "sky",
        "ugly",
        "dying",
        "lying",
        "inning",
        "evening",
        "herring",
        "outing",
        "canning",
        "earring",
    ),
    *(
        "proceed",
        "exceed",
        "succeed",
        "add",
        "adding",
        "egged",
        "hopping",
        "hoping",
        "pasted",
        "yes",
        "toy",
        "sayyid",
    ),
)
_LETTERS = st.text("aeiouybdglnrstwx", max_size=6)


@pytest.mark.parametrize(
    "word", [*_ODD, "", "y", "yy", "by", "ing", "ed", "s", "is", "gas", "ties"]
)
def test_an_odd_word_has_snowballs_stem(word: str) -> None:
    assert rules_words.stem(word) == _SNOWBALL.stemWord(word)


@given(
    st.builds(
        "".join,
        st.tuples(st.sampled_from(_BEGINNINGS), _LETTERS, *[st.sampled_from(("", *_SUFFIXES))] * 2),
    )
)
def test_a_made_up_word_has_snowballs_stem(word: str) -> None:
    assert rules_words.stem(word) == _SNOWBALL.stemWord(word)


@pytest.mark.slow
def test_every_word_of_this_repository_has_snowballs_stem() -> None:
    root = Path(__file__).parents[2]
    texts = [path.read_text() for path in (*root.glob("*.md"), *root.glob("sidecar/**/*.py"))]
    words = {word for text in texts for word in re.findall("[a-z]+", text.lower())}
    assert len(words) > 1_000
    assert {word: rules_words.stem(word) for word in words} == {
        word: _SNOWBALL.stemWord(word) for word in words
    }
