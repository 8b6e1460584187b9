"""The command line: parse, call one service, print."""

import contextlib
import logging
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from protocol.capture import CaptureState
from protocol.diagnosis import Diagnosis
from protocol.errors import InvalidParamsError, NotFoundError, StorageFailedError, ThreadlineError
from protocol.events import Event
from protocol.memories import Memory
from protocol.methods import EventPage, Status
from protocol.projects import LinkedFolder, Standing
from protocol.recall import MemoryPage
from protocol.sessions import Session
from sidecar.app import Application
from sidecar.text import characters
from sidecar.transports import logs, upkeep
from sidecar.transports.cli import (
    calls,
    context,
    documents,
    explain,
    finding,
    memory,
    messages,
    parser,
    passing,
    reviewing,
    rules,
    screens,
    tasks,
    team,
    watching,
)
from sidecar.transports.cli import upkeep as cli_upkeep
from sidecar.transports.exits import Exit, exit_for

T = TypeVar("T")

_SHOWN_EVENTS = 1000
_SHOWN_MEMORIES = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code says how it went."""
    screens.speak_utf8(sys.stdout, sys.stderr)
    words = parser.build()
    options = words.parse_args(arguments)
    if options.command is None:
        words.print_help(sys.stderr)
        return Exit.USAGE
    logging.basicConfig(level=logging.WARNING, handlers=[logs.error_handler()])
    try:
        with passing.application(options, os.environ, source="cli-auto") as app:
            code = _COMMANDS[options.command](app, options)
            if sys.stdout is not None:
                sys.stdout.flush()
            is_left = options.command == "maintain" or options.is_passing
            is_due = not is_left and app.background.is_unprepared()
        if is_due:
            upkeep.begin(str(app.home.folder), os.environ, is_due=True)
    except ThreadlineError as error:
        screens.complain(parser.as_typed(str(error), words, options.command))
        return exit_for(error.code)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except (OSError, RuntimeError, ValueError) as error:
        screens.complain(f"{type(error).__name__}: {error}")
        return Exit.FAILED
    return code


def _scan(app: Application, options: Namespace) -> Exit:
    from sidecar.transports.cli import importing  # noqa: PLC0415  # no other command needs it

    return importing.history(app, options)


def _set_up(app: Application, options: Namespace) -> Exit:
    from sidecar.transports.cli import setting_up  # noqa: PLC0415  # likewise

    return (
        setting_up.init(app, options)
        if options.command == "init"
        else setting_up.leave(app, options)
    )


def _offer(app: Application, reference: str | None) -> None:
    from sidecar.transports.cli import importing  # noqa: PLC0415  # no other command needs it

    importing.offer(app, reference)


def _watch(app: Application, options: Namespace) -> Exit:
    folder = Path(options.path or options.project or Path.cwd()).expanduser()
    if not folder.is_dir():
        raise NotFoundError(f"{folder} is not a folder")

    def show(event: Event) -> None:
        if options.json:
            print(characters.visible_json(msgspec.json.encode(event)).decode(), flush=True)
        else:
            screens.show_event(event)

    if options.once:
        found = watching.look(app, folder, show)
        screens.say(f"{screens.plural(found, 'event')} since the last look at {folder}")
        return Exit.OK
    screens.say(f"watching {folder}; Ctrl-C ends it")
    state = _call(app, "threadline/status", {"project": str(folder)}, Status).capture
    if state.paused:
        screens.say(f"capture is {screens.capture(state)}; `threadline resume` goes on")
    with contextlib.suppress(KeyboardInterrupt):
        watching.watch(app, folder, show)
    return Exit.OK


def _capture(app: Application, options: Namespace) -> Exit:
    params: dict[str, object] = {"project": options.project}
    if options.command == "pause":
        params["duration"] = options.duration
    state = _call(app, f"threadline/capture/{options.command}", params, CaptureState)
    if options.json:
        print(calls.encode(state))
    else:
        screens.say(f"capture is {screens.capture(state)}")
    return Exit.OK


def _sessions(app: Application, options: Namespace) -> Exit:
    match options.action:
        case "show":
            return _show_session(app, options)
        case "close":
            return _close_session(app, options)
        case "compact":
            return memory.compact(app, options)
        case _:
            return _list_sessions(app, options)


def _list_sessions(app: Application, options: Namespace) -> Exit:
    page = finding.page_of(app, options, limit=options.limit, status=options.status)
    if options.json:
        print(calls.encode(page))
    elif page.sessions:
        rows = [(session, _headline(app, options, session)) for session in page.sessions]
        screens.show_sessions(rows, page.total)
    else:
        screens.say("no sessions yet; `threadline scan` imports what was committed here so far")
        _offer(app, options.project)
    return Exit.OK


def _show_session(app: Application, options: Namespace) -> Exit:
    session = finding.resolve(app, options) if options.session else _latest(app, options)
    events = _events(app, options, session)
    if options.json:
        print(calls.encode(session))
    else:
        screens.show_session(
            session, events.events, events.total, _made_from(app, options, session)
        )
    return Exit.OK


def _made_from(app: Application, options: Namespace, session: Session) -> Sequence[Memory]:
    """List the memories that were made from a session."""
    params = {"project": options.project, "sessionId": session.session_id, "limit": _SHOWN_MEMORIES}
    return _call(app, "threadline/memories/list", params, MemoryPage).memories


def _close_session(app: Application, options: Namespace) -> Exit:
    params = {"project": options.project}
    if options.session:
        params["sessionId"] = finding.resolve(app, options).session_id
    session = _call(app, "threadline/sessions/close", params, Session)
    if options.json:
        print(calls.encode(session))
    else:
        screens.say(f"closed session {session.session_id}; the next event opens a new one")
    return Exit.OK


def _status(app: Application, options: Namespace) -> Exit:
    if options.why:
        return _explain(app, options)
    status = _call(app, "threadline/status", {"project": options.project}, Status)
    if options.json:
        print(calls.encode(status))
    else:
        screens.show_status(status, is_kept=not options.is_passing)
    return Exit.OK


def _doctor(app: Application, options: Namespace) -> Exit:
    diagnosis = _call(app, "threadline/doctor", {"project": options.project}, Diagnosis)
    if options.json:
        print(calls.encode(diagnosis))
    else:
        screens.show_diagnosis(diagnosis)
    has_problem = any(finding.state == "problem" for finding in diagnosis.findings)
    return Exit.FAILED if has_problem else Exit.OK


def _explain(app: Application, options: Namespace) -> Exit:
    standing = _call(app, "threadline/projects/why", {"project": options.project}, Standing)
    if options.json:
        print(calls.encode(standing))
    else:
        screens.show_standing(standing)
    return Exit.OK


def _link(app: Application, options: Namespace) -> Exit:
    params: dict[str, object] = {"project": options.project}
    if options.command == "link":
        params |= {"to": options.to, "refuse": options.no}
    linked = _call(app, f"threadline/projects/{options.command}", params, LinkedFolder)
    if options.json:
        print(calls.encode(linked))
    else:
        screens.show_linked(linked)
    return Exit.OK


def _connect(app: Application, options: Namespace) -> Exit:
    from sidecar.transports.cli import connecting  # noqa: PLC0415  # no other command needs it

    if options.command == "disconnect":
        return connecting.disconnect(app, options)
    code = connecting.connect(app, options)
    if code == Exit.OK and options.remember_at_stop and not options.dry_run:
        app.home.choose("rememberAtStop", value=True)
        screens.say(f"set rememberAtStop in {app.home.settings_file}")
    if code == Exit.OK and not options.json and not options.dry_run:
        _offer(app, None)
    return code


def _check(app: Application, options: Namespace) -> Exit:
    from sidecar.transports.cli import checking  # noqa: PLC0415  # no other command needs it

    return checking.check(app, options)


def _keys(app: Application, options: Namespace) -> Exit:
    from sidecar.transports.cli import keys  # noqa: PLC0415  # no other command needs it

    return keys.keys(app, options)


def _call_method(app: Application, options: Namespace) -> Exit:
    if options.project:
        app.here = Path(options.project)
    if options.method is None:
        screens.show_methods()
        return Exit.OK
    if options.method == "-":
        for line in calls.answer_all(app, sys.stdin.buffer):
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()
        return Exit.OK
    try:
        params = msgspec.json.decode(options.params)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise InvalidParamsError(f"params are not JSON: {error}", field="params") from error
    print(calls.encode(app.call(options.method, params)))
    return Exit.OK


def _export(app: Application, options: Namespace) -> Exit:
    from sidecar.upkeep import export, report  # noqa: PLC0415  # no other command needs them

    project = app.project(options.project)
    vault = app.vault(project)
    missing: list[str] = []
    lines = (
        (block.encode() for block in report.report(vault, project))
        if options.markdown
        else export.export(vault, project, missing)
    )
    with _made(options.file) as file:
        file.writelines(line + b"\n" for line in lines)
    if options.file != "-":
        screens.say(f"wrote {options.file}")
    for name in missing:
        screens.complain(f"left out, since it cannot be read: {name}")
    return Exit.FAILED if missing else Exit.OK


def _import(app: Application, options: Namespace) -> Exit:
    from sidecar.transports.cli import importing  # noqa: PLC0415  # likewise
    from sidecar.upkeep import export  # noqa: PLC0415  # likewise

    if importing.is_host(options.source):
        return importing.conversations(app, options)
    into = app.project(options.project) if options.project else None
    with _opened(options.source or "-") as file:
        moved = export.load(app.home, file, into)
    if options.json:
        print(calls.encode(moved))
    else:
        screens.say(
            f"{moved.sessions:,} sessions, {moved.events:,} events and {moved.memories:,} memories "
            f"are in {moved.project_id}"
        )
    return Exit.OK


@contextlib.contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        file = Path(name).open("rb")  # noqa: SIM115  # closed below
    except OSError as error:
        raise NotFoundError(f"cannot open {name}: {error.strerror}") from error
    with file:
        yield file


@contextlib.contextmanager
def _made(name: str) -> Iterator[IO[bytes]]:
    """Make a file that only this user can read, whole or not at all, or take the standard stream for `-`."""
    if name == "-":
        yield sys.stdout.buffer
        return
    path, draft = Path(name), Path(f"{name}.{os.getpid()}.draft")
    if os.path.lexists(path):
        raise InvalidParamsError(f"{name} exists already; choose another name")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise NotFoundError(f"cannot open {name}: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        draft.rename(path)
    except OSError as error:
        raise StorageFailedError(f"cannot write {name}: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)


def _headline(app: Application, options: Namespace, session: Session) -> str:
    events = _events(app, options, session).events
    commits = [event for event in events if event.commit] or list(events)
    return screens.headline(commits[-1]) if commits else ""


def _events(app: Application, options: Namespace, session: Session) -> EventPage:
    params = {
        "project": options.project,
        "sessionId": session.session_id,
        "limit": _SHOWN_EVENTS,
    }
    return _call(app, "threadline/sessions/events", params, EventPage)


def _latest(app: Application, options: Namespace) -> Session:
    page = finding.page_of(app, options, limit=1)
    if not page.sessions:
        raise NotFoundError("no sessions yet; `threadline scan` imports what was committed here")
    return page.sessions[0]


def _call(app: Application, method: str, params: object, kind: type[T]) -> T:
    result = app.call(method, params)
    assert isinstance(result, kind)  # noqa: S101  # for the type checker; the table says so
    return result


_COMMANDS = {
    "init": _set_up,
    "leave": _set_up,
    "scan": _scan,
    "watch": _watch,
    "pause": _capture,
    "resume": _capture,
    "sessions": _sessions,
    "enrich": memory.enrich,
    "review": reviewing.review,
    "worth-knowing": reviewing.worth_knowing,
    "jobs": memory.jobs,
    "search": memory.search,
    "memories": memory.memories,
    "why": explain.why,
    "remember": memory.remember,
    "context": context.context,
    "receipts": context.receipts,
    "feedback": context.feedback,
    "checkpoints": context.checkpoints,
    "stats": context.stats,
    "tasks": tasks.tasks,
    "inbox": messages.inbox,
    "send": messages.send,
    "documents": documents.documents,
    "agents": documents.agents,
    "graph": documents.graph,
    "team": team.team,
    "connect": _connect,
    "disconnect": _connect,
    "rules": rules.rules,
    "keys": _keys,
    "check": _check,
    "forget": memory.forget,
    "purge": memory.purge,
    "status": _status,
    "doctor": _doctor,
    "link": _link,
    "unlink": _link,
    "verify": cli_upkeep.verify,
    "restore": cli_upkeep.restore,
    "maintain": cli_upkeep.maintain,
    "call": _call_method,
    "export": _export,
    "import": _import,
}
