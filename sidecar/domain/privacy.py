"""What its author marked as private, and what is a secret, is not kept."""

import re

import msgspec

from protocol.events import NewEvent
from sidecar.domain.redaction import redact

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
    """Drop what is private or secret from an event's texts; None where nothing is left of it."""
    if event.commit is not None:
        subject, body = _public_message(event.commit.subject, event.commit.body)
        if (subject, body) != (event.commit.subject, event.commit.body):
            commit = msgspec.structs.replace(event.commit, subject=subject, body=body)
            return msgspec.structs.replace(event, commit=commit)
    if event.text is not None:
        text = redact(public(event.text))
        if event.kind == "capture" and not text.strip():
            return None
        return event if text == event.text else msgspec.structs.replace(event, text=text)
    return event


def _public_message(subject: str, body: str) -> tuple[str, str]:
    """Do the same with a commit's message, in which a mark may begin above and end below."""
    whole = f"{subject}{_BETWEEN}{body}"
    if (text := public(whole)) != whole:
        subject, _, body = text.strip().partition(_BETWEEN if _BETWEEN in text else "\n")
    return redact(subject), redact(body)
