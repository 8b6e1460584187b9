"""Characters that a reader can see: everything hidden, moving or half is taken out of a text."""

from sidecar.domain.enrichment.patterns import late

_ESCAPES = late(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-9;?]+[@-~]"
    r"|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b\n]*\x1b\\"
    r"|\x1b[ -/]*[0-~]?"
)
"""What a terminal takes for commands, as a whole."""
_HALVES = late("[\ud800-\udfff]")
_HIDDEN = late(
    "["
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # controls
    "\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"  # soft hyphen, joiners, signs before numbers
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\U00016fe4"  # fillers
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # zero width, directions
    "\ufe00-\ufe0f\ufff0-\ufffb\ufffe\uffff"  # variants, annotations, what is no character
    "\ue000-\uf8ff\ufdd0-\ufdef"  # private, no characters
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a"
    "\U000e0000-\U0010ffff"  # tags, variants, private
    "]"
)
_PLANE_ENDS = late(
    "["
    + "".join(chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(1, 14))
    + "]"
)
_LINE_ENDS = late("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_SPACES = late("[\t\x1f\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]")
_GAP = " " * 8
_WIDE_GAP = late(" {9,}")
_BLANK_LINES = late(r"\n(?: *\n){2,}")


def clean(text: str) -> str:
    r"""Keep what can be seen, with `\n` between lines; what is half a character becomes a mark."""
    if _is_plain(text):
        return _WIDE_GAP.sub(_GAP, text) if _GAP in text else text
    return _BLANK_LINES.sub("\n\n", _WIDE_GAP.sub(_GAP, _visible(text))).strip("\n")


def flatten(text: str) -> str:
    """Keep what can be seen, on one line, with single spaces."""
    return " ".join((text if _is_plain(text) else _visible(text)).split())


def clip(text: str, most: int) -> str:
    """Cut a text that is too long, and show that it was."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _visible(text: str) -> str:
    if _is_plain(text.replace("\n", " ")):
        return text
    text = _LINE_ENDS.sub("\n", _ESCAPES.sub("", text))
    if _HALVES.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _SPACES.sub(" ", _PLANE_ENDS.sub("", _HIDDEN.sub("", text)))
