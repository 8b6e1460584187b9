"""Refreshing the rules files of agents that can be told nothing: where the user wants it, and nobody else has written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from sidecar.domain.connections import rules
from sidecar.domain.connections.ledgers import Written
from sidecar.domain.connections.sights import Sight

AGENTS = frozenset(rules.PLACES)
"""Agents that read such a file."""
ROOM = rules.ROOM
"""Characters that a file has for what is told."""


@dataclass(frozen=True)
class Tools:
    """All that refreshing needs of the machine."""

    rows: Callable[[], Mapping[str, Written]]
    look: Callable[[str, Sequence[str]], Sight]
    write: Callable[[Sight, bytes], tuple[str, ...]]


def find(tools: Tools, agent: str, project: str) -> Sight | None:
    """See an agent's rules file in a project; None unless it was connected there and is as we have written it."""
    path = str(PurePath(project, rules.PLACES[agent]))
    row = tools.rows().get(path)
    if row is None or agent not in row.agents:
        return None
    sight = tools.look(path, [project])
    return sight if rules.is_intact((sight.data or b"").decode(errors="replace")) else None


def refresh(tools: Tools, sight: Sight, text: str) -> None:
    """Let a rules file tell a text."""
    data = rules.write(text).encode()
    if data != sight.data:
        tools.write(sight, data)


def clear(tools: Tools) -> None:
    """Let all rules files tell nothing until the next conversation: what is forgotten must not stand there."""
    for path in map(PurePath, tools.rows()):
        for agent, place in rules.PLACES.items():
            sight = find(tools, agent, _project(path, place)) if path.match(place) else None
            if sight is not None:
                refresh(tools, sight, "")


def _project(path: PurePath, place: str) -> str:
    return str(path.parents[len(PurePath(place).parts) - 1])
