"""Commits as events: a history, single ones, and what tells that two are the same change."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import msgspec

from protocol.errors import GitFailedError
from protocol.events import Commit, FileChange, FileStatus, NewEvent
from sidecar.adapters.git import runner
from sidecar.domain import events, paths
from sidecar.domain.moves import Listed

SAFE_DIFF = (
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--submodule=short"),
)
"""Without these a repository's settings could run programs, or change what a diff looks like."""
_NO_HISTORY = ("refs/stash", "refs/notes/*", "refs/replace/*", "refs/original/*")
"""References that name commits which are nobody's work."""
_MANY = 2000
"""Commits of a rewritten history that are looked at."""
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


def history(folder: Path, *, since: str | None, author: str | None) -> list[tuple[str, str | None]]:
    """List commits by author time, oldest first, each with the branch it was reached from."""
    filters = [f"--since={since}"] if since else []
    filters += ["--fixed-strings", f"--author={author}"] if author else []
    everything = (*(f"--exclude={pattern}" for pattern in _NO_HISTORY), "--all")
    shape = ("--topo-order", "--source", "-z", "--format=%at%x00%H%x00%S")
    tokens = list(runner.tokens(folder, ("log", *shape, *filters, *everything, "--")))
    rows = zip(tokens[0::3], tokens[1::3], tokens[2::3], strict=True)
    dated = [(_seconds(at), sha.decode(), _branch(source)) for at, sha, source in rows]
    dated.reverse()
    dated.sort(key=lambda row: row[0])
    return [(sha, branch) for _, sha, branch in dated]


def read(
    folder: Path, wanted: Sequence[tuple[str, str | None]], *, line_counts: bool = False
) -> Iterator[NewEvent]:
    """Read commits as events, in the order asked for, from one process; what is gone is left out."""
    if not wanted:
        return
    branches = dict(wanted)
    shape = ("--raw", "--numstat") if line_counts else ("--name-status",)
    command = (
        *("log", "--ignore-missing", "--stdin", "--no-walk=unsorted", "-z"),
        "--diff-merges=first-parent",
        "--find-renames=100%" if is_partial(folder) else "--find-renames",
        *("--encoding=UTF-8", "--format=" + "%x00".join(_FIELDS), *shape, *SAFE_DIFF),
    )
    with runner.listed(sha.encode() for sha, _ in wanted) as names:
        yield from _parse(runner.tokens(folder, command, names), branches)


def between(folder: Path, tip: str, without: Iterable[str]) -> list[Listed]:
    """List what a commit has that others have not, oldest first; of very many, the newest.

    A commit that git has thrown away has nothing, and takes nothing away.
    """
    without = list(without)
    try:
        return _between(folder, tip, without)
    except GitFailedError:
        named = [one for one in without if not one.startswith("--") and one != "HEAD"]
        gone = {tip, *named} - _present(folder, [tip, *named])
        if not gone:
            raise
        return [] if tip in gone else _between(folder, tip, [o for o in without if o not in gone])


def _between(folder: Path, tip: str, without: Iterable[str]) -> list[Listed]:
    shape = ("--topo-order", "--reverse", "-z", "--format=%H%x00%ce%x00%ct", f"-{_MANY}")
    tokens = list(runner.tokens(folder, ("log", *shape, tip, "--not", *without, "--")))
    rows = zip(tokens[0::3], tokens[1::3], tokens[2::3], strict=True)
    return [
        Listed(sha=sha.decode(), committer_email=runner.text(email), committed_at=moment(at))
        for sha, email, at in rows
    ]


def _present(folder: Path, shas: Iterable[str]) -> set[str]:
    """Pick the commits that git still has."""
    with runner.listed(sha.encode() for sha in shas) as names:
        _, output, _ = runner.ask(folder, "cat-file", "--batch-check", stdin=names)
    rows = (line.split() for line in output.decode(errors="replace").splitlines())
    return {row[0] for row in rows if row[1:2] == ["commit"]}


def patch_ids(folder: Path, shas: Iterable[str]) -> dict[str, str]:
    """Give git's patch-id of each commit that has one; merges and empty commits have none."""
    command = (
        *("log", "--ignore-missing", "--stdin", "--no-walk=unsorted", "--no-merges"),
        *("--patch", "--format=commit %H", *SAFE_DIFF),
    )
    import tempfile  # noqa: PLC0415  # it loads much that few need

    with runner.listed(sha.encode() for sha in shas) as names, tempfile.TemporaryFile() as patches:
        patches.writelines(runner.chunks(folder, command, names))
        patches.seek(0)
        rows = runner.ask(folder, "patch-id", "--stable", stdin=patches)[1].split()
    return {sha.decode(): patch.decode() for patch, sha in zip(rows[0::2], rows[1::2], strict=True)}


def tree(folder: Path, sha: str) -> str | None:
    """Give the id of everything a commit holds; the same for the same content."""
    code, output, _ = runner.ask(folder, "rev-parse", "--verify", "--quiet", sha + "^{tree}")
    return output.decode().strip() if code == 0 else None


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
            author_name=runner.text(name),
            author_email=runner.text(email),
            authored_at=(authored_at := moment(authored)),
            committed_at=authored_at if committed == authored else moment(committed),
            subject=runner.text(subject),
            body=runner.text(body.strip()),
            branch=branches.get(sha),
        )
        yield NewEvent(
            kind="commit",
            occurred_at=commit.authored_at,
            idempotency_key=events.commit_key(sha),
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


def is_partial(folder: Path) -> bool:
    """Tell whether contents may be missing here, without which only exact renames can be found."""
    return bool(
        runner.setting(folder, "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$")
    )


def _seconds(raw: bytes) -> int:
    return int(raw) if raw.lstrip(b"-").isdigit() else 0


def moment(raw: bytes) -> datetime:
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
