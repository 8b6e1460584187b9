"""Clients of tools: the official one, on a desk's memory or on a real process."""

import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters

from sidecar.app import Application
from sidecar.transports.mcp import server
from sidecar.transports.mcp.clients import Client as Caller
from tests.support import ROOT

T = TypeVar("T")

ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
"""How the official client connects, and what it speaks then."""
COMMAND = ("-c", "from sidecar.transports.entry import main; raise SystemExit(main())", "mcp")


@dataclass(frozen=True)
class Assistant:
    """One that uses tools, and short words for what it does."""

    client: Client

    async def use(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Use a tool that works; give what it says as data."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    async def fail(self, tool: str, **arguments: Any) -> str:
        """Use a tool in vain; give what it says."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        (content,) = result.content
        assert isinstance(content, types.TextContent)
        return content.text


Story = Callable[[Assistant], Awaitable[T]]


@dataclass(frozen=True)
class Host:
    """How an assistant is started."""

    name: str = "claude-code"
    mode: str = "auto"
    roots: tuple[Path, ...] | None = None
    """The folders it says it works in; None for a client that cannot say."""
    environment: Mapping[str, str] = field(default_factory=dict)
    pinned: Path | None = None
    """The folder that the command line names."""
    asked: list[str] = field(default_factory=list)
    """How often it was asked for its folders: a word each."""

    def run(self, app: Application, story: Story[T]) -> T:
        """Let an assistant work with an application in this process."""
        caller = Caller(app, pinned=self.pinned, environment=self.environment)
        return anyio.run(self._talk, server.build(caller, "1"), story)

    def spawn(self, folder: Path, story: Story[T]) -> T:
        """Let an assistant work with a real process that was started in a folder."""
        return anyio.run(self.join, folder, story)

    async def join(self, folder: Path, story: Story[T]) -> T:
        """Do the same in a loop that runs."""
        place = StdioServerParameters(
            command=sys.executable,
            args=list(COMMAND),
            cwd=folder,
            env=dict(os.environ) | {"PYTHONPATH": str(ROOT)} | dict(self.environment),
        )
        return await self._talk(place, story)

    async def _talk(self, place: Any, story: Story[T]) -> T:
        async with Client(
            place,
            mode=self.mode,
            client_info=types.Implementation(name=self.name, version="1"),
            list_roots_callback=None if self.roots is None else self._list_roots,
        ) as client:
            return await story(Assistant(client))

    async def _list_roots(self, context: object) -> types.ListRootsResult:
        del context
        self.asked.append("roots")
        return types.ListRootsResult(roots=_roots(self.roots or ()))


def _roots(folders: Iterable[Path]) -> list[types.Root]:
    return [types.Root.model_validate({"uri": folder.as_uri()}) for folder in folders]
