"""Processes that follow conversations are killed at every write, and let loose on one; nothing is lost or doubled."""

import functools
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocol.checkpoints import CheckpointMemory, CheckpointParams, EndParams, TrackParams
from sidecar.services.continuity import checkpointing, ending, tracking
from sidecar.services.continuity.tools import Tools
from sidecar.store import files
from sidecar.store.vaults import Vault
from tests.crash.test_enriching import dying, opened
from tests.services.test_continuity import WHO, WORD, hear, tools
from tests.services.test_remembering import MEANINGS

pytestmark = pytest.mark.slow

CONTENTS = tuple(f"{word} are what {word} were" for word in WORD[:4])
SUMMARY = "Counted everything. The harbours are next."
PARAMS = CheckpointParams(
    memories=tuple(CheckpointMemory(content=text) for text in CONTENTS),
    session_summary=SUMMARY,
    agent_run_id="run",
)
MOST_WRITES = 40


def prompt(vault: Vault, text: str, using: Tools, key: str | None = None) -> None:
    params = TrackParams(session_key="run", prompt=f"Decision: {text}", idempotency_key=key)
    tracking.track(vault, params, WHO, using)


def meaningful() -> Tools:
    """Compare by meaning, too, so that there is a second file to die at."""
    plain = tools()
    return Tools(settings=plain.settings, hear=hear, meanings=MEANINGS, buffer=plain.buffer)


def child(act: Callable[[], object]) -> int:
    """Do something in a process of its own."""
    process = os.fork()
    if process == 0:
        try:
            act()
        except BaseException:  # noqa: BLE001  # the parent sees the status, people the reason
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return process


def status_of(process: int) -> int:
    return os.waitpid(process, 0)[1]


def run_and_die(act: Callable[[], object], number: int, manner: str) -> bool:
    """Do something in a process that is killed on the way; tell whether it was."""

    def dangerously() -> None:
        files.append = dying(number, manner)
        act()

    status = status_of(child(dangerously))
    assert os.WIFSIGNALED(status) or status == 0
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("manner", ["before", "after", "torn"])
def test_a_checkpoint_killed_at_any_write_is_made_exactly_once_by_its_retry(
    tmp_path: Path, manner: str
) -> None:
    """Part of E2 and H1."""
    for number in range(1, MOST_WRITES):
        folder = tmp_path / str(number)
        vault = opened(folder)
        prompt(vault, "use uv", tools())
        vault.close()

        def act(folder: Path = folder) -> Any:
            return checkpointing.checkpoint(opened(folder), PARAMS, WHO, meaningful())

        was_killed = run_and_die(act, number, manner)
        vault = opened(folder)
        kept = len(vault.memories)
        assert kept in {0, len(CONTENTS) + 1}
        assert len(vault.checkpoints) == (kept > 0)
        result = checkpointing.checkpoint(vault, PARAMS, WHO, meaningful())
        assert (result.created + result.skipped, result.failed) == (len(CONTENTS), 0)
        contents = sorted(one.content for one in vault.memories.all())
        assert contents == sorted((*CONTENTS, SUMMARY))
        assert len(vault.checkpoints) == 1
        assert [one.prompt_count for one in vault.conversations.all()] == [1]
        vault.close()
        if not was_killed:
            break
    assert number > 2


@pytest.mark.parametrize("manner", ["before", "after", "torn"])
def test_an_end_killed_at_any_write_is_saved_once(tmp_path: Path, manner: str) -> None:
    """Part of E5 and H1."""
    params = EndParams(session_key="run", session_summary=SUMMARY)
    for number in range(1, MOST_WRITES):
        folder = tmp_path / str(number)
        vault = opened(folder)
        prompt(vault, "use uv", tools())
        vault.close()

        def act(folder: Path = folder) -> Any:
            return ending.end(opened(folder), params, WHO, tools())

        was_killed = run_and_die(act, number, manner)
        vault = opened(folder)
        ending.end(vault, params, WHO, tools())
        assert [one.trigger for one in vault.checkpoints.all()] == ["session_end"]
        assert [one.content for one in vault.memories.all()] == [SUMMARY]
        assert [one.text for talk in vault.conversations.all() for one in talk.notes] == ["use uv"]
        vault.close()
        if not was_killed:
            break
    assert number > 1


@pytest.mark.parametrize("manner", ["before", "after", "torn"])
def test_what_was_tracked_before_a_kill_is_there(tmp_path: Path, manner: str) -> None:
    """Part of E5 and H1."""
    for number in range(1, 8):
        folder = tmp_path / str(number)
        opened(folder).close()

        def act(folder: Path = folder) -> None:
            vault = opened(folder)
            using = tools(prompt_interval=2)
            for one in range(5):
                prompt(vault, f"use tool {one}", using, key=f"{one}")
            using.buffer.flush()

        assert run_and_die(act, number, manner) is (number <= 6)
        vault = opened(folder)
        done = min(number if manner == "after" else number - 1, 5)
        notes = [one.text for talk in vault.conversations.all() for one in talk.notes]
        assert notes == [f"use tool {one}" for one in range(done)]
        for one in range(5):
            prompt(vault, f"use tool {one}", tools(), key=f"{one}")
        assert [talk.prompt_count for talk in vault.conversations.all()] == [5]
        vault.close()


def test_two_processes_that_follow_one_conversation_lose_nothing(tmp_path: Path) -> None:
    """Part of E5 and H1."""
    folder = tmp_path / "vault"
    opened(folder).close()

    def follow(name: str) -> None:
        vault = opened(folder)
        using = tools(prompt_interval=7)
        for number in range(30):
            prompt(vault, f"{name} uses tool {number}", using, key=f"{name}/{number}")
            prompt(vault, f"{name} uses tool {number}", using, key=f"{name}/{number}")
            if number % 5 == 0:
                using.buffer.flush()

    processes = [child(functools.partial(follow, name)) for name in ("left", "right")]
    assert [status_of(one) for one in processes] == [0, 0]
    vault = opened(folder)
    (talk,) = vault.conversations.all()
    assert talk.prompt_count == 60
    assert {one.text for one in talk.notes} == {
        f"{name} uses tool {number}" for name in ("left", "right") for number in range(30)
    }
    assert [one.conversations for one in vault.agents.all()] == [1]
    saved = vault.checkpoints.all()
    assert saved
    assert len({one.prompt_count for one in saved}) == len(saved)
    vault.close()


def test_two_processes_that_retry_one_checkpoint_keep_each_content_once(tmp_path: Path) -> None:
    """Part of E2 and H1."""
    folder = tmp_path / "vault"
    opened(folder).close()

    def retry() -> None:
        vault = opened(folder)
        for _ in range(5):
            checkpointing.checkpoint(vault, PARAMS, WHO, tools())

    processes = [child(retry) for _ in range(3)]
    assert [status_of(one) for one in processes] == [0, 0, 0]
    vault = opened(folder)
    assert sorted(one.content for one in vault.memories.all()) == sorted((*CONTENTS, SUMMARY))
    assert len(vault.checkpoints) == 1
    vault.close()
