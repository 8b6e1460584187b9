"""What redaction would change, the hints never pass over; and most of what people say needs no second look."""

import re
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks import leaks
from benchmarks import redaction as redaction_module
from benchmarks.leaks import HELD_OUT, PLAIN
from benchmarks.lookalikes import LOOKALIKES
from benchmarks.tokens import FORMS
from sidecar.privacy import assignments, cleaning, marks, prefilter, redaction, secret_formats

pytestmark = pytest.mark.slow

BARE = ("{}",)
PATTERNS = (*secret_formats.SURE, *secret_formats.LIKELY, *secret_formats.ODD)
PROMPTS = (
    "Why does the auth token refresh fail?",
    "Please add a retry to the upload, and a test for it.",
    "what does services/continuity/tracking.py do?",
    "The test test_a_commit_after_four_hours_opens_a_new_session fails on my machine",
    "Rename get_user to find_user everywhere.",
    "The primary key of the table should be a ULID instead of a number.",
    "Can you explain how the cache key is computed?",
    "Let's use Postgres instead of Redis, because we run no Redis in production.",
    "continue",
    "Run the tests and fix what fails",
    "Move the password check into its own function",
    "I don't like the name; call it SessionStore",
    "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
    "Add a --verbose option to the scan command",
    "Never block a request because the limiter itself is down; it must fail open.",
    "We must not log customer names in the limiter, only their ids.",
    "Why is the build red since commit 4f2a9c1?",
    "Look at https://example.org/docs/limits and tell me what applies here",
    "The keyboard shortcut does not work on Windows.",
    "Return 429 with a Retry-After header instead of 503, because clients already handle 429.",
)


def check(text: str) -> None:
    """Hold the hint against the truth."""
    if redaction.redact(text) != text:
        assert prefilter.may_hold(text), text


@pytest.mark.parametrize("kind", FORMS)
def test_no_token_is_passed_over(kind: str) -> None:
    """Part of F2."""
    for _, text in redaction_samples(kind, redaction_module.token, (*BARE, *PLAIN, *HELD_OUT)):
        check(text)


@pytest.mark.parametrize(
    ("kinds", "make"),
    [(leaks.PLACES, leaks.place), (leaks.WORDS, leaks.word), (leaks.FOREIGN, leaks.foreign)],
)
def test_no_place_and_no_word_is_passed_over(
    kinds: dict[str, object], make: redaction_module.Make
) -> None:
    """Part of F2."""
    for kind in kinds:
        for _, text in redaction_samples(kind, make, (*BARE, *HELD_OUT)):
            check(text)


def redaction_samples(
    kind: str, make: redaction_module.Make, surroundings: tuple[str, ...]
) -> list[tuple[str, str]]:
    chance = Random(kind)
    made = [make(kind, chance) for _ in range(12)]
    return [(secret, around.format(text)) for secret, text in made for around in surroundings]


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
def test_whatever_has_the_form_of_a_token_is_looked_at(pattern: str) -> None:
    """Every form that redaction knows, also one that is added later."""
    plain = re.sub(r"(\{\d+(?:,\d*)?\}|\*)\+", r"\1", pattern)

    @settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.from_regex(rf"\A(?:{plain})\Z", alphabet=st.characters(codec="ascii")))
    def hold(token: str) -> None:
        check(token.strip("\n"))
        check(f"so I used {token.strip()} there")

    hold()


@given(
    st.lists(
        st.sampled_from(
            [
                *("token", "password", "api_key", "key", "secret", "pass", "auth", "is", "was"),
                *("=", ":", "for", "staging", "hunter2", "Zq81hTb6Xw0mK3vLp7", "a-b-c-d-e-f"),
                *("correct", '"', "'", "--", "ENV", "aBcDeFgHiJ", "abc$def", "refresh", "(", ","),
                *("://", "@", "me", "login", "-p", "-u", "x:y", "Bearer", "Basic", "Cookie:", "\n"),
            ]
        ),
        max_size=9,
    ),
    st.sampled_from(["", " "]),
)
@settings(max_examples=600, deadline=None)
def test_no_mixture_of_words_is_passed_over(words: list[str], between: str) -> None:
    check(between.join(words))


def test_the_words_are_those_that_redaction_knows() -> None:
    assert assignments._STEMS == prefilter._STEMS


def test_few_of_the_things_people_say_are_looked_at_twice() -> None:
    suspected = [text for text in PROMPTS if prefilter.may_hold(text)]
    assert len(suspected) <= len(PROMPTS) * 0.1, suspected


def test_most_lookalikes_cost_no_more_than_a_look() -> None:
    assert not all(prefilter.may_hold(str(text)) for text in LOOKALIKES)


@given(st.lists(st.sampled_from(["<private>", "</private>", "< PRIVATE x>", "a", "\n", "<"])))
def test_private_text_is_dropped_the_same_way_everywhere(parts: list[str]) -> None:
    """Part of B6."""
    text = "".join(parts)
    assert marks.public(text) == cleaning.public(text)
