"""What a dashboard refuses: each shape by itself, sent byte by byte with a key that would open the door."""

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import NOON, Repository, threadline
from tests.webs import Dashboard, Visitor, complaints

pytestmark = pytest.mark.slow

SECRET = "the harbour is in Lisbon"
"""What the store holds and nobody of these must see."""


@dataclass(frozen=True)
class Scene:
    """A dashboard, and all that opens its door."""

    dashboard: Dashboard
    visitor: Visitor

    def write(self, shape: str) -> bytes:
        """Fill in what a shape leaves open."""
        given = {
            "HOST": self.visitor.host,
            "PORT": str(self.dashboard.port),
            "SECRET": self.visitor.secret,
            "BEARER": self.dashboard.bearer,
            "KEY": base64.b64encode(b"sixteen bytes ok").decode(),
            "FILL": "x" * 40_000,
        }
        if "TOKEN" in shape:
            given["TOKEN"] = self.dashboard.invite()
        for name, value in given.items():
            shape = shape.replace(f"<{name}>", value)
        return shape.replace("\n", "\r\n").encode("latin-1")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("forbidden")
    home = {"THREADLINE_HOME": str(folder / "home")}
    repository = Repository.create(folder / "repository")
    repository.git("config", "user.name", "Ada")
    repository.git("config", "user.email", "ada@example.org")
    repository.commit(SECRET, at=NOON)
    threadline(
        "scan", "--all-authors", cwd=repository.path, THREADLINE_HOME=home["THREADLINE_HOME"]
    )
    with Dashboard(repository.path, environment=home) as dashboard:
        yield Scene(dashboard, dashboard.visit())
        dashboard.process.terminate()
        assert complaints(dashboard.process) == []


def get(
    path: str = "/api/checkpoints",
    host: str = "Host: <HOST>",
    more: str = "",
    version: str = "1.1",
) -> str:
    """Write a request as a program that may ask would, but for what is wrong with it."""
    lines = (f"GET {path} HTTP/{version}", host, BEARER, more)
    return "\n".join(line for line in lines if line) + "\n\n"


def ask(more: str = "", path: str = "/api/checkpoints") -> str:
    """Write how data is asked for, with whatever is shown instead of a bearer."""
    return "\n".join(filter(None, (f"GET {path} HTTP/1.1", "Host: <HOST>", more))) + "\n\n"


def post(more: str, body: str, path: str = "/session") -> str:
    head = f"POST {path} HTTP/1.1\nHost: <HOST>\n{more}"
    return f"{head}\n\n{body}"


def told(body: str, origin: str = "Origin: http://<HOST>", kind: str = "application/json") -> str:
    """Write how a token is shown."""
    size = len(body.replace("<TOKEN>", "t" * 43))
    return post(f"{origin}\nContent-Type: {kind}\nContent-Length: {size}".strip(), body)


def upgrade(more: str, path: str = "/rpc", method: str = "GET", version: str = "1.1") -> str:
    head = f"{method} {path} HTTP/{version}\nHost: <HOST>\nConnection: Upgrade\nUpgrade: websocket"
    return f"{head}\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: <KEY>\n{more}\n\n"


BEARER = "Authorization: Bearer <BEARER>"
OWN = "Origin: http://<HOST>"
SHOWN = '{"token":"<TOKEN>"}'

FORBIDDEN: dict[str, tuple[int, str]] = {
    # Hosts: a name that an attacker has pointed at this machine.
    "a stranger's host": (403, get(host="Host: evil.example")),
    "a stranger's host with our port": (403, get(host="Host: evil.example:<PORT>")),
    "a name that begins like ours": (403, get(host="Host: localhost.evil.example:<PORT>")),
    "a name that begins like our number": (403, get(host="Host: 127.0.0.1.evil.example:<PORT>")),
    "a name that resolves to us": (403, get(host="Host: 127.0.0.1.nip.io:<PORT>")),
    "another number of this machine": (403, get(host="Host: 127.0.0.2:<PORT>")),
    "our number in another notation": (403, get(host="Host: 2130706433:<PORT>")),
    "all numbers": (403, get(host="Host: 0.0.0.0:<PORT>")),
    "our number as IPv6": (403, get(host="Host: [::ffff:127.0.0.1]:<PORT>")),
    "this machine as IPv6": (403, get(host="Host: [::1]:<PORT>")),
    "our host without a port": (403, get(host="Host: 127.0.0.1")),
    "our host with another port": (403, get(host="Host: 127.0.0.1:1")),
    "our host with a dot": (403, get(host="Host: localhost.:<PORT>")),
    "our host behind a user": (403, get(host="Host: evil.example@127.0.0.1:<PORT>")),
    "our host behind a comma": (403, get(host="Host: evil.example, <HOST>")),
    "an empty host": (403, get(host="Host:")),
    "no host": (400, get(host="")),
    "two hosts": (400, get(host="Host: <HOST>\nHost: evil.example")),
    "twice the same host": (400, get(host="Host: <HOST>\nHost: <HOST>")),
    "a host with a space before its colon": (400, get(host="Host : <HOST>")),
    "only a forwarded host": (403, get(host="Host: evil.example\nX-Forwarded-Host: <HOST>")),
    # Origins and sites: a page of somebody else in the user's own browser.
    "a page without an origin": (403, get("/api/checkpoints", more="Origin: null")),
    "a stranger's origin": (403, get("/api/checkpoints", more="Origin: http://evil.example")),
    "an origin like ours": (403, get(more="Origin: http://localhost.evil.example:<PORT>")),
    "our origin at another port": (403, get(more="Origin: http://127.0.0.1:1")),
    "our origin with another scheme": (403, get(more="Origin: https://<HOST>")),
    "the other name of our host": (403, get(more="Origin: http://localhost:<PORT>")),
    "two origins": (403, get(more="Origin: http://<HOST>\nOrigin: http://evil.example")),
    "an empty origin": (403, get(more="Origin:")),
    "a request across sites": (403, get(more="Sec-Fetch-Site: cross-site")),
    "a request of another port": (403, get(more="Sec-Fetch-Site: same-site")),
    "a navigation across sites": (
        403,
        get("/enter", more="Sec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate"),
    ),
    "two words about the site": (
        403,
        get(more="Sec-Fetch-Site: same-origin\nSec-Fetch-Site: cross-site"),
    ),
    "a preflight": (
        403,
        get(more="Origin: http://evil.example").replace("GET", "OPTIONS", 1),
    ),
    "a preflight of our own": (405, get(more=OWN).replace("GET", "OPTIONS", 1)),
    # Methods.
    "TRACE": (405, get(more=OWN).replace("GET", "TRACE", 1)),
    "PUT": (405, get(more=OWN).replace("GET", "PUT", 1)),
    "DELETE": (405, get("/api/checkpoints", more=OWN).replace("GET", "DELETE", 1)),
    "a method that nobody knows": (405, get(more=OWN).replace("GET", "PROPFIND", 1)),
    "CONNECT": (404, get("127.0.0.1:<PORT>", more=OWN).replace("GET", "CONNECT", 1)),
    "a POST where there is only reading": (
        405,
        post(f"{OWN}\n{BEARER}\nContent-Length: 0", "", "/api/checkpoints"),
    ),
    "reading where something is done": (404, get("/session")),
    # Targets.
    "a whole address": (404, get("http://<HOST>/")),
    "the whole address of a stranger": (404, get("http://evil.example/")),
    "no path": (404, get("*").replace("GET", "GET", 1)),
    "a path with a zero": (404, get("/%00")),
    "a path with a line in it": (404, get("/%0d%0aSet-Cookie:%20a=b")),
    "a path that is not UTF-8": (404, get("/%ff%fe")),
    "a way up": (404, get("/../../../../etc/passwd")),
    "a written way up": (404, get("/%2e%2e/%2e%2e/etc/passwd")),
    "a way up with written slashes": (404, get("/..%2f..%2f..%2fetc%2fpasswd")),
    "a way up that is written twice": (404, get("/%252e%252e/%252e%252e/etc/passwd")),
    "a way up with other slashes": (404, get("/..%5c..%5cetc%5cpasswd")),
    "a way up with too long letters": (404, get("/%c0%ae%c0%ae/etc/passwd")),
    "a file of ours that is no page": (404, get("/../main.py")),
    "a folder": (404, get("/pages/")),
    "two slashes": (404, get("//evil.example/")),
    "a path beyond all measure": (404, get("/" + "a" * 5000)),
    # Versions, sizes, and bytes that two programs may read in two ways.
    "HTTP/1.0": (505, get(version="1.0")),
    "HTTP/1.0 without a host": (505, get(host="", version="1.0")),
    "HTTP/0.9": (400, "GET /\n\n"),
    "HTTP/2 without being asked": (505, "PRI * HTTP/2.0\n\nSM\n\n"),
    "no HTTP at all": (400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n"),
    "too long a header": (431, get(more="X-Fill: <FILL>")),
    "too many headers": (431, get(more="\n".join(f"X-{n}: {'y' * 30}" for n in range(1200)))),
    "too long a body": (413, post(f"{OWN}\nContent-Length: 1073741824", "{}")),
    "a body with no end to it": (
        413,
        post(
            f"{OWN}\nContent-Type: application/json\nTransfer-Encoding: chunked",
            "9999\n" + "x" * 6000,
        ),
    ),
    "a body where none belongs": (400, get("/api/checkpoints", more="Content-Length: 2") + "{}"),
    "a length that is none": (400, post(f"{OWN}\nContent-Length: -1", "")),
    "two lengths": (400, post(f"{OWN}\nContent-Length: 2\nContent-Length: 40", "{}")),
    "a length and chunks": (
        400,
        get("/", more="Content-Length: 6\nTransfer-Encoding: chunked")
        + "0\n\nGET /smuggled HTTP/1.1\n\n",
    ),
    "a length and chunks where a body belongs": (
        400,
        post(f"{OWN}\nContent-Length: 6\nTransfer-Encoding: chunked", "0\n\nGET / HTTP/1.1\n\n"),
    ),
    "chunks in a strange coding": (400, post(f"{OWN}\nTransfer-Encoding: gzip, chunked", "0\n\n")),
    "chunks that are none": (
        400,
        post(
            f"{OWN}\nContent-Type: application/json\nTransfer-Encoding: chunked", "zz\nnonsense\n"
        ),
    ),
    "a header that goes on in the next line, and a name with a space": (
        400,
        get(more="X-A: b\nTransfer Encoding: chunked"),
    ),
    # Keys.
    "no bearer": (401, ask()),
    "no bearer at one conversation": (401, ask(path="/api/checkpoints/main")),
    "a wrong bearer": (401, ask(f"Authorization: Bearer {'A' * 43}")),
    "two bearers": (401, ask(f"{BEARER}\nAuthorization: Bearer other")),
    "a bearer in another scheme": (401, ask("Authorization: Basic <BEARER>")),
    "a bearer as a cookie": (401, ask("Cookie: Authorization=Bearer <BEARER>")),
    "a bearer in the query": (401, ask(path="/api/checkpoints?token=<BEARER>")),
    "a secret as a bearer": (401, ask("Authorization: Bearer <SECRET>")),
    "a secret as a cookie": (401, ask("Cookie: threadline-<PORT>=<SECRET>")),
    "a secret in the query": (401, ask(path="/api/checkpoints?secret=<SECRET>")),
    "a token as a bearer": (401, ask("Authorization: Bearer <TOKEN>")),
    "a token as a cookie": (401, ask("Cookie: threadline-<PORT>=<TOKEN>")),
    "a token in the query": (401, ask(path="/api/checkpoints?token=<TOKEN>")),
    "a token in the path": (404, "GET /<TOKEN> HTTP/1.1\nHost: <HOST>\nConnection: close\n\n"),
    "a token shown by a stranger's page": (403, told(SHOWN, origin="Origin: http://evil.example")),
    "a token shown by nobody": (403, told(SHOWN, origin="")),
    "a token shown as a form": (415, told(SHOWN, kind="text/plain")),
    "a guessed token": (401, told(SHOWN.replace("<TOKEN>", "A" * 43))),
    "a token that is no text": (400, told('{"token":["a"]}')),
    # Sockets.
    "a socket without an origin": (403, upgrade(BEARER)),
    "a socket of no origin": (403, upgrade(f"{BEARER}\nOrigin: null")),
    "a socket of a stranger": (403, upgrade(f"{BEARER}\nOrigin: http://evil.example")),
    "a socket of another port": (403, upgrade(f"{BEARER}\nOrigin: http://127.0.0.1:1")),
    "a socket of another scheme": (403, upgrade(f"{BEARER}\nOrigin: ws://<HOST>")),
    "a socket of another site": (403, upgrade(f"{BEARER}\n{OWN}\nSec-Fetch-Site: cross-site")),
    "a socket at a stranger's host": (
        403,
        upgrade(f"{BEARER}\nOrigin: http://evil.example").replace("<HOST>", "evil.example", 1),
    ),
    "a socket elsewhere": (403, upgrade(f"{BEARER}\n{OWN}", path="/other")),
    "a socket by POST": (405, upgrade(f"{BEARER}\n{OWN}\nContent-Length: 0", method="POST")),
    "a socket without a key": (
        400,
        upgrade(f"{BEARER}\n{OWN}").replace("Sec-WebSocket-Key: <KEY>\n", ""),
    ),
    "a socket of another version": (
        400,
        upgrade(f"{BEARER}\n{OWN}").replace("Version: 13", "Version: 8"),
    ),
    "no socket where one belongs": (426, get("/rpc")),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_request_of_a_forbidden_shape_is_refused(scene: Scene, name: str) -> None:
    """G6."""
    status, shape = FORBIDDEN[name]
    answer = scene.dashboard.send(scene.write(shape))
    assert answer, "closed without a word"
    head, _, body = answer.partition(b"\r\n\r\n")
    assert re.findall(rb"^HTTP/1\.1 (\d+)", answer, re.MULTILINE) == [b"%d" % status]
    assert b"access-control-" not in answer.lower()
    assert b"set-cookie" not in head.lower()
    assert SECRET.encode() not in answer
    assert b"Traceback" not in body
    assert scene.dashboard.is_serving()


def test_the_table_is_long_enough_and_every_key_in_it_would_open_the_door(scene: Scene) -> None:
    """Part of G6."""
    assert len(FORBIDDEN) >= 40
    for shape in (
        get(more="Connection: close"),
        get("/api/checkpoints", more=f"{OWN}\nSec-Fetch-Site: same-origin\nConnection: close"),
        ask(f"{BEARER}\nConnection: close"),
    ):
        assert scene.dashboard.send(scene.write(shape)).startswith(b"HTTP/1.1 200 ")
    shown = told(SHOWN).replace("\n\n", "\nConnection: close\n\n")
    assert scene.dashboard.send(scene.write(shown)).startswith(b"HTTP/1.1 200 ")


def test_a_refused_request_leaves_no_trace(tmp_path: Path) -> None:
    """Part of G6."""
    repository = Repository.create(tmp_path / "other")
    with Dashboard(repository.path) as dashboard:
        evil = {"origin": "http://evil.example"}
        visitor = dashboard.visit()
        with visitor.open_tab() as tab:
            before = tab.request("threadline/status")["events"]
        body = b'{"jsonrpc":"2.0","id":1,"method":"threadline/purge","params":{"everything":true}}'
        for path in ("/rpc", "/session", "/"):
            answer = dashboard.send(
                f"POST {path} HTTP/1.1\r\nHost: {visitor.host}\r\n"
                f"Origin: {evil['origin']}\r\nContent-Type: text/plain\r\n"
                f"Content-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            assert answer.startswith(b"HTTP/1.1 403 ")
        with visitor.open_tab() as tab:
            assert tab.request("threadline/status")["events"] == before
