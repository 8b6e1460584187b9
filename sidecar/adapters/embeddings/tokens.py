"""WordPiece as BERT's uncased models were trained with: texts become numbers of a vocabulary."""

import functools
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

LONGEST = 256
"""Tokens that the model reads of a text, with the two that frame it."""
_LONGEST_WORD = 100
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_ASCII_SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_CHARACTERS_PER_TOKEN = 32
"""A text is cut at so many characters per token before it is looked at, however long it is."""

Vocabulary = Mapping[str, int]


def read_vocabulary(path: Path) -> Vocabulary:
    """Read a vocabulary, one token a line, numbered from zero."""
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return {token: number for number, token in enumerate(lines)}


def encode(text: str, vocabulary: Vocabulary, longest: int = LONGEST) -> list[int]:
    """Number a text's tokens, framed and cut to what the model reads."""
    numbers = [vocabulary["[CLS]"]]
    for word in words(text[: longest * _CHARACTERS_PER_TOKEN]):
        numbers += (vocabulary[piece] for piece in pieces(word, vocabulary))
        if len(numbers) >= longest:
            break
    return [*numbers[: longest - 1], vocabulary["[SEP]"]]


def words(text: str) -> list[str]:
    """Split a text into lower-case words without accents; each sign and each ideograph stands alone."""
    spaced = "".join(map(_clean, text)).lower()
    return "".join(map(_part, unicodedata.normalize("NFD", spaced))).split()


def pieces(word: str, vocabulary: Vocabulary) -> Iterator[str]:
    """Cut a word into the longest pieces that the vocabulary has, from the left."""
    found: list[str] = []
    start = 0
    while start < len(word) <= _LONGEST_WORD:
        piece = _longest_piece(word, start, vocabulary)
        if piece is None:
            break
        found.append(piece)
        start += len(piece) - 2 * (start > 0)
    yield from found if found and start == len(word) else ("[UNK]",)


def _longest_piece(word: str, start: int, vocabulary: Vocabulary) -> str | None:
    prefix = "##" if start else ""
    for end in range(len(word), start, -1):
        if (piece := prefix + word[start:end]) in vocabulary:
            return piece
    return None


@functools.lru_cache(maxsize=4096)
def _clean(character: str) -> str:
    """Drop what cannot be seen, and set an ideograph apart."""
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    if category == "Zs":
        return " "
    if character in "\0\ufffd" or category.startswith("C"):
        return ""
    point = ord(character)
    return f" {character} " if any(a <= point <= z for a, z in _IDEOGRAPHS) else character


@functools.lru_cache(maxsize=4096)
def _part(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Mn":
        return ""
    is_sign = character in _ASCII_SIGNS or category.startswith("P")
    return f" {character} " if is_sign else character
