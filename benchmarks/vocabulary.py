"""Invented words, each as frequent as words are in real texts."""

import random

SIZE = 8_000
_SYLLABLES = tuple(a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "ar", "el"))


def text(chance: random.Random, count: int) -> str:
    """Invent words, each as frequent as in real texts: the n-th has about 1/n of the first's share."""
    ranks = (min(int(SIZE ** chance.random()), SIZE - 1) for _ in range(count))
    return " ".join(map(word, ranks))


def sentences(chance: random.Random, count: int) -> str:
    """Invent sentences of six to eighteen words."""
    lengths = (chance.randrange(6, 19) for _ in range(count))
    return " ".join(f"{text(chance, length).capitalize()}." for length in lengths)


def word(rank: int) -> str:
    """Give the word with this rank."""
    size = len(_SYLLABLES)
    first, second = divmod(rank * 7919 % size**2, size)
    return _SYLLABLES[first] + _SYLLABLES[second] + _SYLLABLES[rank % size]
