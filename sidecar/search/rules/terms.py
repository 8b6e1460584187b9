"""Search terms, and full-text queries that no user text can break. Standard library only, for hooks.

FTS5's `unicode61` tokenizer splits `snake_case` and paths, but neither `camelCase` nor Chinese, Japanese and Korean.
What it cannot split is indexed a second time: identifiers by their parts, CJK runs by pairs of characters.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

from sidecar.text.common_words import FUNCTION_WORDS

MOST_TERMS = 64
"""Terms of one query; a pasted log has thousands, and each costs a lookup."""
_MOST_EXTRA = 2_000
"""Extra terms of one text."""
_LONGEST = 64
_WORD = re.compile(r"[^\W_]+")
_MIXED = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")


def beyond_words(text: str) -> str:
    """Return the terms by which a text is found beyond its words: parts of identifiers, pairs of CJK characters."""
    found: dict[str, None] = {}
    for word in _WORD.findall(text):
        # Most words are plain: nothing in them is split, which is told in a fraction of the time.
        for part in () if word.islower() and word.isascii() else _parts(word):
            found[part] = None
            if len(found) >= _MOST_EXTRA:
                return " ".join(found)
    return " ".join(found)


def of_query(text: str, most: int = MOST_TERMS) -> list[str]:
    """Return the distinct terms of a question, function words only if there is nothing else."""
    found: dict[str, None] = {}
    for word in _WORD.findall(text):
        if len(word) <= _LONGEST and not _CJK.fullmatch(word):
            found[word.lower()] = None
        for part in _parts(word):
            found[part] = None
    telling = [term for term in found if term not in FUNCTION_WORDS]
    return (telling or list(found))[:most]


def words(text: str) -> list[str]:
    """Return the words of a text as the index has them, in their order."""
    return _WORD.findall(text)


def match(terms: Iterable[str]) -> str:
    """Return an FTS5 expression that finds any of the terms; quoted, so that none is read as syntax."""
    return " OR ".join(f'"{term}"' for term in terms)


def _parts(word: str) -> Iterator[str]:
    for run in _CJK.findall(word):
        if len(run) == 1:
            yield run
        for first, second in itertools.pairwise(run):
            yield first + second
    if _MIXED.search(word):
        for part in _PART.findall(word):
            if len(part) > 1:
                yield part.lower()
