"""Which commit became which when a history was written anew."""

from collections.abc import Callable, Sequence

from protocol.values import Record, Timestamp


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
    """Pair what shares a trait, first with first."""
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
