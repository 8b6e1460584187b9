"""Debian's Chromium without a window, driven over its DevTools protocol."""

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

PROGRAM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
PATIENCE = 60.0
_ARGUMENTS = (
    *(
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
    ),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--remote-debugging-port=0", "--window-size=1280,1000", "about:blank"),
)


class NavigatedError(Exception):
    """The page was left while a script ran in it."""


class Page:
    """One tab of a browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._last = 0

    def command(self, method: str, **params: Any) -> Any:
        """Send a command, and return its result."""
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(PATIENCE))
            if message.get("id") == self._last:
                if "navigated" in message.get("error", {}).get("message", ""):
                    raise NavigatedError
                assert "error" not in message, message
                return message["result"]

    def open(self, url: str) -> None:
        """Visit an address as a person does who types it."""
        self.command("Page.navigate", url=url)

    def evaluate(self, expression: str) -> Any:
        """Return what a script in the page gives, once it is settled."""
        told = self.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until a script in the page gives something true."""

        def is_true() -> bool:
            try:
                return bool(self.evaluate(expression))
            except NavigatedError:
                return False

        wait(is_true, expression)

    def history(self) -> list[str]:
        """Return the addresses that this tab can go back to."""
        return [entry["url"] for entry in self.command("Page.getNavigationHistory")["entries"]]

    def photograph(self, path: Path) -> None:
        """Write what a person sees as PNG."""
        path.write_bytes(base64.b64decode(self.command("Page.captureScreenshot")["data"]))


def wait(is_true: Callable[[], object], what: str) -> None:
    """Wait until something is true, however slow the machine is."""
    limit = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < limit, what
        time.sleep(0.05)


@contextmanager
def browse(folder: Path) -> Iterator[Page]:
    """Start a browser with a profile of its own in an empty folder; it ends with the block."""
    assert PROGRAM is not None
    process = subprocess.Popen(
        [PROGRAM, f"--user-data-dir={folder}", *_ARGUMENTS],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(folder)},
    )
    try:
        note = folder / "DevToolsActivePort"
        wait(lambda: note.exists() and len(note.read_text().split()) == 2, "Chromium did not start")
        port, path = note.read_text().split()
        debugger = f"ws://127.0.0.1:{port}"
        with connect(f"{debugger}{path}", max_size=None) as browser:
            browser.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
            targets = json.loads(browser.recv(PATIENCE))["result"]["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        with connect(f"{debugger}/devtools/page/{target}", max_size=None) as socket:
            yield Page(socket)
    finally:
        process.terminate()
        process.wait()
