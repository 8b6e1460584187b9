"""Blocks: words of ours between two marks in a text of somebody else's; every other letter stays as it is.

A block stands behind an empty line. A text without a line break at its end has none behind the block either, so that
the text itself says what it was before: taking the block out gives it back to the letter.
"""

import re

from msgspec import Struct

from protocol.errors import ConflictError
from sidecar.domain.connections import sums

NAME = "threadline:rules"
END = f"<!-- /{NAME} -->"
_MARK = re.compile(rf"<!--[ \t]*/?{NAME}\b[^\n]*")
_BEGIN = re.compile(
    rf"(?:^|(?<=^\ufeff))<!-- {NAME}; .* sum (?P<sum>[0-9a-f]{{16}}) -->(?P<newline>\r?\n)",
    re.MULTILINE,
)
_END = re.compile(rf"^{re.escape(END)}(?=\r?\n|\Z)", re.MULTILINE)
_HINT = "written by `threadline rules write`, taken out by `threadline rules remove`;"
_BOM = "\ufeff"


class Block(Struct, frozen=True):
    """A block as it was found."""

    start: int
    end: int
    body: str
    newline: str
    """How we broke lines when we wrote it."""
    is_intact: bool
    """Whether it says what we have written."""


def find(text: str) -> Block | None:
    """Find our block; marks that do not belong together are refused, since nobody knows what is between them."""
    marks = _MARK.findall(text)
    if not marks:
        return None
    begin, end = list(_BEGIN.finditer(text)), list(_END.finditer(text))
    if (len(marks), len(begin), len(end)) != (2, 1, 1) or end[0].start() < begin[0].end():
        raise ConflictError(
            f"the marks of its block are damaged: `<!-- {NAME} … -->` and `{END}` must stand once each, in this order, "
            "on lines of their own; mend or delete them"
        )
    body = text[begin[0].end() : end[0].start()]
    return Block(
        start=begin[0].start(),
        end=end[0].end(),
        body=body,
        newline=begin[0]["newline"],
        is_intact=begin[0]["sum"] == sums.add_up(body),
    )


def put(text: str, body: str) -> str:
    """Give a text with a block that says something, where there was one, or else at its end."""
    found = find(text)
    if found is not None:
        return text[: found.start] + _write(body, found.newline) + text[found.end :]
    newline = "\r\n" if "\r\n" in text else "\n"
    block = _write(body, newline)
    if text in ("", _BOM):
        return text + block + newline
    if text.endswith("\n"):
        return text + newline + block + newline
    return text + newline + newline + block


def drop(text: str) -> str:
    """Give a text without its block."""
    found = find(text)
    if found is None:
        return text
    before, after, newline = text[: found.start], text[found.end :], found.newline
    if not after:
        return _without(_without(before, newline), newline)
    if before.removesuffix(newline).endswith("\n"):
        before = before.removesuffix(newline)
    return before + after.removeprefix("\r").removeprefix("\n")


def _without(text: str, newline: str) -> str:
    return text.removesuffix(newline) if text.endswith(newline) else text.removesuffix("\n")


def _write(body: str, newline: str) -> str:
    plain = body.replace(NAME, NAME.replace(":", " ")).replace("\r\n", "\n").replace("\r", "\n")
    lines = plain.strip("\n") + "\n"
    begin = f"<!-- {NAME}; {_HINT} sum {sums.add_up(lines)} -->"
    return f"{begin}\n{lines}{END}".replace("\n", newline)
