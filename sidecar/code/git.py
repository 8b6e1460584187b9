"""Run git: hardened, limited, read-only."""

import contextlib
import functools
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TYPE_CHECKING

from protocol.errors import GitFailedError
from protocol.values import TEXT_LIMIT
from sidecar.code import foreign_files, skips

if TYPE_CHECKING:
    from subprocess import Popen


_LIMITS = {"HEAD": foreign_files.SMALL, "config": 1024 * 1024, "packed-refs": 64 * 1024 * 1024}
"""Bytes from which git is not run at all: a sparse file of some gigabytes costs an attacker nothing."""


def check(folder: Path) -> None:
    """Raise for a folder whose repository has a file that git must not read."""
    for path, limit in _files(folder):
        if foreign_files.size(path) > limit:
            reason = f"larger than {limit:,} bytes; git is not run here"
            skips.note(folder, str(path), reason)
            raise GitFailedError(f"cannot read {path}: {reason}")


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Return the files that git reads before it answers anything, each with its limit."""
    gitdir = _find(folder)
    if gitdir is None:
        return
    yield from ((gitdir / name, limit) for name, limit in _LIMITS.items())
    content = foreign_files.read(gitdir / "HEAD") or b""
    if content.startswith(b"ref: "):
        name = os.fsdecode(content.removeprefix(b"ref: ").strip())
        yield gitdir / name, foreign_files.SMALL


def _find(folder: Path) -> Path | None:
    for place in (folder, *folder.parents):
        found = place / ".git"
        if os.path.isdir(found):  # noqa: PTH112  # never raises
            return found
        content = foreign_files.read(found)
        if content is not None and content.startswith(b"gitdir: "):
            return place / os.fsdecode(content.removeprefix(b"gitdir: ").strip())
    return None


TIMEOUT = 10
"""Seconds for a short question."""
SILENCE = 60
"""Seconds a long answer may pause."""
TOKEN = 4 * TEXT_LIMIT + 1
"""Bytes that are kept of one token: more than of any text is."""
STOPPED = -9
"""The exit code of a git that was stopped."""
MEMORY = 1024 * 1024 * 1024
"""Bytes of memory for one git. What it maps of packs does not count; a commit needs 1 KB for each of its files."""

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
_ANSWER = 64 * 1024 * 1024
"""Bytes of a short answer."""
_COMPLAINT = 64 * 1024
_PROCESSOR = 3600
"""Seconds of the processor's time for a git that outlives us where nothing can end it with us."""
_SETPRIV = "/usr/bin/setpriv"
_NO_ROOM = ("out of memory", "cannot allocate memory")
_KILLED = (STOPPED, -24)
"""What a process that ran into a limit of the system ends with: SIGKILL, SIGXCPU."""

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class LimitError(GitFailedError):
    """Git was stopped because of its time, memory or output."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Limit the total time of all git calls inside this context."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def left(seconds: float) -> float:
    """Return how many of these seconds may still be spent; raises LimitError when none are."""
    deadline = _deadline.get()
    if deadline is None:
        return seconds
    if (remaining := deadline - time.monotonic()) <= 0:
        raise LimitError("no time is left to ask git")
    return min(seconds, remaining)


def tokens(folder: Path, command: Sequence[str], stdin: IO[bytes] | None = None) -> Iterator[bytes]:
    """Run git and yield its output as NUL-separated tokens; very long ones are cut."""
    pieces: list[bytes] = []
    held = 0
    for chunk in chunks(folder, command, stdin):
        *whole, rest = chunk.split(b"\0")
        if whole:
            whole[0] = b"".join((*pieces, whole[0][: TOKEN - held]))
            yield from whole
            pieces, held = [], 0
        if held < TOKEN:
            pieces.append(rest[: TOKEN - held])
            held += len(pieces[-1])


def chunks(folder: Path, command: Sequence[str], stdin: IO[bytes] | None = None) -> Iterator[bytes]:
    """Run git and yield its output as it arrives; git ends when the reader does."""
    process = _launch(folder, command, stdin=stdin)
    output: queue.Queue[bytes] = queue.Queue(_AHEAD)
    problems = bytearray()
    readers = [
        threading.Thread(target=_read_ahead, args=(process.stdout, output.put), daemon=True),
        threading.Thread(target=_keep, args=(process.stderr, problems, _COMPLAINT), daemon=True),
    ]
    for reader in readers:
        reader.start()
    try:
        while chunk := output.get(timeout=left(SILENCE)):
            yield chunk
        readers[1].join()
        if code := process.wait():
            raise _failure(folder, code, text(bytes(problems)).strip())
    except queue.Empty as error:
        raise LimitError(f"git said nothing about {folder} for {SILENCE} s") from error
    finally:
        process.kill()
        while any(reader.is_alive() for reader in readers):
            with contextlib.suppress(queue.Empty):
                output.get(timeout=_BREATH)
        _release(process)


@contextlib.contextmanager
def listed(names: Iterable[bytes], end: bytes = b"\n") -> Iterator[IO[bytes]]:
    """Return names for git's standard input, each terminated: command lines have limits."""
    import tempfile  # noqa: PLC0415  # it loads much that few need

    with tempfile.TemporaryFile() as file:
        file.writelines(name + end for name in names)
        file.seek(0)
        yield file


def _read_ahead(pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
    """Read git's output in a thread, so that git need not wait; the last chunk is empty."""
    chunk = b"first"
    while chunk:
        chunk = os.read(pipe.fileno(), _CHUNK)
        take(chunk)


def _keep(pipe: IO[bytes], kept: bytearray, most: int) -> None:

    def take(chunk: bytes) -> None:
        kept.extend(chunk[: most - len(kept)])

    _read_ahead(pipe, take)


def setting(folder: Path, *question: str) -> bytes:
    """Return a value of git's configuration; empty where it is not set."""
    code, output, problem = ask(folder, "config", *question)
    if code not in {0, 1}:
        raise GitFailedError(f"git cannot read {folder}: {problem}")
    return output


def ask(
    folder: Path,
    *command: str,
    stdin: IO[bytes] | None = None,
    seconds: float = TIMEOUT,
    protocols: str = "none",
) -> tuple[int, bytes, str]:
    """Run git to its end; return exit code, output and error output.

    One that takes longer than this, or says more than anybody asks for, is stopped and has said nothing.
    It speaks to nobody, unless `protocols` names how (`https:ssh`).
    """
    end = time.monotonic() + left(seconds)
    process = _launch(folder, command, stdin=stdin, protocols=protocols)
    output, problems = bytearray(), bytearray()
    readers = [
        threading.Thread(target=_keep, args=(process.stdout, output, _ANSWER + 1), daemon=True),
        threading.Thread(target=_keep, args=(process.stderr, problems, _COMPLAINT), daemon=True),
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(max(0.0, end - time.monotonic()))
    is_late = any(reader.is_alive() for reader in readers)
    if is_late:
        process.kill()
    for reader in readers:
        reader.join()
    code = _release(process)
    if is_late or len(output) > _ANSWER:
        left(seconds)
        return STOPPED, b"", f"git {command[0]} was stopped: it took too long or said too much"
    return code, bytes(output), text(bytes(problems))


def _release(process: "Popen[bytes]") -> int:
    code = process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    return code


def _failure(folder: Path, code: int, problem: str) -> GitFailedError:
    message = f"git cannot read {folder}: {problem or f'it ended with {code}'}"
    is_limit = code in _KILLED or any(words in problem.lower() for words in _NO_ROOM)
    return LimitError(message) if is_limit else GitFailedError(message)


def find_program(folders: Iterable[str], *, is_windows: bool) -> str | None:
    """Return the git of the first folder that has one.

    Only absolute folders count: Windows looks at the folder at hand first, and so does a PATH with `.` in it, where a
    repository could bring a git of its own.
    """
    name = "git.exe" if is_windows else "git"
    places = [os.path.join(folder, name) for folder in folders if os.path.isabs(folder)]  # noqa: PTH117, PTH118  # asked with every question to git
    return next((place for place in places if _is_program(place)), None)


def _is_program(place: str) -> bool:
    return os.path.isfile(place) and os.access(place, os.X_OK)  # noqa: PTH113  # likewise


def _launch(
    folder: Path,
    command: Sequence[str],
    stdin: IO[bytes] | None = None,
    protocols: str = "none",
) -> "Popen[bytes]":
    import subprocess  # noqa: PLC0415  # a command without git need not wait for it

    check(folder)
    executable = find_program(os.get_exec_path(), is_windows=os.name == "nt")
    if executable is None:
        raise GitFailedError("git is not installed or not on the PATH")
    # What a caller's git left in the environment would point git at another repository.
    environment = {name: os.environ[name] for name in os.environ if name not in _CALLERS}
    try:
        process = subprocess.Popen(  # noqa: S603  # the words are ours
            [*_end_with_us(), executable, *_HARDENED, *command],
            cwd=folder,
            env=environment | _ENVIRONMENT | {"GIT_ALLOW_PROTOCOL": protocols},
            stdin=stdin or subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        if folder.is_dir():
            raise GitFailedError(f"git does not work here: {error}") from error
        raise GitFailedError(f"{folder} is not a folder") from error
    except (OSError, ValueError) as error:
        raise GitFailedError(f"git cannot be asked that: {error}") from error
    limit(process.pid)
    return process


@functools.cache
def _end_with_us() -> tuple[str, ...]:
    """Return the command prefix that ends a child when we end, where the system has one.

    A function to be run between fork and exec would do it, too, but is not safe in a process with threads.
    """
    import subprocess  # noqa: PLC0415  # loaded by who asks

    words = (_SETPRIV, "--pdeathsig", "KILL")
    try:
        # The same name stands for other programs, too, which do not know the option.
        done = subprocess.run([*words, "true"], capture_output=True, check=False, timeout=TIMEOUT)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return words if done.returncode == 0 else ()


def limit(pid: int) -> None:
    """Limit memory and time of a new process from outside, which only Linux can do."""
    try:
        import resource  # noqa: PLC0415  # not on every system
    except ImportError:
        return
    if hasattr(resource, "prlimit"):
        with contextlib.suppress(OSError):
            resource.prlimit(pid, resource.RLIMIT_DATA, (MEMORY, MEMORY))
            resource.prlimit(pid, resource.RLIMIT_CPU, (_PROCESSOR, _PROCESSOR))


def text(raw: bytes) -> str:
    """Decode git's output, whatever its encoding."""
    return raw.decode("utf-8", "replace")[:TEXT_LIMIT]
