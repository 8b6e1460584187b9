"""Store turns durably before acknowledging them."""

import logging
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

import msgspec
from msgspec import Struct

from protocol.checkpoints import Tracked, TrackParams
from protocol.conversations import Conversation, Speaker
from protocol.errors import ThreadlineError
from protocol.events import NewEvent
from protocol.settings import Settings
from protocol.turns import Activity, ExtractionStatus, IngestedTurn, IngestTurnParams
from sidecar.capture import record, timeline
from sidecar.capture.rules import pauses
from sidecar.conversations import collect, participants
from sidecar.conversations.later import Buffer
from sidecar.conversations.participants import Hear, Tools
from sidecar.conversations.rules import conversations, prompts, turns
from sidecar.conversations.rules.conversations import Report, Who
from sidecar.conversations.rules.turns import Signal, Turn
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault


def note(vault: Vault, session_key: str, report: Report, done: Iterable[Activity] = ()) -> list[Op]:
    """Return how to write down what a known conversation searched, read or kept."""
    talk = participants.find(vault, session_key)
    if talk is None:
        return []
    told = conversations.told(talk, report, talk.last_seen_at)
    told = msgspec.structs.replace(told, ended_at=talk.ended_at)
    added = collect.add(vault, talk.session_key, done=done, now=vault.clock())
    return [*([] if told == talk else [vault.conversations.put(talk.session_key, told)]), *added]


def listen(vault: Vault, session_key: str, text: str) -> list[Op]:
    """Return how to write down which of the memories that it was given a conversation quotes."""
    talk = participants.find(vault, session_key)
    given = vault.memories.some(talk.given) if talk else {}
    quoted = turns.quoted(text, given.values())
    return note(vault, session_key, Report(memory_ids=quoted)) if quoted else []


_log = logging.getLogger(__name__)


class Said(Struct, frozen=True, kw_only=True):
    """Something said, as it was heard."""

    text: str
    said_by: Speaker
    key: str
    """What it is known by."""


def hear_turn(
    session_key: str, said: Iterable[Said], *, hear: Hear, at: datetime
) -> tuple[Turn, ...]:
    """Return the turns of what was said: the one way in which any turn comes in, whoever reports it.

    A rule that fails is logged and costs only what it would have found: the words are kept.
    """
    heard = (
        Turn(
            turn_id=turns.name(session_key, one.said_by, one.key),
            said_by=one.said_by,
            text=text,
            at=at,
            signal=Signal(),
        )
        for one in said
        if (text := conversations.kept(one.text))
    )
    return tuple(_weighed(turn, hear) for turn in heard)


def _weighed(turn: Turn, hear: Hear) -> Turn:
    if turn.said_by != "user":
        return turn
    try:
        signal = hear(turn.text, turn.at)
    except (ThreadlineError, OSError):
        # The store is busy or failing: the turn is tried again as a whole.
        raise
    except Exception:  # noqa: BLE001  # the boundary of the rules about words
        _log.exception("a rule about a turn failed; its words are kept")
        return turn
    return msgspec.structs.replace(turn, signal=signal)


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
    who = participants.leader(vault, params.session_key, who, (params.agent_id, params.harness))
    moment = participants.moment(vault, params.occurred_at)
    key = conversations.known_as(params.session_key)
    heard = hear_turn(key, _said(params), hear=tools.hear, at=moment)
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
        met = participants.meet(vault, session_key, seen.who, seen.at)
        talk = met.conversation
        if not _was_heard(vault, talk, seen):
            talk = conversations.told(talk, seen.report, seen.at)
        is_new = talk is not met.conversation
        if is_new:
            capture(vault, seen)
            met = msgspec.structs.replace(met, conversation=talk)
            vault.write([*participants.ops(vault, met), *_collected(vault, talk, seen)])
    if conversations.is_due(talk, tools.settings, vault.clock()):
        save_soon(vault, talk.session_key, tools.settings, tools.buffer)
    return Told(talk, is_new)


def key_of(params: TrackParams, said_by: Speaker) -> str:
    """Return what a turn is known by: its key, or else its words and, where it is told, its moment."""
    if params.idempotency_key is not None:
        return f"key:{params.idempotency_key}"
    text = params.prompt if said_by == "user" else params.response
    at = params.occurred_at.isoformat() if params.occurred_at else ""
    return f"words:{at}:{conversations.kept(text or '')}"


def ignore(vault: Vault, params: TrackParams) -> Tracked:
    """Return how a conversation stands, and write nothing down."""
    talk = participants.find(vault, params.session_key)
    return msgspec.structs.replace(
        _tracked(conversations.known_as(params.session_key), talk, is_due=False), is_kept=False
    )


def save_soon(vault: Vault, session_key: str, settings: Settings, buffer: Buffer) -> None:
    """Let the periodic checkpoint of a conversation be made."""
    buffer.add(
        vault,
        f"checkpoint:{session_key}",
        lambda vault: collect.save_if_due(vault, session_key, settings),
    )


def capture(vault: Vault, seen: Seen) -> None:
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
        record.ingest(vault, flagged, seen.who.harness)


def _was_heard(vault: Vault, talk: Conversation, seen: Seen) -> bool:
    """Return whether a turn was just heard from somebody else: a hook and an agent may report the same one."""
    news = msgspec.structs.replace(
        seen.report, key=None, prompts=0, said=(), last_words="", notes=()
    )
    if seen.report.key is None or len(seen.turns) != 1 or seen.activities or news != Report():
        return False
    said = collect.said(vault, talk.session_key)
    return turns.is_repeated(turns.entry(talk.session_key, seen.turns[0]), said)


def _collected(vault: Vault, talk: Conversation, seen: Seen) -> list[Op]:
    key = talk.session_key
    session_id = timeline.active_id(vault) if seen.turns else None
    kept = (
        part
        for turn in seen.turns
        for part in turns.parts(turn, talk, session_id, seen.report.files)
    )
    return [
        *collect.add(vault, key, seen.turns, done=seen.activities, now=seen.at),
        *(vault.turns.put(turns.part_id(part), part) for part in kept),
    ]


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
    heard = tuple(heard)
    return Report(
        key=params.idempotency_key,
        prompts=int(params.prompt is not None),
        said=tuple(prompts.condense(one.text) for one in heard if one.said_by == "user"),
        last_words="".join(
            prompts.condense(one.text, prompts.LAST_WORDS)
            for one in heard
            if one.said_by == "assistant"
        ),
        notes=tuple(note for turn in heard for note in turn.signal.notes),
        queries=tuple(filter(None, map(conversations.kept, params.queries))),
        remembered=tuple(filter(None, map(conversations.kept, params.remembered))),
        files=tuple(conversations.name_files(params.files, who)),
        memory_ids=params.memory_ids,
    )


def _tracked(session_key: str, talk: Conversation | None, *, is_due: bool) -> Tracked:
    count = 0 if talk is None else talk.prompt_count
    return Tracked(session_key=session_key, prompt_count=count, is_checkpoint_due=is_due)


def take(vault: Vault, params: IngestTurnParams, who: Who, tools: Tools) -> IngestedTurn:
    """Take in one turn, the same way as all that is heard of a conversation; on the disk when this returns."""
    if not tools.settings.continuity_enabled or _was_paused(vault, params):
        return refuse(params)
    seen = see(vault, _track_turn(params), who, tools)
    with vault.transaction():
        talk = participants.find(vault, session_key(params))
        key = _report_key(talk, params)
        if not seen.turns and not (talk and conversations.has_heard(talk, key)):
            return refuse(params)
        named = msgspec.structs.replace(seen.report, key=key)
        seen = msgspec.structs.replace(seen, report=named)
        told = tell(vault, session_key(params), seen, tools)
    signal = seen.turns[0].signal if seen.turns else Signal()
    return _answer(params, signal, _status(signal, is_new=told.is_new))


def refuse(params: IngestTurnParams) -> IngestedTurn:
    """Keep nothing of a turn."""
    return _answer(params, Signal(), "dropped")


def session_key(params: IngestTurnParams) -> str:
    """Return which conversation is meant, by either of its names."""
    return params.session_key or params.agent_run_id or ""


def _track_turn(params: IngestTurnParams) -> TrackParams:
    is_users = params.role == "user"
    return TrackParams(
        project=params.project,
        session_key=session_key(params),
        agent_id=params.agent_id,
        harness=params.harness,
        prompt=params.content if is_users else None,
        response=None if is_users else params.content,
        idempotency_key=params.idempotency_key,
        occurred_at=params.occurred_at,
    )


def _key(params: IngestTurnParams) -> str:
    return key_of(_track_turn(params), params.role)


def _report_key(talk: Conversation | None, params: IngestTurnParams) -> str:
    """Return what the report of a turn is known by; one without a key or a moment only while it is the last."""
    key = f"{params.role}:{_key(params)}"
    if params.idempotency_key is not None or params.occurred_at is not None or talk is None:
        return key
    return conversations.unheard(talk, key)


def _was_paused(vault: Vault, params: IngestTurnParams) -> bool:
    known = vault.pauses.read() if params.occurred_at else []
    return params.occurred_at is not None and pauses.were_on(known, params.occurred_at)


def _status(signal: Signal, *, is_new: bool) -> ExtractionStatus:
    if not is_new:
        return "duplicate"
    return "queued" if signal.is_flagged else "skipped"


def _answer(params: IngestTurnParams, signal: Signal, status: ExtractionStatus) -> IngestedTurn:
    key = conversations.known_as(session_key(params))
    return IngestedTurn(
        turn_id=turns.name(key, params.role, _key(params)),
        signal_score=signal.score,
        signal_keywords=signal.keywords,
        extraction_status=status,
    )
