"""Render explanations of code as Markdown or plain text."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote

from msgspec import Struct

from protocol.explanations import Behind, Explanation, FileStory, LineOrigin, NoteInCode
from protocol.memories import Memory
from protocol.sessions import Session
from sidecar.context.rules import items, rendering
from sidecar.memory.rules import mentions
from sidecar.text import characters, quoting

SHOWN = 3
"""Memories that a hover names."""

_TITLE, _NAME, _SUMMARY, _SHA, _NOTE = 160, 60, 160, 10, 300
_FEW = 5
"""Memories that a message about a file names."""
_DOT = " · "
_SIGNS = re.compile(r"[\\`*\[\]<>&~|]|(?<!\w)_|_(?!\w)")
_NEAR = frozenset({"commit", "symbol"})


class Style(Struct, frozen=True, kw_only=True):
    """How a client can show text."""

    is_markdown: bool = False
    links: Mapping[str, str] = {}
    """Commands of the client that show a `memory`, a `session` or a `commit`, where it follows such links."""


def hover(explanation: Explanation, style: Style) -> str | None:
    """Tell in a few lines what is behind a line; None where memory has nothing to say of it."""
    session = explanation.session if explanation.session and explanation.session.summary else None
    near = [
        one
        for one in explanation.memories
        if one.why in _NEAR and not (session and _sums_up(one.memory, session))
    ]
    if not near and session is None and not explanation.notes:
        return None
    shown, rest = near[:SHOWN], len(near) - SHOWN
    lines = [*_memories(shown, explanation, style), *_notes(explanation.notes, style)]
    lines += [f"{_bullet(style)}and {rendering.count(rest, 'more memory')}"] if rest > 0 else []
    lines += _history(explanation, shown, style)
    return "\n".join(lines)


def whole(explanation: Explanation) -> str | None:
    """Tell all that is known of a line, in plain text, what is nearest first; None where that is nothing.

    The commit that wrote it and its session come first, then its memories and notes, then what concerns the file.
    """
    style = Style()
    near = [behind for behind in explanation.memories if behind.why in _NEAR]
    others = [behind for behind in explanation.memories if behind.why not in _NEAR]
    lines = [
        *_history(explanation, (), style),
        *_memories(near, explanation, style),
        *_notes(explanation.notes, style),
        *(["also about this file:"] if others else []),
        *_memories(others, explanation, style),
    ]
    return "\n".join(lines) or None


def lens(story: FileStory) -> str | None:
    """Tell in a few words how much is known about a file; None where that is nothing."""
    counts = {"memory": story.memory_count, "session": story.session_count}
    return (
        _DOT.join(rendering.count(number, noun) for noun, number in counts.items() if number)
        or None
    )


def summary(story: FileStory) -> str:
    """Return what is known about a file, in plain text."""
    name = quoting.line(characters.shown(story.path), _TITLE)
    shown = [f"- {_text(one.title, Style())} ({_about(one)})" for one in story.memories[:_FEW]]
    more = story.memory_count - len(shown)
    shown += [f"- and {rendering.count(more, 'more memory')}"] if more > 0 else []
    shown += _notes(story.notes[:_FEW], Style())
    latest = [f"last worked on {quoting.moment(one.last_event_at)}" for one in story.sessions[:1]]
    return "\n".join(
        [
            f"{name}: {lens(story) or 'nothing is known about it'}",
            *shown,
            *latest,
        ]
    )


def _memories(behind: Iterable[Behind], explanation: Explanation, style: Style) -> Iterator[str]:
    for one in behind:
        memory = one.memory
        title = _text(memory.title, style)
        title = f"**{title}**" if style.is_markdown else title
        about = _about(memory, _author(memory, explanation.origin))
        shown = _link(title, "memory", memory.memory_id, style)
        yield f"{_bullet(style)}{shown} ({_escape(about, style)})"


def _notes(notes: Iterable[NoteInCode], style: Style) -> Iterator[str]:
    for note in notes:
        yield f"{_bullet(style)}line {note.line} notes: {_text(note.text, style, _NOTE)}"


def _about(memory: Memory, author: str | None = None) -> str:
    changed = ["the code has changed since"] if memory.verdict == "changed" else []
    origin = quoting.name(items.origin(memory, author))
    return ", ".join([memory.type, quoting.day(memory.occurred_at), origin, *changed])


def _sums_up(memory: Memory, session: Session) -> bool:
    return memory.type == "episodic" and memory.session_id == session.session_id


def _author(memory: Memory, origin: LineOrigin | None) -> str | None:
    sha = next((one.commit_sha for one in memory.evidence if one.commit_sha), None)
    if sha is None or origin is None:
        return None
    is_own = any(mentions.is_same(sha, one) for one in (origin.sha, *origin.replaces))
    return origin.author_name if is_own else None


def _history(explanation: Explanation, shown: Sequence[Behind], style: Style) -> Iterator[str]:
    gap = [""] if shown and style.is_markdown else []
    told_of = [_commit(explanation.origin, style)] if explanation.origin else []
    titles = {one.memory.title for one in shown}
    told_of += [_session(explanation.session, titles, style)] if explanation.session else []
    # Two spaces at the end of a line keep the next one apart from it.
    end = "  " if style.is_markdown else ""
    yield from gap if told_of else []
    yield from (f"{line}{end}" for line in told_of[:-1])
    yield from told_of[-1:]


def _commit(origin: LineOrigin, style: Style) -> str:
    sha = origin.sha[:_SHA]
    name = f"`{sha}`" if style.is_markdown else sha
    about = f"{_text(origin.author_name, style, _NAME)}, {quoting.day(origin.authored_at)}"
    return f"commit {_link(name, 'commit', origin.sha, style)} {_text(origin.subject, style)} ({about})"


def _session(session: Session, known: Iterable[str], style: Style) -> str:
    name = _link(
        f"session of {quoting.moment(session.started_at)}", "session", session.session_id, style
    )
    sources = _text(", ".join(session.sources), style, _NAME)
    about = (session.summary or "").strip().partition("\n")[0]
    is_said = not about or any(map(about.startswith, known))
    return f"{name} ({sources})" + ("" if is_said else f": {_text(about, style, _SUMMARY)}")


def _bullet(style: Style) -> str:
    return "- " if style.is_markdown else "• "


def _text(text: str, style: Style, most: int = _TITLE) -> str:
    return _escape(quoting.line(text, most) or "(nothing)", style)


def _escape(text: str, style: Style) -> str:
    return _SIGNS.sub(r"\\\g<0>", text) if style.is_markdown else text


def _link(text: str, kind: str, identifier: str, style: Style) -> str:
    """Let a text lead to what it names, by a command of the client; only of ids that are ours."""
    command = style.links.get(kind) if style.is_markdown else None
    if command is None:
        return text
    return f"[{text}](command:{command}?{quote(json.dumps([identifier]), safe='')})"
