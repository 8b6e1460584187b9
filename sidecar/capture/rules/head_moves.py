"""What a move of HEAD means: a new commit, a rewrite, or just a checkout."""

import re
from collections.abc import Callable, Sequence

from protocol.values import Record, Timestamp

NOWHERE = ""
"""Where HEAD is before the first commit."""

_MADE = {"commit", "cherry-pick", "revert", "am", "merge"}
_STOOD = {
    "checkout",
    "switch",
    "reset",
    "pull",
    "fetch",
    "clone",
    "branch",
    "initial",
    "update",
    "Branch",
}
_ENDS = {"finish", "abort", "finished", "aborting"}
_GIVEN_UP = {"abort", "aborting"}
_SHA = re.compile(r"[0-9a-f]{40,64}")


class Move(Record, frozen=True, kw_only=True):
    """One line of a HEAD's log."""

    old: str
    new: str
    at: Timestamp
    reason: str | None
    """None where git keeps no log and only the place is known."""


class Mark(Record, frozen=True, kw_only=True):
    """How far a HEAD's moves are known."""

    head: str = NOWHERE
    seen_at: Timestamp
    offset: int = 0
    """Bytes of the log that were read."""
    digest: str = ""
    """Of the last line that was read; another one there means that the log was written anew."""
    left: str = NOWHERE
    """Where HEAD was before it was reset, until the next commit."""


class Listed(Record, frozen=True, kw_only=True):
    """A commit as a list names it."""

    sha: str
    committer_email: str
    committed_at: Timestamp


class Made(Record, frozen=True, kw_only=True):
    """A commit that was made here."""

    sha: str
    at: Timestamp
    branch: str | None


class Amended(Record, frozen=True, kw_only=True):
    """A commit in place of the one before."""

    sha: str
    earlier: str
    at: Timestamp
    branch: str | None


class Rebased(Record, frozen=True, kw_only=True):
    """A line of commits made anew on another ground."""

    before: str
    onto: str
    after: str
    at: Timestamp
    branch: str | None


class Left(Record, frozen=True, kw_only=True):
    """A place that was left for another; nothing was made."""

    before: str
    after: str
    is_reset: bool


class Unclear(Record, frozen=True, kw_only=True):
    """A move whose reason is unknown; the commits themselves must tell."""

    before: str
    after: str
    at: Timestamp
    branch: str | None


Step = Made | Amended | Rebased | Left | Unclear


class Reading(Record, frozen=True, kw_only=True):
    """What a log says."""

    steps: tuple[Step, ...]
    handled: int
    """How many moves need not be read again; the rest belongs to a rebase that is under way."""


def read(moves: Sequence[Move], branch: str | None, *, is_rebasing: bool) -> Reading:
    """Read moves in order; `branch` is where HEAD stands after the last of them."""
    branches = _branches(moves, branch)
    steps: list[Step] = []
    index = 0
    while index < len(moves):
        if _detail(moves[index]) != "start":
            steps += _step(moves[index], branches[index])
            index += 1
            continue
        end = _end_of_rebase(moves, index)
        if end == len(moves) and is_rebasing:
            made = zip(moves[index:], branches[index:], strict=True)
            steps += [step for move, name in made for step in _step(move, name)]
            return Reading(steps=tuple(steps), handled=index)
        if end == len(moves) or _detail(moves[end]) not in _ENDS:
            end = _last_step(moves, index, end)
        steps.append(_rebase(moves[index : end + 1], branches[end]))
        index = end + 1
    return Reading(steps=tuple(steps), handled=len(moves))


def _rebase(moves: Sequence[Move], branch: str | None) -> Step:
    """Read a rebase that is over; one that was given up made nothing that counts."""
    first, last = moves[0], moves[-1]
    if _detail(last) in _GIVEN_UP:
        return Left(before=moves[-2].new, after=last.new, is_reset=True)
    return Rebased(before=first.old, onto=first.new, after=last.new, at=last.at, branch=branch)


def _last_step(moves: Sequence[Move], start: int, end: int) -> int:
    """Find the last move of a rebase that ended without a word, as one without a branch does."""
    steps = (index for index in range(min(end, len(moves) - 1), start, -1) if _detail(moves[index]))
    return next(steps, start)


def _step(move: Move, branch: str | None) -> list[Step]:
    """Read one move that is not the beginning of a rebase."""
    command, detail = _command(move), _detail(move)
    if command in {"rebase", "pull"} and detail:
        return []
    if command == "commit" and detail == "amend":
        return [Amended(sha=move.new, earlier=move.old, at=move.at, branch=branch)]
    was_there = command == "merge" and _rest(move).startswith("Fast-forward")
    was_there |= (command, _rest(move)) == ("cherry-pick", "fast-forward")
    if command in _MADE and not was_there:
        return [Made(sha=move.new, at=move.at, branch=branch)]
    is_beginning = move.old == NOWHERE and move.reason == ""
    if command in _MADE | _STOOD | {"rebase"} or is_beginning:
        return [Left(before=move.old, after=move.new, is_reset=command == "reset")]
    return [Unclear(before=move.old, after=move.new, at=move.at, branch=branch)]


def _end_of_rebase(moves: Sequence[Move], start: int) -> int:
    """Find the move that ends a rebase; one that was given up ends before the next thing begins."""
    for index in range(start + 1, len(moves)):
        detail, command = _detail(moves[index]), _command(moves[index])
        if detail in _ENDS:
            return index
        if detail == "start" or command in {"checkout", "switch"}:
            return index - 1
    return len(moves)


def _branches(moves: Sequence[Move], branch: str | None) -> list[str | None]:
    """Tell on which branch each move ended, going back from where HEAD is now."""
    branches: list[str | None] = []
    for move in reversed(moves):
        reason = move.reason or ""
        if _detail(move) in _ENDS and " refs/heads/" in reason:
            branch = reason.rpartition(" refs/heads/")[2]
        branches.append(branch)
        came = re.fullmatch(r"checkout: moving from (\S+) to \S+", reason)
        if came or move.old == NOWHERE:
            branch = came[1] if came and not _SHA.fullmatch(came[1]) else None
    branches.reverse()
    return branches


def _command(move: Move) -> str:
    return _head(move).partition(" ")[0]


def _detail(move: Move) -> str:
    head = _head(move)
    command, _, _ = head.partition(" ")
    if command in {"rebase", "pull", "commit"} and head.endswith(")"):
        return head.rpartition(" (")[2].removesuffix(")") if " (" in head else ""
    return head.rpartition(" ")[2] if head in {"rebase finished", "rebase aborting"} else ""


def _head(move: Move) -> str:
    return (move.reason or "").partition(": ")[0].removesuffix(":")


def _rest(move: Move) -> str:
    return (move.reason or "").partition(": ")[2]


class Change(Record, frozen=True, kw_only=True):
    """What tells that two commits are the same change."""

    sha: str
    author: str
    authored_at: Timestamp
    subject: str
    files: frozenset[str]
    patch: str | None
    """Git's patch-id; the same for the same change wherever it is applied."""


Trait = Callable[[Change], str | None]


class Rewrite(Record, frozen=True, kw_only=True):
    """What became of the commits that are gone."""

    replaced: dict[str, tuple[str, ...]]
    """New commits, each with the ones it stands for: one, or several that were squashed."""
    dropped: tuple[str, ...]
    """Commits that nothing stands for any more."""


def match(gone: Sequence[Change], made: Sequence[Change]) -> Rewrite:
    """Find the new commit for each that is gone; both come oldest first.

    The same patch is the same commit. A rebase keeps author and time, so those tell where a patch was
    changed on the way. What is left was squashed into such a changed commit before it, or dropped.
    """
    became = _pair(gone, made, lambda change: change.patch)
    changed: dict[str, str] = {}
    for trait in (_origin_and_subject, _origin):
        known = became | changed
        changed |= _pair(
            [change for change in gone if change.sha not in known],
            [change for change in made if change.sha not in known.values()],
            trait,
        )
    became |= changed
    files = {change.sha: change.files for change in made}
    dropped: list[str] = []
    latest: list[str] = []
    for change in gone:
        if change.sha in changed:
            latest.append(changed[change.sha])
        elif change.sha not in became:
            into = next((new for new in reversed(latest) if change.files <= files[new]), None)
            if into is None or not change.files:
                dropped.append(change.sha)
            else:
                became[change.sha] = into
    return Rewrite(replaced=_turned(gone, became), dropped=tuple(dropped))


def _origin(change: Change) -> str:
    return f"{change.author}\0{change.authored_at}"


def _origin_and_subject(change: Change) -> str:
    return f"{_origin(change)}\0{change.subject}"


def _pair(gone: Sequence[Change], made: Sequence[Change], trait: Trait) -> dict[str, str]:
    waiting: dict[str, list[str]] = {}
    for change in reversed(made):
        if (name := trait(change)) is not None:
            waiting.setdefault(name, []).append(change.sha)
    pairs: dict[str, str] = {}
    for change in gone:
        if (name := trait(change)) is not None and waiting.get(name):
            pairs[change.sha] = waiting[name].pop()
    return pairs


def _turned(gone: Sequence[Change], became: dict[str, str]) -> dict[str, tuple[str, ...]]:
    replaced: dict[str, tuple[str, ...]] = {}
    for change in gone:
        if change.sha in became:
            new = became[change.sha]
            replaced[new] = (*replaced.get(new, ()), change.sha)
    return replaced
