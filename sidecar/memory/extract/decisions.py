"""Decisions and preferences: which way was chosen, and what people would rather have."""

import re

import msgspec

from sidecar.memory.extract import phrases, places
from sidecar.memory.extract.findings import Finding, found
from sidecar.memory.extract.messages import Message
from sidecar.text import wording
from sidecar.text.patterns import late, table
from sidecar.text.statements import Statement

# ruff: noqa: RUF001 - other scripts have letters that look like ours


_UNDECIDED = table(
    (
        "considered|could |decided|maybe|might|move|perhaps|switch|thinking |used |whether|would ",
        r"\b(?:not (?:yet )?decided|undecided|whether|maybe|perhaps|might|could we|if we (?:decided|switch|move)|considered|thinking (?:of|about)|used to|would have)\b",
    ),
)
_KEPT = late(
    r"(?:keep|store|pin|freeze|cap|stay|hold|leave|limit|host|sign|use|write|serve|render|vendor|fork|give up|abandon|stop|remove|drop|retire|ditch|disable|move|compress|encode|encrypt|generate|draw|fetch|send|read|run|deploy|split|merge|deliver|index|hash|turn|build|ship|base|model|publish)\s\S",
    re.IGNORECASE,
)
"""A headline that is a choice if its body says why."""
_JUDGED = table(
    (
        " one |anyway |because |dead|expensive|flaky|gone|limited|nobody |otherwise |since |slow|too |unmaintained |unreliable|would ",
        r"\btoo \w+|\bbecause\b|\bsince\b|\botherwise\b|\banyway\b|\bwould (?:have|lose|log|break|mean|need|force|leak|cost)\b|\bnobody\b|\bno one\b|\bunmaintained\b|\b(?:is|are|was|were) (?:dead|slow|gone|expensive|flaky|unreliable|limited)\b",
    ),
    (
        " longer |barely |can|could|did|do|hardly |never ",
        r"\b(?:could|can|did|does|do)(?: not|n't)\b|\bcannot\b|\bnever\b|\bno longer\b|\bhardly\b|\bbarely\b",
    ),
    (
        "",
        r"\d ?%|\b(?:cost|costs|slow|gave|should not|shouldn't|doubled|lost|loses|broke|breaks|took|takes|needed|needs|wasted|blocked|blocks|less than|more than|half|twice|only|already|evaluated|considered|compared|faster|slower|cheaper|simpler|smaller)\b",
    ),
)
"""How a reason speaks of the way that was not taken, or of the one that was."""
_OTHERWISE = late(r".{4,100}\b(?:instead of|rather than)\s\S", re.IGNORECASE)
_NAMED = late(
    r"\s[\w`\"']*[A-Z\d]|`|(?i:^(?:replaced?|swap\w*|switch\w*|migrat\w+|moved?|used?|adopt\w*|drop\w*|ditch\w*) (?:from )?[\w.@/-]+ (?:with|by|for|to|instead of|rather than|over|in favou?r of) [\w.@/-]+(?: and [\w.@/-]+)?(?: (?:for|in|on|as)\b.*| \w+)?$|^(?:switch|mov|migrat)\w* (?:over )?to [\w.-]+(?:-\w+.*|(?: (?:with|for|as|in)\b.*)?)$|\bdependency on\b|^use .{2,40} (?:instead of|rather than) \w+-[\w-]+$)"
)
"""Names of things, or two words that can only be names."""
_SINCE = late(r"(?:otherwise|(?:the )?reason|rationale)\b", re.IGNORECASE)
"""How a paragraph begins that is a reason."""
_PROPER = late(r"\s[`\"']?[A-Z]\w")
_ANY = late(
    r"\w+ (?:a|an|the|some|our|its|all|more|this|that|these|magic|old|new)\b|prefer\b",
    re.IGNORECASE,
)
"""A headline of a choice between things without a name."""
_TRIVIAL = late(
    r"\b(?:typo|spelling|grammar|wording|example|docs?|docstring|readme|comment|link|translat\w+|notes?|references?|mentions?|sections?|order of|shebang|duplicate\w*|unused|unnecessary|redundant|tutorial|test name|heading|anchor|should read|f-?strings?|quotes|tabs|spaces|commas|whitespace)\b",
    re.IGNORECASE,
)
_CASUAL = late(
    r"\blet(?:'?s|’s| us) (?!use|go with|keep|stick|switch|move|adopt|avoid|drop|store|standardi[sz]e|not\b)",
    re.IGNORECASE,
)
_PLEASE = late(r"\b(?:please|pls|bitte|por favor|s'il (?:te|vous) plaît)\b", re.IGNORECASE)
_GENERAL = late(
    r"\b(?:always|never|only|every|each|all|any|from now on|in (?:the )?future|going forward|by default|prefer\w*|rather|instead"
    r"|whenever|usually|generally|no more|stop|don't|do not|keep|stick|next time|immer|nie|künftig|toujours|jamais|siempre|nunca|sempre"
    r"|commit (?:messages|subjects)|spelling|answers|comments|kommentare|naming|style|imperative|english)\b",
    re.IGNORECASE,
)
"""What makes a wish one for later, too; without it somebody asks for a thing to be done now."""
_AT_ONCE = late(
    r"\bfor (?:this session|today)\b|\b(?:i|i've|i have|i'll)\b.{0,20}\bdecided? to (?:first )?(?:read|look|check|open|run|start|try|begin|see|wait|go|search|ask|list|inspect|grep)\b",
    re.IGNORECASE,
)
"""What somebody is about to do is no decision that anyone asks about."""
_MYSELF = late(
    r"(?:ok|okay|so|then|well|now)?[,.]?\s*(?:i|i'm|i'll|i've|i am|let me)\b", re.IGNORECASE
)
_ABOUT = late(
    r"(?:write down|document|record|describe|note|mention|explain|list|summari[sz]e|clarify)\b",
    re.IGNORECASE,
)
"""A headline that speaks of a decision does not make it."""
_FEW = 3
"""Sentences of a reason; more are a story."""
_SIDE_KINDS = ("docs", "tests")
_INTERNAL = late(r"\w\(|\w_\w|[A-Za-z]\._?[A-Za-z]|::|\bversions?\b|\d-dev\b")
"""Marks of a choice between names in code, which nobody asks about later."""


def _is_own_business(message: Message, text: str) -> bool:
    """Tell whether an agent only says how it goes about its work."""
    return message.event.agent_id is not None and _MYSELF.match(text) is not None


def decided(message: Message, statement: Statement) -> Finding | None:
    """Find what somebody says was decided."""
    if _is_own_business(message, statement.text):
        return None
    text = statement.text
    if not phrases.DECIDED.search(text) or _UNDECIDED.search(text) or _AT_ONCE.search(text):
        return None
    if statement.place == "subject" and _ABOUT.match(text):
        return None
    if statement.place != "capture" and (
        message.kind in _SIDE_KINDS or _CASUAL.search(statement.text)
    ):
        return None
    reason = _reason(message, statement)
    return found("decision", statement, (4 if reason else 3, 4), rationale=reason)


def chosen(message: Message, statement: Statement) -> Finding | None:
    """Find a change that is a choice: one way instead of another."""
    is_clear = _is_choice(message, statement)
    if _is_own_business(message, statement.text):
        return None
    if not (is_clear or _is_way(message, statement)) or _UNDECIDED.search(statement.text):
        return None
    if statement.place != "capture" and _is_trivial(message, statement):
        return None
    reason = _reason(message, statement) or (None if is_clear else _told(message))
    if (reason is None and _is_minor(statement)) or (not is_clear and _is_internal(statement)):
        return None
    grade = 4 if reason and is_clear else 3
    finding = found("decision", statement, (grade, grade), rationale=reason)
    return msgspec.structs.replace(finding, is_weak=not is_clear)


def _is_minor(statement: Statement) -> bool:
    """Tell whether a choice without a reason is one that nobody asks about later."""
    text = statement.text
    is_plain = _ANY.match(text) and not _PROPER.search(text)
    if statement.place == "subject" and (is_plain or not _NAMED.search(text)):
        return True
    return statement.is_item or _is_internal(statement)


def _is_internal(statement: Statement) -> bool:
    return _INTERNAL.search(statement.text) is not None


def _is_choice(message: Message, statement: Statement) -> bool:
    if phrases.CHOSEN.match(statement.text):
        return True
    return message.kind != "fix" and phrases.SWAPPED.search(statement.text) is not None


def _is_way(message: Message, statement: Statement) -> bool:
    """Tell whether a headline names a way, and a short paragraph below speaks for it."""
    if statement.place != "subject" or message.kind in ("fix", *_SIDE_KINDS):
        return False
    first = _first(message)
    if not first or _is_aside(message):
        return False
    if _SINCE.match(first[0].text):
        return True
    if not _KEPT.match(statement.text) and not _OTHERWISE.match(statement.text):
        return False
    return len(first) <= _FEW and any(_JUDGED.search(one.text) for one in first)


def _is_aside(message: Message) -> bool:
    files = message.event.files
    return bool(files) and all(places.is_side(change.path) for change in files[:50])


def _first(message: Message) -> list[Statement]:
    """Give the first paragraph of prose below a subject."""
    told = [
        one
        for one in message.statements
        if not one.is_item and not one.text.endswith(":") and not phrases.UNDONE.match(one.text)
    ]
    return [one for one in told if one.block == told[0].block and not one.heading]


def preferred(message: Message, statement: Statement) -> Finding | None:
    """Find what people would rather have; in captures, for commits show what was done."""
    text = statement.text
    if not message.is_capture or not phrases.PREFERRED.search(text):
        return None
    if _PLEASE.search(text) and not _GENERAL.search(text):
        return None
    return found("preference", statement, (3, 4))


def _is_trivial(message: Message, statement: Statement) -> bool:
    return message.kind in _SIDE_KINDS or _TRIVIAL.search(statement.text) is not None


def _reason(message: Message, statement: Statement) -> str | None:
    """Find why: in the statement, or in the first words below a subject."""
    if reason := wording.split(statement.text)[1]:
        return reason
    return explained(message, statement)


_EXPLAINS = late(
    r"(?:this|that|it|which|doing so|the (?:former|latter|old|new|previous|existing|current)|we|they|otherwise|without|reason|why|rationale|motivation|because|since|as|so|\W?\w[\w.()`/-]* (?:is|are|was|were|has|have|does|did|do|had|no longer|only|can|cannot|took|takes))\b|.{3,80}\b(?:took|takes|was|were|is|are|stays|did|does)\b",
    re.IGNORECASE,
)
_ENOUGH = 300


def explained(message: Message, statement: Statement) -> str | None:
    """Give the first paragraph below a subject, where it explains it."""
    if statement.place != "subject":
        return None
    first = _first(message)
    if not first:
        return _listed(message)
    is_reason = any(wording.split(one.text)[1] or _EXPLAINS.match(one.text) for one in first)
    return _told(message) if is_reason else None


def _listed(message: Message) -> str | None:
    """Give the first item below a subject, where it speaks for the way that was taken."""
    first = next((one for one in message.statements if one.is_item), None)
    if first is None or not _JUDGED.search(first.text):
        return None
    return wording.clipped(wording.sentence(first.text), _ENOUGH)


def _told(message: Message) -> str:
    text = " ".join(wording.sentence(one.text) for one in _first(message))
    return wording.clipped(text, _ENOUGH)
