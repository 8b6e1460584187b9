"""Repetitions: what a first look rules out, a close one would not have found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.memories import Memory
from sidecar.context.rules import repetitions
from tests.support import NOON

WORDS = [
    "use",
    "uses",
    "using",
    "age",
    "aging",
    "ages",
    "die",
    "dying",
    "lie",
    "the",
    "a",
    "store",
    "stores",
    "stored",
    "storing",
    "uv",
    "pip",
    "getUserName",
    "user",
    "name",
    "src/a.py",
    "not",
    "never",
    "sky",
    "skies",
    "always",
    "new",
    "code",
    "project",
    "retry",
    "retries",
    "timeout",
    "seconds",
    "30",
    "invoice",
    "invoices",
]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)


def memory(key: str, text: str) -> Memory:
    return Memory(
        memory_id=key,
        project_id="p",
        type="fact",
        title=text,
        content=text,
        occurred_at=NOON,
        created_at=NOON,
        updated_at=NOON,
    )


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_a_first_look_rules_out_nothing_that_is_a_repetition(one: str, other: str) -> None:
    ours, theirs = memory("1", one), memory("2", other)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repetitions, "_is_far", lambda *_: False)
        repetitions._is_repeated.cache_clear()
        expected = repetitions.is_said(ours, [theirs])
    repetitions._is_repeated.cache_clear()
    assert repetitions.is_said(ours, [theirs]) == expected


def test_texts_with_other_words_are_told_apart_at_first_sight() -> None:
    ours = memory("1", "Invoices are numbered per year without gaps")
    theirs = memory("2", "Retry webhooks with exponential backoff")
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(repetitions, "_reading")
        repetitions._is_repeated.cache_clear()
        assert not repetitions.is_said(ours, [theirs])
