"""What Tab completes, in real shells."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.transports.cli import parser
from tests.support import ROOT, threadline

pytestmark = pytest.mark.slow

LINES = (
    ("threadline sea", {"search"}),
    ("threadline sessions sh", {"show"}),
    ("threadline search --lim", {"--limit"}),
    ("threadline search --type deci", {"decision"}),
    ("threadline completion z", {"zsh"}),
)


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("completion")
    for shell in ("bash", "zsh", "fish"):
        done = threadline("completion", shell, cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / shell).write_bytes(done.stdout)
    return folder


def run(*command: str) -> list[str]:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_bash_completes(scripts: Path, line: str, expected: set[str]) -> None:
    words = line.split()
    code = f"source {scripts / 'bash'}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}"
    code += '; _threadline; printf "%s\\n" "${COMPREPLY[@]}"'
    assert set(run("bash", "-c", code)) == expected


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_fish_completes(scripts: Path, line: str, expected: set[str]) -> None:
    offered = run("fish", "-c", f"source {scripts / 'fish'}; complete -C '{line}'")
    assert {word.split("\t")[0] for word in offered} == expected


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_zsh_offers(scripts: Path, line: str, expected: set[str]) -> None:
    """Our function is real; what zsh would filter and show is written down."""
    words = line.split()
    code = (
        "compdef() { }; _files() { }; _describe() { print -l ${commands%%:*} };"
        "compadd() { shift; print -l -- $@ };"
        f"source {scripts / 'zsh'}; words=({line}); CURRENT={len(words)}; _threadline"
    )
    assert expected <= set(run("zsh", "-f", "-c", code))


def test_every_command_is_completed(scripts: Path) -> None:
    code = f"source {scripts / 'bash'}; COMP_WORDS=(threadline ''); COMP_CWORD=1"
    code += '; _threadline; printf "%s\\n" "${COMPREPLY[@]}"'
    assert set(run("bash", "-c", code)) == set(parser.table(parser.build()))


def test_it_opens_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    code = (
        "import sys; from sidecar.transports.entry import main; sys.argv = ['threadline', 'completion', 'bash'];"
        "main(); print([name for name in ('sqlite3', 'rich', 'sidecar.app', 'tinydb') if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT), "THREADLINE_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "[]\n"
    assert not home.exists()
