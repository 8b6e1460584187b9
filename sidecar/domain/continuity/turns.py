"""Turns: what is said and done in a conversation, kept in few words until the conversation is saved."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from protocol.conversations import Conversation, Note, Speaker
from protocol.turns import ENTRY_LIMIT, Activity, Entry, KeptActivity
from sidecar.domain import privacy
from sidecar.domain.continuity import conversations
from sidecar.domain.enrichment import wording
from sidecar.domain.hashing import blake2b

FLAGGED = 0.5
"""The score from which a turn is read for memory."""
ACTIVITIES = 200
ENTRIES = 100
"""How many of one conversation wait; of more the oldest go."""
_SIZE = 12
_FEWEST = 5
"""Questions from which on a conversation is worth a word though nothing came of it."""
SMALL_TALK = 25
"""Letters of what is said in passing."""
_TELLING = 40
"""Letters of a turn that nobody says twice by chance."""
_MOMENT = timedelta(minutes=2)
_SHOWN = 40
_CLIPPED = 200
"""Letters of an assistant's turn in a checkpoint; a prompt stays whole, since recovery is made of prompts."""
_TURNS = "### Last Turns"
_USER = "- user: "


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
        """Tell whether the turn is to be read for memory."""
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


def activity(session_key: str, done: Activity, now: datetime) -> KeptActivity:
    """Write down what was done, without what is private, secret or ours; the same at one moment is the same."""
    at = min(done.at or now, now)
    tool = privacy.clean(done.tool)
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


def is_significant(
    conversation: Conversation, done: Iterable[KeptActivity], said: Iterable[Entry]
) -> bool:
    """Tell whether a conversation leaves something behind: greetings and mere looking do not."""
    if conversation.notes or conversation.files or conversation.remembered:
        return True
    if any(one.category == "write" for one in done):
        return True
    asked = [one for one in said if one.said_by == "user" and len(one.text) >= SMALL_TALK]
    return len(asked) >= _FEWEST or any(one.signal_score >= FLAGGED for one in asked)


def is_repeated(turn: Entry, said: Iterable[Entry]) -> bool:
    """Tell whether the very same was said by the same a moment before or after; short words prove nothing."""
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
        yield _TURNS
        yield from map(_line, sorted(said, key=lambda turn: turn.at)[-_SHOWN:])


def prompts(observed: str) -> list[str]:
    """Return the user's prompts that `tell` wrote down, the newest first."""
    _, _, last = observed.partition(f"\n{_TURNS}\n")
    lines = last.split("\n###", 1)[0].splitlines()
    return [line.removeprefix(_USER) for line in reversed(lines) if line.startswith(_USER)]


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
    if turn.said_by == "user":
        return f"{_USER}{turn.text}"
    return f"- {turn.said_by}: {wording.clipped(turn.text, _CLIPPED)}"


def _kept(text: str) -> str:
    return _short(conversations.kept(text))


def _short(text: str) -> str:
    return wording.clipped(" ".join(text.split()), ENTRY_LIMIT)
