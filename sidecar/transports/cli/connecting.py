"""Commands that set agents up to use this memory, and undo it."""

import sys
from argparse import Namespace
from collections.abc import Sequence

from protocol.connections import ConfigChange, ConnectParams, FoundAgent, Level, Plan
from protocol.contexts import RenderParams
from protocol.errors import InvalidParamsError, NotFoundError
from sidecar.app import Application
from sidecar.handlers import connections
from sidecar.hosts import assistant, rules_files, rules_writer
from sidecar.hosts import connect as hosts_connect
from sidecar.hosts.connect import Tools
from sidecar.storage.ledgers import Ledger
from sidecar.transports.cli import calls, screens
from sidecar.transports.exits import Exit

_SAID = {
    "create": "made",
    "change": "changed",
    "restore": "put back as it was:",
    "delete": "deleted",
}
_PLANNED = {
    "create": "would make",
    "change": "would change",
    "restore": "would put back as it was:",
    "delete": "would delete",
}


def connect(app: Application, options: Namespace) -> Exit:
    """Put our hooks and our server into the files of agents."""
    tools, params = _asked(app, options)
    if not params.agents:
        names = _choose(hosts_connect.find(tools), options)
        if not names:
            return Exit.OK
        params = _params(options, names, params.level)
    plan = hosts_connect.connect(tools, params)
    if plan.applied and tools.around.project is not None:
        _fill_rules(app, tools.around.project, plan)
    _show(plan, options)
    return _exit(plan, options)


def disconnect(app: Application, options: Namespace) -> Exit:
    """Take our entries out of the files of agents."""
    tools, params = _asked(app, options)
    if not params.agents and not options.all:
        if not _is_answered(options):
            raise InvalidParamsError("name the agents, or say --all")
        if not is_wanted("disconnect every agent?"):
            return Exit.OK
    plan = hosts_connect.disconnect(tools, params)
    _show(plan, options)
    if plan.applied and options.all and params.level == "user" and not options.json:
        screens.say(f"what was recorded stays in {app.home.folder}")
    return _exit(plan, options)


def _fill_rules(app: Application, project: str, plan: Plan) -> None:
    """Let rules files that were made tell something before the first conversation begins."""
    made = {name for change in plan.files if change.action == "create" for name in change.agents}
    rows = Ledger(app.home.folder, app.home.lock).rows()
    for agent in made & set(rules_files.PLACES):
        sight = rules_writer.find(rows, agent, project)
        if sight is not None:
            room = rules_files.rules_room(agent)
            wanted = RenderParams(project=project, host=agent, max_chars=room, preview=True)
            rules_writer.renew(agent, sight, app.dialogue.greet(wanted).text)


def _asked(app: Application, options: Namespace) -> tuple[Tools, ConnectParams]:
    names = list(options.agent)
    folder = options.project
    if folder in assistant.names():
        names.append(folder)
        folder = ""
    level: Level = "user" if folder is None else "project"
    if options.all:
        names = []
    return connections.prepare(app, level, folder or None), _params(options, names, level)


def _params(options: Namespace, names: Sequence[str], level: Level) -> ConnectParams:
    return ConnectParams(agents=tuple(names), level=level, dry_run=options.dry_run)


def _choose(found: Sequence[FoundAgent], options: Namespace) -> list[str]:
    """Return the agents that are here, once the user has agreed."""
    here = [each for each in found if each.installed]
    known = ", ".join(each.agent for each in found)
    if not here:
        raise NotFoundError(f"no agent was found here; name one: {known}")
    names = [each.agent for each in here]
    if options.all or options.dry_run:
        return names
    screens.say(f"found here: {', '.join(each.label for each in here)}")
    if not _is_answered(options):
        raise InvalidParamsError(f"name the agents ({known}), or say --all for those found")
    return names if is_wanted("connect them?") else []


def _is_answered(options: Namespace) -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and not options.json


def is_wanted(question: str) -> bool:
    """Ask on the terminal; only a yes counts."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _show(plan: Plan, options: Namespace) -> None:
    if options.json:
        print(calls.encode(plan))
        return
    for connection in plan.connections:
        if connection.refusal is not None and options.agent:
            screens.complain(f"{connection.label}: {connection.refusal}")
    for change in plan.files:
        _show_change(change, is_done=plan.applied)
    if all(each.refusal for each in plan.connections):
        return
    if all(change.action == "unchanged" for change in plan.files):
        screens.say("nothing to change")
    elif plan.applied:
        notes = [note for connection in plan.connections for note in connection.notes]
        for note in dict.fromkeys(notes):
            screens.say(note)


def _show_change(change: ConfigChange, *, is_done: bool) -> None:
    if change.action == "refused":
        screens.complain(f"{change.path} is left as it is: {change.reason}")
        return
    if change.action == "unchanged":
        return
    words = (_SAID if is_done else _PLANNED)[change.action]
    kept = f" (the file as it was: {change.backup})" if change.backup else ""
    screens.say(f"{words} {change.path} for {', '.join(change.agents)}{kept}")
    if not is_done:
        screens.show_diff(change.diff)


def _exit(plan: Plan, options: Namespace) -> Exit:
    """Return whether all that was asked for is done; of an agent that was not named, nobody asked for more."""
    is_refused = any(change.action == "refused" for change in plan.files)
    is_impossible = not options.all and any(each.refusal for each in plan.connections)
    return Exit.CONFLICT if is_refused or is_impossible else Exit.OK
