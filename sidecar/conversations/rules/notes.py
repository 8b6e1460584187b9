"""Notes: what one turn of a conversation says that must not be lost with the rest of it.

The rules of talk judge each sentence of a user, and a few rules of talk besides. An assistant's words are not
judged: five of 32 memories made from them were right.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec
from msgspec import Struct

from protocol.conversations import Note
from protocol.memories import MemoryType
from sidecar.conversations.rules import cues, sayings
from sidecar.memory.extract import noise, talk
from sidecar.text import own_words, statements, wording
from sidecar.text.patterns import compiled
from sidecar.text.statements import Statement

# ruff: noqa: RUF001 - other scripts have letters that look like ours


LONGEST = 300
"""Letters of a note."""
MOST = 30
"""Notes of one turn; who says more than that pastes a document."""
_WINDOW = 16_000
"""Letters at the beginning and at the end of a turn that are listened to."""
_PIECE = 8_000
"""Letters that are read at once, so that no end is lost behind a long beginning."""
_LEAST = 12
"""Letters below which nobody knows later what was meant."""

_UNSETTLED = compiled(
    r".*(?:\?|\b(?:to (?:make|be made|take|decide)|needed|options|alternatives|open decisions?|undecided|not (?:yet )?(?:decided|agreed)|possible|questions?|could|should|how|why|if)\b)"
)
"""A heading over what is not decided yet."""
_OPENING = compiled(
    r"(?:(?:hey|hi|hello|hallo|moin|hola|salut|bonjour|olá|oi|ok|okay|alright|btw|by the way|also|and|but|thanks|thank you|thx|danke|gracias|merci|oh|ah|hm+|yeah|yep)\b(?: (?:there|all|team|everyone|so|then|you|for (?:that|this|the \w+(?: \w+)?)))*(?:[\s,:!.;—–-]+)"
    r"|(?:great|good|perfect|cool|nice|yes|sure|well|so|right|fine|fyi|heads[- ]up|for the record|remember for later|before you start|quick (?:one|note|thing)|one (?:more|last|other) thing(?: to remember)?|just so you know|reminder|small note|by the way|zur info|übrigens|one note)\s?[,:!.;—–]+\s*)+"
)
"""Greetings and other words before what is said."""
_LABEL = compiled(
    r"(?:(?:final |our )?decisions?|decided|agreed|todo|fixme|tasks?|constraints?(?: noted)?|rules?|preferences?|facts?|corrections?|next(?: steps?| up)?|remaining|(?:still )?open|note|nb|important|remember|entscheidung|regel|aufgabe|offen|verbleibend|wichtig|korrektur|décision|règle|à faire|decisión|regla|pendiente|decisão|regra)\s?(?:\([^)]{0,40}\))?\s?[:：—]\s*(?=\S)"
)
"""The name of what follows, which the note's type says as well."""
_MINDED = compiled(
    r"(?:.{0,12}\b)?(?:(?:please )?(?:remember|keep in mind|note|be aware|mind)(?: for later)?[,:]? (?:that )?(?!to\b)|fyi|heads[- ]up|for the record|just so you know|good to know|denk dran|merk dir|zur info|recuerda que|ten en cuenta que|à noter|n'oublie pas que|lembre-se de que)\b[,:]?\s*\S.{14,}"
)
_DENIAL = compiled(
    r"(?:(?:no|nope|nein|non|não|wrong|incorrect|false|falsch|sorry|wait|stop)\b[\s,.!]*)?(?:(?:that|this)(?:'s| is| was) (?:wrong|incorrect|false|not (?:right|true|correct|what i (?:said|meant)))|you (?:misunderstood(?: me)?|got (?:it|that|this) wrong)|das (?:stimmt (?:so )?nicht|ist falsch)|c'est faux|eso no es (?:cierto|correcto)|isso está errado)?[\s.!]*$"
)
_CLAIMS = compiled(
    r"(?!(?:please|can|could|run|try|do|look|check|let|i|we should|you)\b).*\b(?:is|are|was|were|has|have|means|counts?|belongs?|must|ist|sind|est|sont|es|son|é|são)\b"
)
_POINTING = compiled(
    r"(?:this|that|thats|these|those|it|they|he|she|both|the (?:former|latter)|dies|das|es|cela|ça|c'est|esto|eso|isso|isto)\b(?! way)"
)
"""A sentence that begins so says nothing without the one before."""
_COUNTED = re.compile(r"\s+(?=\d{1,2}\) \S)")
_NAMED = re.compile(r"(?m)^[ \t]*(?:\*\*|__)([^*_\n]{2,60})(?:\*\*|__):?[ \t]*$")
_GAP = re.compile(r"\n{3,}")
_FENCE = re.compile(r"[ \t]{0,8}(`{3,}|~{3,})")
_LOGGED = re.compile(
    r"[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|npm (?:ERR|WARN)|\[(?:INFO|WARN|ERROR|DEBUG|TRACE)|(?:error|warning)(?:\[\w+\])?: )"
)
_CODED = re.compile(
    r"[ \t]*(?:def \w|class \w+[(:{]|function \w*\(|(?:const|let|var|auto) \w+ =|import [\w{*]+ from|from \S+ import|#include|//|/\*|\*/|@\w+|return\b.*;|SELECT\b.*\bFROM\b|</?\w+)|.*(?:[{};(\[]|\)\s*:|=>)[ \t]*$"
)
_REMINDERS = ("system-reminder", "system_reminder")


class Judged(Struct, frozen=True, kw_only=True):
    """A sentence of a turn, and the note that it is worth, if any."""

    statement: Statement
    note: Note | None
    piece: int
    """The part of a long turn that it stands in; paragraphs are counted within each."""


def judge(text: str, at: datetime) -> tuple[Judged, ...]:
    """Return every sentence of a user's turn, with the note that it is worth."""
    pieces = enumerate(_pieces(_prose(text)))
    return tuple(judged for piece in pieces for judged in _heard(piece, at))


def pick(judged: Iterable[Judged]) -> tuple[Note, ...]:
    """Return the notes of a turn, each once; of very many the first and the last."""
    said = (one.note for one in judged if one.note is not None)
    unique = tuple({note.text.casefold(): note for note in said}.values())
    return unique if len(unique) <= MOST else (*unique[: MOST // 2], *unique[-MOST // 2 :])


def _heard(piece: tuple[int, str], at: datetime) -> Iterator[Judged]:
    place, text = piece
    said = statements.read(text, "capture")
    before: Statement | None = None
    for number, statement in enumerate(said):
        cleaned = msgspec.structs.replace(statement, text=_cleaned(statement.text))
        kind = _judge(cleaned, before)
        if kind is None and cleaned.text != statement.text:
            kind = _judge(statement, before)
        note = None
        if kind is not None:
            after = said[number + 1 :][:1]
            note = Note(type=kind, text=_told(cleaned, before, after), said_by="user", at=at)
        yield Judged(statement=statement, note=note, piece=place)
        before = statement


def _judge(statement: Statement, before: Statement | None) -> MemoryType | None:
    """Return what a sentence is; nothing where it passes, asks, guesses or names what follows."""
    text = statement.text
    if statement.is_open:
        return "task"
    if statement.is_done or len(text.encode()) < _LEAST or text.endswith((":", "：")):
        return None
    if _is_loose(text):
        return None
    if headed := _headed(statement):
        return headed
    return _judge_user(statement, before)


def _is_loose(text: str) -> bool:
    is_unsure = noise.is_question(text) or noise.is_hedged(text) or sayings.SUPPOSED.search(text)
    return bool(is_unsure) or noise.is_cut(text)


def _judge_user(statement: Statement, before: Statement | None) -> MemoryType | None:
    text = statement.text
    is_denied = before is not None and before.text and _DENIAL.match(before.text)
    if is_denied and _CLAIMS.match(text):
        return "correction"
    spoken = next((kind for kind, row in sayings.SAID if row.match(text)), None)
    if spoken == "correction":
        return spoken
    heard = None if noise.is_transient(text) else talk.judge(text)
    if heard is not None:
        return heard.type
    if spoken is not None:
        return spoken
    cued = None if noise.is_transient(text) else cues.find(text)
    if cued is not None:
        return cued
    return "fact" if _MINDED.match(" ".join(statement.quote.split())) else None


def _headed(statement: Statement) -> MemoryType | None:
    """Return what the items of a list are, where its heading says so."""
    heading = statement.heading.strip(" *_#")
    if not statement.is_item or not heading or _UNSETTLED.match(heading):
        return None
    return next((kind for kind, row in sayings.HEADED if row.pattern.fullmatch(heading)), None)


def _told(statement: Statement, before: Statement | None, after: tuple[Statement, ...]) -> str:
    """Write a sentence so that it can be understood alone."""
    label = _LABEL.match(statement.text)
    text = wording.sentence(statement.text[label.end() :] if label else statement.text)
    if before is not None and _is_near(before, statement) and _POINTING.match(text):
        text = f"{wording.sentence(_cleaned(before.text))} {text}"
    elif after and _is_near(after[0], statement) and len(text) < _TERSE:
        text = f"{text} {wording.sentence(after[0].text)}"
    return wording.clipped(text, LONGEST)


_TERSE = 20
"""Letters of an answer such as `Option B please.`, which the next sentence explains."""


def _is_near(one: Statement, other: Statement) -> bool:
    is_said = not noise.is_question(one.text) and not _DENIAL.match(one.text)
    return is_said and one.block == other.block and not other.is_item


def _cleaned(text: str) -> str:
    """Take off greetings and the like, unless nothing else is said."""
    opening = _OPENING.match(text)
    rest = text[opening.end() :] if opening else text
    return rest if len(rest) >= _LEAST else text


def _prose(text: str) -> str:
    """Leave out what nobody said: our own words, a host's reminders, code, logs."""
    own = own_words.without(text)
    for name in _REMINDERS:
        own = _without(own, name)
    lines = [*_unfenced(_GAP.sub("\n\n", own).splitlines())]
    return _GAP.sub("\n\n", _NAMED.sub(r"## \1", "\n".join(_uncoded(lines))))


def _without(text: str, name: str) -> str:
    first, *rest = text.split(f"<{name}>")
    return first + "\n".join(part.partition(f"</{name}>")[2] for part in rest)


def _unfenced(lines: list[str]) -> Iterator[str]:
    """Blank fenced blocks and lines of a log."""
    opened = ""
    for line in lines:
        mark = _FENCE.match(line)
        if opened:
            opened = "" if mark and mark[1].startswith(opened) else opened
            yield ""
        elif mark:
            opened = mark[1]
            yield ""
        else:
            yield from _listed("" if _LOGGED.match(line) else line)


def _listed(line: str) -> list[str]:
    is_list = len(line) <= _PIECE and "1) " in line and "2) " in line
    return _COUNTED.split(line) if is_list else [line]


def _uncoded(lines: list[str]) -> Iterator[str]:
    paragraph: list[str] = []
    for line in (*lines, ""):
        if line.strip():
            paragraph.append(line)
            continue
        coded = sum(_CODED.match(one[:_WIDE]) is not None for one in paragraph)
        yield from ("" if coded > 1 and coded * 2 >= len(paragraph) else one for one in paragraph)
        yield line
        paragraph = []


_WIDE = 400
"""Letters of a line that tell whether it is code."""


def _pieces(text: str) -> Iterator[str]:
    ends = [text] if len(text) <= 2 * _WINDOW else [text[:_WINDOW], text[-_WINDOW:]]
    for end in ends:
        start = 0
        while start < len(end):
            cut = _cut(end, start)
            yield end[start:cut]
            start = cut


def _cut(text: str, start: int) -> int:
    """Find where a piece ends."""
    most = start + _PIECE
    if len(text) <= most:
        return len(text)
    half = start + _PIECE // 2
    found = (text.rfind(mark, half, most) for mark in ("\n\n", "\n", " "))
    return next((at + 1 for at in found if at > 0), most)
