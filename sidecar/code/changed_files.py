"""Which files a change changes: what is staged, or what lies between two commits."""

from pathlib import Path

from msgspec import Struct

from protocol.errors import InvalidParamsError
from sidecar.code import git

_RAW = ("--raw", "-z", "-M", "--no-abbrev")
_SEPARATOR = ".."
_FIELDS = 5


class ChangedFile(Struct, frozen=True, kw_only=True):
    """One file before and after; renamed files are one."""

    was: str
    path: str
    before: str | None
    """What git calls the contents; None for a file that is new."""
    after: str | None
    """None for a file that is gone."""


def staged(folder: Path) -> list[ChangedFile]:
    """Return what the next commit would change; nothing before the first commit."""
    if not _commit(folder, "HEAD"):
        return []
    return _read(folder, ("diff-index", "--cached", *_RAW, "HEAD"))


def between(folder: Path, span: str) -> list[ChangedFile]:
    """Return what changes from one commit to another, as `A..B`; raise InvalidParamsError for anything else."""
    first, separator, last = span.partition(_SEPARATOR)
    commits = [_commit(folder, name) for name in (first, last)]
    if not separator or last.startswith(".") or not all(commits):
        raise InvalidParamsError(f"{span} names no two commits; write A..B", field="range")
    return _read(folder, ("diff-tree", "-r", *_RAW, *commits))


def _commit(folder: Path, name: str) -> str:
    question = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    code, output, _ = git.ask(folder, *question)
    return output.decode().strip() if name and not code else ""


def _read(folder: Path, command: tuple[str, ...]) -> list[ChangedFile]:
    code, output, problem = git.ask(folder, *command)
    if code:
        raise InvalidParamsError(f"git cannot compare: {problem}", field="range")
    tokens = iter(output.split(b"\0"))
    files = []
    for head in tokens:
        if not head.startswith(b":") or len(fields := head.decode().split(" ")) != _FIELDS:
            continue
        before, after, status = fields[2], fields[3], fields[4]
        was = git.text(next(tokens))
        path = git.text(next(tokens)) if status[0] in "RC" else was
        files.append(ChangedFile(was=was, path=path, before=_blob(before), after=_blob(after)))
    return files


def _blob(name: str) -> str | None:
    return name if name.strip("0") else None
