"""The user's own assistants as language models: their command lines, asked one question without tools."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from protocol.errors import CancelledError, ModelFailedError
from sidecar.memory.llm.prompts import Cancelled, Completion, Prompt
from sidecar.privacy.redaction import redact
from sidecar.text import token_counts

HOOKS_OFF = {"THREADLINE_HOOKS": "off"}
"""Tells our own hooks that the conversation is ours and nothing of it is to be kept."""
_SECONDS = 300.0
_LOOK = 0.1
"""Seconds after which somebody who cancelled is heard."""
_LARGEST = 4 * 1024 * 1024
"""Bytes of an answer that are read."""
_EXCERPT = 200
_NESTED = ("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "COPILOT_CLI")
"""What tells an assistant that it was started by another one; some refuse then."""

Line = dict[str, Any]


class Program(NamedTuple):
    """How an assistant's command line is asked: the question comes on standard input, where nobody else can read it."""

    label: str
    words: tuple[str, ...]
    """What follows its name; `{system}` stands for what to do, if it takes that apart."""
    read: Callable[[bytes], tuple[str, int, int]]
    """Finds the answer in its output, and the tokens it tells of."""
    environment: Mapping[str, str] = {}
    files: Mapping[str, str] = {}
    """What stands in the empty folder it runs in."""


def _text(output: bytes) -> tuple[str, int, int]:
    return output.decode("utf-8", "replace").strip(), 0, 0


def _lines(output: bytes) -> Iterator[Line]:
    for raw in output.splitlines():
        with contextlib.suppress(ValueError, RecursionError):
            line = msgspec.json.decode(raw)
            if isinstance(line, dict):
                yield line


def _claude(output: bytes) -> tuple[str, int, int]:
    result = next((line for line in _lines(output) if line.get("type") == "result"), {})
    if result.get("is_error"):
        raise ModelFailedError(
            f"Claude Code answered: {redact(str(result.get('result')))[:_EXCERPT]}"
        )
    usage = result.get("usage")
    told = usage if isinstance(usage, dict) else {}
    read = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return (
        str(result.get("result") or ""),
        sum(map(_count(told), read)),
        _count(told)("output_tokens"),
    )


def _count(told: Line) -> Callable[[str], int]:
    return lambda name: value if isinstance(value := told.get(name), int) and value > 0 else 0


def _opencode(output: bytes) -> tuple[str, int, int]:
    parts = [part for line in _lines(output) if isinstance(part := line.get("part"), dict)]
    said = "".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")
    return said, 0, 0


def _gemini(output: bytes) -> tuple[str, int, int]:
    start = output.find(b"{")
    with contextlib.suppress(ValueError, RecursionError):
        answer = msgspec.json.decode(output[max(0, start) :])
        if isinstance(answer, dict) and isinstance(answer.get("response"), str):
            return answer["response"], 0, 0
    return "", 0, 0


_DENIED = (
    '{"share": "disabled", "permission": {"*": "deny", "bash": "deny", "edit": "deny"},'
    ' "tools": {"*": false, "bash": false, "edit": false, "write": false}}'
)
"""Also what the user's own configuration of OpenCode allows by name."""
PROGRAMS: dict[str, Program] = {
    "claude": Program(
        "Claude Code",
        (
            *("-p", "--output-format", "json", "--tools", "", "--strict-mcp-config"),
            *("--settings", '{"disableAllHooks": true}', "--disable-slash-commands"),
            *("--no-session-persistence", "--system-prompt", "{system}"),
        ),
        _claude,
    ),
    "codex": Program(
        "Codex",
        ("exec", "--skip-git-repo-check", "--sandbox", "read-only", "--color", "never", "-"),
        _text,
    ),
    "copilot": Program(
        "Copilot CLI",
        (
            "--silent",
            "--available-tools=none",
            "--disable-builtin-mcps",
            "--no-custom-instructions",
        ),
        _text,
        {"COPILOT_AUTO_UPDATE": "false"},
    ),
    "gemini": Program(
        "Gemini CLI",
        ("--output-format", "json", "--extensions", "none"),
        _gemini,
        {"GEMINI_CLI_TRUST_WORKSPACE": "true"},
        {".gemini/settings.json": '{"tools": {"core": ["none"]}, "mcp": {"allowed": ["none"]}}'},
    ),
    "opencode": Program(
        "OpenCode",
        ("run", "--pure", "--format", "json", "--title", "Threadline"),
        _opencode,
        {"OPENCODE_CONFIG_CONTENT": _DENIED},
    ),
}
"""Command lines that can be asked, by the name of their program."""


@dataclass(frozen=True, slots=True)
class AssistantModel:
    """Whatever model the user's assistant is set up with."""

    program: str
    seconds: float = _SECONDS

    @property
    def name(self) -> str:
        """Say whose model answers."""
        return f"the model of {PROGRAMS[self.program].label}"

    def complete(self, prompt: Prompt, *, max_tokens: int, cancelled: Cancelled) -> Completion:
        """Answer once, in an empty folder of its own; raises `ModelFailedError` for anything but an answer."""
        del max_tokens  # None of them takes a cap; what an answer took is counted afterwards.
        program = PROGRAMS[self.program]
        path = _find(self.program)
        is_apart = "{system}" in program.words
        question = prompt.user if is_apart else f"{prompt.system}\n\n{prompt.user}"
        words = [word.replace("{system}", prompt.system) for word in program.words]
        with tempfile.TemporaryDirectory(
            prefix="threadline-", ignore_cleanup_errors=True
        ) as folder:
            for name, text in program.files.items():
                file = Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            run = _Run([path, *words], Path(folder), program.environment, question)
            output = run.finish(self.name, time.monotonic() + self.seconds, cancelled)
        text, taken, given = program.read(output)
        if not text.strip():
            raise ModelFailedError(
                f"{self.name} answered with an empty text; try `{self.program}` yourself"
            )
        return Completion(
            text=text,
            input_tokens=taken or prompt.tokens,
            output_tokens=given or token_counts.estimate(text),
        )


class _Run:
    """A command line at work; what it writes goes into files, so that nobody has to listen."""

    def __init__(
        self, command: list[str], folder: Path, environment: Mapping[str, str], question: str
    ) -> None:
        self._command, self._folder, self._question = command, folder, question
        outer = {name: value for name, value in os.environ.items() if name not in _NESTED}
        self._environment = outer | dict(environment) | HOOKS_OFF

    def finish(self, name: str, until: float, cancelled: Cancelled) -> bytes:
        """Return what it wrote; ended with all it has started once time is up or nobody waits any more."""
        with (
            tempfile.TemporaryFile() as asked,
            tempfile.TemporaryFile() as said,
            tempfile.TemporaryFile() as complained,
        ):
            asked.write(self._question.encode("utf-8", "replace"))
            asked.seek(0)
            process = subprocess.Popen(  # noqa: S603  # the user's own program, by its full path
                self._command,
                cwd=self._folder,
                env=self._environment,
                stdin=asked,
                stdout=said,
                stderr=complained,
                start_new_session=True,
            )
            try:
                _wait(process, name, until, cancelled)
            finally:
                _end(process)
            said.seek(0)
            complained.seek(0)
            if process.returncode:
                reason = redact(complained.read(_LARGEST).decode("utf-8", "replace").strip())
                raise ModelFailedError(
                    f"{name} cannot be asked (exit code {process.returncode}): {reason[-_EXCERPT:]}"
                )
            return said.read(_LARGEST)


def _wait(
    process: "subprocess.Popen[bytes]", name: str, until: float, cancelled: Cancelled
) -> None:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK)
            return
        if cancelled():
            raise CancelledError("cancelled")
        if time.monotonic() > until:
            raise ModelFailedError(f"{name} did not answer in time; try again, or choose another")


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _find(program: str) -> str:
    """Return the full path of an installed program; one in the folder at hand is none of the user's."""
    path = shutil.which(program)
    if path is None or not Path(path).is_absolute():
        raise ModelFailedError(
            f"`{program}` is not installed; choose another `threadline.modelProvider`"
        )
    return path
