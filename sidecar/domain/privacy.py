"""What its author marked as private is not kept."""

import re

import msgspec

from protocol.events import NewEvent

_MARK = re.compile(r"<\s*(/?)\s*private\b[^<>]*>", re.IGNORECASE)
_BETWEEN = "\0"
"""Stands between a subject and its body; git allows it in neither."""


def public(text: str) -> str:
    """Drop `<private>…</private>` from a text; what is not closed is private to the end."""
    if "<" not in text:
        return text
    kept: list[str] = []
    depth = position = 0
    for mark in _MARK.finditer(text):
        if depth == 0 and not mark[1]:
            kept.append(text[position : mark.start()])
        if depth or not mark[1]:
            depth += -1 if mark[1] else 1
            position = mark.end()
    return text if position == 0 else "".join(kept) + ("" if depth else text[position:])


def public_event(event: NewEvent) -> NewEvent | None:
    """Drop what is private from an event's texts; None where nothing is left of it."""
    if event.commit is not None:
        whole = f"{event.commit.subject}{_BETWEEN}{event.commit.body}"
        if (text := public(whole)) != whole:
            subject, _, body = text.strip().partition(_BETWEEN if _BETWEEN in text else "\n")
            commit = msgspec.structs.replace(event.commit, subject=subject, body=body)
            return msgspec.structs.replace(event, commit=commit)
    if event.text is not None:
        text = public(event.text)
        if event.kind == "capture" and not text.strip():
            return None
        return event if text == event.text else msgspec.structs.replace(event, text=text)
    return event
