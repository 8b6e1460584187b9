"""Which conversation a new one continues, and what to repeat from it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from protocol.checkpoints import Checkpoint
from protocol.contexts import Lineage
from protocol.conversations import Conversation
from sidecar.capture.rules.sessions import EPOCH
from sidecar.conversations.rules import checkpoints, conversations, prompts
from sidecar.conversations.rules.checkpoints import Work
from sidecar.conversations.rules.conversations import same
from sidecar.privacy import cleaning
from sidecar.text import characters, wording
from sidecar.text import own_words as text_own_words
from sidecar.text.patterns import late

HEADING = text_own_words.RECOVERY
PROMPTS = "Prompts, the newest first"
_NARRATIVES = 2
_FILES = 12
_LONG = 240
"""Letters from which a line of a narrative is taken sentence by sentence."""
_KEY = 48
_RUNNING = "It is another conversation in this folder and may still be running; what is open may be its own to finish."
_SCARCE = 8
"""The part of the room that may be spent on saying so."""
_CLIPPED = 80
_SENTENCE = late(r"(?<=[.!?;])\s+(?=\S)|(?<=[\u3002\uff01\uff1f])")
_HEADING = late(r"\s*(?:#{1,6}\s.*|[-=*_#\s]*|[^.]{0,40}:)")


class Trail(Struct, frozen=True, kw_only=True):
    """All that is kept of one conversation."""

    session_key: str
    conversation: Conversation | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    """The newest first."""


class Start(Struct, frozen=True, kw_only=True):
    """Who starts, and how far back it may look."""

    project_normalized: str
    session_key: str | None = None
    previous_session_key: str | None = None
    since: datetime
    until: datetime | None = None
    """What claims to be later was dated by a wrong clock."""


class Choice(Struct, frozen=True, kw_only=True):
    """The conversation that is continued, and how it was found."""

    trail: Trail
    lineage: Lineage


class Section(Struct, frozen=True, kw_only=True):
    """Lines of one kind."""

    name: str
    lines: tuple[str, ...]
    is_narrative: bool = False
    """Read from the beginning: where a line does not fit, none after it is told."""


def trails(known: Iterable[Conversation], saved: Iterable[Checkpoint]) -> dict[str, Trail]:
    """Put together what is kept of each conversation."""
    talks = {one.session_key: one for one in known}
    states: defaultdict[str, list[Checkpoint]] = defaultdict(list)
    for one in checkpoints.by_age(saved):
        states[one.session_key].append(one)
    return {
        key: Trail(
            session_key=key, conversation=talks.get(key), checkpoints=tuple(states.get(key, ()))
        )
        for key in sorted({*talks, *states})
    }


def choose(known: Mapping[str, Trail], start: Start) -> Iterator[Choice]:
    """Find what a start continues, the likeliest first.

    A conversation that was cut continues itself and nothing else; any other continues the one it names, or what
    that one continued, and else the latest in its very folder.
    """
    own = known.get(start.session_key or "")
    if own is not None and _is_recent(own, start):
        yield Choice(trail=own, lineage="conversation")
        return
    for trail in _ancestors(known, start):
        if _is_recent(trail, start):
            yield Choice(trail=trail, lineage="previous")
    for trail in sorted(known.values(), key=_recency, reverse=True):
        is_other = trail.session_key != start.session_key
        if is_other and start.project_normalized in _folders(trail) and _is_recent(trail, start):
            yield Choice(trail=trail, lineage="path")


def moment(trail: Trail) -> datetime:
    """Return when something was last known of a conversation; the beginning of time where nothing is."""
    talk = trail.conversation
    moments = [one.created_at for one in trail.checkpoints[:1]]
    if talk is not None and conversations.is_telling(talk):
        moments.append(talk.last_seen_at)
    return max(moments, default=EPOCH)


def outline(trail: Trail, work: Work) -> list[Section]:
    """Sort what is known of a conversation: its user's prompts, and what may fill the room that they leave."""
    talk = trail.conversation
    said = checkpoints.grouped(talk.notes if talk else ())
    told = [line for words in _narratives(trail) for line in _lines(cleaning.clean(words))]
    files = dict.fromkeys((*(talk.files if talk else ()), *work.files))
    sections = (
        _section(PROMPTS, reversed(talk.prompts if talk else ())),
        msgspec.structs.replace(_section("In the agent's own words", told), is_narrative=True),
        _section("Constraints", said["Constraints"]),
        _section("Decisions", said["Decisions"]),
        _section("The agent's last words", [talk.last_words] if talk and talk.last_words else []),
        _section("Files at hand", list(files)[:_FILES]),
        _section("Commits", [checkpoints.short(commit) for commit in work.commits]),
        _section("Open", said["Open"]),
        _section("Also said", said["Also said"]),
        _section("Asked to remember", _recent(trail, "remembered", "recent_remembers")),
        _section("Searched for", _recent(trail, "queries", "memory_queries")),
    )
    return [section for section in sections if section.lines]


def leave_out(sections: Iterable[Section], summary: str) -> list[Section]:
    """Return the sections without headings and without sentences that a summary has word by word."""
    told = same(cleaning.clean(summary))
    left = (
        msgspec.structs.replace(section, lines=tuple(_untold(section.lines, told)))
        for section in sections
    )
    return [section for section in left if section.lines]


def compose(
    trail: Trail, sections: Sequence[Section], budget: int, lineage: Lineage = "conversation"
) -> str:
    """Tell as much as there is room for, whole statements only; nothing where there is nothing to tell."""
    page = _Page(_head(trail) + _caution(trail, lineage, budget), budget)
    for section in sections:
        page.fill(_shortened(section, page.room))
    if not page.said and sections:
        page.clip(sections[0])
    return page.text if page.said else ""


def own_words(checkpoint: Checkpoint) -> str:
    """Return what an agent or a host said of its conversation, without what was observed of it."""
    if checkpoint.trigger == "pre_compaction":
        return checkpoints.hosts_words(checkpoint)
    if checkpoint.trigger == "periodic" or checkpoint.digest.startswith(checkpoints.KEPT):
        return ""
    return checkpoint.digest.partition(checkpoints.OBSERVED)[0].strip()


class _Page:
    """A text that grows line by line and never beyond its room; nothing stands in it twice."""

    def __init__(self, head: str, budget: int) -> None:
        """Begin with a head, which has its room."""
        self.text = head
        self.said = ""
        self.room = budget - len(head)
        self._section = ""

    def fill(self, section: Section) -> None:
        """Take what fits of a section."""
        for line in section.lines:
            if same(line) in self.said:
                continue
            if not self._take(section, line) and section.is_narrative:
                return

    def clip(self, section: Section) -> None:
        """Cut a line at a word where nothing would be said otherwise."""
        room = self.room - len(_titled(section, ""))
        if room >= _CLIPPED:
            self._take(section, wording.clipped(section.lines[0], room))

    def _take(self, section: Section, line: str) -> bool:
        written = _titled(section, line)
        if self._section == section.name:
            written = written.removeprefix(f"\n{section.name}:")
        if len(written) > self.room:
            return False
        self.text += written
        self.room -= len(written)
        self.said += f"\n{same(line)}"
        self._section = section.name
        return True


def _titled(section: Section, line: str) -> str:
    return f"\n{section.name}:\n{'' if section.is_narrative else '- '}{line}"


def _shortened(section: Section, room: int) -> Section:
    """Return prompts as long as all of them fit, and no longer than is usual where they do not."""
    if section.name != PROMPTS:
        return section
    for most in (prompts.KEPT, prompts.KEPT // 2, prompts.LONGEST):
        lines = tuple(prompts.shorten(line, most) for line in section.lines)
        if sum(len(line) + len("\n- ") for line in lines) <= room - len(PROMPTS) - 2:
            break
    return msgspec.structs.replace(section, lines=lines)


def _untold(lines: Iterable[str], told: str) -> Iterator[str]:
    """Return lines without the sentences that were told."""
    for line in lines:
        if _HEADING.fullmatch(line) or same(line) in told:
            continue
        parts = prompts.sentences(line)
        left = [part for part in parts if same(part) not in told]
        if left:
            yield line if len(left) == len(parts) else " ".join(left)


def _is_recent(trail: Trail, start: Start) -> bool:
    is_dated = start.until is None or moment(trail) <= start.until
    return is_dated and moment(trail) >= start.since > EPOCH


def _ancestors(known: Mapping[str, Trail], start: Start) -> Iterator[Trail]:
    """Follow the conversations that each continued another; a circle ends where it began."""
    met = {start.session_key}
    key = start.previous_session_key or _previous(known.get(start.session_key or ""))
    while key is not None and key not in met:
        met.add(key)
        trail = known.get(key)
        if trail is not None:
            yield trail
        key = _previous(trail)


def _previous(trail: Trail | None) -> str | None:
    talk = trail.conversation if trail else None
    return talk.previous_session_key if talk else None


def _folders(trail: Trail) -> set[str]:
    """Return where a conversation works, and where its state was last saved: it may have moved since."""
    known = (trail.conversation, *trail.checkpoints[:1])
    return {one.project_normalized for one in known if one is not None}


def _recency(trail: Trail) -> tuple[datetime, str]:
    return moment(trail), trail.session_key


def _head(trail: Trail) -> str:
    """Return which conversation it was, and when; the moment is that of what is known of it."""
    talk = trail.conversation
    source = talk if talk is not None else trail.checkpoints[0]
    last = moment(trail).astimezone(UTC)
    key, harness = map(_named, (source.session_key, source.harness))
    prompts = f"{source.prompt_count} prompt{'' if source.prompt_count == 1 else 's'}"
    return f"{HEADING}\nConversation {key} ({harness}), as of {last:%Y-%m-%d %H:%M} UTC, {prompts}."


def _named(name: str) -> str:
    return wording.clipped(" ".join(characters.shown(name).split()), _KEY)


def _caution(trail: Trail, lineage: Lineage, budget: int) -> str:
    """Say that a conversation which was only found near may go on elsewhere; not where room is scarce."""
    talk = trail.conversation
    is_over = talk is None or talk.ended_at is not None
    is_wordy = len(_RUNNING) * _SCARCE > budget
    return "" if lineage != "path" or is_over or is_wordy else f"\n{_RUNNING}"


def _narratives(trail: Trail) -> list[str]:
    """Return an agent's or a host's own words, the latest first; observations where there is nothing else."""
    words = [text for one in trail.checkpoints if (text := own_words(one))]
    if not words and trail.conversation is None:
        words = [one.digest.removeprefix(checkpoints.OBSERVED) for one in trail.checkpoints[:1]]
    return list(dict.fromkeys(words))[:_NARRATIVES]


def _lines(words: str) -> Iterator[str]:
    """Cut a narrative into what is told whole or not at all: lines, and sentences of long ones."""
    for line in words.splitlines():
        if len(line) <= _LONG:
            yield from filter(None, [line.rstrip()])
        else:
            yield from filter(None, map(str.rstrip, _SENTENCE.split(line)))


def _section(name: str, lines: Iterable[str]) -> Section:
    """Gather lines, each once, without what is known as a secret today."""
    return Section(name=name, lines=tuple(dict.fromkeys(map(cleaning.clean, lines))))


def _recent(trail: Trail, mine: str, theirs: str) -> list[str]:
    talk: tuple[str, ...] = getattr(trail.conversation, mine, ())
    saved: tuple[str, ...] = getattr(trail.checkpoints[0], theirs) if trail.checkpoints else ()
    return [*reversed(talk), *reversed(saved)]
