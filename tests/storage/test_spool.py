"""The spool keeps every line until somebody has placed it, and shows nobody a part of one."""

import os
import threading
from pathlib import Path

import pytest

from sidecar.storage import spool
from sidecar.storage.spool import Batches


def test_what_is_still_being_written_is_nobodys_to_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H1: whoever drained a file before its line was in it would delete the line."""
    is_written, may_end, sync = threading.Event(), threading.Event(), os.fsync

    def sync_later(descriptor: int) -> None:
        is_written.set()
        assert may_end.wait(10)
        sync(descriptor)

    home = str(tmp_path)
    spool.keep(home, [b"before"])
    monkeypatch.setattr(os, "fsync", sync_later)
    writer = threading.Thread(target=spool.keep, args=(home, [b"line"]))
    writer.start()
    assert is_written.wait(10)
    batches = Batches(home)
    (early,) = batches.names()
    assert [line for _, line in batches.lines(early)] == [b"before"]
    batches.done(early)
    may_end.set()
    writer.join(10)
    (late,) = batches.names()
    assert [line for _, line in batches.lines(late)] == [b"line"]
    batches.close()


def test_what_a_killed_writer_left_is_removed_and_what_is_being_written_is_not(
    tmp_path: Path,
) -> None:
    """H1, H3: a draft was never acknowledged, and must not keep words for ever."""
    home = str(tmp_path)
    spool.keep(home, [b"line"])
    left, fresh = (tmp_path / "inbox" / f"{name}.batch.jsonl.draft" for name in ("1", "2"))
    for draft in (left, fresh):
        draft.write_bytes(b"half a li")
    os.utime(left, (0, 0))
    batches = Batches(home)
    assert len(batches.names()) == 1
    batches.close()
    assert (left.exists(), fresh.exists()) == (False, True)
