"""Accounting: what would be given now and what not, each item in its own words."""

from collections.abc import Iterator

from protocol.contexts import Account, ItemWords, RenderParams, SessionContext, StartContext
from protocol.memories import Memory
from sidecar.domain import privacy
from sidecar.domain.context import clipping, items
from sidecar.services.context.scenes import Scene
from sidecar.services.context.starting import Contexts

_TITLE, _TEXT = 200, 1_000


def account(contexts: Contexts, scene: Scene, params: RenderParams) -> Account:
    """Tell what is given, why, what is not, and what all of it says."""
    rendered, told = contexts.render(scene, params), contexts.tell(scene, params)
    receipt = told.receipt
    named = [*(one.id for one in receipt.items), *(one.id for one in receipt.left_out)]
    memories = scene.vault.memories.some(named)
    words = dict(_others(told.context)) | {key: _memory(one) for key, one in memories.items()}
    return Account(
        rendered=rendered,
        receipt=receipt,
        words={key: words[key] for key in named if key in words},
    )


def _memory(memory: Memory) -> ItemWords:
    clean = privacy.clean_memory(memory)
    return ItemWords(
        title=_short(clean.title),
        text=clipping.clip_lines(items.says(clean), _TEXT)[0],
        type=clean.type,
        origin=items.origin(clean),
        occurred_at=clean.occurred_at,
        feedback=clean.feedback,
        pinned=clean.pinned,
    )


def _others(context: StartContext) -> Iterator[tuple[str, ItemWords]]:
    """Word what is no memory: tasks, messages, documents, and where a conversation stood."""
    heart = context.session_context or SessionContext()
    for task in heart.active_tasks:
        if task.task_id:
            yield task.task_id, _said(task.title, task.text)
    for sent in context.pending_messages or ():
        yield sent.message_id, _said(sent.subject or sent.content, sent.content, sent.sender_id)
    for document in context.documents or ():
        yield document.name, _said(document.name, document.content)
    for done in (*(context.tasks_auto_completed or ()), *(context.tasks_suggested_done or ())):
        yield done.task_id, _said(done.title, done.evidence)
    if recovery := context.recovery or None:
        known = recovery.checkpoint_id or "recovery"
        yield known, _said("Where the earlier conversation stood", recovery.text)


def _said(title: str, text: str, origin: str = "") -> ItemWords:
    said = _short(privacy.clean(title))
    more = clipping.clip_lines(privacy.clean(text), _TEXT)[0]
    return ItemWords(title=said, text="" if more == said else more, origin=origin)


def _short(text: str) -> str:
    return clipping.clip(text, _TITLE)[0]
