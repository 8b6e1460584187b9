"""Keys: who may come in. A token opens the door once; what it is exchanged for opens it until we end."""

import hmac
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass

VALID_FOR = 300.0
"""Seconds in which a token must be used."""
_BYTES = 32
_TOKENS = 16
_VISITORS = 64
"""How many browsers may be in at once; the one that came first leaves for a new one."""

Clock = Callable[[], float]


@dataclass(frozen=True)
class _Visitor:
    """A browser that has shown a token."""

    secret: str
    authority: str
    """The host and port it came to; its cookie is worth nothing at another."""


class Keys:
    """Everything that opens the door of one server; used from its loop alone."""

    def __init__(self, clock: Clock) -> None:
        """Let nobody in yet; the clock counts seconds and never goes back."""
        self.bearer = secrets.token_urlsafe(_BYTES)
        """What programs show with every request; it opens what only tells."""
        self._clock = clock
        self._tokens: dict[str, float] = {}
        self._visitors: list[_Visitor] = []

    def issue(self) -> str:
        """Make a token that opens the door once, soon."""
        token = secrets.token_urlsafe(_BYTES)
        self._tokens[token] = self._clock() + VALID_FOR
        for oldest in [*self._tokens][:-_TOKENS]:
            del self._tokens[oldest]
        return token

    def exchange(self, token: str, authority: str) -> str | None:
        """Take a token and give the secret of a cookie; None for what is no token, or none any more."""
        known = next((one for one in self._tokens if _is_same(one, token)), None)
        if known is None or self._tokens.pop(known) < self._clock():
            return None
        visitor = _Visitor(secrets.token_urlsafe(_BYTES), authority)
        self._visitors = [*self._visitors, visitor][-_VISITORS:]
        return visitor.secret

    def knows(self, cookies: Iterable[str], authority: str) -> bool:
        """Tell whether the one cookie that was shown belongs to a visitor of this host and port."""
        shown = [*cookies]
        return len(shown) == 1 and any(
            _is_same(visitor.secret, shown[0]) and visitor.authority == authority
            for visitor in self._visitors
        )

    def is_bearer(self, shown: str) -> bool:
        """Tell whether a program has shown its token."""
        return _is_same(self.bearer, shown)


def _is_same(known: str, shown: str) -> bool:
    """Compare in a time that tells nothing of where they differ."""
    return hmac.compare_digest(known.encode(), shown.encode(errors="surrogatepass"))
