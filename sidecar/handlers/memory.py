"""Handlers that find, read, write and review memories."""

from collections.abc import Collection

import msgspec

from protocol.errors import InvalidParamsError
from protocol.memories import Memory, MemoryStatus
from protocol.recall import (
    ListMemoriesParams,
    MemoryList,
    MemoryPage,
    ReadParams,
    SearchParams,
    SearchResult,
    WriteParams,
    WriteResult,
)
from protocol.review import (
    DecideParams,
    ListProposalsParams,
    Proposals,
    Reviewed,
    WorthKnowing,
    WorthKnowingParams,
)
from protocol.turns import ENTRY_LIMIT, Activity
from sidecar.conversations.rules.conversations import Report
from sidecar.handlers import everywhere
from sidecar.handlers.context import Dialogue
from sidecar.memory import drift, remember, review
from sidecar.memory import worth_knowing as worth
from sidecar.privacy import cleaning
from sidecar.project import Projects
from sidecar.projects import personal
from sidecar.storage.prepared import PERSONAL_ID
from sidecar.storage.vault import Vault

_FOR_PEOPLE = "what is only proposed is for people to review"


def search(projects: Projects, params: SearchParams) -> SearchResult:
    """Find memories and records; what belongs to another branch stays out, unless it is asked for."""
    vault = projects.vault(params.project)
    params = msgspec.structs.replace(params, statuses=_visible(projects, params.statuses))
    dialogue = projects.part(Dialogue)
    if params.all_projects:
        found = everywhere.search(projects.home, dialogue.recall, params)
    else:
        found = _search(projects, vault, params)
    ids = tuple(one.memory.memory_id for one in found.memories)
    asked = Activity(
        tool="search_memories",
        category="search",
        input_summary=params.query[:ENTRY_LIMIT],
        output_summary=f"{len(ids)} found",
    )
    queries = tuple(filter(None, [cleaning.clean(params.query.strip())]))
    dialogue.note(vault, params.session_key, Report(queries=queries, memory_ids=ids), asked)
    return found


def _search(projects: Projects, vault: Vault, params: SearchParams) -> SearchResult:
    code = projects.code(params.project)

    def elsewhere(some: list[Memory]) -> Collection[str]:
        return drift.commits_elsewhere(vault, some, code)

    branch = params.branch or (code.branch() if code else None)
    params = msgspec.structs.replace(params, branch=branch)
    return projects.part(Dialogue).recall.search(vault, params, elsewhere)


def list_memories(projects: Projects, params: ListMemoriesParams) -> MemoryPage:
    """List memories, of whatever branch."""
    params = msgspec.structs.replace(params, statuses=_visible(projects, params.statuses))
    return projects.part(Dialogue).recall.list_memories(projects.vault(params.project), params)


def read(projects: Projects, params: ReadParams) -> MemoryList:
    """Read memories in full, also the person's own, which every context names."""
    vault = projects.vault(params.project)
    found = remember.read(vault, params, with_proposals=projects.is_for_people)
    own = personal.find(projects.home) if found.missing else None
    if own is not None:
        others = remember.read(own, msgspec.structs.replace(params, memory_ids=found.missing))
        found = MemoryList(memories=(*found.memories, *others.memories), missing=others.missing)
    titles = "; ".join(memory.title for memory in found.memories)
    looked = Activity(tool="read_memories", category="read", output_summary=titles[:ENTRY_LIMIT])
    report = Report(memory_ids=params.memory_ids)
    projects.part(Dialogue).note(vault, params.session_key, report, looked)
    return found


def write(projects: Projects, params: WriteParams) -> WriteResult:
    """Keep a memory, unless it is known already."""
    vault = projects.vault(params.project)
    kept_in = projects.vault(PERSONAL_ID) if params.scope == "user" else vault
    written = remember.write(kept_in, params, projects.meanings)
    title = written.memory.title
    kept = Activity(
        tool="write_memory",
        category="write",
        input_summary=title[:ENTRY_LIMIT],
        output_summary=written.outcome,
    )
    report = Report(remembered=(title,))
    projects.part(Dialogue).note(vault, params.session_key, report, kept)
    return written


def list_proposals(projects: Projects, params: ListProposalsParams) -> Proposals:
    """List what waits for review; that is for people."""
    _check_person(projects)
    return review.list_proposals(projects.vault(params.project), params)


def decide(projects: Projects, params: DecideParams) -> Reviewed:
    """Accept, edit or reject proposals."""
    _check_person(projects)
    return review.decide(projects.vault(params.project), params)


def worth_knowing(projects: Projects, params: WorthKnowingParams) -> WorthKnowing:
    """Tell the best that is known of a project."""
    return worth.find(projects.vault(params.project), projects.code(params.project), params)


def _check_person(projects: Projects) -> None:
    if not projects.is_for_people:
        raise InvalidParamsError(_FOR_PEOPLE)


def _visible(projects: Projects, statuses: tuple[MemoryStatus, ...]) -> tuple[MemoryStatus, ...]:
    """Leave proposals to people: assistants get what somebody stands for, or nothing."""
    if projects.is_for_people:
        return statuses
    if "proposed" in statuses:
        raise InvalidParamsError(_FOR_PEOPLE, field="statuses")
    return statuses or ("active", "superseded", "stale", "forgotten")
