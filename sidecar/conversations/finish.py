"""End, flush and prune conversations."""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import msgspec

from protocol.checkpoints import Checkpoint, Digested, EndParams
from protocol.contexts import Receipt
from protocol.conversations import Conversation
from protocol.errors import ThreadlineError
from protocol.memories import Memory
from protocol.settings import Settings
from sidecar.conversations import collect, participants, statements
from sidecar.conversations.participants import Tools
from sidecar.conversations.rules import checkpoints, conversations
from sidecar.conversations.rules.conversations import Who
from sidecar.storage import texts
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault


def end(vault: Vault, params: EndParams, who: Who, tools: Tools) -> Digested:
    """End a conversation: its state is saved, and what it was about is remembered if somebody said it."""
    tools.buffer.flush()
    who = participants.leader(vault, params.session_key, who, (params.agent_id, params.harness))
    author = statements.sign(vault, params.session_key, who)
    summary = statements.make_summary(vault, params.session_summary, author)
    made: Checkpoint | None = None

    def save() -> list[Op]:
        nonlocal made
        if not tools.settings.continuity_enabled or not _is_known(vault, params, summary):
            return []
        ops, made = _end(vault, params, (who, summary), tools)
        return ops

    new = [summary] if summary else []
    statements.write(vault, new, author, meanings=tools.meanings, along=save)
    return Digested(checkpoint=made and checkpoints.cleaned(made))


def _is_known(vault: Vault, params: EndParams, summary: Memory | None) -> bool:
    return summary is not None or participants.find(vault, params.session_key) is not None


def _end(
    vault: Vault, params: EndParams, said: tuple[Who, Memory | None], tools: Tools
) -> tuple[list[Op], Checkpoint | None]:
    who, summary = said
    now = participants.moment(vault, params.occurred_at)
    met = participants.meet(vault, params.session_key, who, now)
    talk = met.conversation
    known = _ended(vault, talk)
    if talk.ended_at is not None and (summary is None or _tells(known, summary)):
        return [], known
    talk = msgspec.structs.replace(conversations.seen(talk, now), ended_at=now)
    agent = conversations.summed_up(met.agent, summary.title) if summary else met.agent
    greeted = vault.agents.put(agent.agent_id, agent)
    if summary is None and not _leaves_something(vault, talk):
        gone = collect.drop(vault, talk.session_key)
        return [vault.conversations.put(talk.session_key, talk), greeted, *gone], None
    made = collect.make(talk, "session_end", _digest(vault, talk, summary, now), now=now)
    return [*collect.save(vault, made, talk, tools.settings), greeted], made


def _leaves_something(vault: Vault, talk: Conversation) -> bool:
    if conversations.leaves_something(talk) or vault.checkpoints.find(
        "sessionKey", talk.session_key
    ):
        return True
    done = collect.work(vault, talk)
    return bool(done.commits or done.files)


def _digest(vault: Vault, talk: Conversation, summary: Memory | None, now: datetime) -> str:
    observed = collect.describe(vault, talk, now)
    return f"{summary.content}\n\n{observed}" if summary else observed


def _ended(vault: Vault, talk: Conversation) -> Checkpoint | None:
    mine = vault.checkpoints.find("sessionKey", talk.session_key)
    ends = [one for one in checkpoints.by_age(mine) if one.trigger == "session_end"]
    return ends[0] if ends else None


def _tells(checkpoint: Checkpoint | None, summary: Memory) -> bool:
    return checkpoint is not None and checkpoint.digest.startswith(summary.content)


def flush(vault: Vault, settings: Settings) -> int:
    """Save the conversations in which nothing has happened for a while; tell how many there were.

    What waits of each becomes a checkpoint; of one that was about nothing it just goes.
    """
    if not collect.idle(vault, settings):
        return 0
    with vault.transaction():
        silent = collect.idle(vault, settings)
        if ops := [op for key in silent for op in _flushed(vault, key, settings)]:
            vault.write(ops)
    return len(silent)


def _flushed(vault: Vault, session_key: str, settings: Settings) -> list[Op]:
    talk = vault.conversations.get(session_key)
    if talk is None or not _is_wanted(vault, talk, settings):
        return collect.drop(vault, session_key)
    moment = min(vault.clock(), _silence(talk))
    made = collect.make(talk, "periodic", collect.describe(vault, talk, moment), now=moment)
    return collect.save(vault, made, talk, settings)


def _is_wanted(vault: Vault, talk: Conversation, settings: Settings) -> bool:
    """Return whether a conversation is to be saved: not one that would be too old at once, or about nothing."""
    oldest = vault.clock() - timedelta(days=settings.retention_days)
    is_young = settings.continuity_enabled and talk.last_seen_at >= oldest
    return is_young and conversations.leaves_something(talk)


def _silence(talk: Conversation) -> datetime:
    return max(talk.last_seen_at, talk.checkpointed_at or talk.last_seen_at)


Flush = Callable[[Vault], bool]
"""Saves what has fallen silent; tells whether something still waits."""

_log = logging.getLogger(__name__)


class Idling:
    """One alarm for each project in which something was said."""

    def __init__(self, flush: Flush) -> None:
        """Have nothing to wait for yet."""
        self._flush = flush
        self._alarms: dict[str, threading.Timer] = {}
        self._mutex = threading.Lock()

    def expect(self, vault: Vault, seconds: float) -> None:
        """Look after so many seconds, unless somebody will anyway."""
        with self._mutex:
            key = str(vault.folder)
            if key not in self._alarms:
                self._alarms[key] = _set(seconds, lambda: self._look(vault, seconds))

    def cancel(self) -> None:
        """Look no more: whoever opens the project next does it."""
        with self._mutex:
            for alarm in self._alarms.values():
                alarm.cancel()
            self._alarms.clear()

    def _look(self, vault: Vault, seconds: float) -> None:
        with self._mutex:
            if self._alarms.pop(str(vault.folder), None) is None:
                return
        is_waiting = True
        try:
            is_waiting = self._flush(vault)
        except (ThreadlineError, OSError) as error:
            _log.warning("%s; silent conversations are saved later", error)
        except Exception:  # noqa: BLE001  # the boundary of the thread
            _log.exception("silent conversations could not be saved")
        if is_waiting:
            with contextlib.suppress(RuntimeError):
                # No thread can be started any more while the process ends.
                self.expect(vault, seconds)


def _set(seconds: float, act: Callable[[], None]) -> threading.Timer:
    alarm = threading.Timer(seconds, act)
    alarm.daemon = True
    alarm.start()
    return alarm


RECEIPTS = 1_000
_LONGER = 4
"""How many times longer than checkpoints receipts are kept: they say what memory was worth."""


def prune(vault: Vault, settings: Settings) -> int:
    """Drop checkpoints, receipts, turns and old conversations' words that need not be kept; tell how many."""
    if not any(_ops(vault, settings)):
        return 0
    with vault.transaction():
        ops = list(_ops(vault, settings))
        if ops:
            vault.write(ops)
    return len(ops)


def _ops(vault: Vault, settings: Settings) -> Iterator[Op]:
    now = vault.clock()
    for identifier in checkpoints.surplus(vault.checkpoints.all(), settings, now):
        yield vault.checkpoints.drop(identifier)
    for identifier in _receipts(vault, settings):
        yield vault.receipts.drop(identifier)
    if settings.turn_retention_days:
        kept_from = now - timedelta(days=settings.turn_retention_days)
        for identifier in texts.older(vault.database, "turn", kept_from):
            yield vault.turns.drop(identifier)
    oldest = now - timedelta(days=settings.retention_days)
    for talk in vault.conversations.all():
        faded = conversations.faded(talk)
        if talk.last_seen_at < oldest and faded != talk:
            yield vault.conversations.put(talk.session_key, faded)


def _receipts(vault: Vault, settings: Settings) -> list[str]:
    oldest = vault.clock() - timedelta(days=settings.retention_days * _LONGER)
    kept = sorted(vault.receipts.all(), key=_age, reverse=True)
    return [
        one.receipt_id
        for place, one in enumerate(kept)
        if place >= RECEIPTS or one.last_given_at < oldest
    ]


def _age(receipt: Receipt) -> tuple[object, str]:
    return receipt.last_given_at, receipt.receipt_id
