"""What agents and people share, as every transport serves it: limits, refusals, and no secret in an answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protocol.errors import Code, InvalidParamsError
from protocol.messages import SentMessage
from sidecar.app import Application
from sidecar.capture.rules.sessions import Rule
from sidecar.storage.home import Home
from sidecar.storage.ulids import Ids
from tests import records
from tests.support import FixedClock, Repository

TOKEN = "ghp_" + "a1B2c3D4e5F6" * 3
SHARED = ("tasks", "messages", "documents", "revisions", "links", "agents")


@pytest.fixture
def app(repository: Repository, tmp_path: Path, clock: FixedClock) -> Iterator[Application]:
    repository.commit("first", name="src/signing.py")
    home = Home(tmp_path / "home", Ids(clock), Rule())
    app = Application(home, here=repository.path, source="vscode")
    yield app
    app.close()


def call(app: Application, method: str, **params: Any) -> Any:
    return msgspec.to_builtins(app.call(f"threadline/{method}", params))


def refusal(app: Application, method: str, **params: Any) -> Any:
    answer = app.answer(1, f"threadline/{method}", params)
    return msgspec.json.decode(msgspec.json.encode(answer))["error"]


def kept(app: Application) -> int:
    vault = app.vault(None)
    return sum(len(records.shelves(vault)[name]) for name in SHARED)


def task(**fields: object) -> dict[str, object]:
    return {"tasks": [{"title": "x"} | fields]}


TO_B = {"targetId": "b", "content": "hear"}
ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
LIMITS = [
    ("tasks/create", "tasks[0].title", 500, lambda text: task(title=text)),
    ("tasks/create", "tasks[0].description", 5_000, lambda text: task(description=text)),
    ("tasks/create", "tasks[0].doneWhen", 1_000, lambda text: task(doneWhen=text)),
    ("tasks/create", "tasks[0].assignedAgentId", 200, lambda text: task(assignedAgentId=text)),
    ("tasks/create", "agentId", 200, lambda text: task() | {"agentId": text}),
    ("tasks/create", "idempotencyKey", 512, lambda text: task() | {"idempotencyKey": text}),
    ("tasks/update", "title", 500, lambda text: {"taskId": ID, "title": text}),
    ("tasks/update", "description", 5_000, lambda text: {"taskId": ID, "description": text}),
    ("tasks/update", "doneWhen", 1_000, lambda text: {"taskId": ID, "doneWhen": text}),
    ("tasks/update", "note", 5_000, lambda text: {"taskId": ID, "note": text}),
    ("tasks/update", "evidence", 5_000, lambda text: {"taskId": ID, "evidence": text}),
    ("tasks/list", "text", 1_000, lambda text: {"text": text}),
    ("messages/send", "targetId", 200, lambda text: TO_B | {"targetId": text}),
    ("messages/send", "senderId", 200, lambda text: TO_B | {"senderId": text}),
    ("messages/send", "content", 100_000, lambda text: TO_B | {"content": text}),
    ("messages/send", "subject", 200, lambda text: TO_B | {"subject": text}),
    ("messages/send", "category", 50, lambda text: TO_B | {"category": text}),
    ("messages/read", "agentId", 200, lambda text: {"agentId": text}),
    ("messages/ack", "agentId", 200, lambda text: {"messageId": ID, "agentId": text}),
    ("documents/write", "name", 100, lambda text: {"name": text, "content": ""}),
    ("documents/write", "content", 100_000, lambda text: {"name": "own", "content": text}),
    (
        "documents/write",
        "agentId",
        200,
        lambda text: {"name": "own", "content": "", "agentId": text},
    ),
    ("documents/read", "name", 200, lambda text: {"name": text}),
    (
        "memories/link",
        "target.id",
        4_096,
        lambda text: {
            "source": {"kind": "file", "id": "a.py"},
            "target": {"kind": "file", "id": text},
        },
    ),
]


@pytest.mark.parametrize(("method", "field", "limit", "params"), LIMITS)
def test_what_is_too_long_is_refused_by_field_limit_and_length(
    app: Application, method: str, field: str, limit: int, params: Any
) -> None:
    """Part of F7, F11 and D10."""
    error = refusal(app, method, **params("x" * (limit + 7)))
    assert (error["code"], error["data"]["field"]) == (Code.INVALID_PARAMS, field)
    said = f"`{field}` has {limit + 7:,} characters, and {limit:,} is the most"
    assert error["message"] == f"threadline/{method}: {said}"
    assert kept(app) == 0
    fitting = app.answer(1, f"threadline/{method}", params("x" * limit))
    error = msgspec.to_builtins(fitting.error) if fitting.error else {"code": 0}
    assert error["code"] in (0, Code.NOT_FOUND)


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("tasks/create", {"tasks": []}, "tasks"),
        ("tasks/create", {"tasks": [{"title": "x"}] * 201}, "tasks"),
        ("tasks/create", task(title=""), "tasks[0].title"),
        ("tasks/create", task(priority=6), "tasks[0].priority"),
        ("tasks/create", task(priority=0), "tasks[0].priority"),
        ("tasks/create", task(status="doing"), "tasks[0].status"),
        ("tasks/create", task(dependsOn=["x"]), "tasks[0].dependsOn[0]"),
        ("tasks/create", task(owner="me"), "tasks[0].owner"),
        ("tasks/update", {}, "taskId"),
        ("tasks/list", {"limit": 201}, "limit"),
        ("messages/send", TO_B | {"priority": 6}, "priority"),
        ("messages/send", TO_B | {"expiresInDays": 0}, "expiresInDays"),
        ("messages/send", TO_B | {"parentMessageId": "x"}, "parentMessageId"),
        ("messages/send", TO_B | {"content": ""}, "content"),
        ("messages/send", TO_B | {"senderId": "*"}, "senderId"),
        ("messages/send", {"targetId": "vscode", "content": "hear"}, "targetId"),
        ("messages/read", {"agentId": "*"}, "agentId"),
        ("messages/read", {"status": "unread"}, "status"),
        ("messages/read", {"limit": 0}, "limit"),
        ("documents/write", {"name": "../x", "content": ""}, "name"),
        ("documents/write", {"name": "two\nlines", "content": ""}, "name"),
        ("memories/link", {"source": {"kind": "file", "id": "a"}}, "target"),
        ("agents/list", {"daysBack": 0}, "daysBack"),
    ],
)
def test_what_does_not_fit_is_refused_by_its_field(
    app: Application, method: str, params: dict[str, Any], field: str
) -> None:
    """Part of F7, F11 and D10."""
    error = refusal(app, method, **params)
    assert (error["code"], error["data"]["field"]) == (Code.INVALID_PARAMS, field)
    assert kept(app) == 0


def test_a_stale_writer_is_told_what_is_there_now(app: Application) -> None:
    """Part of D10 and F11."""
    call(app, "documents/write", name="skills", content="one")
    error = refusal(app, "documents/write", name="skills", content="two", expectedVersion=7)
    assert (error["code"], error["data"]) == (
        Code.CONFLICT,
        {"field": "expectedVersion", "current": 1},
    )
    (made,) = call(app, "tasks/create", **task())["tasks"]
    error = refusal(
        app, "tasks/update", taskId=made["taskId"], expectedUpdatedAt="2026-01-01T00:00:00Z"
    )
    assert error["data"] == {"field": "expectedUpdatedAt", "current": made["updatedAt"]}


def test_a_condition_is_held_against_the_working_tree(app: Application) -> None:
    """Part of F11."""
    (held,) = call(app, "tasks/create", **task(doneWhen="path exists: src/signing.py"))["warnings"]
    assert "holds already (src/signing.py exists)" in held["text"]
    (typed,) = call(app, "tasks/create", **task(doneWhen="path exists: src/signin.py"))["warnings"]
    assert "“src/signing.py”: is that what is meant?" in typed["text"]
    (typed,) = call(app, "tasks/create", **task(doneWhen="commit touches: scr/"))["warnings"]
    assert "“src”" in typed["text"]
    fine = call(app, "tasks/create", **task(doneWhen="path exists: src/uploads.py"))
    assert not fine["warnings"]


def test_who_does_not_say_who_it_is_is_called_as_its_client(app: Application) -> None:
    """Part of F10."""
    sent = app.call("threadline/messages/send", TO_B)
    assert isinstance(sent, SentMessage)
    assert sent.message.sender_id == "vscode"
    call(app, "messages/send", targetId="*", senderId="b", content="to all")
    (got,) = call(app, "messages/read")["messages"]
    done = call(app, "messages/ack", messageId=got["messageId"])
    assert list(done["handlings"]) == ["vscode"]


def test_no_answer_has_a_secret_that_was_kept_before_it_was_known(app: Application) -> None:
    """Part of E11."""
    words = f"about {TOKEN} here"
    vault = app.vault(None)
    records.keep_everything(vault, words)
    answers = [
        call(app, "tasks/list"),
        call(app, "tasks/list", text="about"),
        call(app, "messages/read", agentId="me", status="all", preview=True),
        call(app, "messages/thread", messageId=records.ULID),
        call(app, "documents/list"),
        call(app, "documents/read", name=words),
        call(app, "memories/graph"),
        call(app, "agents/list", daysBack=3650),
    ]
    assert [place for place, one in enumerate(answers) if TOKEN in str(one)] == []
    assert str(answers).count("[REDACTED]") > len(answers)


def test_an_unknown_link_type_is_refused(app: Application) -> None:
    with pytest.raises(InvalidParamsError):
        call(
            app,
            "memories/link",
            source={"kind": "file", "id": "a"},
            target={"kind": "file", "id": "b"},
            type="likes",
        )
