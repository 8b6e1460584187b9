"""Files are damaged in every way; the store opens, says so, keeps what can be kept, and no command ends in a traceback."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash import stores
from tests.crash.stores import DAMAGES, EVENTS, MEMORIES
from tests.crash.theatre import EVERYTHING, Theatre, report
from tests.support import ROOT

pytestmark = pytest.mark.slow

COMMANDS = (["status"], ["search", "harbours"], ["sessions"])
PROJECT = "projects/PROJECT"
HOT = [
    "fence.key",
    "home.sqlite",
    "home.sqlite-shm",
    "home.sqlite-wal",
    "inbox/current.jsonl",
    "inbox/lock",
    "inbox/seen",
    "landmarks.json",
    "lock",
    "settings.json",
    f"{PROJECT}/cache.sqlite",
    f"{PROJECT}/cache.sqlite-shm",
    f"{PROJECT}/cache.sqlite-wal",
    f"{PROJECT}/copying",
    f"{PROJECT}/folders.json",
    f"{PROJECT}/inbox/00000000000000000000000009.batch.jsonl",
    f"{PROJECT}/pauses.json",
    f"{PROJECT}/snapshots/hourly.sqlite",
    f"{PROJECT}/vault.sqlite",
    f"{PROJECT}/vault.sqlite-shm",
    f"{PROJECT}/vault.sqlite-wal",
]
COLD = ["home.sqlite", f"{PROJECT}/cache.sqlite", f"{PROJECT}/vault.sqlite"]
CASES = [*(("hot", name) for name in HOT), *(("cold", name) for name in COLD)]
NO_FILES = {"directory", "link", "dangling", "pipe"}
"""What is refused where it stands in the place of a file that matters: nobody but a person puts it there."""
DELETABLE = ("cache.sqlite", "-shm", "snapshots/", "inbox/seen", "landmarks.json", "fence.key")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the stores that tests copy."""
    folder = tmp_path_factory.mktemp("stores")
    (folder / "gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    for kind in ("hot", "cold"):
        environment = dict(os.environ) | {
            "THREADLINE_HOME": str(folder / kind / "home"),
            "GIT_CONFIG_GLOBAL": str(folder / "gitconfig"),
            "PYTHONPATH": str(ROOT),
        }
        program = [sys.executable, "-m", "tests.crash.stores", str(folder / kind), kind]
        subprocess.run(program, cwd=ROOT, env=environment, check=True)
    return folder


def copied(made: Path, kind: str, target: Path) -> Path:
    """Copy a store to where it stands for itself; the repository is at another place than it was."""
    return stores.copy(made / kind, target)


def project_of(folder: Path) -> Path:
    (project,) = (folder / "home" / "projects").iterdir()
    return project


def place(folder: Path, name: str) -> Path:
    return folder / "home" / name.replace(PROJECT, f"projects/{project_of(folder).name}")


def test_every_file_of_a_store_is_among_those_that_are_damaged(made: Path) -> None:
    project = project_of(made / "hot").name
    names = [str(name).replace(project, "PROJECT") for name in stores.files_of(made / "hot/home")]
    assert sorted(names) == sorted(HOT)


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_whatever_happens_to_a_file_no_command_ends_in_a_traceback(
    kind: str, name: str, made: Path, theatre: Theatre, tmp_path: Path
) -> None:
    """H1."""
    chosen = sorted(DAMAGES)
    if not EVERYTHING:
        chosen = random.Random(f"{kind} {name}").sample(chosen, 3)
    problems: list[str] = []
    for damage in chosen:
        folder = copied(made, kind, tmp_path / damage)
        DAMAGES[damage](place(folder, name), random.Random(f"{kind} {name} {damage}"))
        problem = judge(theatre, folder, name, damage)
        problems += [f"{kind} {name} {damage}: {problem}"] if problem else []
        shutil.rmtree(folder)
    report(cases=len(chosen), problems=len(problems))
    assert not problems, "\n\n".join(problems)


def judge(theatre: Theatre, folder: Path, name: str, damage: str) -> str:
    """Use a damaged store; return what is wrong with what comes of it."""
    refusals: list[str] = []
    # A copy of a store lies beside a copy of the repository, which is nobody's until somebody links it.
    project = project_of(folder).name
    for words in COMMANDS:
        answer = theatre.ask("command", "act", folder, given=[*words, "--project", project])
        status, said = answer.result or [1, answer.error]
        if "Traceback" in said or "internal error" in said.lower():
            return f"{words}: {said}"
        if status:
            refusals.append(said)
    if refusals:
        is_allowed = damage in NO_FILES and not any(part in name for part in DELETABLE)
        is_clear = all("cannot" in said for said in refusals)
        return "" if is_allowed and is_clear else f"refused: {refusals[0]}"
    seen = theatre.ask("command", "verify", folder, given=[project])
    if seen.status:
        return seen.error
    events, memories = seen.result["events"], seen.result["memories"]
    if len(events) < EVENTS or len(memories) < MEMORIES or len(set(events)) != len(events):
        return f"{len(events)} events and {len(memories)} memories; {seen.result['reports']}"
    return ""
