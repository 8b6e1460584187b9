"""Make a small repository from a story, for the demonstration."""

import tempfile
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import IO

from msgspec import Struct

from protocol.errors import GitFailedError
from sidecar.code import git


class SampleCommit(Struct, frozen=True):
    """A commit of the story."""

    at: datetime
    author: str
    message: str
    files: dict[str, str]


def create(folder: Path, commits: Iterable[SampleCommit]) -> None:
    """Make a repository in a new folder, with these commits on `main`."""
    folder.mkdir(parents=True)
    _run(folder, "init", "--quiet", "--initial-branch=main")
    with tempfile.TemporaryFile() as stream:
        for commit in commits:
            stream.write(_as_stream(commit))
        stream.seek(0)
        _run(folder, "fast-import", "--quiet", stdin=stream)
    _run(folder, "reset", "--hard", "--quiet", "main")


def _as_stream(commit: SampleCommit) -> bytes:
    """Write a commit as `git fast-import` reads it."""
    email = f"{commit.author.split()[0].lower()}@example.org"
    stamp = f"{commit.author} <{email}> {int(commit.at.timestamp())} +0000"
    lines = [
        "commit refs/heads/main",
        f"author {stamp}",
        f"committer {stamp}",
        _data(commit.message),
    ]
    for path, content in commit.files.items():
        lines += [f"M 644 inline {path}", _data(content.removeprefix("\n"))]
    return ("\n".join(lines) + "\n").encode()


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}"


def _run(folder: Path, *command: str, stdin: IO[bytes] | None = None) -> None:
    code, _, problem = git.ask(folder, *command, stdin=stdin)
    if code != 0:
        raise GitFailedError(f"git {command[0]} failed in {folder}: {problem}")
