"""JSON as people write it, with comments and trailing commas: every value with its place in the text."""

import json
import re

from msgspec import Struct

from protocol.errors import ConflictError

SPACE = re.compile(r"(?:[ \t\r\n\ufeff]++|//[^\r\n]*+|/\*.*?\*/)*+", re.DOTALL)
COMMENT = re.compile(r"//[^\r\n]*+|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<sign>[{}\[\],:])
    |(?P<string>"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")
    |(?P<scalar>(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)(?![\w.+-]))""",
    re.VERBOSE,
)
_LOOSE = re.compile(
    r"""(?P<string>'(?:[^'\\\r\n]++|\\.)*+'|"(?:[^"\\\r\n]++|\\.)*+")
    |(?P<scalar>[+-]?(?:0[xX][0-9a-fA-F]++|Infinity|NaN|(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)(?![\w.+-]))
    |(?P<name>[A-Za-z_$][\w$]*+)""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT_OR_TEXT = re.compile(
    COMMENT.pattern + r"""|"(?:[^"\\\r\n]++|\\.)*+"|'(?:[^'\\\r\n]++|\\.)*+'""", re.DOTALL
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_MEANT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
_UNSEEN = {"\n": "", "\r": "", "\r\n": ""}
"""A line that is broken in a loose string goes on in the next."""


class MalformedError(ConflictError):
    """A text that is not what its file should hold; the message names line and column."""


class Node(Struct, frozen=True, eq=False):
    """A value, where it stands, and what is in it, unless that is folded away."""

    start: int
    end: int
    value: object
    children: tuple["Child", ...] = ()
    is_folded: bool = False


class Child(Struct, frozen=True, eq=False):
    """A member of an object with its name, or an item of an array."""

    start: int
    node: Node
    key: str = ""


class _Open(Struct):
    """A container whose end has not been read yet."""

    sign: str
    start: int
    children: list[Child]
    key: str = ""
    key_start: int = -1


def parse(text: str, *, is_loose: bool = False) -> Node | None:
    """Read a text; None if there is nothing in it but space and comments.

    A loose one may also have single quotes and bare names (JSON5).
    """
    return _Reader(text, is_loose=is_loose).read(0, len(text))


def unfold(text: str, node: Node, *, is_loose: bool = False) -> Node:
    """Look into a container that was folded away."""
    if not node.is_folded:
        return node
    found = _Reader(text, is_loose=is_loose).read(node.start, node.end)
    assert found is not None  # noqa: S101  # it has been read before
    return found


def find_comments(text: str) -> list[str]:
    """List the comments of a text; what stands in quotes is none."""
    return [found[0] for found in _COMMENT_OR_TEXT.finditer(text) if found[0][0] == "/"]


def malformed(text: str, position: int, reason: str) -> MalformedError:
    """Say what is wrong, and where."""
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return MalformedError(f"line {line}, column {column}: {reason}")


def is_same(one: object, other: object) -> bool:
    """Compare two values, however deep; true is not 1."""
    return one is other or _is_written_alike(one, other) or _is_alike(one, other)


def _is_written_alike(one: object, other: object) -> bool:
    """Compare as texts, which is quick, and says nothing about what differs only in order."""
    try:
        return json.dumps(one) == json.dumps(other)
    except (RecursionError, TypeError):  # TOML also has times, which JSON cannot write
        return False


def _is_alike(one: object, other: object) -> bool:
    pairs = [(one, other)]
    while pairs:
        left, right = pairs.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            pairs.extend((left[key], right[key]) for key in left)
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pairs.extend(zip(left, right, strict=True))
        elif left != right:
            return False
    return True


_NAMES = {
    "value": "a value",
    "item": "a value or ]",
    "key": 'a name in " " or }',
    "colon": ":",
    "comma": ", or the end",
}


class _Reader:
    """Reads a text once, from its beginning to its end, without recursion.

    What stands inside the outermost container is read by the standard library, which is quick, and folded; where
    that cannot read it (a comment, a depth that is beyond it), it is read here.
    """

    def __init__(self, text: str, *, is_loose: bool) -> None:
        self._text = text
        self._is_loose = is_loose
        self._stack: list[_Open] = []
        self._wanted = "value"
        self._patience = _PATIENCE
        self._root: Node | None = None

    def read(self, start: int, end: int) -> Node | None:
        """Read the value that stands in a range."""
        position = _skip(self._text, start)
        while position < end:
            position = _skip(self._text, self._take(position))
        if self._stack:
            opened = self._stack[-1]
            raise malformed(self._text, opened.start, f"{opened.sign} is never closed")
        return self._root

    def _take(self, position: int) -> int:
        """Take one token, or a whole value at once; give where it ends."""
        if self._wanted == "end":
            raise malformed(self._text, position, "nothing should follow here")
        sign = self._text[position]
        if sign in "{[" and self._wanted in {"value", "item"}:
            node = self._fold(position) if self._stack else None
            if node is None:
                self._open(sign, position)
                return position + 1
            self._keep(node)
            return node.end
        kind, end = self._token(position)
        match self._wanted, sign if kind == "sign" else kind:
            case (("value" | "item"), ("string" | "scalar")):
                self._keep(Node(position, end, _meaning(self._text[position:end], kind)))
            case ("item", "]") | ("key", "}") | ("comma", "]" | "}"):
                self._keep(_closed(self._stack, sign, end, self._text))
            case "key", ("string" | "name"):
                self._stack[-1].key = _meaning_of_key(self._text[position:end], kind)
                self._stack[-1].key_start = position
                self._wanted = "colon"
            case "colon", ":":
                self._wanted = "value"
            case "comma", ",":
                self._wanted = "key" if self._stack[-1].sign == "{" else "item"
            case _:
                expected, found = _NAMES[self._wanted], _found(self._text, position)
                raise malformed(self._text, position, f"expected {expected}, found {found}")
        return end

    def _open(self, sign: str, position: int) -> None:
        self._stack.append(_Open(sign, position, []))
        self._wanted = "key" if sign == "{" else "item"

    def _keep(self, node: Node) -> None:
        if not self._stack:
            self._root, self._wanted = node, "end"
            return
        opened = self._stack[-1]
        is_object = opened.sign == "{"
        start = opened.key_start if is_object else node.start
        opened.children.append(Child(start, node, opened.key if is_object else ""))
        self._wanted = "comma"

    def _fold(self, position: int) -> Node | None:
        if not self._patience:
            return None
        try:
            value, end = _QUICK.raw_decode(self._text, position)
        except (ValueError, RecursionError) as error:
            self._patience = 0 if isinstance(error, RecursionError) else self._patience - 1
            return None
        return Node(position, end, value, is_folded=True)

    def _token(self, position: int) -> tuple[str, int]:
        found = _TOKEN.match(self._text, position)
        if found is None and self._is_loose:
            found = _LOOSE.match(self._text, position)
        if found is None:
            raise malformed(self._text, position, _complaint(self._text, position))
        return str(found.lastgroup), found.end()


def _refuse(constant: str) -> object:
    raise ValueError(constant)


_QUICK = json.JSONDecoder(parse_constant=_refuse)
_PATIENCE = 64
"""How often the standard library may fail before it is not asked any more."""


def _skip(text: str, position: int) -> int:
    found = SPACE.match(text, position)
    return position if found is None else found.end()


def _complaint(text: str, position: int) -> str:
    if text.startswith("/*", position):
        return "this comment is never closed"
    if text[position] == '"':
        return "this text has no end on its line, or something in it that JSON does not allow"
    return f"did not expect {_found(text, position)}"


def _found(text: str, position: int) -> str:
    return repr(text[position : position + 12].split("\n", 1)[0])


def _closed(stack: list[_Open], sign: str, end: int, text: str) -> Node:
    opened = stack.pop()
    if opened.sign + sign not in {"{}", "[]"}:
        raise malformed(text, end - 1, f"{sign} does not close the {opened.sign} before it")
    children = tuple(opened.children)
    value: object
    if sign == "}":
        value = {child.key: child.node.value for child in children}
    else:
        value = [child.node.value for child in children]
    return Node(opened.start, end, value, children)


def _meaning_of_key(token: str, kind: str) -> str:
    return token if kind == "name" else str(_meaning(token, kind))


def _meaning(token: str, kind: str) -> object:
    if kind == "string":
        if "\\" not in token:
            return token[1:-1]
        return (
            json.loads(token) if _TOKEN.fullmatch(token) else _ESCAPE.sub(_unescaped, token[1:-1])
        )
    if token in {"true", "false", "null"}:
        return {"true": True, "false": False, "null": None}[token]
    return _number(token)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    if code:
        return chr(int(code, 16))
    return _UNSEEN.get(found[3], _MEANT.get(found[3], found[3]))


def _number(token: str) -> object:
    """Give a number's value; one that Python cannot hold stays the text that it is."""
    try:
        if "x" in token.lower():
            return int(token, 16)
        return int(token) if re.fullmatch(r"[+-]?[0-9]+", token) else float(token)
    except ValueError:
        return token
