"""Editors: clients with the capabilities of real ones, each at work over a server process of its own."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from lsprotocol import converters, types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

from tests.support import ROOT, Repository, documents

CLIENTS = {"visual-studio-code": "Visual Studio Code", "neovim": "Neovim", "emacs": "Emacs"}
SOURCES = {"visual-studio-code": "vscode", "neovim": "neovim", "emacs": "lsp"}


def make_client() -> LanguageClient:
    """Make a client that leaves the results of our own methods as they are on the wire."""
    client = LanguageClient(converter_factory=converters.get_converter)
    register_lsp_features(client)
    return client


def serving() -> ClientServerConfig:
    """Start the server as editors do."""
    return ClientServerConfig(
        server_command=[
            sys.executable,
            "-c",
            "from sidecar.transports.entry import main; main()",
            "serve",
        ],
        client_factory=make_client,
        server_env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
    )


class Day:
    """A client at work in one repository."""

    offered: types.ServerCapabilities
    """What the server said that it can do."""

    def __init__(self, client: LanguageClient, repository: Repository, name: str) -> None:
        self.client = client
        self.repository = repository
        self.name = name

    def prepare(self) -> None:
        """Say what this client answers and hears, before it begins."""

    async def ask(self, method: str, **params: Any) -> Any:
        protocol: Any = self.client.protocol
        return await asyncio.wait_for(protocol.send_request_async(method, params), timeout=20)

    async def changed(self) -> None:
        notice = self.client.wait_for_notification("threadline/didChange")
        await asyncio.wait_for(notice, timeout=20)

    def save(self, name: str) -> None:
        uri = (self.repository.path / name).as_uri()
        document = types.TextDocumentIdentifier(uri=uri)
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(text_document=document))


D = TypeVar("D", bound=Day)


@contextlib.asynccontextmanager
async def open_editor(
    kind: type[D], repository: Repository, name: str = "visual-studio-code", **given: Any
) -> AsyncIterator[D]:
    """Open a repository in an editor, until it is closed or its server is gone."""
    client: Any = await serving().start()
    client.set_configuration({"threadline": given.pop("settings", {})})
    day = kind(client, repository, name)
    day.prepare()
    folder = types.WorkspaceFolder(uri=repository.path.as_uri(), name="repository")
    ready = await client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities(name),
            client_info=types.ClientInfo(name=CLIENTS[name]),
            root_uri=folder.uri,
            workspace_folders=[folder],
            initialization_options=given or None,
        )
    )
    day.offered = ready.capabilities
    yield day
    if client._server.returncode is None:
        await client.shutdown_session()
    await client.stop()


async def wait_until_watched(day: Day) -> None:
    """Wait until the server has looked at the repository once."""
    status = await day.ask("threadline/status")
    folder = Path(status["folder"])
    for _ in range(400):
        if documents(folder, "marks"):
            return
        await asyncio.sleep(0.05)
    pytest.fail("the repository is not watched")
