"""Words of texts, code and paths: the terms by which memories are found again.

A name is found by itself and by its parts, however it is written: `getUserName`, `get_user_name` and
`get-user-name` share the term `getusername` and the terms of their three words. A path is found by each of its
segments, by its file's name and by that name's words; an extension says little and weighs little.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator

from msgspec import Struct

from sidecar.domain.enrichment.patterns import late
from sidecar.domain.recall import hashes, stems

Terms = dict[str, float]
"""How often each term occurs; a weak one counts as a part of one."""

EDITION = 1
"""Goes up when the same text gives other terms: what was derived from them is then made anew."""

WEAK = 0.2
"""The weight of an extension: it tells the language of a file, not the file."""
_LONGEST = 64
"""Letters of a term; what is longer is no word that anybody would search for."""
_SHORTEST_STEMMED = 4
_BEGINNING = 3
"""Letters of a word that its stem has, too, unless it is shorter."""
_SHORT = 6
"""Letters of a word whose stem may be an e longer than what they share: using, use."""
_CHUNK = re.compile(r"\w+(?:[./\\:@+-]+\w+)*")
_ASKS = late(r"\s*(?:how|what|why|which|who|whose|whom)\b", re.IGNORECASE)
_EXACT = late(r"[a-z][A-Z]|\w_\w|\w/\w|\w\.\w|\w::\w|\w\(\)|#\d|`\w|\b__\w")
_LETTERS = re.compile(r"[a-z]+")
_CUT = re.compile(r"[/\\:@+]+")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+[a-z0-9]*", re.IGNORECASE)
_PART = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+|[^\W\d_A-Za-z]+(?:[a-z]+)?", re.UNICODE)
_EXTENSION = re.compile(
    r"\.(?:py[ix]?|[cm]?[jt]sx?|rs|go|java|kt|rb|php|cs|cpp|cc|c|hpp|h|swift|scala|sh|lua|sql|md|rst|txt|html?|s?css"
    r"|less|vue|svelte|json[cl]?|ya?ml|toml|cfg|ini|lock|xml|svg|png|jpe?g|gif|proto|graphql|tf|ipynb|env|log|csv)$",
    re.IGNORECASE,
)
_STOP = frozenset(
    re.findall(
        "[a-z]+",
        """
        a about after all also am an and any are as at be been before being but by can could did do does for from
        had has have he her his how i if in into is it its just may me might more most must my no not of off on or our
        out over shall she should so some such than that the their them then there these they this those to too up us
        was we were what when where which while who whom why will with would you your
        """,
    )
)
_PROBE = (
    "running caches parsers generously conditional happiness flies skis news exceed "
    "communication organization traditional sensibility arguing relativity"
)
"""Words that stemmers disagree about."""


def count(text: str) -> Terms:
    """Count the terms of a text."""
    found: Terms = {}
    for chunk in _CHUNK.findall(unaccent(text)):
        for term, weight in _of_chunk(chunk):
            found[term] = found.get(term, 0.0) + weight
    return found


class Sketch(Struct, frozen=True):
    """What can be told of a text's terms without stemming."""

    plain: frozenset[str]
    """How its plain words begin, each of which has one term; that of a short word may share but two letters with it."""
    begun: frozenset[str]
    """How any of its terms may begin."""
    most: int
    """How many terms it has at most."""


def sketch(text: str) -> Sketch:
    """Tell of a text's terms what needs no stemming: where another has a term of its plain words, it begins alike."""
    plain: set[str] = set()
    begun: set[str] = set()
    most = 0
    for chunk in dict.fromkeys(_CHUNK.findall(unaccent(text))):
        found = [part.lower() for part in (*_PART.findall(chunk), chunk)]
        for part in found:
            begins = part[:_BEGINNING].replace("y", "i")
            begun.update((begins[:1], begins[:2], begins))
        if not _is_word(chunk):
            most += 2 * len(chunk)
        elif found[-1] not in _STOP:
            most += 1
            plain.add(found[-1][: _BEGINNING - (len(chunk) <= _SHORT)].replace("y", "i"))
    return Sketch(frozenset(plain), frozenset(begun), most)


def count_paths(paths: Iterable[str]) -> Terms:
    """Count the terms of paths, each term once per path."""
    found: Terms = {}
    for path in paths:
        for term, weight in _once_of_path(path):
            found[term] = found.get(term, 0.0) + weight
    return found


def stem_of(path: str) -> str:
    """Tell what a file is about, so that a module and its tests agree: `tests/test_cmp.py` gives `cmp`."""
    name = _EXTENSION.sub("", path.rpartition("/")[2].lower())
    for sign in ("test_", "test-"):
        name = name.removeprefix(sign)
    for sign in ("_test", "-test", ".test", ".spec", "_spec", "tests", ".d"):
        name = name.removesuffix(sign)
    return name.strip("_.-") or name


@functools.cache
def stemming() -> int:
    """Give a number that is another one when the stemmer is."""
    return hashes.of(" ".join(map(_stem, _PROBE.split())))


def wordiness(text: str) -> float:
    """Tell what share of a text's words are small words: none in keywords, about half in a question."""
    found = _LETTERS.findall(text.lower())
    return sum(word in _STOP for word in found) / len(found) if found else 0.0


def is_question(text: str) -> bool:
    """Tell whether a text has the form of a question; no subject of a commit begins like one."""
    return text.rstrip().endswith("?") or _ASKS.match(text) is not None


def names_code(text: str) -> bool:
    """Tell whether a text names something by its exact name: an identifier, a file, a version, an issue."""
    return _EXACT.search(text) is not None


def unaccent(text: str) -> str:
    """Write a text without accents and with one form of each letter."""
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFKD", text)
    bare = "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")
    return unicodedata.normalize("NFC", bare)


def _is_word(chunk: str) -> bool:
    """Tell whether a chunk is a plain word: it has one term."""
    return chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.istitle())


@functools.lru_cache(maxsize=65_536)
def _of_chunk(chunk: str) -> tuple[tuple[str, float], ...]:
    if _VERSION.fullmatch(chunk):
        return tuple(_of_version(chunk))
    if "/" in chunk or "\\" in chunk or _EXTENSION.search(chunk):
        return tuple(_of_path(chunk))
    segments = [segment for segment in _CUT.split(chunk) if segment]
    return tuple(pair for segment in segments for pair in _of_name(segment))


@functools.lru_cache(maxsize=16_384)
def _once_of_path(path: str) -> tuple[tuple[str, float], ...]:
    return tuple(dict(_of_path(unaccent(path))).items())


def _of_path(path: str) -> Iterator[tuple[str, float]]:
    *folders, name = [segment for segment in _CUT.split(path) if segment] or [""]
    for folder in folders:
        yield from _of_name(folder)
    extension = _EXTENSION.search(name)
    if extension is None:
        yield from _of_name(name)
        return
    yield name.lower()[:_LONGEST], 1.0
    yield extension[0].lower(), WEAK
    yield from _of_name(name[: extension.start()])


def _of_name(name: str) -> Iterator[tuple[str, float]]:
    """Give a name's terms: its parts, and the whole where it has several."""
    if _VERSION.fullmatch(name):
        yield from _of_version(name)
        return
    parts = _PART.findall(name)
    for part in parts:
        for word in (not part.isascii() and _ideographs().findall(part)) or (part,):
            yield from _of_word(word)
    if len(parts) > 1:
        yield "".join(parts).lower()[:_LONGEST], 1.0


def _of_word(word: str) -> Iterator[tuple[str, float]]:
    if not word.isascii() and _ideographs().match(word):
        pairs = [word[at : at + 2] for at in range(len(word) - 1)] or [word]
        yield from ((pair, 1.0) for pair in pairs)
    elif word.lower() not in _STOP:
        yield _stem(word.lower()[:_LONGEST]), 1.0


def _of_version(version: str) -> Iterator[tuple[str, float]]:
    """Give a version and the release line it belongs to."""
    numbers = version.lower().removeprefix("v").split(".")
    yield ".".join(numbers), 1.0
    if len(numbers) > 2:  # noqa: PLR2004  # a release line is major and minor
        yield ".".join(numbers[:2]), 1.0


@functools.lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    if len(word) < _SHORTEST_STEMMED or not word.isascii() or not word.isalpha():
        return word
    return stems.stem(word)


@functools.cache
def _ideographs() -> "re.Pattern[str]":
    """Compile what few texts need: so large a set of letters takes a while."""
    return re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
