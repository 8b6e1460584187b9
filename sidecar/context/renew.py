"""Tell a running conversation only what is new."""

from collections.abc import Collection

import msgspec

from protocol.contexts import (
    ContextItem,
    GivenItem,
    Receipt,
    Rendered,
    RenderParams,
    SessionContext,
    StartContext,
)
from protocol.conversations import Conversation
from sidecar.context import begin, gather, receipts
from sidecar.context.rules import rendering
from sidecar.context.rules.rendering import Rendering
from sidecar.context.scenes import Scene
from sidecar.hosts import assistant
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault


def earlier(scene: Scene) -> Conversation | None:
    """Find the conversation whose context a host still has: this very one, or the one it was forked from."""
    vault, key = scene.vault, scene.params.session_key
    own = vault.conversations.get(key) if key else None
    if (own is not None and own.began) or scene.params.occasion != "fork":
        return own
    here = vault.conversations.find("projectNormalized", str(scene.who.real_folder))
    known = [one for one in here if one.began and one.harness == scene.who.harness]
    return max(known, key=lambda one: one.last_seen_at, default=None)


def was_told(vault: Vault, talk: Conversation | None) -> bool:
    """Return whether a conversation has its context, and not only began: its host may have stopped waiting for it."""
    return talk is not None and talk.began is not None and bool(talk.given or _told(vault, talk))


def renew(
    scene: Scene, params: RenderParams, context: StartContext, key: bytes
) -> tuple[Rendered, Receipt | None]:
    """Return what of a context a conversation has not been given yet; nothing where that is nothing."""
    talk = earlier(scene)
    cap = assistant.cap(params.host, params.max_chars)
    silence = Rendered(host=params.host, text="", chars=0, cap=cap)
    if talk is None:
        return silence, None
    if not scene.params.preview:
        begin.branch(scene, talk)
    known = {*talk.given, *_told(scene.vault, talk)}
    news = _news(context, known)
    written = rendering.render(news, cap, key)
    if not scene.params.preview and (taken := scene.hand(_messages(written))):
        news = _without(news, taken)
        written = rendering.render(news, cap, key)
    given = tuple(one for one in _given(news) if (one.section, one.id) in written.sizes)
    if not given:
        return silence, None
    receipt = _receipt(scene, params, given, (written.text, cap))
    rendered = Rendered(
        host=params.host,
        text=written.text,
        chars=len(written.text),
        cap=cap,
        receipt_id=receipt.receipt_id,
        left_out=written.left_out,
    )
    return rendered, receipt


def note(vault: Vault, receipt: Receipt) -> list[Op]:
    """Return how to write down what was given anew."""
    ids = [one.id for one in receipt.items if one.id in vault.memories]
    told = begin.given(vault, receipt.session_key, ids) if receipt.session_key else []
    return [*receipts.keep(vault, receipt), *told]


def _told(vault: Vault, talk: Conversation) -> set[str]:
    """Name all that a conversation was told; a fork was told what its origin was, until its context is cut."""
    receipts = vault.receipts.find("sessionKey", talk.session_key)
    if talk.previous_session_key and all(one.occasion in gather.INTACT for one in receipts):
        receipts = [*receipts, *vault.receipts.find("sessionKey", talk.previous_session_key)]
    return {one.id for receipt in receipts for one in receipt.items}


def _news(context: StartContext, known: set[str]) -> StartContext:
    heart = context.session_context or SessionContext()
    todo = tuple(one for one in heart.active_tasks if (one.task_id or one.memory_id) not in known)
    return StartContext(
        project_id=context.project_id,
        session_context=SessionContext(
            recent_sessions=_unknown(heart.recent_sessions, known),
            important_facts=_unknown(heart.important_facts, known),
            active_tasks=todo,
            constraints=_unknown(heart.constraints, known),
        ),
        pending_messages=context.pending_messages or (),
        other_pending_message_count=context.other_pending_message_count,
    )


def _unknown(items: tuple[ContextItem, ...], known: set[str]) -> tuple[ContextItem, ...]:
    return tuple(one for one in items if one.memory_id not in known)


def _given(news: StartContext) -> tuple[GivenItem, ...]:
    heart = news.session_context or SessionContext()
    sections = {
        "recentSessions": [one.memory_id for one in heart.recent_sessions],
        "importantFacts": [one.memory_id for one in heart.important_facts],
        "activeTasks": [one.task_id or one.memory_id or "" for one in heart.active_tasks],
        "constraints": [one.memory_id for one in heart.constraints],
        gather.MESSAGES: [one.message_id for one in news.pending_messages or ()],
    }
    return tuple(
        GivenItem(id=one, section=section) for section, ids in sections.items() for one in ids
    )


def _messages(written: Rendering) -> set[str]:
    return {key for section, key in written.sizes if section == gather.MESSAGES}


def _without(news: StartContext, taken: Collection[str]) -> StartContext:
    left = tuple(one for one in news.pending_messages or () if one.message_id not in taken)
    return msgspec.structs.replace(news, pending_messages=left)


def _receipt(
    scene: Scene, params: RenderParams, given: tuple[GivenItem, ...], made: tuple[str, int]
) -> Receipt:
    (text, cap), now, vault = made, scene.vault.clock(), scene.vault
    key = params.session_key or ""
    parts = (vault.project_id, key, scene.who.agent_id, params.host, text)
    return Receipt(
        receipt_id=receipts.name(*(part.encode() for part in parts)),
        project_id=vault.project_id,
        session_key=params.session_key,
        agent_id=scene.who.agent_id,
        host=params.host,
        mode=params.mode,
        occasion=params.occasion,
        items=given,
        chars=len(text),
        cap=cap,
        given_at=now,
        last_given_at=now,
    )
