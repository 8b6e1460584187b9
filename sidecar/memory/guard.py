"""Which constraints and decisions a change concerns; what is unsure is left out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from protocol.checks import Concern
from protocol.memories import Anchor, Memory
from sidecar.code.changed_files import ChangedFile
from sidecar.memory import drift
from sidecar.memory.codebases import Code
from sidecar.memory.rules.drift import Symbol
from sidecar.privacy import cleaning

State = Literal["touched", "stale"]
Reason = tuple[State, str]
Symbols = Mapping[tuple[str, str], Sequence[Symbol]]


def judge(
    memories: Iterable[Memory], files: Sequence[ChangedFile], code: Code
) -> Iterator[Concern]:
    """Return what a change makes stale or touches, by the files and symbols that memories are anchored in."""
    by_path = {file.was: file for file in files}
    concerned = [memory for memory in memories if _is_guarding(memory)]
    names = {
        anchor.path for memory in concerned for anchor in memory.anchors if anchor.symbol
    } & by_path.keys()
    places = [(by_path[name].was, by_path[name].before) for name in names]
    places += [(file.path, file.after) for file in files] if names else []
    symbols = code.symbols([(path, blob) for path, blob in places if blob])
    for memory in concerned:
        reasons = [*_anchored(memory, by_path, symbols), *_unmet(memory, by_path, code)]
        reasons += _named(memory, by_path) if not memory.anchors else []
        if reasons:
            state, why = min(reasons)
            yield Concern(
                kind="constraint" if memory.type == "constraint" else "decision",
                id=memory.memory_id,
                title=cleaning.clean(memory.title),
                state=state,
                why=why,
            )


def _is_guarding(memory: Memory) -> bool:
    return memory.status == "active" and memory.type in {"constraint", "decision"}


def _anchored(
    memory: Memory, by_path: Mapping[str, ChangedFile], symbols: Symbols
) -> Iterator[Reason]:
    for anchor in memory.anchors:
        file = by_path.get(anchor.path)
        if file is None or file.before is None:
            continue
        if anchor.symbol:
            yield from _symbol(anchor, file, symbols)
        elif file.after is None:
            yield "stale", f"{anchor.path} is gone"
        elif file.after != file.before:
            yield "touched", f"{file.path} changes"


def _symbol(anchor: Anchor, file: ChangedFile, symbols: Symbols) -> Iterator[Reason]:
    """Compare a symbol with itself; where it was not found before, nobody can tell."""
    old = _find(anchor.symbol, symbols.get((file.was, file.before or ""), ()))
    if old is None:
        return
    new = _find(anchor.symbol, symbols.get((file.path, file.after or ""), ()))
    if new is not None:
        if new.digest != old.digest:
            yield "touched", f"{anchor.symbol} in {file.path} changes"
    elif _has_moved(old, file, symbols):
        yield "touched", f"{anchor.symbol} moves out of {file.was}"
    else:
        yield "stale", f"{anchor.symbol} is gone from {file.was}"


def _has_moved(old: Symbol, file: ChangedFile, symbols: Symbols) -> bool:
    return any(
        symbol.digest == old.digest
        for place, found in symbols.items()
        if place != (file.was, file.before)
        for symbol in found
    )


def _find(name: str | None, symbols: Sequence[Symbol]) -> Symbol | None:
    return next((symbol for symbol in symbols if symbol.name == name), None)


def _unmet(memory: Memory, by_path: Mapping[str, ChangedFile], code: Code) -> Iterator[Reason]:
    """Return which of the conditions that a memory holds by were met before and are not met after."""
    for condition in memory.holds:
        file = by_path.get(condition.path)
        if file is None or file.before is None:
            continue
        texts = code.read({blob for blob in (file.before, file.after) if blob})
        before, after = texts.get(file.before), texts.get(file.after or "")
        if before is None or (file.after is not None and after is None):
            continue
        if drift.meets(condition, _decoded(before)) and not (
            after is not None and drift.meets(condition, _decoded(after))
        ):
            yield "stale", f"“{condition.text}” no longer stands in {condition.path}"


def _named(memory: Memory, by_path: Mapping[str, ChangedFile]) -> Iterator[Reason]:
    for path, file in by_path.items():
        if path in memory.files and file.after is None:
            yield "stale", f"{path} is gone"
        elif any(path == name or path.startswith(f"{name.rstrip('/')}/") for name in memory.files):
            yield "touched", f"{file.path} changes"


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
