"""Remove forgotten text from a document."""

import json
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

import msgspec

from protocol import documents

FORGOTTEN = "[FORGOTTEN]"
_LISTS_OF_FILES = {"files", "filesModified", "anchors", "holds"}
_TEXTS = frozenset(
    re.findall(
        "[A-Za-z_]+",
        """
        title content rationale quote subject body text summary note error path previousPath files filesModified
        symbol entities tags branch authorName authorEmail agentId agent_id source sources idempotencyKey name
        label lastSummary harness host query queries memoryQueries remembered recentRemembers heard project
        projectNormalized sessionKey previousSessionKey id given description doneWhen evidence createdBy
        prompts lastWords assignedAgentId updatedBy targetId senderId category tool inputSummary outputSummary
        """,
    )
)
"""Fields that hold somebody's words; all others are ours, such as ids, times and states."""
_MORE = {
    "checkpoints": _TEXTS | {"digest"},
    "jobs": _TEXTS - {"name"},
    "activities": _TEXTS - {"category"},
}
"""Tables in which a name means something else: a digest that is no hash, a stage's name or a category that is ours."""
_KEYED = {"handlings"}
"""Fields that say something of people and agents by their names."""
_KEYS = {"sessionKey", "previousSessionKey", "id", "given"}
"""Fields that mostly hold ids: those are nobody's words, and cut in two they would mean nothing."""
_ID = re.compile(
    r"[0-7][0-9A-HJKMNP-TV-Z]{25}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)
_OURS = {
    ("messages", "targetId"): {"user", "*"},
    ("messages", "senderId"): {"user"},
    ("messages", "category"): {"info", "request", "alert", "error"},
    ("tasks", "assignedAgentId"): {"user", "any"},
    ("documents", "name"): set(documents.KNOWN),
    ("revisions", "name"): set(documents.KNOWN),
    ("links", "id"): set(documents.KNOWN),
}
"""Words that mean the same to everybody."""
NAMED = {"agents": "agentId", "conversations": "sessionKey", "documents": "name"}
"""Tables whose documents are kept under names that somebody chose, and the field these are like."""
DERIVED = frozenset(
    {"agents", "conversations", "checkpoints", "receipts", "entries", "activities", "turns"}
)
"""Tables that repeat what memories say."""
_NAMES = frozenset(
    re.findall(
        "[A-Za-z]+",
        """
        agentId label harness host sessionKey previousSessionKey id given heard project projectNormalized files
        """,
    )
)
"""Fields that name something and repeat nothing, even where a memory has the same words."""
_LEAST = 4
"""Letters of words that can be looked for anywhere; shorter ones stand in half of all words."""
_CLIPPED = 3
"""Words that at least are left of a text that was clipped."""
_TITLE = 40
"""Words after which nobody clips a title."""
_SPACE = rb"(?:\s|\\[nrt])+"
_PATH = r"(?<![\w/.-]){}(?![\w-]|\.\w)(?:/[\w./@+-]*)?"
"""Not within a longer name: `a.py` is not in `data.py`, nor `src/a` in `src/ab`."""

Document = dict[str, Any]
Scrub = Callable[[str, Document], Document | None]
"""Gives a table's document without what is to be forgotten; None where nothing of it may stay."""


def phrase(words: str) -> Scrub:
    """Return a function that removes these words from a document, however they are spaced."""
    spoken = re.compile(r"\s+".join(map(re.escape, words.split())) or re.escape(words))

    def scrub(table: str, document: Document) -> Document:
        return each_text(table, document, lambda text: spoken.sub(_mark, text))

    return scrub


def path(name: str) -> Scrub:
    """Return a function that removes a file or folder; it returns None for saves and memories about nothing else."""
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
        if table == "links" and any(is_meant(kept[end]["id"]) for end in ("source", "target")):
            return None
        return each_text(table, kept, lambda text: spoken.sub(_mark, text))

    return scrub


def repetition(said: Iterable[str]) -> Scrub:
    """Return a function that removes verbatim copies of these texts, whole or clipped, from derived documents."""
    longest = sorted(said, key=len, reverse=True)
    spoken = re.compile("|".join(filter(None, map(_repeated, longest))) or r"(?!)")

    def scrub(table: str, document: Document) -> Document:
        if table not in DERIVED:
            return document
        return each_text(table, document, lambda text: spoken.sub(_mark, text), but=_NAMES)

    return scrub


def rename(scrub: Scrub, table: str, identifier: str) -> str:
    """Return the id of a document without the forgotten words, if somebody chose it."""
    if table not in NAMED:
        return identifier
    scrubbed = scrub(table, {NAMED[table]: identifier})
    return identifier if scrubbed is None else str(scrubbed[NAMED[table]])


def findable(said: Iterable[str]) -> set[str]:
    """Return the texts that are long enough to be searched for in files."""
    return {text for text in said if len(text.strip()) >= _LEAST}


def each_text(
    table: str,
    document: Document,
    change: Callable[[str], str],
    *,
    but: Collection[str] = (),
) -> Document:
    """Return a document with every text that somebody wrote changed, except in some fields."""
    fields = _MORE.get(table, _TEXTS).difference(but)

    def is_said(field: str, text: str) -> bool:
        if field not in fields or (field in _KEYS and _ID.fullmatch(text)):
            return False
        return text not in _OURS.get((table, field), ())

    def walk(value: Any, field: str) -> Any:  # noqa: ANN401  # any JSON
        if isinstance(value, str):
            return change(value) if is_said(field, value) else value
        if isinstance(value, dict) and field in _KEYED:
            return {change(key): walk(one, "") for key, one in value.items()}
        if isinstance(value, dict):
            return {key: walk(one, key) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(walk(one, field) for one in value)
        return value

    changed: Document = walk(document, "")
    return changed


def _mark(found: "re.Match[str]") -> str:
    """Return the placeholder for forgotten words: never longer than they were, because fields have limits."""
    return FORGOTTEN if len(found[0]) >= len(FORGOTTEN) else "…"


def texts(table: str, document: Document) -> list[str]:
    """Return all texts of a document that somebody wrote."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    each_text(table, document, note)
    return found


def needle(words: str) -> "re.Pattern[bytes]":
    """Return a pattern for words in a file: plain or JSON-escaped, however they are spaced."""
    return re.compile(_SPACE.join(map(_spelled, words.split())) or _spelled(words))


def path_needle(name: str) -> "re.Pattern[bytes]":
    """Return a pattern for a path in a file, not as part of a longer name."""
    return re.compile(_PATH.encode().replace(b"{}", _spelled(name.rstrip("/"))))


def _spelled(word: str) -> bytes:
    plain = word.encode("utf-8", "surrogatepass")
    ours = msgspec.json.encode(plain.decode("utf-8", "replace"))[1:-1]
    ways = dict.fromkeys([plain, json.dumps(word)[1:-1].encode(), ours])
    return b"(?:" + b"|".join(map(re.escape, ways)) + b")"


def _repeated(text: str) -> str:
    parts = [re.escape(part) for part in text.split()]
    whole = r"\s+".join(parts)
    if len(text.strip()) < _LEAST:
        return rf"\A\s*{whole}\s*\Z" if whole else ""
    clips = (
        r"\s+".join(parts[:count]) + r"[^\w\s]*\s*(?:…|\.\.\.)"
        for count in range(min(len(parts) - 1, _TITLE), _CLIPPED - 1, -1)
    )
    return "|".join([whole, *clips])
