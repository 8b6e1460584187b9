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
from sidecar.hosts import rules_files
from sidecar.hosts.contents import Sight
from sidecar.hosts.rules import ledger
from sidecar.hosts.rules.ledger import Written
from sidecar.storage.ledgers import Ledger

if TYPE_CHECKING:
    import re


_EDITED = "it was edited by hand"


@dataclass(frozen=True)
class Tools:
    """All that ruling needs of the machine."""

    root: str
    """Where the project's files really are."""
    ledger: Ledger
    tell: Callable[[Target, int], str]
    """Tells what a target should know, in at most so many characters."""
    look: Callable[[str, Sequence[str]], Sight]
    find_missing: Callable[[str], tuple[str, ...]]
    write: Callable[[Sight, bytes], tuple[str, ...]]
    delete: Callable[[Sight, Sequence[str]], None]


class _Page(Struct, frozen=True):
    """A file as it was found."""

    target: Target
    sight: Sight
    text: str | None = None
    ours: str | None = None
    """What of it is ours."""
    is_intact: bool = True


def list_files(tools: Tools) -> RulesList:
    """Tell of each file whether it is there, and whether it is as we wrote it."""
    return RulesList(files=tuple(_describe(tools, target) for target in rules_files.TARGETS))


def write(tools: Tools, params: WriteRulesParams) -> RulesChange:
    """Write a file, or renew it; one that was edited by hand is kept, unless that is not wanted."""
    return _write(tools, params.target, force=params.force)


def refresh(tools: Tools, params: RulesParams) -> RulesChanges:
    """Renew the files that are there; none is made."""

    def renew(target: Target) -> RulesChange:
        page = _open(tools, target)
        if page.ours is None:
            return _tell(page, "absent")
        return _write(tools, target, force=params.force)

    return _change(tools, params.target, renew)


def remove(tools: Tools, params: RulesParams) -> RulesChanges:
    """Take our words out of the files that have them; what is left is as if we had never been there."""

    def take_out(target: Target) -> RulesChange:
        with tools.ledger.held():
            return _remove(tools, _open(tools, target), force=params.force)

    return _change(tools, params.target, take_out)


def _change(
    tools: Tools, target: Target | None, change: Callable[[Target], RulesChange]
) -> RulesChanges:
    if target is not None:
        return RulesChanges(files=(change(target),))
    found = [_try(tools, each, change) for each in rules_files.TARGETS]
    return RulesChanges(files=tuple(one for one in found if one.outcome != "absent"))


def _try(tools: Tools, target: Target, change: Callable[[Target], RulesChange]) -> RulesChange:
    """Change one of several files; what is wrong with it must not keep the others from it."""
    try:
        return change(target)
    except (ConflictError, StorageFailedError) as error:
        path = _path(tools, target)
        if _is_strange(tools, target):
            return _tell(_Page(target, Sight(path)), "absent")
        return RulesChange(
            target=target, path=path, state="refused", reason=str(error), outcome="refused"
        )


def _is_strange(tools: Tools, target: Target) -> bool:
    """Tell whether a file has nothing of ours, so that nobody asked for anything to be done with it."""
    path = _path(tools, target)
    data = tools.look(path, [tools.root]).data or b""
    return path not in tools.ledger.rows() and b"threadline" not in data


def _describe(tools: Tools, target: Target) -> RulesFile:
    try:
        page = _open(tools, target)
    except ConflictError as error:
        path = _path(tools, target)
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
    """Read a file; one that must not be touched is refused, whatever is to be done with it."""
    path = _path(tools, target)
    sight = tools.look(path, [tools.root])
    try:
        text = _text(sight)
        ours, is_intact = rules_files.find(target, text) or (None, True)
    except ConflictError as error:
        raise ConflictError(f"{path} is left as it is: {error}", field="target") from error
    return _Page(target, sight, text, ours, is_intact)


def _path(tools: Tools, target: Target) -> str:
    return str(PurePath(tools.root, rules_files.place(target)))


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
    """Write a file; what it says is put together before others have to wait for us."""
    _open(tools, target)
    told = tools.tell(target, rules_files.room(target))
    with tools.ledger.held():
        page = _open(tools, target)
        return _put(tools, page, told) if page.is_intact or force else _tell(page, "kept")


def _put(tools: Tools, page: _Page, told: str) -> RulesChange:
    new = rules_files.put(page.target, page.text, told)
    ours, _ = rules_files.find(page.target, new) or (None, True)
    written = replace(page, ours=ours, is_intact=True)
    if new != page.text:
        _place(tools, page, new)
        return _tell(written, "created" if page.ours is None else "updated")
    if page.sight.path not in tools.ledger.rows():
        tools.ledger.put(page.sight.path, _row(tools, page, new))
    return _tell(written, "unchanged")


def _place(tools: Tools, page: _Page, new: str) -> None:
    """Write down what is about to be done, and do it; where it fails, nothing was."""
    path, data = page.sight.path, page.sight.data
    known = tools.ledger.rows().get(path)
    row = ledger.follow(known, _row(tools, page, new), data, has_ours=page.ours is not None)
    tools.ledger.put(path, row)
    try:
        tools.write(page.sight, new.encode())
    except BaseException:
        tools.ledger.put(path, known)
        raise


def _row(tools: Tools, page: _Page, new: str) -> Written:
    """Say what is known of a file; one that holds nothing but our words was made for them."""
    data = page.sight.data
    is_ours = page.ours is not None and not rules_files.drop(page.target, page.text or "")
    return Written(
        path=page.sight.path,
        agents=(page.target,),
        before=None if data is None else ledger.digest(data),
        after=ledger.digest(new.encode()),
        is_created=data is None or is_ours,
        folders=tools.find_missing(page.sight.path),
    )


def _remove(tools: Tools, page: _Page, *, force: bool) -> RulesChange:
    path = page.sight.path
    row = tools.ledger.rows().get(path)
    if not page.is_intact and not force:
        return _tell(page, "kept")
    if page.ours is not None:
        left = rules_files.drop(page.target, page.text or "")
        if left or (row is not None and not row.is_created and row.before == ledger.digest(b"")):
            tools.write(page.sight, left.encode())
        else:
            tools.delete(page.sight, row.folders if row else ())
    if row is not None:
        tools.ledger.put(path, None)
        tools.ledger.bequeath(row)
    gone = replace(page, ours=None, is_intact=True)
    return _tell(gone, "absent" if page.ours is None else "removed")


def _tell(page: _Page, outcome: RulesOutcome) -> RulesChange:
    return RulesChange(
        target=page.target,
        path=page.sight.path,
        state=_state(page),
        reason=None if page.is_intact else f"{_EDITED}; `force` replaces it",
        chars=len(page.ours or ""),
        outcome=outcome,
    )


AGENTS = rules_files.LIVING
"""Agents that read such a file."""
ROOM = rules_files.ROOM
"""Characters that a file has for what is told."""
Needles = Sequence["re.Pattern[bytes]"]
"""The bytes that must stand nowhere."""


@dataclass(frozen=True)
class RefreshTools:
    """All that refreshing needs of the machine."""

    rows: Callable[[], Mapping[str, Written]]
    look: Callable[[str, Sequence[str]], Sight]
    write: Callable[[Sight, bytes], tuple[str, ...]]


def find(tools: RefreshTools, agent: str, project: str) -> Sight | None:
    """See an agent's rules file in a project; None unless it was connected there and is as we have written it."""
    sight = _see(tools, agent, str(PurePath(project, rules_files.PLACES[agent])), project)
    is_intact = sight is not None and rules_files.is_intact(_rules_text(sight))
    return sight if is_intact else None


def refresh_all(tools: RefreshTools, sight: Sight, text: str) -> None:
    """Let a rules file tell a text."""
    _replace(tools, sight, rules_files.write(text))


def find_projects(tools: RefreshTools) -> set[str]:
    """Name the folders of all projects in which a file was written that assistants read by themselves."""
    return {
        str(path.parents[len(PurePath(place).parts) - 1])
        for path in map(PurePath, tools.rows())
        for place in map(rules_files.place, rules_files.TARGETS)
        if path.match(place)
    }


def clear(tools: RefreshTools, projects: Iterable[str], needles: Needles = ()) -> list[str]:
    """Let such files of projects tell nothing until they are renewed.

    Name those that may not be touched, and those that somebody has edited and that still say what is sought.
    """
    seen = [
        (target, _see(tools, target, str(PurePath(project, rules_files.place(target))), project))
        for project in projects
        for target in rules_files.TARGETS
    ]
    return [
        sight.path for target, sight in seen if sight and not _empty(tools, target, sight, needles)
    ]


def _see(tools: RefreshTools, reader: str, path: str, project: str) -> Sight | None:
    """See a file that was written for somebody; None if none was."""
    row = tools.rows().get(path)
    return tools.look(path, [project]) if row is not None and reader in row.agents else None


def _empty(tools: RefreshTools, target: Target, sight: Sight, needles: Needles) -> bool:
    """Empty a file, or our block in it; what others have written is none of ours, but must not say it either."""
    if sight.refusal is not None:
        return False
    text, data = _rules_text(sight), sight.data or b""
    try:
        found = rules_files.find(target, text)
        if found is None:
            return True
        _, is_intact = found
        if is_intact:
            _replace(tools, sight, rules_files.put(target, text, ""))
            return True
    except ConflictError:
        pass
    except StorageFailedError:
        return False
    return not any(needle.search(data) for needle in needles)


def _replace(tools: RefreshTools, sight: Sight, text: str) -> None:
    data = text.encode(errors="surrogateescape")
    if data != sight.data:
        tools.write(sight, data)


def _rules_text(sight: Sight) -> str:
    return (sight.data or b"").decode(errors="surrogateescape")
