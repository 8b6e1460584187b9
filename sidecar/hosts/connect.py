"""Connect assistants: preview and apply changes, and undo them exactly."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from protocol.connections import (
    Action,
    ConfigChange,
    Connection,
    ConnectParams,
    FoundAgent,
    Level,
    Plan,
)
from protocol.errors import ConflictError, InvalidParamsError, StorageFailedError
from sidecar.hosts import locations, merge, rules_files
from sidecar.hosts.agents import AGENTS, BY_NAME, Agent
from sidecar.hosts.contents import Content, Script, Sight
from sidecar.hosts.locations import Surroundings
from sidecar.hosts.program import Program
from sidecar.hosts.rules import ledger
from sidecar.hosts.rules.ledger import Written
from sidecar.storage.ledgers import Ledger
from sidecar.text import clipping


@dataclass(frozen=True)
class Tools:
    """All that connecting needs of the machine."""

    around: Surroundings
    program: Program
    ledger: Ledger
    clock: Callable[[], datetime]
    look: Callable[[str, Sequence[str]], Sight]
    is_there: Callable[[str], bool]
    is_program: Callable[[str], bool]
    find_missing: Callable[[str], tuple[str, ...]]
    back_up: Callable[[Sight, datetime, Sequence[str | None]], str]
    read_backup: Callable[[str], bytes | None]
    forget_backup: Callable[[str], None]
    write: Callable[[Sight, bytes], tuple[str, ...]]
    delete: Callable[[Sight, Sequence[str]], None]


class _Step(Struct, frozen=True):
    """What is to become of one file."""

    sight: Sight
    agents: tuple[str, ...]
    action: Action
    new: str | None = None
    reason: str | None = None
    has_ours: bool = False
    backup: str | None = None


_NOTES: dict[Level, tuple[str, ...]] = {
    "user": (),
    "project": (
        "The project's files name our program on this machine; where it is elsewhere, connect them there too.",
    ),
}

Owners = dict[str, list[tuple[str, Content]]]
"""Files by path, each with the agents that want something in it."""


def find(tools: Tools) -> list[FoundAgent]:
    """List all agents we know, and which of them are here."""
    made = {folder for row in tools.ledger.rows().values() for folder in row.folders}

    def is_sign(path: str) -> bool:
        return path not in made and tools.is_there(path)

    here = locations.find_installed(AGENTS, tools.around, is_sign, tools.is_program)
    return [
        FoundAgent(agent=agent.name, label=agent.label, installed=agent in here) for agent in AGENTS
    ]


def connect(tools: Tools, params: ConnectParams) -> Plan:
    """Put our entries into the files of the agents that are named, or of all that are here."""
    names = params.agents or tuple(each.agent for each in find(tools) if each.installed)
    agents = _named(names)
    with tools.ledger.held():
        owners = _owners(tools, agents, params)
        steps = [_plan_joining(tools, path, wanted, params) for path, wanted in owners.items()]
        if not params.dry_run:
            steps = [_join(tools, step) for step in steps]
    return _plan(tools, agents, params, steps)


def disconnect(tools: Tools, params: ConnectParams) -> Plan:
    """Take our entries out of the files of the agents that are named, or of all."""
    agents = _named(params.agents or BY_NAME)
    with tools.ledger.held():
        owners = _owners(tools, agents, params, is_everywhere=True)
        steps = [_plan_parting(tools, path, wanted, params) for path, wanted in owners.items()]
        if not params.dry_run:
            steps = [_part(tools, step) for step in steps]
    plan = _plan(tools, agents, params, steps)
    return replace(plan, connections=tuple(replace(each, notes=()) for each in plan.connections))


def _named(names: Iterable[str]) -> list[Agent]:
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        raise InvalidParamsError(
            f"no agent is called {', '.join(unknown)}; known are {', '.join(BY_NAME)}",
            field="agents",
        )
    return [BY_NAME[name] for name in dict.fromkeys(names)]


def _owners(
    tools: Tools, agents: Iterable[Agent], params: ConnectParams, *, is_everywhere: bool = False
) -> Owners:
    """Find the files of agents: the first that is there of those that will do, or all of them."""
    owners: Owners = {}
    for agent in agents:
        for part in agent.parts:
            content = part.content(tools.program)
            found = locations.candidates(part, params.level, tools.around)
            present = list(filter(tools.is_there, found)) or found[-1:]
            for path in present if is_everywhere else present[:1]:
                owners.setdefault(path, []).append((agent.name, content))
    return owners


def _plan(
    tools: Tools, agents: Iterable[Agent], params: ConnectParams, steps: Iterable[_Step]
) -> Plan:
    return Plan(
        connections=tuple(_connection(tools, agent, params) for agent in agents),
        files=tuple(map(_change, steps)),
        applied=not params.dry_run,
    )


def _connection(tools: Tools, agent: Agent, params: ConnectParams) -> Connection:
    has_files = any(locations.candidates(part, params.level, tools.around) for part in agent.parts)
    return Connection(
        agent=agent.name,
        label=agent.label,
        level=params.level,
        refusal=None if has_files else _refusal(params.level),
        notes=(*agent.notes, *_NOTES[params.level]) if has_files else (),
    )


def _refusal(level: Level) -> str:
    whose, other = ("a project", "--user") if level == "project" else ("a user", "--project")
    return f"it has no files of {whose}; use {other}"


def _change(step: _Step) -> ConfigChange:
    is_changed = step.action not in {"unchanged", "refused"}
    old = None if step.sight.data is None else step.sight.data.decode(errors="replace")
    return ConfigChange(
        path=step.sight.path,
        agents=step.agents,
        action=step.action,
        reason=step.reason,
        diff=clipping.compare(step.sight.path, old, step.new) if is_changed else "",
        backup=step.backup,
    )


def _plan_joining(
    tools: Tools, path: str, wanted: list[tuple[str, Content]], params: ConnectParams
) -> _Step:
    sight = _look(tools, path, params)
    agents = tuple(dict.fromkeys(name for name, _ in wanted))
    try:
        text = _text(sight)
        new = text
        for _, content in wanted:
            new = merge.join(new, content)
        has_ours = text is not None and _parted(text, wanted) != text
    except ConflictError as error:
        return _Step(sight, agents, "refused", reason=str(error))
    if new == text:
        return _Step(sight, agents, "unchanged")
    action: Action = "create" if text is None else "change"
    return _Step(sight, agents, action, new, has_ours=has_ours)


def _plan_parting(
    tools: Tools, path: str, wanted: list[tuple[str, Content]], params: ConnectParams
) -> _Step:
    sight = _look(tools, path, params)
    agents = tuple(dict.fromkeys(name for name, _ in wanted))
    row = tools.ledger.rows().get(path)
    staying = set(() if row is None else row.agents) - set(agents)
    kept = [content for _, content in _contents(tools, staying, path, params)]
    leaving = [each for each in wanted if each[1] not in kept]
    try:
        text = _text(sight)
        left = None if text is None else _parted(text, leaving)
        if text is None or left is None or left == text:
            return _Step(sight, agents, "unchanged")
        return _leaving(tools, _Step(sight, agents, "change", left), row, leaving)
    except ConflictError as error:
        is_ours = row is not None or b"threadline" in (sight.data or b"")
        return _Step(sight, agents, "refused" if is_ours else "unchanged", reason=str(error))


def _leaving(
    tools: Tools, step: _Step, row: Written | None, leaving: Sequence[tuple[str, Content]]
) -> _Step:
    """Choose how a file is left: as it was before us, without our entries, or not at all."""
    assert step.new is not None  # noqa: S101  # it says what is left
    is_last = row is None or not set(row.agents) - set(step.agents)
    is_bare = all(merge.is_bare(step.new, content) for _, content in leaving)
    is_ours = all(isinstance(content, Script) for _, content in leaving)
    if is_bare and is_last and (is_ours or (row is not None and row.is_created)):
        return replace(step, action="delete", new=None)
    if row is not None and is_last and ledger.is_untouched(row, step.sight.data or b""):
        before = tools.read_backup(row.backup) if row.backup and row.before else None
        if before is not None and ledger.digest(before) == row.before:
            return replace(step, action="restore", new=before.decode(errors="surrogateescape"))
    return step


def _contents(
    tools: Tools, names: Iterable[str], path: str, params: ConnectParams
) -> list[tuple[str, Content]]:
    agents = [BY_NAME[name] for name in names if name in BY_NAME]
    return _owners(tools, agents, params, is_everywhere=True).get(path, [])


def _parted(text: str, wanted: Iterable[tuple[str, Content]]) -> str:
    for _, content in wanted:
        text = merge.part(text, content)
    return text


def _look(tools: Tools, path: str, params: ConnectParams) -> Sight:
    """See a file, in no other place than its level allows: a project must not lead us into the user's files."""
    if params.level == "user":
        return replace(tools.look(path, [tools.around.home]), is_private=True)
    assert tools.around.project is not None  # noqa: S101  # the project's level has one
    return tools.look(path, [tools.around.project])


def _text(sight: Sight) -> str | None:
    if sight.refusal is not None:
        raise ConflictError(sight.refusal)
    if sight.data is None:
        return None
    try:
        return sight.data.decode()
    except UnicodeDecodeError as error:
        raise ConflictError(f"it is not UTF-8 (byte {error.start})") from error


def _join(tools: Tools, step: _Step) -> _Step:
    """Do what was planned: keep a copy, write it down, and only then change the file."""
    path, data = step.sight.path, step.sight.data
    known = tools.ledger.rows().get(path)
    if step.action == "unchanged":
        _acknowledge(tools, step, known)
    if step.action not in {"create", "change"} or step.new is None:
        return step
    backup = None
    try:
        if data is not None and not _is_kept(tools, known, data):
            backup = tools.back_up(step.sight, tools.clock(), [known.backup if known else None])
        written = Written(
            path=path,
            agents=step.agents,
            before=None if data is None else ledger.digest(data),
            after=ledger.digest(step.new.encode()),
            backup=backup,
            is_created=data is None,
            folders=tools.find_missing(path),
        )
        tools.ledger.put(path, ledger.follow(known, written, data, has_ours=step.has_ours))
        tools.write(step.sight, step.new.encode())
    except StorageFailedError as error:
        tools.ledger.put(path, known)
        if backup is not None:
            tools.forget_backup(backup)
        return replace(step, action="refused", reason=str(error))
    return replace(step, backup=backup)


def _acknowledge(tools: Tools, step: _Step, known: Written | None) -> None:
    path, data = step.sight.path, step.sight.data or b""
    row = known or Written(path=path, agents=(), before=None, after=ledger.digest(data))
    agents = tuple(dict.fromkeys((*row.agents, *step.agents)))
    if agents != row.agents:
        tools.ledger.put(path, replace(row, agents=agents))


def _is_kept(tools: Tools, known: Written | None, data: bytes) -> bool:
    if known is None or not ledger.is_untouched(known, data):
        return False
    copied = tools.read_backup(known.backup) if known.backup else None
    return known.is_created or (copied is not None and ledger.digest(copied) == known.before)


def _part(tools: Tools, step: _Step) -> _Step:
    """Do what was planned; the ledger forgets a file only when nothing of ours is in it any more."""
    row = tools.ledger.rows().get(step.sight.path)
    try:
        match step.action:
            case "delete":
                step = _delete(tools, step, row)
            case "restore" if row is not None and step.new is not None:
                tools.write(step.sight, step.new.encode(errors="surrogateescape"))
            case "change" if step.new is not None:
                kept = [row.backup if row else None]
                step = replace(step, backup=tools.back_up(step.sight, tools.clock(), kept))
                tools.write(step.sight, (step.new or "").encode())
    except StorageFailedError as error:
        return replace(step, action="refused", reason=str(error))
    if row is not None and step.action != "refused":
        _forget(tools, step, row)
    return step


def _delete(tools: Tools, step: _Step, row: Written | None) -> _Step:
    """Delete a file that is ours; one that was changed since, and not by us, is copied first."""
    data = step.sight.data or b""
    is_ours = rules_files.is_intact(data.decode(errors="replace"))
    if not is_ours and (row is None or not ledger.is_untouched(row, data)):
        step = replace(step, backup=tools.back_up(step.sight, tools.clock(), []))
    tools.delete(step.sight, row.folders if row else ())
    return step


def _forget(tools: Tools, step: _Step, row: Written) -> None:
    written = None if step.action == "unchanged" else _bytes(step.new)
    left = ledger.leave(row, step.agents, written)
    tools.ledger.put(row.path, left)
    if left is not None:
        return
    tools.ledger.bequeath(row)
    now = step.sight.data if step.action == "unchanged" else written
    if row.backup is not None and now is not None and ledger.digest(now) == row.before:
        tools.forget_backup(row.backup)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode(errors="surrogateescape")
