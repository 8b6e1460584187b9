"""Forget an item, a file, a secret or a project, and verify that no byte is left."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from protocol.errors import NotFoundError
from protocol.forgetting import PurgeParams, PurgeReport
from protocol.memories import Memory
from sidecar.capture import record
from sidecar.memory.rules import memories
from sidecar.privacy import scrubbing
from sidecar.privacy.scrubbing import Document, Scrub
from sidecar.sharing import agents
from sidecar.storage import erasure
from sidecar.storage.erasure import Needles
from sidecar.storage.home import Home
from sidecar.storage.vault import Vault
from sidecar.upkeep import tidy

_OURS = "threadline"
"""Stands in all that we write into files of others."""


def forget(
    vault: Vault, memory_ids: Sequence[str], logs: Path, *, agent_id: str | None = None
) -> PurgeReport:
    """Forget memories: that they were there is all that stays, and which agent wanted them gone.

    What was derived from them forgets them, too, and opinions about them go. Words that an event, another
    memory, a task, a message or a document says too stay there; nobody asked to forget those.
    """
    found = [_find(vault, memory_id) for memory_id in memory_ids]
    now, by = vault.clock(), agents.author(agent_id)
    left: dict[str, Document] = {
        one.memory_id: msgspec.to_builtins(memories.forgotten(one, now, by)) for one in found
    }
    told = {memories.text(one) for one in found}
    said = {text for one in found for text in (one.title, one.content)}
    repeated = scrubbing.repetition(said)

    def scrub(table: str, document: Document) -> Document | None:
        if table == "memories":
            return left.get(document["memoryId"], document)
        if table == "feedback" and document.get("memoryId") in left:
            return None
        if table == "sessions" and document.get("summary") in told:
            return document | {"summary": None}
        return repeated(table, document)

    own = said - _said_by_others(vault, scrub, said)
    needles = [scrubbing.needle(words) for words in sorted(scrubbing.findable(own))]
    report = _erase(vault, scrub, needles, logs)
    return msgspec.structs.replace(report, said_elsewhere=own != said)


def of_request(vault: Vault, params: PurgeParams) -> Needles:
    """Return what must stand nowhere once a request is fulfilled; of a whole project, nothing of ours."""
    if params.memory_id is not None:
        return of_memories(vault, [params.memory_id])
    if params.path is not None:
        return [scrubbing.path_needle(params.path)]
    return [scrubbing.needle(params.phrase or _OURS)]


def of_memories(vault: Vault, memory_ids: Sequence[str]) -> Needles:
    """Return what must stand nowhere once memories are forgotten."""
    found = vault.memories.some(memory_ids).values()
    said = {text for one in found for text in (one.title, one.content)}
    return [scrubbing.needle(words) for words in sorted(scrubbing.findable(said))]


def forget_path(vault: Vault, path: str, logs: Path) -> PurgeReport:
    """Forget a file or a folder: no event and no memory names it any more."""
    return _erase(vault, scrubbing.path(path), [scrubbing.path_needle(path)], logs)


def forget_phrase(vault: Vault, phrase: str, logs: Path) -> PurgeReport:
    """Forget words wherever they stand."""
    return _erase(vault, scrubbing.phrase(phrase), [scrubbing.needle(phrase)], logs)


def forget_everything(home: Home, vault: Vault) -> PurgeReport:
    """Forget a project: its folder goes, and its line in the index."""
    events, kept = vault.sessions.count_events(), len(vault.memories)
    count = sum(1 for path in vault.folder.rglob("*") if path.is_file())
    # In this order: a vault that the index does not list would be listed again.
    vault.close()
    shutil.rmtree(vault.folder)
    # Looked at now: an editor that has the folder open begins it anew as soon as the index lets go of it.
    is_gone = not vault.folder.exists()
    home.drop(vault.project_id)
    searched, remaining = erasure.search_files(home.folder, [scrubbing.needle(vault.project_id)])
    return PurgeReport(
        memories=kept,
        events=events,
        files_rewritten=1,
        files_deleted=count,
        files_searched=searched,
        remaining=tuple(remaining),
        verified=not remaining and is_gone,
    )


def _erase(vault: Vault, scrub: Scrub, needles: Needles, logs: Path) -> PurgeReport:
    with vault.transaction():
        record.drain(vault)
        before = vault.memories.fingerprints()
        erased = erasure.erase(vault, scrub)
        after = vault.memories.fingerprints()
        tidy.drop_dangling(vault)
    changed = [key for key, one in before.items() if after.get(key) != one]
    vault.vectors.remove(changed)
    vault.passages.clear()
    vault.prepared.discard()
    deleted, is_settled = erasure.settle(vault)
    rewritten = erasure.scrub_logs(logs, needles)
    searched, remaining = erasure.search(vault, needles)
    if not is_settled:
        remaining.append("a reader is still using an older state; it goes with the next write")
    return PurgeReport(
        memories=erased.documents["memories"],
        events=erased.documents["events"],
        files_rewritten=erased.rewritten + rewritten,
        files_deleted=deleted,
        files_searched=searched,
        remaining=tuple(remaining),
        verified=not remaining,
    )


def _said_by_others(vault: Vault, scrub: Scrub, said: set[str]) -> set[str]:
    """Find which of the words stand in events, or in what is left of records after all."""
    shelves = (vault.memories, vault.feedback, vault.tasks, vault.messages)
    papers = (vault.documents, vault.revisions, vault.links)
    derived = (vault.agents, vault.conversations, vault.checkpoints, vault.receipts)
    waiting = (vault.entries, vault.activities, vault.turns)
    texts = [
        _spaced(text)
        for shelf in (*shelves, *papers, *derived, *waiting)
        for document in filter(None, map(shelf.peek, shelf.ids()))
        for text in scrubbing.texts(shelf.name, scrub(shelf.name, document) or {})
    ]
    return {
        words
        for words in said
        if any(_spaced(words) in text for text in texts)
        or vault.sessions.say(scrubbing.needle(words))
    }


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _find(vault: Vault, memory_id: str) -> Memory:
    memory = vault.memories.get(memory_id)
    if memory is None or memory.status == "forgotten":
        raise NotFoundError(f"no memory {memory_id} in this project", field="memoryIds")
    return memory
