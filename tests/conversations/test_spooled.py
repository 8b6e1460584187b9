"""What waits in the inbox is read as it lies there, and nothing in it keeps a start from being told."""

import json
from pathlib import Path

from sidecar.conversations import spooled


def line(number: int, **fields: str) -> str:
    seen = {
        "key": f"claude-code:s1:prompt:{number}",
        "host": "claude-code",
        "event": "prompt",
        "sessionKey": "s1",
        "root": "/work/app",
        "at": f"2026-03-02T12:00:{number:02}Z",
        "prompt": f"prompt {number}",
    }
    return json.dumps(seen | fields) + "\n"


def read(home: Path, but: str = "nobody:") -> list[str]:
    return [one.prompt for one in spooled.read(str(home), but)]


def test_what_waits_is_read_by_its_time_and_stays_where_it_is(tmp_path: Path) -> None:
    """Part of E6."""
    assert read(tmp_path) == []
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "current.jsonl").write_text(line(5) + line(6) + line(7).rstrip())
    (inbox / "0001-1.batch.jsonl").write_text(line(1) + "no JSON\n" + line(2) + line(3))
    (inbox / "0001-1.batch.jsonl.done").write_text("2 1")
    (inbox / "0009-1-try1.batch.jsonl").write_text(line(4) + line(8, sessionKey=""))
    (inbox / "0009-1-try1.batch.jsonl.done").write_text("-1")
    before = {path: path.read_bytes() for path in inbox.iterdir()}
    # What is done is in the store; a line without an end was never whole.
    expected = [f"prompt {number}" for number in (2, 3, 4, 5, 6)]
    assert read(tmp_path) == read(tmp_path) == expected
    assert {path: path.read_bytes() for path in inbox.iterdir()} == before
    assert read(tmp_path, "claude-code:s1:prompt:6") == expected[:-1]
    assert read(tmp_path, "claude-code:s1:") == []


def test_an_inbox_that_cannot_be_read_has_nothing_to_tell(tmp_path: Path) -> None:
    """Part of E6."""
    (tmp_path / "inbox").mkdir()
    (tmp_path / "elsewhere").write_text(line(1))
    (tmp_path / "inbox" / "current.jsonl").symlink_to(tmp_path / "elsewhere")
    assert read(tmp_path) == []
