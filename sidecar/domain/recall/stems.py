"""Stems: what the forms of an English word have in common, so that `caching` finds `caches`.

This is the English stemmer of Snowball 3.1 for words of small letters, letter for letter; a test holds the two
together. The generated one takes six times as long for each word, and loads the stemmers of thirty languages.
"""

import re

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
    """Give the stem of a word of small letters."""
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
    """Tell the consonants y from the vowels."""
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
    """Give what is left before -ed or -ing as it was without it: hop of hopping, hope of hoping."""
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
    """Tell whether a word ends in a short syllable."""
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
