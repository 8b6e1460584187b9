"""Refreshing the rules files of agents that can be told nothing: where the user wants it, and nobody else has written."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from protocol.errors import ConflictError, StorageFailedError
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
    sight = _see(tools, agent, str(PurePath(project, rules.PLACES[agent])), project)
    is_intact = sight is not None and rules.is_intact(_text(sight))
    return sight if is_intact else None


def refresh(tools: Tools, sight: Sight, text: str) -> None:
    """Let a rules file tell a text."""
    _replace(tools, sight, rules.write(text))


def find_projects(tools: Tools) -> set[str]:
    """Name the folders of all projects in which a file was written that assistants read by themselves."""
    return {
        str(path.parents[len(PurePath(place).parts) - 1])
        for path in map(PurePath, tools.rows())
        for place in map(targets.place, targets.TARGETS)
        if path.match(place)
    }


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


def _text(sight: Sight) -> str:
    return (sight.data or b"").decode(errors="surrogateescape")
