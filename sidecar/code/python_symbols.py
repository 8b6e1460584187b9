"""Python's symbols, by the standard parser."""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

from msgspec import Struct


class Found(Struct, frozen=True):
    """A symbol as a parser found it."""

    name: str
    """Qualified by what it stands in (`Store.open`)."""
    first: int
    last: int
    tokens: list[str]


_BLOCK = re.compile(
    rb"^(?=(?:@|def |class |async def |[A-Za-z_][A-Za-z0-9_]*[ \t]*[:=]))", re.MULTILINE
)
"""Where a file that is broken elsewhere may be cut."""
_TARGETS = 5
"""Names of one assignment that count."""
_SILENT = frozenset({"ctx", "type_comment"})
"""Fields that say nothing of their own."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Named = _Function | ast.ClassDef | ast.Assign | ast.AnnAssign


def find(source: bytes) -> list[Found]:
    """Return functions, classes, methods and constants; in a broken file, those of its intact parts."""
    tree = _parse(source)
    if tree is not None:
        return list(_found(tree.body, "", 0))
    parts = _BLOCK.split(source)
    line = 0
    found: list[Found] = []
    for part in _joined(parts):
        piece = _parse(part)
        found += _found(piece.body, "", line) if piece else ()
        line += part.count(b"\n")
    return found


def _parse(source: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _joined(parts: Sequence[bytes]) -> Iterator[bytes]:
    held = b""
    for part in parts:
        held += part
        if not part.startswith(b"@"):
            yield held
            held = b""
    yield held


def _found(body: Sequence[ast.stmt], prefix: str, line: int) -> Iterator[Found]:
    for node in body:
        if isinstance(node, _Named):
            yield from _named(node, prefix, line)
        else:
            # What stands under `if TYPE_CHECKING:` or `try:` is defined all the same.
            for inner in ("body", "orelse", "finalbody"):
                yield from _found(getattr(node, inner, ()), prefix, line)
            for handler in getattr(node, "handlers", ()):
                yield from _found(handler.body, prefix, line)


def _named(node: _Named, prefix: str, line: int) -> Iterator[Found]:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    span = (first + line, (node.end_lineno or node.lineno) + line)
    for name in _names(node):
        yield Found(prefix + name, *span, _tokens(node))
        if isinstance(node, ast.ClassDef):
            yield from _found(node.body, f"{prefix}{name}.", line)


def _names(node: _Named) -> list[str]:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [target.id for target in targets[:_TARGETS] if isinstance(target, ast.Name)]
    return [node.name]


def _tokens(node: ast.AST) -> list[str]:
    """Yield the tokens of a tree without positions and docstrings, the same in every version of Python.

    Empty fields are left out, so that one that a later version adds changes nothing.
    """
    tokens: list[str] = []
    waiting: list[object] = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.Constant):
            tokens += ["Constant", repr(item.value)]
        elif isinstance(item, ast.AST):
            tokens.append(type(item).__name__)
            for name in reversed(item._fields):
                value = getattr(item, name, None)
                if value is not None and value != [] and name not in _SILENT:
                    waiting += [_meaning(item, value, is_member=item is not node), name]
        elif isinstance(item, list):
            tokens.append("[")
            waiting += ["]", *reversed(item)]
        else:
            tokens.append(str(item))
    return tokens


def _meaning(node: ast.AST, value: object, *, is_member: bool) -> object:
    """Return a body without its docstring; of a class also without members, which are symbols."""
    if not isinstance(node, _Function | ast.ClassDef) or value is not node.body:
        return value
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    if isinstance(node, ast.ClassDef) and not is_member:
        return [one for one in body if not isinstance(one, _Named)]
    return body
