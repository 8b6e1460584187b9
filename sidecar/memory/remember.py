"""Memories written, read and changed by people and agents."""

import msgspec
from msgspec import UNSET

from protocol.errors import ConflictError, InvalidParamsError, NotFoundError
from protocol.memories import Memory
from protocol.recall import (
    MemoryList,
    ReadParams,
    ShownMemory,
    UpdateParams,
    WriteParams,
    WriteResult,
)
from sidecar.capture import timeline
from sidecar.memory.compare import Comparison
from sidecar.memory.rules import memories
from sidecar.privacy import cleaning
from sidecar.projects import personal
from sidecar.search.meanings import Meanings
from sidecar.sharing import agents
from sidecar.sharing import links as sharing_links
from sidecar.storage.vault import Vault

_WORDS = ("title", "content", "rationale")
_CHANGEABLE = tuple(
    field.name
    for field in msgspec.structs.fields(UpdateParams)
    if field.name not in {"project", "memory_id", "agent_id", "expected_updated_at"}
)


def write(vault: Vault, params: WriteParams, meanings: Meanings) -> WriteResult:
    """Keep a memory, unless it is known already."""
    memory = _memory(vault, params)
    if params.dedup and _known(vault, memory.idempotency_key) is None:
        meanings.learn(vault, {memory.memory_id: memories.text(memory)}, lambda *_: None)
    with vault.transaction():
        result = _write(vault, memory, meanings, dedup=params.dedup)
        if result.memory.memory_id != memory.memory_id:
            vault.cache.trying(lambda: vault.vectors.remove([memory.memory_id]), None)
        return result


def _write(vault: Vault, memory: Memory, meanings: Meanings, *, dedup: bool) -> WriteResult:
    known = _known(vault, memory.idempotency_key)
    if known is not None:
        return WriteResult(outcome="duplicate", memory=known)
    if not dedup:
        vault.write([vault.memories.put(memory.memory_id, memory)])
        return WriteResult(outcome="created", memory=memory)
    comparison = Comparison(vault, meanings)
    outcome, kept = comparison.add(memory)
    vault.write(comparison.ops())
    return WriteResult(outcome=outcome, memory=kept)


def read(vault: Vault, params: ReadParams, *, with_proposals: bool = False) -> MemoryList:
    """Read memories in full, with what they are linked with."""
    found = {key: vault.memories.get(key) for key in params.memory_ids}
    for key, memory in found.items():
        if memory is not None and memory.status == "proposed" and not with_proposals:
            found[key] = None
    links = sharing_links.neighbours(vault, [("memory", key) for key in found])
    shown = [
        ShownMemory(
            **msgspec.structs.asdict(cleaning.clean_memory(one)),
            links=links["memory", one.memory_id],
        )
        for one in found.values()
        if one is not None
    ]
    return MemoryList(
        memories=tuple(shown),
        missing=tuple(key for key, one in found.items() if one is None),
    )


def update(vault: Vault, params: UpdateParams) -> Memory:
    """Change what is said of a memory, unless somebody else has changed it since it was read."""
    with vault.transaction():
        memory = vault.memories.get(params.memory_id)
        author = agents.author(params.agent_id)
        if memory is None or memory.status == "forgotten" or _is_hidden(memory, author):
            raise NotFoundError(f"no memory {params.memory_id} in this project", field="memoryId")
        _check_expected(memory, params)
        given = {name: getattr(params, name) for name in _CHANGEABLE}
        changes = {name: value for name, value in given.items() if value is not None}
        changes |= {name: _said(name, changes[name]) for name in _WORDS if name in changes}
        if any(name in changes for name in _WORDS):
            # What was thought of it was thought of other words.
            changes["feedback"] = max(memory.feedback, 0.0)
            changes["by_model"] = False
        changes |= {"updated_at": vault.clock(), "updated_by": author}
        changed = msgspec.structs.replace(memory, **changes)
        changed = memories.fitted(cleaning.clean_memory(changed))
        vault.write([vault.memories.put(memory.memory_id, changed)])
        vault.database.after_commit(vault.prepared.discard)
        return changed


def _memory(vault: Vault, params: WriteParams) -> Memory:
    """Make a memory of what was written, without what is private or secret in it."""
    if personal.is_personal(vault):
        _check_personal(params)
    if params.session_id is not None:
        timeline.get_session(vault, params.session_id)
    now = vault.clock()
    memory = Memory(
        memory_id=vault.ids.next(),
        project_id=vault.project_id,
        type=params.type,
        title=_said("title", params.title),
        content=_said("content", params.content),
        rationale=None if params.rationale is None else cleaning.public(params.rationale),
        importance=params.importance,
        confidence=params.confidence,
        entities=params.entities,
        files=params.files,
        tags=params.tags,
        agent_id=agents.author(params.agent_id),
        session_id=params.session_id,
        evidence=params.evidence,
        pinned=params.pinned,
        scope="user" if personal.is_personal(vault) else UNSET,
        idempotency_key=cleaning.clean_key(params.idempotency_key),
        occurred_at=params.occurred_at or params.created_at or now,
        created_at=params.created_at or now,
        updated_at=now,
    )
    return memories.fitted(cleaning.clean_memory(memory))


def _check_personal(params: WriteParams) -> None:
    """Refuse what means something in one project only; an agent may keep how its user likes things, and no more."""
    if params.files or params.session_id is not None:
        raise InvalidParamsError(
            "what holds in every project names no files or session of one", field="scope"
        )
    if agents.author(params.agent_id) is not None and params.type != "preference":
        raise InvalidParamsError(
            f"an agent writes only a preference for all projects, and this is a {params.type}; leave out `scope`",
            field="scope",
        )


def _is_hidden(memory: Memory, agent_id: str | None) -> bool:
    """Return whether a memory is none of an agent's business: only people decide about proposals."""
    return memory.status == "proposed" and agent_id is not None


def _check_expected(memory: Memory, params: UpdateParams) -> None:
    expected = params.expected_updated_at
    if expected is not None and expected != memory.updated_at:
        current = msgspec.to_builtins(memory.updated_at)
        raise ConflictError(
            f"memory {memory.memory_id} was changed at {current}, after what was read; read it again",
            field="expectedUpdatedAt",
            current=current,
        )


def _said(field: str, text: str) -> str:
    """Drop what is private; what says nothing then is no memory."""
    public = cleaning.public(text)
    if not public.strip():
        raise InvalidParamsError(f"`{field}` says nothing that may be kept", field=field)
    return public


def _known(vault: Vault, key: str | None) -> Memory | None:
    found = vault.memories.find("idempotencyKey", key) if key else []
    return found[0] if found else None
