"""Lists as agents read them: short rows, without what a model has no use for."""

from collections.abc import Mapping
from typing import Any

import msgspec

from sidecar.text import clipping

Content = dict[str, Any]

ROW = 90
"""Bytes of a session in a list, quotes included."""
_HIT, _LEAST = 220, 160
"""Characters of a hit on average, and what each may take before better ones get the rest."""
_SHA, _DAY = 10, len("2026-11-18")
_MINUTE = len("2026-11-18T09:30")
_BOOKKEEPING = {
    *("projectId", "idempotencyKey", "heldBefore", "doubtedAt", "assignedLabel", "needs"),
    *("firstSeenAt", "threadId"),
}
"""Fields of records that no tool takes, or that stand in others."""


def shorten_sessions(content: Content) -> Content:
    """Write each session as one line: id, beginning, state, number of events, what it was about."""
    rows = [_write_session(session) for session in content["sessions"]]
    return _without_blanks({**content, "sessions": rows}, kept={"sessions"})


def shorten_records(content: Content) -> Content:
    """Leave out of tasks, messages and agents what is empty or not an agent's business."""
    return {name: _shorten(value) for name, value in content.items()}


def shorten_hits(content: Content) -> Content:
    """Write each hit as one line: kind, id or commit, date, author, title, and the sentences that fit the question."""
    hits = content["hits"] or [_as_hit(found["memory"]) for found in content["memories"]]
    rows = _fit([_write_hit(hit) for hit in hits])
    words = {} if content["semantic"] or not content["hits"] else {"by": "words only"}
    return {"hits": rows, "total": content["total"], **words}


def _fit(rows: list[str]) -> list[str]:
    """Clip rows to their common room; what short ones leave over goes to the best."""
    rooms = [min(len(row), _LEAST) for row in rows]
    spare = _HIT * len(rows) - sum(rooms)
    for place, row in enumerate(rows):
        more = min(len(row) - rooms[place], spare)
        rooms[place] += more
        spare -= more
    return [clipping.clip(row, room)[0] for row, room in zip(rows, rooms, strict=True)]


def _as_hit(memory: Content) -> Content:
    shown = {"kind": "memory", "id": memory["memoryId"], "text": memory["content"]}
    return {**memory, **shown, "at": memory["occurredAt"], "freshness": memory["verdict"]}


def _write_hit(hit: Content) -> str:
    source = hit["id"] if hit["kind"] == "memory" else (hit.get("commit") or hit["id"])[:_SHA]
    kind = hit.get("type") if hit["kind"] == "memory" else hit["kind"]
    author = f" by {hit['author']}" if hit.get("author") else ""
    doubt = f" ({hit['freshness']})" if hit.get("freshness") in {"changed", "gone"} else ""
    doubt += " (a model's reading)" if hit.get("byModel") else ""
    title, text = hit["title"], hit["text"]
    said = text if text.startswith(title) else ": ".join(filter(None, [title, text]))
    place = f"[{hit['project']}] " if hit.get("project") else ""
    return f"{place}{kind} {source} {hit['at'][:_DAY]}{author}{doubt}: {said}"


def _shorten(value: object) -> object:
    if not isinstance(value, list):
        return value
    return [
        _without_blanks({key: value for key, value in row.items() if key not in _BOOKKEEPING})
        for row in value
    ]


def _without_blanks(
    fields: Mapping[str, Any], kept: frozenset[str] | set[str] = frozenset()
) -> Content:
    return {
        key: value
        for key, value in fields.items()
        if key in kept or not (value is None or value is False or value in ("", [], {}))
    }


def _write_session(session: Content) -> str:
    began = session["startedAt"][:_MINUTE].replace("T", " ")
    facts = f"{session['sessionId']} {began} {session['status']} {session['messageCount']}"
    room = ROW - len(facts) - 3
    row = facts
    # What is escaped or not ASCII takes more bytes than letters.
    while room > 0 and (title := clipping.clip(_describe(session), room)[0]):
        row = f"{facts} {title}"
        if (excess := len(msgspec.json.encode(row)) - ROW) <= 0:
            return row
        room -= max(1, excess // 4)
    return facts


def _describe(session: Content) -> str:
    """Return what a session was about: its summary, or else the files that were changed in it."""
    if session["summary"]:
        return str(session["summary"])
    files = session["filesModified"]
    more = len(files) - 1 + session["filesOverflow"]
    return "" if not files else files[0].rsplit("/", 1)[-1] + (f" +{more} files" if more else "")
