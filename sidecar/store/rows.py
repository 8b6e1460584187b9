"""The documents of one table in memory, with an index for each field that is asked for by value."""

from typing import Any

from sidecar.store.lines import Document

_Index = dict[Any, dict[str, None]]


class Rows:
    """Documents by id; equality look-ups take the same time whatever their number."""

    def __init__(self) -> None:
        """Begin empty; an index appears when a field is first asked for."""
        self.documents: dict[str, Document] = {}
        self._indexes: dict[str, _Index] = {}

    def __len__(self) -> int:
        """Count the documents."""
        return len(self.documents)

    def put(self, identifier: str, document: Document | None) -> None:
        """Set a document, or remove it with None."""
        previous = self.documents.get(identifier)
        for field, index in self._indexes.items():
            if previous is not None:
                _remove(index, previous.get(field), identifier)
            if document is not None:
                _add(index, document.get(field), identifier)
        if document is None:
            self.documents.pop(identifier, None)
        else:
            self.documents[identifier] = document

    def where(self, field: str, value: object) -> list[str]:
        """Give the ids of the documents whose field has this indexable value."""
        return list(self.index(field).get(value, ()))

    def index(self, field: str) -> _Index:
        """Give the ids of all documents by the value of a field; it follows every change."""
        index = self._indexes.get(field)
        if index is None:
            index = self._indexes[field] = {}
            for identifier, document in self.documents.items():
                _add(index, document.get(field), identifier)
        return index


def is_indexable(value: object) -> bool:
    """Tell whether documents can be found by this value; lists and objects cannot."""
    return value is None or isinstance(value, str | int | float | bool)


def _add(index: _Index, value: object, identifier: str) -> None:
    if is_indexable(value):
        index.setdefault(value, {})[identifier] = None


def _remove(index: _Index, value: object, identifier: str) -> None:
    if is_indexable(value):
        identifiers = index.get(value, {})
        identifiers.pop(identifier, None)
        if not identifiers:
            index.pop(value, None)
