"""Which project a folder belongs to, as far as git can tell."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from protocol.errors import GitFailedError
from sidecar.adapters.git import runner
from sidecar.domain import identities, paths
from sidecar.domain.identities import Facts

Believe = Callable[[str, str | None], Iterable[str]]
"""Root commits to expect in a folder with a remote."""

_HOPS = 5


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
    return runner.text(runner.setting(folder, "--get", "user.email")).strip() or None


def _ask_about(folder: Path) -> tuple[Path, bool] | None:
    """Tell a repository's common folder and whether it is shallow; None without git."""
    question = (
        "rev-parse",
        "--path-format=absolute",
        "--git-common-dir",
        "--is-shallow-repository",
    )
    code, output, problem = runner.ask(folder, *question)
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
        if runner.ask(folder, "cat-file", "-e", sha + "^{commit}")[0] == 0:
            return sha
    for start in ("HEAD", "--all"):
        code, output, _ = runner.ask(folder, "rev-list", "--max-parents=0", start, "--")
        if code == 0 and output.strip():
            return output.split()[-1].decode()
    return None


def _remote(folder: Path, hops: int) -> str | None:
    """Name the remote; one on this disk is followed to where it came from itself."""
    output = runner.setting(folder, "-z", "--get-regexp", r"^remote\..*\.url$")
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
