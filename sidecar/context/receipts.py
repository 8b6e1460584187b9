"""Receipts of injected context, feedback on it, and its value."""

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta

import msgspec

from protocol.contexts import (
    ContextItem,
    Feedback,
    FeedbackParams,
    ItemWords,
    Opinion,
    Receipt,
    ReceiptList,
    ReceiptsParams,
    Replay,
    RetractParams,
    Stats,
    StatsParams,
    Worth,
)
from protocol.conversations import Conversation
from protocol.errors import ConflictError, NotFoundError
from protocol.memories import Memory
from sidecar.context.rules import choosing, items
from sidecar.conversations.rules import conversations
from sidecar.privacy import cleaning
from sidecar.sharing import agents, documents
from sidecar.storage import texts
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault
from sidecar.text import clipping
from sidecar.text.hashing import blake2b

_TITLE, _TEXT = 200, 1_000
_HEADING = "#"


def find(vault: Vault, ids: Sequence[str]) -> dict[str, ItemWords]:
    """Find the words of items by their ids; what is forgotten has none."""
    others = {
        **{key: say(one.title, one.description) for key, one in vault.tasks.some(ids).items()},
        **{
            key: say(one.subject or one.content, one.content, one.sender_id)
            for key, one in vault.messages.some(ids).items()
        },
        **{
            key: say(f"Conversation {one.session_key}", one.digest, one.harness)
            for key, one in vault.checkpoints.some(ids).items()
        },
        **{
            key: _memory(one)
            for key, one in vault.memories.some(ids).items()
            if one.status != "forgotten"
        },
    }
    rest = [key for key in ids if key not in others]
    told = {one.name: say(one.name, one.content) for one in documents.find(vault, rest)}
    for row in texts.some(vault.database, rest):
        told[row.id] = say(row.title or row.text, row.text, row.author)
    return {key: words for key in ids if (words := others.get(key) or told.get(key))}


def say(title: str, text: str, origin: str = "") -> ItemWords:
    """Word something that is no memory; a heading above its text is no part of it."""
    said = _short(cleaning.clean(title))
    whole = cleaning.clean(text).strip()
    if whole.startswith(_HEADING):
        whole = whole.partition("\n")[2].strip()
    more = clipping.clip_lines(whole, _TEXT)[0]
    return ItemWords(title=said, text="" if more == said else more, origin=origin)


def _memory(memory: Memory) -> ItemWords:
    clean = cleaning.clean_memory(memory)
    return ItemWords(
        title=_short(clean.title),
        text=clipping.clip_lines(items.says(clean), _TEXT)[0],
        type=clean.type,
        origin=items.origin(clean),
        occurred_at=clean.occurred_at,
        feedback=clean.feedback,
        pinned=clean.pinned,
    )


def _short(text: str) -> str:
    return clipping.clip(text, _TITLE)[0]


_REMEMBERED = (*choosing.SECTIONS, "queryResults")
"""Sections that tell memories."""
_SIZE = 10
"""Bytes of a receipt's name, which is a hash of what was given to whom: the same again is the same receipt."""


def name(*parts: bytes) -> str:
    """Name what was given."""
    digest = blake2b(digest_size=_SIZE)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def keep(vault: Vault, receipt: Receipt) -> list[Op]:
    """Return how to write a receipt down; one that is there already counts once more."""
    known = vault.receipts.get(receipt.receipt_id)
    if known is not None:
        receipt = msgspec.structs.replace(
            known, times=known.times + receipt.times, last_given_at=receipt.last_given_at
        )
    return [vault.receipts.put(receipt.receipt_id, receipt)]


def list_receipts(vault: Vault, params: ReceiptsParams) -> ReceiptList:
    """List receipts, newest first, and replay them where that is asked for."""
    if params.session_key is not None:
        known = conversations.known_as(params.session_key)
        params = msgspec.structs.replace(params, session_key=known)
    found = [one for one in vault.receipts.all() if _fits(one, params)]
    found.sort(key=lambda one: (one.last_given_at, one.receipt_id), reverse=True)
    shown = [_clean(one) for one in found[: params.limit]]
    replays = [_replay(vault, one) for one in shown] if params.replay else []
    return ReceiptList(receipts=tuple(shown), total=len(found), replays=tuple(replays))


def _fits(receipt: Receipt, params: ReceiptsParams) -> bool:
    return (
        params.receipt_id in {None, receipt.receipt_id}
        and params.session_key in {None, receipt.session_key}
        and params.agent_id in {None, receipt.agent_id}
    )


def _clean(receipt: Receipt) -> Receipt:
    return msgspec.structs.replace(receipt, query=cleaning.clean(receipt.query))


def _replay(vault: Vault, receipt: Receipt) -> Replay:
    """Show the memories that were given in the words they have now."""
    ids = [one.id for one in receipt.items if one.section in _REMEMBERED]
    memories = [key for key in ids if key not in vault.tasks]
    found = vault.memories.some(memories)
    there = {key: one for key, one in found.items() if one.status != "forgotten"}
    named = [*(one.id for one in receipt.items), *(one.id for one in receipt.left_out)]
    return Replay(
        receipt_id=receipt.receipt_id,
        items=tuple(_shown(one) for one in there.values()),
        changed=tuple(key for key, one in there.items() if one.updated_at > receipt.given_at),
        forgotten=tuple(key for key in memories if key not in there),
        words=find(vault, list(dict.fromkeys(named))),
    )


def _shown(memory: Memory) -> ContextItem:
    return items.from_memory(cleaning.clean_memory(memory))


_SHOWN = 5


def tell(vault: Vault, params: StatsParams) -> Stats:
    """Compare the conversations that began cold with those that were told where an earlier one stood."""
    since = vault.clock() - timedelta(days=params.days)
    lately = [one for one in vault.conversations.all() if one.last_seen_at >= since]
    return Stats(
        since=since,
        cold=_worth(one for one in lately if one.began == "cold"),
        recovered=_worth(one for one in lately if one.began == "recovered"),
        most_used=_most_used(vault, lately),
    )


def _worth(conversations: Iterable[Conversation]) -> Worth:
    every = list(conversations)
    return Worth(
        conversations=len(every),
        given=sum(len(one.given) for one in every),
        used=sum(len(one.used.keys() & set(one.given)) for one in every),
        news=sum(one.news for one in every),
        prompts=sum(one.prompt_count for one in every),
    )


def _most_used(vault: Vault, conversations: Iterable[Conversation]) -> tuple[ContextItem, ...]:
    counts: Counter[str] = Counter()
    for one in conversations:
        counts.update(one.used)
    ranked = sorted(counts, key=lambda key: (-counts[key], key))
    found = (vault.memories.get(key) for key in ranked)
    living = [one for one in found if one is not None and one.status != "forgotten"]
    return tuple(items.from_memory(cleaning.clean_memory(one)) for one in living[:_SHOWN])


_LEAST: dict[Opinion, float] = {"wrong": -1.0, "stale": -0.75, "useful": -1.0}
"""How low an opinion can bring a memory: what is stale counts less, and is still given."""
_WEIGHT: dict[Opinion, float] = {"wrong": -2.0, "stale": -0.5, "useful": 0.25}
"""What an opinion adds: one that says wrong outweighs all that said otherwise."""


def judge(vault: Vault, params: FeedbackParams) -> Memory:
    """Take down an opinion; it counts from the next search and the next context on."""
    with vault.transaction():
        memory = _find(vault, params.memory_id)
        now = vault.clock()
        judged = msgspec.structs.replace(memory, feedback=_counted(memory.feedback, params.verdict))
        opinion = Feedback(
            memory_id=memory.memory_id,
            verdict=params.verdict,
            note=None if params.note is None else cleaning.clean(params.note),
            agent_id=agents.author(params.agent_id),
            receipt_id=params.receipt_id,
            at=now,
        )
        vault.write(
            [
                vault.memories.put(memory.memory_id, judged),
                vault.feedback.put(vault.ids.next(), opinion),
            ]
        )
        vault.database.after_commit(vault.prepared.discard)
        return cleaning.clean_memory(judged)


def retract(vault: Vault, params: RetractParams) -> Memory:
    """Take back what somebody said last; what all others have said counts as if that had never been said."""
    agent_id = agents.author(params.agent_id)
    with vault.transaction():
        memory = _find(vault, params.memory_id)
        opinions = _opinions(vault, memory.memory_id)
        own = [key for key, one in opinions.items() if one.agent_id == agent_id]
        if not own:
            teller = agent_id or "a person"
            raise ConflictError(
                f"{teller} has said nothing of memory {memory.memory_id} that could be taken back",
                field="memoryId",
            )
        feedback = _count(one for key, one in opinions.items() if key != own[-1])
        if memory.feedback > _count(opinions.values()):
            # Its words were changed since: what was thought of others holds it back no more.
            feedback = max(feedback, 0.0)
        judged = msgspec.structs.replace(memory, feedback=feedback)
        vault.write([vault.memories.put(memory.memory_id, judged), vault.feedback.drop(own[-1])])
        vault.database.after_commit(vault.prepared.discard)
        return cleaning.clean_memory(judged)


def _find(vault: Vault, memory_id: str) -> Memory:
    memory = vault.memories.get(memory_id)
    if memory is None or memory.status == "forgotten":
        raise NotFoundError(f"no memory {memory_id} in this project", field="memoryId")
    return memory


def _opinions(vault: Vault, memory_id: str) -> dict[str, Feedback]:
    """Return what was said of a memory, the earliest first; ids begin with their time."""
    every = vault.feedback.by_id()
    return {key: every[key] for key in sorted(every) if every[key].memory_id == memory_id}


def _count(opinions: Iterable[Feedback]) -> float:
    return functools.reduce(_counted, (one.verdict for one in opinions), 0.0)


def _counted(feedback: float, verdict: Opinion) -> float:
    least = min(_LEAST[verdict], feedback)
    return min(max(feedback + _WEIGHT[verdict], least), 1.0)
