"""Keys: who may come in. An invitation is exchanged once for a secret, which works until we end.

A page keeps its secret in `sessionStorage` and sends it in a socket's first message. It is never a cookie: browsers
send the cookies of one port of this machine to every other port as well.
"""

import hmac
import secrets
from collections.abc import Callable

VALID_FOR = 300.0
"""Seconds in which an invitation must be used."""
_BYTES = 32
_INVITATIONS = 16
_VISITORS = 64
"""How many tabs may have a secret at once; the one that came first leaves for a new one."""

Clock = Callable[[], float]


class Keys:
    """Everything that opens the door of one server; used from its loop alone."""

    def __init__(self, clock: Clock) -> None:
        """Start without keys; the clock is monotonic, in seconds."""
        self.bearer = secrets.token_urlsafe(_BYTES)
        """What programs show with every request; it opens what only tells."""
        self._clock = clock
        self._invitations: dict[str, float] = {}
        self._secrets: list[str] = []

    def issue(self) -> str:
        """Return an invitation that can be exchanged once, soon."""
        invitation = secrets.token_urlsafe(_BYTES)
        self._invitations[invitation] = self._clock() + VALID_FOR
        for oldest in [*self._invitations][:-_INVITATIONS]:
            del self._invitations[oldest]
        return invitation

    def exchange(self, invitation: str) -> str | None:
        """Return a new secret for an invitation, or None if it is unknown, used or too old."""
        known = next((issued for issued in self._invitations if _is_same(issued, invitation)), None)
        if known is None or self._invitations.pop(known) < self._clock():
            return None
        secret = secrets.token_urlsafe(_BYTES)
        self._secrets = [*self._secrets, secret][-_VISITORS:]
        return secret

    def knows(self, secret: str) -> bool:
        """Return whether a secret was given for an invitation."""
        return any(_is_same(known, secret) for known in self._secrets)

    def is_bearer(self, shown: str) -> bool:
        """Return whether a program has shown its token."""
        return _is_same(self.bearer, shown)


def _is_same(known: str, shown: str) -> bool:
    return hmac.compare_digest(known.encode(), shown.encode(errors="surrogatepass"))
