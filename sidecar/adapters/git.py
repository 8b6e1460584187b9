"""Git, asked and never trusted: one hardened way to run it, bytes in and out, nothing written.

A repository's own configuration can name programs for git to run. None of ours gets that far: no hooks,
no file system monitor, no pager, no external diff, no text conversion, no signature check, no transport.
Whose repositories may be read at all is git's own decision (safe.directory) and stays so.
"""

import contextlib
import os
import queue
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any

import msgspec

from protocol.errors import GitFailedError
from protocol.events import Commit, FileChange, FileStatus, NewEvent
from protocol.values import TEXT_LIMIT
from sidecar.domain import identities, paths
from sidecar.domain.identities import Facts

Believe = Callable[[str, str | None], Iterable[str]]
"""Root commits to expect in a folder with a remote."""

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
_SAFE_DIFF = (
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--submodule=short"),
)
_NO_HISTORY = ("refs/stash", "refs/notes/*", "refs/replace/*", "refs/original/*")
"""References that name commits which are nobody's work."""
_HOPS = 5
_CHUNK = 1 << 16
_AHEAD = 256
_BREATH = 0.05
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STATUS: dict[bytes, FileStatus] = {
    b"A": "added",
    b"M": "modified",
    b"D": "deleted",
    b"R": "renamed",
    b"C": "copied",
    b"T": "retyped",
}
_FIELDS = ("%H", "%P", "%an", "%ae", "%at", "%ct", "%s", "%b")


def facts(folder: Path, believe: Believe = lambda _folder, _remote: ()) -> Facts:
    """Tell what identifies the project a folder is in; a folder without git is its real path.

    `believe` is asked which root commits were seen before in a folder or with a remote: the first that
    is here is taken. That is cheaper than to look for it, and a branch of its own root changes nothing.
    """
    answer = _ask_about(folder)
    if answer is None:
        return _facts_of(folder.resolve())
    common, is_shallow = answer
    facts = _facts_of(common)
    remote = _remote(folder, _HOPS)
    return msgspec.structs.replace(
        facts,
        root=None if is_shallow else _root(folder, believe(facts.folder, remote)),
        remote=remote,
    )


def user_email(folder: Path) -> str | None:
    """Tell whom git would name as author here."""
    return _text(_setting(folder, "--get", "user.email")).strip() or None


def history(folder: Path, *, since: str | None, author: str | None) -> list[tuple[str, str | None]]:
    """List commits by author time, oldest first, each with the branch it was reached from."""
    filters = [f"--since={since}"] if since else []
    filters += ["--fixed-strings", f"--author={author}"] if author else []
    everything = (*(f"--exclude={pattern}" for pattern in _NO_HISTORY), "--all")
    shape = ("--topo-order", "--source", "-z", "--format=%at%x00%H%x00%S")
    tokens = list(_stream(folder, ("log", *shape, *filters, *everything, "--")))
    rows = zip(tokens[0::3], tokens[1::3], tokens[2::3], strict=True)
    dated = [(_seconds(at), sha.decode(), _branch(source)) for at, sha, source in rows]
    dated.reverse()
    dated.sort(key=lambda row: row[0])
    return [(sha, branch) for _, sha, branch in dated]


def commits(
    folder: Path, wanted: Sequence[tuple[str, str | None]], *, line_counts: bool = False
) -> Iterator[NewEvent]:
    """Read commits as events, in the order asked for, from one process."""
    if not wanted:
        return
    branches = dict(wanted)
    shape = ("--raw", "--numstat") if line_counts else ("--name-status",)
    command = (
        *("log", "--stdin", "--no-walk=unsorted", "-z", "--diff-merges=first-parent"),
        "--find-renames=100%" if _is_partial(folder) else "--find-renames",
        *("--encoding=UTF-8", "--format=" + "%x00".join(_FIELDS), *shape, *_SAFE_DIFF),
    )
    with tempfile.TemporaryFile() as names:
        names.write("".join(f"{sha}\n" for sha, _ in wanted).encode())
        names.seek(0)
        yield from _parse(_stream(folder, command, names), branches)


def _parse(tokens: Iterator[bytes], branches: dict[str, str | None]) -> Iterator[NewEvent]:
    token = next(tokens, b"")
    while token:
        sha = token.decode()
        parents, name, email, authored, committed, subject, body = islice(tokens, len(_FIELDS) - 1)
        changes: dict[bytes, FileChange] = {}
        token = next(tokens, b"")
        if token.startswith(b"\n"):
            token = _read_changes(token[1:], tokens, changes)
        commit = Commit(
            sha=sha,
            parents=tuple(parents.decode().split()),
            author_name=_text(name),
            author_email=_text(email),
            authored_at=(authored_at := _moment(authored)),
            committed_at=authored_at if committed == authored else _moment(committed),
            subject=_text(subject),
            body=_text(body.strip()),
            branch=branches.get(sha),
        )
        yield NewEvent(
            kind="commit",
            occurred_at=commit.authored_at,
            idempotency_key=f"commit:{sha}",
            files=tuple(changes.values()),
            commit=commit,
        )


def _read_changes(token: bytes, tokens: Iterator[bytes], changes: dict[bytes, FileChange]) -> bytes:
    """Read a commit's files; return the token that begins the next commit, or nothing."""
    while token[:1].isupper() or token[:1] == b":" or b"\t" in token:
        if b"\t" in token:
            _count(token, tokens, changes)
        else:
            letter = token.rpartition(b" ")[2][:1]
            source = next(tokens) if letter in b"RC" else None
            path = next(tokens)
            changes[path] = FileChange(
                path=paths.read(path),
                status=_STATUS.get(letter, "modified"),
                previous_path=None if source is None else paths.read(source),
            )
        token = next(tokens, b"")
    return token


def _count(token: bytes, tokens: Iterator[bytes], changes: dict[bytes, FileChange]) -> None:
    added, deleted, path = token.split(b"\t", 2)
    if not path:
        next(tokens)
        path = next(tokens)
    if path in changes and added != b"-":
        changes[path] = msgspec.structs.replace(
            changes[path], added_lines=int(added), deleted_lines=int(deleted)
        )


def _ask_about(folder: Path) -> tuple[Path, bool] | None:
    """Tell a repository's common folder and whether it is shallow; None without git."""
    question = (
        "rev-parse",
        "--path-format=absolute",
        "--git-common-dir",
        "--is-shallow-repository",
    )
    code, output, problem = _try(folder, *question)
    if code == 0:
        *where, is_shallow = os.fsdecode(output).rstrip("\n").split("\n")
        return Path("\n".join(where)).resolve(), is_shallow == "true"
    if "not a git repository" in problem:
        return None
    raise GitFailedError(f"git cannot read {folder}: {problem}")


def _facts_of(folder: Path) -> Facts:
    name = identities.name_of(folder)
    return Facts(folder=paths.read(os.fsencode(folder)), name=paths.read(os.fsencode(name)))


def _root(folder: Path, believed: Iterable[str]) -> str | None:
    """Find the oldest commit without a parent; a believed one only needs to be there."""
    for sha in believed:
        if _try(folder, "cat-file", "-e", sha + "^{commit}")[0] == 0:
            return sha
    for start in ("HEAD", "--all"):
        code, output, _ = _try(folder, "rev-list", "--max-parents=0", start, "--")
        if code == 0 and output.strip():
            return output.split()[-1].decode()
    return None


def _remote(folder: Path, hops: int) -> str | None:
    """Name the remote; one on this disk is followed to where it came from itself."""
    output = _setting(folder, "-z", "--get-regexp", r"^remote\..*\.url$")
    entries = dict(
        entry.split("\n", 1) for entry in os.fsdecode(output).split("\0") if "\n" in entry
    )
    if not entries:
        return None
    address = entries.get("remote.origin.url") or entries[min(entries)]
    if not address.strip():
        return None
    local = Path(folder, address.removeprefix("file://"))
    if hops and local.is_dir():
        return _remote(local, hops - 1)
    return identities.normalise(address)


def _stream(
    folder: Path, command: Sequence[str], stdin: IO[bytes] | None = None
) -> Iterator[bytes]:
    """Run git and give its output as NUL-separated tokens, as it comes; it ends with the reader."""
    process = _launch(folder, command, istream=stdin, as_process=True)
    chunks: queue.Queue[bytes] = queue.Queue(_AHEAD)
    problems: list[bytes] = []
    readers = [
        threading.Thread(target=_read_ahead, args=(process.stdout, chunks.put), daemon=True),
        threading.Thread(target=_read_ahead, args=(process.stderr, problems.append), daemon=True),
    ]
    for reader in readers:
        reader.start()
    rest = b""
    try:
        while chunk := chunks.get(timeout=SILENCE):
            *whole, rest = (rest + chunk).split(b"\0")
            yield from whole
        readers[1].join()
        if process.proc.wait() != 0:
            raise GitFailedError(f"git cannot read {folder}: {_text(b''.join(problems)).strip()}")
    except queue.Empty as error:
        raise GitFailedError(f"git said nothing about {folder} for {SILENCE} s") from error
    finally:
        process.proc.kill()
        while any(reader.is_alive() for reader in readers):
            with contextlib.suppress(queue.Empty):
                chunks.get(timeout=_BREATH)
        process.proc.wait()
        process.stdout.close()
        process.stderr.close()


def _read_ahead(pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
    """Keep git from waiting for us; the last chunk is empty."""
    chunk = b"first"
    while chunk:
        chunk = os.read(pipe.fileno(), _CHUNK)
        take(chunk)


def _is_partial(folder: Path) -> bool:
    """Tell whether contents may be missing here, without which only exact renames can be found."""
    return bool(
        _setting(folder, "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$")
    )


def _setting(folder: Path, *question: str) -> bytes:
    code, output, problem = _try(folder, "config", *question)
    if code not in {0, 1}:
        raise GitFailedError(f"git cannot read {folder}: {problem}")
    return output


def _try(folder: Path, *command: str) -> tuple[int, bytes, str]:
    """Run git to its end: exit code, output, and what it complained about."""
    code, output, problem = _launch(
        folder,
        command,
        with_extended_output=True,
        with_exceptions=False,
        stdout_as_string=False,
        strip_newline_in_stdout=False,
        kill_after_timeout=TIMEOUT,
    )
    return code, output, _text(problem) if isinstance(problem, bytes) else problem


def _launch(folder: Path, command: Sequence[str], **options: Any) -> Any:  # noqa: ANN401  # GitPython's own
    # What a caller's git left in the environment would point git at another repository.
    for variable in _CALLERS:
        os.environ.pop(variable, None)
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    try:
        from git.cmd import Git  # noqa: PLC0415  # 0.1 s that a command without git need not wait for
        from git.exc import GitCommandNotFound  # noqa: PLC0415
    except ImportError as error:
        # It asks git for its version as it is loaded.
        raise GitFailedError(f"git does not work here: {error}") from error

    git = Git(folder)
    git.update_environment(**_ENVIRONMENT)
    try:
        return git.execute(
            [Git.GIT_PYTHON_GIT_EXECUTABLE or "git", *_HARDENED, *command], **options
        )
    except GitCommandNotFound as error:
        if folder.is_dir():
            raise GitFailedError("git is not installed or not on the PATH") from error
        raise GitFailedError(f"{folder} is not a folder") from error
    except ValueError as error:
        raise GitFailedError(f"git cannot be asked that: {error}") from error


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")[:TEXT_LIMIT]


def _seconds(raw: bytes) -> int:
    return int(raw) if raw.lstrip(b"-").isdigit() else 0


def _moment(raw: bytes) -> datetime:
    """Read a commit's time; what no calendar holds becomes the beginning of time."""
    try:
        return datetime.fromtimestamp(int(raw), UTC)
    except (OverflowError, OSError, ValueError):
        return _EPOCH


def _branch(source: bytes) -> str | None:
    name = paths.read(source)
    for prefix in ("refs/heads/", "refs/remotes/"):
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    return None
