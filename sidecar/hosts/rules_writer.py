"""Write, refresh and remove rules files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from protocol.errors import ConflictError, StorageFailedError
from protocol.rules import (
    RulesChange,
    RulesChanges,
    RulesFile,
    RulesList,
    RulesOutcome,
    RulesParams,
    RulesState,
    Target,
    WriteRulesParams,
)
from sidecar.hosts import config_files, rules_files
from sidecar.hosts.contents import Sight
from sidecar.hosts.rules import ledger
from sidecar.hosts.rules.ledger import Written
from sidecar.storage.ledgers import Ledger

if TYPE_CHECKING:
    import re


_EDITED = "it was edited by hand"


@dataclass(frozen=True)
class Tools:
    """What writing rules files depends on."""

    root: str
    """The project's folder, all links followed."""
    ledger: Ledger
    tell: Callable[[Target, int], str]
    """Returns the context for a target, in at most so many characters."""


class _Page(Struct, frozen=True):
    """A file as it was found."""

    target: Target
    sight: Sight
    text: str | None = None
    ours: str | None = None
    """What of it is ours."""
    is_intact: bool = True


def list_files(tools: Tools) -> RulesList:
    """Return the state of each rules file: absent, written, edited or refused."""
    return RulesList(files=tuple(_describe(tools, target) for target in rules_files.TARGETS))


def write(tools: Tools, params: WriteRulesParams) -> RulesChange:
    """Write a file or renew it; one that was edited by hand is kept, unless `force` is set."""
    return _write(tools, params.target, force=params.force)


def refresh(tools: Tools, params: RulesParams) -> RulesChanges:
    """Renew the files that exist; none is created."""

    def renew(target: Target) -> RulesChange:
        page = _open(tools, target)
        if page.ours is None:
            return _outcome(page, "absent")
        return _write(tools, target, force=params.force)

    return _change(tools, params.target, renew)


def remove(tools: Tools, params: RulesParams) -> RulesChanges:
    """Take our text out of the files that have it, and leave everything else as it was before us."""

    def take_out(target: Target) -> RulesChange:
        with tools.ledger.held():
            return _remove(tools, _open(tools, target), force=params.force)

    return _change(tools, params.target, take_out)


def _change(
    tools: Tools, target: Target | None, change: Callable[[Target], RulesChange]
) -> RulesChanges:
    if target is not None:
        return RulesChanges(files=(change(target),))
    changes = [_try(tools, target, change) for target in rules_files.TARGETS]
    return RulesChanges(files=tuple(change for change in changes if change.outcome != "absent"))


def _try(tools: Tools, target: Target, change: Callable[[Target], RulesChange]) -> RulesChange:
    """Change one of several files; what is wrong with it must not stop the others."""
    try:
        return change(target)
    except (ConflictError, StorageFailedError) as error:
        path = str(PurePath(tools.root, rules_files.place(target)))
        if _is_strange(tools, target):
            return _outcome(_Page(target, Sight(path)), "absent")
        return RulesChange(
            target=target, path=path, state="refused", reason=str(error), outcome="refused"
        )


def _is_strange(tools: Tools, target: Target) -> bool:
    path = str(PurePath(tools.root, rules_files.place(target)))
    data = config_files.look(path, [tools.root]).data or b""
    return path not in tools.ledger.rows() and b"threadline" not in data


def _describe(tools: Tools, target: Target) -> RulesFile:
    try:
        page = _open(tools, target)
    except ConflictError as error:
        path = str(PurePath(tools.root, rules_files.place(target)))
        return RulesFile(target=target, path=path, state="refused", reason=str(error))
    return RulesFile(
        target=target,
        path=page.sight.path,
        state=_state(page),
        reason=None if page.is_intact else _EDITED,
        chars=len(page.ours or ""),
    )


def _state(page: _Page) -> RulesState:
    if page.ours is None:
        return "absent"
    return "written" if page.is_intact else "edited"


def _open(tools: Tools, target: Target) -> _Page:
    """Read a file; one that must not be touched is refused."""
    path = str(PurePath(tools.root, rules_files.place(target)))
    sight = config_files.look(path, [tools.root])
    try:
        text = _text(sight)
        ours, is_intact = rules_files.find(target, text) or (None, True)
    except ConflictError as error:
        raise ConflictError(f"{path} is left as it is: {error}", field="target") from error
    return _Page(target, sight, text, ours, is_intact)


def _text(sight: Sight) -> str | None:
    if sight.refusal is not None:
        raise ConflictError(sight.refusal)
    if sight.real != sight.path:
        raise ConflictError(f"it is a link, or in a folder that is one: {sight.real}")
    try:
        return None if sight.data is None else sight.data.decode()
    except UnicodeDecodeError as error:
        raise ConflictError(f"it is not UTF-8 (byte {error.start})") from error


def _write(tools: Tools, target: Target, *, force: bool) -> RulesChange:
    """Write a file; the context is built before the lock is taken."""
    _open(tools, target)
    text = tools.tell(target, rules_files.room(target))
    with tools.ledger.held():
        page = _open(tools, target)
        return _put(tools, page, text) if page.is_intact or force else _outcome(page, "kept")


def _put(tools: Tools, page: _Page, text: str) -> RulesChange:
    new = rules_files.put(page.target, page.text, text)
    ours, _ = rules_files.find(page.target, new) or (None, True)
    written = replace(page, ours=ours, is_intact=True)
    if new != page.text:
        _place(tools, page, new)
        return _outcome(written, "created" if page.ours is None else "updated")
    if page.sight.path not in tools.ledger.rows():
        tools.ledger.put(page.sight.path, _row(page, new))
    return _outcome(written, "unchanged")


def _place(tools: Tools, page: _Page, new: str) -> None:
    """Record the change, then make it; a failed one leaves no record."""
    path, data = page.sight.path, page.sight.data
    known = tools.ledger.rows().get(path)
    row = ledger.follow(known, _row(page, new), data, has_ours=page.ours is not None)
    tools.ledger.put(path, row)
    try:
        config_files.write(page.sight, new.encode())
    except BaseException:
        tools.ledger.put(path, known)
        raise


def _row(page: _Page, new: str) -> Written:
    """Return the record of a file; one that holds only our text counts as created by us."""
    data = page.sight.data
    is_ours = page.ours is not None and not rules_files.drop(page.target, page.text or "")
    return Written(
        path=page.sight.path,
        agents=(page.target,),
        before=None if data is None else ledger.digest(data),
        after=ledger.digest(new.encode()),
        is_created=data is None or is_ours,
        folders=config_files.find_missing(page.sight.path),
    )


def _remove(tools: Tools, page: _Page, *, force: bool) -> RulesChange:
    path = page.sight.path
    row = tools.ledger.rows().get(path)
    if not page.is_intact and not force:
        return _outcome(page, "kept")
    if page.ours is not None:
        left = rules_files.drop(page.target, page.text or "")
        if left or (row is not None and not row.is_created and row.before == ledger.digest(b"")):
            config_files.write(page.sight, left.encode())
        else:
            config_files.delete(page.sight, row.folders if row else ())
    if row is not None:
        tools.ledger.put(path, None)
        tools.ledger.bequeath(row)
    gone = replace(page, ours=None, is_intact=True)
    return _outcome(gone, "absent" if page.ours is None else "removed")


def _outcome(page: _Page, outcome: RulesOutcome) -> RulesChange:
    return RulesChange(
        target=page.target,
        path=page.sight.path,
        state=_state(page),
        reason=None if page.is_intact else f"{_EDITED}; `force` replaces it",
        chars=len(page.ours or ""),
        outcome=outcome,
    )


Needles = Sequence["re.Pattern[bytes]"]
"""What must be found nowhere."""


def find(rows: Mapping[str, Written], agent: str, project: str) -> Sight | None:
    """Return an assistant's rules file in a project, or None unless it was connected there and nobody edited it."""
    sight = _see(rows, agent, str(PurePath(project, rules_files.PLACES[agent])), project)
    is_intact = sight is not None and rules_files.is_intact(_rules_text(sight))
    return sight if is_intact else None


def renew(agent: str, sight: Sight, text: str) -> None:
    """Replace the text of an assistant's rules file."""
    _replace(sight, rules_files.write(text, agent))


def find_projects(rows: Iterable[str]) -> set[str]:
    """Return the folders of all projects with a rules file, from the paths that were written."""
    return {
        str(path.parents[len(PurePath(place).parts) - 1])
        for path in map(PurePath, rows)
        for place in map(rules_files.place, rules_files.TARGETS)
        if path.match(place)
    }


def clear(rows: Mapping[str, Written], projects: Iterable[str], needles: Needles = ()) -> list[str]:
    """Empty the rules files of projects until they are renewed.

    Return those that may not be touched, and those that somebody has edited and that still contain a needle.
    """
    seen = [
        (target, _see(rows, target, str(PurePath(project, rules_files.place(target))), project))
        for project in projects
        for target in rules_files.TARGETS
    ]
    return [sight.path for target, sight in seen if sight and not _empty(target, sight, needles)]


def _see(rows: Mapping[str, Written], reader: str, path: str, project: str) -> Sight | None:
    row = rows.get(path)
    return config_files.look(path, [project]) if row is not None and reader in row.agents else None


def _empty(target: Target, sight: Sight, needles: Needles) -> bool:
    """Empty a file, or our block in it; what others have written stays, but must not contain a needle either."""
    if sight.refusal is not None:
        return False
    text, data = _rules_text(sight), sight.data or b""
    try:
        ours = rules_files.find(target, text)
        if ours is None:
            return True
        _, is_intact = ours
        if is_intact:
            _replace(sight, rules_files.put(target, text, ""))
            return True
    except ConflictError:
        pass
    except StorageFailedError:
        return False
    return not any(needle.search(data) for needle in needles)


def _replace(sight: Sight, text: str) -> None:
    data = text.encode(errors="surrogateescape")
    if data != sight.data:
        config_files.write(sight, data)


def _rules_text(sight: Sight) -> str:
    return (sight.data or b"").decode(errors="surrogateescape")
