"""Estimate tokens, and track how many a job and a day may still use."""

from datetime import date
from typing import Annotated

from msgspec import Meta, Struct

from protocol.values import Record

_LETTERS = bytes(range(65, 91)) + bytes(range(97, 123)) + b" "
"""What tokenizers pack well; digits, signs and other scripts they do not."""
_LETTERS_PER_TOKEN = 3
_DENSE_BYTES_PER_TWO_TOKENS = 3

Tokens = Annotated[int, Meta(ge=0)]


class Caps(Struct, frozen=True, kw_only=True):
    """What may be spent, in tokens, questions and answers together."""

    per_job: Tokens = 200_000
    per_day: Tokens = 1_000_000


class Spending(Record, frozen=True, kw_only=True):
    """What was spent on one day (UTC); kept by whoever spends."""

    day: date
    tokens: Tokens = 0


def estimate(text: str) -> int:
    """Return how many tokens a text takes at most, as far as one can tell without its tokenizer."""
    data = text.encode("utf-8", "surrogatepass")
    dense = len(data.translate(None, _LETTERS))
    letters = len(data) - dense
    return -(-letters // _LETTERS_PER_TOKEN) + -(-2 * dense // _DENSE_BYTES_PER_TWO_TOKENS)


def spent(spending: Spending | None, today: date) -> int:
    """Return what was spent today; yesterday's spending does not count, tomorrow's does."""
    return spending.tokens if spending is not None and spending.day >= today else 0


def refusal(caps: Caps, tokens: int, *, by_job: int, today: int) -> str | None:
    """Return why a request may not be sent, given what its job and its day have spent; None if it may."""
    if by_job + tokens > caps.per_job:
        return (
            f"the job's cap of {caps.per_job:,} tokens would be passed: {by_job:,} are spent and"
            f" {tokens:,} more may be needed; raise the cap, or retry to go on from here"
        )
    if today + tokens > caps.per_day:
        return (
            f"the day's cap of {caps.per_day:,} tokens would be passed: {today:,} are spent and"
            f" {tokens:,} more may be needed; raise the cap, or retry tomorrow (UTC)"
        )
    return None


def reserve(spending: Spending | None, tokens: int, today: date) -> Spending:
    """Count what a request may cost before it is sent, so that a crash forgets no cost."""
    day = max(spending.day, today) if spending is not None else today
    return Spending(day=day, tokens=spent(spending, today) + tokens)


def settle(spending: Spending, *, reserved: int, used: int) -> Spending:
    """Count what a request did cost instead of what was reserved for it."""
    return Spending(day=spending.day, tokens=max(0, spending.tokens - reserved + used))
