"""Connect assistants: preview and apply changes, and undo them exactly."""

from collections.abc import Callable, Iterable
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
from sidecar.hosts import assistant, config_files, contents, locations, merge, rules_files
from sidecar.hosts.assistant import Assistant
from sidecar.hosts.contents import Content, Script, Sight
from sidecar.hosts.locations import Surroundings
from sidecar.hosts.program import Program
from sidecar.hosts.rules import ledger
from sidecar.hosts.rules.ledger import Written
from sidecar.storage.ledgers import Ledger
from sidecar.text import clipping


@dataclass(frozen=True)
class Tools:
    """What connecting depends on."""

    around: Surroundings
    program: Program
    ledger: Ledger
    clock: Callable[[], datetime]
    is_program: Callable[[str], bool] = config_files.is_program


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

Wanted = list[tuple[str, Content]]
"""Assistants that want something in a file, and what."""


def find(tools: Tools) -> list[FoundAgent]:
    """Return all known assistants, and which of them are installed.

    A folder that Threadline itself has made does not count as a sign.
    """
    made = {folder for row in tools.ledger.rows().values() for folder in row.folders}
    known = assistant.find_all()
    installed = locations.find_installed(
        known,
        tools.around,
        lambda path: path not in made and config_files.is_there(path),
        tools.is_program,
    )
    return [
        FoundAgent(agent=agent.name, label=agent.title or agent.label, installed=agent in installed)
        for agent in known
    ]


def connect(tools: Tools, params: ConnectParams) -> Plan:
    """Put our entries into the files of the named assistants, or of all that are installed."""
    names = params.agents or tuple(agent.agent for agent in find(tools) if agent.installed)
    agents = _named(names)
    with tools.ledger.held():
        owners = _owners(tools, agents, params)
        steps = [_plan_joining(tools, path, wanted, params) for path, wanted in owners.items()]
        if not params.dry_run:
            steps = [_join(tools, step) for step in steps]
    return _plan(tools, agents, params, steps)


def disconnect(tools: Tools, params: ConnectParams) -> Plan:
    """Take our entries out of the files of the named assistants, or of all."""
    agents = _named(params.agents or assistant.names())
    with tools.ledger.held():
        owners = _owners(tools, agents, params, is_everywhere=True)
        steps = [_plan_parting(tools, path, wanted, params) for path, wanted in owners.items()]
        if not params.dry_run:
            steps = [_part(tools, step) for step in steps]
    plan = _plan(tools, agents, params, steps)
    silent = tuple(replace(connection, notes=()) for connection in plan.connections)
    return replace(plan, connections=silent)


def _named(names: Iterable[str]) -> list[Assistant]:
    known = assistant.names()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidParamsError(
            f"no agent is called {', '.join(unknown)}; known are {', '.join(known)}",
            field="agents",
        )
    return [assistant.find(name) for name in dict.fromkeys(names)]


def _owners(
    tools: Tools, agents: Iterable[Assistant], params: ConnectParams, *, is_everywhere: bool = False
) -> dict[str, Wanted]:
    owners: dict[str, Wanted] = {}
    for agent in agents:
        for file in agent.files:
            content = contents.build(agent, file, tools.program)
            paths = locations.candidates(file, params.level, tools.around)
            present = list(filter(config_files.is_there, paths)) or paths[-1:]
            for path in present if is_everywhere else present[:1]:
                owners.setdefault(path, []).append((agent.name, content))
    return owners


def _plan(
    tools: Tools, agents: Iterable[Assistant], params: ConnectParams, steps: Iterable[_Step]
) -> Plan:
    return Plan(
        connections=tuple(_connection(tools, agent, params) for agent in agents),
        files=tuple(map(_change, steps)),
        applied=not params.dry_run,
    )


def _connection(tools: Tools, agent: Assistant, params: ConnectParams) -> Connection:
    has_files = any(locations.candidates(file, params.level, tools.around) for file in agent.files)
    return Connection(
        agent=agent.name,
        label=agent.title or agent.label,
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


def _plan_joining(tools: Tools, path: str, wanted: Wanted, params: ConnectParams) -> _Step:
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


def _plan_parting(tools: Tools, path: str, wanted: Wanted, params: ConnectParams) -> _Step:
    sight = _look(tools, path, params)
    agents = tuple(dict.fromkeys(name for name, _ in wanted))
    row = tools.ledger.rows().get(path)
    staying = set(() if row is None else row.agents) - set(agents)
    agents_staying = map(assistant.find, staying)
    owners = _owners(tools, agents_staying, params, is_everywhere=True)
    kept = [content for _, content in owners.get(path, [])]
    leaving = [(name, content) for name, content in wanted if content not in kept]
    try:
        text = _text(sight)
        left = None if text is None else _parted(text, leaving)
        if text is None or left is None or left == text:
            return _Step(sight, agents, "unchanged")
        return _leaving(_Step(sight, agents, "change", left), row, leaving)
    except ConflictError as error:
        is_ours = row is not None or b"threadline" in (sight.data or b"")
        return _Step(sight, agents, "refused" if is_ours else "unchanged", reason=str(error))


def _leaving(step: _Step, row: Written | None, leaving: Wanted) -> _Step:
    """Decide how a file is left: as it was before us, without our entries, or not at all."""
    assert step.new is not None  # noqa: S101  # it says what is left
    is_last = row is None or not set(row.agents) - set(step.agents)
    is_bare = all(merge.is_bare(step.new, content) for _, content in leaving)
    is_ours = all(isinstance(content, Script) for _, content in leaving)
    if is_bare and is_last and (is_ours or (row is not None and row.is_created)):
        return replace(step, action="delete", new=None)
    if row is not None and is_last and ledger.is_untouched(row, step.sight.data or b""):
        before = config_files.read_backup(row.backup) if row.backup and row.before else None
        if before is not None and ledger.digest(before) == row.before:
            return replace(step, action="restore", new=before.decode(errors="surrogateescape"))
    return step


def _parted(text: str, wanted: Wanted) -> str:
    for _, content in wanted:
        text = merge.part(text, content)
    return text


def _look(tools: Tools, path: str, params: ConnectParams) -> Sight:
    """Read a file within the folder its level allows: a project must not lead us into the user's files."""
    if params.level == "user":
        return replace(config_files.look(path, [tools.around.home]), is_private=True)
    assert tools.around.project is not None  # noqa: S101  # the project's level has one
    return config_files.look(path, [tools.around.project])


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
    """Carry out a step: keep a copy, record it, and only then change the file."""
    path, data = step.sight.path, step.sight.data
    known = tools.ledger.rows().get(path)
    if step.action == "unchanged":
        _acknowledge(tools, step, known)
    if step.action not in {"create", "change"} or step.new is None:
        return step
    backup = None
    try:
        if data is not None and not _is_kept(known, data):
            backup = config_files.back_up(
                step.sight, tools.clock(), [known.backup if known else None]
            )
        written = Written(
            path=path,
            agents=step.agents,
            before=None if data is None else ledger.digest(data),
            after=ledger.digest(step.new.encode()),
            backup=backup,
            is_created=data is None,
            folders=config_files.find_missing(path),
        )
        tools.ledger.put(path, ledger.follow(known, written, data, has_ours=step.has_ours))
        config_files.write(step.sight, step.new.encode())
    except StorageFailedError as error:
        tools.ledger.put(path, known)
        if backup is not None:
            config_files.forget_backup(backup)
        return replace(step, action="refused", reason=str(error))
    return replace(step, backup=backup)


def _acknowledge(tools: Tools, step: _Step, known: Written | None) -> None:
    path, data = step.sight.path, step.sight.data or b""
    row = known or Written(path=path, agents=(), before=None, after=ledger.digest(data))
    agents = tuple(dict.fromkeys((*row.agents, *step.agents)))
    if agents != row.agents:
        tools.ledger.put(path, replace(row, agents=agents))


def _is_kept(known: Written | None, data: bytes) -> bool:
    if known is None or not ledger.is_untouched(known, data):
        return False
    copied = config_files.read_backup(known.backup) if known.backup else None
    return known.is_created or (copied is not None and ledger.digest(copied) == known.before)


def _part(tools: Tools, step: _Step) -> _Step:
    """Carry out a step; the ledger forgets a file only when nothing of ours is left in it."""
    row = tools.ledger.rows().get(step.sight.path)
    try:
        match step.action:
            case "delete":
                step = _delete(tools, step, row)
            case "restore" if row is not None and step.new is not None:
                config_files.write(step.sight, step.new.encode(errors="surrogateescape"))
            case "change" if step.new is not None:
                kept = [row.backup if row else None]
                step = replace(step, backup=config_files.back_up(step.sight, tools.clock(), kept))
                config_files.write(step.sight, (step.new or "").encode())
    except StorageFailedError as error:
        return replace(step, action="refused", reason=str(error))
    if row is not None and step.action != "refused":
        _forget(tools, step, row)
    return step


def _delete(tools: Tools, step: _Step, row: Written | None) -> _Step:
    """Delete a file that is ours; one that somebody else has changed is copied first."""
    data = step.sight.data or b""
    is_ours = rules_files.is_intact(data.decode(errors="replace"))
    if not is_ours and (row is None or not ledger.is_untouched(row, data)):
        step = replace(step, backup=config_files.back_up(step.sight, tools.clock(), []))
    config_files.delete(step.sight, row.folders if row else ())
    return step


def _forget(tools: Tools, step: _Step, row: Written) -> None:
    written = None
    if step.action != "unchanged" and step.new is not None:
        written = step.new.encode(errors="surrogateescape")
    left = ledger.leave(row, step.agents, written)
    tools.ledger.put(row.path, left)
    if left is not None:
        return
    tools.ledger.bequeath(row)
    now = step.sight.data if step.action == "unchanged" else written
    if row.backup is not None and now is not None and ledger.digest(now) == row.before:
        config_files.forget_backup(row.backup)
