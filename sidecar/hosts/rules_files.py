"""Rules files that assistants load on their own, and Threadline's block in them."""

import re
from typing import get_args

from msgspec import Struct

from protocol.errors import ConflictError
from protocol.rules import Target
from sidecar.hosts.contents import SIGN
from sidecar.hosts.rules import ledger
from sidecar.hosts.rules.ledger import LENGTH, add_up

LIMIT = 6_000
"""Characters of a whole file; more of it may not be read."""
LIMITS = {"windsurf": LIMIT, "cursor": 10_000}
"""The same for each agent."""
PLACES = {
    "windsurf": ".windsurf/rules/threadline.md",
    "cursor": ".cursor/rules/threadline.mdc",
}
"""Where in a project each agent looks for a file of ours."""
LIVING = frozenset({"windsurf"})
"""Agents that can be told nothing otherwise: what they are connected to is renewed as conversations begin."""
OWN_SIGN = "Written by `threadline rules`"
"""Stands in a file that only a command writes."""
_NONE = "0" * LENGTH
_SUM = re.compile(rf"(?<= sum )[0-9a-f]{{{LENGTH}}}(?= -->)")


class _Form(Struct, frozen=True):
    """How a file of one agent begins."""

    front: str
    note: str
    empty: str


_FORMS = {
    "windsurf": _Form(
        "trigger: always_on",
        f"{SIGN} or `threadline rules` and renewed by conversations as they begin, unless it was edited;",
        "Nothing is known yet. What should be known here is written when a conversation begins.",
    ),
    "cursor": _Form(
        "description: What Threadline remembers about this repository\nalwaysApply: true",
        f"{OWN_SIGN} and renewed by `threadline rules refresh`, unless it was edited;",
        "Nothing is known yet. `threadline rules refresh` writes here what is known by then.",
    ),
}


def rules_room(agent: str) -> int:
    """Count the characters that a file of an agent leaves for what is told."""
    return LIMITS[agent] - len(_fill(agent, ""))


def write(text: str = "", agent: str = "windsurf") -> str:
    """Write a rules file that tells a text; one without a text says that there is none."""
    plain = _fill(agent, text.strip("\n") or _FORMS[agent].empty)
    return _SUM.sub(add_up(plain), plain, count=1)


def is_ours(text: str) -> bool:
    """Tell whether a file says that it is one of ours."""
    return SIGN in text or OWN_SIGN in text


def is_intact(text: str) -> bool:
    """Tell whether a file is one of ours and says what we have written; how its lines end does not matter."""
    found = _SUM.search(text)
    if not is_ours(text) or found is None:
        return False
    return found[0] == add_up(text[: found.start()] + _NONE + text[found.end() :])


def _fill(agent: str, text: str) -> str:
    form = _FORMS[agent]
    return f"---\n{form.front}\n---\n\n<!-- {form.note} sum {_NONE} -->\n\n{text}\n"


ROOM = rules_room("windsurf")
"""Characters that are left for what is told."""


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


def find_block(text: str) -> Block | None:
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
        is_intact=begin[0]["sum"] == ledger.add_up(body),
    )


def put_block(text: str, body: str) -> str:
    """Give a text with a block that says something, where there was one, or else at its end."""
    found = find_block(text)
    if found is not None:
        return text[: found.start] + _write(body, found.newline) + text[found.end :]
    newline = "\r\n" if "\r\n" in text else "\n"
    block = _write(body, newline)
    if text in ("", _BOM):
        return text + block + newline
    if text.endswith("\n"):
        return text + newline + block + newline
    return text + newline + newline + block


def drop_block(text: str) -> str:
    """Give a text without its block."""
    found = find_block(text)
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
    begin = f"<!-- {NAME}; {_HINT} sum {ledger.add_up(lines)} -->"
    return f"{begin}\n{lines}{END}".replace("\n", newline)


TARGETS: tuple[Target, ...] = get_args(Target)
_SHARED = "AGENTS.md"
_MOST = 6_000
"""Characters of our block: others have something to say in that file, too."""
_EMPTY = "Nothing is known yet. `threadline rules refresh` writes here what is known by then."


def place(target: Target) -> str:
    """Name the file of a target, from the root of a project."""
    return PLACES.get(target, _SHARED)


def room(target: Target) -> int:
    """Count the characters that there are for what is told."""
    return rules_room(target) if target in PLACES else _MOST - len(put_block("", ""))


def find(target: Target, text: str | None) -> tuple[str, bool] | None:
    """Give what is ours of a file, and whether it is as we wrote it; None where nothing is.

    A file that cannot take or have words of ours is refused.
    """
    if text is None:
        return None
    if "\0" in text:
        raise ConflictError("it is no text")
    if target not in PLACES:
        block = find_block(text)
        return None if block is None else (block.body, block.is_intact)
    if is_ours(text):
        return text, is_intact(text)
    if text:
        raise ConflictError("there is a file of that name that is not ours")
    return None


def put(target: Target, text: str | None, told: str) -> str:
    """Give a file that tells something to those who read it."""
    if target in PLACES:
        return _like(text, write(told, target))
    return put_block(text or "", told or _EMPTY)


def drop(target: Target, text: str) -> str:
    """Give what is left of a file without our words."""
    return "" if target in PLACES else drop_block(text)


def _like(known: str | None, text: str) -> str:
    return text.replace("\n", "\r\n") if known and "\r\n" in known else text
