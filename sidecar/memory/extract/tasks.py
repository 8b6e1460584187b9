"""Tasks: what somebody says is left to do."""

import re

from sidecar.memory.extract import duties
from sidecar.memory.extract.findings import Finding, found
from sidecar.memory.extract.messages import Message
from sidecar.text import wording
from sidecar.text.patterns import late
from sidecar.text.statements import Statement

# ruff: noqa: RUF001 - other scripts have letters that look like ours


_NO_TASK = late(
    r"\bfollow(?:s|ed)?[- ]?up (?:to|of|on|from|for)\s(?:[0-9a-f]{7,40}\b|#|CVE|GH-|https?:|commit|the previous)|^follow[- ]?up (?:to|from|of)\b"
    r"|\bno (?:longer|follow-?up|todo)\b|\b(?:fix(?:es|ed)?|clos(?:es|ed)|remov(?:es|ed|e)|resolv(?:es|ed)|address(?:es|ed)?|handle[sd]?|delete[sd]?|drop(?:s|ped)?) (?:\w+ ){0,4}(?:todos?|fixmes?|known (?:issue|bug)|unresolved|follow-?up)\b"
    r"|\bstill (?:to|has|have) (?:the|a|an|no|some|been)\b|\bin (?:the )?later versions?\b|\bwas(?:n't)? still\b|\bstill needed (?:for|by|in|on)\b|\bnot yet (?:supported|released|available|implemented) (?:by|in|on) (?:python|mypy|django|windows)\b"
    r"|\bwe (?:need|have) to (?:ensure|make sure|check|handle|be|use|do (?:this|that|so|it)|call|pass|keep|set|catch|wait|also|explicitly|special|account|consider|add the)\b",
    re.IGNORECASE,
)
_MISSING = late(
    r"\b(?:is|are) (?:still )?missing\b|\bleft .{3,60} for (?:another|a later)", re.IGNORECASE
)
_SHORT = 15
"""Letters below which nobody knows later what is left."""
_MARKED = late(r"(?:TODO|FIXME|XXX)\b|(?:todo|next|follow-up|open|remaining)\s?[:：]")
_DUTY = late(r"\bwe (?:also |then )?(?:need|have) to\b", re.IGNORECASE)
"""In a commit this tells why something was done."""
_CHANGE = late(
    r"(?:add|remov|fix|updat|us|mak|mov|renam|chang|drop|delet|improv|document|test|handl|ignor|skip)(?:e|ed|es|ing|s)?\b",
    re.IGNORECASE,
)
_YET = late(r"\byet\b", re.IGNORECASE)
"""In a fix this tells of the fault."""
_TO_YOU = late(r"\b(?:you|your|remember to|don't forget)\b", re.IGNORECASE)
"""An agent that tells its user what to do leaves no task of the project."""
_PAST = late(
    r"\b(?:previously|there (?:was|were)|before this|until now|used to|originally|in the past|had to)\b",
    re.IGNORECASE,
)


def left(message: Message, statement: Statement) -> Finding | None:
    """Find what is said to be left to do."""
    is_named = duties.LEFT.search(statement.text) or (
        message.is_capture and _MISSING.search(statement.text)
    )
    if statement.is_done or not is_named or wording.size(statement.text) < _SHORT:
        return None
    if _is_told_otherwise(message, statement):
        return None
    return found("task", statement, (3, 4 if message.is_capture else 3))


def _is_told_otherwise(message: Message, statement: Statement) -> bool:
    """Tell whether the words for a task mean something else here."""
    text = statement.text
    if _NO_TASK.search(text) or _PAST.search(text):
        return True
    if _YET.search(text) and duties.FORBID.match(text):
        return True
    if message.is_capture:
        return bool(message.event.agent_id and _TO_YOU.search(text))
    is_change = statement.is_item and _CHANGE.match(text)
    is_fault = message.kind == "fix" and _YET.search(text)
    is_headline = statement.place == "subject" and not _MARKED.match(text)
    return bool(is_change or is_fault or is_headline or _DUTY.search(text))
