"""Daily digests."""

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta, tzinfo

from msgspec import Struct

from protocol.sessions import Session

AGENT = "daily-digest"
REACH = 30
"""Days that are caught up with; whoever imports ten years of history wants no thousand notes."""
_TITLE = 200
_PART = 400
_CONTENT = 4_000
_SENTENCE = re.compile(r"(?<=\w\w)[.!?]\s")
"""The end of a sentence, and not of an abbreviation such as e.g. this one."""


class Part(Struct, frozen=True, kw_only=True):
    """One session of a day."""

    session: Session
    told: str
    """What it was about: a headline, and more after the first line."""


class Digest(Struct, frozen=True, kw_only=True):
    """A day in words."""

    title: str
    content: str


def key(day: date) -> str:
    """Name a day's digest, so that it is written once."""
    return f"digest:{day.isoformat()}"


def day_of(session: Session, zone: tzinfo) -> date:
    """Tell the day on which a session began."""
    return session.started_at.astimezone(zone).date()


def due(now: datetime, zone: tzinfo, hour: int) -> list[date]:
    """Return the days that are over and whose digest may be written, oldest first."""
    today = now.astimezone(zone)
    is_early = today.timetz().replace(tzinfo=None) < time(hour)
    last = today.date() - timedelta(days=2 if is_early else 1)
    return [last - timedelta(days=back) for back in reversed(range(REACH))]


def compose(day: date, parts: Sequence[Part], zone: tzinfo) -> Digest:
    """Sum a day up: its sessions in their order, each with what it was about."""
    headlines = [_headline(part.told) for part in parts]
    named = "; ".join(dict.fromkeys(headlines))
    content = "\n".join(_line(part, zone) for part in parts)
    return Digest(
        title=_cut(f"{day.isoformat()}: {named}", _TITLE), content=_cut(content, _CONTENT)
    )


def _line(part: Part, zone: tzinfo) -> str:
    begin = part.session.started_at.astimezone(zone).strftime("%H:%M")
    end = part.session.last_event_at.astimezone(zone).strftime("%H:%M")
    headline, _, rest = part.told.partition("\n")
    told = f"{headline.rstrip('.')}. {rest}" if rest.strip() else headline
    when = begin if begin == end else f"{begin} to {end}"
    return f"{when}: {_cut(' '.join(told.split()), _PART)}"


def _headline(told: str) -> str:
    return _SENTENCE.split(told.split("\n", 1)[0], maxsplit=1)[0].rstrip(".")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rsplit(None, 1)[0] + "…"
