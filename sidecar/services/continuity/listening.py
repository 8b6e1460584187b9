"""Listening: what somebody said in a conversation, without what is private, secret or ours, and what it is worth."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec import Struct

from protocol.conversations import Conversation, Speaker
from sidecar.domain import documents
from sidecar.domain.continuity import conversations, quotations, recovering, turns
from sidecar.domain.continuity.quotations import Known
from sidecar.domain.continuity.turns import Turn
from sidecar.domain.rendering import composing
from sidecar.services.continuity.tools import Hear
from sidecar.store.vaults import Vault

_FRAME = (composing.HEADING, composing.MORE, documents.SOUL, documents.introduction(""))
"""What stands around all that we tell, and what we say of ourselves."""


class Said(Struct, frozen=True, kw_only=True):
    """Something said, as it was heard."""

    text: str
    said_by: Speaker
    key: str
    """What it is known by."""


def listen(
    vault: Vault, session_key: str, said: Iterable[Said], *, hear: Hear, at: datetime
) -> tuple[Turn, ...]:
    """Hear what was said: the one way in which any turn comes in, whoever reports it."""
    public = [(one, text) for one in said if (text := conversations.kept(one.text))]
    known = _own_words(vault, session_key) if public else Known()
    found = (_listen(session_key, one, quotations.without(text, known)) for one, text in public)
    return tuple(
        Turn(
            turn_id=name, said_by=one.said_by, text=text, at=at, signal=hear(text, one.said_by, at)
        )
        for name, one, text in found
        if text.strip()
    )


def _listen(session_key: str, one: Said, text: str) -> tuple[str, Said, str]:
    return turns.name(session_key, one.said_by, one.key), one, text


def _own_words(vault: Vault, session_key: str) -> Known:
    """Give the sentences that this conversation may have from us."""
    talk = vault.conversations.get(session_key)
    told = (*_FRAME, *_shared(vault), *(_told(vault, talk) if talk else ()))
    return quotations.spoken(told)


def _told(vault: Vault, talk: Conversation) -> Iterator[str]:
    """Give what was told to one conversation: memories, and what it and those before it had left."""
    for memory in vault.memories.some({*talk.given, *talk.used}).values():
        yield from quotations.of_memory(memory)
    for key in _lineage(vault, talk):
        yield from map(recovering.own_words, vault.checkpoints.find("sessionKey", key))
        earlier = vault.conversations.get(key) if key != talk.session_key else None
        yield from (note.text for note in earlier.notes) if earlier else ()


def _shared(vault: Vault) -> Iterator[str]:
    """Give what everybody may be told."""
    for task in vault.tasks.all():
        yield from (*quotations.of_item(task.title, task.description), task.done_when or "")
    for message in vault.messages.all():
        yield from quotations.of_item(message.subject or "", message.content)
    yield from (document.content for document in vault.documents.all())
    yield from (agent.last_summary or "" for agent in vault.agents.all())


def _lineage(vault: Vault, talk: Conversation) -> set[str]:
    """Name a conversation, and those that it was told of."""
    saved = vault.checkpoints.get(talk.recovered_from) if talk.recovered_from else None
    found = (talk.session_key, talk.previous_session_key, saved.session_key if saved else None)
    return {key for key in found if key}
