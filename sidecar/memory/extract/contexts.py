"""Contexts: a finding is told with the sentences around it, so that it can be understood alone."""

import re
from collections.abc import Sequence

import msgspec

from sidecar.memory.extract.findings import Finding
from sidecar.memory.extract.messages import Message
from sidecar.text import wording
from sidecar.text.patterns import late
from sidecar.text.statements import Statement

_POINTING = late(
    r"(?:this|it|that|these|those|they|which|he|she|previously|however|although|regression|the (?:issue|problem|cause|reason|change|former|latter)|so|thus|technically|dies|das|es|cela|ce|c'|esto|eso|isso|isto)\b",
    re.IGNORECASE,
)
"""A title that begins so says nothing without what stood before."""
_SECURITY = late(
    r"\bCVE-\d|\bvulnerab|\bXSS\b|\bCSRF\b|\bSSRF\b|\b(?:sql|command|code|header) injection\b|\bpath traversal\b|\bsecurity (?:hole|issue|fix|bug)\b|\bDoS\b",
)
_WISH = late(r"\b(?:we|i) (?:do not|don't|did not|didn't|really )?\s?want\b", re.IGNORECASE)
"""A wish that may be a reason."""
_STRONG = 4
_WIDEST = 500
"""Letters of two findings that are told as one."""
_LEAST = 12
"""Letters of a sentence that adds something."""
_MOST = 420
"""Letters of a finding with its context."""


def completed(
    message: Message, statement: Statement, finding: Finding, plain: Sequence[Statement]
) -> Finding:
    """Add plain sentences of its paragraph; a title that points at them becomes the headline."""
    if statement.place == "subject":
        return finding
    near = [
        one
        for one in plain
        if one.block == statement.block
        and one.place == statement.place
        and len(one.text.encode()) > _LEAST
    ]
    content = finding.content if statement.is_item else _paragraph(statement, near)
    title = finding.title
    if message.headline and _POINTING.match(title):
        title = wording.title(message.headline)
    return msgspec.structs.replace(finding, title=title, content=content, block=statement.block)


def _paragraph(statement: Statement, near: Sequence[Statement]) -> str:
    """Write a statement between its nearest neighbours, as many as there is room for."""
    told = [statement]
    for one in sorted(near, key=lambda other: abs(other.position - statement.position)):
        if sum(len(other.text) for other in (*told, one)) > _MOST:
            break
        told.append(one)
    ordered = sorted(told, key=lambda one: one.position)
    return " ".join(wording.sentence(one.text) for one in ordered)


def placed(message: Message, finding: Finding) -> Finding:
    """Name the scope of a finding's commit, and the commit itself where it stands in its body."""
    headline = wording.clipped(message.headline, wording.TITLE)
    is_told = finding.block < 0 or message.headline.casefold() in finding.content.casefold()
    content = finding.content if is_told or not headline else f"{finding.content} ({headline})"
    is_security = message.kind == "security" or _SECURITY.search(content) is not None
    tags = (*finding.tags, *(["security"] if is_security else []), *filter(None, [message.scope]))
    importance = max(finding.importance, 4) if is_security else finding.importance
    return msgspec.structs.replace(finding, content=content, tags=tags, importance=importance)


def joined(message: Message, findings: Sequence[Finding]) -> list[Finding]:
    """Join findings that tell one thing: a subject and its reason, or sentences of one paragraph."""
    kept: list[Finding] = []
    for finding in findings:
        last = kept[-1] if kept else None
        if last is not None and _is_reason(finding, last):
            continue
        if last is not None and _is_why(message, last, finding):
            kept[-1] = _both(last, msgspec.structs.replace(finding, rationale=finding.content))
        elif last is not None and _is_one(message, last, finding):
            kept[-1] = _both(last, finding)
        else:
            kept.append(finding)
    is_said = any(one.type != "task" for one in kept[1:])
    return kept[1:] if is_said and kept[0].is_weak else kept


def _is_reason(finding: Finding, last: Finding) -> bool:
    """Tell whether a finding's words were already given as the reason of the subject."""
    is_less = finding.type == "fact" or _WISH.search(finding.content) is not None
    if last.is_weak:
        is_weak = is_less and finding.importance < _STRONG
    else:
        is_weak = is_less or finding.type == last.type
    is_near = is_weak and not finding.is_named and last.block < 0
    return (
        bool(is_near)
        and " ".join(finding.quote.split())[:80].casefold() in (last.rationale or "").casefold()
    )


def _is_why(message: Message, first: Finding, second: Finding) -> bool:
    """Tell whether somebody decides something in talk and goes on with a wish or a fact as the reason."""
    if not message.is_capture or first.type != "decision" or second.is_named:
        return False
    return first.block == second.block >= 0 and second.type in ("fact", "preference")


def _is_one(message: Message, first: Finding, second: Finding) -> bool:
    """Tell whether two sentences are one; in talk, rules and wishes that follow each other are not."""
    if first.type != second.type or not first.block == second.block >= 0:
        return False
    if first.is_named or second.is_named:
        return False
    is_near = not message.is_capture or first.type == "fact"
    return is_near and len(first.content) + len(second.quote) <= _WIDEST


def _both(first: Finding, second: Finding) -> Finding:
    said = wording.sentence(" ".join(second.quote.split()))
    return msgspec.structs.replace(
        first,
        content=first.content if said in first.content else f"{first.content} {said}",
        rationale=first.rationale or second.rationale,
        importance=max(first.importance, second.importance),
        confidence=max(first.confidence, second.confidence),
    )
