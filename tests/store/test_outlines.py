"""Outlines: who opens a long journal sees what its lines say, without reading most of them."""

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.store import journals, lines
from sidecar.store.journals import Journal
from sidecar.store.lines import Line, Op
from sidecar.store.locks import Lock
from sidecar.store.outlines import Outlines

_names = st.sampled_from(["a", "b", 'a "quoted" \\ name', "né\n", "", "c"])
_documents = st.none() | st.dictionaries(st.text(max_size=3), st.integers() | st.text(), max_size=3)
_ops: st.SearchStrategy[Op] = st.tuples(st.sampled_from(["t", "u"]), _names, _documents)


def outlined(folder: Path, least: int = 0) -> Journal:
    outlines = Outlines(folder / "cache" / "outline", least)
    return Journal(folder / "j.jsonl", Lock(folder / "lock"), outlines=outlines)


def reopen(folder: Path, least: int = 0) -> Journal:
    journal = outlined(folder, least)
    with journal._lock.held():
        journal.refresh()
    return journal


def write(folder: Path, *transactions: Sequence[Op]) -> None:
    journal = outlined(folder)
    with journal._lock.held():
        for ops in transactions:
            journal.append(ops)
    journal.close()
    journal._lock.close()


def seen(journal: Journal) -> object:
    tables = {
        name: (list(rows.documents.items()), rows.fingerprints())
        for name, rows in journal.tables.items()
        if rows
    }
    found = tables, journal._operations, journal._offset, journal.is_damaged, journal.format
    journal.close()
    journal._lock.close()
    return found


def line_by_line(folder: Path) -> object:
    journal = Journal(folder / "j.jsonl", Lock(folder / "lock"))
    journal.refresh()
    return seen(journal)


def numbered(count: int) -> list[Op]:
    return [("t", f"key {number}", {"said": f"word {number}"}) for number in range(count)]


def count_decoded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    decoded: list[bytes] = []
    decode = lines.decode

    def count(line: bytes) -> Line | None:
        decoded.append(line)
        return decode(line)

    monkeypatch.setattr(lines, "decode", count)
    reopen(folder).close()
    return len(decoded)


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.lists(st.lists(_ops, min_size=1, max_size=4), max_size=4), max_size=4))
def test_an_outline_tells_what_the_lines_tell(rounds: list[list[list[Op]]]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, [("t", "first", {})])
        for transactions in rounds:
            write(folder, *transactions)
            expected = line_by_line(folder)
            assert seen(reopen(folder)) == expected
            assert seen(reopen(folder)) == expected


def test_only_what_was_appended_since_is_read_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, *([op] for op in numbered(100)))
    reopen(tmp_path).close()
    write(tmp_path, [("t", "more", {})], [("t", "key 7", None)])
    expected = line_by_line(tmp_path)
    assert count_decoded(tmp_path, monkeypatch) == 2
    assert seen(reopen(tmp_path)) == expected


def test_what_is_set_after_an_outline_has_another_fingerprint(tmp_path: Path) -> None:
    write(tmp_path, numbered(3))
    reopen(tmp_path).close()
    journal = reopen(tmp_path)
    before = journal.rows("t").fingerprints()
    with journal._lock.held():
        journal.append([("t", "key 1", {"said": "otherwise"}), ("t", "key 2", None)])
    after = journal.rows("t").fingerprints()
    assert after == {
        "key 0": before["key 0"],
        "key 1": lines.fingerprint({"said": "otherwise"}),
    }
    journal.close()


@pytest.mark.parametrize("place", [0, 30, 63, 64, 66, 68, 90, -1])
def test_a_damaged_outline_is_none(tmp_path: Path, place: int) -> None:
    write(tmp_path, numbered(20))
    reopen(tmp_path).close()
    path = tmp_path / "cache" / "outline"
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    for damaged in (bytes(data), bytes(data[:place]), b""):
        path.write_bytes(damaged)
        assert seen(outlined(tmp_path)) != line_by_line(tmp_path)  # nothing is read yet
        assert seen(reopen(tmp_path)) == line_by_line(tmp_path)


def test_damage_within_what_is_outlined_is_found(tmp_path: Path) -> None:
    """Part of H1."""
    write(tmp_path, *([op] for op in numbered(20)))
    reopen(tmp_path).close()
    path = tmp_path / "j.jsonl"
    data = bytearray(path.read_bytes())
    facts = path.stat()
    data[data.index(b"word 7")] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    journal = reopen(tmp_path)
    assert journal.is_damaged
    assert len(journal.rows("t")) == 19
    with journal._lock.held():
        journal.prepare()
    journal.close()
    assert [one.name for one in tmp_path.glob("j.jsonl.corrupt.*")] != []
    assert seen(reopen(tmp_path)) == line_by_line(tmp_path)


def test_an_outline_holds_no_word(tmp_path: Path) -> None:
    """Part of H3."""
    write(tmp_path, numbered(20))
    reopen(tmp_path).close()
    data = (tmp_path / "cache" / "outline").read_bytes()
    assert b"key" not in data
    assert b"word" not in data
    assert b"said" not in data


def test_a_rewritten_journal_keeps_no_outline_of_what_it_was(tmp_path: Path) -> None:
    """Part of H3."""
    write(tmp_path, numbered(20))
    reopen(tmp_path).close()
    before = (tmp_path / "cache" / "outline").read_bytes()
    journal = outlined(tmp_path, least=1 << 20)
    with journal._lock.held():
        journal.change(lambda _, document: None if document["said"] == "word 3" else document)
    journal.close()
    assert not (tmp_path / "cache" / "outline").exists()
    (tmp_path / "cache" / "outline").write_bytes(before)
    assert seen(reopen(tmp_path)) == line_by_line(tmp_path)


def test_who_does_not_hold_the_lock_writes_no_outline(tmp_path: Path) -> None:
    write(tmp_path, numbered(20))
    (tmp_path / "cache" / "outline").unlink(missing_ok=True)
    journal = outlined(tmp_path)
    journal.refresh()
    journal.close()
    assert not (tmp_path / "cache" / "outline").exists()


def test_a_short_journal_has_no_outline(tmp_path: Path) -> None:
    write(tmp_path, numbered(20))
    (tmp_path / "cache" / "outline").unlink(missing_ok=True)
    reopen(tmp_path, least=1 << 20).close()
    assert not (tmp_path / "cache" / "outline").exists()


def test_lines_that_another_hand_wrote_are_read_as_they_are(tmp_path: Path) -> None:
    write(tmp_path, numbered(3))
    with (tmp_path / "j.jsonl").open("ab") as file:
        file.write(lines._seal(b'"ops":[ [ "t", "key 1", {"said": "spaced"} ] ]}'))
    for _ in range(2):
        journal = reopen(tmp_path)
        assert journal.rows("t").documents["key 1"] == {"said": "spaced"}
        assert seen(journal) == line_by_line(tmp_path)


def test_a_journal_that_lacks_its_first_line_stays_damaged(tmp_path: Path) -> None:
    """Part of H1."""
    write(tmp_path, *([op] for op in numbered(20)))
    (tmp_path / "cache" / "outline").unlink(missing_ok=True)
    path = tmp_path / "j.jsonl"
    path.write_bytes(path.read_bytes().partition(b"\n")[2])
    for _ in range(2):
        journal = reopen(tmp_path)
        assert journal.is_damaged
        journal.close()


def test_an_outline_knows_the_format_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, numbered(20))
    reopen(tmp_path).close()
    monkeypatch.setattr(journals, "FORMAT", 2)
    journal = reopen(tmp_path)
    assert journal.format == 1
    journal.close()


def test_an_outline_that_cannot_be_written_is_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cache").write_bytes(b"")
    write(tmp_path, numbered(20))
    assert seen(reopen(tmp_path)) == line_by_line(tmp_path)
    assert "line by line" in caplog.text


def test_an_outline_of_other_columns_is_none(tmp_path: Path) -> None:
    write(tmp_path, numbered(20))
    reopen(tmp_path).close()
    path = tmp_path / "cache" / "outline"
    data = path.read_bytes()
    body = msgspec.msgpack.encode(["something", "else"])
    path.write_bytes(data[:64] + crc32(body).to_bytes(4, "little") + body)
    assert seen(reopen(tmp_path)) == line_by_line(tmp_path)
