"""Memories, tasks, messages and documents as context items."""

from typing import cast

from protocol.contexts import ContextItem, DocumentItem, MessageItem, RecordKind, TaskItem
from protocol.documents import Document
from protocol.memories import Memory
from protocol.messages import Message
from protocol.recall import Hit
from protocol.tasks import ANYONE, Task
from sidecar.memory.rules import digests
from sidecar.text import characters, clipping
from sidecar.text.patterns import late

_FILES = 3
_SHA = 7
_LINK = late(r"(?:\s|[:;!?]|[.,](?!\w)|[\u2013\u2014-]+(?=\s))*")
"""What stands between a title and what follows it; the sign of a number is no link."""


def from_memory(
    memory: Memory, *, author: str | None = None, summary_only: bool = True
) -> ContextItem:
    """Tell a memory, in short or in full; `author` is who made the commit it comes from."""
    title, text, is_clipped = _told(memory.title, says(memory), summary_only=summary_only)
    return ContextItem(
        memory_id=memory.memory_id,
        type=memory.type,
        title=title,
        text=text,
        importance=memory.importance,
        origin=origin(memory, author),
        occurred_at=memory.occurred_at,
        files=tuple(map(characters.shown, memory.files[:_FILES])),
        has_changed=memory.verdict == "changed",
        is_clipped=is_clipped,
    )


def from_record(hit: Hit) -> ContextItem:
    """Tell a record by the sentences that fit the question, with who wrote it."""
    source = f"commit {hit.commit[:_SHA]}" if hit.commit else hit.kind
    return ContextItem(
        memory_id=hit.id,
        type=cast("RecordKind", hit.kind),
        title=characters.shown(hit.title or hit.text),
        text=characters.shown(hit.text) if hit.title else "",
        origin=f"{source} by {hit.author}" if hit.author else source,
        occurred_at=hit.at,
        files=tuple(map(characters.shown, hit.files[:_FILES])),
    )


def from_task(task: Task, *, summary_only: bool = True) -> TaskItem:
    """Tell a task, in short or in full."""
    beyond = _beyond(task.title, task.description)
    title, text, is_clipped = _told(task.title, beyond, summary_only=summary_only)
    done_when, _, is_more = _told(task.done_when or "", "", summary_only=summary_only)
    return TaskItem(
        task_id=task.task_id,
        title=title,
        text=text,
        status=task.status,
        priority=task.priority,
        done_when=done_when or None,
        # Only the very same object counts as a default, and is left out.
        assigned_agent_id=ANYONE if task.assigned_agent_id == ANYONE else task.assigned_agent_id,
        is_clipped=is_clipped or is_more,
    )


def from_intent(memory: Memory, *, summary_only: bool = True) -> TaskItem:
    """Tell a memory of something to do as the task it is; the more important, the more urgent."""
    title, text, is_clipped = _told(memory.title, says(memory), summary_only=summary_only)
    return TaskItem(
        memory_id=memory.memory_id,
        title=title,
        text=text,
        status="todo",
        priority=memory.importance,
        is_clipped=is_clipped,
    )


def from_message(message: Message, *, summary_only: bool = True) -> MessageItem:
    """Tell a message, in short or in full."""
    subject, content, is_clipped = _told(
        message.subject or "", message.content, summary_only=summary_only
    )
    return MessageItem(
        message_id=message.message_id,
        sender_id=message.sender_id,
        content=content,
        category=message.category,
        priority=message.priority,
        subject=subject or None,
        parent_message_id=message.parent_message_id,
        created_at=message.created_at,
        is_clipped=is_clipped,
    )


def from_document(document: Document, limit: int) -> DocumentItem:
    """Return a document, or as many of its lines as fit into so many characters."""
    content, is_clipped = clipping.clip_lines(document.content, limit)
    return DocumentItem(
        name=document.name,
        content=content,
        version=document.version,
        agent_editable=document.agent_editable,
        is_clipped=is_clipped,
    )


def origin(memory: Memory, author: str | None = None) -> str:
    """Return who says so: an agent, a commit and its author, a person, or a model that read one of them."""
    if memory.agent_id == digests.AGENT:
        return "daily digest"
    sha = next((one.commit_sha for one in memory.evidence if one.commit_sha), None)
    commit = f"commit {sha[:_SHA]}" if sha else ""
    if memory.by_model:
        # Whoever made the commit has not said it in these words.
        return f"a model's reading of {commit or 'a session'}"
    if memory.agent_id:
        return ", ".join(filter(None, (f"agent {memory.agent_id}", commit)))
    if commit:
        return f"{commit} by {author}" if author else commit
    if memory.session_id or memory.job_id:
        return f"work of {author}" if author else "seen in a session"
    return "written by hand"


def says(memory: Memory) -> str:
    """Return what a memory says beyond its title, and why it is so."""
    beyond = _beyond(memory.title, memory.content)
    why = (memory.rationale or "").strip()
    if not why or why.rstrip(".").lower() in f"{memory.title} {memory.content}".lower():
        return beyond
    return f"{beyond}\nWhy: {why}" if beyond else f"Why: {why}"


def _beyond(title: str, content: str) -> str:
    said, is_cut = title.strip().rstrip("."), False
    if said.endswith(clipping.MORE):
        said, is_cut = said.removesuffix(clipping.MORE).rstrip(), True
    text = content.strip()
    if not said or text[: len(said)].lower() != said.lower():
        return text
    rest = text[len(said) :]
    if is_cut:
        return f"{clipping.MORE}{rest}" if rest else ""
    return text if rest[:1].isalnum() or rest[:1] == "_" else _LINK.sub("", rest, count=1)


def _told(title: str, text: str, *, summary_only: bool) -> tuple[str, str, bool]:
    if not summary_only:
        return title, text, False
    short, is_cut = clipping.clip(title)
    shorter, is_more = clipping.clip(text)
    return short, shorter, is_cut or is_more
