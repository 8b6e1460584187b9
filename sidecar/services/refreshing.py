"""Refreshing the rules files of agents that can be told nothing: where the user wants it, and nobody else has written."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sidecar.domain.connections import rules
from sidecar.domain.connections.ledgers import Written
from sidecar.domain.connections.sights import Sight

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
    path = os.path.join(project, rules.PLACES[agent])  # noqa: PTH118  # as the ledger spells it
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
