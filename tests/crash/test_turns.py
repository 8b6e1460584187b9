"""Processes that take in turns are killed; what was acknowledged waits, and is saved by the next."""

import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest

from protocol.settings import Settings
from protocol.turns import ENTRY_LIMIT, Activity, Category, IngestedTurn, IngestTurnParams
from sidecar.app import now
from sidecar.domain.continuity import signals
from sidecar.domain.sessions import Rule
from sidecar.services import maintenance
from sidecar.services.continuity import turning
from sidecar.services.continuity.buffers import Buffer
from sidecar.services.continuity.tools import Tools
from sidecar.store.ids import Ids
from sidecar.store.vaults import Vault, open_vault
from tests.crash.test_checkpointing import MOST_WRITES, run_and_die
from tests.crash.test_enriching import opened
from tests.services.test_continuity import WHO, idle
from tests.services.test_remembering import WORDS
from tests.services.test_turns import DECISION, captured
from tests.support import ROOT

pytestmark = pytest.mark.slow

ACKNOWLEDGED = 12
CATEGORIES = get_args(Category)
TURN = IngestTurnParams(session_key="run", role="user", content=DECISION, idempotency_key="1")


def real_tools() -> Tools:
    """Hear as the product does; what is due is not written by a thread."""
    settings = Settings(prompt_interval=1000, time_interval_ms=86_400_000)
    buffer = Buffer(start=idle)
    return Tools(settings=settings, hear=signals.detect, meanings=WORDS, buffer=buffer)


def say(number: int) -> str:
    """Give a turn of more letters than are kept of one."""
    return f"We decided to use tool {number} instead of nothing. " + "It was talked about. " * 40


def do(number: int) -> Activity:
    """Give an activity of each category in turn, told as fully as it may be."""
    return Activity(
        tool=f"tool {number}",
        category=CATEGORIES[number % len(CATEGORIES)],
        input_summary=f"asked {number} ".ljust(ENTRY_LIMIT, "i"),
        output_summary=f"answered {number} ".ljust(ENTRY_LIMIT, "o"),
    )


def take(vault: Vault) -> IngestedTurn:
    return turning.take(vault, TURN, WHO, real_tools())


@pytest.mark.parametrize("manner", ["before", "after", "torn"])
def test_a_turn_killed_at_any_write_is_taken_once_by_its_retry(tmp_path: Path, manner: str) -> None:
    """Part of F4, F5 and H1."""
    for number in range(1, MOST_WRITES):
        folder = tmp_path / str(number)
        opened(folder).close()

        def act(folder: Path = folder) -> IngestedTurn:
            return take(opened(folder))

        was_killed = run_and_die(act, number, manner)
        vault = opened(folder)
        take(vault)
        assert take(vault).extraction_status == "duplicate"
        assert [one.text for one in captured(vault)] == [DECISION]
        assert [one.text for one in vault.entries.all()] == [DECISION]
        (talk,) = vault.conversations.all()
        assert (talk.prompt_count, len(talk.notes)) == (1, 1)
        vault.close()
        if not was_killed:
            break
    assert number > 2


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_what_a_killed_process_had_heard_is_saved_by_the_next(tmp_path: Path) -> None:
    """F5."""
    folder, began = tmp_path / "vault", now()
    talker = subprocess.Popen(
        [sys.executable, "-m", "tests.crash.talker", str(folder)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )
    with talker:
        assert talker.stdout is not None
        heard = [int(talker.stdout.readline()) for _ in range(ACKNOWLEDGED)]
        talker.kill()
        heard += [int(line) for line in talker.stdout.read().splitlines()]
    assert talker.returncode == -9

    soon = at(folder, now())
    said = {one.text for one in soon.entries.all()}
    for number in heard:
        (text,) = [one for one in said if one.startswith(say(number)[:40])]
        assert ENTRY_LIMIT - 30 < len(text) <= ENTRY_LIMIT < len(say(number))
        assert say(number).startswith(text.rstrip(" …"))
    done = {int(one.tool.removeprefix("tool ")): one for one in soon.activities.all()}
    assert set(heard) <= set(done)
    assert {one.category for one in done.values()} == set(CATEGORIES)
    for number, activity in done.items():
        told = do(number)
        assert (activity.category, activity.input_summary) == (told.category, told.input_summary)
        assert activity.output_summary == told.output_summary
        assert began <= activity.at <= now()
    maintenance.maintain(soon, Settings())
    assert len(soon.checkpoints) == 0
    soon.close()

    later = at(folder, now() + timedelta(minutes=11))
    maintenance.maintain(later, Settings())
    (saved,) = later.checkpoints.all()
    assert saved.prompt_count >= ACKNOWLEDGED
    assert f"use tool {heard[-1]} instead" in saved.digest
    assert (len(later.entries), len(later.activities)) == (0, 0)
    # A turn's event is written first: the last one may have been killed before the rest of it.
    assert len(said) <= len(captured(later)) <= len(said) + 1
    maintenance.maintain(later, Settings())
    assert len(later.checkpoints) == 1
    later.close()


def at(folder: Path, moment: datetime) -> Vault:
    """Open a vault as somebody does at a moment."""
    return open_vault(folder, "p", Ids(lambda: moment), Rule())
