"""What git itself would choke on: files of a repository that it reads whole, whatever their size."""

import os
from collections.abc import Iterator
from pathlib import Path

from protocol.errors import GitFailedError
from sidecar.adapters import plain, skips

_LIMITS = {"HEAD": plain.SMALL, "config": 1024 * 1024, "packed-refs": 64 * 1024 * 1024}
"""Bytes from which git is not run at all: a sparse file of some gigabytes costs an attacker nothing."""


def check(folder: Path) -> None:
    """Refuse a folder whose repository has a file that git should not be made to read."""
    for path, limit in _files(folder):
        if plain.size(path) > limit:
            reason = f"larger than {limit:,} bytes; git is not run here"
            skips.note(folder, str(path), reason)
            raise GitFailedError(f"cannot read {path}: {reason}")


def _files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Name the files that git reads before it answers anything, each with its limit."""
    gitdir = _find(folder)
    if gitdir is None:
        return
    yield from ((gitdir / name, limit) for name, limit in _LIMITS.items())
    content = plain.read(gitdir / "HEAD") or b""
    if content.startswith(b"ref: "):
        name = os.fsdecode(content.removeprefix(b"ref: ").strip())
        yield gitdir / name, plain.SMALL


def _find(folder: Path) -> Path | None:
    """Find git's own folder from a working tree, as git looks for it."""
    for place in (folder, *folder.parents):
        found = place / ".git"
        if os.path.isdir(found):  # noqa: PTH112  # never raises
            return found
        content = plain.read(found)
        if content is not None and content.startswith(b"gitdir: "):
            return place / os.fsdecode(content.removeprefix(b"gitdir: ").strip())
    return None
