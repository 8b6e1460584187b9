"""Split text into sentences and list items, outside code and tables; find names in them."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal

from msgspec import Struct

from sidecar.text import own_words
from sidecar.text.patterns import late, words

# ruff: noqa: RUF001 - other scripts have letters that look like ours


Place = Literal["subject", "body", "capture"]

LONGEST = 800
"""Letters of a statement; what is longer is a dump, not a sentence."""
_READ = 30_000
"""Letters of a text that are looked at."""
_MOST = 150
"""Statements of a text that are looked at."""


class Statement(Struct, frozen=True, kw_only=True):
    """One thing that was said."""

    text: str
    """In one line, without marks of lists."""
    quote: str
    """As it stands in the event."""
    place: Place
    heading: str = ""
    """The line above the list that it stands in."""
    position: int = 0
    """Its number in the text."""
    block: int = 0
    """The number of its paragraph."""
    is_item: bool = False
    is_open: bool = False
    """An unchecked box stands before it."""
    is_done: bool = False
    """A checked box stands before it."""


class _Block(Struct):
    start: int
    end: int
    heading: str = ""
    is_item: bool = False
    box: str = ""


_ITEM = late(r"[ \t]{0,12}(?:[-*+•–·]|\d{1,3}[.)])[ \t]+(?:\[(?P<box>[ xX])\][ \t]+)?")
_HEADING = late(r"[ \t]{0,3}#{1,6}[ \t]+|.{0,80}[:：][ \t]*$")
_INDENTED = late(r"(?: {4}|\t)")
_TRAILER = (
    r"[ \t]*(?:(?!Follow-|To-|How-|Known-|Left-|Non-|Post-|Pre-)[A-Z][A-Za-z]{1,20}(?:-[A-Za-z]{1,20}){1,4}:[ \t]|Link:|Cc:|CC:|Bug:|Issue:|PR-URL:|Reviewed|Signed|Co-authored"
    r"|\(?cherry[- ]picked from|Backport of|Thanks\b|Thank you\b|Many thanks|(?:Fix(?:es|ed)?|Close[sd]?|Resolve[sd]?|Refs?|See|Follow[- ]?up to|Regression in|Bug in)[: ]"
    r"(?:also |issue |ticket |PR |GH-|gh-)?(?:[#\[(]|https?:|[0-9a-f]{7,40}\b|[A-Z]{2,10}-\d)|Conflicts:|updated-dependencies|Generated with|🤖)"
)
_CODE = (
    r"[ \t]*(?:>|\||\$ |>>> |\.\.\. |\.\. |:[a-z]+:`|@@ |diff --git |index [0-9a-f]{7}|\+\+\+ |--- [ab/]|File \"|at [\w$.<>]+ ?\(|https?://\S+$"
    r"|[\[<{(]?https?://\S+$|from https?:|\^+$|[\w.]{0,80}(?:Error|Exception|Warning)\b:|(?:WARNING|ERROR|INFO|DEBUG|FATAL|CRITICAL)\b|[{}()\[\];]+$|<[a-zA-Z/!])"
)
_UNDERLINE = r"[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,}|~{3,})[ \t]*$"
_NOT_PROSE = late(f"(?:{_TRAILER})|(?:{_CODE})|(?:{_UNDERLINE})")
_FOREIGN = late(
    r"[ \t]{0,8}(?P<fence>`{3,}|~{3,})|[ \t]*(?:(?P<patch>diff --git |--- a/|Index: )"
    r"|(?P<trace>Traceback \(most recent|Exception in thread|panic:|goroutine \d|Stack trace))"
)
_ROLE = late(r"(?:user|assistant|human|ai|me|you)[ \t]*:[ \t]+", re.IGNORECASE)
_END = late(r"[.!?…]{1,4}[\"'`)\]*_]{0,3}(?=\s|$)|[。！？]")
_SHORT = words(
    "e.g i.e etc vs cf approx resp no nr incl eg ie ca dr mr ms st fig sec z.b bzw u.a d.h usw p.ex ex p.e al aka a.k.a"
)
_UNSAFE = late(r"[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MARKUP = late(r"\*\*(?=\S)|(?<=\S)\*\*")


def read(text: str, place: Place) -> tuple[Statement, ...]:
    """Read the statements of a text, in their order."""
    return tuple(islice(_statements(text, place), _MOST))


def _statements(text: str, place: Place) -> Iterator[Statement]:
    visible = own_words.blank(text)[:_READ]
    position = 0
    for number, block in enumerate(_blocks(visible)):
        for start, end in _sentences(visible, block):
            quote = text[start:end]
            if flat := _flat(quote):
                yield Statement(
                    text=flat,
                    quote=quote,
                    place=place,
                    heading=block.heading,
                    position=position,
                    block=number,
                    is_item=block.is_item,
                    is_open=block.box == " ",
                    is_done=block.box in ("x", "X"),
                )
                position += 1


def clean(text: str) -> str:
    """Write a text in one line, without letters that nobody sees."""
    flat = " ".join(text.split())
    if flat.isprintable():
        return flat
    return " ".join("".join(one if one.isprintable() else " " for one in flat).split())


def _flat(quote: str) -> str:
    """Write a quotation in one line; nothing where it cannot be quoted or is no sentence."""
    if len(quote) > LONGEST or _UNSAFE.search(quote):
        return ""
    return clean(_MARKUP.sub("", quote) if "**" in quote else quote)


def _blocks(text: str) -> Iterator[_Block]:
    """Find paragraphs and list items."""
    block: _Block | None = None
    heading = ""
    for start, end in _prose(text):
        line = text[start:end]
        item = _ITEM.match(line) if line else None
        is_heading = bool(line) and _HEADING.match(line) is not None
        if block is not None and (not line or item or is_heading):
            yield block
            block = None
        if not line:
            continue
        if item:
            block = _Block(start + item.end(), end, heading, is_item=True, box=item["box"] or "")
        elif block is not None:
            block.end = end
        else:
            heading = line.strip(" \t#:：*_") if is_heading else ""
            block = _Block(start + _role(line), end)
    if block is not None:
        yield block


def _prose(text: str) -> Iterator[tuple[int, int]]:
    """Return the lines of a text that are prose; an empty one stands for all that is none."""
    fence, is_trace, was_prose = "", False, False
    for start, end in _lines(text):
        line = text[start:end]
        mark = _FOREIGN.match(line) if line else None
        if mark and mark["patch"]:
            return
        was_fenced, fence = fence, _fence(mark["fence"] if mark else None, fence)
        is_trace = bool(mark and mark["trace"]) or (is_trace and line[:1] in (" ", "\t"))
        is_out = bool(was_fenced or fence or is_trace) or not line
        was_prose = not is_out and not _is_no_prose(line, within=was_prose)
        yield (start, end) if was_prose else (start, start)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, start + len(line.rstrip())
        start += len(line)


def _fence(mark: str | None, opened: str) -> str:
    if not opened:
        return mark or ""
    return "" if mark and mark.startswith(opened) else opened


def _is_no_prose(line: str, *, within: bool) -> bool:
    is_code = not within and _INDENTED.match(line) and not _ITEM.match(line)
    return bool(is_code or _NOT_PROSE.match(line))


def _role(line: str) -> int:
    indent = len(line) - len(line.lstrip(" \t#"))
    spoken = _ROLE.match(line, indent)
    return spoken.end() if spoken else indent


def _sentences(text: str, block: _Block) -> Iterator[tuple[int, int]]:
    start = block.start
    for mark in _END.finditer(text, block.start, block.end):
        if _is_end(text, mark, block.start, block.end):
            yield _trimmed(text, start, mark.end())
            start = mark.end()
    if text[start : block.end].strip():
        yield _trimmed(text, start, block.end)


def _is_end(text: str, mark: "re.Match[str]", start: int, end: int) -> bool:
    """Return whether a stop ends a sentence, and no abbreviation; who begins small goes on small."""
    if mark[0][0] != ".":
        return True
    before = text[max(0, mark.start() - 12) : mark.start()].split()
    if before and before[-1].lower().lstrip("([\"'`") in _SHORT:
        return False
    after = text[mark.end() : min(end, mark.end() + 3)].strip()
    is_lax = text[start : start + 1].islower() and len(before) > 0 and before[-1].isalpha()
    return not ((after[:1].islower() and not is_lax) or after[:1] in (",", ";", ")"))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


_MOST_NAMES = 12
_LONGEST = 80
_IDENTIFIER = late(r"`([^`\s][^`]{0,80})`")
_NAME = late(
    r"(?<![\w/@.-])(?:"
    r"--?[a-z][\w-]{2,40}"
    r"|[A-Z][A-Z0-9]{1,9}-\d{1,7}|CVE-\d{4}-\d{3,7}"
    r"|[A-Z][A-Z0-9]*_[A-Z0-9_]{1,60}"
    r"|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+(?:\.\w{1,60})*(?:\(\))?"
    r"|_{0,2}[a-zA-Z][a-z0-9A-Z]*_\w{1,60}(?:\.\w{1,60})*(?:\(\))?"
    r"|[a-zA-Z_]\w{0,60}(?:\.[a-zA-Z_]\w{1,60}){1,5}(?:\(\))?"
    r"|[a-zA-Z_]\w{1,60}\(\)"
    r"|[a-zA-Z_][\w-]{0,40}(?:/[\w.-]{1,60}){1,8}"
    r"|/[a-z][\w-]{1,40}(?:/[\w{}.-]{1,40}){0,6}"
    r")(?![\w/-])"
)
_TICKET = late(r"(?<![\w&/])#\d{1,7}\b")
_NOT = late(r"(?:e\.g|i\.e|and/or|etc\.|w/o|n/a|https?)", re.IGNORECASE)
_VALUE = late(r"(?<![\w.])(?:port\s)?\d{2,}|\d+\.\d+", re.IGNORECASE)


def found(text: str) -> tuple[str, ...]:
    """List the names that a text speaks of, in their order, each once."""
    marked = [(mark.start(), mark[1]) for mark in _IDENTIFIER.finditer(text)]
    plain = [(mark.start(), mark[0]) for mark in _NAME.finditer(text)]
    tickets = [(mark.start(), mark[0]) for mark in _TICKET.finditer(text)]
    ordered = [name.strip() for _, name in sorted(marked + plain + tickets)]
    kept = [name for name in ordered if 0 < len(name) <= _LONGEST and not _NOT.match(name)]
    return tuple(dict.fromkeys(kept))[:_MOST_NAMES]


def has_code(text: str) -> bool:
    """Return whether a text names something of a program, or a figure of it."""
    without = _TICKET.sub("", text)
    return bool(_IDENTIFIER.search(without) or _NAME.search(without) or _VALUE.search(without))
