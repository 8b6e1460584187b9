"""Mentioning: which memories speak of a file or a commit, and which sessions touched a file, found at once."""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from protocol.links import Link
from sidecar.domain import links, mentions
from sidecar.domain.mentions import Mentions
from sidecar.storage.collection import NEVER
from sidecar.storage.vault import Vault

_TOLD = ("status", "files", "anchors", "evidence")
_FILE, _COMMIT = "file:", "commit:"


@dataclass
class _Known:
    """A project as it was when last looked at."""

    revision: int = NEVER
    memories: Mentions = field(default_factory=Mentions)
    seen: int = NEVER
    sessions: Mentions = field(default_factory=Mentions)
    links: Mapping[str, Link] = field(default_factory=dict)
    filed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The memories that are linked with a file."""
    mutex: threading.Lock = field(default_factory=threading.Lock)


class Mentioned:
    """Knows what is mentioned where, in each project; only what has changed is read again."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: dict[str, _Known] = {}

    def by_commits(self, vault: Vault, shas: Iterable[str]) -> list[str]:
        """Name the memories that have one of these commits for evidence."""
        known = self._known.setdefault(vault.project_id, _Known())
        with known.mutex:
            _read_memories(known, vault)
            found = (
                identifier
                for sha in shas
                for identifier in known.memories.find(f"{_COMMIT}{mentions.short(sha)}")
                if _has_evidence(vault, identifier, sha)
            )
            return list(dict.fromkeys(found))

    def by_files(self, vault: Vault, names: Iterable[str]) -> list[str]:
        """Name the memories that speak of one of these files, or are linked with one."""
        known = self._known.setdefault(vault.project_id, _Known())
        with known.mutex:
            _read_memories(known, vault)
            _read_links(known, vault)
            found = (
                one
                for name in names
                for one in (*known.memories.find(f"{_FILE}{name}"), *known.filed.get(name, ()))
            )
            return list(dict.fromkeys(found))

    def sessions(self, vault: Vault, names: Iterable[str]) -> list[str]:
        """Name the sessions that touched one of these files, the latest first."""
        known = self._known.setdefault(vault.project_id, _Known())
        with known.mutex:
            _read_sessions(known, vault)
            found = {one for name in names for one in known.sessions.find(name)}
        some = vault.sessions.records.some(found).values()
        latest = sorted(some, key=lambda one: (one.started_at, one.session_id), reverse=True)
        return [session.session_id for session in latest]


def _read_memories(known: _Known, vault: Vault) -> None:
    """Catch up with memories that were written, changed or removed."""
    now, changed = vault.memories.changes(known.revision)
    if now == known.revision:
        return
    if changed is None:
        changed = {*known.memories.ids(), *vault.memories.ids()}
    told = vault.memories.glimpses(changed, *_TOLD)
    # In their order, so that it is the same in every process.
    for identifier in sorted(changed):
        known.memories.put(identifier, _names(*told.get(identifier, (None,) * len(_TOLD))))
    known.revision = now


def _read_links(known: _Known, vault: Vault) -> None:
    every = vault.links.by_id()
    if every is not known.links:
        filed = links.with_files(every.values())
        known.links, known.filed = every, {name: sorted(ids) for name, ids in filed.items()}


def _names(status: str | None, files: Any, anchors: Any, evidence: Any) -> Iterator[str]:  # noqa: ANN401  # as they are kept
    """Give what a memory mentions; what is stale or forgotten mentions nothing."""
    if status not in {"active", "superseded"}:
        return
    yield from (f"{_FILE}{name}" for name in files or ())
    yield from (f"{_FILE}{anchor['path']}" for anchor in anchors or ())
    shas = (one.get("commitSha") for one in evidence or ())
    yield from (f"{_COMMIT}{mentions.short(sha)}" for sha in shas if sha)


def _has_evidence(vault: Vault, identifier: str, sha: str) -> bool:
    memory = vault.memories.get(identifier)
    shas = (one.commit_sha for one in memory.evidence) if memory else ()
    return any(mentions.is_same(one, sha) for one in shas if one)


def _read_sessions(known: _Known, vault: Vault) -> None:
    now, changed = vault.sessions.records.changes(known.seen)
    if changed is None:
        changed = {*known.sessions.ids(), *vault.sessions.records.ids()}
    for identifier in changed:
        known.sessions.put(identifier, _touched(vault, identifier))
    known.seen = now


def _touched(vault: Vault, session_id: str) -> Iterable[str]:
    """Name the files that a session touched, also those that its record has no room for."""
    session = vault.sessions.get(session_id)
    if session is None:
        return ()
    if not session.files_overflow:
        return session.files_modified
    events = vault.sessions.arrivals(session_id)
    return (change.path for event in events for change in event.files)
