"""Tasks, messages, documents, agents and links on the command line, as a user handles them."""

import json
from pathlib import Path
from typing import Any

import pytest

from protocol.links import Graph, GraphLink, GraphNode, LinkEnd
from sidecar.transports.cli.documents import dot
from sidecar.transports.exits import Exit
from tests.support import Repository, threadline

slow = pytest.mark.slow
COMMANDS = ("tasks", "inbox", "send", "documents", "agents", "graph")


@pytest.fixture
def here(repository: Repository) -> Path:
    repository.commit("first", name="src/signing.py")
    return repository.path


def told(*arguments: str, cwd: Path, stdin: bytes = b"") -> Any:
    """Run a command that succeeds and read its JSON."""
    done = threadline(*arguments, "--json", cwd=cwd, stdin=stdin)
    assert done.returncode == Exit.OK, done.stderr.decode()
    return json.loads(done.stdout)


def seen(*arguments: str, cwd: Path) -> str:
    done = threadline(*arguments, cwd=cwd)
    assert done.returncode == Exit.OK, done.stderr.decode()
    return (done.stdout + done.stderr).decode()


@slow
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_how_it_is_used(command: str, tmp_path: Path) -> None:
    text = seen(command, "--help", cwd=tmp_path)
    assert f"usage: threadline {command}" in text
    assert "--json" in text


@slow
def test_tasks_are_added_changed_and_listed(here: Path) -> None:
    """Part of F11."""
    assert "nothing to do" in seen("tasks", cwd=here)
    seen("remember", "Expire", "the", "keys", "--type", "task", cwd=here)
    assert "told of 1 more that commits left to do" in seen("tasks", cwd=here)
    words = ("tasks", "add", "Sign", "the", "uploads", "--priority", "4")
    (first,) = told(*words, "--done-when", "path exists: src/signing.py", cwd=here)["tasks"]
    assert (first["title"], first["priority"]) == ("Sign the uploads", 4)
    tail = first["taskId"][-8:]
    added = seen("tasks", "add", "Announce it", "--after", tail, "--assign", "cursor", cwd=here)
    assert "Announce it (todo, waiting)" in added
    warned = seen("tasks", "add", "Move", "--done-when", "path exists: scr/move.py", cwd=here)
    assert "mind: there is no" in warned
    listed = seen("tasks", cwd=here)
    assert listed.index("Sign the uploads") < listed.index("Move") < listed.index("Announce it")
    seen("tasks", "note", tail, "It", "needs", "a", "key", cwd=here)
    seen("tasks", "assign", tail, "claude-code", cwd=here)
    seen("tasks", "edit", tail, "--title", "Sign all uploads", cwd=here)
    done = told("tasks", "done", tail, "--note", "Reviewed", cwd=here)["tasks"][0]
    assert (done["status"], done["title"]) == ("done", "Sign all uploads")
    assert [note["text"] for note in done["notes"]] == ["It needs a key", "Reviewed"]
    shown = seen("tasks", "show", tail, cwd=here)
    assert "It needs a key" in shown
    assert "claude-code" in shown
    open_ = told("tasks", cwd=here)["tasks"]
    assert [(one["title"], one["waitingFor"]) for one in open_] == [
        ("Announce it", []),
        ("Move", []),
    ]
    assert told("tasks", "--agent", "cursor", cwd=here)["total"] == 1
    assert told("tasks", "--all", cwd=here)["total"] == 3
    assert threadline("tasks", "done", "ZZZZ", cwd=here).returncode == Exit.NOT_FOUND
    assert threadline("tasks", "add", cwd=here).returncode == Exit.USAGE
    waiting = open_[0]["taskId"][-8:]
    cleared = told("tasks", "edit", waiting, "--after", "none", cwd=here)["tasks"][0]
    assert (cleared["title"], cleared["dependsOn"]) == ("Announce it", [])
    silent = threadline("tasks", "note", tail, cwd=here)
    assert (silent.returncode, b"say what to note" in silent.stderr) == (Exit.USAGE, True)
    refused = threadline("tasks", "add", "Half", "--note", "x" * 5_001, cwd=here)
    assert (refused.returncode, told("tasks", "--all", cwd=here)["total"]) == (Exit.USAGE, 3)
    (noted,) = told("tasks", "add", "Whole", "--note", "With a note", cwd=here)["tasks"]
    assert [note["text"] for note in noted["notes"]] == ["With a note"]
    long = threadline("tasks", "add", "x" * 501, cwd=here)
    assert (long.returncode, b"has 501 characters" in long.stderr) == (Exit.USAGE, True)


@slow
def test_what_seems_done_is_listed_until_somebody_says_that_it_is_not(
    here: Path, repository: Repository
) -> None:
    """Part of F11."""
    (task,) = told("tasks", "add", "Sign uploads with SHA-256", cwd=here)["tasks"]
    repository.commit("Sign uploads with SHA-256", name="src/signing.py")
    seen("scan", "--all-authors", cwd=here)
    tail = task["taskId"][-8:]
    for command in (("tasks",), ("tasks", "show", tail)):
        listed = seen(*command, cwd=here)
        assert "seems done: commit" in listed
        assert f"tasks edit {tail} --not-done" in listed
    seen("tasks", "edit", tail, "--not-done", cwd=here)
    assert "seems done" not in seen("tasks", cwd=here)


@slow
def test_messages_are_read_answered_and_acknowledged(here: Path) -> None:
    """Part of F7, F8 and F9."""
    assert "no messages" in seen("inbox", cwd=here)
    question = {"targetId": "user", "senderId": "cursor", "content": "May I?", "subject": "Ask"}
    threadline("call", "threadline/messages/send", json.dumps(question), cwd=here)
    first = seen("inbox", cwd=here)
    assert first.startswith("new Ask")
    assert "May I?" in first
    (message,) = told("inbox", cwd=here)["messages"]
    assert (message["status"], list(message["handlings"])) == ("delivered", ["user"])
    tail = message["messageId"][-8:]
    assert "sent to cursor" in seen("inbox", "reply", tail, "Yes,", "go", "on", cwd=here)
    assert "no messages" in seen("inbox", cwd=here)
    thread = told("inbox", "show", tail, cwd=here)["messages"]
    assert [(one["senderId"], one["content"]) for one in thread] == [
        ("cursor", "May I?"),
        ("user", "Yes, go on"),
    ]
    assert thread[0]["handlings"]["user"]["acknowledgedAt"] is not None
    told("send", "*", "We release", "--category", "alert", "--expires", "7", cwd=here)
    read = {"agentId": "cursor"}
    threadline("call", "threadline/messages/read", json.dumps(read), cwd=here)
    sent = seen("inbox", "sent", cwd=here)
    assert sent.count("read by cursor") == 2
    threadline("call", "threadline/messages/send", json.dumps(question), cwd=here)
    (again,) = told("inbox", cwd=here)["messages"]
    assert "acknowledged" in seen("inbox", "ack", again["messageId"][-8:], cwd=here)
    assert told("inbox", cwd=here)["messages"] == []
    assert len(told("inbox", "--all", cwd=here)["messages"]) == 2


@slow
def test_an_inbox_says_how_many_more_messages_wait(here: Path) -> None:
    """Part of F8: and shows as many as are wanted."""
    asked = {"targetId": "user", "senderId": "cursor"}
    lines = [
        {
            "id": 1,
            "method": "threadline/messages/send",
            "params": asked | {"content": f"Note {one}"},
        }
        for one in range(130)
    ]
    sent = "".join(json.dumps(line) + "\n" for line in lines).encode()
    assert threadline("call", "-", cwd=here, stdin=sent).returncode == Exit.OK
    first = seen("inbox", cwd=here)
    assert first.count("new Note") == 20
    assert "20 of 130; 110 more wait unread, and come next; --limit 130 shows all" in first
    second = seen("inbox", "--limit", "105", cwd=here)
    assert second.count("new Note") == 105
    assert "105 of 130; 5 more wait unread" in second
    third = seen("inbox", "--all", "--limit", "120", cwd=here)
    assert (third.count("new Note"), third.count("Note ")) == (5, 120)
    assert "120 of 130; --limit 130 shows all" in third
    assert len(told("inbox", "--limit", "200", cwd=here)["messages"]) == 130
    assert threadline("inbox", "--limit", "0", cwd=here).returncode == Exit.USAGE


@slow
def test_a_message_is_read_from_standard_input_and_by_its_thread(here: Path) -> None:
    """Part of F7 and F8."""
    done = threadline("send", "cursor", "-", "--subject", "Notes", cwd=here, stdin=b"one\ntwo\n")
    assert done.returncode == Exit.OK
    assert "not read yet" in seen("inbox", "sent", cwd=here)
    answer = {"targetId": "user", "senderId": "cursor", "content": "Thanks"}
    (sent,) = told("inbox", "sent", cwd=here)["messages"]
    params = json.dumps(answer | {"parentMessageId": sent["messageId"]})
    threadline("call", "threadline/messages/send", params, cwd=here)
    thread = told("inbox", "show", sent["messageId"][-8:], cwd=here)["messages"]
    assert [one["content"] for one in thread] == ["one\ntwo\n", "Thanks"]
    assert list(thread[1]["handlings"]) == ["user"]
    shown = seen("inbox", cwd=here)
    assert (shown.startswith("Thanks"), shown.count("Thanks")) == (True, 1)
    assert "but cursor was" in seen("send", "Cursor", "Hear", cwd=here)


@slow
def test_documents_are_written_and_shown_as_they_were(here: Path, tmp_path: Path) -> None:
    """Part of D10."""
    (tmp_path / "one.md").write_text("# One\n")
    first = told("documents", "edit", "skills", str(tmp_path / "one.md"), cwd=here)
    assert (first["outcome"], first["document"]["version"]) == ("created", 1)
    told("documents", "edit", "skills", "--agent-editable", "yes", cwd=here, stdin=b"# Two\n")
    assert threadline("documents", "show", "skills", cwd=here).stdout == b"# Two\n"
    old = threadline("documents", "show", "skills", "--version", "1", cwd=here)
    assert old.stdout == b"# One\n"
    stale = threadline("documents", "edit", "skills", "--expect", "1", cwd=here, stdin=b"x")
    assert stale.returncode == Exit.CONFLICT
    listed = told("documents", cwd=here)["documents"]
    assert [(one["name"], one["agentEditable"]) for one in listed] == [
        ("soul", False),
        ("skills", True),
    ]
    assert "skills" in seen("documents", cwd=here)
    history = told("documents", "history", "skills", cwd=here)
    assert [(one["version"], one["content"]) for one in history] == [(2, "# Two\n"), (1, "# One\n")]
    assert "you" in seen("documents", "history", "skills", cwd=here)
    assert "nobody has written soul yet" in seen("documents", "history", "soul", cwd=here)
    for empty in (("soul",), ("soul", "-", "--agent-editable", "yes")):
        refused = threadline("documents", "edit", *empty, cwd=here, stdin=b" \n")
        assert (refused.returncode, b"empty text" in refused.stderr) == (Exit.USAGE, True)
    assert "its text stays" in seen(
        "documents", "edit", "skills", "--agent-editable", "no", cwd=here
    )
    assert threadline("documents", "show", "skills", cwd=here).stdout == b"# Two\n"
    assert threadline("documents", "show", "nothing", cwd=here).returncode == Exit.NOT_FOUND
    missing = threadline("documents", "edit", "skills", "no.md", cwd=here)
    assert missing.returncode == Exit.NOT_FOUND


@slow
def test_links_are_made_drawn_and_removed_and_agents_are_named(here: Path) -> None:
    """Part of F10 and F12."""
    kept = told("remember", 'Uploads are "signed"', cwd=here)["memory"]["memoryId"]
    (task,) = told("tasks", "add", "Sign", cwd=here)["tasks"]
    ends = (f"memory:{kept[-8:]}", f"task:{task['taskId'][-8:]}")
    made = told("graph", "link", *ends, "--type", "causes", cwd=here)["link"]
    told("graph", "link", ends[1], "file:signing.py", cwd=here / "src")
    drawn = seen("graph", cwd=here)
    assert drawn.startswith("digraph threadline {")
    assert f'"memory:{kept}" -> "task:{task["taskId"]}" [label="causes"];' in drawn
    assert '"file:src/signing.py"' in drawn
    near = told("graph", "--around", ends[0], cwd=here)
    assert [one["title"] for one in near["nodes"]] == ['Uploads are "signed"', "Sign"]
    assert "removed" in seen("graph", "unlink", made["linkId"][-8:], cwd=here)
    assert len(told("graph", cwd=here)["links"]) == 1
    assert threadline("graph", "link", "nothing", ends[1], cwd=here).returncode == Exit.USAGE
    assert "no agent was here" in seen("agents", cwd=here)
    told("send", "b", "Hear", "--sender", "claude-code", cwd=here)
    assert "Claude Code (claude-code)" in seen("agents", cwd=here)
    assert [one["agentId"] for one in told("agents", cwd=here)["agents"]] == ["claude-code"]
    start = {"agentId": "reviewer", "harness": "cursor-cli", "sessionKey": "one"}
    threadline("call", "threadline/context/start", json.dumps(start), cwd=here)
    assert "cursor-cli" in seen("agents", cwd=here)


def test_what_is_drawn_cannot_break_out_of_its_quotes() -> None:
    """Part of F12."""
    ends = LinkEnd(kind="file", id='a"];\\'), LinkEnd(kind="document", id="b\nc")
    nodes = [GraphNode(kind=one.kind, id=one.id, title=one.id) for one in ends]
    link = GraphLink(type="relates", source=ends[0], target=ends[1])
    drawn = dot(Graph(nodes=tuple(nodes), links=(link,), total=2))
    assert drawn.splitlines()[2:] == [
        r'  "file:a\"];\\" [label="a\"];\\", shape=note];',
        '  "document:b c" [label="b c", shape=folder];',
        r'  "file:a\"];\\" -> "document:b c" [label="relates"];',
        "}",
    ]
