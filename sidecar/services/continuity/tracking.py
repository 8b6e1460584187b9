"""Tracking: what is seen of a conversation is on the disk before it is acknowledged."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import PurePath
from typing import NamedTuple

import msgspec
from msgspec import Struct

from protocol.checkpoints import Tracked, TrackParams
from protocol.conversations import Conversation, Speaker
from protocol.events import NewEvent
from protocol.settings import Settings
from protocol.turns import Activity
from sidecar.domain import privacy, secrets
from sidecar.domain.continuity import conversations, turns
from sidecar.domain.continuity.conversations import Report, Who
from sidecar.domain.continuity.turns import Turn
from sidecar.services import recording
from sidecar.services.continuity import collecting, listening, meeting, observing
from sidecar.services.continuity.buffers import Buffer
from sidecar.services.continuity.listening import Said
from sidecar.services.continuity.tools import Tools
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault


class Seen(Struct, frozen=True, kw_only=True):
    """What was just seen of a conversation, already without what may not be kept."""

    who: Who
    at: datetime
    report: Report
    turns: tuple[Turn, ...] = ()
    activities: tuple[Activity, ...] = ()


class Told(NamedTuple):
    """A conversation after a report, and whether that was news."""

    conversation: Conversation
    is_new: bool


def track(vault: Vault, params: TrackParams, who: Who, tools: Tools) -> Tracked:
    """Note what was seen of a conversation; its checkpoint is made soon, if one is due."""
    if not tools.settings.continuity_enabled:
        return ignore(vault, params)
    talk = tell(vault, params.session_key, see(vault, params, who, tools), tools).conversation
    is_due = conversations.is_due(talk, tools.settings, vault.clock())
    return _tracked(talk.session_key, talk, is_due=is_due)


def see(vault: Vault, params: TrackParams, who: Who, tools: Tools) -> Seen:
    """Put together what was seen; nothing is written yet."""
    who = meeting.leader(vault, params.session_key, who, (params.agent_id, params.harness))
    moment = meeting.moment(vault, params.occurred_at)
    key = conversations.known_as(params.session_key)
    heard = listening.listen(key, _said(params), hear=tools.hear, at=moment)
    return Seen(
        who=who,
        at=moment,
        report=_report(params, who, heard),
        turns=heard,
        activities=params.activities,
    )


def tell(vault: Vault, session_key: str, seen: Seen, tools: Tools) -> Told:
    """Add to a conversation what was seen of it; a turn that is worth it becomes an event of its session.

    The event comes first, since it is known again by its key: whenever the process dies, a retry makes all of it,
    and nothing twice.
    """
    with vault.transaction():
        met = meeting.meet(vault, session_key, seen.who, seen.at)
        talk = met.conversation
        if not _was_heard(vault, talk, seen):
            talk = conversations.told(talk, seen.report, seen.at)
        is_new = talk is not met.conversation
        if is_new:
            _capture(vault, seen)
            met = msgspec.structs.replace(met, conversation=talk)
            vault.write([*meeting.ops(vault, met), *_collected(vault, talk, seen)])
    if conversations.is_due(talk, tools.settings, vault.clock()):
        save_soon(vault, talk.session_key, tools.settings, tools.buffer)
    return Told(talk, is_new)


def key_of(params: TrackParams, said_by: Speaker) -> str:
    """Give what a turn is known by: its key, or else its words and, where it is told, its moment."""
    if params.idempotency_key is not None:
        return f"key:{params.idempotency_key}"
    text = params.prompt if said_by == "user" else params.response
    at = params.occurred_at.isoformat() if params.occurred_at else ""
    return f"words:{at}:{conversations.kept(text or '')}"


def ignore(vault: Vault, params: TrackParams) -> Tracked:
    """Tell how a conversation stands, and write nothing down."""
    talk = meeting.find(vault, params.session_key)
    return msgspec.structs.replace(
        _tracked(conversations.known_as(params.session_key), talk, is_due=False), is_kept=False
    )


def save_soon(vault: Vault, session_key: str, settings: Settings, buffer: Buffer) -> None:
    """Let the periodic checkpoint of a conversation be made."""
    buffer.add(
        vault,
        f"checkpoint:{session_key}",
        lambda vault: observing.save_if_due(vault, session_key, settings),
    )


def _capture(vault: Vault, seen: Seen) -> None:
    """Let flagged turns be read for memory with their session; the caller holds the store's lock."""
    flagged = [
        NewEvent(
            kind="capture",
            occurred_at=one.at,
            idempotency_key=f"turn:{one.turn_id}",
            source=seen.who.harness,
            agent_id=seen.who.agent_id if one.said_by == "assistant" else None,
            text=one.signal.excerpt,
        )
        for one in seen.turns
        if one.signal.is_flagged and one.signal.excerpt
    ]
    if flagged:
        recording.ingest(vault, flagged, seen.who.harness)


def _was_heard(vault: Vault, talk: Conversation, seen: Seen) -> bool:
    """Tell whether a turn was just heard from somebody else: a hook and an agent may report the same one."""
    news = msgspec.structs.replace(seen.report, key=None, prompts=0, notes=())
    if seen.report.key is None or len(seen.turns) != 1 or seen.activities or news != Report():
        return False
    said = collecting.said(vault, talk.session_key)
    return turns.is_repeated(turns.entry(talk.session_key, seen.turns[0]), said)


def _collected(vault: Vault, talk: Conversation, seen: Seen) -> list[Op]:
    key = talk.session_key
    return collecting.add(vault, key, seen.turns, done=seen.activities, now=seen.at)


def _said(params: TrackParams) -> Iterator[Said]:
    told: tuple[tuple[str | None, Speaker], ...] = (
        (params.prompt, "user"),
        (params.response, "assistant"),
    )
    for text, said_by in told:
        if text is not None:
            yield Said(text=text, said_by=said_by, key=key_of(params, said_by))


def _report(params: TrackParams, who: Who, heard: Iterable[Turn]) -> Report:
    """Put together what the conversation itself remembers."""
    return Report(
        key=params.idempotency_key,
        prompts=int(params.prompt is not None),
        notes=tuple(note for turn in heard for note in turn.signal.notes),
        queries=tuple(filter(None, map(conversations.kept, params.queries))),
        remembered=tuple(filter(None, map(conversations.kept, params.remembered))),
        files=tuple(_files(params.files, who)),
        memory_ids=params.memory_ids,
    )


def _files(paths: Iterable[str], who: Who) -> Iterator[str]:
    """Name files as the repository does; those that may hold secrets are not named at all."""
    for path in map(PurePath, paths):
        name = _within(path, who).as_posix()
        if name != "." and not secrets.is_secret(name):
            yield privacy.clean(name)


def _within(path: PurePath, who: Who) -> PurePath:
    if path.is_relative_to(who.real_folder):
        return path.relative_to(who.real_folder)
    return who.inside / path.relative_to(who.folder) if path.is_relative_to(who.folder) else path


def _tracked(session_key: str, talk: Conversation | None, *, is_due: bool) -> Tracked:
    prompts = 0 if talk is None else talk.prompt_count
    return Tracked(session_key=session_key, prompt_count=prompts, is_checkpoint_due=is_due)
