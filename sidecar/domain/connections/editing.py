"""Changing JSON in place: what is not changed keeps every byte, comments and spaces too."""

import difflib
import json
import re

from msgspec import Struct

from sidecar.domain.connections.trees import (
    COMMENT,
    SPACE,
    Child,
    MalformedError,
    Node,
    is_same,
    malformed,
    parse,
    unfold,
)

_LINE = re.compile(r"[^\r\n]*")
_BLANK = re.compile(r"[ \t]*")
_FEW = 4000
"""Steps after which an edit is given up: each mends one difference."""


class _Style(Struct, frozen=True):
    """How a text is laid out."""

    newline: str
    unit: str
    is_tight: bool


def edit(text: str, new: object, *, is_loose: bool = False) -> str:
    """Write a text anew so that it says `new`, changing only what differs."""
    for _ in range(_FEW):
        root = parse(text, is_loose=is_loose)
        if root is None:
            text += _fresh(text, new)
            continue
        changed = _mend(text, root, new, _style(text, root))
        if changed is None:
            return text
        text = changed
    raise MalformedError("there is too much to change in it")


def write(value: object) -> str:
    """Write a new file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _fresh(text: str, new: object) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    written = write(new).replace("\n", newline)
    return written if not text.strip("\ufeff") or text.endswith("\n") else newline + written


def _mend(
    text: str, node: Node, new: object, style: _Style, *, is_inline: bool = False
) -> str | None:
    """Mend the first difference between a node and what it should be; None if there is none."""
    node = unfold(text, node)
    inline = _is_inline(text, node, is_inline=is_inline)
    if isinstance(node.value, dict) and isinstance(new, dict):
        return _mend_object(text, node, new, style, is_inline=inline)
    if isinstance(node.value, list) and isinstance(new, list):
        return _mend_array(text, node, new, style, is_inline=inline)
    if is_same(node.value, new):
        return None
    indent = _indent_at(text, node.start)
    written = _written(new, indent, style, is_inline=is_inline)
    return text[: node.start] + written + text[node.end :]


def _mend_object(
    text: str, node: Node, new: dict[str, object], style: _Style, *, is_inline: bool
) -> str | None:
    latest = {child.key: (index, child) for index, child in enumerate(node.children)}
    for key, (index, child) in latest.items():
        if key not in new:
            if sum(child.key == key for child in node.children) > 1:
                raise malformed(text, child.start, f'"{key}" stands here twice; remove one of them')
            return _without(text, node, index)
        if is_same(child.node.value, new[key]):
            continue
        mended = _mend(text, child.node, new[key], style, is_inline=is_inline)
        if mended is not None:
            return mended
    for key, value in new.items():
        if key not in latest:
            colon = ":" if style.is_tight else ": "
            head = json.dumps(key, ensure_ascii=False) + colon
            return _with(text, node, len(node.children), (head, value), style, is_inline=is_inline)
    return None


def _mend_array(
    text: str, node: Node, new: list[object], style: _Style, *, is_inline: bool
) -> str | None:
    old = [child.node.value for child in node.children]
    names = [list(map(_name, old)), list(map(_name, new))]
    for how, start, end, begin, until in difflib.SequenceMatcher(
        None, names[0], names[1], autojunk=False
    ).get_opcodes():
        if how == "equal":
            continue
        if how == "replace" and until - begin >= end - start:
            mended = _mend(text, node.children[start].node, new[begin], style, is_inline=is_inline)
            if mended is not None:
                return mended
        if how == "insert":
            return _with(text, node, start, ("", new[begin]), style, is_inline=is_inline)
        return _without(text, node, end - 1)
    return None


def _name(value: object) -> str:
    try:
        return json.dumps(value, sort_keys=True)
    except RecursionError as error:
        raise MalformedError("a list in it is nested too deeply to be changed") from error


def _with(  # noqa: PLR0913  # a place and what goes there
    text: str,
    node: Node,
    index: int,
    item: tuple[str, object],
    style: _Style,
    *,
    is_inline: bool,
) -> str:
    """Put a new child before the one at `index`, or after the last."""
    indent = _child_indent(text, node, style)
    written = item[0] + _written(item[1], indent, style, is_inline=is_inline)
    gap = ("" if style.is_tight else " ") if is_inline else style.newline + indent
    if index < len(node.children):
        start = node.children[index].start
        return text[:start] + written + "," + gap + text[start:]
    if not node.children:
        return _into_empty(text, node, written, style, is_inline=is_inline)
    last = node.children[-1].node.end
    comma = _comma(text, last)
    end = _content_end(text, last if comma is None else comma + 1, node.end - 1)
    if comma is None:
        return text[:last] + "," + text[last:end] + gap + written + text[end:]
    return text[:end] + gap + written + "," + text[end:]


def _into_empty(text: str, node: Node, written: str, style: _Style, *, is_inline: bool) -> str:
    end = _content_end(text, node.start + 1, node.end - 1)
    if is_inline:
        return text[:end] + written + text[end:]
    before = text[:end] + style.newline + _child_indent(text, node, style) + written
    tail = text[end : node.end - 1]
    if "\n" not in tail:
        tail = style.newline + _indent_at(text, node.start)
    return before + tail + text[node.end - 1 :]


def _without(text: str, node: Node, index: int) -> str:
    """Take a child out, with its comma and its line; comments stay."""
    child = node.children[index]
    inside = text[node.start + 1 : child.start] + text[child.node.end : node.end - 1]
    if len(node.children) == 1 and not inside.strip(" \t\r\n,"):
        return text[: node.start + 1] + text[node.end - 1 :]
    comma = _comma(text, child.node.end)
    if comma is None:
        if index:
            before = _comma(text, node.children[index - 1].node.end)
            assert before is not None  # noqa: S101  # two children have a comma between them
            return _cut(text[:before] + text[before + 1 :], child.start - 1, child.node.end - 1)
        return _cut(text, child.start, child.node.end)
    if text[child.node.end : comma].strip():
        text = text[:comma] + text[comma + 1 :]
        return _cut(text, child.start, child.node.end)
    return _cut(text, child.start, comma + 1)


def _cut(text: str, start: int, end: int) -> str:
    """Cut a range; a line that holds nothing else goes as a whole."""
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    is_first = not text[line:start].strip(" \t")
    blank = _BLANK.match(text, end)
    after = end if blank is None else blank.end()
    is_last = after == len(text) or text[after] in "\r\n"
    if is_first and is_last and line:
        begin = line - (2 if text[line - 2 : line] == "\r\n" else 1)
        return text[:begin] + text[after:]
    if is_first and text[after : after + 1] in {"}", "]"} and line:
        return text[:line] + text[line:start] + text[after:]
    if is_last or text[after : after + 1] in {"}", "]"}:
        kept = text[:start].rstrip(" \t")
        return kept + text[after if is_last else end :]
    return text[:start] + text[after:]


def _comma(text: str, position: int) -> int | None:
    found = SPACE.match(text, position)
    end = position if found is None else found.end()
    return end if text[end : end + 1] == "," else None


def _content_end(text: str, start: int, stop: int) -> int:
    """Find where the last comment of a stretch ends that holds only comments and space."""
    end = start
    for found in COMMENT.finditer(text, start, stop):
        end = found.end()
    return end


def _is_inline(text: str, node: Node, *, is_inline: bool) -> bool:
    """Tell whether what a container gets goes on its own line: it does where the container has one."""
    if "\n" in text[node.start : node.end] or "\r" in text[node.start : node.end]:
        return False
    return bool(node.children) or is_inline


def _written(value: object, indent: str, style: _Style, *, is_inline: bool) -> str:
    if is_inline:
        signs = (",", ":") if style.is_tight else (", ", ": ")
        return _dumped(value, separators=signs)
    return _dumped(value, indent=style.unit).replace("\n", style.newline + indent)


def _dumped(
    value: object, *, indent: str | None = None, separators: tuple[str, str] | None = None
) -> str:
    written = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    try:
        written.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent, separators=separators)
    return written


def _style(text: str, root: Node) -> _Style:
    first = root.children[0] if root.children else None
    unit = "" if first is None else _own_indent(text, first)
    end = _LINE.match(text)
    newline = "\r\n" if end is not None and text.startswith("\r\n", end.end()) else "\n"
    return _Style(newline, unit or "  ", '": ' not in text and '":' in text)


def _child_indent(text: str, node: Node, style: _Style) -> str:
    if node.children:
        own = _own_indent(text, node.children[-1])
        if own:
            return own
    return _indent_at(text, node.start) + style.unit


def _own_indent(text: str, child: Child) -> str:
    """Give a child's indentation if it begins its line, else nothing."""
    line = text.rfind("\n", 0, child.start) + 1
    before = text[line : child.start]
    return before if line and not before.strip(" \t") else ""


def _indent_at(text: str, position: int) -> str:
    line = text.rfind("\n", 0, position) + 1
    found = _BLANK.match(text, line)
    return "" if found is None else found[0]
