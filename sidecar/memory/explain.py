"""Explain a line or a file from commits, sessions and memories."""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from protocol.events import Commit
from protocol.explanations import (
    AboutParams,
    Behind,
    ExplainParams,
    Explanation,
    FileStory,
    LineOrigin,
    Reason,
)
from protocol.links import Link
from protocol.memories import Memory
from protocol.sessions import Session
from sidecar.capture import timeline
from sidecar.capture.rules import sessions
from sidecar.code.line_origins import Origin, Sight
from sidecar.memory.rules import mentions
from sidecar.memory.rules.mentions import Mentions
from sidecar.privacy import cleaning
from sidecar.search.rules.standing import REFUSED
from sidecar.sharing.rules import links
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
        """Return the memories that have one of these commits for evidence."""
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
        """Return the memories that speak of one of these files, or are linked with one."""
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
        """Return the sessions that touched one of these files, the latest first."""
        known = self._known.setdefault(vault.project_id, _Known())
        with known.mutex:
            _read_sessions(known, vault)
            found = {one for name in names for one in known.sessions.find(name)}
        some = vault.sessions.records.some(found).values()
        latest = sorted(some, key=lambda one: (one.started_at, one.session_id), reverse=True)
        return [session.session_id for session in latest]


def _read_memories(known: _Known, vault: Vault) -> None:
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
    """Yield what a memory mentions; what is stale or forgotten mentions nothing."""
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
    """Return the files that a session touched, also those that its record has no room for."""
    session = vault.sessions.get(session_id)
    if session is None:
        return ()
    if not session.files_overflow:
        return session.files_modified
    events = vault.sessions.arrivals(session_id)
    return (change.path for event in events for change in event.files)


_HOPS = 100
"""Memories that replaced one another, after which nobody looks for the last."""

Elsewhere = Callable[[Collection[Memory]], Collection[str]]
"""Names the memories that belong to another branch."""


@dataclass(frozen=True)
class Scene:
    """A project's memory, and how to find in it what concerns a place."""

    vault: Vault
    mentioned: Mentioned
    elsewhere: Elsewhere


def explain(scene: Scene, params: ExplainParams, sight: Sight) -> Explanation:
    """Return what is behind a line; the path is the repository's own."""
    origin = sight.origin
    commit, session = (None, None) if origin is None else _recorded(scene.vault, origin.sha)
    found = _behind(scene, params.path, sight, _spellings(origin, commit))
    return Explanation(
        project_id=scene.vault.project_id,
        path=params.path,
        line=params.line,
        symbol=sight.symbols[0] if sight.symbols else None,
        origin=None if origin is None else _written(origin, commit),
        session=session,
        memories=tuple(
            Behind(memory=cleaning.clean_memory(one), why=why) for one, why in found[: params.limit]
        ),
        total=len(found),
    )


def tell(scene: Scene, params: AboutParams, names: Iterable[str]) -> FileStory:
    """Return what is known about a file, by all names that it has or had."""
    names = tuple(names)
    vault = scene.vault
    memories = _here(scene, _current(vault, scene.mentioned.by_files(vault, names)))
    sessions = scene.mentioned.sessions(vault, names)
    shown = (vault.sessions.get(one) for one in sessions[: params.limit])
    return FileStory(
        project_id=vault.project_id,
        path=params.path,
        memories=tuple(map(cleaning.clean_memory, _sorted(memories)[: params.limit])),
        memory_count=len(memories),
        sessions=tuple(cleaning.clean_session(one) for one in shown if one is not None),
        session_count=len(sessions),
    )


def _recorded(vault: Vault, sha: str) -> tuple[Commit | None, Session | None]:
    """Find what was recorded of a commit, also under a name that it has got since."""
    session_id = timeline.holder(vault, sessions.commit_key(sha))
    if session_id is None:
        return None, None
    made = vault.commits.of(session_id)
    commit = next((one for one in made if sha == one.sha or sha in one.replaces), None)
    session = vault.sessions.get(session_id)
    return commit, None if session is None else cleaning.clean_session(session)


def _spellings(origin: Origin | None, commit: Commit | None) -> list[str]:
    names = [] if origin is None else [origin.sha]
    return names if commit is None else [*names, commit.sha, *reversed(commit.replaces)]


def _written(origin: Origin, commit: Commit | None) -> LineOrigin:
    """Tell of the commit as it was recorded: what was private in it is not told by git instead."""
    subject = origin.subject if commit is None else commit.subject
    known = () if commit is None else (*commit.replaces, commit.sha)
    return LineOrigin(
        sha=origin.sha,
        subject=cleaning.clean(subject),
        author_name=cleaning.clean(origin.author),
        authored_at=origin.at,
        path=origin.path,
        line=origin.line,
        replaces=tuple(sha for sha in known if sha != origin.sha),
    )


def _behind(
    scene: Scene, path: str, sight: Sight, shas: Sequence[str]
) -> list[tuple[Memory, Reason]]:
    """Return the memories behind a line, the nearest first, each for the best reason."""
    vault = scene.vault
    names = dict.fromkeys([path, *([sight.origin.path] if sight.origin else ())])
    made = _sorted(_current(vault, scene.mentioned.by_commits(vault, shas)))
    # What a whole session was about says less of a line than anything that was read of its commit.
    made.sort(key=lambda one: one.type == "episodic")
    taken = {one.memory_id for one in made}
    others = _current(vault, scene.mentioned.by_files(vault, names))
    near = _here(scene, [one for one in others if one.memory_id not in taken])
    inside = {
        one.memory_id: place
        for one in near
        if (place := _nearest(one, names, sight.symbols)) is not None
    }
    in_symbol = [one for one in near if one.memory_id in inside]
    in_symbol = sorted(_sorted(in_symbol), key=lambda one: inside[one.memory_id])
    in_file = _sorted([one for one in near if one.memory_id not in inside])
    return [
        *((one, "commit") for one in made),
        *((one, "symbol") for one in in_symbol),
        *((one, "file") for one in in_file),
    ]


def _nearest(memory: Memory, names: Collection[str], symbols: Sequence[str]) -> int | None:
    """Return how far out the symbol is that a memory speaks of; None where it speaks of none around."""
    anchored = {one.symbol for one in memory.anchors if one.path in names}
    return next((place for place, name in enumerate(symbols) if name in anchored), None)


def _current(vault: Vault, ids: Collection[str]) -> list[Memory]:
    found = vault.memories.some(ids)
    latest = (_latest(vault, found[one]) for one in ids if one in found)
    return list({one.memory_id: one for one in latest if one is not None}.values())


def _latest(vault: Vault, memory: Memory) -> Memory | None:
    found: Memory | None = memory
    for _ in range(_HOPS):
        if found is None or found.status != "superseded":
            break
        found = vault.memories.get(found.superseded_by) if found.superseded_by else None
    is_told = found is not None and found.status == "active" and found.feedback > REFUSED
    return found if is_told else None


def _here(scene: Scene, memories: list[Memory]) -> list[Memory]:
    away = scene.elsewhere(memories) if memories else ()
    return [one for one in memories if one.memory_id not in away]


def _sorted(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(
        memories,
        key=lambda one: (one.pinned, one.importance, one.occurred_at, one.memory_id),
        reverse=True,
    )
