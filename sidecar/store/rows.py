"""The documents of one table in memory, with an index for each field that is asked for by value.

A document is read when it is first asked for: opening a project reads none of the thousands it does not need.
"""

import bisect
import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from sidecar.store import lines
from sidecar.store.lines import Document, Kept

Index = dict[Any, dict[str, None]]
"""Ids by the value of a field; by a tuple of values where there are several fields."""

_SLACK = 1000
"""Changes beyond twice the documents that are remembered."""


class Documents(Mapping[str, Document]):
    """Documents by id, each read when it is first asked for; they are not to be changed."""

    def __init__(self) -> None:
        """Begin empty."""
        self.kept: dict[str, Kept] = {}
        """The same, some of them unread."""

    def __getitem__(self, identifier: str) -> Document:
        """Give a document, the same object each time."""
        document = self.kept[identifier]
        if isinstance(document, msgspec.Raw):
            document = self.kept[identifier] = lines.read(document)
        return document

    def find(self, identifier: str) -> Document | None:
        """Give a document, if it is there."""
        document = self.kept.get(identifier)
        return self[identifier] if isinstance(document, msgspec.Raw) else document

    def __contains__(self, identifier: object) -> bool:
        """Tell whether there is such a document, without reading it."""
        return identifier in self.kept

    def __iter__(self) -> Iterator[str]:
        """Go through the ids."""
        return iter(self.kept)

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.kept)


class Rows:
    """Documents by id; equality look-ups take the same time whatever their number."""

    def __init__(self) -> None:
        """Begin empty; an index appears when a field is first asked for."""
        self.documents = Documents()
        self._indexes: dict[tuple[str, ...], Index] = {}
        self._ordered: list[str] | None = None
        """All ids in their order, once somebody asks for them so."""
        self._touched: list[str] = []
        """The ids of what was set or removed, in that order."""
        self._untold = 0
        """How many before these are not remembered any more."""
        self._fingerprints: dict[str, int] = {}
        """Of documents that have not changed since somebody has taken them."""

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.documents.kept)

    @property
    def revision(self) -> int:
        """Tell how many times a document was set or removed."""
        return self._untold + len(self._touched)

    def since(self, revision: int) -> set[str] | None:
        """Name what was set or removed since a revision; None where that is too long ago to tell."""
        if not self._untold <= revision <= self.revision:
            return None
        return set(self._touched[revision - self._untold :])

    def begin(self, documents: Mapping[str, Kept], fingerprints: Mapping[str, int]) -> None:
        """Set the first documents of all at once, whose fingerprints were taken before."""
        self.documents.kept.update(documents)
        self._touched += documents
        self._fingerprints.update(fingerprints)

    def fingerprints(self) -> dict[str, int]:
        """Give a number for each document that is another one when the document is."""
        known, kept = self._fingerprints, self.documents.kept
        new = {key: lines.fingerprint(kept[key]) for key in kept.keys() - known.keys()}
        return known | new

    def put(self, identifier: str, document: Kept | None) -> None:
        """Set a document, or remove it with None."""
        self._fingerprints.pop(identifier, None)
        if self._indexes:
            self._reindex(identifier, document)
        if self._ordered is not None and (identifier in self.documents.kept) != (
            document is not None
        ):
            self._reorder(self._ordered, identifier)
        if document is None:
            self.documents.kept.pop(identifier, None)
        else:
            self.documents.kept[identifier] = document
        self._touched.append(identifier)
        if len(self._touched) > _SLACK + 2 * len(self.documents.kept):
            gone = len(self._touched) // 2
            del self._touched[:gone]
            self._untold += gone

    def from_on(self, first: str) -> list[str]:
        """Give the ids that are not less than one, in their order."""
        if self._ordered is None:
            self._ordered = sorted(self.documents.kept)
        return self._ordered[bisect.bisect_left(self._ordered, first) :]

    def _reorder(self, ordered: list[str], identifier: str) -> None:
        """Take in an id that was not there, or take out one that was."""
        place = bisect.bisect_left(ordered, identifier)
        if identifier in self.documents.kept:
            del ordered[place]
        else:
            ordered.insert(place, identifier)

    def where(self, field: str, value: object) -> list[str]:
        """Give the ids of the documents whose field has this indexable value."""
        return list(self.index(field).get(value, ()))

    def index(self, *fields: str) -> Index:
        """Give the ids of all documents by the value of a field, or of several; it follows every change."""
        index = self._indexes.get(fields)
        if index is None:
            index = self._indexes[fields] = {}
            see = lines.glimpse(*fields)
            for identifier, document in self.documents.kept.items():
                _add(index, see(document), identifier)
        return index

    def _reindex(self, identifier: str, document: Kept | None) -> None:
        previous = self.documents.kept.get(identifier)
        for fields, index in self._indexes.items():
            see = lines.glimpse(*fields)
            if previous is not None:
                _remove(index, see(previous), identifier)
            if document is not None:
                _add(index, see(document), identifier)


def is_indexable(value: object) -> bool:
    """Tell whether documents can be found by this value; lists and objects cannot."""
    return value is None or isinstance(value, str | int | float | bool)


def _add(index: Index, value: object, identifier: str) -> None:
    try:
        index.setdefault(value, {})[identifier] = None
    except TypeError:
        # What cannot be indexed cannot be hashed either.
        return


def _remove(index: Index, value: object, identifier: str) -> None:
    with contextlib.suppress(TypeError):
        identifiers = index.get(value, {})
        identifiers.pop(identifier, None)
        if not identifiers:
            index.pop(value, None)
