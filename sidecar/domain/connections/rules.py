"""Rules files: what an agent reads that can be told nothing; ours for as long as nobody else changes them."""

import hashlib
import re

from sidecar.domain.connections.contents import SIGN

LIMIT = 6_000
"""Characters of a whole file; more of it may not be read."""
PLACES = {"windsurf": ".windsurf/rules/threadline.md"}
"""Where in a project each such agent looks."""
_EMPTY = "Nothing is known yet. What should be known here is written when a conversation begins."
_LENGTH = 16
_NONE = "0" * _LENGTH
_SUM = re.compile(rf"(?<= sum )[0-9a-f]{{{_LENGTH}}}(?= -->)")
_FORM = f"""\
---
trigger: always_on
---

<!-- {SIGN} and renewed by conversations as they begin, unless it was edited; sum {_NONE} -->

%s
"""
ROOM = LIMIT - len(_FORM)
"""Characters that are left for what is told."""


def write(text: str = "") -> str:
    """Write a rules file that tells a text; one without a text says that there is none."""
    plain = _FORM % (text.strip("\n") or _EMPTY)
    return _SUM.sub(_add_up(plain), plain, count=1)


def is_intact(text: str) -> bool:
    """Tell whether a file is one of ours and says what we have written; how its lines end does not matter."""
    found = _SUM.search(text)
    if SIGN not in text or found is None:
        return False
    return found[0] == _add_up(text[: found.start()] + _NONE + text[found.end() :])


def _add_up(text: str) -> str:
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n")
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]
