"""Which conversation a new one continues, and what to repeat from it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec import Struct, field

from protocol.checkpoints import Checkpoint
from protocol.contexts import Lineage
from protocol.conversations import Conversation
from sidecar.capture.rules.sessions import EPOCH
from sidecar.conversations.rules import checkpoints, conversations, turns
from sidecar.conversations.rules.checkpoints import Work
from sidecar.conversations.rules.conversations import same
from sidecar.privacy import cleaning
from sidecar.text import characters, wording
from sidecar.text import own_words as text_own_words
from sidecar.text.patterns import late

HEADING = text_own_words.RECOVERY
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
_BLOCKED = late(
    r"\b(?:block(?:ed|ers?|ing)|stuck|waiting (?:for|on)|(?:cannot|can't) (?:proceed|continue|go on)"
    r"|blockiert|bloqu(?:é|ée|eado|eada|ant)|bloccato)\b",
    re.IGNORECASE,
)


class Trail(Struct, frozen=True, kw_only=True):
    """All that is kept of one conversation."""

    session_key: str
    conversation: Conversation | None = None
    checkpoints: tuple[Checkpoint, ...] = ()
    """The newest first."""
    prompts: tuple[str, ...] = ()
    """What the user said since the last checkpoint, the newest first."""


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
    share: float
    """The part of the room that is theirs before others may have the rest."""
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
    """Tell when something was last known of a conversation; the beginning of time where nothing is."""
    talk = trail.conversation
    moments = [one.created_at for one in trail.checkpoints[:1]]
    if talk is not None and conversations.is_telling(talk):
        moments.append(talk.last_seen_at)
    return max(moments, default=EPOCH)


def outline(trail: Trail, work: Work) -> list[Section]:
    """Sort what is known of a conversation, the most valuable first."""
    talk = trail.conversation
    said = checkpoints.grouped(talk.notes if talk else ())
    told = [line for words in _narratives(trail) for line in _lines(cleaning.clean(words))]
    files = dict.fromkeys((*(talk.files if talk else ()), *work.files))
    everything = (text for texts in (*said.values(), told) for text in texts)
    sections = (
        _section("Prompts, the newest first", _prompts(trail), 0.4),
        _section("Constraints", said["Constraints"], 0.2),
        _section("Decisions", said["Decisions"], 0.2),
        _section("Open", said["Open"], 0.15),
        msgspec.structs.replace(_section("In the agent's own words", told, 0.3), is_narrative=True),
        _section("Blocked", [text for text in everything if _BLOCKED.search(text)], 0.1),
        _section("Files at hand", list(files)[:_FILES], 0.1),
        _section("Commits", [checkpoints.short(commit) for commit in work.commits], 0.1),
        _section("Also said", said["Also said"], 0.0),
        _section("Asked to remember", _recent(trail, "remembered", "recent_remembers"), 0.0),
        _section("Searched for", _recent(trail, "queries", "memory_queries"), 0.0),
    )
    return [section for section in sections if section.lines]


def leave_out(sections: Iterable[Section], summary: str) -> list[Section]:
    """Return the sections without headings and without lines that a summary has word by word."""
    told = same(cleaning.clean(summary))
    left = (
        msgspec.structs.replace(
            section,
            lines=tuple(
                line
                for line in section.lines
                if not _HEADING.fullmatch(line) and same(line) not in told
            ),
        )
        for section in sections
    )
    return [section for section in left if section.lines]


def compose(
    trail: Trail, sections: Sequence[Section], budget: int, lineage: Lineage = "conversation"
) -> str:
    """Tell as much as there is room for, whole statements only; nothing where there is nothing to tell."""
    if not sections:
        return ""
    page = _Page(sections, _head(trail) + _caution(trail, lineage, budget), budget)
    page.fill(shared=True)
    page.fill(shared=False)
    page.clip()
    return page.text()


def own_words(checkpoint: Checkpoint) -> str:
    """Give what an agent or a host said of its conversation, without what was observed of it."""
    if checkpoint.trigger == "pre_compaction":
        return checkpoints.hosts_words(checkpoint)
    if checkpoint.trigger == "periodic" or checkpoint.digest.startswith(checkpoints.KEPT):
        return ""
    return checkpoint.digest.partition(checkpoints.OBSERVED)[0].strip()


class _Page(Struct):
    """A text that grows line by line and never beyond its room."""

    sections: Sequence[Section]
    head: str
    budget: int
    taken: defaultdict[int, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    said: set[str] = field(default_factory=set)
    room: int = 0

    def __post_init__(self) -> None:
        self.room = self.budget - len(self.head)

    def fill(self, *, shared: bool) -> None:
        """Take what fits: into each section's share of the room, or into what is left of all of it."""
        for number, section in enumerate(self.sections):
            room = min(self.room, int(section.share * self.budget)) if shared else self.room
            for place, line in enumerate(section.lines):
                if place in self.taken[number] or same(line) in self.said:
                    continue
                cost = self._cost(number, line)
                if cost <= room:
                    self._take(number, place, line)
                    room -= cost
                elif section.is_narrative:
                    break

    def clip(self) -> None:
        """Cut a line at a word where a section would say nothing otherwise."""
        for number, section in enumerate(self.sections):
            line = section.lines[0]
            room = self.room - self._cost(number, "")
            if not self.taken[number] and room >= _CLIPPED and same(line) not in self.said:
                self._take(number, 0, wording.clipped(line, room))

    def text(self) -> str:
        """Give the text."""
        parts = [self.head]
        for number, section in enumerate(self.sections):
            lines = [line for _, line in sorted(self.taken[number].items())]
            mark = "" if section.is_narrative else "- "
            parts += [f"\n{section.name}:"] if lines else []
            parts += [f"\n{mark}{line}" for line in lines]
        return "".join(parts) if any(self.taken.values()) else ""

    def _take(self, number: int, place: int, line: str) -> None:
        self.room -= self._cost(number, line)
        self.taken[number][place] = line
        self.said.add(same(line))

    def _cost(self, number: int, line: str) -> int:
        section = self.sections[number]
        title = 0 if self.taken[number] else len(section.name) + 2
        return title + len(line) + (1 if section.is_narrative else 3)


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
    """Tell where a conversation works, and where its state was last saved: it may have moved since."""
    known = (trail.conversation, *trail.checkpoints[:1])
    return {one.project_normalized for one in known if one is not None}


def _recency(trail: Trail) -> tuple[datetime, str]:
    return moment(trail), trail.session_key


def _head(trail: Trail) -> str:
    """Say which conversation it was, and when; the moment is that of what is known of it."""
    talk = trail.conversation
    source = talk if talk is not None else trail.checkpoints[0]
    last = moment(trail).astimezone(UTC)
    key, harness = map(_named, (source.session_key, source.harness))
    prompts = f"{source.prompt_count} prompt{'' if source.prompt_count == 1 else 's'}"
    return f"{HEADING}\nConversation {key} ({harness}), as of {last:%Y-%m-%d %H:%M} UTC, {prompts}."


def _named(name: str) -> str:
    """Write a name that anybody may have chosen on one line."""
    return wording.clipped(" ".join(characters.shown(name).split()), _KEY)


def _caution(trail: Trail, lineage: Lineage, budget: int) -> str:
    """Say that a conversation which was only found near may go on elsewhere; not where room is scarce."""
    talk = trail.conversation
    is_over = talk is None or talk.ended_at is not None
    is_wordy = len(_RUNNING) * _SCARCE > budget
    return "" if lineage != "path" or is_over or is_wordy else f"\n{_RUNNING}"


def _prompts(trail: Trail) -> list[str]:
    """Return what the user said, the newest first; nothing where all of it is small talk."""
    saved = (text for checkpoint in trail.checkpoints for text in turns.prompts(checkpoint.digest))
    prompts = [*trail.prompts, *saved]
    return prompts if any(len(text) >= turns.SMALL_TALK for text in prompts) else []


def _narratives(trail: Trail) -> list[str]:
    """Give an agent's or a host's own words, the latest first; observations where there is nothing else."""
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


def _section(name: str, lines: Iterable[str], share: float) -> Section:
    """Gather lines, each once, without what is known as a secret today."""
    return Section(name=name, lines=tuple(dict.fromkeys(map(cleaning.clean, lines))), share=share)


def _recent(trail: Trail, mine: str, theirs: str) -> list[str]:
    """Give what was remembered or searched for, the latest first."""
    talk: tuple[str, ...] = getattr(trail.conversation, mine, ())
    saved: tuple[str, ...] = getattr(trail.checkpoints[0], theirs) if trail.checkpoints else ()
    return [*reversed(talk), *reversed(saved)]
