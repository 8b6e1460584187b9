"""Limits hold on every way in, to the letter: what is over one is refused by name, and nothing of it is kept."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sidecar.transports.exits import Exit
from tests.mcps import Assistant, Host
from tests.support import Repository, threadline

pytestmark = pytest.mark.slow


class Limit(NamedTuple):
    """One limit, and how to come up to it on each way."""

    field: str
    most: int
    method: str
    params: dict[str, Any]
    """What a method needs beside the field; its name stands for where the field goes."""
    tool: str
    command: tuple[str, ...]
    """The same on the command line, with `-` for what is read from standard input, and `@` for the text."""


TO_B = {"targetId": "b", "content": "hear"}
LIMITS = [
    Limit(
        "subject",
        200,
        "messages/send",
        TO_B,
        "send_message",
        ("send", "b", "hear", "--subject", "@"),
    ),
    Limit("content", 100_000, "messages/send", TO_B, "send_message", ("send", "b", "-")),
    Limit("title", 500, "tasks/create", {"title": "x"}, "create_task", ("tasks", "add", "@")),
    Limit(
        "description",
        5_000,
        "tasks/create",
        {"title": "x"},
        "create_task",
        ("tasks", "add", "x", "--description", "@"),
    ),
    Limit(
        "doneWhen",
        1_000,
        "tasks/create",
        {"title": "x"},
        "create_task",
        ("tasks", "add", "x", "--done-when", "@"),
    ),
    Limit(
        "content",
        100_000,
        "documents/write",
        {"name": "own"},
        "write_document",
        ("documents", "edit", "own", "-"),
    ),
]
LETTER = "𝄞"
"""One character, which other languages count as two and a file as four."""


def nth(limit: Limit) -> str:
    return f"{limit.method}:{limit.field}"


@pytest.fixture
def here(repository: Repository) -> Path:
    repository.commit("first")
    return repository.path


def text(limit: Limit, more: int) -> str:
    return LETTER * (limit.most + more)


def refusal(limit: Limit) -> str:
    return f"{limit.field}` has {limit.most + 1:,} characters, and {limit.most:,} is the most"


READS: dict[str, dict[str, Any]] = {
    "messages/read": {"agentId": "b", "preview": True},
    "tasks/list": {},
    "documents/read": {"name": "own"},
}


def kept(here: Path) -> list[str]:
    """List what is kept of the texts that were to be written, wherever."""
    requests = [{"id": 1, "method": f"threadline/{name}", "params": READS[name]} for name in READS]
    lines = "".join(json.dumps(one) + "\n" for one in requests)
    done = threadline("call", "-", cwd=here, stdin=lines.encode())
    sent, tasks, own = (json.loads(line).get("result", {}) for line in done.stdout.splitlines())
    records = [*sent["messages"], *tasks["tasks"], own]
    names = {limit.field for limit in LIMITS}
    return [one[name] for one in records for name in names if LETTER in str(one.get(name))]


@pytest.mark.parametrize("limit", LIMITS, ids=nth)
def test_a_method_takes_what_fits_and_nothing_more(here: Path, limit: Limit) -> None:
    """Part of F7, F11 and D10."""

    def call(more: int) -> Any:
        fields = limit.params | {limit.field: text(limit, more)}
        params = {"tasks": [fields]} if limit.method == "tasks/create" else fields
        request = {"id": 1, "method": f"threadline/{limit.method}", "params": params}
        done = threadline("call", "-", cwd=here, stdin=json.dumps(request).encode() + b"\n")
        return json.loads(done.stdout)

    error = call(1)["error"]
    assert error["data"]["field"].rpartition(".")[2] == limit.field
    assert refusal(limit) in error["message"]
    assert kept(here) == []
    assert "result" in call(0)
    assert kept(here) == [text(limit, 0)]


@pytest.mark.parametrize("limit", LIMITS, ids=nth)
def test_a_tool_takes_what_fits_and_nothing_more(here: Path, limit: Limit) -> None:
    """Part of F1, F7, F11 and D10."""

    async def story(one: Assistant) -> None:
        complaint = await one.fail(limit.tool, **limit.params | {limit.field: text(limit, 1)})
        assert refusal(limit) in complaint
        assert kept(here) == []
        await one.use(limit.tool, **limit.params | {limit.field: text(limit, 0)})

    Host(name="a").spawn(here, story)
    assert kept(here) == [text(limit, 0)]


@pytest.mark.parametrize("limit", LIMITS, ids=nth)
def test_a_command_takes_what_fits_and_nothing_more(here: Path, limit: Limit) -> None:
    """Part of F7, F11 and D10."""

    def run(more: int) -> tuple[int, str]:
        words = text(limit, more)
        arguments = [words if one == "@" else one for one in limit.command]
        stdin = words.encode() if "-" in limit.command else b""
        done = threadline(*arguments, cwd=here, stdin=stdin)
        return done.returncode, done.stderr.decode()

    code, complaint = run(1)
    # An option is named as it is typed; what has none, as requests call it.
    typed = "--" + re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", limit.field)
    refused = f"threadline: `{refusal(limit)}"
    assert code == Exit.USAGE
    assert complaint.strip() in {refused, refused.replace(f"`{limit.field}`", typed)}
    assert kept(here) == []
    assert run(0)[0] == Exit.OK
    assert kept(here) == [text(limit, 0)]
