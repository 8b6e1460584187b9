"""Naming: a title for what an agent wrote without giving it one."""

import re

from sidecar.domain.enrichment import wording

_MARKS = re.compile(r"^[\s#>*+_`~|=-]*(?:\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s*)?[*_`]*")
_BARE = re.compile(
    r"(?:(?:session|conversation|work|final|short|brief|context|checkpoint)\s+)*"
    r"(?:summary|overview|recap|report|status|digest|notes?|checkpoint|tl;?dr"
    r"|what (?:was|has been|we|i) (?:done|did|accomplished|achieved)"
    r"|accomplished|accomplishments|done|completed|progress|results?|highlights?|changes)"
    r"\s*(?:of (?:the|this) (?:session|conversation|work))?\s*[:.*_-]*",
    re.IGNORECASE,
)
"""A heading that says nothing by itself, or the label before what is said."""
_LABEL = re.compile(rf"{_BARE.pattern}(?<=:)[*_]*\s+(?=\S)", re.IGNORECASE)
_END = re.compile(r"(?<=[.!?])[*_`]*\s|(?<=[\u3002\uff01\uff1f])")
_NAMELESS = "What happened in this conversation"


def headline(text: str) -> str:
    """Give the first sentence that says something, as a title."""
    lines = (_MARKS.sub("", line).strip() for line in text.splitlines())
    telling = (line for line in lines if line and not _BARE.fullmatch(line))
    first = next(telling, None)
    if first is None:
        return _NAMELESS
    sentence = _END.split(_LABEL.sub("", first, count=1), maxsplit=1)[0]
    return wording.title(sentence.strip(" *_`") or first)
