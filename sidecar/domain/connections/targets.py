"""Targets: the files that assistants read by themselves, and what of them is ours: the whole, or a block."""

from typing import get_args

from protocol.errors import ConflictError
from protocol.rules import Target
from sidecar.domain.connections import blocks, rules

TARGETS: tuple[Target, ...] = get_args(Target)
_SHARED = "AGENTS.md"
_MOST = 6_000
"""Characters of our block: others have something to say in that file, too."""
_EMPTY = "Nothing is known yet. `threadline rules refresh` writes here what is known by then."


def place(target: Target) -> str:
    """Name the file of a target, from the root of a project."""
    return rules.PLACES.get(target, _SHARED)


def room(target: Target) -> int:
    """Count the characters that there are for what is told."""
    return rules.room(target) if target in rules.PLACES else _MOST - len(blocks.put("", ""))


def find(target: Target, text: str | None) -> tuple[str, bool] | None:
    """Give what is ours of a file, and whether it is as we wrote it; None where nothing is.

    A file that cannot take or have words of ours is refused.
    """
    if text is None:
        return None
    if "\0" in text:
        raise ConflictError("it is no text")
    if target not in rules.PLACES:
        block = blocks.find(text)
        return None if block is None else (block.body, block.is_intact)
    if rules.is_ours(text):
        return text, rules.is_intact(text)
    if text:
        raise ConflictError("there is a file of that name that is not ours")
    return None


def put(target: Target, text: str | None, told: str) -> str:
    """Give a file that tells something to those who read it."""
    if target in rules.PLACES:
        return _like(text, rules.write(told, target))
    return blocks.put(text or "", told or _EMPTY)


def drop(target: Target, text: str) -> str:
    """Give what is left of a file without our words."""
    return "" if target in rules.PLACES else blocks.drop(text)


def _like(known: str | None, text: str) -> str:
    return text.replace("\n", "\r\n") if known and "\r\n" in known else text
