"""What was judged is read back as it was, by the same rules alone, and whatever is wrong with it costs no answer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.store import endings
from sidecar.store.endings import RULES, Endings
from tests.support import ROOT

PAIRS = {7: True, 2**64 - 1: False, 0: False}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "cache" / "endings"
    Endings(made).write(PAIRS)
    assert Endings(made).read() == PAIRS
    return made


@settings(deadline=None)
@given(pairs=st.dictionaries(st.integers(0, 2**64 - 1), st.booleans()))
def test_pairs_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, pairs: dict[int, bool]
) -> None:
    path = tmp_path_factory.mktemp("endings") / "endings"
    Endings(path).write(pairs)
    assert Endings(path).read() == pairs


def test_pairs_take_the_place_of_others_also_where_renaming_replaces_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rename(source: str, target: str) -> None:
        """Rename as Windows does."""
        raise FileExistsError(source, target)

    monkeypatch.setattr(os, "rename", rename)
    Endings(path).write({1: True})
    assert Endings(path).read() == {1: True}


@pytest.mark.parametrize("place", range(0, 60, 3))
def test_what_is_damaged_is_nothing(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place % len(data)] ^= 1
    path.write_bytes(data)
    assert Endings(path).read() == {}


@pytest.mark.parametrize("content", [b"", b"\0\0\0\0", b"{}"])
def test_what_is_cut_or_something_else_is_nothing(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert Endings(path).read() == {}


def test_a_file_that_is_lost_or_no_file_is_nothing(path: Path) -> None:
    path.unlink()
    assert Endings(path).read() == {}
    path.mkdir()
    assert Endings(path).read() == {}


@pytest.mark.parametrize("name", RULES)
def test_other_rules_judge_anew(
    path: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = tmp_path / "domain"
    for one in RULES:
        (domain / one).parent.mkdir(parents=True, exist_ok=True)
        (domain / one).write_bytes((endings._DOMAIN / one).read_bytes())
    monkeypatch.setattr(endings, "_DOMAIN", domain)
    assert Endings(path).read() == {}
    Endings(path).write(PAIRS)
    assert Endings(path).read() == PAIRS
    facts = (domain / name).stat()
    os.utime(domain / name, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
    assert Endings(path).read() == {}
    Endings(path).write(PAIRS)
    with (domain / name).open("a") as file:
        file.write("#")
    os.utime(domain / name, ns=(facts.st_atime_ns, facts.st_mtime_ns + 1))
    assert Endings(path).read() == {}


def test_rules_that_nobody_can_name_keep_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endings, "_DOMAIN", path.parent / "nowhere")
    assert Endings(path).read() == {}
    Endings(path).write({1: True})
    monkeypatch.undo()
    assert Endings(path).read() == PAIRS


def test_all_that_judges_is_among_the_rules() -> None:
    """Whoever lets judging import something more names it in `RULES`, so that its changes count."""
    code = (
        "import sys, sidecar.domain.endings.judging\n"
        "for module in list(sys.modules.values()):\n"
        "    print(getattr(module, '__file__', None) or '')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        text=True,
    )
    domain = endings._DOMAIN
    used = {
        str(Path(line).relative_to(domain))
        for line in done.stdout.splitlines()
        if Path(line).is_relative_to(domain) and Path(line).name != "__init__.py"
    }
    assert used == {*RULES}
