"""Journals: one line is one transaction, readers need no lock, damage is found and kept aside."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.errors import StoreRefusedError
from sidecar.store import journals, lines
from sidecar.store.journals import Journal
from sidecar.store.lines import Op
from sidecar.store.locks import Lock


def open_journal(path: Path) -> Journal:
    journal = Journal(path, Lock(path.with_name("lock")))
    journal.refresh()
    return journal


def documents(journal: Journal, table: str = "t") -> dict[str, dict[str, object]]:
    journal.refresh()
    return dict(journal.rows(table).documents)


def put(key: str, value: int) -> Op:
    return ("t", key, {"value": value})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(), json_values))
def test_a_line_says_what_was_put_into_it(document: dict[str, object]) -> None:
    op: Op = ("t", "key", document)
    line = lines.encode([op])
    assert line.count(b"\n") == 1
    decoded = lines.decode(line[:-1])
    assert decoded is not None
    ((table, key, kept),) = decoded.ops
    assert kept is not None
    assert (table, key, lines.read(kept)) == op
    assert lines.fingerprint(kept) == lines.fingerprint(document)


@pytest.mark.parametrize("document", [b"5", b"[]", b'"a"', b'{"a":"\xff"}', b'{"a":"\\ud800"}'])
def test_a_line_whose_document_is_none_is_damage(document: bytes) -> None:
    line = lines._seal(b'"ops":[["t","key",' + document + b"]]}")[:-1]
    assert lines.decode(line) is None


@given(st.data())
def test_one_wrong_byte_is_noticed(data: st.DataObject) -> None:
    """H1."""
    line = bytearray(lines.encode([put("key", 7)])[:-1])
    place = data.draw(st.integers(0, len(line) - 1))
    line[place] ^= data.draw(st.integers(1, 255))
    assert lines.decode(bytes(line)) is None


def test_a_transaction_is_one_line(tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "j.jsonl")
    journal.append([put("a", 1), put("b", 2), ("t", "a", None)])
    assert (tmp_path / "j.jsonl").read_bytes().count(b"\n") == 2
    assert documents(open_journal(tmp_path / "j.jsonl")) == {"b": {"value": 2}}


def test_a_reader_sees_a_line_only_when_it_is_complete(tmp_path: Path) -> None:
    writer, reader = open_journal(tmp_path / "j.jsonl"), open_journal(tmp_path / "j.jsonl")
    writer.append([put("a", 1)])
    assert documents(reader) == {"a": {"value": 1}}
    line = lines.encode([put("a", 2)])
    with (tmp_path / "j.jsonl").open("ab") as file:
        file.write(line[:20])
        file.flush()
        assert documents(reader) == {"a": {"value": 1}}
        file.write(line[20:])
    assert documents(reader) == {"a": {"value": 2}}
    assert not reader.is_damaged


def test_a_rewrite_shrinks_the_file_and_readers_follow(tmp_path: Path) -> None:
    writer, reader = open_journal(tmp_path / "j.jsonl"), open_journal(tmp_path / "j.jsonl")
    for value in range(100):
        writer.append([put("a", value)])
    before = (tmp_path / "j.jsonl").stat().st_size
    writer.rewrite()
    assert (tmp_path / "j.jsonl").stat().st_size < before / 20
    writer.append([put("b", 1)])
    assert documents(reader) == {"a": {"value": 99}, "b": {"value": 1}}


def test_a_journal_rewrites_itself_when_most_of_it_is_history(tmp_path: Path) -> None:
    journal = open_journal(tmp_path / "j.jsonl")
    for value in range(journals.SLACK + 10):
        journal.append([put("a", value)], durable=False)
    assert (tmp_path / "j.jsonl").read_bytes().count(b"\n") < 20
    assert documents(journal) == {"a": {"value": journals.SLACK + 9}}


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 5)


def _zero_end(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(-30, os.SEEK_END)
        file.write(b"\0" * 30)


def _noise(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\xff\xfe garbage \r\n more\n\n")


def _flip(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(-10, os.SEEK_END)
        file.write(b"#")


@pytest.mark.parametrize("damage", [_truncate, _zero_end, _noise, _flip])
def test_damage_at_the_end_costs_at_most_the_last_line(
    damage: Callable[[Path], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """H1."""
    path = tmp_path / "j.jsonl"
    journal = open_journal(path)
    for number in range(100):
        journal.append([put(f"{number:03}", number)], durable=False)
    journal.close()
    damage(path)
    original = path.read_bytes()
    with caplog.at_level(logging.WARNING):
        healed = open_journal(path)
        healed.prepare()
    assert len(documents(healed)) >= 99
    (kept,) = tmp_path.glob("j.jsonl.corrupt.*")
    assert kept.read_bytes() == original
    assert kept.stat().st_mode & 0o777 == 0o600
    assert len(caplog.records) == 1
    assert kept.name in caplog.text
    caplog.clear()
    open_journal(path).prepare()
    assert not caplog.records


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, os.urandom(4096), b"[]\n{}\n"])
def test_a_file_without_one_good_line_is_kept_aside(content: bytes, tmp_path: Path) -> None:
    """H1."""
    path = tmp_path / "j.jsonl"
    path.write_bytes(content)
    journal = open_journal(path)
    journal.append([put("a", 1)])
    assert documents(open_journal(path)) == {"a": {"value": 1}}
    (kept,) = tmp_path.glob("j.jsonl.corrupt.*")
    assert kept.read_bytes() == content


def test_a_directory_in_a_journals_place_is_moved_away(tmp_path: Path) -> None:
    """H1."""
    path = tmp_path / "j.jsonl"
    (path / "inside").mkdir(parents=True)
    open_journal(path).append([put("a", 1)])
    assert documents(open_journal(path)) == {"a": {"value": 1}}
    assert [p.is_dir() for p in tmp_path.glob("j.jsonl.corrupt.*")] == [True]


def test_a_journal_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    """H6."""
    path = tmp_path / "j.jsonl"
    content = lines.encode_header(journals.FORMAT + 1) + lines.encode([put("a", 1)])
    path.write_bytes(content)
    with pytest.raises(StoreRefusedError, match="newer Threadline"):
        open_journal(path)
    assert path.read_bytes() == content
