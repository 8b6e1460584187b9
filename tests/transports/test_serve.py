"""`threadline serve` under a raw client: exactly one answer for each request, and an end with its client."""

import array
import contextlib
import fcntl
import json
import os
import random
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from protocol.errors import Code
from tests.lsp_client import RawClient, frame
from tests.support import HOUR, NOON, ROOT, Repository

pytestmark = pytest.mark.slow

STATUS = "threadline/status"


@pytest.fixture
def fresh(repository: Repository) -> Iterator[RawClient]:
    client = RawClient(repository.path)
    yield client
    client.close()


@pytest.fixture
def client(fresh: RawClient) -> RawClient:
    fresh.initialize()
    return fresh


def see_it_serves(client: RawClient) -> None:
    """The next answer is that of the next request: nothing was answered twice."""
    answer = client.request("after", STATUS, {})
    assert answer["id"] == "after"
    assert "result" in answer


def test_initialize_says_who_we_are_and_what_we_do(fresh: RawClient) -> None:
    """Part of G7."""
    answer = fresh.initialize()
    assert answer["result"]["serverInfo"]["name"] == "threadline"
    assert "capabilities" in answer["result"]
    see_it_serves(fresh)


def test_a_client_reads_what_was_scanned(client: RawClient, repository: Repository) -> None:
    repository.commit("one", at=NOON)
    repository.commit("two", at=NOON + 5 * HOUR)
    assert client.request(1, "threadline/scan", {})["result"]["imported"] == 2
    page = client.request(2, "threadline/sessions/list", {"limit": 1})["result"]
    assert (page["total"], len(page["sessions"])) == (2, 1)


def test_the_workspace_folder_is_the_project(fresh: RawClient, tmp_path: Any) -> None:
    other = Repository.create(tmp_path / "other")
    other.commit("elsewhere", at=NOON)
    fresh.initialize(workspaceFolders=[{"uri": other.path.as_uri(), "name": "other"}])
    assert fresh.request(1, STATUS)["result"]["name"] == "other"


@pytest.mark.parametrize("root", [None, "rootPath", "rootUri"])
def test_a_client_without_folders_works_where_it_says_or_started_us(
    repository: Repository, tmp_path: Path, root: str | None
) -> None:
    other = Repository.create(tmp_path / "other")
    places = {"rootPath": str(other.path), "rootUri": other.path.as_uri()}
    client = RawClient(repository.path)
    with contextlib.closing(client):
        client.initialize(**({root: places[root]} if root else {}))
        name = client.request(1, STATUS)["result"]["name"]
    assert name == ("other" if root else "repository")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"id": 1, "method": "threadline/nothing"}, Code.METHOD_NOT_FOUND),
        ({"id": 1, "method": "textDocument/nothing"}, Code.METHOD_NOT_FOUND),
        ({"id": 1, "method": "textDocument/nothing", "params": {"jsonrpc": "2.0"}}, Code.METHOD_NOT_FOUND),
        ({"id": 1, "method": "threadline/sessions/list", "params": {"limit": "x"}}, Code.INVALID_PARAMS),
        ({"id": 1, "method": "threadline/sessions/list", "params": {"limit": {"jsonrpc": "2.0"}}}, Code.INVALID_PARAMS),
        ({"id": 1, "method": "threadline/sessions/list", "params": [1]}, Code.INVALID_PARAMS),
        ({"id": 1, "method": "threadline/sessions/get"}, Code.INVALID_PARAMS),
        ({"id": 1, "method": "threadline/ingest", "params": {"class": 1, "a-b": 2}}, Code.INVALID_PARAMS),
        ({"id": 1, "method": "workspace/executeCommand"}, Code.INVALID_PARAMS),
        ({"id": 1, "method": "workspace/executeCommand", "params": {"command": 7}}, Code.INVALID_PARAMS),
        ({"id": 1, "method": "workspace/executeCommand", "params": {"command": "no.such"}}, Code.INVALID_PARAMS),
        ({"id": 1, "method": "initialize", "params": {"capabilities": {}}}, Code.INVALID_REQUEST),
        ({"id": 1, "method": 5}, Code.INVALID_REQUEST),
        ({"id": 1}, Code.INVALID_REQUEST),
    ],
)  # fmt: skip
def test_a_wrong_request_gets_one_answer_with_its_code(
    client: RawClient, message: dict[str, Any], code: Code
) -> None:
    """H4."""
    client.send({"jsonrpc": "2.0"} | message)
    answer = client.receive()
    assert (answer["id"], answer["error"]["code"]) == (1, code)
    assert "Traceback" not in json.dumps(answer)
    see_it_serves(client)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (frame(b"{not json"), Code.PARSE_ERROR),
        (frame(b"\xff\xfe\xfd"), Code.PARSE_ERROR),
        (frame(b"[" * 100_000), Code.PARSE_ERROR),
        (frame(b"[]"), Code.INVALID_REQUEST),
        (
            frame(b'{"jsonrpc":"2.0","id":{"a":1},"method":"threadline/status"}'),
            Code.INVALID_REQUEST,
        ),
        (b"Content-Length: 99999999999999\r\n\r\n", Code.INVALID_REQUEST),
        (b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", Code.INVALID_REQUEST),
        (b"No-Length: 1\r\n\r\n", Code.INVALID_REQUEST),
    ],
)
def test_what_is_no_request_is_answered_and_the_stream_goes_on(
    client: RawClient, raw: bytes, code: Code
) -> None:
    """H4."""
    client.send_raw(raw)
    answer = client.receive()
    assert (answer["id"], answer["error"]["code"]) == (None, code)
    see_it_serves(client)


def test_headers_may_be_written_small(client: RawClient) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": STATUS}).encode()
    client.send_raw(b"content-length:%d\r\n\r\n%b" % (len(body), body))
    assert client.receive()["id"] == 1


def test_unknown_notifications_and_answers_are_passed_over(client: RawClient) -> None:
    """H4."""
    client.send({"jsonrpc": "2.0", "method": "telemetry/unheard"})
    client.send({"jsonrpc": "2.0", "method": "textDocument/didSave", "params": {"wrong": 1}})
    client.send({"jsonrpc": "2.0", "method": "$/cancelRequest"})
    client.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 77}})
    client.send({"jsonrpc": "2.0", "id": "never-asked", "result": None})
    client.send({"jsonrpc": "2.0", "id": "never-asked", "error": {"code": 1, "message": "x"}})
    see_it_serves(client)


def test_initialize_comes_first_and_nothing_after_shutdown(fresh: RawClient) -> None:
    """H4."""
    assert fresh.request(1, STATUS)["error"]["code"] == Code.NOT_INITIALIZED
    fresh.initialize()
    assert fresh.request(2, "shutdown")["result"] is None
    assert fresh.request(3, STATUS)["error"]["code"] == Code.INVALID_REQUEST
    fresh.send({"jsonrpc": "2.0", "method": "exit"})
    assert fresh.process.wait(10) == 0


def test_exit_without_shutdown_is_told_by_the_exit_code(client: RawClient) -> None:
    client.send({"jsonrpc": "2.0", "method": "exit"})
    assert client.process.wait(10) == 1


def test_many_requests_at_once_get_an_answer_each(client: RawClient) -> None:
    """H4."""
    numbers = list(range(1, 201))
    client.send_raw(b"".join(
        frame(json.dumps({"jsonrpc": "2.0", "id": n, "method": STATUS if n % 2 else "no"}).encode())
        for n in numbers
    ))  # fmt: skip
    assert sorted(client.receive()["id"] for _ in numbers) == numbers
    see_it_serves(client)


def test_a_cancelled_request_and_a_doubled_id_get_one_answer_each(client: RawClient) -> None:
    """H4."""
    slow = {"jsonrpc": "2.0", "id": 1, "method": "threadline/scan", "params": {}}
    client.send_raw(
        frame(json.dumps(slow).encode())
        + frame(json.dumps(slow).encode())
        + frame(
            json.dumps(
                {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}}
            ).encode()
        )
    )
    codes = sorted(client.receive()["error"]["code"] for _ in range(2))
    assert codes == sorted([Code.INVALID_REQUEST, Code.CANCELLED])
    see_it_serves(client)


def test_what_pygls_cannot_take_stops_nothing(client: RawClient) -> None:
    """H4."""
    for odd in ([1], {"a": 1}, True, None, 1.5):
        client.send({"jsonrpc": "2.0", "id": odd, "result": 1})
        assert client.receive()["error"]["code"] == Code.INVALID_REQUEST
    see_it_serves(client)


def test_an_initialize_that_fails_can_be_repeated(fresh: RawClient) -> None:
    """H4."""
    wrong = fresh.request(1, "initialize", {"capabilities": 7, "processId": None, "rootUri": None})
    assert wrong["error"]["code"] == Code.INVALID_PARAMS
    assert fresh.initialize(rootUri="http://[::1")["error"]["code"] == Code.INTERNAL_ERROR
    assert fresh.initialize()["result"]["capabilities"] is not None
    see_it_serves(fresh)


def test_answers_under_way_are_given_before_the_end(client: RawClient) -> None:
    """H4."""
    session = fill(client, 5)
    asked = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "threadline/sessions/events",
        "params": {"sessionId": session},
    }
    client.send_raw(
        frame(json.dumps(asked).encode())
        + frame(b'{"jsonrpc":"2.0","id":3,"method":"shutdown"}')
        + frame(b'{"jsonrpc":"2.0","method":"exit"}')
    )
    answers = [client.receive(), client.receive()]
    assert sorted(answer["id"] for answer in answers) == [2, 3]
    assert client.process.wait(10) == 0


def fill(client: RawClient, events: int) -> str:
    """Give a session large events; return its id."""
    texts = [{"kind": "capture", "text": "x" * 90_000} for _ in range(events)]
    client.send(
        {"jsonrpc": "2.0", "id": 1, "method": "threadline/ingest", "params": {"events": texts}}
    )
    return str(client.receive()["result"]["events"][0]["sessionId"])


def test_the_server_ends_when_nobody_reads_its_answers(client: RawClient) -> None:
    assert client.process.stdout is not None
    client.process.stdout.close()
    client.send({"jsonrpc": "2.0", "id": 1, "method": STATUS})
    assert client.process.wait(10) == 1


def test_a_client_that_stops_reading_is_not_read_either(client: RawClient) -> None:
    params = {"sessionId": fill(client, 20)}
    asked = {"jsonrpc": "2.0", "method": "threadline/sessions/events", "params": params}
    numbers = list(range(100, 130))
    for number in numbers[:20]:
        client.send(asked | {"id": number})
    for number in numbers[20:]:
        time.sleep(0.3)
        client.send(asked | {"id": number})
    time.sleep(0.3)
    assert unread(client) > 0
    assert sorted(client.receive()["id"] for _ in numbers) == numbers
    assert unread(client) == 0
    see_it_serves(client)


def unread(client: RawClient) -> int:
    """Count the bytes that we sent and the server has not taken."""
    assert client.process.stdin is not None
    count = array.array("i", [0])
    fcntl.ioctl(client.process.stdin, termios.FIONREAD, count)
    return count[0]


def test_answers_can_go_to_a_file(repository: Repository, tmp_path: Path) -> None:
    begin = {
        "id": 0,
        "method": "initialize",
        "params": {"processId": None, "rootUri": None, "capabilities": {}},
    }
    messages = [begin, {"id": 1, "method": STATUS}, {"id": 2, "method": "shutdown"}]
    (tmp_path / "in").write_bytes(
        b"".join(frame(json.dumps({"jsonrpc": "2.0"} | message).encode()) for message in messages)
    )
    with (tmp_path / "in").open("rb") as stdin, (tmp_path / "out").open("wb") as stdout:
        done = subprocess.run(
            [sys.executable, "-c", "from sidecar.transports.entry import main; main()", "serve"],
            cwd=repository.path,
            env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
            stdin=stdin,
            stdout=stdout,
            timeout=20,
            check=False,
        )
    assert done.returncode == 0
    assert (tmp_path / "out").read_bytes().count(b"Content-Length: ") == 3


def test_the_server_ends_at_once_without_any_input(repository: Repository) -> None:
    command = [sys.executable, "-c", "from sidecar.transports.entry import main; main()", "serve"]
    done = subprocess.run(
        command,
        cwd=repository.path,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_the_server_ends_when_its_input_does(client: RawClient) -> None:
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(10) == 1


def test_the_server_ends_with_a_client_whose_pipe_somebody_else_keeps(
    repository: Repository,
) -> None:
    keeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    client = RawClient(repository.path)
    try:
        client.initialize(processId=keeper.pid)
        keeper.send_signal(signal.SIGKILL)
        keeper.wait()
        began = time.monotonic()
        assert client.process.wait(10) == 1
        assert time.monotonic() - began < 10
    finally:
        client.close()


def test_nothing_but_the_protocol_reaches_standard_output(repository: Repository) -> None:
    code = (
        "import sys, os, sidecar.app as app\n"
        "real = app.Application.call\n"
        "def noisy(*a):\n    print('noise'); os.system('echo louder'); return real(*a)\n"
        "app.Application.call = noisy\n"
        "sys.argv = ['threadline', 'serve']\n"
        "from sidecar.transports.entry import main\nmain()"
    )
    messages = [
        {
            "id": 0,
            "method": "initialize",
            "params": {"processId": None, "rootUri": None, "capabilities": {}},
        },
        {"id": 1, "method": STATUS},
        {"id": 2, "method": "shutdown"},
    ]
    client = RawClient.__new__(RawClient)
    client._received = b""
    client.process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=repository.path,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for message in messages:
        client.send({"jsonrpc": "2.0"} | message)
        assert client.receive()["id"] == message["id"]
    client.send({"jsonrpc": "2.0", "method": "exit"})
    output, errors = client.process.communicate(timeout=10)
    assert output == b""
    assert b"noise" in errors
    assert b"louder" in errors


def mangled(message: bytes, number: int) -> bytes:
    """Break a message in one of many ways, the same way each time."""
    chance = random.Random(number)
    place = chance.randrange(len(message))
    match number % 5:
        case 0:
            return message[:place]
        case 1:
            return message[:place] + bytes([chance.randrange(256)]) + message[place + 1 :]
        case 2:
            return message[:place] + message[place : place + 20] * 50 + message[place:]
        case 3:
            return message.replace(b'"params"', chance.choice([b'"param"', b'"id"', b'"method"']))
        case _:
            return message.replace(
                b"{}", chance.choice([b"[]", b"7", b'"x"', b"null", b"[[[[{}]]]]"])
            )


def test_hundreds_of_broken_messages_end_nothing(client: RawClient) -> None:
    """H4."""
    asked: set[int] = set()
    for number in range(500):
        message = {"jsonrpc": "2.0", "id": number, "method": STATUS, "params": {"project": None}}
        body = mangled(json.dumps(message | {"more": {}}).encode(), number)
        client.send_raw(frame(body))
        with contextlib.suppress(ValueError):
            read = json.loads(body)
            if isinstance(read, dict) and type(read.get("id")) is int and "method" in read:
                asked.add(read["id"])
    client.send({"jsonrpc": "2.0", "id": "last", "method": "threadline/version"})
    answered: list[Any] = []
    while "last" not in answered or not asked <= set(answered):
        answer = client.receive(10)
        assert answer is not None, sorted(asked - set(answered))
        answered.append(answer["id"])
    assert len(asked) > 100
    assert all(answered.count(number) == 1 for number in asked)
