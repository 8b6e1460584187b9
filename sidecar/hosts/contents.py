"""What Threadline writes into a host's files, built from the facts in `assistants/`."""

import json
from pathlib import Path as FilePath
from typing import Literal, cast

from msgspec import Struct

from protocol.versions import VERSION
from sidecar.hosts import rules_files
from sidecar.hosts.assistant import SIGN, Assistant, File, Hook, HookEntries, ServerEntry
from sidecar.hosts.program import READY, Program, Shell, serve, write_line, write_powershell

Path = tuple[str, ...]
Data = dict[str, object]

TIMEOUT = 10
"""Seconds a host waits for a hook; all hosts count in seconds, but for Cascade, which cannot be told."""
_TEMPLATES = FilePath(__file__).parent / "assistants"
_ANY_COMMAND = '[process.env.THREADLINE_COMMAND ?? "threadline"]'
"""What a plugin starts that is made for many machines."""


class Entry(Struct, frozen=True):
    """An object at a path that is ours; what a user added to it stays. A server is known by its command."""

    path: Path
    value: Data
    is_server: bool = True


class Group(Struct, frozen=True):
    """Hooks under one name; it is ours if all of them are."""

    path: Path
    agent: str
    value: Data


class Hooks(Struct, frozen=True):
    """Lists by event, with one item of ours in each."""

    path: Path
    agent: str
    events: dict[str, Data]


class Member(Struct, frozen=True):
    """A member that the file needs, such as its version; an existing one stays as it is."""

    path: Path
    value: object


Piece = Entry | Group | Hooks | Member


class Json(Struct, frozen=True):
    """A JSON file that may hold much else."""

    pieces: tuple[Piece, ...]
    is_loose: bool = False
    """Whether its host reads JSON5."""


class Toml(Struct, frozen=True):
    """A TOML file that may hold much else."""

    server: Entry


class Script(Struct, frozen=True):
    """A file that is ours as a whole; its text says so."""

    text: str
    is_living: bool = False
    """Whether we keep writing it; its text then says whether others have changed it."""


Content = Json | Toml | Script


def build(assistant: Assistant, file: File, program: Program) -> Content:
    """Return what a file of an assistant should hold, for a program at this place."""
    if file.is_rules:
        return Script(rules_files.write("", assistant.name), is_living=True)
    if file.template:
        return Script(_fill(assistant.name, file.template, program))
    if file.syntax == "toml" and file.server is not None:
        return Toml(_server(file.server, program))
    pieces: list[Piece] = [Member((name,), value) for name, value in file.members.items()]
    pieces += [Entry(path, value, is_server=False) for path, value in file.plugin.items()]
    if file.hooks is not None:
        pieces.append(_hooks(file.hooks, program))
    if file.server is not None:
        pieces.append(_server(file.server, program))
    return Json(tuple(pieces), is_loose=file.syntax == "json5")


def _fill(agent: str, template: str, program: Program) -> str:
    text = (_TEMPLATES / template).read_text("utf-8").replace("__VERSION__", VERSION)
    if not template.endswith(".js"):
        return text
    command = _ANY_COMMAND if program == READY else json.dumps(list(program.for_hooks))
    shared = (_TEMPLATES / "plugin.js").read_text("utf-8").replace('["__COMMAND__"]', command)
    return f"// {SIGN}; `threadline disconnect {agent}` removes it.\n{shared}\n{text}"


def _server(entry: ServerEntry, program: Program) -> Entry:
    command, *arguments = serve(program)
    words: Data = {"command": command, "args": arguments}
    if entry.is_one_list:
        words = {"command": [command, *arguments]}
    host = {"env": {"THREADLINE_HOST": entry.host}} if entry.host else {}
    value = {**entry.before, **words, **entry.after, **host}
    return Entry((*entry.path, "threadline"), value)


def _hooks(entries: HookEntries, program: Program) -> Hooks | Group:
    events = {hook.event: _hook(entries, hook, program) for hook in entries.events}
    if entries.style == "named":
        named = {event: [item] for event, item in events.items()}
        return Group(entries.path, entries.agent, {"enabled": True, **named})
    return Hooks(entries.path, entries.agent, events)


def _hook(entries: HookEntries, hook: Hook, program: Program) -> Data:
    line = write_line(program, cast("Shell", entries.on_windows), entries.agent, hook.event)
    powershell = write_powershell(program, entries.agent, hook.event)
    handler: Data = {"command": line, "timeout": TIMEOUT}
    match cast("Style", entries.style):
        case "shells":
            both = {"bash": line, "powershell": powershell}
            return {"type": "command", **both, "timeoutSec": TIMEOUT}
        case "cascade":
            return {"command": line, "powershell": powershell, "show_output": False}
        case "named":
            return (
                handler if hook.matcher is None else {"matcher": hook.matcher, "hooks": [handler]}
            )
        case "flat":
            return handler
        case "grouped":
            later = {"async": True} if hook.is_async else {}
            matcher = {} if hook.matcher is None else {"matcher": hook.matcher}
            return {**matcher, "hooks": [{"type": "command", **handler, **later}]}


Style = Literal["grouped", "flat", "shells", "cascade", "named"]


class Sight(Struct, frozen=True):
    """A file as it was found."""

    path: str
    real: str = ""
    """Where it really is, all links followed."""
    data: bytes | None = None
    """What is in it; None where there is no such file."""
    refusal: str | None = None
    """Why it must not be touched."""
    is_private: bool = False
    """Whether only its user should read it, where it has to be made."""
