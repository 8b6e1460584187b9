"""One table of a TOML file, added, changed or removed in place; all else keeps every byte.

Lines are found by their looks, which a text in quotes may have, too. So every edit is only tried: the first after
which the standard library reads what was meant, and all else as before, is taken.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping

from sidecar.hosts.jsonc import MalformedError, is_same

_PLACE = re.compile(r"^(?P<reason>.*) \(at (?P<place>line .*)\)$", re.DOTALL)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")

Path = tuple[str, ...]


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
    """Return what stands at a path; None where there is nothing."""
    for name in path:
        if not isinstance(data, dict) or name not in data:
            return None
        data = data[name]
    return data


def put(text: str, path: Path, values: Mapping[str, object]) -> str:
    """Return a text whose table at a path has these values, beside its others."""
    known = dig(read(text), path)
    if known is None:
        return _taken(text, path, dict(values), [_appended(text, path, values)])
    if not isinstance(known, dict):
        raise MalformedError(f"{'.'.join(path)} is no table")
    for name, value in values.items():
        if not is_same(known.get(name), value):
            known = {**known, name: value}
            text = _taken(text, path, known, _with(text, path, name, value))
    return text


def drop(text: str, path: Path) -> str:
    """Leave out the table at a path, and all below it."""
    while (known := dig(read(text), path)) is not None:
        text = _taken(text, path, known, _without(text, path), is_less=True)
    return text


def _taken(
    text: str, path: Path, expected: object, edits: Iterable[str], *, is_less: bool = False
) -> str:
    """Return the first edit that says what it should; with `is_less`, what had been expected must not be whole."""
    rest = _rest(read(text), path)
    for edited in edits:
        try:
            data = read(edited)
        except MalformedError:
            continue
        if is_same(dig(data, path), expected) != is_less and is_same(_rest(data, path), rest):
            return edited
    raise MalformedError(
        f"{'.'.join(path)} is written there in a way that cannot be changed safely; change it by hand"
    )


def _rest(data: object, path: Path) -> object:
    """Return everything but what stands at a path, and the tables that are only there for it."""
    if not isinstance(data, dict) or path[0] not in data:
        return data
    others = {name: value for name, value in data.items() if name != path[0]}
    if len(path) == 1:
        return others
    below = _rest(data[path[0]], path[1:])
    return {**others, path[0]: below} if below else others


def _appended(text: str, path: Path, values: Mapping[str, object]) -> str:
    newline = _newline(text)
    lines = [f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(name)} = {_literal(value)}" for name, value in values.items()]
    gap = "" if not text.strip("\ufeff") else newline
    if gap and not text.endswith("\n"):
        gap += newline
    return text + gap + newline.join(lines) + newline


def _with(text: str, path: Path, name: str, value: object) -> Iterator[str]:
    lines = _LINE.findall(text)
    written = f"{_key(name)} = {_literal(value)}{_newline(text)}"
    for start, end in _sections(lines, path):
        for line in range(start + 1, end):
            if lines[line].lstrip().startswith((name, f'"{name}"', f"'{name}'")):
                for last in range(line + 1, end + 1):
                    yield "".join((*lines[:line], written, *lines[last:]))
        header = lines[start].rstrip("\r\n") + _newline(text)
        yield "".join((*lines[:start], header, written, *lines[start + 1 :]))


def _without(text: str, path: Path) -> Iterator[str]:
    lines = _LINE.findall(text)
    for start, end in _sections(lines, path):
        while not (last := lines[end - 1].strip()) or last.startswith("#"):
            end -= 1  # noqa: PLW2901  # the section without its tail
        yield _cut("".join(lines[:start]), "".join(lines[end:]))


def _sections(lines: list[str], path: Path) -> Iterator[tuple[int, int]]:
    """Find where a table, or one below it, may begin, and every place after it where it may end."""
    names = r"\s*\.\s*".join(rf"[\"']?{re.escape(name)}[\"']?" for name in path)
    header = re.compile(rf"\ufeff?\s*\[\s*{names}\s*[.\]]")
    bounds = [number for number, line in enumerate(lines) if line.lstrip().startswith("[")]
    for start, line in enumerate(lines):
        if header.match(line):
            yield from ((start, end) for end in (*bounds, len(lines)) if end > start)


def _cut(before: str, after: str) -> str:
    is_apart = not after.strip() or after.startswith(("\n", "\r\n"))
    for newline in ("\r\n", "\n"):
        if is_apart and (before.endswith(newline * 2) or before == newline):
            return before[: -len(newline)] + after
    return before + after


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _literal(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
