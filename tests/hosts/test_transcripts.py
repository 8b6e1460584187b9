"""Transcripts: an agent's own files are read, and nothing else, whatever a path is."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidecar.hosts import transcripts
from tests.support import enclose

HOSTS = ("claude-code", "copilot", "codex", "cursor", "opencode", "windsurf", "", "../claude-code")
COMPACTED = "This session is being continued. We use Postgres."


@pytest.fixture(autouse=True)
def no_other_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    for name in (".claude/projects/acme", ".copilot/session-state/1", ".codex/sessions", ".cursor"):
        (folder / name).mkdir(parents=True)
    return folder


@pytest.fixture
def transcript(home: Path) -> Path:
    return home / ".claude" / "projects" / "acme" / "5f0c8a52.jsonl"


def claude(role: str, content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": role, "content": content}
    return {"type": role, "isSidechain": False, "message": message} | fields


def compacted(content: Any = COMPACTED) -> dict[str, Any]:
    return claude("user", content, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def write(path: Path, *lines: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return str(path)


def summary(path: str | Path, home: Path, harness: str = "claude-code") -> str | None:
    return transcripts.summary(str(path), harness, home)


def turns(path: str | Path, home: Path, harness: str = "claude-code") -> list[transcripts.Turn]:
    return transcripts.turns(str(path), harness, home)


def check_refused(path: str | Path, home: Path) -> None:
    for harness in HOSTS:
        assert transcripts.summary(str(path), harness, home) is None
        assert transcripts.turns(str(path), harness, home) == []


def test_the_last_summary_of_claude_code_is_read(home: Path, transcript: Path) -> None:
    """Part of E8."""
    path = write(
        transcript,
        compacted("An older one."),
        claude("user", "go on"),
        compacted(
            [
                {"type": "text", "text": "We use"},
                {"type": "image"},
                {"type": "text", "text": "Postgres."},
            ]
        ),
        claude("assistant", [{"type": "text", "text": "Going on."}]),
    )
    assert summary(path, home) == "We use\nPostgres."


def test_a_conversation_without_a_compaction_has_no_summary(home: Path, transcript: Path) -> None:
    lines = [
        claude("user", "isCompactSummary: true"),
        claude("user", COMPACTED, isCompactSummary="true"),
        claude("user", COMPACTED, isCompactSummary=True, isSidechain=True),
        claude("user", "  ", isCompactSummary=True),
        {"isCompactSummary": True},
        {"isCompactSummary": True, "message": "x"},
        {"isCompactSummary": True, "message": {"content": 3}},
    ]
    assert summary(write(transcript, *lines), home) is None


def test_the_summary_of_copilot_is_read(home: Path) -> None:
    """Part of E8."""
    events = home / ".copilot" / "session-state" / "1" / "events.jsonl"
    done = "session.compaction_complete"
    path = write(
        events,
        {"type": done, "data": {"success": True, "summaryContent": COMPACTED}},
        {"type": done, "data": {"success": False, "summaryContent": "Half of it."}},
        {"type": done, "agentId": "sub", "data": {"summaryContent": "A helper's."}},
        {"type": done, "data": None},
    )
    assert summary(path, home, "copilot") == COMPACTED


def test_the_summary_of_codex_is_read(home: Path) -> None:
    """Part of E8."""
    rollout = home / ".codex" / "sessions" / "2026" / "03" / "rollout-1.jsonl"
    path = write(rollout, {"type": "compacted", "payload": {"message": COMPACTED}})
    assert summary(path, home, "codex") == COMPACTED
    assert summary(path, home, "cursor") is None


def test_claudes_turns_come_without_tools_helpers_and_our_own_words(
    home: Path, transcript: Path
) -> None:
    injected = {"type": "hook_additional_context", "content": ["We decided X."]}
    path = write(
        transcript,
        {"type": "attachment", "isSidechain": False, "attachment": injected},
        compacted(),
        claude("user", "Use pnpm."),
        claude("user", "<command-name>/compact</command-name>"),
        claude("user", "Caveat: the messages below", isMeta=True),
        claude("user", [{"type": "tool_result", "content": "secret output"}]),
        claude("user", "from a helper", isSidechain=True),
        claude("user", f"And tabs.\n{enclose('We decided X.')}"),
        claude("user", enclose("We decided X.")),
        claude(
            "assistant",
            [{"type": "tool_use", "name": "Bash"}, {"type": "thinking", "thinking": "hm"}],
        ),
        claude("assistant", [{"type": "text", "text": "Done."}, {"type": "tool_use"}]),
        claude("system", "no turn"),
    )
    assert turns(path, home) == [
        ("user", "Use pnpm."),
        ("user", "And tabs."),
        ("assistant", "Done."),
    ]
    assert transcripts.turns(path, "claude-code", home, limit=1) == [("assistant", "Done.")]
    assert transcripts.turns(path, "claude-code", home, limit=0) == []


def test_copilots_turns_are_what_was_typed_and_not_what_it_was_made_into(home: Path) -> None:
    events = home / ".copilot" / "session-state" / "1" / "events.jsonl"
    reminded = "Use pnpm.\n<system_reminder>We decided X.</system_reminder>"
    path = write(
        events,
        {"type": "hook.end", "data": {"output": {"additionalContext": "We decided X."}}},
        {"type": "user.message", "data": {"content": "Use pnpm.", "transformedContent": reminded}},
        {"type": "assistant.message", "data": {"content": "", "toolRequests": [{}]}},
        {"type": "tool.execution_complete", "data": {"result": {"content": "secret output"}}},
        {
            "type": "assistant.message",
            "data": {"content": "From a helper.", "parentToolCallId": "1"},
        },
        {"type": "assistant.message", "data": {"content": "Done."}},
        {"type": ["user.message"], "data": {"content": "no turn"}},
    )
    assert turns(path, home, "copilot") == [("user", "Use pnpm."), ("assistant", "Done.")]


def test_turns_of_codex_and_cursor_are_read(home: Path) -> None:
    rollout = write(
        home / ".codex" / "sessions" / "rollout.jsonl",
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": []}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Use pnpm."}},
        {"type": "event_msg", "payload": {"type": "agent_message", "message": "Done."}},
        {"type": "event_msg", "payload": {"type": "token_count"}},
    )
    asked = "<context>x</context>\n<user_query>\nUse pnpm.\n</user_query>"
    cursor = write(
        home / ".cursor" / "projects" / "a" / "agent-transcripts" / "1.jsonl",
        {"role": "user", "message": {"content": [{"type": "text", "text": asked}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}},
    )
    expected = [("user", "Use pnpm."), ("assistant", "Done.")]
    assert turns(rollout, home, "codex") == expected
    assert turns(cursor, home, "cursor") == expected


def test_only_the_end_of_a_long_transcript_is_read(home: Path, transcript: Path) -> None:
    filler = [claude("assistant", "x" * 1_000) for _ in range(400)]
    path = write(transcript, compacted("Too far back."), *filler)
    assert summary(path, home) is None
    assert all(text == "x" * 1_000 for _, text in turns(path, home))
    assert summary(write(transcript, *filler, compacted()), home) == COMPACTED


def test_a_first_line_that_is_cut_is_left_out(home: Path, transcript: Path) -> None:
    path = write(transcript, claude("user", "y" * transcripts.TAIL), claude("user", "Use pnpm."))
    assert turns(path, home) == [("user", "Use pnpm.")]


def test_one_line_that_is_longer_than_all_that_is_read_gives_nothing(
    home: Path, transcript: Path
) -> None:
    assert turns(write(transcript, claude("user", "y" * 2 * transcripts.TAIL)), home) == []


@pytest.mark.parametrize(
    "junk",
    [
        b"not json",
        b"[" * 100_000,
        b'{"a":' * 20_000,
        b"\xff\xfe\x00",
        b"null",
        b"[1, 2]",
        b'{"isCompactSummary": true, "message": {"content": "\\ud800"}}',
        b'{"isCompactSummary": true, "message": {"content": ["x", {"type": "text"}]}}',
        b'{"isCompactSummary": true',
        b"",
    ],
)
def test_lines_that_cannot_be_read_are_passed_over(
    home: Path, transcript: Path, junk: bytes
) -> None:
    good = json.dumps(compacted()).encode()
    transcript.write_bytes(b"\n".join([junk, good, junk]))
    assert summary(transcript, home) == COMPACTED


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_not_waited_for(home: Path, transcript: Path) -> None:
    os.mkfifo(transcript)
    check_refused(transcript, home)


def test_a_socket_and_a_folder_are_no_transcripts(home: Path, transcript: Path) -> None:
    check_refused(transcript.parent, home)
    with socket.socket(socket.AF_UNIX) as listener:
        there = os.getcwd()  # noqa: PTH109 - a socket's name must be short
        os.chdir(transcript.parent)
        try:
            listener.bind("socket.jsonl")
        finally:
            os.chdir(there)
    check_refused(transcript.parent / "socket.jsonl", home)


def test_a_file_elsewhere_is_not_read(home: Path, tmp_path: Path) -> None:
    inside = home / ".claude" / "projects"
    for path in (
        tmp_path / "elsewhere.jsonl",
        home / ".claude" / "history.jsonl",
        home / ".claude" / "projects-old" / "x.jsonl",
        home / ".ssh" / "id_rsa",
    ):
        write(path, compacted())
        check_refused(path, home)
    check_refused(inside / ".." / "history.jsonl", home)
    check_refused(inside / "acme" / ".." / ".." / ".." / ".ssh" / "id_rsa", home)


def test_a_path_with_dots_that_stays_inside_is_read(home: Path, transcript: Path) -> None:
    write(transcript, compacted())
    assert summary(f"{transcript.parent}/../acme/{transcript.name}", home) == COMPACTED


def test_no_host_reads_the_folder_of_another(home: Path, transcript: Path) -> None:
    path = write(transcript, compacted())
    for harness in HOSTS[1:]:
        assert summary(path, home, harness) is None


def test_a_link_at_the_end_is_not_followed(home: Path, transcript: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    write(outside, compacted())
    transcript.symlink_to(outside)
    check_refused(transcript, home)
    inside = transcript.with_name("real.jsonl")
    write(inside, compacted())
    linked = transcript.with_name("linked.jsonl")
    linked.symlink_to(inside)
    check_refused(linked, home)
    loop = transcript.with_name("loop.jsonl")
    loop.symlink_to(loop)
    check_refused(loop, home)


def test_a_link_on_the_way_out_is_not_followed(home: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside" / "x.jsonl", compacted())
    (home / ".claude" / "projects" / "linked").symlink_to(tmp_path / "outside")
    check_refused(home / ".claude" / "projects" / "linked" / "x.jsonl", home)


def test_a_home_behind_a_link_is_still_the_users_own(
    home: Path, transcript: Path, tmp_path: Path
) -> None:
    write(transcript, compacted())
    (tmp_path / "also").symlink_to(home)
    behind = tmp_path / "also" / transcript.relative_to(home)
    assert summary(behind, home) == COMPACTED
    assert summary(transcript, tmp_path / "also") == COMPACTED


def test_a_file_with_a_second_name_is_not_read(home: Path, transcript: Path) -> None:
    secret = home / "notes.jsonl"
    write(secret, compacted())
    transcript.hardlink_to(secret)
    check_refused(transcript, home)


def test_the_folder_that_claude_code_was_told_to_use_is_its_own(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "claude" / "projects" / "acme" / "1.jsonl", compacted())
    assert summary(path, home) is None
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    assert summary(path, home) == COMPACTED
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", ".")
    assert summary(path, home) is None


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "/",
        "~",
        "~/.claude/projects/acme/5f0c8a52.jsonl",
        ".claude/projects/acme/5f0c8a52.jsonl",
        "\x00",
        "{home}/.claude/projects/acme/\x00.jsonl",
        "{home}/.claude/projects/acme/\ud800.jsonl",
        "{home}/.claude/projects/" + "a" * 300,
        "/" + "a/" * 4_000,
        "{home}/.claude/projects/none.jsonl",
        "{home}/.claude/projects/acme/5f0c8a52.jsonl/",
        "{home}/.claude/projects/acme/5f0c8a52.jsonl/..",
        "/dev/zero",
        "/dev/stdin",
        "/dev/tty",
        "/proc/self/mem",
        "/proc/self/environ",
        "{home}/.claude/projects/../../../../../../../../../../../../dev/zero",
        "\\\\server\\share\\x.jsonl",
        "C:\\x.jsonl",
        "file:///etc/passwd",
    ],
)
def test_no_path_is_too_strange(home: Path, transcript: Path, path: str) -> None:
    write(transcript, compacted())
    check_refused(path.replace("{home}", str(home)), home)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no such owner here")
def test_a_file_of_somebody_else_is_not_read(
    home: Path, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(transcript, compacted())
    owner = os.geteuid()
    assert summary(path, home) == COMPACTED
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    check_refused(path, home)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_a_file_that_may_not_be_read_is_none(home: Path, transcript: Path) -> None:
    path = write(transcript, compacted())
    transcript.chmod(0)
    check_refused(path, home)


def test_a_home_without_any_agent_has_no_transcripts(tmp_path: Path) -> None:
    check_refused(tmp_path / ".claude" / "projects" / "x.jsonl", tmp_path)


@pytest.fixture
def restless(transcript: Path) -> Iterator[Path]:
    """Keep a transcript growing, shrinking, vanishing and turning into a link while it is read."""
    over = threading.Event()
    lines = (json.dumps(compacted()) + "\n").encode()

    def change() -> None:
        while not over.is_set():
            transcript.write_bytes(lines * 50)
            with transcript.open("ab") as file:
                file.write(lines * 500)
            transcript.write_bytes(b"")
            transcript.unlink()
            transcript.symlink_to("/dev/zero")
            transcript.unlink()

    worker = threading.Thread(target=change)
    worker.start()
    yield transcript
    over.set()
    worker.join()


def test_a_file_that_changes_while_it_is_read_gives_what_it_had_or_nothing(
    home: Path, restless: Path
) -> None:
    assert {summary(restless, home) for _ in range(300)} <= {COMPACTED, None}


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.binary(max_size=2_000))
def test_no_contents_are_too_strange(home: Path, transcript: Path, content: bytes) -> None:
    transcript.write_bytes(content + b"\n" + json.dumps(compacted()).encode())
    assert summary(transcript, home) == COMPACTED
    for harness in HOSTS:
        transcripts.turns(str(transcript), harness, home)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "message",
                    "content",
                    "text",
                    "data",
                    "payload",
                    "role",
                    "isCompactSummary",
                ]
            )
            | st.text(max_size=4),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(lines=st.lists(JSON, max_size=5))
def test_no_json_is_too_strange(home: Path, lines: list[Any]) -> None:
    for folder, harness in (
        (".claude/projects", "claude-code"),
        (".copilot/session-state", "copilot"),
        (".codex/sessions", "codex"),
        (".cursor", "cursor"),
    ):
        path = write(home / folder / "any.jsonl", *lines)
        assert isinstance(summary(path, home, harness), str | None)
        assert all(text.strip() for _, text in turns(path, home, harness))
