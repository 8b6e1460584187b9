"""The index of memories by words, files and meaning."""

import bisect
import math
import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from protocol.memories import MemoryStatus, MemoryType, Verdict
from sidecar.search.rules import indexes, words
from sidecar.search.rules.indexes import NOTHING, Entry, Index, Lexicon, Packed

SAME_STEM = 0.2
"""A module's tests beside the module itself, as a part of the very same file."""
SAME_FOLDER = 0.1
_CROWD = 200
"""A folder or a stem that more memories share says nothing about any of them."""
_FOLLOWED = 30
"""Files that are followed from one memory to others: the most telling ones of a few good answers."""


class Places:
    """Files, each with the memories that name it; also by folder and by stem. All names are hashed."""

    def __init__(self, files: Index | None = None, kin: Index | None = None) -> None:
        """Stand on indexes that were packed, or begin with nothing."""
        self.files = Index() if files is None else files
        self.kin = Index() if kin is None else kin

    def put(self, memory_id: str, files: Iterable[str]) -> None:
        """Learn a memory's files, in place of those known."""
        self.drop(memory_id)
        self.add(memory_id, files)

    def add(self, memory_id: str, files: Iterable[str]) -> None:
        """Learn the files of a memory that is not known."""
        known = tuple(dict.fromkeys(files))
        self.files.add(memory_id, dict.fromkeys(map(words.of, known), 1.0))
        self.kin.add(
            memory_id, dict.fromkeys((key for path in known for key, _ in _kin(path)), 1.0)
        )

    def drop(self, memory_id: str) -> None:
        """Forget a memory, if it is known."""
        self.files.drop(memory_id)
        self.kin.drop(memory_id)

    def near(self, files: Mapping[str, float]) -> dict[str, float]:
        """Tell how near memories are to weighted files: one for the same single file, less for its kin.

        Of several files a rare one tells more than one that every memory names. Half of the nearness is the best
        match, half the share of all: so a long list of files does not water down the one that matters.
        """
        rarities = {path: self._rarity(words.of(path)) for path in files}
        total = sum(weight * rarities[path] for path, weight in files.items()) or 1.0
        best: dict[str, float] = {}
        share: dict[str, float] = {}
        for path, weight in files.items():
            part = weight * rarities[path] / total
            for memory_id, kinship in self._near(path).items():
                best[memory_id] = max(best.get(memory_id, 0.0), weight * kinship)
                share[memory_id] = share.get(memory_id, 0.0) + part * kinship
        return {memory_id: (best[memory_id] + share[memory_id]) / 2 for memory_id in best}

    def company(self, good: Mapping[str, float]) -> dict[str, float]:
        """Follow the files of good answers to the memories that share them; the best has what the best of these has.

        Where the good answers name no files, the bad ones must not speak in their place.
        """
        telling: dict[int, float] = {}
        best = 0.0
        for memory_id, score in good.items():
            files = self.files.keys(memory_id)
            best = max(best, score) if files else best
            for key in files:
                telling[key] = telling.get(key, 0.0) + score / math.sqrt(len(files))
        weights = {key: score * self._rarity(key) for key, score in telling.items()}
        found: dict[str, float] = {}
        for key in sorted(weights, key=lambda key: (-weights[key], key))[:_FOLLOWED]:
            for memory_id in self.files.holders(key):
                found[memory_id] = found.get(memory_id, 0.0) + weights[key]
        most = max(found.values(), default=1.0)
        return {memory_id: best * score / most for memory_id, score in found.items()}

    def _near(self, path: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for key, kinship in _kin(path):
            if self.kin.count(key) <= _CROWD:
                found.update(dict.fromkeys(self.kin.holders(key), kinship))
        found.update(dict.fromkeys(self.files.holders(words.of(path)), 1.0))
        return found

    def _rarity(self, key: int) -> float:
        return math.log(1.0 + (1 + len(self.files)) / (1 + self.files.count(key)))


def _kin(path: str) -> tuple[tuple[int, float], tuple[int, float]]:
    """Give what a file shares with its kin, the weaker tie first."""
    return (
        (words.of_kind("folder", path.rpartition("/")[0]), SAME_FOLDER),
        (words.of_kind("stem", words.stem_of(path)), SAME_STEM),
    )


Grade = tuple[MemoryType, int, int, bool, int, float]
Standing = tuple[MemoryStatus, Verdict | None]
Moment = tuple[int, str]
"""When it happened, and whose moment that is."""
REFUSED = -1.0
"""The feedback of a memory that is not given any more unless it is searched for."""
grade = operator.attrgetter("type", "importance", "confidence", "pinned", "branch", "feedback")
"""Gives all that distinguishes memories of the same age."""
standing = operator.attrgetter("status", "verdict")
"""Tells how a memory is doing."""
_occurred = operator.attrgetter("occurred")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Item(Struct, frozen=True, kw_only=True):
    """What the catalogue learns of a memory."""

    memory_id: str
    entry: Entry
    occurred_at: datetime
    type: MemoryType = "fact"
    status: MemoryStatus = "active"
    verdict: Verdict | None = None
    importance: int = 3
    confidence: int = 3
    pinned: bool = False
    branch: str | None = None
    feedback: float = 0.0
    """From minus one (never useful) to one (always useful)."""
    marks: tuple[int, ...] = ()
    """Hashes of what else it is looked up by."""
    meaning: int = 0
    """A hash of the text that its meaning is taken from."""


class Traits(Struct, frozen=True, array_like=True, gc=False):
    """What ranking needs to know of a memory."""

    type: MemoryType
    status: MemoryStatus
    verdict: Verdict | None
    importance: int
    confidence: int
    pinned: bool
    branch: int
    """The name's hash; 0 where there is none."""
    feedback: float
    occurred: int
    """In microseconds since 1970."""
    meaning: int
    said: int
    """A hash of all that is indexed, so that a memory is read again only where it says something else."""


class Volume(Struct, frozen=True, array_like=True):
    """A catalogue as it is written down, without its words."""

    ids: tuple[str, ...] = ()
    """Memories in the order of their numbers."""
    traits: tuple[Traits, ...] = ()
    files: Packed = NOTHING
    kin: Packed = NOTHING
    marks: Packed = NOTHING


class Library(Struct, frozen=True, kw_only=True):
    """All catalogues of a project as they are written down, and of which memories they were made."""

    fingerprints: dict[str, int]
    """Of every memory that was looked at, also of those that are in no catalogue."""
    living: Volume
    retired: Volume


class Glossary(Struct, frozen=True, kw_only=True):
    """The words of all catalogues, which only questions in words need."""

    stemming: int
    """By which stemmer they were read."""
    living: Packed
    retired: Packed


class Catalogue:
    """The memories that can be found; whoever shares it between threads takes care of that."""

    def __init__(self, volume: Volume | None = None) -> None:
        """Begin with nothing, or with what was written down; its words come with `learn_words`, when they are needed."""
        self.has_words = volume is None
        """Whether it can answer questions in words."""
        volume = volume or Volume()
        self._began_with = volume.ids
        self.traits = dict(zip(volume.ids, volume.traits, strict=True))
        self._lexicon = Lexicon()
        self._unread: list[tuple[str, Entry | None]] = []
        """What came and went since words were last asked for, in that order: to read words takes the most time."""
        self.places = Places(Index(volume.files, volume.ids), Index(volume.kin, volume.ids))
        self._marks = Index(volume.marks, volume.ids)
        self._grades: dict[Grade, list[Moment]] | None = None
        self._standings: Counter[Standing] | None = None

    def learn_words(self, words: Packed) -> None:
        """Take in the words of what it began with; what has changed since is read when words are asked for."""
        self._lexicon = Lexicon(Index(words, self._began_with))
        self.has_words = True

    @property
    def lexicon(self) -> Lexicon:
        """The words of all memories; those that nobody has asked for are read now."""
        self.read_words()
        return self._lexicon

    def read_words(self) -> None:
        """Read the words of what came since words were last asked for, in that order: all indexes number alike."""
        if not self.has_words:
            return
        unread, self._unread = self._unread, []
        for memory_id, entry in unread:
            if entry is None:
                self._lexicon.drop(memory_id)
            else:
                self._lexicon.put(memory_id, entry)

    @property
    def unread(self) -> int:
        """Count what came and went since words were last asked for."""
        return len(self._unread)

    def put(self, item: Item) -> bool:
        """Learn a memory, in place of what was known under its id; tell whether it says something else."""
        known, traits = self.traits.get(item.memory_id), _traits(item)
        if is_new := known is None or known.said != traits.said:
            self._unread.append((item.memory_id, item.entry))
            if known is not None:
                self.places.drop(item.memory_id)
                self._marks.drop(item.memory_id)
            self.places.add(item.memory_id, item.entry.files)
            self._marks.add(item.memory_id, dict.fromkeys(item.marks, 1.0))
        if known is not None:
            self._ungrade(item.memory_id, known)
        self._recount(known, traits)
        self.traits[item.memory_id] = traits
        if self._grades is not None:
            moments = self._grades.setdefault(grade(traits), [])
            bisect.insort(moments, (traits.occurred, item.memory_id))
        return is_new

    def drop(self, memory_id: str) -> None:
        """Forget a memory, if it is known."""
        if (traits := self.traits.pop(memory_id, None)) is None:
            return
        self._unread.append((memory_id, None))
        self.places.drop(memory_id)
        self._marks.drop(memory_id)
        self._ungrade(memory_id, traits)
        self._recount(traits, None)

    def grades(self) -> Mapping[Grade, list[Moment]]:
        """Give the moments of each grade, the newest last."""
        if self._grades is None:
            self._grades = _graded(self.traits)
        return self._grades

    def standings(self) -> Counter[Standing]:
        """Count the memories by how they are doing; it is not to be changed."""
        if self._standings is None:
            self._standings = Counter(map(standing, self.traits.values()))
        return self._standings

    def marked(self, marks: Iterable[int]) -> set[str]:
        """Name the memories that have one of these marks."""
        return {memory_id for mark in marks for memory_id in self._marks.holders(mark)}

    def pack(self) -> Volume:
        """Write the catalogue down, without its words."""
        ids = tuple(self._marks.ids)
        return Volume(
            ids=ids,
            traits=tuple(self.traits[memory_id] for memory_id in ids),
            files=self.places.files.pack(),
            kin=self.places.kin.pack(),
            marks=self._marks.pack(),
        )

    def pack_words(self) -> Packed:
        """Write its words down, in the same order."""
        return self.lexicon.index.pack()

    def _recount(self, before: Traits | None, now: Traits | None) -> None:
        if self._standings is None:
            return
        if before is not None:
            self._standings[standing(before)] -= 1
        if now is not None:
            self._standings[standing(now)] += 1

    def _ungrade(self, memory_id: str, traits: Traits) -> None:
        if self._grades is None:
            return
        moments = self._grades[grade(traits)]
        del moments[bisect.bisect_left(moments, (traits.occurred, memory_id))]
        if not moments:
            del self._grades[grade(traits)]


def edition() -> int:
    """Give a number that is another one when the same memory would be written down in another way."""
    kinds = (Item, Traits, Volume, Library, Glossary, Packed)
    return words.of(repr((indexes.edition(), [kind.__struct_fields__ for kind in kinds])))


def microseconds(moment: datetime) -> int:
    """Give a moment as the catalogue counts it."""
    return (moment - _EPOCH) // _MICROSECOND


def branch_key(name: str | None) -> int:
    """Give a branch as the catalogue names it."""
    return words.of_kind("branch", name) if name else 0


def _graded(every: Mapping[str, Traits]) -> dict[Grade, list[Moment]]:
    found: defaultdict[Grade, list[Moment]] = defaultdict(list)
    moments = zip(map(_occurred, every.values()), every, strict=True)
    for key, moment in zip(map(grade, every.values()), moments, strict=True):
        found[key].append(moment)
    for ordered in found.values():
        ordered.sort()
    return dict(found)


def _traits(item: Item) -> Traits:
    return Traits(
        item.type,
        item.status,
        item.verdict,
        item.importance,
        item.confidence,
        item.pinned,
        branch_key(item.branch),
        item.feedback,
        microseconds(item.occurred_at),
        item.meaning,
        words.of_all((item.entry, item.marks)),
    )
