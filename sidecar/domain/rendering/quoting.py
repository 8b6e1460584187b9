"""Quoting: what others wrote, as it may stand in a line of ours."""

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice

from sidecar.domain.enrichment.patterns import late
from sidecar.domain.rendering.characters import clean, clip, flatten, shown
from sidecar.domain.rendering.disarming import disarm

QUOTE = "|"
_TITLE, _NAME, _PATH, _FILES, _ID = 300, 80, 160, 5, 64
_SPARE = 4
"""How much more is looked at than is shown: what is hidden takes room until it is gone."""
_HARMLESS = late(r"[A-Za-z0-9 ,./_'()+*;-]*\Z")
"""Letters of which no structure can be made: most lines have no others, and need no closer look."""
_HEADING = late(r"(?:#{1,6} +)+")
_NOT_ID = late(r"[^A-Za-z0-9_-]")


def line(text: str, most: int) -> str:
    """Write a text on one line, at most so long."""
    words = " ".join(text[: _SPARE * most].split())
    if _HARMLESS.match(words):
        return clip(words, most)
    return _single(flatten(text[: _SPARE * most]), most)


def said(title: str, more: str, most: int) -> tuple[str, ...]:
    """Write a title and what is said beyond it: on one line, or below it where that has several."""
    short = line(title, _TITLE)
    visible = clean(more[: _SPARE * most])
    if short and "\n" in visible:
        return (short, *_marked(visible, most))
    rest = _single(flatten(visible), most)
    return (f"{short} - {rest}" if short and rest and rest != short else rest or short,)


def lines(text: str, most: int, *, is_clipped: bool = False) -> tuple[str, ...]:
    """Write a text on lines that begin with a sign of ours, at most so many letters."""
    shown = _marked(clean(text[: _SPARE * most]), most)
    return (*shown, f"{QUOTE} …") if is_clipped and shown and not shown[-1].endswith("…") else shown


def name(text: str) -> str:
    """Write a name so that it can stand between our brackets."""
    return line(text.replace("(", "[").replace(")", "]"), _NAME)


def identifier(text: str) -> str:
    """Write an id: letters and digits that can be given back to us."""
    return f"`{_NOT_ID.sub('', text[:_ID])}`"


def paths(names: Iterable[str]) -> str:
    """Write the first few paths; what is hidden in them is shown."""
    return ", ".join(line(shown(path), _PATH) for path in islice(names, _FILES))


def moment(at: datetime) -> str:
    """Write a moment to the minute, in UTC."""
    return f"{_universal(at).isoformat(' ', 'minutes')[:16]} UTC"


def day(at: datetime) -> str:
    """Write the day of a moment, in UTC."""
    return _universal(at).isoformat()[:10]


def _single(visible: str, most: int) -> str:
    return _paired(clip(disarm(_without_heading(visible)), most))


def _marked(visible: str, most: int) -> tuple[str, ...]:
    shown = clip(disarm(visible), most).split("\n") if visible else ()
    return tuple(f"{QUOTE} {one}".rstrip() for one in shown)


def _universal(at: datetime) -> datetime:
    return at if at.tzinfo is UTC else at.astimezone(UTC)


def _without_heading(text: str) -> str:
    heading = _HEADING.match(text) if text.startswith("#") else None
    return text[heading.end() :] if heading else text


def _paired(text: str) -> str:
    if text.count("`") % 2 == 0:
        return text
    before, _, after = text.rpartition("`")
    return f"{before}'{after}"
