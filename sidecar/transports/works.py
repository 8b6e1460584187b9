"""Work under way: how far it is, and whether anyone still wants it."""

import time
from collections.abc import Callable
from typing import Any

from protocol.errors import CancelledError
from protocol.jobs import STAGES
from sidecar.transports.requests import Identifier, is_identifier

_PAUSE = 0.1
"""Seconds between two reports: people do not read faster."""
_TITLES = {
    "threadline/scan": "Importing commits",
    "threadline/enrichment/start": "Making memory",
    "threadline/enrichment/startAll": "Making memory",
    "threadline/enrichment/retry": "Making memory",
}

Tell = Callable[[dict[str, Any]], object]
"""Sends the params of `$/progress`; may be called from any thread."""


class Work:
    """What a request tells while it runs; calling it raises CancelledError once nobody wants it."""

    token: Identifier | None = None

    def __init__(self, tell: Tell, method: str) -> None:
        """Work on a request; without a token nobody is told."""
        self._tell = tell
        self._method = method
        self._is_cancelled = False
        self._is_over = False
        self._told_at = 0.0
        self._stage = ""

    def __call__(self, done: int, total: int, stage: str = "") -> None:
        """Say how much is done, of all or of one stage."""
        self.check()
        if time.monotonic() - self._told_at >= _PAUSE or stage != self._stage:
            self._told_at, self._stage = time.monotonic(), stage
            share = done / total if total else 0.0
            if stage in STAGES:
                share = (STAGES.index(stage) + share) / len(STAGES)
            message = f"{done:,} of {total:,}" if not stage else f"{stage}: {done:,} of {total:,}"
            self._report(kind="report", message=message, percentage=int(100 * share))

    def check(self) -> None:
        """Raise CancelledError if nobody wants it any more."""
        if self._is_cancelled:
            raise CancelledError("cancelled; what is done stays")

    def begin(self, token: Identifier) -> None:
        """Tell the client under this token from now on."""
        if not self._is_over:
            self.token = token
            title = _TITLES.get(self._method, self._method)
            self._report(kind="begin", title=title, cancellable=True, percentage=0)

    def cancel(self) -> None:
        """Want it no more."""
        self._is_cancelled = True

    def end(self) -> None:
        """Tell the client that it is over."""
        self._is_over = True
        self._report(kind="end")

    def _report(self, **value: object) -> None:
        if self.token is not None:
            self._tell({"token": self.token, "value": value})


class Works(dict[Identifier, Work]):
    """The works of one client by the ids of its requests; it may cancel each of them."""

    def cancel(self, params: object) -> None:
        """Cancel the request that a client names, if it is still open."""
        identifier = params.get("id") if isinstance(params, dict) else None
        work = self.get(identifier) if is_identifier(identifier) else None
        if work is not None:
            work.cancel()

    def cancel_progress(self, params: object) -> None:
        """Cancel what is told under the token that a client names."""
        token = params.get("token") if isinstance(params, dict) else None
        for work in self.values():
            if token is not None and work.token == token:
                work.cancel()
