"""Which memories a request may return."""

from collections.abc import Collection

from protocol.memories import Memory
from protocol.recall import MemoryFilters


def passes(memory: Memory, params: MemoryFilters) -> bool:
    """Whether a memory is one of those that are asked for."""
    return (
        (not params.statuses or memory.status in params.statuses)
        and (not params.types or memory.type in params.types)
        and (not params.tags or bool(set(params.tags) & set(memory.tags)))
        and params.agent_id in {None, memory.agent_id}
        and params.session_id in {None, memory.session_id}
        and params.pinned in {None, memory.pinned}
        and (params.since is None or memory.occurred_at >= params.since)
        and (params.until is None or memory.occurred_at < params.until)
        and (not params.paths or are_within(memory.files, params.paths))
    )


def are_within(files: Collection[str], paths: Collection[str]) -> bool:
    """Whether any of some files is one of these, or lies in one of these folders."""
    return any(
        name == path or name.startswith(f"{path.rstrip('/')}/") for name in files for path in paths
    )
