"""Bring past conversations of other tools into a project's memory: each turn once, at its own time."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from protocol.conversations import Conversation
from protocol.turns import KeptTurn
from protocol.values import Record
from sidecar.capture.rules import pauses
from sidecar.conversations import participants, turns
from sidecar.conversations.imports import (
    aider,
    claude_code,
    codex,
    copilot,
    cursor,
    gemini,
    opencode,
    specstory,
)
from sidecar.conversations.imports.past import Piece, Reader, Transcript
from sidecar.conversations.participants import Hear
from sidecar.conversations.rules import conversations, prompts
from sidecar.conversations.rules import turns as turn_rules
from sidecar.conversations.rules.conversations import Report, Who
from sidecar.conversations.rules.turns import Turn
from sidecar.conversations.spooled import SUMMARY
from sidecar.conversations.turns import Said, Seen
from sidecar.storage import files
from sidecar.storage.collection import Op
from sidecar.storage.vault import Vault

READERS: dict[str, Reader] = {
    module.READER.host: module.READER
    for module in (claude_code, codex, copilot, cursor, opencode, gemini, specstory, aider)
}
"""How each host's past conversations are read, by its name on the command line."""
MARKS = "imports.json"
_BATCH = 100
"""Exchanges that are stored under one lock; others get their turn in between."""
_NEAR = timedelta(minutes=2)
"""How far apart a hook and a transcript may say that one turn was."""
_LIVE = timedelta(minutes=30)
"""How long ago hooks have heard of a conversation that they still follow."""
_FILES = 20
_MACHINE = re.compile(
    r"\s*(?:<(?:command-|local-command|bash-|task-|ide_|system|user-prompt-submit-hook|environment_context|user_instructions|INSTRUCTIONS)|\[Request interrupted|Caveat: |# AGENTS\.md instructions)"
)
"""How a user's message begins that a program has written."""

Marks = dict[str, tuple[str, datetime]]
"""By conversation: the stamp of its transcript when it was last read, and the moment of its last turn."""


class Brought(Record, frozen=True, kw_only=True):
    """What came of an import."""

    conversations: int = 0
    turns: int = 0
    known: int = 0
    """Turns that were known before, from hooks or an earlier import."""
    damaged: int = 0
    """Lines and records that could not be read."""

    def plus(self, other: "Brought") -> "Brought":
        """Add up."""
        return Brought(
            conversations=self.conversations + other.conversations,
            turns=self.turns + other.turns,
            known=self.known + other.known,
            damaged=self.damaged + other.damaged,
        )


class Found(Record, frozen=True, kw_only=True):
    """How many conversations of a host there are."""

    host: str
    here: int = 0
    """Of this project, and not imported as they are now."""
    imported: int = 0
    """Of this project, and imported."""
    elsewhere: int = 0


class Exchange(NamedTuple):
    """What a user said, what the assistant said last before the user spoke again, and the files changed meanwhile."""

    said: tuple[Piece, ...]
    files: tuple[str, ...] = ()
    summary: str = ""


class Wish(NamedTuple):
    """What is wanted of an import."""

    who: Callable[[Transcript], Who]
    hear: Hear
    since: datetime | None = None
    is_trial: bool = False
    """Whether to count only."""


def read_marks(folder: Path) -> Marks:
    """Return how far conversations were read before; nothing where that cannot be read."""
    try:
        return msgspec.json.decode(files.read(folder / MARKS) or b"{}", type=Marks)
    except (msgspec.DecodeError, OSError):
        return {}


def write_marks(folder: Path, marks: Marks) -> None:
    """Keep how far conversations were read; without it they are read again, and nothing is stored twice."""
    files.replace(folder / MARKS, msgspec.json.encode(marks))


def mark_of(transcript: Transcript) -> str:
    """Return the name of a conversation's mark."""
    return f"{transcript.host}:{conversations.known_as(transcript.session_key)}"


def bring(vault: Vault, transcript: Transcript, wish: Wish, marks: Marks) -> Brought:
    """Store what is new of a conversation; as little as possible is held in memory."""
    name = mark_of(transcript)
    stamp, until = marks.get(name, ("", None))
    if stamp == transcript.stamp:
        return Brought()
    damage: list[None] = []
    found = exchanges(transcript.pieces(lambda: damage.append(None)))
    placing = _Placing(vault, transcript, wish, None if wish.since else until)
    while batch := list(islice(found, _BATCH)):
        placing.place(batch)
    if not wish.is_trial and not wish.since and placing.last is not None:
        marks[name] = (transcript.stamp, placing.last)
    count = placing.stored + placing.known
    return Brought(
        conversations=int(count > 0),
        turns=placing.stored,
        known=placing.known,
        damaged=len(damage),
    )


def exchanges(pieces: Iterable[Piece]) -> Iterator[Exchange]:
    """Put together what belongs to one prompt: of all that the assistant says on the way, its last words count."""
    asked: Piece | None = None
    answered: Piece | None = None
    changed: dict[str, None] = {}
    summary, at = "", None
    for piece in pieces:
        at = piece.at or at
        timed = piece._replace(at=at)
        if piece.speaker == "user" and not _MACHINE.match(piece.text):
            if asked or answered or changed:
                yield Exchange(_both(asked, answered), tuple(changed)[:_FILES], summary)
            asked, answered, changed, summary = timed, None, {}, ""
        elif piece.speaker == "assistant":
            answered = timed
        elif piece.speaker is None and piece.text:
            summary = piece.text
        changed |= dict.fromkeys(piece.files)
    if asked or answered or changed:
        yield Exchange(_both(asked, answered), tuple(changed)[:_FILES], summary)


def _both(asked: Piece | None, answered: Piece | None) -> tuple[Piece, ...]:
    return tuple(piece for piece in (asked, answered) if piece is not None)


class _Placing:
    """Places one conversation, a batch of exchanges at a time."""

    def __init__(
        self, vault: Vault, transcript: Transcript, wish: Wish, until: datetime | None
    ) -> None:
        self._vault, self._transcript, self._wish = vault, transcript, wish
        self._key = conversations.known_as(transcript.session_key)
        self._who = wish.who(transcript)
        self._until = until
        self._pauses = vault.pauses.read()
        self._heard: dict[tuple[str, str], list[datetime]] = {}
        for one in vault.turns.find("sessionKey", self._key):
            if not one.part:
                self._heard.setdefault(_words(one.said_by, one.text), []).append(one.at)
        self._followed = self._is_followed()
        self.stored, self.known = 0, 0
        self.last: datetime | None = until

    def place(self, batch: Sequence[Exchange]) -> None:
        """Store what is new of some exchanges in one transaction."""
        with self._vault.transaction():
            for exchange in batch:
                names = tuple(conversations.name_files(exchange.files, self._who))
                new = [turn for piece in exchange.said for turn in self._new(piece)]
                self.stored += len(new)
                if not self._wish.is_trial and (new or names):
                    self._store(new, names, exchange.summary)

    def _is_followed(self) -> datetime | None:
        """Return up to when hooks have heard this conversation, where they still follow it: the rest is theirs."""
        talk = self._vault.conversations.get(self._key)
        is_live = talk is not None and talk.ended_at is None
        is_near = talk is not None and self._vault.clock() - talk.last_seen_at < _LIVE
        return talk.last_seen_at if talk is not None and is_live and is_near else None

    def _new(self, piece: Piece) -> Iterator[Turn]:
        at = piece.at
        if at is None or piece.speaker is None or self._is_unwanted(at):
            return
        self.last = max(self.last or at, at)
        said = Said(text=piece.text, said_by=piece.speaker, key=f"past:{piece.key or at}")
        # Named after the host alone: a forked conversation repeats the turns of the one it comes from.
        heard = turns.hear_turn(self._transcript.host, [said], hear=self._wish.hear, at=at)
        for turn in heard:
            if self._vault.turns.get(turn.turn_id) is not None or self._was_heard(turn):
                self.known += 1
            else:
                yield turn

    def _is_unwanted(self, at: datetime) -> bool:
        is_read = self._until is not None and at <= self._until
        is_old = self._wish.since is not None and at < self._wish.since
        is_theirs = self._followed is not None and at > self._followed
        is_future = at > self._vault.clock()
        return is_read or is_old or is_theirs or is_future or pauses.covered(self._pauses, at)

    def _was_heard(self, turn: Turn) -> bool:
        words = _words(turn.said_by, turn_rules.chunks(turn.text)[0])
        return any(abs(at - turn.at) <= _NEAR for at in self._heard.get(words, ()))

    def _store(self, new: Sequence[Turn], names: tuple[str, ...], summary: str) -> None:
        vault = self._vault
        at = new[-1].at if new else self.last or vault.clock()
        met = participants.meet(vault, self._key, self._who, new[0].at if new else at)
        seen = Seen(who=self._who, at=at, report=Report(), turns=tuple(new))
        turns.capture(vault, seen)
        talk = met.conversation
        if at >= talk.last_seen_at:
            talk = _continued(talk, new, names, summary)
        kept = [part for turn in new for part in self._parts(turn, talk, names)]
        met = msgspec.structs.replace(met, conversation=talk)
        vault.write([*participants.ops(vault, met), *(self._put(part) for part in kept)])

    def _parts(self, turn: Turn, talk: Conversation, names: tuple[str, ...]) -> list[KeptTurn]:
        bare = msgspec.structs.replace(talk, files=())
        return turn_rules.parts(turn, bare, self._session(turn.at), names)

    def _session(self, at: datetime) -> str | None:
        vault = self._vault
        around = vault.sessions.around(at, at, vault.rule)
        covering = [one for one in around if one.started_at <= at <= one.last_event_at]
        return covering[-1].session_id if covering else None

    def _put(self, part: KeptTurn) -> Op:
        return self._vault.turns.put(turn_rules.part_id(part), part)


def _words(said_by: str, text: str) -> tuple[str, str]:
    return said_by, " ".join(text.split())


def _continued(
    talk: Conversation, new: Sequence[Turn], names: tuple[str, ...], summary: str
) -> Conversation:
    """Add an exchange to what is known of a conversation; it is over, and nothing of it waits to be saved."""
    for turn in new:
        is_users = turn.said_by == "user"
        report = Report(
            prompts=int(is_users),
            said=(prompts.condense(turn.text),) if is_users else (),
            last_words="" if is_users else prompts.condense(turn.text, prompts.LAST_WORDS),
            notes=turn.signal.notes,
        )
        talk = conversations.told(talk, report, turn.at)
    talk = conversations.told(talk, Report(files=names), talk.last_seen_at)
    return msgspec.structs.replace(
        talk,
        summary=conversations.kept(summary)[:SUMMARY] or talk.summary,
        ended_at=talk.last_seen_at,
        checkpointed_prompts=talk.prompt_count,
        checkpointed_at=talk.last_seen_at,
    )
