"""A name is found however it is written, a path by its parts, a word in all its forms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.search.rules import words


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


def test_an_extension_is_a_weak_term() -> None:
    assert words.count_paths(["src/b.py"]) == {"src": 1.0, "b.py": 1.0, ".py": words.WEAK, "b": 1.0}


def test_a_term_counts_once_for_each_path() -> None:
    assert words.count_paths(["lock/lock.py", "lock/key.py"])["lock"] == 2.0


@pytest.mark.parametrize(
    "path",
    ["src/attr/cmp.py", "tests/test_cmp.py", "pkg/cmp_test.go", "web/cmp.spec.ts", "web/cmp.d.ts"],
)
def test_a_module_and_its_tests_have_one_stem(path: str) -> None:
    """Part of D7."""
    assert words.stem_of(path) == "cmp"


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0.0),
        ("1234 !?", 0.0),
        ("fix parser crash", 0.0),
        ("how is it so", 1.0),
        ("why fail", 0.5),
    ],
)
def test_small_words_tell_questions_from_keywords(text: str, share: float) -> None:
    assert words.wordiness(text) == share


@settings(max_examples=40)
@given(st.text(max_size=200))
def test_any_text_has_terms_of_finite_size_and_positive_count(text: str) -> None:
    for counted in (words.count(text), words.count_paths([text])):
        assert all(0 < len(term) <= 64 and count > 0 for term, count in counted.items())


@settings(max_examples=40)
@given(st.text(max_size=100), st.text(max_size=100))
def test_texts_side_by_side_have_the_terms_of_both(one: str, other: str) -> None:
    both = words.count(f"{one}\n{other}")
    assert set(both) == set(words.count(one)) | set(words.count(other))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how are libraries kept current", True),
        ("  Why not Redis", True),
        ("are we there yet?", True),
        ("whatever works", False),
        ("Do not cache errors", False),
        ("", False),
    ],
)
def test_a_question_is_known_by_its_form(text: str, expected: bool) -> None:
    assert words.is_question(text) is expected


@pytest.mark.parametrize(
    "text", ["see parse_config", "LogfmtRenderer", "in `cmp`", "a/b", "x.py", "v1.2", "#7", "run()"]
)
def test_an_exact_name_is_seen(text: str) -> None:
    assert words.names_code(text)


@pytest.mark.parametrize("text", ["", "the third-party library.", "Why? So. And 12 (or 13)"])
def test_prose_names_nothing_exactly(text: str) -> None:
    assert not words.names_code(text)


def test_other_terms_are_another_edition() -> None:
    """Whoever changes what terms a text has raises `words.EDITION`, and these numbers with it."""
    text = (
        "Parsing `getUserName` in src/http/server_test.py fixes #1255: v3.13.2 reads naïve 東京 keys, "
        "communications and C:\\Users\\a; see https://example.org/x?y=1"
    )
    terms = [
        *sorted(words.count(text).items()),
        *sorted(words.count_paths(["a/b_c.test.ts"]).items()),
    ]
    assert (words.EDITION, words.of_all(terms)) == (1, 758292356154354398)


@given(text=st.text(max_size=60), word=st.from_regex(r"[a-z]{4,12}", fullmatch=True))
def test_a_sketch_misses_no_term(text: str, word: str) -> None:
    said = f"{text} {word}"
    found, sketch = words.count(said), words.sketch(said)
    assert len(found) <= sketch.most
    for form in (word, f"{word}s", f"{word}ing", word.capitalize()):
        if words.count(form).keys() & found.keys():
            assert words.sketch(form).plain <= sketch.begun
