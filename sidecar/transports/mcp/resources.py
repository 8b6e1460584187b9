"""Resources: what a person or a host can attach to a conversation."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import msgspec
from msgspec import Struct

from protocol.contexts import Rendered
from protocol.documents import DocumentList, ShownDocument
from protocol.errors import NotFoundError
from protocol.methods import SessionPage
from protocol.recall import MemoryList
from protocol.values import Record
from sidecar.text import characters, own_words
from sidecar.transports.mcp.clients import Client

_HOST = "mcp"

R = TypeVar("R", bound=Record)


def ask(client: Client, method: str, kind: type[R], **params: Any) -> R:  # noqa: ANN401  # whatever the method takes
    """Ask a method about the client's project; nothing here writes."""
    client.hold_key()  # before anything is said about projects
    folder = client.folder(None)
    client.admit("read", folder)
    result = client.app.call(method, {"project": str(folder), **params})
    assert isinstance(result, kind)  # noqa: S101  # for the type checker; the table says so
    return result


def raw(client: Client, method: str, **params: Any) -> str:  # noqa: ANN401  # likewise
    """Ask a method about the client's project; give its answer as JSON, labelled."""
    return labelled(ask(client, method, Record, **params))


def labelled(record: Record) -> str:
    """Write a record as JSON that begins by saying what it is."""
    data = characters.visible_json(msgspec.json.encode(record))
    return msgspec.json.encode({"notice": own_words.NOTICE, **msgspec.json.decode(data)}).decode()


def context(client: Client, query: str = "") -> str:
    """Return what an assistant should know, as text; nothing is noted of that."""
    found = ask(
        client,
        "threadline/context/render",
        Rendered,
        host=_HOST,
        query=query,
        agentId=client.agent_id,
        harness=client.harness,
        preview=True,
    )
    return found.text or "Nothing is known of this project yet."


MARKDOWN, JSON = "text/markdown", "application/json"
_SCHEME = "threadline://"
_SESSIONS = 20
"""Sessions that are listed."""
_EVENTS = 200
"""Events of a session that are shown."""


class Resource(Struct, frozen=True, kw_only=True):
    """Something that can be read."""

    uri: str
    name: str
    title: str
    doc: str
    kind: str


class Template(Resource, frozen=True, kw_only=True):
    """Many of them; their address has a gap."""

    read: Callable[[Client, str], str]


def listed(client: Client) -> Iterator[Resource]:
    """List what there is: the start context, the documents, the latest sessions."""
    yield CONTEXT
    documents = ask(client, "threadline/documents/list", DocumentList)
    for document in documents.documents:
        yield Resource(
            uri=f"{_SCHEME}documents/{quote(document.name, safe='')}",
            name=f"document-{document.name}",
            title=f"Document: {document.name}",
            doc="One of the project's own texts.",
            kind=MARKDOWN,
        )
    page = ask(client, "threadline/sessions/list", SessionPage, limit=_SESSIONS)
    for session in page.sessions:
        yield Resource(
            uri=f"{_SCHEME}sessions/{session.session_id}",
            name=f"session-{session.session_id}",
            title=f"Session of {session.started_at:%Y-%m-%d %H:%M}",
            doc=f"{session.message_count} events, {session.status}.",
            kind=JSON,
        )


def read(client: Client, uri: str) -> tuple[str, str]:
    """Read a resource; give its kind and its text."""
    if uri == CONTEXT.uri:
        return MARKDOWN, f"{own_words.NOTICE}\n\n{context(client)}"
    for template in TEMPLATES:
        stem = template.uri[: template.uri.index("{")]
        if uri.startswith(stem) and len(uri) > len(stem):
            return template.kind, template.read(client, unquote(uri.removeprefix(stem)))
    raise NotFoundError(f"there is no resource {uri}; resources/list names them", field="uri")


def _document(client: Client, name: str) -> str:
    document = ask(client, "threadline/documents/read", ShownDocument, name=name)
    return f"{own_words.NOTICE}\n\n{document.content}"


def _session(client: Client, session_id: str) -> str:
    return raw(client, "threadline/sessions/events", sessionId=session_id, limit=_EVENTS)


def _memory(client: Client, memory_id: str) -> str:
    found = ask(client, "threadline/memories/read", MemoryList, memoryIds=[memory_id])
    if not found.memories:
        raise NotFoundError(f"no memory {memory_id} in this project", field="uri")
    return labelled(found)


CONTEXT = Resource(
    uri=f"{_SCHEME}context",
    name="context",
    title="What is known",
    doc="What an assistant should know before it works here: where work stopped, decisions, constraints, tasks.",
    kind=MARKDOWN,
)
TEMPLATES: tuple[Template, ...] = (
    Template(
        uri=f"{_SCHEME}documents/{{name}}",
        name="document",
        title="Document",
        doc="One of the project's own texts, by its name.",
        kind=MARKDOWN,
        read=_document,
    ),
    Template(
        uri=f"{_SCHEME}sessions/{{sessionId}}",
        name="session",
        title="Session",
        doc="What happened in a session, by its id: its first 200 events.",
        kind=JSON,
        read=_session,
    ),
    Template(
        uri=f"{_SCHEME}memories/{{memoryId}}",
        name="memory",
        title="Memory",
        doc="A memory in full, by its id, with its evidence.",
        kind=JSON,
        read=_memory,
    ),
)
