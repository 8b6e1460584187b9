"""Hooks of hosts, each a process of its own, with the messages that hosts really send."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import ROOT

PAYLOADS = Path(__file__).parent / "transports" / "payloads"
FOLDER = "/home/dev/acme"
"""Where the developer of the sample messages works."""
_COMMAND = """
from sidecar.transports.hooks import main as hook
from sidecar.transports.entry import main
hook._HARD_STOP = hook._READING = 60
raise SystemExit(main())
"""
"""Runs the command as hosts do, but for its deadline, which a loaded machine may miss: that is proven elsewhere."""
_PATIENCE = 90
_BORROWED = {
    "sessionStart": "SessionStart",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "afterFileEdit": "PostToolUse",
    "preCompact": "PreCompact",
    "sessionEnd": "SessionEnd",
}
"""What Cursor calls its events for hooks that were written for Claude Code."""


@dataclass(frozen=True)
class Hooks:
    """One conversation of a host, as its hooks tell of it."""

    host: str
    folder: Path
    key: str
    """What the host calls the conversation."""
    is_doubled: bool = False
    """Whether the hooks of Claude Code are run, too, as Cursor does."""

    async def say(self, name: str, **fields: Any) -> None:
        """Tell of an event, as the sample of this name does, at which nothing is told in return."""
        assert await self._fire(name, fields) == ""

    async def hear(self, name: str, **fields: Any) -> str:
        """Tell of an event at which something is told in return."""
        text = await self._fire(name, fields)
        assert text, f"{name} was told nothing"
        return text

    async def _fire(self, name: str, fields: Mapping[str, Any]) -> str:
        """Run all hooks that are installed for an event, at the same moment; only one may be told something."""
        runs = [self._run(self.host, self._message(name, fields))]
        if self.is_doubled and name in _BORROWED:
            borrowed = {**fields, "hook_event_name": _BORROWED[name]}
            runs.append(self._run("claude-code", self._message(name, borrowed)))
        answers = await asyncio.gather(*runs)
        texts = [text for text in map(_told, answers) if text]
        assert len(texts) <= 1, f"{name} was told twice"
        return "".join(texts)

    def _message(self, name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Give the sample message of this name, as it is in this conversation."""
        sample = json.loads((PAYLOADS / f"{self.host}.json").read_text())[name]
        own = sample.get("conversation_id") or sample["session_id"]
        written = json.dumps(sample).replace(FOLDER, str(self.folder)).replace(own, self.key)
        message: dict[str, Any] = json.loads(written)
        return {**message, **fields}

    async def _run(self, command: str, message: Mapping[str, Any]) -> Any:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-c", _COMMAND, "hook", command, message["hook_event_name"]),
            cwd=self.folder,
            env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        data = json.dumps(message).encode()
        output, errors = await asyncio.wait_for(process.communicate(data), _PATIENCE)
        assert (process.returncode, errors) == (0, b""), errors
        return json.loads(output or b"null")


def log(home: Path) -> list[str]:
    """Give the lines of the hooks' log."""
    path = home / "logs" / "hooks.log"
    return path.read_text().splitlines() if path.exists() else []


def failures(home: Path) -> list[str]:
    """Give the lines of the hooks' log that tell of a failure."""
    return [line for line in log(home) if ": failed: " in line]


def _told(answer: Any) -> str:
    """Find what a host is told in an answer of whatever form; all forms say the same."""
    parts = [] if answer is None else [answer, answer.get("hookSpecificOutput", {})]
    names = ("additionalContext", "additional_context")
    texts = {part[name] for part in parts for name in names if name in part}
    assert len(texts) <= 1
    return texts.pop() if texts else ""
