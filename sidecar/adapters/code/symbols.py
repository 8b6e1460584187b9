"""The symbols of a source file: what it defines, where, and a digest that layout does not change."""

from collections.abc import Iterable

from sidecar.adapters.code import grammars, pythons
from sidecar.adapters.code.tokens import Found
from sidecar.domain.drift.traces import Symbol
from sidecar.domain.hashing import blake2b

SIZE = 1_000_000
"""Bytes from which a file is not parsed."""

_PYTHON = frozenset({"py", "pyi", "pyw"})
_NAME = 200
_BINARY = 8_000


def is_known(path: str) -> bool:
    """Tell whether files of this name can have symbols."""
    return _ending(path) in _PYTHON or _ending(path) in grammars.LANGUAGES


def find(path: str, source: bytes) -> tuple[Symbol, ...]:
    """Find the symbols of a file, as far as it can be read; files in languages not known have none."""
    if len(source) > SIZE or b"\0" in source[:_BINARY]:
        return ()
    ending = _ending(path)
    if ending in _PYTHON:
        return _symbols(pythons.find(source))
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
    """Take a symbol's own name out of its tokens, also where it calls itself."""
    own = found.name.rpartition(".")[2]
    return ("" if token == own else token for token in found.tokens)


def _digest(tokens: Iterable[str]) -> str:
    text = "\0".join(tokens).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=10).hexdigest()
