"""Names in texts: identifiers, tools and tickets."""

import re

from sidecar.domain.enrichment.patterns import late

_MOST = 12
_LONGEST = 80
_CODE = late(r"`([^`\s][^`]{0,80})`")
_NAME = late(
    r"(?<![\w/@.-])(?:"
    r"--?[a-z][\w-]{2,40}"
    r"|[A-Z][A-Z0-9]{1,9}-\d{1,7}|CVE-\d{4}-\d{3,7}"
    r"|[A-Z][A-Z0-9]*_[A-Z0-9_]{1,60}"
    r"|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+(?:\.\w{1,60})*(?:\(\))?"
    r"|_{0,2}[a-zA-Z][a-z0-9A-Z]*_\w{1,60}(?:\.\w{1,60})*(?:\(\))?"
    r"|[a-zA-Z_]\w{0,60}(?:\.[a-zA-Z_]\w{1,60}){1,5}(?:\(\))?"
    r"|[a-zA-Z_]\w{1,60}\(\)"
    r"|[a-zA-Z_][\w-]{0,40}(?:/[\w.-]{1,60}){1,8}"
    r"|/[a-z][\w-]{1,40}(?:/[\w{}.-]{1,40}){0,6}"
    r")(?![\w/-])"
)
_TICKET = late(r"(?<![\w&/])#\d{1,7}\b")
_NOT = late(r"(?:e\.g|i\.e|and/or|etc\.|w/o|n/a|https?)", re.IGNORECASE)
_VALUE = late(r"(?<![\w.])(?:port\s)?\d{2,}|\d+\.\d+", re.IGNORECASE)


def found(text: str) -> tuple[str, ...]:
    """List the names that a text speaks of, in their order, each once."""
    marked = [(mark.start(), mark[1]) for mark in _CODE.finditer(text)]
    plain = [(mark.start(), mark[0]) for mark in _NAME.finditer(text)]
    tickets = [(mark.start(), mark[0]) for mark in _TICKET.finditer(text)]
    ordered = [name.strip() for _, name in sorted(marked + plain + tickets)]
    kept = [name for name in ordered if 0 < len(name) <= _LONGEST and not _NOT.match(name)]
    return tuple(dict.fromkeys(kept))[:_MOST]


def has_code(text: str) -> bool:
    """Tell whether a text names something of a program, or a figure of it."""
    without = _TICKET.sub("", text)
    return bool(_CODE.search(without) or _NAME.search(without) or _VALUE.search(without))
