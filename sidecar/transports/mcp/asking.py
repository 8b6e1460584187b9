"""Asking: methods that answer what is no tool: resources and prompts. They only look."""

from typing import Any, TypeVar

import msgspec

from protocol.contexts import Rendered
from protocol.values import Record
from sidecar.domain.rendering import characters, fences
from sidecar.transports.mcp.clients import Client

_HOST = "mcp"

R = TypeVar("R", bound=Record)


def ask(client: Client, method: str, kind: type[R], **params: Any) -> R:  # noqa: ANN401  # whatever the method takes
    """Ask a method about the client's project."""
    result = client.app.call(method, {"project": str(client.folder(None)), **params})
    assert isinstance(result, kind)  # noqa: S101  # for the type checker; the table says so
    return result


def raw(client: Client, method: str, **params: Any) -> str:  # noqa: ANN401  # likewise
    """Ask a method about the client's project; give its answer as JSON, labelled."""
    return labelled(ask(client, method, Record, **params))


def labelled(record: Record) -> str:
    """Write a record as JSON that begins by saying what it is."""
    data = characters.visible_json(msgspec.json.encode(record))
    return msgspec.json.encode({"notice": fences.NOTICE, **msgspec.json.decode(data)}).decode()


def context(client: Client, query: str = "") -> str:
    """Give what an assistant should know, as text; nothing is noted of that."""
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
