"""Send and deliver messages, each once."""

import contextlib
from collections.abc import Collection, Iterable, Iterator
from datetime import timedelta

import msgspec

from protocol.errors import BusyError, InvalidParamsError, NotFoundError
from protocol.messages import (
    EVERYONE,
    USER,
    AckParams,
    Message,
    MessageList,
    MessageStatus,
    ReadMessagesParams,
    SendParams,
    SentMessage,
    ShownMessage,
    Thread,
    ThreadParams,
)
from sidecar.privacy import cleaning
from sidecar.sharing import agents
from sidecar.sharing.rules import messages
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

AT_ONCE = 5
"""Messages that come unasked."""
_CONTENT, _SUBJECT = 100_000, 200
"""Letters of a message that are kept: taking secrets out may make it longer."""
_GRACE = timedelta(days=7)
"""For how long a message that has vanished is kept."""


def pending(vault: Vault, agent_id: str, limit: int = AT_ONCE) -> list[Message]:
    """List the messages that wait for a recipient, the most urgent first."""
    found = sorted(_waiting(vault, vault.messages.by_id().values(), agent_id), key=messages.urgency)
    return [cleaning.clean_record(one) for one in found[:limit]]


def count_pending(vault: Vault, agent_id: str) -> int:
    """Count the messages that wait for a recipient."""
    return len(_waiting(vault, vault.messages.by_id().values(), agent_id))


def deliver(vault: Vault, agent_id: str, chosen: Iterable[Message]) -> list[Message]:
    """Note that a recipient gets these messages; give those that nobody has given to it before.

    Where the store cannot be had in time none is given: a message waits rather than coming twice.
    """
    keys = list(dict.fromkeys(message.message_id for message in chosen))
    if not keys:
        return []
    with contextlib.suppress(BusyError), vault.transaction():
        now = vault.clock()
        found = [one for one in map(vault.messages.get, keys) if one is not None]
        given = [messages.delivered(one, agent_id, now) for one in _waiting(vault, found, agent_id)]
        if given:
            vault.write([vault.messages.put(one.message_id, one) for one in given])
        return [cleaning.clean_record(one) for one in given]
    return []


def hand(vault: Vault, agent_id: str, keys: Collection[str]) -> set[str]:
    """Deliver messages by their ids; name those that somebody else was given in the meantime."""
    given = deliver(vault, agent_id, vault.messages.some(keys).values())
    return set(keys).difference(one.message_id for one in given)


def taken(vault: Vault, agent_id: str, keys: Collection[str]) -> set[str]:
    """Name those of some messages that somebody else was given in the meantime."""
    waiting = _waiting(vault, vault.messages.some(keys).values(), agent_id)
    return set(keys).difference(one.message_id for one in waiting)


def note(vault: Vault, agent_id: str, keys: Collection[str]) -> list[Op]:
    """Return how to write down that a recipient has messages which it was told before."""
    now = vault.clock()
    waiting = _waiting(vault, vault.messages.some(keys).values(), agent_id)
    given = [messages.delivered(one, agent_id, now) for one in waiting]
    return [vault.messages.put(one.message_id, one) for one in given]


def send(vault: Vault, params: SendParams, sender: str) -> SentMessage:
    """Keep a message for whom it concerns; a key that its sender has used before changes nothing."""
    made = _message(vault, params, agents.named(sender))
    with vault.transaction():
        known = _sent_before(vault, made)
        if not known:
            vault.write([vault.messages.put(made.message_id, made)])
    sent = known[0] if known else made
    parent, target = params.parent_message_id, sent.target_id
    is_target_known = target in (EVERYONE, USER) or agents.is_known(vault, target)
    return SentMessage(
        outcome="duplicate" if known else "sent",
        message=_shown(sent, messages.progress(sent)),
        is_target_known=is_target_known,
        meant=None if is_target_known else agents.find_alike(vault, [target]).get(target),
        is_parent_known=parent is None or _living(vault, parent) is not None,
    )


def read(vault: Vault, params: ReadMessagesParams, reader: str) -> MessageList:
    """Return a reader's messages; those that were waiting are delivered with this, each to one asker only."""
    reader = agents.named(reader)
    if params.thread_of is not None:
        params = msgspec.structs.replace(params, sent=False)
    found = _found(vault, params, reader)
    is_looked_at = params.sent or params.preview
    if is_looked_at or not _waiting(vault, _page(found, params), reader):
        return _listed(found, params, reader)
    with vault.transaction():
        found = _found(vault, params, reader)
        now = vault.clock()
        given = {
            one.message_id: messages.delivered(one, reader, now)
            for one in _waiting(vault, _page(found, params), reader)
        }
        if given:
            vault.write([vault.messages.put(key, one) for key, one in given.items()])
    return _listed([given.get(one.message_id, one) for one in found], params, reader)


def acknowledge(vault: Vault, params: AckParams, asker: str) -> ShownMessage:
    """Note that a recipient has dealt with a message; one that has vanished can be acknowledged by who had it."""
    with vault.transaction():
        found = vault.messages.get(params.message_id)
        if found is None:
            raise NotFoundError(f"no message {params.message_id}", field="messageId")
        reader = _recipient(found, params, asker)
        now = vault.clock()
        if messages.is_expired(found, now) and reader not in found.handlings:
            raise NotFoundError(f"message {params.message_id} has expired", field="messageId")
        changed = messages.acknowledged(found, reader, now)
        if changed is not found:
            vault.write([vault.messages.put(found.message_id, changed)])
    return _shown(changed, messages.status(changed, reader))


def thread(vault: Vault, params: ThreadParams) -> Thread:
    """Return all messages that answer each other, from any one of them, the oldest first."""
    living, missing = _thread(vault, params.message_id, "messageId")
    shown = tuple(_shown(one, messages.progress(one)) for one in living)
    return Thread(messages=shown, missing=missing)


def sweep(vault: Vault) -> Iterator[Op]:
    """Return how to remove what has vanished long ago; until then whoever has it can acknowledge it."""
    long_ago = vault.clock() - _GRACE
    for key, one in vault.messages.by_id().items():
        if messages.is_expired(one, long_ago):
            yield vault.messages.drop(key)


def _message(vault: Vault, params: SendParams, sender: str) -> Message:
    target, content = agents.named(params.target_id), cleaning.clean(params.content)
    if target == sender:
        raise InvalidParamsError(
            f"`targetId` is the sender ({sender}): nobody hears from themselves", field="targetId"
        )
    for field, text in {"targetId": target, "content": content}.items():
        if not text.strip():
            raise InvalidParamsError(f"`{field}` says nothing that may be kept", field=field)
    now, days = vault.clock(), params.expires_in_days
    return Message(
        message_id=vault.ids.next(),
        project_id=vault.project_id,
        target_id=target,
        sender_id=sender,
        content=content[:_CONTENT],
        category=cleaning.clean(params.category),
        priority=params.priority,
        subject=cleaning.clean(params.subject)[:_SUBJECT] if params.subject else None,
        parent_message_id=params.parent_message_id,
        thread_id=_thread_id(vault, params.parent_message_id),
        created_at=now,
        expires_at=None if days is None else now + timedelta(days=days),
        idempotency_key=cleaning.clean_key(params.idempotency_key),
    )


def _sent_before(vault: Vault, made: Message) -> list[Message]:
    key = made.idempotency_key
    found = vault.messages.find("idempotencyKey", key) if key else []
    return [one for one in found if one.sender_id == made.sender_id]


def _thread_id(vault: Vault, parent_id: str | None) -> str | None:
    return parent_id and messages.thread_id(vault.messages.by_id().values(), parent_id)


def _thread(vault: Vault, message_id: str, field: str) -> tuple[list[Message], tuple[str, ...]]:
    every = vault.messages.by_id()
    ids = messages.thread(every.values(), message_id)
    if not ids:
        raise NotFoundError(f"no message {message_id}", field=field)
    now = vault.clock()
    there = [every[key] for key in ids if key in every]
    living = [one for one in there if not messages.is_expired(one, now)]
    missing = ids.difference(one.message_id for one in living)
    return sorted(living, key=messages.age), tuple(sorted(map(cleaning.clean, missing)))


def _found(vault: Vault, params: ReadMessagesParams, reader: str) -> list[Message]:
    """List the messages that are asked for; what nobody waits for is a history, the latest first."""
    if params.thread_of is not None:
        return _thread(vault, params.thread_of, "threadOf")[0]
    now = vault.clock()
    is_history = params.sent or params.status == "acknowledged"

    def is_wanted(one: Message) -> bool:
        if messages.is_expired(one, now) or params.category not in (None, one.category):
            return False
        if not params.include_broadcast and one.target_id == EVERYONE:
            return False
        is_own = one.sender_id == reader if params.sent else messages.is_meant(one, reader)
        return is_own and _stands(params, _status(one, params, reader))

    found = filter(is_wanted, vault.messages.by_id().values())
    if is_history:
        return sorted(found, key=messages.age, reverse=True)
    return sorted(found, key=messages.urgency)


def _stands(params: ReadMessagesParams, status: MessageStatus) -> bool:
    return params.status in ("all", status) or (
        params.status == "open" and status != "acknowledged"
    )


def _waiting(vault: Vault, found: Iterable[Message], reader: str) -> list[Message]:
    now = vault.clock()
    return [one for one in found if messages.is_pending(one, reader, now)]


def _page(found: list[Message], params: ReadMessagesParams) -> list[Message]:
    begin, end = params.offset, params.offset + params.limit
    if params.thread_of is None:
        return found[begin:end]
    return found[max(len(found) - end, 0) : max(len(found) - begin, 0)]


def _listed(found: list[Message], params: ReadMessagesParams, reader: str) -> MessageList:
    shown = [_shown(one, _status(one, params, reader)) for one in _page(found, params)]
    return MessageList(messages=tuple(shown), total=len(found))


def _status(one: Message, params: ReadMessagesParams, reader: str) -> MessageStatus:
    """Return how a message stands with who asks; of others' messages, how far they have come."""
    is_own = not params.sent and messages.is_meant(one, reader)
    return messages.status(one, reader) if is_own else messages.progress(one)


def _recipient(found: Message, params: AckParams, asker: str) -> str:
    """Return who has dealt with a message; it must be one that it was sent to."""
    is_to_all = found.target_id == EVERYONE
    reader = agents.named(params.agent_id or (asker if is_to_all else found.target_id))
    if not messages.is_meant(found, reader):
        raise InvalidParamsError(
            f"message {found.message_id} was not sent to {reader}", field="agentId"
        )
    return reader


def _living(vault: Vault, message_id: str) -> Message | None:
    found = vault.messages.get(message_id)
    return None if found is None or messages.is_expired(found, vault.clock()) else found


def _shown(one: Message, status: MessageStatus) -> ShownMessage:
    return ShownMessage(**msgspec.structs.asdict(cleaning.clean_record(one)), status=status)
