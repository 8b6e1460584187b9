"""Confirmations: what cannot be undone is done only after the page has asked the person.

The page shows a dialog, then asks for a confirmation of exactly this request and sends it along. A request that was
sent without the dialog, twice, or with other params is refused. This guards against mistakes and against single
forged or replayed messages; whoever holds the secret of a tab can ask for a confirmation as the page does.
"""

import secrets
from collections.abc import Callable, Mapping

import msgspec

from protocol.errors import InvalidParamsError

ASKED_AGAIN = frozenset(
    {
        "threadline/purge",
        "threadline/memories/forget",
        "threadline/rules/write",
        "threadline/rules/refresh",
        "threadline/rules/remove",
    }
)
"""The methods that remove something for good, or write files that assistants obey."""
VALID_FOR = 60.0
"""Seconds in which a confirmation must be used."""
_MOST = 8
_BYTES = 16

Clock = Callable[[], float]
Subject = tuple[str, bytes]


class Confirmations:
    """What the person has agreed to in one tab and the page has not yet done."""

    def __init__(self, clock: Clock) -> None:
        """Begin with none; the clock counts seconds and never goes back."""
        self._clock = clock
        self._given: dict[str, tuple[Subject, float]] = {}

    def give(self, method: object, params: object) -> str:
        """Return a confirmation for one request with this method and these params."""
        if method not in ASKED_AGAIN or not isinstance(params, dict):
            names = ", ".join(sorted(ASKED_AGAIN))
            raise InvalidParamsError(
                f"`method` is one of {names}; `params` are its own", field="method"
            )
        confirmation = secrets.token_urlsafe(_BYTES)
        self._given[confirmation] = (_subject(str(method), params), self._clock() + VALID_FOR)
        for oldest in [*self._given][:-_MOST]:
            del self._given[oldest]
        return confirmation

    def take(self, confirmation: object, method: str, params: Mapping[str, object]) -> None:
        """Use a confirmation up; raise InvalidParamsError unless it was given for this very request."""
        subject, until = self._given.pop(str(confirmation), (None, 0.0))
        if subject != _subject(method, params) or until < self._clock():
            raise InvalidParamsError(
                f"{method} needs the person's confirmation: ask them, request it with "
                "dashboard/confirm, and send it once as `confirmation`",
                field="confirmation",
            )


def _subject(method: str, params: Mapping[str, object]) -> Subject:
    return method, msgspec.json.encode(params, order="sorted")
