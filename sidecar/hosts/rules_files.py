"""Rules files that assistants load on their own, and Threadline's block in them."""

import re
from typing import get_args

from msgspec import Struct

from protocol.errors import ConflictError
from protocol.rules import Target
from sidecar.hosts import assistant
from sidecar.hosts.assistant import SIGN, RulesFile
from sidecar.hosts.rules import ledger
from sidecar.hosts.rules.ledger import LENGTH, add_up

TARGETS: tuple[Target, ...] = get_args(Target)
PLACES: dict[str, str] = {
    target: rules.path for target in TARGETS if (rules := assistant.find(target).rules)
}
"""Where in a project each assistant with a rules file of its own looks for it."""
OWN_SIGN = "Written by `threadline rules`"
"""Stands in a file that only a command writes."""
_NONE = "0" * LENGTH
_SUM = re.compile(rf"(?<= sum )[0-9a-f]{{{LENGTH}}}(?= -->)")
_EMPTY = "Nothing is known yet. `threadline rules refresh` writes here what is known by then."
_LIVING_EMPTY = (
    "Nothing is known yet. What should be known here is written when a conversation begins."
)
_NOTE = f"{OWN_SIGN} and renewed by `threadline rules refresh`, unless it was edited;"
_LIVING_NOTE = f"{SIGN} or `threadline rules` and renewed by conversations as they begin, unless it was edited;"


def rules_room(agent: str) -> int:
    """Return how many characters an assistant's file leaves for the context."""
    return _rules(agent).limit - len(_fill(agent, ""))


def write(text: str = "", agent: str = "windsurf") -> str:
    """Return a rules file with a text; without one, the file says that nothing is known yet."""
    empty = _LIVING_EMPTY if _rules(agent).is_living else _EMPTY
    plain = _fill(agent, text.strip("\n") or empty)
    return _SUM.sub(add_up(plain), plain, count=1)


def is_ours(text: str) -> bool:
    """Return whether a file says that it is one of ours."""
    return SIGN in text or OWN_SIGN in text


def is_intact(text: str) -> bool:
    """Return whether a file is one of ours and says what we have written; how its lines end does not matter."""
    found = _SUM.search(text)
    if not is_ours(text) or found is None:
        return False
    return found[0] == add_up(text[: found.start()] + _NONE + text[found.end() :])


def _fill(agent: str, text: str) -> str:
    rules = _rules(agent)
    note = _LIVING_NOTE if rules.is_living else _NOTE
    return f"---\n{rules.front}\n---\n\n<!-- {note} sum {_NONE} -->\n\n{text}\n"


def _rules(agent: str) -> RulesFile:
    rules = assistant.find(agent).rules
    if rules is None:
        raise KeyError(agent)
    return rules


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
    """Return a text with a block that says something, where there was one, or else at its end."""
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
    """Return a text without its block."""
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


_SHARED = "AGENTS.md"
_MOST = 6_000
"""Characters of our block: others have something to say in that file, too."""


def place(target: Target) -> str:
    """Return the file of a target, from the root of a project."""
    return PLACES.get(target, _SHARED)


def room(target: Target) -> int:
    """Count the characters that there are for what is told."""
    return rules_room(target) if target in PLACES else _MOST - len(put_block("", ""))


def find(target: Target, text: str | None) -> tuple[str, bool] | None:
    """Return what is ours of a file, and whether it is as we wrote it; None where nothing is.

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
    """Return a file that tells something to those who read it."""
    if target in PLACES:
        return _like(text, write(told, target))
    return put_block(text or "", told or _EMPTY)


def drop(target: Target, text: str) -> str:
    """Return what is left of a file without our words."""
    return "" if target in PLACES else drop_block(text)


def _like(known: str | None, text: str) -> str:
    return text.replace("\n", "\r\n") if known and "\r\n" in known else text
