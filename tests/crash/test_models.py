"""Random operations against a model: nothing is lost, doubled or made up, in one process and in several."""

import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from protocol.methods import SessionParams
from protocol.settings import Settings
from sidecar.capture import record
from sidecar.memory.rules.drafts import Tries
from sidecar.storage.vault import Vault
from sidecar.upkeep import maintenance, purge
from tests.crash.accounts import account, moment, opened, something
from tests.crash.theatre import EVERYTHING, report
from tests.support import ROOT

pytestmark = pytest.mark.slow

numbers = st.integers(0, 60)


class VaultMachine(RuleBasedStateMachine):
    """A vault and a counter of what must be in it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="threadline-model-"))
        self.vault = opened(self.folder / "vault")
        self.wanted: Counter[str] = Counter()

    @rule(batch=st.lists(numbers, min_size=1, max_size=4))
    def ingest(self, batch: list[int]) -> None:
        events = [something(number, moment(number)) for number in batch]
        record.ingest(self.vault, events, "test")
        self.wanted |= Counter({str(event.idempotency_key): 1 for event in events})

    @rule(number=numbers)
    def fail(self, number: int) -> None:
        fail_with(self.vault, number + 100)

    @rule()
    def compact(self) -> None:
        maintenance.maintain(self.vault, Settings())
        for session in self.vault.sessions.timeline():
            if session.status == "closed":
                maintenance.compact(self.vault, SessionParams(session_id=session.session_id))

    @rule(number=numbers)
    def forget(self, number: int) -> None:
        phrase = f"reason {number}. "
        assert purge.forget_phrase(self.vault, phrase, self.folder / "logs").verified

    @rule()
    def reopen(self) -> None:
        self.vault.close()
        self.vault = opened(self.folder / "vault")

    @precondition(lambda self: self.wanted)
    @rule()
    def recover(self) -> None:
        self.vault.recover("a model")

    @rule()
    def snapshot(self) -> None:
        self.vault.snapshot()

    @invariant()
    def agrees(self) -> None:
        assert self.vault.sessions.count_events() == sum(self.wanted.values())

    def teardown(self) -> None:
        assert account(self.vault) == self.wanted
        self.vault.close()


VaultMachine.TestCase.settings = settings(
    max_examples=60 if EVERYTHING else 6,
    stateful_step_count=25 if EVERYTHING else 12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)


class TestOneProcess(VaultMachine.TestCase):  # type: ignore[misc,valid-type]  # made at run time
    """H1."""


def play(folder: Path, name: str, seed: int, steps: int) -> None:
    """Do random things to a vault and say what was acknowledged: what is mine, and what I have taken out again."""
    chance, vault = random.Random(f"{name} {seed}"), opened(folder)
    for step in range(steps):
        act = chance.choice(["mine", "mine", "shared", "note", "erase", "compact", "read", "fail"])
        key = f"{name}.{step}"
        if act in {"mine", "shared"}:
            number = chance.randrange(40) if act == "shared" else hash_of(name, step)
            (placed,) = record.ingest(vault, [something(number, moment(number))], name)
            tell("event", something(number).idempotency_key, placed.outcome)
        elif act == "note":
            vault.write([vault.tries.put(key, Tries(count=step))])
            tell("note", key)
        elif act == "erase":
            with vault.transaction():
                mine = [known for known in vault.tries.ids() if known.startswith(f"{name}.")]
                vault.write([vault.tries.drop(known) for known in mine])
            tell("erased", name)
        elif act == "compact":
            pack_one(vault, chance)
        elif act == "fail":
            fail_with(vault, hash_of(name, step) + 50_000)
        else:
            assert vault.sessions.count_events() >= 0
    vault.close()


def fail_with(vault: Vault, number: int) -> None:
    """Store an event in a transaction that does not come to its end."""
    with contextlib.suppress(ZeroDivisionError), vault.transaction():
        record.ingest(vault, [something(number, moment(number))], "test")
        raise ZeroDivisionError


def pack_one(vault: Vault, chance: random.Random) -> None:
    with vault.transaction():
        closed = [session for session in vault.sessions.timeline() if session.status == "closed"]
        if closed:
            vault.sessions.compact(chance.choice(closed))


def hash_of(name: str, step: int) -> int:
    """Return a number of an event that nobody else makes."""
    return 100 + 1000 * int(name) + step


def tell(*words: Any) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


@pytest.mark.parametrize("seed", range(6 if EVERYTHING else 1))
@pytest.mark.parametrize("is_killed", [False, True])
def test_what_several_processes_do_at_random_adds_up(
    seed: int, is_killed: bool, tmp_path: Path
) -> None:
    """H1."""
    folder = tmp_path / "vault"
    opened(folder).sessions.count()
    program = (
        "import sys; from pathlib import Path; from tests.crash.test_models import play;"
        "play(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))"
    )
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(folder), str(name), str(seed), "60"],
            cwd=ROOT,
            env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
        )
        for name in range(4)
    ]
    if is_killed:
        assert crowd[0].stdout is not None
        first = [crowd[0].stdout.readline() for _ in range(10)]
        crowd[0].kill()
    said: list[list[list[Any]]] = []
    for process in crowd:
        assert process.stdout is not None
        with process.stdout as stream:
            whole = stream.read().split(b"\n")[:-1]
        if is_killed and process is crowd[0]:
            whole = [line.strip() for line in first] + whole
        said.append([json.loads(line) for line in whole])
        assert process.wait() in ({0, -9} if process is crowd[0] else {0})
    vault = opened(folder)
    record.drain(vault)
    keys = account(vault)
    told = {words[1] for lines in said for words in lines if words[0] == "event"}
    assert not [key for key in told if keys[key] != 1]
    phantoms = {key for key in keys if key not in told}
    # The one that was killed may have stored one more than it could tell.
    assert len(phantoms) <= is_killed
    assert not keys or max(keys.values()) == 1
    _see_notes(vault, said, is_killed)
    stored = Counter(words[1] for lines in said for words in lines if words[2:] == ["stored"])
    assert not stored or max(stored.values()) == 1
    vault.close()
    report(acknowledged=sum(map(len, said)), lost=0, doubled=0, phantoms=len(phantoms))


def _see_notes(vault: Vault, said: list[list[list[Any]]], is_killed: bool) -> None:
    kept = set(vault.tries.by_id())
    for name, lines in enumerate(said):
        wanted: set[str] = set()
        for kind, value, *_ in lines:
            if kind == "note":
                wanted.add(value)
            elif kind == "erased":
                wanted.clear()
        mine = {key for key in kept if key.startswith(f"{name}.")}
        assert mine == wanted or (
            is_killed and name == 0 and len(mine ^ wanted) <= max(1, len(wanted))
        )
