"""The symbols of a source file, with digests that ignore layout."""

from collections.abc import Iterable
from pathlib import Path

from sidecar.code import grammars, parsing, python_symbols, skips
from sidecar.code.python_symbols import Found
from sidecar.memory.rules.drift import Symbol
from sidecar.text.hashing import blake2b

SIZE = 1_000_000
"""Bytes from which a file is not parsed."""

_PYTHON = frozenset({"py", "pyi", "pyw"})
_NAME = 200
_BINARY = 8_000
_QUICK = 32_000
"""Bytes of Python that are parsed at once in any case."""


def is_known(path: str) -> bool:
    """Return whether files of this name can have symbols."""
    return _ending(path) in _PYTHON or _ending(path) in grammars.LANGUAGES


def find(path: str, source: bytes, root: Path) -> tuple[Symbol, ...]:
    """Return the symbols of a file; one that is unreadable or takes too long to parse has none."""
    if not is_known(path) or len(source) > SIZE or b"\0" in source[:_BINARY]:
        return ()
    if _ending(path) in _PYTHON and len(source) <= _QUICK:
        return parse(path, source)
    try:
        return parsing.parser.find(path, source, root)
    except parsing.TooCostlyError as error:
        skips.note(root, path, str(error))
        return ()


def parse(path: str, source: bytes) -> tuple[Symbol, ...]:
    """Return the symbols of a file, parsed in this process however long it takes; unknown languages have none."""
    ending = _ending(path)
    if ending in _PYTHON:
        return _symbols(python_symbols.find(source))
    if ending in grammars.LANGUAGES:
        return _symbols(grammars.find(ending, source))
    return ()


def _ending(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()


def _symbols(found: Iterable[Found]) -> tuple[Symbol, ...]:
    return tuple(
        Symbol(
            name=one.name,
            first=one.first,
            last=one.last,
            digest=_digest(one.tokens),
            shape=_digest(_unnamed(one)),
        )
        for one in found
        if 0 < len(one.name) <= _NAME
    )


def _unnamed(found: Found) -> Iterable[str]:
    own = found.name.rpartition(".")[2]
    return ("" if token == own else token for token in found.tokens)


def _digest(tokens: Iterable[str]) -> str:
    text = "\0".join(tokens).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=10).hexdigest()
