"""Turn a session's events into drafts of memory, by rules alone."""

from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from protocol.events import Event
from protocol.memories import Evidence, RuleName
from sidecar.memory.extract import briefings, commits, places, talk
from sidecar.memory.extract.commits import Claim
from sidecar.memory.rules import measured
from sidecar.memory.rules.drafts import Draft, Reading
from sidecar.text import statements, wording
from sidecar.text.patterns import late

Standing = Callable[[Collection[str]], Collection[str]]
"""Tells which of some names of code still stand at HEAD."""
_HALF = late("[\ud800-\udfff]")
_SHORT = 40
_POINTING = late(r"(?:it|this|that|these|those|they|then|so|and|but)\b")


class Found(Struct, frozen=True, kw_only=True):
    """What a single event says."""

    event: Event
    claims: tuple[Claim, ...] = ()
    heard: tuple[Draft, ...] = ()


def compose(
    session_id: str, readings: Sequence[Reading], standing: Standing = set
) -> tuple[Draft, ...]:
    """Read a session's events and return what is worth keeping or proposing of them."""
    return put_together(session_id, [read(reading) for reading in readings], standing)


def read(reading: Reading) -> Found:
    """Read a single event."""
    event = reading.event
    if event.commit is not None:
        return Found(event=event, claims=tuple(commits.read(event.commit, reading.diffs)))
    if event.kind == "capture" and event.agent_id is None:
        return Found(event=event, heard=tuple(_heard(event)))
    return Found(event=event)


def put_together(
    session_id: str, session: Sequence[Found], standing: Standing
) -> tuple[Draft, ...]:
    """Return the briefing of a session, if it has one, and what its events say."""
    del session_id
    briefing = briefings.write([one.event for one in session])
    drafts = [draft for one in session for draft in one.heard]
    names = {name for one in session for claim in one.claims for name in claim.names}
    present = set(standing(names)) if names else set()
    drafts += [
        _draft(claim, one.event)
        for one in session
        for claim in one.claims
        if present.issuperset(claim.names)
    ]
    every = [briefing, *drafts] if briefing else drafts
    return tuple(draft for draft in every if _is_text(draft))


def _heard(event: Event) -> Iterator[Draft]:
    """Return what a user said that lasts: the whole turn where it is short, else the sentence."""
    text = event.text or ""
    said = statements.read(text, "capture")
    flat = statements.clean(text)
    seen: set[str] = set()
    for number, statement in enumerate(said):
        heard = talk.judge(statement.text)
        if heard is None:
            continue
        whole = flat if len(flat) <= talk.WHOLE else _with_context(said, number)
        if whole not in seen:
            seen.add(whole)
            title = wording.title(statement.text)
            made = _made(heard.rule, event, statement.quote)
            yield replace(made, type=heard.type, title=title, content=whole)


def _with_context(said: Sequence[statements.Statement], number: int) -> str:
    text = said[number].text
    is_loose = len(text) < _SHORT or _POINTING.match(text.lower())
    before = said[number - 1] if number and is_loose else None
    is_near = before is not None and before.block == said[number].block
    return f"{wording.sentence(before.text)} {text}" if before and is_near else text


def _draft(claim: Claim, event: Event) -> Draft:
    return replace(
        _made(claim.rule, event, claim.quote),
        type=claim.type,
        title=claim.title,
        content=claim.content,
        rationale=claim.reason,
        entities=statements.found(claim.content),
        files=places.relevant(event.files, claim.content),
        holds=claim.holds,
    )


def _made(rule: RuleName, event: Event, quote: str) -> Draft:
    """Return a draft with all that its rule and its event say of it, and no words yet."""
    commit = event.commit
    sha = commit.sha if commit else None
    return Draft(
        type="fact",
        title="",
        content="",
        rule=rule,
        status="active" if rule in measured.CREATES else "proposed",
        confidence=measured.CONFIDENCE[rule],
        branch=commit.branch if commit else None,
        evidence=(Evidence(quote=quote, commit_sha=sha, event_id=event.event_id),),
    )


def _is_text(draft: Draft) -> bool:
    said = (draft.title, draft.content, draft.rationale or "", *(e.quote for e in draft.evidence))
    return not any(_HALF.search(text) for text in said)
