"""One table of a TOML file, added, changed or removed in place; all else keeps every byte."""

import json
import re
import tomllib
from collections.abc import Mapping

from msgspec import Struct

from sidecar.domain.connections.trees import MalformedError, is_same

_PIECE = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[{\]}\n]"
    r"|[^\"'\#\[\]{}\n]+",
    re.DOTALL,
)
_PLACE = re.compile(r"^(?P<reason>.*) \(at (?P<place>line .*)\)$", re.DOTALL)

Path = tuple[str, ...]


class _Statement(Struct, frozen=True):
    """A header or a key with its value: where its lines begin and end."""

    start: int
    end: int
    is_header: bool
    names: Path


def read(text: str) -> dict[str, object]:
    """Read a TOML text; what is wrong with it is said with its line and column."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.match(str(error))
        message = f"{found['place']}: {found['reason']}" if found else str(error)
        raise MalformedError(message) from error
    except RecursionError as error:
        raise MalformedError("it is nested too deeply") from error


def dig(data: object, path: Path) -> object:
    """Give what stands at a path; None where there is nothing."""
    for name in path:
        if not isinstance(data, dict) or name not in data:
            return None
        data = data[name]
    return data


def put(text: str, path: Path, values: Mapping[str, object]) -> str:
    """Let the table at a path have these values, beside whatever else it has."""
    data = read(text)
    known = dig(data, path)
    if known is None:
        changed = _appended(text, path, values)
    elif isinstance(known, dict):
        changed = text
        for name, value in values.items():
            if not is_same(known.get(name), value):
                changed = _set(changed, path, name, value)
    else:
        raise MalformedError(f"{'.'.join(path)} is no table")
    expected = {**(known if isinstance(known, dict) else {}), **values}
    _verify(changed, data, path, expected)
    return changed


def drop(text: str, path: Path) -> str:
    """Leave out the table at a path, and all below it."""
    data = read(text)
    if dig(data, path) is None:
        return text
    statements = _statements(text)
    spans = _spans(statements, path)
    changed = text
    for start, end in reversed(spans):
        changed = _cut(changed, start, end)
    _verify(changed, data, path, None)
    return changed


def _verify(text: str, before: object, path: Path, expected: object) -> None:
    """Refuse an edit that would say anything else than it should; how a file can be written has no end."""
    try:
        after: object = read(text)
    except MalformedError:
        after = None
    if not is_same(dig(after, path), expected) or not is_same(
        _rest(after, path), _rest(before, path)
    ):
        raise MalformedError(
            f"{'.'.join(path)} is written there in a way that cannot be changed safely; change it by hand"
        )


def _rest(data: object, path: Path) -> object:
    """Give everything but what stands at a path, and the tables that are only there for it."""
    if not isinstance(data, dict) or path[0] not in data:
        return data
    others = {name: value for name, value in data.items() if name != path[0]}
    if len(path) == 1:
        return others
    below = _rest(data[path[0]], path[1:])
    return {**others, path[0]: below} if below else others


def _appended(text: str, path: Path, values: Mapping[str, object]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = [f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(name)} = {_literal(value)}" for name, value in values.items()]
    gap = "" if not text.strip("\ufeff") else newline
    if gap and not text.endswith("\n"):
        gap += newline
    return text + gap + newline.join(lines) + newline


def _set(text: str, path: Path, name: str, value: object) -> str:
    written = f"{_key(name)} = {_literal(value)}"
    newline = "\r\n" if "\r\n" in text else "\n"
    current: Path = ()
    header: _Statement | None = None
    for statement in _statements(text):
        if statement.is_header:
            current = statement.names
            header = statement if current == path else header
        elif current == path and statement.names == (name,):
            end = statement.end - len(newline) * text[: statement.end].endswith(newline)
            return text[: statement.start] + written + text[end:]
    if header is None:
        raise MalformedError(
            f"{'.'.join(path)} is written there in a way that cannot be changed safely; change it by hand"
        )
    gap = "" if text[: header.end].endswith("\n") else newline
    return text[: header.end] + gap + written + newline + text[header.end :]


def _spans(statements: list[_Statement], path: Path) -> list[tuple[int, int]]:
    """Find where a table and those below it stand, without the comments that lead to the next."""
    spans: list[tuple[int, int]] = []
    is_inside = False
    for statement in statements:
        if statement.is_header:
            is_inside = statement.names[: len(path)] == path
            if is_inside:
                spans.append((statement.start, statement.end))
        elif is_inside:
            spans[-1] = (spans[-1][0], statement.end)
    return spans


def _cut(text: str, start: int, end: int) -> str:
    """Cut a range of lines, with the empty line that sets it apart."""
    before, after = text[:start], text[end:]
    is_apart = not after.strip() or after.startswith(("\n", "\r\n"))
    for newline in ("\r\n", "\n"):
        if is_apart and (before.endswith(newline * 2) or before == newline):
            return before[: -len(newline)] + after
    return before + after


def _statements(text: str) -> list[_Statement]:
    """Find the headers and keys of a text that is known to be TOML."""
    found: list[_Statement] = []
    start = position = 1 if text.startswith("\ufeff") else 0
    depth = 0
    while position < len(text):
        piece = _PIECE.match(text, position)
        if piece is None:
            raise MalformedError("it is written in a way that cannot be changed safely")
        position = piece.end()
        sign = piece[0]
        depth += (sign in "[{") - (sign in "]}")
        if sign == "\n" and depth == 0:
            found += _statement(text, start, position)
            start = position
    return found + _statement(text, start, position)


def _statement(text: str, start: int, end: int) -> list[_Statement]:
    content = text[start:end]
    if not content.strip() or content.lstrip().startswith("#"):
        return []
    is_header = content.lstrip().startswith("[")
    names: list[str] = []
    level: object = read(content)
    while isinstance(level, dict) and len(level) == 1:
        name, level = next(iter(level.items()))
        names.append(name)
        if not is_header:
            break
        level = level[0] if isinstance(level, list) else level
    return [_Statement(start, end, is_header, tuple(names))]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _literal(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
