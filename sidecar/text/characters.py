"""Remove or escape characters a reader cannot see."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from sidecar.text.patterns import late

_COMMANDS = late(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-9;?]+[@-~]"
    r"|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b\n]*\x1b\\"
    r"|\x1b[ -/]*[0-~]?"
)
"""What a terminal takes for commands, as a whole."""
_HIDDEN_NEAR = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and newline
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"  # soft hyphen, joiners, signs before numbers
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"  # fillers
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # zero width, ends of lines, directions
    "\ufe00-\ufe0f\ufff0-\ufffb\ufffe\uffff"  # variants, annotations, what is no character
    "\ud800-\uf8ff\ufdd0-\ufdef"  # halves, private, no characters
)
_HIDDEN_FAR = (
    "\U00016fe4\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U0010ffff"  # tags, variants, private
) + "".join(chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(1, 14))
_JOINING = (
    "\u0620-\u065f\u066e-\u06d3\u06fa-\u06ff\u0710-\u077f\u07ca-\u07ea\u0840-\u08c9\u0900-\u0dff"
)
"""Letters of scripts in which a joiner between two of them changes how both are drawn."""
_PICTURES = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_SIGNS = late(
    rf"(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    rf"|(?<=[{_PICTURES}\ufe0f])\u200d(?=[{_PICTURES}])"
    rf"|(?<=[{_PICTURES}])\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    rf"|(?P<hidden>[{_HIDDEN_NEAR}{_HIDDEN_FAR}])"
)
"""What is hidden, and before it what is not, though it stands among that: it shapes the signs beside it."""
_SUSPECT = late(f"[{_HIDDEN_NEAR}\U00010000-\U0010ffff]")
"""Whatever may be hidden, in a form that is searched ten times as fast."""
_HIDDEN = late(f"[{_HIDDEN_NEAR}{_HIDDEN_FAR}]")
_HALVES = late("[\ud800-\udfff]")
_SHAPING = late("[\u200c\u200d\ufe0f]")
_RETURNS = late("\r\n?")
_GAPS = frozenset("\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029")
"""What stands between two words or lines, and would leave them as one."""
_BYTE = 0x100

_LINE_ENDS = late("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_SPACES = late("[\t\x1f\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]")
_GAP = " " * 8
_WIDE_GAP = late(" {9,}")
_BLANK_LINES = late(r"\n(?: *\n){2,}")

_CONTROL = re.compile(rb"\\[bfru]")
"""How JSON writes what may be a control character."""
_ASCII = bytes(range(0x80))
_NAMES = frozenset(
    (
        *(
            "path",
            "previousPath",
            "paths",
            "files",
            "filesModified",
            "filesAtHand",
            "transcriptPath",
        ),
        *("folder", "folders", "root", "project", "projectNormalized", "remotes", "branch", "uri"),
        *(
            "damagedCopies",
            "remaining",
            "name",
            "availableDocuments",
            "symbol",
            "tool",
            "id",
            "key",
        ),
        *("agentId", "agentLabel", "assignedAgentId", "assignedLabel", "createdBy", "updatedBy"),
        *("senderId", "targetId", "label", "harness", "host", "source", "sources", "sessionKey"),
        *("previousSessionKey", "agentRunId"),
    )
)
"""Fields of the protocol that hold names: two that differ in a hidden character must not look the same."""
_TOKENS = ("token", "progressToken")
"""Params of a notification by which a client knows its own request again."""


def visible(text: str) -> str:
    r"""Return prose without what is hidden, never longer; a half character becomes U+FFFD, `\r` a newline.

    Joiners within words of scripts that need them, and within emoji, stay.
    """
    if _is_plain(text) or not _SUSPECT.search(text):
        return text
    return _SIGNS.sub(_without, _RETURNS.sub("\n", _paired(_COMMANDS.sub("", text))))


def shown(name: str) -> str:
    r"""Return a name with what is hidden written as escapes: `\x1b`, `\u{e0041}`."""
    return _SIGNS.sub(_escaped, _paired(name)) if _SUSPECT.search(name) else name


def visible_json(data: bytes) -> bytes:
    """Return encoded JSON without what is hidden in any of its texts; the same bytes where there is nothing."""
    return _cleaned(data, _tree)


def visible_message(data: bytes) -> bytes:
    """Return a message of JSON-RPC likewise; what its receiver is to know again, its id and its token, stays as it is."""
    return _cleaned(data, _message)


def escaped_json(data: bytes) -> bytes:
    r"""Return encoded JSON that means the same, with what is hidden written as `\uXXXX`."""
    if data.isascii() and b"\x7f" not in data:
        return data
    return _HIDDEN.sub(_as_json, data.decode()).encode()


def clean(text: str) -> str:
    r"""Keep what can be seen, with `\n` between lines; what is half a character becomes a mark."""
    if _is_plain(text):
        return _WIDE_GAP.sub(_GAP, text) if _GAP in text else text
    return _BLANK_LINES.sub("\n\n", _WIDE_GAP.sub(_GAP, _bare(text))).strip("\n")


def flatten(text: str) -> str:
    """Keep what can be seen, on one line, with single spaces."""
    return " ".join((text if _is_plain(text) else _bare(text)).split())


def clip(text: str, most: int) -> str:
    """Cut a text that is too long, and show that it was."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _bare(text: str) -> str:
    """Keep what is drawn by itself: within our fences no joiner stays, and every space is a plain one."""
    if _is_plain(text.replace("\n", " ")):
        return text
    text = visible(_LINE_ENDS.sub("\n", _COMMANDS.sub("", text)))
    return _SPACES.sub(" ", _SHAPING.sub("", text))


def _paired(text: str) -> str:
    """Join halves that belong together; U+FFFD stands for any other."""
    if not _HALVES.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _without(sign: "re.Match[str]") -> str:
    hidden = sign["hidden"]
    if hidden is None:
        return sign[0]
    return " " if hidden in _GAPS else ""


def _escaped(sign: "re.Match[str]") -> str:
    hidden = sign["hidden"]
    if hidden is None:
        return sign[0]
    number = ord(hidden)
    return f"\\x{number:02x}" if number < _BYTE else f"\\u{{{number:x}}}"


def _as_json(sign: "re.Match[str]") -> str:
    units = sign[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _cleaned(data: bytes, clean_tree: Callable[[Any], Any]) -> bytes:
    if not _may_hide(data):
        return data
    tree = msgspec.json.decode(data)
    cleaned = clean_tree(tree)
    return data if cleaned == tree else msgspec.json.encode(cleaned)


def _may_hide(data: bytes) -> bool:
    """Return cheaply whether a text may hold hidden characters; almost none does."""
    if b"\x7f" in data or _CONTROL.search(data):
        return True
    return not data.isascii() and bool(_SUSPECT.search(data.translate(None, _ASCII).decode()))


def _message(message: Any) -> Any:  # noqa: ANN401  # whatever JSON holds
    cleaned = _tree(message)
    if not isinstance(message, dict):
        return cleaned
    if "id" in message:
        cleaned["id"] = message["id"]
    params = message.get("params")
    if isinstance(params, dict):
        cleaned["params"] |= {name: params[name] for name in _TOKENS if name in params}
    return cleaned


def _tree(value: Any, field: str = "") -> Any:  # noqa: ANN401  # likewise
    if isinstance(value, str):
        return shown(value) if field in _NAMES else visible(value)
    if isinstance(value, list):
        return [_tree(item, field) for item in value]
    if isinstance(value, dict):
        return {shown(name): _tree(item, name) for name, item in value.items()}
    return value
