"""Let a clone or a moved folder share a project's memory, and undo it."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from protocol.errors import ConflictError, NotFoundError
from protocol.projects import LinkedFolder, LinkFolderParams, Project, Standing
from sidecar.capture import record
from sidecar.code.checkouts import Checkout
from sidecar.projects import locate
from sidecar.projects.locate import Located
from sidecar.projects.rules import identities
from sidecar.projects.rules.identities import Facts
from sidecar.storage import files
from sidecar.storage.collection import Collection, Op
from sidecar.storage.home import Home
from sidecar.storage.vault import Vault
from sidecar.upkeep import export
from sidecar.upkeep.export import Moved


def explain(home: Home, located: Located) -> Standing:
    """Return which project a folder belongs to, by which rule, and which others it matches."""
    project, facts = located.project, _facts(located)
    return Standing(
        project_id=project.project_id,
        name=project.name,
        rule=facts.rule,
        folder=facts.folder,
        root=facts.root,
        remote=facts.remote,
        why=tuple(identities.explain(facts, project, home.projects())),
        folders=project.folders,
        offers=located.offers,
    )


def link(
    home: Home, located: Located, params: LinkFolderParams, trees: Sequence[Checkout]
) -> LinkedFolder:
    """Let the project of a folder, with its working trees, become part of one it matches, or stay apart for good."""
    own, matches = located.project, _find(home, located, params)
    other = matches[0]
    if params.refuse:
        home.vault(own.project_id).prepared.discard()
        own = _change(home, own, declined=(*own.declined, *(one.project_id for one in matches)))
        return LinkedFolder(
            project_id=own.project_id, name=own.name, outcome="refused", other=other.project_id
        )
    moved, copy = _join(home, own, other, trees)
    return LinkedFolder(
        project_id=other.project_id,
        name=other.name,
        outcome="linked",
        other=own.project_id,
        sessions=moved.sessions,
        memories=moved.memories,
        copy=copy,
    )


def unlink(home: Home, located: Located) -> LinkedFolder:
    """Return a folder a project of its own; it is not asked about the one it leaves."""
    facts = _facts(located)
    with home.transaction():
        left = locate.by_id(home, located.project.project_id)
        rest = identities.without(left, facts)
        if not rest.folders:
            raise ConflictError(
                f"{left.name} is in no other folder than {facts.folder}, so there is nothing to leave",
                field="project",
            )
        home.put(rest)
        taken = {project.project_id for project in home.projects()}
        own = identities.found(facts, home.ids.clock(), taken)
        own = msgspec.structs.replace(own, declined=(left.project_id,))
        home.put(own)
    home.vault(left.project_id).prepared.discard()
    return LinkedFolder(
        project_id=own.project_id, name=own.name, outcome="unlinked", other=left.project_id
    )


def note_asked(home: Home, own: Project, offers: Iterable[Project]) -> None:
    """Remember that the person has been asked about these projects, whatever they answer."""
    _change(home, own, asked=(*own.asked, *(one.project_id for one in offers)))


def _facts(located: Located) -> Facts:
    if located.facts is None:
        raise NotFoundError(f"name a folder of {located.project.name}, not its id", field="project")
    return located.facts


def _find(home: Home, located: Located, params: LinkFolderParams) -> list[Project]:
    """Find the projects that are meant, the oldest first; one that does not match is never shared."""
    own, facts = located.project, _facts(located)
    same = identities.candidates(facts, own, home.projects())
    wanted = [one for one in same if one.project_id == params.to] if params.to else same
    if wanted:
        return wanted
    named = f"project {params.to}" if params.to else "no other project"
    likeness = "does not have" if params.to else "has"
    raise NotFoundError(
        f"{named} {likeness} the root commit and remote of {facts.folder}; `threadline status --why` tells more",
        field="to" if params.to else "project",
    )


def _change(home: Home, project: Project, **fields: tuple[str, ...]) -> Project:
    with home.transaction():
        known = locate.by_id(home, project.project_id)
        changed = msgspec.structs.replace(
            known, **{name: tuple(dict.fromkeys(values)) for name, values in fields.items()}
        )
        home.put(changed)
        return changed


def _join(
    home: Home, own: Project, other: Project, trees: Sequence[Checkout]
) -> tuple[Moved, str | None]:
    """Move all that a project holds into another, and then its folders.

    The copy stays, since a document or a conversation of the same name in both is not merged. What was moved is
    known there by its ids: after a crash in between, linking again brings the rest and nothing twice.
    """
    left, joined = home.vault(own.project_id), home.vault(other.project_id)
    with left.transaction():
        record.drain(left)
        lines = list(export.export(left, own))
        moved = export.load(home, lines, other)
        joined.write([*_rest(left, joined), *_marks(left, joined, trees)])
        folder = joined.folder / "backups" / f"joined-{own.project_id}"
        has_content = len(lines) > _EMPTY
        if has_content:
            files.ensure_folder(folder)
            files.replace(folder / "export.jsonl", b"".join(line + b"\n" for line in lines))
        with home.transaction():
            home.put(identities.merge(locate.by_id(home, other.project_id), own))
        # While nobody else can write to it: what came in afterwards would be lost.
        gone = left.folder.rename(left.folder.with_name(f"{own.project_id}.joined"))
    joined.prepared.discard()
    home.drop(own.project_id)
    shutil.rmtree(gone)
    return moved, str(folder / "export.jsonl") if has_content else None


_EMPTY = 2
"""Lines of an export that holds nothing: its beginning and its end."""


def _rest(left: Vault, joined: Vault) -> Iterator[Op]:
    for source, target in zip(_shelves(left), _shelves(joined), strict=True):
        for key, kept in source.by_id().items():
            if key not in target:
                yield target.put(key, kept)


def _shelves(vault: Vault) -> tuple[Collection[Any], ...]:
    return vault.entries, vault.activities, vault.looks


def _marks(left: Vault, joined: Vault, trees: Sequence[Checkout]) -> Iterator[Op]:
    """Return how to take over how far commits are known.

    A working tree that was moved is known there already, up to before it was moved: what came after is not.
    """
    known = joined.marks.all()
    moved = {tree.name for tree in trees if any(map(tree.continues, known))}
    for name, mark in left.marks.by_id().items():
        if name not in joined.marks and name not in moved:
            yield joined.marks.put(name, mark)
