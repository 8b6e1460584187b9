"""Accept from a model only what the quoted events support."""

import bisect
import itertools
import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated

import msgspec
from msgspec import Meta, Raw, Struct

from protocol.errors import ModelFailedError
from protocol.memories import Content, Evidence, Grade, MemoryType, Names, Paths, Title
from protocol.values import TEXT_LIMIT, Text
from sidecar.memory.llm.prompts import MOST_ITEMS, Piece, Shown
from sidecar.memory.rules.drafts import Draft
from sidecar.memory.rules.duplicates import LIGHT
from sidecar.privacy.redaction import redact
from sidecar.text import words
from sidecar.text.patterns import late

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
    """Return whether the events say exactly this, as something by itself."""
    return re.search(rf"(?<!\w){re.escape(_flat(text))}(?!\w)", ground.text) is not None


def objection(ground: Ground, text: str) -> str | None:
    """Return what of a text the events do not say; None where they bear it out."""
    spans: list[str] = _SPAN.findall(text)
    unsaid = (span for span in spans if not names(ground, span))
    sentences = _SENTENCE.split(_SPAN.sub(" ", text))
    wrong = (_unsaid(ground, sentence) for sentence in sentences)
    return next(unsaid, None) or next(filter(None, wrong), None)


def _unsaid(ground: Ground, sentence: str) -> str | None:
    """Return what of a sentence the events do not say."""
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
    """Return whether a word must stand in the events as it is."""
    lowered = word.lower()
    return lowered in _ORDERS or (lowered not in _PROSE and _EXACT.search(word) is not None)


def _pairs(text: str) -> list[str]:
    """Return every two signs in a row, which stand for words where these are not set apart."""
    runs: list[str] = _DENSE.findall(text)
    return [run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))]


def _flat(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


_FENCE = re.compile(r"```(?:json)?[ \t]*\n(?P<inside>.*)\n```", re.DOTALL | re.IGNORECASE)
_SHORTEST_QUOTE = 8
"""Bytes; what is shorter stands everywhere and proves nothing, unless it is all there is."""
_SIGNS = ("+ ", "- ")
_UNQUOTED = "no quote of it stands in the event it names"
_EXCERPT = 60
_LONGEST_TITLE = 200
"""A title that was longer is refused; one can grow when a secret is taken out of it."""


class Quote(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Words that a model says it read."""

    event_id: str
    quote: Annotated[str, Meta(min_length=1, max_length=2_000)]


class Item(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A memory as a model writes it."""

    type: MemoryType
    title: Title
    content: Content
    rationale: Text | None = None
    importance: Grade = 3
    confidence: Grade = 3
    files: Paths = ()
    entities: Names = ()
    evidence: Annotated[tuple[Quote, ...], Meta(min_length=1, max_length=50)]


class Rejection(Struct, frozen=True, kw_only=True):
    """An item that is not believed, and why."""

    number: int
    """Which one it was, counted from 1."""
    reason: str


class Reply(Struct, frozen=True, kw_only=True):
    """What is left of an answer."""

    drafts: tuple[Draft, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    invented: int = 0
    """Quotes that stand in no event, also of items that had better ones."""


class _Items(Struct, frozen=True, forbid_unknown_fields=True):
    items: list[Raw]


_ANSWER = msgspec.json.Decoder(_Items | list[Raw])
_ITEM = msgspec.json.Decoder(Item)


def read(answer: str, piece: Piece) -> Reply:
    """Read the answer to a piece; raises `ModelFailedError` for what is no list of items at all."""
    drafts: list[Draft] = []
    rejections: list[Rejection] = []
    invented = 0
    for number, raw in enumerate(_items(answer), start=1):
        if len(drafts) == MOST_ITEMS:
            reason = f"more than {MOST_ITEMS} items in one answer"
            rejections.append(Rejection(number=number, reason=reason))
            continue
        try:
            item = _ITEM.decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            rejections.append(Rejection(number=number, reason=redact(str(error))))
            continue
        evidence = [found for quote in item.evidence if (found := _found(quote, piece))]
        invented += len(item.evidence) - len(evidence)
        named = {quote.event_id for quote in evidence}
        sources = [shown for shown in piece.shown if shown.event.event_id in named]
        ground = _ground(sources)
        objection = _objection(item, ground) if evidence else _UNQUOTED
        if objection is not None:
            rejections.append(Rejection(number=number, reason=objection))
        else:
            drafts.append(_draft(item, evidence, sources, ground))
    return Reply(drafts=tuple(drafts), rejections=tuple(rejections), invented=invented)


def _items(answer: str) -> list[Raw]:
    text = answer.strip()
    if not text:
        raise ModelFailedError("the model answered nothing; try again, or choose another model")
    if (fence := _FENCE.fullmatch(text)) is not None:
        text = fence["inside"].strip()
    try:
        found = _ANSWER.decode(text.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise ModelFailedError(_complaint(text, error)) from None
    return found.items if isinstance(found, _Items) else found


def _complaint(text: str, error: Exception) -> str:
    excerpt = redact(" ".join(text.split()))[:_EXCERPT]
    if not text.startswith(("{", "[")):
        wrong = "is prose, not JSON"
    elif "truncated" in str(error):
        wrong = "ends in the middle"
    else:
        wrong = f"is not the JSON that was asked for ({redact(str(error))})"
    return f"the model's answer {wrong}: “{excerpt}…”; try again, or choose another model"


def _ground(sources: Sequence[Shown]) -> Ground:
    shown = (f"{one.event.occurred_at:%Y-%m-%d}\n{one.text}" for one in sources)
    return ground("\n".join(shown))


def _objection(item: Item, ground: Ground) -> str | None:
    """Return why an item is not believed though it quotes an event."""
    if not (item.title.strip() and item.content.strip()):
        return "it is blank"
    unsaid = objection(ground, f"{item.title}\n{item.content}")
    if unsaid is None:
        return None
    return f"the events it quotes do not say “{redact(unsaid)[:_EXCERPT]}”"


def _draft(item: Item, evidence: list[Evidence], sources: Sequence[Shown], ground: Ground) -> Draft:
    """Make a draft of an item; what of its extras the events do not say is left out.

    A rule for others to follow is not a model's to make: it waits until a person agrees.
    """
    known = {file.path for shown in sources for file in shown.event.files if _is_inside(file.path)}
    branches = {shown.event.commit.branch for shown in sources if shown.event.commit is not None}
    rationale = (item.rationale or "").strip()
    is_said = objection(ground, rationale) is None
    return Draft(
        type=item.type,
        title=redact(" ".join(item.title.split()))[:_LONGEST_TITLE],
        content=redact(item.content.strip())[:TEXT_LIMIT],
        rationale=(redact(rationale) or None) if is_said else None,
        importance=item.importance,
        confidence=item.confidence,
        entities=tuple(
            dict.fromkeys(redact(entity) for entity in item.entities if names(ground, entity))
        ),
        files=tuple(dict.fromkeys(path for path in item.files if path in known)),
        branch=branches.pop() if len(branches) == 1 else None,
        evidence=tuple(dict.fromkeys(evidence)),
        status="proposed" if item.type == "constraint" else "active",
        by_model=True,
    )


def _is_inside(path: str) -> bool:
    """Return whether a path names a file of the repository, and nothing around it."""
    return not PurePosixPath(path).is_absolute() and ".." not in PurePosixPath(path).parts


def _found(quote: Quote, piece: Piece) -> Evidence | None:
    for shown in piece.shown:
        if shown.event.event_id == quote.event_id and (words := _literal(quote.quote, shown)):
            commit = shown.event.commit
            sha = commit.sha if commit is not None else None
            return Evidence(quote=words, commit_sha=sha, event_id=quote.event_id)
    return None


def _literal(quote: str, shown: Shown) -> str | None:
    words = quote.strip()
    candidates = [words, words[2:]] if words.startswith(_SIGNS) else [words]
    return next(
        (
            found
            for candidate in candidates
            for text in shown.quotable
            if (found := _search(candidate, text)) is not None
        ),
        None,
    )


def _search(quote: str, text: str) -> str | None:
    """Find words in a text whatever the white space between them, and give them as they stand."""
    sought = " ".join(quote.split())
    words = list(re.finditer(r"\S+", text))
    flat = " ".join(word[0] for word in words)
    if len(sought.encode()) < _SHORTEST_QUOTE and sought != flat:
        return None
    if not sought or (place := flat.find(sought)) < 0:
        return None
    starts = list(itertools.accumulate((len(word[0]) + 1 for word in words), initial=0))[:-1]

    def original(offset: int) -> int:
        number = bisect.bisect_right(starts, offset) - 1
        return words[number].start() + offset - starts[number]

    return text[original(place) : original(place + len(sought) - 1) + 1]
