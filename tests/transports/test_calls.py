"""`call -`: every line gets exactly one answer with its own code, and the stream goes on."""

import json
from typing import Any

import pytest

from protocol.errors import Code, StorageFailedError
from sidecar.app import Application
from sidecar.storage.home import Home
from sidecar.transports.cli import calls
from tests.support import Repository


@pytest.fixture
def app(home: Home, repository: Repository) -> Application:
    return Application(home, here=repository.path, source="cli-auto")


def ask(app: Application, line: str | bytes | dict[str, Any]) -> Any:
    raw = (
        line
        if isinstance(line, bytes)
        else (line if isinstance(line, str) else json.dumps(line)).encode()
    )
    (answer,) = calls.answer_all(app, [raw + b"\n"])
    return json.loads(answer)


INGEST = "threadline/ingest"
SAVE = {"kind": "save", "files": [{"path": "a.py"}]}
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


@pytest.mark.parametrize(
    ("line", "identifier", "code", "field"),
    [
        ("not json", None, Code.PARSE_ERROR, None),
        (b"\xff\xfe", None, Code.PARSE_ERROR, None),
        ('{"id": 1, "method": "threadline/status", "params": {"project": NaN}}', None, Code.PARSE_ERROR, None),
        ("[" * 100_000, None, Code.PARSE_ERROR, None),
        ("[]", None, Code.INVALID_REQUEST, None),
        ("7", None, Code.INVALID_REQUEST, None),
        ({"id": 1}, 1, Code.INVALID_REQUEST, "method"),
        ({"id": 1, "method": 7}, 1, Code.INVALID_REQUEST, "method"),
        ({"id": {"a": 1}, "method": "threadline/status"}, None, Code.INVALID_REQUEST, "id"),
        ({"id": True, "method": "threadline/status"}, None, Code.INVALID_REQUEST, "id"),
        ({"id": "x", "method": "threadline/nothing"}, "x", Code.METHOD_NOT_FOUND, None),
        ({"id": 2, "method": INGEST}, 2, Code.INVALID_PARAMS, "events"),
        ({"id": 2, "method": INGEST, "params": []}, 2, Code.INVALID_PARAMS, None),
        ({"id": 2, "method": INGEST, "params": {"events": []}}, 2, Code.INVALID_PARAMS, "events"),
        ({"id": 2, "method": INGEST, "params": {"events": [7]}}, 2, Code.INVALID_PARAMS, "events[0]"),
        ({"id": 2, "method": INGEST, "params": {"events": [SAVE], "colour": 1}}, 2, Code.INVALID_PARAMS, "colour"),
        ({"id": 2, "method": INGEST, "params": {"events": [{**SAVE, "colour": 1}]}}, 2, Code.INVALID_PARAMS, "events[0].colour"),
        ({"id": 2, "method": INGEST, "params": {"events": [{"kind": "dance"}]}}, 2, Code.INVALID_PARAMS, "events[0].kind"),
        ({"id": 2, "method": INGEST, "params": {"events": [{"kind": "commit"}]}}, 2, Code.INVALID_PARAMS, "events[0].commit"),
        ({"id": 2, "method": INGEST, "params": {"events": [{**SAVE, "occurredAt": "yesterday"}]}}, 2, Code.INVALID_PARAMS, "events[0].occurredAt"),
        ({"id": 2, "method": INGEST, "params": {"events": [{**SAVE, "occurredAt": "2026-01-01T00:00:00"}]}}, 2, Code.INVALID_PARAMS, "events[0].occurredAt"),
        ({"id": 2, "method": INGEST, "params": {"events": [{"kind": "capture", "text": "x" * 100_001}]}}, 2, Code.INVALID_PARAMS, "events[0].text"),
        ({"id": 2, "method": INGEST, "params": {"events": [SAVE] * 1001}}, 2, Code.INVALID_PARAMS, "events"),
        ({"id": 3, "method": "threadline/sessions/list", "params": {"limit": "many"}}, 3, Code.INVALID_PARAMS, "limit"),
        ({"id": 3, "method": "threadline/sessions/list", "params": {"limit": 0}}, 3, Code.INVALID_PARAMS, "limit"),
        ({"id": 3, "method": "threadline/sessions/list", "params": {"before": ULID}}, 3, Code.NOT_FOUND, "before"),
        ({"id": 3, "method": "threadline/sessions/get", "params": {"sessionId": "../../etc"}}, 3, Code.INVALID_PARAMS, "sessionId"),
        ({"id": 3, "method": "threadline/sessions/get", "params": {"sessionId": ULID}}, 3, Code.NOT_FOUND, "sessionId"),
        ({"id": 3, "method": "threadline/sessions/events", "params": {"sessionId": ULID}}, 3, Code.NOT_FOUND, "sessionId"),
        ({"id": 3, "method": "threadline/sessions/close", "params": {"sessionId": ULID}}, 3, Code.NOT_FOUND, "sessionId"),
        ({"id": 3, "method": "threadline/sessions/close"}, 3, Code.CONFLICT, None),
        ({"id": 3, "method": "threadline/status", "params": {"project": "/nowhere"}}, 3, Code.NOT_FOUND, "project"),
    ],
)  # fmt: skip
def test_a_bad_request_has_its_own_code_and_changes_nothing(
    app: Application, line: Any, identifier: Any, code: Code, field: str | None
) -> None:
    """H4."""
    answer = ask(app, line)
    assert answer["id"] == identifier
    assert answer["error"]["code"] == code
    assert answer["error"].get("data", {}).get("field") == field
    assert "result" not in answer
    status = ask(app, {"id": 9, "method": "threadline/status"})
    assert (status["result"]["sessions"], status["result"]["events"]) == (0, 0)


def test_ingest_says_where_each_event_went(app: Application) -> None:
    """A7."""
    events = [
        SAVE | {"idempotencyKey": "one", "occurredAt": "2026-03-02T10:00:00+02:00"},
        SAVE | {"idempotencyKey": "two"},
        {
            "kind": "capture",
            "text": "we chose msgspec",
            "source": "mcp-server",
            "agentId": "planner",
        },
    ]
    answer = ask(
        app, {"id": "a", "method": INGEST, "params": {"source": "neovim", "events": events}}
    )
    first, second, third = answer["result"]["events"]
    assert first["outcome"] == second["outcome"] == third["outcome"] == "stored"
    assert first["sessionId"] != second["sessionId"] == third["sessionId"]
    again = ask(app, {"id": "b", "method": INGEST, "params": {"events": events[:2]}})
    assert [e["outcome"] for e in again["result"]["events"]] == ["duplicate", "duplicate"]
    got = ask(
        app,
        {"id": 1, "method": "threadline/sessions/get", "params": {"sessionId": first["sessionId"]}},
    )
    assert got["result"]["startedAt"] == "2026-03-02T08:00:00Z"
    assert got["result"]["sources"] == ["neovim"]
    listed = ask(
        app,
        {
            "id": 1,
            "method": "threadline/sessions/events",
            "params": {"sessionId": third["sessionId"]},
        },
    )
    assert [event["source"] for event in listed["result"]["events"]] == ["neovim", "mcp-server"]
    assert listed["result"]["events"][1]["agentId"] == "planner"


def test_a_request_without_an_id_is_answered_with_null(app: Application) -> None:
    assert ask(app, {"method": "threadline/status"})["id"] is None


def test_blank_lines_are_no_requests(app: Application) -> None:
    assert list(calls.answer_all(app, [b"\n", b"  \n", b""])) == []


def test_a_line_over_the_limit_is_refused(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H4."""
    monkeypatch.setattr(calls, "MAX_LINE", 100)
    assert (
        ask(app, '{"id": 1, "method": "' + "x" * 100 + '"}')["error"]["code"]
        == Code.INVALID_REQUEST
    )


def test_whatever_breaks_inside_is_answered_without_its_traceback(
    app: Application, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """H4."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(app, "call", fail)
    answer = ask(app, {"id": 5, "method": "threadline/status"})
    assert answer["error"]["code"] == Code.INTERNAL_ERROR
    assert "secret detail" not in json.dumps(answer)
    assert "secret detail" in caplog.text


def test_a_failing_disk_is_told_with_its_code(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H1, H4."""

    def refuse(*_: object) -> None:
        raise StorageFailedError("no space")

    monkeypatch.setattr(app, "call", refuse)
    assert ask(app, {"id": 5, "method": INGEST})["error"]["code"] == Code.STORAGE_FAILED
