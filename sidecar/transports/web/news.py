"""News: what a tab is yet to be told, however slowly it listens."""

from typing import Any

from msgspec import structs

from protocol.methods import Change, Subject

_MOST_IDS = 1000
"""Beyond this many nobody is helped by their names: all of a kind may have changed."""


class News:
    """Changes and progress that wait: what repeats itself is told once, so that what waits stays small."""

    def __init__(self) -> None:
        """Have nothing to tell."""
        self._changes: dict[tuple[Subject, str], Change] = {}
        self._progress: dict[int | str, list[dict[str, Any]]] = {}

    def add_change(self, change: Change) -> None:
        """Keep that something has changed; no ids mean that any may have."""
        key = (change.what, change.project_id)
        known = self._changes.get(key)
        if known is not None:
            is_any = not (known.ids and change.ids)
            ids = () if is_any else tuple(dict.fromkeys((*known.ids, *change.ids)))
            change = structs.replace(change, ids=ids)
        if len(change.ids) > _MOST_IDS:
            change = structs.replace(change, ids=())
        self._changes[key] = change

    def add_progress(self, body: dict[str, Any]) -> None:
        """Keep how far a work is; what was to be told of the same before is old."""
        waiting = self._progress.setdefault(body["token"], [])
        if waiting and waiting[-1]["value"]["kind"] == "report":
            waiting.pop()
        waiting.append(body)

    def take(self) -> list[tuple[str, Any]]:
        """Give what waits, as the notifications to send, and have nothing more to tell."""
        told: list[tuple[str, Any]] = [
            ("$/progress", body) for bodies in self._progress.values() for body in bodies
        ]
        told += [("threadline/didChange", change) for change in self._changes.values()]
        self._progress, self._changes = {}, {}
        return told
