"""Be part of a team: set one up, join, leave, exchange, and say how it stands."""

import contextlib
import getpass
import logging
import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from protocol.errors import ConflictError, InvalidParamsError, TeamFailedError, ThreadlineError
from protocol.projects import ProjectParams
from protocol.teams import (
    BeginTeamParams,
    HistoryParams,
    InitTeamParams,
    JoinTeamParams,
    PushParams,
    SaidValue,
    SharedItem,
    TeamBegun,
    TeamErasure,
    TeamHistory,
    TeamKey,
    TeamKeyParams,
    TeamLeft,
    TeamMember,
    TeamPreview,
    TeamStatus,
    TeamSynced,
)
from protocol.values import Record
from sidecar.code import git
from sidecar.storage.locks import Lock
from sidecar.storage.team import entries, replica, sealing, sync
from sidecar.storage.team.entries import Engine, Facts
from sidecar.storage.team.replica import (
    CONFIRMATIONS,
    MEMBERS,
    Replica,
    Team,
    read_team,
    write_team,
)
from sidecar.storage.team.sync import Codec
from sidecar.storage.vault import Vault

EVERY = 30.0
"""Seconds between two looks at the engine, more or less: machines that were started together must not ask together."""
_GLANCE = 0.5
"""Seconds between two looks at what waits here."""
_AGAIN = 10.0
"""Seconds until a team that could not be reached is tried again."""
_SHOWN = 200
_TITLES = ("title", "subject", "name", "content")

_Kind = TypeVar("_Kind")

_log = logging.getLogger(__name__)


def init(vault: Vault, params: InitTeamParams, folder: Path) -> TeamBegun:
    """Set a team up, and join it."""
    _refuse_second(vault)
    _refuse_origin(params, folder)
    key = sealing.new_key() if params.encrypt else None
    facts = Facts(team_id=secrets.token_hex(10), key_check=sealing.check_of(key) if key else "")
    with contextlib.closing(_engine(vault, params.address)) as engine:
        address = engine.found(facts)
    return _begin(vault, params, folder, (facts, address, key))


def join(vault: Vault, params: JoinTeamParams, folder: Path) -> TeamBegun:
    """Join a team that somebody has set up."""
    _refuse_second(vault)
    _refuse_origin(params, folder)
    with contextlib.closing(_engine(vault, params.address)) as engine:
        facts = engine.facts()
    if facts is None:
        raise ConflictError("there is no team at this address; `threadline team init` sets one up")
    if facts.key_check:
        sealing.verify([params.key] if params.key else [], facts.key_check)
    return _begin(vault, params, folder, (facts, params.address, params.key))


def leave(vault: Vault, _params: ProjectParams) -> TeamLeft:
    """Take part no longer; all records stay."""
    own = _replica(vault)
    unsent = own.waiting() if own.is_made else 0
    # First the file: a change that is noted once the tables are gone would make them again.
    (vault.folder / replica.TEAM).unlink()
    own.drop()
    sealing.forget(vault.folder, own.team.team_id)
    return TeamLeft(team_id=own.team.team_id, unsent=unsent)


def preview(vault: Vault, _params: ProjectParams) -> TeamPreview:
    """Show what is shared, as it leaves."""
    items = [
        SharedItem(collection=name, id=key, title=_title(shown))
        for name, key, shown in _replica(vault).preview()
    ]
    counts = Counter(item.collection for item in items)
    return TeamPreview(counts=dict(counts), items=tuple(items[:_SHOWN]))


def push(vault: Vault, params: PushParams) -> TeamSynced:
    """Take over what is new, and send what waits; not before the person has agreed to what is shared."""
    own = _replica(vault)
    if params.approve and not own.team.is_approved:
        write_team(vault.folder, msgspec.structs.replace(own.team, is_approved=True))
        own = _replica(vault)
    if not own.team.is_approved:
        raise ConflictError(
            "nothing was sent: look at `threadline team preview` first, then `threadline team push --yes`"
        )
    return exchange(vault)


def pull(vault: Vault, _params: ProjectParams) -> TeamSynced:
    """Take over what others have told."""
    own = _replica(vault)
    with _exclusively(vault), contextlib.closing(_engine(vault, own.team.address)) as engine:
        received = sync.pull(vault, own, engine, _codec(vault, own.team))
    return _synced(own, received, 0)


def exchange(vault: Vault) -> TeamSynced:
    """Take over what others have told, and send what waits."""
    own = _replica(vault)
    with _exclusively(vault), contextlib.closing(_engine(vault, own.team.address)) as engine:
        received, sent = sync.sync(vault, own, engine, _codec(vault, own.team))
    return _synced(own, received, sent)


def keep_key(vault: Vault, params: TeamKeyParams) -> TeamKey:
    """Show the team's key, take over one that a member has made, or make a new one."""
    team = _replica(vault).team
    keys = sealing.load(vault.folder, team.team_id)
    if not team.is_encrypted:
        raise ConflictError("the team's entries are not encrypted, so there is no key")
    fresh = sealing.new_key() if params.rotate else params.key
    if fresh is None:
        place = str(vault.folder / sealing.FILE)
        return TeamKey(key=keys[0], place=place if Path(place).exists() else "the keyring")
    with contextlib.closing(_engine(vault, team.address)) as engine:
        if params.rotate:
            engine.update_key_check(sealing.check_of(fresh))
        else:
            facts = engine.facts()
            sealing.verify([fresh], facts.key_check if facts else "")
    rest = [key for key in keys if key != fresh]
    return TeamKey(key=fresh, place=sealing.store(vault.folder, team.team_id, [fresh, *rest]))


def status(vault: Vault, _params: ProjectParams) -> TeamStatus:
    """Return how a project stands with its team, from what is known here."""
    team = read_team(vault.folder)
    if team is None:
        return TeamStatus()
    own = Replica(vault, team)
    own.make()
    me, members = own.me(), _members(own)
    return TeamStatus(
        team_id=team.team_id,
        address=_masked(team.address),
        share=team.share,
        is_approved=team.is_approved,
        is_encrypted=team.is_encrypted,
        waiting=own.waiting(),
        pulled_at=datetime.fromisoformat(me.pulled) if me.pulled else None,
        members=members,
        erasures=_erasures(own, members),
        problems=_problems(own),
    )


def history(vault: Vault, params: HistoryParams) -> TeamHistory:
    """Return who has set what of a record, and when."""
    own = _replica(vault)
    people = {member.writer: member for member in _members(own)}
    unknown = TeamMember(writer="", person="?", machine="?", seen_at=vault.clock())
    values = [
        SaidValue(
            field=value.field,
            value=value.body.decode(),
            person=people.get(value.writer, unknown).person,
            machine=people.get(value.writer, unknown).machine,
            at=entries.moment(value.clock),
            is_current=value is kept[0],
        )
        for name in replica.COLLECTIONS
        for kept in own.record(name, params.id).values()
        for value in kept
    ]
    return TeamHistory(
        values=tuple(sorted(values, key=lambda value: (value.at, value.field), reverse=True))
    )


def keep_in_touch(vault: Vault, stop: threading.Event) -> None:
    """Exchange until told to stop, or until the team is left: when something waits, when news come, and now and then."""
    while not stop.is_set() and (team := read_team(vault.folder)) is not None:
        engine = _engine(vault, team.address)
        try:
            # From here on no news is missed: what came before is taken over now.
            engine.notified(0.0)
            due = 0.0
            while not stop.is_set() and (own := _replica(vault)).team == team:
                if time.monotonic() >= due or (team.is_approved and own.waiting()):
                    with _exclusively(vault):
                        sync.sync(vault, own, engine, _codec(vault, team))
                    due = _next()
                if engine.notified(_GLANCE):
                    due = 0.0
        except (ThreadlineError, OSError) as error:
            _log.info("the team cannot be reached; it is tried again: %s", error)
            stop.wait(_AGAIN)
        finally:
            engine.close()


def try_exchange(vault: Vault) -> None:
    """Exchange; what goes wrong is logged and fails nobody."""
    try:
        exchange(vault)
    except ThreadlineError as error:
        _log.warning("the team was not reached: %s", error)


def export(vault: Vault) -> bytes:
    """Write all shared records: the same bytes on every machine that has heard the same."""
    from sidecar.storage.team import merge  # noqa: PLC0415  # few ask for it

    return merge.export(_replica(vault).records())


# Inside


def _next() -> float:
    return time.monotonic() + EVERY * random.uniform(0.75, 1.25)  # noqa: S311  # not a secret


def _begin(
    vault: Vault, params: BeginTeamParams, folder: Path, team: tuple[Facts, str, str | None]
) -> TeamBegun:
    facts, address, key = team
    place = sealing.store(vault.folder, facts.team_id, [key]) if key else None
    joined = Team(
        team_id=facts.team_id,
        address=address,
        project=vault.project_id,
        share=params.share,
        person=params.person or _person(folder),
        machine=replica.machine_name(),
        is_encrypted=bool(facts.key_check),
        is_approved=params.approve,
    )
    # First the file, then what is there: whoever writes in between notes it, and nothing is missed.
    write_team(vault.folder, joined)
    Replica(vault, joined).make()
    shown = preview(vault, params)
    with contextlib.suppress(TeamFailedError):
        exchange(vault)
    return TeamBegun(
        team_id=facts.team_id, address=address, key=key, key_place=place, preview=shown
    )


def _replica(vault: Vault) -> Replica:
    team = read_team(vault.folder)
    if team is None:
        raise ConflictError(
            "this project is in no team; `threadline team init` or `join` begins one"
        )
    own = Replica(vault, team)
    own.make()
    return own


def _engine(vault: Vault, address: str) -> Engine:
    """Connect to what an address names; nothing is loaded that is not needed."""
    if address.startswith(("postgresql://", "postgres://")):
        from sidecar.storage.team.postgres import PostgresEngine  # noqa: PLC0415  # an optional package

        return PostgresEngine(address, vault.project_id)
    if address.startswith("-"):
        raise InvalidParamsError(f"{address} is no address", field="address")
    from sidecar.code.team_remote import GitEngine  # noqa: PLC0415  # few need it

    return GitEngine(vault.folder / "team.git", address, vault.project_id)


def _codec(vault: Vault, team: Team) -> Codec:
    if not team.is_encrypted:
        return sync.PLAIN
    keys = sealing.load(vault.folder, team.team_id)
    if not keys:
        raise ConflictError(
            "the team's key is missing here; `threadline team key --set` brings it back"
        )
    return sealing.codec(keys)


@contextlib.contextmanager
def _exclusively(vault: Vault) -> Iterator[None]:
    """Let one process at a time exchange: another one would only send the same again."""
    with Lock(vault.folder / "exchanging").held():
        yield


def _refuse_second(vault: Vault) -> None:
    team = read_team(vault.folder)
    if team is not None:
        raise ConflictError(
            f"this project is in the team {team.team_id} already; `threadline team leave` first"
        )


def _refuse_origin(params: BeginTeamParams, folder: Path) -> None:
    """Refuse the remote that the code is pushed to, unless the person says that it is meant."""
    if params.allow_origin or params.address.startswith(("postgresql://", "postgres://")):
        return
    code, output, _ = git.ask(folder, "config", "--get-regexp", r"^remote\..*\.(push)?url$")
    remotes = (
        {line.partition(" ")[2] for line in git.text(output).splitlines()} if not code else set()
    )
    if _plain(params.address) in map(_plain, remotes):
        raise ConflictError(
            f"{params.address} is where the code is pushed to; add --yes to keep the team's memory there, too",
            field="address",
        )


def _plain(address: str) -> str:
    return address.rstrip("/").removesuffix(".git").removeprefix("file://")


def _person(folder: Path) -> str:
    with contextlib.suppress(ThreadlineError):
        if name := git.text(git.setting(folder, "--get", "user.name")).strip():
            return name[:200]
    return getpass.getuser()


def _title(shown: dict[str, Any]) -> str:
    text = next((str(shown[name]) for name in _TITLES if shown.get(name)), "")
    return " ".join(text.split())[:100]


def _synced(own: Replica, received: int, sent: int) -> TeamSynced:
    return TeamSynced(received=received, sent=sent, waiting=own.waiting(), problems=_problems(own))


def _problems(own: Replica) -> tuple[str, ...]:
    names = {member.writer: f"{member.person} ({member.machine})" for member in _members(own)}
    return tuple(
        f"{names.get(writer, writer)}: {problem}"
        for writer, problem in sorted(own.problems().items())
    )


class _Member(Record, frozen=True, kw_only=True):
    seen_at: datetime
    person: str = ""
    machine: str = ""
    heads: dict[str, int] = msgspec.field(default_factory=dict)


class _Confirmation(Record, frozen=True, kw_only=True):
    collection: str
    record: str
    writer: str


def _read(own: Replica, collection: str, kind: type[_Kind]) -> Iterator[tuple[str, _Kind]]:
    """Yield the log's own records; what a member has written in another shape is left out."""
    for key, told in sorted(own.documents(collection).items()):
        with contextlib.suppress(msgspec.ValidationError):
            yield key, msgspec.convert(told, type=kind)


def _members(own: Replica) -> tuple[TeamMember, ...]:
    me = own.me()
    return tuple(
        TeamMember(
            writer=writer,
            person=member.person,
            machine=member.machine,
            seen_at=member.seen_at,
            is_me=writer == me.writer,
            behind=0 if writer == me.writer else me.sent - member.heads.get(me.writer, 0),
        )
        for writer, member in _read(own, MEMBERS, _Member)
    )


def _erasures(own: Replica, members: tuple[TeamMember, ...]) -> tuple[TeamErasure, ...]:
    names = {member.writer: f"{member.person} ({member.machine})" for member in members}
    told = [confirmation for _, confirmation in _read(own, CONFIRMATIONS, _Confirmation)]
    erasures = []
    for collection, identifier in own.erasures():
        writers = {
            each.writer
            for each in told
            if (each.collection, each.record) == (collection, identifier)
        }
        erasures.append(
            TeamErasure(
                collection=collection,
                id=identifier,
                confirmed=tuple(sorted(names[writer] for writer in writers if writer in names)),
                missing=tuple(
                    sorted(name for writer, name in names.items() if writer not in writers)
                ),
            )
        )
    return tuple(erasures)


def _masked(address: str) -> str:
    """Return an address without its password."""
    scheme, separator, rest = address.partition("://")
    user, at, host = rest.rpartition("@")
    return f"{scheme}{separator}{user.partition(':')[0]}{at}{host}"
