"""Our MCP server over HTTP, for a suite that knows nothing else: server.py FOLDER; prints its address."""

import asyncio
import socket
import sys
from pathlib import Path

import uvicorn

from protocol.versions import VERSION
from sidecar.app import open_application
from sidecar.transports.mcp import server
from sidecar.transports.mcp.clients import Client


def main(folder: str) -> None:
    """Serve until somebody ends it."""
    app = open_application(here=Path(folder), source="mcp-server")
    made = server.build(Client(app, pinned=Path(folder)), VERSION)
    place = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(made.streamable_http_app(), log_level="warning")
    print(f"http://127.0.0.1:{place.getsockname()[1]}/mcp", flush=True)  # noqa: T201  # who starts it reads it
    asyncio.run(uvicorn.Server(config).serve([place]))


if __name__ == "__main__":
    main(sys.argv[1])
