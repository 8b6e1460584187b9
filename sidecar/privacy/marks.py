"""`<private>` marks; standard library only, for hooks."""

import re

_MARK = re.compile(r"<\s*(/?)\s*private\b[^<>]*>", re.IGNORECASE)


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
