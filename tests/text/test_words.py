"""A name is found however it is written, a path by its parts, a word in all its forms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.text import words


def check(text: str, expected: set[str]) -> None:
    assert set(words.count(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        ("the and of", set()),
        ("parsing parsed parses", {"pars"}),
        ("getUserName", {"get", "user", "name", "getusername"}),
        ("get_user_name", {"get", "user", "name", "getusername"}),
        ("get-user-name", {"get", "user", "name", "getusername"}),
        ("HTTPServer", {"http", "server", "httpserver"}),
        ("utf8", {"utf8"}),
        ("Store.open", {"store", "open", "storeopen"}),
        ("fixes #1255", {"fix", "1255"}),
        ("v3.13.2", {"3.13.2", "3.13"}),
        ("Python 3.13", {"python", "3.13"}),
        ("naïve CAFÉ", {"naiv", "cafe"}),
        ("ﬁle", {"file"}),
        ("日本語", {"日本", "本語"}),
        ("Привет", {"привет"}),
        (
            "src/attr/_make.py",
            {"src", "attr", "_make.py", "make", ".py"},
        ),
    ],
)
def test_a_text_becomes_its_terms(text: str, expected: set[str]) -> None:
    """Part of D7."""
    check(text, expected)


def test_occurrences_are_counted() -> None:
    assert words.count("cache the cached caches") == {"cach": 3.0}


@settings(max_examples=40)
@given(st.text(max_size=200))
def test_any_text_has_terms_of_finite_size_and_positive_count(text: str) -> None:
    counted = words.count(text)
    assert all(0 < len(term) <= 64 and count > 0 for term, count in counted.items())


@settings(max_examples=40)
@given(st.text(max_size=100), st.text(max_size=100))
def test_texts_side_by_side_have_the_terms_of_both(one: str, other: str) -> None:
    both = words.count(f"{one}\n{other}")
    assert set(both) == set(words.count(one)) | set(words.count(other))


@given(text=st.text(max_size=60), word=st.from_regex(r"[a-z]{4,12}", fullmatch=True))
def test_a_sketch_misses_no_term(text: str, word: str) -> None:
    said = f"{text} {word}"
    found, sketch = words.count(said), words.sketch(said)
    assert len(found) <= sketch.most
    for form in (word, f"{word}s", f"{word}ing", word.capitalize()):
        if words.count(form).keys() & found.keys():
            assert words.sketch(form).plain <= sketch.begun
