"""A working day through the eyes of real clients' capabilities, over a real process."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import converters, types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

from tests.support import ROOT, Repository

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]

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


@pytest_asyncio.fixture(params=CLIENTS)
async def day(request: pytest.FixtureRequest, repository: Repository) -> AsyncIterator[Day]:
    repository.commit("before")
    config = serving()
    client: Any = await config.start()
    client.set_configuration({"threadline": {"saveIntervalSeconds": 60, "logLevel": "debug"}})
    folder = types.WorkspaceFolder(uri=repository.path.as_uri(), name="repository")
    ready = await client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities(request.param),
            client_info=types.ClientInfo(name=CLIENTS[request.param]),
            root_uri=folder.uri,
            workspace_folders=[folder],
        )
    )
    sync = ready.capabilities.text_document_sync
    assert (sync.open_close, sync.save.include_text) == (False, False)
    day = Day(client, repository, request.param)
    day.offered = ready.capabilities
    yield day
    await client.shutdown_session()
    await client.stop()


async def test_a_day_in_an_editor(day: Day) -> None:
    """G7."""
    await wait_until_watched(day)
    told = asyncio.create_task(day.changed())
    await asyncio.sleep(0)
    day.save("src/a.py")
    await told
    told = asyncio.create_task(day.changed())
    await asyncio.sleep(0)
    sha = day.repository.commit("feat: work")
    await told
    (session,) = (await day.ask("threadline/sessions/list"))["sessions"]
    assert (session["status"], session["source"]) == ("active", SOURCES[day.name])
    assert (session["messageCount"], session["headCommitSha"]) == (2, sha)
    assert set(session["filesModified"]) == {"src/a.py", "a.txt"}
    told = asyncio.create_task(day.changed())
    await asyncio.sleep(0)
    closed = await day.client.workspace_execute_command_async(
        types.ExecuteCommandParams(command="threadline.sessions.close", arguments=[{}])
    )
    assert closed is not None
    assert closed["status"] == "closed"
    await told


async def test_progress_is_shown_where_the_client_shows_it(day: Day) -> None:
    for number in range(20):
        day.repository.commit(f"c{number}")
    found = await day.ask("threadline/scan")
    assert found["found"] == 21
    window = day.client.capabilities and day.client.capabilities.window
    shown: list[list[Any]] = [*day.client.progress_reports.values()]
    kinds = [[report.kind for report in reports] for reports in shown]
    if window and window.work_done_progress:
        # Work that is over before the client has made room for it is not shown.
        assert [(told[0], told[-1]) for told in kinds if told] in ([], [("begin", "end")])
    else:
        assert kinds == []


async def wait_until_watched(day: Day) -> None:
    """Wait until the server has looked at the repository once."""
    status = await day.ask("threadline/status")
    vault = Path(status["folder"]) / "vault.jsonl"
    for _ in range(400):
        if '"marks"' in vault.read_text():
            return
        await asyncio.sleep(0.05)
    pytest.fail("the repository is not watched")
