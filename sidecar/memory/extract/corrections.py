"""Corrections: what was taken back, and what turned out to be wrong."""

import re

from sidecar.memory.extract import messages, noise, phrases
from sidecar.memory.extract.findings import Finding, found
from sidecar.memory.extract.messages import Message
from sidecar.text import wording
from sidecar.text.patterns import late, table
from sidecar.text.statements import Statement

# ruff: noqa: RUF001 - other scripts have letters that look like ours


_REVERT = late(
    r"(?P<verb>revert|reapply|re-?land)\w*\W{0,3}\s*[\"“«'「](?P<what>.{3,})[\"”»'」]",
    re.IGNORECASE,
)
_SHA = late(
    r"\b(?:reverts?|reverting|reverted|rückgängig|annule|revierte|reverte|回退|取り消し)\b[^.]{0,40}?\b([0-9a-f]{7,64})\b",
    re.IGNORECASE,
)
_ENOUGH = 300
_BARE = late(
    r"(?:revert|undo|roll[ -]?back|back ?out)\s(?![\"“«'‘「`]|the\b|to\b|back\b|this\b|that\b|changes?\b|commits?\b|last\b|our\b|my\b|all\b|#|[0-9a-f]{7,}|\w+ing\b|\w+ed\b|use of\b|move\b|switch\b|add)",
    re.IGNORECASE,
)
_MISTAKEN = table(
    (
        "earlier|first|last|original|previous",
        r"\b(?:previous|last|earlier|first|original) (?:fix|commit|change|attempt|patch|approach|assumption)\b.{0,60}\b(?:wrong|incomplete|did not|didn't|broke|missed|not enough|mistaken)\b",
    ),
)
_WRONG = table(
    (
        "said|wrote|claimed|assumed|thought|told|correction|actually|nope|wrong|scratch |mistake|right|true|correct| no | nein | non |mixed|confused|misread|misremembered|misspoke|forget |geirrt|vertan|verlesen|falsch|tromp|equivoqu|enganei|contrary|meant|korrektur|stimmt| doch |fait|realidad|verdade",
        (
            r"\bi (?:said|wrote|claimed|assumed|thought|told you)\b.{3,120}\bbut\b|^(?:correction|actually|nope|wrong|scratch that|my mistake|i was wrong|we were wrong|that'?s (?:wrong|not (?:right|true|correct))|you (?:are|were) wrong)\b.{8,}|^(?:no|nein|non|não)[,:;—–] .{12,}|^不对|^違い|^(?:wait|hm+|oh|sorry|ah)[,.:]? (?:that'?s|that is|this is) (?:wrong|not (?:right|true|correct))\b.{4,}|\b(?:(?:earlier|before|yesterday) i (?:said|wrote|claimed|told)\b|i (?:mixed|confused|misread|misremembered|misspoke)\b|(?:i|we) (?:was|am|were) mistaken|forget what i (?:said|wrote|told)|ich habe mich (?:geirrt|vertan|verlesen)|da lag ich falsch|je me suis tromp|me equivoqu|me enganei)|我(?:搞|说|弄)错|勘違い|\b(?:i was wrong|was a mistake|that was wrong|is not true|isn't true|contrary to what|turned out to be wrong|is incorrect|was incorrect|not what i (?:said|meant)|instead of what i said)\b"
            r"|^(?:korrektur|stimmt nicht|doch nicht|correction|en fait|corrección|en realidad|correção|na verdade|更正|其实|訂正|実は)"
        ),
    ),
)
_SHORT = 20
"""Letters below which nothing was said but no."""


def reverted(message: Message, statement: Statement) -> Finding | None:
    """Find a commit that takes another one back."""
    if statement.place != "subject" or not _is_revert(message, statement):
        return None
    what, is_restored = _unwrapped(statement.text)
    reason = _reason(message) or wording.split(statement.text)[1]
    verb = "Restored" if is_restored else "Reverted"
    named = what if what != statement.text else ""
    shown = messages.bare(named).rstrip(".")
    title = f"{verb} “{shown}”" if named else wording.title(wording.split(statement.text)[0])
    body = message.event.commit.body if message.event.commit else ""
    is_weak = reason is None and noise.is_upkeep(what)
    return Finding(
        type="correction",
        title=wording.clipped(title, wording.TITLE),
        content=f"{title}: {reason}" if reason else wording.sentence(title),
        quote=statement.quote,
        rationale=reason,
        importance=4 if reason else 2 if is_weak else 3,
        confidence=5 if named else 4,
        tags=("revert",),
        reverts=(*_SHA.findall(body), f'Revert "{what}"' if is_restored else what),
    )


def _is_revert(message: Message, statement: Statement) -> bool:
    """Tell a revert from work on something called so: a revert button, a rollback command."""
    if not phrases.REVERTED.search(statement.text):
        return False
    body = message.event.commit.body if message.event.commit else ""
    return not _BARE.match(statement.text) or phrases.UNDONE.search(body) is not None


def corrected(message: Message, statement: Statement) -> Finding | None:
    """Find what somebody takes back in words."""
    wrong = _WRONG if message.is_capture else _MISTAKEN
    if not wrong.search(statement.text) or wording.size(statement.text) < _SHORT:
        return None
    return found("correction", statement, (4, 4))


def _unwrapped(headline: str) -> tuple[str, bool]:
    """Tell what was taken back, and whether that was itself a taking back."""
    depth = 0
    what = headline
    while (mark := _REVERT.match(what)) and '" ' not in mark["what"]:
        depth += 0 if mark["verb"].lower() != "revert" else 1
        restores = mark["verb"].lower() != "revert"
        what = mark["what"].strip()
        if restores:
            return what, True
    return what, depth > 0 and depth % 2 == 0


def _reason(message: Message) -> str | None:
    """Give the first words below a revert that git did not write."""
    said = [
        one
        for one in message.statements
        if not phrases.UNDONE.match(one.text) and not one.text.endswith(":")
    ]
    if not said:
        return None
    first = [one for one in said if one.block == said[0].block]
    return wording.clipped(" ".join(wording.sentence(one.text) for one in first), _ENOUGH)
