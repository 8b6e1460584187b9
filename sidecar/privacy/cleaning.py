"""Remove private passages and secrets before anything is stored."""

import functools
from typing import TypeVar

import msgspec

from protocol.checkpoints import Checkpoint
from protocol.contexts import Feedback, Receipt
from protocol.conversations import Agent, Conversation
from protocol.documents import Document
from protocol.events import Event, NewEvent
from protocol.links import Link
from protocol.memories import Anchor, Memory
from protocol.messages import Message
from protocol.sessions import Session
from protocol.tasks import Task
from protocol.turns import KeptTurn
from protocol.values import TEXT_LIMIT, Record
from sidecar.privacy import marks, scrubbing
from sidecar.text.hashing import blake2b

_SAID = ("title", "content", "rationale", "agent_id", "updated_by", "idempotency_key", "branch")
_NAMED = ("entities", "files", "tags")
_TABLES: dict[type[Record], str] = {
    Agent: "agents",
    Conversation: "conversations",
    Checkpoint: "checkpoints",
    Receipt: "receipts",
    Feedback: "feedback",
    Task: "tasks",
    Message: "messages",
    Document: "documents",
    Link: "links",
    KeptTurn: "turns",
}
_KEYS = {"sessionKey", "previousSessionKey", "id", "given", "heard"}
"""Fields by which something is found again: they are a host's own, and say nothing to a reader."""
_BETWEEN = "\0"
"""Stands between a subject and its body; git allows it in neither."""

T = TypeVar("T", bound=Record)


def public(text: str) -> str:
    """Drop `<private>…</private>` from a text; what is not closed is private to the end."""
    return marks.public(text)


def clean(text: str) -> str:
    """Drop from a text what is private, and take out what is secret."""
    return _redact(public(text))


def public_event(event: NewEvent) -> NewEvent | None:
    """Drop what is private or secret from an event's texts; None where nothing is left of it."""
    if event.commit is not None:
        subject, body = _public_message(event.commit.subject, event.commit.body)
        if (subject, body) != (event.commit.subject, event.commit.body):
            commit = msgspec.structs.replace(event.commit, subject=subject, body=body)
            return msgspec.structs.replace(event, commit=commit)
    if event.text is not None:
        text = clean(event.text)[:TEXT_LIMIT]
        if event.kind == "capture" and not text.strip():
            return None
        return event if text == event.text else msgspec.structs.replace(event, text=text)
    return event


def clean_event(event: Event) -> Event:
    """Take out of a kept event what is known as a secret today; the same event where there is none."""
    if event.commit is not None:
        subject, body = _redact(event.commit.subject), _redact(event.commit.body)
        if (subject, body) != (event.commit.subject, event.commit.body):
            commit = msgspec.structs.replace(event.commit, subject=subject, body=body)
            return msgspec.structs.replace(event, commit=commit)
    text = None if event.text is None else _redact(event.text)
    return event if text == event.text else msgspec.structs.replace(event, text=text)


def clean_session(session: Session) -> Session:
    """Do the same with what a session was about."""
    summary = None if session.summary is None else _redact(session.summary)
    if summary == session.summary:
        return session
    return msgspec.structs.replace(session, summary=summary)


def clean_memory(memory: Memory) -> Memory:
    """Do the same with a memory: its texts, its names, its places, and its key."""
    said = {name: getattr(memory, name) for name in _SAID}
    named = {name: getattr(memory, name) for name in _NAMED}
    cleaned = {name: text and _redact(text) for name, text in said.items()}
    cleaned |= {name: tuple(map(_redact, texts)) for name, texts in named.items()}
    evidence = tuple(
        msgspec.structs.replace(one, quote=_redact(one.quote)) for one in memory.evidence
    )
    anchors = tuple(map(_clean_anchor, memory.anchors))
    if (cleaned, evidence, anchors) == (said | named, memory.evidence, memory.anchors):
        return memory
    return msgspec.structs.replace(memory, **cleaned, evidence=evidence, anchors=anchors)


def _clean_anchor(anchor: Anchor) -> Anchor:
    path, symbol = _redact(anchor.path), anchor.symbol and _redact(anchor.symbol)
    if (path, symbol) == (anchor.path, anchor.symbol):
        return anchor
    return msgspec.structs.replace(anchor, path=path, symbol=symbol)


def clean_record(record: T) -> T:
    """Do the same with any record of agents and people, in every field that holds their words."""
    document = msgspec.to_builtins(record)
    # What links name is no host's own: their ids are paths and names that people chose.
    keys = () if isinstance(record, Link) else _KEYS
    cleaned = scrubbing.each_text(_TABLES[type(record)], document, _redact, but=keys)
    return record if cleaned == document else msgspec.convert(cleaned, type(record))


def clean_name(table: str, name: str) -> str:
    """Do the same with the name under which a record is kept, so that it stays the record's own."""
    field = scrubbing.NAMED.get(table)
    return name if field is None or field in _KEYS else _redact(name)


def clean_key(key: str | None) -> str | None:
    """Return an idempotency key as it is, unless there is a secret in it: then what it hashes to."""
    if key is None or clean(key) == key:
        return key
    return f"hashed:{blake2b(key.encode(), digest_size=16).hexdigest()}"


def _public_message(subject: str, body: str) -> tuple[str, str]:
    whole = f"{subject}{_BETWEEN}{body}"
    if (text := public(whole)) != whole:
        subject, _, body = text.strip().partition(_BETWEEN if _BETWEEN in text else "\n")
    return _redact(subject)[:TEXT_LIMIT], _redact(body)[:TEXT_LIMIT]


@functools.lru_cache(maxsize=8192)
def _redact(text: str) -> str:
    """Take secrets out of a text; what is served again and again is looked at once."""
    from sidecar.privacy.redaction import redact  # noqa: PLC0415  # its patterns take a while to compile

    return redact(text)
