"""Refreshing the rules files of agents that can be told nothing: where the user wants it, and nobody else has written."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from protocol.errors import ConflictError
from protocol.rules import Target
from sidecar.domain.connections import rules, targets
from sidecar.domain.connections.ledgers import Written
from sidecar.domain.connections.sights import Sight

if TYPE_CHECKING:
    import re

AGENTS = rules.LIVING
"""Agents that read such a file."""
ROOM = rules.ROOM
"""Characters that a file has for what is told."""
Needles = Sequence["re.Pattern[bytes]"]
"""The bytes that must stand nowhere."""


@dataclass(frozen=True)
class Tools:
    """All that refreshing needs of the machine."""

    rows: Callable[[], Mapping[str, Written]]
    look: Callable[[str, Sequence[str]], Sight]
    write: Callable[[Sight, bytes], tuple[str, ...]]


def find(tools: Tools, agent: str, project: str) -> Sight | None:
    """See an agent's rules file in a project; None unless it was connected there and is as we have written it."""
    sight = _see(tools, agent, project)
    return sight if sight is not None and _is_intact(sight) else None


def refresh(tools: Tools, sight: Sight, text: str) -> None:
    """Let a rules file tell a text."""
    data = rules.write(text).encode()
    if data != sight.data:
        tools.write(sight, data)


def clear(tools: Tools) -> None:
    """Let all rules files tell nothing until they are renewed: what is forgotten must not stand there."""
    for path in map(PurePath, tools.rows()):
        for target in targets.TARGETS:
            if path.match(targets.place(target)):
                _clear(tools, target, path)


def clear(tools: Tools, projects: Iterable[str], needles: Needles = ()) -> list[str]:
    """Let such files of projects tell nothing until they are renewed.

    Name those that may not be touched, and those that somebody has edited and that still say what is sought.
    """
    seen = [
        (target, _see(tools, target, str(PurePath(project, targets.place(target))), project))
        for project in projects
        for target in targets.TARGETS
    ]
    return [
        sight.path for target, sight in seen if sight and not _empty(tools, target, sight, needles)
    ]


def _see(tools: Tools, reader: str, path: str, project: str) -> Sight | None:
    """See a file that was written for somebody; None if none was."""
    row = tools.rows().get(path)
    return tools.look(path, [project]) if row is not None and reader in row.agents else None


def _empty(tools: Tools, target: Target, sight: Sight, needles: Needles) -> bool:
    """Empty a file, or our block in it; what others have written is none of ours, but must not say it either."""
    if sight.refusal is not None:
        return False
    text, data = _text(sight), sight.data or b""
    try:
        found = targets.find(target, text)
        if found is None:
            return True
        _, is_intact = found
        if is_intact:
            _replace(tools, sight, targets.put(target, text, ""))
            return True
    except ConflictError:
        pass
    except StorageFailedError:
        return False
    return not any(needle.search(data) for needle in needles)


def _replace(tools: Tools, sight: Sight, text: str) -> None:
    data = text.encode(errors="surrogateescape")
    if data != sight.data:
        tools.write(sight, data)


def clear(tools: Tools, projects: Iterable[str]) -> list[str]:
    """Let the rules files of projects tell nothing until the next conversation; name those that may not be touched."""
    sights = [_see(tools, agent, project) for project in projects for agent in AGENTS]
    return [sight.path for sight in filter(None, sights) if not _empty(tools, sight)]


def _see(tools: Tools, agent: str, project: str) -> Sight | None:
    path = str(PurePath(project, rules.PLACES[agent]))
    row = tools.rows().get(path)
    return tools.look(path, [project]) if row is not None and agent in row.agents else None


def _empty(tools: Tools, sight: Sight) -> bool:
    """Empty a file; one that others have written is none of ours."""
    if sight.refusal is not None:
        return False
    try:
        if _is_intact(sight):
            refresh(tools, sight, "")
    except StorageFailedError:
        return False
    return True


def _is_intact(sight: Sight) -> bool:
    return rules.is_intact((sight.data or b"").decode(errors="replace"))
