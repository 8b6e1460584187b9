"""Nothing hidden leaves by any exit: every class of hidden characters is planted through real doors and looked for behind each exit."""

import json
import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from sidecar.text import characters, own_words
from tests.lsp_client import RawClient
from tests.mcps import Assistant, Host
from tests.support import Repository, threadline
from tests.webs import Dashboard

pytestmark = pytest.mark.slow

CLASSES = {
    "tags": "".join(map(chr, range(0xE0000, 0xE0080))),
    "directions": "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",
    "zero width": "\u200b\u200c\u200d\u2060\u2061\u2064\ufeff",
    "ends of lines": "\u2028\u2029\x85",
    "controls": "".join(map(chr, (*range(1, 9), *range(0x0B, 0x0D), *range(0x0E, 0x20), 0x7F))),
    "more controls": "".join(map(chr, range(0x80, 0xA0))),
    "terminal commands": "\x1b[31m\x1b]0;title\x07\x1bP+q\x1b\\\x9b1m",
    "variants": "\ufe00\ufe0e\ufe0f\U000e0100\U000e01ef\u180b\u180c\u180d",
    "soft hyphen": "\u00ad\u034f",
    "fillers": "\u115f\u1160\u3164\uffa0\u17b4\u17b5",
    "annotations": "\ufff9\ufffa\ufffb",
    "halves": "\ud800\udfff",
    "no characters": "\ufdd0\ufdef\ufffe\uffff\U0001fffe\U0010ffff",
    "private": "\ue000\uf8ff\U000f0000\u206a\u180e",
}
WORD = "Planted"
SIGNS = "".join(text for name, text in CLASSES.items() if name != "halves")
TEXT = f"{WORD} decision: we use a{SIGNS}b instead of c because it is safe."
SHORT = f"{WORD} {SIGNS[:128:16]}{SIGNS[128:]}"
FILE = f"planted{chr(0xE0041)}\u202e\x1b\u200b\x85.py"
BRANCH = f"planted{chr(0xE0041)}\u202e\u200b"
SESSION = "a-talk"
ESCAPED = r"planted\u{e0041}\u{202e}"
"""How a name with hidden characters begins where it is shown."""

Outputs = dict[str, list[str]]


def plant(repository: Repository) -> None:
    """Bring hidden characters in by every door: git, requests, and hooks."""
    repository.commit("begin", name="plain.txt")
    repository.git("checkout", "--quiet", "-b", BRANCH)
    (repository.path / FILE).write_text("def planted():\n    return 1\n")
    (repository.path / os.fsdecode(b"planted\xed\xa0\x80\xff.txt")).write_text("x\n")
    message = repository.path.parent / "message"
    message.write_bytes(f"{TEXT}\n\n{TEXT}\n".encode() + b"half \xed\xa0\x80 \xff\n")
    repository.git("add", "--all")
    repository.git(
        *("commit", "--quiet", "--cleanup=verbatim", "-F", str(message)),
        GIT_AUTHOR_NAME=f"Eve{SIGNS}l",
        GIT_AUTHOR_EMAIL="ada@example.org",
    )
    run(repository, "scan", "--all-authors")
    requests = [
        ("memories/write", {"type": "decision", "title": SHORT, "content": TEXT, "files": [FILE]}),
        ("tasks/create", {"tasks": [{"title": SHORT, "description": TEXT}]}),
        ("messages/send", {"targetId": "any", "subject": SHORT, "content": TEXT}),
        ("messages/send", {"targetId": "user", "subject": SHORT, "content": TEXT}),
        ("documents/write", {"name": "notes", "content": f"# {TEXT}\n\n{TEXT}"}),
        ("documents/write", {"name": "soul", "content": f"# {TEXT}\n\n{TEXT}"}),
        ("context/digest", {"sessionKey": SESSION, "digest": TEXT, "harness": "codex"}),
    ]
    lines = [
        json.dumps({"id": number, "method": f"threadline/{method}", "params": params})
        for number, (method, params) in enumerate(requests)
    ]
    said = run(repository, "call", "-", stdin="\n".join(lines).encode()).decode()
    assert '"error"' not in said, said
    hook(repository, "UserPromptSubmit", prompt=TEXT + CLASSES["halves"])
    hook(repository, "Stop", last_assistant_message=TEXT + CLASSES["halves"])
    run(repository, "enrich", "--all")


def run(
    repository: Repository, *words: str, stdin: bytes = b"", codes: tuple[int, ...] = (0,)
) -> bytes:
    """Run a command as a user does; give both of its streams."""
    done = threadline(*words, cwd=repository.path, stdin=stdin, THREADLINE_HOOK_SECONDS="60")
    assert done.returncode in codes, done.stderr
    return done.stdout + done.stderr


def hook(repository: Repository, event: str, **fields: Any) -> bytes:
    message = {
        "hook_event_name": event,
        "session_id": SESSION,
        "transcript_path": "/home/dev/.claude/projects/x/s.jsonl",
        "cwd": str(repository.path),
        **fields,
    }
    return run(repository, "hook", "claude-code", event, stdin=json.dumps(message).encode())


def strings(value: object) -> Iterator[str]:
    """Give every text in a decoded message, also those within a text that is JSON itself."""
    if isinstance(value, str):
        yield value
        if value.startswith(("{", "[")):
            yield from strings(decoded(value))
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from (name, *strings(item))


def decoded(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


# --- the exits


def ask_lsp(repository: Repository) -> list[str]:
    client = RawClient(repository.path)
    path = repository.path / FILE
    place = {"uri": repository.path.as_uri(), "name": "x"}
    here = {"textDocument": {"uri": path.as_uri()}}
    heard: list[Any] = []
    try:
        capabilities = {"textDocument": {"hover": {"contentFormat": ["markdown"]}}}
        client.initialize(workspaceFolders=[place], capabilities=capabilities)
        for method, params in reading(repository):
            heard.append(client.request(1, method, params))
        heard += [
            client.request(
                2, "textDocument/hover", here | {"position": {"line": 0, "character": 0}}
            ),
            client.request(3, "textDocument/codeLens", here),
            client.request(4, f"threadline/{TEXT}", {}),
            client.request(5, "workspace/executeCommand", {"command": TEXT}),
            client.request(
                *(6, "workspace/executeCommand"),
                {"command": "threadline.files.about", "arguments": [{"path": str(path)}]},
            ),
            client.request(7, "threadline/documents/read", {"name": "no" + SIGNS[:20]}),
            client.request(
                *(8, "threadline/enrichment/start"), {"all": True, "workDoneToken": "progress"}
            ),
        ]
        repository.commit(SHORT, name="plain.txt")
        heard.append(client.hear(lambda notice: notice["method"] == "threadline/didChange"))
        heard += client.notices
    finally:
        client.close()
    return [*strings(heard)]


def reading(repository: Repository, project: str | None = None) -> list[tuple[str, dict[str, Any]]]:
    """Name the requests that read what was planted."""
    own: dict[str, Any] = {} if project is None else {"project": project}
    session = json.loads(run(repository, "sessions", "--json"))["sessions"][0]["sessionId"]
    found = json.loads(run(repository, "search", "planted", "--json"))["memories"]
    ids = [one["memory"]["memoryId"] for one in found]
    rows: list[tuple[str, dict[str, Any]]] = [
        ("sessions/list", {}),
        ("sessions/events", {"sessionId": session}),
        ("memories/search", {"query": "planted"}),
        ("memories/list", {}),
        ("memories/read", {"memoryIds": ids}),
        ("memories/graph", {}),
        ("tasks/list", {}),
        ("messages/read", {"agentId": "user"}),
        ("documents/list", {}),
        ("documents/read", {"name": "notes"}),
        ("agents/list", {}),
        ("timeline", {}),
        ("checkpoints/list", {}),
        ("context/start", {"preview": True, "query": "planted", "summaryOnly": False}),
        ("context/render", {"host": "mcp", "preview": True, "query": "planted"}),
        ("files/about", {"path": FILE}),
        ("status", {}),
        ("projects/list", {}),
    ]
    without = {"projects/list"}
    return [
        (f"threadline/{name}", params | ({} if name in without else own)) for name, params in rows
    ]


def ask_mcp(repository: Repository) -> list[str]:
    async def story(assistant: Assistant) -> list[str]:
        heard: list[Any] = []
        calls: list[tuple[str, dict[str, Any]]] = [
            ("session_start", {"query": "planted", "summaryOnly": False}),
            ("search_memories", {"query": "planted"}),
            ("list_tasks", {}),
            ("read_messages", {}),
            ("read_document", {"name": "notes"}),
            ("list_sessions", {}),
            ("list_active_agents", {}),
            ("read_document", {"name": "no" + SIGNS[:20]}),
            ("search_memories", {"query": "planted", "no" + SIGNS: 1}),
        ]
        for tool, arguments in calls:
            result = await assistant.client.call_tool(tool, arguments)
            heard.append(result.model_dump(mode="json"))
            if not result.is_error:
                assert isinstance(result.structured_content, dict)
                assert next(iter(result.structured_content.items())) == ("notice", own_words.NOTICE)
        for uri in [one.uri for one in (await assistant.client.list_resources()).resources]:
            contents = await assistant.client.read_resource(uri)
            heard.append(contents.model_dump(mode="json"))
            (content,) = contents.contents
            assert isinstance(content, types.TextResourceContents)
            assert own_words.NOTICE in content.text[:100]
        for name, given in (
            ("start", {"query": "planted"}),
            ("session", {}),
            ("document", {"name": "notes"}),
        ):
            prompt = await assistant.client.get_prompt(name, given)
            heard.append(prompt.model_dump(mode="json"))
            (message,) = prompt.messages
            assert isinstance(message.content, types.TextContent)
            assert message.content.text.startswith(own_words.NOTICE)
        with pytest.raises(MCPError) as refused:
            await assistant.client.read_resource("threadline://documents/no%E2%80%AEsuch")
        heard.append(str(refused.value))
        return [*strings(heard)]

    return Host().spawn(repository.path, story)


def ask_web(repository: Repository) -> list[str]:
    with Dashboard(repository.path) as dashboard:
        visitor = dashboard.visit()
        with visitor.open_tab() as tab:
            (project,) = tab.request("threadline/projects/list")["projects"]
            heard: list[Any] = [project]
            for method, params in reading(repository, project["projectId"]):
                tab.ask(1, method, **params)
                heard.append(tab.receive())
            tab.ask(2, f"threadline/{TEXT}")
            heard += [tab.receive(), *tab.notices]
        bearer = f"Bearer {dashboard.bearer}"
        path = f"/api/checkpoints?project={project['projectId']}"
        answer = visitor.get(path, authorization=bearer)
        assert answer.status_code == 200
        heard.append(answer.json())
    return [answer.text, *strings(heard)]


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("sessions",),
    ("sessions", "show"),
    ("sessions", "show", "--json"),
    ("status",),
    ("status", "--json"),
    ("search", "planted"),
    ("search", "planted", "--json", "--explain"),
    ("why", FILE),
    ("why", f"{FILE}:1"),
    ("why", FILE, "--json"),
    ("tasks",),
    ("tasks", "--json"),
    ("inbox",),
    ("inbox", "--json"),
    ("documents",),
    ("documents", "show", "notes"),
    ("documents", "show", "notes", "--json"),
    ("documents", "history", "notes"),
    ("agents",),
    ("checkpoints",),
    ("checkpoints", "--json"),
    ("context",),
    ("context", "--json"),
    ("context", "--explain"),
    ("receipts",),
    ("graph",),
    ("jobs",),
    ("stats",),
    ("call", "threadline/timeline", "{}"),
    ("sessions", "show", SHORT),
    ("documents", "show", SHORT),
    ("nonsense", SHORT),
    ("sessions", f"--{SHORT}"),
    ("call", f"threadline/{SHORT}", "{}"),
)


def ask_terminal(repository: Repository) -> list[str]:
    """Run every command that shows something; what is JSON is also read as such."""
    heard = []
    for words in COMMANDS:
        output = run(repository, *words, codes=(0, 2, 3)).decode()
        heard += [output, *strings(decoded(output))]
    lines = b"\n".join(
        json.dumps({"id": 1, "method": method, "params": params}).encode()
        for method, params in reading(repository)
    )
    for line in run(repository, "call", "-", stdin=lines).decode().splitlines():
        heard += [line, *strings(decoded(line))]
    return heard


def ask_hook(repository: Repository) -> list[str]:
    output = hook(repository, "SessionStart", source="startup", session_id="another-talk").decode()
    return [output, *strings(decoded(output))]


def read_logs(repository: Repository) -> list[str]:
    """Let a server complain of a folder that is gone and has hidden characters in its name; give all logs."""
    gone = repository.path / f"{WORD}{SIGNS}"
    hook(repository, "UserPromptSubmit", prompt="x", cwd=str(gone))
    run(repository, "hook", "claude-code", f"{WORD}{SIGNS}", stdin=b"{")
    folder = Path(os.environ["THREADLINE_HOME"]) / "logs"
    client = RawClient(repository.path)
    try:
        place = {"uri": repository.path.as_uri(), "name": "x"}
        client.initialize(workspaceFolders=[place])
        complaint = client.hear(lambda notice: "belong nowhere" in json.dumps(notice))
        assert complaint, client.notices
    finally:
        client.close()
    logs = [path.read_bytes().decode() for path in folder.iterdir() if path.suffix == ".log"]
    return [*logs, *strings(complaint)]


def export(repository: Repository) -> list[str]:
    """Export everything; what comes back from an import is no different."""
    whole = run(repository, "export", "-")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THREADLINE_HOME", f"{os.environ['THREADLINE_HOME']}-imported")
        run(repository, "import", "-", stdin=whole)
        assert run(repository, "export", "-") == whole
    return [whole.decode()]


def export_markdown(repository: Repository) -> list[str]:
    return [run(repository, "export", "--markdown", "-").decode()]


EXITS = {
    "LSP": ask_lsp,
    "MCP": ask_mcp,
    "web": ask_web,
    "terminal": ask_terminal,
    "hook": ask_hook,
    "export": export,
    "Markdown": export_markdown,
    "log": read_logs,
}
NAMED = ("LSP", "MCP", "web", "terminal", "Markdown")
"""Exits at which a name with hidden characters is shown."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outputs]:
    """Plant once, and give all that each exit lets out."""
    folder = tmp_path_factory.mktemp("hidden")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THREADLINE_HOME", str(folder / "home"))
        patch.setenv("GIT_CONFIG_GLOBAL", str(folder / "gitconfig"))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        (folder / "gitconfig").write_text(
            "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n"
        )
        repository = Repository.create(folder / "repository")
        plant(repository)
        yield {name: ask(repository) for name, ask in EXITS.items()}


@pytest.mark.parametrize("hidden", CLASSES)
@pytest.mark.parametrize("name", EXITS)
def test_nothing_hidden_leaves(outputs: Outputs, name: str, hidden: str) -> None:
    """H9."""
    whole = "\n".join(outputs[name])
    left = {f"{ord(sign):04x}" for sign in CLASSES[hidden] if sign in whole}
    # Letters, brackets and a bell's neighbours are part of terminals' commands, and visible.
    left -= {
        f"{ord(sign):04x}" for sign in CLASSES[hidden] if sign.isascii() and sign.isprintable()
    }
    assert left == set()


@pytest.mark.parametrize("name", EXITS)
def test_what_was_planted_can_be_seen(outputs: Outputs, name: str) -> None:
    """Part of H9."""
    assert WORD.lower() in "\n".join(outputs[name]).lower()


@pytest.mark.parametrize("name", NAMED)
def test_names_show_what_is_hidden_in_them(outputs: Outputs, name: str) -> None:
    """H9."""
    texts = "\n".join(outputs[name]).replace("\\\\", "\\")
    assert ESCAPED in texts.replace(r"\{", "{").replace(r"\}", "}")


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",  # noqa: RUF001  # Persian
        "क्\u200dष क्\u200cष",
        "👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3 🏳\ufe0f\u200d🌈 👍🏽",
        "敏捷的　狐狸、日本語。",
        "العربية אבג Ελληνικά naïve “…” 100 %",
        "tab\tand\nnewline",
    ],
)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    """Part of H9."""
    assert characters.visible(text) == characters.shown(text) == text
    data = json.dumps({"path": text, "text": text}, ensure_ascii=False).encode()
    assert json.loads(characters.visible_json(data)) == {"path": text, "text": text}


def test_ids_and_tokens_of_a_client_come_back_as_they_were() -> None:
    message = {"id": "a\u200b", "params": {"token": "b\u200b", "text": "c\u200b"}}
    data = json.dumps(message).encode()
    assert json.loads(characters.visible_message(data)) == {
        "id": "a\u200b",
        "params": {"token": "b\u200b", "text": "c"},
    }


def test_every_hidden_character_of_unicode_is_known() -> None:
    """Part of H9."""
    ignorable = {
        *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810)),
        *(*range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000)),
        *range(0xFDD0, 0xFDF0),
    }
    for number in range(0x110000):
        sign = chr(number)
        is_hidden = (
            unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
            or number in ignorable
            or number & 0xFFFE == 0xFFFE
        )
        if is_hidden and sign not in "\n\t":
            assert sign not in characters.visible(f"a{sign}b"), hex(number)
            assert len(characters.visible(f"a{sign}b")) <= 3, hex(number)
            assert sign not in characters.shown(f"a{sign}b"), hex(number)
