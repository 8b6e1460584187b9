"""JSON as people write it, with comments and trailing commas, changed in place.

What is not changed keeps every byte, comments and spaces too. A loose text may also have single quotes, bare names
and more kinds of numbers (JSON5).
"""

import difflib
import json
import re

from msgspec import Struct

from protocol.errors import ConflictError

_COMMENT = re.compile(r"//[^\r\n]*+|/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(rf"(?:[ \t\r\n\ufeff]++|{_COMMENT.pattern})*+", re.DOTALL)
_SCALAR = re.compile(
    r"""(?P<string>"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")
    |(?P<other>(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)(?![\w.+-]))""",
    re.VERBOSE,
)
_LOOSE = re.compile(
    r"""(?P<string>'(?:[^'\\\r\n]++|\\.)*+'|"(?:[^"\\\r\n]++|\\.)*+")
    |(?P<other>[+-]?(?:0[xX][0-9a-fA-F]++|Infinity|NaN|(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)(?![\w.+-]))""",
    re.VERBOSE | re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*+")
_COMMENT_OR_TEXT = re.compile(
    _COMMENT.pattern + r"""|"(?:[^"\\\r\n]++|\\.)*+"|'(?:[^'\\\r\n]++|\\.)*+'""", re.DOTALL
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_ESCAPED = {
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "0": "\0",
} | dict.fromkeys(("\n", "\r", "\r\n"), "")
_BLANK = re.compile(r"[ \t]*")
_STEPS = 4000
"""Steps after which an edit is given up: each mends one difference."""


class MalformedError(ConflictError):
    """A text that is not what its file should hold; the message names line and column."""


class Node(Struct, frozen=True, eq=False):
    """A value, where it stands, and what is in it."""

    start: int
    end: int
    value: object
    children: tuple["Child", ...] = ()


class Child(Struct, frozen=True, eq=False):
    """A member of an object with its name, or an item of an array."""

    start: int
    node: Node
    key: str = ""


def parse(text: str, *, is_loose: bool = False) -> Node | None:
    """Read a text; None if there is nothing in it but space and comments."""
    reader = _Reader(text, is_loose)
    start = _skip(text, 0)
    if start == len(text):
        return None
    try:
        root = reader.value(start)
    except RecursionError as error:
        raise MalformedError("it is nested too deeply") from error
    if (end := _skip(text, root.end)) < len(text):
        raise _malformed(text, end, "nothing should follow here")
    return root


def edit(text: str, new: object, *, is_loose: bool = False) -> str:
    """Return a text that reads as `new`, changing only what differs."""
    for _ in range(_STEPS):
        root = parse(text, is_loose=is_loose)
        if root is None:
            newline = "\r\n" if "\r\n" in text else "\n"
            gap = "" if not text.strip("\ufeff") or text.endswith("\n") else newline
            return text + gap + write(new).replace("\n", newline)
        changed = _Editor(text, root).mend(root, new)
        if changed is None:
            return text
        text = changed
    raise MalformedError("there is too much to change in it")


def write(value: object) -> str:
    """Write a new file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def find_comments(text: str) -> list[str]:
    """Return the comments of a text, ignoring quoted text."""
    return [found[0] for found in _COMMENT_OR_TEXT.finditer(text) if found[0][0] == "/"]


def is_same(one: object, other: object) -> bool:
    """Compare two values; true is not 1."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    # JSON5 has a number that is unequal to itself.
    return one == other or repr(one) == repr(other)


class _Reader(Struct, frozen=True):
    text: str
    is_loose: bool

    def value(self, start: int) -> Node:
        if self.text[start : start + 1] in {"{", "["}:
            return self._container(start)
        token = self._scalar(start)
        return Node(start, token.end(), _meaning(token))

    def _container(self, start: int) -> Node:
        text, sign = self.text, self.text[start]
        closing = "}" if sign == "{" else "]"
        children: list[Child] = []
        place = _skip(text, start + 1)
        while text[place : place + 1] != closing:
            if place == len(text):
                raise _malformed(text, start, f"{sign} is never closed")
            child = self._child(place, sign)
            children.append(child)
            place = _skip(text, child.node.end)
            if text[place : place + 1] == ",":
                place = _skip(text, place + 1)
            elif text[place : place + 1] not in {closing, ""}:
                raise self._unexpected(place, f", or {closing}")
        values = [child.node.value for child in children]
        keys = (child.key for child in children)
        value = dict(zip(keys, values, strict=True)) if sign == "{" else values
        return Node(start, place + 1, value, tuple(children))

    def _child(self, start: int, sign: str) -> Child:
        if sign == "[":
            return Child(start, self.value(start))
        name = _NAME.match(self.text, start) if self.is_loose else None
        if name is None and self.text[start] not in "\"'":
            raise self._unexpected(start, "a name in quotes")
        token = name or self._scalar(start)
        colon = _skip(self.text, token.end())
        if self.text[colon : colon + 1] != ":":
            raise self._unexpected(colon, ":")
        node = self.value(_skip(self.text, colon + 1))
        return Child(start, node, token[0] if name else str(_meaning(token)))

    def _scalar(self, start: int) -> "re.Match[str]":
        token = _SCALAR.match(self.text, start)
        if token is None and self.is_loose:
            token = _LOOSE.match(self.text, start)
        if token is None:
            raise self._unexpected(start, "a value")
        return token

    def _unexpected(self, place: int, wanted: str) -> MalformedError:
        if self.text.startswith("/*", place):
            return _malformed(self.text, place, "this comment is never closed")
        if self.text.startswith('"', place):
            return _malformed(self.text, place, f"expected {wanted}, found a text without an end")
        seen = self.text[place : place + 12].split("\n", 1)[0]
        return _malformed(self.text, place, f"expected {wanted}, found {seen!r}")


def _malformed(text: str, place: int, reason: str) -> MalformedError:
    line = text.count("\n", 0, place) + 1
    return MalformedError(f"line {line}, column {place - text.rfind(chr(10), 0, place)}: {reason}")


def _skip(text: str, place: int) -> int:
    space = _SPACE.match(text, place)
    return place if space is None else space.end()


def _meaning(token: "re.Match[str]") -> object:
    text = token[0]
    try:
        if token.re is _SCALAR:
            return json.loads(text)
        if token.lastgroup == "string":
            return _ESCAPE.sub(_unescaped, text[1:-1])
        if "x" in text.lower():
            return int(text, 16)
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        # A number that Python cannot hold stays the text that it is.
        return text


def _unescaped(escape: "re.Match[str]") -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else _ESCAPED.get(escape[3], escape[3])


class _Editor:
    """One text, its layout, and one change to it."""

    def __init__(self, text: str, root: Node) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.unit = (self._own_indent(root.children[0]) if root.children else "") or "  "
        self.is_tight = '": ' not in text and '":' in text

    def mend(self, node: Node, new: object, *, is_inline: bool = False) -> str | None:
        """Return the text with the first difference mended, or None if there is none."""
        if is_same(node.value, new):
            return None
        # What a container gets goes on its own line, where the container has one.
        is_flat = not re.search(r"[\r\n]", self.text[node.start : node.end])
        inside = is_flat and (bool(node.children) or is_inline)
        if isinstance(node.value, dict) and isinstance(new, dict):
            return self._mend_object(node, new, is_inline=inside)
        if isinstance(node.value, list) and isinstance(new, list):
            return self._mend_array(node, new, is_inline=inside)
        written = self._written(new, self._indent_at(node.start), is_inline=is_inline)
        return self.text[: node.start] + written + self.text[node.end :]

    def _mend_object(self, node: Node, new: dict[str, object], *, is_inline: bool) -> str | None:
        latest = {child.key: (index, child) for index, child in enumerate(node.children)}
        for key, (index, child) in latest.items():
            if key in new:
                mended = self.mend(child.node, new[key], is_inline=is_inline)
                if mended is not None:
                    return mended
            elif sum(child.key == key for child in node.children) > 1:
                reason = f'"{key}" stands here twice; remove one of them'
                raise _malformed(self.text, child.start, reason)
            else:
                return self._without(node, index)
        key, value = next((key, value) for key, value in new.items() if key not in latest)
        head = json.dumps(key, ensure_ascii=False) + (":" if self.is_tight else ": ")
        return self._with(node, len(node.children), (head, value), is_inline=is_inline)

    def _mend_array(self, node: Node, new: list[object], *, is_inline: bool) -> str | None:
        old = [json.dumps(child.node.value, sort_keys=True) for child in node.children]
        wanted = [json.dumps(value, sort_keys=True) for value in new]
        steps = difflib.SequenceMatcher(None, old, wanted, autojunk=False).get_opcodes()
        how, start, end, begin, until = next(step for step in steps if step[0] != "equal")
        if how == "insert":
            return self._with(node, start, ("", new[begin]), is_inline=is_inline)
        if how == "replace" and until - begin >= end - start:
            return self.mend(node.children[start].node, new[begin], is_inline=is_inline)
        return self._without(node, end - 1)

    def _with(self, node: Node, index: int, item: tuple[str, object], *, is_inline: bool) -> str:
        """Put a new child before the one at `index`, or after the last."""
        text, children = self.text, node.children
        own = self._own_indent(children[-1]) if children else ""
        indent = own or self._indent_at(node.start) + self.unit
        written = item[0] + self._written(item[1], indent, is_inline=is_inline)
        gap = ("" if self.is_tight else " ") if is_inline else self.newline + indent
        if index < len(children):
            start = children[index].start
            return text[:start] + written + "," + gap + text[start:]
        last = children[-1].node.end if children else node.start + 1
        comma = self._comma(last) if children else None
        end = last if comma is None else comma + 1
        for comment in _COMMENT.finditer(text, end, node.end - 1):
            end = comment.end()
        if comma is not None:
            return text[:end] + gap + written + "," + text[end:]
        if children:
            return text[:last] + "," + text[last:end] + gap + written + text[end:]
        if is_inline:
            return text[:end] + written + text[end:]
        tail = text[end : node.end - 1]
        if "\n" not in tail:
            tail = self.newline + self._indent_at(node.start)
        return text[:end] + gap + written + tail + text[node.end - 1 :]

    def _without(self, node: Node, index: int) -> str:
        """Take a child out, with its comma and its line; comments stay."""
        text, child = self.text, node.children[index]
        inside = text[node.start + 1 : child.start] + text[child.node.end : node.end - 1]
        if len(node.children) == 1 and not inside.strip(" \t\r\n,"):
            return text[: node.start + 1] + text[node.end - 1 :]
        start, end = child.start, child.node.end
        comma = self._comma(end)
        if comma is None and index:
            comma = self._comma(node.children[index - 1].node.end)
            start, end = start - 1, end - 1
        elif comma is not None and not text[end:comma].strip():
            return _cut(text, start, comma + 1)
        if comma is not None:
            text = text[:comma] + text[comma + 1 :]
        return _cut(text, start, end)

    def _comma(self, place: int) -> int | None:
        end = _skip(self.text, place)
        return end if self.text[end : end + 1] == "," else None

    def _written(self, value: object, indent: str, *, is_inline: bool) -> str:
        signs = (",", ":") if self.is_tight else (", ", ": ")
        layout = {"separators": signs} if is_inline else {"indent": self.unit}
        written = json.dumps(value, ensure_ascii=False, **layout)
        try:
            written.encode()
        except UnicodeEncodeError:
            written = json.dumps(value, **layout)
        return written if is_inline else written.replace("\n", self.newline + indent)

    def _own_indent(self, child: Child) -> str:
        line = self.text.rfind("\n", 0, child.start) + 1
        before = self.text[line : child.start]
        return before if line and not before.strip(" \t") else ""

    def _indent_at(self, place: int) -> str:
        blank = _BLANK.match(self.text, self.text.rfind("\n", 0, place) + 1)
        return "" if blank is None else blank[0]


def _cut(text: str, start: int, end: int) -> str:
    """Cut a range; a line that holds nothing else goes as a whole."""
    line = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    is_first = not text[line:start].strip(" \t")
    blank = _BLANK.match(text, end)
    after = end if blank is None else blank.end()
    is_last = after == len(text) or text[after] in "\r\n"
    is_closing = text[after : after + 1] in {"}", "]"}
    if is_first and is_last and line:
        begin = line - (2 if text[line - 2 : line] == "\r\n" else 1)
        return text[:begin] + text[after:]
    if is_first and is_closing and line:
        return text[:start] + text[after:]
    if is_last or is_closing:
        return text[:start].rstrip(" \t") + text[after if is_last else end :]
    return text[:start] + text[after:]
