"""The command `team`."""

import sys
from argparse import Namespace
from collections.abc import Callable

from protocol.errors import InvalidParamsError
from protocol.teams import (
    TeamBegun,
    TeamHistory,
    TeamKey,
    TeamLeft,
    TeamPreview,
    TeamStatus,
    TeamSynced,
)
from protocol.values import Record
from sidecar.app import Application
from sidecar.transports.cli import calls, screens
from sidecar.transports.exits import Exit


def team(app: Application, options: Namespace) -> Exit:
    """Set up, join, look at, exchange with and leave a team."""
    if options.action == "export":
        return _export(app, options)
    kind, show = _ACTIONS[options.action]
    result = calls.call(app, f"threadline/team/{options.action}", _params(options), kind)
    if options.json:
        print(calls.encode(result))
    else:
        show(result)
    return Exit.OK


def _params(options: Namespace) -> dict[str, object]:
    params: dict[str, object] = {"project": options.project}
    if options.action in {"init", "join"}:
        if options.place is None:
            raise InvalidParamsError(
                "name the place: `threadline team init postgresql://…`, or a git remote"
            )
        begun = {"address": options.place, "share": options.share, "person": options.person}
        params |= begun | {"approve": options.yes, "allowOrigin": options.yes}
        if options.action == "init":
            params["encrypt"] = options.encrypt
        else:
            params["key"] = options.set
    elif options.action == "push":
        params["approve"] = options.yes
    elif options.action == "key":
        params |= {"key": options.set, "rotate": options.rotate}
    elif options.action == "history":
        if options.place is None:
            raise InvalidParamsError("name the record: `threadline team history ID`")
        params["id"] = options.place
    return params


def _export(app: Application, options: Namespace) -> Exit:
    from sidecar.upkeep import team as upkeep  # noqa: PLC0415  # no other command needs it

    sys.stdout.buffer.write(upkeep.export(app.vault(options.project)))
    return Exit.OK


def _show_begun(begun: TeamBegun) -> None:
    screens.say(f"this project is in the team {begun.team_id}")
    screens.say(f"others join with: threadline team join '{begun.address}'")
    if begun.key is not None:
        screens.say(f"the team's key, which they need too: {begun.key}")
        screens.say(f"it is kept in {begun.key_place}; `threadline team key` shows it again")
    screens.say(f"shared from here: {_counts(begun.preview)}")
    screens.say(
        "`threadline team preview` shows them; nothing is sent before `threadline team push --yes`"
    )


def _show_preview(preview: TeamPreview) -> None:
    for item in preview.items:
        screens.console.print(
            screens.clean(f"{item.collection:<10} {item.id:<28} {item.title}"), soft_wrap=True
        )
    screens.say(_counts(preview))


def _counts(preview: TeamPreview) -> str:
    told = [f"{count:,} {name}" for name, count in sorted(preview.counts.items())]
    return ", ".join(told) or "nothing yet"


def _show_synced(synced: TeamSynced) -> None:
    screens.say(f"{synced.received:,} received, {synced.sent:,} sent, {synced.waiting:,} waiting")
    for problem in synced.problems:
        screens.say(screens.clean(problem))


def _show_status(status: TeamStatus) -> None:
    if status.address is None:
        screens.say("this project is in no team; what is kept stays on this machine")
        return
    sealed = ", encrypted" if status.is_encrypted else ""
    screens.say(f"team {status.team_id} at {status.address}; shares {status.share}{sealed}")
    if not status.is_approved:
        screens.say(
            "nothing is sent before you agree: `threadline team preview`, then `push --yes`"
        )
    pulled = screens.local(status.pulled_at) if status.pulled_at else "never"
    screens.say(f"{status.waiting:,} waiting to be sent; last pulled {pulled}")
    for member in status.members:
        seen = "this machine" if member.is_me else f"seen {screens.local(member.seen_at)}"
        behind = f", {member.behind:,} behind" if member.behind > 0 else ""
        screens.say(screens.clean(f"  {member.person} on {member.machine}: {seen}{behind}"))
    for erasure in status.erasures:
        missing = f"; not yet by {', '.join(erasure.missing)}" if erasure.missing else ""
        confirmed = ", ".join(erasure.confirmed) or "nobody"
        screens.say(
            screens.clean(
                f"  purged {erasure.collection} {erasure.id}: confirmed by {confirmed}{missing}"
            )
        )
    for problem in status.problems:
        screens.say(screens.clean(f"  {problem}"))


def _show_left(left: TeamLeft) -> None:
    unsent = f"; {left.unsent:,} changes were never sent" if left.unsent else ""
    screens.say(f"left the team {left.team_id}; all records stay here{unsent}")


def _show_key(key: TeamKey) -> None:
    screens.say(f"{key.key}\nkept in {key.place}")


def _show_history(history: TeamHistory) -> None:
    for value in history.values:
        mark = "*" if value.is_current else " "
        who = f"{value.person} on {value.machine}"
        screens.console.print(
            screens.clean(
                f"{mark} {screens.local(value.at)}  {who}  {value.field} = {value.value}"
            ),
            soft_wrap=True,
        )


_ACTIONS: dict[str, tuple[type[Record], Callable[..., None]]] = {
    "init": (TeamBegun, _show_begun),
    "join": (TeamBegun, _show_begun),
    "leave": (TeamLeft, _show_left),
    "status": (TeamStatus, _show_status),
    "preview": (TeamPreview, _show_preview),
    "push": (TeamSynced, _show_synced),
    "pull": (TeamSynced, _show_synced),
    "key": (TeamKey, _show_key),
    "history": (TeamHistory, _show_history),
}
