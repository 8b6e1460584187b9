"""A project's documents and their versions."""

from collections.abc import Iterable

import msgspec

from protocol.documents import (
    KNOWN,
    SOUL,
    VERSIONS,
    Document,
    DocumentEntry,
    DocumentList,
    ReadDocumentParams,
    ShownDocument,
    WriteDocumentParams,
    WrittenDocument,
)
from protocol.errors import ConflictError, InvalidParamsError, NotFoundError
from protocol.projects import ProjectParams
from protocol.values import TEXT_LIMIT
from sidecar.privacy import cleaning
from sidecar.sharing import agents
from sidecar.sharing import links as sharing_links
from sidecar.sharing.rules import links
from sidecar.sharing.rules.links import End
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault
from sidecar.text.wording import clipped

_NAME = 80
"""Letters of a project's name that a sentence can bear."""


def find(vault: Vault, names: Iterable[str]) -> list[Document]:
    """Read documents in the order they were asked for, each once; what nobody has written is left out.

    There is always a soul: ours, version 0, while the project has none of its own.
    """
    found = [vault.documents.get(name) or _ours(vault, name) for name in dict.fromkeys(names)]
    return [cleaning.clean_record(one) for one in found if one is not None]


def available(vault: Vault) -> list[str]:
    """Return the documents that can be read: those that every vault understands, then the others."""
    return list(dict.fromkeys(map(cleaning.clean, _names(vault))))


def _names(vault: Vault) -> list[str]:
    written = {*vault.documents.by_id(), SOUL}
    return [name for name in KNOWN if name in written] + sorted(written.difference(KNOWN))


def introduction(project_name: str) -> str:
    """Tell an agent that is here for the first time how to use this memory."""
    return links.introduction(clipped(" ".join(cleaning.clean(project_name).split()), _NAME))


def _ours(vault: Vault, name: str) -> Document | None:
    if name != SOUL:
        return None
    now = vault.clock()
    return Document(
        name=SOUL,
        project_id=vault.project_id,
        content=links.SOUL,
        version=0,
        created_at=now,
        updated_at=now,
    )


def list_documents(vault: Vault, _: ProjectParams) -> DocumentList:
    """List what can be read: documents that every vault understands first, then the others."""
    found = find(vault, _names(vault))
    return DocumentList(documents=tuple(map(_entry, found)))


def read(vault: Vault, params: ReadDocumentParams) -> ShownDocument:
    """Read a document, or one of its last versions."""
    current = vault.documents.get(params.name) or _ours(vault, params.name)
    if current is None:
        names = ", ".join(available(vault))
        raise NotFoundError(f"no document {params.name}; there are: {names}", field="name")
    kept = {one.version: one for one in (current, *_earlier(vault, params.name))}
    wanted = current.version if params.version is None else params.version
    if wanted not in kept:
        versions = ", ".join(map(str, sorted(kept, reverse=True)))
        raise NotFoundError(
            f"no version {wanted} of document {params.name}; there are: {versions}", field="version"
        )
    return _shown(vault, kept[wanted])


def write(vault: Vault, params: WriteDocumentParams) -> WrittenDocument:
    """Write a document, unless somebody else has changed it meanwhile, or an agent may not."""
    agent_id = agents.author(params.agent_id)
    name = _name(params.name)
    with vault.transaction():
        known = vault.documents.get(name)
        _check_editable(name, known, agent_id, params)
        _check_version(name, known, params)
        made = _made(vault, known, params, agent_id)
        if known is not None and _says_the_same(known, made):
            return WrittenDocument(outcome="unchanged", document=_shown(vault, known))
        earlier = [] if known is None else [vault.revisions.put(vault.ids.next(), known)]
        ops = [vault.documents.put(name, made), *earlier, *_surplus(vault, made)]
        vault.write(ops)
    return WrittenDocument(
        outcome="created" if known is None else "updated", document=_shown(vault, made)
    )


def _made(
    vault: Vault, known: Document | None, params: WriteDocumentParams, agent_id: str | None
) -> Document:
    now, name = vault.clock(), _name(params.name)
    # A document that was written anew goes on to count where one of its name ended.
    before = [known] if known else _earlier(vault, name)
    is_editable = known.agent_editable if known else agent_id is not None
    return Document(
        name=name,
        project_id=vault.project_id,
        content=_content(vault, known, params),
        agent_editable=is_editable if params.agent_editable is None else params.agent_editable,
        version=1 + max((one.version for one in before), default=0),
        agent_id=agent_id,
        created_at=known.created_at if known else now,
        updated_at=now,
    )


def _content(vault: Vault, known: Document | None, params: WriteDocumentParams) -> str:
    """Return what a document is to say: what it said, where only who may change it is told."""
    if params.content is not None:
        return cleaning.clean(params.content)[:TEXT_LIMIT]
    current = known or _ours(vault, _name(params.name))
    if current is None or params.agent_editable is None:
        raise InvalidParamsError(
            f"`content` is missing: what {params.name} is to say", field="content"
        )
    return current.content


def _name(name: str) -> str:
    if cleaning.clean(name) != name or not name.strip():
        raise InvalidParamsError("`name` is no name that may be kept", field="name")
    return name.strip()


def _check_editable(
    name: str, known: Document | None, agent_id: str | None, params: WriteDocumentParams
) -> None:
    """Refuse an agent what only people may do: what these say, agents are told as the project's own words."""
    if agent_id is None:
        return
    is_allowed = known.agent_editable if known else name not in KNOWN
    if not is_allowed:
        raise ConflictError(
            f"document {name} is not for agents to change; a person can allow it (`agentEditable`)",
            field="agentId",
        )
    if params.agent_editable is not None and params.agent_editable != (known is None or is_allowed):
        raise ConflictError(
            "only people decide whether agents may change a document", field="agentEditable"
        )


def _check_version(name: str, known: Document | None, params: WriteDocumentParams) -> None:
    current, expected = known.version if known else 0, params.expected_version
    if expected is not None and expected != current:
        found = f"is at version {current}" if known else "is not there yet, which is version 0"
        raise ConflictError(
            f"document {name} {found}, not {expected}; read it again",
            field="expectedVersion",
            current=current,
        )


def _says_the_same(known: Document, made: Document) -> bool:
    return (known.content, known.agent_editable) == (made.content, made.agent_editable)


def _earlier(vault: Vault, name: str) -> list[Document]:
    found = vault.revisions.find("name", name)
    return sorted(found, key=lambda one: one.version, reverse=True)


def _surplus(vault: Vault, latest: Document) -> list[Op]:
    oldest = latest.version - VERSIONS
    return [
        vault.revisions.drop(key)
        for key, one in vault.revisions.by_id().items()
        if one.name == latest.name and one.version <= oldest
    ]


def _entry(document: Document) -> DocumentEntry:
    is_ours = document.version == 0
    return DocumentEntry(
        name=document.name,
        version=document.version,
        agent_editable=document.agent_editable,
        agent_id=document.agent_id,
        chars=len(document.content),
        updated_at=None if is_ours else document.updated_at,
    )


def _shown(vault: Vault, document: Document) -> ShownDocument:
    current = vault.documents.get(document.name)
    versions = [] if current is None else [current.version]
    versions += [one.version for one in _earlier(vault, document.name)]
    end: End = ("document", document.name)
    return ShownDocument(
        **msgspec.structs.asdict(cleaning.clean_record(document)),
        versions=tuple(dict.fromkeys(versions)),
        links=sharing_links.neighbours(vault, [end])[end],
    )
