"""Read commits as events."""

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import msgspec

from protocol.errors import GitFailedError, InvalidParamsError
from protocol.events import Commit, FileChange, FileStatus, NewEvent
from protocol.values import TEXT_LIMIT
from sidecar.capture.rules import sessions
from sidecar.capture.rules.head_moves import Listed
from sidecar.code import git, skips
from sidecar.text import paths

SAFE_DIFF = (
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--submodule=short"),
)
"""Without these a repository's settings could run programs, or change what a diff looks like."""
_NO_HISTORY = ("refs/stash", "refs/notes/*", "refs/replace/*", "refs/original/*")
"""References that name commits which are nobody's work."""
_MANY = 2000
"""Commits of a rewritten history that are looked at."""
FILES = 50_000
"""Files of a commit that are named; more are counted."""
_COUNTED = 1_000_000
"""Files up to which they are counted; a commit with more is kept without any."""
_BOMBS = 20
"""Commits that git cannot list the files of, after which the rest is given up."""
_PATCHES = 256 * 1024 * 1024
"""Bytes of patches that are compared."""
_CUT = f"[Threadline: this message is longer than {TEXT_LIMIT:,} characters and was cut]"
_UNCOUNTED = "[Threadline: this commit changes more files than can be listed]"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STATUS: dict[bytes, FileStatus] = {
    b"A": "added",
    b"M": "modified",
    b"D": "deleted",
    b"R": "renamed",
    b"C": "copied",
    b"T": "retyped",
}
_AGO = re.compile(
    r"today|yesterday|\d{1,6}[ .](second|minute|hour|day|week|month|year)s?[ .]ago", re.IGNORECASE
)
_FIELDS = ("%H", "%P", "%an", "%ae", "%at", "%ct", "%s", "%b")


def history(folder: Path, *, since: str | None, author: str | None) -> list[tuple[str, str | None]]:
    """List commits by author time, oldest first, each with the branch it was reached from."""
    filters = [f"--since={_moment(since)}"] if since else []
    filters += ["--fixed-strings", f"--author={author}"] if author else []
    everything = (*(f"--exclude={pattern}" for pattern in _NO_HISTORY), "--all")
    shape = ("--topo-order", "--source", "-z", "--format=%at%x00%H%x00%S")
    tokens = list(git.tokens(folder, ("log", *shape, *filters, *everything, "--")))
    rows = zip(tokens[0::3], tokens[1::3], tokens[2::3], strict=True)
    dated = [(_seconds(at), sha.decode(), _branch(source)) for at, sha, source in rows]
    dated.reverse()
    dated.sort(key=lambda row: row[0])
    return [(sha, branch) for _, sha, branch in dated]


def _moment(text: str) -> str:
    """Return a date as git reads it; git itself takes any words for some date, so others are refused."""
    with contextlib.suppress(ValueError):
        return datetime.fromisoformat(text).isoformat()
    if not _AGO.fullmatch(text.strip()):
        reason = f"`since` is no date: {text}; write 2026-11-01, `yesterday` or `3 weeks ago`"
        raise InvalidParamsError(reason, field="since")
    return text


def read(
    folder: Path, wanted: Sequence[tuple[str, str | None]], *, line_counts: bool = False
) -> Iterator[NewEvent]:
    """Return commits as events in the given order, from one git process; missing ones are left out.

    A commit that git cannot list the files of within its limits is given without files, and reading goes on after it.
    """
    if not wanted:
        return
    shape = ("--raw", "--numstat") if line_counts else ("--name-status",)
    renames = "--find-renames=100%" if is_partial(folder) else "--find-renames"
    waiting = list(wanted)
    for tries in range(_BOMBS):
        done = 0
        places = {sha: number for number, (sha, _) in enumerate(waiting)}
        try:
            for event in _read(folder, waiting, (*shape, renames)):
                done = places[event.commit.sha] + 1 if event.commit else done
                yield event
        except git.LimitError:
            if tries == _BOMBS - 1 or done == len(waiting):
                raise
            yield from _read_bomb(folder, waiting[done])
            del waiting[: done + 1]
        else:
            return


def _read(
    folder: Path, wanted: Sequence[tuple[str, str | None]], shape: Sequence[str]
) -> Iterator[NewEvent]:
    command = (
        *("log", "--ignore-missing", "--stdin", "--no-walk=unsorted", "-z"),
        *("--diff-merges=first-parent", "--encoding=UTF-8", "--format=" + "%x00".join(_FIELDS)),
        *(*shape, *SAFE_DIFF),
    )
    with git.listed(sha.encode() for sha, _ in wanted) as names:
        yield from _parse(folder, git.tokens(folder, command, names), dict(wanted))


def _read_bomb(folder: Path, wanted: tuple[str, str | None]) -> Iterator[NewEvent]:
    skips.note(folder, f"commit {wanted[0]}", "changes more files than can be listed")
    for event in _read(folder, [wanted], ("--no-patch",)):
        commit = event.commit
        if commit is not None:
            body = _signed(commit.body, _UNCOUNTED)
            yield msgspec.structs.replace(event, commit=msgspec.structs.replace(commit, body=body))


def between(folder: Path, tip: str, without: Iterable[str]) -> list[Listed]:
    """Return the commits behind one and not behind others, oldest first; of very many, the newest.

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
    tokens = list(git.tokens(folder, ("log", *shape, tip, "--not", *without, "--")))
    rows = zip(tokens[0::3], tokens[1::3], tokens[2::3], strict=True)
    return [
        Listed(sha=sha.decode(), committer_email=git.text(email), committed_at=moment(at))
        for sha, email, at in rows
    ]


def _present(folder: Path, shas: Iterable[str]) -> set[str]:
    with git.listed(sha.encode() for sha in shas) as names:
        _, output, _ = git.ask(folder, "cat-file", "--batch-check", stdin=names)
    rows = (line.split() for line in output.decode(errors="replace").splitlines())
    return {row[0] for row in rows if row[1:2] == ["commit"]}


def patch_ids(folder: Path, shas: Iterable[str]) -> dict[str, str]:
    """Return git's patch-id of each commit that has one; merges and empty commits have none."""
    command = (
        *("log", "--ignore-missing", "--stdin", "--no-walk=unsorted", "--no-merges"),
        *("--patch", "--format=commit %H", *SAFE_DIFF),
    )
    import tempfile  # noqa: PLC0415  # it loads much that few need

    with git.listed(sha.encode() for sha in shas) as names, tempfile.TemporaryFile() as patches:
        for chunk in git.chunks(folder, command, names):
            if patches.tell() > _PATCHES:
                skips.note(folder, "patches", f"more than {_PATCHES:,} bytes to compare")
                return {}
            patches.write(chunk)
        patches.seek(0)
        rows = git.ask(folder, "patch-id", "--stable", stdin=patches)[1].split()
    return {sha.decode(): patch.decode() for patch, sha in zip(rows[0::2], rows[1::2], strict=True)}


def tree(folder: Path, sha: str) -> str | None:
    """Return the id of a commit's tree, which is the same for the same content."""
    code, output, _ = git.ask(folder, "rev-parse", "--verify", "--quiet", sha + "^{tree}")
    return output.decode().strip() if code == 0 else None


def _parse(
    folder: Path, tokens: Iterator[bytes], branches: dict[str, str | None]
) -> Iterator[NewEvent]:
    token = next(tokens, b"")
    while token:
        sha = token.decode()
        parents, name, email, authored, committed, subject, body = islice(tokens, len(_FIELDS) - 1)
        changes: dict[bytes, FileChange] = {}
        more = 0
        token = next(tokens, b"")
        if token.startswith(b"\n"):
            token, more = _read_changes(token[1:], tokens, changes)
        if more:
            skips.note(folder, f"commit {sha}", f"files beyond the first {FILES:,}", more)
        commit = Commit(
            sha=sha,
            parents=tuple(parents.decode().split()),
            author_name=git.text(name),
            author_email=git.text(email),
            authored_at=(authored_at := moment(authored)),
            committed_at=authored_at if committed == authored else moment(committed),
            subject=git.text(subject),
            body=git.text(body.strip()),
            branch=branches.get(sha),
            files_overflow=more,
        )
        if max(len(subject), len(body)) > TEXT_LIMIT and _is_cut(subject, body):
            skips.note(folder, f"commit {sha}", f"message beyond {TEXT_LIMIT:,} characters")
            commit = msgspec.structs.replace(commit, body=_signed(commit.body, _CUT))
        yield NewEvent(
            kind="commit",
            occurred_at=commit.authored_at,
            idempotency_key=sessions.commit_key(sha),
            files=tuple(changes.values()),
            commit=commit,
        )


def _is_cut(*parts: bytes) -> bool:
    return any(len(part.decode("utf-8", "replace")) > TEXT_LIMIT for part in parts)


def _signed(body: str, sign: str) -> str:
    return f"{body[: TEXT_LIMIT - len(sign) - 2]}\n\n{sign}".lstrip("\n")


def _read_changes(
    token: bytes, tokens: Iterator[bytes], changes: dict[bytes, FileChange]
) -> tuple[bytes, int]:
    """Read a commit's files; return the first token of the next commit, if any, and how many files were left out."""
    more = 0
    while token[:1].isupper() or token[:1] == b":" or b"\t" in token:
        if b"\t" in token:
            _count(token, tokens, changes)
        else:
            letter = token.rpartition(b" ")[2][:1]
            source = next(tokens) if letter in b"RC" else None
            path = next(tokens)
            if len(changes) < FILES:
                changes[path] = FileChange(
                    path=paths.read(path),
                    status=_STATUS.get(letter, "modified"),
                    previous_path=None if source is None else paths.read(source),
                )
            else:
                more += 1
        if more > _COUNTED:
            raise git.LimitError(f"a commit changes more than {_COUNTED:,} files")
        token = next(tokens, b"")
    return token, more


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
    """Return whether this is a partial clone, where only exact renames can be found."""
    return bool(
        git.setting(folder, "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$")
    )


def _seconds(raw: bytes) -> int:
    return int(raw) if raw.lstrip(b"-").isdigit() else 0


def moment(raw: bytes) -> datetime:
    """Return a commit's time; one that no calendar holds becomes the epoch."""
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
