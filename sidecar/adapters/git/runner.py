"""Git, asked and never trusted: one hardened way to run it, bytes in and out, nothing written.

A repository's own configuration can name programs for git to run. None of ours gets that far: no hooks,
no file system monitor, no pager, no external diff, no text conversion, no signature check, no transport.
Whose repositories may be read at all is git's own decision (safe.directory) and stays so.
"""

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from protocol.errors import GitFailedError
from protocol.values import TEXT_LIMIT

TIMEOUT = 10
"""Seconds for a short question."""
SILENCE = 60
"""Seconds a long answer may pause."""

_HARDENED = (
    "--no-pager",
    "--no-optional-locks",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "log.showSignature=false"),
    *("-c", "log.showRoot=true"),
    *("-c", "protocol.allow=never"),
    *("-c", "safe.bareRepository=explicit"),
)
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_FLUSH": "0",
    "LC_ALL": "C",
}
_CALLERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE")
_CHUNK = 1 << 16
_AHEAD = 256
_BREATH = 0.05
_LOADING = threading.Lock()


def tokens(folder: Path, command: Sequence[str], stdin: IO[bytes] | None = None) -> Iterator[bytes]:
    """Run git and give its output as NUL-separated tokens, as it comes."""
    rest = b""
    for chunk in chunks(folder, command, stdin):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole


def chunks(folder: Path, command: Sequence[str], stdin: IO[bytes] | None = None) -> Iterator[bytes]:
    """Run git and give its output as it comes; git ends with its reader."""
    process = _launch(folder, command, istream=stdin, as_process=True)
    output: queue.Queue[bytes] = queue.Queue(_AHEAD)
    problems: list[bytes] = []
    readers = [
        threading.Thread(target=_read_ahead, args=(process.stdout, output.put), daemon=True),
        threading.Thread(target=_read_ahead, args=(process.stderr, problems.append), daemon=True),
    ]
    for reader in readers:
        reader.start()
    try:
        while chunk := output.get(timeout=SILENCE):
            yield chunk
        readers[1].join()
        if process.proc.wait() != 0:
            raise GitFailedError(f"git cannot read {folder}: {text(b''.join(problems)).strip()}")
    except queue.Empty as error:
        raise GitFailedError(f"git said nothing about {folder} for {SILENCE} s") from error
    finally:
        process.proc.kill()
        while any(reader.is_alive() for reader in readers):
            with contextlib.suppress(queue.Empty):
                output.get(timeout=_BREATH)
        process.proc.wait()
        process.stdout.close()
        process.stderr.close()


@contextlib.contextmanager
def listed(names: Iterable[bytes], end: bytes = b"\n") -> Iterator[IO[bytes]]:
    """Write names where git reads them, each with an end: a command line has its limits."""
    import tempfile  # noqa: PLC0415  # it loads much that few need

    with tempfile.TemporaryFile() as file:
        file.writelines(name + end for name in names)
        file.seek(0)
        yield file


def _read_ahead(pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
    """Keep git from waiting for us; the last chunk is empty."""
    chunk = b"first"
    while chunk:
        chunk = os.read(pipe.fileno(), _CHUNK)
        take(chunk)


def setting(folder: Path, *question: str) -> bytes:
    """Ask git for its configuration; nothing where it is not set."""
    code, output, problem = ask(folder, "config", *question)
    if code not in {0, 1}:
        raise GitFailedError(f"git cannot read {folder}: {problem}")
    return output


def ask(
    folder: Path, *command: str, stdin: IO[bytes] | None = None, seconds: float = TIMEOUT
) -> tuple[int, bytes, str]:
    """Run git to its end, or for so long: exit code, output, and what it complained about."""
    code, output, problem = _launch(
        folder,
        command,
        istream=stdin,
        with_extended_output=True,
        with_exceptions=False,
        stdout_as_string=False,
        strip_newline_in_stdout=False,
        kill_after_timeout=seconds,
    )
    return code, output, text(problem) if isinstance(problem, bytes) else problem


def _launch(folder: Path, command: Sequence[str], **options: Any) -> Any:  # noqa: ANN401  # GitPython's own
    # What a caller's git left in the environment would point git at another repository.
    for variable in _CALLERS:
        os.environ.pop(variable, None)
    library = _library()
    git = library.Git(folder)
    git.update_environment(**_ENVIRONMENT)
    executable = library.Git.GIT_PYTHON_GIT_EXECUTABLE or "git"
    try:
        return git.execute([executable, *_HARDENED, *command], **options)
    except library.GitCommandNotFound as error:
        if folder.is_dir():
            raise GitFailedError("git is not installed or not on the PATH") from error
        raise GitFailedError(f"{folder} is not a folder") from error
    except ValueError as error:
        raise GitFailedError(f"git cannot be asked that: {error}") from error


def _library() -> ModuleType:
    """Load GitPython when it is first needed: 0.1 s that a command without git need not wait for."""
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    # Its modules import each other; two threads that begin at once would see half of them.
    with _LOADING:
        try:
            from git import cmd  # noqa: PLC0415  # late by intention
        except ImportError as error:
            # It asks git for its version as it is loaded.
            raise GitFailedError(f"git does not work here: {error}") from error
    return cmd


def text(raw: bytes) -> str:
    """Read what git says, whatever it is written in."""
    return raw.decode("utf-8", "replace")[:TEXT_LIMIT]
