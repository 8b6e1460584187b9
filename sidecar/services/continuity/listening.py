"""Listening: what somebody said in a conversation, without what is private, secret or ours, and what it is worth."""

import logging
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec import Struct

from protocol.conversations import Conversation, Speaker
from protocol.errors import ThreadlineError
from sidecar.domain import documents
from sidecar.domain.continuity import conversations, quotations, recovering, turns
from sidecar.domain.continuity.quotations import Known
from sidecar.domain.continuity.turns import Signal, Turn
from sidecar.domain.rendering import composing
from sidecar.services.continuity.tools import Hear
from sidecar.storage.vault import Vault

_FRAME = (composing.HEADING, composing.MORE, documents.SOUL, documents.introduction(""))
"""What stands around all that we tell, and what we say of ourselves."""

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Said(Struct, frozen=True, kw_only=True):
    """Something said, as it was heard."""

    text: str
    said_by: Speaker
    key: str
    """What it is known by."""


def listen(
    vault: Vault, session_key: str, said: Iterable[Said], *, hear: Hear, at: datetime
) -> tuple[Turn, ...]:
    """Return the turns of what was said: the one way in which any turn comes in, whoever reports it.

    A rule that fails is logged and costs only what it would have found: the words are kept.
    """
    public = [(one, text) for one in said if (text := conversations.kept(one.text))]
    known = _survive(lambda: _own_words(vault, session_key), Known()) if public else Known()
    heard = (
        Turn(
            turn_id=turns.name(session_key, one.said_by, one.key),
            said_by=one.said_by,
            text=_without_own_words(text, known),
            at=at,
            signal=Signal(),
        )
        for one, text in public
    )
    return tuple(_weighed(turn, hear) for turn in heard if turn.text.strip())


def _without_own_words(text: str, known: Known) -> str:
    return _survive(lambda: quotations.without(text, known), text)


def _weighed(turn: Turn, hear: Hear) -> Turn:
    signal = _survive(lambda: hear(turn.text, turn.said_by, turn.at), turn.signal)
    return msgspec.structs.replace(turn, signal=signal)


def _survive(derive: Callable[[], T], otherwise: T) -> T:
    """Return what a rule derives, or something else where it fails: no failure of a rule loses a user's words."""
    try:
        return derive()
    except (ThreadlineError, OSError):
        # The store is busy or failing: the turn is tried again as a whole.
        raise
    except Exception:  # noqa: BLE001  # the boundary of the rules about words
        _log.exception("a rule about a turn failed; its words are kept")
        return otherwise


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
