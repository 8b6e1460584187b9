"""Turns in compact form, and which memories a turn uses."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from protocol.conversations import Conversation, Note, Speaker
from protocol.memories import Memory
from protocol.turns import ENTRY_LIMIT, Activity, Entry, KeptActivity, KeptTurn
from sidecar.conversations.rules import conversations
from sidecar.privacy import cleaning
from sidecar.text import wording
from sidecar.text.hashing import blake2b

FLAGGED = 0.5
"""The score from which a turn is read for memory."""
ACTIVITIES = 200
ENTRIES = 100
"""How many of one conversation wait; of more the oldest go."""
_PART, _PARTS = 2_000, 50
"""Letters of a part of a turn that is found by itself, and how many are kept of one turn: 100,000 letters."""
_FILES = 5
_SIZE = 12
_TELLING = 40
"""Letters of a turn that nobody says twice by chance."""
_MOMENT = timedelta(minutes=2)
_SHOWN = 40
_CLIPPED = 200
"""Letters of a turn in a checkpoint."""


class Signal(Struct, frozen=True, kw_only=True):
    """What a turn is worth, and why."""

    score: float = 0.0
    keywords: tuple[str, ...] = ()
    """The kinds of what was found, and the words that showed it."""
    notes: tuple[Note, ...] = ()
    excerpt: str = ""
    """What is to be read for memory: the sentences that matter, with those around them."""

    @property
    def is_flagged(self) -> bool:
        """Return whether the turn is to be read for memory."""
        return self.score >= FLAGGED


class Turn(Struct, frozen=True, kw_only=True):
    """Something said, without what is private, secret or ours."""

    turn_id: str
    said_by: Speaker
    text: str
    at: datetime
    signal: Signal


def name(session_key: str, *parts: str) -> str:
    """Name a turn or an activity: the same one again has the same name."""
    digest = blake2b(digest_size=_SIZE)
    for part in (session_key, *parts):
        data = part.encode("utf-8", "replace")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def entry(session_key: str, turn: Turn) -> Entry:
    """Write a turn down as far as it is kept."""
    return Entry(
        turn_id=turn.turn_id,
        session_key=session_key,
        said_by=turn.said_by,
        text=_short(turn.text),
        at=turn.at,
        signal_score=turn.signal.score,
    )


def parts(
    turn: Turn, talk: Conversation, session_id: str | None, files: Iterable[str]
) -> list[KeptTurn]:
    """Write a turn down word for word, a long one in parts, so that each is found by what it says itself."""
    worked_on = (*files, *(talk.files if turn.said_by == "assistant" else ()))
    return [
        KeptTurn(
            turn_id=turn.turn_id,
            part=number,
            session_key=talk.session_key,
            said_by=turn.said_by,
            text=text,
            at=turn.at,
            agent_id=talk.agent_id,
            session_id=session_id,
            files=tuple(dict.fromkeys(worked_on))[:_FILES],
        )
        for number, text in enumerate(chunks(turn.text)[:_PARTS])
    ]


def part_id(part: KeptTurn) -> str:
    """Return the id under which a part is kept; parts of one turn sort in their order."""
    return f"{part.turn_id}.{part.part:02}" if part.part else part.turn_id


def chunks(text: str) -> list[str]:
    """Cut a text into parts of bearable size, between paragraphs, lines or words if possible."""
    found = []
    while len(text) > _PART:
        cut = max(text.rfind(gap, _PART // 2, _PART) for gap in ("\n\n", "\n"))
        cut = cut if cut > 0 else text.rfind(" ", _PART // 2, _PART)
        cut = cut if cut > 0 else _PART
        found.append(text[:cut].strip())
        text = text[cut:].strip()
    return [part for part in (*found, text.strip()) if part]


def activity(session_key: str, done: Activity, now: datetime) -> KeptActivity:
    """Write down what was done, without what is private, secret or ours; the same at one moment is the same."""
    at = min(done.at or now, now)
    tool = cleaning.clean(done.tool)
    asked, answered = map(_kept, (done.input_summary, done.output_summary))
    return KeptActivity(
        activity_id=name(session_key, tool, at.isoformat(), asked, answered),
        session_key=session_key,
        tool=tool,
        category=done.category,
        at=at,
        input_summary=asked,
        output_summary=answered,
    )


def is_repeated(turn: Entry, said: Iterable[Entry]) -> bool:
    """Return whether the very same was said by the same a moment before or after; short words prove nothing."""
    return len(turn.text) >= _TELLING and any(
        one.said_by == turn.said_by and one.text == turn.text and abs(one.at - turn.at) <= _MOMENT
        for one in said
    )


def tell(done: Sequence[KeptActivity], said: Sequence[Entry]) -> Iterator[str]:
    """Tell in a few lines what was done, and what was said last."""
    if done:
        yield "### Activities"
        yield from (f"- {line}" for line in _counted(done))
    if said:
        yield "### Last Turns"
        yield from map(_line, sorted(said, key=lambda turn: turn.at)[-_SHOWN:])


def surplus(rows: Iterable[tuple[str, datetime]], most: int) -> list[str]:
    """Name the oldest of too many."""
    by_age = sorted(rows, key=lambda row: (row[1], row[0]))
    return [key for key, _ in by_age[: max(0, len(by_age) - most)]]


def _counted(done: Iterable[KeptActivity]) -> Iterator[str]:
    # By name among equals: what was reported at one moment has no order of its own.
    rows = Counter((one.category, one.tool) for one in done).items()
    counts = dict(sorted(rows, key=lambda row: (-row[1], row[0])))
    for category in dict.fromkeys(category for category, _ in counts):
        tools = [f"{tool} {number}" for (kind, tool), number in counts.items() if kind == category]
        yield f"{category}: {', '.join(tools)}"


def _line(turn: Entry) -> str:
    return f"- {turn.said_by}: {wording.clipped(turn.text, _CLIPPED)}"


def _kept(text: str) -> str:
    return _short(conversations.kept(text))


def _short(text: str) -> str:
    return wording.clipped(" ".join(text.split()), ENTRY_LIMIT)


RUN = 6
"""Words in a row that are a quotation."""
_READ = 64_000
"""Letters of a turn and of a memory that are looked at."""
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(f"[{_IDEOGRAPHS}]|[^\\W_{_IDEOGRAPHS}]+")
_IDEOGRAPH = re.compile(f"[{_IDEOGRAPHS}]")
_ID = re.compile(r"(?<![0-9A-Za-z])[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}(?![0-9A-Za-z])")
_LONG = 12
"""Letters of a title of fewer words than a quotation has; a shorter one stands in many texts by chance."""
_FEW = 2
"""Words of a title; one alone is no title that anybody quotes."""


def quoted(text: str, memories: Iterable[Memory]) -> tuple[str, ...]:
    """Return the ids of the memories that a text names by id or title, or quotes with six words in a row."""
    turn = _words(text)
    known = frozenset(turn)
    runs = frozenset(_runs(turn, known))
    ids = {found.upper() for found in _ID.findall(text[:_READ])}
    flat = f" {' '.join(turn)} "
    return tuple(
        memory.memory_id
        for memory in memories
        if memory.memory_id.upper() in ids
        or _is_named(memory, flat)
        or _is_quoted(memory, runs, known)
    )


def _is_named(memory: Memory, flat: str) -> bool:
    title = _words(memory.title)
    return _is_telling(title) and f" {' '.join(title)} " in flat


def _is_quoted(memory: Memory, runs: frozenset[tuple[str, ...]], known: frozenset[str]) -> bool:
    if not runs:
        return False
    texts = (memory.title, memory.content)
    return any(run in runs for text in texts for run in _runs(_words(text), known))


def _is_telling(title: Sequence[str]) -> bool:
    letters = sum(2 if _IDEOGRAPH.match(word) else len(word) for word in title)
    return len(title) >= _FEW and letters >= _LONG


def _runs(said: Sequence[str], known: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Yield all known words in a row that would be a quotation; two ideographs count as a word."""
    streak = 0
    for end, word in enumerate(said, 1):
        streak = streak + 1 if word in known else 0
        if streak < RUN:
            continue
        run = tuple(said[end - RUN : end])
        if any(map(_IDEOGRAPH.match, run)):
            if streak >= 2 * RUN:
                yield tuple(said[end - 2 * RUN : end])
        else:
            yield run


def _words(text: str) -> list[str]:
    """Return the words of a text without case, accents and marks."""
    plain = text[:_READ]
    if not plain.isascii():
        letters = unicodedata.normalize("NFKD", plain)
        plain = "".join(one for one in letters if not unicodedata.combining(one))
    return _WORD.findall(plain.casefold())
