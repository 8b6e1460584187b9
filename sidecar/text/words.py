"""The terms of a statement, by which it is compared with others: stems, names in all spellings, parts of paths."""

import functools
import re
import unicodedata
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from sidecar.text.common_words import FUNCTION_WORDS
from sidecar.text.hashing import blake2b

_SIZE = 8


def of_all(value: object) -> int:
    """Return the number of a record with everything in it."""
    return _number(msgspec.msgpack.encode(value))


def _number(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=_SIZE).digest(), "little")


_VOWELS = frozenset("aeiouy")
"""A y that begins a word or follows a vowel is a consonant, and is written as Y while a word is taken apart."""
_VOWEL = re.compile("[aeiouy]")
_REGION = re.compile("[^aeiouy]*[aeiouy]+[^aeiouy]")
"""Up to the first consonant that follows a vowel; after it a suffix may go, some only after the second such."""
_BEGINNINGS = re.compile("arsen|commun|emerg|gener|inter|later|organ|past|univers")
"""What is not taken apart, whatever the vowels in it."""
_ODD = {
    **{word: word for word in ("andes", "atlas", "bias", "cosmos", "howe", "news", "sky")},
    "early": "earli",
    "gently": "gentl",
    "idly": "idl",
    "only": "onli",
    "singly": "singl",
    "skies": "sky",
    "skis": "ski",
    "ugly": "ugli",
}
_SHORTEST = 3
_UNSHORT = frozenset("aeiouywxY")
"""Letters that do not close a short syllable."""
_PRECEDE_LI = frozenset("cdeghkmnrt")
_KEPT_EED = frozenset(("succ", "proc", "exc"))
_KEPT_ING = frozenset(("even", "cann", "inn", "earr", "herr", "out"))
_DOUBLES = frozenset(("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"))
Suffixes = dict[str, tuple[tuple[str, str], ...]]
"""Suffixes and what takes their place, the longest first, by their last two letters."""


def _by_end(suffixes: dict[str, str]) -> Suffixes:
    longest = sorted(suffixes.items(), key=lambda pair: -len(pair[0]))
    ends = {suffix[-2:] for suffix in suffixes}
    return {end: tuple(pair for pair in longest if pair[0].endswith(end)) for end in ends}


_SECOND = _by_end(
    {
        "tional": "tion",
        "enci": "ence",
        "anci": "ance",
        "abli": "able",
        "entli": "ent",
        **dict.fromkeys(("izer", "ization"), "ize"),
        **dict.fromkeys(("ational", "ation", "ator"), "ate"),
        **dict.fromkeys(("alism", "aliti", "alli"), "al"),
        **dict.fromkeys(("fulness", "fulli"), "ful"),
        **dict.fromkeys(("ousli", "ousness"), "ous"),
        **dict.fromkeys(("iveness", "iviti"), "ive"),
        **dict.fromkeys(("biliti", "bli"), "ble"),
        **dict.fromkeys(("ogi", "ogist"), "og"),
        "lessli": "less",
        "li": "",
    }
)
_THIRD = _by_end(
    {
        "tional": "tion",
        "ational": "ate",
        "alize": "al",
        **dict.fromkeys(("icate", "iciti", "ical"), "ic"),
        **dict.fromkeys(("ful", "ness", "ative"), ""),
    }
)
_FOURTH = _by_end(
    dict.fromkeys(
        (
            *(
                "al",
                "ance",
                "ence",
                "er",
                "ic",
                "able",
                "ible",
                "ant",
                "ement",
                "ment",
                "ent",
                "ism",
            ),
            *("ate", "iti", "ous", "ive", "ize", "ion"),
        ),
        "",
    )
)


def stem(word: str) -> str:
    """Return the stem of a word of small letters."""
    if (odd := _ODD.get(word)) is not None:
        return odd
    if len(word) < _SHORTEST:
        return word
    marked = _mark(word) if "y" in word else word
    first, second = _regions(marked)
    found = _without_plural(marked)
    found = _without_tense(found, first)
    found = _with_i(found)
    found = _second(found, first)
    found = _third(found, first, second)
    found = _fourth(found, second)
    found = _fifth(found, first, second)
    return found.replace("Y", "y") if marked is not word else found


def _mark(word: str) -> str:
    letters = list(word)
    previous = "a"
    for place, letter in enumerate(letters):
        if letter == "y" and previous in _VOWELS:
            letters[place] = "Y"
        previous = letters[place]
    return "".join(letters)


def _regions(word: str) -> tuple[int, int]:
    """Tell from where on the two kinds of suffixes may go."""
    begun = _BEGINNINGS.match(word) or _REGION.match(word)
    if begun is None:
        return len(word), len(word)
    again = _REGION.match(word, begun.end())
    return begun.end(), len(word) if again is None else again.end()


def _without_plural(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]  # noqa: PLR2004  # ties, tie; flies, fli
    is_plural = word.endswith("s") and not word.endswith(("us", "ss"))
    return word[:-1] if is_plural and _VOWEL.search(word, 0, len(word) - 2) else word


def _without_tense(word: str, first: int) -> str:
    for suffix in ("eedly", "eed"):
        if word.endswith(suffix):
            before = word.removesuffix(suffix)
            return before + "ee" if first <= len(before) and before not in _KEPT_EED else word
    for suffix in ("ingly", "edly", "ing", "ed"):
        if word.endswith(suffix):
            return _shortened(word, word.removesuffix(suffix), first)
    return word


def _shortened(word: str, before: str, first: int) -> str:
    """Return what is left before -ed or -ing as it was without it: hop of hopping, hope of hoping."""
    if word.endswith("ing"):
        if before in _KEPT_ING:
            return word
        if len(before) == 2 and before[1] == "y" and before[0] not in _VOWELS:  # noqa: PLR2004  # dying, die
            return before[0] + "ie"
    if _VOWEL.search(before) is None:
        return word
    if before.endswith(("at", "bl", "iz")):
        return before + "e"
    if before[-2:] in _DOUBLES:
        return before if len(before) == 3 and before[0] in "aeo" else before[:-1]  # noqa: PLR2004  # add, egg, off
    return before + "e" if len(before) == first and _is_short(before) else before


def _is_short(word: str) -> bool:
    if len(word) < _SHORTEST:
        return len(word) == 2 and word[0] in _VOWELS and word[1] not in _VOWELS  # noqa: PLR2004  # at, in
    closes = word[-1] not in _UNSHORT and word[-2] in _VOWELS and word[-3] not in _VOWELS
    return closes or word.endswith("past")


def _with_i(word: str) -> str:
    if word[-1] in "yY" and len(word) >= _SHORTEST and word[-2] not in _VOWELS:
        return word[:-1] + "i"
    return word


def _second(word: str, first: int) -> str:
    suffix, instead = _suffix(word, _SECOND)
    before = word.removesuffix(suffix)
    if len(before) < first or (suffix == "li" and before[-1:] not in _PRECEDE_LI):
        return word
    return word if suffix == "ogi" and not before.endswith("l") else before + instead


def _third(word: str, first: int, second: int) -> str:
    suffix, instead = _suffix(word, _THIRD)
    before = word.removesuffix(suffix)
    return before + instead if len(before) >= (second if suffix == "ative" else first) else word


def _fourth(word: str, second: int) -> str:
    suffix, _ = _suffix(word, _FOURTH)
    before = word.removesuffix(suffix)
    if len(before) < second or (suffix == "ion" and not before.endswith(("s", "t"))):
        return word
    return before


def _fifth(word: str, first: int, second: int) -> str:
    before = word[:-1]
    if word.endswith("e"):
        goes = len(before) >= second or (len(before) >= first and not _is_short(before))
        return before if goes else word
    return before if word.endswith("ll") and len(before) >= second else word


def _suffix(word: str, suffixes: Suffixes) -> tuple[str, str]:
    """Find the longest of some suffixes, and what takes its place; an empty one where there is none."""
    for pair in suffixes.get(word[-2:], ()):
        if word.endswith(pair[0]):
            return pair
    return "", ""


Terms = dict[str, float]
"""How often each term occurs; a weak one counts as a part of one."""

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
_CUT = re.compile(r"[/\\:@+]+")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+[a-z0-9]*", re.IGNORECASE)
_PART = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+|[^\W\d_A-Za-z]+(?:[a-z]+)?", re.UNICODE)
_EXTENSION = re.compile(
    r"\.(?:py[ix]?|[cm]?[jt]sx?|rs|go|java|kt|rb|php|cs|cpp|cc|c|hpp|h|swift|scala|sh|lua|sql|md|rst|txt|html?|s?css"
    r"|less|vue|svelte|json[cl]?|ya?ml|toml|cfg|ini|lock|xml|svg|png|jpe?g|gif|proto|graphql|tf|ipynb|env|log|csv)$",
    re.IGNORECASE,
)


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
        elif found[-1] not in FUNCTION_WORDS:
            most += 1
            plain.add(found[-1][: _BEGINNING - (len(chunk) <= _SHORT)].replace("y", "i"))
    return Sketch(frozenset(plain), frozenset(begun), most)


def unaccent(text: str) -> str:
    """Write a text without accents and with one form of each letter."""
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFKD", text)
    bare = "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")
    return unicodedata.normalize("NFC", bare)


def _is_word(chunk: str) -> bool:
    return chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.istitle())


@functools.lru_cache(maxsize=65_536)
def _of_chunk(chunk: str) -> tuple[tuple[str, float], ...]:
    if _VERSION.fullmatch(chunk):
        return tuple(_of_version(chunk))
    if "/" in chunk or "\\" in chunk or _EXTENSION.search(chunk):
        return tuple(_of_path(chunk))
    segments = [segment for segment in _CUT.split(chunk) if segment]
    return tuple(pair for segment in segments for pair in _of_name(segment))


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
    """Return a name's terms: its parts, and the whole where it has several."""
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
    elif word.lower() not in FUNCTION_WORDS:
        yield _stem(word.lower()[:_LONGEST]), 1.0


def _of_version(version: str) -> Iterator[tuple[str, float]]:
    numbers = version.lower().removeprefix("v").split(".")
    yield ".".join(numbers), 1.0
    if len(numbers) > 2:  # noqa: PLR2004  # a release line is major and minor
        yield ".".join(numbers[:2]), 1.0


@functools.lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    if len(word) < _SHORTEST_STEMMED or not word.isascii() or not word.isalpha():
        return word
    return stem(word)


@functools.cache
def _ideographs() -> "re.Pattern[str]":
    """Compile what few texts need: so large a set of letters takes a while."""
    return re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
