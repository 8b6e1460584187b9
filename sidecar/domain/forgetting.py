"""Forgetting: what is taken out of a document so that it says nothing any more of what is to be forgotten."""

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec

FORGOTTEN = "[FORGOTTEN]"
_LISTS_OF_FILES = {"files", "filesModified", "anchors"}
_TEXTS = frozenset(
    [
        "title",
        "content",
        "rationale",
        "quote",
        "subject",
        "body",
        "text",
        "summary",
        "note",
        "error",
        "path",
        "previousPath",
        "files",
        "filesModified",
        "symbol",
        "entities",
        "tags",
        "branch",
        "authorName",
        "authorEmail",
        "agentId",
        "source",
        "sources",
        "idempotencyKey",
        "name",
    ]
)
"""Fields that hold somebody's words; all others are ours, such as ids, times and states."""
_SPACE = rb"(?:\s|\\[nrt])+"
_PATH = r"(?<![\w/.-]){}(?![\w-]|\.\w)(?:/[\w./@+-]*)?"
"""Not within a longer name: `a.py` is not in `data.py`, nor `src/a` in `src/ab`."""

Document = dict[str, Any]
Scrub = Callable[[str, Document], Document | None]
"""Gives a table's document without what is to be forgotten; None where nothing of it may stay."""


def phrase(words: str) -> Scrub:
    """Forget words wherever they stand, however they are spaced; what else was said stays."""
    spoken = re.compile(r"\s+".join(map(re.escape, words.split())) or re.escape(words))

    def scrub(_table: str, document: Document) -> Document:
        cleaned: Document = _each_text(document, lambda text: spoken.sub(_mark, text))
        return cleaned

    return scrub


def path(name: str) -> Scrub:
    """Forget a file, or all files in a folder: saves and memories about nothing else go with it."""
    folder = name.rstrip("/") + "/"
    spoken = re.compile(_PATH.format(re.escape(folder[:-1])))

    def is_meant(entry: object) -> bool:
        if isinstance(entry, dict):
            return is_meant(entry.get("path")) or is_meant(entry.get("previousPath"))
        return isinstance(entry, str) and (entry == folder[:-1] or entry.startswith(folder))

    def scrub(table: str, document: Document) -> Document | None:
        kept = dict(document)
        for key in _LISTS_OF_FILES & kept.keys():
            kept[key] = type(kept[key])(entry for entry in kept[key] if not is_meant(entry))
        is_about_files = table == "memories" or document.get("kind") == "save"
        if is_about_files and document.get("files") and not kept["files"]:
            return None
        cleaned: Document = _each_text(kept, lambda text: spoken.sub(_mark, text))
        return cleaned

    return scrub


def _mark(found: "re.Match[str]") -> str:
    """Give what stands for forgotten words: never longer than they were, for texts have their limits."""
    return FORGOTTEN if len(found[0]) >= len(FORGOTTEN) else "…"


def texts(document: Document) -> list[str]:
    """Give all words of a document that somebody wrote."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    _each_text(document, note)
    return found


def needle(words: str) -> "re.Pattern[bytes]":
    """Find words in a file: plain, and as JSON writes them, however they are spaced."""
    return re.compile(_SPACE.join(map(_spelled, words.split())) or _spelled(words))


def path_needle(name: str) -> "re.Pattern[bytes]":
    """Find a path in a file, and not as a part of a longer name."""
    return re.compile(_PATH.encode().replace(b"{}", _spelled(name.rstrip("/"))))


def _spelled(word: str) -> bytes:
    """Give a pattern for all ways in which a word can be written in JSON."""
    plain = word.encode("utf-8", "surrogatepass")
    ours = msgspec.json.encode(plain.decode("utf-8", "replace"))[1:-1]
    ways = dict.fromkeys([plain, json.dumps(word)[1:-1].encode(), ours])
    return b"(?:" + b"|".join(map(re.escape, ways)) + b")"


def _each_text(value: Any, change: Callable[[str], str], *, is_text: bool = False) -> Any:  # noqa: ANN401  # any JSON
    """Change every text in a JSON value that somebody wrote."""
    if isinstance(value, str):
        return change(value) if is_text else value
    if isinstance(value, dict):
        return {key: _each_text(one, change, is_text=key in _TEXTS) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_each_text(one, change, is_text=is_text) for one in value)
    return value
