"""Processes that follow conversations are killed and let loose on one; what was acknowledged waits, and is saved once."""

import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest

from protocol.settings import Settings
from protocol.turns import ENTRY_LIMIT, Activity, Category
from sidecar.app import now
from sidecar.capture.rules.sessions import Rule
from sidecar.conversations import checkpoints
from sidecar.conversations.later import Buffer
from sidecar.conversations.participants import Tools
from sidecar.conversations.rules import signals
from sidecar.storage.ulids import Ids
from sidecar.storage.vault import Vault
from sidecar.upkeep import maintenance
from tests.conversations.test_checkpoints import WHO, idle, tools
from tests.conversations.test_turns import captured
from tests.crash import writers
from tests.crash.accounts import account, opened
from tests.crash.scenes import CONTENTS, PARAMS, SUMMARY, heard
from tests.memory.test_remember import WORDS
from tests.support import ROOT

pytestmark = pytest.mark.slow

ACKNOWLEDGED = 12
CATEGORIES = get_args(Category)


def real_tools() -> Tools:
    """Hear as the product does; what is due is not written by a thread."""
    settings = Settings(prompt_interval=1000, time_interval_ms=86_400_000)
    buffer = Buffer(start=idle)
    return Tools(settings=settings, hear=signals.detect, meanings=WORDS, buffer=buffer)


def told(number: int) -> str:
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


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_what_a_killed_process_had_heard_is_saved_by_the_next(tmp_path: Path) -> None:
    """F5."""
    folder, began = tmp_path / "vault", now()
    talker = writers.start(folder, "t", "--talk")
    heard_numbers = [int(writers.hear(talker)[0]) for _ in range(ACKNOWLEDGED)]
    heard_numbers += [int(words[0]) for words in writers.kill(talker)]
    assert talker.returncode == -9

    soon = at(folder, now())
    said = {entry.text for entry in soon.entries.all()}
    for number in heard_numbers:
        (text,) = [entry for entry in said if entry.startswith(told(number)[:40])]
        assert ENTRY_LIMIT - 30 < len(text) <= ENTRY_LIMIT < len(told(number))
        assert told(number).startswith(text.rstrip(" …"))
    done = {int(kept.tool.removeprefix("tool ")): kept for kept in soon.activities.all()}
    assert set(heard_numbers) <= set(done)
    assert {kept.category for kept in done.values()} == set(CATEGORIES)
    for number, activity in done.items():
        wanted = do(number)
        assert (activity.category, activity.input_summary) == (
            wanted.category,
            wanted.input_summary,
        )
        assert activity.output_summary == wanted.output_summary
        assert began <= activity.at <= now()
    maintenance.maintain(soon, Settings())
    assert len(soon.checkpoints) == 0
    soon.close()

    later = at(folder, now() + timedelta(minutes=11))
    maintenance.maintain(later, Settings())
    (saved,) = later.checkpoints.all()
    assert saved.prompt_count >= ACKNOWLEDGED
    assert f"use tool {heard_numbers[-1]} instead" in saved.digest
    assert (len(later.entries), len(later.activities)) == (0, 0)
    # A turn's event is written first: the last one may have been killed before the rest of it.
    assert len(said) <= len(captured(later)) <= len(said) + 1
    maintenance.maintain(later, Settings())
    assert len(later.checkpoints) == 1
    later.close()


def at(folder: Path, moment: datetime) -> Vault:
    """Open a vault as somebody does at a moment."""
    return Vault(folder, "p", Ids(lambda: moment), Rule())


def together(act: str, *arguments: tuple[str, ...]) -> None:
    """Call a function of this module in several processes at once."""
    program = f"import sys; from tests.crash import test_turns; test_turns.{act}(*sys.argv[1:])"
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", program, *given],
            cwd=ROOT,
            env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
        )
        for given in arguments
    ]
    assert [process.wait() for process in crowd] == [0] * len(crowd)


def follow(folder: str, name: str) -> None:
    """Hear thirty prompts, each twice."""
    vault = opened(Path(folder))
    using = tools(prompt_interval=7)
    for number in range(30):
        for _ in range(2):
            heard(vault, f"{name} uses tool {number}", using, key=f"{name}/{number}")
        if number % 5 == 0:
            using.buffer.flush()
    vault.close()


def retry(folder: str) -> None:
    """Save the same again and again."""
    vault = opened(Path(folder))
    for _ in range(5):
        checkpoints.checkpoint(vault, PARAMS, WHO, tools())
    vault.close()


def test_two_processes_that_follow_one_conversation_lose_nothing(tmp_path: Path) -> None:
    """Part of E5 and H1."""
    folder = tmp_path / "vault"
    together("follow", (str(folder), "left"), (str(folder), "right"))
    vault = opened(folder)
    (talk,) = vault.conversations.all()
    assert talk.prompt_count == 60
    assert {note.text for note in talk.notes} == {
        f"{name} uses tool {number}" for name in ("left", "right") for number in range(30)
    }
    assert [agent.conversations for agent in vault.agents.all()] == [1]
    saved = vault.checkpoints.all()
    assert saved
    assert len({checkpoint.prompt_count for checkpoint in saved}) == len(saved)
    account(vault)
    vault.close()


def test_two_processes_that_retry_one_checkpoint_keep_each_content_once(tmp_path: Path) -> None:
    """Part of E2 and H1."""
    folder = tmp_path / "vault"
    together("retry", *[(str(folder),)] * 3)
    vault = opened(folder)
    assert sorted(memory.content for memory in vault.memories.all()) == sorted((*CONTENTS, SUMMARY))
    assert len(vault.checkpoints) == 1
    vault.close()
