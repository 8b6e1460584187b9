"""Tokens that providers issue in a recognizable format."""

import itertools
import math
import re
from collections import Counter
from functools import cache

from sidecar.privacy.secret_formats import LIKELY, ODD, ODD_PARTS, SURE
from sidecar.text.patterns import late

_SYLLABLE = late(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SHORTEST = 10
_LETTERS_PER_SYLLABLE = 3


def bits(text: str) -> float:
    """Return the entropy of a text in bits per character."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values()) if size else 0.0


def is_scrambled(text: str) -> bool:
    """Return whether upper case, lower case and digits alternate more often than in any name."""
    syllables = len(_SYLLABLE.findall(text))
    return len(text) >= _SHORTEST and syllables * _LETTERS_PER_SYLLABLE > len(text)


_LITERAL = re.compile(r"[A-Za-z0-9](?![{?*+])")
_JWT = late(
    r"(?:(?<![A-Za-z0-9_-])|(?<=\n-))ey[JK][A-Za-z0-9_-]{10,}+\.(?:eyJ)?[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]{0,}+){1,3}"
)


def _grouped(patterns: tuple[str, ...]) -> str:
    plain = sorted(pattern for pattern in patterns if _LITERAL.match(pattern))
    groups = [
        f"{letter}(?:{'|'.join(pattern[1:] for pattern in group)})"
        for letter, group in itertools.groupby(plain, key=lambda pattern: pattern[0])
    ]
    return "|".join(groups + [pattern for pattern in patterns if not _LITERAL.match(pattern)])


_RUN = re.compile(r"[\w.:/~%+=-]{20}")
"""Every token contains such a run."""
_BEGINNING = re.compile(r"\b(?<!\w[-.])(?=[A-Za-z0-9][\w.-]{19})")
"""Where a token may begin that looks like a word."""
_AZURE = late(r"(?<![A-Za-z0-9_~.])[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9])")
_PIECE = 12
"""Characters that the longest piece of a token has at least."""
_RANDOM = 3.0
"""Bits per character from which a token looks random."""


def without(text: str, mark: str) -> str:
    """Return a text with a mark in place of every token of a known format."""
    if _RUN.search(text) is None:
        return text
    if "eyJ" in text or "eyK" in text:
        text = _JWT.sub(mark, text)
    if "Q~" in text:
        text = _AZURE.sub(mark, text)
    if any(letters in text for letters in ODD_PARTS):
        text = _signed().sub(mark, text)
    if _BEGINNING.search(text) is None:
        return text
    return _wordlike().sub(lambda found: found[0] if _is_a_name(found) else mark, text)


# Compiling these takes longer than a short-lived process should wait for nothing.
@cache
def _wordlike() -> "re.Pattern[str]":
    forms = f"{_grouped(SURE)}|(?P<likely>{_grouped(LIKELY)})"
    return re.compile(rf"{_BEGINNING.pattern}(?:{forms})")


@cache
def _signed() -> "re.Pattern[str]":
    return re.compile(rf"\b(?:{_grouped(ODD)})")


def _is_a_name(found: "re.Match[str]") -> bool:
    likely: str | None = found["likely"]
    if likely is None:
        return False
    longest = max(re.split(r"[-_.]", likely), key=len)
    is_odd = any(map(str.isdigit, likely)) or is_scrambled(longest)
    return not is_odd or len(longest) < _PIECE or bits(likely[:80]) < _RANDOM
