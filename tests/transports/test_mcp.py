"""MCP: every assistant has the same tools, whatever it sends, in both eras of the protocol."""

import json
from collections.abc import Awaitable, Callable
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import anyio
import jsonschema  # type: ignore[import-untyped]  # its stubs are a package of their own
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from sidecar.app import Application
from sidecar.context.rules import fitting
from sidecar.storage.home import Home
from sidecar.text import own_words
from sidecar.transports.mcp import calling, server
from sidecar.transports.mcp.tools import TOOLS
from tests.desks import DECISION, Desk, titles
from tests.mcps import ERAS, Assistant, Host, Story
from tests.support import HOUR, MINUTE, Repository

pytestmark = pytest.mark.slow

NAMES = [
    "session_start",
    "session_track",
    "context_checkpoint",
    "session_digest",
    "ingest_turn",
    "save_session",
    "search_memories",
    "read_memories",
    "write_memory",
    "update_memory",
    "forget_memory",
    "add_link",
    "create_task",
    "update_task",
    "list_tasks",
    "read_document",
    "write_document",
    "send_message",
    "read_messages",
    "ack_message",
    "list_active_agents",
    "list_sessions",
    "generate_memory",
]


async def look_at_tools(one: Assistant) -> None:
    tools = (await one.client.list_tools()).tools
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        assert tool.title
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is not None
        assert len(tool.description or "") > 50
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        assert "$ref" not in str(tool.input_schema)
        assert tool.input_schema["additionalProperties"] is False
    by_name = {tool.name: tool for tool in tools}
    assert by_name["search_memories"].input_schema["properties"]["topK"]["maximum"] == 50
    assert by_name["forget_memory"].annotations.destructive_hint is True  # type: ignore[union-attr]
    assert by_name["search_memories"].annotations.read_only_hint is True  # type: ignore[union-attr]


def test_all_tools_are_there_and_described_so_that_a_model_chooses_well(desk: Desk) -> None:
    """Part of F1."""
    Host().run(desk.app, look_at_tools)


def test_what_tools_are_costs_a_model_little(desk: Desk) -> None:
    """D16: the whole answer to `tools/list`, of which a model sees names, descriptions and arguments."""

    async def story(one: Assistant) -> int:
        listed = await one.client.list_tools()
        text = listed.model_dump_json(by_alias=True, exclude_none=True, include={"tools"})
        return len(text.encode())

    for mode in ERAS:
        assert Host(mode=mode).run(desk.app, story) <= 16 * 1024


def test_every_object_that_is_taken_names_a_property() -> None:
    """Part of F1: some models' interfaces refuse a tool with an object of which nothing is said."""

    def look(node: Any) -> None:
        if isinstance(node, dict):
            assert node.get("type") != "object" or node["properties"]
            assert "anyOf" not in node or len(node["anyOf"]) > 1
        for inner in node.values() if isinstance(node, dict) else node:
            if isinstance(inner, dict | list):
                look(inner)

    for tool in TOOLS:
        look(tool.takes())


def test_sessions_are_listed_in_a_line_each(desk: Desk) -> None:
    """D16: at most 100 bytes a row in what a model reads, also where every letter takes several."""
    for number, path in enumerate(("locks.py", "\N{GRINNING FACE}" * 60 + ".py", '"' * 60 + ".py")):
        desk.clock.pass_(5 * HOUR)
        desk.commit(f"{DECISION} {number}", path)
    known = desk.ask("sessions/list")["sessions"]

    async def story(one: Assistant) -> tuple[str, dict[str, Any]]:
        await one.use("session_start")
        result = await one.client.call_tool("list_sessions", {})
        (content,) = result.content
        assert isinstance(content, types.TextContent)
        assert isinstance(result.structured_content, dict)
        return content.text, result.structured_content

    text, content = Host().run(desk.app, story)
    assert json.loads(text) == content
    assert [row.split()[0] for row in content["sessions"]] == [one["sessionId"] for one in known]
    assert all(
        len(json.dumps(row, ensure_ascii=False).encode()) <= 90 for row in content["sessions"]
    )
    assert len(text.encode()) <= 100 * len(known)
    (first,) = [row for row in content["sessions"] if "locks.py" in row]
    (session,) = [one for one in known if one["filesModified"] == ["locks.py"]]
    assert first == (
        f"{session['sessionId']} {session['startedAt'][:16].replace('T', ' ')} "
        f"{session['status']} 1 locks.py"
    )


def test_lists_leave_out_what_is_empty_or_of_no_use(desk: Desk) -> None:
    """D16: a task, a message and an agent are told by what an agent can act on."""
    desk.ask("tasks/create", tasks=[{"title": "Migrate"}])
    desk.message("Look at the locks", target="claude-code")

    async def story(one: Assistant) -> list[dict[str, Any]]:
        tasks = (await one.use("list_tasks"))["tasks"]
        messages = (await one.use("read_messages", status="all"))["messages"]
        agents = (await one.use("list_active_agents"))["agents"]
        assert all((tasks, messages, agents))
        return [*tasks, *messages, *agents]

    for row in Host().run(desk.app, story):
        assert "projectId" not in row
        assert all(value not in (None, "", [], {}) for value in row.values())
        assert len(json.dumps(row)) < 400


def test_five_hits_take_little_room_and_say_what_they_are(desk: Desk) -> None:
    """D16: kind, id, date and the words that fit; 1.2 KB for five of them."""
    long = "The gateway drops every second connection, so a payment is tried again. " * 12
    for number in range(5):
        title = f"Payments are tried {number} times at the gateway"
        desk.ask("memories/write", type="decision", title=title, content=long, dedup=False)

    async def story(one: Assistant) -> Any:
        return await one.use("search_memories", query="payments at the gateway", topK=5)

    found = Host().run(desk.app, story)
    assert len(found["hits"]) == 5
    assert all(row.startswith("decision 0") and "ayment" in row for row in found["hits"])
    assert len(json.dumps(found["hits"])) < 1_200


def test_a_memory_is_read_in_full(desk: Desk) -> None:
    """D16: what lists and searches leave out comes by its id."""
    memory_id = desk.remember("Passwords are hashed with argon2", "constraint")

    async def story(one: Assistant) -> Any:
        return (await one.use("read_memories", memoryIds=[memory_id]))["memories"]

    assert (
        Host().run(desk.app, story) == desk.ask("memories/read", memoryIds=[memory_id])["memories"]
    )


def test_the_instructions_teach_the_protocol_in_a_few_lines(desk: Desk) -> None:
    """Part of F1."""

    async def story(one: Assistant) -> str | None:
        return one.client.instructions

    for mode in ERAS:
        told = Host(mode=mode).run(desk.app, story)
        assert told == server.TEXT
    for word in ("session_start", "search", "write", "checkpoint", "brief the next reader"):
        assert word in server.TEXT.lower()
    assert len(server.TEXT.splitlines()) <= 10


Use = Callable[..., Awaitable[dict[str, Any]]]


def watch_uses(one: Assistant, used: set[str]) -> Use:
    """Give a way to use tools that notes which."""

    async def use(tool: str, **arguments: Any) -> dict[str, Any]:
        used.add(tool)
        return await one.use(tool, **arguments)

    return use


async def use_every_tool(one: Assistant) -> None:  # one call each
    """Use them all; a message waits for the reviewer."""
    used: set[str] = set()
    use = watch_uses(one, used)
    start = await use("session_start", query="locks", agentId="reviewer")
    assert start["agentLabel"] == "reviewer"
    kept = await use(
        "write_memory", type="decision", title="Use SQLite", content="Use SQLite, it is there."
    )
    memory_id = kept["memory"]["memoryId"]
    assert kept["memory"]["agentId"] == "reviewer"
    found = await use("search_memories", query="SQLite")
    assert memory_id in found["hits"][0]
    await use("update_memory", memoryId=memory_id, importance=5)
    (read,) = (await use("read_memories", memoryIds=[memory_id]))["memories"]
    assert read["importance"] == 5
    (task,) = (await use("create_task", title="Migrate", priority=4))["tasks"]
    plan = await use("create_task", tasks=[{"title": "One"}, {"title": "Two", "dependsOn": [0]}])
    assert len(plan["tasks"]) == 2
    await use("update_task", taskId=task["taskId"], status="in_progress", note="begun")
    listed = await use("list_tasks", statuses=["in_progress"])
    assert [one["title"] for one in listed["tasks"]] == ["Migrate"]
    ends = {"source": {"kind": "memory", "id": memory_id}}
    await use("add_link", **ends, target={"kind": "task", "id": task["taskId"]})
    (linked,) = (await use("read_memories", memoryIds=[memory_id]))["memories"]
    assert linked["links"][0]["title"] == "Migrate"
    written = await use("write_document", name="notes", content="# Notes")
    assert written["document"]["agentId"] == "reviewer"
    assert (await use("read_document", name="notes"))["content"] == "# Notes"
    sent = await use("send_message", targetId="user", content="Look at it")
    assert sent["message"]["senderId"] == "reviewer"
    (message,) = (await use("read_messages", status="delivered"))["messages"]
    assert message["content"] == "Look at the locks"
    await use("ack_message", messageId=message["messageId"])
    agents = (await use("list_active_agents"))["agents"]
    assert "reviewer" in [agent["agentId"] for agent in agents]
    tracked = await use("session_track", prompt="Never use Redis", response="Understood.")
    assert tracked["promptCount"] == 1
    digest = await use("session_digest", digest="Half of it is done.")
    assert digest["checkpoint"]["digest"] == "Half of it is done."
    turn = await use("ingest_turn", role="user", content="We decided to use SQLite.")
    assert turn["turnId"]
    saved = await use("save_session", summary="Moved to SQLite", files=["db.py"])
    assert saved["events"][0]["outcome"] == "stored"
    (session,) = (await use("list_sessions", limit=1))["sessions"]
    assert session.split()[0] == saved["events"][0]["sessionId"]
    job = await use("generate_memory")
    assert job["status"] == "completed"
    done = await use(
        "context_checkpoint",
        memories=[{"content": "Ruff runs before every commit", "memoryType": "constraint"}],
        sessionSummary="Moved the store to SQLite. Open: the old data.",
    )
    assert done["created"] == 1
    assert (await use("forget_memory", memoryIds=[memory_id]))["verified"]
    assert used == set(NAMES)


@pytest.mark.parametrize("mode", ERAS)
def test_every_tool_works(desk: Desk, mode: str) -> None:
    """Part of F1."""
    desk.commit(DECISION, "locks.py")
    desk.message("Look at the locks", target="reviewer")
    Host(mode=mode).run(desk.app, use_every_tool)
    assert "reviewer" in {
        one.updated_by for one in desk.vault.memories.all() if one.status == "forgotten"
    }
    (saved,) = [
        event
        for session in desk.ask("sessions/list")["sessions"]
        for event in desk.vault.sessions.events(session["sessionId"])
        if event.kind == "capture" and event.files
    ]
    assert (saved.agent_id, saved.files[0].path) == ("reviewer", "db.py")


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("search_memories", {"query": 7}, ["query", "str"]),
        ("search_memories", {"topK": 51}, ["topK", "50"]),
        ("search_memories", {"wuery": "x"}, ["wuery", "query"]),
        ("read_memories", {}, ["memoryIds"]),
        ("update_memory", {"memoryId": "0" * 26, "title": "x"}, ["0" * 26]),
        ("create_task", {"title": "x" * 501}, ["create_task: `title` has 501", "500"]),
        ("create_task", {}, ["create_task", " `title`"]),
        ("create_task", {"title": "x", "priority": 6}, ["create_task: `priority` is 6"]),
        ("create_task", {"tasks": [{"title": "x" * 501}]}, ["`tasks[0].title` has 501"]),
        ("create_task", {"priority": 5, "tasks": [{"title": "x"}]}, ["`priority`", "`tasks`"]),
        (
            "send_message",
            {"targetId": "a", "content": "b", "subject": "x" * 201},
            ["subject", "201"],
        ),
        ("send_message", {"targetId": "a", "content": "b", "senderId": "user"}, ["user"]),
        ("read_messages", {"agentId": "User"}, ["user"]),
        ("session_start", {"agentId": "user"}, ["user"]),
        ("session_start", {"vaultId": "0" * 20}, ["vaultId"]),
        (
            "write_document",
            {"name": "soul", "content": "x", "agentEditable": True},
            ["agentEditable"],
        ),
        ("write_document", {"name": "notes"}, ["write_document needs `content`"]),
        ("save_session", {}, ["summary"]),
        ("search_memories", {"project": 7}, ["project"]),
    ],
)
def test_what_is_wrong_with_a_call_is_said_so_that_it_can_be_mended(
    desk: Desk, tool: str, arguments: dict[str, Any], words: list[str]
) -> None:
    """Part of F1."""

    async def story(one: Assistant) -> str:
        return await one.fail(tool, **arguments)

    told = Host().run(desk.app, story)
    assert all(word in told for word in words), told
    assert "Traceback" not in told
    assert "threadline/" not in told
    assert not desk.vault.tasks.all()
    assert not desk.vault.messages.all()


def test_an_agent_hears_what_seems_done_and_can_say_that_it_is_not(desk: Desk) -> None:
    """Part of F1 and F11."""
    (task,) = desk.ask("tasks/create", tasks=[{"title": "Sign uploads with SHA-256"}])["tasks"]
    desk.commit("Sign uploads with SHA-256", "a.py")

    async def story(one: Assistant) -> list[Any]:
        before = await one.use("list_tasks", suggest=True)
        await one.use("update_task", taskId=task["taskId"], notDone=True)
        after = await one.use("list_tasks", suggest=True)
        return [told["tasks"][0].get("suggestion") for told in (before, after)]

    before, after = Host().run(desk.app, story)
    assert "says “Sign uploads with SHA-256”" in before
    assert after is None


def test_an_unknown_tool_is_an_error_of_the_protocol(desk: Desk) -> None:
    """Part of F1."""

    async def story(one: Assistant) -> None:
        with pytest.raises(MCPError, match="no tool nonsense"):
            await one.client.call_tool("nonsense", {})

    Host().run(desk.app, story)


def test_an_agent_cannot_write_a_document_that_is_not_for_agents(desk: Desk) -> None:
    """Part of F1."""
    desk.ask("documents/write", name="instructions", content="Be kind.")

    async def story(one: Assistant) -> str:
        return await one.fail("write_document", name="instructions", content="Obey me.")

    assert "instructions" in Host().run(desk.app, story)


FIRST: dict[str, dict[str, Any]] = {
    "session_track": {"prompt": "hello"},
    "context_checkpoint": {},
    "session_digest": {"digest": "State: begun."},
    "ingest_turn": {"role": "user", "content": "hello"},
    "save_session": {"summary": "Worked"},
    "search_memories": {"query": "locks"},
    "read_memories": {"memoryIds": ["{memory}"]},
    "write_memory": {"type": "fact", "title": "Ports are even", "content": "Ports are even"},
    "update_memory": {"memoryId": "{memory}", "importance": 5},
    "forget_memory": {"memoryIds": ["{other}"]},
    "add_link": {
        "source": {"kind": "memory", "id": "{memory}"},
        "target": {"kind": "file", "id": "a.txt"},
    },
    "create_task": {"title": "Ask"},
    "update_task": {"taskId": "{task}", "priority": 5},
    "list_tasks": {},
    "read_document": {"name": "soul"},
    "write_document": {"name": "notes", "content": "# How"},
    "send_message": {"targetId": "user", "content": "Look"},
    "read_messages": {},
    "ack_message": {"messageId": "{message}"},
    "list_active_agents": {},
    "list_sessions": {},
    "generate_memory": {},
}
"""What an agent may begin with that does not ask for its context."""


@pytest.mark.parametrize("first", FIRST)
def test_an_agent_that_does_not_ask_gets_its_context_once(desk: Desk, first: str) -> None:
    """D8."""
    assert {*FIRST, "session_start"} == set(NAMES)
    rule = "Passwords are hashed with argon2"
    desk.commit(DECISION, "locks.py")
    known = {
        "memory": desk.remember(rule, "constraint"),
        "other": desk.remember("Bikes are blue"),
        "task": desk.ask("tasks/create", tasks=[{"title": "Migrate"}])["tasks"][0]["taskId"],
    }
    sent = {"targetId": "claude-code", "senderId": "codex", "content": "Look"}
    known["message"] = desk.ask("messages/send", **sent)["message"]["messageId"]
    written = json.dumps(FIRST[first])
    for name, identifier in known.items():
        written = written.replace(f"{{{name}}}", identifier)

    async def story(one: Assistant) -> list[Any]:
        begun = await one.use(first, **json.loads(written))
        later = ("list_tasks", "search_memories", "session_track", "list_sessions")
        return [begun.get("start"), *[(await one.use(tool)).get("start") for tool in later]]

    async def asked(one: Assistant) -> list[Any]:
        context = await one.use("session_start")
        assert rule in titles(context["sessionContext"]["constraints"])
        return await story(one)

    start, *others = Host().run(desk.app, story)
    desk.app.flush()
    assert rule in titles(start["sessionContext"]["constraints"])
    assert start["receiptId"] in {one.receipt_id for one in desk.vault.receipts.all()}
    assert others == [None] * 4
    if first not in {"forget_memory", "ack_message"}:
        assert Host(mode="legacy").run(desk.app, asked) == [None] * 5


def test_what_an_agent_writes_first_is_not_told_back_to_it(desk: Desk) -> None:
    """Part of D8."""

    async def story(one: Assistant) -> dict[str, Any]:
        return await one.use(
            "write_memory", type="constraint", title="Only UTC", content="Only UTC"
        )

    start = Host().run(desk.app, story)["start"]
    assert start["sessionContext"]["constraints"] == []


def test_an_agent_that_asks_gets_nothing_twice(desk: Desk) -> None:
    """Part of D8."""

    async def story(one: Assistant) -> object:
        await one.use("session_start")
        return (await one.use("list_tasks")).get("start")

    assert Host().run(desk.app, story) is None


def test_an_agent_whose_hooks_speak_is_in_their_conversation(desk: Desk) -> None:
    """Part of D8."""
    told = {"sessionKey": "the-hooks", "agentId": "claude-code", "harness": "claude-code"}
    desk.ask("context/render", host="claude-code", **told)

    async def story(one: Assistant) -> object:
        start = (await one.use("list_tasks")).get("start")
        await one.use("session_track", prompt="Never use Redis")
        return start

    assert Host().run(desk.app, story) is None
    (talk,) = desk.vault.conversations.all()
    assert (talk.session_key, talk.prompt_count) == ("the-hooks", 1)


def test_two_conversations_of_one_program_are_not_mistaken(desk: Desk) -> None:
    """Part of D8."""
    for key in ("one", "two"):
        desk.ask("context/render", host="claude-code", sessionKey=key, harness="claude-code")

    async def story(one: Assistant) -> object:
        start = (await one.use("list_tasks")).get("start")
        await one.use("session_track", prompt="Never use Redis")
        return start

    assert Host().run(desk.app, story) is None
    prompts = {talk.session_key: talk.prompt_count for talk in desk.vault.conversations.all()}
    assert (prompts.pop("one"), prompts.pop("two")) == (0, 0)
    assert list(prompts.values()) == [1]


def test_a_conversation_that_hooks_have_left_long_ago_is_not_joined(desk: Desk) -> None:
    """Part of D8."""
    desk.ask("context/render", host="claude-code", sessionKey="old", harness="claude-code")
    desk.clock.pass_(31 * MINUTE)

    async def story(one: Assistant) -> object:
        return (await one.use("list_tasks")).get("start")

    assert Host().run(desk.app, story) is not None


def test_an_agent_is_reminded_to_save_at_10_25_and_50_calls(desk: Desk) -> None:
    """F6."""

    async def story(one: Assistant) -> list[int]:
        reminded = []
        for number in range(1, 61):
            said = (await one.use("list_tasks")).get("reminder")
            if said is not None:
                assert "context_checkpoint" in said
                reminded.append(number)
        return reminded

    assert Host().run(desk.app, story) == [10, 25, 50]


def test_who_has_saved_is_reminded_later(desk: Desk) -> None:
    """Part of F6."""

    async def story(one: Assistant) -> list[int]:
        reminded = []
        for number in range(1, 20):
            tool = "context_checkpoint" if number == 5 else "list_tasks"
            if (await one.use(tool)).get("reminder"):
                reminded.append(number)
        return reminded

    assert Host().run(desk.app, story) == [15]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("subjects", [(DECISION,), (DECISION, "Never log tokens"), ("wip",)])
def test_long_work_tells_how_far_it_is_and_never_goes_back(
    desk: Desk, mode: str, subjects: tuple[str, ...]
) -> None:
    """Part of F1."""
    for number, subject in enumerate(subjects):
        desk.commit(subject, f"locks{number}.py")

    async def story(one: Assistant) -> list[tuple[float, str | None]]:
        heard: list[tuple[float, str | None]] = []
        is_over = anyio.Event()

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append((progress, message))
            if progress == total:
                is_over.set()

        await one.client.call_tool("generate_memory", {}, progress_callback=hear)
        with anyio.fail_after(30):
            await is_over.wait()
        return heard

    heard = Host(mode=mode).run(desk.app, story)
    assert all(before < after for (before, _), (after, _) in pairwise(heard))
    assert (heard[0], heard[-1][0]) == ((0, "enrich"), 4)
    assert {message for _, message in heard} <= {"enrich", "embed", "dedup", "drift", None}


def test_an_answer_that_is_too_long_is_refused_with_a_way_out(desk: Desk) -> None:
    """Part of F1."""
    ids = [desk.remember(f"Number {n}", content=f"{n} " * 33_000) for n in range(30)]

    async def story(one: Assistant) -> tuple[str, dict[str, Any]]:
        await one.use("session_start")
        return await one.fail("read_memories", memoryIds=ids), await one.use(
            "read_memories", memoryIds=ids[:3]
        )

    told, some = Host().run(desk.app, story)
    assert "ask for less" in told
    assert len(some["memories"]) == 3


def size(result: types.Result) -> int:
    """Count the bytes of an answer as it is sent."""
    made = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    message = types.JSONRPCResponse(jsonrpc="2.0", id=1, result=made)
    return len(message.model_dump_json(by_alias=True, exclude_unset=True).encode())


ESCAPED = ['"', "\\", "\n", '"\\\n\t', 'é"', "\U0001f600\\", "x"]


@pytest.mark.parametrize("letters", ESCAPED)
def test_no_answer_is_longer_than_a_message_may_be(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, letters: str
) -> None:
    """Part of F1."""
    monkeypatch.setattr(calling, "LIMIT", 200_000)
    content = (letters * 4_000)[:4_000] + "."
    ids = [desk.remember(f"Number {n}", content=f"{n}{content}", dedup=False) for n in range(30)]

    async def story(one: Assistant) -> list[int]:
        await one.use("session_start")
        told = [
            await one.client.call_tool("read_memories", {"memoryIds": ids[:count]})
            for count in range(1, 31)
        ]
        return [0 if one.is_error else size(one) for one in told]

    sizes = Host().run(desk.app, story)
    fitting = list(takewhile(bool, sizes))
    most = max(after - before for before, after in pairwise([0, *fitting]))
    assert calling.LIMIT - most - 11_000 < fitting[-1] <= calling.LIMIT
    assert not any(sizes[len(fitting) :])
    assert sizes[-1] == 0


@pytest.mark.parametrize("cap", [200, 245, 246, 300, 1_000, 3_000, None])
def test_a_start_is_labelled_and_no_longer_than_it_may_be(desk: Desk, cap: int | None) -> None:
    """Part of D5, H9."""
    for number in range(200):
        desk.remember(f"Number {number} " + "x" * 100, "constraint")

    async def story(one: Assistant) -> dict[str, Any]:
        wanted = {} if cap is None else {"maxResponseChars": cap}
        return await one.use("session_start", mode="full", summaryOnly=False, **wanted)

    told = Host().run(desk.app, story)
    assert fitting.measure(told) <= (cap or 16_000)
    is_labelled = next(iter(told.items())) == ("notice", own_words.NOTICE)
    # A cap that leaves room for hardly anything else leaves none for the notice.
    assert is_labelled is (cap is None or cap >= 246)


def test_many_memories_full_of_quotes_are_not_given_at_once(desk: Desk) -> None:
    """Part of F1."""
    content = '"\\' * 10_000 + "."
    ids = [desk.remember(f"Number {n}", content=f"{n}{content}", dedup=False) for n in range(49)]

    async def story(one: Assistant) -> str:
        return await one.fail("read_memories", memoryIds=ids)

    assert "fewer ids" in Host().run(desk.app, story)


async def measure(reading: Awaitable[types.Result]) -> int | None:
    """Count the bytes of an answer; None where it is refused as too long."""
    try:
        return size(await reading)
    except MCPError as error:
        if "ask for less" not in str(error):
            raise
        return None


@pytest.mark.parametrize("letters", ESCAPED)
def test_what_is_attached_is_no_longer_than_a_message_may_be(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, letters: str
) -> None:
    """Part of F1."""
    monkeypatch.setattr(calling, "LIMIT", 60_000)
    uri = "threadline://documents/notes"

    async def story(one: Assistant) -> list[int | None]:
        sizes = []
        for length in range(5_000, 65_000, 5_000):
            desk.ask("documents/write", name="notes", content=(letters * length)[:length] + ".")
            sizes.append(await measure(one.client.read_resource(uri, cache_mode="bypass")))
            sizes.append(await measure(one.client.get_prompt("document", {"name": "notes"})))
        return sizes

    *_, resource, prompt = sizes = Host().run(desk.app, story)
    assert 20_000 < max(filter(None, sizes)) <= calling.LIMIT
    assert (resource, prompt) == (None, None)


def apart(desk: Desk, tmp_path: Path) -> tuple[Repository, str]:
    """Make another project with a secret of its own."""
    other = Repository.create(tmp_path / "other")
    other.commit("begin elsewhere")
    written = desk.ask(
        "memories/write",
        project=str(other.path),
        type="fact",
        title="Elsewhere",
        content="Elsewhere",
    )
    return other, written["memory"]["memoryId"]


def test_one_project_never_leaks_into_another(desk: Desk, tmp_path: Path) -> None:
    """Part of F1."""
    other, memory_id = apart(desk, tmp_path)
    elsewhere = desk.app.project(str(other.path)).project_id

    async def story(one: Assistant) -> None:
        assert (await one.use("search_memories", query="Elsewhere"))["hits"] == []
        assert (await one.use("read_memories", memoryIds=[memory_id]))["memories"] == []
        for name in (str(other.path), elsewhere, "../other", "/", "~"):
            assert "none of the folders" in await one.fail("list_tasks", project=name)
            assert "none of the folders" in await one.fail("session_start", project=name)

    for mode in ERAS:
        for roots in (None, (desk.repository.path,)):
            Host(mode=mode, roots=roots).run(desk.app, story)


def read_titles(memory_id: str) -> Story[list[str]]:
    """Give a story that reads a memory, and gives its title where it is to be found."""

    async def story(one: Assistant) -> list[str]:
        read = await one.use("read_memories", memoryIds=[memory_id])
        return [memory["title"] for memory in read["memories"]]

    return story


@pytest.mark.parametrize("mode", ERAS)
def test_the_clients_folders_decide_the_project(desk: Desk, tmp_path: Path, mode: str) -> None:
    """Part of F1."""
    other, memory_id = apart(desk, tmp_path)
    story = read_titles(memory_id)
    here = {"CLAUDE_PROJECT_DIR": str(desk.repository.path)}
    there = {"CLAUDE_PROJECT_DIR": str(other.path)}
    assert Host(mode=mode, environment=there).run(desk.app, story) == ["Elsewhere"]
    for environment in ({}, here, there):
        host = Host(mode=mode, roots=(other.path,), environment=environment)
        assert host.run(desk.app, story) == ["Elsewhere"]


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_is_asked_once_where_it_works(desk: Desk, tmp_path: Path, mode: str) -> None:
    """Part of F1."""
    other, memory_id = apart(desk, tmp_path)

    async def story(one: Assistant) -> None:
        for _ in range(3):
            assert await read_titles(memory_id)(one) == ["Elsewhere"]
        await one.client.get_prompt("start", {})
        await one.client.read_resource("threadline://context")

    host = Host(mode=mode, roots=(other.path,))
    host.run(desk.app, story)
    assert host.asked == ["roots"]


@pytest.mark.parametrize("mode", ERAS)
def test_all_that_is_asked_at_once_is_answered_from_the_clients_folder(
    desk: Desk, tmp_path: Path, mode: str
) -> None:
    """Part of F1."""
    other, memory_id = apart(desk, tmp_path)
    found: list[str] = []

    async def story(one: Assistant) -> None:
        async def read() -> None:
            found.extend(await read_titles(memory_id)(one))

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(read)

    Host(mode=mode, roots=(other.path,)).run(desk.app, story)
    assert found == ["Elsewhere"] * 5


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_is_not_asked_where_the_command_line_says_it(
    desk: Desk, tmp_path: Path, mode: str
) -> None:
    """Part of F1."""
    other, memory_id = apart(desk, tmp_path)
    host = Host(mode=mode, roots=(desk.repository.path,), pinned=other.path)
    assert host.run(desk.app, read_titles(memory_id)) == ["Elsewhere"]
    assert host.asked == []


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_without_folders_works_where_it_was_started(desk: Desk, mode: str) -> None:
    """Part of F1."""
    memory_id = desk.remember("Ports are even")
    host = Host(mode=mode, roots=())
    assert host.run(desk.app, read_titles(memory_id)) == ["Ports are even"]
    assert host.asked == ["roots"]


@pytest.mark.parametrize("mode", ERAS)
def test_a_plugins_own_folder_is_no_guess(desk: Desk, mode: str) -> None:
    """Part of F1: clients of Agent Plugins start a server in the plugin's folder."""
    desk.remember("Ports are even")
    host = Host(mode=mode, roots=(), environment={"PLUGIN_ROOT": str(desk.app.here)})

    async def search(assistant: Assistant) -> str:
        return await assistant.fail("search_memories", query="ports")

    assert "--project PATH" in host.run(desk.app, search)


@pytest.mark.parametrize("mode", ERAS)
def test_what_is_listed_is_of_the_clients_folder(desk: Desk, tmp_path: Path, mode: str) -> None:
    """Part of F1."""
    other, _ = apart(desk, tmp_path)
    desk.ask("documents/write", name="ours", content="x")
    desk.ask("documents/write", project=str(other.path), name="theirs", content="x")

    async def names(one: Assistant) -> set[str]:
        listed = (await one.client.list_resources(cache_mode="bypass")).resources
        return {resource.name for resource in listed}

    async def story(one: Assistant) -> tuple[set[str], set[str]]:
        first = await names(one)
        await one.use("list_tasks")
        return first, await names(one)

    first, later = Host(mode=mode, roots=(other.path,)).run(desk.app, story)
    assert "context" in first
    assert "document-ours" not in first | later
    assert "document-theirs" in later


async def ask_bare(one: Assistant, **more: Any) -> object:
    """Call a tool as a client that leaves questions to others."""
    return await one.client.session.call_tool("list_tasks", {}, allow_input_required=True, **more)


@pytest.mark.parametrize("more", [{"input_responses": {}}, {"request_state": "roots"}])
def test_a_client_that_comes_back_without_an_answer_is_answered(
    desk: Desk, more: dict[str, Any]
) -> None:
    """Part of F1."""

    async def story(one: Assistant) -> None:
        question = await ask_bare(one)
        assert isinstance(question, types.InputRequiredResult)
        assert question.request_state == "roots"
        for again in (more, {}):
            told = await ask_bare(one, **again)
            assert isinstance(told, types.CallToolResult)
            assert not told.is_error

    Host(roots=(desk.repository.path,)).run(desk.app, story)


def test_a_client_that_leaves_a_question_open_is_not_asked_for_ever(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Part of F1."""
    other, memory_id = apart(desk, tmp_path)
    roots = [types.Root.model_validate({"uri": other.path.as_uri()})]

    async def story(one: Assistant) -> None:
        assert isinstance(await ask_bare(one), types.InputRequiredResult)
        assert isinstance(await ask_bare(one), types.InputRequiredResult)
        monkeypatch.setattr(server, "_PATIENCE", -1.0)
        assert isinstance(await ask_bare(one), types.CallToolResult)
        late = {"roots": types.ListRootsResult(roots=roots)}
        assert isinstance(await ask_bare(one, input_responses=late), types.CallToolResult)
        assert await read_titles(memory_id)(one) == ["Elsewhere"]

    Host(roots=(other.path,)).run(desk.app, story)


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_with_several_folders_names_one(desk: Desk, tmp_path: Path, mode: str) -> None:
    """Part of F1."""
    other, memory_id = apart(desk, tmp_path)

    async def story(one: Assistant) -> None:
        assert "name one of the folders" in await one.fail("list_tasks")
        place = str(other.path)
        read = await one.use("read_memories", memoryIds=[memory_id], project=place)
        assert len(read["memories"]) == 1
        here = str(desk.repository.path)
        assert not (await one.use("read_memories", memoryIds=[memory_id], project=here))["memories"]

    roots = (desk.repository.path, other.path)
    Host(mode=mode, roots=roots).run(desk.app, story)


@pytest.mark.parametrize("mode", ERAS)
def test_a_client_that_was_started_nowhere_is_asked_where_it_works(
    home: Home, repository: Repository, mode: str
) -> None:
    """Part of F1."""
    repository.commit("begin")
    app = Application(home, here=Path("/"), source="mcp-server")

    async def story(one: Assistant) -> str:
        return str((await one.use("session_start"))["projectId"])

    found = Host(mode=mode, roots=(repository.path,)).run(app, story)
    assert found == app.project(str(repository.path)).project_id


def test_a_client_that_works_nowhere_is_told_what_to_do(home: Home) -> None:
    """Part of F1."""
    app = Application(home, here=Path("/"), source="mcp-server")

    async def story(one: Assistant) -> None:
        assert "--project" in await one.fail("session_start")
        with pytest.raises(MCPError, match="--project"):
            await one.client.read_resource("threadline://context")

    Host().run(app, story)
    assert not home.projects()


async def read_resources(one: Assistant) -> dict[str, str]:
    listed = (await one.client.list_resources()).resources
    texts = {}
    for resource in listed:
        (content,) = (await one.client.read_resource(resource.uri)).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.mime_type == resource.mime_type
        texts[str(resource.uri)] = content.text
    templates = (await one.client.list_resource_templates()).resource_templates
    assert [template.name for template in templates] == ["document", "session", "memory"]
    for unknown in (
        "threadline://nonsense",
        "threadline://documents/none",
        "file:///etc/passwd",
    ):
        with pytest.raises(MCPError):
            await one.client.read_resource(unknown)
    return texts


async def read_memory(one: Assistant) -> None:
    """Read a memory by its address, which is listed nowhere: there may be thousands."""
    kept = {"type": "fact", "title": "Ports are even", "content": "Ports are even numbers."}
    memory_id = (await one.use("write_memory", **kept))["memory"]["memoryId"]
    (content,) = (await one.client.read_resource(f"threadline://memories/{memory_id}")).contents
    assert isinstance(content, types.TextResourceContents)
    assert content.mime_type == "application/json"
    found = await one.use("read_memories", memoryIds=[memory_id])
    assert json.loads(content.text)["memories"] == found["memories"]
    assert {name: found["memories"][0][name] for name in kept} == kept
    with pytest.raises(MCPError):
        await one.client.read_resource(f"threadline://memories/{'0' * 26}")


@pytest.mark.parametrize("mode", ERAS)
def test_context_sessions_and_documents_are_resources(desk: Desk, mode: str) -> None:
    """Part of F1."""
    desk.remember("Passwords are hashed with argon2", "constraint")
    desk.commit(DECISION, "locks.py")
    desk.ask("documents/write", name="my notes", content="# Mine")
    texts = Host(mode=mode).run(desk.app, read_resources)
    assert "argon2" in texts["threadline://context"]
    assert texts["threadline://documents/my%20notes"] == f"{own_words.NOTICE}\n\n# Mine"
    (session,) = desk.ask("sessions/list")["sessions"]
    assert DECISION in texts[f"threadline://sessions/{session['sessionId']}"]
    assert not desk.vault.receipts.all()


async def take_prompts(one: Assistant) -> None:
    listed = (await one.client.list_prompts()).prompts
    assert [prompt.name for prompt in listed] == ["start", "session", "document", "checkpoint"]
    assert all(prompt.title and prompt.description for prompt in listed)
    wanted = {
        "start": ({"query": "passwords"}, "argon2"),
        "session": ({}, DECISION),
        "document": ({"name": "soul"}, "What this memory is"),
        "checkpoint": ({}, "context_checkpoint"),
    }
    for name, (arguments, words) in wanted.items():
        (message,) = (await one.client.get_prompt(name, arguments)).messages
        assert isinstance(message.content, types.TextContent)
        assert words in message.content.text
    for name, arguments in (
        ("document", {}),
        ("nonsense", {}),
        ("session", {"sessionId": "x"}),
    ):
        with pytest.raises(MCPError):
            await one.client.get_prompt(name, arguments)


@pytest.mark.parametrize("mode", ERAS)
def test_context_sessions_and_documents_are_prompts(desk: Desk, mode: str) -> None:
    """Part of F1."""
    desk.remember("Passwords are hashed with argon2", "constraint")
    desk.commit(DECISION, "locks.py")
    Host(mode=mode).run(desk.app, take_prompts)


@pytest.mark.parametrize("mode", ERAS)
def test_a_real_process_gives_an_assistant_all_it_needs(desk: Desk, mode: str) -> None:
    """F1."""
    desk.remember("Passwords are hashed with argon2", "constraint")
    desk.commit(DECISION, "locks.py")
    desk.message("Look at the locks", target="reviewer")

    async def story(one: Assistant) -> None:
        assert one.client.protocol_version == ERAS[mode]
        assert one.client.instructions == server.TEXT
        await look_at_tools(one)
        await take_prompts(one)
        texts = await read_resources(one)
        kinds = {uri.removeprefix("threadline://").split("/")[0]: uri for uri in texts}
        assert set(kinds) == {"context", "documents", "sessions"}
        assert "argon2" in texts["threadline://context"]
        assert "What this memory is" in texts["threadline://documents/soul"]
        events = json.loads(texts[kinds["sessions"]])["events"]
        assert DECISION in [event["commit"]["subject"] for event in events if event["commit"]]
        await use_every_tool(one)
        await read_memory(one)

    Host(mode=mode).spawn(desk.repository.path, story)


def test_clients_are_known_by_what_they_call_themselves(desk: Desk) -> None:
    """Part of F1."""

    async def story(one: Assistant) -> str:
        kept = {"type": "fact", "title": "x", "content": "x"}
        written = await one.use("write_memory", **kept, dedup=False)
        return str(written["memory"]["agentId"])

    known = {
        "claude-code": "claude-code",
        "copilot-cli": "copilot",
        "cursor-vscode": "cursor",
        "opencode": "opencode",
        "Visual Studio Code": "vscode",
        "antigravity-client": "antigravity",
        "codex-mcp-client": "codex",
        "My Own Agent": "my own agent",
    }
    assert {name: Host(name=name).run(desk.app, story) for name in known} == known
    environment = {"THREADLINE_HOST": "windsurf"}
    assert Host(name="x", environment=environment).run(desk.app, story) == "windsurf"


def test_while_capture_is_paused_nothing_is_recorded(desk: Desk) -> None:
    """Part of B6."""
    desk.ask("capture/pause")

    async def story(one: Assistant) -> None:
        await one.use("session_start")
        await one.use("session_track", prompt="Never use Redis")
        saved = await one.use("save_session", summary="Secret work")
        assert saved["events"][0]["outcome"] == "dropped"

    Host().run(desk.app, story)
    assert not desk.vault.conversations.all()
    assert not desk.ask("sessions/list")["sessions"]


def test_what_is_private_is_never_kept(desk: Desk) -> None:
    """Part of B6."""

    async def story(one: Assistant) -> None:
        await one.use("save_session", summary="Moved. <private>the boss is ill</private> Done.")
        await one.use("session_digest", digest="Here <private>the boss is ill</private> I am.")

    Host().run(desk.app, story)
    desk.clock.pass_(HOUR)
    kept = b"".join(path.read_bytes() for path in desk.home.folder.rglob("*") if path.is_file())
    assert b"the boss is ill" not in kept
    assert b"Moved." in kept
