"""How changes of one record become one record, on every machine the same: pure rules over a set of values.

A record is the set of all values its fields were given. The later clock wins, writers break ties, the losers stay
as history. The set decides, not the order of arrival, so every machine ends with the same.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from sidecar.storage.team.entries import ABSENT, Change, Entry, encode, hashed

HISTORY = 10
"""Values of one field that are kept, the winner among them."""
DELETED, ERASED = "$deleted", "$erased"
"""Fields that say that a record is gone, and that what was said before is to be found nowhere."""

_KEYED = {("messages", "handlings"): None, ("tasks", "notes"): "at"}
"""Fields that hold parts of their own: what two machines add at once is kept from both."""
_LOCAL = {
    "": frozenset({"projectId", "teamId"}),
    "memories": frozenset({"verdict", "checkedAt"}),
}
"""Fields that each machine has for itself, of all records and of some: each looks at its own checkout."""
_SEPARATOR = "/"

Document = dict[str, Any]


class Value(NamedTuple):
    """What a field was set to, by whom and when."""

    field: str
    clock: str
    writer: str
    body: bytes
    """JSON, as `encode` writes it."""

    @property
    def age(self) -> tuple[str, str, bytes]:
        """Return what decides which value is later."""
        return self.clock, self.writer, self.body


Record = Mapping[str, list[Value]]
"""The values of a record's fields, the winner first."""


def values_of(entry: Entry, change: Change) -> list[Value]:
    """Return what an entry adds to the values of its record."""
    return [
        Value(name, entry.clock, entry.writer, encode(value))
        for name, value in change.fields.items()
    ]


def settle(values: Iterable[Value]) -> dict[str, list[Value]]:
    """Return what is kept of a record's values: by field, the winner first, nothing from before an erasure."""
    distinct = {(value.field, *value.age): value for value in values}.values()
    erased = max((value.age[:2] for value in distinct if value.field == ERASED), default=("", ""))
    settled: dict[str, list[Value]] = {}
    for value in sorted(distinct, key=lambda value: value.age, reverse=True):
        kept = settled.setdefault(value.field, [])
        most = 1 if value.field == ERASED else HISTORY
        if value.age[:2] >= erased and len(kept) < most:
            kept.append(value)
    return {name: kept for name, kept in settled.items() if kept}


def winners(record: Record) -> dict[str, bytes]:
    """Return each field's value as JSON, without those that are absent or only marks."""
    absent = encode(ABSENT)
    return {
        name: kept[0].body
        for name, kept in sorted(record.items())
        if not name.startswith("$") and kept[0].body != absent
    }


def is_deleted(record: Record) -> bool:
    """Return whether the record is gone, or was never there."""
    marks = record.get(DELETED)
    return marks[0].body == b"true" if marks else False


def document(collection: str, record: Record) -> Document | None:
    """Return the record that all machines see; None where it was deleted."""
    if is_deleted(record):
        return None
    joined: Document = {}
    for name, body in winners(record).items():
        field, _, part = name.partition(_SEPARATOR)
        value = msgspec.json.decode(body)
        if (collection, field) not in _KEYED:
            joined[name] = value
        elif not part:
            joined.setdefault(field, value)
        elif _KEYED[collection, field] is None:
            joined.setdefault(field, {})[part] = value
        else:
            joined.setdefault(field, []).append(value)
    return joined


def split(collection: str, shown: Document) -> dict[str, bytes]:
    """Return the fields of a document that are shared, as JSON; parts of keyed fields by their own names."""
    local = _LOCAL[""] | _LOCAL.get(collection, frozenset())
    fields: dict[str, bytes] = {}
    for name, value in shown.items():
        if name in local:
            continue
        if (collection, name) not in _KEYED:
            fields[name] = encode(value)
            continue
        key = _KEYED[collection, name]
        fields[name] = encode({} if key is None else [])
        parts = value.items() if key is None else ((_part(key, inner), inner) for inner in value)
        fields |= {f"{name}{_SEPARATOR}{part}": encode(inner) for part, inner in parts}
    return fields


def _part(key: str, inner: Document) -> str:
    """Name a part of a list so that names sort as the list does."""
    return f"{inner.get(key)} {hashed(encode(inner))[:16]}"


def difference(
    collection: str, record: Record, shown: Document, is_known: Callable[[str], bool]
) -> dict[str, Any]:
    """Return what must be told so that the record says what a document says; nothing where it does.

    A field that this version does not know (`is_known`) is left as others wrote it.
    """
    told, wanted = winners(record), split(collection, shown)
    changed = {
        name: msgspec.json.decode(body) for name, body in wanted.items() if told.get(name) != body
    }
    gone = {
        name: ABSENT
        for name in told
        if name not in wanted and is_known(name.partition(_SEPARATOR)[0])
    }
    back = {DELETED: False} if is_deleted(record) else {}
    return changed | gone | back


def localized(
    collection: str, shared: Document, existing: Document | None, own: Document
) -> Document:
    """Return a shared document as it is kept here: `own` fields are this machine's, as are its own findings."""
    before = existing or {}
    local = {name: before[name] for name in _LOCAL.get(collection, frozenset()) if name in before}
    kept = shared | local | own
    is_gone_here = before.get("status") == "stale" and before.get("verdict") == "gone"
    if collection == "memories" and is_gone_here and shared.get("status") == "active":
        kept["status"] = "stale"
    return kept


def publishable(collection: str, shown: Document) -> Document:
    """Return a document without what only this machine's checkout says of it."""
    if collection == "memories" and shown.get("verdict") == "gone" and shown["status"] == "stale":
        return shown | {"status": "active"}
    return shown


def export(records: Mapping[tuple[str, str], Record]) -> bytes:
    """Write all shared records as JSON lines: the same bytes on every machine that knows the same entries."""
    lines = []
    for (collection, identifier), record in sorted(records.items()):
        history = {
            name: [[value.clock, value.writer, msgspec.Raw(value.body)] for value in kept]
            for name, kept in record.items()
        }
        shown = document(collection, record)
        lines.append(encode([collection, identifier, shown, history]))
    return b"".join(line + b"\n" for line in lines)
