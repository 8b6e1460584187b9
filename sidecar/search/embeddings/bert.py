"""WordPiece and a six-layer BERT in numpy."""

import functools
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sidecar.search.embeddings import weights

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


Array = NDArray[np.float32]
Weights = Mapping[str, Array]

_LAYERS, _HEADS = 6, 12
_EPSILON = np.float32(1e-12)
_HIDDEN_FROM_SIGHT = np.float32(-1e9)
_ROWS = 32
# Abramowitz and Stegun 7.1.26: the error function to 1.5e-7, which float32 can hardly tell apart.
_P = np.float32(0.3275911)
_COEFFICIENTS = tuple(
    map(np.float32, (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592))
)


def read(path: Path) -> Weights:
    """Map a file of weights; only the pages that are used come into memory."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    return {
        tensor.name: np.frombuffer(
            data, np.float32, count=int(np.prod(tensor.shape)), offset=tensor.start
        ).reshape(tensor.shape)
        for tensor in weights.tensors(path)
    }


def embed(batch: Sequence[Sequence[int]], given: Weights) -> Array:
    """Turn numbered texts into vectors of length one, in the same order."""
    numbers, mask = _padded(batch)
    hidden = _look_up(numbers, given)
    bias = ((1 - mask) * _HIDDEN_FROM_SIGHT)[:, None, None, :]
    for layer in range(_LAYERS):
        hidden = _layer(hidden, bias, _Named(given, f"encoder.layer.{layer}"))
    means = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    lengths = np.sqrt((means * means).sum(axis=1, keepdims=True))
    result: Array = means / np.maximum(lengths, _EPSILON)
    return result


class _Named:
    """The weights below one name."""

    def __init__(self, given: Weights, prefix: str) -> None:
        self._given = given
        self._prefix = prefix

    def linear(self, name: str, x: Array) -> Array:
        """Apply a linear map to the last axis."""
        weight = self._given[f"{self._prefix}.{name}.weight"]
        flat = x.reshape(-1, x.shape[-1]) @ weight.T
        flat += self._given[f"{self._prefix}.{name}.bias"]
        return flat.reshape(*x.shape[:-1], weight.shape[0])

    def norm(self, name: str, x: Array) -> Array:
        """Normalise the last axis."""
        prefix = f"{self._prefix}.{name}"
        return _norm(x, self._given[f"{prefix}.weight"], self._given[f"{prefix}.bias"])


def _padded(batch: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], Array]:
    longest = max(map(len, batch))
    numbers = np.zeros((len(batch), longest), np.int64)
    mask = np.zeros((len(batch), longest), np.float32)
    for row, tokens in enumerate(batch):
        numbers[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    return numbers, mask


def _look_up(numbers: NDArray[np.int64], given: Weights) -> Array:
    named = _Named(given, "embeddings")
    hidden = given["embeddings.word_embeddings.weight"][numbers]
    hidden = hidden + given["embeddings.position_embeddings.weight"][: numbers.shape[1]]
    return named.norm("LayerNorm", hidden + given["embeddings.token_type_embeddings.weight"][0])


def _layer(hidden: Array, bias: Array, named: _Named) -> Array:
    seen = _attend(hidden, bias, named)
    hidden = named.norm(
        "attention.output.LayerNorm", hidden + named.linear("attention.output.dense", seen)
    )
    inner = _gelu(named.linear("intermediate.dense", hidden))
    return named.norm("output.LayerNorm", hidden + named.linear("output.dense", inner))


def _attend(hidden: Array, bias: Array, named: _Named) -> Array:
    query, key, value = (
        _heads(named.linear(f"attention.self.{name}", hidden)) for name in ("query", "key", "value")
    )
    scores = query @ key.swapaxes(-1, -2)
    scores *= np.float32(query.shape[-1] ** -0.5)
    scores += bias
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return np.asarray((scores @ value).swapaxes(1, 2).reshape(hidden.shape), np.float32)


def _heads(x: Array) -> Array:
    texts, tokens, width = x.shape
    return x.reshape(texts, tokens, _HEADS, width // _HEADS).swapaxes(1, 2)


def _norm(x: Array, weight: Array, bias: Array) -> Array:
    x = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((x * x).mean(axis=-1, keepdims=True) + _EPSILON)
    x /= spread
    x *= weight
    x += bias
    return x


def _gelu(x: Array) -> Array:
    """Compute x·Φ(x), the Gaussian error linear unit, in place; a few rows at a time stay in the cache."""
    rows = x.reshape(-1, x.shape[-1])
    for start in range(0, len(rows), _ROWS):
        block = rows[start : start + _ROWS]
        block *= _normal(block)
    return x


def _normal(x: Array) -> Array:
    """Compute Φ(x), the share of a normal distribution below x, without scipy."""
    scaled = np.abs(x)
    scaled *= np.float32(2**-0.5)
    t = scaled * _P
    t += 1
    np.reciprocal(t, out=t)
    tail = t * _COEFFICIENTS[0]
    for coefficient in _COEFFICIENTS[1:]:
        tail += coefficient
        tail *= t
    np.square(scaled, out=scaled)
    np.negative(scaled, out=scaled)
    tail *= np.exp(scaled, out=scaled)
    tail *= np.float32(0.5)
    # Half of 1 - erf(|x|/√2) is what lies beyond |x| on one side.
    np.subtract(1, tail, out=tail, where=x >= 0)
    return tail
