"""`threadline keys`: which agents may read or write which projects over MCP and HTTP."""

from argparse import Namespace

import msgspec
from rich.table import Table

from protocol.errors import InvalidParamsError, ThreadlineError
from sidecar.app import Application, now
from sidecar.projects import locate
from sidecar.storage.agent_keys import ALL, ENVIRONMENT, AgentKey, AgentKeys
from sidecar.transports.cli import screens
from sidecar.transports.exits import Exit


def keys(app: Application, options: Namespace) -> Exit:
    """Make, list and take back keys, or ask for none any more."""
    kept = AgentKeys(app.home.folder)
    if options.action in {"create", "revoke"} and not options.name:
        raise InvalidParamsError(f"name the agent: threadline keys {options.action} NAME")
    match options.action:
        case "create":
            _create(app, kept, options)
        case "revoke":
            kept.revoke(options.name, now())
            screens.say(f"the key of {options.name} opens nothing from now on")
        case "off":
            kept.turn_off()
            screens.say("all keys are gone; MCP asks for none")
        case _:
            _list(app, kept.all(), options)
    return Exit.OK


def _create(app: Application, kept: AgentKeys, options: Namespace) -> None:
    """Print the key alone on standard output, so that a script can take it."""
    references = options.vaults or [None]
    vaults = tuple(
        ALL if reference == ALL else app.project(reference).project_id for reference in references
    )
    access = "write" if options.write else "read"
    token = kept.create(options.name, vaults, "write" if options.write else "read", now())
    if options.json:
        made = {"name": options.name, "key": token, "vaults": vaults, "access": access}
        print(msgspec.json.encode(made).decode())
        return
    print(token)
    screens.say(
        f"{options.name} may {access} {', '.join(_names(app, vaults))}. The key is shown this once; "
        f"give it to the agent's MCP server as {ENVIRONMENT}. From now on no MCP client works without a key."
    )


def _list(app: Application, known: tuple[AgentKey, ...], options: Namespace) -> None:
    if options.json:
        rows = [{**msgspec.to_builtins(key), "digest": key.digest[:8]} for key in known]
        print(msgspec.json.encode({"keys": rows}).decode())
        return
    if not known:
        screens.say("no keys, so MCP asks for none; `threadline keys create NAME` makes the first")
        return
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("agent", "may", "vaults", "created", "revoked"):
        table.add_column(name)
    for key in known:
        table.add_row(
            key.name,
            "write" if key.may_write else "read",
            screens.clean(", ".join(_names(app, key.vaults))),
            screens.local(key.created_at),
            screens.local(key.revoked_at) if key.revoked_at else "",
            style="dim" if key.revoked_at else None,
        )
    screens.console.print(table, crop=False, soft_wrap=True)


def _names(app: Application, vaults: tuple[str, ...]) -> list[str]:
    names = []
    for vault in vaults:
        try:
            names.append("every vault" if vault == ALL else locate.by_id(app.home, vault).name)
        except ThreadlineError:
            names.append(vault)
    return names
