"""Link memories, tasks, files and documents."""

from collections.abc import Collection, Iterable, Iterator

import msgspec

from protocol.documents import SOUL
from protocol.errors import ConflictError, InvalidParamsError, NotFoundError
from protocol.links import (
    Graph,
    GraphLink,
    GraphNode,
    GraphParams,
    Link,
    LinkEnd,
    LinkParams,
    LinkResult,
    Neighbour,
    UnlinkParams,
)
from sidecar.privacy import cleaning
from sidecar.sharing import agents
from sidecar.sharing.rules import links
from sidecar.sharing.rules.links import End
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault
from sidecar.tasks.rules import conditions

MOST = 500
"""Links of one item."""
_UNSEEN = frozenset({"proposed", "forgotten"})
"""Memories that no link shows: assistants see links, too."""


def link(vault: Vault, params: LinkParams) -> LinkResult:
    """Link two items; what is linked so already stays as it is."""
    source, target = _end(params.source, "source"), _end(params.target, "target")
    if source == target:
        raise InvalidParamsError(
            "`target` is `source`: nothing is linked with itself", field="target"
        )
    made = Link(
        link_id=vault.ids.next(),
        project_id=vault.project_id,
        type=params.type,
        source=source,
        target=target,
        agent_id=agents.author(params.agent_id),
        created_at=vault.clock(),
    )
    with vault.transaction():
        _check_there(vault, source, "source")
        _check_there(vault, target, "target")
        known = links.by_end(vault.links.all(), links.ends(made))
        for one in known.get(links.key(source), ()):
            if links.is_same(one, made):
                return LinkResult(outcome="duplicate", link=cleaning.clean_record(one))
        _check_room(known)
        vault.write([vault.links.put(made.link_id, made)])
    return LinkResult(outcome="created", link=made)


def unlink(vault: Vault, params: UnlinkParams) -> LinkResult:
    """Remove a link; both items stay."""
    with vault.transaction():
        found = vault.links.get(params.link_id)
        if found is None:
            raise NotFoundError(f"no link {params.link_id} in this project", field="linkId")
        vault.write([vault.links.drop(params.link_id)])
    return LinkResult(outcome="removed", link=cleaning.clean_record(found))


def neighbours(vault: Vault, items: Collection[End]) -> dict[End, tuple[Neighbour, ...]]:
    """Return what each item is linked with, the oldest link first."""
    found = links.by_end(vault.links.all(), items) if len(vault.links) else {}
    there = _there(
        vault, {end for some in found.values() for one in some for end in links.ends(one)}
    )
    return {
        item: tuple(
            _neighbour(vault, item, one)
            for one in found.get(item, ())
            if there.issuperset(links.ends(one))
        )
        for item in items
    }


def graph(vault: Vault, params: GraphParams) -> Graph:
    """Show what is linked with what, also by what items say of each other themselves."""
    every = list(_every(vault))
    there = _there(vault, {end for one in every for end in links.ends(one)})
    every = [one for one in every if there.issuperset(links.ends(one))]
    if params.around is None:
        shown = dict.fromkeys(end for one in every for end in links.ends(one))
    else:
        shown = links.reachable(every, links.key(_known(vault, params.around)), params.hops)
    nodes = dict.fromkeys(list(shown)[: params.limit])
    return Graph(
        nodes=tuple(_node(vault, end) for end in nodes),
        links=tuple(one for one in every if all(end in nodes for end in links.ends(one))),
        total=len(shown),
    )


def mend(vault: Vault) -> Iterator[Op]:
    """Return how to drop the links of which an end is there no more."""
    every = vault.links.by_id()
    there = _there(vault, {end for one in every.values() for end in links.ends(one)})
    for key, one in every.items():
        if not there.issuperset(links.ends(one)):
            yield vault.links.drop(key)


def _end(end: LinkEnd, field: str) -> LinkEnd:
    """Return an end in its plain form; a path must stay in the repository, and nothing may be a secret."""
    name = conditions.inside_path(end.id) if end.kind == "file" else end.id.strip()
    name = name.rstrip("/") if name else ""
    if not name or cleaning.clean(name) != name:
        raise InvalidParamsError(
            f"`{field}.id` names no {end.kind} that may be kept", field=f"{field}.id"
        )
    return msgspec.structs.replace(end, id=name)


def _known(vault: Vault, end: LinkEnd) -> LinkEnd:
    plain = _end(end, "around")
    _check_there(vault, plain, "around")
    return plain


def _check_there(vault: Vault, end: LinkEnd, field: str) -> None:
    if not _there(vault, [links.key(end)]):
        raise NotFoundError(f"no {end.kind} {end.id} in this project", field=f"{field}.id")


def _check_room(known: dict[End, list[Link]]) -> None:
    for end, own in known.items():
        if len(own) >= MOST:
            raise ConflictError(f"{end[0]} {end[1]} has {len(own)} links, and {MOST} is the most")


def _there(vault: Vault, ends: Iterable[End]) -> set[End]:
    """Pick the items that are there; files come and go, also with branches, so any may be named."""
    wanted = set(ends)
    known = vault.memories.some({key for kind, key in wanted if kind == "memory"})
    return {
        (kind, key)
        for kind, key in wanted
        if kind == "file"
        or (kind == "memory" and key in known and known[key].status not in _UNSEEN)
        or (kind == "task" and key in vault.tasks)
        or (kind == "document" and (key == SOUL or key in vault.documents))
    }


def _neighbour(vault: Vault, item: End, one: Link) -> Neighbour:
    source, target = links.ends(one)
    is_source = target == item
    kind, name = source if is_source else target
    return Neighbour(
        link_id=one.link_id,
        type=one.type,
        is_source=is_source,
        kind=kind,
        id=cleaning.clean(name),
        title=_node(vault, (kind, name)).title,
    )


def _node(vault: Vault, end: End) -> GraphNode:
    kind, key = end
    if kind == "memory" and (memory := vault.memories.get(key)) is not None:
        return GraphNode(
            kind=kind, id=key, title=cleaning.clean(memory.title), status=memory.status
        )
    if kind == "task" and (task := vault.tasks.get(key)) is not None:
        return GraphNode(kind=kind, id=key, title=cleaning.clean(task.title), status=task.status)
    return GraphNode(kind=kind, id=cleaning.clean(key), title=cleaning.clean(key))


def _clean(end: LinkEnd) -> LinkEnd:
    name = cleaning.clean(end.id)
    return end if name == end.id else msgspec.structs.replace(end, id=name)


def _every(vault: Vault) -> Iterator[GraphLink]:
    for one in sorted(vault.links.all(), key=lambda one: one.link_id):
        source, target = _clean(one.source), _clean(one.target)
        yield GraphLink(type=one.type, source=source, target=target, link_id=one.link_id)
    for memory in vault.memories.all():
        yield from links.of_memory(memory)
    for task in vault.tasks.all():
        yield from links.of_task(task)
