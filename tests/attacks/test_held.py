"""What an audit attacked in vain stays so. Each group, and the test that keeps it true:

- programs named by a repository's git configuration, hooks, attributes, submodules and include files:
  code/test_git.py::test_a_booby_trapped_repository_runs_nothing,
  code/test_origins.py::test_no_program_of_the_repository_runs_and_nothing_is_written,
  attacks/test_held.py::test_no_command_runs_a_program_that_a_repository_names
- repositories of other users: code/test_git.py::test_git_decides_whose_repositories_may_be_read
- the dashboard's gates: transports/test_forbidden.py::test_a_request_of_a_forbidden_shape_is_refused,
  attacks/test_dashboard.py::test_another_local_port_receives_nothing_usable
- scripts in what pages show: attacks/test_held.py::test_no_page_runs_a_script_that_was_recorded
- `connect` and `rules` through links:
  hosts/test_connect.py::test_a_linked_file_is_written_through_and_one_that_leads_out_is_not,
  hosts/test_rules_writer.py::test_a_file_that_must_not_be_touched_is_not,
  transports/test_rules.py::test_a_link_out_of_the_project_is_not_followed,
  hosts/test_config_files.py::test_what_must_not_be_touched_is_refused_with_its_reason
- LSP outside the workspace: memory/test_explain.py::test_secret_ignored_and_outside_files_are_silent,
  capture/test_saves.py::test_a_file_outside_the_workspace_is_nobodys,
  transports/test_insights.py::test_silence_where_there_is_nothing_to_say
- MCP across projects: transports/test_mcp.py::test_one_project_never_leaks_into_another
- conditions of tasks: tasks/test_conditions.py::test_no_condition_takes_long,
  tasks/test_finishing.py::test_no_condition_ever_runs_anything
- escapes on a terminal: attacks/test_held.py::test_no_command_sends_a_recorded_escape_to_the_terminal,
  transports/test_conversations.py::test_what_anybody_may_write_moves_no_cursor_and_shows_no_secret
- hidden text in fenced renderings: context/test_rendering.py::test_no_payload_gets_out_of_the_fence,
  context/test_rendering.py::test_no_text_at_all_gets_out_of_the_fence
- transcripts that change while they are read:
  hosts/test_transcripts.py::test_a_file_that_changes_while_it_is_read_gives_what_it_had_or_nothing,
  hosts/test_transcripts.py::test_a_link_at_the_end_is_not_followed
- sockets that nobody configured: attacks/test_held.py::test_no_socket_is_opened_that_was_not_configured
- hostile model servers: memory/test_model_servers.py::test_a_redirect_is_not_followed,
  memory/test_model_servers.py::test_an_answer_that_is_none_is_an_error_that_says_why,
  memory/test_model_servers.py::test_the_key_is_in_no_log_and_no_representation
- pickle, YAML, eval, shells: attacks/test_held.py::test_nothing_evaluates_what_it_reads
- weights by SHA-256: search/test_embeddings.py::test_other_weights_are_refused_with_a_reason
"""

import ast
import contextlib
import json
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sidecar.transports.web import page_files
from tests import chromium
from tests.support import ROOT, Repository, threadline
from tests.webs import Dashboard

pytestmark = pytest.mark.slow


def test_every_group_names_tests_that_exist() -> None:
    named = re.findall(r"([a-z_/]+\.py)::(\w+)", __doc__ or "")
    assert len(named) >= 20
    for path, name in named:
        assert f"\ndef {name}(" in (ROOT / "tests" / path).read_text(), name


def call(repository: Repository, method: str, **params: Any) -> Any:
    """Ask as another process does."""
    done = threadline("call", f"threadline/{method}", json.dumps(params), cwd=repository.path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


HOOK = json.dumps({"session_id": "s", "hook_event_name": "SessionStart", "source": "startup"})


def test_no_command_runs_a_program_that_a_repository_names(
    repository: Repository, tmp_path: Path
) -> None:
    """Git settings, hooks, attributes, an include file and a submodule, on the way through whole commands."""
    marker, program = tmp_path / "marker", tmp_path / "program"
    inner = Repository.create(tmp_path / "inner")
    inner.commit("inner")
    repository.git(
        *("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "sub")
    )
    repository.write(".gitattributes", "* diff=trap filter=trap merge=trap\n")
    repository.commit("begin", name="a.py")
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\ncat >/dev/null 2>&1\n')
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"):
        (hooks / name).symlink_to(program)
    names = (
        *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.gitProxy"),
        *("core.askPass", "core.alternateRefsCommand", "diff.external", "diff.trap.textconv"),
        *("diff.trap.command", "merge.trap.driver", "filter.trap.clean", "filter.trap.smudge"),
        *("filter.trap.process", "pager.log", "pager.diff", "pager.blame", "gpg.program"),
        *("gpg.ssh.program", "gpg.ssh.defaultKeyCommand", "interactive.diffFilter"),
        *("uploadpack.packObjectsHook", "remote.origin.uploadpack", "trailer.x.command"),
    )
    lines = [f'[core]\n\thooksPath = "{hooks}"\n[log]\n\tshowSignature = true']
    for name in names:
        section, key = name.rsplit(".", 1)
        first, _, rest = section.partition(".")
        head = f'{first} "{rest}"' if rest else first
        lines.append(f"[{head}]\n\t{key} = {program}")
    lines += [f"[alias]\n\t{name} = !{program}" for name in ("log", "rev-parse", "blame", "config")]
    lines.append(f"[credential]\n\thelper = !{program}\n[submodule]\n\trecurse = true")
    included = tmp_path / "included"
    included.write_text("\n".join(lines) + "\n")
    for folder in (repository.path / ".git", repository.path / ".git" / "modules" / "sub"):
        with (folder / "config").open("a") as config:
            config.write(
                f'[include]\n\tpath = {included}\n[includeIf "gitdir:/"]\n\tpath = {included}\n'
            )
    for command in (
        ("scan", "--all-authors"),
        ("enrich", "--all"),
        ("status",),
        ("sessions", "show"),
        ("why", "a.py:1"),
        ("context",),
    ):
        done = threadline(*command, cwd=repository.path)
        assert done.returncode == 0, (command, done.stderr)
    threadline("hook", "claude-code", cwd=repository.path, stdin=HOOK.encode())
    assert call(repository, "sessions/list")["total"] == 1
    assert not marker.exists(), marker.read_text()


PAYLOAD = (
    "<img src=x onerror=pwned()><script>pwned()</script><svg onload=pwned()>"
    "<a href='javascript:pwned()'>x</a>\"'><iframe srcdoc='<script>parent.pwned()</script>'>{{pwned()}}"
)


@pytest.mark.skipif(chromium.PROGRAM is None, reason="chromium is missing")
@pytest.mark.skipif(not page_files.are_built(), reason="the pages are not built")
def test_no_page_runs_a_script_that_was_recorded(repository: Repository, tmp_path: Path) -> None:
    """Every page shows the payload as text, and nothing of it becomes an element."""
    repository.git("config", "user.name", "Ada <b>")
    repository.git("checkout", "--quiet", "-b", "<script>pwned()</script>")
    repository.commit(
        f"Use {PAYLOAD} because it needs no server", name="<img src=x onerror=pwned()>"
    )
    for command in (("scan", "--all-authors"), ("enrich", "--all")):
        assert threadline(*command, cwd=repository.path).returncode == 0
    session = call(repository, "sessions/list")["sessions"][0]["sessionId"]
    texts = {"title": PAYLOAD, "content": f"# {PAYLOAD}\n[x](javascript:pwned())"}
    written = call(repository, "memories/write", type="decision", tags=["<script>"], **texts)
    memory = written["memory"]["memoryId"]
    tasks = call(repository, "tasks/create", tasks=[{"title": PAYLOAD, "description": PAYLOAD}])
    task = tasks["tasks"][0]["taskId"]
    post = {
        "targetId": "user",
        "senderId": "<b>agent",
        "subject": PAYLOAD[:200],
        "content": PAYLOAD,
    }
    message = call(repository, "messages/send", **post)["message"]["messageId"]
    saved = {"sessionKey": PAYLOAD[:100], "digest": PAYLOAD, "harness": "<script>"}
    call(repository, "context/digest", **saved)
    places = {
        "timeline": "",
        "sessions": "onerror",
        f"session/{session}": "onerror",
        "memory": "onerror",
        f"memory/{memory}": "onerror",
        "injection": "onerror",
        "tasks": "onerror",
        f"tasks/{task}": "onerror",
        "inbox": "onerror",
        f"inbox/{message}": "onerror",
    }
    with Dashboard(repository.path) as dashboard, chromium.browse(tmp_path / "profile") as page:
        page.command("Page.enable")
        page.command(
            "Page.addScriptToEvaluateOnNewDocument",
            source="window.wasRun = []; window.pwned = () => window.wasRun.push(location.href);",
        )
        page.open(dashboard.told["url"])
        page.wait("location.pathname === '/' && document.querySelector('nav') !== null")
        for place, text in places.items():
            page.open(f"{dashboard.address}/#/{place}")
            page.wait(
                f"location.hash === '#/{place}' && document.querySelector('.loading') === null"
            )
            page.wait(f"document.getElementById('main').textContent.includes('{text}')")
            strange = (
                "#app :is(script, iframe, img[src=x], [onerror], [onload], [href^=javascript])"
            )
            assert page.evaluate(f"document.querySelectorAll('{strange}').length") == 0, place
            assert page.evaluate("window.wasRun") == [], place


CONTROLS = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
RUN = "from sidecar.transports.entry import main; raise SystemExit(main())"
ESCAPES = "\x1b[2J\x1b]0;owned\x07\x1b[31m\x9b31m\x08\x7f\u202e\u200b"


def test_no_command_sends_a_recorded_escape_to_the_terminal(repository: Repository) -> None:
    """Whatever anybody wrote, wherever it is shown."""
    hostile = f"harbour {ESCAPES} wall"
    repository.git("config", "user.name", f"Ada{ESCAPES}".replace("\n", ""))
    repository.commit(f"Use the {hostile} because it holds", name="harbour\x1b[31m\u202e.py")
    for preparing in (("scan", "--all-authors"), ("enrich", "--all")):
        assert threadline(*preparing, cwd=repository.path).returncode == 0
    texts = {"title": hostile, "content": hostile}
    memory = call(repository, "memories/write", type="decision", **texts)["memory"]["memoryId"]
    call(repository, "tasks/create", tasks=[{"title": hostile, "description": hostile}])
    post = {"senderId": "codex", "subject": hostile, "content": hostile}
    message = call(repository, "messages/send", targetId="user", **post)["message"]["messageId"]
    call(repository, "documents/write", name="own", content=hostile)
    call(repository, "context/digest", sessionKey="k", digest=hostile, harness=f"h{ESCAPES}")
    commands: tuple[tuple[str, ...], ...] = (
        *(("sessions",), ("sessions", "show"), ("jobs",), ("search", "harbour"), ("context",)),
        *(("status",), ("tasks",), ("inbox",), ("documents",), ("documents", "show", "own")),
        *(("checkpoints",), ("checkpoints", "k"), ("receipts",), ("stats",), ("agents",)),
        *(("graph",), ("why", "harbour\x1b[31m\u202e.py:1"), ("rules",), ("search", hostile)),
        *(("tasks", "show", hostile), ("sessions", "show", hostile), ("forget", hostile)),
        *(("scan",), ("inbox", "show", message), ("forget", memory)),
    )
    shown = ""
    for command in commands:
        output = watch(repository.path, *command)
        assert re.search(CONTROLS, output) is None, command
        assert "Traceback" not in output, command
        shown += output
    assert shown.count("harbour") >= 10


def watch(folder: Path, *command: str) -> str:
    """Run a command at a terminal without colours, and return what is written to it."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *command],
        cwd=folder,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT), "TERM": "dumb", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    ):
        os.close(theirs)
        written = b""
        # Linux reports the end of a terminal as an error.
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 1 << 16):
                written += piece
    os.close(ours)
    return written.decode().replace("\r\n", "\n")


class ModelServer(BaseHTTPRequestHandler):
    """Answers every question with nothing of use."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"choices": [{"message": {"content": "[]"}}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def model() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), ModelServer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


LISTEN = """import os, sys

def hear(event, arguments):
    if event in {"socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto"}:
        address = arguments[:2] if event == "socket.getaddrinfo" else arguments[1]
        with open(os.environ["HEARD"], "a") as heard:
            heard.write(f"{event} {address!r}\\n")

sys.addaudithook(hear)
"""


def test_no_socket_is_opened_that_was_not_configured(
    repository: Repository, tmp_path: Path, model: int
) -> None:
    """Python itself tells of every socket of ours; git is only asked what reads the disk."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(LISTEN)
    heard = tmp_path / "heard"
    environment = {"PYTHONPATH": f"{tmp_path / 'site'}:{ROOT}", "HEARD": str(heard)}

    def run(*command: str, stdin: bytes = b"") -> list[str]:
        heard.write_text("")
        done = threadline(*command, cwd=repository.path, stdin=stdin, **environment)
        assert done.returncode == 0, (command, done.stderr)
        return heard.read_text().splitlines()

    repository.git("remote", "add", "origin", "https://nowhere.invalid/a.git")
    repository.commit("Use SQLite for the ledger because it needs no server")
    initialize = {
        "id": 1,
        "method": "initialize",
        "params": {"processId": None, "capabilities": {}},
    }
    body = json.dumps({"jsonrpc": "2.0", **initialize}).encode()
    serve = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    exit_ = b'{"jsonrpc":"2.0","method":"exit"}'
    assert run("scan", "--all-authors") == []
    assert run("enrich", "--all") == []
    for command in ("status", "context", "sessions", "tasks", "inbox", "export"):
        assert run(command) == [], command
    assert run("search", "ledger") == []
    assert run("remember", "we sail on Friday") == []
    assert run("hook", "claude-code", stdin=HOOK.encode()) == []
    assert run("mcp", stdin=b"") == []
    heard.write_text("")
    serve += b"Content-Length: %d\r\n\r\n%b" % (len(exit_), exit_)
    threadline("serve", cwd=repository.path, stdin=serve, **environment)
    assert heard.read_text() == ""

    # What was configured is asked, and the audit hook hears it: otherwise the silence above proves nothing.
    settings = {
        "modelProvider": "http",
        "modelName": "small",
        "modelBaseUrl": f"http://127.0.0.1:{model}/v1",
    }
    home = Path(call(repository, "status")["folder"]).parents[1]
    (home / "settings.json").write_text(json.dumps(settings))
    repository.commit("Never sign an upload twice: the gateway charges for each")
    run("scan", "--all-authors")
    asked = run("enrich", "--all")
    assert asked
    assert {line for line in asked if "socket.connect" in line} == {
        f"socket.connect ('127.0.0.1', {model})"
    }


_MODULES = {"pickle", "marshal", "shelve", "dill", "yaml", "code", "codeop", "pty"}
_CALLS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "system",
    "popen",
    "getoutput",
    "getstatusoutput",
}


def test_nothing_evaluates_what_it_reads() -> None:
    """No code from data, and no shell between us and a program."""
    sources = [*(ROOT / "sidecar").rglob("*.py"), *(ROOT / "protocol").rglob("*.py")]
    assert len(sources) > 200
    wrong = [
        f"{path}:{node.lineno}"
        for path in sources
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Call) and _is_dangerous(node)
    ]
    # The name of an assistant's file is checked to be a name, and the package is ours.
    (own,) = wrong
    assert own.startswith(str(ROOT / "sidecar" / "hosts" / "assistant.py"))


def _is_dangerous(node: ast.Import | ast.ImportFrom | ast.Call) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] in _MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in _MODULES and node.level == 0
    has_shell = any(
        option.arg == "shell"
        and not (isinstance(option.value, ast.Constant) and not option.value.value)
        for option in node.keywords
    )
    match node.func:
        case ast.Name(id=name):
            return has_shell or name in _CALLS
        case ast.Attribute(value=ast.Name(id="os" | "subprocess" | "builtins"), attr=name):
            return has_shell or name in _CALLS
    return has_shell
