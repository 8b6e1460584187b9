"""Conditions on documents: callables, as TinyDB wants them, that carry their SQL where a column has the field."""

import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

Test = Callable[[Mapping[str, Any]], bool]
Clause = tuple[str, list[Any]]
"""A WHERE clause and its values."""

_MISSING = object()
_SQL = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">="}
_MANY = 500
"""Values in one clause."""


class Condition:
    """A test of documents; `&`, `|` and `~` combine it with any other test."""

    def __init__(self, test: Test, clause: Callable[[Collection[str]], Clause | None]) -> None:
        self._test = test
        self.clause = clause
        """The same as SQL over these columns; None where it cannot be said so."""

    def __call__(self, value: Mapping[Any, Any]) -> bool:
        """Whether a document passes."""
        return self._test(value)

    def is_cacheable(self) -> bool:
        """Tell TinyDB to remember no answers: other processes write, too."""
        return False

    def __and__(self, other: Test) -> "Condition":
        """Pass what passes both."""
        return Condition(
            lambda document: self(document) and other(document), _joined("AND", self, other)
        )

    def __or__(self, other: Test) -> "Condition":
        """Pass what passes either."""
        return Condition(
            lambda document: self(document) or other(document), _joined("OR", self, other)
        )

    def __invert__(self) -> "Condition":
        """Pass what does not."""

        def clause(columns: Collection[str]) -> Clause | None:
            positive = self.clause(columns)
            return positive and (f"NOT coalesce({positive[0]}, 0)", positive[1])

        return Condition(lambda document: not self(document), clause)


class Field:
    """A field of documents, spelled as on the wire."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]  # a condition, as in TinyDB
        """Pass documents whose field has this value."""
        return self._condition(operator.eq, value, "IS ?")

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        """Pass documents that have the field, with another value."""
        name = self._name
        return Condition(
            lambda document: document.get(name, _MISSING) not in (value, _MISSING),
            # A column is NULL both for a missing field and for a null one: only Python can tell.
            lambda _columns: None,
        )

    def __lt__(self, value: Any) -> Condition:  # noqa: ANN401  # whatever can be compared
        """Pass documents whose field is less."""
        return self._condition(operator.lt, value)

    def __le__(self, value: Any) -> Condition:  # noqa: ANN401
        """Pass documents whose field is less or equal."""
        return self._condition(operator.le, value)

    def __gt__(self, value: Any) -> Condition:  # noqa: ANN401
        """Pass documents whose field is greater."""
        return self._condition(operator.gt, value)

    def __ge__(self, value: Any) -> Condition:  # noqa: ANN401
        """Pass documents whose field is greater or equal."""
        return self._condition(operator.ge, value)

    def one_of(self, values: Collection[Any]) -> Condition:
        """Pass documents whose field has one of these values."""
        wanted, name = list(values), self._name
        marks = ", ".join("?" * len(wanted))

        def clause(columns: Collection[str]) -> Clause | None:
            if name not in columns or len(wanted) > _MANY or not all(map(_is_sayable, wanted)):
                return None
            return f'"{name}" IN ({marks})', wanted

        return Condition(lambda document: document.get(name, _MISSING) in wanted, clause)

    __hash__ = None  # type: ignore[assignment]  # equality makes a condition, not a comparison

    def _condition(
        self,
        compare: Callable[[Any, Any], bool],
        value: Any,  # noqa: ANN401  # whatever can be compared
        sql: str = "",
    ) -> Condition:
        name = self._name

        def test(document: Mapping[str, Any]) -> bool:
            here = document.get(name, _MISSING)
            try:
                return here is not _MISSING and compare(here, value)
            except TypeError:
                # A text is neither less nor more than a number.
                return False

        def clause(columns: Collection[str]) -> Clause | None:
            if name not in columns or not _is_sayable(value):
                return None
            if sql:
                return f'"{name}" {sql}', [value]
            # SQLite would put every text after every number.
            kinds = "('text')" if isinstance(value, str) else "('integer', 'real')"
            return f'(typeof("{name}") IN {kinds} AND "{name}" {_SQL[compare]} ?)', [value]

        return Condition(test, clause)


def field(name: str) -> Field:
    """Name a field to make a condition of: `field("status") == "active"`."""
    return Field(name)


def _joined(word: str, left: Condition, right: Test) -> Callable[[Collection[str]], Clause | None]:
    def clause(columns: Collection[str]) -> Clause | None:
        first = left.clause(columns)
        second = right.clause(columns) if isinstance(right, Condition) else None
        if first is None or second is None:
            return None
        return f"({first[0]} {word} {second[0]})", [*first[1], *second[1]]

    return clause


def _is_sayable(value: object) -> bool:
    """Whether SQL means the same by a value: a column is NULL for a missing field, too, which equals not even None."""
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, int):
        return -(1 << 63) <= value < 1 << 63
    return isinstance(value, float) and value == value  # noqa: PLR0124  # not NaN
