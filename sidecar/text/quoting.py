"""Quote text by others so that no reader takes it for structure or instructions."""

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice

from sidecar.text.characters import clean, clip, flatten, shown
from sidecar.text.patterns import Late, late

_LEFT, _RIGHT = "\u2039", "\u203a"
_OPEN = r"(?:[<\uff1c\ufe64]|&lt;|&#0{0,9}60;|&#x0{0,9}3c;)"
_SHUT = r"[>\uff1e\ufe65]"
_ROLE = "(?:human|user|assistant|system|developer)"
_TYPE = (
    r"(?!(?i:sys|inst|script|style|iframe|img|svg|embed|object|plaintext|xmp)\b|(?:SYSTEM|USER|HUMAN|ASSISTANT)\b)"
    r"(?:[A-Z]\w*|[a-rt-z]|_\w*|u?int(?:\d+(?:_t)?)?|str|string|bool|boolean|char|bytes?|float\d*|double|long|short|void"
    r"|any|auto|const|class|struct|typename|unsigned|signed|number|never|unknown|undefined|null|none|dyn|impl|[iu]size"
    r"|[iuf]\d+|size_t|std|dict|list|tuple|set|type|keyof|typeof|readonly)\b"
)
"""What may stand first between the brackets of a generic type."""
_ADDRESS = (
    rf"https?://|mailto:|[\w.+-]{{1,99}}@[\w.-]{{1,99}}{_SHUT}|[\w/+-]{{1,99}}\.h(?:pp|h)?{_SHUT}"
)
"""What may stand between brackets and is no tag: where something is found, a header of C."""
_TAG = late(
    rf"{_OPEN}(?=[/!]|\?[a-z]|[|\uff5c](?![>\s|\u203a]))"
    rf"|{_OPEN}(?=\s{{0,3}}/?\s{{0,3}}{_ROLE}\s{{0,3}}{_SHUT})(?!(?<=\w.)(?-i:[A-Z][a-z]))"
    rf"|(?<![\w.\])<])(?<!::){_OPEN}(?=[^\W\d])(?!{_ADDRESS})"
    rf"|(?:(?<=[\w.\])<])|(?<=::)){_OPEN}(?=[^\W\d]"
    rf"(?:[^<>\uff1c\uff1e\ufe64\ufe65\n]*+{_SHUT}|[\w:-]*+\s[^<>\uff1c\uff1e\ufe64\ufe65=\n]*+=))"
    rf"(?!(?-i:{_TYPE})[^<>\uff1c\uff1e\ufe64\ufe65=\"'/\n]*+{_SHUT})",
    re.IGNORECASE,
)
_TAG_END = late(rf"\u2039([^\u2039\u203a<>\uff1c\uff1e\ufe64\ufe65\n]{{0,200}}){_SHUT}")
_MARK = late(r"(threadline)\s{0,9}[:\uff1a\ufe55\u2236\ua789]\s{0,9}(memory)", re.IGNORECASE)
_FENCE = late(r"(?<!=)={2,}+\s{0,9}((?:end\s{1,9}of\s{1,9})?recorded\s{1,9}data)", re.IGNORECASE)
_TURN = late(
    r"[\[\uff3b\u3010](\s{0,3}/?\s{0,3}(?:INST|inst|SYS|SYSTEM(?:[ _][A-Z]{1,20}){0,3}|USER|HUMAN|ASSISTANT|DEVELOPER"
    r"|AVAILABLE_TOOLS|TOOL_(?:CALLS?|RESULTS?))\s{0,3})[\]\uff3d\u3011]"
)
_SPEAKER = late(
    rf"^([ #*_>~=+\-\[\](){{}}|\u2022\u00b7\"'`]{{0,20}})"
    rf"({_ROLE}(?: {{1,3}}(?:prompt|message|note|notice|override|instructions?|command))?)"
    r"(?= {0,3}[*_\])]{0,3} {0,3}[:\uff1a\ufe55])",
    re.IGNORECASE | re.MULTILINE,
)
_DEFINITION = late(
    r"^( {0,8}\[[^\]\n]{1,200}\]):(?=\s{0,3}(?:[<\uff1c/#]|www\.|[a-z][\w+.-]{0,30}:\S))",
    re.IGNORECASE | re.MULTILINE,
)
_IMAGE = late(r"(?<![\w!])!\[")
_BACKTICKS = late("`{3,}")
_TILDES = late("~{3,}")
_IMPORT = late(r"(?<![\w@.])@(?=[~./\\]|[a-z]:[\\/]|[^\s@]{0,200}\.\.[\\/])", re.IGNORECASE)
_REFERENCE = late(r"(?<![\w#])#(?=(?:file|folder|sym|symbol):)", re.IGNORECASE)
_STEPS: tuple[tuple[frozenset[str], Late, str], ...] = (
    (frozenset(":\uff1a\ufe55\u2236\ua789"), _MARK, r"\1 \2"),
    (frozenset("="), _FENCE, r"\1"),
    (frozenset("<&\uff1c\ufe64"), _TAG, _LEFT),
    (frozenset(">\uff1e\ufe65"), _TAG_END, rf"{_LEFT}\1{_RIGHT}"),
    (frozenset("[\uff3b\u3010"), _TURN, rf"{_LEFT}\1{_RIGHT}"),
    (frozenset("["), _IMAGE, "! ["),
    (frozenset("`"), _BACKTICKS, "'''"),
    (frozenset("~"), _TILDES, "~~"),
    (frozenset("@"), _IMPORT, "@ "),
    (frozenset("#"), _REFERENCE, "# "),
    (frozenset("["), _DEFINITION, r"\1 :"),
    (frozenset(":\uff1a\ufe55"), _SPEAKER, r'\1"\2"'),
)
"""Letters without which a pattern is not tried, the pattern, and what is put in its place."""
_SIGNS = frozenset().union(*(signs for signs, _, _ in _STEPS))
_FOREIGN = "АВЕЅІЈКМНОРСТУХаеѕіјорсухһԁӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαοιυν〈〉⟨⟩❬❭❰❱⟦⟧【】∶꞉ǀ∣│"  # noqa: RUF001
_OURS = "ABESIJKMHOPCTYXaesijopcyxhdlABEZHIKMNOPTYXaoiuv<><><><>[][]::|||"
_LOOKALIKES = dict(zip(_FOREIGN, _OURS, strict=True))
_LOOKALIKE = late(f"[{_FOREIGN}]")


def disarm(text: str) -> str:
    """Return a text in which nothing looks like structure, also in other alphabets."""
    plain = _harden(text)
    folded = text if text.isascii() else _fold(text)
    if folded == text:
        return plain
    hardened = _harden(folded)
    return plain if hardened == _fold(plain) else hardened


def _harden(text: str) -> str:
    text = text.replace("](", "] (")
    found = _SIGNS.intersection(text)
    if not found:
        return text
    for signs, pattern, instead in _STEPS:
        if not signs.isdisjoint(found):
            text = pattern.sub(instead, text)
    return text


def _fold(text: str) -> str:
    known = unicodedata.normalize("NFKC", text)
    return _LOOKALIKE.sub(lambda found: _LOOKALIKES[found[0]], known)


QUOTE = "|"
_TITLE, _NAME, _PATH, _FILES, _ID = 300, 80, 160, 5, 64
_SPARE = 4
"""How much more is looked at than is shown: what is hidden takes room until it is gone."""
_HARMLESS = late(r"[A-Za-z0-9 ,./_'()+*;-]*\Z")
"""Letters of which no structure can be made: most lines have no others, and need no closer look."""
_HEADING = late(r"(?:#{1,6} +)+")
_NOT_ID = late(r"[^A-Za-z0-9_-]")


def line(text: str, most: int) -> str:
    """Return a text on one line, cut to a length."""
    words = " ".join(text[: _SPARE * most].split())
    if _HARMLESS.match(words):
        return clip(words, most)
    return _single(flatten(text[: _SPARE * most]), most)


def said(title: str, more: str, most: int) -> tuple[str, ...]:
    """Return a title and its text: on one line, or below each other where the text has several."""
    short = line(title, _TITLE)
    visible = clean(more[: _SPARE * most])
    if short and "\n" in visible:
        return (short, *_marked(visible, most))
    rest = _single(flatten(visible), most)
    return (f"{short} - {rest}" if short and rest and rest != short else rest or short,)


def lines(text: str, most: int, *, is_clipped: bool = False) -> tuple[str, ...]:
    """Return a text on lines that begin with our sign, cut to a length."""
    shown = _marked(clean(text[: _SPARE * most]), most)
    return (*shown, f"{QUOTE} …") if is_clipped and shown and not shown[-1].endswith("…") else shown


def name(text: str) -> str:
    """Return a name that is safe between our brackets."""
    return line(text.replace("(", "[").replace(")", "]"), _NAME)


def identifier(text: str) -> str:
    """Return an id as letters and digits that can be passed back."""
    return f"`{_NOT_ID.sub('', text[:_ID])}`"


def paths(names: Iterable[str]) -> str:
    """Return the first few paths, with hidden characters escaped."""
    return ", ".join(line(shown(path), _PATH) for path in islice(names, _FILES))


def moment(at: datetime) -> str:
    """Return a time to the minute, in UTC."""
    return f"{_universal(at).isoformat(' ', 'minutes')[:16]} UTC"


def day(at: datetime) -> str:
    """Return the day of a time, in UTC."""
    return _universal(at).isoformat()[:10]


def _single(visible: str, most: int) -> str:
    return _paired(clip(disarm(_without_heading(visible)), most))


def _marked(visible: str, most: int) -> tuple[str, ...]:
    shown = clip(disarm(visible), most).split("\n") if visible else ()
    return tuple(f"{QUOTE} {one}".rstrip() for one in shown)


def _universal(at: datetime) -> datetime:
    return at if at.tzinfo is UTC else at.astimezone(UTC)


def _without_heading(text: str) -> str:
    heading = _HEADING.match(text) if text.startswith("#") else None
    return text[heading.end() :] if heading else text


def _paired(text: str) -> str:
    if text.count("`") % 2 == 0:
        return text
    before, _, after = text.rpartition("`")
    return f"{before}'{after}"
