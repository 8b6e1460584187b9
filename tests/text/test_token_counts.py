"""Budgets are counted with care: rather too much than too little."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.text.token_counts import Caps, Spending, estimate, refusal, reserve, settle, spent

MONDAY = date(2026, 3, 2)
TUESDAY = MONDAY + timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("", 0),
        ("Use the new parser instead of the old one", 9),
        ("def add(first: int, second: int) -> int:\n    return first + second\n", 20),
        ("5e593ca1b2c3d4e5f60718293a4b5c6d7e8f9012", 20),
        ("使用新的解析器代替旧的", 11),
        ("パスワードを変更する", 10),
        ("Пароль изменён", 7),
        ("🙂🙂🙂", 6),
    ],
)
def test_a_token_is_counted_for_every_word_sign_and_pair_of_digits(text: str, units: int) -> None:
    assert units <= estimate(text) <= 3 * units


@given(st.text(), st.text())
def test_an_estimate_grows_with_its_text(one: str, other: str) -> None:
    whole = estimate(one + other)
    assert max(estimate(one), estimate(other)) <= whole <= estimate(one) + estimate(other)


CAPS = Caps(per_job=100, per_day=150)


@pytest.mark.parametrize(
    ("tokens", "by_job", "today", "cap"),
    [
        (100, 0, 0, None),
        (101, 0, 0, "job"),
        (1, 100, 100, "job"),
        (50, 0, 100, None),
        (51, 0, 100, "day"),
        (0, 100, 150, None),
        (101, 50, 150, "job"),
    ],
)
def test_what_would_pass_a_cap_is_refused(
    tokens: int, by_job: int, today: int, cap: str | None
) -> None:
    """Part of C6."""
    reason = refusal(CAPS, tokens, by_job=by_job, today=today)
    if cap is None:
        assert reason is None
    else:
        assert reason is not None
        assert reason.startswith(f"the {cap}'s cap of")


def test_a_new_day_begins_with_nothing_spent() -> None:
    """Part of C6."""
    monday = reserve(None, 70, MONDAY)
    assert monday == Spending(day=MONDAY, tokens=70)
    assert spent(monday, MONDAY) == 70
    assert spent(monday, TUESDAY) == 0
    assert reserve(monday, 5, TUESDAY) == Spending(day=TUESDAY, tokens=5)


def test_a_clock_set_back_frees_no_budget() -> None:
    tuesday = reserve(None, 70, TUESDAY)
    assert spent(tuesday, MONDAY) == 70
    assert reserve(tuesday, 5, MONDAY) == Spending(day=TUESDAY, tokens=75)


def test_what_was_reserved_and_not_used_is_free_again() -> None:
    reserved = reserve(Spending(day=MONDAY, tokens=10), 70, MONDAY)
    assert settle(reserved, reserved=70, used=25) == Spending(day=MONDAY, tokens=35)
    assert settle(reserved, reserved=70, used=90) == Spending(day=MONDAY, tokens=100)


@given(st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80))))
def test_no_series_of_requests_passes_the_day_by_more_than_their_own_surprise(
    requests: list[tuple[int, int]],
) -> None:
    """Part of C6."""
    spending: Spending | None = None
    for needed, used in requests:
        today = spent(spending, MONDAY)
        if refusal(CAPS, needed, by_job=0, today=today) is None:
            reserved = reserve(spending, needed, MONDAY)
            assert reserved.tokens <= CAPS.per_day
            spending = settle(reserved, reserved=needed, used=min(used, needed))
    assert spent(spending, MONDAY) <= CAPS.per_day
