"""An inverted index with BM25."""

import bisect
import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from sidecar.search.rules import words
from sidecar.search.rules.words import Terms

Posting = tuple["array[int]", "array[float]"]
"""Numbers of memories, ascending, and what the key weighs in each."""

_KEY, _NUMBER, _WEIGHT = "Q", "I", "f"
_WIDTH = array(_NUMBER).itemsize


class Packed(Struct, frozen=True, array_like=True):
    """An index as bytes of arrays, in the byte order of the machine."""

    keys: memoryview = memoryview(b"")
    """Ascending, each with memories."""
    starts: memoryview = memoryview(b"")
    """Where each key's memories begin; one more says where the last end."""
    numbers: memoryview = memoryview(b"")
    weights: memoryview = memoryview(b"")
    own_starts: memoryview = memoryview(b"")
    """Where each memory's keys begin, in the same manner."""
    own: memoryview = memoryview(b"")
    """The places of each memory's keys among all keys."""


NOTHING = Packed()


class Index:
    """Memories by keys; whoever shares it between threads takes care of that."""

    def __init__(self, packed: Packed = NOTHING, ids: Sequence[str] = ()) -> None:
        """Begin with what was packed and the memories it was packed for, or with nothing."""
        self._packed = packed
        self._keys = _array(_KEY, packed.keys)
        self._starts = _array(_NUMBER, packed.starts)
        self._own_starts = _array(_NUMBER, packed.own_starts)
        self._unfolded: dict[int, Posting] = {}
        """The postings that are not as they were packed, or were asked for."""
        self._put: dict[int, tuple[int, ...]] = {}
        """The keys of memories that were not packed, by number."""
        self.names = list(ids)
        """Memories by their numbers; nothing in the place of one that was dropped."""
        self._numbered: dict[str, int] | None = None
        """The numbers of memories, once somebody asks for one."""
        self._count = len(ids)

    def __len__(self) -> int:
        """Count the memories."""
        return self._count

    @property
    def ids(self) -> list[str]:
        """The memories in the order of their numbers."""
        return list(filter(None, self.names))

    def put(self, memory_id: str, weights: Mapping[int, float]) -> None:
        """Learn a memory's keys, in place of those known."""
        self.drop(memory_id)
        self.add(memory_id, weights)

    def add(self, memory_id: str, weights: Mapping[int, float]) -> None:
        """Learn the keys of a memory that is not known: what was packed need not be looked through for it."""
        number = len(self.names)
        self.names.append(memory_id)
        if self._numbered is not None:
            self._numbered[memory_id] = number
        self._count += 1
        self._put[number] = tuple(weights)
        for key, weight in weights.items():
            posting = self.posting(key)
            if posting is None:
                posting = self._unfolded[key] = (array(_NUMBER), array(_WEIGHT))
            posting[0].append(number)
            posting[1].append(weight)

    def drop(self, memory_id: str) -> None:
        """Forget a memory, if it is known."""
        if memory_id not in self._numbers:
            return
        keys = self.keys(memory_id)
        number = self._numbers.pop(memory_id)
        self.names[number] = ""
        self._count -= 1
        self._put.pop(number, None)
        for key in keys:
            self._take_out(key, number)

    def posting(self, key: int) -> Posting | None:
        """Give the memories that hold a key, if there are any; it is not to be changed."""
        posting = self._unfolded.get(key)
        if posting is None and (place := self._place(key)) is not None:
            posting = self._unfolded[key] = self._unfold(place)
        return posting if posting and posting[0] else None

    def count(self, key: int) -> int:
        """Count the memories that hold a key."""
        posting = self.posting(key)
        return len(posting[0]) if posting else 0

    def holders(self, key: int) -> list[str]:
        """Name the memories that hold a key."""
        posting = self.posting(key)
        return [self.names[number] for number in posting[0]] if posting else []

    def keys(self, memory_id: str) -> Sequence[int]:
        """Give the keys of a memory; none where it is not known."""
        number = self._numbers.get(memory_id)
        if number is None:
            return ()
        if number in self._put:
            return self._put[number]
        return [self._keys[place] for place in self._places(number)]

    @property
    def _numbers(self) -> dict[str, int]:
        if self._numbered is None:
            named = enumerate(self.names)
            self._numbered = {memory_id: number for number, memory_id in named if memory_id}
        return self._numbered

    def pack(self) -> Packed:
        """Write the index as arrays, for the memories in the order of their numbers."""
        living = (number for number, memory_id in enumerate(self.names) if memory_id)
        renumbered = {number: place for place, number in enumerate(living)}
        is_whole = len(renumbered) == len(self.names)
        starts, keys = array(_NUMBER, [0]), array(_KEY)
        numbers: array[int] = array(_NUMBER)
        weights: array[float] = array(_WEIGHT)
        for key, posting in self._postings():
            keys.append(key)
            numbers.extend(posting[0] if is_whole else map(renumbered.__getitem__, posting[0]))
            weights.extend(posting[1])
            starts.append(len(numbers))
        own_starts, own = self._pack_own(renumbered, keys)
        return Packed(
            keys=_bytes(keys),
            starts=_bytes(starts),
            numbers=_bytes(numbers),
            weights=_bytes(weights),
            own_starts=_bytes(own_starts),
            own=_bytes(own),
        )

    def _pack_own(
        self, living: Iterable[int], keys: "array[int]"
    ) -> tuple["array[int]", "array[int]"]:
        """Write down which memory has which keys, by their places."""
        places = {key: place for place, key in enumerate(keys)}
        moved = [places.get(key, 0) for key in self._keys]
        starts, own = array(_NUMBER, [0]), array(_NUMBER)
        for number in living:
            if number in self._put:
                own.extend(map(places.__getitem__, self._put[number]))
            else:
                own.extend(map(moved.__getitem__, self._places(number)))
            starts.append(len(own))
        return starts, own

    def _postings(self) -> Iterator[tuple[int, Posting]]:
        """Go through all keys in order, leaving none unfolded that was not."""
        packed = {key: place for place, key in enumerate(self._keys)}
        for key in sorted(packed.keys() | self._unfolded.keys()):
            posting = self._unfolded.get(key) or self._unfold(packed[key])
            if posting[0]:
                yield key, posting

    def _take_out(self, key: int, number: int) -> None:
        posting = self.posting(key)
        if posting is None:
            return
        at = bisect.bisect_left(posting[0], number)
        del posting[0][at], posting[1][at]
        # What was packed must not come back in an empty posting's place.
        if not posting[0] and self._place(key) is None:
            del self._unfolded[key]

    def _place(self, key: int) -> int | None:
        place = bisect.bisect_left(self._keys, key)
        return place if place < len(self._keys) and self._keys[place] == key else None

    def _unfold(self, place: int) -> Posting:
        part = slice(self._starts[place] * _WIDTH, self._starts[place + 1] * _WIDTH)
        packed = self._packed
        return _array(_NUMBER, packed.numbers[part]), _array(_WEIGHT, packed.weights[part])

    def _places(self, number: int) -> "array[int]":
        part = slice(self._own_starts[number] * _WIDTH, self._own_starts[number + 1] * _WIDTH)
        return _array(_NUMBER, self._packed.own[part])


def _array(kind: str, data: memoryview) -> "array":  # type: ignore[type-arg]  # of numbers or weights, as its kind says
    found = array(kind)
    found.frombytes(data)
    return found


def _bytes(made: "array[int] | array[float]") -> memoryview:
    return memoryview(made.tobytes())


_SATURATION = 1.2
"""BM25's k1: how soon a term's further occurrences stop to count."""


_ENOUGH = 3_000
"""Postings after which only the best so far are followed; in smaller projects every term finds."""
_FEW = 300


class Field(Struct, frozen=True):
    """How much a field's terms count."""

    weight: float
    usual: float
    """The length at which a term counts as it is."""
    penalty: float
    """BM25's b: how much of a longer field's length is held against it."""


TITLE = Field(weight=2.0, usual=8.0, penalty=0.5)
CONTENT = Field(weight=1.0, usual=40.0, penalty=0.4)
NAMES = Field(weight=1.5, usual=6.0, penalty=0.5)
FILES = Field(weight=1.0, usual=20.0, penalty=0.2)
"""Content and files as measured on sessions of real projects (`benchmarks/retrieval.py`): a session that touched much
also matters for much, so length is held against it less than usual (0.75 finds 0.03 less). A title is
a memory's content said again by its author, a tag or an entity a word chosen with care: they count for more."""


def edition() -> int:
    """Give a number that is another one when the same memory would have other terms or weights."""
    return words.of(repr((words.EDITION, _SATURATION, TITLE, CONTENT, NAMES, FILES)))


class Entry(Struct, frozen=True, kw_only=True):
    """What the lexicon reads of a memory."""

    title: str = ""
    content: str = ""
    names: tuple[str, ...] = ()
    """Its tags and entities."""
    files: tuple[str, ...] = ()


class Lexicon:
    """An inverted index of hashed terms; whoever shares it between threads takes care of that."""

    def __init__(self, index: Index | None = None) -> None:
        """Stand on an index that was packed, or begin with nothing."""
        self.index = Index() if index is None else index

    def __len__(self) -> int:
        """Count the memories."""
        return len(self.index)

    def put(self, memory_id: str, entry: Entry) -> None:
        """Learn a memory, in place of what was known under its id."""
        weights = weigh(entry).items()
        self.index.put(memory_id, {words.of(term): weight for term, weight in weights})

    def drop(self, memory_id: str) -> None:
        """Forget a memory, if it is known."""
        self.index.drop(memory_id)

    def score(self, question: Terms) -> dict[str, float]:
        """Score the memories that hold terms of the question.

        Rare terms find memories. Once these have found many, the common terms that are left only add to the best of
        what was found: alone they say little, and in a large collection they stand everywhere.
        """
        known = self._known(question)
        rarities = self._rarities(question, known)
        scores: dict[int, float] = {}
        score_of, looked_at = scores.get, 0
        for term in sorted(rarities, key=lambda term: (-rarities[term], term)):
            posting = known[term]
            looked_at += len(posting[0])
            if scores and looked_at > _ENOUGH:
                scores = _best(scores)
                _add_common(scores, known, rarities)
                break
            rarity = rarities.pop(term)
            for number, weight in zip(*posting, strict=True):
                scores[number] = score_of(number, 0.0) + rarity * weight
        ids = self.index.names
        return {ids[number]: score for number, score in scores.items()}

    def best(self, question: Terms) -> float:
        """Tell what a memory would score that holds every known term of the question as usual."""
        return sum(self._rarities(question, self._known(question)).values())

    def _known(self, question: Terms) -> dict[str, Posting]:
        postings = ((term, self.index.posting(words.of(term))) for term in question)
        return {term: posting for term, posting in postings if posting is not None}

    def _rarities(self, question: Terms, known: Mapping[str, Posting]) -> dict[str, float]:
        """Tell how much each known term of a question counts."""
        return {
            term: min(question[term], 1.0) * self._rarity(len(posting[0]))
            for term, posting in known.items()
        }

    def _rarity(self, holders: int) -> float:
        return math.log(1.0 + (len(self.index) - holders + 0.5) / (holders + 0.5))


def _add_common(
    scores: dict[int, float], known: Mapping[str, Posting], rarities: Mapping[str, float]
) -> None:
    for term, rarity in rarities.items():
        numbers, weights = known[term]
        for number in scores:
            at = bisect.bisect_left(numbers, number)
            if at < len(numbers) and numbers[at] == number:
                scores[number] += rarity * weights[at]


def _best(scores: dict[int, float]) -> dict[int, float]:
    """Keep the highest, and all that equal the least of them, so that no order matters."""
    if len(scores) <= _FEW:
        return scores
    least = sorted(scores.values(), reverse=True)[_FEW - 1]
    return {number: score for number, score in scores.items() if score >= least}


def weigh(entry: Entry) -> dict[str, float]:
    """Tell what each term of a memory is worth, before its rarity is known."""
    found: dict[str, float] = {}
    for field, terms in (
        (TITLE, words.count(entry.title)),
        (CONTENT, words.count(entry.content)),
        (NAMES, words.count(" ".join(entry.names))),
        (FILES, words.count_paths(entry.files)),
    ):
        _add(found, field, terms)
    return {
        term: weight * (_SATURATION + 1) / (weight + _SATURATION) for term, weight in found.items()
    }


def _add(found: dict[str, float], field: Field, terms: Mapping[str, float]) -> None:
    excess = sum(terms.values()) / field.usual
    factor = field.weight / (1 - field.penalty + field.penalty * excess)
    for term, count in terms.items():
        found[term] = found.get(term, 0.0) + factor * count
