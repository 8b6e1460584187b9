"""Tracking: what is seen of a conversation is on the disk before it is acknowledged."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import PurePath

import msgspec

from protocol.checkpoints import Tracked, TrackParams
from protocol.conversations import Conversation, Note, Speaker
from protocol.settings import Settings
from sidecar.domain import privacy, secrets, sessions
from sidecar.domain.continuity import conversations
from sidecar.domain.continuity.conversations import Report, Who
from sidecar.services.continuity import meeting, observing
from sidecar.services.continuity.buffers import Buffer
from sidecar.services.continuity.tools import Hear, Tools
from sidecar.store.vaults import Vault


def track(vault: Vault, params: TrackParams, who: Who, tools: Tools) -> Tracked:
    """Note what was seen of a conversation; its checkpoint is made soon, if one is due."""
    if not tools.settings.continuity_enabled:
        return ignore(vault, params)
    who = meeting.leader(vault, params.session_key, who, (params.agent_id, params.harness))
    now = vault.clock()
    moment = sessions.clamp(sessions.bounded(params.occurred_at or now), now, vault.rule)
    report = _report(params, who, tools.hear, moment)
    talk = _tell(vault, params.session_key, who, (report, moment))
    is_due = conversations.is_due(talk, tools.settings, now)
    if is_due:
        save_soon(vault, talk.session_key, tools.settings, tools.buffer)
    return _tracked(talk.session_key, talk, is_due=is_due)


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


def _tell(vault: Vault, session_key: str, who: Who, news: tuple[Report, datetime]) -> Conversation:
    """Add a report to its conversation, in one line of the journal."""
    report, moment = news
    with vault.lock.held():
        met = meeting.meet(vault, session_key, who, moment)
        talk = conversations.told(met.conversation, report, moment)
        if talk is not met.conversation:
            met = msgspec.structs.replace(met, conversation=talk)
            vault.journal.append(meeting.ops(vault, met))
        return talk


def _report(params: TrackParams, who: Who, hear: Hear, moment: datetime) -> Report:
    """Put together what was seen, without what is private, secret or ours."""
    return Report(
        key=params.idempotency_key,
        prompts=int(params.prompt is not None),
        notes=(
            *_heard(params.prompt, "user", hear, moment),
            *_heard(params.response, "assistant", hear, moment),
        ),
        queries=tuple(filter(None, map(conversations.kept, params.queries))),
        remembered=tuple(filter(None, map(conversations.kept, params.remembered))),
        files=tuple(_files(params.files, who)),
        memory_ids=params.memory_ids,
    )


def _heard(text: str | None, speaker: Speaker, hear: Hear, moment: datetime) -> tuple[Note, ...]:
    said = conversations.kept(text or "")
    return hear(said, speaker, moment) if said else ()


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
