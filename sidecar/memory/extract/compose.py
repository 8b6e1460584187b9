"""Composing: a session's events become drafts of memory, by rules alone."""

from collections.abc import Sequence

import msgspec

from protocol.events import Event
from protocol.memories import Evidence
from sidecar.memory.extract import (
    constraints,
    contexts,
    corrections,
    decisions,
    diffs,
    episodes,
    facts,
    labelled,
    merging,
    messages,
    noise,
    places,
    tasks,
    works,
)
from sidecar.memory.extract.findings import Finding, Rule
from sidecar.memory.extract.merging import Found, Kept
from sidecar.memory.extract.messages import Message
from sidecar.memory.extract.works import Work
from sidecar.memory.rules.drafts import Draft, Reading
from sidecar.text import statements, wording
from sidecar.text.patterns import late
from sidecar.text.statements import Statement

_HALF = late("[\ud800-\udfff]")
MOST = 6
"""Drafts of one session, its summary among them."""
_CONTENT = 2000
_TITLE = 200

RULES: list[Rule] = [
    corrections.reverted,
    constraints.breaking,
    labelled.labelled,
    corrections.corrected,
    tasks.left,
    constraints.deprecated,
    decisions.decided,
    facts.shown,
    facts.blamed,
    constraints.demanded,
    decisions.preferred,
    decisions.chosen,
]
"""The first rule that takes a statement decides what it is."""


def compose(session_id: str, readings: Sequence[Reading]) -> tuple[Draft, ...]:
    """Read a session's events and tell what is worth keeping of them."""
    return compose_findings(session_id, [findings(reading) for reading in readings])


def findings(reading: Reading) -> Found:
    """Read a single event."""
    event = reading.event
    commit = event.commit
    if event.kind == "save" or (commit is not None and (commit.dropped or noise.is_bot(commit))):
        return Found(event=event)
    message = messages.read(event)
    spoken = _spoken(message)
    told = _told(message, spoken)
    seen = () if message.is_silent else diffs.read(message, reading.diffs)
    return Found(
        event=event,
        findings=tuple(contexts.placed(message, finding) for finding in (*told, *seen)),
        work=_work(message, told),
        said=spoken,
        ended=diffs.todos(reading.diffs, removed=True),
    )


def _work(message: Message, told: Sequence[Finding]) -> Work | None:
    """Weigh a commit; a revert is told as what it took back."""
    work = works.read(message)
    title = next((finding.title for finding in told if "revert" in finding.tags), None)
    return msgspec.structs.replace(work, headline=title) if work and title else work


def compose_findings(session_id: str, session: Sequence[Found]) -> tuple[Draft, ...]:
    """Put together what was found in a session's events."""
    del session_id
    standing = merging.standing(session)
    kept = merging.merged(standing)
    summary = episodes.tell(standing, kept)
    best = sorted(kept, key=lambda one: merging.rank(one.finding)[:3], reverse=True)
    drafts = [_draft(one) for one in best[: MOST - (summary is not None)]]
    return tuple(draft for draft in ([summary, *drafts] if summary else drafts) if _is_text(draft))


def _is_text(draft: Draft) -> bool:
    """Tell whether a draft can be written down: half a sign of a text is none."""
    said = (draft.title, draft.content, draft.rationale or "", *(e.quote for e in draft.evidence))
    return not any(_HALF.search(text) for text in said)


def _spoken(message: Message) -> tuple[Statement, ...]:
    """List the statements of a message that may be worth something."""
    subject = None if message.is_silent else message.subject
    every = (subject, *message.statements) if subject else message.statements
    return tuple(
        one for one in every if one.is_open or one.is_done or not noise.is_question(one.text)
    )


def _told(message: Message, spoken: Sequence[Statement]) -> list[Finding]:
    """Judge every statement, and give what is worth keeping the sentences around it."""
    telling = [
        one
        for one in spoken
        if one.is_open or not (noise.is_idle(one.text) or noise.is_cut(one.text))
    ]
    judged = [(one, _judge(message, one)) for one in telling]
    plain = [one for one, finding in judged if finding is None]
    told = [contexts.completed(message, one, finding, plain) for one, finding in judged if finding]
    return contexts.joined(message, told)


def _judge(message: Message, statement: Statement) -> Finding | None:
    return next((found for rule in RULES if (found := rule(message, statement))), None)


def _draft(kept: Kept) -> Draft:
    finding, event = kept.finding, kept.event
    text = f"{finding.title} {finding.content}"
    return Draft(
        type=finding.type,
        title=wording.clipped(finding.title, _TITLE),
        content=wording.clipped(finding.content, _CONTENT),
        rationale=finding.rationale,
        importance=finding.importance,
        confidence=finding.confidence,
        entities=statements.found(text),
        files=places.relevant(event.files, text, finding.path),
        tags=_tags(finding, event),
        agent_id=event.agent_id,
        branch=event.commit.branch if event.commit else None,
        evidence=_evidence(kept),
    )


def _evidence(kept: Kept) -> tuple[Evidence, ...]:
    shown = [(kept.finding, kept.event), *kept.more]
    unique = {(finding.quote, event.event_id): event for finding, event in shown}
    return tuple(
        Evidence(
            quote=quote, commit_sha=event.commit.sha if event.commit else None, event_id=event_id
        )
        for (quote, event_id), event in list(unique.items())[:3]
    )


def _tags(finding: Finding, event: Event) -> tuple[str, ...]:
    areas = places.areas((change.path for change in event.files), most=1)
    return tuple(dict.fromkeys([*finding.tags, *areas]))
