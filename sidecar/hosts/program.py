"""The command that starts Threadline, and how to recognize it in a file."""

import re
import shlex
from collections.abc import Sequence
from typing import Literal, assert_never

from msgspec import Struct

MODULE = "sidecar.transports.entry"
CODE = f"from {MODULE} import main; main()"
"""What a hook runs: `-m` loads `runpy`, and pip's script loads `re`, each half as expensive as Python's start."""
Shell = Literal["bash", "cmd", "powershell"]

_WORD = r"""(?:"[^"]*"|'[^']*'|\\.|[^\s"'\\|&;<>()$`])+"""
_INTERPRETED = (
    rf"""(?: -P)? (?:-m {re.escape(MODULE)}|-c (?P<quote>["']){re.escape(CODE)}(?P=quote))"""
)
_HOOK = re.compile(
    rf"(?:& )?(?P<program>{_WORD})(?P<module>{_INTERPRETED})? hook (?P<agent>[\w-]+) [\w.-]+"
)
_PLAIN = re.compile(r"[\w.:\\/+-]+")
_NAMES = {"threadline", "threadline.exe"}


class Program(Struct, frozen=True):
    """The words that start our program; on Windows they are written in other ways."""

    words: tuple[str, ...]
    is_windows: bool = False
    interpreter: str | None = None
    """The Python that can import us; a hook starts faster with it than with `words`."""

    @property
    def for_hooks(self) -> tuple[str, ...]:
        """The words that start it at the lowest cost."""
        return self.words if self.interpreter is None else (self.interpreter, "-P", "-c", CODE)


READY = Program(("threadline",))
"""For files that are made for many machines: whichever is on the PATH."""


def write_line(program: Program, shell: Shell, agent: str, event: str) -> str:
    """Write the command line of a hook for a host that runs it in this shell on Windows, in `sh` elsewhere."""
    words = [*program.for_hooks, "hook", agent, event]
    if not program.is_windows:
        return shlex.join(words)
    match shell:
        case "bash":
            return shlex.join([word.replace("\\", "/") for word in words])
        case "cmd":
            if not _PLAIN.fullmatch(words[0]):
                # `cmd /c` takes the outer quotes off a line that begins with one and has more than two.
                words = [*program.words, "hook", agent, event]
            return " ".join(word if _PLAIN.fullmatch(word) else f'"{word}"' for word in words)
        case "powershell":
            return _in_powershell(words)
    assert_never(shell)


def write_powershell(program: Program, agent: str, event: str) -> str:
    """Write the command line of a hook for PowerShell, on any system."""
    return _in_powershell([*program.for_hooks, "hook", agent, event])


def serve(program: Program) -> list[str]:
    """Return the words that start our MCP server, without a shell."""
    return [*program.words, "mcp"]


def is_hook(command: object, arguments: object, agent: str) -> bool:
    """Return whether a command runs our hook for this agent, wherever our program was when it was written."""
    if not isinstance(command, str):
        return False
    if isinstance(arguments, list) and arguments:
        words = [command, *map(str, arguments)]
        hook = words.index("hook") if "hook" in words else 0
        return _is_ours(words[:hook]) and len(words) == hook + 3 and words[hook + 1] == agent
    found = _HOOK.fullmatch(command)
    if found is None or found["agent"] != agent:
        return False
    return found["module"] is not None or _base(found["program"]) in _NAMES


def find_options(words: Sequence[object]) -> list[str] | None:
    """Return what a user added after the words that start our MCP server; None if others are started."""
    texts = [word for word in words if isinstance(word, str)]
    if len(texts) < len(words) or "mcp" not in texts:
        return None
    end = texts.index("mcp")
    return texts[end + 1 :] if _is_ours(texts[:end]) else None


def _is_ours(words: Sequence[str]) -> bool:
    if len(words) == 1:
        return _base(words[0]) in _NAMES
    return tuple(words[1:]) in _VIA_INTERPRETER


_VIA_INTERPRETER = {("-P", "-c", CODE), ("-P", "-m", MODULE), ("-m", MODULE)}


def _base(word: str) -> str:
    return re.split(r"[\\/]", re.sub(r"[\"']", "", word))[-1].lower()


def _in_powershell(words: Sequence[str]) -> str:
    written = [
        word if _PLAIN.fullmatch(word) else "'" + word.replace("'", "''") + "'" for word in words
    ]
    return ("" if written[0] == words[0] else "& ") + " ".join(written)
