"""Support: whether what a model writes is said by the events that it quotes.

A quote alone proves nothing of the words around it. So most words of every sentence must stand in the quoted events,
no three others in a row, and whatever can do harm or mislead by being exact (numbers, paths, commands, addresses,
code, names, words that command) must stand there literally.
"""

import re
import unicodedata

from msgspec import Struct

from sidecar.domain.duplicates import LIGHT
from sidecar.domain.enrichment.patterns import late
from sidecar.domain.recall import words

SHARE = 0.5
"""Of the words of a sentence that tell something. On the 352 sentences that label `benchmarks/enrichment`, each held
against the one event that says most of it, no true one has less; of those held against a foreign session, one in 900
has more."""
_RUN = 3
"""Words in a row that are not in the events: enough for an order of its own."""
_SENTENCE = late(r"(?<=[.!?;])\s+|[\n\u3002\uff01\uff1f]")
_SPAN = late(r"`([^`]+)`")
_EDGES = "\"'\u201c\u201d\u2018\u2019«»„()[]{}.,;:!?…"
_EXACT = late(r"[\d|&$<>={}()\[\]\\@#*~^/_`]|^-|[a-z][A-Z]|^[A-Z]{2,}$|\w\.\w")
_NAME = late(r"^[A-Z][a-z]+$")
_PROSE = frozenset({"e.g", "i.e", "and/or"})
_ORDERS = frozenset(
    {
        *("always", "never", "must", "shall", "ignore", "disregard", "forbidden", "mandatory"),
        *("immer", "nie", "niemals", "muss", "toujours", "jamais", "siempre", "nunca", "sempre"),
    }
)
_DENSE = late(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""Scripts in which words are not set apart."""


class Ground(Struct, frozen=True):
    """The text of some events, and the terms in it."""

    text: str
    terms: frozenset[str]


def ground(text: str) -> Ground:
    """Prepare the text that everything is held against."""
    plain = words.count(_DENSE.sub(" ", text))
    return Ground(_flat(text), frozenset({*plain, *_pairs(text)}))


def names(ground: Ground, text: str) -> bool:
    """Tell whether the events say exactly this, as something by itself."""
    return re.search(rf"(?<!\w){re.escape(_flat(text))}(?!\w)", ground.text) is not None


def objection(ground: Ground, text: str) -> str | None:
    """Tell what of a text the events do not say; None where they bear it out."""
    spans: list[str] = _SPAN.findall(text)
    unsaid = (span for span in spans if not names(ground, span))
    sentences = _SENTENCE.split(_SPAN.sub(" ", text))
    wrong = (_unsaid(ground, sentence) for sentence in sentences)
    return next(unsaid, None) or next(filter(None, wrong), None)


def _unsaid(ground: Ground, sentence: str) -> str | None:
    """Tell what of a sentence the events do not say."""
    said: list[bool] = []
    for number, token in enumerate(sentence.split()):
        word = token.strip(_EDGES)
        if _is_exact(word) and not names(ground, word):
            return word
        if terms := {*words.count(_DENSE.sub(" ", word))} - LIGHT:
            said.append(not terms.isdisjoint(ground.terms))
            if not said[-1] and number > 0 and _NAME.search(word):
                return word
    runs = zip(*(said[start:] for start in range(_RUN)), strict=False)
    has_run = any(not any(run) for run in runs)
    said += [pair in ground.terms for pair in _pairs(sentence)]
    is_said = not said or sum(said) / len(said) >= SHARE
    return None if is_said and not has_run else sentence.strip()


def _is_exact(word: str) -> bool:
    """Tell whether a word must stand in the events as it is."""
    lowered = word.lower()
    return lowered in _ORDERS or (lowered not in _PROSE and _EXACT.search(word) is not None)


def _pairs(text: str) -> list[str]:
    """Give every two signs in a row, which stand for words where these are not set apart."""
    runs: list[str] = _DENSE.findall(text)
    return [run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))]


def _flat(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
