"""Explaining: why a line is as it is, and what is known about a file, from what code and memory say together."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

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
from protocol.memories import Memory
from protocol.sessions import Session
from sidecar.domain import events, privacy
from sidecar.domain.origins import Origin, Sight
from sidecar.domain.recall.catalogues import REFUSED
from sidecar.services import browsing
from sidecar.services.mentioning import Mentioned
from sidecar.storage.vault import Vault

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
    """Tell what is behind a line; the path is the repository's own."""
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
            Behind(memory=privacy.clean_memory(one), why=why) for one, why in found[: params.limit]
        ),
        total=len(found),
    )


def tell(scene: Scene, params: AboutParams, names: Iterable[str]) -> FileStory:
    """Tell what is known about a file, by all names that it has or had."""
    names = tuple(names)
    vault = scene.vault
    memories = _here(scene, _current(vault, scene.mentioned.by_files(vault, names)))
    sessions = scene.mentioned.sessions(vault, names)
    shown = (vault.sessions.get(one) for one in sessions[: params.limit])
    return FileStory(
        project_id=vault.project_id,
        path=params.path,
        memories=tuple(map(privacy.clean_memory, _sorted(memories)[: params.limit])),
        memory_count=len(memories),
        sessions=tuple(privacy.clean_session(one) for one in shown if one is not None),
        session_count=len(sessions),
    )


def _recorded(vault: Vault, sha: str) -> tuple[Commit | None, Session | None]:
    """Find what was recorded of a commit, also under a name that it has got since."""
    session_id = browsing.holder(vault, events.commit_key(sha))
    if session_id is None:
        return None, None
    made = vault.commits.of(session_id)
    commit = next((one for one in made if sha == one.sha or sha in one.replaces), None)
    session = vault.sessions.get(session_id)
    return commit, None if session is None else privacy.clean_session(session)


def _spellings(origin: Origin | None, commit: Commit | None) -> list[str]:
    names = [] if origin is None else [origin.sha]
    return names if commit is None else [*names, commit.sha, *reversed(commit.replaces)]


def _written(origin: Origin, commit: Commit | None) -> LineOrigin:
    """Tell of the commit as it was recorded: what was private in it is not told by git instead."""
    subject = origin.subject if commit is None else commit.subject
    known = () if commit is None else (*commit.replaces, commit.sha)
    return LineOrigin(
        sha=origin.sha,
        subject=privacy.clean(subject),
        author_name=privacy.clean(origin.author),
        authored_at=origin.at,
        path=origin.path,
        line=origin.line,
        replaces=tuple(sha for sha in known if sha != origin.sha),
    )


def _behind(
    scene: Scene, path: str, sight: Sight, shas: Sequence[str]
) -> list[tuple[Memory, Reason]]:
    """Give the memories behind a line, the nearest first, each for the best reason."""
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
    """Tell how far out the symbol is that a memory speaks of; None where it speaks of none around."""
    anchored = {one.symbol for one in memory.anchors if one.path in names}
    return next((place for place, name in enumerate(symbols) if name in anchored), None)


def _current(vault: Vault, ids: Collection[str]) -> list[Memory]:
    """Read memories as they stand now: what was superseded is told by what superseded it."""
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
