"""Chance: whether letters follow each other as nobody would write them."""

import math
from collections import Counter

from sidecar.domain.enrichment.patterns import late

_SYLLABLE = late(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_SHORTEST = 10
_LETTERS_PER_SYLLABLE = 3


def bits(text: str) -> float:
    """Tell how many bits each letter of a text holds, by how often each stands in it."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values()) if size else 0.0


def is_scrambled(text: str) -> bool:
    """Tell whether large letters, small ones and digits change as often as they do in no name."""
    syllables = len(_SYLLABLE.findall(text))
    return len(text) >= _SHORTEST and syllables * _LETTERS_PER_SYLLABLE > len(text)
