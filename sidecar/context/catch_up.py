"""What happened since an agent was last here, and who did it."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from cachetools import LRUCache

from protocol.contexts import Changes
from protocol.conversations import Conversation
from protocol.events import Commit
from protocol.memories import Memory
from protocol.sessions import Session
from sidecar.context.rules import changes
from sidecar.context.rules.changes import Happenings
from sidecar.context.scenes import Scene
from sidecar.conversations import participants
from sidecar.sharing.rules import messages
from sidecar.storage import ulids
from sidecar.storage.vault import Vault

_READ = 30
"""Sessions whose commits are read; who was away for longer gets the latest."""
_TOLD = 200
"""Memories that are looked at."""


def last_here(scene: Scene) -> datetime | None:
    """Return when an agent was last seen in another conversation than this; None where it never was."""
    vault, key = scene.vault, scene.params.session_key
    this = participants.find(vault, key) if key else None
    own = this.session_key if this else None
    others = [one.last_seen_at for one in _conversations(scene) if one.session_key != own]
    if others:
        return max(others)
    agent = vault.agents.get(scene.who.agent_id)
    if agent is None:
        return None
    if this is None:
        return agent.last_seen_at
    # Whoever was here before without naming a conversation was seen then, at the latest.
    return this.started_at if agent.first_seen_at < this.started_at else None


def catch_up(scene: Scene, since: datetime) -> Changes:
    """Return what has happened since then."""
    vault = scene.vault
    sessions = list(_sessions(vault, since))
    happened = Happenings(
        sessions=sessions,
        commits=list(_commits(vault, sessions[:_READ])),
        memories=list(_memories(vault, since)),
        tasks=tuple(vault.tasks.by_id().values()),
        messages=[
            one
            for one in vault.messages.by_id().values()
            if messages.is_meant(one, scene.who.agent_id)
        ],
    )
    return changes.tell(since, happened)


def _conversations(scene: Scene) -> Iterator[Conversation]:
    every = scene.vault.conversations.by_id().values()
    return (one for one in every if one.agent_id == scene.who.agent_id)


def _sessions(vault: Vault, since: datetime) -> Iterator[Session]:
    """Yield the sessions that went on after a moment, newest first."""
    for record in vault.sessions.newest():
        if record.started_at + vault.rule.window < since:
            return
        if record.last_event_at + changes.SECOND > since:
            yield record


def _commits(vault: Vault, sessions: list[Session]) -> Iterator[Commit]:
    for session in sessions:
        yield from vault.commits.of(session.session_id)


def _memories(vault: Vault, since: datetime) -> Iterator[Memory]:
    """Yield the memories that were made after a moment, the latest of them; ids begin with their time."""
    later = vault.memories.ids(ulids.first_at(since))
    yield from vault.memories.some(reversed(later[-_TOLD:])).values()


_KNOWN = 20_000
_NOBODY = ""


class Authors:
    """Knows authors by commit; a commit's author never changes, so each session is read once."""

    def __init__(self) -> None:
        """Know nobody yet."""
        self._known: LRUCache[str, str] = LRUCache(maxsize=_KNOWN)

    def of(self, vault: Vault, memories: Iterable[Memory]) -> dict[str, str]:
        """Tell by memory who made the commit it comes from, where that was recorded."""
        found = {one.memory_id: self._author(vault, one) for one in memories}
        return {memory_id: name for memory_id, name in found.items() if name}

    def _author(self, vault: Vault, memory: Memory) -> str:
        sha = next((one.commit_sha for one in memory.evidence if one.commit_sha), None)
        if sha is None:
            return _NOBODY
        known = self._known.get(sha)
        if known is None and memory.session_id is not None:
            for commit in vault.commits.of(memory.session_id):
                self._known[commit.sha] = commit.author_name
            known = self._known.setdefault(sha, _NOBODY)
        return known or _NOBODY
