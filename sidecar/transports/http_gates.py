"""The gate: which requests are looked at at all, and what every answer carries.

A browser visits strangers' pages too, and they may send us requests: by our address, by a name of theirs that points
to this machine. Whatever does not come from our own pages is refused before anything is
read or done, by plain rules that stand in one list.
"""

import asyncio
import email.utils
import math
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

MAX_BODY = 4 * 1024
"""Bytes; the only body that anyone sends is a token."""
MAX_HEADERS = 32 * 1024
"""Bytes; browsers show us the cookies of every other server of this machine."""
LOCAL_NAMES = ("127.0.0.1", "localhost")
_PATIENCE = 60.0
"""Seconds in which an answer is given, and read."""
_TOLD = ("GET", "HEAD")
_OWN_SITE = {"same-origin", "none"}
"""What browsers say of requests by our own pages, and by the user's own hand."""

Refusal = tuple[int, str]
Rule = Callable[["Visit"], Refusal | None]


class Place(Struct, frozen=True, kw_only=True):
    """What is served behind a gate, and for whom."""

    hosts: frozenset[str]
    """What requests may call us, with the port."""
    max_body: int = MAX_BODY
    is_for_programs: bool = False
    """Programs name no origin, and only browsers must; whoever names one must name ours."""
    patience: float = _PATIENCE


class Visit:
    """One request, as far as the gate looks at it."""

    def __init__(self, scope: Scope, place: Place) -> None:
        """Look at a request to what is served at a place."""
        self.place = place
        self.is_socket = scope["type"] == "websocket"
        self.method: str = scope.get("method", "GET")
        self.version: str = scope["http_version"]
        self.headers = Headers(scope=scope)

    @property
    def authority(self) -> str:
        """Return the host and port that the request names; empty where it does not name one."""
        named = self.headers.getlist("host")
        return named[0] if len(named) == 1 else ""


def hosts(port: int, names: Iterable[str] = LOCAL_NAMES) -> frozenset[str]:
    """Return the hosts that we are, as browsers write them."""
    names = tuple(names)
    return frozenset(f"{name}:{port}" for name in names) | frozenset(names if port == 80 else ())  # noqa: PLR2004  # HTTP's own


def refusal(visit: Visit) -> Refusal | None:
    """Return why a request is refused, and with which status; None for one that may go on."""
    return next((found for rule in _RULES if (found := rule(visit))), None)


def _check_version(visit: Visit) -> Refusal | None:
    return None if visit.version == "1.1" else (505, "this is HTTP/1.1 only")


def _check_host(visit: Visit) -> Refusal | None:
    return (
        None if visit.authority in visit.place.hosts else (403, "this is not the host you look for")
    )


def _check_site(visit: Visit) -> Refusal | None:
    said = set(visit.headers.getlist("sec-fetch-site"))
    return None if said <= _OWN_SITE else (403, "requests of other sites are refused")


def _check_origin(visit: Visit) -> Refusal | None:
    """Accept requests of our own pages; those that change something must name their origin."""
    said = visit.headers.getlist("origin")
    is_change = visit.is_socket or visit.method not in _TOLD
    needs_one = is_change and not visit.place.is_for_programs
    is_own = said == [f"http://{visit.authority}"] or not (said or needs_one)
    return None if is_own else (403, "requests of other origins are refused")


def _check_headers(visit: Visit) -> Refusal | None:
    # h11 measures only what has not come in whole.
    size = sum(len(name) + len(value) for name, value in visit.headers.raw)
    return None if size <= MAX_HEADERS else (431, "too many or too long headers")


def _check_body(visit: Visit) -> Refusal | None:
    """Read no body that nobody wants; how long one is that does not say it is seen when it is read."""
    length = visit.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > visit.place.max_body:
        return (413, f"a body may have {visit.place.max_body} bytes")
    is_chunked = "transfer-encoding" in visit.headers
    if is_chunked and "content-length" in visit.headers:
        return (400, "a body has a length or chunks, not both")
    has_body = length != "0" or is_chunked
    is_wanted = visit.method not in _TOLD and not visit.is_socket
    return (400, "no body is expected here") if has_body and not is_wanted else None


_RULES: tuple[Rule, ...] = (
    _check_version,
    _check_host,
    _check_site,
    _check_origin,
    _check_headers,
    _check_body,
)


class Gate:
    """Refuses what must be refused, and writes what every answer must say."""

    def __init__(self, inside: ASGIApp, place: Place) -> None:
        """Stand before an application that is served at a place."""
        self._inside = inside
        self._place = place
        self._spoken = speak(place.hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or let one socket in."""
        has_begun = False

        async def answer(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            if message["type"] in {"http.response.start", "websocket.http.response.start"}:
                told = MutableHeaders(scope=message)
                told.update(self._spoken)
                told["date"] = email.utils.formatdate(usegmt=True)
            await send(message)

        found = refusal(Visit(scope, self._place))
        if found is not None:
            await refuse(found, scope, receive, answer)
        elif scope["type"] == "websocket":
            await self._inside(scope, receive, answer)
        else:
            try:
                async with asyncio.timeout(self._place.patience):
                    await self._inside(scope, receive, answer)
            except TimeoutError:
                if not has_begun:
                    await refuse((503, "this takes too long"), scope, receive, answer)


def speak(names: frozenset[str]) -> Mapping[str, str]:
    """Return the headers of every answer: what our pages may do, and that nobody else may have it."""
    sockets = " ".join(f"ws://{host}" for host in sorted(names))
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        f"connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-embedder-policy": "require-corp",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
        "cache-control": "no-store",
    }


async def refuse(why: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with a status and a sentence, and hear no more on this connection."""
    status, words = why
    response = PlainTextResponse(f"{words}\n", status, headers={"connection": "close"})
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).send_denial_response(response)
    else:
        await response(scope, receive, send)


Ticks = Callable[[], float]


class Limit:
    """Lets through so many at once, and so many a second after that."""

    def __init__(self, burst: int, per_second: float, clock: Ticks) -> None:
        """Begin with everything free; the clock counts seconds and never goes back."""
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._free = float(burst)
        self._at = clock()

    def take(self) -> float:
        """Count one; give the seconds to wait where there were too many, which does not count."""
        now = self._clock()
        self._free = min(self._burst, self._free + (now - self._at) * self._per_second)
        self._at = now
        if self._free < 1:
            return (1 - self._free) / self._per_second
        self._free -= 1
        return 0.0


def retry_after(seconds: float) -> str:
    """Write for how long to wait, in the whole seconds of HTTP."""
    return str(max(1, math.ceil(seconds)))
