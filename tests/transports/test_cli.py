"""The command line as a user runs it: a process, its output, its exit code."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sidecar.transports.exits import Exit
from tests.support import HOUR, NOON, Repository, threadline

pytestmark = pytest.mark.slow


@pytest.fixture
def worked(repository: Repository) -> Repository:
    for number in range(3):
        repository.commit(
            f"step {number} [bold]of[/] the \x1b[31mwork :bug:", at=NOON + number * 3 * HOUR
        )
    return repository


def test_scan_then_sessions_then_show(worked: Repository) -> None:
    """Part of B5."""
    scanned = threadline("scan", cwd=worked.path)
    assert scanned.returncode == Exit.OK
    assert b"3 imported into 2 sessions" in scanned.stderr
    listed = threadline("sessions", cwd=worked.path)
    assert listed.returncode == Exit.OK
    assert b"step 2 [bold]of[/] the work :bug:" in listed.stdout
    assert b"\x1b" not in listed.stdout
    tail = listed.stdout.decode().splitlines()[2].split()[8]
    shown = threadline("sessions", "show", tail, cwd=worked.path)
    assert shown.returncode == Exit.OK
    assert shown.stdout.count(b"  1 file  step") == 2


def test_every_listing_speaks_json(worked: Repository) -> None:
    """Part of B5."""
    scanned = json.loads(threadline("scan", "--json", cwd=worked.path).stdout)
    assert (scanned["found"], scanned["imported"], scanned["sessions"]) == (3, 3, 2)
    page = json.loads(threadline("sessions", "--json", cwd=worked.path).stdout)
    assert [session["messageCount"] for session in page["sessions"]] == [1, 2]
    shown = json.loads(threadline("sessions", "show", "--json", cwd=worked.path).stdout)
    assert shown == page["sessions"][0]
    status = json.loads(threadline("status", "--json", cwd=worked.path).stdout)
    assert (status["sessions"], status["events"]) == (2, 3)
    called = threadline("call", "threadline/sessions/list", '{"limit": 1}', cwd=worked.path)
    assert json.loads(called.stdout)["total"] == 2


def test_close_and_status_for_people(repository: Repository) -> None:
    """Part of A5."""
    event = b'{"id":1,"method":"threadline/ingest","params":{"events":[{"kind":"capture","text":"hi"}]}}\n'
    answered = threadline("call", "-", cwd=repository.path, stdin=event)
    assert json.loads(answered.stdout)["result"]["events"][0]["outcome"] == "stored"
    assert b"active" in threadline("status", cwd=repository.path).stdout
    closed = threadline("sessions", "close", cwd=repository.path)
    assert closed.returncode == Exit.OK
    assert threadline("sessions", "close", cwd=repository.path).returncode == Exit.CONFLICT


def test_a_stream_of_calls_goes_on_after_bad_lines(repository: Repository) -> None:
    """H4."""
    lines = [
        b'{"id":1,"method":"threadline/status"}',
        b"{",
        b'{"id":2,"method":"no"}',
        b'{"id":3,"method":"threadline/status"}',
    ]
    done = threadline("call", "-", cwd=repository.path, stdin=b"\n".join(lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, None, 2, 3]
    assert ["result" in answer for answer in answers] == [True, False, False, True]
    assert done.returncode == Exit.OK


def test_export_and_import_files(worked: Repository, tmp_path: Path) -> None:
    """H2."""
    threadline("scan", cwd=worked.path)
    file = tmp_path / "memory.jsonl"
    assert threadline("export", str(file), cwd=worked.path).returncode == Exit.OK
    assert threadline("export", str(file), cwd=worked.path).returncode == Exit.USAGE
    elsewhere = str(tmp_path / "elsewhere")
    assert (
        threadline("import", str(file), cwd=worked.path, THREADLINE_HOME=elsewhere).returncode
        == Exit.OK
    )
    again = threadline("export", cwd=worked.path, THREADLINE_HOME=elsewhere)
    assert again.stdout == file.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["dance"], Exit.USAGE),
        (["sessions", "show"], Exit.NOT_FOUND),
        (["sessions", "show", "nothing"], Exit.NOT_FOUND),
        (["sessions", "--project", "/nowhere"], Exit.NOT_FOUND),
        (["sessions", "--limit", "0"], Exit.USAGE),
        (["import", "/nowhere"], Exit.NOT_FOUND),
        (["call", "threadline/nothing"], Exit.USAGE),
        (["call", "threadline/status", "{"], Exit.USAGE),
        (["scan", "--author", "a", "--all-authors"], Exit.USAGE),
    ],
)
def test_what_is_wrong_is_said_with_a_named_exit_code(
    arguments: list[str], code: Exit, repository: Repository
) -> None:
    """H4."""
    done = threadline(*arguments, cwd=repository.path)
    assert done.returncode == code
    assert done.stderr.strip()
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["pause"], Exit.OK),
        (["resume"], Exit.OK),
        (["status"], Exit.OK),
        (["verify"], Exit.OK),
        (["search", "anything"], Exit.OK),
        (["purge", "--path", "a.py", "--yes"], Exit.OK),
        (["purge", "--everything", "--yes"], Exit.OK),
        (["forget", "nothing"], Exit.NOT_FOUND),
        (["link"], Exit.NOT_FOUND),
        (["unlink"], Exit.CONFLICT),
    ],
)
def test_every_command_works_where_nothing_was_recorded_yet(
    arguments: list[str], code: Exit, repository: Repository, tmp_path: Path
) -> None:
    """H4."""
    repository.commit("first")
    done = threadline(*arguments, cwd=repository.path, THREADLINE_HOME=str(tmp_path / "new"))
    assert (done.returncode, b"Traceback" in done.stderr) == (code, False), done.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["serch", "x"], b"did you mean search?"),
        (["scan", "--since", "yesterdayish"], b"3 weeks ago"),
        (["scan", "--since", "2025-13-45"], b"3 weeks ago"),
        (["pause", "a while"], b"duration"),
    ],
)
def test_a_mistake_is_refused_with_what_was_probably_meant(
    worked: Repository, words: list[str], hint: bytes
) -> None:
    refused = threadline(*words, cwd=worked.path)
    assert (refused.returncode, hint in refused.stderr) == (Exit.USAGE, True)


@pytest.mark.parametrize("since", ["2020-01-01", "yesterday", "30 years ago"])
def test_dates_are_taken_as_people_write_them(worked: Repository, since: str) -> None:
    assert threadline("scan", "--since", since, cwd=worked.path).returncode == Exit.OK


def test_a_folder_without_git_can_be_used_but_not_scanned(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert threadline("status", cwd=plain).returncode == Exit.OK
    assert threadline("scan", "--all-authors", cwd=plain).returncode == Exit.GIT_FAILED


def test_a_store_that_cannot_be_used_is_said(repository: Repository, tmp_path: Path) -> None:
    """H5."""
    (tmp_path / "file").write_text("")
    done = threadline("status", cwd=repository.path, THREADLINE_HOME=str(tmp_path / "file"))
    assert done.returncode == Exit.STORE_REFUSED
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "projects").symlink_to(tmp_path)
    done = threadline("status", cwd=repository.path, THREADLINE_HOME=str(tmp_path / "real"))
    assert done.returncode == Exit.STORE_REFUSED


def test_help_teaches(repository: Repository) -> None:
    for command in ([], ["scan"], ["sessions"], ["call"], ["export"], ["import"], ["status"]):
        done = threadline(*command, "--help", cwd=repository.path)
        assert done.returncode == Exit.OK
        assert b"usage: threadline" in done.stdout
    main = threadline("--help", cwd=repository.path).stdout
    assert b"exit codes:" in main
    assert b"storage_failed" in main


def test_nothing_is_written_outside_the_home(worked: Repository, tmp_path: Path) -> None:
    """H5. Part of B7."""
    before = {p: p.stat().st_mtime_ns for p in worked.path.rglob("*")}
    threadline("scan", cwd=worked.path)
    threadline("sessions", cwd=worked.path)
    assert {p: p.stat().st_mtime_ns for p in worked.path.rglob("*")} == before
    assert {p.name for p in tmp_path.iterdir()} == {"home", "repository", "gitconfig", "nobody"}
    assert list((tmp_path / "nobody").iterdir()) == []


def test_no_connection_is_ever_opened(worked: Repository, tmp_path: Path) -> None:
    """H5: a module that refuses sockets is loaded first; nothing notices."""
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(
        "import socket\ndef refuse(*_, **__):\n    raise AssertionError('network')\n"
        "socket.socket.connect = refuse\nsocket.getaddrinfo = refuse\n"
    )
    path = f"{tmp_path / 'guard'}{os.pathsep}{Path(__file__).resolve().parents[2]}"
    for command in (["scan"], ["sessions"], ["status"], ["export"]):
        done = threadline(*command, cwd=worked.path, PYTHONPATH=path)
        assert done.returncode == Exit.OK, done.stderr


def test_without_a_command_the_help_says_what_there_is(tmp_path: Path) -> None:
    asked = threadline(cwd=tmp_path)
    assert asked.returncode == Exit.USAGE
    assert b"threadline scan" in asked.stderr
    assert not asked.stdout


def test_an_author_whom_nobody_is_does_not_mean_the_user(worked: Repository) -> None:
    asked = threadline("scan", "--author", "nobody", cwd=worked.path)
    assert b"0 commits (nobody's)" in asked.stderr
    assert b"yours" not in asked.stderr


@pytest.mark.parametrize("server", ["serve", "mcp", "dashboard"])
def test_a_server_without_a_store_says_why_and_ends(tmp_path: Path, server: str) -> None:
    """Part of H4 and H5."""
    (tmp_path / "file").write_text("")
    done = threadline(server, cwd=tmp_path, THREADLINE_HOME=str(tmp_path / "file"))
    assert done.returncode == Exit.STORE_REFUSED
    assert (done.stdout, len(done.stderr.splitlines())) == (b"", 1)


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("search", "x", "--limit", "0"), b"--limit is 0, and 1 is the least"),
        (("context", "--max-chars", "3"), b"--max-chars is 3, and 200 is the least"),
        (("agents", "--days", "0"), b"--days is 0, and 1 is the least"),
        (("send", "x", "hi", "--expires", "-1"), b"--expires is -1, and it must be more than 0"),
        (("send", "user", "hi"), b"TARGET is the sender (user)"),
        (("pause", "99x"), b"'99x' is no duration; write 30m, 2h, 1d, restart or forever"),
    ],
)
def test_a_refusal_names_what_was_typed(
    worked: Repository, words: tuple[str, ...], refusal: bytes
) -> None:
    """Part of H4."""
    done = threadline(*words, cwd=worked.path)
    assert done.returncode == Exit.USAGE
    assert refusal in done.stderr
    assert b"threadline/" not in done.stderr


def test_memories_are_listed_and_shown(repository: Repository) -> None:
    for text in ("Ports are even", "Never call billing from tests"):
        threadline("remember", text, "--type", "constraint", cwd=repository.path)
    threadline("remember", "The year is 2026", cwd=repository.path)
    listed = threadline("memories", "--type", "constraint", cwd=repository.path).stdout.decode()
    assert [line.split(None, 1)[1] for line in listed.splitlines()] == [
        f"Never call billing from tests (constraint, {_today()})",
        f"Ports are even (constraint, {_today()})",
    ]
    page = json.loads(threadline("memories", "--json", cwd=repository.path).stdout)
    assert page["total"] == 3
    shown = threadline("memories", "show", listed.split()[0], cwd=repository.path)
    assert shown.stdout.startswith(b"Never call billing from tests\n")
    assert page["memories"][1]["memoryId"].encode() in shown.stdout


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


def test_an_id_may_be_shortened_from_either_end(repository: Repository) -> None:
    for text in ("Ports are even", "Never call billing from tests"):
        threadline("remember", text, cwd=repository.path)
    page = json.loads(threadline("memories", "--json", cwd=repository.path).stdout)
    ids = [memory["memoryId"] for memory in page["memories"]]
    common = os.path.commonprefix(ids)  # noqa: RUF071  # of letters, as ids have no parts
    for part in (ids[0], ids[0][: len(common) + 1], ids[0][-10:].lower()):
        shown = threadline("memories", "show", part, cwd=repository.path)
        assert shown.stdout.startswith(b"Never call billing from tests\n")
    unclear = threadline("memories", "show", common, cwd=repository.path)
    assert unclear.returncode == Exit.NOT_FOUND
    assert f"{ids[0]}, {ids[1]}".encode() in unclear.stderr


def test_a_session_is_shown_with_its_commits_and_memories(worked: Repository) -> None:
    threadline("scan", cwd=worked.path)
    page = json.loads(threadline("sessions", "--json", cwd=worked.path).stdout)
    latest = page["sessions"][0]["sessionId"]
    note = {
        "type": "decision",
        "title": "Ports are even",
        "content": "Ports are even",
        "sessionId": latest,
    }
    params = json.dumps(note)
    assert threadline("call", "threadline/memories/write", params, cwd=worked.path).returncode == 0
    shown = threadline("sessions", "show", latest[-8:], cwd=worked.path).stdout.decode()
    assert worked.git("rev-parse", "--short=10", "HEAD").strip() in shown
    assert "Ports are even (decision" in shown.partition("remembered")[2]


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_pipe_that_takes_few_letters_fails_no_command(
    repository: Repository, encoding: str
) -> None:
    """As pipes of Windows are."""
    threadline("remember", "Grüße aus 東京", cwd=repository.path)
    for words in (("memories",), ("memories", "--json"), ("context",)):
        done = threadline(*words, cwd=repository.path, PYTHONIOENCODING=encoding)
        assert done.returncode == Exit.OK, done.stderr
        assert "Grüße aus 東京".encode() in done.stdout
