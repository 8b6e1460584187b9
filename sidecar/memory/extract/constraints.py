"""Constraints: what must be, must not be, no longer works, and where the limits are."""

import re

from sidecar.memory.extract import duties
from sidecar.memory.extract.findings import Finding, found
from sidecar.memory.extract.messages import Message
from sidecar.text import wording
from sidecar.text.patterns import late, table
from sidecar.text.statements import Statement

# ruff: noqa: RUF001 - other scripts have letters that look like ours


_BREAKS = late(r"BREAKING[ -]CHANGES?\s?[:：—-]\s*(?P<what>.{6,})")
_HEADED = late(r"BREAKING[ -]CHANGES?$", re.IGNORECASE)
_NO_DEMAND = late(
    r"\bbefore i\b|\bmüssen (?:wir|noch)\b|\bdon't forget\b|\broot cause\b|\b(?:previous|old|former|earlier) (?:limit|maximum|minimum)\b|\bmust(?:'ve| have)\b|\bmust (?:admit|say|confess|be (?:broken|down|wrong|stuck|missing|that|a (?:bug|mistake)|because|some|the|discussed|something)|already|mean)\b"
    r"|\b(?:assumed|assumes|error|message|exception|warning|complain\w*|raised|raises|saying|said|says|states?|explains?|explained|document\w*|expected|thought|claims?|test(?:s|ed)? that)\b.{0,80}\b(?:must|required|shall)\b"
    r"|\bas (?:required|needed)\b|\bif required\b|\bno longer (?:required|needed|must)\b|\bnot (?:required|mandatory|necessary)\b|\bwhere required\b|\b(?:what|which|that|it) (?:is|was|are|were) required\b|\bwhat (?:has to|have to|needs to|must)\b|\bchanges? required\b"
    r"|\bwas(?:n't)? (?:required|only)\b|\bdoesn't require\b|\bnot must\b",
    re.IGNORECASE,
)
_FRAGMENT = late(
    r"(?:[\w-]{1,20}: )?(?:must|shall)\b|only (?:for|on|in|with|from|if|when|at|to|after|during|because)\b(?!.*\b(?:may|can|must|should)\b)",
    re.IGNORECASE,
)
"""A demand that does not say of what."""
_SPOKEN_OF = late(r"\b(?:that|which|who) (?:must|shall|has to|have to|may only)\b", re.IGNORECASE)
"""A headline that tells which things it is about."""
_QUOTED = late(r"\"[^\"]{1,200}\"|`[^`]{1,200}`|“[^”]{1,200}”|'[^'\s][^']{3,200}'(?!\w)")
_PRACTICE = late(
    r"(?:always|never|do not|don't|avoid)\s(?:use|rely|import|mock|log|commit|store|depend|trust|hard-?code|expose|pin|share|edit|touch|vendor)\b.{3,}\b(?:because|since|as it|otherwise|to avoid)\b",
    re.IGNORECASE,
)
"""A subject that tells how to work and why; any other tells what the program does now."""
_SHOULD = late(r"\bshould(?:n't| not| always| only| never)\b", re.IGNORECASE)
_EVERY = late(
    r"(?:all|every|each|any)\s(?!tests? pass|good|done|set|right|of (?:this|that)|checks|green).{3,60}?\b(?:needs?|gets?|requires?|goes|go|starts?|ends?|uses?|has|have|lives?)\b|.{4,80}[:;] (?:every|each|all)\b.{3,40}\b(?:needs?|must|has|have)\b|.{4,120}[:;,] (?:so )?no (?:new |more )?[a-z]{3,}",
    re.IGNORECASE,
)
_BOUND = late(
    r"\bwe (?:can't|cannot|can not|may not|are not allowed to) (?:use|store|ship|send|log|rely|depend|expose|share|change|break|keep|write|put|have|run|call|assume)\b",
    re.IGNORECASE,
)
_EACH = late(
    r"(?:every|each|any)\s(?:new |change |\w+ (?:that|which|in|of|to) ).{3,60}?\b(?:needs|requires|has to|must)\s",
    re.IGNORECASE,
)
_OUTDATED = table(
    (
        " removed |deprecated",
        r".{2,80}?\b(?:is|are) (?:now |hereby )?deprecated(?= in favou?r| and (?:will|is|are)|,? use\b|;|\.$|$)|.{2,80}?\bwill be removed in (?!python|django|node|pip|pytest|sphinx)",
    ),
)
_SHORT = 25
"""Letters below which an order in a commit means this commit alone."""
_CHANGE = late(
    r"(?:also )?(?:add|fix|remov|updat|document|doc'd|clarif|test|improv|refactor|mention)\w*\b",
    re.IGNORECASE,
)
"""A sentence of a commit that begins so tells what was done."""
_RULES = late(
    r"\b(?:rules?|constraints?|invariants?|requirements?|remember|careful|beware|gotchas?|mind)\b",
    re.IGNORECASE,
)
_RULE = late(
    r"(?:please )?(?:never|do not|don't|always)\s(?!true\b|false\b|none\b)\w+", re.IGNORECASE
)


def breaking(message: Message, statement: Statement) -> Finding | None:
    """Find what breaks for those who use it."""
    told = _BREAKS.match(statement.text)
    if told or (statement.heading and _HEADED.match(statement.heading)):
        what = told["what"] if told else statement.text
        finding = found("constraint", statement, (5, 5))
        return _titled(finding, f"Breaking: {wording.split(what)[0]}")
    if statement.place == "subject" and message.is_breaking and not _has_note(message):
        finding = found("constraint", statement, (5, 4), rationale=_first(message))
        return _titled(finding, f"Breaking: {statement.text}")
    return None


def _has_note(message: Message) -> bool:
    return any("BREAKING" in one.text + one.heading for one in message.statements)


def demanded(message: Message, statement: Statement) -> Finding | None:
    """Find what is demanded: must, never, only, at most."""
    if not (message.is_capture or _is_possible(statement.text)):
        return None
    text = _QUOTED.sub('""', wording.split(statement.text)[0])
    if _is_no_demand(message, statement, text):
        return None
    if message.is_capture and (_SHOULD.search(text) or _EVERY.match(text) or _BOUND.search(text)):
        return found("constraint", statement, (4, 4))
    demand = duties.MUST.search(text)
    if demand and not (statement.place == "subject" and demand[0][0] in ":;—–,"):
        weight = 4 if message.is_capture or _is_strong(text) else 3
        return found("constraint", statement, (weight, 4))
    if _EACH.match(text) and statement.place == "body" and not statement.is_item:
        return found("constraint", statement, (3, 3))
    return _ordered(message, statement)


def _is_no_demand(message: Message, statement: Statement, text: str) -> bool:
    """Tell whether the words of a demand are used for something else."""
    if statement.place == "subject" and _SPOKEN_OF.search(text):
        return True
    is_work = not message.is_capture and _CHANGE.match(text)
    return bool(_FRAGMENT.match(text) or _NO_DEMAND.search(text) or is_work)


def _is_possible(text: str) -> bool:
    """Look cheaply, since most statements of commits demand nothing."""
    return bool(duties.FORBID.match(text) or duties.MUST.search(text) or _EACH.match(text))


def deprecated(message: Message, statement: Statement) -> Finding | None:
    """Find what is on its way out."""
    is_told = statement.place != "body" and duties.DEPRECATED.match(statement.text)
    is_news = is_told or _OUTDATED.match(statement.text)
    if not is_news or message.kind in ("docs", "tests"):
        return None
    return found("constraint", statement, (4, 4), rationale=_first(message))


def _ordered(message: Message, statement: Statement) -> Finding | None:
    """Find an order; a commit's subject is one only if it says why and speaks of how to work."""
    if not duties.FORBID.match(statement.text):
        return None
    if message.is_capture:
        return found("constraint", statement, (4, 4))
    is_told = not statement.is_item or _RULES.search(statement.heading)
    is_prose = statement.place == "body" and is_told and len(statement.text) > _SHORT
    if is_prose and _RULE.match(statement.text):
        return found("constraint", statement, (4, 4))
    return found("constraint", statement, (3, 3)) if _PRACTICE.match(statement.text) else None


def _is_strong(text: str) -> bool:
    return (
        re.search(r"\b(?:never|not|forbidden|only|always|at most|security|secret|token)\b", text)
        is not None
    )


def _titled(finding: Finding, title: str) -> Finding:
    return Finding(
        type=finding.type,
        title=wording.clipped(title.rstrip(". "), wording.TITLE),
        content=finding.content,
        quote=finding.quote,
        rationale=finding.rationale,
        importance=finding.importance,
        confidence=finding.confidence,
        tags=("breaking",),
    )


def _first(message: Message) -> str | None:
    """Give the first sentence below a subject."""
    first = next(iter(message.statements), None)
    return None if first is None or first.is_item else wording.sentence(first.text)
