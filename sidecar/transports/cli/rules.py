"""The command about files that assistants read by themselves: list, write, refresh, remove."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from protocol.errors import InvalidParamsError
from protocol.rules import RulesChange, RulesChanges, RulesFile, RulesList
from protocol.values import Record
from sidecar.app import Application
from sidecar.transports.cli import calls, screens
from sidecar.transports.exits import Exit

_SAID = {
    "created": "wrote",
    "updated": "renewed",
    "unchanged": "is up to date:",
    "removed": "removed",
    "absent": "nothing of ours is in",
}
_STATES = {"absent": "not written", "written": "written", "edited": "edited by hand"}


def rules(app: Application, options: Namespace) -> Exit:
    """List the files, or change them."""
    if options.action == "list":
        return _list(app, options)
    chosen = tuple(dict.fromkeys(options.target or ()))
    if options.action == "write":
        if not chosen:
            raise InvalidParamsError("say who is to read it: --target agents, cursor or windsurf")
        asked: Sequence[str | None] = chosen
    else:
        asked = chosen or (None,)
    changes = [one for target in asked for one in _change(app, options, target)]
    return _show(changes, options)


def _change(app: Application, options: Namespace, target: str | None) -> Sequence[RulesChange]:
    params: dict[str, object] = {"project": options.project, "force": options.force}
    if target is not None:
        params["target"] = target
    if options.action == "write":
        return (calls.call(app, "threadline/rules/write", params, RulesChange),)
    method = f"threadline/rules/{options.action}"
    return calls.call(app, method, params, RulesChanges).files


def _list(app: Application, options: Namespace) -> Exit:
    found = calls.call(app, "threadline/rules/list", {"project": options.project}, RulesList)
    if options.json:
        _print(found)
        return Exit.OK
    for file in found.files:
        screens.console.print(screens.clean(f"{file.target:<9} {_describe(file)}"))
    return Exit.OK


def _describe(file: RulesFile) -> str:
    if file.state == "refused":
        return str(file.reason)
    return f"{_STATES[file.state]:<15} {file.path}"


def _show(changes: Sequence[RulesChange], options: Namespace) -> Exit:
    if options.json:
        _print(RulesChanges(files=tuple(changes)))
    elif not changes:
        screens.say("there are none; `threadline rules write --target agents` makes one")
    else:
        for change in changes:
            _say(change)
    is_left = any(change.outcome in {"kept", "refused"} for change in changes)
    return Exit.CONFLICT if is_left else Exit.OK


def _say(change: RulesChange) -> None:
    if change.outcome == "kept":
        screens.complain(
            f"{change.path} is left as it is: it was edited by hand; --force overrides that"
        )
    elif change.outcome == "refused":
        screens.complain(str(change.reason))
    elif change.outcome == "removed" and Path(change.path).exists():
        screens.say(f"took our block out of {change.path}")
    else:
        screens.say(f"{_SAID[change.outcome]} {change.path}")


def _print(record: Record) -> None:
    print(calls.encode(record))
