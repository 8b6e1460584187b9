"""Records of every kind that a vault keeps, with the same words in every field that takes words."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import inspect

from protocol.events import Event
from protocol.values import Record
from sidecar.storage.collection import Collection
from sidecar.storage.vault import KINDS, Vault
from tests.support import NOON

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
SHA = "0123456789abcdef0123"
OURS: Mapping[str, frozenset[str]] = {
    "projects": frozenset({"folders", "remotes", "root"}),
    "marks": frozenset({"digest", "head", "left"}),
    "memories": frozenset(
        {
            "covers",
            "digest",
            "jobId",
            "projectId",
            "sessionId",
            "supersededBy",
            "supersedes",
            "teamId",
        }
    ),
    "jobs": frozenset({"parked", "projectId"}),
    "batches": frozenset({"digest", "eventIds", "idempotency_key", "jobId", "memoryId"}),
    "processed": frozenset({"eventIds", "sessionId"}),
    "looks": frozenset({"head"}),
    "agents": frozenset({"projectId"}),
    "conversations": frozenset({"projectId", "recoveredFrom", "used"}),
    "receipts": frozenset({"projectId", "reason", "receiptId", "recoveredFrom", "section", "why"}),
    "entries": frozenset({"turnId"}),
    "turns": frozenset({"sessionId", "turnId"}),
    "activities": frozenset({"activityId"}),
    "feedback": frozenset({"memoryId", "receiptId"}),
    "tasks": frozenset({"dependsOn", "projectId", "teamId"}),
    "messages": frozenset({"parentMessageId", "projectId", "threadId", "teamId"}),
    "documents": frozenset({"projectId", "teamId"}),
    "revisions": frozenset({"projectId", "teamId"}),
    "links": frozenset({"projectId", "teamId"}),
    "sessions": frozenset({"headCommitSha", "projectId", "teamId"}),
    "unsettled": frozenset({"sessionId"}),
}
"""Fields that take any text, and in which only we write: ids and states. All others hold somebody's words."""


def shelves(vault: Vault) -> dict[str, Collection[Any]]:
    """Give every shelf of a vault by the name of its table."""
    found = [*(getattr(vault, name) for name in KINDS), *vars(vault.sessions).values()]
    return {one.name: one for one in found if isinstance(one, Collection)}


def kinds(vault: Vault) -> dict[str, type[Record]]:
    """Tell what each table holds."""
    return {name: shelf._kind for name, shelf in shelves(vault).items()} | {"events": Event}


def filled(table: str, kind: type[Record], words: str) -> Any:
    """Make a record that says the same words wherever somebody's words may stand."""
    return msgspec.convert(_value(table, inspect.type_info(kind), "", words), kind)


def fields(kind: type[Record]) -> Iterator[tuple[str, inspect.Type]]:
    """Go through the fields of a record and of all that it holds."""
    yield from _fields(inspect.type_info(kind), "")


def keep_everything(vault: Vault, words: str) -> dict[str, Any]:
    """Keep one record of every kind, under these words where somebody chooses the name."""
    made = {name: filled(name, kind, words) for name, kind in kinds(vault).items()}
    named = {"agents", "conversations", "documents"}
    apart = {"sessions", "events", "unsettled", "caches"}
    with vault.transaction():
        vault.sessions.put(made["sessions"], [made["events"]])
        vault.write(
            [
                shelf.put(words if name in named else ULID, made[name])
                for name, shelf in shelves(vault).items()
                if name not in apart
            ]
        )
    return made


def _fields(kind: inspect.Type, field: str) -> Iterator[tuple[str, inspect.Type]]:
    match kind:
        case inspect.StructType():
            for one in kind.fields:
                yield from _fields(one.type, one.encode_name)
        case inspect.UnionType():
            for part in kind.types:
                yield from _fields(part, field)
        case inspect.VarTupleType():
            yield from _fields(kind.item_type, field)
        case inspect.DictType():
            yield from _fields(kind.key_type, field)
            yield from _fields(kind.value_type, field)
        case _:
            yield field, kind


def _value(table: str, kind: inspect.Type, field: str, words: str) -> Any:  # noqa: PLR0911  # one for each kind
    match kind:
        case inspect.StructType():
            return {
                one.encode_name: _value(table, one.type, one.encode_name, words)
                for one in kind.fields
            }
        case inspect.UnionType():
            present = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
            return _value(table, present[0], field, words)
        case inspect.VarTupleType():
            return [_value(table, kind.item_type, field, words)]
        case inspect.DictType():
            key = _value(table, kind.key_type, field, words)
            return {key: _value(table, kind.value_type, field, words)}
        case inspect.LiteralType():
            return kind.values[0]
        case inspect.StrType():
            return _text(table, kind, field, words)
    plain: dict[type[inspect.Type], Callable[[], object]] = {
        inspect.DateTimeType: lambda: NOON,
        inspect.IntType: lambda: 1,
        inspect.FloatType: lambda: 0.5,
        inspect.BoolType: lambda: False,
    }
    return plain[type(kind)]()


def _text(table: str, kind: inspect.StrType, field: str, words: str) -> str:
    if kind.pattern is not None:
        return ULID if "26" in kind.pattern or "25" in kind.pattern else SHA
    return ULID if field in OURS.get(table, ()) else words
